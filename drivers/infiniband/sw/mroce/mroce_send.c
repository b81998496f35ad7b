// SPDX-License-Identifier: GPL-2.0
/*
 * Sender: which packet goes next, on which path, and what becomes of it.
 *
 * mroce_send_run() is the only place that sends data packets, of both streams. It
 * runs in the context of the process that rings the doorbell, and from softirq
 * when acknowledgements open a window. What must be sent again goes first.
 */
#include "mroce_dgram.h"
#include "mroce_trace.h"

/* Packets numbered under one hold of the lock, before they are transmitted. */
#define SEND_BATCH_PKTS		16
/* What a doorbell sends in the caller's context before ACKs have to carry on. */
#define SEND_KICK_PKTS		128
/* Local back-pressure and lack of memory: try again after this. */
#define SEND_RETRY_NS		(1 * NSEC_PER_MSEC)
/* Time for a handshake that loses packets: 20 + 40 + ... + 640 ms of tries. */
#define SEND_OPEN_MIN_NS	(2 * NSEC_PER_SEC)
/* Shortest time without progress before a stream asks. */
#define SEND_RTO_MIN_NS		(1 * NSEC_PER_MSEC)
/* Time for a few probes of failed paths. */
#define SEND_MUTE_MIN_NS	(200 * NSEC_PER_MSEC)

/**
 * mroce_send_init() - new QP: lists, timers
 * @qp: the queue pair
 */
void mroce_send_init(struct mroce_qp *qp)
{
	struct mroce_txq *qs[] = { &qp->sq.q, &qp->rdq.q };
	int i;

	for (i = 0; i < ARRAY_SIZE(qs); i++) {
		qs[i]->qp = qp;
		INIT_LIST_HEAD(&qs[i]->wait_node);
		qs[i]->timer_at = U64_MAX;
		qs[i]->stopped = true;
		mroce_compat_hrtimer_setup(&qs[i]->timer, mroce_timer_txq, CLOCK_MONOTONIC,
					   HRTIMER_MODE_ABS_SOFT);
	}
	/* Not in the loop: one is taken under the other. */
	spin_lock_init(&qp->sq.q.lock);
	spin_lock_init(&qp->rdq.q.lock);
	qp->sq.q.stream = MROCE_STREAM_REQ;
	qp->rdq.q.stream = MROCE_STREAM_RESP;
}

static void start(struct mroce_txq *q, u32 psn, const struct mroce_txs_cfg *cfg)
{
	mroce_txs_init(&q->txs, psn, cfg);
	mroce_stats_settled(q);
	q->next_psn = psn;
	q->stalled = false;
	q->stopped = false;
}

/**
 * mroce_send_start() - the QP goes to RTS: its requests begin at attr.sq_psn
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, the state not yet changed.
 */
void mroce_send_start(struct mroce_qp *qp)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_txs_cfg cfg = {
		.window = MROCE_STREAM_WINDOW,
		.timeout = qp->attr.timeout,
		.retry_cnt = qp->attr.retry_cnt,
		.rnr_retry = qp->attr.rnr_retry,
	};

	spin_lock_bh(&sq->q.lock);
	start(&sq->q, qp->attr.sq_psn, &cfg);
	sq->next_rsn = 0;
	sq->asleep = true;
	sq->failed = false;
	mroce_rdreq_init(&sq->rd, qp->attr.max_rd_atomic, qp->attr.sq_psn);
	spin_unlock_bh(&sq->q.lock);
}

/**
 * mroce_send_start_responses() - the QP goes to RTR: it may have to answer fetches
 * @qp: the queue pair
 *
 * Responses have no time limit of their own: it is the requester who waits for
 * them and gives up. Until then, or until he says that he does not want them,
 * they are sent again.
 *
 * Context: task, qp->mutex held, the state not yet changed.
 */
void mroce_send_start_responses(struct mroce_qp *qp)
{
	struct mroce_txs_cfg cfg = { .window = MROCE_STREAM_WINDOW };

	spin_lock_bh(&qp->rdq.q.lock);
	start(&qp->rdq.q, qp->attr.rq_psn, &cfg);
	spin_unlock_bh(&qp->rdq.q.lock);
}

/**
 * mroce_send_stop() - the QP goes, or to RESET: nothing of its sending sides runs on
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, QP in no state that sends. Waits for the timers only.
 */
void mroce_send_stop(struct mroce_qp *qp)
{
	struct mroce_txq *qs[] = { &qp->sq.q, &qp->rdq.q };
	int i;

	for (i = 0; i < ARRAY_SIZE(qs); i++) {
		spin_lock_bh(&qs[i]->lock);
		qs[i]->stopped = true;
		spin_unlock_bh(&qs[i]->lock);
		hrtimer_cancel(&qs[i]->timer);
		qs[i]->timer_at = U64_MAX;
		if (qp->conn)
			mroce_conn_unwait(qp->conn, qs[i]);
	}
}

static bool is_req(const struct mroce_txq *q)
{
	return q->stream == MROCE_STREAM_REQ;
}

static u32 psn_of(const struct mroce_swqe *wqe, bool resp)
{
	return resp ? wqe->resp_psn : wqe->first_psn;
}

/**
 * mroce_send_find() - the message a psn belongs to, or whose response it is
 * @q: the queue
 * @end: index one past those that may be meant
 * @psn: which packet
 * @resp: @psn is of the responses to requests in @q, not of @q's own stream
 *
 * Binary search: both kinds of psn grow with the index.
 *
 * Context: q->lock held.
 * Return: NULL when there is none.
 */
struct mroce_swqe *mroce_send_find(struct mroce_txq *q, u32 end, u32 psn, bool resp)
{
	u32 lo = q->una, hi = end;
	struct mroce_swqe *wqe;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (mroce_seq_after(psn_of(mroce_txq_wqe(q, mid), resp), psn))
			hi = mid;
		else
			lo = mid;
	}
	if (hi == lo)
		return NULL;
	wqe = mroce_txq_wqe(q, lo);
	return psn - psn_of(wqe, resp) < (resp ? wqe->n_resp : wqe->n_pkts) ? wqe : NULL;
}

/* Number a built packet. Return: 0, -EAGAIN when no path has room. */
static int number(struct mroce_txq *q, const struct mroce_swqe *wqe, u32 psn, int prefer,
		  u16 flags, struct sk_buff *skb, struct mroce_txlist *list)
{
	struct mroce_qp *qp = q->qp;
	struct mroce_conn *conn = qp->conn;
	int cpu = smp_processor_id(), path;
	u64 now = ktime_get_ns(), due;
	struct mroce_want want = { .paths = qp->paths, .salt = qp->qpn };
	u32 seq = 0;

	spin_lock(&conn->tx_lock);
	if (unlikely(qp->plane_mask))
		want.planes = mroce_replan_places(conn, qp->plane_mask);
	path = conn->ready ? mroce_pathset_pick_for(&conn->ps, cpu, skb->len, prefer,
						    want.paths || want.planes ? &want : NULL,
						    now) : -1;
	if (path >= 0) {
		seq = mroce_pathset_sent(&conn->ps, path, cpu, q->stream << 24 | qp->qpn,
					 qp->incarnation, psn, skb->len, now);
		conn->path[path].retrans_pkts += !!(flags & MROCE_F_RETX);
		if (mroce_pathset_ask(&conn->ps) || (flags & MROCE_F_RETX))
			flags |= MROCE_F_ACK_REQ;
	} else {
		WRITE_ONCE(conn->blocked, conn->ready);
	}
	due = mroce_pathset_deadline(&conn->ps);
	spin_unlock(&conn->tx_lock);
	if (path < 0)
		return -EAGAIN;
	mroce_build_header(q, wqe, psn, skb, path, seq, flags);
	trace_mroce_send(q, psn, path, seq, skb->len, flags & MROCE_F_RETX);
	mroce_txlist_add(list, skb, path, seq);
	mroce_conn_arm(conn, due);
	return 0;
}

/* Build and number one packet. -EAGAIN: no path; -ENOMEM; -EFAULT: region gone */
static int emit(struct mroce_txq *q, struct mroce_swqe *wqe, u32 psn, int prefer, u16 flags,
		struct mroce_txlist *list)
{
	struct sk_buff *skb;
	int err;

	skb = mroce_build(q, wqe, psn);
	err = PTR_ERR_OR_ZERO(skb);
	if (!err) {
		err = number(q, wqe, psn, prefer, flags, skb, list);
		if (err)
			kfree_skb(skb);
	}
	if (err == -EFAULT) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		q->stalled = true;
	}
	return err;
}

/*
 * A response cannot be sent again because its region is gone. Mostly that is so
 * because the peer has it, has said so to the program here, and the record that
 * tells us is late or lost. So it is no error before the peer has been asked.
 */
static bool may_be_there(const struct mroce_txq *q)
{
	return !is_req(q) && !mroce_txs_asked(&q->txs);
}

static int emit_again(struct mroce_txq *q, u32 psn, int prefer, struct mroce_txlist *list)
{
	struct mroce_swqe *wqe = mroce_send_find(q, q->head, psn, false);
	int err = -ESTALE;

	/* Of a message given up: nobody waits for it. */
	if (wqe)
		err = emit(q, wqe, psn, prefer, MROCE_F_RETX, list);
	if (err == -EFAULT && may_be_there(q)) {
		wqe->status = IB_WC_SUCCESS;
		q->stalled = false;
		err = -ESTALE;
	}
	if (!err || err == -ESTALE)
		mroce_txs_resent(&q->txs, psn);
	if (!err)
		mroce_stats_retrans(q, psn);
	return err == -ESTALE ? 0 : err;
}

/* May the next packet go, if it is the first of a message? -EBUSY: not yet, or never */
static int may_begin(struct mroce_txq *q, struct mroce_swqe *wqe)
{
	struct mroce_rdreq *rd = &q->qp->sq.rd;

	if (!is_req(q) || q->txs.nxt != wqe->first_psn)
		return 0;
	if (q->qp->state == IB_QPS_SQD)
		return -EBUSY;
	if (wqe->n_resp && !rd->max) {
		/* They were forbidden after it was taken in: nothing would ever start it. */
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		q->stalled = true;
		return -EBUSY;
	}
	return mroce_rdreq_may_go(rd, wqe->n_resp, wqe->flags & IB_SEND_FENCE) ? 0 : -EBUSY;
}

/* Under q.lock: the next message to cut packets from is at q->send. */
static int next_message(struct mroce_txq *q)
{
	int err;

	if (q->stalled)
		return -EBUSY;
	if (q->send != q->head)
		return 0;
	if (!is_req(q))
		return -ENODATA;
	/* Being drained: what was not taken in stays in the ring. */
	if (q->qp->state == IB_QPS_SQD)
		return -EBUSY;
	err = mroce_build_take(q->qp);
	if (err <= 0)
		return err ?: -ENODATA;
	return q->stalled ? -EBUSY : 0;
}

/* The next new packet. -ENODATA: there is none; -EBUSY: the stream has to wait */
static int emit_new(struct mroce_txq *q, struct mroce_txlist *list)
{
	struct mroce_swqe *wqe;
	int err;

	err = next_message(q);
	if (err)
		return err;
	if (!mroce_txs_room(&q->txs))
		return -EBUSY;
	wqe = mroce_txq_wqe(q, q->send);
	err = may_begin(q, wqe);
	if (err)
		return err;
	err = emit(q, wqe, q->txs.nxt, -1, MROCE_F_MORE, list);
	if (err)
		return err;
	mroce_txs_sent(&q->txs, 1, ktime_get_ns());
	if (is_req(q) && wqe->n_resp) {
		q->qp->sq.rd.issued++;
		q->txs.owed = true;
	}
	if (q->txs.nxt == wqe->first_psn + wqe->n_pkts)
		q->send++;
	return 0;
}

/**
 * mroce_send_fall_asleep() - nothing to send: the user must ring from here on
 * @q: the queue
 *
 * Context: q->lock held.
 * Return: false: he has just posted.
 */
bool mroce_send_fall_asleep(struct mroce_txq *q)
{
	struct mroce_sq *sq = &q->qp->sq;

	if (!is_req(q))
		return true;
	sq->asleep = true;
	WRITE_ONCE(sq->ring.hdr->state, MROCE_RING_KICK);
	/* Pairs with the user's barrier between prod and state: one of us sees the other. */
	smp_mb();
	if (READ_ONCE(sq->ring.hdr->prod) == q->head)
		return true;
	sq->asleep = false;
	WRITE_ONCE(sq->ring.hdr->state, 0);
	return false;
}

/**
 * mroce_send_rouse() - somebody looks at the ring: the user need not ring
 * @q: the queue
 *
 * Context: q->lock held.
 */
void mroce_send_rouse(struct mroce_txq *q)
{
	struct mroce_sq *sq = &q->qp->sq;

	if (!is_req(q) || !sq->asleep)
		return;
	sq->asleep = false;
	WRITE_ONCE(sq->ring.hdr->state, 0);
}

static int emit_next(struct mroce_txq *q, struct mroce_txlist *list)
{
	u32 psn;
	int err;

	if (mroce_txs_next_rtx(&q->txs, &psn))
		return emit_again(q, psn, -1, list);
	do {
		err = emit_new(q, list);
	} while (err == -ENODATA && !mroce_send_fall_asleep(q));
	return err;
}

/**
 * mroce_send_rto_ns() - after how long without progress a stream looks around
 * @conn: its connection
 *
 * Not below the shortest probe timeout of a path: that one finds most losses, and
 * a timer costs more than the wait is worth.
 */
u64 mroce_send_rto_ns(const struct mroce_conn *conn)
{
	return max_t(u64, mroce_pathset_rto_ns(&conn->ps), SEND_RTO_MIN_NS);
}

/* The stream has become busy, or a refusal has brought its deadlines forward. */
static void rearm(struct mroce_txq *q)
{
	mroce_timer_arm_txq(q, ktime_get_ns() + mroce_send_rto_ns(q->qp->conn));
}

/**
 * mroce_send_mute_limit_ns() - how long a queue waits that cannot send anything
 * @q: the queue
 *
 * The verbs' budget; not less than a handshake needs on a lossy network, while
 * there is no connection, and not less than paths need to be found again.
 *
 * Return: U64_MAX = for ever (timeout 0).
 */
u64 mroce_send_mute_limit_ns(const struct mroce_txq *q)
{
	u64 once = mroce_timeout_ns(q->txs.cfg.timeout);
	u64 least = READ_ONCE(q->qp->conn->ready) ? SEND_MUTE_MIN_NS : SEND_OPEN_MIN_NS;

	return once ? max(once * (q->txs.cfg.retry_cnt + 1), least) : U64_MAX;
}

/* Work is there, nothing of it is out, no path takes it: that may not last for ever. */
static void mute(struct mroce_txq *q)
{
	u64 limit = mroce_send_mute_limit_ns(q), now = ktime_get_ns();

	if (q->timer_at != U64_MAX || limit == U64_MAX)
		return;
	q->txs.progress_ns = now;
	mroce_timer_arm_txq(q, now + limit);
}

/*
 * Should the last packet for now ask for an acknowledgement? Not when packets come
 * back anyway: the response to a fetch, or the next fetch, which says what has arrived.
 */
static bool ask_at_end(struct mroce_txq *q, bool blocked)
{
	struct mroce_conn *conn = q->qp->conn;
	bool ask;

	if (!blocked && (!is_req(q) || q->txs.owed))
		return false;
	spin_lock(&conn->tx_lock);
	ask = mroce_pathset_ask_end(&conn->ps, blocked);
	spin_unlock(&conn->tx_lock);
	return ask;
}

/* A stream begins: find out now whether a peer that was silent is there again. */
static void wake_paths(struct mroce_conn *conn)
{
	u64 now = ktime_get_ns();

	if (!READ_ONCE(conn->ps.silent))
		return;
	spin_lock(&conn->tx_lock);
	mroce_pathset_wake(&conn->ps, now);
	now = mroce_pathset_deadline(&conn->ps);
	spin_unlock(&conn->tx_lock);
	mroce_conn_arm(conn, now);
}

/*
 * One batch under the lock. Return: 0 when there may be more to send at once,
 * else why not (see emit_new).
 */
static int run_batch(struct mroce_txq *q, unsigned int budget, struct mroce_txlist *list)
{
	struct mroce_conn *conn = q->qp->conn;
	struct sk_buff *last = NULL;
	int err = 0;

	if (!mroce_txs_engaged(&q->txs))
		wake_paths(conn);
	while (list->n < budget) {
		err = emit_next(q, list);
		if (err)
			break;
		if (list->n)
			last = container_of(list->tail, struct sk_buff, next);
	}
	if (last && err && ask_at_end(q, err == -EAGAIN))
		mroce_wire_data_last(last->data, err != -ENODATA);
	if (err == -EAGAIN || err == -ENOMEM)
		mroce_conn_wait(conn, q);
	/* Unblocked before we were on the list: whoever did that has not seen us. */
	if (err == -EAGAIN && !READ_ONCE(conn->blocked))
		mroce_conn_arm(conn, ktime_get_ns());
	if (!mroce_txs_engaged(&q->txs) && err == -EAGAIN)
		mute(q);
	else if (mroce_txs_engaged(&q->txs) && q->timer_at == U64_MAX)
		rearm(q);
	return err;
}

/* The states in which a queue sends, and its owner has not stopped it. Under q->lock. */
static bool can_send(const struct mroce_txq *q)
{
	switch (q->qp->state) {
	case IB_QPS_RTR:
		return !is_req(q) && q->qp->conn && !q->stopped;
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		return q->qp->conn && !q->stopped;
	default:
		return false;
	}
}

/* What is complete, failed, or not wanted any more. Under q->lock. Return: MROCE_NOTIFY_* */
static unsigned int settle(struct mroce_txq *q)
{
	return is_req(q) ? mroce_comp_send(q->qp) : mroce_exec_settle(q->qp);
}

/* Act on what settle() said, with no lock held. */
static void settled(struct mroce_txq *q, unsigned int notify, u16 incarnation)
{
	mroce_comp_notify(q->qp, notify);
	if (notify & MROCE_NOTIFY_SETTLED)
		mroce_resp_settled(q->qp, incarnation);
	if (notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(q->qp, incarnation, MROCE_NO_EVENT);
}

/**
 * mroce_send_run() - send what may be sent
 * @q: of a queue pair
 * @budget_pkts: stop after so many; the queue then waits for its next turn
 *
 * Context: task or softirq, no lock held.
 */
void mroce_send_run(struct mroce_txq *q, unsigned int budget_pkts)
{
	struct mroce_conn *conn;
	struct mroce_txlist list;
	unsigned int notify, n;
	u16 incarnation;
	int err = 0;

	local_bh_disable();
	do {
		mroce_txlist_init(&list);
		spin_lock(&q->lock);
		if (!can_send(q)) {
			spin_unlock(&q->lock);
			break;
		}
		conn = q->qp->conn;
		/* The QP may leave it as soon as we unlock. */
		mroce_conn_hold(conn);
		incarnation = q->qp->incarnation;
		mroce_send_rouse(q);
		if (!READ_ONCE(conn->ready)) {
			mroce_conn_wait(conn, q);
			mute(q);
			err = -EAGAIN;
		} else {
			q->txs.cfg.window = conn->stream_window;
			err = run_batch(q, min(budget_pkts, SEND_BATCH_PKTS), &list);
		}
		notify = settle(q);
		n = list.n;
		budget_pkts -= min(n, budget_pkts);
		if (!err && !budget_pkts)
			mroce_conn_wait(conn, q);
		spin_unlock(&q->lock);

		mroce_txlist_xmit(conn, &list);
		settled(q, notify, incarnation);
		if (err == -ENOMEM)
			mroce_conn_arm(conn, ktime_get_ns() + SEND_RETRY_NS);
		if (err == -EINVAL)
			mroce_comp_error(q->qp, incarnation, IB_EVENT_QP_FATAL);
		mroce_conn_put(conn);
	} while (!err && budget_pkts);
	local_bh_enable();
}

/**
 * mroce_send_kick() - the user rang the send doorbell
 * @qp: the queue pair
 *
 * Context: task.
 */
void mroce_send_kick(struct mroce_qp *qp)
{
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mroce_comp_flush(qp);
	else if (mroce_dgram_is(qp))
		mroce_dgram_send(qp);
	else
		mroce_send_run(&qp->sq.q, SEND_KICK_PKTS);
}

/* Is this the life of the QP that a packet or stream record is about? */
static bool alive(const struct mroce_txq *q, const struct mroce_conn *conn, u16 incarnation)
{
	return can_send(q) && q->qp->conn == conn && q->qp->incarnation == incarnation;
}

static struct mroce_txq *queue_of(struct mroce_qp *qp, u8 stream)
{
	return stream == MROCE_STREAM_REQ ? &qp->sq.q : &qp->rdq.q;
}

/* Under q->lock. Return: MROCE_NOTIFY_* */
static unsigned int take_event(struct mroce_conn *conn, struct mroce_txq *q,
			       const struct mroce_ps_event *ev, bool resend,
			       struct mroce_txlist *list)
{
	if (ev->kind == MROCE_PS_REFUSED || !mroce_psnset_test(q->txs.deferred, ev->psn))
		mroce_stats_cause(q, ev->psn, ev->cause);
	if (ev->kind == MROCE_PS_REFUSED) {
		mroce_txs_refused(&q->txs, ev->psn);
		rearm(q);
	} else if (mroce_txs_lost(&q->txs, ev->psn)) {
		/* Once more and once more: not ahead of others who wait. */
		resend &= !mroce_txs_stuck(&q->txs) || !READ_ONCE(conn->waiters.busy);
		if (!resend || emit_again(q, ev->psn, ev->path, list))
			mroce_conn_wait(conn, q);
	}
	return q->stalled ? settle(q) : 0;
}

/**
 * mroce_send_event() - a packet was lost or refused
 * @conn: connection
 * @ev: which
 * @resend: send it again at once, on the path that lost it if that is healthy;
 *	else it waits for the queue's turn
 *
 * Context: bottom halves off, no lock held.
 */
void mroce_send_event(struct mroce_conn *conn, const struct mroce_ps_event *ev, bool resend)
{
	struct mroce_qp *qp = mroce_qp_get(conn->dev, ev->stream & 0xffffff);
	struct mroce_txlist list;
	unsigned int notify = 0;
	struct mroce_txq *q;

	trace_mroce_loss(conn, ev->stream, ev->psn, ev->path, ev->cause);
	if (ev->kind == MROCE_PS_REFUSED)
		mroce_count(conn->dev, MROCE_CNT_REFUSED);
	else if (ev->cause != MROCE_PS_LOCAL)
		mroce_count(conn->dev, MROCE_CNT_LOST);
	if (!qp)
		return;
	q = queue_of(qp, ev->stream >> 24);
	mroce_txlist_init(&list);
	spin_lock(&q->lock);
	if (alive(q, conn, ev->gen))
		notify = take_event(conn, q, ev, resend, &list);
	spin_unlock(&q->lock);
	mroce_txlist_xmit(conn, &list);
	settled(q, notify, ev->gen);
	if (!resend)
		mroce_conn_arm(conn, ktime_get_ns() + SEND_RETRY_NS);
	mroce_qp_put(qp);
}

static const u8 syndrome_status[] = {
	[MROCE_SYN_INV_REQ]	= IB_WC_REM_INV_REQ_ERR,
	[MROCE_SYN_ACCESS]	= IB_WC_REM_ACCESS_ERR,
	[MROCE_SYN_OP_ERR]	= IB_WC_REM_OP_ERR,
	/* As with any device: a peer that is not there does not answer. */
	[MROCE_SYN_GONE]	= IB_WC_RETRY_EXC_ERR,
	[MROCE_SYN_NO_QP]	= IB_WC_RETRY_EXC_ERR,
};

/**
 * mroce_send_fail() - the oldest incomplete work request fails
 * @qp: the queue pair
 * @wc_status: enum ib_wc_status it completes with
 *
 * Context: qp->sq.q.lock held; the caller then runs mroce_comp_send().
 */
void mroce_send_fail(struct mroce_qp *qp, u8 wc_status)
{
	struct mroce_txq *q = &qp->sq.q;

	lockdep_assert_held(&q->lock);
	/* What comes after the first failure is flushed. */
	if (q->una == q->head || qp->sq.failed)
		return;
	mroce_txq_wqe(q, q->una)->status = wc_status;
	q->stalled = true;
}

/* The peer's stream of requests, or responses, has ended. Under q->lock. */
static void ended(struct mroce_txq *q, u8 syndrome)
{
	if (!is_req(q))
		mroce_exec_drop(q->qp);
	else if (syndrome < ARRAY_SIZE(syndrome_status))
		mroce_send_fail(q->qp, syndrome_status[syndrome]);
}

/* Under q->lock. Return: MROCE_NOTIFY_* */
static unsigned int take_record(struct mroce_conn *conn, struct mroce_txq *q,
				const struct mroce_rec *rec, u64 now)
{
	u32 res = mroce_txs_record(&q->txs, rec, now);
	unsigned int notify = settle(q);

	if (res & MROCE_TXS_RNR)
		mroce_count(conn->dev, MROCE_CNT_RNR_RX);
	if ((res & MROCE_TXS_RNR_EXCEEDED) && is_req(q))
		mroce_send_fail(q->qp, IB_WC_RNR_RETRY_EXC_ERR);
	else if (res & (MROCE_TXS_FATAL | MROCE_TXS_RNR_EXCEEDED))
		ended(q, rec->syndrome);
	notify |= settle(q);
	mroce_stats_settled(q);
	/* A stream that was full, or has refused packets to repeat, goes on. */
	if ((res & (MROCE_TXS_ADVANCED | MROCE_TXS_RESUME)) &&
	    (!is_req(q) || !q->qp->sq.asleep || q->txs.n_rtx))
		mroce_conn_wait(conn, q);
	if (q->txs.rnr_wait)
		mroce_timer_arm_txq(q, q->txs.rnr_until);
	else if (q->txs.n_deferred)
		rearm(q);
	return notify;
}

/**
 * mroce_send_record() - a stream record: what the peer has accepted
 * @conn: the connection
 * @rec: the record
 * @now: time, ns
 *
 * Context: softirq, no lock held.
 */
void mroce_send_record(struct mroce_conn *conn, const struct mroce_rec *rec, u64 now)
{
	unsigned int notify = 0;
	struct mroce_txq *q;
	struct mroce_qp *qp;

	if (rec->stream > MROCE_STREAM_RESP)
		return;
	qp = mroce_qp_get(conn->dev, rec->dst_qpn);
	if (!qp)
		return;
	q = queue_of(qp, rec->stream);
	spin_lock(&q->lock);
	if (alive(q, conn, rec->incarnation) && qp->dest_qpn == rec->src_qpn)
		notify = take_record(conn, q, rec, now);
	spin_unlock(&q->lock);
	settled(q, notify, rec->incarnation);
	mroce_qp_put(qp);
}
