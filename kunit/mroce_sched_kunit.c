// SPDX-License-Identifier: GPL-2.0
/* Path choice: windows, CPU rule, marks, bursts, how many paths are opened. */
#include "ps_rig.h"
#include "sched.h"

/* Leave the burst under way, so that the next choice is free. */
static void end_burst(struct rig *rig)
{
	rig->ps.burst_pkts = 0;
}

static int pick(struct rig *rig, int cpu)
{
	return mroce_sched_pick(&rig->ps, cpu, RIG_PKT, NULL, rig->now);
}

static int pick_rtx(struct rig *rig, int cpu, int prefer)
{
	return mroce_sched_pick_rtx(&rig->ps, cpu, RIG_PKT, prefer, NULL, rig->now);
}

static void only_active_paths(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 s;

	rig->path[0].state = MROCE_PATH_SUSPECT;
	rig->path[1].state = MROCE_PATH_PROBING;
	for (s = 0; s < 10; s++) {
		KUNIT_EXPECT_EQ(test, pick(rig, 0), 2);
		end_burst(rig);
	}
	for (s = 0; s < MROCE_PATH_STATES; s++) {
		rig->path[2].state = s;
		KUNIT_EXPECT_EQ(test, pick(rig, 0), s == MROCE_PATH_ACTIVE ? 2 : -1);
		KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 2), s == MROCE_PATH_ACTIVE ? 2 : -1);
	}
}

static void busy_paths_belong_to_a_cpu(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 first = rig->path[0].sb.next_seq;

	rig_send_on(rig, 0, 4);
	rig_send_on(rig, 1, 5);
	end_burst(rig);
	KUNIT_EXPECT_EQ(test, pick(rig, 4), 0);
	end_burst(rig);
	KUNIT_EXPECT_EQ(test, pick(rig, 5), 1);
	KUNIT_EXPECT_EQ(test, pick(rig, 6), -1);
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 6, 0), -1);
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 4, 1), 0);
	rig_arrive(rig, 0, first);
	rig_ack(rig, 0);
	KUNIT_EXPECT_EQ(test, pick(rig, 6), 0);
}

static void windows_are_kept(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig->path[0].cc.cwnd_bytes = 3 * RIG_PKT;
	rig->path[1].cc.cwnd_bytes = 2 * RIG_PKT;
	while (rig->psn < 100 && rig_send(rig, 0) >= 0)
		;
	KUNIT_EXPECT_EQ(test, rig->path[0].sb.inflight_bytes, 3 * RIG_PKT);
	KUNIT_EXPECT_EQ(test, rig->path[1].sb.inflight_bytes, 2 * RIG_PKT);
	/* The connection's window. */
	rig = rig_new(test, 2);
	while (rig->psn < 1000 && rig_send(rig, 0) >= 0)
		;
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_bytes, RIG_START);
	/* The receiver's share. */
	rig = rig_new(test, 2);
	rig_exchange(rig, 0, 1);
	mroce_pathset_share(&rig->ps, 100, rig->now);
	while (rig->psn < 1000 && rig_send(rig, 0) >= 0)
		;
	/* 100 Mb/s * (50 us + 500 us) */
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_bytes, 6000u);
	rig_check(test, rig);
}

/* A window below one packet must not stop anything. */
static void idle_may_always_send(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig->path[0].cc.cwnd_bytes = 1;
	rig->path[1].cc.cwnd_bytes = 1;
	rig->ps.cc.cwnd_bytes = 1;
	KUNIT_EXPECT_GE(test, rig_send(rig, 0), 0);
	KUNIT_EXPECT_EQ(test, rig_send(rig, 0), -1);
	rig->ps.cc.cwnd_bytes = RIG_START;
	KUNIT_EXPECT_GE(test, rig_send(rig, 0), 0);
	KUNIT_EXPECT_EQ(test, rig_send(rig, 0), -1);
	KUNIT_EXPECT_EQ(test, rig->path[0].sb.inflight_pkts, 1u);
	KUNIT_EXPECT_EQ(test, rig->path[1].sb.inflight_pkts, 1u);
}

static void span_is_never_exceeded(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);

	rig->ps.cc.cwnd_bytes = RIG_CEILING;
	rig->path[0].cc.cwnd_bytes = RIG_CEILING;
	while (rig->psn < 1000 && rig_send(rig, 0) >= 0)
		;
	KUNIT_EXPECT_EQ(test, rig->psn, (u32)(MROCE_SB_SPAN - MROCE_SB_PROBE_RESERVE));
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 0), -1);
}

static void retransmission_may_exceed_by_one(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig->path[0].cc.cwnd_bytes = 2 * RIG_PKT;
	rig->path[1].cc.cwnd_bytes = 2 * RIG_PKT;
	rig->ps.cc.cwnd_bytes = 4 * RIG_PKT;
	while (rig_send(rig, 0) >= 0)
		;
	KUNIT_EXPECT_EQ(test, rig->psn, 4u);
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 1), 1);
	rig_send_on(rig, 1, 0);
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 1), -1);
	/* Room in the connection only: the other path. */
	rig->ps.cc.cwnd_bytes = 5 * RIG_PKT;
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 200), 0);
}

static void most_open_window_first(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i;

	for (i = 0; i < 4; i++) {
		rig_send_on(rig, i, 0);
		rig_send_on(rig, i, 0);
		rig_send_on(rig, i, 0);
		rig_send_on(rig, i, 0);
	}
	rig->ps.cc.cwnd_bytes = 4 * RIG_START;
	rig->path[2].cc.cwnd_bytes = RIG_START + 1;
	for (i = 0; i < 5; i++) {
		end_burst(rig);
		KUNIT_EXPECT_EQ(test, pick(rig, 0), 2);
	}
}

/* The path used most has the largest window: that must not make it be used more. */
static void large_window_is_no_claim(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 seen[4] = { 0 };
	u32 i;

	rig->path[1].cc.cwnd_bytes = 1000 * RIG_PKT;
	for (i = 0; i < 40; i++) {
		int idx = pick(rig, 0);

		KUNIT_ASSERT_GE(test, idx, 0);
		seen[idx]++;
		end_burst(rig);
	}
	KUNIT_EXPECT_EQ(test, seen[1], 10u);
}

/* An idle path with hardly any window is no better than a busy one with room. */
static void idle_is_no_claim(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i;

	for (i = 0; i < MROCE_SCHED_FEED_PKTS; i++)
		rig_send_on(rig, 0, 0);
	end_burst(rig);
	rig->path[1].cc.cwnd_bytes = 1;
	KUNIT_EXPECT_EQ(test, pick(rig, 0), 0);
	end_burst(rig);
	rig->path[1].cc.cwnd_bytes = RIG_START;
	KUNIT_EXPECT_EQ(test, pick(rig, 0), 1);
}

static void equals_rotate(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 seen[4] = { 0 };
	u32 i;

	for (i = 0; i < 40; i++) {
		int idx = pick(rig, 0);

		KUNIT_ASSERT_GE(test, idx, 0);
		seen[idx]++;
		end_burst(rig);
	}
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, seen[i], 10u);
}

/* Packets of a burst stay together; the next burst goes elsewhere. */
static void bursts_stay_together(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	int first = rig_send(rig, 0);
	u32 i;

	for (i = 1; i < MROCE_SCHED_BURST_PKTS; i++)
		KUNIT_EXPECT_EQ(test, rig_send(rig, 0), first);
	KUNIT_EXPECT_NE(test, rig_send(rig, 0), first);
	/* By bytes, too. */
	rig = rig_new(test, 4);
	first = mroce_sched_pick(&rig->ps, 0, 16384, NULL, rig->now);
	for (i = 0; i < MROCE_SCHED_BURST_BYTES / 16384; i++) {
		KUNIT_EXPECT_EQ(test, mroce_sched_pick(&rig->ps, 0, 16384, NULL, rig->now), first);
		mroce_sched_sent(&rig->ps, first, 16384);
	}
	KUNIT_EXPECT_NE(test, mroce_sched_pick(&rig->ps, 0, 16384, NULL, rig->now), first);
}

static void marked_path_sits_out_one_rotation(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 i;

	KUNIT_EXPECT_EQ(test, rig_send(rig, 0), 0);
	mroce_sched_marked(&rig->ps, 0);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_NE(test, pick(rig, 0), 0);
		end_burst(rig);
	}
	rig->path[0].cc.cwnd_bytes = RIG_CEILING;
	KUNIT_EXPECT_EQ(test, pick(rig, 0), 0);
	/* If all are marked, one has to do. */
	for (i = 0; i < 3; i++)
		mroce_sched_marked(&rig->ps, i);
	KUNIT_EXPECT_GE(test, pick(rig, 0), 0);
}

/* A plane has its turn when one of its paths is open, even if those of others are marked. */
static void full_planes_have_no_turn(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u8 full;

	rig_open(rig, 1, 2, true);
	for (full = 0; full < 2; full++) {
		u32 i;

		for (i = 0; i < 4; i++) {
			bool of_full = rig->path[i].plane == full;

			rig->path[i].state = of_full ? MROCE_PATH_SUSPECT : MROCE_PATH_ACTIVE;
			rig->path[i].skip = of_full ? 0 : 4;
		}
		rig->ps.plane[full].served_bytes = 0;
		rig->ps.plane[!full].served_bytes = 1000000;
		end_burst(rig);
		i = pick(rig, 0);
		KUNIT_ASSERT_LT(test, i, 4u);
		KUNIT_EXPECT_NE(test, rig->path[i].plane, full);
	}
}

/* Less than a burst is nothing, on either of two planes, against more than one. */
static void planes_are_compared_by_bursts(struct kunit *test)
{
	u8 more;

	for (more = 0; more < 2; more++) {
		struct rig *rig = rig_new(test, 2);
		u32 i;

		rig_open(rig, 1, 2, true);
		for (i = 0; i < MROCE_SCHED_BURST_BYTES / RIG_PKT + 1; i++)
			rig_send_on(rig, 2 * more, 0);
		rig_send_on(rig, 2 * !more, 0);
		/* Even though it is the other's turn. */
		rig->ps.plane[!more].served_bytes = 1000000;
		end_burst(rig);
		i = pick(rig, 0);
		KUNIT_ASSERT_LT(test, i, 4u);
		KUNIT_EXPECT_EQ(test, rig->path[i].plane, !more);
	}
}

/* Behind the last path is the caller's memory, whatever it looks like. */
static void only_paths_there_are_are_preferred(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig->path[2] = rig->path[1];
	rig->path[2].id = 2;
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 1), 1);
	KUNIT_EXPECT_LT(test, pick_rtx(rig, 0, 2), 2);
}

/* The rotation is that of new data: what goes again meanwhile does not end it. */
static void retransmissions_do_not_rotate(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i;

	rig_send_on(rig, 1, 0);
	mroce_sched_marked(&rig->ps, 1);
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 99), 0);
	KUNIT_EXPECT_EQ(test, rig->path[1].skip, 2);
	/* Not even when there is no other path: it is still marked when there is one again. */
	rig->path[0].state = MROCE_PATH_SUSPECT;
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 99), 1);
	rig->path[0].state = MROCE_PATH_ACTIVE;
	rig->path[0].cc.cwnd_bytes = 2 * RIG_PKT;
	KUNIT_EXPECT_EQ(test, pick(rig, 0), 0);
}

/* A stream that wants few paths has as many, and its neighbours have others. */
static void few_of_an_odd_number(struct kunit *test)
{
	struct mroce_want want = { .paths = 1 };
	u32 seen = 0;
	u32 i;

	for (want.salt = 0; want.salt < 3; want.salt++) {
		struct rig *rig = rig_new(test, 3);
		u32 used = 0;

		for (i = 0; i < 12; i++) {
			int at = mroce_sched_pick(&rig->ps, 0, RIG_PKT, &want, rig->now);

			KUNIT_ASSERT_GE(test, at, 0);
			used |= 1u << at;
			end_burst(rig);
		}
		KUNIT_EXPECT_EQ(test, hweight32(used), 1u);
		seen |= used;
	}
	KUNIT_EXPECT_EQ(test, seen, 7u);
}

/* Bursts of three packets: no new path before the open ones are fed. */
static void little_traffic_opens_few_paths(struct kunit *test)
{
	struct rig *rig = rig_new(test, 8);
	u32 used = 0;
	u32 i;

	for (i = 0; i < 8; i++) {
		end_burst(rig);
		KUNIT_ASSERT_GE(test, rig_send(rig, 0), 0);
	}
	for (i = 0; i < 8; i++)
		used += rig->path[i].sb.inflight_pkts > 0;
	KUNIT_EXPECT_EQ(test, used, 2u);
	for (i = 0; i < 24; i++) {
		end_burst(rig);
		rig_send(rig, 0);
	}
	used = 0;
	for (i = 0; i < 8; i++)
		used += rig->path[i].sb.inflight_pkts > 0;
	KUNIT_EXPECT_EQ(test, used, 8u);
}

/* Questions nobody answers must not all take the same path. */
static void probes_try_another_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	int a = pick(rig, 0);
	int b;

	mroce_pathset_probe_sent(&rig->ps, a, 0, rig->now);
	b = pick(rig, 0);
	KUNIT_EXPECT_NE(test, a, b);
}

/*
 * The rests of a path double until it is heard, and the timer knows when they end. From
 * the third on it is probed.
 */
static void refused_path_rests(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	struct mroce_ps_action act;
	u64 rest = RIG_MS;
	u32 i, k, seq[3];

	for (i = 0; i < 9; i++) {
		for (k = 0; k < ARRAY_SIZE(seq); k++)
			seq[k] = rig_send_on(rig, 0, 3 * i + k);
		for (k = 0; k < ARRAY_SIZE(seq); k++)
			mroce_pathset_local_drop(&rig->ps, 0, seq[k], rig->now, rig->ev);
		KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, 100, -1, rig->now), -1);
		KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, 100, 0, rig->now), -1);
		act.act = MROCE_PS_FLUSH;
		KUNIT_EXPECT_EQ(test, mroce_pathset_timer(&rig->ps, rig->now, 1, &act, 1), i > 1);
		KUNIT_EXPECT_EQ(test, act.act, i > 1 ? MROCE_PS_PROBE : MROCE_PS_FLUSH);
		KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + rest);
		rig->now += rest - 1;
		KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, 100, -1, rig->now), -1);
		rig->now += 1;
		KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, 100, -1, rig->now), 0);
		mroce_pathset_timer(&rig->ps, rig->now, 1, NULL, 0);
		KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
		rest = min(2 * rest, 64 * RIG_MS);
	}
	rig_exchange(rig, 0, 1);
	seq[0] = rig_send_on(rig, 0, 99);
	mroce_pathset_local_drop(&rig->ps, 0, seq[0], rig->now, rig->ev);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + RIG_MS);
	rig_check(test, rig);
}

/* No longer than new data, and whether or not the timer has been there. */
static void retransmissions_rest_as_long(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 seq = rig_send_on(rig, 0, 0);

	mroce_pathset_local_drop(&rig->ps, 0, seq, rig->now, rig->ev);
	rig->now += RIG_MS - 1;
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 0), -1);
	rig->now += 1;
	KUNIT_EXPECT_EQ(test, pick_rtx(rig, 0, 0), 0);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(only_active_paths),
	KUNIT_CASE(busy_paths_belong_to_a_cpu),
	KUNIT_CASE(windows_are_kept),
	KUNIT_CASE(idle_may_always_send),
	KUNIT_CASE(span_is_never_exceeded),
	KUNIT_CASE(retransmission_may_exceed_by_one),
	KUNIT_CASE(most_open_window_first),
	KUNIT_CASE(large_window_is_no_claim),
	KUNIT_CASE(idle_is_no_claim),
	KUNIT_CASE(equals_rotate),
	KUNIT_CASE(bursts_stay_together),
	KUNIT_CASE(marked_path_sits_out_one_rotation),
	KUNIT_CASE(full_planes_have_no_turn),
	KUNIT_CASE(planes_are_compared_by_bursts),
	KUNIT_CASE(only_paths_there_are_are_preferred),
	KUNIT_CASE(retransmissions_do_not_rotate),
	KUNIT_CASE(few_of_an_odd_number),
	KUNIT_CASE(little_traffic_opens_few_paths),
	KUNIT_CASE(probes_try_another_path),
	KUNIT_CASE(refused_path_rests),
	KUNIT_CASE(retransmissions_rest_as_long),
	{}
};

static struct kunit_suite sched_suite = {
	.name = "mroce_sched",
	.test_cases = sched_cases,
};

kunit_test_suite(sched_suite);
