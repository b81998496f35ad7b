/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of the mroce driver, their locks and their lifetimes.
 *
 * LOCKS, outermost first
 *
 *   net_mutex (mroce_net.c)	task	sockets and device lists of the namespaces
 *   mroce_qp.mutex	task	control path of a QP (create, modify, destroy)
 *   mroce_conn.open_lock	BH	setting the path state up, once at a time
 *   mroce_dev.conn_lock	BH	connections of a device, QPs of a connection
 *   mroce_sq.lock	BH	send queue: ring, work requests, sending stream
 *   mroce_rq.lock	BH	receive queue: ring, bound receives, receiving stream
 *   mroce_conn.tx_lock	BH	handshake, paths (scoreboards, windows), list of
 *				QPs waiting for a window
 *   mroce_conn.rx_lock	BH	receive windows, stream records waiting for an ACK
 *   mroce_cq.lock	BH	completion ring
 *   mroce_net.hash_lock	BH	leaf
 *
 * sq.lock before rq.lock (only state changes take both). A connection lock may
 * be taken under a QP lock, never the other way round: the acknowledgement side
 * takes tx_lock, fills a fixed array of (stream, psn) events, unlocks, then
 * takes QP locks. Nothing is transmitted and no completion handler is called
 * under any of these locks but open_lock, which only excludes itself: packets are
 * collected in a struct mroce_txlist and completion queues to notify in the
 * caller's flags.
 *
 * A path's order is the order its packets leave one CPU: the path scheduler
 * hands a path with anything in flight only to the CPU that sent last on it, and
 * whoever numbers packets keeps bottom halves off until they are transmitted.
 *
 * LIFETIMES: Documentation/locking.rst. In short: a struct mroce_qp is reached
 * from packets through a struct mroce_qp_ref (RCU + refcount); a struct
 * mroce_mr and a struct mroce_conn are RCU + refcount themselves; destroying
 * unpublishes first, then waits for the references, and never for the network.
 */
#ifndef MROCE_H
#define MROCE_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <net/dst_cache.h>
#include <rdma/ib_verbs.h>
#include <rdma/mroce-abi.h>

#include "compat/compat.h"
#include "proto/back.h"
#include "proto/handshake.h"
#include "proto/life.h"
#include "proto/pathset.h"
#include "proto/place.h"
#include "proto/rxs.h"
#include "proto/rxwin.h"
#include "proto/seg.h"
#include "proto/txs.h"

#define MROCE_MAX_SGE		16
#define MROCE_MAX_INLINE	256
#define MROCE_MAX_QP_WR		16384
#define MROCE_MAX_CQE		1048576
#define MROCE_MAX_MSG_BYTES	0x40000000u
#define MROCE_MAX_CONNS		8192
#define MROCE_QPN_FIRST		16
#define MROCE_QPN_LAST		0xfffffe
#define MROCE_MAX_RDATOM	64

/**
 * enum mroce_counter - counters of a device, in the order of
 * /sys/class/infiniband/X/ports/1/hw_counters (names in mroce_stats.c)
 */
enum mroce_counter {
	MROCE_CNT_TX_PKTS,
	MROCE_CNT_TX_BYTES,
	MROCE_CNT_RX_PKTS,
	MROCE_CNT_RX_BYTES,
	MROCE_CNT_TX_ACKS,
	MROCE_CNT_RX_ACKS,
	MROCE_CNT_TX_PROBES,
	MROCE_CNT_RX_PROBES,
	MROCE_CNT_RETRANS,		/* data packets sent again */
	MROCE_CNT_LOST,			/* packets declared lost */
	MROCE_CNT_SPURIOUS,		/* of these, arrived after all */
	MROCE_CNT_LOCAL_DROP,		/* refused by the local stack */
	MROCE_CNT_RX_DUP,		/* data packets received twice */
	MROCE_CNT_RX_CE,
	MROCE_CNT_RX_REFUSED,		/* refused for want of a receive or of readiness */
	MROCE_CNT_RNR_TX,		/* RNR records sent */
	MROCE_CNT_RNR_RX,		/* RNR waits begun */
	MROCE_CNT_TIMEOUTS,		/* verbs timeouts */
	MROCE_CNT_PATH_FAIL,
	MROCE_CNT_PATH_REROLL,
	MROCE_CNT_DOORBELLS,
	MROCE_CNT_CONN_OPEN,
	MROCE_CNT_CONN_RESTART,
	MROCE_CNT_UNKNOWN_TX,
	MROCE_CNT_UNKNOWN_RX,
	MROCE_CNT_CQ_OVERFLOW,
	MROCE_CNT_DROP,			/* first of MROCE_DROP_REASONS - 1 drop reasons */
	MROCE_CNT_MAX = MROCE_CNT_DROP + MROCE_DROP_REASONS - 1,
};

/**
 * struct mroce_net - what mroce keeps for a network namespace
 * @net: the namespace; no reference is held: the namespace owns this
 * @devs: devices of this namespace (mroce_dev.net_node); changed under
 *	net_mutex, read under RCU. The sockets live as long as it is not empty.
 * @cookie_key: secret of our cookies
 * @sk4: IPv4 UDP socket, RCU; NULL while there are no devices
 * @sk6: IPv6 UDP socket, RCU; may stay NULL where IPv6 is off
 * @unknown_ns: when the last UNKNOWN was sent: rate limit (racy, may let two pass)
 * @hash_lock: protects changes of @conns
 * @conns: connections by our connection id (mroce_conn.hash_node), RCU
 */
struct mroce_net {
	struct net *net;
	struct list_head devs;
	siphash_key_t cookie_key;
	struct sock __rcu *sk4;
	struct sock __rcu *sk6;
	u64 unknown_ns;
	spinlock_t hash_lock;	/* changes of conns */
#define MROCE_CONN_HASH_BITS	8
	struct hlist_head conns[1 << MROCE_CONN_HASH_BITS];
};

/**
 * struct mroce_dev - one verbs device on one netdev
 * @ibdev: the core's part
 * @mnet: its namespace, RCU; NULL once the namespace or the link is going
 * @net_node: in mroce_net.devs
 * @ifindex: of the netdev, for routes
 * @ndev_mtu: its MTU, kept by the notifier (READ_ONCE)
 * @port_up: port state as last announced; under RTNL
 * @incarnation: source of QP incarnations
 * @qps: QPN -> struct mroce_qp_ref
 * @mrs: key >> 8 -> struct mroce_mr
 * @next_qpn, @next_key: cyclic allocation
 * @conn_lock: protects @conns, @n_conns
 * @conns: all connections (mroce_conn.dev_node)
 * @count: enum mroce_counter
 */
struct mroce_dev {
	struct ib_device ibdev;
	struct mroce_net __rcu *mnet;
	struct list_head net_node;
	int ifindex;
	unsigned int ndev_mtu;
	bool port_up;
	atomic_t incarnation;
	struct xarray qps;
	struct xarray mrs;
	u32 next_qpn;
	u32 next_key;
	spinlock_t conn_lock;	/* conns, n_conns */
	struct list_head conns;
	unsigned int n_conns;
	atomic64_t count[MROCE_CNT_MAX];
};

struct mroce_ucontext {
	struct ib_ucontext ibuc;
};

struct mroce_pd {
	struct ib_pd ibpd;
};

/**
 * struct mroce_ring - a shared ring, kernel's view (mroce_ring.c)
 * @hdr: its memory, mapped by the user
 * @entries: power of two; @stride: bytes per slot; @size_bytes: page aligned
 * @entry: mmap entry; the memory is freed when its last reference goes
 */
struct mroce_ring {
	struct mroce_ring_hdr *hdr;
	u32 entries;
	u32 stride;
	u32 size_bytes;
	struct rdma_user_mmap_entry *entry;
};

/**
 * struct mroce_cq - completion queue
 * @lock: BH; protects @prod and the producer side of @ring
 * @prod: the kernel's own producer index
 * @overflow: it was full once; nothing more is written
 * @overflow_told: IB_EVENT_CQ_ERR was raised
 */
struct mroce_cq {
	struct ib_cq ibcq;
	spinlock_t lock;	/* prod, overflow */
	struct mroce_ring ring;
	u32 prod;
	bool overflow;
	bool overflow_told;
};

/**
 * struct mroce_mr - memory region
 * @refs: 1 while published, + 1 for each copy under way
 * @done: completed when @refs has come to 0: dereg_mr sleeps on it
 * @iova, @length: the region as keys address it
 * @access: IB_ACCESS_*
 * @pages: page of byte n of the region: pages[(n + page_offset) >> PAGE_SHIFT]
 */
struct mroce_mr {
	struct ib_mr ibmr;
	struct rcu_head rcu;
	refcount_t refs;
	struct completion done;
	struct ib_umem *umem;
	u64 iova;
	u64 length;
	u32 page_offset;
	int access;
	struct page **pages;
};

/**
 * struct mroce_qp_ref - how packets and timers reach a QP
 * Separate from the QP because ib_core frees that without a grace period.
 * @refs: 1 while published
 */
struct mroce_qp_ref {
	refcount_t refs;
	struct mroce_qp *qp;
	struct rcu_head rcu;
};

/**
 * struct mroce_swqe - a send work request, copied once out of the ring
 * @wire_op: enum mroce_wire_opcode
 * @wr_op: enum ib_wr_opcode, for the completion
 * @flags: IB_SEND_*
 * @status: IB_WC_SUCCESS, or the error it will complete with when its turn comes
 * @first_psn, @n_pkts: its psns
 * @len: message length
 * @unit_bytes: payload per packet, fixed when the request was taken
 * @rsn: receive sequence number it consumes at the peer
 * @num_sge: elements in @sge; 0 and @inl set for inline data
 */
struct mroce_swqe {
	u64 wr_id;
	u8 wire_op;
	u8 wr_op;
	u8 flags;
	u8 status;
	u32 first_psn;
	u32 n_pkts;
	u32 len;
	u16 unit_bytes;
	u16 num_sge;
	u32 rsn;
	u32 rkey;
	u64 raddr;
	__be32 imm;
	bool inl;
	struct mroce_place_sge sge[];	/* or inline data */
};

/**
 * struct mroce_sq - send queue
 * @lock: BH; protects everything here
 * @ring: what the user posts
 * @wqe: ring.entries private copies, @wqe_stride bytes each
 * @max_wr, @max_sge, @max_inline: as promised to the user
 * @head: ring index of the next request to take in
 * @send: ring index of the request new packets are cut from; == @head: none
 * @una: ring index of the oldest one not completed (published as hdr.cons)
 * @next_psn: psn of the next request taken in
 * @next_rsn: receive sequence number of the next message that consumes one
 * @txs: the request stream
 * @stalled: an erroneous request was taken in: nothing behind it is sent
 * @asleep: KICK is set in the ring: the user rings when he posts
 * @stopped: the QP is going or in RESET: the timer is not armed any more
 * @waiting: on mroce_conn.waiters (that list is under tx_lock, this flag too)
 * @wait_node: see @waiting
 * @timer: stream timer (mroce_txs_timer); armed only while the stream is busy
 * @timer_at: when it is armed for, U64_MAX = not armed
 */
struct mroce_sq {
	spinlock_t lock;	/* everything here */
	struct mroce_ring ring;
	void *wqe;
	u32 wqe_stride;
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	u32 head;
	u32 send;
	u32 una;
	u32 next_psn;
	u32 next_rsn;
	bool stalled;
	bool asleep;
	bool stopped;
	bool waiting;
	struct list_head wait_node;
	struct mroce_txs txs;
	struct hrtimer timer;
	u64 timer_at;
};

/**
 * struct mroce_rwqe - a receive work request bound to a message, copied once
 * @status: IB_WC_SUCCESS, or the error it will complete with
 */
struct mroce_rwqe {
	u64 wr_id;
	u16 num_sge;
	u8 status;
	u64 total_bytes;
	struct mroce_rxs_msg msg;
	struct mroce_place_sge sge[];
};

/**
 * struct mroce_recstate - a stream record on its way to the peer
 * All under mroce_conn.rx_lock.
 * @node: on mroce_conn.dirty while @repeat > 0
 * @rec: newest record of the stream
 * @repeat: ACKs it still rides in
 */
struct mroce_recstate {
	struct list_head node;
	struct mroce_rec rec;
	u8 repeat;
};

/**
 * struct mroce_rq - receive queue
 * @lock: BH; protects everything here but @recstate
 * @ring: what the user posts
 * @wqe: ring.entries private copies, @wqe_stride bytes each
 * @bound: ring index of the next receive to bind = rsn of its message
 * @cons: ring index of the oldest receive not completed (published as hdr.cons)
 * @rxs: the request stream
 * @bits: its out-of-order memory, allocated at the first packet that is not the next one
 * @life: which incarnation of the peer's QP is meant
 * @copies: packets claimed and being copied; receives are flushed at 0
 * @recstate: record for the peer, under mroce_conn.rx_lock
 */
struct mroce_rq {
	spinlock_t lock;	/* everything here but recstate */
	struct mroce_ring ring;
	void *wqe;
	u32 wqe_stride;
	u32 max_wr;
	u32 max_sge;
	u32 bound;
	u32 cons;
	struct mroce_rxs rxs;
	struct mroce_rxs_bits *bits;
	struct mroce_life life;
	unsigned int copies;
	struct mroce_recstate recstate;
};

/**
 * struct mroce_qp - queue pair (RC)
 * @mutex: serialises modify, query, destroy
 * @ref: published in mroce_dev.qps; @released is completed when its refs are gone
 * @state: enum ib_qp_state; written under sq.lock and rq.lock, read under either
 * @attr: verbs attributes as last set; under @mutex
 * @conn: set at RTR, held until destroy or RESET; written under both locks
 * @dest_qpn: peer's QPN
 * @incarnation: ours, new at each RTR; @gen tells records of older lives apart
 * @sq_sig_all: IB_SIGNAL_ALL_WR
 * @min_rnr_timer: verbs code reported with our RNR refusals
 * @access: qp_access_flags: what the peer may do
 */
struct mroce_qp {
	struct ib_qp ibqp;
	struct mutex mutex;	/* control path */
	struct mroce_qp_ref *ref;
	struct completion released;
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct mroce_conn *conn;
	u32 qpn;
	u32 dest_qpn;
	u16 incarnation;
	bool sq_sig_all;
	u8 min_rnr_timer;
	int access;
	struct mroce_sq sq;
	struct mroce_rq rq;
};

/** struct mroce_tomb - last record of a stream whose QP is gone; as mroce_recstate */
struct mroce_tomb {
	struct mroce_recstate rs;
	bool used;
};

#define MROCE_TOMBS	32

/**
 * struct mroce_conn - everything between two ends: netns, local GID, remote GID, DSCP
 * @refs: one for being listed, one per QP, one per user in flight
 * @dead: set under both locks when the device goes: nothing is armed or sent any more
 * @dev: outlives the connection
 * @laddr, @raddr: GIDs (IPv4 as ::ffff:a.b.c.d)
 * @dscp, @ipv6: rest of the key, family
 * @ifindex: netdev that owns @laddr: routes are bound to it
 * @scid: our connection id, in mroce_net.conns
 * @n_qps: QPs that use it, under mroce_dev.conn_lock; without any it may be evicted
 * @open_lock: see LOCKS
 * @tx_lock: BH; @hs, @ps, @path*, @waiters
 * @hs: handshake; open once hs.agreed is valid and @ready
 * @ready: path state is set up; packets may be numbered
 * @dcid: the peer's connection id while @ready
 * @max_paths: entries of @path, @cache; @n_paths of them are in use
 * @unit_bytes, @stream_window, @n_paths: agreed
 * @blocked: no path had room: cleared by an acknowledgement (hint, racy)
 * @waiters: send queues waiting for a window (mroce_sq.wait_node), each holding
 *	a reference to its QP
 * @cache: route of each path, then of each way back (index max_paths + path);
 *	per CPU inside
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
	unsigned int n_qps;
	struct in6_addr laddr;
	struct in6_addr raddr;
	u8 dscp;
	bool ipv6;
	int ifindex;
	u32 scid;

	spinlock_t open_lock;	/* one set-up at a time */
	spinlock_t tx_lock;	/* handshake, paths, waiters, timer_at */
	struct mroce_hs hs;
	bool ready;
	bool blocked;
	u16 unit_bytes;
	u16 stream_window;
	u8 n_paths;
	u8 max_paths;
	u32 dcid;
	struct mroce_pathset ps;
	struct mroce_path *path;
	struct mroce_sb_rec *recs;
	struct dst_cache *cache;
	struct list_head waiters;
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

/**
 * struct mroce_txlist - packets numbered under locks, to transmit after them
 * Lives on the stack of one context, with bottom halves off throughout.
 */
struct mroce_txlist {
	struct sk_buff *head;
	struct sk_buff **tail;
	unsigned int n;
};

static inline struct mroce_dev *to_mdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mroce_dev, ibdev);
}

static inline struct mroce_qp *to_mqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mroce_qp, ibqp);
}

static inline struct mroce_cq *to_mcq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct mroce_cq, ibcq);
}

static inline struct mroce_mr *to_mmr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct mroce_mr, ibmr);
}

static inline void mroce_count(struct mroce_dev *dev, enum mroce_counter c)
{
	atomic64_inc(&dev->count[c]);
}

static inline void mroce_count_add(struct mroce_dev *dev, enum mroce_counter c, u64 n)
{
	atomic64_add(n, &dev->count[c]);
}

static inline void mroce_count_drop(struct mroce_dev *dev, enum mroce_drop why)
{
	atomic64_inc(&dev->count[MROCE_CNT_DROP + why - 1]);
}

static inline struct mroce_swqe *mroce_sq_wqe(struct mroce_sq *sq, u32 idx)
{
	return sq->wqe + (size_t)(idx & (sq->ring.entries - 1)) * sq->wqe_stride;
}

static inline struct mroce_rwqe *mroce_rq_wqe(struct mroce_rq *rq, u32 idx)
{
	return rq->wqe + (size_t)(idx & (rq->ring.entries - 1)) * rq->wqe_stride;
}

/* mroce_netdev.c: link add and del, netdev notifier */
int mroce_netdev_init(void);
void mroce_netdev_exit(void);

/* mroce_verbs.c: the device, its attributes, ucontext, pd, mmap */
int mroce_dev_add(const char *name, struct net_device *ndev);
int mroce_udata_respond(struct ib_udata *udata, void *resp, size_t size);

/* mroce_qp.c: control path of queue pairs */
int mroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
int mroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int mroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int mroce_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
int mroce_qp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr);
int mroce_qp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);
struct mroce_qp *mroce_qp_get(struct mroce_dev *dev, u32 qpn);
void mroce_qp_hold(struct mroce_qp *qp);
void mroce_qp_put(struct mroce_qp *qp);

/* mroce_cq.c */
int mroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, struct ib_udata *udata);
int mroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
bool mroce_cq_post(struct mroce_cq *cq, const struct mroce_cqe *cqe, bool solicited);
void mroce_cq_notify(struct mroce_cq *cq);
int mroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* mroce_mr.c */
struct ib_mr *mroce_mr_reg_user(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				struct ib_udata *udata);
int mroce_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
struct mroce_mr *mroce_mr_get(struct mroce_dev *dev, struct ib_pd *pd, u32 key, u64 addr,
			      u64 len, int access);
void mroce_mr_put(struct mroce_mr *mr);

/* mroce_ring.c */
int mroce_ring_create(struct mroce_ring *ring, struct ib_ucontext *ibuc, u32 entries, u32 stride,
		      struct mroce_ring_info *info);
void mroce_ring_destroy(struct mroce_ring *ring);
void *mroce_ring_slot(const struct mroce_ring *ring, u32 idx);
int mroce_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void mroce_mmap_free(struct rdma_user_mmap_entry *entry);

/* mroce_stats.c */
extern const struct rdma_stat_desc mroce_stat_descs[MROCE_CNT_MAX];
struct rdma_hw_stats *mroce_stats_alloc(struct ib_device *ibdev, u32 port);
int mroce_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);

/* mroce_net.c: sockets, namespaces, devices of a namespace */
int mroce_net_init(void);
void mroce_net_exit(void);
int mroce_net_attach(struct mroce_dev *dev, struct net *net);
void mroce_net_detach(struct mroce_dev *dev);
struct mroce_net *mroce_net_of_sock(const struct sock *sk);
struct mroce_dev *mroce_net_dev(struct mroce_net *mnet, const struct sk_buff *skb);

/* mroce_xmit.c: headers, routes, transmit */

/**
 * struct mroce_addrs - the two ends of a received packet, as GIDs
 * @sport: the sender's source port
 * @ce: it carried Congestion Experienced
 */
struct mroce_addrs {
	struct in6_addr local;
	struct in6_addr remote;
	u16 sport;
	bool ipv6;
	bool ce;
};

void mroce_xmit_addrs(const struct sk_buff *skb, struct mroce_addrs *addrs);
struct sk_buff *mroce_xmit_alloc(unsigned int linear_bytes);
unsigned int mroce_xmit_mtu(struct mroce_conn *conn);
int mroce_xmit_conn(struct mroce_conn *conn, struct sk_buff *skb, int path, bool must_fit,
		    bool ect);
int mroce_xmit_err_lookup(struct sock *sk, struct sk_buff *skb);
int mroce_xmit_reply(struct mroce_net *mnet, const struct sk_buff *in, struct sk_buff *skb);
void mroce_txlist_init(struct mroce_txlist *list);
void mroce_txlist_add(struct mroce_txlist *list, struct sk_buff *skb, int path, u32 path_seq);
void mroce_txlist_xmit(struct mroce_conn *conn, struct mroce_txlist *list);

/* mroce_conn.c */
struct mroce_conn *mroce_conn_get(struct mroce_dev *dev, const struct in6_addr *laddr,
				  const struct in6_addr *raddr, u8 dscp, int ifindex);
struct mroce_conn *mroce_conn_by_cid(struct mroce_net *mnet, u32 cid);
struct mroce_conn *mroce_conn_by_addr(struct mroce_net *mnet, const struct mroce_addrs *addrs,
				      int dscp, u32 dcid);
bool mroce_conn_is(const struct mroce_conn *conn, const struct mroce_addrs *addrs);
void mroce_conn_hold(struct mroce_conn *conn);
void mroce_conn_put(struct mroce_conn *conn);
void mroce_conn_leave(struct mroce_conn *conn);
void mroce_conn_kill_all(struct mroce_dev *dev);
void mroce_conn_open(struct mroce_conn *conn);
void mroce_conn_arm(struct mroce_conn *conn, u64 at_ns);
void mroce_conn_wait(struct mroce_conn *conn, struct mroce_qp *qp);
void mroce_conn_unwait(struct mroce_conn *conn, struct mroce_qp *qp);
void mroce_conn_run(struct mroce_conn *conn);

/* mroce_handshake.c */
void mroce_handshake_start(struct mroce_conn *conn);
void mroce_handshake_send(struct mroce_conn *conn);
void mroce_handshake_rcv(struct mroce_net *mnet, struct sk_buff *skb, u32 off, u8 type);
void mroce_handshake_unknown_rcv(struct mroce_net *mnet, struct sk_buff *skb, u32 off);
void mroce_handshake_unknown_send(struct mroce_net *mnet, struct sk_buff *skb, u32 bad_cid);

/* mroce_send.c: requester */
void mroce_send_init(struct mroce_qp *qp);
void mroce_send_start(struct mroce_qp *qp);
void mroce_send_stop(struct mroce_qp *qp);
void mroce_send_kick(struct mroce_qp *qp);
void mroce_send_run(struct mroce_qp *qp, unsigned int budget_pkts);
void mroce_send_event(struct mroce_conn *conn, const struct mroce_ps_event *ev, bool resend);
void mroce_send_record(struct mroce_conn *conn, const struct mroce_rec *rec, u64 now);
void mroce_send_fail(struct mroce_qp *qp, u8 wc_status);
u64 mroce_send_rto_ns(const struct mroce_conn *conn);
u64 mroce_send_mute_limit_ns(const struct mroce_qp *qp);

/* mroce_build.c: a work request and a psn -> a packet */
struct sk_buff *mroce_build(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 psn);
void mroce_build_header(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 psn,
			struct sk_buff *skb, int path, u32 path_seq, u16 flags);
int mroce_build_take(struct mroce_qp *qp);

/* mroce_comp.c: completions, errors, flush */
#define MROCE_NOTIFY_SEND	1
#define MROCE_NOTIFY_RECV	2
#define MROCE_NOTIFY_ERROR	4	/* the QP must go to ERR: mroce_comp_error() */
unsigned int mroce_comp_send(struct mroce_qp *qp);
unsigned int mroce_comp_recv(struct mroce_qp *qp);
void mroce_comp_notify(struct mroce_qp *qp, unsigned int notify);
void mroce_comp_error(struct mroce_qp *qp, u16 incarnation);
void mroce_comp_flush(struct mroce_qp *qp);

/* mroce_recv.c: encap_rcv, demultiplexing */
int mroce_recv_encap(struct sock *sk, struct sk_buff *skb);

/* mroce_resp.c: responder */

/** enum mroce_resp_verdict - what the path level reports of a DATA packet */
enum mroce_resp_verdict {
	MROCE_RESP_TAKEN,
	MROCE_RESP_REFUSED,
	MROCE_RESP_DROPPED,	/* not acknowledged at all */
};

void mroce_resp_start(struct mroce_qp *qp);
void mroce_resp_stop(struct mroce_qp *qp);
enum mroce_resp_verdict mroce_resp_data(struct mroce_conn *conn, struct sk_buff *skb, u32 off,
					const struct mroce_pkt_data *p);
void mroce_resp_ask(struct mroce_conn *conn, const struct mroce_ask *ask);
void mroce_resp_bury(struct mroce_conn *conn, struct mroce_qp *qp);

/* mroce_copy.c: packet bytes into memory */
int mroce_copy_to_mr(struct mroce_mr *mr, u64 addr, const struct sk_buff *skb, u32 off, u32 len);

/* mroce_ack.c: acknowledgements, both directions, and probes */

/**
 * struct mroce_arrival - a numbered packet, as the path level sees it
 * @sport: source port it came from
 * @refused: the stream refused it
 * @ce: it carried Congestion Experienced
 * @ack_req: its sender wants an acknowledgement at once
 * @probe: it is a PROBE
 */
struct mroce_arrival {
	u32 path_seq;
	u16 sport;
	u8 path;
	bool refused;
	bool ce;
	bool ack_req;
	bool probe;
};

bool mroce_ack_mark(struct mroce_conn *conn, const struct mroce_arrival *a, u64 now);
void mroce_ack_send(struct mroce_conn *conn, int path, const struct mroce_probe_hdr *probe);
void mroce_ack_rcv(struct mroce_conn *conn, struct sk_buff *skb, u32 off);
void mroce_ack_probe_send(struct mroce_conn *conn, int path, struct mroce_qp *about);
void mroce_ack_probe_rcv(struct mroce_conn *conn, struct sk_buff *skb, u32 off,
			 const struct mroce_addrs *addrs);
void mroce_ack_record(struct mroce_conn *conn, struct mroce_recstate *rs);
void mroce_ack_forget(struct mroce_conn *conn, struct mroce_recstate *rs);
extern const struct mroce_ack_policy mroce_ack_policy;

/* mroce_timer.c */
enum hrtimer_restart mroce_timer_conn(struct hrtimer *t);
enum hrtimer_restart mroce_timer_sq(struct hrtimer *t);
void mroce_timer_arm_sq(struct mroce_qp *qp, u64 at_ns);

#endif /* MROCE_H */
