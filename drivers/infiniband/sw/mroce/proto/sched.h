/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which path next: the plane with the least in flight, and there the path with the most
 * open window among those that may send, where a window counts for no more than twice
 * its fair share.
 *
 *  - As much in flight on each plane keeps them all busy, whatever their rates: each
 *    gets what it can carry. Of planes that are equal, to a burst, the one that has been
 *    given the least so far has its turn, so that equal planes carry the same.
 *    One that loses far more than another (plane.h) comes last among equals, and what is
 *    in flight there counts twice: little traffic avoids it, much still uses all of it.
 *  - A path is kept for a burst (so that packets can leave together), then the
 *    choice is made anew; rotation decides between equals.
 *  - A path that was marked is passed over for one rotation if another is open.
 *  - No more paths are opened than the traffic can feed: fast loss detection
 *    needs several packets in flight on a path (a gap shows with the next one).
 *
 * Pure: the caller serialises all calls.
 */
#ifndef MROCE_PROTO_SCHED_H
#define MROCE_PROTO_SCHED_H

#include "pathset.h"

/** A path is kept for so much, whichever is first. */
#define MROCE_SCHED_BURST_BYTES	32768
#define MROCE_SCHED_BURST_PKTS	32
/** Packets in flight per open path before another is opened. */
#define MROCE_SCHED_FEED_PKTS	4

/** mroce_sched_pick() - path for new data, -1 = none open to @cpu */
int mroce_sched_pick(struct mroce_pathset *ps, int cpu, u32 bytes,
		     const struct mroce_want *want, u64 now);
/**
 * mroce_sched_pick_rtx() - path for a retransmission: @prefer if it may, else the best
 * It may exceed the windows by one packet.
 */
int mroce_sched_pick_rtx(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer,
			 const struct mroce_want *want, u64 now);
/** mroce_sched_sent() - a packet of @bytes went out on @idx: use up the burst */
void mroce_sched_sent(struct mroce_pathset *ps, int idx, u32 bytes);
/** mroce_sched_probed() - a PROBE went out on @idx: the next one should try another path */
void mroce_sched_probed(struct mroce_pathset *ps, int idx);
/** mroce_sched_marked() - @idx met congestion: pass over it for one rotation */
void mroce_sched_marked(struct mroce_pathset *ps, int idx);

#endif /* MROCE_PROTO_SCHED_H */
