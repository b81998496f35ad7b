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

/**
 * mroce_resp_start() - the QP goes to RTR: its receiving stream begins at attr.rq_psn
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, the state not yet changed.
 */
void mroce_resp_start(struct mroce_qp *qp)
{
	struct mroce_rq *rq = &qp->rq;

	spin_lock_bh(&rq->lock);
	mroce_rxs_init(&rq->rxs, qp->attr.rq_psn);
	if (rq->bits)
		memset(rq->bits, 0, sizeof(*rq->bits));
	mroce_rxs_set_bits(&rq->rxs, rq->bits);
	spin_unlock_bh(&rq->lock);
}

/* Put the last record of a stream that ends where a late question finds it. */
static void bury(struct mroce_conn *conn, struct mroce_recstate *rs)
{
	struct mroce_tomb *tomb;

	mroce_ack_forget(conn, rs);
	if (!rs->rec.recno)
		return;
	spin_lock_bh(&conn->rx_lock);
	tomb = &conn->tomb[conn->next_tomb++ % MROCE_TOMBS];
	if (tomb->rs.repeat)
		list_del(&tomb->rs.node);
	tomb->rs.repeat = 0;
	tomb->rs.rec = rs->rec;
	if (rs->rec.syndrome <= MROCE_SYN_BUSY)
		tomb->rs.rec.syndrome = MROCE_SYN_GONE;
	tomb->rs.rec.recno++;
	tomb->used = true;
	spin_unlock_bh(&conn->rx_lock);
}

/* Tells peers of a QP, and instances of them, apart. The QP is connected. */
static u64 peer_of(const struct mroce_qp *qp)
{
	return READ_ONCE(qp->conn->hs.peer_nonce) ^ ((u64)qp->dest_qpn << 32 | qp->conn->scid);
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
	while (rq->copies) {
		spin_unlock_bh(&rq->lock);
		cpu_relax();
		cond_resched();
		spin_lock_bh(&rq->lock);
	}
	if (qp->conn)
		mroce_life_end(&rq->life, peer_of(qp));
	mroce_rxs_set_bits(&rq->rxs, NULL);
	kfree(rq->bits);
	rq->bits = NULL;
	spin_unlock_bh(&rq->lock);
	if (qp->conn)
		bury(qp->conn, &rq->recstate);
	memset(&rq->recstate.rec, 0, sizeof(rq->recstate.rec));
}

static void take_rwqe(struct mroce_rq *rq, u32 idx)
{
	const struct mroce_rqe *slot = mroce_ring_slot(&rq->ring, idx);
	struct mroce_rwqe *wqe = mroce_rq_wqe(rq, idx);
	struct mroce_rqe rqe;

	memcpy(&rqe, slot, sizeof(rqe));
	/* The user may be writing: what was copied is what counts from here. */
	barrier();
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = rqe.wr_id;
	wqe->num_sge = rqe.num_sge;
	if (wqe->num_sge > rq->max_sge) {
		wqe->num_sge = 0;
		wqe->status = IB_WC_LOC_QP_OP_ERR;
	}
	memcpy(wqe->sge, (const u8 *)slot + MROCE_RQE_SIZE,
	       wqe->num_sge * sizeof(struct mroce_sge));
	wqe->total_bytes = mroce_place_total(wqe->sge, wqe->num_sge);
}

/*
 * The receive of message @rsn, binding every unbound one up to it in order.
 * NULL: not posted yet.
 */
static struct mroce_rwqe *bind_rwqe(struct mroce_rq *rq, u32 rsn)
{
	/* Pairs with the user's release: the slots are filled before prod moves. */
	u32 prod = smp_load_acquire(&rq->ring.hdr->prod);

	if (mroce_seq_before(rsn, rq->cons))
		return NULL;
	while (!mroce_seq_before(rsn, rq->bound)) {
		if (rq->bound == prod || prod - rq->cons > rq->ring.entries ||
		    rq->bound - rq->cons >= rq->ring.entries)
			return NULL;
		take_rwqe(rq, rq->bound);
		rq->bound++;
	}
	return mroce_rq_wqe(rq, rsn);
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
	u32 at = (p->psn - p->msg_psn) * p->unit_bytes;
	struct mroce_place_iter it;
	struct mroce_mr *mr;
	int err;

	if (p->msg_len > wqe->total_bytes) {
		WRITE_ONCE(wqe->status, IB_WC_LOC_LEN_ERR);
		return MROCE_SYN_INV_REQ;
	}
	if (!mroce_place_first(&it, wqe->sge, wqe->num_sge, at, p->payload_len))
		return MROCE_SYN_OK;
	do {
		mr = mroce_mr_get(to_mdev(qp->ibqp.device), qp->ibqp.pd, it.lkey, it.addr, it.len,
				  IB_ACCESS_LOCAL_WRITE);
		if (!mr) {
			WRITE_ONCE(wqe->status, IB_WC_LOC_PROT_ERR);
			return MROCE_SYN_OP_ERR;
		}
		err = mroce_copy_to_mr(mr, it.addr, skb, off, it.len);
		mroce_mr_put(mr);
		if (err)
			return MROCE_SYN_OP_ERR;
		off += it.len;
	} while (mroce_place_next(&it));
	return MROCE_SYN_OK;
}

static u8 place(struct mroce_qp *qp, struct mroce_rwqe *wqe, const struct sk_buff *skb, u32 off,
		const struct mroce_pkt_data *p)
{
	u8 info = mroce_op_info(p->opcode);

	if (wqe && wqe->status)
		return MROCE_SYN_OP_ERR;
	switch (p->opcode) {
	case MROCE_OP_WRITE:
	case MROCE_OP_WRITE_IMM:
		return place_write(qp, skb, off, p);
	case MROCE_OP_SEND:
	case MROCE_OP_SEND_IMM:
		return info & MROCE_OPF_RECV ? place_send(qp, wqe, skb, off, p) : MROCE_SYN_OP_ERR;
	default:
		/* Not served yet. */
		return MROCE_SYN_INV_REQ;
	}
}

/* Number a record and leave it with the connection. Under rq.lock. */
static void report(struct mroce_conn *conn, struct mroce_qp *qp)
{
	struct mroce_rec rec = {
		.stream = MROCE_STREAM_REQ,
		.dst_qpn = qp->dest_qpn,
		.src_qpn = qp->qpn,
		.incarnation = qp->rq.life.inc,
	};

	mroce_rxs_record(&qp->rq.rxs, &rec);
	/* Our QP broke for a reason of its own: the peer waits in vain. */
	if (qp->state == IB_QPS_ERR && rec.syndrome <= MROCE_SYN_BUSY)
		rec.syndrome = MROCE_SYN_GONE;
	spin_lock(&conn->rx_lock);
	qp->rq.recstate.rec = rec;
	mroce_ack_record(conn, &qp->rq.recstate);
	spin_unlock(&conn->rx_lock);
}

/**
 * struct claim - what the first, locked half of taking a packet decided
 * @verdict: for the path level
 * @copy: the psn is claimed: place it, then commit()
 * @error: the QP has to go to ERR
 * @incarnation: life of the QP this is about
 * @wqe: the bound receive, NULL for a WRITE
 */
struct claim {
	enum mroce_resp_verdict verdict;
	bool copy;
	bool error;
	u16 incarnation;
	struct mroce_rwqe *wqe;
};

static void refuse(struct mroce_qp *qp, const struct mroce_pkt_data *p, u8 syndrome,
		   struct claim *c)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);

	mroce_rxs_refuse(&qp->rq.rxs, p->psn, p->msg_psn, syndrome, qp->min_rnr_timer);
	mroce_count(dev, MROCE_CNT_RX_REFUSED);
	if (syndrome == MROCE_SYN_RNR)
		mroce_count(dev, MROCE_CNT_RNR_TX);
	c->verdict = MROCE_RESP_REFUSED;
}

/* Verdict NEW: bind a receive where one is needed, then claim. */
static void claim_new(struct mroce_qp *qp, const struct mroce_pkt_data *p, struct claim *c)
{
	struct mroce_rq *rq = &qp->rq;

	if (mroce_op_info(p->opcode) & MROCE_OPF_RECV) {
		c->wqe = bind_rwqe(rq, p->rsn);
		if (!c->wqe) {
			refuse(qp, p, MROCE_SYN_RNR, c);
			return;
		}
		/* One message, two stories: whoever does that is not to be served. */
		if (!mroce_rxs_msg_fits(&c->wqe->msg, p)) {
			mroce_rxs_fail(&rq->rxs, p->psn, MROCE_SYN_INV_REQ);
			c->error = mroce_rxs_error_due(&rq->rxs);
			return;
		}
		mroce_rxs_msg_set(&c->wqe->msg, p);
	}
	mroce_rxs_claim(&rq->rxs, p->psn);
	rq->copies++;
	c->copy = true;
}

static void claim(struct mroce_qp *qp, const struct mroce_pkt_data *p, struct claim *c)
{
	struct mroce_rq *rq = &qp->rq;
	enum mroce_rxs_verdict v = mroce_rxs_classify(&rq->rxs, p->psn);

	if (v == MROCE_RXS_NEED_BITS) {
		rq->bits = kzalloc_obj(*rq->bits, GFP_ATOMIC | __GFP_NOWARN);
		if (!rq->bits) {
			mroce_count_drop(to_mdev(qp->ibqp.device), MROCE_DROP_NOMEM);
			refuse(qp, p, MROCE_SYN_BUSY, c);
			return;
		}
		mroce_rxs_set_bits(&rq->rxs, rq->bits);
		v = mroce_rxs_classify(&rq->rxs, p->psn);
	}
	switch (v) {
	case MROCE_RXS_NEW:
		claim_new(qp, p, c);
		break;
	case MROCE_RXS_DUP:
		mroce_count(to_mdev(qp->ibqp.device), MROCE_CNT_RX_DUP);
		break;
	case MROCE_RXS_AFTER_ERR:
		break;
	case MROCE_RXS_BEYOND:
	case MROCE_RXS_NEED_BITS:
		mroce_count_drop(to_mdev(qp->ibqp.device), MROCE_DROP_WINDOW);
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

/* The second, locked half. Return: MROCE_NOTIFY_* */
static unsigned int commit(struct mroce_conn *conn, struct mroce_qp *qp,
			   const struct mroce_pkt_data *p, u8 syndrome, bool *flush)
{
	struct mroce_rq *rq = &qp->rq;
	unsigned int notify = 0;

	spin_lock(&rq->lock);
	rq->copies--;
	if (!has_stream(qp)) {
		/* RESET meanwhile: waits for us, and wants nothing of this. */
		spin_unlock(&rq->lock);
		return 0;
	}
	if (qp->state == IB_QPS_ERR) {
		/* It broke meanwhile, and left the flush to the last copy. */
		*flush = !rq->copies;
	} else if (syndrome) {
		mroce_rxs_fail(&rq->rxs, p->psn, syndrome);
		notify = mroce_comp_recv(qp);
	} else if (mroce_rxs_commit(&rq->rxs, p->psn)) {
		notify = mroce_comp_recv(qp);
	}
	report(conn, qp);
	spin_unlock(&rq->lock);
	return notify;
}

/* Find or make the tomb that tells about a stream without a QP. Under rx_lock. */
static struct mroce_tomb *tomb_of(struct mroce_conn *conn, u32 dst_qpn, u32 src_qpn, u16 inc)
{
	struct mroce_tomb *t;
	int i;

	for (i = 0; i < MROCE_TOMBS; i++) {
		t = &conn->tomb[i];
		if (t->used && t->rs.rec.src_qpn == dst_qpn && t->rs.rec.dst_qpn == src_qpn &&
		    t->rs.rec.incarnation == inc)
			return t;
	}
	t = &conn->tomb[conn->next_tomb++ % MROCE_TOMBS];
	if (t->rs.repeat)
		list_del(&t->rs.node);
	t->used = true;
	t->rs.repeat = 0;
	t->rs.rec = (struct mroce_rec){
		.stream = MROCE_STREAM_REQ,
		.dst_qpn = src_qpn,
		.src_qpn = dst_qpn,
		.incarnation = inc,
		.syndrome = MROCE_SYN_NO_QP,
		.recno = 1,
	};
	return t;
}

static void report_gone(struct mroce_conn *conn, u32 dst_qpn, u32 src_qpn, u16 inc)
{
	spin_lock(&conn->rx_lock);
	mroce_ack_record(conn, &tomb_of(conn, dst_qpn, src_qpn, inc)->rs);
	spin_unlock(&conn->rx_lock);
}

/* The first, locked half of mroce_resp_data(): may this packet be taken, and how? */
static void admit(struct mroce_conn *conn, struct mroce_qp *qp, const struct mroce_pkt_data *p,
		  struct claim *c)
{
	if (!has_stream(qp)) {
		/* Not ready yet: it will come again. */
		mroce_count(conn->dev, MROCE_CNT_RX_REFUSED);
		c->verdict = MROCE_RESP_REFUSED;
		return;
	}
	if (qp->conn != conn || qp->dest_qpn != p->src_qpn || p->stream != MROCE_STREAM_REQ ||
	    !mroce_life_accepts(&qp->rq.life, peer_of(qp), p->incarnation)) {
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
		claim(qp, p, c);
	if (!c->copy && c->verdict != MROCE_RESP_DROPPED)
		report(conn, qp);
}

/**
 * mroce_resp_data() - take one DATA packet of the request stream
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
	unsigned int notify = 0;
	bool flush = false;

	if (!qp) {
		report_gone(conn, p->dst_qpn, p->src_qpn, p->incarnation);
		mroce_count_drop(conn->dev, MROCE_DROP_QP);
		return MROCE_RESP_TAKEN;
	}
	spin_lock(&qp->rq.lock);
	admit(conn, qp, p, &c);
	spin_unlock(&qp->rq.lock);

	if (c.copy)
		notify = commit(conn, qp, p, place(qp, c.wqe, skb, off, p), &flush);
	mroce_comp_notify(qp, notify);
	if (flush)
		mroce_comp_flush(qp);
	if (c.error || (notify & MROCE_NOTIFY_ERROR))
		mroce_comp_error(qp, c.incarnation);
	mroce_qp_put(qp);
	return c.verdict;
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

	if (ask->stream != MROCE_STREAM_REQ)
		return;
	qp = mroce_qp_get(conn->dev, ask->dst_qpn);
	if (!qp) {
		report_gone(conn, ask->dst_qpn, ask->src_qpn, ask->incarnation);
		return;
	}
	spin_lock(&qp->rq.lock);
	if (has_stream(qp) && qp->conn == conn && qp->dest_qpn == ask->src_qpn &&
	    qp->rq.life.known && qp->rq.life.inc == ask->incarnation)
		report(conn, qp);
	spin_unlock(&qp->rq.lock);
	mroce_qp_put(qp);
}
