// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_verify, the shared word: all QPs of a process increment one word of the
 * peer. Executed exactly once, the increments return 0, 1, 2 ... in any order,
 * but ascending on every QP.
 */
#include <stdlib.h>
#include <string.h>
#include "verify.h"

#define WORDS 16
#define TARGET 7
#define GUARD 0x636f756e74000000ull

/**
 * mroce_count_create - the word of this end
 * @tally: of the process
 * @pd: protection domain
 */
void mroce_count_create(struct mroce_tally *tally, struct ibv_pd *pd)
{
	uint64_t *page = mroce_pages_map(WORDS * sizeof(*page));
	int i;

	for (i = 0; i < WORDS; i++)
		page[i] = i == TARGET ? 0 : GUARD + i;
	tally->count = page + TARGET;
	tally->count_mr = mroce_pages_register(pd, page, WORDS * sizeof(*page),
					       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
}

static void make_room(struct mroce_tally *tally, uint64_t value)
{
	uint64_t bits = tally->seen_bits ? tally->seen_bits : 1 << 16;

	while (bits <= value)
		bits *= 2;
	if (bits == tally->seen_bits)
		return;
	tally->seen = realloc(tally->seen, bits / 8);
	if (!tally->seen)
		mroce_die("no memory");
	memset(tally->seen + tally->seen_bits / 8, 0, (bits - tally->seen_bits) / 8);
	tally->seen_bits = bits;
}

/**
 * mroce_count_returned - account what an increment returned
 * @end: QP
 * @value: it
 */
void mroce_count_returned(struct mroce_end *end, uint64_t value)
{
	struct mroce_tally *tally = end->tally;

	tally->counted++;
	if (value >> 40) {
		mroce_wrong(tally, "qp %u: the shared word was %#lx", end->index, value);
		return;
	}
	make_room(tally, value);
	if (value < end->tx.count_floor)
		mroce_wrong(tally, "qp %u: the shared word was %lu, at least %lu was due",
			    end->index, value, end->tx.count_floor);
	else if (tally->seen[value / 8] & 1 << value % 8)
		mroce_wrong(tally, "qp %u: the shared word was %lu for a second time", end->index,
			    value);
	tally->seen[value / 8] |= 1 << value % 8;
	end->tx.count_floor = value + 1;
}

/**
 * mroce_count_check - compare at the end
 * @tally: of the process
 * @peer_counted: increments the peer has seen completed
 */
void mroce_count_check(struct mroce_tally *tally, uint64_t peer_counted)
{
	const uint64_t *page = tally->count - TARGET;
	uint64_t value;
	int i;

	for (value = 0; value < tally->counted; value++) {
		if (value >= tally->seen_bits || !(tally->seen[value / 8] & 1 << value % 8)) {
			mroce_wrong(tally, "of %lu increments none returned %lu", tally->counted,
				    value);
			break;
		}
	}
	if (*tally->count != peer_counted)
		mroce_wrong(tally, "the shared word is %lu after %lu increments", *tally->count,
			    peer_counted);
	for (i = 0; i < WORDS; i++) {
		if (i != TARGET && page[i] != GUARD + i)
			mroce_wrong(tally, "guard word %d of the shared word is %#lx", i, page[i]);
	}
}
