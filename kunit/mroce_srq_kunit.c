// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receives that several queue pairs share. */
#include <kunit/test.h>

#include "bind.h"
#include "rnd.h"
#include "srq.h"

#define ENTRIES	8

static void bound_in_order_until_empty(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES };

	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 0), 0);
	KUNIT_EXPECT_FALSE(test, mroce_share_bind(&s, 0));
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 2), 2);
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 2));
	KUNIT_EXPECT_EQ(test, s.bound, 1);
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 2), 1);
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 2));
	KUNIT_EXPECT_FALSE(test, mroce_share_bind(&s, 2));
	KUNIT_EXPECT_EQ(test, s.bound, 2);
	KUNIT_EXPECT_EQ(test, s.done, 0);
}

/* What is bound counts until it is complete: a full ring takes no more. */
static void full_until_one_is_complete(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES };
	u32 prod = ENTRIES;

	while (mroce_share_bind(&s, prod))
		;
	KUNIT_EXPECT_EQ(test, s.bound, ENTRIES);
	KUNIT_EXPECT_FALSE(test, mroce_share_bind(&s, prod + 1));
	mroce_share_done(&s);
	KUNIT_EXPECT_FALSE(test, mroce_share_bind(&s, prod));
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, prod + 1));
	KUNIT_EXPECT_FALSE(test, mroce_share_bind(&s, prod + 1));
}

/* Too far ahead, behind what is complete, between that and what is bound */
static void broken_index_holds_nothing(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES, .bound = 13, .done = 10 };
	static const u32 prod[] = { 10 + ENTRIES + 1, 9, 0, 0x80000000u, 10, 12 };
	int i;

	for (i = 0; i < ARRAY_SIZE(prod); i++) {
		KUNIT_EXPECT_EQ(test, mroce_share_left(&s, prod[i]), 0);
		KUNIT_EXPECT_FALSE(test, mroce_share_bind(&s, prod[i]));
	}
	KUNIT_EXPECT_EQ(test, s.bound, 13);
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 10 + ENTRIES), 5);
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 13), 0);
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 14), 1);
}

static void low_once(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES };

	KUNIT_EXPECT_TRUE(test, mroce_share_arm(&s, 3, ENTRIES));
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 4));
	/* As many as the limit is not fewer. */
	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 4));
	KUNIT_EXPECT_EQ(test, s.limit, 3);
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 4));
	KUNIT_EXPECT_TRUE(test, mroce_share_low(&s, 4));
	KUNIT_EXPECT_EQ(test, s.limit, 0);
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 4));
	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 4));
}

static void armed_again(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES, .bound = 1 };

	KUNIT_EXPECT_TRUE(test, mroce_share_arm(&s, 2, ENTRIES));
	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 3));
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 3));
	KUNIT_EXPECT_TRUE(test, mroce_share_low(&s, 3));
	KUNIT_EXPECT_TRUE(test, mroce_share_arm(&s, 2, ENTRIES));
	/* There are few already: nobody may come to take another. */
	KUNIT_EXPECT_TRUE(test, mroce_share_low(&s, 3));
	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 3));
}

static void never_armed_never_low(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES };

	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 0));
	KUNIT_EXPECT_TRUE(test, mroce_share_arm(&s, 2, ENTRIES));
	KUNIT_EXPECT_TRUE(test, mroce_share_arm(&s, 0, ENTRIES));
	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 0));
}

static void limit_beyond_the_queue(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES };

	KUNIT_EXPECT_TRUE(test, mroce_share_arm(&s, 5, 5));
	KUNIT_EXPECT_FALSE(test, mroce_share_arm(&s, 6, 5));
	KUNIT_EXPECT_EQ(test, s.limit, 5);
}

static void counts_wrap(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES, .bound = -2u, .done = -4u, .limit = 2 };

	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 3), 5);
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 4), 6);
	KUNIT_EXPECT_EQ(test, mroce_share_left(&s, 5), 0);
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 1));
	KUNIT_EXPECT_FALSE(test, mroce_share_low(&s, 1));
	KUNIT_EXPECT_TRUE(test, mroce_share_bind(&s, 1));
	KUNIT_EXPECT_EQ(test, s.bound, 0);
	KUNIT_EXPECT_TRUE(test, mroce_share_low(&s, 1));
}

#define QPS 3

/**
 * struct qp - a queue pair that binds from a shared queue, as the responder does
 * @cons: its oldest message not complete
 * @bound: its next message without a receive
 * @id: which receive each message has
 */
struct qp {
	u32 cons;
	u32 bound;
	u32 id[ENTRIES];
};

/* What happens when message @rsn arrives */
static bool arrive(struct qp *q, struct mroce_share *s, u32 prod, u32 rsn)
{
	enum mroce_bind_verdict v;

	while ((v = mroce_bind_check(rsn, q->cons, q->bound, q->bound + 1, ENTRIES)) ==
	       MROCE_BIND_MORE) {
		if (!mroce_share_bind(s, prod))
			return false;
		q->id[q->bound % ENTRIES] = s->bound - 1;
		q->bound++;
	}
	return v == MROCE_BIND_READY;
}

/* Several queue pairs, messages out of order, and a user whose index is anything now and then */
static void shared_at_random(struct kunit *test)
{
	struct mroce_share s = { .entries = ENTRIES };
	u32 i, k, prod = 0, in_use, last;
	struct qp qp[QPS] = {};
	struct rnd rnd;

	rnd_seed(&rnd, 1);
	for (i = 0; i < 20000; i++) {
		struct qp *q = &qp[rnd_below(&rnd, QPS)];

		if (rnd_below(&rnd, 3) == 0 && prod - s.done < ENTRIES)
			prod++;
		last = s.bound;
		arrive(q, &s, rnd_below(&rnd, 50) ? prod : rnd_u32(&rnd),
		       q->cons + rnd_below(&rnd, 4));
		/* A wild index may lend what was never posted, but no more than there are. */
		if ((s32)(s.bound - prod) > 0)
			prod = s.bound;
		KUNIT_ASSERT_LE(test, s.bound - last, 4u);
		q = &qp[rnd_below(&rnd, QPS)];
		if (q->cons != q->bound && rnd_below(&rnd, 2)) {
			q->cons++;
			mroce_share_done(&s);
		}
		for (k = 0, in_use = 0; k < QPS; k++)
			in_use += qp[k].bound - qp[k].cons;
		KUNIT_ASSERT_EQ(test, in_use, s.bound - s.done);
		KUNIT_ASSERT_LE(test, in_use, (u32)ENTRIES);
	}
	/* It was not idle, and each queue pair has its receives in the order of the queue. */
	KUNIT_EXPECT_GT(test, s.done, 1000u);
	for (k = 0; k < QPS; k++)
		for (i = qp[k].cons; i + 1 < qp[k].bound; i++)
			KUNIT_EXPECT_LT(test, qp[k].id[i % ENTRIES], qp[k].id[(i + 1) % ENTRIES]);
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(bound_in_order_until_empty),
	KUNIT_CASE(full_until_one_is_complete),
	KUNIT_CASE(broken_index_holds_nothing),
	KUNIT_CASE(low_once),
	KUNIT_CASE(armed_again),
	KUNIT_CASE(never_armed_never_low),
	KUNIT_CASE(limit_beyond_the_queue),
	KUNIT_CASE(counts_wrap),
	KUNIT_CASE(shared_at_random),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "mroce_srq",
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
