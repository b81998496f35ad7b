// SPDX-License-Identifier: GPL-2.0
/*
 * The placement map: against a byte-by-byte model, at the limits of 32 and 64
 * bits, and the bounds check of memory regions.
 */
#include <kunit/test.h>

#include "place.h"

#define GIB	0x40000000u

/* Where byte @off of the list is, and under which key; false = not there. */
static bool model_at(const struct mroce_place_sge *sge, u32 n, u64 off, u64 *addr, u32 *lkey)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (off < sge[i].length) {
			*addr = sge[i].addr + off;
			*lkey = sge[i].lkey;
			return true;
		}
		off -= sge[i].length;
	}
	return false;
}

/* One walk over [off, off + len) agrees with the model at every byte. */
static void check_walk(struct kunit *test, const struct mroce_place_sge *sge, u32 n, u32 off,
		       u32 len)
{
	struct mroce_place_iter it;
	u32 done = 0, lkey = 0, i;
	u64 addr = 0;
	bool more = mroce_place_first(&it, sge, n, off, len);

	KUNIT_ASSERT_EQ(test, more, len && off + len <= mroce_place_total(sge, n));
	if (!more)
		return;
	for (; more; more = mroce_place_next(&it)) {
		KUNIT_ASSERT_GT(test, it.len, 0);
		for (i = 0; i < it.len; i++) {
			KUNIT_ASSERT_TRUE(test, model_at(sge, n, off + done + i, &addr, &lkey));
			KUNIT_ASSERT_EQ(test, it.addr + i, addr);
			KUNIT_ASSERT_EQ(test, it.lkey, lkey);
		}
		done += it.len;
	}
	KUNIT_ASSERT_EQ(test, done, len);
}

static void every_range_of_small_lists(struct kunit *test)
{
	static const struct mroce_place_sge lists[][5] = {
		{ { 1000, 7, 1 } },
		{ { 1000, 3, 1 }, { 2000, 1, 2 }, { 500, 4, 3 } },
		{ { 1, 0, 1 }, { 1000, 2, 2 }, { 2, 0, 3 }, { 3000, 5, 4 }, { 3, 0, 5 } },
		{ { 9, 0, 1 }, { 9, 0, 2 } },
	};
	static const u32 n_sge[] = { 1, 3, 5, 2 };
	u32 i, off, len;

	for (i = 0; i < 4; i++)
		for (off = 0; off < 10; off++)
			for (len = 0; len < 10; len++)
				check_walk(test, lists[i], n_sge[i], off, len);
}

static void no_list_covers_nothing(struct kunit *test)
{
	struct mroce_place_iter it;

	KUNIT_EXPECT_EQ(test, mroce_place_total(NULL, 0), 0);
	KUNIT_EXPECT_FALSE(test, mroce_place_first(&it, NULL, 0, 0, 1));
	KUNIT_EXPECT_FALSE(test, mroce_place_first(&it, NULL, 0, 0, 0));
}

static void total_passes_32_bits(struct kunit *test)
{
	const struct mroce_place_sge sge[] = {
		{ 0, U32_MAX, 1 }, { 0, U32_MAX, 1 }, { 0, 2, 1 },
	};

	KUNIT_EXPECT_EQ(test, mroce_place_total(sge, 3), 1ull << 33);
	KUNIT_EXPECT_EQ(test, mroce_place_total(sge, 1), (u64)U32_MAX);
}

static void offsets_near_32_bits(struct kunit *test)
{
	const struct mroce_place_sge sge[] = {
		{ 1ull << 40, 3 * GIB, 1 }, { 1ull << 50, GIB - 1, 2 },
	};
	const struct mroce_place_sge more[] = {
		{ 1ull << 40, 3 * GIB, 1 }, { 1ull << 50, 2 * GIB, 2 },
	};
	struct mroce_place_iter it;

	KUNIT_ASSERT_TRUE(test, mroce_place_first(&it, sge, 2, 3 * GIB - 1, GIB));
	KUNIT_EXPECT_EQ(test, it.addr, (1ull << 40) + 3 * GIB - 1);
	KUNIT_EXPECT_EQ(test, it.len, 1);
	KUNIT_ASSERT_TRUE(test, mroce_place_next(&it));
	KUNIT_EXPECT_EQ(test, it.addr, 1ull << 50);
	KUNIT_EXPECT_EQ(test, it.len, GIB - 1);
	KUNIT_EXPECT_FALSE(test, mroce_place_next(&it));
	/* The sum is 2^32: it must not come out as nothing. */
	KUNIT_EXPECT_FALSE(test, mroce_place_first(&it, sge, 2, 3 * GIB, GIB));
	KUNIT_EXPECT_FALSE(test, mroce_place_first(&it, sge, 2, U32_MAX, 1));
	KUNIT_ASSERT_TRUE(test, mroce_place_first(&it, more, 2, U32_MAX, U32_MAX / 4));
	KUNIT_EXPECT_EQ(test, it.addr, (1ull << 50) + GIB - 1);
	KUNIT_EXPECT_EQ(test, it.len, U32_MAX / 4);
}

/* The list is the user's, who may change it at any time: a walk ends, it does not run on. */
static void list_that_shrinks_ends_the_walk(struct kunit *test)
{
	struct mroce_place_sge sge[] = {
		{ 1000, 4, 1 }, { 2000, 4, 2 }, { 3000, 4, 3 }, { 4000, 4, 4 },
	};
	struct mroce_place_iter it;

	KUNIT_ASSERT_TRUE(test, mroce_place_first(&it, sge, 3, 0, 12));
	sge[1].length = 0;
	sge[2].length = 0;
	KUNIT_EXPECT_FALSE(test, mroce_place_next(&it));
	KUNIT_EXPECT_EQ(test, it.len, 0);
	sge[2].length = 2;
	KUNIT_ASSERT_TRUE(test, mroce_place_first(&it, sge, 3, 0, 6));
	KUNIT_ASSERT_TRUE(test, mroce_place_next(&it));
	KUNIT_EXPECT_EQ(test, it.addr, 3000);
	KUNIT_EXPECT_EQ(test, it.len, 2);
	/* One element past the list is not looked at. */
	it.left = 4;
	KUNIT_EXPECT_FALSE(test, mroce_place_next(&it));
}

static void within_its_region(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, mroce_place_within(1000, 100, 1000, 100));
	KUNIT_EXPECT_TRUE(test, mroce_place_within(1000, 100, 1099, 1));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 999, 1));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 999, 101));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 1000, 101));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 1099, 2));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 1100, 1));
}

static void empty_ranges_need_an_address_too(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, mroce_place_within(1000, 100, 1000, 0));
	KUNIT_EXPECT_TRUE(test, mroce_place_within(1000, 100, 1100, 0));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 1101, 0));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 999, 0));
	KUNIT_EXPECT_TRUE(test, mroce_place_within(1000, 0, 1000, 0));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 0, 1000, 1));
}

static void nothing_wraps(struct kunit *test)
{
	/* The whole address space but its last byte, and its last byte. */
	KUNIT_EXPECT_TRUE(test, mroce_place_within(0, U64_MAX, 0, U64_MAX));
	KUNIT_EXPECT_TRUE(test, mroce_place_within(U64_MAX, 1, U64_MAX, 1));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(U64_MAX, 1, U64_MAX, 2));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 1050, U64_MAX));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, 1050, U64_MAX - 40));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(1000, 100, U64_MAX - 5, 10));
	/* A region that claims to reach beyond 2^64 does not help. */
	KUNIT_EXPECT_FALSE(test, mroce_place_within(U64_MAX - 9, 100, U64_MAX - 5, 20));
	KUNIT_EXPECT_TRUE(test, mroce_place_within(U64_MAX - 9, 100, U64_MAX - 5, 6));
	KUNIT_EXPECT_FALSE(test, mroce_place_within(U64_MAX - 9, 100, 5, 1));
}

static struct kunit_case place_cases[] = {
	KUNIT_CASE(every_range_of_small_lists),
	KUNIT_CASE(no_list_covers_nothing),
	KUNIT_CASE(total_passes_32_bits),
	KUNIT_CASE(offsets_near_32_bits),
	KUNIT_CASE(list_that_shrinks_ends_the_walk),
	KUNIT_CASE(within_its_region),
	KUNIT_CASE(empty_ranges_need_an_address_too),
	KUNIT_CASE(nothing_wraps),
	{}
};

static struct kunit_suite place_suite = {
	.name = "mroce_place",
	.test_cases = place_cases,
};

kunit_test_suite(place_suite);
