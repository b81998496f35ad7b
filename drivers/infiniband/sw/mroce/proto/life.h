/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lives of the peer's queue pair: which incarnation a packet may be of.
 *
 * A QP takes a new incarnation at each RTR and tells it in every packet; its peer
 * learns it from the first one. What is under way from an older life must not be
 * learnt: incarnations of one peer only grow, so one that is not after the last
 * life's is the past. Another peer, or another instance of it, counts anew.
 *
 * Pure: the caller serialises all calls.
 */
#ifndef MROCE_PROTO_LIFE_H
#define MROCE_PROTO_LIFE_H

#include <linux/types.h>

/**
 * struct mroce_life - what is known of the peer's queue pair
 * @known: the present life has been learnt: @inc
 * @floor_known: @floor is the last life's, of the peer @floor_peer
 * @floor_peer: whatever tells peers and their instances apart
 */
struct mroce_life {
	bool known;
	bool floor_known;
	u16 inc;
	u16 floor;
	u64 floor_peer;
};

/** mroce_life_end() - the connection to @peer ends (RESET): what comes of it later is the past */
static inline void mroce_life_end(struct mroce_life *l, u64 peer)
{
	if (l->known) {
		l->floor = l->inc;
		l->floor_peer = peer;
		l->floor_known = true;
	}
	l->known = false;
}

/** mroce_life_accepts() - may a packet of life @inc of @peer be taken? Learns the first one. */
static inline bool mroce_life_accepts(struct mroce_life *l, u64 peer, u16 inc)
{
	if (l->known)
		return l->inc == inc;
	if (l->floor_known && l->floor_peer == peer && (s16)(inc - l->floor) <= 0)
		return false;
	l->inc = inc;
	l->known = true;
	return true;
}

#endif /* MROCE_PROTO_LIFE_H */
