/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which receive a message goes into.
 *
 * Receives are consumed in the order they were posted: message r of a queue pair
 * goes into receive r. Messages overtake each other on many paths, so the first
 * packet of message r binds a receive for every message up to r that has none yet;
 * whoever comes late finds his own. What is not posted yet cannot be bound: the
 * packet is refused.
 *
 * Pure: the caller serialises all calls. All indices run free, 32 bits.
 */
#ifndef MROCE_PROTO_BIND_H
#define MROCE_PROTO_BIND_H

#include "seq.h"

/**
 * enum mroce_bind_verdict - is there a receive for a message?
 * @MROCE_BIND_READY: it is bound
 * @MROCE_BIND_MORE: bind the next one, then ask again
 * @MROCE_BIND_NONE: not posted yet, or the message is complete already
 */
enum mroce_bind_verdict {
	MROCE_BIND_READY,
	MROCE_BIND_MORE,
	MROCE_BIND_NONE,
};

/**
 * mroce_bind_check() - is there a receive for message @rsn?
 * @cons: oldest receive not completed
 * @bound: next receive to bind
 * @prod: one past the newest receive posted; written by the user, so anything
 * @entries: of the ring
 */
static inline enum mroce_bind_verdict mroce_bind_check(u32 rsn, u32 cons, u32 bound, u32 prod,
						       u32 entries)
{
	if (mroce_seq_before(rsn, cons))
		return MROCE_BIND_NONE;
	if (mroce_seq_before(rsn, bound))
		return MROCE_BIND_READY;
	/* A ring that the user broke holds nothing; a full one has no slot for a copy. */
	if (bound == prod || prod - cons > entries || bound - cons >= entries)
		return MROCE_BIND_NONE;
	return MROCE_BIND_MORE;
}

#endif /* MROCE_PROTO_BIND_H */
