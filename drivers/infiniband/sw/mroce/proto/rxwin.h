/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving end of a path: the 256-bit vectors of what arrived and what was
 * refused, the CE count, and when an acknowledgment is due.
 *
 * Pure: times are arguments, the caller serialises all calls.
 */
#ifndef MROCE_PROTO_RXWIN_H
#define MROCE_PROTO_RXWIN_H

#include "seq.h"
#include "wire.h"

/** A path_seq further ahead than this is not believed. */
#define MROCE_RXWIN_MAX_JUMP	65536u
/**
 * So many packets in a row that are not believed, each following the one before, and
 * none that is: it was the window that was led astray.
 */
#define MROCE_RXWIN_STRAYS	4

/**
 * struct mroce_rxwin - receiving end of one path
 * @started: a packet has arrived
 * @highest: highest path_seq received
 * @rcvd: bit i: path_seq highest - i arrived
 * @refused: bit i: it arrived and was refused
 * @ce_count: packets that arrived with CE, running
 * @last_ce: the newest packet had CE
 * @unacked: packets since the last acknowledgment was built
 * @ack_now: an acknowledgment is due at once
 * @strays: packets in a row that were not believed; @stray_seq: the newest of them
 * @first_unacked_ns: arrival of the first unacknowledged packet
 * @highest_ns: arrival of @highest, for the ack delay
 */
struct mroce_rxwin {
	bool started;
	bool last_ce;
	bool ack_now;
	u8 strays;
	u16 unacked;
	u32 highest;
	u32 stray_seq;
	u32 ce_count;
	u64 rcvd[MROCE_VEC_WORDS];
	u64 refused[MROCE_VEC_WORDS];
	u64 first_unacked_ns;
	u64 highest_ns;
};

/** enum mroce_rxwin_verdict - what a path_seq is */
enum mroce_rxwin_verdict {
	MROCE_RXWIN_NEW,	/* not seen before */
	MROCE_RXWIN_DUP,	/* seen */
	MROCE_RXWIN_OLD,	/* before the vector: cannot tell; drop */
	MROCE_RXWIN_JUMP,	/* more than MROCE_RXWIN_MAX_JUMP ahead: drop */
};

/**
 * struct mroce_ack_policy - when to acknowledge
 * @every_pkts: after so many packets on a path
 * @delay_ns: at the latest after so long
 */
struct mroce_ack_policy {
	u16 every_pkts;
	u32 delay_ns;
};

/** mroce_rxwin_init() - forget everything */
void mroce_rxwin_init(struct mroce_rxwin *w);
/** mroce_rxwin_check() - verdict on @seq; changes nothing */
enum mroce_rxwin_verdict mroce_rxwin_check(const struct mroce_rxwin *w, u32 seq);
/**
 * mroce_rxwin_mark() - @seq arrived (verdict NEW or DUP)
 * @refused: the stream level refused it
 * @ce: IP header carried CE
 * @ack_req: the sender asks for an acknowledgment at once
 *
 * Sets @ack_now on @ack_req, on a new gap (or a packet that fills one), on a
 * change of CE, on a duplicate, on a refusal, and after policy->every_pkts.
 * Return: true when an acknowledgment is due at once.
 */
bool mroce_rxwin_mark(struct mroce_rxwin *w, u32 seq, bool refused, bool ce, bool ack_req,
		      const struct mroce_ack_policy *policy, u64 now);
/**
 * mroce_rxwin_stray() - @seq arrived (verdict OLD or JUMP), and is dropped
 * A forged number moves the window to where the sender is not; he cannot know that.
 * So after MROCE_RXWIN_STRAYS of them the window begins anew with the next packet. The
 * stream level decides about duplicates, so nothing is lost by believing.
 * Return: true when it begins anew.
 */
bool mroce_rxwin_stray(struct mroce_rxwin *w, u32 seq);
/**
 * mroce_rxwin_deadline() - when the delayed acknowledgment is due
 * Return: U64_MAX when there is nothing to acknowledge.
 */
u64 mroce_rxwin_deadline(const struct mroce_rxwin *w, const struct mroce_ack_policy *policy);
/** mroce_rxwin_part() - fill the path part (all but .path) and take everything for acknowledged */
void mroce_rxwin_part(struct mroce_rxwin *w, struct mroce_ack_part *part, u64 now);

#endif /* MROCE_PROTO_RXWIN_H */
