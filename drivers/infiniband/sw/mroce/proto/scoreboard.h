/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scoreboard of one path, sending side: what is in flight, and what became of
 * it. A path keeps its order, so a hole below the highest sequence received is
 * a loss at once (gap rule); where order cannot be relied on (packets of an
 * older epoch, a path that was seen to reorder) packets are lost by time
 * (RACK, RFC 8985).
 *
 *	      mroce_sb_sent()
 *	FREE ----------------> OUT --acked, refused, flushed, dropped--> FREE
 *				|
 *				+--gap--> LOST --acked after all (spurious)--> FREE
 *
 * Records live in a ring of MROCE_SB_SPAN; states are kept in two bit vectors,
 * so that taking in an acknowledgment costs a few word operations plus work
 * for each packet that changes state. The ring slot of a sequence is its
 * complement: slots then ascend with age, as the bits of an ACK do, and the two
 * differ by a rotation only.
 *
 * Pure: times are arguments (u64 ns), memory is the caller's, the caller
 * serialises all calls.
 */
#ifndef MROCE_PROTO_SCOREBOARD_H
#define MROCE_PROTO_SCOREBOARD_H

#include "seq.h"
#include "wire.h"

/** Sequences from the oldest packet in flight to the newest sent: what the vector covers. */
#define MROCE_SB_SPAN		256
/** Largest reordering tolerance, packets: leaves room in the vector behind it. */
#define MROCE_SB_MAX_TOL	192
/** Packets acknowledged without a spurious loss that halve the tolerance. */
#define MROCE_SB_TOL_DECAY	256
/** Smallest reordering window of the time rule. */
#define MROCE_SB_REO_MIN_NS	100000ull

/**
 * struct mroce_sb_rec - one transmission
 * @sent_ns: when
 * @stream: stream id: stream << 24 | qpn; an id, never a pointer
 * @psn: what
 * @bytes: what it counts against the windows; 0 for a probe
 * @gen: incarnation of the QP
 * @probe: a PROBE: carries no data, never reported in an event
 */
struct mroce_sb_rec {
	u64 sent_ns;
	u32 stream;
	u32 psn;
	u32 bytes;
	u16 gen;
	bool probe;
};

/** enum mroce_ps_event_kind - what became of a packet */
enum mroce_ps_event_kind {
	MROCE_PS_LOST,
	MROCE_PS_REFUSED,
};

/** enum mroce_ps_cause - why a packet has to go again; names in mroce_ps_cause_name[] */
enum mroce_ps_cause {
	MROCE_PS_GAP,		/* LOST: later ones of its path arrived */
	MROCE_PS_TIME,		/* LOST: packets sent well after it arrived */
	MROCE_PS_FLUSHED,	/* LOST: its path failed, or the connection began anew */
	MROCE_PS_LOCAL,		/* LOST: the local stack did not take it */
	MROCE_PS_UNWANTED,	/* REFUSED: it arrived and was not accepted */
	MROCE_PS_TIMEOUT,	/* the stream's timer, never in an event: no news of it */
	MROCE_PS_CAUSES
};

extern const char *const mroce_ps_cause_name[MROCE_PS_CAUSES];

/**
 * struct mroce_ps_event - what became of a packet
 * @kind: enum mroce_ps_event_kind
 * @cause: enum mroce_ps_cause
 * @path: where
 * @gen: incarnation of the QP
 * @stream: stream id as given when it was sent
 * @psn: which packet of the stream
 */
struct mroce_ps_event {
	u8 kind;
	u8 cause;
	u8 path;
	u16 gen;
	u32 stream;
	u32 psn;
};

/**
 * struct mroce_sb - scoreboard of one path
 * @rec: MROCE_SB_SPAN records, the caller's memory, index = slot
 * @path: path index, copied into events
 * @filled: slots ever used, up to MROCE_SB_SPAN: tells sequences never sent
 * @reo_tol: packets that may arrive after a missing one before it is lost
 * @reo_run: packets acknowledged since the last spurious loss or decay
 * @next_seq: next sequence to use
 * @una_seq: oldest sequence OUT; @next_seq when nothing is
 * @highest_acked: highest sequence the peer has reported; first - 1 at start
 * @epoch_seq: first sequence of this epoch (source port)
 * @inflight_bytes: bytes OUT
 * @inflight_pkts: records OUT, probes included
 * @inflight_data: records OUT, probes not included
 * @newest_acked_ns: latest send time among acknowledged packets
 * @out: bit = slot: OUT
 * @lost: bit = slot: LOST by the gap rule
 */
struct mroce_sb {
	struct mroce_sb_rec *rec;
	u8 path;
	u16 filled;
	u16 reo_tol;
	u16 reo_run;
	u32 next_seq;
	u32 una_seq;
	u32 highest_acked;
	u32 epoch_seq;
	u32 inflight_bytes;
	u32 inflight_pkts;
	u32 inflight_data;
	u64 newest_acked_ns;
	u64 out[MROCE_VEC_WORDS];
	u64 lost[MROCE_VEC_WORDS];
};

/**
 * struct mroce_ps_ack_result - what one or more calls changed; added to, never reset
 * @acked_pkts: data packets acknowledged (refused ones too: they arrived)
 * @acked_bytes: their bytes
 * @lost_pkts: data packets lost
 * @lost_bytes: their bytes
 * @spurious_pkts: packets that were taken for lost and arrived
 * @marked_pkts: data packets that met congestion (set by mroce_pathset_ack())
 * @rtt_ns: age of the packet that anchors the vector, if acknowledged now; else 0
 * @late_ns: greatest age of a packet counted in @spurious_pkts when it was reported
 * @heard: the acknowledgment said something new
 * @advanced: it reported a higher sequence than any before
 * @more: the event array was full
 */
struct mroce_ps_ack_result {
	u32 acked_pkts;
	u32 acked_bytes;
	u32 lost_pkts;
	u32 lost_bytes;
	u32 spurious_pkts;
	u32 marked_pkts;
	u64 rtt_ns;
	u64 late_ns;
	bool heard;
	bool advanced;
	bool more;
};

/** mroce_sb_init() - nothing in flight, @seq is the first sequence; sb->rec must be set */
void mroce_sb_init(struct mroce_sb *sb, u8 path, u32 seq);

/** Sequences of the span that data leaves to PROBEs: those must go when data waits. */
#define MROCE_SB_PROBE_RESERVE	32

/** mroce_sb_can_send() - the span has room for one more PROBE */
static inline bool mroce_sb_can_send(const struct mroce_sb *sb)
{
	return sb->next_seq - sb->una_seq < MROCE_SB_SPAN;
}

/** mroce_sb_can_send_data() - the span has room for one more data packet */
static inline bool mroce_sb_can_send_data(const struct mroce_sb *sb)
{
	return sb->next_seq - sb->una_seq < MROCE_SB_SPAN - MROCE_SB_PROBE_RESERVE;
}

/** mroce_sb_sent() - @rec goes out (mroce_sb_can_send() was true). Return: its sequence. */
u32 mroce_sb_sent(struct mroce_sb *sb, const struct mroce_sb_rec *rec);

/**
 * mroce_sb_oldest_ns() - send time of the oldest packet in flight
 * Meaningful only while sb->inflight_pkts is not 0.
 */
u64 mroce_sb_oldest_ns(const struct mroce_sb *sb);

/**
 * mroce_sb_ack() - take in a path part
 * @reorder_ns: for the time rule: a round trip, more on a path that reorders
 * @d: added to
 * @ev: LOST and REFUSED events
 *
 * Parts about sequences never sent, or too old to have records, change nothing.
 * When @ev is full, d->more is set and a repeated call goes on.
 * Return: events filled.
 */
int mroce_sb_ack(struct mroce_sb *sb, const struct mroce_ack_part *part, u64 reorder_ns, u64 now,
		 struct mroce_ps_ack_result *d, struct mroce_ps_event *ev, int max);

/**
 * mroce_sb_time_loss() - the time rule on its own (RFC 8985, 6.2 step 5)
 * A packet is lost when one sent more than r + max(r / 4, 100 us) after it was
 * acknowledged. r is @reorder_ns: srtt, and on a path that reorders 4 rttvar more.
 * Return: events filled; d->more as above.
 */
int mroce_sb_time_loss(struct mroce_sb *sb, u64 reorder_ns, struct mroce_ps_ack_result *d,
		       struct mroce_ps_event *ev, int max);

/** mroce_sb_flush() - declare everything in flight lost; call until d->more stays false */
int mroce_sb_flush(struct mroce_sb *sb, struct mroce_ps_ack_result *d, struct mroce_ps_event *ev,
		   int max);

/**
 * mroce_sb_drop() - @seq never left the host: out of flight, no loss
 * Return: true with @ev when it was a data packet in flight.
 */
bool mroce_sb_drop(struct mroce_sb *sb, u32 seq, struct mroce_ps_event *ev);

/** mroce_sb_forget_probes() - take unanswered PROBEs out of flight */
void mroce_sb_forget_probes(struct mroce_sb *sb);

/**
 * mroce_sb_new_epoch() - the source port changes
 * The gap rule does not reach back over this point.
 */
void mroce_sb_new_epoch(struct mroce_sb *sb);

#endif /* MROCE_PROTO_SCOREBOARD_H */
