// SPDX-License-Identifier: GPL-2.0
/* Pairs of planes; see pairs.h. */
#include <linux/minmax.h>
#include <linux/string.h>
#include "pairs.h"

/**
 * struct match - pairs in the making
 * @n: pairs found
 * @mine: planes of ours that are taken, bit = index
 * @theirs: the peer's
 * @local: index of our plane of pair i
 * @remote: of the peer's
 */
struct match {
	u32 n;
	u32 mine;
	u32 theirs;
	u8 local[MROCE_MAX_PAIRS];
	u8 remote[MROCE_MAX_PAIRS];
};

static void take(struct match *m, u32 local, u32 remote)
{
	if (m->n == MROCE_MAX_PAIRS)
		return;
	m->local[m->n] = local;
	m->remote[m->n++] = remote;
	m->mine |= 1u << local;
	m->theirs |= 1u << remote;
}

static bool in_subnet(const struct mroce_plane_end *plane, const u8 *addr)
{
	u32 bytes = plane->prefix_bits / 8, bits = plane->prefix_bits % 8;

	if (!plane->prefix_bits || memcmp(plane->addr, addr, bytes))
		return false;
	return !bits || !((plane->addr[bytes] ^ addr[bytes]) >> (8 - bits));
}

static bool fits(const struct mroce_plane_end *mine, const struct mroce_plane_end *theirs,
		 bool by_label)
{
	return by_label ? mine->label == theirs->label : in_subnet(mine, theirs->addr);
}

/* Pair what is left on both sides and fits. */
static void match_by(struct match *m, const struct mroce_plane_end *mine, u32 n_mine,
		     const struct mroce_plane_end *theirs, u32 n_theirs, bool by_label)
{
	u32 i, j;

	for (i = 0; i < n_mine; i++)
		for (j = 0; j < n_theirs && !(m->mine & 1u << i); j++)
			if (!(m->theirs & 1u << j) && fits(&mine[i], &theirs[j], by_label))
				take(m, i, j);
}

/* What both sides have left: one with the other, in order. */
static void match_left(struct match *m, u32 n_mine, u32 n_theirs)
{
	u32 i = 0, j = 0;

	for (;;) {
		while (i < n_mine && m->mine & 1u << i)
			i++;
		while (j < n_theirs && m->theirs & 1u << j)
			j++;
		if (i == n_mine || j == n_theirs || m->n == MROCE_MAX_PAIRS)
			return;
		take(m, i, j);
	}
}

/* The planes that only one side has left, in turn with all of the other's. */
static void match_rest(struct match *m, u32 n_mine, u32 n_theirs)
{
	u32 k = 0;
	u32 i;

	for (i = 0; i < n_mine; i++)
		if (!(m->mine & 1u << i))
			take(m, i, k++ % n_theirs);
	k = 0;
	for (i = 0; i < n_theirs; i++)
		if (!(m->theirs & 1u << i))
			take(m, k++ % n_mine, i);
}

static struct mroce_pair make(const struct mroce_plane_end *mine,
			      const struct mroce_plane_end *theirs)
{
	struct mroce_pair pair = {
		.used = true,
		.up = mine->up && theirs->up,
		.leaving = mine->leaving || theirs->leaving,
		.label = mine->label,
		.tag = mine->tag,
	};

	memcpy(pair.laddr, mine->addr, sizeof(pair.laddr));
	memcpy(pair.raddr, theirs->addr, sizeof(pair.raddr));
	return pair;
}

/* Nothing works: all are worth a try. */
static void last_resort(struct mroce_pair *next, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (next[i].up)
			return;
	for (i = 0; i < n; i++)
		next[i].up = true;
}

static bool same(const struct mroce_pair *a, const struct mroce_pair *b)
{
	return a->used == b->used && a->up == b->up && a->leaving == b->leaving &&
	       a->label == b->label && a->tag == b->tag;
}

static void add_end(struct mroce_plane_end *end, u8 label, u16 flags, const u8 *addr)
{
	memset(end, 0, sizeof(*end));
	end->label = label;
	end->up = !(flags & MROCE_PLANE_DOWN);
	end->leaving = flags & MROCE_PLANE_LEAVING;
	memcpy(end->addr, addr, sizeof(end->addr));
}

bool mroce_planes_have(const struct mroce_plane_end *ends, u32 n, const u8 *addr)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!memcmp(ends[i].addr, addr, sizeof(ends[i].addr)))
			return true;
	return false;
}

u32 mroce_planes_told(const struct mroce_hello *h, u8 family, const u8 *gid,
		      struct mroce_plane_end *theirs)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < h->n_planes; i++)
		if (h->plane[i].family == family &&
		    !mroce_planes_have(theirs, n, h->plane[i].addr))
			add_end(&theirs[n++], h->plane[i].label, h->plane[i].flags,
				h->plane[i].addr);
	if (!n)
		add_end(&theirs[n++], 0, 0, gid);
	return n;
}

bool mroce_pairs_remote(const struct mroce_pairs *pairs, const u8 *raddr)
{
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++) {
		const struct mroce_pair *p = &pairs->pair[i];

		if (p->used && !memcmp(p->raddr, raddr, sizeof(p->raddr)))
			return true;
	}
	return false;
}

int mroce_pairs_find(const struct mroce_pairs *pairs, const u8 *laddr, const u8 *raddr)
{
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++) {
		const struct mroce_pair *p = &pairs->pair[i];

		if (p->used && !memcmp(p->raddr, raddr, sizeof(p->raddr)) &&
		    !memcmp(p->laddr, laddr, sizeof(p->laddr)))
			return i;
	}
	return -1;
}

/* A place nobody has, now or before: packets under way still mean the old pair. */
static int free_place(const struct mroce_pairs *pairs, u32 changed)
{
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (!pairs->pair[i].used && !(changed & 1u << i))
			return i;
	/* All have been in use until now. */
	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (!pairs->pair[i].used)
			return i;
	return -1;
}

/* Those that remain keep their places, with what is new about them. Return: the places. */
static u32 keep(struct mroce_pairs *pairs, const struct mroce_pair *next, u32 n, u32 *placed,
		u32 *changed)
{
	u32 kept = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		int at = mroce_pairs_find(pairs, next[i].laddr, next[i].raddr);

		if (at < 0)
			continue;
		if (!same(&pairs->pair[at], &next[i]))
			*changed |= 1u << at;
		pairs->pair[at] = next[i];
		kept |= 1u << at;
		*placed |= 1u << i;
	}
	return kept;
}

u32 mroce_pairs_update(struct mroce_pairs *pairs, const struct mroce_plane_end *mine, u32 n_mine,
		       const struct mroce_plane_end *theirs, u32 n_theirs)
{
	struct mroce_pair next[MROCE_MAX_PAIRS];
	u32 changed = 0, placed = 0, kept, i;
	struct match m = { 0 };

	if (n_mine && n_theirs) {
		match_by(&m, mine, n_mine, theirs, n_theirs, true);
		match_by(&m, mine, n_mine, theirs, n_theirs, false);
		match_left(&m, n_mine, n_theirs);
		match_rest(&m, n_mine, n_theirs);
	}
	for (i = 0; i < m.n; i++)
		next[i] = make(&mine[m.local[i]], &theirs[m.remote[i]]);
	last_resort(next, m.n);

	kept = keep(pairs, next, m.n, &placed, &changed);
	for (i = 0; i < MROCE_MAX_PAIRS; i++) {
		if (!pairs->pair[i].used || kept & 1u << i)
			continue;
		pairs->pair[i].used = false;
		changed |= 1u << i;
	}
	for (i = 0; i < m.n; i++) {
		int at;

		if (placed & 1u << i)
			continue;
		at = free_place(pairs, changed);
		if (at < 0)
			break;
		pairs->pair[at] = next[i];
		changed |= 1u << at;
	}
	return changed;
}
