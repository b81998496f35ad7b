// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: found by key when a QP goes to RTR, by id when a packet arrives;
 * opened by the handshake; shared by all QPs between the same two ends.
 *
 * A connection is made only by a local QP that wants one, never by a packet, so
 * strangers cannot make us keep state. It outlives its QPs (a later one to the same
 * peer finds it warm); when a device has as many as it may, unused ones make room.
 */
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "mroce.h"

static unsigned int paths = MROCE_DEF_PATHS;
module_param(paths, uint, 0644);
MODULE_PARM_DESC(paths, "Paths per connection, 1 to 32 (default 8)");

static unsigned int max_window_kib = 1024;
module_param(max_window_kib, uint, 0644);
MODULE_PARM_DESC(max_window_kib, "Ceiling of a connection's window in KiB (default 1024)");

static unsigned int max_conns = 8192;
module_param(max_conns, uint, 0644);
MODULE_PARM_DESC(max_conns, "Connections per device (default 8192)");

static char *cc = "ecn";
module_param(cc, charp, 0444);
MODULE_PARM_DESC(cc, "Congestion control of new connections (default ecn)");

/* Start of the connection window: what a neighbour queue takes before ARP is done. */
#define CONN_INIT_WINDOW_BYTES	(128 * 1024)

/* QPs served by one round of mroce_conn_run(), and packets for each. */
#define CONN_RUN_ROUNDS		64
#define CONN_RUN_BUDGET_PKTS	16

static struct hlist_head *bucket(struct mroce_net *mnet, u32 cid)
{
	return &mnet->conns[hash_32(cid, MROCE_CONN_HASH_BITS)];
}

/**
 * mroce_conn_by_cid() - the connection a packet names
 * @mnet: namespace
 * @cid: our connection id
 *
 * Return: with a reference, or NULL.
 */
struct mroce_conn *mroce_conn_by_cid(struct mroce_net *mnet, u32 cid)
{
	struct mroce_conn *conn;

	rcu_read_lock();
	hlist_for_each_entry_rcu(conn, bucket(mnet, cid), hash_node)
		if (conn->scid == cid && refcount_inc_not_zero(&conn->refs)) {
			rcu_read_unlock();
			return conn;
		}
	rcu_read_unlock();
	return NULL;
}

/** mroce_conn_is() - do the addresses of a packet belong to this connection? */
bool mroce_conn_is(const struct mroce_conn *conn, const struct mroce_addrs *addrs)
{
	return ipv6_addr_equal(&conn->laddr, &addrs->local) &&
	       ipv6_addr_equal(&conn->raddr, &addrs->remote);
}

static struct hlist_head *peer_bucket(struct mroce_dev *dev, const struct in6_addr *raddr)
{
	return &dev->peers[hash_32(ipv6_addr_hash(raddr), MROCE_PEER_HASH_BITS)];
}

/* @dscp: -1 = any; @dcid: the id the peer gave itself, 0 = any */
static struct mroce_conn *find(struct mroce_dev *dev, const struct in6_addr *laddr,
			       const struct in6_addr *raddr, int dscp, u32 dcid)
{
	struct mroce_conn *conn;

	hlist_for_each_entry(conn, peer_bucket(dev, raddr), peer_node)
		if ((dscp < 0 || conn->dscp == dscp) && (!dcid || READ_ONCE(conn->dcid) == dcid) &&
		    ipv6_addr_equal(&conn->laddr, laddr) &&
		    ipv6_addr_equal(&conn->raddr, raddr) && refcount_inc_not_zero(&conn->refs))
			return conn;
	return NULL;
}

/**
 * mroce_conn_by_addr() - the connection between the ends of a packet
 * @mnet: namespace
 * @addrs: ends
 * @dscp: class, -1 = any
 * @dcid: the peer's connection id, 0 = any
 *
 * Context: RCU read side, bottom halves off.
 * Return: with a reference, or NULL.
 */
struct mroce_conn *mroce_conn_by_addr(struct mroce_net *mnet, const struct mroce_addrs *addrs,
				      int dscp, u32 dcid)
{
	struct mroce_conn *conn = NULL;
	struct mroce_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, net_node) {
		spin_lock(&dev->conn_lock);
		conn = find(dev, &addrs->local, &addrs->remote, dscp, dcid);
		spin_unlock(&dev->conn_lock);
		if (conn)
			break;
	}
	return conn;
}

static bool has_port(const struct mroce_conn *conn, u16 sport)
{
	unsigned int i;

	for (i = 0; i < conn->max_paths; i++)
		if (sport == READ_ONCE(conn->path[i].sport) ||
		    sport == READ_ONCE(conn->back[i].sport))
			return true;
	return false;
}

/**
 * mroce_conn_has_port() - does a packet we sent come from one of our connections?
 * @mnet: namespace
 * @addrs: ends, as of a packet that we received
 *
 * Context: RCU read side, bottom halves off.
 * Return: whether any connection between these ends uses the local source port.
 */
bool mroce_conn_has_port(struct mroce_net *mnet, const struct mroce_addrs *addrs)
{
	struct mroce_conn *conn;
	struct mroce_dev *dev;
	bool found = false;

	list_for_each_entry_rcu(dev, &mnet->devs, net_node) {
		spin_lock(&dev->conn_lock);
		hlist_for_each_entry(conn, peer_bucket(dev, &addrs->remote), peer_node)
			if (mroce_conn_is(conn, addrs) && has_port(conn, addrs->sport)) {
				found = true;
				break;
			}
		spin_unlock(&dev->conn_lock);
		if (found)
			break;
	}
	return found;
}

/**
 * mroce_conn_drop_routes() - the namespace ends, which cached routes must not outlive
 * @dev: device that is cut off from it; nobody transmits on it any more
 *
 * Context: task.
 */
void mroce_conn_drop_routes(struct mroce_dev *dev)
{
	struct mroce_conn *conn;
	unsigned int i;

	spin_lock_bh(&dev->conn_lock);
	list_for_each_entry(conn, &dev->conns, dev_node)
		for (i = 0; i < 2 * conn->max_paths; i++)
			dst_cache_reset_now(&conn->cache[i]);
	spin_unlock_bh(&dev->conn_lock);
}

static void conn_free(struct mroce_conn *conn)
{
	unsigned int i;

	if (conn->cache)
		for (i = 0; i < 2 * conn->max_paths; i++)
			dst_cache_destroy(&conn->cache[i]);
	kfree(conn->cache);
	kvfree(conn->recs);
	kvfree(conn->path);
	kfree_rcu(conn, rcu);
}

/** mroce_conn_hold() - one more reference */
void mroce_conn_hold(struct mroce_conn *conn)
{
	refcount_inc(&conn->refs);
}

/** mroce_conn_put() - give a reference back; the device's kill waits for the last one */
void mroce_conn_put(struct mroce_conn *conn)
{
	if (conn && refcount_dec_and_test(&conn->refs))
		complete(&conn->released);
}

static int conn_alloc_paths(struct mroce_conn *conn)
{
	unsigned int i;

	conn->path = kvcalloc(conn->max_paths, sizeof(*conn->path), GFP_KERNEL_ACCOUNT);
	conn->recs = kvcalloc(conn->max_paths * MROCE_SB_SPAN, sizeof(*conn->recs),
			      GFP_KERNEL_ACCOUNT);
	conn->cache = kcalloc(2 * conn->max_paths, sizeof(*conn->cache), GFP_KERNEL_ACCOUNT);
	if (!conn->path || !conn->recs || !conn->cache)
		return -ENOMEM;
	for (i = 0; i < 2 * conn->max_paths; i++)
		if (dst_cache_init(&conn->cache[i], GFP_KERNEL_ACCOUNT))
			return -ENOMEM;
	/* HELLO goes before the paths are set up, and needs a source port. */
	conn->path[0].sport = 49152 + get_random_u32() % 16384;
	return 0;
}

/* Is it an address of this host? Then packets take the loopback interface. */
static bool is_local(struct mroce_dev *dev, const struct in6_addr *addr)
{
	struct mroce_net *mnet;
	bool local = false;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	if (mnet && ipv6_addr_v4mapped(addr))
		local = inet_addr_type(mnet->net, addr->s6_addr32[3]) == RTN_LOCAL;
	else if (mnet && rcu_access_pointer(mnet->sk6))
		local = ipv6_chk_addr(mnet->net, addr, NULL, 0);
	rcu_read_unlock();
	return local;
}

/**
 * mroce_conn_can_reach() - is the way to a peer there at all?
 * @dev: device
 * @raddr: remote GID
 *
 * Context: task.
 * Return: 0; -ENETDOWN when the peer is on this host and the loopback interface is down;
 * -EAFNOSUPPORT for IPv6 where there is none.
 */
int mroce_conn_can_reach(struct mroce_dev *dev, const struct in6_addr *raddr)
{
	bool local = is_local(dev, raddr);
	struct mroce_net *mnet;
	int err = 0;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	if (mnet && local && !netif_running(mnet->net->loopback_dev))
		err = -ENETDOWN;
	if (mnet && !ipv6_addr_v4mapped(raddr) && !rcu_access_pointer(mnet->sk6))
		err = -EAFNOSUPPORT;
	rcu_read_unlock();
	return err;
}

/* What routes to a peer are bound to; packets to this host take the loopback interface. */
static int bound_to(struct mroce_dev *dev, const struct in6_addr *raddr, int ifindex)
{
	/* Link-local addresses mean nothing without their interface. */
	if (!is_local(dev, raddr) || ipv6_addr_type(raddr) & IPV6_ADDR_LINKLOCAL)
		return ifindex;
	return 0;
}

static struct mroce_conn *conn_alloc(struct mroce_dev *dev, const struct in6_addr *laddr,
				     const struct in6_addr *raddr, u8 dscp, int ifindex)
{
	struct mroce_hs_params mine = { .stream_window = MROCE_STREAM_WINDOW };
	struct mroce_conn *conn;

	conn = kzalloc_obj(*conn, GFP_KERNEL_ACCOUNT);
	if (!conn)
		return NULL;
	refcount_set(&conn->refs, 1);
	init_completion(&conn->released);
	INIT_HLIST_NODE(&conn->hash_node);
	INIT_LIST_HEAD(&conn->waiters);
	INIT_LIST_HEAD(&conn->dirty);
	spin_lock_init(&conn->open_lock);
	spin_lock_init(&conn->tx_lock);
	spin_lock_init(&conn->rx_lock);
	conn->timer_at = U64_MAX;
	mroce_compat_hrtimer_setup(&conn->timer, mroce_timer_conn, CLOCK_MONOTONIC,
				   HRTIMER_MODE_ABS_SOFT);
	conn->dev = dev;
	conn->laddr = *laddr;
	conn->raddr = *raddr;
	conn->dscp = dscp;
	conn->ifindex = bound_to(dev, raddr, ifindex);
	conn->ipv6 = !ipv6_addr_v4mapped(raddr);
	conn->max_paths = clamp_t(unsigned int, READ_ONCE(paths), 1, MROCE_MAX_PATHS);
	do {
		conn->scid = get_random_u32();
	} while (!conn->scid);

	if (conn_alloc_paths(conn)) {
		conn_free(conn);
		return NULL;
	}
	mine.paths = conn->max_paths;
	mine.payload_bytes = mroce_seg_unit(mroce_xmit_mtu(conn) ?: READ_ONCE(dev->ndev_mtu),
					    conn->ipv6);
	mroce_hs_init(&conn->hs, &mine, conn->ipv6, conn->scid, get_random_u64());
	if (ipv6_addr_equal(laddr, raddr))
		mroce_hs_self(&conn->hs);
	return conn;
}

static int conn_publish(struct mroce_conn *conn)
{
	struct mroce_net *mnet;
	int err = -ENODEV;

	rcu_read_lock();
	mnet = rcu_dereference(conn->dev->mnet);
	if (mnet) {
		spin_lock_bh(&mnet->hash_lock);
		/* The namespace's end first cuts the device off, then empties the hash. */
		if (rcu_access_pointer(conn->dev->mnet) == mnet) {
			hlist_add_head_rcu(&conn->hash_node, bucket(mnet, conn->scid));
			err = 0;
		}
		spin_unlock_bh(&mnet->hash_lock);
	}
	rcu_read_unlock();
	return err;
}

static void conn_unpublish(struct mroce_conn *conn)
{
	struct mroce_net *mnet;

	/* Without a namespace its end has emptied the hash, or will before @conn is freed. */
	rcu_read_lock();
	mnet = rcu_dereference(conn->dev->mnet);
	if (mnet) {
		spin_lock_bh(&mnet->hash_lock);
		hlist_del_init_rcu(&conn->hash_node);
		spin_unlock_bh(&mnet->hash_lock);
	}
	rcu_read_unlock();
}

/* Off the list, nobody finds it any more: end it. Waits for users in flight only. */
static void kill(struct mroce_conn *conn)
{
	spin_lock_bh(&conn->tx_lock);
	conn->dead = true;
	conn->ready = false;
	spin_unlock_bh(&conn->tx_lock);
	conn_unpublish(conn);
	/* @dead keeps it from being armed again. */
	hrtimer_cancel(&conn->timer);
	mroce_conn_put(conn);
	wait_for_completion(&conn->released);
	conn_free(conn);
}

/* Under conn_lock. */
static void delist(struct mroce_conn *conn)
{
	list_del(&conn->dev_node);
	hlist_del(&conn->peer_node);
	conn->dev->n_conns--;
}

/* A device with as many connections as it may have gives up an unused one. */
static void evict(struct mroce_dev *dev)
{
	struct mroce_conn *conn, *victim = NULL;

	spin_lock_bh(&dev->conn_lock);
	if (dev->n_conns >= READ_ONCE(max_conns))
		list_for_each_entry(conn, &dev->conns, dev_node)
			if (!conn->n_qps) {
				victim = conn;
				delist(victim);
				break;
			}
	spin_unlock_bh(&dev->conn_lock);
	if (victim)
		kill(victim);
}

static void forget_routes(struct mroce_conn *conn)
{
	unsigned int i;

	for (i = 0; i < 2 * conn->max_paths; i++)
		dst_cache_reset(&conn->cache[i]);
}

/*
 * The connection there is, for one more QP. A stale one goes when nobody uses it:
 * to agree on more needs a new instance.
 */
static struct mroce_conn *reuse(struct mroce_dev *dev, const struct in6_addr *laddr,
				const struct in6_addr *raddr, u8 dscp, int ifindex)
{
	struct mroce_conn *conn, *old = NULL;

	spin_lock_bh(&dev->conn_lock);
	conn = find(dev, laddr, raddr, dscp, 0);
	if (conn && conn->stale && !conn->n_qps) {
		swap(conn, old);
		delist(old);
	}
	if (conn)
		conn->n_qps++;
	spin_unlock_bh(&dev->conn_lock);
	if (old) {
		mroce_conn_put(old);
		kill(old);
	}
	if (!conn)
		return NULL;
	/* The address may have moved, to a bridge for instance. */
	ifindex = bound_to(dev, raddr, ifindex);
	if (READ_ONCE(conn->ifindex) != ifindex) {
		WRITE_ONCE(conn->ifindex, ifindex);
		forget_routes(conn);
	}
	if (READ_ONCE(conn->hs.state) != MROCE_HS_OPEN)
		mroce_handshake_start(conn);
	return conn;
}

/**
 * mroce_conn_get() - the connection to a peer, made on first use
 * @dev: device
 * @laddr: local GID
 * @raddr: remote GID
 * @dscp: class
 * @ifindex: netdev that owns @laddr; not the device's own for a VLAN above it
 *
 * A new one starts its handshake at once: it warms the neighbour, too. A device
 * that talks to itself needs none.
 *
 * Context: task.
 * Return: with a reference; ERR_PTR(-ENOMEM, -ENODEV, -ENOSPC at the limit,
 * -EMSGSIZE when the MTU leaves no room for payload).
 */
struct mroce_conn *mroce_conn_get(struct mroce_dev *dev, const struct in6_addr *laddr,
				  const struct in6_addr *raddr, u8 dscp, int ifindex)
{
	struct mroce_conn *conn, *other;
	int err;

	conn = reuse(dev, laddr, raddr, dscp, ifindex);
	if (conn)
		return conn;
	evict(dev);

	conn = conn_alloc(dev, laddr, raddr, dscp, ifindex);
	if (!conn)
		return ERR_PTR(-ENOMEM);
	err = conn->hs.mine.payload_bytes ? conn_publish(conn) : -EMSGSIZE;
	if (err)
		goto free;

	/* Somebody may have been faster, or the device full. */
	spin_lock_bh(&dev->conn_lock);
	other = find(dev, laddr, raddr, dscp, 0);
	if (other)
		other->n_qps++;
	if (!other && dev->n_conns >= READ_ONCE(max_conns))
		err = -ENOSPC;
	if (!other && !err) {
		refcount_inc(&conn->refs);
		list_add_tail(&conn->dev_node, &dev->conns);
		hlist_add_head(&conn->peer_node, peer_bucket(dev, raddr));
		dev->n_conns++;
		conn->n_qps = 1;
	}
	spin_unlock_bh(&dev->conn_lock);
	if (other || err) {
		conn_unpublish(conn);
		mroce_conn_put(conn);
		/* A packet that guessed our id may hold a reference for a moment. */
		wait_for_completion(&conn->released);
		conn_free(conn);
		return other ?: ERR_PTR(err);
	}
	if (conn->hs.state == MROCE_HS_OPEN) {
		local_bh_disable();
		mroce_conn_open(conn);
		local_bh_enable();
	} else {
		mroce_handshake_start(conn);
	}
	return conn;
free:
	conn_free(conn);
	return ERR_PTR(err);
}

/**
 * mroce_conn_leave() - a QP does not use the connection any more
 * @conn: the connection; the QP's reference goes
 *
 * Context: task.
 */
void mroce_conn_leave(struct mroce_conn *conn)
{
	/*
	 * Under conn_lock to the end: a QP that comes meanwhile is counted before,
	 * or starts the handshake again after.
	 */
	spin_lock_bh(&conn->dev->conn_lock);
	if (!--conn->n_qps) {
		/* A peer that never answered is not asked for ever. */
		spin_lock(&conn->tx_lock);
		mroce_hs_stop(&conn->hs);
		spin_unlock(&conn->tx_lock);
	}
	spin_unlock_bh(&conn->dev->conn_lock);
	mroce_conn_put(conn);
}

/**
 * mroce_conn_kill_all() - the device goes: end all its connections
 * @dev: device without QPs
 *
 * Context: task. Waits for users in flight, never for the network.
 */
void mroce_conn_kill_all(struct mroce_dev *dev)
{
	struct mroce_conn *conn;

	for (;;) {
		spin_lock_bh(&dev->conn_lock);
		conn = list_first_entry_or_null(&dev->conns, struct mroce_conn, dev_node);
		if (conn)
			delist(conn);
		spin_unlock_bh(&dev->conn_lock);
		if (!conn)
			return;
		kill(conn);
	}
}

/* Under conn_lock. */
static void measure(struct mroce_conn *conn)
{
	u16 unit = mroce_seg_unit(mroce_xmit_mtu(conn), conn->ipv6);
	struct mroce_hs *hs = &conn->hs;
	u64 now = ktime_get_ns(), due;

	/* No route, or one that only fragments fit through. */
	if (!unit)
		return;
	spin_lock(&conn->tx_lock);
	mroce_hs_resize(hs, unit, now);
	if (!conn->n_qps)
		mroce_hs_stop(hs);
	conn->stale = unit > hs->agreed.payload_bytes ||
		      (!conn->n_qps && unit < hs->agreed.payload_bytes);
	due = hs->next_ns;
	spin_unlock(&conn->tx_lock);
	if (due != U64_MAX)
		mroce_conn_arm(conn, due);
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
	struct mroce_conn *conn;

	spin_lock_bh(&dev->conn_lock);
	list_for_each_entry(conn, &dev->conns, dev_node)
		if (READ_ONCE(conn->ifindex) == ifindex &&
		    !ipv6_addr_equal(&conn->laddr, &conn->raddr))
			measure(conn);
	spin_unlock_bh(&dev->conn_lock);
}

/**
 * mroce_conn_open() - set the path state up for what the handshake agreed on
 * @conn: its hs has just opened or restarted
 *
 * After a restart everything in flight to the old instance is lost first; the
 * QPs send it again and hear from the new instance that their peers are gone.
 *
 * Context: softirq, no lock held.
 */
void mroce_conn_open(struct mroce_conn *conn)
{
	struct mroce_pathset_cfg cfg = {
		.ack_delay_ns = mroce_ack_policy.delay_ns,
		.cc = mroce_cc_find(cc) ?: mroce_cc_find("ecn"),
	};
	u32 rnd[2 * MROCE_MAX_PATHS];
	struct mroce_ps_event ev[8];
	int i, j, n, n_old;

	/* Two packets of the peer may both have opened it: one after the other. */
	spin_lock(&conn->open_lock);
	/* From here on nothing is numbered until the new state is there. */
	spin_lock(&conn->tx_lock);
	n_old = conn->ready ? conn->n_paths : 0;
	conn->ready = false;
	spin_unlock(&conn->tx_lock);
	for (i = 0; i < n_old; i++)
		do {
			spin_lock(&conn->tx_lock);
			n = mroce_pathset_flush(&conn->ps, i, ev, ARRAY_SIZE(ev));
			spin_unlock(&conn->tx_lock);
			for (j = 0; j < n; j++)
				mroce_send_event(conn, &ev[j], false);
		} while (n == ARRAY_SIZE(ev));

	get_random_bytes(rnd, sizeof(rnd));
	spin_lock(&conn->rx_lock);
	for (i = 0; i < MROCE_MAX_PATHS; i++) {
		mroce_rxwin_init(&conn->rxwin[i]);
		mroce_back_init(&conn->back[i], rnd[2 * i] ^ rnd[2 * i + 1]);
	}
	conn->n_rxpaths = min(conn->hs.agreed.paths, conn->max_paths);
	spin_unlock(&conn->rx_lock);

	spin_lock(&conn->tx_lock);
	conn->unit_bytes = conn->hs.agreed.payload_bytes;
	conn->fit_bytes = conn->unit_bytes;
	conn->stream_window = min_t(u32, conn->hs.agreed.stream_window, MROCE_STREAM_WINDOW);
	conn->n_paths = min(conn->hs.agreed.paths, conn->max_paths);
	cfg.n_paths = conn->n_paths;
	cfg.pkt_bytes = conn->unit_bytes + MROCE_DATA_HLEN;
	cfg.max_window_bytes = max(READ_ONCE(max_window_kib), 64u) * 1024;
	cfg.init_window_bytes = min_t(u32, cfg.max_window_bytes, CONN_INIT_WINDOW_BYTES);
	memset(conn->path, 0, conn->max_paths * sizeof(*conn->path));
	memset(conn->recs, 0, conn->max_paths * MROCE_SB_SPAN * sizeof(*conn->recs));
	for (i = 0; i < conn->max_paths; i++)
		conn->path[i].sb.rec = conn->recs + i * MROCE_SB_SPAN;
	mroce_pathset_init(&conn->ps, &cfg, conn->path, rnd, ktime_get_ns());
	forget_routes(conn);
	WRITE_ONCE(conn->dcid, conn->hs.dcid);
	conn->blocked = false;
	WRITE_ONCE(conn->ready, !conn->dead);
	spin_unlock(&conn->tx_lock);
	spin_unlock(&conn->open_lock);
	mroce_conn_run(conn);
}

/**
 * mroce_conn_arm() - have the connection's timer run at @at_ns or earlier
 * @conn: the connection
 * @at_ns: when, ktime ns
 *
 * Context: tx_lock not held; a QP lock may be.
 */
void mroce_conn_arm(struct mroce_conn *conn, u64 at_ns)
{
	/* Most packets find it armed early enough. */
	if (READ_ONCE(conn->timer_at) <= at_ns)
		return;
	spin_lock_bh(&conn->tx_lock);
	if (!conn->dead && at_ns < conn->timer_at) {
		WRITE_ONCE(conn->timer_at, at_ns);
		hrtimer_start(&conn->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&conn->tx_lock);
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
		q->waiting = true;
		mroce_qp_hold(q->qp);
		list_add_tail(&q->wait_node, &conn->waiters);
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
	if (was) {
		list_del_init(&q->wait_node);
		q->waiting = false;
	}
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

	for (round = 0; round < CONN_RUN_ROUNDS; round++) {
		if (READ_ONCE(conn->blocked) || list_empty(&conn->waiters))
			return;
		spin_lock(&conn->tx_lock);
		q = list_first_entry_or_null(&conn->waiters, struct mroce_txq, wait_node);
		if (q && conn->ready) {
			list_del_init(&q->wait_node);
			q->waiting = false;
		} else {
			q = NULL;
		}
		spin_unlock(&conn->tx_lock);
		if (!q)
			return;
		mroce_send_run(q, CONN_RUN_BUDGET_PKTS);
		mroce_qp_put(q->qp);
	}
}
