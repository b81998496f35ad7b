// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: a DATA packet finds its place, its message completes in order.
 *
 * Claim under rq.lock, copy without any lock, commit under rq.lock. What cannot
 * be taken now (no receive posted, QP not ready, no memory) is refused: the path
 * level says so, the sender sends it again later. What can never be taken is an
 * error, and takes effect when everything before it is complete.
 */
#include "mroce.h"

/* Response packets sent at once; acknowledgements carry on. */
#define RESP_RUN_PKTS	64

/**
 * mroce_resp_start() - the QP goes to RTR: its receiving streams begin
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, the state not yet changed.
 */
void mroce_resp_start(struct mroce_qp *qp)
{
	spin_lock_bh(&qp->rq.lock);
	mroce_rxq_start(&qp->rq.rx, qp->attr.rq_psn);
	qp->rq.est_told = false;
	spin_unlock_bh(&qp->rq.lock);
}

/* Tells peers of a QP, and instances of them, apart. The QP is connected. */
static u64 peer_of(const struct mroce_qp *qp)
{
	return READ_ONCE(qp->conn->hs.peer_nonce) ^ ((u64)qp->dest_qpn << 32 | qp->conn->scid);
}

/**
 * mroce_resp_life() - may a packet of this incarnation of the peer be taken?
 * @qp: a connected QP
 * @incarnation: of the packet
 *
 * Context: qp->rq.lock held.
 */
bool mroce_resp_life(struct mroce_qp *qp, u16 incarnation)
{
	return mroce_life_accepts(&qp->rq.life, peer_of(qp), incarnation);
}

/**
 * mroce_resp_stop() - the QP goes, or to RESET: its receiving side ends
 * @qp: the queue pair
 *
 * Waits until no packet is being copied (bounded: copies never wait).
 *
 * Context: task, qp->mutex held; the state is RESET or ERR, or the QP is unpublished.
 */
void mroce_resp_stop(struct mroce_qp *qp)
{
	struct mroce_rq *rq = &qp->rq;

	spin_lock_bh(&rq->lock);
	mroce_rxq_settle(&rq->rx, &rq->lock);
	mroce_hold_purge(qp);
	mroce_comp_forget(rq);
	if (qp->conn)
		mroce_life_end(&rq->life, peer_of(qp));
	mroce_rxq_stop(&rq->rx);
	spin_unlock_bh(&rq->lock);
	mroce_rxq_bury(qp->conn, &rq->rx);
}

/**
 * mroce_resp_rwqe_stride() - size of the private copy of a receive
 * @max_sge: elements it may have
 */
u32 mroce_resp_rwqe_stride(u32 max_sge)
{
	return ALIGN(sizeof(struct mroce_rwqe) + max_sge * sizeof(struct mroce_place_sge), 8);
}

/**
 * mroce_resp_take_rwqe() - copy a receive, once, out of the ring
 * @ring: of the receive queue
 * @idx: where
 * @max_sge: elements that fit into a slot, and into @wqe
 * @wqe: to fill; what the user has broken gets a status
 *
 * Context: lock of the receive queue held.
 */
void mroce_resp_take_rwqe(const struct mroce_ring *ring, u32 idx, u32 max_sge,
			  struct mroce_rwqe *wqe)
{
	const struct mroce_rqe *slot = mroce_ring_slot(ring, idx);
	struct mroce_rqe rqe;

	memcpy(&rqe, slot, sizeof(rqe));
	/* The user may be writing: what was copied is what counts from here. */
	barrier();
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = rqe.wr_id;
	wqe->num_sge = rqe.num_sge;
	if (wqe->num_sge > max_sge) {
		wqe->num_sge = 0;
		wqe->status = IB_WC_LOC_QP_OP_ERR;
	}
	memcpy(wqe->sge, (const u8 *)slot + MROCE_RQE_SIZE,
	       wqe->num_sge * sizeof(struct mroce_sge));
	wqe->total_bytes = mroce_place_total(wqe->sge, wqe->num_sge);
}

/* The same from a shared queue: what that has is known only when one is taken. */
static struct mroce_rwqe *bind_shared(struct mroce_rq *rq, u32 rsn, bool *low)
{
	enum mroce_bind_verdict v;
	int copy;

	for (;;) {
		v = mroce_bind_check(rsn, rq->cons, rq->bound, rq->bound + 1, rq->entries);
		if (v != MROCE_BIND_MORE)
			break;
		copy = mroce_srq_bind(rq->srq, low);
		if (copy < 0)
			return NULL;
		rq->copy[rq->bound & (rq->entries - 1)] = copy;
		rq->bound++;
	}
	return v == MROCE_BIND_READY ? mroce_rq_wqe(rq, rsn) : NULL;
}

/**
 * mroce_resp_bind() - the receive of a message
 * @rq: receive queue
 * @rsn: number of the message; every unbound receive up to it is bound, in order
 * @low: set when the owner of a shared queue is to be told (mroce_srq_tell_low())
 *
 * Context: rq->lock held.
 * Return: NULL: not posted yet.
 */
struct mroce_rwqe *mroce_resp_bind(struct mroce_rq *rq, u32 rsn, bool *low)
{
	enum mroce_bind_verdict v;
	u32 prod;

	if (rq->srq)
		return bind_shared(rq, rsn, low);
	/* Pairs with the user's release: the slots are filled before prod moves. */
	prod = smp_load_acquire(&rq->ring.hdr->prod);
	for (;;) {
		v = mroce_bind_check(rsn, rq->cons, rq->bound, prod, rq->entries);
		if (v != MROCE_BIND_MORE)
			break;
		mroce_resp_take_rwqe(&rq->ring, rq->bound, rq->max_sge,
				     mroce_rq_wqe(rq, rq->bound));
		rq->bound++;
	}
	return v == MROCE_BIND_READY ? mroce_rq_wqe(rq, rsn) : NULL;
}

/* Copy the payload to where the packet says. Return: enum mroce_syndrome */
static u8 place_write(struct mroce_qp *qp, const struct sk_buff *skb, u32 off,
		      const struct mroce_pkt_data *p)
{
	struct mroce_mr *mr;
	int err;

	if (!p->payload_len)
		return MROCE_SYN_OK;
	/* The QP does not serve such requests at all. */
	if (!(qp->access & IB_ACCESS_REMOTE_WRITE))
		return MROCE_SYN_INV_REQ;
	mr = mroce_mr_get(to_mdev(qp->ibqp.device), qp->ibqp.pd, p->rkey, p->addr,
			  p->payload_len, IB_ACCESS_REMOTE_WRITE);
	if (!mr)
		return MROCE_SYN_ACCESS;
	err = mroce_copy_to_mr(mr, p->addr, skb, off, p->payload_len);
	mroce_mr_put(mr);
	return err ? MROCE_SYN_OP_ERR : MROCE_SYN_OK;
}

/* Copy into the posted receive; its own faults are noted in @wqe->status. */
static u8 place_send(struct mroce_qp *qp, struct mroce_rwqe *wqe, const struct sk_buff *skb,
		     u32 off, const struct mroce_pkt_data *p)
{
	struct mroce_sgl sgl = {
		/* Keys of a shared receive are those of its queue's domain. */
		.pd = qp->rq.srq ? qp->rq.srq->ibsrq.pd : qp->ibqp.pd,
		.sge = wqe->sge,
		.num_sge = wqe->num_sge,
	};
	u32 at = (p->psn - p->msg_psn) * p->unit_bytes;
	int err;

	if (p->msg_len > wqe->total_bytes) {
		WRITE_ONCE(wqe->status, IB_WC_LOC_LEN_ERR);
		return MROCE_SYN_INV_REQ;
	}
	err = mroce_copy_to_sgl(&sgl, at, skb, off, p->payload_len);
	if (err == -EACCES)
		WRITE_ONCE(wqe->status, IB_WC_LOC_PROT_ERR);
	return err ? MROCE_SYN_OP_ERR : MROCE_SYN_OK;
}

static u8 place(struct mroce_qp *qp, struct mroce_rwqe *wqe, const struct sk_buff *skb, u32 off,
		const struct mroce_pkt_data *p)
{
	/* All packets of a message that fails tell the same story. */
	if (wqe && wqe->status)
		return wqe->status == IB_WC_LOC_LEN_ERR ? MROCE_SYN_INV_REQ : MROCE_SYN_OP_ERR;
	switch (p->opcode) {
	case MROCE_OP_WRITE:
	case MROCE_OP_WRITE_IMM:
		return place_write(qp, skb, off, p);
	case MROCE_OP_SEND:
	case MROCE_OP_SEND_IMM:
		return place_send(qp, wqe, skb, off, p);
	case MROCE_OP_READ_REQ:
	case MROCE_OP_ATOMIC_CS:
	case MROCE_OP_ATOMIC_FA:
		return mroce_exec_check(qp, p);
	default:
		/* Not served yet. */
		return MROCE_SYN_INV_REQ;
	}
}

/*
 * An error has its turn when everything before it is complete: also the fetches,
 * whose responses the peer must have. Under rq.lock.
 */
static bool error_due(struct mroce_qp *qp)
{
	return mroce_rxs_error_due(&qp->rq.rx.rxs) && mroce_exec_idle(qp);
}

/* Tell the peer how far the stream is. Under rq.lock. */
static void report(struct mroce_conn *conn, struct mroce_qp *qp)
{
	struct mroce_rec rec = {
		.stream = MROCE_STREAM_REQ,
		.dst_qpn = qp->dest_qpn,
		.src_qpn = qp->qpn,
		.incarnation = qp->rq.life.inc,
	};

	/* Our QP broke for a reason of its own: the peer waits in vain. */
	if (qp->state == IB_QPS_ERR)
		rec.syndrome = MROCE_SYN_GONE;
	else if (mroce_rxs_error_due(&qp->rq.rx.rxs) && !mroce_exec_idle(qp))
		rec.syndrome = MROCE_SYN_BUSY;
	mroce_rxq_report(conn, &qp->rq.rx, &rec);
}

/**
 * struct claim - what the first, locked half of taking a packet decided
 * @verdict: for the path level
 * @copy: the psn is claimed: place it, then commit()
 * @error: the QP has to go to ERR
 * @established: it is the first packet of the peer
 * @low: fewer receives are left in the shared queue than its owner wants
 * @incarnation: life of the QP this is about
 * @wqe: the bound receive, NULL for a WRITE
 */
struct claim {
	enum mroce_resp_verdict verdict;
	bool copy;
	bool error;
	bool established;
	bool low;
	u16 incarnation;
	struct mroce_rwqe *wqe;
};

static void refuse(struct mroce_qp *qp, const struct mroce_pkt_data *p, u8 syndrome,
		   struct claim *c)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);

	mroce_rxs_refuse(&qp->rq.rx.rxs, p->psn, p->msg_psn, syndrome, qp->min_rnr_timer);
	mroce_count(dev, MROCE_CNT_RX_REFUSED);
	mroce_count(dev, syndrome == MROCE_SYN_RNR ? MROCE_CNT_RNR_TX : MROCE_CNT_RX_REFUSED_BUSY);
	c->verdict = MROCE_RESP_REFUSED;
}

/* Verdict NEW: bind a receive where one is needed, then claim. */
static void claim_new(struct mroce_qp *qp, const struct sk_buff *skb, u32 off,
		      const struct mroce_pkt_data *p, struct claim *c)
{
	struct mroce_rq *rq = &qp->rq;

	if (mroce_op_info(p->opcode) & MROCE_OPF_RECV) {
		c->wqe = mroce_resp_bind(rq, p->rsn, &c->low);
		if (!c->wqe) {
			refuse(qp, p, MROCE_SYN_RNR, c);
			return;
		}
		/* One message, two stories: whoever does that is not to be served. */
		if (!mroce_rxs_msg_fits(&c->wqe->msg, p)) {
			mroce_rxs_fail(&rq->rx.rxs, p->psn, MROCE_SYN_INV_REQ);
			c->error = error_due(qp);
			return;
		}
		mroce_rxs_msg_set(&c->wqe->msg, p);
	}
	if (mroce_hold_wanted(qp, p)) {
		if (mroce_hold_add(qp, skb, off, p))
			mroce_rxs_claim(&rq->rx.rxs, p->psn);
		else
			refuse(qp, p, MROCE_SYN_BUSY, c);
		return;
	}
	mroce_rxs_claim(&rq->rx.rxs, p->psn);
	rq->rx.copies++;
	c->copy = true;
}

static void claim(struct mroce_qp *qp, const struct sk_buff *skb, u32 off,
		  const struct mroce_pkt_data *p, struct claim *c)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);

	switch (mroce_rxq_classify(dev, &qp->rq.rx, p->psn)) {
	case MROCE_RXS_NEW:
		claim_new(qp, skb, off, p, c);
		break;
	case MROCE_RXS_DUP:
		mroce_count(dev, MROCE_CNT_RX_DUP);
		break;
	case MROCE_RXS_AFTER_ERR:
		break;
	case MROCE_RXS_NEED_BITS:
		refuse(qp, p, MROCE_SYN_BUSY, c);
		break;
	case MROCE_RXS_BEYOND:
		mroce_count_drop(dev, MROCE_DROP_WINDOW);
		c->verdict = MROCE_RESP_DROPPED;
		break;
	}
}

/* The states in which a QP has a receiving stream. */
static bool has_stream(const struct mroce_qp *qp)
{
	return qp->conn && (qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
			    qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE ||
			    qp->state == IB_QPS_ERR);
}

/**
 * struct after - what to do after the second, locked half of taking a packet
 * @notify: MROCE_NOTIFY_*
 * @flush: the QP broke meanwhile and left the flush to the last copy
 * @respond: there are responses to send
 * @moved: packets are held, and the messages before theirs may be complete now
 */
struct after {
	unsigned int notify;
	bool flush;
	bool respond;
	bool moved;
};

/* A packet is placed, and nothing went wrong. Under rq.lock. */
static void accept(struct mroce_qp *qp, const struct mroce_pkt_data *p,
		   const struct mroce_atomic_op *op, struct after *after)
{
	struct mroce_rxs *rxs = &qp->rq.rx.rxs;

	after->notify |= mroce_exec_oldest(qp, p->oldest);
	if ((mroce_op_info(p->opcode) & MROCE_OPF_FETCH) && !mroce_exec_put(qp, p, op)) {
		mroce_rxs_fail(rxs, p->psn, MROCE_SYN_INV_REQ);
		after->notify |= mroce_comp_recv(qp);
		return;
	}
	if (mroce_rxs_commit(rxs, p->psn)) {
		after->moved = qp->rq.hold.pkts;
		after->respond |= mroce_exec_due(qp);
	}
	/* Also when nothing moved: an error may have waited for the responses. */
	after->notify |= mroce_comp_recv(qp);
}

/* The second, locked half. */
static void commit(struct mroce_conn *conn, struct mroce_qp *qp, const struct mroce_pkt_data *p,
		   const struct mroce_atomic_op *op, u8 syndrome, struct after *after)
{
	struct mroce_rq *rq = &qp->rq;

	after->moved = false;
	spin_lock(&rq->lock);
	rq->rx.copies--;
	if (!has_stream(qp)) {
		/* RESET meanwhile: waits for us, and wants nothing of this. */
		spin_unlock(&rq->lock);
		return;
	}
	if (qp->state == IB_QPS_ERR) {
		after->flush |= !rq->rx.copies;
	} else if (syndrome) {
		mroce_rxs_fail(&rq->rx.rxs, p->psn, syndrome);
		after->notify |= mroce_comp_recv(qp);
	} else {
		accept(qp, p, op, after);
	}
	report(conn, qp);
	spin_unlock(&rq->lock);
}

static void place_and_commit(struct mroce_conn *conn, struct mroce_qp *qp,
			     struct mroce_rwqe *wqe, const struct sk_buff *skb, u32 off,
			     const struct mroce_pkt_data *p, struct after *after)
{
	u8 buf[MROCE_ATOMIC_LEN], syndrome;
	struct mroce_atomic_op op = {};

	syndrome = place(qp, wqe, skb, off, p);
	if (!syndrome && (mroce_op_info(p->opcode) & MROCE_OPF_FETCH) && p->payload_len) {
		if (skb_copy_bits(skb, off, buf, sizeof(buf)))
			syndrome = MROCE_SYN_OP_ERR;
		else
			mroce_wire_get_atomic(buf, &op);
	}
	commit(conn, qp, p, &op, syndrome, after);
}

/* The oldest incomplete message may have become one whose packets are held: place them. */
static void release_held(struct mroce_conn *conn, struct mroce_qp *qp, u16 incarnation,
			 struct after *after)
{
	struct mroce_rwqe *wqe;
	struct mroce_pkt_data p;
	struct sk_buff *skb;
	u32 off;

	for (;;) {
		wqe = NULL;
		skb = NULL;
		spin_lock(&qp->rq.lock);
		/* Nothing was counted since the last copy: it may be another life by now. */
		if (has_stream(qp) && qp->state != IB_QPS_ERR && qp->incarnation == incarnation) {
			skb = mroce_hold_next(qp, &off, &p);
			/* One that cannot be read any more is an error, and may be due. */
			if (!skb)
				after->notify |= mroce_comp_recv(qp);
		}
		if (skb) {
			qp->rq.rx.copies++;
			if (mroce_op_info(p.opcode) & MROCE_OPF_RECV)
				wqe = mroce_rq_wqe(&qp->rq, p.rsn);
		}
		spin_unlock(&qp->rq.lock);
		if (!skb)
			return;
		place_and_commit(conn, qp, wqe, skb, off, &p, after);
		consume_skb(skb);
	}
}

/**
 * mroce_resp_event() - the asynchronous event of an error that breaks the QP
 * @qp: the queue pair; its error is due
 *
 * Return: enum ib_event_type, MROCE_NO_EVENT when a completion tells it.
 */
int mroce_resp_event(struct mroce_qp *qp)
{
	struct mroce_rq *rq = &qp->rq;
	int event = MROCE_NO_EVENT;

	spin_lock_bh(&rq->lock);
	if (rq->cons == rq->bound || !mroce_rq_wqe(rq, rq->cons)->status) {
		if (rq->rx.rxs.err_syndrome == MROCE_SYN_ACCESS)
			event = IB_EVENT_QP_ACCESS_ERR;
		else if (rq->rx.rxs.err_syndrome == MROCE_SYN_INV_REQ)
			event = IB_EVENT_QP_REQ_ERR;
		else
			event = IB_EVENT_QP_FATAL;
	}
	spin_unlock_bh(&rq->lock);
	return event;
}

/**
 * mroce_resp_settled() - the peer has all responses: a pending error may have its turn
 * @qp: the queue pair
 * @incarnation: its life this is about
 *
 * Context: bottom halves off, no lock held.
 */
void mroce_resp_settled(struct mroce_qp *qp, u16 incarnation)
{
	struct mroce_rxs *rxs = &qp->rq.rx.rxs;
	bool due = false;

	spin_lock(&qp->rq.lock);
	if (has_stream(qp) && qp->state != IB_QPS_ERR && qp->incarnation == incarnation) {
		/* A response that cannot be sent: what comes next is not served. */
		if (READ_ONCE(qp->rdq.broken) && !rxs->err)
			mroce_rxs_fail(rxs, rxs->cum, MROCE_SYN_ACCESS);
		due = error_due(qp);
		if (due)
			report(qp->conn, qp);
	}
	spin_unlock(&qp->rq.lock);
	if (due)
		mroce_comp_error(qp, incarnation, mroce_resp_event(qp));
}

/**
 * mroce_resp_gone() - tell the peer that there is nobody for a stream of his
 * @conn: the connection
 * @stream: which
 * @dst_qpn: of the data
 * @src_qpn: of the data
 * @incarnation: of the data
 *
 * Context: softirq, no lock held.
 */
void mroce_resp_gone(struct mroce_conn *conn, u8 stream, u32 dst_qpn, u32 src_qpn, u16 incarnation)
{
	spin_lock(&conn->rx_lock);
	mroce_ack_record(conn, mroce_rxq_tomb(conn, stream, dst_qpn, src_qpn, incarnation));
	spin_unlock(&conn->rx_lock);
}

/* The first, locked half of mroce_resp_data(): may this packet be taken, and how? */
static void admit(struct mroce_conn *conn, struct mroce_qp *qp, const struct sk_buff *skb,
		  u32 off, const struct mroce_pkt_data *p, struct claim *c)
{
	if (!has_stream(qp)) {
		/* Not ready yet: it will come again. */
		mroce_count(conn->dev, MROCE_CNT_RX_REFUSED);
		mroce_count(conn->dev, MROCE_CNT_RX_REFUSED_STATE);
		c->verdict = MROCE_RESP_REFUSED;
		return;
	}
	if (qp->conn != conn || qp->dest_qpn != p->src_qpn ||
	    !mroce_resp_life(qp, p->incarnation)) {
		/*
		 * Of another life, or not our peer. Refused, so that it comes again
		 * late and rarely: perhaps we are the ones who are late.
		 */
		mroce_count_drop(conn->dev, MROCE_DROP_QP);
		c->verdict = MROCE_RESP_REFUSED;
		return;
	}
	c->incarnation = qp->incarnation;
	if (qp->state != IB_QPS_ERR)
		claim(qp, skb, off, p, c);
	if (qp->state == IB_QPS_RTR && !qp->rq.est_told) {
		qp->rq.est_told = true;
		c->established = true;
	}
	if (!c->copy && c->verdict != MROCE_RESP_DROPPED)
		report(conn, qp);
}

static void take_request(struct mroce_conn *conn, struct mroce_qp *qp, struct sk_buff *skb,
			 u32 off, const struct mroce_pkt_data *p, struct claim *c)
{
	struct after after = {};

	spin_lock(&qp->rq.lock);
	admit(conn, qp, skb, off, p, c);
	spin_unlock(&qp->rq.lock);

	if (c->established)
		mroce_comp_event(qp, IB_EVENT_COMM_EST);
	if (c->low)
		mroce_srq_tell_low(qp->rq.srq);
	if (c->copy) {
		place_and_commit(conn, qp, c->wqe, skb, off, p, &after);
		if (after.moved)
			release_held(conn, qp, c->incarnation, &after);
	}
	mroce_comp_notify(qp, after.notify);
	if (after.notify & MROCE_NOTIFY_SETTLED)
		mroce_resp_settled(qp, c->incarnation);
	if (after.respond)
		mroce_send_run(&qp->rdq.q, RESP_RUN_PKTS);
	if (after.flush)
		mroce_comp_flush(qp);
	if (c->error || (after.notify & MROCE_NOTIFY_ERROR))
		mroce_comp_error(qp, c->incarnation, mroce_resp_event(qp));
}

/**
 * mroce_resp_data() - take one DATA packet
 * @conn: connection it came on
 * @skb: packet, not consumed
 * @off: start of its payload
 * @p: its header
 *
 * Context: softirq, no lock held.
 */
enum mroce_resp_verdict mroce_resp_data(struct mroce_conn *conn, struct sk_buff *skb, u32 off,
					const struct mroce_pkt_data *p)
{
	struct mroce_qp *qp = mroce_qp_get(conn->dev, p->dst_qpn);
	struct claim c = { .verdict = MROCE_RESP_TAKEN };

	if (!qp) {
		mroce_resp_gone(conn, p->stream, p->dst_qpn, p->src_qpn, p->incarnation);
		mroce_count_drop(conn->dev, MROCE_DROP_QP);
		return MROCE_RESP_TAKEN;
	}
	if (p->stream == MROCE_STREAM_RESP)
		c.verdict = mroce_sink_data(conn, qp, skb, off, p);
	else
		take_request(conn, qp, skb, off, p, &c);
	mroce_qp_put(qp);
	return c.verdict;
}

static void answer(struct mroce_conn *conn, struct mroce_qp *qp, const struct mroce_ask *ask)
{
	spin_lock(&qp->rq.lock);
	if (has_stream(qp) && qp->conn == conn && qp->dest_qpn == ask->src_qpn &&
	    qp->rq.life.known && qp->rq.life.inc == ask->incarnation)
		report(conn, qp);
	spin_unlock(&qp->rq.lock);
}

/**
 * mroce_resp_ask() - the peer asks how far a stream is
 * @conn: the connection
 * @ask: the question
 *
 * Context: softirq, no lock held.
 */
void mroce_resp_ask(struct mroce_conn *conn, const struct mroce_ask *ask)
{
	struct mroce_qp *qp;

	if (ask->stream > MROCE_STREAM_RESP)
		return;
	qp = mroce_qp_get(conn->dev, ask->dst_qpn);
	if (!qp) {
		mroce_resp_gone(conn, ask->stream, ask->dst_qpn, ask->src_qpn, ask->incarnation);
		return;
	}
	if (ask->stream == MROCE_STREAM_RESP)
		mroce_sink_ask(conn, qp, ask);
	else
		answer(conn, qp, ask);
	mroce_qp_put(qp);
}
