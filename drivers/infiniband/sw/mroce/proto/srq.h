/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receives that several queue pairs share.
 *
 * A receive is posted, then bound to a message of one of the queue pairs, then complete.
 * Bound they are in the order they were posted, whoever binds. They complete in any
 * order, because one queue pair does not wait for another. So what is complete is
 * counted, not named: posted - complete is what the user may count on being bounded.
 *
 * Pure: the caller serialises all calls. All counts run free, 32 bits.
 */
#ifndef MROCE_PROTO_SRQ_H
#define MROCE_PROTO_SRQ_H

#include <linux/types.h>

/**
 * struct mroce_share - state of shared receives
 * @entries: so many are posted and not complete at most
 * @bound: next one to bind
 * @done: how many are complete
 * @limit: the user wants to know when fewer than these are posted and not bound; 0: he
 *	does not, or has been told
 */
struct mroce_share {
	u32 entries;
	u32 bound;
	u32 done;
	u32 limit;
};

/**
 * mroce_share_left() - posted and not bound
 * @prod: one past the newest posted; written by the user, so anything
 * Return: 0 also where @prod makes no sense.
 */
static inline u32 mroce_share_left(const struct mroce_share *s, u32 prod)
{
	u32 left = prod - s->bound;

	return prod - s->done > s->entries || left > s->entries ? 0 : left;
}

/** mroce_share_low() - is the user to be told now that few are left? True once. */
static inline bool mroce_share_low(struct mroce_share *s, u32 prod)
{
	if (mroce_share_left(s, prod) >= s->limit)
		return false;
	s->limit = 0;
	return true;
}

/**
 * mroce_share_bind() - bind the next one: that of index @bound before the call
 * Return: false, and nothing changes: there is none.
 */
static inline bool mroce_share_bind(struct mroce_share *s, u32 prod)
{
	if (!mroce_share_left(s, prod))
		return false;
	s->bound++;
	return true;
}

/** mroce_share_done() - one of those bound is complete */
static inline void mroce_share_done(struct mroce_share *s)
{
	s->done++;
}

/**
 * mroce_share_arm() - the user wants to know when fewer than @limit are left; 0: no more
 * Return: false, and nothing changes: there will never be so many.
 * mroce_share_low() afterwards: it may be so already, and nobody may come to bind another.
 */
static inline bool mroce_share_arm(struct mroce_share *s, u32 limit, u32 max)
{
	if (limit > max)
		return false;
	s->limit = limit;
	return true;
}

#endif /* MROCE_PROTO_SRQ_H */
