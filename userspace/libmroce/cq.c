// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: creation, polling (both interfaces), arming. */
#include "mroce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CQ_COMP_MASK	(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)

static struct mroce_cq *new_cq(void)
{
	struct mroce_cq *cq = calloc(1, sizeof(*cq));

	if (cq)
		pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return cq;
}

static void free_cq(struct mroce_cq *cq)
{
	mroce_ring_unmap(&cq->ring);
	pthread_spin_destroy(&cq->lock);
	free(cq);
}

/* Map the ring of a CQ that exists in the kernel; destroys it there on error. */
static int map_cq(struct mroce_cq *cq, const struct mroce_create_cq_resp *resp)
{
	struct ibv_cq *ibcq = &cq->vcq.cq;
	int ret = EPROTO;

	if (ibcq->cqe > 0 && resp->cq.size_bytes)
		ret = mroce_ring_map(&cq->ring, ibcq->context->cmd_fd,
				     &resp->cq, sizeof(struct mroce_cqe),
				     (uint32_t)ibcq->cqe);
	if (ret)
		ibv_cmd_destroy_cq(ibcq);
	return ret;
}

/* mroce_cq_create - ibv_create_cq() */
struct ibv_cq *mroce_cq_create(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_create_cq core;
	} cmd = {};
	struct {
		struct ib_uverbs_create_cq_resp core;
		struct mroce_create_cq_resp drv;
	} resp = {};
	struct mroce_cq *cq = new_cq();
	int ret;

	if (!cq)
		return NULL;

	ret = ibv_cmd_create_cq(ctx, cqe, channel, comp_vector, &cq->vcq.cq,
				&cmd, sizeof(cmd), &resp, sizeof(resp));
	if (!ret)
		ret = map_cq(cq, &resp.drv);
	if (ret) {
		free_cq(cq);
		errno = ret;
		return NULL;
	}
	return &cq->vcq.cq;
}

/* mroce_cq_destroy - ibv_destroy_cq() */
int mroce_cq_destroy(struct ibv_cq *ibcq)
{
	struct mroce_cq *cq = mroce_cq_from_ibv(ibcq);
	int ret;

	/* One that is in use is refused, and may be polled meanwhile. */
	pthread_spin_lock(&cq->lock);
	mroce_ring_withdraw(&cq->ring);
	pthread_spin_unlock(&cq->lock);
	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret) {
		pthread_spin_lock(&cq->lock);
		mroce_ring_restore(&cq->ring, ibcq->context->cmd_fd);
		pthread_spin_unlock(&cq->lock);
		return ret;
	}
	if (cq->domain)
		mroce_pd_put(cq->domain);
	free_cq(cq);
	return 0;
}

/*
 * mroce_cq_clean - drop the completions of a QP that begins anew, or is gone
 * @qpn: its number; the kernel writes no more completions for it
 *
 * As hardware devices do it: whoever connects a QP again must not take flushed
 * requests of its last life for those of the present one. Entries of other QPs
 * move towards the newest one; the kernel does not look at any of them.
 */
void mroce_cq_clean(struct ibv_cq *ibcq, uint32_t qpn)
{
	struct mroce_cq *cq = mroce_cq_from_ibv(ibcq);
	struct mroce_ring *ring = &cq->ring;
	const struct mroce_cqe *cqe;
	uint32_t from, to;

	pthread_spin_lock(&cq->lock);
	if (!mroce_ring_is_empty(ring))
		ring->peer = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);
	/* An index that makes no sense is polled, not walked. */
	from = ring->peer - ring->next <= ring->mask + 1 ? ring->peer : ring->next;
	for (to = from; from != ring->next;) {
		cqe = mroce_ring_slot(ring, --from);
		if (cqe->qp_num != qpn && --to != from)
			memcpy(mroce_ring_slot(ring, to), cqe, sizeof(*cqe));
	}
	if (ring->next != to) {
		ring->next = to;
		mroce_ring_release(ring);
	}
	pthread_spin_unlock(&cq->lock);
}

static void fill_wc(struct ibv_wc *wc, const struct mroce_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	/* One union in ibv_wc too: immediate data or an invalidated key. */
	wc->imm_data = cqe->imm_be;
	wc->qp_num = cqe->qp_num;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = cqe->wc_flags;
	wc->pkey_index = cqe->pkey_index;
	wc->slid = 0;
	wc->sl = cqe->sl;
	wc->dlid_path_bits = 0;
}

/* mroce_cq_poll - ibv_poll_cq(); returns the number of completions */
int mroce_cq_poll(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct mroce_cq *cq = mroce_cq_from_ibv(ibcq);
	struct mroce_ring *ring = &cq->ring;
	int done;

	pthread_spin_lock(&cq->lock);
	for (done = 0; done < num && !mroce_ring_is_empty(ring); done++)
		fill_wc(&wc[done], mroce_ring_slot(ring, ring->next++));
	if (done)
		mroce_ring_release(ring);
	pthread_spin_unlock(&cq->lock);
	return done;
}

/* mroce_cq_arm - ibv_req_notify_cq(); no system call */
int mroce_cq_arm(struct ibv_cq *ibcq, int solicited_only)
{
	mroce_ring_arm(&mroce_cq_from_ibv(ibcq)->ring,
		       solicited_only ? MROCE_RING_ARM_SOLICITED :
					MROCE_RING_ARM_NEXT);
	return 0;
}

static void unlock_poll(struct mroce_cq *cq)
{
	if (!cq->is_single_threaded)
		pthread_spin_unlock(&cq->lock);
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	struct mroce_cq *cq = mroce_cq_from_ex(ibcq);
	const struct mroce_cqe *slot;

	if (mroce_ring_is_empty(&cq->ring))
		return ENOENT;

	slot = mroce_ring_slot(&cq->ring, cq->ring.next++);
	cq->cqe = *slot;
	ibcq->wr_id = cq->cqe.wr_id;
	ibcq->status = cq->cqe.status;
	return 0;
}

/* On success the lock stays taken until end_poll(). */
static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct mroce_cq *cq = mroce_cq_from_ex(ibcq);
	int ret;

	if (attr->comp_mask)
		return EINVAL;

	if (!cq->is_single_threaded)
		pthread_spin_lock(&cq->lock);
	ret = next_poll(ibcq);
	if (ret)
		unlock_poll(cq);
	return ret;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct mroce_cq *cq = mroce_cq_from_ex(ibcq);

	mroce_ring_release(&cq->ring);
	unlock_poll(cq);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.imm_be;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ibcq)
{
	(void)ibcq;
	return 0;
}

static uint8_t read_sl(struct ibv_cq_ex *ibcq)
{
	return mroce_cq_from_ex(ibcq)->cqe.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ibcq)
{
	(void)ibcq;
	return 0;
}

static void setup_ex(struct mroce_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
}

static int check_ex_attr(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->wc_flags & ~(uint64_t)IBV_WC_STANDARD_FLAGS)
		return EOPNOTSUPP;
	if (attr->comp_mask & ~(uint32_t)CQ_COMP_MASK)
		return EOPNOTSUPP;
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
	    (attr->flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
		return EOPNOTSUPP;
	/* A CQ has no protection domain: only a parent domain makes sense. */
	if ((attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) &&
	    (!attr->parent_domain ||
	     !mroce_pd_from_ibv(attr->parent_domain)->base))
		return EINVAL;
	return 0;
}

/* mroce_cq_create_ex - ibv_create_cq_ex(); EOPNOTSUPP for anything unusual */
struct ibv_cq_ex *mroce_cq_create_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct {
		struct ib_uverbs_ex_create_cq_resp core;
		struct mroce_create_cq_resp drv;
	} resp = {};
	struct mroce_cq *cq;
	int ret;

	ret = check_ex_attr(attr);
	if (ret) {
		errno = ret;
		return NULL;
	}

	cq = new_cq();
	if (!cq)
		return NULL;

	/* No driver part in the command, so libibverbs wants none at all. */
	ret = ibv_cmd_create_cq_ex(ctx, attr, &cq->vcq, NULL, 0, &resp,
				   sizeof(resp), 0);
	if (!ret)
		ret = map_cq(cq, &resp.drv);
	if (ret) {
		free_cq(cq);
		errno = ret;
		return NULL;
	}

	cq->is_single_threaded =
		(attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) &&
		(attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		cq->domain = attr->parent_domain;
		mroce_pd_get(cq->domain);
	}
	setup_ex(cq, attr->wc_flags);
	return &cq->vcq.cq_ex;
}
