/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of our planes talks to which of the peer's.
 *
 * A plane is a network of its own: an interface at either end and what lies
 * between them. Both ends of a connection tell each other their planes (HELLO);
 * each then finds the same pairs:
 *
 *   1. planes of the same label;
 *   2. of what is left, those where the peer's address is in our plane's subnet;
 *   3. of what is still left at both ends, one with the other, in order;
 *   4. what only one end has left, in turn with the other side's planes: probes will tell.
 *
 * When no pair is up each counts as up: whatever works first is to be found.
 *
 * A pair keeps its place for as long as its two addresses stay the same, because
 * paths refer to it.
 *
 * Pure: memory is the caller's.
 */
#ifndef MROCE_PROTO_PAIRS_H
#define MROCE_PROTO_PAIRS_H

#include "wire.h"

#define MROCE_MAX_PAIRS	MROCE_MAX_PLANES

/**
 * struct mroce_plane_end - one end of a plane
 * @label: what the administrator calls it; unique at this end
 * @up: it can carry packets
 * @leaving: it will soon be gone
 * @prefix_bits: length of its subnet's prefix, of 128 (IPv4: as ::ffff:a.b.c.d); 0 = not known
 * @addr: its address
 * @tag: the caller's, copied into the pair
 */
struct mroce_plane_end {
	u8 addr[16];
	u32 tag;
	u8 label;
	bool up;
	bool leaving;
	u8 prefix_bits;
};

/**
 * struct mroce_pair - a plane with both its ends
 * @used: the rest is valid
 * @up: both ends are
 * @leaving: one end is
 * @label: of our end
 * @tag: of our end
 */
struct mroce_pair {
	u8 laddr[16];
	u8 raddr[16];
	u32 tag;
	u8 label;
	bool used;
	bool up;
	bool leaving;
};

/** struct mroce_pairs - all pairs of a connection, by place */
struct mroce_pairs {
	struct mroce_pair pair[MROCE_MAX_PAIRS];
};

/**
 * mroce_planes_have() - is this the address of one of these planes?
 * @ends, @n: planes of one end
 * @addr: address
 *
 * Of planes with the same address nobody could tell apart the pairs: only the first counts.
 */
bool mroce_planes_have(const struct mroce_plane_end *ends, u32 n, const u8 *addr);

/** mroce_planes_are_old() - was list number @no made before list @than? */
static inline bool mroce_planes_are_old(u16 no, u16 than)
{
	return (s16)(no - than) < 0;
}

/**
 * mroce_planes_told() - the peer's planes, from its HELLO
 * @h: HELLO or HELLO_ACK
 * @family: 4 or 6: of the connection; others are not for it
 * @gid: the peer's end of the connection: its only plane if it names none
 * @theirs: MROCE_MAX_PLANES entries, filled
 *
 * Return: how many, at least one.
 */
u32 mroce_planes_told(const struct mroce_hello *h, u8 family, const u8 *gid,
		      struct mroce_plane_end *theirs);

/**
 * mroce_pairs_update() - the planes of one side have changed
 * @pairs: the pairs so far; those that remain keep their places
 * @mine, @n_mine: our planes, ascending labels, at most MROCE_MAX_PLANES
 * @theirs, @n_theirs: the peer's
 *
 * Return: places whose pair is new, gone, or has other properties, bit = place.
 */
u32 mroce_pairs_update(struct mroce_pairs *pairs, const struct mroce_plane_end *mine, u32 n_mine,
		       const struct mroce_plane_end *theirs, u32 n_theirs);

/** mroce_pairs_remote() - is there a pair with this address of the peer? */
bool mroce_pairs_remote(const struct mroce_pairs *pairs, const u8 *raddr);

/** mroce_pairs_find() - place of the pair with these addresses, -1 = none */
int mroce_pairs_find(const struct mroce_pairs *pairs, const u8 *laddr, const u8 *raddr);

#endif /* MROCE_PROTO_PAIRS_H */
