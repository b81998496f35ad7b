// SPDX-License-Identifier: GPL-2.0
/* Planes of a connection: what a call changes, and what it must leave alone. */
#include "ps_rig.h"
#include "sched.h"

static u32 n_on(const struct rig *rig, u8 plane)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < rig->ps.cfg.n_paths; i++)
		n += rig->path[i].plane == plane && rig->path[i].state != MROCE_PATH_OFF;
	return n;
}

/* A new plane begins where the one that has carried least is, of those there are. */
static void the_least_served_is_the_measure(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);

	rig_open(rig, 1, 2, true);
	rig->ps.plane[0].served_bytes = 5000;
	rig->ps.plane[1].served_bytes = 3000;
	rig_open(rig, 2, 2, true);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[2].served_bytes, 3000ull);
	rig->ps.plane[2].served_bytes = 9000;
	mroce_plane_close(&rig->ps, 1);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[1].used);
	rig_open(rig, 7, 2, true);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[7].served_bytes, 5000ull);
	/* The last place counts as well. */
	rig->ps.plane[7].served_bytes = 4000;
	rig_open(rig, 1, 2, true);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[1].served_bytes, 4000ull);
}

/* Its number is all that a path keeps from the last time. */
static void a_path_begins_anew(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	struct mroce_path *p = &rig->path[4];
	u16 sport;

	rig_open(rig, 1, 1, true);
	rig_warm(rig);
	sport = p->sport;
	p->skip = 9;
	p->n_pto = 9;
	p->good_probes = 2;
	p->backoff = 9;
	p->n_refused = 9;
	p->grace = true;
	p->loss_q16 = 9;
	p->mark_q16 = 9;
	p->rate_pkts = 9;
	mroce_plane_close(&rig->ps, 1);
	p->rest_ns = U64_MAX;
	rig->now += RIG_MS;
	KUNIT_ASSERT_EQ(test, rig_open(rig, 2, 1, false), 1u);
	KUNIT_EXPECT_EQ(test, p->plane, 2);
	KUNIT_EXPECT_NE(test, p->sport, sport);
	KUNIT_EXPECT_EQ(test, p->skip, 0);
	KUNIT_EXPECT_EQ(test, p->n_pto, 0);
	KUNIT_EXPECT_EQ(test, p->good_probes, 0);
	KUNIT_EXPECT_EQ(test, p->backoff, 0);
	KUNIT_EXPECT_EQ(test, p->n_refused, 0);
	KUNIT_EXPECT_FALSE(test, p->grace);
	KUNIT_EXPECT_EQ(test, p->loss_q16, 0u);
	KUNIT_EXPECT_EQ(test, p->mark_q16, 0u);
	KUNIT_EXPECT_EQ(test, p->rate_pkts, 0u);
	KUNIT_EXPECT_EQ(test, p->last_ack_ns, rig->now);
	KUNIT_EXPECT_EQ(test, p->rest_ns, 0ull);
	KUNIT_EXPECT_EQ(test, p->timer_ns, rig->now);
	KUNIT_EXPECT_EQ(test, p->rtt.srtt_ns, 0ull);
	KUNIT_EXPECT_EQ(test, p->cc.cwnd_bytes, MROCE_PATH_FRESH_PKTS * RIG_PKT);
}

/* Data may go there at once, so there must be nothing left of the last time. */
static void proved_paths_have_nothing_in_flight(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 p;

	for (p = 1; p < 8; p++)
		KUNIT_EXPECT_EQ(test, rig_open(rig, p, 4, true), 4u);
	rig_send_on(rig, 8, 0);
	mroce_plane_close(&rig->ps, 2);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 2, 4, true), 3u);
	KUNIT_EXPECT_EQ(test, rig->path[8].state, MROCE_PATH_OFF);
	rig_check(test, rig);
}

static void no_more_is_given_back_than_needed(struct kunit *test)
{
	struct rig *rig = rig_new(test, 16);

	KUNIT_EXPECT_EQ(test, rig_open(rig, 1, 12, true), 12u);
	/* This just fits. */
	KUNIT_EXPECT_EQ(test, rig_open(rig, 2, 4, true), 4u);
	KUNIT_EXPECT_EQ(test, n_on(rig, 1), 12u);
	mroce_plane_close(&rig->ps, 2);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 2, 7, true), 7u);
	/* Three were missing: the last ones of plane 1. */
	KUNIT_EXPECT_EQ(test, n_on(rig, 0), 16u);
	KUNIT_EXPECT_EQ(test, n_on(rig, 1), 9u);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[1].n_paths, 9);
	KUNIT_EXPECT_EQ(test, rig->path[24].plane, 1);
	KUNIT_EXPECT_EQ(test, rig->path[25].plane, 2);
	/* Nobody has more than the new one is to get: nothing is given back. */
	KUNIT_EXPECT_EQ(test, rig_open(rig, 3, 16, true), 0u);
	KUNIT_EXPECT_EQ(test, n_on(rig, 0), 16u);
}

/* Any path may be the first to be answered: all others of its plane then ask at once. */
static void one_proves_for_all(struct kunit *test)
{
	struct rig *rig = rig_new(test, 0);
	u64 later = 1000000 * RIG_MS;
	u32 i;

	rig_open(rig, 1, 3, false);
	rig_open(rig, 2, 3, false);
	for (i = 0; i < 6; i++)
		rig->path[i].timer_ns = later;
	mroce_path_event(&rig->path[1], MROCE_PATH_EV_PROVED);
	mroce_plane_proved(&rig->ps, &rig->path[1], rig->now);
	KUNIT_EXPECT_TRUE(test, rig->ps.plane[1].proved);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[2].proved);
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, rig->path[i].timer_ns, i == 0 || i == 2 ? rig->now : later);
	/* Once: afterwards each has its own pace. */
	rig->path[0].timer_ns = later;
	mroce_plane_proved(&rig->ps, &rig->path[1], rig->now);
	KUNIT_EXPECT_EQ(test, rig->path[0].timer_ns, later);
}

/* A plane stands as long as one path of its own does. */
static void one_path_carries_a_plane(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i;

	rig_open(rig, 1, 3, true);
	for (i = 2; i < 5; i++) {
		u32 k;

		for (k = 2; k < 5; k++)
			rig->path[k].state = MROCE_PATH_PROBING;
		rig->path[i].state = MROCE_PATH_ACTIVE;
		mroce_plane_doubt(&rig->ps, 1);
		KUNIT_EXPECT_TRUE(test, rig->ps.plane[1].proved);
		rig->path[i].state = MROCE_PATH_SUSPECT;
		mroce_plane_doubt(&rig->ps, 1);
		KUNIT_EXPECT_TRUE(test, rig->ps.plane[1].proved);
	}
	rig->path[4].state = MROCE_PATH_PROBING;
	mroce_plane_doubt(&rig->ps, 1);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[1].proved);
	KUNIT_EXPECT_TRUE(test, rig->ps.plane[0].proved);
	rig->path[1].state = MROCE_PATH_PROBING;
	mroce_plane_doubt(&rig->ps, 0);
	KUNIT_EXPECT_TRUE(test, rig->ps.plane[0].proved);
}

/* Another one is one that is proved, wherever it stands. */
static void another_plane_is_any_that_works(struct kunit *test)
{
	struct rig *rig = rig_new(test, 0);

	rig_open(rig, 5, 2, true);
	rig_open(rig, 7, 2, false);
	KUNIT_EXPECT_TRUE(test, mroce_plane_another(&rig->ps, 0));
	KUNIT_EXPECT_FALSE(test, mroce_plane_another(&rig->ps, 5));
	KUNIT_EXPECT_TRUE(test, mroce_plane_another(&rig->ps, 7));
	rig_open(rig, 0, 2, true);
	KUNIT_EXPECT_TRUE(test, mroce_plane_another(&rig->ps, 5));
	mroce_plane_close(&rig->ps, 0);
	KUNIT_EXPECT_FALSE(test, mroce_plane_another(&rig->ps, 5));
}

/* What speaks against a plane was meant for the one that had its place before. */
static void a_new_plane_is_not_doubted(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 used = 0;
	u32 i;

	rig_open(rig, 1, 2, true);
	rig->ps.doubted = 1u << 1 | 1u << 4;
	mroce_plane_drain(&rig->ps, 1, true);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 0);
	mroce_plane_close(&rig->ps, 1);
	rig_open(rig, 1, 2, true);
	KUNIT_EXPECT_EQ(test, rig->ps.doubted, 1u << 4);
	for (i = 0; i < 40; i++) {
		int at = rig_send(rig, 0);

		KUNIT_ASSERT_GE(test, at, 0);
		used |= 1u << rig->path[at].plane;
	}
	KUNIT_EXPECT_EQ(test, used, 3u);
}

/* Too many strangers have been asked: the next time is when one more may be. */
static void strangers_wait_for_the_gate(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	struct mroce_gate gate = {};

	rig_warm(rig);
	rig->ps.cfg.strangers = &gate;
	gate.free_ns = rig->now + MROCE_STRANGER_BURST * MROCE_STRANGER_NS;
	rig_open(rig, 1, 4, false);
	KUNIT_EXPECT_EQ(test, rig_timer(rig), 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + MROCE_STRANGER_NS);
	rig->now += MROCE_STRANGER_NS;
	KUNIT_EXPECT_EQ(test, rig_timer(rig), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 4), 1);
	/* The other three leave it to that one. */
	KUNIT_EXPECT_EQ(test, rig->path[5].timer_ns,
			rig->now - MROCE_STRANGER_NS + MROCE_PROBE_IDLE_NS);
}

/* Behind the last path there is memory, but none in use. */
static void nothing_beyond_the_last_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct mroce_path *bait = &rig->path[2];

	bait->plane = 0;
	bait->state = MROCE_PATH_ACTIVE;
	rig->path[0].state = MROCE_PATH_PROBING;
	rig->path[1].state = MROCE_PATH_PROBING;
	mroce_plane_doubt(&rig->ps, 0);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[0].proved);
	bait->state = MROCE_PATH_PROBING;
	bait->timer_ns = 5;
	mroce_plane_proved(&rig->ps, &rig->path[0], rig->now);
	KUNIT_EXPECT_EQ(test, bait->timer_ns, 5ull);
	mroce_plane_close(&rig->ps, 0);
	KUNIT_EXPECT_EQ(test, bait->state, MROCE_PATH_PROBING);
	/* Its port is free. */
	bait->sport = MROCE_SPORT_FIRST + 100;
	KUNIT_EXPECT_EQ(test, mroce_plane_sport(&rig->ps, 100), MROCE_SPORT_FIRST + 100);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_least_served_is_the_measure),
	KUNIT_CASE(a_path_begins_anew),
	KUNIT_CASE(proved_paths_have_nothing_in_flight),
	KUNIT_CASE(no_more_is_given_back_than_needed),
	KUNIT_CASE(one_proves_for_all),
	KUNIT_CASE(one_path_carries_a_plane),
	KUNIT_CASE(another_plane_is_any_that_works),
	KUNIT_CASE(a_new_plane_is_not_doubted),
	KUNIT_CASE(strangers_wait_for_the_gate),
	KUNIT_CASE(nothing_beyond_the_last_path),
	{}
};

static struct kunit_suite suite = { .name = "mroce_plane_limits", .test_cases = cases };
kunit_test_suite(suite);
