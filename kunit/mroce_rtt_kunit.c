// SPDX-License-Identifier: GPL-2.0
/* Round trip estimate: formulae of RFC 6298 and RFC 9002, limits, ageing. */
#include <kunit/test.h>
#include "rtt.h"

#define MS 1000000ull

static void before_any_sample(struct kunit *test)
{
	struct mroce_rtt r;

	mroce_rtt_init(&r);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 100000, 0), 20 * MS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 100000, 1), 40 * MS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_rto_ns(&r, 100000), 20 * MS);
}

static void first_and_second_sample(struct kunit *test)
{
	struct mroce_rtt r;

	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 8 * MS, 0, 1);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 8 * MS);
	KUNIT_EXPECT_EQ(test, r.rttvar_ns, 4 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 8 * MS);
	mroce_rtt_sample(&r, 16 * MS, 0, 2);
	/* var = 3/4 * 4 + 1/4 * |16 - 8|, srtt = 7/8 * 8 + 1/8 * 16 */
	KUNIT_EXPECT_EQ(test, r.rttvar_ns, 5 * MS);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 9 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 8 * MS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_rto_ns(&r, 3), 9 * MS + 20 * MS + 3);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 3, 0), 18 * MS + 20 * MS + 3);
}

static void ack_delay_never_below_minimum(struct kunit *test)
{
	struct mroce_rtt r;

	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 5 * MS, 4 * MS, 1);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 5 * MS);
	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 5 * MS, 0, 1);
	mroce_rtt_sample(&r, 21 * MS, 8 * MS, 2);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 6 * MS);
	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 5 * MS, 0, 1);
	mroce_rtt_sample(&r, 13 * MS, 65 * MS, 2);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 5 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 5 * MS);
}

static void timeout_has_limits(struct kunit *test)
{
	struct mroce_rtt r;
	u32 i;

	mroce_rtt_init(&r);
	for (i = 0; i < 200; i++)
		mroce_rtt_sample(&r, 20000, 0, i);
	KUNIT_EXPECT_EQ(test, r.rttvar_ns, MROCE_RTTVAR_MIN_NS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 0, 0), MROCE_PTO_MIN_NS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 0, 3), 8 * MROCE_PTO_MIN_NS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 0, 10), MROCE_PTO_MAX_NS);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 0, 0xffffffff), MROCE_PTO_MAX_NS);
	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 1ull << 50, 0, 1);
	KUNIT_EXPECT_EQ(test, mroce_rtt_pto_ns(&r, 0, 0), MROCE_PTO_MAX_NS);
	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 0, 50, 1);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 1ull);
}

static void minimum_ages(struct kunit *test)
{
	struct mroce_rtt r;
	u64 t = 0;

	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 1 * MS, 0, t);
	mroce_rtt_sample(&r, 3 * MS, 0, t + 9 * 1000 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 1 * MS);
	mroce_rtt_sample(&r, 3 * MS, 0, t + 10 * 1000 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 1 * MS);
	mroce_rtt_sample(&r, 4 * MS, 0, t + 15 * 1000 * MS);
	mroce_rtt_sample(&r, 5 * MS, 0, t + 20 * 1000 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 3 * MS);
	mroce_rtt_sample(&r, 2 * MS, 0, t + 21 * 1000 * MS);
	KUNIT_EXPECT_EQ(test, r.min_ns, 2 * MS);
}

static void new_path_forgets_minimum(struct kunit *test)
{
	struct mroce_rtt r;

	mroce_rtt_init(&r);
	mroce_rtt_sample(&r, 1 * MS, 0, 1);
	mroce_rtt_new_path(&r);
	KUNIT_EXPECT_EQ(test, r.srtt_ns, 1 * MS);
	mroce_rtt_sample(&r, 7 * MS, 0, 2);
	KUNIT_EXPECT_EQ(test, r.min_ns, 7 * MS);
}

static struct kunit_case rtt_cases[] = {
	KUNIT_CASE(before_any_sample),
	KUNIT_CASE(first_and_second_sample),
	KUNIT_CASE(ack_delay_never_below_minimum),
	KUNIT_CASE(timeout_has_limits),
	KUNIT_CASE(minimum_ages),
	KUNIT_CASE(new_path_forgets_minimum),
	{}
};

static struct kunit_suite rtt_suite = {
	.name = "mroce_rtt",
	.test_cases = rtt_cases,
};

kunit_test_suite(rtt_suite);
