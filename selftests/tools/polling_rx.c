// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_polling, receiving half: nothing here calls verbs. */
#include <string.h>
#include "polling.h"

#define SPINS_PER_LOOK_AT_CLOCK 4096

static uint8_t *slot_of(const struct mroce_poll_rx *rx, uint64_t index)
{
	return rx->slots + index % rx->params->depth * mroce_poll_slot_bytes(rx->params);
}

static uint8_t *image_of(const struct mroce_poll_rx *rx, uint64_t index)
{
	return rx->images + index % rx->params->depth * mroce_poll_image_bytes(rx->params);
}

static struct mroce_poll_round *round_of(const struct mroce_poll_rx *rx, uint64_t index)
{
	return &rx->round[index % rx->params->depth];
}

static uint8_t *sign_of(const struct mroce_poll_rx *rx, const struct mroce_poll_round *round)
{
	uint8_t *base = round->flag_is_apart ? rx->flags : slot_of(rx, round->index);

	return base + round->sign_off;
}

static bool is_up(const struct mroce_poll_rx *rx, const struct mroce_poll_round *round)
{
	uint8_t *p = sign_of(rx, round);

	if (round->sign_bytes == 1)
		return __atomic_load_n(p, __ATOMIC_ACQUIRE) == round->sign;
	return __atomic_load_n((uint64_t *)p, __ATOMIC_ACQUIRE) == round->sign;
}

/* Poison where the round will write, and around it */
static void prepare(struct mroce_poll_rx *rx, uint64_t index)
{
	struct mroce_poll_round *round = round_of(rx, index);
	uint8_t *slot = slot_of(rx, index);
	uint32_t i;

	mroce_poll_describe(rx->params, rx->way, index, round);
	mroce_poll_paint(rx->params, rx->way, round, image_of(rx, index));
	for (i = 0; i < round->pieces; i++)
		memset(slot + round->piece[i].slot_off - MROCE_GUARD_BYTES, MROCE_POISON,
		       round->piece[i].bytes + 2 * MROCE_GUARD_BYTES);
}

/**
 * mroce_poll_start - make every slot ready for its first round
 * @rx: receiving half, its memory in place
 */
void mroce_poll_start(struct mroce_poll_rx *rx)
{
	uint64_t i;

	for (i = 0; i < rx->params->depth; i++)
		prepare(rx, i);
}

/*
 * Offset of the first byte of a piece that is not there, -1 if all are. What is
 * seen is set aside first: what is missing may arrive while it is looked for.
 */
static ptrdiff_t missing(struct mroce_poll_rx *rx, uint64_t index,
			 const struct mroce_poll_piece *piece, uint32_t bytes)
{
	const uint8_t *expected = image_of(rx, index) + piece->image_off;
	uint32_t i = 0;

	memcpy(rx->scratch, slot_of(rx, index) + piece->slot_off, bytes);
	if (!memcmp(rx->scratch, expected, bytes))
		return -1;
	while (rx->scratch[i] == expected[i])
		i++;
	return i;
}

/* Is everything there that the sign vouches for? Otherwise which piece, and where? */
static bool is_whole(struct mroce_poll_rx *rx, const struct mroce_poll_round *round,
		     uint32_t *which, ptrdiff_t *where)
{
	uint32_t i, bytes;

	for (i = 0; i < round->pieces; i++) {
		bytes = round->has_flag ? round->piece[i].bytes : round->vouched_bytes;
		*where = missing(rx, round->index, &round->piece[i], bytes);
		*which = i;
		if (*where >= 0)
			return false;
	}
	return true;
}

static void check_deadline(const struct mroce_poll_rx *rx, uint64_t index, const char *what)
{
	if (mroce_clock_ns() > rx->deadline_ns)
		mroce_die("round %lu: %s does not come", index, what);
}

static void wait_for_sign(const struct mroce_poll_rx *rx, const struct mroce_poll_round *round)
{
	uint32_t spins = 0;

	while (!is_up(rx, round)) {
		if (!(++spins % SPINS_PER_LOOK_AT_CLOCK))
			check_deadline(rx, round->index, "the sign");
	}
}

static void wait_for_data(struct mroce_poll_rx *rx, const struct mroce_poll_round *round)
{
	ptrdiff_t where;
	uint32_t which;

	while (!is_whole(rx, round, &which, &where))
		check_deadline(rx, round->index, "the data");
}

/* What comes after the sign in the same WRITE */
static void wait_for_rest(struct mroce_poll_rx *rx, const struct mroce_poll_round *round)
{
	while (missing(rx, round->index, round->piece, round->piece->bytes) >= 0)
		check_deadline(rx, round->index, "the rest after the sign");
}

static void judge(struct mroce_poll_rx *rx, const struct mroce_poll_round *round, uint64_t newest)
{
	const struct mroce_poll_piece *piece;
	ptrdiff_t where;
	uint32_t which;

	if (!is_up(rx, round)) {
		if (!rx->params->unordered)
			mroce_die("round %lu: its sign is missing, that of round %lu is up",
				  round->index, newest);
		rx->overtaken++;
		wait_for_sign(rx, round);
	}
	if (!is_whole(rx, round, &which, &where)) {
		piece = &round->piece[which];
		/* Within a WRITE of one packet there is always order. */
		if (!rx->params->unordered || !round->has_flag)
			mroce_die("round %lu of %lu: byte %td of %u at %u+%u is %#x, not %#x",
				  round->index, newest, where, piece->bytes, which,
				  piece->slot_off, rx->scratch[where],
				  image_of(rx, round->index)[piece->image_off + where]);
		rx->early++;
		wait_for_data(rx, round);
	}
	if (!round->has_flag)
		wait_for_rest(rx, round);
}

static void check_guards(struct mroce_poll_rx *rx, const struct mroce_poll_round *round)
{
	const struct mroce_poll_piece *piece;
	const uint8_t *p;
	uint32_t i, j;

	for (i = 0; i < round->pieces; i++) {
		piece = &round->piece[i];
		p = slot_of(rx, round->index) + piece->slot_off;
		for (j = 1; j <= MROCE_GUARD_BYTES; j++) {
			if (*(p - j) != MROCE_POISON || p[piece->bytes + j - 1] != MROCE_POISON)
				mroce_die("round %lu: a byte beside piece %u was written",
					  round->index, i);
		}
	}
}

/**
 * mroce_poll_look - look once at every sign that may be up
 * @rx: receiving half
 *
 * Does not return if anything is wrong.
 *
 * Return: rounds that have arrived, checked; their slots wait for the next ones.
 */
unsigned int mroce_poll_look(struct mroce_poll_rx *rx)
{
	uint64_t end = rx->next + rx->params->depth, i, first = rx->next;

	if (end > rx->params->rounds)
		end = rx->params->rounds;
	while (end > first && !is_up(rx, round_of(rx, end - 1)))
		end--;
	/* The newest is the one still being written, if one is. */
	for (i = end; i > first; i--)
		judge(rx, round_of(rx, i - 1), end - 1);
	for (i = first; i < end; i++) {
		check_guards(rx, round_of(rx, i));
		prepare(rx, i + rx->params->depth);
	}
	rx->next = end;
	return end - first;
}
