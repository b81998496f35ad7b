/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A set of psns inside one stream window: bit psn % MROCE_STREAM_WINDOW of an
 * array. Which psn of the residue class is meant follows from the window of its
 * owner (rxs, txs), so a range is never longer than the window.
 *
 * Ranges are worked off a 64-bit word at a time.
 */
#ifndef MROCE_PROTO_PSNSET_H
#define MROCE_PROTO_PSNSET_H

#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

/** Default and largest stream window, psns. A power of two. */
#define MROCE_STREAM_WINDOW	4096
#define MROCE_STREAM_WORDS	(MROCE_STREAM_WINDOW / 64)

/** mroce_psnset_word() - the word that holds @psn */
static inline u32 mroce_psnset_word(u32 psn)
{
	return psn / 64 % MROCE_STREAM_WORDS;
}

/** mroce_psnset_chunk() - how many of the @n psns from @psn on share its word */
static inline u32 mroce_psnset_chunk(u32 psn, u32 n)
{
	return min_t(u32, n, 64 - psn % 64);
}

/** mroce_psnset_mask() - bits of the @n psns from @psn on, 1 <= @n <= mroce_psnset_chunk() */
static inline u64 mroce_psnset_mask(u32 psn, u32 n)
{
	return U64_MAX >> (64 - n) << (psn % 64);
}

/** mroce_psnset_test() - is @psn in the set? */
static inline bool mroce_psnset_test(const u64 *set, u32 psn)
{
	return set[mroce_psnset_word(psn)] & mroce_psnset_mask(psn, 1);
}

/** mroce_psnset_add() - put @psn in; Return: true when it was not in before */
static inline bool mroce_psnset_add(u64 *set, u32 psn)
{
	u64 *word = &set[mroce_psnset_word(psn)];
	u64 bit = mroce_psnset_mask(psn, 1);
	bool added = !(*word & bit);

	*word |= bit;
	return added;
}

/** mroce_psnset_del() - take @psn out; Return: true when it was in */
static inline bool mroce_psnset_del(u64 *set, u32 psn)
{
	u64 *word = &set[mroce_psnset_word(psn)];
	u64 bit = mroce_psnset_mask(psn, 1);
	bool deleted = *word & bit;

	*word &= ~bit;
	return deleted;
}

/** mroce_psnset_del_range() - take @n psns from @psn on out; Return: how many were in */
static inline u32 mroce_psnset_del_range(u64 *set, u32 psn, u32 n)
{
	u32 deleted = 0;

	while (n) {
		u32 chunk = mroce_psnset_chunk(psn, n);
		u64 mask = mroce_psnset_mask(psn, chunk);
		u64 *word = &set[mroce_psnset_word(psn)];

		deleted += hweight64(*word & mask);
		*word &= ~mask;
		psn += chunk;
		n -= chunk;
	}
	return deleted;
}

/** mroce_psnset_run() - length of the unbroken run that starts at @psn, at most @n */
static inline u32 mroce_psnset_run(const u64 *set, u32 psn, u32 n)
{
	u32 run = 0;

	while (run < n) {
		u32 chunk = mroce_psnset_chunk(psn + run, n - run);
		u64 gaps = ~set[mroce_psnset_word(psn + run)] &
			   mroce_psnset_mask(psn + run, chunk);

		if (gaps)
			return run + __ffs64(gaps) - (psn + run) % 64;
		run += chunk;
	}
	return run;
}

/**
 * mroce_psnset_first() - lowest member among the @n psns from @psn on
 * Return: its distance from @psn, @n when there is none.
 */
static inline u32 mroce_psnset_first(const u64 *set, u32 psn, u32 n)
{
	u32 at = 0;

	while (at < n) {
		u32 chunk = mroce_psnset_chunk(psn + at, n - at);
		u64 hits = set[mroce_psnset_word(psn + at)] &
			   mroce_psnset_mask(psn + at, chunk);

		if (hits)
			return at + __ffs64(hits) - (psn + at) % 64;
		at += chunk;
	}
	return n;
}

/**
 * mroce_psnset_move() - move the members among the @n psns from @psn on to @to
 * None of them may be in @to already.
 * Return: how many were moved.
 */
static inline u32 mroce_psnset_move(u64 *from, u64 *to, u32 psn, u32 n)
{
	u32 moved = 0;

	while (n) {
		u32 chunk = mroce_psnset_chunk(psn, n);
		u32 word = mroce_psnset_word(psn);
		u64 bits = from[word] & mroce_psnset_mask(psn, chunk);

		to[word] |= bits;
		from[word] &= ~bits;
		moved += hweight64(bits);
		psn += chunk;
		n -= chunk;
	}
	return moved;
}

#endif /* MROCE_PROTO_PSNSET_H */
