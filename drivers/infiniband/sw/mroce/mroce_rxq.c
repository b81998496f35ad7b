// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving streams, requests and responses alike: their memory, their records,
 * and what is left of them when their queue pair goes.
 *
 * The packet that completes a message may be acknowledged by an ACK that gets
 * lost, and its receiver may be destroyed in that moment. So the last record of a
 * stream stays with the connection for a while: a tomb.
 */
#include "mroce.h"

/**
 * mroce_rxq_start() - a stream begins
 * @rx: stream
 * @psn: its first psn
 *
 * Context: lock of its queue held.
 */
void mroce_rxq_start(struct mroce_rxq *rx, u32 psn)
{
	mroce_rxs_init(&rx->rxs, psn);
	if (rx->bits)
		memset(rx->bits, 0, sizeof(*rx->bits));
	mroce_rxs_set_bits(&rx->rxs, rx->bits);
}

/**
 * mroce_rxq_settle() - wait until nothing of a stream is being copied
 * @rx: stream; nothing new is claimed
 * @lock: of its queue, held with bottom halves off; let go of meanwhile
 *
 * Context: task. Bounded: copies never wait.
 */
void mroce_rxq_settle(struct mroce_rxq *rx, spinlock_t *lock)
	__must_hold(lock)
{
	while (rx->copies) {
		spin_unlock_bh(lock);
		cpu_relax();
		cond_resched();
		spin_lock_bh(lock);
	}
}

/**
 * mroce_rxq_stop() - a stream ends; nothing of it is being copied
 * @rx: stream
 *
 * Context: lock of its queue held.
 */
void mroce_rxq_stop(struct mroce_rxq *rx)
{
	mroce_rxs_set_bits(&rx->rxs, NULL);
	kfree(rx->bits);
	rx->bits = NULL;
}

/**
 * mroce_rxq_bury() - put the last record of a stream where a late question finds it
 * @conn: the connection, NULL if there was none
 * @rx: stream that has ended
 *
 * Context: task, no lock held.
 */
void mroce_rxq_bury(struct mroce_conn *conn, struct mroce_rxq *rx)
{
	struct mroce_recstate *rs = &rx->recstate;
	struct mroce_tomb *tomb;

	if (conn) {
		mroce_ack_forget(conn, rs);
		spin_lock_bh(&conn->rx_lock);
		if (rs->rec.recno) {
			tomb = &conn->tomb[conn->next_tomb++ % MROCE_TOMBS];
			if (tomb->rs.repeat)
				list_del(&tomb->rs.node);
			tomb->rs.repeat = 0;
			tomb->rs.rec = rs->rec;
			if (rs->rec.syndrome <= MROCE_SYN_BUSY)
				tomb->rs.rec.syndrome = MROCE_SYN_GONE;
			tomb->rs.rec.recno++;
			tomb->used = true;
		}
		spin_unlock_bh(&conn->rx_lock);
	}
	memset(&rs->rec, 0, sizeof(rs->rec));
}

/**
 * mroce_rxq_tomb() - find or make the record that tells about a stream without a QP
 * @conn: the connection
 * @stream: which
 * @dst_qpn: of the data
 * @src_qpn: of the data
 * @incarnation: of the data
 *
 * Context: conn->rx_lock held.
 */
struct mroce_recstate *mroce_rxq_tomb(struct mroce_conn *conn, u8 stream, u32 dst_qpn,
				      u32 src_qpn, u16 incarnation)
{
	struct mroce_tomb *t;
	int i;

	lockdep_assert_held(&conn->rx_lock);
	for (i = 0; i < MROCE_TOMBS; i++) {
		t = &conn->tomb[i];
		if (t->used && t->rs.rec.stream == stream && t->rs.rec.src_qpn == dst_qpn &&
		    t->rs.rec.dst_qpn == src_qpn && t->rs.rec.incarnation == incarnation) {
			/* Whoever asks again has not understood: it must not look stale. */
			t->rs.rec.recno++;
			return &t->rs;
		}
	}
	t = &conn->tomb[conn->next_tomb++ % MROCE_TOMBS];
	if (t->rs.repeat)
		list_del(&t->rs.node);
	t->used = true;
	t->rs.repeat = 0;
	t->rs.rec = (struct mroce_rec){
		.stream = stream,
		.dst_qpn = src_qpn,
		.src_qpn = dst_qpn,
		.incarnation = incarnation,
		.syndrome = MROCE_SYN_NO_QP,
		.recno = 1,
	};
	return &t->rs;
}

/**
 * mroce_rxq_classify() - what to do with an arriving psn; finds memory where it is needed
 * @dev: for its counters
 * @rx: stream
 * @psn: which
 *
 * Context: softirq, lock of the queue held.
 * Return: enum mroce_rxs_verdict; NEED_BITS when there was no memory.
 */
enum mroce_rxs_verdict mroce_rxq_classify(struct mroce_dev *dev, struct mroce_rxq *rx, u32 psn)
{
	enum mroce_rxs_verdict v = mroce_rxs_classify(&rx->rxs, psn);

	if (v != MROCE_RXS_NEED_BITS)
		return v;
	rx->bits = kzalloc_obj(*rx->bits, GFP_ATOMIC | __GFP_NOWARN);
	if (!rx->bits) {
		mroce_count_drop(dev, MROCE_DROP_NOMEM);
		return v;
	}
	mroce_rxs_set_bits(&rx->rxs, rx->bits);
	return mroce_rxs_classify(&rx->rxs, psn);
}

/**
 * mroce_rxq_report() - number a record and leave it with the connection
 * @conn: the connection
 * @rx: stream
 * @rec: its ends, and a syndrome that holds instead of the stream's, unless that is
 *	graver: BUSY hides an error that has not had its turn, GONE ends everything
 *
 * Context: softirq, lock of the queue held.
 */
void mroce_rxq_report(struct mroce_conn *conn, struct mroce_rxq *rx, struct mroce_rec *rec)
{
	u8 instead = rec->syndrome;

	mroce_rxs_record(&rx->rxs, rec);
	if (instead == MROCE_SYN_BUSY && rec->syndrome > MROCE_SYN_BUSY)
		rec->syndrome = MROCE_SYN_OK;
	else if (instead == MROCE_SYN_GONE && rec->syndrome <= MROCE_SYN_BUSY)
		rec->syndrome = MROCE_SYN_GONE;
	spin_lock(&conn->rx_lock);
	rx->recstate.rec = *rec;
	mroce_ack_record(conn, &rx->recstate);
	spin_unlock(&conn->rx_lock);
}
