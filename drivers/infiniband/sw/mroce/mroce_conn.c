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
#include <linux/jhash.h>
#include <linux/mroce.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/ipv6.h>

#include "mroce.h"

static unsigned int max_window_kib = 1024;
module_param(max_window_kib, uint, 0644);
MODULE_PARM_DESC(max_window_kib, "Ceiling of a connection's window in KiB, for each plane (default 1024)");

static unsigned int max_conns = 8192;
module_param(max_conns, uint, 0644);
MODULE_PARM_DESC(max_conns, "Connections per device (default 8192)");

static char *cc = "ecn";
module_param(cc, charp, 0444);
MODULE_PARM_DESC(cc, "Congestion control of new connections (default ecn)");

/* Start of the connection window: what a neighbour queue takes before ARP is done. */
#define CONN_INIT_WINDOW_BYTES	(128 * 1024)

/* Least ceiling of the window */
#define CONN_LEAST_WINDOW_KIB	64u

/** mroce_conn_conf() - what new connections of a device are like: as set, or by the parameters */
void mroce_conn_conf(const struct mroce_dev *dev, struct mroce_conf *conf)
{
	conf->paths = mroce_replan_paths(dev, READ_ONCE(dev->n_planes));
	conf->max_window_kib = max(READ_ONCE(dev->conf.max_window_kib) ?:
				   READ_ONCE(max_window_kib), CONN_LEAST_WINDOW_KIB);
	conf->cc = READ_ONCE(dev->conf.cc) ?: mroce_cc_find(cc) ?: MROCE_CC_DEFAULT;
	conf->ordering = READ_ONCE(dev->conf.ordering);
}

/** mroce_conn_limit() - connections that a device may have */
unsigned int mroce_conn_limit(void)
{
	return READ_ONCE(max_conns);
}

static struct hlist_head *bucket(struct mroce_net *mnet, u32 cid)
{
	return &mnet->conns[hash_32(cid, MROCE_CONN_HASH_BITS)];
}

static struct hlist_head *peer_cid_bucket(struct mroce_net *mnet, u32 dcid)
{
	/* Peers choose these ids, and may agree on some. */
	return &mnet->peer_conns[jhash_1word(dcid, mnet->hash_seed) >>
				 (32 - MROCE_CONN_HASH_BITS)];
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

static struct mroce_conn *find_no(struct mroce_net *mnet, u32 no)
{
	struct mroce_conn *conn;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mnet->conns); i++)
		hlist_for_each_entry_rcu(conn, &mnet->conns[i], hash_node)
			if (conn->no == no)
				return conn;
	return NULL;
}

/**
 * mroce_conn_by_no() - the connection that somebody has been shown
 * @mnet: namespace
 * @no: its number
 *
 * Looks at all there are: for those who ask about one, not for packets.
 *
 * Return: with a reference, or NULL.
 */
struct mroce_conn *mroce_conn_by_no(struct mroce_net *mnet, u32 no)
{
	struct mroce_conn *conn;

	rcu_read_lock();
	conn = find_no(mnet, no);
	if (conn && !refcount_inc_not_zero(&conn->refs))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/**
 * mroce_conn_pair() - by which plane of a connection did a packet come?
 * @conn: the connection
 * @addrs: ends of the packet
 *
 * Context: RCU read side.
 * Return: the place of its pair of addresses; -1: they do not belong to the connection.
 */
int mroce_conn_pair(const struct mroce_conn *conn, const struct mroce_addrs *addrs)
{
	return mroce_pairs_find(&rcu_dereference(conn->ends)->pairs, addrs->local.s6_addr,
				addrs->remote.s6_addr);
}

/**
 * mroce_conn_told() - has the peer told us that a packet's source is its own?
 * @conn: the connection
 * @addrs: ends of the packet
 *
 * Context: RCU read side.
 */
bool mroce_conn_told(const struct mroce_conn *conn, const struct mroce_addrs *addrs)
{
	return mroce_pairs_remote(&rcu_dereference(conn->ends)->pairs, addrs->remote.s6_addr);
}

/**
 * mroce_conn_by_peer_cid() - the connection a packet of ours belonged to
 * @mnet: namespace
 * @dcid: the peer's connection id
 * @addrs: ends, as of a packet that we received
 *
 * Context: RCU read side.
 * Return: with a reference, or NULL.
 */
struct mroce_conn *mroce_conn_by_peer_cid(struct mroce_net *mnet, u32 dcid,
					  const struct mroce_addrs *addrs)
{
	struct mroce_conn *conn;

	hlist_for_each_entry_rcu(conn, peer_cid_bucket(mnet, dcid), dcid_node)
		if (READ_ONCE(conn->dcid) == dcid && mroce_conn_pair(conn, addrs) >= 0 &&
		    refcount_inc_not_zero(&conn->refs))
			return conn;
	return NULL;
}

static struct hlist_head *peer_bucket(struct mroce_dev *dev, const struct in6_addr *raddr)
{
	/* Programs choose addresses. */
	u32 hash = jhash2((__force const u32 *)raddr->s6_addr32, 4, dev->peer_seed);

	return &dev->peers[hash >> (32 - MROCE_PEER_HASH_BITS)];
}

static struct mroce_conn *find(struct mroce_dev *dev, const struct in6_addr *laddr,
			       const struct in6_addr *raddr, u8 dscp)
{
	struct mroce_conn *conn;

	hlist_for_each_entry(conn, peer_bucket(dev, raddr), peer_node)
		if (conn->dscp == dscp && ipv6_addr_equal(&conn->laddr, laddr) &&
		    ipv6_addr_equal(&conn->raddr, raddr) && refcount_inc_not_zero(&conn->refs))
			return conn;
	return NULL;
}

/**
 * mroce_conn_by_gids() - the connection between two GIDs
 * @mnet: namespace
 * @laddr: local GID
 * @raddr: remote GID
 * @dscp: class
 *
 * Context: RCU read side, bottom halves off.
 * Return: with a reference, or NULL.
 */
struct mroce_conn *mroce_conn_by_gids(struct mroce_net *mnet, const struct in6_addr *laddr,
				      const struct in6_addr *raddr, u8 dscp)
{
	struct mroce_conn *conn = NULL;
	struct mroce_dev *dev;

	list_for_each_entry_rcu(dev, &mnet->devs, net_node) {
		spin_lock(&dev->conn_lock);
		conn = find(dev, laddr, raddr, dscp);
		spin_unlock(&dev->conn_lock);
		if (conn)
			break;
	}
	return conn;
}

/** mroce_conn_has_port() - is @sport a source port of one of its paths, or ways back? */
bool mroce_conn_has_port(const struct mroce_conn *conn, u16 sport)
{
	unsigned int i;

	for (i = 0; i < MROCE_MAX_PATHS; i++)
		if (sport == READ_ONCE(conn->path[i].sport) ||
		    sport == READ_ONCE(conn->back[i].sport))
			return true;
	return false;
}

static void forget_routes(struct mroce_conn *conn)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(conn->route); i++)
		mroce_xmit_forget(conn, i);
}

/**
 * mroce_conn_next() - the next connection of a device
 * @dev: device
 * @pos: position, {} at first; moves behind the connection
 *
 * Nothing is held between two calls, and conn_lock only for as long as a bucket takes. Whatever
 * comes and goes meanwhile, a connection that stays is met once.
 *
 * Return: with a reference, or NULL. It may be off the device's list already.
 */
struct mroce_conn *mroce_conn_next(struct mroce_dev *dev, struct mroce_conn_pos *pos)
{
	struct mroce_conn *conn, *next = NULL;

	for (; pos->bucket < ARRAY_SIZE(dev->peers); pos->bucket++, pos->no = 0) {
		if (hlist_empty(&dev->peers[pos->bucket]))
			continue;
		spin_lock_bh(&dev->conn_lock);
		hlist_for_each_entry(conn, &dev->peers[pos->bucket], peer_node)
			if (conn->no >= pos->no && (!next || conn->no < next->no))
				next = conn;
		if (next)
			mroce_conn_hold(next);
		spin_unlock_bh(&dev->conn_lock);
		if (next) {
			pos->no = next->no + 1ull;
			return next;
		}
	}
	return NULL;
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

	spin_lock_bh(&dev->conn_lock);
	list_for_each_entry(conn, &dev->conns, dev_node)
		forget_routes(conn);
	spin_unlock_bh(&dev->conn_lock);
}

static void conn_free(struct mroce_conn *conn)
{
	struct mroce_ends *ends;
	unsigned int i;

	forget_routes(conn);
	for (i = 0; conn->path && i < MROCE_MAX_PATHS; i++)
		kfree(conn->path[i].sb.rec);
	kvfree(conn->path);
	/* Both are looked at without a reference, by who finds the connection by a packet. */
	ends = rcu_dereference_protected(conn->ends, true);
	if (ends)
		kfree_rcu(ends, rcu);
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

	conn->path = kvcalloc(MROCE_MAX_PATHS, sizeof(*conn->path), GFP_KERNEL_ACCOUNT);
	if (!conn->path || !mroce_replan_init(conn))
		return -ENOMEM;
	/* What most connections need; more planes get theirs when they come. */
	for (i = 0; i < MROCE_DEF_PATHS; i++) {
		conn->path[i].sb.rec = kcalloc(MROCE_SB_SPAN, sizeof(struct mroce_sb_rec),
					       GFP_KERNEL_ACCOUNT);
		if (!conn->path[i].sb.rec)
			return -ENOMEM;
	}
	/* HELLO goes before the paths are set up, and needs a source port. */
	conn->path[0].sport = 49152 + get_random_u32() % 16384;
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
	INIT_HLIST_NODE(&conn->dcid_node);
	mroce_wait_init(&conn->waiters);
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
	conn->ifindex = mroce_net_bound_to(dev, raddr, ifindex);
	conn->ipv6 = !ipv6_addr_v4mapped(raddr);
	do {
		conn->scid = get_random_u32();
	} while (!conn->scid);

	if (conn_alloc_paths(conn)) {
		conn_free(conn);
		return NULL;
	}
	mine.paths = MROCE_MAX_PATHS;
	mine.payload_bytes = mroce_seg_unit(mroce_xmit_mtu(conn) ?: READ_ONCE(dev->ndev_mtu),
					    conn->ipv6);
	mroce_hs_init(&conn->hs, &mine, conn->ipv6, conn->scid, get_random_u64());
	if (ipv6_addr_equal(laddr, raddr))
		mroce_hs_self(&conn->hs);
	return conn;
}

/* Only when the numbers have begun anew somebody may still have the next one. */
static u32 next_no(struct mroce_net *mnet)
{
	lockdep_assert_held(&mnet->hash_lock);
	do {
		mnet->last_no++;
		mnet->nos_again |= !mnet->last_no;
	} while (!mnet->last_no || (mnet->nos_again && find_no(mnet, mnet->last_no)));
	return mnet->last_no;
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
			conn->no = next_no(mnet);
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
		hlist_del_init_rcu(&conn->dcid_node);
		spin_unlock_bh(&mnet->hash_lock);
	}
	rcu_read_unlock();
}

/* Off the list, nobody finds it any more: end it. Waits for users in flight only. */
static void kill(struct mroce_conn *conn)
{
	mroce_nl_conn_event(conn, MROCE_CONN_EVENT_GONE);
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

/*
 * The connection there is, for one more QP. A stale one goes when nobody uses it:
 * to agree on more needs a new instance.
 */
static struct mroce_conn *reuse(struct mroce_dev *dev, const struct in6_addr *laddr,
				const struct in6_addr *raddr, u8 dscp, int ifindex)
{
	struct mroce_conn *conn, *old = NULL;

	spin_lock_bh(&dev->conn_lock);
	conn = find(dev, laddr, raddr, dscp);
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
	ifindex = mroce_net_bound_to(dev, raddr, ifindex);
	if (READ_ONCE(conn->ifindex) != ifindex) {
		spin_lock_bh(&conn->tx_lock);
		WRITE_ONCE(conn->ifindex, ifindex);
		mroce_replan(conn);
		spin_unlock_bh(&conn->tx_lock);
		forget_routes(conn);
		/* Planes to be proved, packets to be sent elsewhere */
		mroce_conn_arm(conn, ktime_get_ns());
	}
	/* While nobody used it the peer was not told of our planes. */
	if (READ_ONCE(conn->hs.state) != MROCE_HS_OPEN ||
	    (ifindex && READ_ONCE(conn->told_no) != READ_ONCE(dev->planes_no)))
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
	other = find(dev, laddr, raddr, dscp);
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
		mroce_conn_open(conn, NULL);
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

/* As new, but for the memory of the records. */
static void clear_paths(struct mroce_conn *conn)
{
	unsigned int i;

	for (i = 0; i < MROCE_MAX_PATHS; i++) {
		struct mroce_sb_rec *rec = conn->path[i].sb.rec;

		memset(&conn->path[i], 0, sizeof(conn->path[i]));
		conn->path[i].sb.rec = rec;
		if (rec)
			memset(rec, 0, MROCE_SB_SPAN * sizeof(*rec));
	}
}

/* The peer has another id now. */
static void publish_peer(struct mroce_conn *conn)
{
	struct mroce_net *mnet;

	rcu_read_lock();
	mnet = rcu_dereference(conn->dev->mnet);
	if (mnet) {
		spin_lock_bh(&mnet->hash_lock);
		/* One that is gone, or whose namespace is, is not in the hash. */
		if (!hlist_unhashed(&conn->hash_node)) {
			hlist_del_init_rcu(&conn->dcid_node);
			hlist_add_head_rcu(&conn->dcid_node, peer_cid_bucket(mnet, conn->dcid));
		}
		spin_unlock_bh(&mnet->hash_lock);
	}
	rcu_read_unlock();
}

/**
 * mroce_conn_open() - set the path state up for what the handshake agreed on
 * @conn: its hs has just opened or restarted
 * @via: ends that the handshake has proved, or zero; NULL: to itself
 *
 * After a restart everything in flight to the old instance is lost first; the
 * QPs send it again and hear from the new instance that their peers are gone.
 *
 * Context: softirq, no lock held.
 */
void mroce_conn_open(struct mroce_conn *conn, const struct mroce_addrs *via)
{
	struct mroce_pathset_cfg cfg = {
		.ack_delay_ns = mroce_ack_policy.delay_ns,
		.strangers = &conn->strangers,
	};
	u32 rnd[MROCE_MAX_PATHS];
	struct mroce_ps_event ev[8];
	struct mroce_conf conf;
	int i, j, n, n_old;

	/* Two packets of the peer may both have opened it: one after the other. */
	spin_lock(&conn->open_lock);
	/* From here on nothing is numbered until the new state is there. */
	spin_lock(&conn->tx_lock);
	n_old = conn->ready ? conn->ps.cfg.n_paths : 0;
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
		mroce_back_init(&conn->back[i], rnd[i]);
	}
	conn->n_rxpaths = min(conn->hs.agreed.paths, MROCE_MAX_PATHS);
	spin_unlock(&conn->rx_lock);

	spin_lock(&conn->tx_lock);
	conn->unit_bytes = conn->hs.agreed.payload_bytes;
	conn->fit_bytes = conn->unit_bytes;
	conn->stream_window = min_t(u32, conn->hs.agreed.stream_window, MROCE_STREAM_WINDOW);
	cfg.max_paths = min(conn->hs.agreed.paths, MROCE_MAX_PATHS);
	cfg.pkt_bytes = conn->unit_bytes + MROCE_DATA_HLEN;
	mroce_conn_conf(conn->dev, &conf);
	cfg.cc = conf.cc;
	cfg.max_window_bytes = conf.max_window_kib * 1024;
	cfg.init_window_bytes = min_t(u32, cfg.max_window_bytes, CONN_INIT_WINDOW_BYTES);
	clear_paths(conn);
	mroce_pathset_init(&conn->ps, &cfg, conn->path, NULL, ktime_get_ns());
	mroce_replan_open(conn, via);
	forget_routes(conn);
	WRITE_ONCE(conn->dcid, conn->hs.dcid);
	conn->blocked = false;
	WRITE_ONCE(conn->ready, !conn->dead);
	spin_unlock(&conn->tx_lock);
	publish_peer(conn);
	spin_unlock(&conn->open_lock);
	/* Planes that are to be proved. */
	mroce_conn_arm(conn, ktime_get_ns());
	mroce_nl_conn_event(conn, n_old ? MROCE_CONN_EVENT_RESTARTED : MROCE_CONN_EVENT_OPENED);
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
