// SPDX-License-Identifier: GPL-2.0
/*
 * Requester: which packet goes next, on which path, and what becomes of it.
 *
 * mroce_send_run() is the only place that sends data packets. It runs in the
 * context of the process that rings the doorbell, and from softirq when
 * acknowledgements open a window. What must be sent again goes first.
 */
#include "mroce.h"

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
 * mroce_send_init() - new QP: lists, timer
 * @qp: the queue pair
 */
void mroce_send_init(struct mroce_qp *qp)
{
	INIT_LIST_HEAD(&qp->sq.wait_node);
	qp->sq.timer_at = U64_MAX;
	qp->sq.stopped = true;
	mroce_compat_hrtimer_setup(&qp->sq.timer, mroce_timer_sq, CLOCK_MONOTONIC,
				   HRTIMER_MODE_ABS_SOFT);
}

/**
 * mroce_send_start() - the QP goes to RTS: its stream begins at attr.sq_psn
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

	spin_lock_bh(&sq->lock);
	mroce_txs_init(&sq->txs, qp->attr.sq_psn, &cfg);
	sq->next_psn = qp->attr.sq_psn;
	sq->next_rsn = 0;
	sq->stalled = false;
	sq->asleep = true;
	sq->stopped = false;
	spin_unlock_bh(&sq->lock);
}

/**
 * mroce_send_stop() - the QP goes, or to RESET: nothing of its sending side runs on
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, QP not in RTS any more. Waits for the timer only.
 */
void mroce_send_stop(struct mroce_qp *qp)
{
	spin_lock_bh(&qp->sq.lock);
	qp->sq.stopped = true;
	spin_unlock_bh(&qp->sq.lock);
	hrtimer_cancel(&qp->sq.timer);
	qp->sq.timer_at = U64_MAX;
	if (qp->conn)
		mroce_conn_unwait(qp->conn, qp);
}

/* The work request a psn in [una, next_psn) belongs to; binary search. */
static struct mroce_swqe *find(struct mroce_sq *sq, u32 psn)
{
	u32 lo = sq->una, hi = sq->head;

	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (mroce_seq_after(mroce_sq_wqe(sq, mid)->first_psn, psn))
			hi = mid;
		else
			lo = mid;
	}
	return hi == lo ? NULL : mroce_sq_wqe(sq, lo);
}

/* Number a built packet. Return: 0, -EAGAIN when no path has room. */
static int number(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 psn, int prefer,
		  u16 flags, struct sk_buff *skb, struct mroce_txlist *list)
{
	struct mroce_conn *conn = qp->conn;
	int cpu = smp_processor_id(), path;
	u64 now = ktime_get_ns(), due;
	u32 seq = 0;

	spin_lock(&conn->tx_lock);
	path = conn->ready ? mroce_pathset_pick(&conn->ps, cpu, skb->len, prefer, now) : -1;
	if (path >= 0) {
		seq = mroce_pathset_sent(&conn->ps, path, cpu,
					 MROCE_STREAM_REQ << 24 | qp->qpn, qp->incarnation,
					 psn, skb->len, now);
		if (mroce_pathset_ask(&conn->ps) || (flags & MROCE_F_RETX))
			flags |= MROCE_F_ACK_REQ;
	} else {
		WRITE_ONCE(conn->blocked, conn->ready);
	}
	due = mroce_pathset_deadline(&conn->ps);
	spin_unlock(&conn->tx_lock);
	if (path < 0)
		return -EAGAIN;
	mroce_build_header(qp, wqe, psn, skb, path, seq, flags);
	mroce_txlist_add(list, skb, path, seq);
	mroce_conn_arm(conn, due);
	return 0;
}

/* Build and number one packet. -EAGAIN: no path; -ENOMEM; -EFAULT: region gone */
static int emit(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 psn, int prefer, u16 flags,
		struct mroce_txlist *list)
{
	struct sk_buff *skb;
	int err;

	skb = mroce_build(qp, wqe, psn);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	err = number(qp, wqe, psn, prefer, flags, skb, list);
	if (err)
		kfree_skb(skb);
	return err;
}

static int emit_again(struct mroce_qp *qp, u32 psn, int prefer, struct mroce_txlist *list)
{
	struct mroce_swqe *wqe = find(&qp->sq, psn);
	int err;

	if (!wqe || psn - wqe->first_psn >= wqe->n_pkts)
		return -EFAULT;
	err = emit(qp, wqe, psn, prefer, MROCE_F_RETX, list);
	if (!err) {
		mroce_txs_resent(&qp->sq.txs, psn);
		mroce_count(to_mdev(qp->ibqp.device), MROCE_CNT_RETRANS);
	} else if (err == -EFAULT) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		qp->sq.stalled = true;
	}
	return err;
}

/* The next new packet. -ENODATA: the ring is empty; -EBUSY: the stream is full */
static int emit_new(struct mroce_qp *qp, struct mroce_txlist *list)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_swqe *wqe;
	int err;

	if (sq->stalled)
		return -EBUSY;
	if (sq->send == sq->head) {
		err = mroce_build_take(qp);
		if (err < 0)
			return err;
		if (!err)
			return -ENODATA;
		if (sq->stalled)
			return -EBUSY;
	}
	if (!mroce_txs_room(&sq->txs))
		return -EBUSY;
	wqe = mroce_sq_wqe(sq, sq->send);
	err = emit(qp, wqe, sq->txs.nxt, -1, MROCE_F_MORE, list);
	if (err == -EFAULT) {
		wqe->status = IB_WC_LOC_PROT_ERR;
		sq->stalled = true;
	}
	if (err)
		return err;
	mroce_txs_sent(&sq->txs, 1, ktime_get_ns());
	if (sq->txs.nxt == wqe->first_psn + wqe->n_pkts)
		sq->send++;
	return 0;
}

/* Nothing to send: the user must ring from here on. False: he just posted. */
static bool fall_asleep(struct mroce_sq *sq)
{
	sq->asleep = true;
	WRITE_ONCE(sq->ring.hdr->state, MROCE_RING_KICK);
	/* Pairs with the user's barrier between prod and state: one of us sees the other. */
	smp_mb();
	if (READ_ONCE(sq->ring.hdr->prod) == sq->head)
		return true;
	sq->asleep = false;
	WRITE_ONCE(sq->ring.hdr->state, 0);
	return false;
}

static int emit_next(struct mroce_qp *qp, struct mroce_txlist *list)
{
	u32 psn;
	int err;

	if (mroce_txs_next_rtx(&qp->sq.txs, &psn))
		return emit_again(qp, psn, -1, list);
	do {
		err = emit_new(qp, list);
	} while (err == -ENODATA && !fall_asleep(&qp->sq));
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
static void rearm(struct mroce_qp *qp)
{
	mroce_timer_arm_sq(qp, ktime_get_ns() + mroce_send_rto_ns(qp->conn));
}

/**
 * mroce_send_mute_limit_ns() - how long a send queue waits that cannot send anything
 * @qp: the queue pair
 *
 * The verbs' budget; not less than a handshake needs on a lossy network, while
 * there is no connection, and not less than paths need to be found again.
 *
 * Return: U64_MAX = for ever (timeout 0).
 */
u64 mroce_send_mute_limit_ns(const struct mroce_qp *qp)
{
	u64 once = mroce_timeout_ns(qp->sq.txs.cfg.timeout);
	u64 least = READ_ONCE(qp->conn->ready) ? SEND_MUTE_MIN_NS : SEND_OPEN_MIN_NS;

	return once ? max(once * (qp->sq.txs.cfg.retry_cnt + 1), least) : U64_MAX;
}

/* Work is there, nothing of it is out, no path takes it: that may not last for ever. */
static void mute(struct mroce_qp *qp)
{
	u64 limit = mroce_send_mute_limit_ns(qp), now = ktime_get_ns();

	if (qp->sq.timer_at != U64_MAX || limit == U64_MAX)
		return;
	qp->sq.txs.progress_ns = now;
	mroce_timer_arm_sq(qp, now + limit);
}

static bool ask_at_end(struct mroce_conn *conn, bool blocked)
{
	bool ask;

	spin_lock(&conn->tx_lock);
	ask = mroce_pathset_ask_end(&conn->ps, blocked);
	spin_unlock(&conn->tx_lock);
	return ask;
}

/*
 * One batch under the lock. Return: 0 when there may be more to send at once,
 * else why not (see emit_new).
 */
static int run_batch(struct mroce_qp *qp, unsigned int budget, struct mroce_txlist *list)
{
	struct mroce_sq *sq = &qp->sq;
	struct sk_buff *last = NULL;
	int err = 0;

	while (list->n < budget) {
		err = emit_next(qp, list);
		if (err)
			break;
		last = container_of(list->tail, struct sk_buff, next);
	}
	if (last && err && ask_at_end(qp->conn, err == -EAGAIN))
		mroce_wire_data_last(last->data, err != -ENODATA);
	if (err == -EAGAIN || err == -ENOMEM)
		mroce_conn_wait(qp->conn, qp);
	/* Unblocked before we were on the list: whoever did that has not seen us. */
	if (err == -EAGAIN && !READ_ONCE(qp->conn->blocked))
		mroce_conn_arm(qp->conn, ktime_get_ns());
	if (!mroce_txs_busy(&sq->txs) && err == -EAGAIN)
		mute(qp);
	else if (mroce_txs_busy(&sq->txs) && sq->timer_at == U64_MAX)
		rearm(qp);
	return err;
}

static bool can_send(const struct mroce_qp *qp)
{
	return qp->state == IB_QPS_RTS && qp->conn && !qp->sq.stopped;
}

/**
 * mroce_send_run() - send what may be sent
 * @qp: queue pair
 * @budget_pkts: stop after so many; the queue then waits for its next turn
 *
 * Context: task or softirq, no lock held.
 */
void mroce_send_run(struct mroce_qp *qp, unsigned int budget_pkts)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_conn *conn;
	struct mroce_txlist list;
	unsigned int notify, n;
	u16 incarnation;
	int err = 0;

	local_bh_disable();
	do {
		mroce_txlist_init(&list);
		spin_lock(&sq->lock);
		if (!can_send(qp)) {
			spin_unlock(&sq->lock);
			break;
		}
		conn = qp->conn;
		/* The QP may leave it as soon as we unlock. */
		mroce_conn_hold(conn);
		incarnation = qp->incarnation;
		if (sq->asleep) {
			sq->asleep = false;
			WRITE_ONCE(sq->ring.hdr->state, 0);
		}
		if (!READ_ONCE(conn->ready)) {
			mroce_conn_wait(conn, qp);
			mute(qp);
			err = -EAGAIN;
		} else {
			sq->txs.cfg.window = conn->stream_window;
			err = run_batch(qp, min(budget_pkts, SEND_BATCH_PKTS), &list);
		}
		notify = mroce_comp_send(qp);
		n = list.n;
		budget_pkts -= min(n, budget_pkts);
		if (!err && !budget_pkts)
			mroce_conn_wait(conn, qp);
		spin_unlock(&sq->lock);

		mroce_txlist_xmit(conn, &list);
		mroce_comp_notify(qp, notify);
		if (err == -ENOMEM)
			mroce_conn_arm(conn, ktime_get_ns() + SEND_RETRY_NS);
		if (err == -EINVAL || (notify & MROCE_NOTIFY_ERROR))
			mroce_comp_error(qp, incarnation);
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
	else
		mroce_send_run(qp, SEND_KICK_PKTS);
}

/* Is this the life of the QP that a packet or stream record is about? */
static bool alive(const struct mroce_qp *qp, const struct mroce_conn *conn, u16 incarnation)
{
	return can_send(qp) && qp->conn == conn && qp->incarnation == incarnation;
}

/* Under sq.lock. Return: MROCE_NOTIFY_* */
static unsigned int take_event(struct mroce_conn *conn, struct mroce_qp *qp,
			       const struct mroce_ps_event *ev, bool resend,
			       struct mroce_txlist *list)
{
	if (ev->kind == MROCE_PS_REFUSED) {
		mroce_txs_refused(&qp->sq.txs, ev->psn);
		rearm(qp);
	} else if (mroce_txs_lost(&qp->sq.txs, ev->psn)) {
		mroce_count(conn->dev, MROCE_CNT_LOST);
		if (!resend || emit_again(qp, ev->psn, ev->path, list))
			mroce_conn_wait(conn, qp);
	}
	return qp->sq.stalled ? mroce_comp_send(qp) : 0;
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

	if (!qp)
		return;
	mroce_txlist_init(&list);
	spin_lock(&qp->sq.lock);
	if (alive(qp, conn, ev->gen))
		notify = take_event(conn, qp, ev, resend, &list);
	spin_unlock(&qp->sq.lock);
	mroce_txlist_xmit(conn, &list);
	mroce_comp_notify(qp, notify);
	if (notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(qp, ev->gen);
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
 * Context: qp->sq.lock held; the caller then runs mroce_comp_send().
 */
void mroce_send_fail(struct mroce_qp *qp, u8 wc_status)
{
	struct mroce_sq *sq = &qp->sq;

	if (sq->una == sq->head)
		return;
	mroce_sq_wqe(sq, sq->una)->status = wc_status;
	sq->stalled = true;
}

/* Under sq.lock. Return: MROCE_NOTIFY_* */
static unsigned int take_record(struct mroce_conn *conn, struct mroce_qp *qp,
				const struct mroce_rec *rec, u64 now)
{
	struct mroce_sq *sq = &qp->sq;
	u32 res = mroce_txs_record(&sq->txs, rec, now);
	unsigned int notify = mroce_comp_send(qp);

	if (res & MROCE_TXS_RNR)
		mroce_count(conn->dev, MROCE_CNT_RNR_RX);
	if (res & MROCE_TXS_RNR_EXCEEDED)
		mroce_send_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
	else if ((res & MROCE_TXS_FATAL) && rec->syndrome < ARRAY_SIZE(syndrome_status))
		mroce_send_fail(qp, syndrome_status[rec->syndrome]);
	notify |= mroce_comp_send(qp);
	/* A stream that was full, or has refused packets to repeat, goes on. */
	if ((res & (MROCE_TXS_ADVANCED | MROCE_TXS_RESUME)) && (!sq->asleep || sq->txs.n_rtx))
		mroce_conn_wait(conn, qp);
	if (sq->txs.rnr_wait)
		mroce_timer_arm_sq(qp, sq->txs.rnr_until);
	else if (sq->txs.n_deferred)
		rearm(qp);
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
	struct mroce_qp *qp;

	if (rec->stream != MROCE_STREAM_REQ)
		return;
	qp = mroce_qp_get(conn->dev, rec->dst_qpn);
	if (!qp)
		return;
	spin_lock(&qp->sq.lock);
	if (alive(qp, conn, rec->incarnation) && qp->dest_qpn == rec->src_qpn)
		notify = take_record(conn, qp, rec, now);
	spin_unlock(&qp->sq.lock);
	mroce_comp_notify(qp, notify);
	if (notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(qp, rec->incarnation);
	mroce_qp_put(qp);
}
