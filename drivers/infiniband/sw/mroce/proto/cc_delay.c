// SPDX-License-Identifier: GPL-2.0
/*
 * Delay based congestion control, after Swift (SIGCOMM 2020): for routes that
 * do not mark. Each path aims at a queueing delay of MROCE_CC_TARGET_NS.
 *
 * Delay d = rtt - min rtt, per sample:
 *	d <= target: additive, one packet per round trip over all paths
 *		     (doubling until the first delay above it)
 *	d > target:  w *= max(1 - 0.8 (d - target) / d, 0.5), once per round trip
 * Loss takes the lost bytes off, a probe timeout leaves one packet. The
 * connection window opens as it is used, up to the sum of the path windows.
 */
#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "cc.h"

/**
 * struct delay_path - priv of a path
 * @fast: no delay above the target yet
 * @rem: remainder of additive increase
 * @cut_ns: no cut before then
 */
struct delay_path {
	bool fast;
	u64 rem;
	u64 cut_ns;
};

/**
 * struct delay_conn - priv of the connection
 * @sum_bytes: sum of the path windows
 */
struct delay_conn {
	u64 sum_bytes;
};

static_assert(sizeof(struct delay_path) <= sizeof(((struct mroce_cc_path *)0)->priv));
static_assert(sizeof(struct delay_conn) <= sizeof(((struct mroce_cc_conn *)0)->priv));

static struct delay_path *delay_path(struct mroce_cc_path *p)
{
	return (struct delay_path *)p->priv;
}

static void set_window(struct mroce_cc_conn *c, struct mroce_cc_path *p, u64 bytes)
{
	struct delay_conn *k = (struct delay_conn *)c->priv;

	k->sum_bytes -= p->cwnd_bytes;
	p->cwnd_bytes = mroce_cc_clamp(c, bytes);
	k->sum_bytes += p->cwnd_bytes;
	c->cwnd_bytes = mroce_cc_clamp(c, min_t(u64, c->cwnd_bytes, k->sum_bytes));
}

static void conn_init(struct mroce_cc_conn *c)
{
}

static void path_init(struct mroce_cc_conn *c, struct mroce_cc_path *p, u32 bytes)
{
	u32 start = c->cwnd_bytes;

	set_window(c, p, bytes);
	/* While the paths come up one by one their sum says nothing yet. */
	c->cwnd_bytes = start;
	memset(p->priv, 0, sizeof(p->priv));
	delay_path(p)->fast = true;
}

static void on_pto(struct mroce_cc_conn *c, struct mroce_cc_path *p)
{
	set_window(c, p, c->pkt_bytes);
	delay_path(p)->fast = true;
}

static void cut(struct mroce_cc_conn *c, struct mroce_cc_path *p,
		const struct mroce_cc_sample *s, u64 delay_ns)
{
	struct delay_path *d = delay_path(p);
	u32 off;

	d->fast = false;
	if (s->now_ns < d->cut_ns)
		return;
	/* In parts of 64; at most a half. */
	off = min_t(u64, div64_u64((delay_ns - MROCE_CC_TARGET_NS) * 51, delay_ns), 32);
	set_window(c, p, (u64)p->cwnd_bytes * (64 - off) / 64);
	d->cut_ns = s->now_ns + s->srtt_ns;
}

static void on_ack(struct mroce_cc_conn *c, struct mroce_cc_path *p,
		   const struct mroce_cc_sample *s)
{
	struct delay_path *d = delay_path(p);
	u64 delay_ns = s->rtt_ns > s->min_rtt_ns ? s->rtt_ns - s->min_rtt_ns : 0;
	u32 add = 0;

	if (delay_ns <= MROCE_CC_TARGET_NS && s->path_prior_bytes >= p->cwnd_bytes / 2)
		add = d->fast ? s->acked_bytes : mroce_cc_add(c, s->acked_bytes, &d->rem);
	if (s->conn_prior_bytes >= c->cwnd_bytes / 2)
		c->cwnd_bytes = mroce_cc_clamp(c, (u64)c->cwnd_bytes + s->acked_bytes);
	set_window(c, p, p->cwnd_bytes - min(p->cwnd_bytes, s->lost_bytes) + (u64)add);
	if (delay_ns > MROCE_CC_TARGET_NS)
		cut(c, p, s, delay_ns);
}

const struct mroce_cc_ops mroce_cc_delay = {
	.on_ack = on_ack,
	.on_pto = on_pto,
	.path_init = path_init,
	.conn_init = conn_init,
	.name = "delay",
};
