// SPDX-License-Identifier: GPL-2.0
/*
 * The segmenter: every packet of a message, at the edges of 32 bits, and the
 * payload of a route.
 */
#include <kunit/test.h>

#include "seg.h"

#define LEN_MAX		0x80000000u	/* largest message */

static void count_rounds_up(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_seg_count(0, 4096), 1);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(1, 4096), 1);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(4096, 4096), 1);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(4097, 4096), 2);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(8192, 4096), 2);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(8193, 4096), 3);
}

static void count_does_not_overflow(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_seg_count(LEN_MAX, 128), 1u << 24);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(LEN_MAX, 8192), 1u << 18);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(LEN_MAX, 1408), 1525202);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(U32_MAX, 8192), 1u << 19);
	KUNIT_EXPECT_EQ(test, mroce_seg_count(U32_MAX, 128), 1u << 25);
}

static void empty_message_has_no_bytes(struct kunit *test)
{
	u32 off = 1;

	KUNIT_EXPECT_EQ(test, mroce_seg_at(0, 4096, 0, &off), 0);
	KUNIT_EXPECT_EQ(test, off, 0);
}

static void last_packet_of_the_largest_message(struct kunit *test)
{
	u32 off = 0;

	KUNIT_EXPECT_EQ(test, mroce_seg_at(LEN_MAX, 8192, (1 << 18) - 1, &off), 8192);
	KUNIT_EXPECT_EQ(test, off, LEN_MAX - 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_at(LEN_MAX - 1, 8192, (1 << 18) - 1, &off), 8191);
	KUNIT_EXPECT_EQ(test, mroce_seg_at(LEN_MAX, 1408, 1525201, &off), 640);
	KUNIT_EXPECT_EQ(test, off, 1525201u * 1408);
	/* idx * unit passes 2^32 and must not come round. */
	KUNIT_EXPECT_EQ(test, mroce_seg_at(LEN_MAX, 8192, 1 << 19, &off), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_at(LEN_MAX, 8192, (1 << 19) + 1, &off), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_at(LEN_MAX, 8192, U32_MAX, &off), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_at(100, 8192, 1, &off), 0);
}

/* The packets of a message cover it without gap or overlap. */
static void packets_tile_the_message(struct kunit *test)
{
	static const u32 unit[] = { 128, 1024, 1280, 1408, 4096, 8192 };
	u32 len, i, idx, off, at, got;

	for (i = 0; i < 6; i++) {
		for (len = 1; len < 40000; len += 1 + len / 7) {
			u32 n = mroce_seg_count(len, unit[i]);

			for (idx = 0, at = 0; idx < n; idx++, at += got) {
				got = mroce_seg_at(len, unit[i], idx, &off);
				KUNIT_ASSERT_EQ(test, off, at);
				KUNIT_ASSERT_TRUE(test, got == unit[i] || idx == n - 1);
				KUNIT_ASSERT_GT(test, got, 0);
			}
			KUNIT_ASSERT_EQ(test, at, len);
			KUNIT_ASSERT_EQ(test, mroce_seg_at(len, unit[i], n, &off), 0);
		}
	}
}

static void unit_fits_the_route(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(9000, false), 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(9000, true), 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(65535, false), 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(U32_MAX, true), 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(1500, false), 1408);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(1500, true), 1280);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(4200, false), 4096);
}

static void unit_at_the_edges(struct kunit *test)
{
	/* IP + UDP + DATA header: 92 bytes, 112 with IPv6. */
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(8192 + 92, false), 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(8192 + 91, false), 4096);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(8192 + 112, true), 8192);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(8192 + 111, true), 4096);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(4096 + 92, false), 4096);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(4096 + 91, false), 3968);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(128 + 92, false), 128);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(128 + 91, false), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(128 + 111, true), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(92, false), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(91, false), 0);
	KUNIT_EXPECT_EQ(test, mroce_seg_unit(0, true), 0);
}

static struct kunit_case seg_cases[] = {
	KUNIT_CASE(count_rounds_up),
	KUNIT_CASE(count_does_not_overflow),
	KUNIT_CASE(empty_message_has_no_bytes),
	KUNIT_CASE(last_packet_of_the_largest_message),
	KUNIT_CASE(packets_tile_the_message),
	KUNIT_CASE(unit_fits_the_route),
	KUNIT_CASE(unit_at_the_edges),
	{}
};

static struct kunit_suite seg_suite = {
	.name = "mroce_seg",
	.test_cases = seg_cases,
};

kunit_test_suite(seg_suite);
