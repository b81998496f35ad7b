// SPDX-License-Identifier: GPL-2.0
/* Path choice; see sched.h. */
#include <linux/minmax.h>
#include "sched.h"

/* May @p take @bytes? @slack: how far above its window. */
static bool path_open(const struct mroce_path *p, int cpu, u32 bytes, u32 slack, u64 now)
{
	if (p->state != MROCE_PATH_ACTIVE || !mroce_path_owned(p, cpu) || p->rest_ns > now ||
	    !mroce_sb_can_send_data(&p->sb))
		return false;
	/* An idle path may always send: a window below a packet must not stall. */
	return !p->sb.inflight_bytes ||
	       (u64)p->sb.inflight_bytes + bytes <= (u64)p->cc.cwnd_bytes + slack;
}

static bool conn_open(const struct mroce_pathset *ps, u32 bytes, u32 slack, u64 now)
{
	return !ps->inflight_bytes ||
	       (u64)ps->inflight_bytes + bytes <= (u64)mroce_cc_window(&ps->cc, now) + slack;
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

/* Go once around, from the rotation on, and take the best open path. */
static int scan(struct mroce_pathset *ps, int cpu, u32 bytes, u32 slack, bool rotate, u64 now)
{
	u32 fair_bytes = fair_window(ps, now);
	int busy = -1, idle = -1, marked = -1;
	u32 n_busy = 0;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++) {
		int idx = (ps->rr + i) % ps->cfg.n_paths;
		struct mroce_path *p = &ps->path[idx];
		bool skip = p->skip;

		p->skip -= skip && rotate;
		n_busy += p->sb.inflight_data > 0;
		if (!path_open(p, cpu, bytes, slack, now))
			continue;
		if (skip)
			marked = better(ps, marked, idx, fair_bytes);
		else if (p->sb.inflight_data)
			busy = better(ps, busy, idx, fair_bytes);
		else
			idle = better(ps, idle, idx, fair_bytes);
	}
	if (busy >= 0 && ps->inflight_pkts < n_busy * MROCE_SCHED_FEED_PKTS)
		return busy;
	if (idle < 0)
		return busy >= 0 ? busy : marked;
	return busy >= 0 ? better(ps, idle, busy, fair_bytes) : idle;
}

int mroce_sched_pick(struct mroce_pathset *ps, int cpu, u32 bytes, u64 now)
{
	int idx;

	if (!conn_open(ps, bytes, 0, now))
		return -1;
	if (ps->burst_bytes && ps->burst_pkts && !ps->path[ps->cur].skip &&
	    path_open(&ps->path[ps->cur], cpu, bytes, 0, now))
		return ps->cur;
	idx = scan(ps, cpu, bytes, 0, true, now);
	if (idx < 0)
		return -1;
	ps->rr = (idx + 1) % ps->cfg.n_paths;
	ps->cur = idx;
	ps->burst_bytes = MROCE_SCHED_BURST_BYTES;
	ps->burst_pkts = MROCE_SCHED_BURST_PKTS;
	return idx;
}

int mroce_sched_pick_rtx(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer, u64 now)
{
	if (!conn_open(ps, bytes, bytes, now))
		return -1;
	if (prefer < ps->cfg.n_paths && path_open(&ps->path[prefer], cpu, bytes, bytes, now))
		return prefer;
	return scan(ps, cpu, bytes, bytes, false, now);
}

void mroce_sched_sent(struct mroce_pathset *ps, int idx, u32 bytes)
{
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
