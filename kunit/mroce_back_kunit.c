// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The way back of a path: when acknowledgements take another port. */
#include <kunit/test.h>

#include "back.h"
#include "path.h"

#define T0	1000000000ull
#define MS	1000000ull

static void port_stays_while_all_is_well(struct kunit *test)
{
	struct mroce_back b;
	u32 i;

	mroce_back_init(&b, 77);
	KUNIT_EXPECT_EQ(test, b.sport, MROCE_SPORT_FIRST + 77);
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_FALSE(test, mroce_back_seen(&b, 0, 50000, false, i, T0 + i));
	KUNIT_EXPECT_EQ(test, b.sport, MROCE_SPORT_FIRST + 77);
}

static void repeated_probe_changes_it(struct kunit *test)
{
	struct mroce_back b;

	mroce_back_init(&b, 77);
	KUNIT_EXPECT_FALSE(test, mroce_back_seen(&b, 0, 50000, true, 5, T0));
	KUNIT_EXPECT_TRUE(test, mroce_back_seen(&b, 0, 50000, true, 5, T0 + 3 * MS));
	KUNIT_EXPECT_EQ(test, b.sport, MROCE_SPORT_FIRST + 5);
	/* And again, never to the same port. */
	KUNIT_EXPECT_TRUE(test, mroce_back_seen(&b, 0, 50000, true, 5, T0 + 6 * MS));
	KUNIT_EXPECT_EQ(test, b.sport, MROCE_SPORT_FIRST + 6);
}

static void probes_far_apart_or_with_data_between_do_not(struct kunit *test)
{
	struct mroce_back b;

	mroce_back_init(&b, 77);
	mroce_back_seen(&b, 0, 50000, true, 5, T0);
	KUNIT_EXPECT_FALSE(test, mroce_back_seen(&b, 0, 50000, true, 5, T0 + MROCE_BACK_REPEAT_NS));
	KUNIT_EXPECT_FALSE(test, mroce_back_seen(&b, 0, 50000, false, 5,
						 T0 + MROCE_BACK_REPEAT_NS + MS));
	KUNIT_EXPECT_FALSE(test, mroce_back_seen(&b, 0, 50000, true, 5,
						 T0 + MROCE_BACK_REPEAT_NS + 2 * MS));
}

static void new_port_of_the_sender_changes_it(struct kunit *test)
{
	struct mroce_back b;

	mroce_back_init(&b, 77);
	mroce_back_seen(&b, 0, 50000, false, 5, T0);
	KUNIT_EXPECT_TRUE(test, mroce_back_seen(&b, 0, 50001, false, 5, T0 + MS));
	KUNIT_EXPECT_FALSE(test, mroce_back_seen(&b, 0, 50001, false, 9, T0 + 2 * MS));
	KUNIT_EXPECT_EQ(test, b.sport, MROCE_SPORT_FIRST + 5);
}

static struct kunit_case back_cases[] = {
	KUNIT_CASE(port_stays_while_all_is_well),
	KUNIT_CASE(repeated_probe_changes_it),
	KUNIT_CASE(probes_far_apart_or_with_data_between_do_not),
	KUNIT_CASE(new_port_of_the_sender_changes_it),
	{}
};

static struct kunit_suite back_suite = {
	.name = "mroce_back",
	.test_cases = back_cases,
};

kunit_test_suite(back_suite);
