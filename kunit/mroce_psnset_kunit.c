// SPDX-License-Identifier: GPL-2.0
/* Sets of psns: against one byte for each psn, with ranges over words and over the wrap. */
#include <kunit/test.h>

#include "psnset.h"
#include "rnd.h"

#define WINDOW	MROCE_STREAM_WINDOW
#define FIRST	0xfffff800u	/* the window wraps, and so does the array */
#define ROUNDS	300

/**
 * struct pair - two sets and what they should be
 * @set: bits
 * @has: the same, has[i][k] is psn FIRST + k
 */
struct pair {
	u64 set[2][MROCE_STREAM_WORDS];
	bool has[2][WINDOW];
};

static struct pair *pair_new(struct kunit *test)
{
	struct pair *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

/* Every bit of both sets, by the plainest of the functions. Return: wrong ones. */
static u32 pair_wrong(const struct pair *p)
{
	u32 i, k, wrong = 0;

	for (i = 0; i < 2; i++)
		for (k = 0; k < WINDOW; k++)
			wrong += mroce_psnset_test(p->set[i], FIRST + k) != p->has[i][k];
	return wrong;
}

static void fill(struct pair *p, struct rnd *r, u32 of_100)
{
	u32 k;

	for (k = 0; k < WINDOW; k++) {
		p->has[0][k] = rnd_below(r, 100) < of_100;
		if (p->has[0][k])
			mroce_psnset_add(p->set[0], FIRST + k);
		else
			mroce_psnset_del(p->set[0], FIRST + k);
	}
}

static void one_by_one(struct kunit *test)
{
	struct pair *p = pair_new(test);
	struct rnd r;
	u32 i;

	rnd_seed(&r, 11);
	for (i = 0; i < 4 * WINDOW; i++) {
		u32 k = rnd_below(&r, WINDOW);
		bool add = rnd_below(&r, 2);

		if (add)
			KUNIT_ASSERT_EQ(test, mroce_psnset_add(p->set[0], FIRST + k),
					!p->has[0][k]);
		else
			KUNIT_ASSERT_EQ(test, mroce_psnset_del(p->set[0], FIRST + k),
					p->has[0][k]);
		p->has[0][k] = add;
	}
	KUNIT_EXPECT_EQ(test, pair_wrong(p), 0);
}

/* Length of the run of members (@want), or of what is not one, from k on, at most n */
static u32 model_run(const struct pair *p, u32 k, u32 n, bool want)
{
	u32 i;

	for (i = 0; i < n && p->has[0][k + i] == want; i++)
		;
	return i;
}

static void runs_and_first_members(struct kunit *test)
{
	static const u32 of_100[] = { 0, 1, 50, 99, 100 };
	struct pair *p = pair_new(test);
	struct rnd r;
	u32 i, d;

	rnd_seed(&r, 12);
	for (d = 0; d < ARRAY_SIZE(of_100); d++) {
		fill(p, &r, of_100[d]);
		for (i = 0; i < ROUNDS; i++) {
			u32 k = rnd_below(&r, WINDOW);
			u32 n = rnd_below(&r, WINDOW - k + 1);

			KUNIT_ASSERT_EQ(test, mroce_psnset_run(p->set[0], FIRST + k, n),
					model_run(p, k, n, true));
			KUNIT_ASSERT_EQ(test, mroce_psnset_first(p->set[0], FIRST + k, n),
					model_run(p, k, n, false));
		}
		KUNIT_EXPECT_EQ(test, mroce_psnset_run(p->set[0], FIRST, WINDOW),
				model_run(p, 0, WINDOW, true));
		KUNIT_EXPECT_EQ(test, mroce_psnset_first(p->set[0], FIRST, WINDOW),
				model_run(p, 0, WINDOW, false));
	}
}

static void ranges_are_taken_out_or_moved(struct kunit *test)
{
	struct pair *p = pair_new(test);
	struct rnd r;
	u32 i, k;

	rnd_seed(&r, 13);
	fill(p, &r, 70);
	for (i = 0; i < 30; i++) {
		u32 from = rnd_below(&r, WINDOW);
		u32 n = rnd_below(&r, min(WINDOW - from, 200u) + 1);
		bool move = i % 2;
		u32 count = 0;

		for (k = from; k < from + n; k++) {
			count += p->has[0][k];
			p->has[1][k] |= move && p->has[0][k];
			p->has[0][k] = false;
		}
		if (move)
			k = mroce_psnset_move(p->set[0], p->set[1], FIRST + from, n);
		else
			k = mroce_psnset_del_range(p->set[0], FIRST + from, n);
		KUNIT_ASSERT_EQ(test, k, count);
		KUNIT_ASSERT_EQ(test, pair_wrong(p), 0);
	}
	KUNIT_EXPECT_EQ(test, mroce_psnset_move(p->set[0], p->set[1], FIRST, 0), 0);
	KUNIT_EXPECT_EQ(test, mroce_psnset_del_range(p->set[0], FIRST, 0), 0);
	KUNIT_EXPECT_EQ(test, pair_wrong(p), 0);
}

static struct kunit_case psnset_cases[] = {
	KUNIT_CASE(one_by_one),
	KUNIT_CASE(runs_and_first_members),
	KUNIT_CASE(ranges_are_taken_out_or_moved),
	{}
};

static struct kunit_suite psnset_suite = {
	.name = "mroce_psnset",
	.test_cases = psnset_cases,
};

kunit_test_suite(psnset_suite);
