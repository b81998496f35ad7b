// SPDX-License-Identifier: GPL-2.0
/*
 * Placement map: from [offset, length) of a message to pieces of a
 * scatter-gather list. Address arithmetic only; nothing is dereferenced.
 */
#include <linux/minmax.h>

#include "place.h"

u64 mroce_place_total(const struct mroce_place_sge *sge, u32 n_sge)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < n_sge; i++)
		total += sge[i].length;
	return total;
}

/* The piece starts @skip bytes into element @it->idx, which has more than that. */
static void piece_set(struct mroce_place_iter *it, u32 skip)
{
	const struct mroce_place_sge *sge = &it->sge[it->idx];

	it->addr = sge->addr + skip;
	it->len = min_t(u32, sge->length - skip, it->left);
	it->lkey = sge->lkey;
}

bool mroce_place_first(struct mroce_place_iter *it, const struct mroce_place_sge *sge,
		       u32 n_sge, u32 off, u32 len)
{
	if (!len || (u64)off + len > mroce_place_total(sge, n_sge))
		return false;
	it->sge = sge;
	it->n_sge = n_sge;
	it->left = len;
	/* The list covers the range: an element with more than @off bytes comes. */
	for (it->idx = 0; sge[it->idx].length <= off; it->idx++)
		off -= sge[it->idx].length;
	piece_set(it, off);
	return true;
}

bool mroce_place_next(struct mroce_place_iter *it)
{
	it->left -= it->len;
	it->len = 0;
	if (!it->left)
		return false;
	do {
		it->idx++;
	} while (it->idx < it->n_sge && !it->sge[it->idx].length);
	/* Cannot be, unless somebody has changed the list meanwhile. */
	if (it->idx >= it->n_sge)
		return false;
	piece_set(it, 0);
	return true;
}

bool mroce_place_within(u64 base, u64 size, u64 addr, u64 len)
{
	/* One past the last byte may be 2^64, more is a wrap. */
	if (len && addr + (len - 1) < addr)
		return false;
	return len <= size && addr >= base && addr - base <= size - len;
}
