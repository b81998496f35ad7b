/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Seeded random numbers for tests: the same in the kernel and on the host, so
 * that a seed that fails once fails always. (xorshift64*, Vigna 2014)
 */
#ifndef MROCE_KUNIT_RND_H
#define MROCE_KUNIT_RND_H

#include <linux/types.h>

struct rnd {
	u64 state;
};

static inline u64 rnd_u64(struct rnd *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1dULL;
}

/* Any seed is good, and neighbours are unlike each other. */
static inline void rnd_seed(struct rnd *r, u64 seed)
{
	r->state = (seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
	rnd_u64(r);
	rnd_u64(r);
}

static inline u32 rnd_u32(struct rnd *r)
{
	return rnd_u64(r) >> 32;
}

/* 0 .. n - 1 */
static inline u32 rnd_below(struct rnd *r, u32 n)
{
	return ((u64)rnd_u32(r) * n) >> 32;
}

/* True in @ppm of a million cases */
static inline bool rnd_ppm(struct rnd *r, u32 ppm)
{
	return rnd_below(r, 1000000) < ppm;
}

static inline void rnd_fill(struct rnd *r, void *buf, u32 len)
{
	u8 *p = buf;

	while (len--)
		*p++ = rnd_u32(r);
}

#endif /* MROCE_KUNIT_RND_H */
