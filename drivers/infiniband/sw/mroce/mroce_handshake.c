// SPDX-License-Identifier: GPL-2.0
/*
 * HELLO, HELLO_ACK and UNKNOWN: the glue around proto/handshake.
 */
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/siphash.h>
#include <net/ipv6.h>

#include "mroce.h"

/* A cookie is good for this many seconds, at least. */
#define COOKIE_LIFE_SECONDS	64

/* One UNKNOWN per namespace and this time. */
#define UNKNOWN_INTERVAL_NS	(1 * NSEC_PER_MSEC)

static unsigned int cookies_per_s = 20000;
module_param(cookies_per_s, uint, 0644);
MODULE_PARM_DESC(cookies_per_s, "Cookies per second and namespace (default 20000)");

/* And so many at once: peers may start together. */
#define COOKIE_BURST		1024

static u64 cookie(struct mroce_net *mnet, const struct mroce_addrs *addrs,
		  const struct mroce_hello *h, u64 age)
{
	struct {
		struct in6_addr remote;
		struct in6_addr local;
		u64 nonce;
		u64 period;
		u32 scid;
		u32 pad;
	} in = {
		.remote = addrs->remote,
		.local = addrs->local,
		.nonce = h->nonce,
		.period = ktime_get_seconds() / COOKIE_LIFE_SECONDS - age,
		.scid = h->scid,
	};

	/* 0 on the wire means "none yet" */
	return siphash(&in, sizeof(in), &mnet->cookie_key) ?: 1;
}

static bool cookie_ok(struct mroce_net *mnet, const struct mroce_addrs *addrs,
		      const struct mroce_hello *h)
{
	return h->cookie == cookie(mnet, addrs, h, 0) || h->cookie == cookie(mnet, addrs, h, 1);
}

static void put_plane(struct mroce_conn *conn, struct mroce_hello *h)
{
	h->dscp = conn->dscp;
	h->n_planes = 1;
	h->plane[0].label = 0;
	h->plane[0].family = conn->ipv6 ? 6 : 4;
	h->plane[0].speed_mbps = 0;
	memcpy(h->plane[0].addr, &conn->laddr, sizeof(h->plane[0].addr));
}

static struct sk_buff *build(const struct mroce_hello *h)
{
	u32 least = MROCE_HELLO_HLEN + h->n_planes * MROCE_PLANE_LEN;
	u32 len = max(h->len_bytes, least);
	struct sk_buff *skb = mroce_xmit_alloc(len);

	if (skb)
		mroce_wire_put_hello(skb_put_zero(skb, len), h);
	return skb;
}

/**
 * mroce_handshake_send() - send a HELLO if one is due
 * @conn: connection
 *
 * Context: bottom halves off, no lock held.
 */
void mroce_handshake_send(struct mroce_conn *conn)
{
	u64 now = ktime_get_ns(), next;
	struct mroce_hello h = {};
	struct sk_buff *skb;
	bool due;

	spin_lock(&conn->tx_lock);
	due = !conn->dead && mroce_hs_due(&conn->hs, now);
	if (due) {
		mroce_hs_hello(&conn->hs, &h, now);
		put_plane(conn, &h);
	}
	next = conn->hs.next_ns;
	spin_unlock(&conn->tx_lock);
	if (!due)
		return;

	skb = build(&h);
	if (skb)
		mroce_xmit_conn(conn, skb, 0, true, false);
	mroce_conn_arm(conn, next);
}

/**
 * mroce_handshake_start() - open the connection, or ask again who is there
 * @conn: the connection
 *
 * Context: task or softirq, no lock held.
 */
void mroce_handshake_start(struct mroce_conn *conn)
{
	local_bh_disable();
	spin_lock(&conn->tx_lock);
	mroce_hs_start(&conn->hs, ktime_get_ns());
	spin_unlock(&conn->tx_lock);
	mroce_handshake_send(conn);
	local_bh_enable();
}

/*
 * The peers settled for less while open: messages from now on are cut smaller,
 * packets numbered already go in fragments.
 */
static void follow_payload(struct mroce_conn *conn)
{
	u16 agreed = conn->hs.agreed.payload_bytes;

	if (!conn->ready || conn->hs.state != MROCE_HS_OPEN)
		return;
	if (agreed < conn->unit_bytes)
		WRITE_ONCE(conn->unit_bytes, agreed);
	if (agreed < conn->fit_bytes)
		WRITE_ONCE(conn->fit_bytes, agreed);
}

static void act(struct mroce_conn *conn, enum mroce_hs_event event)
{
	switch (event) {
	case MROCE_HS_SEND:
		mroce_handshake_send(conn);
		break;
	case MROCE_HS_OPENED:
		mroce_count(conn->dev, MROCE_CNT_CONN_OPEN);
		mroce_conn_open(conn);
		break;
	case MROCE_HS_RESTARTED:
		mroce_count(conn->dev, MROCE_CNT_CONN_RESTART);
		mroce_conn_open(conn);
		break;
	case MROCE_HS_NOTHING:
	case MROCE_HS_REFUSED:
		break;
	}
}

/*
 * Somebody we owe nothing: one small packet, no state. The many whom nobody here
 * wants do not take the turn of those whom a queue pair waits for.
 */
static enum mroce_drop reply_cookie(struct mroce_net *mnet, struct sk_buff *in,
				    const struct mroce_addrs *addrs, const struct mroce_hello *h,
				    bool wanted)
{
	u64 interval_ns = NSEC_PER_SEC / max(READ_ONCE(cookies_per_s), 1u);
	struct mroce_hello out = {};
	struct sk_buff *skb;

	if (!mroce_gate_pass(&mnet->cookie_gate[wanted], ktime_get_ns(), interval_ns,
			     COOKIE_BURST))
		return MROCE_DROP_COOKIE;
	mroce_hs_cookie_reply(h, cookie(mnet, addrs, h, 0), 0, &out);
	skb = build(&out);
	if (skb)
		mroce_xmit_reply(mnet, in, skb);
	if (!wanted && cookie_ok(mnet, addrs, h))
		return MROCE_DROP_CONN;
	return h->cookie ? MROCE_DROP_COOKIE : MROCE_DROP_NONE;
}

static enum mroce_drop rcv_hello(struct mroce_net *mnet, struct sk_buff *in,
				 const struct mroce_addrs *addrs, const struct mroce_hello *h)
{
	struct mroce_hello out = {};
	struct mroce_conn *conn;
	enum mroce_hs_event ev;
	struct sk_buff *skb;
	bool wanted;

	conn = mroce_conn_by_addr(mnet, addrs, h->dscp, 0);
	wanted = conn;
	/* No QP of ours wants this peer yet: its packets arrive, it may ask again. */
	if (!wanted || !cookie_ok(mnet, addrs, h)) {
		mroce_conn_put(conn);
		return reply_cookie(mnet, in, addrs, h, wanted);
	}

	spin_lock(&conn->tx_lock);
	ev = conn->dead ? MROCE_HS_REFUSED :
	     mroce_hs_on_hello(&conn->hs, h, &out, ktime_get_ns());
	put_plane(conn, &out);
	follow_payload(conn);
	spin_unlock(&conn->tx_lock);
	act(conn, ev);
	if (ev != MROCE_HS_REFUSED) {
		skb = build(&out);
		if (skb)
			mroce_xmit_conn(conn, skb, 0, true, false);
	}
	mroce_conn_put(conn);
	return MROCE_DROP_NONE;
}

static enum mroce_drop rcv_hello_ack(struct mroce_net *mnet, const struct mroce_addrs *addrs,
				     const struct mroce_hello *h)
{
	struct mroce_conn *conn = mroce_conn_by_cid(mnet, h->dcid);
	enum mroce_hs_event ev = MROCE_HS_NOTHING;
	enum mroce_drop why;

	if (!conn)
		return MROCE_DROP_CONN;
	if (!mroce_conn_is(conn, addrs) || h->peer_nonce != conn->hs.nonce) {
		why = h->peer_nonce == conn->hs.nonce ? MROCE_DROP_CONN : MROCE_DROP_COOKIE;
		mroce_conn_put(conn);
		return why;
	}
	spin_lock(&conn->tx_lock);
	if (!conn->dead)
		ev = mroce_hs_on_hello_ack(&conn->hs, h, ktime_get_ns());
	follow_payload(conn);
	spin_unlock(&conn->tx_lock);
	act(conn, ev);
	mroce_conn_put(conn);
	return MROCE_DROP_NONE;
}

/**
 * mroce_handshake_rcv() - a HELLO or HELLO_ACK
 * @mnet: namespace
 * @skb: packet, not consumed
 * @off: start of our header
 * @type: which of the two
 *
 * Context: softirq, RCU read side.
 */
void mroce_handshake_rcv(struct mroce_net *mnet, struct sk_buff *skb, u32 off, u8 type)
{
	u8 buf[MROCE_HELLO_HLEN + MROCE_MAX_PLANES * MROCE_PLANE_LEN];
	struct mroce_dev *dev = mroce_net_dev(mnet, skb);
	u32 total = skb->len - off;
	u32 len = min_t(u32, total, sizeof(buf));
	struct mroce_addrs addrs;
	struct mroce_hello h;
	enum mroce_drop why;

	if (skb_copy_bits(skb, off, buf, len))
		return;
	why = mroce_wire_get_hello(buf, len, total, &h);
	if (!why) {
		mroce_xmit_addrs(skb, &addrs);
		if (type == MROCE_WIRE_HELLO)
			why = rcv_hello(mnet, skb, &addrs, &h);
		else
			why = rcv_hello_ack(mnet, &addrs, &h);
	}
	if (why && dev)
		mroce_count_drop(dev, why);
	else if (dev)
		mroce_count_rx(dev, total);
}

/**
 * mroce_handshake_unknown_send() - tell a sender that its connection id is nobody's
 * @mnet: the namespace
 * @in: the packet answered
 * @bad_cid: the id nobody has here
 *
 * Rate-limited per namespace, and smaller than any packet that provokes it.
 *
 * Context: softirq, RCU read side.
 */
void mroce_handshake_unknown_send(struct mroce_net *mnet, struct sk_buff *in, u32 bad_cid)
{
	struct mroce_dev *dev = mroce_net_dev(mnet, in);
	struct sk_buff *skb;

	if (!mroce_gate_pass(&mnet->unknown_gate, ktime_get_ns(), UNKNOWN_INTERVAL_NS, 1))
		return;
	skb = mroce_xmit_alloc(MROCE_UNKNOWN_LEN);
	if (!skb)
		return;
	mroce_wire_put_unknown(skb_put_zero(skb, MROCE_UNKNOWN_LEN), bad_cid);
	if (dev)
		mroce_count(dev, MROCE_CNT_UNKNOWN_TX);
	mroce_xmit_reply(mnet, in, skb);
}

/**
 * mroce_handshake_unknown_rcv() - the peer does not know the id we send to
 * @mnet: the namespace
 * @skb: the packet
 * @off: start of our header in @skb
 *
 * It may be forged: nothing dies, we only say HELLO again.
 *
 * Context: softirq, RCU read side.
 */
void mroce_handshake_unknown_rcv(struct mroce_net *mnet, struct sk_buff *skb, u32 off)
{
	struct mroce_dev *dev = mroce_net_dev(mnet, skb);
	struct mroce_conn *conn = NULL;
	struct mroce_addrs addrs;
	u8 buf[MROCE_UNKNOWN_LEN];
	enum mroce_drop why;
	u32 bad_cid;

	if (skb->len - off < sizeof(buf) || skb_copy_bits(skb, off, buf, sizeof(buf)))
		return;
	mroce_xmit_addrs(skb, &addrs);
	why = mroce_wire_get_unknown(buf, sizeof(buf), &bad_cid);
	if (!why && bad_cid)
		conn = mroce_conn_by_addr(mnet, &addrs, -1, bad_cid);
	if (!conn) {
		if (dev)
			mroce_count_drop(dev, why ?: MROCE_DROP_CONN);
		return;
	}
	mroce_count_rx(conn->dev, sizeof(buf));
	if (READ_ONCE(conn->ready) && READ_ONCE(conn->hs.state) == MROCE_HS_OPEN) {
		mroce_count(conn->dev, MROCE_CNT_UNKNOWN_RX);
		mroce_handshake_start(conn);
	}
	mroce_conn_put(conn);
}
