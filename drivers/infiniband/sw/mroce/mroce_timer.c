// SPDX-License-Identifier: GPL-2.0
/*
 * The two timers: one per connection (handshake, probe timeouts, failures,
 * delayed acknowledgements), one per busy sending stream (verbs timeout, RNR, asking
 * after a lost record). Both are armed lazily: they run at the earliest time
 * something may be due, look, and arm themselves again.
 *
 * A timer needs no reference of its own: the owner cancels it before it goes,
 * after a flag (conn->dead, txq->stopped) has made sure nobody arms it again.
 */
#include "mroce.h"
#include "mroce_trace.h"

#define TIMER_ACTIONS	8

/* Until memory for other planes is looked for again. */
#define REPLAN_NS	(10 * NSEC_PER_MSEC)

static void fail_path(struct mroce_conn *conn, int path)
{
	struct mroce_ps_event ev[TIMER_ACTIONS];
	int i, n;

	mroce_count(conn->dev, MROCE_CNT_PATH_FAIL);
	do {
		spin_lock(&conn->tx_lock);
		n = mroce_pathset_flush(&conn->ps, path, ev, ARRAY_SIZE(ev));
		spin_unlock(&conn->tx_lock);
		for (i = 0; i < n; i++)
			mroce_send_event(conn, &ev[i], true);
	} while (n == ARRAY_SIZE(ev));
}

static void time_loss(struct mroce_conn *conn, u64 now)
{
	struct mroce_ps_event ev[TIMER_ACTIONS];
	int path, i, n;

	for (path = 0; path < READ_ONCE(conn->ps.cfg.n_paths); path++) {
		do {
			spin_lock(&conn->tx_lock);
			n = mroce_pathset_time_loss(&conn->ps, path, now, ev, ARRAY_SIZE(ev));
			spin_unlock(&conn->tx_lock);
			for (i = 0; i < n; i++)
				mroce_send_event(conn, &ev[i], true);
		} while (n == ARRAY_SIZE(ev));
	}
}

static void paths_due(struct mroce_conn *conn, u64 now)
{
	struct mroce_ps_action act[TIMER_ACTIONS];
	struct mroce_trace_snap snap;
	int i, n;

	do {
		spin_lock(&conn->tx_lock);
		mroce_trace_before(conn, &snap);
		n = conn->ready ? mroce_pathset_timer(&conn->ps, now, get_random_u32(), act,
						      ARRAY_SIZE(act)) : 0;
		mroce_trace_after(conn, &snap);
		spin_unlock(&conn->tx_lock);
		for (i = 0; i < n; i++) {
			switch (act[i].act) {
			case MROCE_PS_PROBE:
				mroce_ack_probe_send(conn, act[i].path, NULL);
				break;
			case MROCE_PS_REROLL:
				mroce_count(conn->dev, MROCE_CNT_PATH_REROLL);
				mroce_xmit_forget(conn, act[i].path);
				break;
			case MROCE_PS_FLUSH:
				fail_path(conn, act[i].path);
				break;
			}
		}
	} while (n == ARRAY_SIZE(act));
	if (READ_ONCE(conn->ready))
		time_loss(conn, now);
}

/* Send what is overdue. Return: when the next one is. */
static u64 acks_due(struct mroce_conn *conn, u64 now)
{
	u64 next = U64_MAX, at;
	int path;

	for (path = 0; path < conn->n_rxpaths; path++) {
		spin_lock(&conn->rx_lock);
		at = mroce_rxwin_deadline(&conn->rxwin[path], &mroce_ack_policy);
		spin_unlock(&conn->rx_lock);
		if (at <= now)
			mroce_ack_send(conn, path, NULL);
		else
			next = min(next, at);
	}
	return next;
}

/**
 * mroce_timer_conn() - a connection's timer
 * @t: the timer
 *
 * Context: softirq.
 */
enum hrtimer_restart mroce_timer_conn(struct hrtimer *t)
{
	struct mroce_conn *conn = container_of(t, struct mroce_conn, timer);
	u64 now = ktime_get_ns(), next;

	spin_lock(&conn->tx_lock);
	WRITE_ONCE(conn->timer_at, U64_MAX);
	if (conn->unplanned && !conn->dead)
		mroce_replan(conn);
	spin_unlock(&conn->tx_lock);
	if (conn->dead)
		return HRTIMER_NORESTART;

	mroce_handshake_send(conn);
	paths_due(conn, now);
	next = acks_due(conn, now);

	spin_lock(&conn->tx_lock);
	next = min(next, conn->hs.next_ns);
	if (conn->ready)
		next = min(next, mroce_pathset_deadline(&conn->ps));
	if (conn->unplanned)
		next = min(next, now + REPLAN_NS);
	spin_unlock(&conn->tx_lock);
	WRITE_ONCE(conn->blocked, false);
	mroce_conn_run(conn);
	if (next != U64_MAX)
		mroce_conn_arm(conn, max(next, now + NSEC_PER_USEC));
	return HRTIMER_NORESTART;
}

/**
 * mroce_timer_arm_txq() - have a queue's timer run at @at_ns or earlier
 * @q: of a queue pair
 * @at_ns: when, ktime ns
 *
 * Context: q->lock held.
 */
void mroce_timer_arm_txq(struct mroce_txq *q, u64 at_ns)
{
	if (q->stopped || at_ns >= q->timer_at)
		return;
	q->timer_at = at_ns;
	hrtimer_start(&q->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
}

/**
 * struct txq_due - what the stream's timer wants done after unlocking
 * @run: run the queue
 * @ask: ask the peer about the stream
 * @notify: MROCE_NOTIFY_*
 * @incarnation: life of the QP this is about
 */
struct txq_due {
	bool run;
	bool ask;
	unsigned int notify;
	u16 incarnation;
};

static void fail_oldest(struct mroce_txq *q, struct txq_due *due)
{
	mroce_count(q->qp->conn->dev, MROCE_CNT_TIMEOUTS);
	mroce_send_fail(q->qp, IB_WC_RETRY_EXC_ERR);
	due->notify |= mroce_comp_send(q->qp);
}

/*
 * Nothing of the queue's work is out since txs.progress_ns. As long as the peer
 * is heard, others are only faster; else it is not there.
 */
static void mute_due(struct mroce_txq *q, u64 now, struct txq_due *due)
{
	struct mroce_conn *conn = q->qp->conn;
	u64 limit = mroce_send_mute_limit_ns(q), since = q->txs.progress_ns;

	/* Out, but the connection starts again: what was out will be handed back. */
	if (!q->waiting && mroce_txs_engaged(&q->txs))
		mroce_timer_arm_txq(q, now + mroce_send_rto_ns(conn));
	if (!q->waiting || limit == U64_MAX)
		return;
	if (READ_ONCE(conn->ready))
		since = max(since, READ_ONCE(conn->ps.last_heard_ns));
	if (now - since < limit) {
		mroce_timer_arm_txq(q, since + limit);
		return;
	}
	if (q->una != q->head || mroce_build_take(q->qp) > 0)
		fail_oldest(q, due);
}

/* mroce_txs_timer() may have put the oldest packet where it goes again from. */
static void note_oldest(struct mroce_txq *q, enum mroce_txs_action act)
{
	u32 psn = q->txs.una;

	if (!mroce_psnset_test(q->txs.rtx, psn))
		return;
	mroce_stats_cause(q, psn, act == MROCE_TXS_GO ? MROCE_PS_UNWANTED : MROCE_PS_TIMEOUT);
	if (act != MROCE_TXS_GO)
		trace_mroce_loss(q->qp->conn, q->stream << 24 | q->qp->qpn, psn, -1,
				 MROCE_PS_TIMEOUT);
}

static void stream_due(struct mroce_txq *q, u64 now, struct txq_due *due)
{
	struct mroce_conn *conn = q->qp->conn;
	u64 next, heard = READ_ONCE(conn->ps.last_heard_ns);
	bool again = mroce_psnset_test(q->txs.rtx, q->txs.una);
	enum mroce_txs_action act;

	if (heard > q->txs.progress_ns)
		mroce_txs_heard(&q->txs, heard);
	act = mroce_txs_timer(&q->txs, now, mroce_send_rto_ns(conn), &next);
	if (!again)
		note_oldest(q, act);
	switch (act) {
	case MROCE_TXS_IDLE:
		break;
	case MROCE_TXS_ASK:
		due->ask = true;
		break;
	case MROCE_TXS_RESEND:
		mroce_count(conn->dev, MROCE_CNT_TIMEOUTS);
		due->ask = true;
		due->run = true;
		break;
	case MROCE_TXS_GO:
		due->run = true;
		break;
	case MROCE_TXS_EXCEEDED:
		fail_oldest(q, due);
		next = U64_MAX;
		break;
	}
	/* Whatever should go again goes now, should nobody else have thought of it. */
	due->run |= q->txs.n_rtx;
	if (next != U64_MAX)
		mroce_timer_arm_txq(q, max(next, now + 10 * NSEC_PER_USEC));
}

/* The states in which a queue's time runs. Under q->lock. */
static bool runs(const struct mroce_txq *q)
{
	enum ib_qp_state state = q->qp->state;

	if (q->stopped || !q->qp->conn)
		return false;
	return state == IB_QPS_RTS || state == IB_QPS_SQD ||
	       (state == IB_QPS_RTR && q->stream == MROCE_STREAM_RESP);
}

/**
 * mroce_timer_txq() - a queue's timer
 * @t: the timer
 *
 * Context: softirq. The QP stays until its owner has cancelled this timer.
 */
enum hrtimer_restart mroce_timer_txq(struct hrtimer *t)
{
	struct mroce_txq *q = container_of(t, struct mroce_txq, timer);
	struct mroce_conn *conn = NULL;
	struct txq_due due = {};

	spin_lock(&q->lock);
	q->timer_at = U64_MAX;
	if (runs(q)) {
		conn = q->qp->conn;
		due.incarnation = q->qp->incarnation;
		mroce_conn_hold(conn);
		if (READ_ONCE(conn->ready) && mroce_txs_engaged(&q->txs))
			stream_due(q, ktime_get_ns(), &due);
		else
			mute_due(q, ktime_get_ns(), &due);
	}
	spin_unlock(&q->lock);

	if (due.ask)
		mroce_ack_probe_send(conn, -1, q);
	if (due.run)
		mroce_send_run(q, 16);
	mroce_comp_notify(q->qp, due.notify);
	if (due.notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(q->qp, due.incarnation, MROCE_NO_EVENT);
	if (conn)
		mroce_conn_put(conn);
	return HRTIMER_NORESTART;
}
