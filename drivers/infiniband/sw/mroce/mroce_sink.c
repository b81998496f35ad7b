// SPDX-License-Identifier: GPL-2.0
/*
 * Requester of READs and atomics: responses find the work request they answer.
 *
 * As with requests: claim under the queue's lock, copy without, commit under it.
 * A response also shows that the request, and all before it, was accepted.
 */
#include "mroce.h"

/* What may follow at once when a fetch is complete. */
#define SINK_RUN_PKTS	16

/**
 * mroce_sink_start() - the QP goes to RTS: responses may come
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, the state not yet changed.
 */
void mroce_sink_start(struct mroce_qp *qp)
{
	spin_lock_bh(&qp->sq.q.lock);
	mroce_rxq_start(&qp->sq.sink, qp->attr.sq_psn);
	spin_unlock_bh(&qp->sq.q.lock);
}

/**
 * mroce_sink_stop() - the QP goes, or to RESET: no response is taken any more
 * @qp: the queue pair
 *
 * Waits until none is being copied.
 *
 * Context: task, qp->mutex held; the state is RESET or ERR, or the QP is unpublished.
 */
void mroce_sink_stop(struct mroce_qp *qp)
{
	spin_lock_bh(&qp->sq.q.lock);
	mroce_rxq_settle(&qp->sq.sink, &qp->sq.q.lock);
	mroce_rxq_stop(&qp->sq.sink);
	spin_unlock_bh(&qp->sq.q.lock);
	mroce_rxq_bury(qp->conn, &qp->sq.sink);
}

/* Does the response tell the same of its message as the request? */
static bool fits(const struct mroce_swqe *wqe, const struct mroce_pkt_data *p)
{
	u8 op = wqe->wire_op == MROCE_OP_READ_REQ ? MROCE_OP_READ_RESP : MROCE_OP_ATOMIC_RESP;

	return p->opcode == op && p->rsn == wqe->rsn && p->msg_psn == wqe->resp_psn &&
	       p->msg_len == wqe->len && p->unit_bytes == wqe->unit_bytes;
}

/* Copy to where the work request says. Return: enum ib_wc_status */
static u8 place(struct mroce_qp *qp, const struct mroce_swqe *wqe, const struct sk_buff *skb,
		u32 off, const struct mroce_pkt_data *p)
{
	struct mroce_sgl sgl = { .pd = qp->ibqp.pd, .sge = wqe->sge, .num_sge = wqe->num_sge };
	u8 buf[MROCE_RESULT_LEN];
	u64 value;
	int err;

	if (p->opcode == MROCE_OP_READ_RESP) {
		err = mroce_copy_to_sgl(&sgl, (p->psn - p->msg_psn) * p->unit_bytes, skb, off,
					p->payload_len);
	} else {
		err = skb_copy_bits(skb, off, buf, sizeof(buf));
		value = mroce_wire_get_result(buf);
		if (!err)
			err = mroce_copy_value_to_sgl(&sgl, &value, sizeof(value));
	}
	return err ? IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

static void report(struct mroce_conn *conn, struct mroce_qp *qp, u16 incarnation)
{
	struct mroce_rec rec = {
		.stream = MROCE_STREAM_RESP,
		.dst_qpn = qp->dest_qpn,
		.src_qpn = qp->qpn,
		.incarnation = incarnation,
	};

	mroce_rxq_report(conn, &qp->sq.sink, &rec);
}

/*
 * May responses come? Of our peer, to what we have asked in this life (@for_life), and
 * we are one who asks.
 */
static bool expects(struct mroce_conn *conn, struct mroce_qp *qp, u32 src_qpn, u16 incarnation,
		    u32 for_life)
{
	bool ok;

	if (qp->conn != conn || (qp->state != IB_QPS_RTS && qp->state != IB_QPS_SQD) ||
	    qp->dest_qpn != src_qpn || qp->incarnation != for_life)
		return false;
	spin_lock(&qp->rq.lock);
	ok = mroce_resp_life(qp, incarnation);
	spin_unlock(&qp->rq.lock);
	return ok;
}

/**
 * struct claim - what the first, locked half of taking a response decided
 * @verdict: for the path level
 * @wqe: claimed: place it into this, then commit()
 * @unwanted: the peer shall know that nobody waits for it
 * @notify: MROCE_NOTIFY_*
 * @incarnation: life of our QP
 */
struct claim {
	enum mroce_resp_verdict verdict;
	struct mroce_swqe *wqe;
	bool unwanted;
	unsigned int notify;
	u16 incarnation;
};

/* Under q.lock, the psn is new. */
static void claim_new(struct mroce_qp *qp, const struct mroce_pkt_data *p, struct claim *c)
{
	struct mroce_txq *q = &qp->sq.q;
	struct mroce_swqe *wqe = mroce_send_find(q, q->send, p->psn, true);

	/* It fails, or has: nothing is placed any more. */
	if (qp->sq.failed || (wqe && wqe->status))
		return;
	if (!wqe || !fits(wqe, p)) {
		mroce_send_fail(qp, IB_WC_BAD_RESP_ERR);
		c->notify |= mroce_comp_send(qp);
		return;
	}
	mroce_rxs_claim(&qp->sq.sink.rxs, p->psn);
	qp->sq.sink.copies++;
	c->wqe = wqe;
	/* That may have been what a full request window waited for. */
	if (mroce_txs_accept(&q->txs, wqe->first_psn + 1, ktime_get_ns()) && !qp->sq.asleep)
		c->notify |= MROCE_NOTIFY_FETCHED;
}

static void claim(struct mroce_conn *conn, struct mroce_qp *qp, const struct mroce_pkt_data *p,
		  struct claim *c)
{
	c->incarnation = qp->incarnation;
	switch (mroce_rxq_classify(conn->dev, &qp->sq.sink, p->psn)) {
	case MROCE_RXS_NEW:
		claim_new(qp, p, c);
		break;
	case MROCE_RXS_DUP:
		mroce_count(conn->dev, MROCE_CNT_RX_DUP);
		report(conn, qp, p->incarnation);
		break;
	case MROCE_RXS_NEED_BITS:
		mroce_rxs_refuse(&qp->sq.sink.rxs, p->psn, p->msg_psn, MROCE_SYN_BUSY, 0);
		mroce_count(conn->dev, MROCE_CNT_RX_REFUSED);
		mroce_count(conn->dev, MROCE_CNT_RX_REFUSED_BUSY);
		c->verdict = MROCE_RESP_REFUSED;
		report(conn, qp, p->incarnation);
		break;
	default:
		mroce_count_drop(conn->dev, MROCE_DROP_WINDOW);
		c->verdict = MROCE_RESP_DROPPED;
		break;
	}
}

/* The second, locked half. *@flush: the QP broke meanwhile. Return: MROCE_NOTIFY_* */
static unsigned int commit(struct mroce_conn *conn, struct mroce_qp *qp, struct mroce_swqe *wqe,
			   const struct mroce_pkt_data *p, u8 status, bool *flush)
{
	struct mroce_sq *sq = &qp->sq;
	unsigned int notify = 0;

	spin_lock(&sq->q.lock);
	sq->sink.copies--;
	if (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD) {
		if (status) {
			/* It takes its turn behind those before it. */
			wqe->status = status;
			sq->q.stalled = true;
		} else {
			mroce_rxs_commit(&sq->sink.rxs, p->psn);
		}
		mroce_txs_progress(&sq->q.txs, ktime_get_ns());
		notify = mroce_comp_send(qp);
		report(conn, qp, p->incarnation);
	} else {
		*flush = qp->state == IB_QPS_ERR && !sq->sink.copies;
	}
	spin_unlock(&sq->q.lock);
	return notify;
}

/**
 * mroce_sink_data() - take one DATA packet of the response stream
 * @conn: connection it came on
 * @qp: whom it is for
 * @skb: packet, not consumed
 * @off: start of its payload
 * @p: its header
 *
 * Context: softirq, no lock held.
 */
enum mroce_resp_verdict mroce_sink_data(struct mroce_conn *conn, struct mroce_qp *qp,
					const struct sk_buff *skb, u32 off,
					const struct mroce_pkt_data *p)
{
	struct claim c = { .verdict = MROCE_RESP_TAKEN };
	bool flush = false;

	spin_lock(&qp->sq.q.lock);
	if (expects(conn, qp, p->src_qpn, p->incarnation, p->rkey))
		claim(conn, qp, p, &c);
	else
		c.unwanted = true;
	spin_unlock(&qp->sq.q.lock);

	if (c.unwanted) {
		mroce_count_drop(conn->dev, MROCE_DROP_QP);
		mroce_resp_gone(conn, MROCE_STREAM_RESP, p->dst_qpn, p->src_qpn, p->incarnation);
	}
	if (c.wqe)
		c.notify |= commit(conn, qp, c.wqe, p, place(qp, c.wqe, skb, off, p), &flush);
	mroce_comp_notify(qp, c.notify);
	if (flush)
		mroce_comp_flush(qp);
	if (c.notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(qp, c.incarnation, MROCE_NO_EVENT);
	else if (c.notify & MROCE_NOTIFY_FETCHED)
		/* A fence, or the limit of fetches, may have held something back. */
		mroce_send_run(&qp->sq.q, SINK_RUN_PKTS);
	return c.verdict;
}

/**
 * mroce_sink_ask() - the peer asks which of its responses we have
 * @conn: the connection
 * @qp: whom it asks
 * @ask: the question
 *
 * Context: softirq, no lock held.
 */
void mroce_sink_ask(struct mroce_conn *conn, struct mroce_qp *qp, const struct mroce_ask *ask)
{
	bool ok;

	spin_lock(&qp->sq.q.lock);
	ok = expects(conn, qp, ask->src_qpn, ask->incarnation, ask->for_life);
	if (ok)
		report(conn, qp, ask->incarnation);
	spin_unlock(&qp->sq.q.lock);
	if (!ok)
		mroce_resp_gone(conn, MROCE_STREAM_RESP, ask->dst_qpn, ask->src_qpn,
				ask->incarnation);
}
