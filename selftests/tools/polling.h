/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mroce_polling: what a program may rely on that watches memory instead of a
 * completion queue.
 *
 * Traffic goes in rounds, each way: some WRITEs, the last of which carries a
 * sign, a word or byte that the receiver watches. When it is up, everything
 * before it has to be there. Round i is derived from the seed by both ends.
 * Several rounds are in flight, each in a slot of its own. The receiver looks
 * at the newest first: its sign vouches for all rounds before it. A slot
 * is poisoned again before the answer gives it back.
 */
#ifndef MROCE_POLLING_H
#define MROCE_POLLING_H

#include <stdio.h>
#include "tool.h"

#define MROCE_POLLING_MAGIC 0x6d727032
#define MROCE_PIECES_MAX 3
#define MROCE_GUARD_BYTES 128
#define MROCE_POISON 0xa5

/**
 * enum mroce_poll_mode - what is watched
 * @MROCE_POLL_FLAG: a flag word, written by a WRITE of its own after the data
 * @MROCE_POLL_LAST: the last byte or word of a WRITE of one packet
 * @MROCE_POLL_RECORD: one of the numbers inside the records of a WRITE of one packet
 */
enum mroce_poll_mode {
	MROCE_POLL_FLAG,
	MROCE_POLL_LAST,
	MROCE_POLL_RECORD,
	MROCE_POLL_MODES,
};

/**
 * struct mroce_poll_params - what both ends must agree on; the client decides
 * @magic: MROCE_POLLING_MAGIC
 * @mode: enum mroce_poll_mode
 * @depth: rounds in flight
 * @max_bytes: largest WRITE
 * @relaxed_data: register the data with relaxed ordering
 * @relaxed_flags: register the separate flags with relaxed ordering
 * @unordered: order between WRITEs is not demanded, its absence is counted
 * @rounds: in each direction
 * @seed: of everything
 */
struct mroce_poll_params {
	uint32_t magic;
	uint32_t mode;
	uint32_t depth;
	uint32_t max_bytes;
	uint32_t relaxed_data;
	uint32_t relaxed_flags;
	uint32_t unordered;
	uint32_t reserved;
	uint64_t rounds;
	uint64_t seed;
};

/**
 * struct mroce_poll_piece - one WRITE of data
 * @bytes: size
 * @slot_off: where it lands in its slot
 * @image_off: where it is in the image, which is where it is sent from
 */
struct mroce_poll_piece {
	uint32_t bytes;
	uint32_t slot_off;
	uint32_t image_off;
};

/**
 * struct mroce_poll_round - what one round writes
 * @index: which
 * @piece: WRITEs of data, in order
 * @pieces: how many
 * @has_flag: a WRITE of the flag word follows; otherwise the sign is in the data
 * @flag_is_apart: the flag is in the memory for flags, not in the slot
 * @chained: post the WRITEs as one list
 * @sign_off: of the sign in its slot, or in the memory for flags
 * @sign_bytes: 1 or 8, aligned
 * @sign: its value when it is up
 * @stride_bytes: size of the records, each has the sign at the same place; 0 if
 *	there are none
 * @vouched_bytes: of the piece with the sign: how much is there when it is up
 */
struct mroce_poll_round {
	uint64_t index;
	struct mroce_poll_piece piece[MROCE_PIECES_MAX];
	uint32_t pieces;
	bool has_flag;
	bool flag_is_apart;
	bool chained;
	uint32_t sign_off;
	uint32_t sign_bytes;
	uint64_t sign;
	uint32_t stride_bytes;
	uint32_t vouched_bytes;
};

/**
 * struct mroce_poll_rx - the receiving half
 * @params: agreed
 * @way: direction, part of the seed
 * @slots: where data lands
 * @flags: where separate flags land
 * @images: expected bytes, an image for each slot
 * @scratch: what was seen first, room for the largest piece
 * @round: what each slot waits for
 * @next: first round not accepted yet
 * @early: signs seen before the data they vouch for
 * @overtaken: signs missing when a later one was up
 * @deadline_ns: when to give up waiting, on mroce_clock_ns()
 */
struct mroce_poll_rx {
	const struct mroce_poll_params *params;
	uint32_t way;
	uint8_t *slots;
	uint8_t *flags;
	uint8_t *images;
	uint8_t *scratch;
	struct mroce_poll_round *round;
	uint64_t next;
	uint64_t early;
	uint64_t overtaken;
	uint64_t deadline_ns;
};

size_t mroce_poll_slot_bytes(const struct mroce_poll_params *params);
size_t mroce_poll_image_bytes(const struct mroce_poll_params *params);
size_t mroce_poll_flags_bytes(const struct mroce_poll_params *params);
void mroce_poll_describe(const struct mroce_poll_params *params, uint32_t way, uint64_t index,
			 struct mroce_poll_round *round);
void mroce_poll_paint(const struct mroce_poll_params *params, uint32_t way,
		      const struct mroce_poll_round *round, uint8_t *image);

void mroce_poll_start(struct mroce_poll_rx *rx);
unsigned int mroce_poll_look(struct mroce_poll_rx *rx);

#endif
