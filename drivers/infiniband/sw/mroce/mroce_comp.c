// SPDX-License-Identifier: GPL-2.0
/*
 * Completions in order, and the way into the error state.
 *
 * Functions that find something complete run under a queue's lock and return
 * MROCE_NOTIFY_* bits; the caller acts on them after unlocking, because no
 * completion handler may run under a lock of ours.
 *
 * A slot is given back to the user before its completion becomes visible: who
 * sees the completion may post again at once.
 */
#include "mroce_dgram.h"

static bool post(struct ib_cq *ibcq, struct mroce_qp *qp, struct mroce_cqe *cqe, bool solicited)
{
	cqe->qp_num = qp->qpn;
	if (!to_mcq(ibcq)->ring.entry)
		cqe->kernel_qp = (uintptr_t)&qp->ibqp;
	return mroce_cq_post(to_mcq(ibcq), cqe, solicited);
}

static unsigned int post_send(struct mroce_qp *qp, u64 wr_id, u8 status, u8 opcode, u32 len)
{
	struct mroce_cqe cqe = {
		.wr_id = wr_id,
		.status = status,
		.opcode = opcode,
		.byte_len = len,
	};

	return post(qp->ibqp.send_cq, qp, &cqe, false) ? MROCE_NOTIFY_SEND : 0;
}

/* Give the oldest slot of the send ring back. The private copy stays ours. */
static void release_send(struct mroce_sq *sq)
{
	sq->q.una++;
	/* Before the CQE: whoever sees that finds the slot free. */
	smp_store_release(&sq->ring.hdr->cons, sq->q.una);
}

/* The same for the receive ring. With a shared one the private copy is another's from now on. */
static void release_recv(struct mroce_rq *rq)
{
	u32 idx = rq->cons++;

	if (rq->srq) {
		mroce_srq_give(rq->srq, rq->copy[idx & (rq->entries - 1)]);
		return;
	}
	/* Before the CQE: whoever sees that finds the slot free. */
	smp_store_release(&rq->ring.hdr->cons, rq->cons);
}

/* Accepted by the peer; of a fetch, all responses are there. */
static bool wqe_done(const struct mroce_sq *sq, const struct mroce_swqe *wqe)
{
	if (mroce_seq_before(sq->q.txs.una, wqe->first_psn + wqe->n_pkts))
		return false;
	return !mroce_seq_before(sq->sink.rxs.cum, wqe->resp_psn + wqe->n_resp) || !wqe->n_resp;
}

/* Everything begun is complete, nothing more begins: tell who asked for it, once. */
static unsigned int check_drained(struct mroce_qp *qp)
{
	struct mroce_sq *sq = &qp->sq;

	if (qp->state != IB_QPS_SQD || sq->drain_told || !mroce_comp_drained(qp))
		return 0;
	sq->drain_told = true;
	return MROCE_NOTIFY_DRAINED;
}

/**
 * mroce_comp_drained() - is everything complete that was begun?
 * @qp: the queue pair
 *
 * Context: qp->sq.q.lock held.
 */
bool mroce_comp_drained(const struct mroce_qp *qp)
{
	const struct mroce_txq *q = &qp->sq.q;

	if (q->una != q->send || mroce_txs_busy(&q->txs))
		return false;
	/* The next one may be half out. */
	return q->send == q->head || q->txs.nxt == mroce_txq_wqe(q, q->send)->first_psn;
}

/* The oldest request is complete, with @status. Return: MROCE_NOTIFY_* */
static unsigned int complete_send(struct mroce_qp *qp, const struct mroce_swqe *wqe)
{
	struct mroce_sq *sq = &qp->sq;
	unsigned int notify = 0;

	if (wqe->n_resp && !wqe->status) {
		sq->rd.done++;
		sq->q.txs.owed = mroce_rdreq_out(&sq->rd);
		notify = MROCE_NOTIFY_FETCHED;
	}
	sq->failed = wqe->status;
	release_send(sq);
	if (wqe->status || qp->sq_sig_all || (wqe->flags & IB_SEND_SIGNALED))
		notify |= post_send(qp, wqe->wr_id, wqe->status, wqe->wr_op, wqe->len);
	return wqe->status ? notify | MROCE_NOTIFY_ERROR : notify;
}

/**
 * mroce_comp_send() - complete the send requests that are complete, in order
 * @qp: queue pair
 *
 * Stops at a failed request: completes it with its status and asks for the
 * error state.
 *
 * Context: qp->sq.q.lock held.
 * Return: MROCE_NOTIFY_*
 */
unsigned int mroce_comp_send(struct mroce_qp *qp)
{
	struct mroce_sq *sq = &qp->sq;
	unsigned int notify = 0;

	if ((qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) || sq->failed)
		return 0;
	while (sq->q.una != sq->q.head && !(notify & MROCE_NOTIFY_ERROR)) {
		struct mroce_swqe *wqe = mroce_txq_wqe(&sq->q, sq->q.una);

		if (!wqe->status && !wqe_done(sq, wqe))
			break;
		/* Its buffer is not the user's yet: the last copy comes here again. */
		if (wqe->status && sq->sink.copies)
			break;
		notify |= complete_send(qp, wqe);
	}
	return notify | check_drained(qp);
}

/* Complete the oldest receive, of which @wqe is the copy. */
static unsigned int complete_recv(struct mroce_qp *qp, const struct mroce_rwqe *wqe, u8 status)
{
	const struct mroce_rxs_msg *msg = &wqe->msg;
	bool solicited = status || msg->solicited;
	struct mroce_cqe cqe = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = IB_WC_RECV,
		.src_qp = qp->dest_qpn,
	};

	if (!status) {
		cqe.byte_len = msg->msg_len;
		if (mroce_op_info(msg->opcode) & MROCE_OPF_IMM) {
			cqe.imm_be = msg->imm;
			cqe.wc_flags = IB_WC_WITH_IMM;
		}
		if (msg->opcode == MROCE_OP_WRITE_IMM)
			cqe.opcode = IB_WC_RECV_RDMA_WITH_IMM;
	}
	release_recv(&qp->rq);
	return post(qp->ibqp.recv_cq, qp, &cqe, solicited) ? MROCE_NOTIFY_RECV : 0;
}

/**
 * mroce_comp_dgram() - the oldest request of a UD queue pair is done
 * @qp: queue pair
 * @wqe: the request; its status tells how
 *
 * Context: qp->sq.q.lock held.
 * Return: MROCE_NOTIFY_*
 */
unsigned int mroce_comp_dgram(struct mroce_qp *qp, const struct mroce_swqe *wqe)
{
	return complete_send(qp, wqe);
}

/**
 * mroce_comp_unanswered() - the oldest request of a GSI queue pair was sent: its slot is free
 * @qp: queue pair
 *
 * Context: qp->sq.q.lock held.
 */
void mroce_comp_unanswered(struct mroce_qp *qp)
{
	release_send(&qp->sq);
}

/**
 * mroce_comp_answered() - a request of a GSI queue pair is done
 * @qp: queue pair
 * @wr_id: the request
 * @status: enum ib_wc_status
 *
 * Context: qp->sq.q.lock held.
 * Return: MROCE_NOTIFY_*
 */
unsigned int mroce_comp_answered(struct mroce_qp *qp, u64 wr_id, u8 status)
{
	return post_send(qp, wr_id, status, IB_WC_SEND, 0);
}

/**
 * mroce_comp_dgram_recv() - a datagram is in the oldest receive
 * @qp: queue pair
 * @wqe: the receive; its status tells whether that went well
 * @p: header of the datagram
 * @grh: what is before the data
 * @vlan_id: of the address it came to, or MROCE_NO_VLAN; for users in the kernel
 *
 * Context: qp->rq.lock held.
 * Return: MROCE_NOTIFY_*
 */
unsigned int mroce_comp_dgram_recv(struct mroce_qp *qp, const struct mroce_rwqe *wqe,
				   const struct mroce_pkt_dgram *p, const u8 *grh, u16 vlan_id)
{
	struct mroce_cqe cqe = {
		.wr_id = wqe->wr_id,
		.status = wqe->status,
		.opcode = IB_WC_RECV,
		.src_qp = p->src_qpn,
	};
	unsigned int notify = 0;
	u8 status = wqe->status;

	if (!status) {
		cqe.byte_len = MROCE_GRH_BYTES + p->payload_len;
		cqe.wc_flags = IB_WC_GRH;
	}
	if (!status && p->opcode == MROCE_OP_SEND_IMM) {
		cqe.wc_flags |= IB_WC_WITH_IMM;
		cqe.imm_be = p->imm;
	}
	if (mroce_qp_is_kernels(qp)) {
		cqe.vlan_id = vlan_id;
		cqe.network_type = grh[0] >> 4 == 6 ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_IPV4;
	}
	/* From here on the copy may be another's. */
	release_recv(&qp->rq);
	if (post(qp->ibqp.recv_cq, qp, &cqe, status || p->solicited))
		notify = MROCE_NOTIFY_RECV;
	return status ? notify | MROCE_NOTIFY_ERROR : notify;
}

/**
 * mroce_comp_recv() - complete the receives whose messages are complete, in order
 * @qp: the queue pair
 *
 * Context: qp->rq.lock held.
 * Return: MROCE_NOTIFY_*; MROCE_NOTIFY_ERROR when a pending error has its turn.
 */
unsigned int mroce_comp_recv(struct mroce_qp *qp)
{
	struct mroce_rq *rq = &qp->rq;
	unsigned int notify = 0;

	while (rq->cons != rq->bound) {
		struct mroce_rwqe *wqe = mroce_rq_wqe(rq, rq->cons);

		if (!mroce_rxs_msg_done(&rq->rx.rxs, &wqe->msg))
			break;
		notify |= complete_recv(qp, wqe, IB_WC_SUCCESS);
	}
	if (mroce_rxs_error_due(&rq->rx.rxs) && mroce_exec_idle(qp))
		notify |= MROCE_NOTIFY_ERROR;
	return notify;
}

/**
 * mroce_comp_notify() - raise the completion events that were armed
 * @qp: the queue pair
 * @notify: MROCE_NOTIFY_* bits collected under the lock
 *
 * Context: no lock of ours held.
 */
void mroce_comp_notify(struct mroce_qp *qp, unsigned int notify)
{
	if (notify & MROCE_NOTIFY_SEND)
		mroce_cq_notify(to_mcq(qp->ibqp.send_cq));
	if ((notify & MROCE_NOTIFY_RECV) &&
	    !((notify & MROCE_NOTIFY_SEND) && qp->ibqp.send_cq == qp->ibqp.recv_cq))
		mroce_cq_notify(to_mcq(qp->ibqp.recv_cq));
	if (notify & MROCE_NOTIFY_DRAINED)
		mroce_comp_event(qp, IB_EVENT_SQ_DRAINED);
	if (notify & MROCE_NOTIFY_LAST_WQE)
		mroce_comp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/**
 * mroce_comp_event() - raise an asynchronous event of the queue pair
 * @qp: the queue pair
 * @event: enum ib_event_type
 *
 * Context: any, no lock of ours held.
 */
void mroce_comp_event(struct mroce_qp *qp, int event)
{
	struct ib_event ev = {
		.device = qp->ibqp.device,
		.event = event,
		.element.qp = &qp->ibqp,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
}

/* How many slots the user has filled; what he broke counts as none. */
static u32 posted(const struct mroce_ring *ring, u32 head, u32 una)
{
	/* Pairs with the user's release: the slots are filled before prod moves. */
	u32 prod = smp_load_acquire(&ring->hdr->prod);

	return prod - una > ring->entries || prod - head > ring->entries ? 0 : prod - head;
}

static unsigned int flush_send(struct mroce_qp *qp)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_txq *q = &sq->q;
	unsigned int notify = 0;
	u32 n;

	/* A response is being copied into a buffer that is not the user's yet: as below. */
	if (sq->sink.copies)
		return 0;
	if (qp->gsi)
		notify |= mroce_gsi_flush(qp);
	while (q->una != q->head) {
		struct mroce_swqe *wqe = mroce_txq_wqe(q, q->una);

		release_send(sq);
		notify |= post_send(qp, wqe->wr_id, IB_WC_WR_FLUSH_ERR, wqe->wr_op, 0);
	}
	for (n = posted(&sq->ring, q->head, q->una); n; n--) {
		const struct mroce_sqe *sqe = mroce_ring_slot(&sq->ring, q->head++);
		u64 wr_id = READ_ONCE(sqe->wr_id);

		release_send(sq);
		notify |= post_send(qp, wr_id, IB_WC_WR_FLUSH_ERR, IB_WC_SEND, 0);
	}
	q->send = q->head;
	return notify;
}

/* What was posted to the queue pair and is not bound */
static unsigned int flush_posted(struct mroce_qp *qp)
{
	struct mroce_rq *rq = &qp->rq;
	unsigned int notify = 0;
	u32 n;

	for (n = posted(&rq->ring, rq->bound, rq->cons); n; n--) {
		const struct mroce_rqe *rqe = mroce_ring_slot(&rq->ring, rq->bound++);
		struct mroce_rwqe wqe = { .wr_id = READ_ONCE(rqe->wr_id) };

		notify |= complete_recv(qp, &wqe, IB_WC_WR_FLUSH_ERR);
	}
	return notify;
}

/* What is not bound stays with a shared queue; who waits for the last one of ours is told once. */
static unsigned int check_last_wqe(struct mroce_rq *rq)
{
	if (rq->last_told)
		return 0;
	rq->last_told = true;
	return MROCE_NOTIFY_LAST_WQE;
}

static unsigned int flush_recv(struct mroce_qp *qp)
{
	struct mroce_rq *rq = &qp->rq;
	unsigned int notify = 0;
	u8 status;

	/* Somebody copies into a buffer that is not the user's yet: he flushes. */
	if (rq->rx.copies)
		return 0;
	/* Only the oldest can be the one that broke the QP. */
	status = rq->cons != rq->bound ? mroce_rq_wqe(rq, rq->cons)->status : 0;
	while (rq->cons != rq->bound) {
		struct mroce_rwqe *wqe = mroce_rq_wqe(rq, rq->cons);

		notify |= complete_recv(qp, wqe, status ?: IB_WC_WR_FLUSH_ERR);
		status = 0;
	}
	return notify | (rq->srq ? check_last_wqe(rq) : flush_posted(qp));
}

/**
 * mroce_comp_forget() - receives bound from a shared queue that nobody will complete
 * @rq: receive queue of a QP that goes, or to RESET
 *
 * Their completions would go with the QP. Who wants them moves it to ERR first, and waits
 * for the last one.
 *
 * Context: rq->lock held, nothing is being copied.
 */
void mroce_comp_forget(struct mroce_rq *rq)
{
	while (rq->srq && rq->cons != rq->bound)
		release_recv(rq);
}

/**
 * mroce_comp_flush() - complete everything outstanding of a QP in ERR as flushed
 * @qp: the queue pair
 *
 * Called when the state is entered, when the last copy under way ends, and
 * when the user rings a doorbell in ERR.
 *
 * Context: task or softirq, no lock held.
 */
void mroce_comp_flush(struct mroce_qp *qp)
{
	unsigned int notify = 0;

	spin_lock_bh(&qp->sq.q.lock);
	if (qp->state == IB_QPS_ERR)
		notify |= flush_send(qp);
	spin_unlock_bh(&qp->sq.q.lock);

	spin_lock_bh(&qp->rq.lock);
	if (qp->state == IB_QPS_ERR) {
		mroce_hold_purge(qp);
		notify |= flush_recv(qp);
	}
	spin_unlock_bh(&qp->rq.lock);

	local_bh_disable();
	mroce_comp_notify(qp, notify);
	local_bh_enable();
}

/**
 * mroce_comp_error() - the QP goes to ERR, whatever happened to it
 * @qp: the queue pair
 * @incarnation: the life it happened in: a later one is left alone
 * @event: to raise when that changes the state, or MROCE_NO_EVENT
 *
 * Every queue is flushed, every later post rings the doorbell and is flushed.
 *
 * Context: task or softirq, no lock held.
 */
void mroce_comp_error(struct mroce_qp *qp, u16 incarnation, int event)
{
	bool news = false;

	mroce_qp_lock(qp);
	if (qp->incarnation == incarnation && qp->state != IB_QPS_ERR &&
	    qp->state != IB_QPS_RESET) {
		news = true;
		qp->state = IB_QPS_ERR;
		qp->sq.asleep = true;
		/* Pairs with the user's barrier in a post: he rings, or we flush it. */
		WRITE_ONCE(qp->sq.ring.hdr->state, MROCE_RING_KICK);
		if (!qp->rq.srq)
			WRITE_ONCE(qp->rq.ring.hdr->state, MROCE_RING_KICK);
		/* State before prod, as the user has prod before state. */
		smp_mb();
	}
	mroce_qp_unlock(qp);
	if (news && event != MROCE_NO_EVENT)
		mroce_comp_event(qp, event);
	mroce_comp_flush(qp);
}
