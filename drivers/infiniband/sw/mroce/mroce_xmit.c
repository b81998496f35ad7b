// SPDX-License-Identifier: GPL-2.0
/*
 * From a packet of ours to the wire: UDP and IP headers, routes, transmit.
 *
 * The headers are built here and handed to ip_local_out(), because the verdict
 * of the local stack matters: a packet refused by a qdisc is back-pressure, not
 * loss in the network, and the tunnel helpers hide it.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp.h>

#include "mroce.h"

/* Room for link layer, IP, UDP in front of our own header. */
#define XMIT_HEADROOM (LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/**
 * struct xmit_end - everything the headers need
 * @laddr: local GID
 * @raddr: remote GID
 * @ipv6: family
 * @df: must not be fragmented
 * @frag_bytes: if it may be: largest IP packet
 * @tos: DSCP and ECN
 * @sport: source port
 * @ifindex: netdev the route is bound to
 */
struct xmit_end {
	const struct in6_addr *laddr;
	const struct in6_addr *raddr;
	bool ipv6;
	bool df;
	u16 frag_bytes;
	u8 tos;
	__be16 sport;
	int ifindex;
};

/** struct xmit_cb - what the verdict on a packet of a connection belongs to */
struct xmit_cb {
	u32 path_seq;
	u8 path;
};

static struct xmit_cb *xmit_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct xmit_cb) > sizeof(skb->cb));
	return (struct xmit_cb *)skb->cb;
}

static __be32 v4(const struct in6_addr *a)
{
	return a->s6_addr32[3];
}

/**
 * mroce_xmit_addrs() - both ends of a received packet
 * @skb: packet whose network and transport headers are set
 * @addrs: result
 */
void mroce_xmit_addrs(const struct sk_buff *skb, struct mroce_addrs *addrs)
{
	addrs->sport = ntohs(udp_hdr(skb)->source);
	addrs->ipv6 = skb->protocol == htons(ETH_P_IPV6);
	if (addrs->ipv6) {
		addrs->local = ipv6_hdr(skb)->daddr;
		addrs->remote = ipv6_hdr(skb)->saddr;
		addrs->ce = INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr, &addrs->local);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &addrs->remote);
		addrs->ce = INET_ECN_is_ce(ip_hdr(skb)->tos);
	}
}

/**
 * mroce_xmit_alloc() - an empty packet
 * @linear_bytes: room for our header and what is copied behind it
 *
 * Return: NULL without memory.
 */
struct sk_buff *mroce_xmit_alloc(unsigned int linear_bytes)
{
	struct sk_buff *skb = alloc_skb(XMIT_HEADROOM + linear_bytes, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, XMIT_HEADROOM);
	return skb;
}

static struct dst_entry *route4(struct sock *sk, const struct xmit_end *end)
{
	struct flowi4 fl = {
		.flowi4_oif = end->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = v4(end->raddr),
		.saddr = v4(end->laddr),
		.fl4_sport = end->sport,
		.fl4_dport = htons(MROCE_UDP_PORT),
	};
	struct rtable *rt;

	mroce_compat_fl4_dscp(&fl, end->tos >> 2);
	rt = ip_route_output_key(sock_net(sk), &fl);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	/* Addresses of a peer come from the peer, or from a program: none leads to many. */
	if (rt->rt_flags & (RTCF_BROADCAST | RTCF_MULTICAST)) {
		ip_rt_put(rt);
		return ERR_PTR(-EACCES);
	}
	return &rt->dst;
}

static struct dst_entry *route6(struct sock *sk, const struct xmit_end *end)
{
	struct flowi6 fl = {
		.flowi6_oif = end->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = *end->raddr,
		.saddr = *end->laddr,
		.fl6_sport = end->sport,
		.fl6_dport = htons(MROCE_UDP_PORT),
	};

	fl.flowlabel = ip6_make_flowinfo(end->tos, 0);
	return mroce_compat_ip6_route(sock_net(sk), sk, &fl);
}

static struct dst_entry *route(struct sock *sk, const struct xmit_end *end)
{
	return end->ipv6 ? route6(sk, end) : route4(sk, end);
}

static void put_udp(struct sk_buff *skb, const struct xmit_end *end)
{
	unsigned int len = skb->len + sizeof(struct udphdr);
	struct udphdr *uh;

	uh = skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	uh->source = end->sport;
	uh->dest = htons(MROCE_UDP_PORT);
	uh->len = htons(len);
	if (end->ipv6)
		uh->check = ~udp_v6_check(len, end->laddr, end->raddr, 0);
	else
		uh->check = ~udp_v4_check(len, v4(end->laddr), v4(end->raddr), 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

static void put_ip4(struct sk_buff *skb, const struct xmit_end *end, struct net *net)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = end->tos;
	iph->frag_off = end->df ? htons(IP_DF) : 0;
	iph->id = 0;
	iph->ttl = ip4_dst_hoplimit(skb_dst(skb));
	iph->protocol = IPPROTO_UDP;
	iph->saddr = v4(end->laddr);
	iph->daddr = v4(end->raddr);
	if (!end->df)
		__ip_select_ident(net, iph, 1);
	skb->protocol = htons(ETH_P_IP);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	if (!end->df)
		IPCB(skb)->frag_max_size = end->frag_bytes;
}

static void put_ip6(struct sk_buff *skb, const struct xmit_end *end)
{
	unsigned int len = skb->len;
	struct ipv6hdr *ip6 = skb_push(skb, sizeof(*ip6));

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6, end->tos, 0);
	ip6->payload_len = htons(len);
	ip6->nexthdr = IPPROTO_UDP;
	ip6->hop_limit = ip6_dst_hoplimit(skb_dst(skb));
	ip6->saddr = *end->laddr;
	ip6->daddr = *end->raddr;
	skb->protocol = htons(ETH_P_IPV6);
	memset(IP6CB(skb), 0, sizeof(*IP6CB(skb)));
	if (!end->df)
		IP6CB(skb)->frag_max_size = end->frag_bytes;
}

/* Takes @skb and the reference to @dst. Return: 0, or the local stack's refusal. */
static int emit(struct sock *sk, struct sk_buff *skb, struct dst_entry *dst,
		const struct xmit_end *end)
{
	struct net *net = sock_net(sk);
	int err;

	put_udp(skb, end);
	skb_dst_set(skb, dst);
	skb->ignore_df = !end->df;
	/* XPS goes by CPU; everything that goes by hash must stay on the path. */
	skb_set_hash(skb, jhash_1word((__force u32)end->sport, 0), PKT_HASH_TYPE_L4);
	if (end->ipv6) {
		put_ip6(skb, end);
		err = ip6_local_out(net, sk, skb);
	} else {
		put_ip4(skb, end, net);
		err = ip_local_out(net, sk, skb);
	}
	return net_xmit_eval(err);
}

static struct sock *conn_sock(struct mroce_conn *conn)
{
	struct mroce_net *mnet = rcu_dereference(conn->dev->mnet);

	if (!mnet)
		return NULL;
	return conn->ipv6 ? rcu_dereference(mnet->sk6) : rcu_dereference(mnet->sk4);
}

static const struct in6_addr *gid(const u8 *addr)
{
	BUILD_BUG_ON(offsetof(struct mroce_pair, laddr) % 4);
	BUILD_BUG_ON(offsetof(struct mroce_pair, raddr) % 4);
	return (const struct in6_addr *)addr;
}

static void pair_end(const struct mroce_conn *conn, const struct mroce_pair *pair,
		     struct xmit_end *end)
{
	end->laddr = gid(pair->laddr);
	end->raddr = gid(pair->raddr);
	end->ipv6 = conn->ipv6;
	end->tos = conn->dscp << 2;
	end->ifindex = pair->tag;
}

/* The pair of addresses a path takes. RCU read side. */
static const struct mroce_pair *pair_of(const struct mroce_conn *conn, int path)
{
	u8 plane;

	if (path < MROCE_WAY_BACK)
		plane = READ_ONCE(conn->path[path].plane);
	else
		plane = READ_ONCE(conn->back[path - MROCE_WAY_BACK].plane);
	return &rcu_dereference(conn->ends)->pairs.pair[plane];
}

/* RCU read side. Return: false when the path's plane is gone. */
static bool conn_end(const struct mroce_conn *conn, int path, const struct mroce_pair *pair,
		     struct xmit_end *end)
{
	u16 sport;

	if (path < MROCE_WAY_BACK)
		sport = READ_ONCE(conn->path[path].sport);
	else
		sport = READ_ONCE(conn->back[path - MROCE_WAY_BACK].sport);
	pair_end(conn, pair, end);
	end->sport = htons(sport);
	return pair->used;
}

/* The route taken last, while it is good, with a reference; RCU read side. */
static struct dst_entry *route_get(struct mroce_route *r)
{
	struct dst_entry *dst = rcu_dereference(r->dst);

	if (!dst || !dst_hold_safe(dst))
		return NULL;
	if (likely(!READ_ONCE(dst->obsolete) || dst->ops->check(dst, READ_ONCE(r->cookie))))
		return dst;
	dst_release(dst);
	return NULL;
}

static u32 cookie6(const struct dst_entry *dst)
{
	return rt6_get_cookie(container_of(dst, struct rt6_info, dst));
}

/* Keeps @dst, with the reference to it. */
static void route_set(struct mroce_route *r, struct dst_entry *dst, u32 cookie)
{
	WRITE_ONCE(r->cookie, cookie);
	dst_release(unrcu_pointer(xchg(&r->dst, RCU_INITIALIZER(dst))));
}

/**
 * mroce_xmit_forget() - the next packet looks its route up anew
 * @conn: connection
 * @path: path, or MROCE_WAY_BACK + path
 *
 * Context: any; packets under way may take the old one.
 */
void mroce_xmit_forget(struct mroce_conn *conn, int path)
{
	/* What has changed before the route: pairs with route_set() in xmit(). */
	smp_mb();
	if (rcu_access_pointer(conn->route[path].dst))
		route_set(&conn->route[path], NULL, 0);
}

/*
 * The route, or what the peer takes, has shrunk below what is numbered already:
 * such packets go in fragments, messages taken in from now on are cut smaller.
 */
static void may_fragment(struct mroce_conn *conn, const struct dst_entry *dst, unsigned int len,
			 struct xmit_end *end)
{
	unsigned int head = sizeof(struct udphdr), mtu = dst_mtu(dst), fit;
	u16 unit;

	head += end->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	fit = READ_ONCE(conn->fit_bytes) + MROCE_DATA_HLEN;
	end->df = len <= fit && len + head <= mtu;
	if (likely(end->df))
		return;
	end->frag_bytes = min(fit + head, mtu);
	unit = mroce_seg_unit(mtu, end->ipv6);
	if (unit && unit < READ_ONCE(conn->unit_bytes))
		WRITE_ONCE(conn->unit_bytes, unit);
}

/* mroce_xmit_conn(), not counted */
static int xmit(struct mroce_conn *conn, struct sk_buff *skb, int path, bool must_fit, bool ect)
{
	const struct mroce_pair *pair;
	struct xmit_end end;
	struct dst_entry *dst;
	unsigned int len = skb->len;
	struct sock *sk;
	int err = -ENETDOWN;

	rcu_read_lock();
	sk = conn_sock(conn);
	pair = pair_of(conn, path);
	if (!sk || !conn_end(conn, path, pair, &end))
		goto drop;
	if (ect)
		end.tos |= INET_ECN_ECT_0;

	dst = route_get(&conn->route[path]);
	if (!dst) {
		dst = route(sk, &end);
		if (IS_ERR(dst)) {
			err = PTR_ERR(dst);
			goto drop;
		}
		dst_hold(dst);
		route_set(&conn->route[path], dst, end.ipv6 ? cookie6(dst) : 0);
		/* Who has given the path another pair meanwhile has found no route to forget. */
		if (pair != pair_of(conn, path))
			mroce_xmit_forget(conn, path);
	}
	end.df = must_fit;
	if (!must_fit)
		may_fragment(conn, dst, len, &end);
	err = emit(sk, skb, dst, &end);
	rcu_read_unlock();
	return err;
drop:
	rcu_read_unlock();
	kfree_skb(skb);
	return err;
}

/**
 * mroce_xmit_conn() - send a packet of a connection, but no data
 * @conn: the connection
 * @skb: our header and payload; consumed
 * @path: whose source port and route it takes; MROCE_WAY_BACK + path for the
 *	way back of a path
 * @must_fit: drop it rather than have it fragmented (a HELLO proves its size);
 *	others go without DF when the route has become too small for them
 * @ect: ECN-capable (data)
 *
 * Context: bottom halves off, no lock of ours held.
 * Return: 0; -ENETDOWN when the namespace is going; -EHOSTUNREACH and others
 * from the route; -ENOBUFS or another refusal of the local stack.
 */
int mroce_xmit_conn(struct mroce_conn *conn, struct sk_buff *skb, int path, bool must_fit, bool ect)
{
	unsigned int len = skb->len;
	int err = xmit(conn, skb, path, must_fit, ect);

	if (!err)
		mroce_count_tx(conn->dev, len);
	return err;
}

/* Route once, send, count. Takes @skb. RCU read side. */
static int send_once(struct mroce_dev *dev, struct sock *sk, struct sk_buff *skb,
		     const struct xmit_end *end)
{
	unsigned int len = skb->len;
	struct dst_entry *dst = sk ? route(sk, end) : ERR_PTR(-ENETDOWN);
	int err;

	if (IS_ERR(dst)) {
		kfree_skb(skb);
		return PTR_ERR(dst);
	}
	err = emit(sk, skb, dst, end);
	if (!err && dev)
		mroce_count_tx(dev, len);
	return err;
}

/**
 * mroce_xmit_hello() - send a HELLO when there are no paths, or none that works
 * @conn: connection
 * @skb: HELLO; consumed
 * @plane: turn: the planes of the device are tried one after the other
 *
 * From the address of that plane to the peer's GID, through the plane's netdev, where the
 * peer takes it to be on the link if there is no route: a host answers for each of its
 * addresses on every interface.
 *
 * Context: bottom halves off, no lock of ours held.
 */
int mroce_xmit_hello(struct mroce_conn *conn, struct sk_buff *skb, unsigned int plane)
{
	struct mroce_plane_end mine[MROCE_MAX_PLANES];
	u32 n = mroce_plane_list(conn, mine, NULL);
	struct xmit_end end = {
		.raddr = &conn->raddr,
		.ipv6 = conn->ipv6,
		.df = true,
		.tos = conn->dscp << 2,
		.sport = htons(READ_ONCE(conn->path[0].sport)),
	};
	int err;

	end.laddr = gid(mine[plane % n].addr);
	end.ifindex = mine[plane % n].tag;
	rcu_read_lock();
	err = send_once(conn->dev, conn_sock(conn), skb, &end);
	rcu_read_unlock();
	return err;
}

/**
 * mroce_xmit_dgram() - send a datagram
 * @dev: device
 * @skb: DGRAM; consumed
 * @to: where to
 *
 * Nobody will send it again, so where the route is too small it goes in fragments.
 *
 * Context: bottom halves off, no lock of ours held.
 * Return: 0, or as mroce_xmit_conn().
 */
int mroce_xmit_dgram(struct mroce_dev *dev, struct sk_buff *skb, const struct mroce_dgram_to *to)
{
	struct xmit_end end = {
		.laddr = &to->laddr,
		.raddr = &to->raddr,
		.ipv6 = !ipv6_addr_v4mapped(&to->raddr),
		.tos = to->tos,
		.sport = htons(to->sport),
		.ifindex = to->ifindex,
	};
	struct mroce_net *mnet;
	struct sock *sk = NULL;
	int err;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	if (mnet)
		sk = end.ipv6 ? rcu_dereference(mnet->sk6) : rcu_dereference(mnet->sk4);
	err = send_once(dev, sk, skb, &end);
	rcu_read_unlock();
	return err;
}

/**
 * mroce_xmit_answer() - answer a packet of a connection to where it came from
 * @conn: connection
 * @in: the packet answered
 * @skb: the answer; consumed
 *
 * Context: RCU read side, bottom halves off.
 */
int mroce_xmit_answer(struct mroce_conn *conn, const struct sk_buff *in, struct sk_buff *skb)
{
	struct mroce_addrs addrs;
	struct xmit_end end = {
		.laddr = &addrs.local,
		.raddr = &addrs.remote,
		.ipv6 = conn->ipv6,
		.df = true,
		.tos = conn->dscp << 2,
		.sport = htons(READ_ONCE(conn->path[0].sport)),
		/* To this host packets take the loopback interface. */
		.ifindex = READ_ONCE(conn->ifindex) && in->dev ? in->dev->ifindex : 0,
	};

	mroce_xmit_addrs(in, &addrs);
	return send_once(conn->dev, conn_sock(conn), skb, &end);
}

/**
 * mroce_xmit_reply() - answer a packet without any state
 * @mnet: namespace
 * @in: the packet answered; gives the addresses and the netdev
 * @to: whom, if not its sender
 * @skb: the answer; consumed
 *
 * Context: RCU read side, bottom halves off.
 */
int mroce_xmit_reply(struct mroce_net *mnet, const struct sk_buff *in, const struct in6_addr *to,
		     struct sk_buff *skb)
{
	struct mroce_addrs addrs;
	struct xmit_end end = {
		.laddr = &addrs.local,
		.raddr = to ?: &addrs.remote,
		.df = true,
		.sport = htons(MROCE_UDP_PORT),
		.ifindex = in->dev ? in->dev->ifindex : 0,
	};
	struct sock *sk;

	mroce_xmit_addrs(in, &addrs);
	end.ipv6 = addrs.ipv6;
	sk = end.ipv6 ? rcu_dereference(mnet->sk6) : rcu_dereference(mnet->sk4);
	return send_once(mroce_net_dev(mnet, in), sk, skb, &end);
}

/**
 * mroce_xmit_mtu() - smallest MTU of the routes of a connection's planes
 * @conn: the connection
 *
 * Return: bytes; 0 while there is no route.
 */
unsigned int mroce_xmit_mtu(struct mroce_conn *conn)
{
	const struct mroce_pairs *pairs;
	unsigned int mtu = UINT_MAX;
	struct sock *sk;
	int i;

	rcu_read_lock();
	sk = conn_sock(conn);
	pairs = &rcu_dereference(conn->ends)->pairs;
	for (i = 0; sk && i < MROCE_MAX_PAIRS; i++) {
		struct xmit_end end = {};
		struct dst_entry *dst;

		if (!pairs->pair[i].used || !pairs->pair[i].up)
			continue;
		pair_end(conn, &pairs->pair[i], &end);
		dst = route(sk, &end);
		if (IS_ERR(dst))
			continue;
		mtu = min(mtu, dst_mtu(dst));
		dst_release(dst);
	}
	rcu_read_unlock();
	return mtu == UINT_MAX ? 0 : mtu;
}

/**
 * mroce_xmit_err_lookup() - the socket's encap_err_lookup: is an ICMP error about us?
 * @sk: socket of the namespace
 * @skb: what ICMP returned: headers of a packet that claims to be from us
 *
 * Accepting it lets the core learn the path MTU, for everybody here who sends to that address;
 * nothing else comes of it. So not where only the peer says that the address is its own.
 *
 * Context: softirq, RCU read side.
 * Return: 0 when what is quoted goes to the peer of a connection of ours, between ends
 * of it that have been proved and from a source port of it, else -ENOENT.
 */
int mroce_xmit_err_lookup(struct sock *sk, struct sk_buff *skb)
{
	u32 off = skb_transport_offset(skb) + sizeof(struct udphdr);
	struct mroce_addrs addrs;
	struct mroce_conn *conn;
	bool ours = false;
	u8 buf[8];
	int plane;

	/* Who quotes less, and nobody of today does, is not believed. */
	if (skb_copy_bits(skb, off, buf, sizeof(buf)))
		return -ENOENT;
	mroce_xmit_addrs(skb, &addrs);
	swap(addrs.local, addrs.remote);
	conn = mroce_conn_by_peer_cid(mroce_net_of_sock(sk), mroce_wire_dcid(buf), &addrs);
	plane = conn ? mroce_conn_pair(conn, &addrs) : -1;
	if (plane >= 0)
		ours = READ_ONCE(conn->ps.plane[plane].proved) &&
		       mroce_conn_has_port(conn, addrs.sport);
	mroce_conn_put(conn);
	return ours ? 0 : -ENOENT;
}

/** mroce_txlist_init() - empty list */
void mroce_txlist_init(struct mroce_txlist *list)
{
	list->head = NULL;
	list->tail = &list->head;
	list->n = 0;
}

/** mroce_txlist_add() - append a numbered packet */
void mroce_txlist_add(struct mroce_txlist *list, struct sk_buff *skb, int path, u32 path_seq)
{
	xmit_cb(skb)->path = path;
	xmit_cb(skb)->path_seq = path_seq;
	skb->next = NULL;
	*list->tail = skb;
	list->tail = &skb->next;
	list->n++;
}

static void local_drop(struct mroce_conn *conn, int path, u32 path_seq)
{
	struct mroce_ps_event ev;
	bool data;

	mroce_count(conn->dev, MROCE_CNT_LOCAL_DROP);
	spin_lock(&conn->tx_lock);
	data = mroce_pathset_local_drop(&conn->ps, path, path_seq, ktime_get_ns(), &ev);
	spin_unlock(&conn->tx_lock);
	if (data)
		mroce_send_event(conn, &ev, false);
}

/**
 * mroce_txlist_xmit() - send what was numbered, in order
 * @conn: connection of all packets in @list
 * @list: emptied
 *
 * Context: bottom halves have been off since the packets were numbered; no lock
 * of ours held.
 */
void mroce_txlist_xmit(struct mroce_conn *conn, struct mroce_txlist *list)
{
	struct sk_buff *skb = list->head, *next;
	u64 pkts = 0, bytes = 0;

	if (!skb)
		return;
	for (; skb; skb = next) {
		int path = xmit_cb(skb)->path;
		u32 path_seq = xmit_cb(skb)->path_seq;
		unsigned int len = skb->len;

		next = skb->next;
		skb_mark_not_on_list(skb);
		if (xmit(conn, skb, path, false, true)) {
			local_drop(conn, path, path_seq);
			continue;
		}
		pkts++;
		bytes += len;
	}
	mroce_count_add(conn->dev, MROCE_CNT_TX_DATA_PKTS, pkts);
	mroce_count_add(conn->dev, MROCE_CNT_TX_DATA_BYTES, bytes);
	mroce_txlist_init(list);
}
