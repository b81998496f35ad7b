// SPDX-License-Identifier: GPL-2.0
/*
 * Queues that wait for a connection's window, and who of them is next: users in turn,
 * and the queues of a user in turn. A user with a thousand streams gets no more of a
 * connection than one with a single stream.
 *
 * There are MROCE_WAIT_USERS turns; a user's is that of his number modulo this. So more
 * users than that at once share turns, and everything has a fixed size.
 */
#include "mroce.h"

/* Queues served by one round of mroce_conn_run(), and packets for each. */
#define RUN_ROUNDS	64
#define RUN_BUDGET_PKTS	16

/** mroce_wait_init() - nobody waits */
void mroce_wait_init(struct mroce_waiters *w)
{
	unsigned int i;

	for (i = 0; i < MROCE_WAIT_USERS; i++)
		INIT_LIST_HEAD(&w->user[i]);
}

/* Under tx_lock. */
static void add(struct mroce_waiters *w, struct mroce_txq *q)
{
	unsigned int user = q->qp->user % MROCE_WAIT_USERS;

	list_add_tail(&q->wait_node, &w->user[user]);
	WRITE_ONCE(w->busy, w->busy | 1u << user);
	q->waiting = true;
}

/* Under tx_lock. */
static void take_out(struct mroce_waiters *w, struct mroce_txq *q)
{
	unsigned int user = q->qp->user % MROCE_WAIT_USERS;

	list_del_init(&q->wait_node);
	if (list_empty(&w->user[user]))
		WRITE_ONCE(w->busy, w->busy & ~(1u << user));
	q->waiting = false;
}

/* Whose turn it is; NULL: nobody waits. Under tx_lock. */
static struct mroce_txq *next(struct mroce_waiters *w)
{
	struct mroce_txq *q;

	if (!w->busy)
		return NULL;
	do {
		w->turn = (w->turn + 1) % MROCE_WAIT_USERS;
	} while (!(w->busy & 1u << w->turn));
	q = list_first_entry(&w->user[w->turn], struct mroce_txq, wait_node);
	take_out(w, q);
	return q;
}

/**
 * mroce_conn_wait() - a queue waits for a window
 * @conn: the connection
 * @q: of a queue pair
 *
 * Context: q->lock held.
 */
void mroce_conn_wait(struct mroce_conn *conn, struct mroce_txq *q)
{
	spin_lock(&conn->tx_lock);
	if (!q->waiting && !conn->dead) {
		mroce_qp_hold(q->qp);
		add(&conn->waiters, q);
	}
	spin_unlock(&conn->tx_lock);
}

/**
 * mroce_conn_unwait() - it does not any more (the QP is going)
 * @conn: the connection
 * @q: of the queue pair
 *
 * Context: no lock of the connection held.
 */
void mroce_conn_unwait(struct mroce_conn *conn, struct mroce_txq *q)
{
	bool was;

	spin_lock_bh(&conn->tx_lock);
	was = q->waiting;
	if (was)
		take_out(&conn->waiters, q);
	spin_unlock_bh(&conn->tx_lock);
	if (was)
		mroce_qp_put(q->qp);
}

/**
 * mroce_conn_run() - let the waiting queues send, in turn
 * @conn: the connection
 *
 * Bounded work; whoever is left waits for the next acknowledgement.
 *
 * Context: softirq or bottom halves off, no lock held.
 */
void mroce_conn_run(struct mroce_conn *conn)
{
	unsigned int round;
	struct mroce_txq *q;

	for (round = 0; round < RUN_ROUNDS; round++) {
		if (READ_ONCE(conn->blocked) || !READ_ONCE(conn->waiters.busy))
			return;
		spin_lock(&conn->tx_lock);
		q = conn->ready ? next(&conn->waiters) : NULL;
		spin_unlock(&conn->tx_lock);
		if (!q)
			return;
		mroce_send_run(q, RUN_BUDGET_PKTS);
		mroce_qp_put(q->qp);
	}
}
