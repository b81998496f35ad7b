/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending end of a stream: which psns may go, which must go again, what the
 * peer's records mean, and the verbs' timeout, retry and RNR rules.
 *
 * A psn below @una is accepted for good. A psn in [una, nxt) is in flight, in
 * the retransmit set (declared lost: goes again before anything new) or in the
 * deferred set (refused: goes again when the peer makes room or the RNR time is
 * over). The path level tells about lost and refused packets, the stream
 * records about acceptance.
 *
 * Pure: times are arguments (u64 ns), the caller serialises all calls.
 */
#ifndef MROCE_PROTO_TXS_H
#define MROCE_PROTO_TXS_H

#include "psnset.h"
#include "seq.h"
#include "wire.h"

/**
 * Refused packets that go again at once when nobody knows whether they are
 * welcome now: enough to fill a round trip of a small message, few enough that
 * a peer without receives costs next to nothing. The rest follows the record.
 */
#define MROCE_TXS_GO_PKTS	32
/** Ceiling of the back-off between questions and between tries, ns */
#define MROCE_TXS_BACKOFF_MAX_NS	100000000ull
/** Round trip estimates below this are not believed, ns */
#define MROCE_TXS_RTO_MIN_NS	10000ull
/** After so many questions without progress una goes again, in case it was forgotten */
#define MROCE_TXS_ASK_TRUST	6
/** The verbs timeout is never shorter than this many round trip estimates. */
#define MROCE_TXS_TIMEOUT_RTOS	4
/** Period between resends of a stream whose verbs timeout is "for ever", ns */
#define MROCE_TXS_FOREVER_NS	1000000000ull
/**
 * A peer that lives but accepts nothing has this many times the budget of a
 * silent one: (retry_cnt + 1) periods each.
 */
#define MROCE_TXS_ALIVE_BUDGETS	8

/**
 * struct mroce_txs_cfg - verbs attributes of a stream
 * @window: psns, at most MROCE_STREAM_WINDOW
 * @timeout: verbs code: 4.096 us * 2^timeout; 0 = for ever
 * @retry_cnt: silent periods allowed after the first, 0..7
 * @rnr_retry: RNR refusals allowed, 7 = for ever
 */
struct mroce_txs_cfg {
	u32 window;
	u8 timeout;
	u8 retry_cnt;
	u8 rnr_retry;
};

/**
 * struct mroce_txs - sending end of one stream
 * @cfg: attributes
 * @una: oldest psn not yet accepted
 * @nxt: next new psn
 * @limit: valid when @limited: no psn at or after it may go, but @una itself may
 * @recno: newest record seen; @rec_seen: any seen
 * @owed: the peer owes responses (the owner sets it): the stream counts as busy
 *	for its timer and for fatal records although all of it may be accepted
 * @limited: a refusal is in force, or a few refused packets were sent to try
 * @refusals: peer's refusal count at the last RNR counted
 * @rnr_wait: waiting for @rnr_until before refused packets go again
 * @rnr_left: RNR retries left
 * @retry_left: timeout retries left
 * @ask_shift: back-off of the questions, a shift of the round trip estimate
 * @go_shift: back-off of the tries of refused packets, likewise
 * @progress_ns: last time the peer accepted something, an RNR wait ended, or
 *	the stream became busy; what @ask_ns and the larger budget count from
 * @alive_ns: start of the silent period under way: @progress_ns, the last sign
 *	of life of the peer, or the last verbs timeout
 * @ask_ns: when the peer was last asked about the stream
 * @go_ns: when refused packets that no RNR wait holds go again; 0 = not set yet
 * @rescues: packets sent again since the peer accepted something
 * @n_rtx: bits set in @rtx; @n_deferred: in @deferred
 * @rtx: psns to send again now
 * @deferred: psns refused
 */
struct mroce_txs {
	struct mroce_txs_cfg cfg;
	u32 una;
	u32 nxt;
	u32 limit;
	u32 recno;
	bool rec_seen;
	bool owed;
	bool limited;
	bool rnr_wait;
	u8 rnr_left;
	u8 retry_left;
	u8 ask_shift;
	u8 go_shift;
	u16 refusals;
	u32 rescues;
	u32 n_rtx;
	u32 n_deferred;
	u64 rnr_until;
	u64 progress_ns;
	u64 alive_ns;
	u64 ask_ns;
	u64 go_ns;
	u64 rtx[MROCE_STREAM_WORDS];
	u64 deferred[MROCE_STREAM_WORDS];
};

/** enum mroce_txs_result - what a stream record did (bits) */
enum mroce_txs_result {
	MROCE_TXS_ADVANCED	= 1 << 0,	/* una moved: complete work requests below it */
	MROCE_TXS_RESUME	= 1 << 1,	/* packets became sendable */
	MROCE_TXS_RNR		= 1 << 2,	/* RNR wait begun or renewed */
	MROCE_TXS_RNR_EXCEEDED	= 1 << 3,	/* fatal: RNR retries used up */
	MROCE_TXS_FATAL		= 1 << 4,	/* fatal syndrome in effect at una */
	MROCE_TXS_STALE		= 1 << 5,	/* older record or out of range: ignored */
};

/** enum mroce_txs_action - what the stream's timer demands */
enum mroce_txs_action {
	MROCE_TXS_IDLE,		/* nothing; see *next_ns */
	MROCE_TXS_ASK,		/* ask the peer about this stream (PROBE); una may be to go again */
	MROCE_TXS_RESEND,	/* a verbs timeout: una was put into the retransmit set, and ask */
	MROCE_TXS_GO,		/* RNR wait over: deferred packets may go */
	MROCE_TXS_EXCEEDED,	/* fatal: retries used up */
};

/** mroce_txs_init() - start at @psn */
void mroce_txs_init(struct mroce_txs *s, u32 psn, const struct mroce_txs_cfg *cfg);
/** mroce_txs_busy() - something is sent and not accepted */
bool mroce_txs_busy(const struct mroce_txs *s);
/** mroce_txs_engaged() - busy, or responses are owed: the timer must run */
bool mroce_txs_engaged(const struct mroce_txs *s);
/**
 * mroce_txs_room() - how many new psns may be numbered now (window, limit, RNR)
 * None while refused packets wait: new ones would be refused too.
 */
u32 mroce_txs_room(const struct mroce_txs *s);
/** mroce_txs_sent() - the @n next new psns have been handed to a path at @now */
void mroce_txs_sent(struct mroce_txs *s, u32 n, u64 now);
/**
 * mroce_txs_next_rtx() - lowest psn that must go again and may go now
 * Return: false if there is none. Changes nothing.
 */
bool mroce_txs_next_rtx(const struct mroce_txs *s, u32 *psn);
/** mroce_txs_resent() - @psn has been handed to a path again: out of the retransmit set */
void mroce_txs_resent(struct mroce_txs *s, u32 psn);

/**
 * mroce_txs_stuck() - as much has been sent again as is in flight, and nothing was accepted
 * What is lost goes again before anything new, but when that does not help other streams
 * of the connection must have their turn, too.
 */
static inline bool mroce_txs_stuck(const struct mroce_txs *s)
{
	return s->rescues && s->rescues >= s->nxt - s->una;
}

/**
 * mroce_txs_lost() - the path level lost @psn
 * Return: true when it must go again and may go now. False: it was accepted
 * meanwhile, or a refusal or an RNR wait holds it back and mroce_txs_next_rtx()
 * will bring it.
 */
bool mroce_txs_lost(struct mroce_txs *s, u32 psn);
/**
 * mroce_txs_refused() - @psn arrived and was refused: into the deferred set
 * Nothing happens when it was accepted meanwhile. Of one ACK, pass on the lost
 * and refused packets before the records: the records are the newer news.
 */
void mroce_txs_refused(struct mroce_txs *s, u32 psn);
/**
 * mroce_txs_record() - take in a stream record
 * Ignores records older than the newest seen and cumulative psns outside
 * [una, nxt]. Deferred psns below the new limit, and una, move to the retransmit
 * set when cum advanced; all of them when a limit in force ends. A repeated
 * record burns no second RNR retry (refusal count). Any advance refills both
 * retry budgets; any record taken in is a sign of life, see mroce_txs_heard().
 * MROCE_SYN_NO_QP comes from a peer without the stream's state: its recno and
 * cum_psn are not looked at.
 * Return: enum mroce_txs_result bits.
 */
u32 mroce_txs_record(struct mroce_txs *s, const struct mroce_rec *rec, u64 now);
/**
 * mroce_txs_timer() - what is due at @now
 * @rto_ns: round trip estimate of the connection (srtt + 4 rttvar + ack delay)
 * @next_ns: out: when to call again, always after @now; U64_MAX = not needed
 *
 * The rules, strongest first:
 *  - during an RNR wait nothing runs but the wait; its end is GO;
 *  - a silent period is the verbs timeout, at least MROCE_TXS_TIMEOUT_RTOS round
 *    trips, since the peer was last heard of: RESEND, retry_cnt times, then
 *    EXCEEDED. With timeout code 0: RESEND every MROCE_TXS_FOREVER_NS, for ever;
 *  - MROCE_TXS_ALIVE_BUDGETS * (retry_cnt + 1) periods without acceptance are
 *    EXCEEDED although the peer is heard (timeout code 0: never);
 *  - refused packets that no RNR wait holds: GO after one round trip, doubling;
 *  - no acceptance for one round trip: ASK, doubling.
 *
 * Call it when a stream becomes busy, after mroce_txs_record() and
 * mroce_txs_refused() (these bring deadlines forward), and at *@next_ns.
 */
enum mroce_txs_action mroce_txs_timer(struct mroce_txs *s, u64 now, u64 rto_ns, u64 *next_ns);
/**
 * mroce_txs_accept() - everything before @psn is accepted, as something other than
 * a record of the stream shows: a response to it, or a later request
 * Nothing happens when @psn is outside (una, nxt]. A refusal stays in force as long
 * as something is out.
 * Return: true when una moved.
 */
bool mroce_txs_accept(struct mroce_txs *s, u32 psn, u64 now);
/**
 * mroce_txs_asked() - the peer was asked often enough: what it has not accepted by now
 * it does not have
 */
bool mroce_txs_asked(const struct mroce_txs *s);
/** mroce_txs_progress() - part of an owed response has come at @now */
void mroce_txs_progress(struct mroce_txs *s, u64 now);
/** mroce_txs_drop() - nobody wants what was sent: the next psn is @psn, nothing is out */
void mroce_txs_drop(struct mroce_txs *s, u32 psn);
/**
 * mroce_txs_heard() - the path level heard of the peer at @now: it lives
 * Starts a new silent period and refills the timeout retries. It is no progress:
 * the larger budget of mroce_txs_timer() runs on. A time before the silent
 * period under way changes nothing.
 */
void mroce_txs_heard(struct mroce_txs *s, u64 now);
/** mroce_rnr_timer_ns() - verbs min_rnr_timer code (0..31) as time (IBTA table 45) */
u64 mroce_rnr_timer_ns(u8 code);
/** mroce_timeout_ns() - verbs timeout code as time, 4.096 us * 2^code; 0 (code 0) = for ever */
u64 mroce_timeout_ns(u8 code);

#endif /* MROCE_PROTO_TXS_H */
