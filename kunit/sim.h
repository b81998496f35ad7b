/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A seeded simulation of two ends of a connection, built from the real parts of
 * proto/ (pathset, rxwin, txs, rxs, seg, wire), over paths that lose, delay,
 * reorder, duplicate, mark and die. Packets go through the codec; only the
 * payload has no bytes. After every step the invariants of sim_check.c hold.
 *
 * Nothing of KUnit is used here: the first broken rule is kept in the struct
 * and ends the run.
 */
#ifndef MROCE_KUNIT_SIM_H
#define MROCE_KUNIT_SIM_H

#include "back.h"
#include "pathset.h"
#include "rnd.h"
#include "rxs.h"
#include "rxwin.h"
#include "txs.h"

#define SIM_PATHS	8
#define SIM_QPS		4
#define SIM_MSGS	96	/* a QP and direction */
#define SIM_PSNS	8192	/* the same */
#define SIM_PKTS	4096	/* on the way at once */
#define SIM_PKT_ROOM	320	/* longest encoded packet */
#define SIM_PARTS	2	/* of an ACK */
#define SIM_RECS	4
#define SIM_EVENTS	3	/* of pathset calls: few, so that they resume */
#define SIM_MS		1000000ull
#define SIM_SEC		(1000 * SIM_MS)

/**
 * struct sim_cfg - one scenario
 * @n_paths, @n_qps, @n_msgs: how many (messages of each QP and direction)
 * @max_len: longest message, bytes; most are shorter
 * @unit: payload per packet
 * @one_way: only end 0 sends
 * @strict_cpu: all sending from one CPU
 * @loss_ppm, @ack_loss_ppm: of DATA and PROBE; of ACK and PROBE_ACK
 * @dup_ppm: second copy of any packet, some time later
 * @reorder_ppm: packets overtaken by later ones of the same path
 * @local_drop_ppm: refused by the local stack
 * @busy_ppm: packets refused though there is room (BUSY)
 * @late_copy_ppm: placements that take a while
 * @delay_ns: base delay one way
 * @skew_ns: path i has @delay_ns + i * @skew_ns
 * @ns_per_byte_q8: of each path, in 1/256; 0 = infinitely fast
 * @queue_ns: a path drops what would wait longer; 0 = never
 * @mark_ns: a path marks what waits longer; 0 = never
 * @posted: receives there from the start; later ones come one by one
 * @dead_path: ports that paths below this number have at @dead_at pass nothing
 *	from then on
 * @dead_half: and of all ports every other one, also those chosen later
 * @dead_at: see there; 0 = never
 * @silent_at, @silent_ns: nothing passes at all from .. for so long
 * @timeout: verbs code: with 7 retries a stream may be silent for 8 such times
 * @deadline_ns: everything must be complete by then
 * @rest_ns: and at rest after that time more; dead ports may be probed for ever
 */
struct sim_cfg {
	u8 n_paths;
	u8 n_qps;
	u8 n_msgs;
	u32 max_len;
	u32 unit;
	bool one_way;
	bool strict_cpu;
	u32 loss_ppm;
	u32 ack_loss_ppm;
	u32 dup_ppm;
	u32 reorder_ppm;
	u32 local_drop_ppm;
	u32 busy_ppm;
	u32 late_copy_ppm;
	u64 delay_ns;
	u64 skew_ns;
	u32 ns_per_byte_q8;
	u64 queue_ns;
	u64 mark_ns;
	u32 posted;
	u8 dead_path;
	bool dead_half;
	u64 dead_at;
	u64 silent_at;
	u64 silent_ns;
	u8 timeout;
	u64 deadline_ns;
	u64 rest_ns;
};

/** struct sim_msg - a message, known to both ends of the simulation */
struct sim_msg {
	u8 opcode;
	bool received;
	bool sent;
	u32 psn;
	u32 n_pkts;
	u32 len;
	u32 rsn;
	u32 committed_bytes;
	u64 addr;
};

/**
 * struct sim_qp - one QP: what it sends, and what it receives of its peer
 * @msgs: messages it sends
 * @last_path: by psn - first_psn: path that carried it last
 * @next_msg, @next_idx: next packet never sent
 * @done: messages complete at the sender
 * @timer_ns: next look at @txs
 * @rxs: receiving end of the *peer's* messages, as all below
 * @placed: by psn - peer's first_psn: times placed
 * @rx_done: messages of the peer complete
 * @posted: receives posted
 * @recv: what is known of the message in receive rsn
 * @rec_left: ACKs that still have to carry a record
 * @post_ns: when the next receive is posted
 */
struct sim_qp {
	u32 first_psn;
	u32 n_msgs;
	struct sim_msg msgs[SIM_MSGS];
	u8 last_path[SIM_PSNS];
	struct mroce_txs txs;
	u32 next_msg;
	u32 next_idx;
	u32 done;
	u32 una_seen;
	u64 timer_ns;

	struct mroce_rxs rxs;
	struct mroce_rxs_bits bits;
	u8 placed[SIM_PSNS];
	u32 rx_done;
	u32 cum_seen;
	u32 posted;
	struct mroce_rxs_msg recv[SIM_MSGS];
	u8 rec_left;
	u64 post_ns;
};

/**
 * struct sim_end - one end: all paths as sender and as receiver, and the QPs
 * @dead_port, @dead_back: what the ports of path and back were when paths died
 * @turn: next QP to send; @ask_path: next path to ask on when none is in order
 * @retry_ns: the local stack is full until then
 */
struct sim_end {
	u8 id;
	struct mroce_pathset ps;
	struct mroce_path path[SIM_PATHS];
	struct mroce_sb_rec rec[SIM_PATHS][MROCE_SB_SPAN];
	struct mroce_rxwin rxwin[SIM_PATHS];
	struct sim_qp qp[SIM_QPS];
	struct mroce_back back[SIM_PATHS];
	u16 dead_port[SIM_PATHS];
	u16 dead_back[SIM_PATHS];
	u8 turn;
	u8 ask_path;
	u64 retry_ns;
};

/** enum sim_kind - what happens at the time of a struct sim_pkt */
enum sim_kind {
	SIM_ARRIVAL,
	SIM_COMMIT,
};

/**
 * struct sim_pkt - a packet on the way, or a placement under way
 * @order: decides between equal times
 * @total: bytes on the wire; @len of them are in @buf
 * @qp, @psn: of a SIM_COMMIT
 */
struct sim_pkt {
	u64 at;
	u64 order;
	u8 kind;
	u8 to;
	u8 path;
	u16 port;
	bool ce;
	u8 qp;
	u32 psn;
	u32 len;
	u32 total;
	u8 buf[SIM_PKT_ROOM];
};

/** struct sim_link - one direction of a path */
struct sim_link {
	u64 free_at;
	u64 last_arrival;
};

/**
 * struct sim - everything
 * @heap: indices into @pkt, ordered by time; @idle: unused ones
 * @broken: first rule that was broken, with two numbers
 * Counters: what happened, for scenarios that demand or forbid it.
 */
struct sim {
	struct sim_cfg cfg;
	struct rnd rnd;
	u64 now;
	u64 order;
	u64 steps;
	struct sim_end end[2];
	struct sim_link link[2][SIM_PATHS];
	struct sim_pkt pkt[SIM_PKTS];
	u16 heap[SIM_PKTS];
	u16 idle[SIM_PKTS];
	u32 n_heap;
	u32 n_idle;
	bool dying;
	const char *broken;
	u64 a, b;

	u32 n_data;
	u32 n_resent;
	u32 n_lost;
	u32 n_marked;
	u32 n_probes;
	u32 n_rerolls;
	u32 n_refused;
	u32 n_rnr;
	u32 n_dups;
	u32 n_spurious;
	u64 done_at;
};

static_assert(MROCE_ACK_HLEN + SIM_PARTS * (MROCE_ACK_PART_LEN + MROCE_ACK_REFUSED_LEN) +
	      SIM_RECS * MROCE_REC_LEN <= SIM_PKT_ROOM);
/* one allocation of a kernel */
static_assert(sizeof(struct sim) <= 2 << 20);

/** mroce_sim_run() - run the scenario in @cfg with @seed; result in @sim */
void mroce_sim_run(struct sim *sim, const struct sim_cfg *cfg, u64 seed);

/* Parts of the simulation for each other. */

static inline void sim_break(struct sim *sim, const char *what, u64 a, u64 b)
{
	if (sim->broken)
		return;
	sim->broken = what;
	sim->a = a;
	sim->b = b;
}

#define SIM_CHECK(sim, cond, a, b) do {					\
	if (!(cond))							\
		sim_break(sim, #cond, a, b);				\
} while (0)

/* sim_net.c */
void mroce_sim_net_init(struct sim *sim);
struct sim_pkt *mroce_sim_alloc(struct sim *sim);
void mroce_sim_free(struct sim *sim, struct sim_pkt *pkt);
void mroce_sim_push(struct sim *sim, struct sim_pkt *pkt);
struct sim_pkt *mroce_sim_pop(struct sim *sim);
u64 mroce_sim_next_ns(const struct sim *sim);
/* @pkt leaves end @from on @path; belongs to the network from now on */
void mroce_sim_xmit(struct sim *sim, int from, int path, struct sim_pkt *pkt);

/* sim_end.c */
void mroce_sim_end_init(struct sim *sim, struct sim_end *e);
u64 mroce_sim_end_deadline(const struct sim *sim, const struct sim_end *e);
void mroce_sim_end_timers(struct sim *sim, struct sim_end *e);
void mroce_sim_end_send(struct sim *sim, struct sim_end *e);
void mroce_sim_events(struct sim *sim, struct sim_end *e, const struct mroce_ps_event *ev, int n);
struct sim_msg *mroce_sim_msg_of(struct sim *sim, struct sim_qp *qp, u32 psn);
void mroce_sim_probe(struct sim *sim, struct sim_end *e, int path);
void mroce_sim_complete(struct sim *sim, struct sim_end *e, struct sim_qp *qp);
bool mroce_sim_end_done(const struct sim_end *e);

/* sim_recv.c */
void mroce_sim_arrival(struct sim *sim, struct sim_pkt *pkt);
void mroce_sim_commit(struct sim *sim, struct sim_end *e, int qp, u32 psn);
void mroce_sim_ack(struct sim *sim, struct sim_end *e, int path,
		   const struct mroce_probe_hdr *probe);
u64 mroce_sim_ack_deadline(const struct sim_end *e);
void mroce_sim_ack_timers(struct sim *sim, struct sim_end *e);

/* sim_check.c */
void mroce_sim_check(struct sim *sim);
void mroce_sim_check_quiet(struct sim *sim);

#endif /* MROCE_KUNIT_SIM_H */
