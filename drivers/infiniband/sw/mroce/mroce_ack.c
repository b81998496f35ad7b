// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements in both directions, and the probes that ask for them.
 *
 * An ACK reports up to MROCE_ACK_MAX_PARTS paths and MROCE_ACK_MAX_RECS streams;
 * what does not fit goes in the next one.
 */
#include "mroce.h"
#include "mroce_trace.h"

/* A record rides in so many ACKs: acknowledgements get lost. */
#define ACK_RECORD_REPEAT	3

/* Packets lost or refused handled per hold of the transmit lock. */
#define ACK_EVENTS		16

/** mroce_ack_policy - every 8 packets of a path, and no later than 200 us */
const struct mroce_ack_policy mroce_ack_policy = {
	.every_pkts = 8,
	.delay_ns = 200 * NSEC_PER_USEC,
};

/**
 * mroce_ack_record() - a stream has news: its record goes with the next ACKs
 * @conn: the connection
 * @rs: the record, up to date
 *
 * Context: conn->rx_lock held; a QP lock may be, too.
 */
void mroce_ack_record(struct mroce_conn *conn, struct mroce_recstate *rs)
{
	lockdep_assert_held(&conn->rx_lock);
	if (!rs->repeat)
		list_add_tail(&rs->node, &conn->dirty);
	rs->repeat = ACK_RECORD_REPEAT;
}

/** mroce_ack_forget() - the record's owner goes */
void mroce_ack_forget(struct mroce_conn *conn, struct mroce_recstate *rs)
{
	spin_lock_bh(&conn->rx_lock);
	if (rs->repeat)
		list_del(&rs->node);
	rs->repeat = 0;
	spin_unlock_bh(&conn->rx_lock);
}

/**
 * mroce_ack_believes() - may a numbered packet be one the peer sends now?
 * @conn: connection
 * @path: path it names
 * @path_seq: its number there
 *
 * Those that may not are dropped, and noted: see mroce_rxwin_stray().
 *
 * Context: softirq, no lock held.
 */
bool mroce_ack_believes(struct mroce_conn *conn, u8 path, u32 path_seq)
{
	struct mroce_rxwin *w;

	if (path >= conn->n_rxpaths)
		return false;
	w = &conn->rxwin[path];
	if (mroce_rxwin_check(w, path_seq) < MROCE_RXWIN_OLD)
		return true;
	spin_lock(&conn->rx_lock);
	if (mroce_rxwin_check(w, path_seq) >= MROCE_RXWIN_OLD)
		mroce_rxwin_stray(w, path_seq);
	spin_unlock(&conn->rx_lock);
	return false;
}

/**
 * mroce_ack_mark() - a numbered packet has arrived on its path
 * @conn: connection
 * @a: what the path level sees of it
 * @now: time, ns
 *
 * Context: softirq, no lock held.
 * Return: true when an acknowledgement is due at once.
 */
bool mroce_ack_mark(struct mroce_conn *conn, const struct mroce_arrival *a, u64 now)
{
	struct mroce_rxwin *w = &conn->rxwin[a->path];
	bool due, moved;
	u64 deadline;

	spin_lock(&conn->rx_lock);
	due = mroce_rxwin_mark(w, a->path_seq, a->refused, a->ce, a->ack_req, &mroce_ack_policy,
			       now);
	deadline = mroce_rxwin_deadline(w, &mroce_ack_policy);
	moved = mroce_back_seen(&conn->back[a->path], a->plane, a->sport, a->probe, (u32)now,
				now);
	spin_unlock(&conn->rx_lock);
	if (moved)
		mroce_xmit_forget(conn, MROCE_WAY_BACK + a->path);
	if (!due && deadline != U64_MAX)
		mroce_conn_arm(conn, deadline);
	return due;
}

static u32 put_part(struct mroce_conn *conn, u8 *at, u8 path, u64 now)
{
	struct mroce_ack_part part = { .path = path };

	mroce_rxwin_part(&conn->rxwin[path], &part, now);
	part.path = path;
	return mroce_wire_put_ack_part(at, &part);
}

/* Fill parts, beginning with @first (always), then whatever has news. */
static u32 put_parts(struct mroce_conn *conn, u8 *at, u8 first, u8 *n, u64 now)
{
	u32 len = 0;
	u8 i;

	if (conn->rxwin[first].started) {
		len += put_part(conn, at + len, first, now);
		(*n)++;
	}
	/* From the next one on, so that with many paths all have their turn. */
	for (i = 1; i < conn->n_rxpaths && *n < MROCE_ACK_MAX_PARTS; i++) {
		u8 path = (first + i) % conn->n_rxpaths;

		if (!conn->rxwin[path].unacked)
			continue;
		len += put_part(conn, at + len, path, now);
		(*n)++;
	}
	return len;
}

static u32 put_recs(struct mroce_conn *conn, u8 *at, u8 *n)
{
	struct mroce_recstate *rs, *tmp;
	u32 len = 0;

	list_for_each_entry_safe(rs, tmp, &conn->dirty, node) {
		if (*n >= MROCE_ACK_MAX_RECS) {
			/* Those that have to wait go first next time. */
			list_rotate_to_front(&rs->node, &conn->dirty);
			break;
		}
		len += mroce_wire_put_rec(at + len, &rs->rec);
		(*n)++;
		if (!--rs->repeat)
			list_del(&rs->node);
	}
	return len;
}

/**
 * mroce_ack_send() - send an ACK
 * @conn: connection
 * @path: path that is due; the ACK takes its reverse
 * @probe: the PROBE this answers, or NULL
 *
 * Context: softirq, no lock held.
 */
void mroce_ack_send(struct mroce_conn *conn, int path, const struct mroce_probe_hdr *probe)
{
	struct mroce_ack_hdr h = { .type = probe ? MROCE_WIRE_PROBE_ACK : MROCE_WIRE_ACK };
	struct sk_buff *skb;
	u32 len = MROCE_ACK_HLEN;
	u8 *buf;

	if (!READ_ONCE(conn->ready))
		return;
	skb = mroce_xmit_alloc(MROCE_ACK_MAX_LEN);
	if (!skb)
		return;
	buf = skb->data;
	h.dcid = READ_ONCE(conn->dcid);
	if (probe) {
		h.echo_path = probe->path;
		h.echo_seq = probe->path_seq;
	}
	spin_lock(&conn->rx_lock);
	len += put_parts(conn, buf + len, path, &h.n_parts, ktime_get_ns());
	len += put_recs(conn, buf + len, &h.n_recs);
	spin_unlock(&conn->rx_lock);
	mroce_wire_put_ack(buf, &h);
	skb_put(skb, len);
	mroce_count(conn->dev, MROCE_CNT_TX_ACKS);
	mroce_xmit_conn(conn, skb, MROCE_WAY_BACK + path, false, false);
}

static void rcv_part(struct mroce_conn *conn, const struct mroce_ack_part *part, u64 now)
{
	struct mroce_ps_ack_result res = {};
	struct mroce_ps_event ev[ACK_EVENTS];
	struct mroce_trace_snap snap;
	int i, n;

	do {
		spin_lock(&conn->tx_lock);
		if (!conn->ready) {
			spin_unlock(&conn->tx_lock);
			return;
		}
		mroce_trace_before(conn, &snap);
		n = mroce_pathset_ack(&conn->ps, part, now, &res, ev, ARRAY_SIZE(ev));
		mroce_trace_after(conn, &snap);
		spin_unlock(&conn->tx_lock);
		for (i = 0; i < n; i++)
			mroce_send_event(conn, &ev[i], true);
	} while (res.more);
	trace_mroce_ack(conn, part, &res);
	if (res.spurious_pkts)
		mroce_count_add(conn->dev, MROCE_CNT_SPURIOUS, res.spurious_pkts);
	if (res.marked_pkts)
		mroce_count_add(conn->dev, MROCE_CNT_MARKED, res.marked_pkts);
}

/**
 * mroce_ack_rcv() - an ACK or PROBE_ACK of a connection
 * @conn: connection
 * @skb: packet, not consumed
 * @off: start of our header
 * @plane: by which plane
 *
 * Context: softirq, no lock held.
 */
void mroce_ack_rcv(struct mroce_conn *conn, struct sk_buff *skb, u32 off, int plane)
{
	u32 len = skb->len - off, at = MROCE_ACK_HLEN;
	struct mroce_ack_part part;
	struct mroce_ack_hdr h;
	u64 now = ktime_get_ns();
	struct mroce_rec rec;
	enum mroce_drop why;
	const u8 *buf;
	int i;

	if (len > MROCE_ACK_MAX_LEN || !pskb_may_pull(skb, skb->len)) {
		mroce_count_drop(conn->dev, MROCE_DROP_LENGTH);
		return;
	}
	buf = skb->data + off;
	why = mroce_wire_get_ack(buf, len, &h);
	for (i = 0; !why && i < h.n_parts; i++) {
		why = mroce_wire_get_ack_part(buf, len, &at, &part);
		part.by = plane;
		if (!why)
			rcv_part(conn, &part, now);
	}
	for (i = 0; !why && i < h.n_recs; i++) {
		why = mroce_wire_get_rec(buf, len, &at, &rec);
		if (!why)
			mroce_send_record(conn, &rec, now);
	}
	if (why)
		mroce_count_drop(conn->dev, why);
	else
		mroce_count_rx(conn->dev, len);
	mroce_count(conn->dev, MROCE_CNT_RX_ACKS);
	WRITE_ONCE(conn->blocked, false);
	mroce_conn_run(conn);
}

/* How large a PROBE is. The path state may be set up anew meanwhile, so not without the lock. */
static u32 probe_bytes(struct mroce_conn *conn, int path, bool *full)
{
	spin_lock(&conn->tx_lock);
	*full = path >= 0 && conn->ready && path < conn->ps.cfg.n_paths &&
		mroce_pathset_probe_full(&conn->ps, path);
	spin_unlock(&conn->tx_lock);
	return *full ? READ_ONCE(conn->fit_bytes) + MROCE_DATA_HLEN :
		       MROCE_PROBE_HLEN + MROCE_ASK_LEN;
}

/* The path to probe, with room for it; -1: none. Under tx_lock. */
static int probe_path(struct mroce_conn *conn, int path, u32 len, bool *again)
{
	struct mroce_pathset *ps = &conn->ps;
	int cpu = smp_processor_id();
	u64 now = ktime_get_ns();

	/* One that was there before the connection began anew is nobody's now. */
	if (!conn->ready || path >= ps->cfg.n_paths)
		return -1;
	if (path < 0 && !ps->silent)
		path = mroce_pathset_pick(ps, cpu, len, -1, now);
	if (path < 0) {
		path = mroce_pathset_any(ps, cpu);
		if (!mroce_pathset_may_ask(ps, path, now))
			return -1;
	}
	*again = !mroce_pathset_probe_room(ps, path);
	return *again ? -1 : path;
}

/**
 * mroce_ack_probe_send() - send a PROBE
 * @conn: connection
 * @path: path probed, -1 = any
 * @about: a queue whose stream to ask about, or NULL
 *
 * Context: bottom halves off, no lock held.
 */
void mroce_ack_probe_send(struct mroce_conn *conn, int path, const struct mroce_txq *about)
{
	struct mroce_probe_hdr h = { .flags = MROCE_F_ACK_REQ };
	struct mroce_ask ask = {};
	bool full, again = false;
	struct sk_buff *skb;
	u64 due = 0;
	u32 len;

	if (about) {
		ask.stream = about->stream;
		ask.dst_qpn = about->qp->dest_qpn;
		ask.src_qpn = about->qp->qpn;
		ask.incarnation = about->qp->incarnation;
		if (about->stream == MROCE_STREAM_RESP)
			ask.for_life = READ_ONCE(about->qp->rq.life.inc);
		h.n_asks = 1;
	}
	len = probe_bytes(conn, path, &full);
	skb = mroce_xmit_alloc(len);
	if (!skb)
		return;
	spin_lock(&conn->tx_lock);
	path = probe_path(conn, path, len, &again);
	if (path >= 0) {
		h.dcid = conn->dcid;
		h.path_seq = mroce_pathset_probe_sent(&conn->ps, path, smp_processor_id(),
						      ktime_get_ns());
		due = mroce_pathset_deadline(&conn->ps);
	}
	spin_unlock(&conn->tx_lock);
	if (path < 0) {
		kfree_skb(skb);
		if (again)
			mroce_conn_arm(conn, ktime_get_ns());
		return;
	}
	h.path = path;
	h.dscp = conn->dscp;
	h.len_bytes = len;
	mroce_wire_put_probe(skb_put_zero(skb, len), &h, &ask);
	mroce_count(conn->dev, MROCE_CNT_TX_PROBES);
	mroce_xmit_conn(conn, skb, path, full, true);
	mroce_conn_arm(conn, due);
}

/**
 * mroce_ack_probe_rcv() - a PROBE of a connection: answer at once
 * @conn: the connection
 * @skb: the packet
 * @off: start of our header in @skb
 * @addrs: where it came from
 * @plane: by which plane
 *
 * Context: softirq, no lock held.
 */
void mroce_ack_probe_rcv(struct mroce_conn *conn, struct sk_buff *skb, u32 off,
			 const struct mroce_addrs *addrs, int plane)
{
	u8 buf[MROCE_PROBE_HLEN + MROCE_PROBE_MAX_ASKS * MROCE_ASK_LEN];
	struct mroce_ask ask[MROCE_PROBE_MAX_ASKS];
	u32 len = min_t(u32, skb->len - off, sizeof(buf));
	struct mroce_arrival arrival = { .ack_req = true, .probe = true };
	struct mroce_probe_hdr h;
	enum mroce_drop why;
	int i;

	if (skb_copy_bits(skb, off, buf, len))
		return;
	why = mroce_wire_get_probe(buf, len, skb->len - off, &h, ask);
	if (!why && !mroce_ack_believes(conn, h.path, h.path_seq))
		why = MROCE_DROP_WINDOW;
	if (why) {
		mroce_count_drop(conn->dev, why);
		return;
	}
	mroce_count_rx(conn->dev, skb->len - off);
	mroce_count(conn->dev, MROCE_CNT_RX_PROBES);
	for (i = 0; i < h.n_asks; i++)
		mroce_resp_ask(conn, &ask[i]);
	arrival.path = h.path;
	arrival.path_seq = h.path_seq;
	arrival.plane = plane;
	arrival.sport = addrs->sport;
	arrival.ce = addrs->ce;
	mroce_ack_mark(conn, &arrival, ktime_get_ns());
	mroce_ack_send(conn, h.path, &h);
}
