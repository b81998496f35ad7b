// SPDX-License-Identifier: GPL-2.0
/* Completion queues. The kernel writes, the user polls the shared ring, or calls to poll it. */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>

#include "mroce_dgram.h"

#define ARM_BITS	(MROCE_RING_ARM_NEXT | MROCE_RING_ARM_SOLICITED)

/**
 * mroce_cq_create() - ib_device_ops.create_cq, create_user_cq
 * @ibcq: to be set up, zeroed by the core
 * @attr: wishes
 * @udata: NULL for a kernel user
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP, -ENOMEM, -EFAULT.
 */
int mroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, struct ib_udata *udata)
{
	struct mroce_ucontext *uc =
		rdma_udata_to_drv_context(udata, struct mroce_ucontext, ibuc);
	struct mroce_create_cq_resp resp = {};
	struct mroce_cq *cq = to_mcq(ibcq);
	int err;

	if (attr->flags)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > MROCE_MAX_CQE)
		return -EINVAL;

	spin_lock_init(&cq->lock);
	if (!uc) {
		err = mroce_ring_create_kernel(&cq->ring, roundup_pow_of_two(attr->cqe),
					       sizeof(struct mroce_cqe));
		ibcq->cqe = cq->ring.entries;
		return err;
	}
	err = mroce_ring_create(&cq->ring, &uc->ibuc, roundup_pow_of_two(attr->cqe),
				sizeof(struct mroce_cqe), &resp.cq);
	if (err)
		return err;
	ibcq->cqe = cq->ring.entries;

	err = mroce_udata_respond(udata, &resp, sizeof(resp));
	if (err)
		mroce_ring_destroy(&cq->ring);
	return err;
}

/**
 * mroce_cq_destroy() - ib_device_ops.destroy_cq
 * @ibcq: not used by any QP any more, says the core
 * @udata: unused
 *
 * Return: 0.
 */
int mroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct mroce_cq *cq = to_mcq(ibcq);
	struct mroce_ring ring;

	/* Older kernels may ask for its details even now. */
	spin_lock_irq(&cq->lock);
	ring = cq->ring;
	cq->ring.hdr = NULL;
	spin_unlock_irq(&cq->lock);
	mroce_ring_destroy(&ring);
	return 0;
}

/* Does the completion just published raise an event? */
static bool take_event(struct mroce_ring_hdr *hdr, bool solicited)
{
	u32 state;

	/*
	 * Pairs with the full barrier of the user, who sets the arm bits and
	 * then polls once more: we see the bits or the user sees the completion.
	 */
	smp_mb();
	state = READ_ONCE(hdr->state);
	if (!(state & MROCE_RING_ARM_NEXT) && !(solicited && state & MROCE_RING_ARM_SOLICITED))
		return false;
	/*
	 * Not cmpxchg(): the user could keep us busy with it. No other bit
	 * means anything in a completion queue.
	 */
	return xchg(&hdr->state, 0) & ARM_BITS;
}

/**
 * mroce_cq_post() - append a completion
 * @cq: completion queue
 * @cqe: what to append
 * @solicited: the message carried the solicited flag; errors always count as
 *	solicited
 *
 * Context: any; takes cq.lock.
 * Return: true when mroce_cq_notify() must be called, with no lock held.
 */
bool mroce_cq_post(struct mroce_cq *cq, const struct mroce_cqe *cqe, bool solicited)
{
	struct mroce_ring_hdr *hdr = cq->ring.hdr;
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	/*
	 * An index of the user's that makes no sense looks full as well. Pairs
	 * with the release of cons: the user has read what we overwrite.
	 */
	if (cq->overflow || cq->prod - smp_load_acquire(&hdr->cons) >= cq->ring.entries) {
		notify = !cq->overflow;
		cq->overflow = true;
		mroce_count(to_mdev(cq->ibcq.device), MROCE_CNT_CQ_OVERFLOW);
	} else {
		memcpy(mroce_ring_slot(&cq->ring, cq->prod), cqe, sizeof(*cqe));
		cq->prod++;
		/* Before the index: the entry must be complete when it is seen. */
		smp_store_release(&hdr->prod, cq->prod);
		notify = take_event(hdr, solicited || cqe->status != IB_WC_SUCCESS);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return notify;
}

/**
 * mroce_cq_notify() - tell the owner what mroce_cq_post() reported
 * @cq: completion queue; the caller holds a QP that uses it
 *
 * Context: softirq or task, no lock held.
 */
void mroce_cq_notify(struct mroce_cq *cq)
{
	struct ib_cq *ibcq = &cq->ibcq;
	struct ib_event ev = {
		.device = ibcq->device,
		.event = IB_EVENT_CQ_ERR,
		.element.cq = ibcq,
	};
	unsigned long flags;
	bool tell = false;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->overflow && !cq->overflow_told) {
		cq->overflow_told = true;
		tell = true;
	}
	spin_unlock_irqrestore(&cq->lock, flags);

	if (tell && ibcq->event_handler)
		ibcq->event_handler(&ev, ibcq->cq_context);
	if (ibcq->comp_handler)
		ibcq->comp_handler(ibcq, ibcq->cq_context);
}

/**
 * mroce_cq_req_notify() - ib_device_ops.req_notify_cq
 * @ibcq: completion queue
 * @flags: which completions raise an event
 *
 * Our provider sets the arm word itself; this serves others. Context: any.
 *
 * Return: 1 when completions wait already and the caller asked for that, else 0.
 */
int mroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct mroce_cq *cq = to_mcq(ibcq);
	struct mroce_ring_hdr *hdr = cq->ring.hdr;
	unsigned long irq;
	u32 state;

	spin_lock_irqsave(&cq->lock, irq);
	state = READ_ONCE(hdr->state) & ARM_BITS;
	if ((flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED)
		state |= MROCE_RING_ARM_SOLICITED;
	else
		state |= MROCE_RING_ARM_NEXT;
	xchg(&hdr->state, state);
	state = cq->prod != READ_ONCE(hdr->cons);
	spin_unlock_irqrestore(&cq->lock, irq);
	return flags & IB_CQ_REPORT_MISSED_EVENTS ? state : 0;
}

static void to_wc(const struct mroce_cqe *cqe, struct ib_qp *ibqp, struct ib_wc *wc)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = ibqp,
		.ex.imm_data = cqe->imm_be,
		.src_qp = cqe->src_qp,
		.wc_flags = cqe->wc_flags,
		.pkey_index = cqe->pkey_index,
		.sl = cqe->sl,
		.port_num = 1,
		.vlan_id = cqe->vlan_id,
		.network_hdr_type = cqe->network_type,
	};
	if (cqe->network_type)
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	if (cqe->network_type && cqe->vlan_id != MROCE_NO_VLAN)
		wc->wc_flags |= IB_WC_WITH_VLAN;
}

/**
 * mroce_cq_poll() - ib_device_ops.poll_cq, for kernel users
 * @ibcq: completion queue
 * @n: completions at most
 * @wc: what was taken
 *
 * Context: any.
 * Return: how many.
 */
int mroce_cq_poll(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct mroce_cq *cq = to_mcq(ibcq);
	unsigned long flags;
	int i = 0;
	u32 cons;

	/* What a program may have written is not to be believed. */
	if (cq->ring.entry)
		return 0;
	spin_lock_irqsave(&cq->lock, flags);
	for (cons = cq->ring.hdr->cons; i < n && cons != cq->prod; cons++) {
		const struct mroce_cqe *cqe = mroce_ring_slot(&cq->ring, cons);

		if (cqe->kernel_qp)
			to_wc(cqe, (struct ib_qp *)(uintptr_t)cqe->kernel_qp, &wc[i++]);
	}
	WRITE_ONCE(cq->ring.hdr->cons, cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/**
 * mroce_cq_clean() - a queue pair goes: nobody shall hear of it any more
 * @ibcq: completion queue of a kernel user; others' providers look after that
 * @ibqp: queue pair that completes nothing any more
 *
 * Context: task.
 */
void mroce_cq_clean(struct ib_cq *ibcq, const struct ib_qp *ibqp)
{
	struct mroce_cq *cq = to_mcq(ibcq);
	u32 idx;

	spin_lock_irq(&cq->lock);
	for (idx = cq->ring.hdr->cons; idx != cq->prod; idx++) {
		struct mroce_cqe *cqe = mroce_ring_slot(&cq->ring, idx);

		if (cqe->kernel_qp == (uintptr_t)ibqp)
			cqe->kernel_qp = 0;
	}
	spin_unlock_irq(&cq->lock);
}
