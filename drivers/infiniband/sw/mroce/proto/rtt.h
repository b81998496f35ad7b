/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Round trip of one path: smoothed value, variation, minimum, probe timeout.
 * RFC 6298 smoothing, RFC 9002 section 5 treatment of the ack delay.
 *
 * Pure: times are arguments (u64 ns), the caller serialises all calls.
 */
#ifndef MROCE_PROTO_RTT_H
#define MROCE_PROTO_RTT_H

#include <linux/types.h>

/** Probe timeout before any sample. */
#define MROCE_PTO_INITIAL_NS	20000000ull
/**
 * Smallest probe timeout. A software receiver loses its CPU for hundreds of
 * microseconds at a time; anything shorter probes healthy paths.
 */
#define MROCE_PTO_MIN_NS	1000000ull
/** Largest probe timeout, back-off included. */
#define MROCE_PTO_MAX_NS	1000000000ull
/** The minimum is taken over the last one to two windows of this length. */
#define MROCE_MIN_RTT_WINDOW_NS	10000000000ull
/** Smallest variation: clock and timer granularity. */
#define MROCE_RTTVAR_MIN_NS	10000ull

/**
 * struct mroce_rtt - round trip estimate of one path
 * @srtt_ns: smoothed round trip, ack delay taken off; 0 = no sample yet
 * @rttvar_ns: smoothed mean deviation
 * @min_ns: smallest raw sample of the last window and this one
 * @next_min_ns: smallest raw sample of the window under way
 * @window_ns: when that window began
 */
struct mroce_rtt {
	u64 srtt_ns;
	u64 rttvar_ns;
	u64 min_ns;
	u64 next_min_ns;
	u64 window_ns;
};

/** mroce_rtt_init() - no sample */
void mroce_rtt_init(struct mroce_rtt *r);
/**
 * mroce_rtt_sample() - take in a sample
 * @raw_ns: time from sending to the acknowledgment; 0 counts as 1
 * @ack_delay_ns: what the peer says it waited; believed only as far as the
 *	result does not fall below the minimum
 */
void mroce_rtt_sample(struct mroce_rtt *r, u64 raw_ns, u64 ack_delay_ns, u64 now);
/** mroce_rtt_new_path() - the route is another one: forget the minimum, keep the rest as a guess */
void mroce_rtt_new_path(struct mroce_rtt *r);
/**
 * mroce_rtt_rto_ns() - srtt + 4 rttvar + @ack_delay_ns: an answer should be here by then
 * Return: MROCE_PTO_INITIAL_NS without a sample.
 */
u64 mroce_rtt_rto_ns(const struct mroce_rtt *r, u64 ack_delay_ns);
/**
 * mroce_rtt_pto_ns() - probe timeout: 2 srtt + 4 rttvar + @ack_delay_ns
 * @n: timeouts in a row before this one: doubles @n times
 * Return: within MROCE_PTO_MIN_NS .. MROCE_PTO_MAX_NS.
 */
u64 mroce_rtt_pto_ns(const struct mroce_rtt *r, u64 ack_delay_ns, u32 n);

#endif /* MROCE_PROTO_RTT_H */
