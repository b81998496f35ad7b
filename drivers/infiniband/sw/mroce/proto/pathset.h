/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending end of a connection: its paths, their scoreboards, windows and
 * states, the choice of a path for a packet, and the timer.
 *
 * This is the face of the path level towards the glue; behind it are
 *   scoreboard	per path: what is in flight, gap and time rules, spurious loss
 *   rtt		smoothed round trip, probe timeout
 *   cc, cc_ecn	windows, behind struct mroce_cc_ops
 *   path		the state table
 *   sched		which path next
 *
 * Pure: times and random numbers are arguments, memory is the caller's, the
 * caller serialises all calls (the connection's transmit lock).
 */
#ifndef MROCE_PROTO_PATHSET_H
#define MROCE_PROTO_PATHSET_H

#include "cc.h"
#include "gate.h"
#include "pairs.h"
#include "path.h"
#include "scoreboard.h"
#include "wire.h"

#define MROCE_MAX_PATHS		32
#define MROCE_DEF_PATHS		8

/**
 * PROBEs of a connection to all planes that have not answered: one in so long. Whose their
 * addresses are only the peer has said, and he can name others as often as he likes.
 */
#define MROCE_STRANGER_NS	10000000ull
/** And so many at once: one for each path, after a silence. */
#define MROCE_STRANGER_BURST	MROCE_MAX_PATHS

/**
 * struct mroce_pathset_cfg - fixed when the connection opens
 * @n_paths: paths at the start, all of plane 0; 0..MROCE_MAX_PATHS
 * @max_paths: how many there may ever be: what the peer and the memory allow; 0 = @n_paths
 * @pkt_bytes: largest packet on the wire (payload + header), what windows count
 * @ack_delay_ns: peer's longest acknowledgment delay
 * @max_window_bytes: ceiling of the connection window, for each plane that works
 * @init_window_bytes: its start
 * @cc: congestion control
 * @strangers: the caller's, kept when the connection begins anew: how often an address that
 *	has not answered may be asked; NULL = no bound
 */
struct mroce_pathset_cfg {
	u8 n_paths;
	u8 max_paths;
	u32 pkt_bytes;
	u32 ack_delay_ns;
	u32 max_window_bytes;
	u32 init_window_bytes;
	const struct mroce_cc_ops *cc;
	struct mroce_gate *strangers;
};

/**
 * struct mroce_ps_plane - a plane of a connection, sending side (plane.h)
 * @used: it has paths
 * @proved: a path of it has been ACTIVE since all of them were silent
 * @draining: no new data
 * @n_paths: paths on it
 * @inflight_bytes, @inflight_pkts: sums over its paths
 * @served_bytes: data ever given to it, for the turn between equals
 * @rtt_ns: largest of the last round trips of its paths: what a queue they share has come to
 * @sampled_ns: when the last one was measured
 * @loss_q16: smoothed loss rate of all its paths, whatever their ports were
 */
struct mroce_ps_plane {
	bool used;
	bool proved;
	bool draining;
	u8 n_paths;
	u32 inflight_bytes;
	u32 inflight_pkts;
	u64 served_bytes;
	u64 rtt_ns;
	u64 sampled_ns;
	u32 loss_q16;
};

/**
 * struct mroce_pathset - all paths of a connection, sending side
 * @cfg: see there; @cfg.n_paths: entries of @path that have been in use
 * @path: cfg.max_paths entries, the caller's memory
 * @plane: planes, by the places of their pairs
 * @cc: state of the connection window
 * @inflight_bytes: sum over the paths
 * @inflight_pkts: sum over the paths
 * @rr: scheduler's rotation
 * @cur: path the burst under way goes to
 * @burst_bytes, @burst_pkts: what is left of it
 * @any: rotation of mroce_pathset_any() in silence
 * @doubted: planes, bit = place: a path fell silent, and nothing was heard there since. Others
 *	are taken as long as there are any: a plane mostly fails as a whole
 * @lossy: planes, bit = place, that lose far more than another one does: they get less
 * @unasked_pkts: packets sent since an acknowledgement was asked for
 * @turn: where the next timer round begins, so that all paths get their turn
 * @last_heard_ns: last acknowledgment on any path
 * @silent: every busy path is silent: the peer or the network, not a path
 * @n_silent: probe timeouts since
 * @asked_ns: the last of them
 * @silent_next_ns: no further timeout before then
 */
struct mroce_pathset {
	struct mroce_pathset_cfg cfg;
	struct mroce_path *path;
	struct mroce_ps_plane plane[MROCE_MAX_PAIRS];
	struct mroce_cc_conn cc;
	u32 inflight_bytes;
	u32 inflight_pkts;
	u8 rr;
	u8 cur;
	u8 any;
	u8 doubted;
	u8 lossy;
	u8 unasked_pkts;
	u8 turn;
	bool silent;
	u8 n_silent;
	u16 burst_pkts;
	u32 burst_bytes;
	u64 last_heard_ns;
	u64 asked_ns;
	u64 silent_next_ns;
};

/**
 * struct mroce_want - paths a stream prefers; it takes others rather than none
 * @paths: how many; 0 = all
 * @planes: places of planes, bit = place; 0 = all
 * @salt: which ones, so that streams with few paths do not all have the same
 */
struct mroce_want {
	u8 paths;
	u8 planes;
	u8 salt;
};

/* struct mroce_ps_event and struct mroce_ps_ack_result: scoreboard.h */

/** enum mroce_ps_act - what the timer or an acknowledgment demands of the glue */
enum mroce_ps_act {
	MROCE_PS_PROBE,		/* send a PROBE on .path (mroce_pathset_probe_sent) */
	MROCE_PS_REROLL,	/* .path got a new source port: drop its cached route */
	MROCE_PS_FLUSH,		/* .path failed: collect its packets with mroce_pathset_flush() */
};

struct mroce_ps_action {
	enum mroce_ps_act act;
	u8 path;
};

/**
 * mroce_pathset_init() - new connection, all paths ready to send
 * @path: cfg->max_paths zeroed entries; their .sb.rec point to MROCE_SB_SPAN
 *	records each, those beyond cfg->n_paths may have none yet
 * @rnd: random words, 2 per path: first path_seq and source port
 */
void mroce_pathset_init(struct mroce_pathset *ps, const struct mroce_pathset_cfg *cfg,
			struct mroce_path *path, const u32 *rnd, u64 now);

/**
 * mroce_pathset_pick() - choose a path for a packet of @bytes
 * @cpu: the sending CPU: a path with anything in flight belongs to the CPU that
 *	sent last on it
 * @prefer: path to use if it is healthy and has room (a retransmission), or -1
 *
 * Return: path index; -1 when no path has room (wait for an acknowledgment or
 * the timer). A retransmission (@prefer >= 0) may exceed the windows by one
 * packet, never the span.
 */
int mroce_pathset_pick(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer, u64 now);
/** mroce_pathset_pick_for() - the same, for a stream that prefers some paths; NULL = none */
int mroce_pathset_pick_for(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer,
			   const struct mroce_want *want, u64 now);

/**
 * mroce_pathset_sent() - the packet goes out on @idx
 * @stream: stream id: stream << 24 | qpn (local QPN)
 * @gen: incarnation of the QP
 * Return: its path_seq.
 */
u32 mroce_pathset_sent(struct mroce_pathset *ps, int idx, int cpu, u32 stream, u16 gen,
		       u32 psn, u32 bytes, u64 now);
/** mroce_pathset_ask() - should the packet just sent ask for an acknowledgement? One in 16. */
bool mroce_pathset_ask(struct mroce_pathset *ps);
/**
 * mroce_pathset_ask_end() - the same, when no other follows it for now
 * @blocked: because no path has room
 *
 * Asking before every pause would, on a full window, ask with each packet: the
 * acknowledgement of one makes room for one. There it is enough if a quarter of
 * what is in flight has not asked.
 */
bool mroce_pathset_ask_end(struct mroce_pathset *ps, bool blocked);
/**
 * mroce_pathset_probe_room() - may a PROBE be sent on @idx?
 * Older PROBEs make room for a new one. Where only data is in the way, the
 * data is given up instead: the timer hands it out with MROCE_PS_FLUSH.
 */
bool mroce_pathset_probe_room(struct mroce_pathset *ps, int idx);
/**
 * mroce_pathset_probe_full() - shall the next PROBE on @idx be as large as a full packet?
 * On a plane that has not proved that it can carry them, while others work. The first
 * PROBE is small: where the peer's word alone has sent us, little goes before there was
 * an answer.
 */
bool mroce_pathset_probe_full(const struct mroce_pathset *ps, int idx);
/**
 * mroce_pathset_may_ask() - may a PROBE be sent on @idx now?
 * Always, but on planes that have not answered: that counts as one sent (cfg.strangers).
 */
bool mroce_pathset_may_ask(const struct mroce_pathset *ps, int idx, u64 now);
/** mroce_pathset_forget_probes() - take unanswered PROBEs of a path out of flight */
void mroce_pathset_forget_probes(struct mroce_pathset *ps, struct mroce_path *p);
/** mroce_pathset_probe_sent() - a PROBE goes out on @idx; takes and returns a path_seq */
u32 mroce_pathset_probe_sent(struct mroce_pathset *ps, int idx, int cpu, u64 now);

/**
 * mroce_pathset_ack() - take in one path part of an ACK
 * @res: zeroed before the first call for this part, kept over repeats
 * @ev: filled with packets lost or refused (probes never appear)
 * Parts for unknown paths, or with path_seqs never sent, change nothing. A path that is PROBING
 * is proved only by parts that came by its plane (@part->by).
 * The order is fixed: account, detect loss, sample, policy, path state.
 * Return: events filled.
 */
int mroce_pathset_ack(struct mroce_pathset *ps, const struct mroce_ack_part *part, u64 now,
		      struct mroce_ps_ack_result *res, struct mroce_ps_event *ev, int max);

/**
 * mroce_pathset_flush() - declare everything in flight on @idx lost
 * Call until it returns less than @max.
 */
int mroce_pathset_flush(struct mroce_pathset *ps, int idx, struct mroce_ps_event *ev, int max);

/**
 * mroce_pathset_local_drop() - the local stack refused the packet @seq of @idx
 * Back-pressure, not network loss: out of flight, no window change. The path rests: for
 * a millisecond first, longer when nothing is heard of it between two refusals. The
 * deadline changes.
 * Return: true with @ev (as LOST) when it was a data packet still in flight.
 */
bool mroce_pathset_local_drop(struct mroce_pathset *ps, int idx, u32 seq, u64 now,
			      struct mroce_ps_event *ev);

/**
 * mroce_pathset_wake() - somebody begins to wait for the peer
 * In a silence that has lasted, probes have become rare, and his patience may be over
 * before the next one: they begin anew. The deadline changes.
 */
void mroce_pathset_wake(struct mroce_pathset *ps, u64 now);

/** mroce_pathset_deadline() - when the timer is due, U64_MAX = not needed */
u64 mroce_pathset_deadline(const struct mroce_pathset *ps);

/**
 * mroce_pathset_timer() - probe timeouts, time rule, failures, re-rolls
 * @rnd: a random word
 * Return: actions filled; call again until it returns less than @max.
 */
int mroce_pathset_timer(struct mroce_pathset *ps, u64 now, u32 rnd,
			struct mroce_ps_action *act, int max);

/**
 * mroce_pathset_time_loss() - packets lost by the time rule on @idx (other epoch, reordering path)
 * mroce_pathset_ack() applies the rule too; this is for callers without an ACK.
 */
int mroce_pathset_time_loss(struct mroce_pathset *ps, int idx, u64 now,
			    struct mroce_ps_event *ev, int max);

/**
 * mroce_pathset_any() - a path to reach the peer on when none has room
 * @cpu: the sending CPU: a path that another one is sending on is taken as the last
 * Return: the one heard last, of the ACTIVE ones if there are any; in silence each
 * one in turn. Never fails.
 */
int mroce_pathset_any(struct mroce_pathset *ps, int cpu);

/**
 * mroce_pathset_share() - the receiver's share of its inbound bandwidth, from an ACK
 * Caps the connection window; 0 changes nothing. See mroce_cc_share().
 */
void mroce_pathset_share(struct mroce_pathset *ps, u32 share_mbps, u64 now);

/**
 * mroce_pathset_rto_ns() - round trip estimate of the connection
 * The only one of these functions that may run at the same time as others: a guess then.
 * Return: the largest srtt + 4 rttvar of the live paths, + ack delay.
 */
u64 mroce_pathset_rto_ns(const struct mroce_pathset *ps);

#endif /* MROCE_PROTO_PATHSET_H */
