/* SPDX-License-Identifier: GPL-2.0 */
/* Connections. Locks and lifetimes: mroce.h. */
#ifndef MROCE_CONN_H
#define MROCE_CONN_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <net/dst.h>

#include "mroce_qp.h"
#include "proto/back.h"
#include "proto/handshake.h"
#include "proto/pathset.h"
#include "proto/plane.h"
#include "proto/rxwin.h"

struct mroce_dev;

/** struct mroce_tomb - last record of a stream whose QP is gone; as mroce_recstate */
struct mroce_tomb {
	struct mroce_recstate rs;
	bool used;
};

#define MROCE_TOMBS	32

/** struct mroce_ends - pairs of addresses a connection uses; replaced as a whole, RCU */
struct mroce_ends {
	struct rcu_head rcu;
	struct mroce_pairs pairs;
};

/**
 * struct mroce_route - the route packets of a path took last
 * @dst: RCU; with a reference
 * @cookie: what IPv6 knows its age by
 */
struct mroce_route {
	struct dst_entry __rcu *dst;
	u32 cookie;
};

/** Index of the way back of a path where both directions are meant. */
#define MROCE_WAY_BACK	MROCE_MAX_PATHS

#define MROCE_WAIT_USERS	16

/**
 * struct mroce_waiters - queues waiting for a window (mroce_wait.c), under tx_lock
 * @user: those of a user (mroce_txq.wait_node), each holding a reference to its QP
 * @busy: users who wait, bit = index (READ_ONCE without the lock)
 * @turn: user served last
 */
struct mroce_waiters {
	struct list_head user[MROCE_WAIT_USERS];
	u16 busy;
	u8 turn;
};

/**
 * struct mroce_conn - everything between two ends: netns, local GID, remote GID, DSCP
 * @refs: one for being listed, one per QP, one per user in flight
 * @dead: set under both locks when the device goes: nothing is armed or sent any more
 * @dev: outlives the connection
 * @laddr, @raddr: GIDs (IPv4 as ::ffff:a.b.c.d)
 * @dscp, @ipv6: rest of the key, family
 * @ifindex: netdev that owns @laddr: routes are bound to it; 0 for a peer on this
 *	host. Follows an address that moves (READ_ONCE)
 * @ends: addresses of its planes, by their places; the first is between the GIDs. RCU,
 *	replaced under @tx_lock
 * @unplanned: there was no memory to change @ends: to be done again
 * @theirs, @n_theirs: the peer's planes as it told us last; @theirs_no: number of that list
 * @told_no: mroce_dev.planes_no of the list of ours that the newest HELLO carried
 * @list_no: number of that list for the peer
 * @hello_plane: plane of ours that HELLOs take before there are paths
 * @scid: our connection id, in mroce_net.conns. Like @dcid, whoever knows it can forge packets:
 *	it is not shown to anybody
 * @no: what it is called by everything that shows it; never 0, of its namespace
 * @n_qps: QPs that use it, under mroce_dev.conn_lock; without any it may be evicted
 * @open_lock: see LOCKS
 * @tx_lock: BH; @hs, @ps, @path*, @strangers, @waiters
 * @hs: handshake; open once hs.agreed is valid and @ready
 * @ready: path state is set up; packets may be numbered
 * @dcid: the peer's connection id while @ready
 * @unit_bytes, @stream_window: agreed
 * @fit_bytes: payload both directions are known to carry. Packets numbered before
 *	it fell are larger, and go in fragments (READ_ONCE)
 * @stale: the MTU is not what it was when the payload was agreed on: not to be used
 *	again once it is unused; under conn_lock
 * @blocked: no path had room: cleared by an acknowledgement (hint, racy)
 * @strangers: bound of PROBEs to addresses that have not answered, over all instances of the peer
 * @waiters: queues waiting for a window
 * @path: MROCE_MAX_PATHS entries, ps.cfg.n_paths of them are in use. Their records are
 *	allocated one by one, when they are needed
 * @route: of each path, then of each way back (index MROCE_WAY_BACK + path)
 * @rx_lock: BH; @rxwin, @back, @dirty, @tomb, @n_rxpaths
 * @rxwin: per path of the peer; @n_rxpaths of them are in use
 * @back: the ports acknowledgements of each path take
 * @dirty: records for the next ACK (mroce_recstate.node)
 * @tomb: of QPs gone
 * @timer: handshake, probe timeouts, delayed acknowledgements
 * @timer_at: when it is armed for (ns), U64_MAX = not armed; under tx_lock
 */
struct mroce_conn {
	refcount_t refs;
	struct rcu_head rcu;
	struct completion released;
	bool dead;
	struct mroce_dev *dev;
	struct hlist_node hash_node;
	struct list_head dev_node;
	struct hlist_node peer_node;
	unsigned int n_qps;
	bool stale;
	struct in6_addr laddr;
	struct in6_addr raddr;
	u8 dscp;
	bool ipv6;
	int ifindex;
	u32 scid;
	u32 no;
	struct hlist_node dcid_node;
	struct mroce_ends __rcu *ends;

	spinlock_t open_lock;	/* one set-up at a time */
	spinlock_t tx_lock;	/* handshake, paths, waiters, timer_at */
	struct mroce_hs hs;
	bool ready;
	bool blocked;
	u16 unit_bytes;
	u16 fit_bytes;
	u16 stream_window;
	bool unplanned;
	u8 hello_plane;
	u8 n_theirs;
	u16 theirs_no;
	u16 list_no;
	u32 told_no;
	struct mroce_plane_end theirs[MROCE_MAX_PLANES];
	u32 dcid;
	struct mroce_pathset ps;
	struct mroce_gate strangers;
	struct mroce_path *path;
	struct mroce_route route[2 * MROCE_MAX_PATHS];
	struct mroce_waiters waiters;
	struct hrtimer timer;
	u64 timer_at;

	spinlock_t rx_lock;	/* receive windows, records, tombs */
	u8 n_rxpaths;
	struct mroce_rxwin rxwin[MROCE_MAX_PATHS];
	struct mroce_back back[MROCE_MAX_PATHS];
	struct list_head dirty;
	struct mroce_tomb tomb[MROCE_TOMBS];
	u8 next_tomb;
};

#endif /* MROCE_CONN_H */
