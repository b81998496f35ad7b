/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way back of a path: the source port acknowledgements take.
 *
 * The receiver of data learns nothing of what becomes of its acknowledgements,
 * but it sees how the sender behaves: one that repeats its PROBE, or comes with
 * a new port of its own, may have been failed by our port. So we change it.
 *
 * Pure: times and random numbers are arguments, the caller serialises all calls.
 */
#ifndef MROCE_PROTO_BACK_H
#define MROCE_PROTO_BACK_H

#include <linux/types.h>

/** Two PROBEs of a path closer together than this are one and its repetition. */
#define MROCE_BACK_REPEAT_NS	200000000ull

/**
 * struct mroce_back - way back of one path
 * @sport: our source port on it, 49152..65535
 * @plane: the plane the sender uses for it, place of its pair (pairs.h)
 * @fwd_port: the sender's source port, 0 = none seen
 * @probe_ns: arrival of the newest PROBE that was not followed by data, 0 = none
 */
struct mroce_back {
	u8 plane;
	u16 sport;
	u16 fwd_port;
	u64 probe_ns;
};

/** mroce_back_init() - new connection: a port from the random word @rnd */
void mroce_back_init(struct mroce_back *b, u32 rnd);

/**
 * mroce_back_seen() - a packet has arrived on the path
 * @plane: the plane it came by
 * @fwd_port: its source port
 * @probe: it is a PROBE
 * @rnd: a random word
 * Return: true when the way back has a new port: a cached route is void.
 */
bool mroce_back_seen(struct mroce_back *b, u8 plane, u16 fwd_port, bool probe, u32 rnd, u64 now);

#endif /* MROCE_PROTO_BACK_H */
