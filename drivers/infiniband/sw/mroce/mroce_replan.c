// SPDX-License-Identifier: GPL-2.0
/*
 * Planes of a connection: from our planes and the peer's to pairs of addresses
 * (proto/pairs), and from these to paths (proto/plane).
 */
#include <linux/module.h>
#include <linux/random.h>
#include <net/ipv6.h>

#include "mroce.h"

static unsigned int paths;
module_param(paths, uint, 0644);
MODULE_PARM_DESC(paths, "Paths per plane of a connection, 1 to 32; default 8, of several planes 4 each");

static struct mroce_ends *ends_of(struct mroce_conn *conn)
{
	return rcu_dereference_protected(conn->ends, lockdep_is_held(&conn->tx_lock));
}

/**
 * mroce_replan_init() - a new connection: before the peer has spoken it has one plane
 * @conn: not published yet
 *
 * Return: false without memory.
 */
bool mroce_replan_init(struct mroce_conn *conn)
{
	struct mroce_ends *ends = kzalloc_obj(*ends, GFP_KERNEL_ACCOUNT);
	struct mroce_plane_end mine[MROCE_MAX_PLANES];
	u32 n;

	if (!ends)
		return false;
	n = mroce_plane_list(conn, mine, NULL);
	conn->n_theirs = 1;
	conn->theirs[0].label = mine[0].label;
	conn->theirs[0].up = true;
	memcpy(conn->theirs[0].addr, &conn->raddr, sizeof(conn->theirs[0].addr));
	mroce_pairs_update(&ends->pairs, mine, min(n, 1u), conn->theirs, 1);
	RCU_INIT_POINTER(conn->ends, ends);
	return true;
}

/* Records for @n more paths. Under tx_lock. */
static void give_records(struct mroce_conn *conn, u32 n)
{
	struct mroce_sb_rec *rec;
	u32 i;

	for (i = 0; i < conn->ps.cfg.max_paths && n; i++) {
		bool taken = i < conn->ps.cfg.n_paths && conn->path[i].state != MROCE_PATH_OFF;

		if (!conn->path[i].sb.rec) {
			rec = kcalloc(MROCE_SB_SPAN, sizeof(*rec), GFP_ATOMIC | __GFP_NOWARN);
			if (!rec)
				return;
			conn->path[i].sb.rec = rec;
		}
		n -= !taken;
	}
}

/**
 * mroce_replan_paths() - paths that a plane gets
 * @dev: device
 * @n_planes: how many there are of them
 */
u8 mroce_replan_paths(const struct mroce_dev *dev, unsigned int n_planes)
{
	return mroce_plane_paths(READ_ONCE(dev->conf.paths) ?: READ_ONCE(paths), n_planes);
}

static u32 paths_each(const struct mroce_conn *conn, const struct mroce_pairs *pairs)
{
	unsigned int n_up = 0;
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		n_up += pairs->pair[i].used && pairs->pair[i].up;
	/* The peer may take fewer than there may be. */
	return min_t(u32, mroce_replan_paths(conn->dev, n_up),
		     max(conn->ps.cfg.max_paths / max(n_up, 1u), 1u));
}

/* Under tx_lock; the pair at @place is up. */
static void open_plane(struct mroce_conn *conn, u32 place, u32 n, bool proved)
{
	u32 rnd[2 * MROCE_MAX_PATHS];
	u32 i;

	get_random_bytes(rnd, sizeof(rnd));
	give_records(conn, n);
	mroce_plane_open(&conn->ps, place, n, proved, rnd, ktime_get_ns());
	for (i = 0; i < conn->ps.cfg.n_paths; i++)
		if (conn->path[i].plane == place)
			mroce_xmit_forget(conn, i);
}

static bool works(const struct mroce_pair *p)
{
	return p->used && p->up;
}

static bool moved(const struct mroce_pair *a, const struct mroce_pair *b)
{
	return memcmp(a->laddr, b->laddr, sizeof(a->laddr)) ||
	       memcmp(a->raddr, b->raddr, sizeof(a->raddr));
}

/* Routes of planes that remain but have another netdev. Under tx_lock. */
static void forget_routes(struct mroce_conn *conn, u32 places)
{
	u32 i;

	for (i = 0; i < MROCE_MAX_PATHS; i++) {
		if (places & 1u << conn->path[i].plane)
			mroce_xmit_forget(conn, i);
		if (places & 1u << conn->back[i].plane)
			mroce_xmit_forget(conn, MROCE_WAY_BACK + i);
	}
}

/* From the pairs of @old to those of @new, as far as paths go. Under tx_lock. */
static void change_paths(struct mroce_conn *conn, const struct mroce_pairs *old,
			 const struct mroce_pairs *new, u32 changed)
{
	u32 n = paths_each(conn, new);
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++) {
		const struct mroce_pair *was = &old->pair[i], *is = &new->pair[i];
		bool again = works(was) && works(is) && moved(was, is);

		if (!(changed & 1u << i))
			continue;
		if (works(was) && (!works(is) || again))
			mroce_plane_close(&conn->ps, i);
		if (works(is) && (!works(was) || again))
			open_plane(conn, i, n, false);
		if (works(is))
			mroce_plane_drain(&conn->ps, i, is->leaving);
	}
}

/**
 * mroce_replan() - our planes or the peer's have changed
 * @conn: connection; its tx_lock held
 *
 * Without memory all remains as it is; the timer tries again.
 *
 * Return: whether the timer is due: something has changed, or is to.
 */
bool mroce_replan(struct mroce_conn *conn)
{
	struct mroce_plane_end mine[MROCE_MAX_PLANES];
	struct mroce_ends *old = ends_of(conn), *ends;
	struct mroce_trace_snap snap;
	u32 changed, n;

	lockdep_assert_held(&conn->tx_lock);
	ends = kmemdup(old, sizeof(*old), GFP_ATOMIC | __GFP_NOWARN);
	conn->unplanned = !ends;
	if (!ends)
		return true;
	n = mroce_plane_list(conn, mine, NULL);
	changed = mroce_pairs_update(&ends->pairs, mine, n, conn->theirs, conn->n_theirs);
	if (!changed) {
		kfree(ends);
		return false;
	}
	rcu_assign_pointer(conn->ends, ends);
	mroce_trace_before(conn, &snap);
	if (conn->ready)
		change_paths(conn, &old->pairs, &ends->pairs, changed);
	mroce_trace_after(conn, &snap);
	forget_routes(conn, changed);
	kfree_rcu(old, rcu);
	return true;
}

static bool leads_to(const struct mroce_pair *pair, const struct in6_addr *raddr)
{
	return !memcmp(pair->raddr, raddr, sizeof(pair->raddr));
}

/**
 * mroce_replan_open() - the connection opens: paths for every plane
 * @conn: connection; its tx_lock held, its path state just initialised without paths
 * @via: addresses the handshake has proved: so is that plane; NULL: to itself
 *
 * With one plane only, ours of the two addresses may be another one.
 */
void mroce_replan_open(struct mroce_conn *conn, const struct mroce_addrs *via)
{
	const struct mroce_pairs *pairs;
	u32 n, i, n_up = 0;
	int proved = -1;

	mroce_replan(conn);
	pairs = &ends_of(conn)->pairs;
	if (via)
		proved = mroce_pairs_find(pairs, via->local.s6_addr, via->remote.s6_addr);
	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		n_up += works(&pairs->pair[i]);
	n = paths_each(conn, pairs);
	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (works(&pairs->pair[i]))
			open_plane(conn, i, n, !via || (int)i == proved ||
				   (n_up == 1 && leads_to(&pairs->pair[i], &via->remote)));
}

/**
 * mroce_replan_places() - planes that a queue pair prefers
 * @conn: connection; its tx_lock held
 * @mask: their labels, bit = label
 *
 * Return: their places, bit = place; 0: there are none of them.
 */
u8 mroce_replan_places(struct mroce_conn *conn, u64 mask)
{
	const struct mroce_pairs *pairs = &ends_of(conn)->pairs;
	u8 places = 0;
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (pairs->pair[i].used && pairs->pair[i].label < 64 &&
		    mask & 1ull << pairs->pair[i].label)
			places |= 1u << i;
	return places;
}

/**
 * mroce_replan_drop_ours() - take this host's addresses out of a peer's planes
 * @conn: connection
 * @h: the peer's HELLO or HELLO_ACK; changed
 *
 * A peer on another host has none of our addresses: what is sent there would come back to us,
 * and may have an id that is ours.
 *
 * Context: no lock held: each address is looked up.
 */
void mroce_replan_drop_ours(struct mroce_conn *conn, struct mroce_hello *h)
{
	struct in6_addr addr;
	u8 n = 0;
	u32 i;

	if (!READ_ONCE(conn->ifindex))
		return;
	for (i = 0; i < h->n_planes; i++) {
		memcpy(&addr, h->plane[i].addr, sizeof(addr));
		/* Link-local ones are of one link only. */
		if (!(ipv6_addr_type(&addr) & IPV6_ADDR_LINKLOCAL) &&
		    mroce_net_is_local(conn->dev, &addr))
			continue;
		h->plane[n++] = h->plane[i];
	}
	h->n_planes = n;
}

/**
 * mroce_replan_told() - the peer has told its planes
 * @conn: connection; its tx_lock held
 * @h: its HELLO or HELLO_ACK, which is believed, after mroce_replan_drop_ours()
 *
 * Return: whether anything has changed: the timer is due.
 */
bool mroce_replan_told(struct mroce_conn *conn, const struct mroce_hello *h)
{
	/* Numbers of another instance begin anywhere. */
	if (conn->ready && conn->dcid == h->scid &&
	    mroce_planes_are_old(h->planes_no, conn->theirs_no))
		return false;
	conn->n_theirs = mroce_planes_told(h, conn->ipv6 ? 6 : 4, conn->raddr.s6_addr,
					   conn->theirs);
	conn->theirs_no = h->planes_no;
	return mroce_replan(conn);
}

static void measure(struct mroce_conn *conn)
{
	u16 unit = mroce_seg_unit(mroce_xmit_mtu(conn), conn->ipv6);
	struct mroce_hs *hs = &conn->hs;
	u64 now = ktime_get_ns(), due;

	/* No route, or one that only fragments fit through. */
	if (!unit)
		return;
	spin_lock_bh(&conn->dev->conn_lock);
	spin_lock(&conn->tx_lock);
	mroce_hs_resize(hs, unit, now);
	if (!conn->n_qps)
		mroce_hs_stop(hs);
	conn->stale = unit > hs->agreed.payload_bytes ||
		      (!conn->n_qps && unit < hs->agreed.payload_bytes);
	due = hs->next_ns;
	spin_unlock(&conn->tx_lock);
	spin_unlock_bh(&conn->dev->conn_lock);
	if (due != U64_MAX)
		mroce_conn_arm(conn, due);
}

static bool uses(const struct mroce_conn *conn, int ifindex)
{
	const struct mroce_pairs *pairs = &rcu_dereference(conn->ends)->pairs;
	unsigned int i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (pairs->pair[i].used && pairs->pair[i].tag == ifindex)
			return true;
	return false;
}

/**
 * mroce_conn_measure() - an MTU has changed
 * @dev: device
 * @ifindex: of the netdev it is the MTU of
 *
 * A smaller one is told to the peers, a larger one is for later connections.
 *
 * Context: RCU read side.
 */
void mroce_conn_measure(struct mroce_dev *dev, int ifindex)
{
	struct mroce_conn_pos pos = {};
	struct mroce_conn *conn;

	while ((conn = mroce_conn_next(dev, &pos))) {
		if (uses(conn, ifindex) && !ipv6_addr_equal(&conn->laddr, &conn->raddr))
			measure(conn);
		mroce_conn_put(conn);
	}
}

/**
 * mroce_conn_planes() - a device's planes have changed
 * @dev: device
 *
 * Its connections change over to what there is now, and tell their peers.
 */
void mroce_conn_planes(struct mroce_dev *dev)
{
	struct mroce_conn_pos pos = {};
	struct mroce_conn *conn;

	while ((conn = mroce_conn_next(dev, &pos))) {
		/* Whoever leaves last stops the handshake, under this lock, too. */
		spin_lock_bh(&dev->conn_lock);
		spin_lock(&conn->tx_lock);
		mroce_replan(conn);
		if (conn->n_qps && READ_ONCE(conn->ifindex))
			mroce_hs_tell(&conn->hs, ktime_get_ns());
		spin_unlock(&conn->tx_lock);
		spin_unlock_bh(&dev->conn_lock);
		/* Lost packets and HELLOs are sent from there. */
		mroce_conn_arm(conn, ktime_get_ns());
		if (READ_ONCE(conn->ifindex))
			measure(conn);
		mroce_conn_put(conn);
	}
}

static bool drains(struct mroce_conn *conn, int ifindex)
{
	const struct mroce_pairs *pairs = &ends_of(conn)->pairs;
	bool busy = conn->ready && conn->n_qps && conn->hs.asking;
	int i;

	/* Who has not opened yet learns of what there is then. */
	for (i = 0; conn->ready && i < MROCE_MAX_PAIRS; i++)
		if (pairs->pair[i].used && pairs->pair[i].tag == ifindex)
			busy |= conn->ps.plane[i].inflight_bytes;
	return busy;
}

/**
 * mroce_conn_drains() - does a plane that is leaving still have to be waited for?
 * @dev: device
 * @ifindex: of the plane
 *
 * Return: whether some data is in flight there, or a peer does not know yet.
 */
bool mroce_conn_drains(struct mroce_dev *dev, int ifindex)
{
	struct mroce_conn_pos pos = {};
	struct mroce_conn *conn;
	bool busy = false;

	while (!busy && (conn = mroce_conn_next(dev, &pos))) {
		spin_lock_bh(&dev->conn_lock);
		spin_lock(&conn->tx_lock);
		busy = drains(conn, ifindex);
		spin_unlock(&conn->tx_lock);
		spin_unlock_bh(&dev->conn_lock);
		mroce_conn_put(conn);
	}
	return busy;
}
