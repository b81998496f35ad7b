/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often something may happen that others provoke: a rate, and a burst.
 *
 * Pure: times are arguments. Without a lock around it a few too many may pass.
 */
#ifndef MROCE_PROTO_GATE_H
#define MROCE_PROTO_GATE_H

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * struct mroce_gate - virtual scheduling: what has passed, laid out one interval each
 * @free_ns: when all that has passed is over
 */
struct mroce_gate {
	u64 free_ns;
};

/**
 * mroce_gate_pass() - may one more happen now?
 * @g: the gate
 * @now: time, ns
 * @interval_ns: one in so long, in the long run
 * @burst: and so many at once
 */
static inline bool mroce_gate_pass(struct mroce_gate *g, u64 now, u64 interval_ns, u32 burst)
{
	u64 at = READ_ONCE(g->free_ns);

	if (at < now)
		at = now;
	if (at - now > (burst - 1) * interval_ns)
		return false;
	WRITE_ONCE(g->free_ns, at + interval_ns);
	return true;
}

#endif /* MROCE_PROTO_GATE_H */
