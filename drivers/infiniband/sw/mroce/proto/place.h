/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Placement map: which bytes of a scatter-gather list or of a memory region a
 * piece of a message belongs to. Bounds only; the copying is done elsewhere.
 */
#ifndef MROCE_PROTO_PLACE_H
#define MROCE_PROTO_PLACE_H

#include <linux/types.h>

/** struct mroce_place_sge - one element, host order; same layout as the uAPI's mroce_sge */
struct mroce_place_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/**
 * struct mroce_place_iter - walk over the pieces of [off, off + len) of a list
 * Set by mroce_place_first(), moved by mroce_place_next(). @addr, @len, @lkey
 * describe the current piece.
 */
struct mroce_place_iter {
	const struct mroce_place_sge *sge;
	u32 n_sge;
	u32 idx;
	u32 left;
	u64 addr;
	u32 len;
	u32 lkey;
};

/**
 * mroce_place_total() - bytes described by a list
 * Return: the sum; may exceed 32 bits.
 */
u64 mroce_place_total(const struct mroce_place_sge *sge, u32 n_sge);

/**
 * mroce_place_first() - start a walk
 * Return: true with the first piece in @it, false when @len is 0 or the range
 * is not covered by the list (check mroce_place_total() first to tell apart).
 */
bool mroce_place_first(struct mroce_place_iter *it, const struct mroce_place_sge *sge,
		       u32 n_sge, u32 off, u32 len);

/** mroce_place_next() - next piece; false at the end */
bool mroce_place_next(struct mroce_place_iter *it);

/** mroce_place_within() - [addr, addr + len) lies in [base, base + size), without wrapping */
bool mroce_place_within(u64 base, u64 size, u64 addr, u64 len);

#endif /* MROCE_PROTO_PLACE_H */
