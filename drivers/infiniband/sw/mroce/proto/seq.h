/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Serial arithmetic on 32-bit sequence numbers (RFC 1982): path_seq and psn.
 * Valid while the two numbers are less than 2^31 apart.
 */
#ifndef MROCE_PROTO_SEQ_H
#define MROCE_PROTO_SEQ_H

#include <linux/types.h>

/** mroce_seq_diff() - how far @a is ahead of @b; negative when behind */
static inline s32 mroce_seq_diff(u32 a, u32 b)
{
	return (s32)(a - b);
}

/** mroce_seq_before() - @a comes before @b */
static inline bool mroce_seq_before(u32 a, u32 b)
{
	return mroce_seq_diff(a, b) < 0;
}

/** mroce_seq_after() - @a comes after @b */
static inline bool mroce_seq_after(u32 a, u32 b)
{
	return mroce_seq_diff(a, b) > 0;
}

/** mroce_seq_in() - @seq lies in the half-open range [@from, @to) */
static inline bool mroce_seq_in(u32 seq, u32 from, u32 to)
{
	return seq - from < to - from;
}

#endif /* MROCE_PROTO_SEQ_H */
