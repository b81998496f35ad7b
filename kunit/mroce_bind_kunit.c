// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which receive a message goes into. */
#include <kunit/test.h>

#include "bind.h"

#define ENTRIES	8

/* A receive queue that binds as the responder does */
struct queue {
	u32 cons;
	u32 bound;
	u32 prod;
};

static bool bind(struct queue *q, u32 rsn)
{
	enum mroce_bind_verdict v;

	while ((v = mroce_bind_check(rsn, q->cons, q->bound, q->prod, ENTRIES)) ==
	       MROCE_BIND_MORE)
		q->bound++;
	return v == MROCE_BIND_READY;
}

static void in_order(struct kunit *test)
{
	struct queue q = { .prod = 2 };

	KUNIT_EXPECT_TRUE(test, bind(&q, 0));
	KUNIT_EXPECT_EQ(test, q.bound, 1);
	KUNIT_EXPECT_TRUE(test, bind(&q, 1));
	KUNIT_EXPECT_EQ(test, q.bound, 2);
}

static void later_message_binds_those_before(struct kunit *test)
{
	struct queue q = { .prod = 5 };

	KUNIT_EXPECT_TRUE(test, bind(&q, 3));
	KUNIT_EXPECT_EQ(test, q.bound, 4);
	/* Those that come late find theirs, and bind nothing more. */
	KUNIT_EXPECT_TRUE(test, bind(&q, 0));
	KUNIT_EXPECT_TRUE(test, bind(&q, 2));
	KUNIT_EXPECT_EQ(test, q.bound, 4);
}

static void not_posted_yet(struct kunit *test)
{
	struct queue q = { .prod = 2 };

	KUNIT_EXPECT_FALSE(test, bind(&q, 2));
	/* What there is was bound: it is in order, and will be asked for. */
	KUNIT_EXPECT_EQ(test, q.bound, 2);
	q.prod++;
	KUNIT_EXPECT_TRUE(test, bind(&q, 2));
}

static void completed_message_has_none(struct kunit *test)
{
	struct queue q = { .cons = 4, .bound = 6, .prod = 8 };

	KUNIT_EXPECT_FALSE(test, bind(&q, 3));
	KUNIT_EXPECT_EQ(test, q.bound, 6);
	KUNIT_EXPECT_TRUE(test, bind(&q, 4));
}

static void never_more_than_the_ring(struct kunit *test)
{
	struct queue q = { .cons = 10, .bound = 10 + ENTRIES, .prod = 10 + ENTRIES };

	KUNIT_EXPECT_FALSE(test, bind(&q, 10 + ENTRIES));
	/* One completes, its slot is filled anew. */
	q.cons++;
	KUNIT_EXPECT_FALSE(test, bind(&q, 10 + ENTRIES));
	q.prod++;
	KUNIT_EXPECT_TRUE(test, bind(&q, 10 + ENTRIES));
}

static void broken_index_binds_nothing(struct kunit *test)
{
	struct queue q = { .cons = 4, .bound = 4, .prod = 4 + ENTRIES + 1 };

	KUNIT_EXPECT_FALSE(test, bind(&q, 4));
	q.prod = 3;
	KUNIT_EXPECT_FALSE(test, bind(&q, 4));
	KUNIT_EXPECT_EQ(test, q.bound, 4);
	/* Full, and no more, is legal. */
	q.prod = 4 + ENTRIES;
	KUNIT_EXPECT_TRUE(test, bind(&q, 4 + ENTRIES - 1));
}

/* The user takes back what is bound already: there is no slot that is free for certain. */
static void index_that_goes_back_binds_nothing(struct kunit *test)
{
	struct queue q = { .cons = 4, .bound = 4 + ENTRIES, .prod = 4 + 3 };

	KUNIT_EXPECT_FALSE(test, bind(&q, 4 + ENTRIES));
	KUNIT_EXPECT_EQ(test, q.bound, 4 + ENTRIES);
	/* What was bound stays so. */
	KUNIT_EXPECT_TRUE(test, bind(&q, 4 + ENTRIES - 1));
}

static void indices_wrap(struct kunit *test)
{
	struct queue q = { .cons = -2u, .bound = -2u, .prod = 3 };

	KUNIT_EXPECT_TRUE(test, bind(&q, 1));
	KUNIT_EXPECT_EQ(test, q.bound, 2);
	KUNIT_EXPECT_TRUE(test, bind(&q, -1u));
	KUNIT_EXPECT_FALSE(test, bind(&q, -3u));
	KUNIT_EXPECT_FALSE(test, bind(&q, 3));
}

static struct kunit_case bind_cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(later_message_binds_those_before),
	KUNIT_CASE(not_posted_yet),
	KUNIT_CASE(completed_message_has_none),
	KUNIT_CASE(never_more_than_the_ring),
	KUNIT_CASE(broken_index_binds_nothing),
	KUNIT_CASE(index_that_goes_back_binds_nothing),
	KUNIT_CASE(indices_wrap),
	{}
};

static struct kunit_suite bind_suite = {
	.name = "mroce_bind",
	.test_cases = bind_cases,
};

kunit_test_suite(bind_suite);
