/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs: their queues, work requests and streams.
 *
 * A QP sends two streams and receives two:
 *
 *	sq.q		requests, from the ring of the user
 *	sq.sink		responses to our READs and atomics
 *	rq.rx		the peer's requests
 *	rdq.q		responses to the peer's READs and atomics
 *
 * What sends is a struct mroce_txq, what receives a struct mroce_rxq; the same
 * code serves both of a kind. Locks: mroce.h.
 */
#ifndef MROCE_QP_H
#define MROCE_QP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include <rdma/mroce-abi.h>

#include "compat/compat.h"
#include "proto/bind.h"
#include "proto/hold.h"
#include "proto/life.h"
#include "proto/place.h"
#include "proto/rdq.h"
#include "proto/rxs.h"
#include "proto/srq.h"
#include "proto/txs.h"

/**
 * struct mroce_ring - a shared ring, kernel's view (mroce_ring.c)
 * @hdr: its memory, mapped by the user
 * @entries: power of two; @stride: bytes per slot; @size_bytes: page aligned
 * @entry: mmap entry; the memory is freed when its last reference goes. NULL: a kernel user's
 */
struct mroce_ring {
	struct mroce_ring_hdr *hdr;
	u32 entries;
	u32 stride;
	u32 size_bytes;
	struct rdma_user_mmap_entry *entry;
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
 * struct mroce_swqe - a message being sent: a send work request, copied once out
 * of the ring, or the response to a fetch (READ or atomic) of the peer
 * @wire_op: enum mroce_wire_opcode
 * @wr_op: enum ib_wc_opcode, for the completion
 * @flags: IB_SEND_*
 * @status: IB_WC_SUCCESS, or the error it will complete with when its turn comes
 * @inl: the data follows in place of @sge
 * @first_psn, @n_pkts: its psns
 * @len: message length; of a fetch, how much it fetches
 * @unit_bytes: payload per packet, fixed when the request was taken
 * @num_sge: elements in @sge
 * @access: right the regions of @sge must give
 * @rsn: number of the receive it consumes at the peer, or of the fetch it is or answers
 * @resp_psn, @n_resp: of a fetch: psns of its responses
 * @imm: immediate
 * @op: of an atomic: operands
 * @sge: or inline data
 */
struct mroce_swqe {
	u64 wr_id;
	u8 wire_op;
	u8 wr_op;
	u8 flags;
	u8 status;
	bool inl;
	u32 first_psn;
	u32 n_pkts;
	u32 len;
	u16 unit_bytes;
	u16 num_sge;
	int access;
	u32 rsn;
	u32 rkey;
	u64 raddr;
	u32 resp_psn;
	u32 n_resp;
	__be32 imm;
	struct mroce_atomic_op op;
	struct mroce_place_sge sge[];
};

/**
 * struct mroce_txq - a sending stream and the messages it is cut from
 * @lock: BH; protects everything here but @waiting and @wait_node
 * @qp: whose
 * @stream: MROCE_STREAM_REQ or MROCE_STREAM_RESP
 * @wqe: @entries (a power of two) messages, @wqe_stride bytes each
 * @head: index of the next message to come
 * @send: index of the one new packets are cut from; == @head: none
 * @una: index of the oldest one not completed
 * @next_psn: psn of the next message
 * @stalled: a message cannot be sent: nothing behind it is
 * @stopped: the QP is going or in RESET: the timer is not armed any more
 * @waiting: on mroce_conn.waiters; under its tx_lock
 * @wait_node: see @waiting
 * @txs: state of the stream
 * @timer: stream timer (mroce_txs_timer); armed only while the stream is busy
 * @timer_at: when it is armed for, U64_MAX = not armed
 * @cause: why a psn of the window is in txs.rtx or txs.deferred: enum mroce_ps_cause,
 *	4 bits each (mroce_stats.c); allocated for the first, there until all is accepted
 */
struct mroce_txq {
	spinlock_t lock;	/* everything here but the waiting */
	struct mroce_qp *qp;
	u8 stream;
	void *wqe;
	u32 wqe_stride;
	u32 entries;
	u32 head;
	u32 send;
	u32 una;
	u32 next_psn;
	bool stalled;
	bool stopped;
	bool waiting;
	struct list_head wait_node;
	struct mroce_txs txs;
	struct hrtimer timer;
	u64 timer_at;
	u8 *cause;
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
 * struct mroce_rxq - a receiving stream; under the lock of the queue it is in
 * @stream: MROCE_STREAM_REQ or MROCE_STREAM_RESP
 * @rxs: state of the stream
 * @bits: its out-of-order memory, allocated at the first packet that is not the next one
 * @copies: packets claimed and being copied; the queue is flushed at 0
 * @recstate: record for the peer, under mroce_conn.rx_lock
 */
struct mroce_rxq {
	u8 stream;
	struct mroce_rxs rxs;
	struct mroce_rxs_bits *bits;
	unsigned int copies;
	struct mroce_recstate recstate;
};

/**
 * struct mroce_sq - send queue; everything under q.lock
 * @q: the request stream; its una is published as ring.hdr->cons
 * @ring: what the user posts
 * @post_lock: of a kernel user's posts, any context; nothing is taken under it
 * @max_wr, @max_sge, @max_inline: as promised to the user
 * @next_rsn: number of the next message that consumes a receive
 * @asleep: KICK is set in the ring: the user rings when he posts
 * @failed: a request has completed with an error; the rest is flushed
 * @drain_told: SQ_DRAINED was raised, or nobody asked for it
 * @rd: our fetches
 * @sink: their responses
 */
struct mroce_sq {
	struct mroce_txq q;
	struct mroce_ring ring;
	spinlock_t post_lock;	/* hdr->prod of a kernel user's ring */
	u32 max_wr;
	u32 max_sge;
	u32 max_inline;
	u32 next_rsn;
	bool asleep;
	bool failed;
	bool drain_told;
	struct mroce_rdreq rd;
	struct mroce_rxq sink;
};

/**
 * struct mroce_rdq - the peer's fetches
 * @q: the response stream; una and head are slots.una_sn and slots.exec_sn
 * @slots: the requests; under q.lock
 * @broken: one could not be answered: no more are executed
 */
struct mroce_rdq {
	struct mroce_txq q;
	struct mroce_rdslots slots;
	bool broken;
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
 * struct mroce_srq - shared receive queue
 * @lock: BH; protects everything that changes
 * @ring: what the user posts
 * @share: how far it is; share.done is published as ring.hdr->cons
 * @wqe: ring.entries private copies, @wqe_stride bytes each, of the receives that are bound
 * @unused: stack of the numbers of those that are not in use
 * @max_wr, @max_sge: as promised to the user
 * @num: distinguishes those of a device
 */
struct mroce_srq {
	struct ib_srq ibsrq;
	spinlock_t lock;	/* ring, share, wqe, unused */
	struct mroce_ring ring;
	struct mroce_share share;
	void *wqe;
	u32 wqe_stride;
	u16 *unused;
	u32 max_wr;
	u32 max_sge;
	u32 num;
};

/**
 * struct mroce_rq - receive queue
 * With a shared one there is no ring, and the copies are those of @srq; what is bound
 * to a message of this queue pair is numbered like messages all the same.
 * @lock: BH; protects everything here
 * @ring: what the user posts
 * @post_lock: as mroce_sq.post_lock
 * @srq: shared receive queue it takes its receives from, or NULL; the core keeps it
 * @wqe: private copies, @wqe_stride bytes each
 * @entries: how many may be bound, a power of two
 * @copy: with @srq: which copies these are
 * @bound: ring index of the next receive to bind = number of its message
 * @cons: ring index of the oldest receive not completed (published as hdr.cons)
 * @last_told: LAST_WQE_REACHED was raised
 * @rx: the request stream
 * @life: which incarnation of the peer's QP is meant
 * @est_told: COMM_EST was raised
 * @hold: how much of it is held back
 * @held: packets held back, by psn (struct sk_buff.rbnode)
 */
struct mroce_rq {
	spinlock_t lock;	/* everything here */
	struct mroce_ring ring;
	spinlock_t post_lock;	/* hdr->prod of a kernel user's ring */
	struct mroce_srq *srq;
	void *wqe;
	u32 wqe_stride;
	u32 entries;
	u16 *copy;
	u32 max_wr;
	u32 max_sge;
	u32 bound;
	u32 cons;
	struct mroce_rxq rx;
	struct mroce_life life;
	bool est_told;
	bool last_told;
	struct mroce_hold hold;
	struct rb_root held;
};

/**
 * struct mroce_qp - queue pair: RC, or UD, which has no connection (mroce_dgram.c)
 * @mutex: serialises modify, query, destroy
 * @ref: published in mroce_dev.qps; @released is completed when its refs are gone
 * @state: enum ib_qp_state; written under sq.q.lock and rq.lock, read under either
 * @attr: verbs attributes as last set; under @mutex
 * @conn: set at RTR, held until destroy or RESET; written under both locks
 * @dest_qpn: peer's QPN
 * @qkey: of a UD queue pair; written under both locks
 * @incarnation: ours, new at each RTR; @gen tells records of older lives apart
 * @sq_sig_all: IB_SIGNAL_ALL_WR
 * @min_rnr_timer: verbs code reported with our RNR refusals
 * @access: qp_access_flags: what the peer may do
 * @ordering: enum mroce_hold_mode
 * @paths: how many paths it prefers, 0 = all; @plane_mask: which planes, bit = label, 0 = all
 * @user: number of the program it belongs to; kernel users are 0
 * @gsi: of the general services queue pair (mroce_gsi.c), else NULL
 * @kick: what a post of a kernel user, or a long doorbell, leaves to others (mroce_kverbs.c)
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
	u32 qkey;
	u16 incarnation;
	bool sq_sig_all;
	u8 min_rnr_timer;
	u8 ordering;
	u8 paths;
	u64 plane_mask;
	unsigned int user;
	struct mroce_compat_bh kick;
	struct mroce_gsi *gsi;
	int access;
	struct mroce_sq sq;
	struct mroce_rq rq;
	struct mroce_rdq rdq;
};

static inline struct mroce_qp *to_mqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct mroce_qp, ibqp);
}

/* Its rings are memory that only the kernel writes. */
static inline bool mroce_qp_is_kernels(const struct mroce_qp *qp)
{
	return !qp->sq.ring.entry;
}

static inline struct mroce_srq *to_msrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct mroce_srq, ibsrq);
}

static inline struct mroce_swqe *mroce_txq_wqe(const struct mroce_txq *q, u32 idx)
{
	return q->wqe + (size_t)(idx & (q->entries - 1)) * q->wqe_stride;
}

static inline struct mroce_rwqe *mroce_rq_wqe(struct mroce_rq *rq, u32 idx)
{
	idx &= rq->entries - 1;
	if (rq->copy)
		idx = rq->copy[idx];
	return rq->wqe + (size_t)idx * rq->wqe_stride;
}

#endif /* MROCE_QP_H */
