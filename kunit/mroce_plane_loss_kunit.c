// SPDX-License-Identifier: GPL-2.0
/* What is known of a plane as a whole: its losses, its queue. */
#include "ps_rig.h"
#include "sched.h"

/* @n packets of a plane, one in @every of which is lost (0: none). */
static void lose(struct rig *rig, u8 plane, u32 n, u32 every)
{
	u32 i;

	for (i = 1; i <= n; i++)
		mroce_plane_loss(&rig->ps, plane, 1, every && i % every == 0);
}

static void more_loss_than_elsewhere_is_lossy(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);

	/* Alone there is nothing to compare it with. */
	lose(rig, 0, 5000, 20);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	/* A plane without proof is none. */
	rig_open(rig, 1, 1, false);
	lose(rig, 0, 20, 20);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	rig_open(rig, 2, 1, true);
	lose(rig, 0, 20, 20);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 1u);
	/* All have it: none is. */
	lose(rig, 2, 5000, 20);
	lose(rig, 0, 20, 20);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	/* More, but not four times as much. */
	lose(rig, 0, 5000, 10);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	lose(rig, 2, 5000, 0);
	lose(rig, 0, 20, 10);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 1u);
	/* Little is noise. */
	lose(rig, 0, 5000, 100);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	/* A plane that begins anew is believed again. */
	lose(rig, 0, 5000, 10);
	mroce_plane_close(&rig->ps, 0);
	rig_open(rig, 0, 1, true);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].loss_q16, 0u);
}

/* The scoreboard's losses are those of the plane, by gap and by time. */
static void losses_of_paths_are_the_planes(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i, first;

	rig_open(rig, 1, 2, true);
	for (i = 0; i < 100; i++) {
		first = rig->path[0].sb.next_seq;
		rig_send_on(rig, 0, 0);
		rig_send_on(rig, 0, 0);
		rig->now += RIG_RTT_NS;
		rig_arrive(rig, 0, first + 1);
		rig_ack(rig, 0);
	}
	KUNIT_EXPECT_GT(test, rig->ps.plane[0].loss_q16, 4000u);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[1].loss_q16, 0u);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 1u);
}

static void lossy_planes_get_less(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 burst = MROCE_SCHED_BURST_BYTES / RIG_PKT + 1;
	u32 i, n = 0;

	rig_open(rig, 1, 2, true);
	rig->ps.plane[1].served_bytes = 1000000;
	lose(rig, 0, 5000, 10);
	/* One message at a time: never there, though it would be its turn. */
	for (i = 0; i < 100; i++) {
		int at = rig_send(rig, 0);

		KUNIT_EXPECT_EQ(test, rig->path[at].plane, 1u);
		rig->now += RIG_RTT_NS;
		rig_arrive(rig, at, rig->path[at].sb.una_seq);
		rig_ack(rig, at);
	}
	/* Both are used when there is more to send, and what it has counts twice. */
	for (i = 0; i < burst; i++)
		rig_send_on(rig, 2, 0);
	rig->ps.burst_pkts = 0;
	KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 0u);
	for (i = 0; i < burst / 2; i++)
		rig_send_on(rig, 0, 0);
	rig->ps.burst_pkts = 0;
	KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 1u);
	/* When it is well again it need not catch up with what it was not given. */
	lose(rig, 0, 5000, 0);
	KUNIT_EXPECT_EQ(test, rig->ps.lossy, 0u);
	n = rig->ps.plane[1].served_bytes / RIG_PKT;
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].served_bytes / RIG_PKT, (u64)n);
}

/* What a queue was before a silence is not what it is. */
static void a_round_trip_is_forgotten(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);

	rig_round_trip(rig, 0, 20 * RIG_MS);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].rtt_ns, 20 * RIG_MS);
	rig_round_trip(rig, 0, 4 * RIG_MS);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].rtt_ns, 18 * RIG_MS);
	rig->now += 13 * RIG_MS;
	rig_round_trip(rig, 0, 2 * RIG_MS);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].rtt_ns, 16 * RIG_MS);
	rig->now += 15 * RIG_MS;
	rig_round_trip(rig, 0, 2 * RIG_MS);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].rtt_ns, 2 * RIG_MS);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(more_loss_than_elsewhere_is_lossy),
	KUNIT_CASE(losses_of_paths_are_the_planes),
	KUNIT_CASE(lossy_planes_get_less),
	KUNIT_CASE(a_round_trip_is_forgotten),
	{}
};

static struct kunit_suite suite = { .name = "mroce_plane_loss", .test_cases = cases };
kunit_test_suite(suite);
