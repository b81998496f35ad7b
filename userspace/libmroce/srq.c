// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues. Posting is the same as for a QP's own queue. */
#include "mroce.h"

#include <errno.h>
#include <stdlib.h>

static void free_srq(struct mroce_srq *srq)
{
	mroce_ring_unmap(&srq->rq.ring);
	pthread_spin_destroy(&srq->rq.lock);
	free(srq);
}

static int map_srq(struct mroce_srq *srq, const struct ibv_srq_attr *attr,
		   const struct mroce_create_srq_resp *resp)
{
	struct ibv_srq *ibsrq = &srq->vsrq.srq;
	int ret;

	srq->vsrq.srq_num = resp->srq_num;
	srq->rq.max_sge = attr->max_sge;
	ret = mroce_ring_map(&srq->rq.ring, ibsrq->context->cmd_fd, &resp->rq,
			     mroce_rqe_bytes(attr->max_sge), attr->max_wr);
	if (ret)
		ibv_cmd_destroy_srq(ibsrq);
	return ret;
}

/* mroce_srq_create - ibv_create_srq(); @attr is set to what it really got */
struct ibv_srq *mroce_srq_create(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_srq core;
	} cmd = {};
	struct {
		struct ib_uverbs_create_srq_resp core;
		struct mroce_create_srq_resp drv;
	} resp = {};
	struct mroce_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	pthread_spin_init(&srq->rq.lock, PTHREAD_PROCESS_PRIVATE);

	ret = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd, sizeof(cmd),
				 &resp, sizeof(resp));
	if (!ret)
		ret = map_srq(srq, &attr->attr, &resp.drv);
	if (ret) {
		free_srq(srq);
		errno = ret;
		return NULL;
	}
	mroce_pd_get(pd);
	return &srq->vsrq.srq;
}

/* mroce_srq_modify - ibv_modify_srq(); the limit only, no resizing */
int mroce_srq_modify(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int mask)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_srq core;
	} cmd = {};

	if (mask & IBV_SRQ_MAX_WR)
		return EOPNOTSUPP;
	return ibv_cmd_modify_srq(ibsrq, attr, mask, &cmd, sizeof(cmd));
}

/* mroce_srq_query - ibv_query_srq() */
int mroce_srq_query(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_query_srq core;
	} cmd = {};

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

/* mroce_srq_destroy - ibv_destroy_srq() */
int mroce_srq_destroy(struct ibv_srq *ibsrq)
{
	struct mroce_srq *srq = mroce_srq_from_ibv(ibsrq);
	int ret;

	/* One that is in use is refused, and may be posted to meanwhile. */
	pthread_spin_lock(&srq->rq.lock);
	mroce_ring_withdraw(&srq->rq.ring);
	pthread_spin_unlock(&srq->rq.lock);
	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret) {
		pthread_spin_lock(&srq->rq.lock);
		mroce_ring_restore(&srq->rq.ring, ibsrq->context->cmd_fd);
		mroce_ring_reload(&srq->rq.ring);
		pthread_spin_unlock(&srq->rq.lock);
		return ret;
	}
	mroce_pd_put(ibsrq->pd);
	free_srq(srq);
	return 0;
}

/* mroce_srq_post_recv - ibv_post_srq_recv(); errors as mroce_rq_post() */
int mroce_srq_post_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad)
{
	return mroce_rq_post(&mroce_srq_from_ibv(ibsrq)->rq, ibsrq->context,
			     IB_USER_VERBS_CMD_POST_SRQ_RECV, ibsrq->handle,
			     wr, bad);
}
