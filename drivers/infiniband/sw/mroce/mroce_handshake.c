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

/* Whose HELLO it is, and our planes. Under tx_lock. */
static void put_ends(struct mroce_conn *conn, struct mroce_hello *h)
{
	struct mroce_plane_end mine[MROCE_MAX_PLANES];
	unsigned int i;
	u32 no;

	h->dscp = conn->dscp;
	memcpy(h->src_gid, &conn->laddr, sizeof(h->src_gid));
	memcpy(h->dst_gid, &conn->raddr, sizeof(h->dst_gid));
	h->n_planes = mroce_plane_list(conn, mine, &no);
	/*
	 * A number of the connection's own: however much has changed while nobody was told, the
	 * next list is one later than the last one.
	 */
	conn->list_no += no != conn->told_no;
	WRITE_ONCE(conn->told_no, no);
	h->planes_no = conn->list_no;
	for (i = 0; i < h->n_planes; i++) {
		h->plane[i].label = mine[i].label;
		h->plane[i].family = conn->ipv6 ? 6 : 4;
		h->plane[i].flags = (mine[i].up ? 0 : MROCE_PLANE_DOWN) |
				    (mine[i].leaving ? MROCE_PLANE_LEAVING : 0);
		memcpy(h->plane[i].addr, mine[i].addr, sizeof(h->plane[i].addr));
	}
}

/* The GIDs a HELLO is about, seen from here. */
static void gids_of(const struct mroce_hello *h, const struct mroce_addrs *addrs,
		    struct in6_addr *local, struct in6_addr *remote)
{
	memcpy(local, h->dst_gid, sizeof(*local));
	memcpy(remote, h->src_gid, sizeof(*remote));
	if (ipv6_addr_any(local) && ipv6_addr_any(remote)) {
		*local = addrs->local;
		*remote = addrs->remote;
	}
}

/* The peer's planes, if it is the one we know now. Under tx_lock. */
static bool take_planes(struct mroce_conn *conn, const struct mroce_hello *h)
{
	return !conn->dead && mroce_hs_knows(&conn->hs, h) && mroce_replan_told(conn, h);
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
	int path = -1;
	bool due;
	u8 plane;

	spin_lock(&conn->tx_lock);
	due = !conn->dead && mroce_hs_due(&conn->hs, now);
	if (due) {
		/* As long as nothing is heard, every plane has its turn. */
		conn->hello_plane += conn->hs.unheard > 0;
		if (conn->ready)
			path = mroce_plane_hello(&conn->ps, conn->hs.unheard, smp_processor_id());
		mroce_hs_hello(&conn->hs, &h, now);
		put_ends(conn, &h);
	}
	plane = conn->hello_plane;
	next = conn->hs.next_ns;
	spin_unlock(&conn->tx_lock);
	if (!due)
		return;

	skb = build(&h);
	if (skb && path >= 0)
		mroce_xmit_conn(conn, skb, path, true, false);
	else if (skb)
		mroce_xmit_hello(conn, skb, plane);
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

/* @addrs: addresses that the peer has shown to be its own and ours; zero: none */
static void act(struct mroce_conn *conn, enum mroce_hs_event event,
		const struct mroce_addrs *addrs)
{
	switch (event) {
	case MROCE_HS_SEND:
		mroce_handshake_send(conn);
		break;
	case MROCE_HS_OPENED:
		mroce_count(conn->dev, MROCE_CNT_CONN_OPEN);
		mroce_conn_open(conn, addrs);
		break;
	case MROCE_HS_RESTARTED:
		mroce_count(conn->dev, MROCE_CNT_CONN_RESTART);
		mroce_conn_open(conn, addrs);
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
	memcpy(out.src_gid, h->dst_gid, sizeof(out.src_gid));
	memcpy(out.dst_gid, h->src_gid, sizeof(out.dst_gid));
	skb = build(&out);
	if (skb)
		mroce_xmit_reply(mnet, in, &addrs->remote, skb);
	if (!wanted && cookie_ok(mnet, addrs, h))
		return MROCE_DROP_CONN;
	return h->cookie ? MROCE_DROP_COOKIE : MROCE_DROP_NONE;
}

static bool from_peer(const struct mroce_conn *conn, const struct mroce_addrs *addrs,
		      const struct mroce_hello *h)
{
	return mroce_hs_from_peer(&conn->hs, h, ipv6_addr_equal(&addrs->remote, &conn->raddr),
				  mroce_conn_told(conn, addrs));
}

/*
 * What a HELLO changes, under the lock. Return: the answer, or NULL. Not inline: its frame is to be
 * gone when opening the connection sends what has waited for that.
 */
static noinline_for_stack struct sk_buff *take_hello(struct mroce_conn *conn,
						     struct mroce_hello *h,
						     enum mroce_hs_event *ev, bool *moved)
{
	struct mroce_hello out = {};

	spin_lock(&conn->tx_lock);
	*ev = conn->dead ? MROCE_HS_REFUSED :
	      mroce_hs_on_hello(&conn->hs, h, &out, ktime_get_ns());
	put_ends(conn, &out);
	/* No answer is longer than what it answers: rather without some planes. */
	out.n_planes = min_t(u32, out.n_planes,
			     (h->len_bytes - MROCE_HELLO_HLEN) / MROCE_PLANE_LEN);
	*moved = take_planes(conn, h);
	follow_payload(conn);
	spin_unlock(&conn->tx_lock);
	return *ev == MROCE_HS_REFUSED ? NULL : build(&out);
}

static enum mroce_drop rcv_hello(struct mroce_net *mnet, struct sk_buff *in,
				 const struct mroce_addrs *addrs, struct mroce_hello *h)
{
	struct mroce_addrs owner = *addrs, shown = *addrs;
	struct in6_addr local, remote;
	struct mroce_conn *conn;
	enum mroce_hs_event ev;
	struct sk_buff *skb;
	bool wanted, moved;

	gids_of(h, addrs, &local, &remote);
	conn = mroce_conn_by_gids(mnet, &local, &remote, h->dscp);
	wanted = conn;
	/* From elsewhere: whoever holds the GID has to confirm it. */
	if (wanted && !from_peer(conn, addrs, h)) {
		owner.remote = remote;
		memset(&shown, 0, sizeof(shown));
	}
	/* No QP of ours wants this peer yet: its packets arrive, it may ask again. */
	if (!wanted || !cookie_ok(mnet, &owner, h)) {
		mroce_conn_put(conn);
		return reply_cookie(mnet, in, &owner, h, wanted);
	}

	mroce_replan_drop_ours(conn, h);
	skb = take_hello(conn, h, &ev, &moved);
	act(conn, ev, &shown);
	if (skb)
		mroce_xmit_answer(conn, in, skb);
	if (moved)
		mroce_conn_arm(conn, ktime_get_ns());
	mroce_conn_put(conn);
	return MROCE_DROP_NONE;
}

static enum mroce_drop rcv_hello_ack(struct mroce_net *mnet, const struct mroce_addrs *addrs,
				     struct mroce_hello *h)
{
	struct mroce_conn *conn = mroce_conn_by_cid(mnet, h->dcid);
	enum mroce_hs_event ev = MROCE_HS_NOTHING;
	struct mroce_addrs shown = *addrs;
	struct in6_addr local, remote;
	enum mroce_drop why;
	bool moved;

	if (!conn)
		return MROCE_DROP_CONN;
	/* Who knows the nonce has seen our HELLO; on other planes it has other addresses. */
	gids_of(h, addrs, &local, &remote);
	if (!ipv6_addr_equal(&local, &conn->laddr) || !ipv6_addr_equal(&remote, &conn->raddr) ||
	    h->peer_nonce != conn->hs.nonce) {
		why = h->peer_nonce == conn->hs.nonce ? MROCE_DROP_CONN : MROCE_DROP_COOKIE;
		mroce_conn_put(conn);
		return why;
	}
	mroce_replan_drop_ours(conn, h);
	spin_lock(&conn->tx_lock);
	if (!conn->dead)
		ev = mroce_hs_on_hello_ack(&conn->hs, h, ktime_get_ns());
	moved = take_planes(conn, h);
	follow_payload(conn);
	spin_unlock(&conn->tx_lock);
	/* Our HELLO went to the GID. Its answer may claim to come from anywhere. */
	if (!ipv6_addr_equal(&addrs->remote, &conn->raddr))
		memset(&shown, 0, sizeof(shown));
	act(conn, ev, &shown);
	if (moved)
		mroce_conn_arm(conn, ktime_get_ns());
	mroce_conn_put(conn);
	return MROCE_DROP_NONE;
}

/* Not inline: the buffer is to be gone when the HELLO is dealt with. */
static noinline_for_stack enum mroce_drop read_hello(struct sk_buff *skb, u32 off, u32 total,
						     struct mroce_hello *h)
{
	u8 buf[MROCE_HELLO_HLEN + MROCE_MAX_PLANES * MROCE_PLANE_LEN];
	u32 len = min_t(u32, total, sizeof(buf));

	return skb_copy_bits(skb, off, buf, len) ? MROCE_DROP_SHORT :
						   mroce_wire_get_hello(buf, len, total, h);
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
	struct mroce_dev *dev = mroce_net_dev(mnet, skb);
	u32 total = skb->len - off;
	struct mroce_addrs addrs;
	struct mroce_hello h;
	enum mroce_drop why;

	why = read_hello(skb, off, total, &h);
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
	mroce_xmit_reply(mnet, in, NULL, skb);
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
		conn = mroce_conn_by_peer_cid(mnet, bad_cid, &addrs);
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
