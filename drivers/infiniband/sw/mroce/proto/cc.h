/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion control: a window per path and one for the connection.
 *
 * A packet may go when both have room. An algorithm gets samples, one for each
 * path part of an ACK, and may only set windows. It never sees sequences, time
 * outs or ports; loss detection and path states are decided elsewhere.
 *
 * The receiver's share is a cap on top of any algorithm: it lowers the window
 * of the connection, never raises it, expires, and cannot stall a sender.
 *
 * Pure: times are arguments (u64 ns), the caller serialises all calls.
 */
#ifndef MROCE_PROTO_CC_H
#define MROCE_PROTO_CC_H

#include <linux/types.h>

#define MROCE_CC_PATH_WORDS	10
#define MROCE_CC_CONN_WORDS	6

/** Queueing delay below which a software path counts as idle. */
#define MROCE_CC_TARGET_NS	500000ull

/**
 * struct mroce_cc_path - window of one path
 * @cwnd_bytes: bytes that may be in flight; at least one packet
 * @priv: the algorithm's own
 */
struct mroce_cc_path {
	u32 cwnd_bytes;
	u64 priv[MROCE_CC_PATH_WORDS];
};

/**
 * struct mroce_cc_conn - window of the connection
 * @cwnd_bytes: bytes that may be in flight over all paths; at least one packet
 * @max_bytes: ceiling of every window
 * @pkt_bytes: largest packet
 * @share_bytes: the receiver's share as a window; 0 = none
 * @share_until_ns: it is believed until then, and doubles each @share_rtt_ns later
 * @share_rtt_ns: round trip it was computed with
 * @priv: the algorithm's own
 */
struct mroce_cc_conn {
	u32 cwnd_bytes;
	u32 max_bytes;
	u32 pkt_bytes;
	u32 share_bytes;
	u64 share_until_ns;
	u64 share_rtt_ns;
	u64 priv[MROCE_CC_CONN_WORDS];
};

/**
 * struct mroce_cc_sample - what one path part of an ACK says
 * @now_ns: time
 * @srtt_ns: smoothed round trip of the path; 0 = none yet
 * @min_rtt_ns: its minimum
 * @rtt_ns: sample taken with this part; 0 = none
 * @acked_bytes: newly acknowledged
 * @lost_bytes: newly lost
 * @marked_bytes: the part of @acked_bytes that met congestion (CE)
 * @path_prior_bytes: in flight on the path before this ACK
 * @conn_prior_bytes: the same of the connection
 * @loss_q16: smoothed loss rate of the path, 65536 = everything
 */
struct mroce_cc_sample {
	u64 now_ns;
	u64 srtt_ns;
	u64 min_rtt_ns;
	u64 rtt_ns;
	u32 acked_bytes;
	u32 lost_bytes;
	u32 marked_bytes;
	u32 path_prior_bytes;
	u32 conn_prior_bytes;
	u32 loss_q16;
};

/**
 * struct mroce_cc_ops - an algorithm
 * @on_ack: (required) a sample of path @p; once per path part
 * @on_pto: (required) nothing came back from path @p for a probe timeout
 * @path_init: (required) @p begins, or begins again after a re-roll, with @bytes
 * @conn_init: (required) the connection begins; the public fields are set
 * @name: (required) for mroce_cc_find() and telemetry
 */
struct mroce_cc_ops {
	void (*on_ack)(struct mroce_cc_conn *c, struct mroce_cc_path *p,
		       const struct mroce_cc_sample *s);
	void (*on_pto)(struct mroce_cc_conn *c, struct mroce_cc_path *p);
	void (*path_init)(struct mroce_cc_conn *c, struct mroce_cc_path *p, u32 bytes);
	void (*conn_init)(struct mroce_cc_conn *c);
	const char *name;
};

extern const struct mroce_cc_ops mroce_cc_ecn;
extern const struct mroce_cc_ops mroce_cc_delay;

/** Used where nothing else is asked for. */
#define MROCE_CC_DEFAULT (&mroce_cc_ecn)

/** mroce_cc_find() - algorithm by name. Return: NULL when there is none. */
const struct mroce_cc_ops *mroce_cc_find(const char *name);

/** mroce_cc_start() - set the public fields and let @ops begin */
void mroce_cc_start(const struct mroce_cc_ops *ops, struct mroce_cc_conn *c, u32 init_bytes,
		    u32 max_bytes, u32 pkt_bytes);

/** What no window exceeds. */
#define MROCE_CC_MAX_BYTES	0x40000000u

/** mroce_cc_bound() - set the ceiling of all windows; those of paths follow when they change */
void mroce_cc_bound(struct mroce_cc_conn *c, u64 max_bytes);

/**
 * mroce_cc_share() - the receiver's share has come
 * @mbps: 0 = no statement: changes nothing
 * @rtt_ns: round trip, without queueing as far as known
 *
 * Window = rate * (rtt + MROCE_CC_TARGET_NS), at least one packet. A lower share
 * holds at once, a higher one at most doubles the cap. Believed for
 * max(4 rtt, 1 ms).
 */
void mroce_cc_share(struct mroce_cc_conn *c, u32 mbps, u64 rtt_ns, u64 now);

/**
 * mroce_cc_window() - bytes the connection may have in flight
 * Return: the algorithm's window, capped by the share.
 */
u32 mroce_cc_window(const struct mroce_cc_conn *c, u64 now);

/** mroce_cc_clamp() - @bytes, but at least one packet and at most the ceiling */
u32 mroce_cc_clamp(const struct mroce_cc_conn *c, u64 bytes);

/**
 * mroce_cc_add() - additive increase: one packet for each window of bytes acknowledged
 * @rem: remainder of the division, kept between calls
 * Return: bytes to add to a window.
 */
u32 mroce_cc_add(const struct mroce_cc_conn *c, u32 acked_bytes, u64 *rem);

#endif /* MROCE_PROTO_CC_H */
