// SPDX-License-Identifier: GPL-2.0
/* Planes of a connection; see plane.h. */
#include <linux/limits.h>
#include <linux/minmax.h>
#include "plane.h"

/* Of several planes each has fewer: together there are enough to spread over. */
#define PATHS_EACH	4
/* Share of marked packets of a path that is congested rather than just marked. */
#define CONGESTED_Q16	32768

u32 mroce_plane_paths(u32 set, u32 n_planes)
{
	if (!set)
		set = n_planes > 1 ? PATHS_EACH : MROCE_DEF_PATHS;
	return clamp(set, 1u, MROCE_MAX_PATHS / max(n_planes, 1u));
}

u16 mroce_plane_sport(const struct mroce_pathset *ps, u32 rnd)
{
	u32 off = rnd % MROCE_SPORT_COUNT;
	u32 i = 0;

	while (i < ps->cfg.n_paths) {
		if (ps->path[i].sport == MROCE_SPORT_FIRST + off) {
			off = (off + 1) % MROCE_SPORT_COUNT;
			i = 0;
		} else {
			i++;
		}
	}
	return MROCE_SPORT_FIRST + off;
}

/*
 * A number for one more path: one that is free again, else the next one. If there is none, one
 * whose packets are still to be handed out, unless data may be sent on it before that. -1: none.
 */
static int free_path(const struct mroce_pathset *ps, bool proved)
{
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].state == MROCE_PATH_OFF && !ps->path[i].acts &&
		    !ps->path[i].sb.inflight_pkts)
			return i;
	if (i < ps->cfg.max_paths && ps->path[i].sb.rec)
		return i;
	for (i = 0; !proved && i < ps->cfg.n_paths; i++)
		if (ps->path[i].state == MROCE_PATH_OFF)
			return i;
	return -1;
}

/* What is in flight on @p goes with it to another plane, until it is handed out. */
static void change_plane(struct mroce_pathset *ps, struct mroce_path *p, u8 plane)
{
	struct mroce_ps_plane *from = &ps->plane[p->plane], *to = &ps->plane[plane];

	from->inflight_bytes -= p->sb.inflight_bytes;
	from->inflight_pkts -= p->sb.inflight_pkts;
	to->inflight_bytes += p->sb.inflight_bytes;
	to->inflight_pkts += p->sb.inflight_pkts;
	p->plane = plane;
}

/* A number that was in use goes on counting: the peer still knows it. */
static void renew(struct mroce_path *p, u16 sport, u64 now)
{
	mroce_sb_new_epoch(&p->sb);
	mroce_rtt_init(&p->rtt);
	p->sport = sport;
	p->skip = 0;
	p->n_pto = 0;
	p->good_probes = 0;
	p->backoff = 0;
	p->n_refused = 0;
	p->grace = false;
	p->loss_q16 = 0;
	p->mark_q16 = 0;
	p->rate_pkts = 0;
	p->last_ack_ns = now;
	p->rest_ns = 0;
}

static void start(struct mroce_pathset *ps, u32 idx, u8 plane, bool proved, const u32 *rnd,
		  u64 now)
{
	struct mroce_path *p = &ps->path[idx];
	u16 sport = mroce_plane_sport(ps, rnd[1]);
	u32 bytes = ps->cfg.init_window_bytes;

	if (idx < ps->cfg.n_paths) {
		renew(p, sport, now);
	} else {
		mroce_path_init(p, idx, rnd[0], sport, now);
		ps->cfg.n_paths++;
	}
	change_plane(ps, p, plane);
	mroce_path_event(p, MROCE_PATH_EV_OFF);
	mroce_path_event(p, MROCE_PATH_EV_ON);
	if (proved) {
		mroce_path_event(p, MROCE_PATH_EV_PROVED);
		p->timer_ns = 0;
	} else {
		p->timer_ns = now;
		bytes = MROCE_PATH_FRESH_PKTS * ps->cfg.pkt_bytes;
	}
	/* The connection window bounds the sum; any path may carry all of it. */
	ps->cfg.cc->path_init(&ps->cc, &p->cc, bytes);
}

/* As if @plane had never missed a turn: none has to catch up. */
static u64 least_served(const struct mroce_pathset *ps, u8 plane)
{
	u64 least = U64_MAX;
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (i != plane && ps->plane[i].used)
			least = min(least, ps->plane[i].served_bytes);
	return least == U64_MAX ? 0 : least;
}

static bool is_lossy(const struct mroce_pathset *ps, u8 plane)
{
	u32 loss_q16 = ps->plane[plane].loss_q16;
	u32 i;

	for (i = 0; loss_q16 > MROCE_BAD_LOSS_Q16 && i < MROCE_MAX_PAIRS; i++)
		if (i != plane && ps->plane[i].used && ps->plane[i].proved &&
		    ps->plane[i].loss_q16 < loss_q16 / 4)
			return true;
	return false;
}

void mroce_plane_loss(struct mroce_pathset *ps, u8 plane, u32 n, u32 lost)
{
	struct mroce_ps_plane *pl = &ps->plane[plane];
	u8 bit = 1u << plane;

	mroce_path_rate(&pl->loss_q16, MROCE_PLANE_RATE_PKTS, n, lost);
	if (is_lossy(ps, plane)) {
		ps->lossy |= bit;
	} else if (ps->lossy & bit) {
		ps->lossy &= ~bit;
		pl->served_bytes = max(pl->served_bytes, least_served(ps, plane));
	}
}

/* How many paths of a plane are below both limits? */
static u32 count_better(const struct mroce_pathset *ps, u8 plane, u32 loss_limit, u32 mark_limit)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++)
		n += ps->path[i].plane == plane && ps->path[i].loss_q16 < loss_limit &&
		     ps->path[i].mark_q16 < mark_limit;
	return n;
}

bool mroce_plane_bad_route(const struct mroce_pathset *ps, const struct mroce_path *p)
{
	u32 most = ps->plane[p->plane].n_paths / 2 + 1;

	if (p->loss_q16 > MROCE_BAD_LOSS_Q16 &&
	    count_better(ps, p->plane, p->loss_q16 / 4, U32_MAX) >= most)
		return true;
	return p->mark_q16 > CONGESTED_Q16 &&
	       count_better(ps, p->plane, U32_MAX, CONGESTED_Q16 / 2) >= most;
}

/* Return: whether it was on. */
static bool turn_off(struct mroce_pathset *ps, struct mroce_path *p)
{
	if (!mroce_path_event(p, MROCE_PATH_EV_OFF))
		return false;
	p->acts = 0;
	p->rest_ns = 0;
	if (p->sb.inflight_data)
		p->acts = 1u << MROCE_PS_FLUSH;
	else
		mroce_pathset_forget_probes(ps, p);
	return true;
}

/*
 * Each plane that works brings a window with it: as much may be in flight on each of several as
 * on one alone. A ceiling for all together would be the bottleneck of many.
 */
static void set_proved(struct mroce_pathset *ps, u8 plane, bool proved)
{
	u32 n = 0;
	u32 i;

	ps->plane[plane].proved = proved;
	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		n += ps->plane[i].used && ps->plane[i].proved;
	mroce_cc_bound(&ps->cc, (u64)max(n, 1u) * ps->cfg.max_window_bytes);
}

/* Planes that have been alone have more paths than one of many gets: they give them back. */
static void make_room(struct mroce_pathset *ps, u32 n)
{
	u32 taken = 0;
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		taken += ps->plane[i].n_paths;
	for (i = ps->cfg.n_paths; i-- && taken + n > ps->cfg.max_paths;) {
		struct mroce_path *p = &ps->path[i];
		struct mroce_ps_plane *pl = &ps->plane[p->plane];

		if (pl->n_paths > n && turn_off(ps, p)) {
			pl->n_paths--;
			taken--;
		}
	}
}

u32 mroce_plane_open(struct mroce_pathset *ps, u8 plane, u32 n, bool proved, const u32 *rnd,
		     u64 now)
{
	struct mroce_ps_plane *pl = &ps->plane[plane];
	u64 served_bytes = least_served(ps, plane);
	u32 i;

	make_room(ps, n);
	for (i = 0; i < n; i++) {
		int idx = free_path(ps, proved);

		if (idx < 0)
			break;
		start(ps, idx, plane, proved, rnd + 2 * i, now);
	}
	pl->used = i;
	set_proved(ps, plane, proved && i);
	pl->draining = false;
	ps->doubted &= ~(1u << plane);
	ps->lossy &= ~(1u << plane);
	pl->loss_q16 = 0;
	pl->n_paths = i;
	pl->served_bytes = served_bytes;
	pl->rtt_ns = 0;
	return i;
}

void mroce_plane_close(struct mroce_pathset *ps, u8 plane)
{
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].plane == plane)
			turn_off(ps, &ps->path[i]);
	ps->plane[plane].used = false;
	set_proved(ps, plane, false);
	ps->plane[plane].n_paths = 0;
}

void mroce_plane_drain(struct mroce_pathset *ps, u8 plane, bool leaving)
{
	u32 i;

	ps->plane[plane].draining = false;
	/* Not when all others are leaving, too. */
	for (i = 0; leaving && i < MROCE_MAX_PAIRS; i++)
		if (i != plane && ps->plane[i].used && ps->plane[i].proved &&
		    !ps->plane[i].draining)
			ps->plane[plane].draining = true;
}

void mroce_plane_proved(struct mroce_pathset *ps, struct mroce_path *p, u64 now)
{
	u32 i;

	if (ps->plane[p->plane].proved)
		return;
	set_proved(ps, p->plane, true);
	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].plane == p->plane && ps->path[i].state == MROCE_PATH_PROBING)
			ps->path[i].timer_ns = now;
}

void mroce_plane_doubt(struct mroce_pathset *ps, u8 plane)
{
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].plane == plane && (ps->path[i].state == MROCE_PATH_ACTIVE ||
						   ps->path[i].state == MROCE_PATH_SUSPECT))
			return;
	set_proved(ps, plane, false);
}

bool mroce_plane_another(const struct mroce_pathset *ps, u8 plane)
{
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		if (i != plane && ps->plane[i].used && ps->plane[i].proved)
			return true;
	return false;
}

bool mroce_plane_asks(const struct mroce_pathset *ps, const struct mroce_path *p)
{
	u32 i;

	if (ps->plane[p->plane].proved || !mroce_plane_another(ps, p->plane))
		return true;
	for (i = 0; i < p->id; i++)
		if (ps->path[i].plane == p->plane && ps->path[i].state == MROCE_PATH_PROBING)
			return false;
	return true;
}

int mroce_plane_hello(struct mroce_pathset *ps, u8 unheard, int cpu)
{
	int path;

	if (ps->silent || unheard & 1)
		return -1;
	path = mroce_pathset_any(ps, cpu);
	return ps->plane[ps->path[path].plane].proved ? path : -1;
}
