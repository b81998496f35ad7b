/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One path of a connection, sending side: its state machine and what belongs to
 * it. A path is a source port; the network hashes it to a route.
 *
 *	PROBING --probes good--> ACTIVE <--acked-- SUSPECT --timeout--> FAILED
 *	 ^   ^			    |			^		  |
 *	 |   |			    +---timeout---------+		  |
 *	 |   +-------------------------new source port--------------------+
 *	 |
 *	 +-------a plane-------- OFF <--no plane-- (any state)
 *
 * The plane of an OFF path cannot carry packets, or is gone. Only ACTIVE paths carry
 * data. Who decides that a timeout is the path's fault and not the peer's: pathset.c.
 *
 * Pure: the caller serialises all calls.
 */
#ifndef MROCE_PROTO_PATH_H
#define MROCE_PROTO_PATH_H

#include "cc.h"
#include "rtt.h"
#include "scoreboard.h"

/** Source ports: the dynamic range, which RoCE uses too. */
#define MROCE_SPORT_FIRST	49152u
#define MROCE_SPORT_COUNT	16384u

/** Time over which mroce_path_speed() is an average, at least. */
#define MROCE_PATH_SPEED_NS	10000000ull
/** Without news for so long a path's speed is 0. */
#define MROCE_PATH_STALE_NS	1000000000ull

/** Smoothing of loss and mark rates: a packet's weight is one over this. */
#define MROCE_PATH_RATE_PKTS	128u

/** Window of a path that has just proved itself, packets. */
#define MROCE_PATH_FRESH_PKTS	2
/** Good probes that make a path ACTIVE. */
#define MROCE_PATH_GOOD_PROBES	3
/** First interval of unanswered probes of a PROBING path, doubling. */
#define MROCE_PROBE_MIN_NS	1000000ull
/** Longest interval while the connection works on other paths. */
#define MROCE_PROBE_MAX_NS	64000000ull
/** Longest interval while it is idle or silent. */
#define MROCE_PROBE_IDLE_NS	1000000000ull

/** A path whose packets the local stack refuses rests for so long, doubling each time. */
#define MROCE_REFUSED_MIN_NS	1000000ull
#define MROCE_REFUSED_DOUBLINGS	6

/** enum mroce_path_state - names in mroce_path_state_name[] */
enum mroce_path_state {
	MROCE_PATH_PROBING,	/* new port, not yet proved */
	MROCE_PATH_ACTIVE,	/* carries data */
	MROCE_PATH_SUSPECT,	/* silent for a probe timeout: no new data */
	MROCE_PATH_FAILED,	/* silent while others were heard; passed through only */
	MROCE_PATH_OFF,		/* no plane */
	MROCE_PATH_STATES
};

extern const char *const mroce_path_state_name[MROCE_PATH_STATES];

/** enum mroce_path_ev - what moves a path from state to state */
enum mroce_path_ev {
	MROCE_PATH_EV_ACKED,	/* something came back */
	MROCE_PATH_EV_PROVED,	/* enough probes of the new port came back */
	MROCE_PATH_EV_PTO,	/* silent for a probe timeout, others were heard */
	MROCE_PATH_EV_MUTE,	/* silent for long, and so is everything else */
	MROCE_PATH_EV_REROLL,	/* new source port */
	MROCE_PATH_EV_OFF,	/* its plane does not work any more */
	MROCE_PATH_EV_ON,	/* it has got a plane */
	MROCE_PATH_EVS
};

/**
 * struct mroce_path - one path
 * @sb: what is in flight; set @sb.rec before mroce_pathset_init()
 * @rtt: round trip
 * @cc: window
 * @state: enum mroce_path_state
 * @id: index in the connection
 * @plane: index of its plane: the place of a pair (pairs.h)
 * @skip: rotations of the scheduler that pass over this path (it was marked)
 * @acts: actions the timer still has to hand out, bit = enum mroce_ps_act
 * @n_pto: probe timeouts in a row
 * @good_probes: answered while PROBING
 * @backoff: doublings of the probe interval while PROBING
 * @grace: its timer ran late, and it was given more time; until it is heard
 * @n_refused: rests since it was heard, for the next one's length
 * @sport: UDP source port, host order; distinct between the paths of a connection
 * @owner_cpu: CPU that sent last; while anything is in flight only it may send
 * @ce_seen: highest CE count reported
 * @loss_q16: smoothed loss rate, 65536 = everything, over MROCE_PATH_RATE_PKTS
 * @mark_q16: smoothed share of marked packets, likewise
 * @rate_pkts: packets since the rates were last compared with the other paths'
 * @last_ack_ns: last time the path was heard
 * @rest_ns: no data before then, the local stack has refused some; 0 = it does not rest
 * @timer_ns: no timeout before then; PROBING: next probe; 0 = by the oldest packet alone
 * @tx_pkts, @tx_bytes: data sent (telemetry, as all below)
 * @acked_pkts, @acked_bytes, @lost_pkts, @spurious_pkts, @marked_pkts: what became of it
 * @retrans_pkts: data sent here that was sent before, on any path; counted by the glue
 * @speed_bytes: acknowledged bytes for each second, over the last time it was measured
 * @speed_ns, @speed_from_bytes: when the measurement under way began, @acked_bytes then
 * @ptos, @rerolls: probe timeouts, changes of source port
 */
struct mroce_path {
	struct mroce_sb sb;
	struct mroce_rtt rtt;
	struct mroce_cc_path cc;
	u8 state;
	u8 id;
	u8 plane;
	u8 skip;
	u8 acts;
	u8 n_pto;
	u8 good_probes;
	u8 backoff;
	u8 n_refused;
	bool grace;
	u16 sport;
	int owner_cpu;
	u32 ce_seen;
	u32 loss_q16;
	u32 mark_q16;
	u32 rate_pkts;
	u64 last_ack_ns;
	u64 rest_ns;
	u64 timer_ns;
	u64 tx_pkts;
	u64 tx_bytes;
	u64 acked_pkts;
	u64 acked_bytes;
	u64 lost_pkts;
	u64 spurious_pkts;
	u64 marked_pkts;
	u64 retrans_pkts;
	u64 speed_bytes;
	u64 speed_ns;
	u64 speed_from_bytes;
	u64 ptos;
	u64 rerolls;
};

/** mroce_path_init() - ACTIVE, nothing in flight, first sequence @seq */
void mroce_path_init(struct mroce_path *p, u8 id, u32 seq, u16 sport, u64 now);

/**
 * mroce_path_event() - move @p by the table
 * An event that means nothing in a state leaves it.
 * Return: true when the state changed.
 */
bool mroce_path_event(struct mroce_path *p, enum mroce_path_ev ev);

/** mroce_path_rate() - account @hits of @n packets in the rate @q16, smoothed over @span_pkts */
void mroce_path_rate(u32 *q16, u32 span_pkts, u32 n, u32 hits);

/** mroce_path_acked() - @bytes of data were acknowledged */
void mroce_path_acked(struct mroce_path *p, u32 bytes, u64 now);

/** mroce_path_speed() - bytes acknowledged for each second of the recent past; telemetry */
u64 mroce_path_speed(const struct mroce_path *p, u64 now);

/**
 * mroce_path_marks() - packets newly reported with CE
 * @ce_count: the peer's running count; one that goes back is stale and ignored
 */
u32 mroce_path_marks(struct mroce_path *p, u32 ce_count);

/** mroce_path_owned() - may @cpu send on @p without disturbing its order? */
static inline bool mroce_path_owned(const struct mroce_path *p, int cpu)
{
	return !p->sb.inflight_pkts || p->owner_cpu == cpu;
}

#endif /* MROCE_PROTO_PATH_H */
