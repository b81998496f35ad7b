// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues.
 *
 * A queue pair that needs a receive copies the oldest one that is posted; from then on it
 * has it for itself. The copies are the shared queue's, as many as its ring has slots, so
 * that their memory is bounded and charged when it is created. How many receives are
 * complete, not which, is published as the ring's cons: the queue pairs complete theirs
 * in any order, and one whose peer is silent keeps nobody from posting.
 *
 * srq->lock is taken under the rq.lock of the queue pair that binds or completes.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "mroce.h"

static struct mroce_rwqe *copy_of(const struct mroce_srq *srq, u16 copy)
{
	return srq->wqe + (size_t)copy * srq->wqe_stride;
}

/* Copes with one that was built up to any point. */
static void free_srq(struct mroce_srq *srq)
{
	struct mroce_ring ring;

	/* Somebody may be asking for its details even now. */
	spin_lock_bh(&srq->lock);
	ring = srq->ring;
	srq->ring.hdr = NULL;
	spin_unlock_bh(&srq->lock);
	mroce_ring_destroy(&ring);
	kvfree(srq->wqe);
	kvfree(srq->unused);
	if (srq->num)
		ida_free(&to_mdev(srq->ibsrq.device)->srq_nums, srq->num);
}

static int check_init(const struct ib_srq_init_attr *init)
{
	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > MROCE_MAX_SRQ_WR ||
	    init->attr.max_sge > MROCE_MAX_SGE)
		return -EINVAL;
	return 0;
}

static int create_copies(struct mroce_srq *srq)
{
	u32 i, n = srq->ring.entries;

	BUILD_BUG_ON(MROCE_MAX_SRQ_WR - 1 > U16_MAX);
	srq->wqe_stride = mroce_resp_rwqe_stride(srq->max_sge);
	srq->wqe = kvcalloc(n, srq->wqe_stride, MROCE_GFP_USER);
	srq->unused = kvcalloc(n, sizeof(*srq->unused), MROCE_GFP_USER);
	if (!srq->wqe || !srq->unused)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		srq->unused[i] = i;
	srq->share.entries = n;
	return 0;
}

/**
 * mroce_srq_create() - ib_device_ops.create_srq, user queues only
 * @ibsrq: to be set up, zeroed by the core
 * @init: wishes; what was granted when this returns. The limit is armed by modify only
 * @udata: NULL for a kernel user
 *
 * Return: 0, -EOPNOTSUPP for other types, -EINVAL above the advertised maxima, -ENOMEM,
 * also when the device has as many as it may, -EFAULT.
 */
int mroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata)
{
	struct mroce_ucontext *uc =
		rdma_udata_to_drv_context(udata, struct mroce_ucontext, ibuc);
	struct mroce_create_srq_resp resp = {};
	struct mroce_srq *srq = to_msrq(ibsrq);
	int err;

	if (!uc)
		return -EOPNOTSUPP;
	if (!ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	err = check_init(init);
	if (err)
		return err;

	spin_lock_init(&srq->lock);
	srq->max_wr = init->attr.max_wr;
	srq->max_sge = max(init->attr.max_sge, 1u);
	err = ida_alloc_range(&to_mdev(ibsrq->device)->srq_nums, 1, MROCE_MAX_SRQ, GFP_KERNEL);
	if (err < 0)
		return -ENOMEM;
	srq->num = err;
	err = mroce_ring_create(&srq->ring, &uc->ibuc, roundup_pow_of_two(srq->max_wr),
				MROCE_RQE_SIZE + srq->max_sge * sizeof(struct mroce_sge),
				&resp.rq);
	if (!err)
		err = create_copies(srq);
	if (err)
		goto free;

	resp.srq_num = srq->num;
	err = mroce_udata_respond(udata, &resp, sizeof(resp));
	if (err)
		goto free;
	init->attr.max_wr = srq->max_wr;
	init->attr.max_sge = srq->max_sge;
	return 0;
free:
	free_srq(srq);
	return err;
}

/**
 * mroce_srq_tell_low() - raise the event of the limit
 * @srq: shared receive queue; the caller holds a QP that uses it, or is a call about it
 *
 * Context: any, no lock of ours held.
 */
void mroce_srq_tell_low(struct mroce_srq *srq)
{
	struct ib_event ev = {
		.device = srq->ibsrq.device,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
		.element.srq = &srq->ibsrq,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&ev, srq->ibsrq.srq_context);
}

/**
 * mroce_srq_modify() - ib_device_ops.modify_srq: arm the limit
 * @ibsrq: shared receive queue
 * @attr: new attributes
 * @mask: which
 * @udata: unused
 *
 * When fewer receives are posted than the limit says already, that is told at once:
 * perhaps there is none left, and nobody will ever bind one more.
 *
 * Return: 0, -EOPNOTSUPP for another size, -EINVAL.
 */
int mroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		     struct ib_udata *udata)
{
	struct mroce_srq *srq = to_msrq(ibsrq);
	bool ok, low;

	if (mask & IB_SRQ_MAX_WR)
		return -EOPNOTSUPP;
	if (mask & ~IB_SRQ_LIMIT)
		return -EINVAL;
	if (!mask)
		return 0;
	spin_lock_bh(&srq->lock);
	ok = mroce_share_arm(&srq->share, attr->srq_limit, srq->max_wr);
	low = ok && mroce_share_low(&srq->share, READ_ONCE(srq->ring.hdr->prod));
	spin_unlock_bh(&srq->lock);
	if (low)
		mroce_srq_tell_low(srq);
	return ok ? 0 : -EINVAL;
}

/**
 * mroce_srq_query() - ib_device_ops.query_srq
 * @ibsrq: shared receive queue
 * @attr: to fill; the limit is 0 when it is not armed (any more)
 *
 * Return: 0.
 */
int mroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct mroce_srq *srq = to_msrq(ibsrq);

	attr->max_wr = srq->max_wr;
	attr->max_sge = srq->max_sge;
	spin_lock_bh(&srq->lock);
	attr->srq_limit = srq->share.limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

/**
 * mroce_srq_destroy() - ib_device_ops.destroy_srq
 * @ibsrq: not used by any QP any more, says the core
 * @udata: unused
 *
 * Return: 0.
 */
int mroce_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	free_srq(to_msrq(ibsrq));
	return 0;
}

/**
 * mroce_srq_post_recv() - ib_device_ops.post_srq_recv: the doorbell
 * @ibsrq: shared receive queue of a user
 * @wr: must be NULL: the work requests are in the ring
 * @bad_wr: set on error
 *
 * Nobody looks at a receive before a packet asks for it: there is nothing to do, and our
 * provider does not ring.
 *
 * Return: 0, -EOPNOTSUPP for work requests passed by the system call.
 */
int mroce_srq_post_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	if (wr) {
		*bad_wr = wr;
		return -EOPNOTSUPP;
	}
	mroce_count(to_mdev(ibsrq->device), MROCE_CNT_DOORBELLS);
	return 0;
}

/**
 * mroce_srq_bind() - take the oldest receive that is posted
 * @srq: shared receive queue
 * @low: set when the user has to be told, with no lock held: mroce_srq_tell_low()
 *
 * Context: rq.lock of the QP held.
 * Return: number of the private copy, the QP's until mroce_srq_give(); -1: none is posted.
 */
int mroce_srq_bind(struct mroce_srq *srq, bool *low)
{
	struct mroce_share *share = &srq->share;
	int copy = -1;
	u32 prod;

	spin_lock(&srq->lock);
	/* Pairs with the user's release: the slots are filled before prod moves. */
	prod = smp_load_acquire(&srq->ring.hdr->prod);
	if (mroce_share_bind(share, prod)) {
		copy = srq->unused[share->entries - (share->bound - share->done)];
		mroce_resp_take_rwqe(&srq->ring, share->bound - 1, srq->max_sge,
				     copy_of(srq, copy));
		*low |= mroce_share_low(share, prod);
	}
	spin_unlock(&srq->lock);
	return copy;
}

/**
 * mroce_srq_give() - a receive is complete: it does not count as posted any more
 * @srq: shared receive queue
 * @copy: its private copy, not the caller's any more
 *
 * Context: rq.lock of the QP held.
 */
void mroce_srq_give(struct mroce_srq *srq, u16 copy)
{
	struct mroce_share *share = &srq->share;

	spin_lock(&srq->lock);
	srq->unused[share->entries - (share->bound - share->done)] = copy;
	mroce_share_done(share);
	/* Before the CQE: whoever sees that finds the slot free. */
	smp_store_release(&srq->ring.hdr->cons, share->done);
	spin_unlock(&srq->lock);
}
