// SPDX-License-Identifier: GPL-2.0
/* State table, loss rate, mark counting of one path. */
#include <kunit/test.h>
#include "path.h"

static void states_have_names(struct kunit *test)
{
	u32 i, j;

	for (i = 0; i < MROCE_PATH_STATES; i++) {
		KUNIT_ASSERT_NOT_NULL(test, mroce_path_state_name[i]);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, mroce_path_state_name[i],
					    mroce_path_state_name[j]);
	}
}

#define P MROCE_PATH_PROBING
#define A MROCE_PATH_ACTIVE
#define S MROCE_PATH_SUSPECT
#define F MROCE_PATH_FAILED
#define O MROCE_PATH_OFF

/* The whole table: rows are states, columns ACKED, PROVED, PTO, MUTE, REROLL, OFF, ON. */
static const u8 want[MROCE_PATH_STATES][MROCE_PATH_EVS] = {
	[P] = { P, A, P, P, P, O, P },
	[A] = { A, A, S, S, A, O, A },
	[S] = { A, A, F, S, S, O, S },
	[F] = { F, F, F, F, P, O, F },
	[O] = { O, O, O, O, O, O, P },
};

static void every_transition(struct kunit *test)
{
	u32 s, e;

	for (s = 0; s < MROCE_PATH_STATES; s++) {
		for (e = 0; e < MROCE_PATH_EVS; e++) {
			struct mroce_path p = { .state = s };
			bool changed = mroce_path_event(&p, e);

			KUNIT_EXPECT_EQ_MSG(test, p.state, want[s][e], "state %u event %u", s, e);
			KUNIT_EXPECT_EQ_MSG(test, changed, want[s][e] != s, "state %u event %u",
					    s, e);
		}
	}
}

static void init_keeps_the_records(struct kunit *test)
{
	struct mroce_sb_rec rec;
	struct mroce_path p = { .sb.rec = &rec, .n_pto = 3, .rerolls = 7 };

	mroce_path_init(&p, 5, 0xfffffffe, 50000, 99);
	KUNIT_EXPECT_PTR_EQ(test, p.sb.rec, &rec);
	KUNIT_EXPECT_EQ(test, p.sb.path, 5u);
	KUNIT_EXPECT_EQ(test, p.sb.next_seq, 0xfffffffeu);
	KUNIT_EXPECT_EQ(test, p.state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_EQ(test, p.sport, 50000u);
	KUNIT_EXPECT_EQ(test, p.last_ack_ns, 99ull);
	KUNIT_EXPECT_EQ(test, p.owner_cpu, -1);
	KUNIT_EXPECT_EQ(test, p.n_pto, 0u);
	KUNIT_EXPECT_EQ(test, p.rerolls, 0ull);
}

static void rate_converges(struct kunit *test)
{
	u32 q16 = 0;
	u32 i;

	mroce_path_rate(&q16, MROCE_PATH_RATE_PKTS, 0, 0);
	KUNIT_EXPECT_EQ(test, q16, 0u);
	for (i = 0; i < 500; i++)
		mroce_path_rate(&q16, MROCE_PATH_RATE_PKTS, 20, 1);
	KUNIT_EXPECT_GE(test, q16, 3100u);
	KUNIT_EXPECT_LE(test, q16, 3276u);
	for (i = 0; i < 500; i++)
		mroce_path_rate(&q16, MROCE_PATH_RATE_PKTS, 20, 0);
	KUNIT_EXPECT_LE(test, q16, 16u);
	mroce_path_rate(&q16, MROCE_PATH_RATE_PKTS, 64, 64);
	KUNIT_EXPECT_GE(test, q16, 32768u);
	KUNIT_EXPECT_LE(test, q16, 32800u);
	mroce_path_rate(&q16, MROCE_PATH_RATE_PKTS, 200, 200);
	KUNIT_EXPECT_EQ(test, q16, 65536u);
	mroce_path_rate(&q16, MROCE_PATH_RATE_PKTS, 128, 0);
	KUNIT_EXPECT_EQ(test, q16, 0u);
	/* Over as many as is asked for. */
	mroce_path_rate(&q16, 512, 128, 128);
	KUNIT_EXPECT_EQ(test, q16, 16384u);
}

static void marks_only_go_forward(struct kunit *test)
{
	struct mroce_path p = { .ce_seen = 0xfffffffe };

	KUNIT_EXPECT_EQ(test, mroce_path_marks(&p, 0xfffffffe), 0u);
	KUNIT_EXPECT_EQ(test, mroce_path_marks(&p, 3), 5u);
	KUNIT_EXPECT_EQ(test, mroce_path_marks(&p, 1), 0u);
	KUNIT_EXPECT_EQ(test, p.ce_seen, 3u);
	KUNIT_EXPECT_EQ(test, mroce_path_marks(&p, 4), 1u);
}

static void only_the_owner_while_in_flight(struct kunit *test)
{
	struct mroce_path p = { .owner_cpu = 2 };

	KUNIT_EXPECT_TRUE(test, mroce_path_owned(&p, 1));
	p.sb.inflight_pkts = 1;
	KUNIT_EXPECT_FALSE(test, mroce_path_owned(&p, 1));
	KUNIT_EXPECT_TRUE(test, mroce_path_owned(&p, 2));
}

/* 1000 bytes each millisecond are a million a second, whenever one looks, until it stops. */
static void speed_is_what_was_acknowledged(struct kunit *test)
{
	struct mroce_path p = {};
	u64 now = 5000000;
	u32 i;

	mroce_path_init(&p, 0, 1, 50000, now);
	KUNIT_EXPECT_EQ(test, mroce_path_speed(&p, now), 0ull);
	for (i = 1; i <= 95; i++) {
		now += 1000000;
		p.last_ack_ns = now;
		mroce_path_acked(&p, 1000, now);
		KUNIT_EXPECT_EQ_MSG(test, mroce_path_speed(&p, now), i < 10 ? 0ull : 1000000ull,
				    "after %u ms", i);
	}
	KUNIT_EXPECT_EQ(test, p.acked_bytes, 95000ull);
	KUNIT_EXPECT_EQ(test, mroce_path_speed(&p, now + MROCE_PATH_STALE_NS - 1), 1000000ull);
	KUNIT_EXPECT_EQ(test, mroce_path_speed(&p, now + MROCE_PATH_STALE_NS), 0ull);
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(states_have_names),
	KUNIT_CASE(every_transition),
	KUNIT_CASE(init_keeps_the_records),
	KUNIT_CASE(rate_converges),
	KUNIT_CASE(marks_only_go_forward),
	KUNIT_CASE(only_the_owner_while_in_flight),
	KUNIT_CASE(speed_is_what_was_acknowledged),
	{}
};

static struct kunit_suite path_suite = {
	.name = "mroce_path",
	.test_cases = path_cases,
};

kunit_test_suite(path_suite);
