// SPDX-License-Identifier: GPL-2.0
/* Path choice; see sched.h. */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include "plane.h"
#include "sched.h"

/**
 * struct pick - what a path is looked for
 * @cpu: who sends
 * @bytes: the packet
 * @slack: how far it may go above the windows
 * @paths: those it may take, bit = path
 * @now: time, ns
 */
struct pick {
	int cpu;
	u32 bytes;
	u32 slack;
	u32 paths;
	u64 now;
};

/* Paths that carry data, of some planes; bit = path. */
static u32 working(const struct mroce_pathset *ps, u32 planes)
{
	u32 paths = 0;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].state == MROCE_PATH_ACTIVE && planes & 1u << ps->path[i].plane &&
		    !ps->plane[ps->path[i].plane].draining)
			paths |= 1u << i;
	return paths;
}

/* The paths a stream prefers: some of its planes' that work. None of them does: any. */
static u32 preferred(const struct mroce_pathset *ps, const struct mroce_want *want)
{
	u32 paths, all, n, rank = 0, i;

	if (!want)
		return U32_MAX;
	all = want->planes ? working(ps, want->planes) : 0;
	if (!all)
		all = working(ps, U32_MAX);
	n = hweight32(all);
	if (!n || !want->paths || n <= want->paths)
		return n ? all : U32_MAX;
	for (i = 0, paths = 0; i < ps->cfg.n_paths; i++)
		if (all & 1u << i && (rank++ + want->salt) % n < want->paths)
			paths |= 1u << i;
	return paths;
}

/* Of those paths the ones on planes that nothing speaks against. There are none: all. */
static u32 trusted(const struct mroce_pathset *ps, u32 paths)
{
	u32 some = ps->doubted ? paths & working(ps, ~ps->doubted) : 0;

	return some ? some : paths;
}

/* May @p take the packet? */
static bool path_open(const struct mroce_pathset *ps, const struct mroce_path *p,
		      const struct pick *k)
{
	if (p->state != MROCE_PATH_ACTIVE || !mroce_path_owned(p, k->cpu) || p->rest_ns > k->now ||
	    ps->plane[p->plane].draining || !mroce_sb_can_send_data(&p->sb) ||
	    !(k->paths & 1u << p->id))
		return false;
	/* An idle path may always send: a window below a packet must not stall. */
	return !p->sb.inflight_bytes ||
	       (u64)p->sb.inflight_bytes + k->bytes <= (u64)p->cc.cwnd_bytes + k->slack;
}

static bool conn_open(const struct mroce_pathset *ps, const struct pick *k)
{
	return !ps->inflight_bytes || (u64)ps->inflight_bytes + k->bytes <=
	       (u64)mroce_cc_window(&ps->cc, k->now) + k->slack;
}

/*
 * Up to this much, one path's window is as good as another's: twice its share of
 * the connection's. Without it the path that has been used most, and so has the
 * largest window, would be used for ever.
 */
static u32 fair_window(const struct mroce_pathset *ps, u64 now)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++)
		n += ps->path[i].state == MROCE_PATH_ACTIVE;
	return max(2 * (mroce_cc_window(&ps->cc, now) / max(n, 1u)), ps->cfg.pkt_bytes);
}

static u32 headroom(const struct mroce_path *p, u32 fair_bytes)
{
	u32 window = min(p->cc.cwnd_bytes, fair_bytes);

	return window - min(window, p->sb.inflight_bytes);
}

/* The better of @best (or -1) and @idx; the earlier one of equals. */
static int better(const struct mroce_pathset *ps, int best, int idx, u32 fair_bytes)
{
	if (best >= 0 &&
	    headroom(&ps->path[best], fair_bytes) >= headroom(&ps->path[idx], fair_bytes))
		return best;
	return idx;
}

/* What is in flight on a plane, in bursts. A lossy one is full with less. */
static u32 plane_load(const struct mroce_pathset *ps, u32 plane)
{
	u32 weight = ps->lossy >> plane & 1 ? MROCE_PLANE_LOSSY : 1;

	return weight * ps->plane[plane].inflight_bytes / MROCE_SCHED_BURST_BYTES;
}

/* Is plane @a to be taken rather than @b? Those that have an open path without marks first. */
static bool plane_before(const struct mroce_pathset *ps, u32 a, u32 b, u32 clear)
{
	u32 load_a = plane_load(ps, a), load_b = plane_load(ps, b);

	if ((clear >> a ^ clear >> b) & 1)
		return clear >> a & 1;
	if (load_a != load_b)
		return load_a < load_b;
	if ((ps->lossy >> a ^ ps->lossy >> b) & 1)
		return ps->lossy >> b & 1;
	return ps->plane[a].served_bytes < ps->plane[b].served_bytes;
}

/* The plane whose turn it is, of those with an open path; -1 = none has. */
static int pick_plane(const struct mroce_pathset *ps, const struct pick *k)
{
	u32 open = 0, clear = 0;
	int best = -1;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++) {
		const struct mroce_path *p = &ps->path[i];

		if (!path_open(ps, p, k))
			continue;
		open |= 1u << p->plane;
		if (!p->skip)
			clear |= 1u << p->plane;
	}
	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (open & 1u << i && (best < 0 || plane_before(ps, i, best, clear)))
			best = i;
	return best;
}

/* Go once around a plane's paths, from the rotation on, and take the best open one. */
static int scan(struct mroce_pathset *ps, const struct pick *k, bool rotate)
{
	u32 fair_bytes = fair_window(ps, k->now);
	int plane = pick_plane(ps, k);
	int busy = -1, idle = -1, marked = -1;
	u32 n_busy = 0;
	u32 i;

	if (plane < 0)
		return -1;
	for (i = 0; i < ps->cfg.n_paths; i++) {
		int idx = (ps->rr + i) % ps->cfg.n_paths;
		struct mroce_path *p = &ps->path[idx];
		bool skip = p->skip;

		p->skip -= skip && rotate;
		if (p->plane != plane)
			continue;
		n_busy += p->sb.inflight_data > 0;
		if (!path_open(ps, p, k))
			continue;
		if (skip)
			marked = better(ps, marked, idx, fair_bytes);
		else if (p->sb.inflight_data)
			busy = better(ps, busy, idx, fair_bytes);
		else
			idle = better(ps, idle, idx, fair_bytes);
	}
	if (busy >= 0 && ps->plane[plane].inflight_pkts < n_busy * MROCE_SCHED_FEED_PKTS)
		return busy;
	if (idle < 0)
		return busy >= 0 ? busy : marked;
	return busy >= 0 ? better(ps, idle, busy, fair_bytes) : idle;
}

int mroce_sched_pick(struct mroce_pathset *ps, int cpu, u32 bytes,
		     const struct mroce_want *want, u64 now)
{
	struct pick k = { .cpu = cpu, .bytes = bytes, .now = now,
			  .paths = trusted(ps, preferred(ps, want)) };
	int idx;

	if (!conn_open(ps, &k))
		return -1;
	if (ps->burst_bytes && ps->burst_pkts && !ps->path[ps->cur].skip &&
	    path_open(ps, &ps->path[ps->cur], &k))
		return ps->cur;
	idx = scan(ps, &k, true);
	if (idx < 0)
		return -1;
	ps->rr = (idx + 1) % ps->cfg.n_paths;
	ps->cur = idx;
	ps->burst_bytes = MROCE_SCHED_BURST_BYTES;
	ps->burst_pkts = MROCE_SCHED_BURST_PKTS;
	return idx;
}

int mroce_sched_pick_rtx(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer,
			 const struct mroce_want *want, u64 now)
{
	struct pick k = { .cpu = cpu, .bytes = bytes, .slack = bytes,
			  .paths = trusted(ps, preferred(ps, want)), .now = now };

	if (!conn_open(ps, &k))
		return -1;
	if (prefer < ps->cfg.n_paths && path_open(ps, &ps->path[prefer], &k))
		return prefer;
	return scan(ps, &k, false);
}

void mroce_sched_sent(struct mroce_pathset *ps, int idx, u32 bytes)
{
	ps->plane[ps->path[idx].plane].served_bytes += bytes;
	if (idx != ps->cur)
		return;
	ps->burst_bytes -= min(ps->burst_bytes, bytes);
	if (ps->burst_pkts)
		ps->burst_pkts--;
}

void mroce_sched_probed(struct mroce_pathset *ps, int idx)
{
	if (idx == ps->cur)
		ps->burst_pkts = 0;
}

void mroce_sched_marked(struct mroce_pathset *ps, int idx)
{
	ps->path[idx].skip = ps->cfg.n_paths;
}
