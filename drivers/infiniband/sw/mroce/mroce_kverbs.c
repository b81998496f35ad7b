// SPDX-License-Identifier: GPL-2.0
/*
 * Work requests of users in the kernel.
 *
 * They go the way of a program's: into the ring, in the same form, and from there on nothing
 * knows whose they are. But a user in the kernel may post from anywhere, with interrupts off
 * or holding locks that his completion handler takes, so a post only writes the ring; what a
 * doorbell does for a program is done in softirq context, soon.
 */
#include "mroce_dgram.h"
#include "mroce_kverbs.h"

/* Where a datagram goes. The ring is the kernel's memory, so a pointer will do. */
static void put_ud(struct mroce_sqe *sqe, const struct ib_ud_wr *ud)
{
	const struct mroce_av *av = NULL;

	BUILD_BUG_ON(sizeof(av) > sizeof(sqe->reserved));
	if (ud->ah)
		av = container_of(ud->ah, struct mroce_ah, ibah)->av;
	memcpy(sqe->reserved, &av, sizeof(av));
	sqe->ud.remote_qpn = ud->remote_qpn;
	sqe->ud.remote_qkey = ud->remote_qkey;
}

static int put_inline(struct mroce_sqe *sqe, const struct ib_send_wr *wr, u32 max_bytes)
{
	u8 *to = (u8 *)sqe->sge;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > max_bytes - sqe->inline_bytes)
			return -EINVAL;
		memcpy(to + sqe->inline_bytes, (void *)(uintptr_t)sge->addr, sge->length);
		sqe->inline_bytes += sge->length;
	}
	return 0;
}

static void put_sges(struct mroce_sge *to, const struct ib_sge *from, int n)
{
	int i;

	for (i = 0; i < n; i++)
		to[i] = (struct mroce_sge) {
			.addr = from[i].addr,
			.length = from[i].length,
			.lkey = from[i].lkey,
		};
}

/* Fill a slot. Return: 0, -EINVAL for what does not fit or cannot be. */
static int put_send(struct mroce_qp *qp, struct mroce_sqe *sqe, const struct ib_send_wr *wr)
{
	if (wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	*sqe = (struct mroce_sqe) {
		.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags & (IB_SEND_FENCE | IB_SEND_SIGNALED | IB_SEND_SOLICITED |
					   IB_SEND_INLINE),
		.imm_be = wr->ex.imm_data,
	};
	/* Others fail when they are taken in, or are flushed: ib_drain_sq() posts one in ERR. */
	if (wr->opcode == IB_WR_SEND || wr->opcode == IB_WR_SEND_WITH_IMM)
		put_ud(sqe, ud_wr(wr));
	if (wr->send_flags & IB_SEND_INLINE)
		return put_inline(sqe, wr, qp->sq.max_inline);
	sqe->num_sge = wr->num_sge;
	put_sges(sqe->sge, wr->sg_list, wr->num_sge);
	return 0;
}

/*
 * What was filled is posted. Nothing is written when that is nothing: in RESET the indices
 * begin anew, under no lock of ours.
 */
static void publish(struct mroce_ring_hdr *hdr, u32 prod)
{
	if (prod == hdr->prod)
		return;
	/* Before the index: who sees it finds the slots filled. */
	smp_store_release(&hdr->prod, prod);
}

/* The post is in the ring: is anybody looking there? */
static void ring_bell(struct mroce_qp *qp, const struct mroce_ring_hdr *hdr)
{
	/* Pairs with mroce_send_fall_asleep(), mroce_comp_error(): one of us sees the other. */
	smp_mb();
	if (READ_ONCE(hdr->state) & MROCE_RING_KICK)
		mroce_compat_bh_schedule(&qp->kick);
}

/* Return: what a post says in this state: 0 or -EINVAL */
static int may_send(const struct mroce_qp *qp)
{
	switch (READ_ONCE(qp->state)) {
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
	case IB_QPS_ERR:
		return 0;
	default:
		return -EINVAL;
	}
}

/**
 * mroce_kverbs_post_send() - post send requests of a kernel user
 * @qp: his queue pair
 * @wr: list of requests
 * @bad_wr: the first that was not posted
 *
 * Context: any.
 * Return: 0; -EINVAL for a state that does not send, or a request that cannot be; -ENOMEM for
 * a full queue.
 */
int mroce_kverbs_post_send(struct mroce_qp *qp, const struct ib_send_wr *wr,
			   const struct ib_send_wr **bad_wr)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_ring_hdr *hdr = sq->ring.hdr;
	unsigned long flags;
	u32 prod;
	int err;

	spin_lock_irqsave(&sq->post_lock, flags);
	err = may_send(qp);
	prod = hdr->prod;
	for (; wr && !err; wr = wr->next) {
		/* Pairs with release_send(): the slot is free, and read. */
		if (prod - smp_load_acquire(&hdr->cons) >= sq->max_wr)
			err = -ENOMEM;
		else
			err = put_send(qp, mroce_ring_slot(&sq->ring, prod), wr);
		if (err)
			break;
		prod++;
	}
	publish(hdr, prod);
	spin_unlock_irqrestore(&sq->post_lock, flags);
	if (err)
		*bad_wr = wr;
	ring_bell(qp, hdr);
	return err;
}

/**
 * mroce_kverbs_post_recv() - post receive requests of a kernel user
 * @qp: his queue pair
 * @wr: list of requests
 * @bad_wr: the first that was not posted
 *
 * Context: any.
 * Return: as mroce_kverbs_post_send(); in RESET nothing can be posted.
 */
int mroce_kverbs_post_recv(struct mroce_qp *qp, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr)
{
	struct mroce_rq *rq = &qp->rq;
	struct mroce_ring_hdr *hdr = rq->ring.hdr;
	unsigned long flags;
	u32 prod;
	int err;

	spin_lock_irqsave(&rq->post_lock, flags);
	err = READ_ONCE(qp->state) == IB_QPS_RESET ? -EINVAL : 0;
	prod = hdr->prod;
	for (; wr && !err; wr = wr->next) {
		struct mroce_rqe *rqe = mroce_ring_slot(&rq->ring, prod);

		/* Pairs with release_recv(): the slot is free, and read. */
		if (prod - smp_load_acquire(&hdr->cons) >= rq->max_wr)
			err = -ENOMEM;
		else if (wr->num_sge > rq->max_sge)
			err = -EINVAL;
		if (err)
			break;
		*rqe = (struct mroce_rqe) { .wr_id = wr->wr_id, .num_sge = wr->num_sge };
		put_sges(rqe->sge, wr->sg_list, wr->num_sge);
		prod++;
	}
	publish(hdr, prod);
	spin_unlock_irqrestore(&rq->post_lock, flags);
	if (err)
		*bad_wr = wr;
	ring_bell(qp, hdr);
	return err;
}

/* What a doorbell does, a batch at a time: others wait in softirq context, too. */
MROCE_COMPAT_BH_FN(kicked, kick)
{
	struct mroce_qp *qp = mroce_compat_bh_entry(kick, struct mroce_qp, kick);

	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mroce_comp_flush(qp);
	else if (mroce_dgram_send_batch(qp))
		mroce_compat_bh_schedule(&qp->kick);
}

/**
 * mroce_kverbs_init() - a queue pair is being made
 * @qp: the queue pair; a program's has use for the kick, too (mroce_dgram_send())
 */
void mroce_kverbs_init(struct mroce_qp *qp)
{
	spin_lock_init(&qp->sq.post_lock);
	spin_lock_init(&qp->rq.post_lock);
	mroce_compat_bh_init(&qp->kick, kicked);
}

/**
 * mroce_kverbs_settle() - the queue pair is in RESET: no post is under way that has not seen it
 * @qp: the queue pair
 *
 * Context: task.
 */
void mroce_kverbs_settle(struct mroce_qp *qp)
{
	spin_lock_irq(&qp->sq.post_lock);
	spin_unlock_irq(&qp->sq.post_lock);
	spin_lock_irq(&qp->rq.post_lock);
	spin_unlock_irq(&qp->rq.post_lock);
}

/**
 * mroce_kverbs_stop() - a queue pair goes
 * @qp: the queue pair, in RESET; its user posts nothing any more
 *
 * Context: task.
 */
void mroce_kverbs_stop(struct mroce_qp *qp)
{
	mroce_compat_bh_cancel(&qp->kick);
	if (!mroce_qp_is_kernels(qp))
		return;
	mroce_cq_clean(qp->ibqp.send_cq, &qp->ibqp);
	if (qp->ibqp.recv_cq != qp->ibqp.send_cq)
		mroce_cq_clean(qp->ibqp.recv_cq, &qp->ibqp);
}
