/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A path set with its peer's receive windows, for tests that play the network
 * by hand. All times are rig->now; nothing happens by itself.
 */
#ifndef MROCE_KUNIT_PS_RIG_H
#define MROCE_KUNIT_PS_RIG_H

#include <kunit/test.h>
#include "pathset.h"
#include "plane.h"
#include "rxwin.h"

#define RIG_MS		1000000ull
#define RIG_PKT		1000u
#define RIG_START	64000u
#define RIG_CEILING	512000u
#define RIG_RTT_NS	50000ull
#define RIG_EVENTS	1024

/**
 * struct rig - see above
 * @rx: the peer's side of each path
 * @psn: next packet
 * @ev: events of the last call; @n_ev: how many
 * @act: actions of the last rig_timer(); @n_act: how many
 * @res: result of the last rig_ack()
 */
struct rig {
	struct mroce_pathset ps;
	struct mroce_path path[MROCE_MAX_PATHS];
	struct mroce_sb_rec *rec;
	struct mroce_rxwin rx[MROCE_MAX_PATHS];
	u64 now;
	u32 psn;
	u32 rnd;
	struct mroce_ps_event ev[RIG_EVENTS];
	int n_ev;
	struct mroce_ps_action act[64];
	int n_act;
	struct mroce_ps_ack_result res;
};

static const struct mroce_ack_policy rig_policy = { .every_pkts = 1, .delay_ns = 0 };

static inline struct rig *rig_new(struct kunit *test, u32 n_paths)
{
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	u32 rnd[2 * MROCE_MAX_PATHS];
	struct mroce_pathset_cfg cfg = {
		.n_paths = n_paths, .max_paths = MROCE_MAX_PATHS, .pkt_bytes = RIG_PKT,
		.ack_delay_ns = 20000,
		.max_window_bytes = RIG_CEILING, .init_window_bytes = RIG_START,
		.cc = &mroce_cc_ecn,
	};
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig->rec = kunit_kzalloc(test, MROCE_MAX_PATHS * MROCE_SB_SPAN * sizeof(*rig->rec),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig->rec);
	for (i = 0; i < MROCE_MAX_PATHS; i++) {
		rig->path[i].sb.rec = rig->rec + i * MROCE_SB_SPAN;
		mroce_rxwin_init(&rig->rx[i]);
		rnd[2 * i] = 0xfffffffeu + i;
		rnd[2 * i + 1] = 7;
	}
	rig->now = 1000 * RIG_MS;
	mroce_pathset_init(&rig->ps, &cfg, rig->path, rnd, rig->now);
	return rig;
}

/* Give plane @plane @n paths with ports of their own. Return: how many it has got. */
static inline u32 rig_open(struct rig *rig, u8 plane, u32 n, bool proved)
{
	u32 rnd[2 * MROCE_MAX_PATHS];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rnd); i++)
		rnd[i] = rig->rnd += 0x9e3779b1u;
	return mroce_plane_open(&rig->ps, plane, n, proved, rnd, rig->now);
}

/* Send one packet on path @i. Return: its path_seq. */
static inline u32 rig_send_on(struct rig *rig, int i, int cpu)
{
	return mroce_pathset_sent(&rig->ps, i, cpu, 5, 1, rig->psn++, RIG_PKT, rig->now);
}

/* Send one packet where the scheduler wants it. Return: path, -1 = nowhere. */
static inline int rig_send(struct rig *rig, int cpu)
{
	int i = mroce_pathset_pick(&rig->ps, cpu, RIG_PKT, -1, rig->now);

	if (i >= 0)
		rig_send_on(rig, i, cpu);
	return i;
}

/* Everything sent on path @i since @from arrives. */
static inline void rig_arrive(struct rig *rig, int i, u32 from)
{
	for (; from != rig->path[i].sb.next_seq; from++)
		mroce_rxwin_mark(&rig->rx[i], from, false, false, false, &rig_policy, rig->now);
}

/* The peer's acknowledgment of path @i arrives by plane @by. Return: events. */
static inline int rig_ack_by(struct rig *rig, int i, u8 by)
{
	struct mroce_ack_part part = { .path = i, .by = by };

	mroce_rxwin_part(&rig->rx[i], &part, rig->now);
	memset(&rig->res, 0, sizeof(rig->res));
	rig->n_ev = mroce_pathset_ack(&rig->ps, &part, rig->now, &rig->res, rig->ev, RIG_EVENTS);
	return rig->n_ev;
}

static inline int rig_ack(struct rig *rig, int i)
{
	return rig_ack_by(rig, i, rig->path[i].plane);
}

/* Send @n packets on path @i and have them acknowledged a round trip later. */
static inline void rig_exchange(struct rig *rig, int i, u32 n)
{
	u32 from = rig->path[i].sb.next_seq;

	while (n--)
		rig_send_on(rig, i, 0);
	rig->now += RIG_RTT_NS;
	rig_arrive(rig, i, from);
	rig_ack(rig, i);
}

/* The answer to a packet that was sent on @i @rtt_ns ago arrives. */
static inline void rig_round_trip(struct rig *rig, int i, u64 rtt_ns)
{
	u32 seq = rig_send_on(rig, i, 0);

	rig->now += rtt_ns;
	rig_arrive(rig, i, seq);
	rig_ack(rig, i);
}

/* Give every path a round trip estimate. */
static inline void rig_warm(struct rig *rig)
{
	u32 i, k;

	for (k = 0; k < 20; k++)
		for (i = 0; i < rig->ps.cfg.n_paths; i++)
			rig_exchange(rig, i, 2);
}

/* Run the timer now. Flushes are carried out, PROBEs only counted. Return: actions. */
static inline int rig_timer(struct rig *rig)
{
	int i, n;

	rig->n_act = 0;
	rig->n_ev = 0;
	do {
		n = mroce_pathset_timer(&rig->ps, rig->now, rig->rnd += 77, rig->act + rig->n_act,
					4);
		rig->n_act += n;
	} while (n == 4 && rig->n_act < 60);
	for (i = 0; i < rig->n_act; i++)
		if (rig->act[i].act == MROCE_PS_FLUSH)
			rig->n_ev += mroce_pathset_flush(&rig->ps, rig->act[i].path,
							 rig->ev + rig->n_ev,
							 RIG_EVENTS - rig->n_ev);
	return rig->n_act;
}

/* Was @what among the last actions on path @i (-1: on any)? Return: how often. */
static inline int rig_acted(const struct rig *rig, enum mroce_ps_act what, int i)
{
	int k, n = 0;

	for (k = 0; k < rig->n_act; k++)
		n += rig->act[k].act == what && (i < 0 || rig->act[k].path == i);
	return n;
}

/* Go to the next deadline and run the timer. Return: false when nothing is due, ever. */
static inline bool rig_next(struct rig *rig)
{
	u64 due = mroce_pathset_deadline(&rig->ps);

	if (due == U64_MAX)
		return false;
	rig->now = max(rig->now, due);
	rig_timer(rig);
	return true;
}

/* The sums of the path set are those of its paths. */
static inline void rig_check(struct kunit *test, const struct rig *rig)
{
	u32 plane_bytes[MROCE_MAX_PAIRS] = {}, plane_pkts[MROCE_MAX_PAIRS] = {};
	u32 bytes = 0, pkts = 0, out = 0;
	u32 i, w;

	for (i = 0; i < rig->ps.cfg.n_paths; i++) {
		const struct mroce_sb *sb = &rig->path[i].sb;

		bytes += sb->inflight_bytes;
		pkts += sb->inflight_pkts;
		plane_bytes[rig->path[i].plane] += sb->inflight_bytes;
		plane_pkts[rig->path[i].plane] += sb->inflight_pkts;
		for (w = 0; w < MROCE_VEC_WORDS; w++)
			out += hweight64(sb->out[w]);
	}
	KUNIT_EXPECT_EQ(test, bytes, rig->ps.inflight_bytes);
	KUNIT_EXPECT_EQ(test, pkts, rig->ps.inflight_pkts);
	KUNIT_EXPECT_EQ(test, out, rig->ps.inflight_pkts);
	for (i = 0; i < MROCE_MAX_PAIRS; i++) {
		KUNIT_EXPECT_EQ(test, plane_bytes[i], rig->ps.plane[i].inflight_bytes);
		KUNIT_EXPECT_EQ(test, plane_pkts[i], rig->ps.plane[i].inflight_pkts);
	}
}

#endif /* MROCE_KUNIT_PS_RIG_H */
