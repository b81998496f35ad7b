// SPDX-License-Identifier: GPL-2.0
/*
 * Default congestion control: ECN, DCTCP-like, per path; and a connection window
 * that reacts only to congestion most paths share.
 *
 * Path window w, connection window W, both in bytes:
 *
 *	      first mark or loss		CLEAN_ROUNDS without a mark
 *	FAST ------------------> STEADY <------------------------------ CAREFUL
 *	w += acked		 w += acked / 4	--------mark----------> w += pkt * acked / W
 *
 * Windows grow only while they are what limits the sender.
 *  - alpha = alpha + (marked / acked - alpha) / 16 once per round trip; a round
 *    with marks ends with w -= w * alpha / 2 (RFC 8257, 3.3).
 *  - Loss takes the lost bytes off w and nothing more. Random loss says nothing
 *    about a queue; halving on it would hold a path to 1.2 / sqrt(p) packets.
 *    STEADY growth of a quarter per round outweighs it; above 12 % loss it is an
 *    eighth, so that a sender who overruns a short queue loses little more.
 *  - Where marks never come (no ECN on the route), loss above 6 % while a queue
 *    stands and does not shrink is congestion: w = 0.7 w once per round, down to
 *    GUARD_PKTS packets (the floor, because on a software path a late scheduler
 *    looks like a queue; below it marks and timeouts decide).
 *  - W: once per round trip, when the paths that carry more than half of the
 *    acknowledged bytes had more than half of theirs marked (or met the guard),
 *    W *= max(1 - 0.8 (d - T) / d, 0.5), d = queueing delay averaged by bytes,
 *    T = MROCE_CC_TARGET_NS; but never less than an eighth off, since the marks
 *    are real where the delay is short. The guard alone, which may be mistaken, leaves
 *    GUARD_CONN_PKTS packets. Otherwise a mark is imbalance, and path
 *    windows and the scheduler deal with it.
 *  - A probe timeout leaves one packet.
 */
#include <linux/build_bug.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "cc.h"

#define Q16		65536u
#define ALPHA_GAIN	16
#define CLEAN_ROUNDS	8
#define GUARD_LOSS_Q16	(Q16 / 16)
#define GUARD_PKTS	4
#define GUARD_CONN_PKTS	32
/* Loss above which a window grows slowly. */
#define GROWTH_LOSS_Q16	(Q16 / 8)
/* Shortest round: acknowledgments come in batches. */
#define ROUND_MIN_NS	20000ull

/**
 * struct growth - which way a window grows
 * @fast: nothing bad seen yet
 * @clean: rounds without a mark, up to CLEAN_ROUNDS
 * @rem: remainder of additive increase
 */
struct growth {
	bool fast;
	u8 clean;
	u64 rem;
};

/**
 * struct ecn_path - priv of a path
 * @g: growth of w
 * @alpha_q16: smoothed share of marked bytes
 * @acked: bytes acknowledged in the round under way
 * @marked: those of them that were marked
 * @rtt_n: round trip samples in the round
 * @rtt_sum_ns: their sum
 * @prev_rtt_ns: mean round trip of the round before
 * @round_end_ns: when the round ends
 */
struct ecn_path {
	struct growth g;
	u32 alpha_q16;
	u32 acked;
	u32 marked;
	u32 rtt_n;
	u64 rtt_sum_ns;
	u64 prev_rtt_ns;
	u64 round_end_ns;
};

/**
 * struct ecn_conn - priv of the connection
 * @g: growth of W
 * @acked: bytes of path rounds ended in this round
 * @congested: those of them from congested paths
 * @marked: those of the latter whose paths were marked, not just lossy
 * @delay_sum: sum over them of bytes / 64 * queueing delay in us
 * @round_end_ns: when the round ends
 */
struct ecn_conn {
	struct growth g;
	u32 acked;
	u32 congested;
	u32 marked;
	u64 delay_sum;
	u64 round_end_ns;
};

static_assert(sizeof(struct ecn_path) <= sizeof(((struct mroce_cc_path *)0)->priv));
static_assert(sizeof(struct ecn_conn) <= sizeof(((struct mroce_cc_conn *)0)->priv));

static struct ecn_path *ecn_path(struct mroce_cc_path *p)
{
	return (struct ecn_path *)p->priv;
}

static struct ecn_conn *ecn_conn(struct mroce_cc_conn *c)
{
	return (struct ecn_conn *)c->priv;
}

static void growth_init(struct growth *g)
{
	g->fast = true;
	g->clean = CLEAN_ROUNDS;
	g->rem = 0;
}

static u32 growth_step(struct growth *g, const struct mroce_cc_conn *c,
		       const struct mroce_cc_sample *s)
{
	if (g->fast)
		return s->acked_bytes;
	if (g->clean >= CLEAN_ROUNDS)
		return s->acked_bytes / (s->loss_q16 > GROWTH_LOSS_Q16 ? 8 : 4);
	return mroce_cc_add(c, s->acked_bytes, &g->rem);
}

static void growth_round(struct growth *g, bool marked)
{
	if (marked)
		g->clean = 0;
	else if (g->clean < CLEAN_ROUNDS)
		g->clean++;
}

static void conn_init(struct mroce_cc_conn *c)
{
	growth_init(&ecn_conn(c)->g);
}

static void path_init(struct mroce_cc_conn *c, struct mroce_cc_path *p, u32 bytes)
{
	memset(p, 0, sizeof(*p));
	p->cwnd_bytes = mroce_cc_clamp(c, bytes);
	ecn_path(p)->alpha_q16 = Q16;
	growth_init(&ecn_path(p)->g);
}

static void on_pto(struct mroce_cc_conn *c, struct mroce_cc_path *p)
{
	p->cwnd_bytes = c->pkt_bytes;
	ecn_path(p)->g.fast = true;
}

/* Mean queueing delay of the round; 0 without samples. */
static u64 round_delay_ns(const struct ecn_path *e, u64 min_rtt_ns)
{
	u64 mean;

	if (!e->rtt_n)
		return 0;
	mean = div_u64(e->rtt_sum_ns, e->rtt_n);
	return mean > min_rtt_ns ? mean - min_rtt_ns : 0;
}

/* Loss without marks: congestion if a queue stands (delay above target) and does not shrink. */
static bool guard_hit(struct ecn_path *e, const struct mroce_cc_sample *s, u64 delay_ns)
{
	u64 mean = s->min_rtt_ns + delay_ns;
	bool shrinks = mean < e->prev_rtt_ns - e->prev_rtt_ns / 8;

	e->prev_rtt_ns = mean;
	return s->loss_q16 > GUARD_LOSS_Q16 && !shrinks &&
	       delay_ns > max_t(u64, s->min_rtt_ns, MROCE_CC_TARGET_NS);
}

/* @next, but not below @pkts packets. */
static u32 guarded(const struct mroce_cc_conn *c, u32 cwnd, u32 next, u32 pkts)
{
	u32 floor = pkts * c->pkt_bytes;

	return cwnd <= floor ? cwnd : max(next, floor);
}

/* A round trip of the path is over: alpha, cut, report to the connection. */
static void path_round(struct mroce_cc_conn *c, struct mroce_cc_path *p,
		       const struct mroce_cc_sample *s)
{
	struct ecn_path *e = ecn_path(p);
	struct ecn_conn *k = ecn_conn(c);
	u64 delay_ns = round_delay_ns(e, s->min_rtt_ns);
	u32 frac = div_u64((u64)e->marked * Q16, e->acked);
	bool guard = guard_hit(e, s, delay_ns);

	e->alpha_q16 = e->alpha_q16 - e->alpha_q16 / ALPHA_GAIN + frac / ALPHA_GAIN;
	if (e->marked)
		p->cwnd_bytes -= (u64)p->cwnd_bytes * e->alpha_q16 / (2 * Q16);
	else if (guard)
		p->cwnd_bytes = guarded(c, p->cwnd_bytes, p->cwnd_bytes / 10 * 7, GUARD_PKTS);
	p->cwnd_bytes = mroce_cc_clamp(c, p->cwnd_bytes);
	growth_round(&e->g, e->marked);

	k->acked += e->acked;
	if (frac > Q16 / 2 || guard)
		k->congested += e->acked;
	if (frac > Q16 / 2)
		k->marked += e->acked;
	if (e->marked)
		growth_round(&k->g, true);
	k->delay_sum += div_u64(delay_ns, 1000) * (e->acked / 64);

	e->acked = 0;
	e->marked = 0;
	e->rtt_n = 0;
	e->rtt_sum_ns = 0;
	e->round_end_ns = s->now_ns + max_t(u64, s->srtt_ns, ROUND_MIN_NS);
}

/* What remains of W, of 64 parts: see the head of this file. */
static u32 conn_keep(u64 delay_us)
{
	u64 target_us = MROCE_CC_TARGET_NS / 1000;
	u32 off = 8;

	if (delay_us > target_us)
		off = max_t(u32, off, div64_u64((delay_us - target_us) * 51, delay_us));
	return 64 - min(off, 32u);
}

static void conn_round(struct mroce_cc_conn *c, const struct mroce_cc_sample *s)
{
	struct ecn_conn *k = ecn_conn(c);

	if (s->now_ns < k->round_end_ns || !k->acked)
		return;
	if (k->congested >= k->acked / 2 + 1) {
		u64 delay_us = div64_u64(k->delay_sum, max(k->acked / 64, 1u));
		u64 next = (u64)c->cwnd_bytes * conn_keep(delay_us) / 64;

		if (k->marked < k->acked / 2 + 1)
			next = guarded(c, c->cwnd_bytes, next, GUARD_CONN_PKTS);
		c->cwnd_bytes = mroce_cc_clamp(c, next);
		k->g.fast = false;
	} else if (k->g.clean < CLEAN_ROUNDS) {
		k->g.clean++;
	}
	k->acked = 0;
	k->congested = 0;
	k->marked = 0;
	k->delay_sum = 0;
	k->round_end_ns = s->now_ns + max_t(u64, s->srtt_ns, ROUND_MIN_NS);
}

static void on_ack(struct mroce_cc_conn *c, struct mroce_cc_path *p,
		   const struct mroce_cc_sample *s)
{
	struct ecn_path *e = ecn_path(p);
	struct ecn_conn *k = ecn_conn(c);

	e->acked += s->acked_bytes;
	e->marked += s->marked_bytes;
	if (s->rtt_ns) {
		e->rtt_n++;
		e->rtt_sum_ns += s->rtt_ns;
	}
	if (s->marked_bytes || s->lost_bytes) {
		e->g.fast = false;
		k->g.fast = false;
	}
	if (s->lost_bytes)
		p->cwnd_bytes = mroce_cc_clamp(c, p->cwnd_bytes -
					       min(p->cwnd_bytes, s->lost_bytes));
	if (!s->marked_bytes && s->path_prior_bytes >= p->cwnd_bytes / 2)
		p->cwnd_bytes = mroce_cc_clamp(c, (u64)p->cwnd_bytes +
					       growth_step(&e->g, c, s));
	if (!s->marked_bytes && s->conn_prior_bytes >= c->cwnd_bytes / 2)
		c->cwnd_bytes = mroce_cc_clamp(c, (u64)c->cwnd_bytes +
					       growth_step(&k->g, c, s));
	if (e->acked && s->now_ns >= e->round_end_ns)
		path_round(c, p, s);
	conn_round(c, s);
}

const struct mroce_cc_ops mroce_cc_ecn = {
	.on_ack = on_ack,
	.on_pto = on_pto,
	.path_init = path_init,
	.conn_init = conn_init,
	.name = "ecn",
};
