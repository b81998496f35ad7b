// SPDX-License-Identifier: GPL-2.0
/* Serial arithmetic and 256-bit vectors: edges and wraps. */
#include <kunit/test.h>
#include "rnd.h"
#include "seq.h"
#include "vec.h"

static void order_at_the_edges(struct kunit *test)
{
	static const u32 at[] = { 0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		u32 a = at[i];

		KUNIT_EXPECT_EQ(test, mroce_seq_diff(a, a), 0);
		KUNIT_EXPECT_EQ(test, mroce_seq_diff(a + 5, a), 5);
		KUNIT_EXPECT_EQ(test, mroce_seq_diff(a, a + 5), -5);
		KUNIT_EXPECT_TRUE(test, mroce_seq_after(a + 1, a));
		KUNIT_EXPECT_TRUE(test, mroce_seq_before(a, a + 1));
		KUNIT_EXPECT_FALSE(test, mroce_seq_before(a, a));
		KUNIT_EXPECT_FALSE(test, mroce_seq_after(a, a));
		KUNIT_EXPECT_TRUE(test, mroce_seq_after(a + 0x7fffffff, a));
		KUNIT_EXPECT_FALSE(test, mroce_seq_before(a + 0x7fffffff, a));
	}
}

static void range_wraps(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, mroce_seq_in(0xfffffffe, 0xfffffffe, 2));
	KUNIT_EXPECT_TRUE(test, mroce_seq_in(0, 0xfffffffe, 2));
	KUNIT_EXPECT_TRUE(test, mroce_seq_in(1, 0xfffffffe, 2));
	KUNIT_EXPECT_FALSE(test, mroce_seq_in(2, 0xfffffffe, 2));
	KUNIT_EXPECT_FALSE(test, mroce_seq_in(0xfffffffd, 0xfffffffe, 2));
	KUNIT_EXPECT_FALSE(test, mroce_seq_in(7, 7, 7));
}

static void vec_single_bits(struct kunit *test)
{
	static const u32 at[] = { 0, 1, 63, 64, 127, 128, 191, 192, 255 };
	u32 i, w;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		u64 v[MROCE_VEC_WORDS] = { 0 };
		u32 ones = 0;

		mroce_vec_set(v, at[i]);
		for (w = 0; w < MROCE_VEC_WORDS; w++)
			ones += hweight64(v[w]);
		KUNIT_EXPECT_EQ(test, ones, 1u);
		KUNIT_EXPECT_TRUE(test, mroce_vec_test(v, at[i]));
		mroce_vec_clear(v, at[i]);
		KUNIT_EXPECT_FALSE(test, mroce_vec_test(v, at[i]));
		KUNIT_EXPECT_EQ(test, v[0] | v[1] | v[2] | v[3], 0ull);
	}
}

/* Bit by bit against the definition, for every distance. */
static void vec_rotate_and_shift(struct kunit *test)
{
	struct rnd r;
	u64 v[MROCE_VEC_WORDS], rot[MROCE_VEC_WORDS], shl[MROCE_VEC_WORDS];
	u32 bad = 0;
	u32 k, i;

	rnd_seed(&r, 1);
	for (k = 0; k <= 300; k++) {
		rnd_fill(&r, v, sizeof(v));
		memcpy(shl, v, sizeof(v));
		mroce_vec_shl(shl, k);
		for (i = 0; i < MROCE_VEC_WORDS; i++)
			rot[i] = mroce_vec_rot(v, i, k % 256);
		for (i = 0; i < 256; i++) {
			bad += mroce_vec_test(rot, i) != mroce_vec_test(v, (i + k) % 256);
			bad += mroce_vec_test(shl, i) != (i >= k && mroce_vec_test(v, i - k));
		}
	}
	KUNIT_EXPECT_EQ(test, bad, 0u);
}

static void vec_below(struct kunit *test)
{
	u32 bad = 0;
	u32 n, i;

	for (n = 0; n <= 300; n++) {
		u64 v[MROCE_VEC_WORDS];

		for (i = 0; i < MROCE_VEC_WORDS; i++)
			v[i] = mroce_vec_below(i, n);
		for (i = 0; i < 256; i++)
			bad += mroce_vec_test(v, i) != (i < n);
	}
	KUNIT_EXPECT_EQ(test, bad, 0u);
}

static struct kunit_case seq_cases[] = {
	KUNIT_CASE(order_at_the_edges),
	KUNIT_CASE(range_wraps),
	KUNIT_CASE(vec_single_bits),
	KUNIT_CASE(vec_rotate_and_shift),
	KUNIT_CASE(vec_below),
	{}
};

static struct kunit_suite seq_suite = {
	.name = "mroce_seq",
	.test_cases = seq_cases,
};

kunit_test_suite(seq_suite);
