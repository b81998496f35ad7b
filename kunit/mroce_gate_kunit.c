// SPDX-License-Identifier: GPL-2.0
/* What others provoke happens so often, and not more often. */
#include <kunit/test.h>

#include "gate.h"

#define T0	1000000000ull
#define STEP	1000ull

/* How many of @n, @apart_ns from each other, pass? */
static u32 passing(struct mroce_gate *g, u64 *now, u32 n, u64 apart_ns, u32 burst)
{
	u32 passed = 0;

	while (n--) {
		passed += mroce_gate_pass(g, *now, STEP, burst);
		*now += apart_ns;
	}
	return passed;
}

static void one_at_a_time(struct kunit *test)
{
	struct mroce_gate g = {};

	KUNIT_EXPECT_TRUE(test, mroce_gate_pass(&g, T0, STEP, 1));
	KUNIT_EXPECT_FALSE(test, mroce_gate_pass(&g, T0, STEP, 1));
	KUNIT_EXPECT_FALSE(test, mroce_gate_pass(&g, T0 + STEP - 1, STEP, 1));
	KUNIT_EXPECT_TRUE(test, mroce_gate_pass(&g, T0 + STEP, STEP, 1));
}

static void burst_then_rate(struct kunit *test)
{
	struct mroce_gate g = {};
	u64 now = T0;

	KUNIT_EXPECT_EQ(test, passing(&g, &now, 100, 0, 8), 8);
	/* Ten times too many: one in ten. */
	KUNIT_EXPECT_EQ(test, passing(&g, &now, 1000, STEP / 10, 8), 99);
	/* At the rate: all. */
	now += STEP;
	KUNIT_EXPECT_EQ(test, passing(&g, &now, 100, STEP, 8), 100);
}

/* A long silence is not saved up beyond the burst. */
static void silence_gives_one_burst(struct kunit *test)
{
	struct mroce_gate g = {};
	u64 now = T0;

	passing(&g, &now, 100, 0, 8);
	now += 1000 * STEP;
	KUNIT_EXPECT_EQ(test, passing(&g, &now, 100, 0, 8), 8);
}

static struct kunit_case gate_cases[] = {
	KUNIT_CASE(one_at_a_time),
	KUNIT_CASE(burst_then_rate),
	KUNIT_CASE(silence_gives_one_burst),
	{}
};

static struct kunit_suite gate_suite = {
	.name = "mroce_gate",
	.test_cases = gate_cases,
};

kunit_test_suite(gate_suite);
