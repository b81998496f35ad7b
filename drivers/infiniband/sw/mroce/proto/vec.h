/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 256-bit vectors: four words, bit i in word i / 64, counted from the least
 * significant bit, as on the wire.
 */
#ifndef MROCE_PROTO_VEC_H
#define MROCE_PROTO_VEC_H

#include <linux/types.h>
#include <linux/bitops.h>
#include <mroce/wire.h>

/** mroce_vec_test() - bit @i of @v */
static inline bool mroce_vec_test(const u64 *v, u32 i)
{
	return v[i / 64] >> (i % 64) & 1;
}

/** mroce_vec_set() - set bit @i of @v */
static inline void mroce_vec_set(u64 *v, u32 i)
{
	v[i / 64] |= 1ull << (i % 64);
}

/** mroce_vec_clear() - clear bit @i of @v */
static inline void mroce_vec_clear(u64 *v, u32 i)
{
	v[i / 64] &= ~(1ull << (i % 64));
}

/** mroce_vec_below() - word @w of the vector that has the bits [0, n) set; any @n */
static inline u64 mroce_vec_below(u32 w, u32 n)
{
	if (n <= w * 64)
		return 0;
	n -= w * 64;
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

/** mroce_vec_rot() - word @w of @v rotated: its bit i is bit (i + @k) % 256 of @v */
static inline u64 mroce_vec_rot(const u64 *v, u32 w, u32 k)
{
	u64 lo = v[(w + k / 64) % MROCE_VEC_WORDS];
	u64 hi = v[(w + k / 64 + 1) % MROCE_VEC_WORDS];

	k %= 64;
	return k ? lo >> k | hi << (64 - k) : lo;
}

/** mroce_vec_shl() - shift @v left by @k bits, zeroes come in; any @k */
static inline void mroce_vec_shl(u64 *v, u32 k)
{
	u32 q = k / 64;
	u32 r = k % 64;
	int w;

	for (w = MROCE_VEC_WORDS - 1; w >= 0; w--) {
		u64 hi = (u32)w >= q ? v[w - q] : 0;
		u64 lo = (u32)w > q ? v[w - q - 1] : 0;

		v[w] = r ? hi << r | lo >> (64 - r) : hi;
	}
}

#endif /* MROCE_PROTO_VEC_H */
