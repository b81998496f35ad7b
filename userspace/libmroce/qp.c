// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: creation, state, destruction. Posting is in post.c and wr.c. */
#include "mroce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QP_COMP_MASK	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | \
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

/* What the environment variable MROCE_ORDERING may say */
static const char * const ordering_names[] = {
	[MROCE_ORDERING_AUTO] = "auto",
	[MROCE_ORDERING_STRICT] = "strict",
	[MROCE_ORDERING_RELAXED] = "relaxed",
};

static uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t sqe_bytes(const struct ibv_qp_cap *cap)
{
	return MROCE_SQE_SIZE +
	       max_u32(cap->max_send_sge * (uint32_t)sizeof(struct mroce_sge),
		       cap->max_inline_data);
}

/* mroce_rqe_bytes - size of a receive entry, for QPs and SRQs */
uint32_t mroce_rqe_bytes(uint32_t max_sge)
{
	return MROCE_RQE_SIZE + max_sge * (uint32_t)sizeof(struct mroce_sge);
}

/*
 * Only what mroce does not have. A missing PD is libibverbs' to refuse: looked
 * at here, it would make an XRC QP, which has none, malformed and not
 * unsupported.
 */
static int check_attr(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & ~(uint32_t)QP_COMP_MASK)
		return EOPNOTSUPP;
	/* Saying that there are no flags is no reason to refuse. */
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) &&
	    attr->create_flags)
		return EOPNOTSUPP;

	switch (attr->qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		return 0;
	default:
		return EOPNOTSUPP;
	}
}

/*
 * read_ordering - what the environment says about the ordering of new QPs
 * @ordering: set to enum mroce_ordering; the default without the variable, or
 *	with an empty one
 *
 * A word nobody knows is an error: the program would run with another ordering
 * than its user relies on, and nothing would tell.
 */
static int read_ordering(uint16_t *ordering)
{
	const char *text = getenv("MROCE_ORDERING");
	uint16_t i;

	*ordering = MROCE_ORDERING_DEFAULT;
	if (!text || !*text)
		return 0;
	for (i = 1; i < sizeof(ordering_names) / sizeof(ordering_names[0]); i++) {
		if (!strcmp(text, ordering_names[i])) {
			*ordering = i;
			return 0;
		}
	}
	fprintf(stderr,
		"mroce: MROCE_ORDERING is \"%s\", but only auto, strict and relaxed are known.\n",
		text);
	return EINVAL;
}

static int map_queues(struct mroce_qp *qp,
		      const struct ibv_qp_init_attr_ex *attr,
		      const struct mroce_create_qp_resp *resp)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	int cmd_fd = qp->vqp.qp.context->cmd_fd;
	int ret;

	qp->sq.max_sge = cap->max_send_sge;
	qp->sq.max_inline_bytes = cap->max_inline_data;
	ret = mroce_ring_map(&qp->sq.ring, cmd_fd, &resp->sq, sqe_bytes(cap),
			     cap->max_send_wr);
	if (ret)
		return ret;

	/* With an SRQ the QP's own receive capabilities mean nothing. */
	if (attr->srq)
		return 0;

	qp->rq.max_sge = cap->max_recv_sge;
	ret = mroce_ring_map(&qp->rq.ring, cmd_fd, &resp->rq,
			     mroce_rqe_bytes(cap->max_recv_sge),
			     cap->max_recv_wr);
	if (ret)
		mroce_ring_unmap(&qp->sq.ring);
	return ret;
}

static void free_qp(struct mroce_qp *qp)
{
	mroce_ring_unmap(&qp->sq.ring);
	mroce_ring_unmap(&qp->rq.ring);
	pthread_spin_destroy(&qp->sq.lock);
	pthread_spin_destroy(&qp->rq.lock);
	free(qp);
}

static struct mroce_qp *new_qp(void)
{
	struct mroce_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	pthread_spin_init(&qp->sq.lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq.lock, PTHREAD_PROCESS_PRIVATE);
	return qp;
}

/* Create the QP in the kernel and map its queues; leaves nothing on error. */
static int create_queues(struct ibv_context *ctx, struct mroce_qp *qp,
			 struct ibv_qp_init_attr_ex *attr,
			 const struct mroce_create_qp_req *req)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_qp core;
		struct mroce_create_qp_req drv;
	} cmd = { .drv = *req };
	struct {
		struct ib_uverbs_create_qp_resp core;
		struct mroce_create_qp_resp drv;
	} resp = {};
	struct ibv_qp_init_attr_ex known = *attr;
	int ret;

	/* This form of the command has no flags; libibverbs refuses the bit. */
	known.comp_mask &= ~(uint32_t)IBV_QP_INIT_ATTR_CREATE_FLAGS;
	ret = ibv_cmd_create_qp_ex(ctx, &qp->vqp, &known, &cmd, sizeof(cmd),
				   &resp, sizeof(resp));
	if (ret)
		return ret;

	ret = map_queues(qp, &known, &resp.drv);
	if (ret)
		ibv_cmd_destroy_qp(&qp->vqp.qp);
	else
		attr->cap = known.cap;
	return ret;
}

/*
 * mroce_qp_create_req - create a QP
 * @req: driver part of the command; with the default ordering, what the
 *	environment says is put there
 *
 * Return: the QP with @attr->cap set to what it really got, or NULL and errno:
 * EOPNOTSUPP for a type or an extension that mroce does not have, EINVAL also
 * for a MROCE_ORDERING that it does not know.
 */
struct ibv_qp *mroce_qp_create_req(struct ibv_context *ctx,
				   struct ibv_qp_init_attr_ex *attr,
				   struct mroce_create_qp_req *req)
{
	struct mroce_qp *qp;
	int ret;

	ret = check_attr(attr);
	if (!ret && req->ordering == MROCE_ORDERING_DEFAULT)
		ret = read_ordering(&req->ordering);
	if (ret)
		goto err;

	ret = ENOMEM;
	qp = new_qp();
	if (!qp)
		goto err;

	/* The type is needed below and is not set before the command is. */
	qp->vqp.qp.qp_type = attr->qp_type;
	qp->sq_sig_flags = attr->sq_sig_all ? IBV_SEND_SIGNALED : 0;
	ret = EOPNOTSUPP;
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) &&
	    !mroce_wr_setup(qp, attr->send_ops_flags))
		goto err_free;

	ret = create_queues(ctx, qp, attr, req);
	if (ret)
		goto err_free;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		qp->vqp.comp_mask |= VERBS_QP_EX;
	mroce_pd_get(attr->pd);
	return &qp->vqp.qp;

err_free:
	free_qp(qp);
err:
	errno = ret;
	return NULL;
}

/* mroce_qp_create_ex - ibv_create_qp_ex() */
struct ibv_qp *mroce_qp_create_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct mroce_create_qp_req req = {};

	return mroce_qp_create_req(ctx, attr, &req);
}

/* mroce_qp_create - ibv_create_qp() */
struct ibv_qp *mroce_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp = mroce_qp_create_ex(pd->context, &ex);

	if (ibqp)
		attr->cap = ex.cap;
	return ibqp;
}

static void reload_queue(struct mroce_wq *wq)
{
	pthread_spin_lock(&wq->lock);
	mroce_ring_reload(&wq->ring);
	pthread_spin_unlock(&wq->lock);
}

static void clean_cqs(struct ibv_qp *ibqp)
{
	if (ibqp->send_cq)
		mroce_cq_clean(ibqp->send_cq, ibqp->qp_num);
	if (ibqp->recv_cq && ibqp->recv_cq != ibqp->send_cq)
		mroce_cq_clean(ibqp->recv_cq, ibqp->qp_num);
}

/*
 * mroce_qp_modify - ibv_modify_qp()
 *
 * The state is kept in ibv_qp.state for the checks of the data path. When the
 * kernel moves a QP to ERR on its own it stays behind: posting goes on as in
 * RTS and the requests are flushed, as they would be in ERR.
 */
int mroce_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct mroce_qp *qp = mroce_qp_from_ibv(ibqp);
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_qp core;
	} cmd = {};
	int ret;

	ret = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (ret || !(mask & IBV_QP_STATE))
		return ret;

	if (attr->qp_state == IBV_QPS_RESET) {
		clean_cqs(ibqp);
		reload_queue(&qp->sq);
		reload_queue(&qp->rq);
	}
	ibqp->state = attr->qp_state;
	return 0;
}

/* mroce_qp_query - ibv_query_qp() */
int mroce_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_query_qp core;
	} cmd = {};

	return ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

/*
 * mroce_qp_destroy - ibv_destroy_qp(); its completions go with it
 */
int mroce_qp_destroy(struct ibv_qp *ibqp)
{
	struct mroce_qp *qp = mroce_qp_from_ibv(ibqp);
	int cmd_fd = ibqp->context->cmd_fd;
	int ret;

	mroce_ring_withdraw(&qp->sq.ring);
	mroce_ring_withdraw(&qp->rq.ring);
	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret) {
		mroce_ring_restore(&qp->sq.ring, cmd_fd);
		mroce_ring_restore(&qp->rq.ring, cmd_fd);
		reload_queue(&qp->sq);
		reload_queue(&qp->rq);
		return ret;
	}
	clean_cqs(ibqp);
	mroce_pd_put(ibqp->pd);
	free_qp(qp);
	return 0;
}
