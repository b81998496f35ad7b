// SPDX-License-Identifier: GPL-2.0
/* What all congestion control algorithms share; see cc.h. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "cc.h"

static const struct mroce_cc_ops *const all_ops[] = {
	&mroce_cc_ecn,
	&mroce_cc_delay,
};

const struct mroce_cc_ops *mroce_cc_find(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all_ops); i++)
		if (!strcmp(all_ops[i]->name, name))
			return all_ops[i];
	return NULL;
}

void mroce_cc_start(const struct mroce_cc_ops *ops, struct mroce_cc_conn *c, u32 init_bytes,
		    u32 max_bytes, u32 pkt_bytes)
{
	memset(c, 0, sizeof(*c));
	c->pkt_bytes = max(pkt_bytes, 1u);
	c->cwnd_bytes = max(init_bytes, c->pkt_bytes);
	mroce_cc_bound(c, max_bytes);
	ops->conn_init(c);
}

void mroce_cc_bound(struct mroce_cc_conn *c, u64 max_bytes)
{
	c->max_bytes = clamp_t(u64, max_bytes, c->pkt_bytes, MROCE_CC_MAX_BYTES);
	c->cwnd_bytes = mroce_cc_clamp(c, c->cwnd_bytes);
}

u32 mroce_cc_clamp(const struct mroce_cc_conn *c, u64 bytes)
{
	return clamp_t(u64, bytes, c->pkt_bytes, c->max_bytes);
}

u32 mroce_cc_add(const struct mroce_cc_conn *c, u32 acked_bytes, u64 *rem)
{
	u64 sum = *rem + (u64)acked_bytes * c->pkt_bytes;
	u64 add = div_u64(sum, c->cwnd_bytes);

	*rem = sum - add * c->cwnd_bytes;
	return min_t(u64, add, c->max_bytes);
}

/* The cap at @now: as set, then twice as much each round trip; 0 = none any more. */
static u64 share_cap(const struct mroce_cc_conn *c, u64 now)
{
	u64 cap = c->share_bytes;
	u64 at = c->share_until_ns;

	while (cap && now > at) {
		cap *= 2;
		at += c->share_rtt_ns;
		if (cap > c->max_bytes)
			cap = 0;
	}
	return cap;
}

void mroce_cc_share(struct mroce_cc_conn *c, u32 mbps, u64 rtt_ns, u64 now)
{
	u64 old = share_cap(c, now);
	u64 bytes;

	if (!mbps)
		return;
	/* Mb/s * ns = 10^-3 bit; below 2^32 * 2^30 for round trips up to 1 s. */
	rtt_ns = clamp_t(u64, rtt_ns, 1000, 1000000000);
	bytes = div_u64(mbps * (rtt_ns + MROCE_CC_TARGET_NS), 8000);
	bytes = clamp_t(u64, bytes, c->pkt_bytes, U32_MAX);
	if (old)
		bytes = min(bytes, 2 * old);
	c->share_bytes = bytes;
	c->share_rtt_ns = rtt_ns;
	c->share_until_ns = now + max_t(u64, 4 * rtt_ns, 1000000);
}

u32 mroce_cc_window(const struct mroce_cc_conn *c, u64 now)
{
	u64 cap;

	if (!c->share_bytes)
		return c->cwnd_bytes;
	cap = share_cap(c, now);
	return cap ? min_t(u64, cap, c->cwnd_bytes) : c->cwnd_bytes;
}
