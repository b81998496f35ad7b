// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_polling: what each round writes, as a function of the seed. */
#include <string.h>
#include "polling.h"

/* Answers are smaller: they are there to carry data the other way, not to load the link. */
#define ANSWER_SHARE 16
#define ALIGNMENTS 64
#define LINE_BYTES 64
#define UNIT_BYTES 128

/*
 * struct shape - records that programs watch
 * @bytes: size of one, and its alignment
 * @sign_off: where its number is
 * @most: in one WRITE
 */
struct shape {
	uint32_t bytes;
	uint32_t sign_off;
	uint32_t most;
};

/* The fifo of a collective communication library, and its lines of data with a flag at the end */
static const struct shape shapes[] = {
	{ .bytes = 64, .sign_off = 40, .most = 8 },
	{ .bytes = 128, .sign_off = 120, .most = 32 },
};

static uint32_t round_up(uint32_t n, uint32_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Room for one piece, wherever in its first line it begins, and its guards */
static uint32_t piece_room(const struct mroce_poll_params *params)
{
	return round_up(params->max_bytes + ALIGNMENTS, UNIT_BYTES) + 2 * MROCE_GUARD_BYTES;
}

/**
 * mroce_poll_image_bytes - size of the image of a round
 * @params: agreed
 */
size_t mroce_poll_image_bytes(const struct mroce_poll_params *params)
{
	return MROCE_PIECES_MAX * piece_room(params);
}

/**
 * mroce_poll_slot_bytes - size of a slot: the pieces and a flag
 * @params: agreed
 */
size_t mroce_poll_slot_bytes(const struct mroce_poll_params *params)
{
	return mroce_poll_image_bytes(params) + UNIT_BYTES;
}

/**
 * mroce_poll_flags_bytes - size of the memory for flags, a line for each slot
 * @params: agreed
 */
size_t mroce_poll_flags_bytes(const struct mroce_poll_params *params)
{
	return (size_t)params->depth * LINE_BYTES;
}

static uint64_t key_of(const struct mroce_poll_params *params, uint32_t way, uint64_t index)
{
	return mroce_mix(mroce_mix(params->seed * 2 + way) + index);
}

/* From the next random number: as many of each magnitude */
static uint32_t random_size(uint64_t *rnd, uint32_t max_bytes)
{
	uint32_t magnitude;

	*rnd = mroce_mix(*rnd);
	magnitude = 32 - __builtin_clz(max_bytes);
	magnitude = 1u << (*rnd >> 32) % magnitude;
	magnitude += *rnd % magnitude;
	return magnitude < max_bytes ? magnitude : max_bytes;
}

static void put_piece(const struct mroce_poll_params *params, struct mroce_poll_round *round,
		      uint32_t bytes, uint32_t slot_align, uint32_t image_align)
{
	struct mroce_poll_piece *piece = &round->piece[round->pieces];
	uint32_t start = round->pieces * piece_room(params) + MROCE_GUARD_BYTES;

	piece->bytes = bytes;
	piece->slot_off = start + slot_align;
	piece->image_off = start + image_align;
	round->pieces++;
}

/* Several WRITEs of any size and alignment, then the flag */
static void describe_flag(const struct mroce_poll_params *params, uint32_t way, uint64_t rnd,
			  struct mroce_poll_round *round)
{
	uint32_t max_bytes = params->max_bytes, pieces = 1 + rnd % MROCE_PIECES_MAX;
	uint32_t bytes;

	if (way)
		max_bytes = max_bytes / ANSWER_SHARE + 1;
	while (pieces--) {
		bytes = random_size(&rnd, max_bytes);
		put_piece(params, round, bytes, rnd >> 40 & 63, rnd >> 50 & 63);
	}
	round->has_flag = true;
	/* A strict flag vouches for relaxed data only in a region of its own. */
	round->flag_is_apart = rnd >> 60 & 1 || params->relaxed_data != params->relaxed_flags;
	round->sign_off = round->flag_is_apart ? round->index % params->depth * LINE_BYTES :
						 mroce_poll_image_bytes(params);
	round->sign_bytes = 8;
	round->sign = round->index + 1;
}

/* One WRITE; small ones, those of a latency test, those of a fifo, and any size */
static void describe_last(const struct mroce_poll_params *params, uint64_t rnd,
			  struct mroce_poll_round *round)
{
	uint32_t max_bytes = params->max_bytes, align = round->index % ALIGNMENTS;
	struct mroce_poll_piece *piece = &round->piece[0];
	uint32_t bytes;

	switch (rnd >> 60 & 3) {
	case 0:
		bytes = 1u << rnd % (32 - __builtin_clz(max_bytes));
		align = 0;
		break;
	case 1:
		bytes = LINE_BYTES * (1 + rnd % 8);
		align = 0;
		break;
	case 2:
		bytes = 1 + rnd % (2 * LINE_BYTES);
		break;
	default:
		bytes = 1 + rnd % max_bytes;
	}
	if (bytes > max_bytes)
		bytes = max_bytes;
	put_piece(params, round, bytes, align, rnd >> 50 & 63);
	round->sign_bytes = 1;
	if (bytes >= 8 && !((piece->slot_off + bytes) % 8) && rnd >> 59 & 1)
		round->sign_bytes = 8;
	round->sign_off = piece->slot_off + bytes - round->sign_bytes;
	round->sign = mroce_mix(rnd);
	if (round->sign_bytes == 1) {
		round->sign &= 0xff;
		round->sign ^= round->sign == MROCE_POISON;
	}
	round->vouched_bytes = bytes;
}

/* One WRITE of several records; which of them is watched changes */
static void describe_record(const struct mroce_poll_params *params, uint64_t rnd,
			    struct mroce_poll_round *round)
{
	const struct shape *shape = &shapes[rnd >> 60 & 1];
	uint32_t most = params->max_bytes / shape->bytes;
	uint32_t records = 1 + rnd % (most < shape->most ? most : shape->most);

	put_piece(params, round, records * shape->bytes, 0, rnd >> 50 & 63);
	round->sign_bytes = 8;
	round->sign = round->index + 1;
	round->stride_bytes = shape->bytes;
	round->vouched_bytes = (rnd >> 32) % records * shape->bytes + shape->sign_off + 8;
	round->sign_off = round->piece[0].slot_off + round->vouched_bytes - 8;
}

/**
 * mroce_poll_describe - derive a round
 * @params: agreed
 * @way: 0 from the client to the server, 1 back
 * @index: of the round
 * @round: filled in
 */
void mroce_poll_describe(const struct mroce_poll_params *params, uint32_t way, uint64_t index,
			 struct mroce_poll_round *round)
{
	uint64_t rnd = mroce_mix(key_of(params, way, index));

	memset(round, 0, sizeof(*round));
	round->index = index;
	round->chained = rnd >> 63;
	if (params->mode == MROCE_POLL_FLAG)
		describe_flag(params, way, rnd, round);
	else if (params->mode == MROCE_POLL_LAST)
		describe_last(params, rnd, round);
	else
		describe_record(params, rnd, round);
}

/**
 * mroce_poll_paint - the bytes of a round, for sending and for comparing
 * @params: agreed
 * @way: direction
 * @round: from mroce_poll_describe()
 * @image: mroce_poll_image_bytes()
 */
void mroce_poll_paint(const struct mroce_poll_params *params, uint32_t way,
		      const struct mroce_poll_round *round, uint8_t *image)
{
	const struct mroce_poll_piece *piece = round->piece;
	uint64_t key = key_of(params, way, round->index);
	uint32_t i, off;

	for (i = 0; i < round->pieces; i++)
		mroce_pattern_fill(image + piece[i].image_off, piece[i].bytes, key,
				   piece[i].slot_off);
	image += piece->image_off;
	if (params->mode == MROCE_POLL_LAST)
		memcpy(image + piece->bytes - round->sign_bytes, &round->sign, round->sign_bytes);
	if (!round->stride_bytes)
		return;
	off = (round->sign_off - piece->slot_off) % round->stride_bytes;
	for (; off < piece->bytes; off += round->stride_bytes)
		memcpy(image + off, &round->sign, 8);
}
