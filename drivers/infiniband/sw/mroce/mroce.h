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
 *   mroce_sq.q.lock	BH	send queue: ring, work requests, request stream, and
 *				the responses that come back
 *   mroce_rq.lock	BH	receive queue: ring, bound receives, the peer's requests,
 *				packets held back
 *   mroce_srq.lock	BH	shared receive queue: ring, use of copies
 *   mroce_rdq.q.lock	BH	the peer's READs and atomics, response stream
 *   mroce_conn.tx_lock	BH	handshake, paths (scoreboards, windows), list of
 *				queues waiting for a window
 *   mroce_conn.rx_lock	BH	receive windows, stream records waiting for an ACK
 *   mroce_cq.lock	irq	completion ring: kernel users poll from anywhere
 *   mroce_sq.post_lock, mroce_rq.post_lock	irq	leaf: posts of kernel users
 *   mroce_net.hash_lock	BH	leaf
 *   mroce_dev.plane_lock	BH	planes of a device; under it only IPv6's lock of an
 *				interface's addresses
 *
 * In that order: a response takes rq.lock under sq.q.lock to know whose it is, a
 * READ is handed over to rdq.q.lock under rq.lock, a receive is bound, and given back,
 * by srq.lock under rq.lock (and nothing under that); state changes take all three of
 * a QP (mroce_qp_lock()). A connection lock may be taken under a QP lock, never the
 * other way round: the acknowledgement side takes tx_lock, fills a fixed array of
 * (stream, psn) events, unlocks, then takes QP locks. Nothing is transmitted and no
 * completion handler is called under any of these locks but open_lock, which only
 * excludes itself: packets are collected in a struct mroce_txlist and completion
 * queues to notify in the caller's flags.
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
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/mroce-abi.h>

#include "compat/compat.h"
#include "mroce_conn.h"
#include "mroce_qp.h"
#include "proto/gate.h"
#include "proto/seg.h"

#define MROCE_MAX_SGE		16
#define MROCE_MAX_INLINE	256
#define MROCE_MAX_QP_WR		16384
#define MROCE_MAX_SRQ		16384
#define MROCE_MAX_SRQ_WR	32768
#define MROCE_MAX_CQE		1048576
#define MROCE_MAX_MSG_BYTES	0x40000000u
#define MROCE_PEER_HASH_BITS	8
/* Of each kind that has a number */
#define MROCE_MAX_OBJECTS	65536

/* Memory of a size the user chooses: at the limit of his cgroup refused, rather than he killed */
#define MROCE_GFP_USER		(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)
#define MROCE_QPN_FIRST		16
#define MROCE_QPN_LAST		0xfffffe
#define MROCE_MAX_RDATOM	64

/**
 * enum mroce_counter - counters of a device, in the order of
 * /sys/class/infiniband/X/ports/1/hw_counters (names in mroce_stats.c)
 */
enum mroce_counter {
	MROCE_CNT_TX_PKTS,		/* these four without data; the user sees the sum */
	MROCE_CNT_TX_BYTES,
	MROCE_CNT_RX_PKTS,
	MROCE_CNT_RX_BYTES,
	MROCE_CNT_TX_DATA_PKTS,
	MROCE_CNT_TX_DATA_BYTES,
	MROCE_CNT_RX_DATA_PKTS,
	MROCE_CNT_RX_DATA_BYTES,
	MROCE_CNT_TX_ACKS,
	MROCE_CNT_RX_ACKS,
	MROCE_CNT_TX_PROBES,
	MROCE_CNT_RX_PROBES,
	MROCE_CNT_RETRANS,		/* data packets sent again: the sum of those by cause */
	MROCE_CNT_RETRANS_CAUSE,	/* first of MROCE_PS_CAUSES causes */
	MROCE_CNT_RETRANS_LAST = MROCE_CNT_RETRANS_CAUSE + MROCE_PS_CAUSES - 1,
	MROCE_CNT_LOST,			/* packets declared lost */
	MROCE_CNT_SPURIOUS,		/* of these, arrived after all */
	MROCE_CNT_LOCAL_DROP,		/* refused by the local stack */
	MROCE_CNT_REFUSED,		/* refused by the peer */
	MROCE_CNT_MARKED,		/* arrived with Congestion Experienced */
	MROCE_CNT_RX_DUP,		/* data packets received twice */
	MROCE_CNT_RX_CE,
	MROCE_CNT_RX_REFUSED,		/* refused: the sum of the next two and RNR_TX */
	MROCE_CNT_RX_REFUSED_BUSY,	/* for want of memory or room to hold it */
	MROCE_CNT_RX_REFUSED_STATE,	/* the QP is not ready to receive */
	MROCE_CNT_RNR_TX,		/* for want of a receive */
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
	MROCE_CNT_READ_REQS,		/* READs executed for a peer */
	MROCE_CNT_ATOMIC_REQS,		/* atomics executed for a peer */
	MROCE_CNT_RX_HELD,		/* packets held back for order */
	MROCE_CNT_HOLD_REFUSED,		/* of these, refused for want of room */
	MROCE_CNT_HOLD_PEAK,		/* most bytes a QP ever held */
	MROCE_CNT_HOLD_BYTES,		/* what all QPs hold now: mroce_dev.hold_bytes */
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
 * @unknown_gate: limit of UNKNOWNs; of the gates two may pass at once
 * @cookie_gate: of cookies for whom nobody here wants, [1] for whom somebody does
 * @hash_lock: protects changes of @conns and @peer_conns, @last_no, @nos_again
 * @conns: connections by our connection id (mroce_conn.hash_node), RCU
 * @peer_conns: the same by the peer's (mroce_conn.dcid_node), RCU
 * @last_no: of the newest connection (mroce_conn.no)
 * @nos_again: all numbers have been given away once
 * @hash_seed: nobody knows which ids share a bucket of @peer_conns
 */
struct mroce_net {
	struct net *net;
	struct list_head devs;
	siphash_key_t cookie_key;
	struct sock __rcu *sk4;
	struct sock __rcu *sk6;
	struct mroce_gate unknown_gate;
	struct mroce_gate cookie_gate[2];
	spinlock_t hash_lock;	/* changes of conns, peer_conns; last_no, nos_again */
#define MROCE_CONN_HASH_BITS	8
	struct hlist_head conns[1 << MROCE_CONN_HASH_BITS];
	struct hlist_head peer_conns[1 << MROCE_CONN_HASH_BITS];
	u32 last_no;
	bool nos_again;
	u32 hash_seed;
};

/** enum mroce_plane_family - which of a plane's addresses: the connection's kind decides */
enum mroce_plane_family {
	MROCE_PLANE_V4,		/* as ::ffff:a.b.c.d */
	MROCE_PLANE_V6,		/* global */
	MROCE_PLANE_LL6,	/* link-local */
	MROCE_PLANE_FAMILIES
};

/**
 * struct mroce_conf - what new connections and QPs of a device are like
 * Each by itself (READ_ONCE()); 0 or NULL: as the module parameter says.
 * @cc: congestion control
 * @max_window_kib: ceiling of a connection's window, for each plane
 * @paths: of a connection, for each plane
 * @ordering: enum mroce_hold_mode
 */
struct mroce_conf {
	const struct mroce_cc_ops *cc;
	u32 max_window_kib;
	u8 paths;
	u8 ordering;
};

/**
 * struct mroce_plane - a netdev that a device sends and receives by
 * No reference to the netdev is held: its end takes the plane away.
 * @ifindex: of the netdev
 * @label: for the pairing with the peer's planes; unique in the device
 * @up: it is running and has a carrier
 * @leaving: it is being removed: no new data
 * @has: it has an address, bit = enum mroce_plane_family
 * @prefix_bits: of the addresses' subnets, of 128
 * @addr: first address of each kind
 */
struct mroce_plane {
	int ifindex;
	u8 label;
	bool up;
	bool leaving;
	u8 has;
	u8 prefix_bits[MROCE_PLANE_FAMILIES];
	struct in6_addr addr[MROCE_PLANE_FAMILIES];
};

/**
 * struct mroce_dev - one verbs device, with one netdev for each of its planes
 * @ibdev: the core's part
 * @mnet: its namespace, RCU; NULL once the namespace or the link is going
 * @net_node: in mroce_net.devs
 * @ifindex: of the first netdev, for routes
 * @ndev_mtu: its MTU, kept by the notifier (READ_ONCE)
 * @port_up: port state as last announced: some plane is up; under RTNL
 * @plane_lock: protects @plane, @n_planes, @planes_no
 * @plane: planes, ascending labels but for the first, which is the link's netdev
 * @n_planes: entries of @plane in use
 * @planes_no: counts changes of @plane
 * @conf: as set by netlink
 * @incarnation: where the next new QP begins to count its lives
 * @next_user: number of the next program
 * @qps: QPN -> struct mroce_qp_ref
 * @mrs: key >> 8 -> struct mroce_mr
 * @ahs: number -> struct mroce_av of a user's address handle
 * @next_qpn, @next_key, @next_ah: cyclic allocation
 * @srq_nums: numbers of shared receive queues in use
 * @conn_lock: protects @conns, @peers, @n_conns
 * @conns: all connections (mroce_conn.dev_node)
 * @peers: the same by remote address (mroce_conn.peer_node)
 * @peer_seed: nobody knows which addresses share a bucket of @peers
 * @hold_bytes: true size of all packets held back
 * @count: enum mroce_counter
 */
struct mroce_dev {
	struct ib_device ibdev;
	struct mroce_net __rcu *mnet;
	struct list_head net_node;
	int ifindex;
	unsigned int ndev_mtu;
	bool port_up;
	spinlock_t plane_lock;	/* plane, n_planes, planes_no */
	struct mroce_plane plane[MROCE_MAX_PLANES];
	u8 n_planes;
	u32 planes_no;
	struct mroce_conf conf;
	atomic_t incarnation;
	atomic_t next_user;
	struct xarray qps;
	struct xarray mrs;
	struct xarray ahs;
	u32 next_qpn;
	u32 next_key;
	u32 next_ah;
	struct ida srq_nums;
	spinlock_t conn_lock;	/* conns, peers, n_conns */
	struct list_head conns;
	struct hlist_head peers[1 << MROCE_PEER_HASH_BITS];
	u32 peer_seed;
	unsigned int n_conns;
	atomic64_t hold_bytes;
	atomic64_t count[MROCE_CNT_MAX];
};

/**
 * struct mroce_ucontext - a program that has the device open
 * @ibuc: the core's part
 * @number: for turns between users
 * @lock: protects @orphans
 * @orphans: rings that are gone but still mapped (struct ring_mem); they stay charged
 */
struct mroce_ucontext {
	struct ib_ucontext ibuc;
	unsigned int number;
	struct mutex lock;	/* orphans */
	struct list_head orphans;
};

struct mroce_pd {
	struct ib_pd ibpd;
};

/**
 * struct mroce_cq - completion queue
 * @lock: irqsave; protects @prod and the producer side of @ring, of a kernel user's both
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
 * @pages: page of byte n of the region: pages[(n + page_offset) >> PAGE_SHIFT]; NULL: the
 *	region is all memory of the kernel (mroce_mr_page())
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
 * struct mroce_txlist - packets numbered under locks, to transmit after them
 * Lives on the stack of one context, with bottom halves off throughout.
 */
struct mroce_txlist {
	struct sk_buff *head;
	struct sk_buff **tail;
	unsigned int n;
};

static inline struct mroce_ucontext *to_muc(struct ib_ucontext *ibuc)
{
	return container_of(ibuc, struct mroce_ucontext, ibuc);
}

static inline struct mroce_dev *to_mdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct mroce_dev, ibdev);
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

/* A packet other than data was sent. */
static inline void mroce_count_tx(struct mroce_dev *dev, unsigned int bytes)
{
	mroce_count(dev, MROCE_CNT_TX_PKTS);
	mroce_count_add(dev, MROCE_CNT_TX_BYTES, bytes);
}

/* A packet other than data was taken. */
static inline void mroce_count_rx(struct mroce_dev *dev, unsigned int bytes)
{
	mroce_count(dev, MROCE_CNT_RX_PKTS);
	mroce_count_add(dev, MROCE_CNT_RX_BYTES, bytes);
}

/* mroce_netdev.c: link add and del, netdev notifier */
int mroce_netdev_init(void);
void mroce_netdev_exit(void);
void mroce_netdev_port(struct mroce_dev *dev);
int mroce_netdev_check(struct net_device *ndev, const char **why);

/* mroce_verbs.c: the device, its attributes, ucontext, pd, mmap */
int mroce_dev_add(const char *name, struct net_device *ndev);
int mroce_udata_respond(struct ib_udata *udata, void *resp, size_t size);
unsigned int mroce_port_mtu_bytes(const struct mroce_dev *dev);

/* mroce_qp.c: control path of queue pairs */
int mroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata);
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
void mroce_qp_reset_rings(struct mroce_qp *qp);
u8 mroce_qp_ordering(const struct mroce_dev *dev);
void mroce_qp_lock(struct mroce_qp *qp);
void mroce_qp_unlock(struct mroce_qp *qp);

/* mroce_modify.c: states of queue pairs */
int mroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
void mroce_qp_disconnect(struct mroce_qp *qp, enum ib_qp_state cur);

/* mroce_srq.c */
int mroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init, struct ib_udata *udata);
int mroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		     struct ib_udata *udata);
int mroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int mroce_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);
int mroce_srq_post_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);
int mroce_srq_bind(struct mroce_srq *srq, bool *low);
void mroce_srq_give(struct mroce_srq *srq, u16 copy);
void mroce_srq_tell_low(struct mroce_srq *srq);

/* mroce_cq.c */
int mroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr, struct ib_udata *udata);
int mroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
bool mroce_cq_post(struct mroce_cq *cq, const struct mroce_cqe *cqe, bool solicited);
void mroce_cq_notify(struct mroce_cq *cq);
int mroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int mroce_cq_poll(struct ib_cq *ibcq, int n, struct ib_wc *wc);
void mroce_cq_clean(struct ib_cq *ibcq, const struct ib_qp *ibqp);

/* mroce_mr.c */
struct ib_mr *mroce_mr_reg_user(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				struct ib_udata *udata);
struct ib_mr *mroce_mr_rereg_user(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				  int access, struct ib_pd *pd, struct ib_udata *udata);
int mroce_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *mroce_mr_get_dma(struct ib_pd *pd, int access);
struct page *mroce_mr_page(const struct mroce_mr *mr, u64 at);
struct mroce_mr *mroce_mr_get(struct mroce_dev *dev, struct ib_pd *pd, u32 key, u64 addr,
			      u64 len, int access);
void mroce_mr_put(struct mroce_mr *mr);

/* mroce_ring.c */
int mroce_ring_create(struct mroce_ring *ring, struct ib_ucontext *ibuc, u32 entries, u32 stride,
		      struct mroce_ring_info *info);
int mroce_ring_create_kernel(struct mroce_ring *ring, u32 entries, u32 stride);
void mroce_ring_destroy(struct mroce_ring *ring);
void *mroce_ring_slot(const struct mroce_ring *ring, u32 idx);
int mroce_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void mroce_mmap_free(struct rdma_user_mmap_entry *entry);
void mroce_ring_free_orphans(struct mroce_ucontext *uc, bool all);

/* mroce_stats.c */
extern const struct rdma_stat_desc mroce_stat_descs[MROCE_CNT_MAX];
struct rdma_hw_stats *mroce_stats_alloc(struct ib_device *ibdev, u32 port);
int mroce_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);
void mroce_stats_cause(struct mroce_txq *q, u32 psn, enum mroce_ps_cause cause);
void mroce_stats_settled(struct mroce_txq *q);
enum mroce_ps_cause mroce_stats_why(const struct mroce_txq *q, u32 psn);
void mroce_stats_retrans(const struct mroce_txq *q, u32 psn);

/* mroce_res.c: what 'rdma resource' shows */
int mroce_res_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int mroce_res_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int mroce_res_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int mroce_res_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq);

/* mroce_trace.c: windows and states of paths, before and after; tracepoints: mroce_trace.h */

/**
 * struct mroce_trace_snap - paths of a connection, to be compared later
 * @on: somebody wants to know; the rest is valid
 * @n_paths: entries of @path
 * @cwnd_bytes: window of the connection
 * @path: window, source port and state of each path
 */
struct mroce_trace_snap {
	bool on;
	u8 n_paths;
	u32 cwnd_bytes;
	struct {
		u32 cwnd_bytes;
		u16 sport;
		u8 state;
	} path[MROCE_MAX_PATHS];
};

void mroce_trace_before(const struct mroce_conn *conn, struct mroce_trace_snap *snap);
void mroce_trace_after(const struct mroce_conn *conn, const struct mroce_trace_snap *snap);

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

/* mroce_net.c: sockets, namespaces, devices of a namespace */
int mroce_net_init(void);
void mroce_net_exit(void);
int mroce_net_attach(struct mroce_dev *dev, struct net *net);
void mroce_net_detach(struct mroce_dev *dev);
int mroce_net_check(struct net *net);
struct mroce_net *mroce_net_of(const struct net *net);
struct mroce_net *mroce_net_of_sock(const struct sock *sk);
struct mroce_dev *mroce_net_dev(struct mroce_net *mnet, const struct sk_buff *skb);
void mroce_net_measure(const struct net_device *ndev);
bool mroce_net_is(struct mroce_dev *dev, const struct net *net);
bool mroce_net_is_local(struct mroce_dev *dev, const struct in6_addr *addr);
int mroce_net_can_reach(struct mroce_dev *dev, const struct in6_addr *raddr);
int mroce_net_bound_to(struct mroce_dev *dev, const struct in6_addr *raddr, int ifindex);

/* mroce_plane.c: netdevs of a device */
void mroce_plane_init(struct mroce_dev *dev, const struct net_device *ndev);
int mroce_plane_notifier_init(void);
void mroce_plane_notifier_exit(void);
void mroce_plane_event(const struct net_device *ndev, bool gone, bool port);
void mroce_plane_refresh(struct mroce_dev *dev, const struct net_device *ndev);
bool mroce_plane_any_up(struct mroce_dev *dev);
bool mroce_plane_has(const struct mroce_dev *dev, int ifindex);
int mroce_plane_add(struct mroce_dev *dev, struct net_device *ndev, int label,
		    struct netlink_ext_ack *extack);
int mroce_plane_del(struct mroce_dev *dev, int ifindex, struct netlink_ext_ack *extack);
int mroce_plane_get(struct mroce_dev *dev, unsigned int i, struct mroce_plane *plane);
u32 mroce_plane_list(struct mroce_conn *conn, struct mroce_plane_end *mine, u32 *no);

/* mroce_replan.c: planes of a connection */
u8 mroce_replan_paths(const struct mroce_dev *dev, unsigned int n_planes);
bool mroce_replan_init(struct mroce_conn *conn);
void mroce_replan_open(struct mroce_conn *conn, const struct mroce_addrs *via);
void mroce_replan_drop_ours(struct mroce_conn *conn, struct mroce_hello *h);
bool mroce_replan_told(struct mroce_conn *conn, const struct mroce_hello *h);
u8 mroce_replan_places(struct mroce_conn *conn, u64 mask);
bool mroce_replan(struct mroce_conn *conn);
void mroce_conn_measure(struct mroce_dev *dev, int ifindex);
void mroce_conn_planes(struct mroce_dev *dev);
bool mroce_conn_drains(struct mroce_dev *dev, int ifindex);

/* mroce_xmit.c: headers, routes, transmit */

void mroce_xmit_addrs(const struct sk_buff *skb, struct mroce_addrs *addrs);
struct sk_buff *mroce_xmit_alloc(unsigned int linear_bytes);
unsigned int mroce_xmit_mtu(struct mroce_conn *conn);
int mroce_xmit_conn(struct mroce_conn *conn, struct sk_buff *skb, int path, bool must_fit,
		    bool ect);
int mroce_xmit_hello(struct mroce_conn *conn, struct sk_buff *skb, unsigned int plane);
int mroce_xmit_answer(struct mroce_conn *conn, const struct sk_buff *in, struct sk_buff *skb);
void mroce_xmit_forget(struct mroce_conn *conn, int path);
int mroce_xmit_err_lookup(struct sock *sk, struct sk_buff *skb);

/** struct mroce_dgram_to - where a datagram goes: as struct mroce_av, and the source port */
struct mroce_dgram_to {
	struct in6_addr laddr;
	struct in6_addr raddr;
	int ifindex;
	u16 sport;
	u8 tos;
};

int mroce_xmit_dgram(struct mroce_dev *dev, struct sk_buff *skb, const struct mroce_dgram_to *to);
int mroce_xmit_reply(struct mroce_net *mnet, const struct sk_buff *in, const struct in6_addr *to,
		     struct sk_buff *skb);
void mroce_txlist_init(struct mroce_txlist *list);
void mroce_txlist_add(struct mroce_txlist *list, struct sk_buff *skb, int path, u32 path_seq);
void mroce_txlist_xmit(struct mroce_conn *conn, struct mroce_txlist *list);

/* mroce_conn.c */
void mroce_conn_conf(const struct mroce_dev *dev, struct mroce_conf *conf);
unsigned int mroce_conn_limit(void);
struct mroce_conn *mroce_conn_get(struct mroce_dev *dev, const struct in6_addr *laddr,
				  const struct in6_addr *raddr, u8 dscp, int ifindex);
struct mroce_conn *mroce_conn_by_cid(struct mroce_net *mnet, u32 cid);
struct mroce_conn *mroce_conn_by_no(struct mroce_net *mnet, u32 no);
struct mroce_conn *mroce_conn_by_peer_cid(struct mroce_net *mnet, u32 dcid,
					  const struct mroce_addrs *addrs);
bool mroce_conn_has_port(const struct mroce_conn *conn, u16 sport);

/** struct mroce_conn_pos - how far a walk has come: bucket of mroce_dev.peers, least number */
struct mroce_conn_pos {
	u64 no;
	u32 bucket;
};

struct mroce_conn *mroce_conn_next(struct mroce_dev *dev, struct mroce_conn_pos *pos);
void mroce_conn_drop_routes(struct mroce_dev *dev);
struct mroce_conn *mroce_conn_by_gids(struct mroce_net *mnet, const struct in6_addr *laddr,
				      const struct in6_addr *raddr, u8 dscp);
int mroce_conn_pair(const struct mroce_conn *conn, const struct mroce_addrs *addrs);
bool mroce_conn_told(const struct mroce_conn *conn, const struct mroce_addrs *addrs);
void mroce_conn_hold(struct mroce_conn *conn);
void mroce_conn_put(struct mroce_conn *conn);
void mroce_conn_leave(struct mroce_conn *conn);
void mroce_conn_kill_all(struct mroce_dev *dev);
void mroce_conn_open(struct mroce_conn *conn, const struct mroce_addrs *via);
void mroce_conn_arm(struct mroce_conn *conn, u64 at_ns);

/* mroce_wait.c: queues waiting for a window */
void mroce_wait_init(struct mroce_waiters *w);
void mroce_conn_wait(struct mroce_conn *conn, struct mroce_txq *q);
void mroce_conn_unwait(struct mroce_conn *conn, struct mroce_txq *q);
void mroce_conn_run(struct mroce_conn *conn);

/* mroce_handshake.c */
void mroce_handshake_start(struct mroce_conn *conn);
void mroce_handshake_send(struct mroce_conn *conn);
void mroce_handshake_rcv(struct mroce_net *mnet, struct sk_buff *skb, u32 off, u8 type);
void mroce_handshake_unknown_rcv(struct mroce_net *mnet, struct sk_buff *skb, u32 off);
void mroce_handshake_unknown_send(struct mroce_net *mnet, struct sk_buff *skb, u32 bad_cid);

/* mroce_send.c: both sending streams of a QP */
void mroce_send_init(struct mroce_qp *qp);
void mroce_send_start(struct mroce_qp *qp);
void mroce_send_start_responses(struct mroce_qp *qp);
void mroce_send_stop(struct mroce_qp *qp);
void mroce_send_kick(struct mroce_qp *qp);
bool mroce_send_fall_asleep(struct mroce_txq *q);
void mroce_send_rouse(struct mroce_txq *q);
void mroce_send_run(struct mroce_txq *q, unsigned int budget_pkts);
void mroce_send_event(struct mroce_conn *conn, const struct mroce_ps_event *ev, bool resend);
void mroce_send_record(struct mroce_conn *conn, const struct mroce_rec *rec, u64 now);
struct mroce_swqe *mroce_send_find(struct mroce_txq *q, u32 end, u32 psn, bool resp);
void mroce_send_fail(struct mroce_qp *qp, u8 wc_status);
u64 mroce_send_rto_ns(const struct mroce_conn *conn);
u64 mroce_send_mute_limit_ns(const struct mroce_txq *q);

/* mroce_build.c: a message and a psn -> a packet */
struct sk_buff *mroce_build(struct mroce_txq *q, const struct mroce_swqe *wqe, u32 psn);
void mroce_build_header(struct mroce_txq *q, const struct mroce_swqe *wqe, u32 psn,
			struct sk_buff *skb, int path, u32 path_seq, u16 flags);
int mroce_build_take(struct mroce_qp *qp);
u8 mroce_build_payload(struct mroce_qp *qp, struct mroce_swqe *wqe, const struct mroce_sqe *sqe,
		       const u8 *slot);
int mroce_build_copy(struct mroce_qp *qp, const struct mroce_swqe *wqe, struct sk_buff *skb,
		     u32 off, u32 len);

/* mroce_comp.c: completions, events, errors, flush */
#define MROCE_NOTIFY_SEND	1
#define MROCE_NOTIFY_RECV	2
#define MROCE_NOTIFY_ERROR	4	/* the QP must go to ERR: mroce_comp_error() */
#define MROCE_NOTIFY_DRAINED	8	/* SQD: all that was begun is complete */
#define MROCE_NOTIFY_FETCHED	16	/* a READ or atomic of ours is complete */
#define MROCE_NOTIFY_SETTLED	32	/* the peer has all responses: mroce_resp_settled() */
#define MROCE_NOTIFY_LAST_WQE	64	/* ERR: it will take no more receives from its SRQ */

#define MROCE_NO_EVENT		(-1)

unsigned int mroce_comp_send(struct mroce_qp *qp);
unsigned int mroce_comp_recv(struct mroce_qp *qp);
bool mroce_comp_drained(const struct mroce_qp *qp);
void mroce_comp_notify(struct mroce_qp *qp, unsigned int notify);
void mroce_comp_event(struct mroce_qp *qp, int event);
void mroce_comp_error(struct mroce_qp *qp, u16 incarnation, int event);
void mroce_comp_flush(struct mroce_qp *qp);
void mroce_comp_forget(struct mroce_rq *rq);

/* mroce_recv.c: encap_rcv, demultiplexing */
int mroce_recv_encap(struct sock *sk, struct sk_buff *skb);

/* mroce_resp.c: responder */

/** enum mroce_resp_verdict - what the path level reports of a DATA packet */
enum mroce_resp_verdict {
	MROCE_RESP_TAKEN,
	MROCE_RESP_REFUSED,
	MROCE_RESP_DROPPED,	/* not acknowledged at all */
};

u32 mroce_resp_rwqe_stride(u32 max_sge);
void mroce_resp_take_rwqe(const struct mroce_ring *ring, u32 idx, u32 max_sge,
			  struct mroce_rwqe *wqe);
void mroce_resp_start(struct mroce_qp *qp);
void mroce_resp_stop(struct mroce_qp *qp);
bool mroce_resp_life(struct mroce_qp *qp, u16 incarnation);
enum mroce_resp_verdict mroce_resp_data(struct mroce_conn *conn, struct sk_buff *skb, u32 off,
					const struct mroce_pkt_data *p);
void mroce_resp_ask(struct mroce_conn *conn, const struct mroce_ask *ask);
void mroce_resp_settled(struct mroce_qp *qp, u16 incarnation);
void mroce_resp_gone(struct mroce_conn *conn, u8 stream, u32 dst_qpn, u32 src_qpn,
		     u16 incarnation);
int mroce_resp_event(struct mroce_qp *qp);
struct mroce_rwqe *mroce_resp_bind(struct mroce_rq *rq, u32 rsn, bool *low);

/* mroce_rxq.c: receiving streams, and what is left of them */
void mroce_rxq_start(struct mroce_rxq *rx, u32 psn);
void mroce_rxq_settle(struct mroce_rxq *rx, spinlock_t *lock);
void mroce_rxq_stop(struct mroce_rxq *rx);
void mroce_rxq_bury(struct mroce_conn *conn, struct mroce_rxq *rx);
struct mroce_recstate *mroce_rxq_tomb(struct mroce_conn *conn, u8 stream, u32 dst_qpn,
				      u32 src_qpn, u16 incarnation);
enum mroce_rxs_verdict mroce_rxq_classify(struct mroce_dev *dev, struct mroce_rxq *rx, u32 psn);
void mroce_rxq_report(struct mroce_conn *conn, struct mroce_rxq *rx, struct mroce_rec *rec);

/* mroce_exec.c: responder of READs and atomics */
int mroce_exec_start(struct mroce_qp *qp, u8 depth, u32 psn);
int mroce_exec_resize(struct mroce_qp *qp, u8 depth);
void mroce_exec_stop(struct mroce_qp *qp);
u8 mroce_exec_check(struct mroce_qp *qp, const struct mroce_pkt_data *p);
unsigned int mroce_exec_oldest(struct mroce_qp *qp, u32 oldest);
bool mroce_exec_put(struct mroce_qp *qp, const struct mroce_pkt_data *p,
		    const struct mroce_atomic_op *op);
bool mroce_exec_due(struct mroce_qp *qp);
unsigned int mroce_exec_settle(struct mroce_qp *qp);
void mroce_exec_drop(struct mroce_qp *qp);
bool mroce_exec_idle(struct mroce_qp *qp);

/* mroce_sink.c: requester of READs and atomics */
void mroce_sink_start(struct mroce_qp *qp);
void mroce_sink_stop(struct mroce_qp *qp);
enum mroce_resp_verdict mroce_sink_data(struct mroce_conn *conn, struct mroce_qp *qp,
					const struct sk_buff *skb, u32 off,
					const struct mroce_pkt_data *p);
void mroce_sink_ask(struct mroce_conn *conn, struct mroce_qp *qp, const struct mroce_ask *ask);

/* mroce_hold.c: packets that wait for the messages before theirs */
bool mroce_hold_wanted(struct mroce_qp *qp, const struct mroce_pkt_data *p);
bool mroce_hold_add(struct mroce_qp *qp, const struct sk_buff *skb, u32 off,
		    const struct mroce_pkt_data *p);
struct sk_buff *mroce_hold_next(struct mroce_qp *qp, u32 *off, struct mroce_pkt_data *p);
void mroce_hold_purge(struct mroce_qp *qp);

/* mroce_copy.c: packet bytes into memory */

/** struct mroce_sgl - memory that local keys name, to be written */
struct mroce_sgl {
	struct ib_pd *pd;
	const struct mroce_place_sge *sge;
	u32 num_sge;
};

int mroce_copy_to_mr(struct mroce_mr *mr, u64 addr, const struct sk_buff *skb, u32 off, u32 len);
int mroce_copy_to_sgl(const struct mroce_sgl *sgl, u32 at, const struct sk_buff *skb, u32 off,
		      u32 len);
int mroce_copy_value_to_sgl(const struct mroce_sgl *sgl, const void *value, u32 len);

/* mroce_ack.c: acknowledgements, both directions, and probes */

/**
 * struct mroce_arrival - a numbered packet, as the path level sees it
 * @sport: source port it came from
 * @plane: plane it came by: place of the pair of its addresses
 * @refused: the stream refused it
 * @ce: it carried Congestion Experienced
 * @ack_req: its sender wants an acknowledgement at once
 * @probe: it is a PROBE
 */
struct mroce_arrival {
	u32 path_seq;
	u16 sport;
	u8 path;
	u8 plane;
	bool refused;
	bool ce;
	bool ack_req;
	bool probe;
};

bool mroce_ack_believes(struct mroce_conn *conn, u8 path, u32 path_seq);
bool mroce_ack_mark(struct mroce_conn *conn, const struct mroce_arrival *a, u64 now);
void mroce_ack_send(struct mroce_conn *conn, int path, const struct mroce_probe_hdr *probe);
void mroce_ack_rcv(struct mroce_conn *conn, struct sk_buff *skb, u32 off, int plane);
void mroce_ack_probe_send(struct mroce_conn *conn, int path, const struct mroce_txq *about);
void mroce_ack_probe_rcv(struct mroce_conn *conn, struct sk_buff *skb, u32 off,
			 const struct mroce_addrs *addrs, int plane);
void mroce_ack_record(struct mroce_conn *conn, struct mroce_recstate *rs);
void mroce_ack_forget(struct mroce_conn *conn, struct mroce_recstate *rs);
extern const struct mroce_ack_policy mroce_ack_policy;

/* mroce_timer.c */
enum hrtimer_restart mroce_timer_conn(struct hrtimer *t);
enum hrtimer_restart mroce_timer_txq(struct hrtimer *t);
void mroce_timer_arm_txq(struct mroce_txq *q, u64 at_ns);

/* mroce_nl.c: the generic netlink family; what it tells of planes, connections, paths */
int mroce_nl_init(void);
void mroce_nl_exit(void);
bool mroce_nl_listened(const struct mroce_dev *dev);
void mroce_nl_plane_event(const struct mroce_dev *dev, int ifindex, u8 label, u8 what);
void mroce_nl_conn_event(const struct mroce_conn *conn, u8 what);
void mroce_nl_path_event(const struct mroce_conn *conn, const struct mroce_path *p, u8 old_state);

#endif /* MROCE_H */
