// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lives of the peer's queue pair. */
#include <kunit/test.h>

#include "life.h"

static void first_packet_tells(struct kunit *test)
{
	struct mroce_life l = {};

	KUNIT_EXPECT_TRUE(test, mroce_life_accepts(&l, 1, 0xffff));
	KUNIT_EXPECT_TRUE(test, mroce_life_accepts(&l, 1, 0xffff));
	KUNIT_EXPECT_FALSE(test, mroce_life_accepts(&l, 1, 0));
	KUNIT_EXPECT_FALSE(test, mroce_life_accepts(&l, 1, 0xfffe));
}

static void the_past_is_not_learnt(struct kunit *test)
{
	struct mroce_life l = {};

	mroce_life_accepts(&l, 1, 0xffff);
	mroce_life_end(&l, 1);
	KUNIT_EXPECT_FALSE(test, mroce_life_accepts(&l, 1, 0xffff));
	KUNIT_EXPECT_FALSE(test, mroce_life_accepts(&l, 1, 0xff00));
	/* Serial arithmetic: 0 comes after 65535. */
	KUNIT_EXPECT_TRUE(test, mroce_life_accepts(&l, 1, 0));
}

static void an_unknown_life_leaves_the_floor(struct kunit *test)
{
	struct mroce_life l = {};

	mroce_life_accepts(&l, 1, 100);
	mroce_life_end(&l, 1);
	mroce_life_end(&l, 2);
	KUNIT_EXPECT_FALSE(test, mroce_life_accepts(&l, 1, 100));
}

static void another_peer_counts_anew(struct kunit *test)
{
	struct mroce_life l = {};

	mroce_life_accepts(&l, 1, 100);
	mroce_life_end(&l, 1);
	KUNIT_EXPECT_TRUE(test, mroce_life_accepts(&l, 2, 7));
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE(first_packet_tells),
	KUNIT_CASE(the_past_is_not_learnt),
	KUNIT_CASE(an_unknown_life_leaves_the_floor),
	KUNIT_CASE(another_peer_counts_anew),
	{}
};

static struct kunit_suite life_suite = {
	.name = "mroce_life",
	.test_cases = life_cases,
};

kunit_test_suite(life_suite);
