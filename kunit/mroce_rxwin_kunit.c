// SPDX-License-Identifier: GPL-2.0
/* Receiving end of a path: verdicts, vectors, when an acknowledgment is due. */
#include <kunit/test.h>
#include "rnd.h"
#include "rxwin.h"
#include "vec.h"

static const struct mroce_ack_policy policy = { .every_pkts = 8, .delay_ns = 20000 };

static bool mark(struct mroce_rxwin *w, u32 seq, u64 now)
{
	return mroce_rxwin_mark(w, seq, false, false, false, &policy, now);
}

static void take_part(struct mroce_rxwin *w, u64 now)
{
	struct mroce_ack_part part = { 0 };

	mroce_rxwin_part(w, &part, now);
}

/* Near a wrap of the sequence, everywhere. */
static const u32 bases[] = { 0, 5, 0x7fffff80, 0xffffff80, 0xffffffff };

static void verdicts(struct kunit *test)
{
	u32 b, i;

	for (b = 0; b < ARRAY_SIZE(bases); b++) {
		u32 s = bases[b];
		struct mroce_rxwin w;

		mroce_rxwin_init(&w);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s), MROCE_RXWIN_NEW);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s + 0x12345678), MROCE_RXWIN_NEW);
		mark(&w, s, 1);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s), MROCE_RXWIN_DUP);
		for (i = 1; i < 256; i++)
			KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s - i), MROCE_RXWIN_NEW);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s - 256), MROCE_RXWIN_OLD);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s - 100000), MROCE_RXWIN_OLD);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s + 65536), MROCE_RXWIN_NEW);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s + 65537), MROCE_RXWIN_JUMP);
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s + 0x7fffffff), MROCE_RXWIN_JUMP);
	}
}

static void refused_verdicts_change_nothing(struct kunit *test)
{
	struct mroce_rxwin w, copy;

	mroce_rxwin_init(&w);
	mark(&w, 1000, 1);
	copy = w;
	mark(&w, 1000 - 256, 2);
	mark(&w, 1000 + 65537, 2);
	KUNIT_EXPECT_EQ(test, memcmp(&w, &copy, sizeof(w)), 0);
}

/* Against a plain list of what arrived, in random order with holes. */
static void vector_is_what_arrived(struct kunit *test)
{
	struct mroce_rxwin w;
	struct mroce_ack_part part = { 0 };
	struct rnd r;
	u8 *seen = kunit_kzalloc(test, 4096, GFP_KERNEL);
	u32 first = 0xffffff00;
	u32 high = 0;
	u32 step, i, bad = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	rnd_seed(&r, 2);
	mroce_rxwin_init(&w);
	for (step = 0; step < 3000; step++) {
		u32 off = high + rnd_below(&r, 6);
		bool refused = rnd_below(&r, 10) == 0;
		enum mroce_rxwin_verdict want;

		off -= min(off, rnd_below(&r, 20));
		if (off >= 4096)
			break;
		want = seen[off] ? MROCE_RXWIN_DUP : MROCE_RXWIN_NEW;
		bad += mroce_rxwin_check(&w, first + off) != want;
		mroce_rxwin_mark(&w, first + off, refused, false, false, &policy, step);
		if (!seen[off])
			seen[off] = refused ? 2 : 1;
		high = max(high, off);
	}
	mroce_rxwin_part(&w, &part, step);
	KUNIT_EXPECT_GT(test, high, 500u);
	KUNIT_EXPECT_EQ(test, part.highest, first + high);
	KUNIT_EXPECT_TRUE(test, part.has_refused);
	for (i = 0; i < 256; i++) {
		bad += mroce_vec_test(part.rcvd, i) != (seen[high - i] != 0);
		bad += mroce_vec_test(part.refused, i) != (seen[high - i] == 2);
	}
	KUNIT_EXPECT_EQ(test, bad, 0u);
}

static void bit_255_and_beyond(struct kunit *test)
{
	struct mroce_rxwin w;

	mroce_rxwin_init(&w);
	mroce_rxwin_mark(&w, 10, true, false, false, &policy, 1);
	mark(&w, 10 + 255, 2);
	KUNIT_EXPECT_EQ(test, w.rcvd[3], 1ull << 63);
	KUNIT_EXPECT_EQ(test, w.refused[3], 1ull << 63);
	KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, 10), MROCE_RXWIN_DUP);
	mark(&w, 10 + 256, 3);
	KUNIT_EXPECT_EQ(test, w.rcvd[3], 0ull);
	KUNIT_EXPECT_EQ(test, w.refused[3], 0ull);
	KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, 10), MROCE_RXWIN_OLD);
	KUNIT_EXPECT_EQ(test, w.rcvd[0], 3ull);
	mark(&w, 10 + 256 + 65536, 4);
	KUNIT_EXPECT_EQ(test, w.rcvd[0], 1ull);
	KUNIT_EXPECT_EQ(test, w.rcvd[1] | w.rcvd[2] | w.rcvd[3], 0ull);
}

static void in_order_packets_wait(struct kunit *test)
{
	struct mroce_rxwin w;
	u32 i;

	mroce_rxwin_init(&w);
	KUNIT_EXPECT_EQ(test, mroce_rxwin_deadline(&w, &policy), U64_MAX);
	for (i = 0; i < 7; i++)
		KUNIT_EXPECT_FALSE(test, mark(&w, 100 + i, 1000 + i));
	KUNIT_EXPECT_EQ(test, mroce_rxwin_deadline(&w, &policy), 1000ull + 20000);
	KUNIT_EXPECT_TRUE(test, mark(&w, 107, 1007));
	KUNIT_EXPECT_LE(test, mroce_rxwin_deadline(&w, &policy), 1007ull);
	take_part(&w, 1100);
	KUNIT_EXPECT_EQ(test, mroce_rxwin_deadline(&w, &policy), U64_MAX);
	KUNIT_EXPECT_FALSE(test, mark(&w, 108, 2000));
	KUNIT_EXPECT_EQ(test, mroce_rxwin_deadline(&w, &policy), 2000ull + 20000);
}

/* Each reason for an acknowledgment at once, alone. */
static void reasons_to_ack_now(struct kunit *test)
{
	struct mroce_rxwin w;

	mroce_rxwin_init(&w);
	KUNIT_EXPECT_FALSE(test, mark(&w, 100, 1));
	KUNIT_EXPECT_TRUE(test, mark(&w, 102, 2));		/* new gap */
	take_part(&w, 3);
	KUNIT_EXPECT_FALSE(test, mark(&w, 103, 4));		/* old gap, known */
	KUNIT_EXPECT_TRUE(test, mark(&w, 101, 5));		/* fills it */
	take_part(&w, 6);
	KUNIT_EXPECT_TRUE(test, mark(&w, 101, 7));		/* duplicate */
	KUNIT_EXPECT_EQ(test, mroce_rxwin_deadline(&w, &policy), 7ull);
	take_part(&w, 8);
	KUNIT_EXPECT_TRUE(test, mroce_rxwin_mark(&w, 104, true, false, false, &policy, 9));
	take_part(&w, 10);
	KUNIT_EXPECT_TRUE(test, mroce_rxwin_mark(&w, 105, false, false, true, &policy, 11));
	take_part(&w, 12);
	KUNIT_EXPECT_TRUE(test, mroce_rxwin_mark(&w, 106, false, true, false, &policy, 13));
	take_part(&w, 14);
	KUNIT_EXPECT_FALSE(test, mroce_rxwin_mark(&w, 107, false, true, false, &policy, 15));
	KUNIT_EXPECT_TRUE(test, mark(&w, 108, 16));		/* CE ends */
}

/* Once due, it stays due until it is built. */
static void due_is_not_forgotten(struct kunit *test)
{
	struct mroce_rxwin w;

	mroce_rxwin_init(&w);
	mroce_rxwin_mark(&w, 1, false, false, true, &policy, 1);
	KUNIT_EXPECT_TRUE(test, mark(&w, 2, 2));
	KUNIT_EXPECT_LE(test, mroce_rxwin_deadline(&w, &policy), 2ull);
}

static void ce_counts_packets_once(struct kunit *test)
{
	struct mroce_rxwin w;
	struct mroce_ack_part part = { 0 };
	u32 i;

	mroce_rxwin_init(&w);
	for (i = 0; i < 20; i++)
		mroce_rxwin_mark(&w, i, false, i % 4 == 0, false, &policy, i);
	mroce_rxwin_mark(&w, 0, false, true, false, &policy, 20);
	mroce_rxwin_part(&w, &part, 20);
	KUNIT_EXPECT_EQ(test, part.ce_count, 5u);
	mroce_rxwin_part(&w, &part, 20);
	KUNIT_EXPECT_EQ(test, part.ce_count, 5u);
}

static void ack_delay_is_of_the_highest(struct kunit *test)
{
	struct mroce_rxwin w;
	struct mroce_ack_part part = { 0 };

	mroce_rxwin_init(&w);
	mark(&w, 10, 1000000);
	mark(&w, 12, 1005000);
	mark(&w, 11, 1009000);
	mroce_rxwin_part(&w, &part, 1025999);
	KUNIT_EXPECT_EQ(test, part.ack_delay_us, 20u);
	KUNIT_EXPECT_FALSE(test, part.has_refused);
	mroce_rxwin_part(&w, &part, 1005000 + 10000000000ull);
	KUNIT_EXPECT_EQ(test, part.ack_delay_us, 65535u);
	mroce_rxwin_part(&w, &part, 5);
	KUNIT_EXPECT_EQ(test, part.ack_delay_us, 0u);
}

static void unacked_does_not_wrap(struct kunit *test)
{
	struct mroce_rxwin w;
	u32 i;

	mroce_rxwin_init(&w);
	for (i = 0; i < 70000; i++)
		mark(&w, i, 7 + i);
	KUNIT_EXPECT_EQ(test, w.unacked, 65535u);
	KUNIT_EXPECT_EQ(test, w.first_unacked_ns, 7ull);
}

/* A forged number has moved the window: the sender's next ones bring it back. */
static void led_astray(struct kunit *test)
{
	static const struct {
		u32 forged, next;
	} row[] = {
		{ 60000, 1 }, { 300, 1 }, { (u32)-70000, 1 }, { 65000, 1000 },
	};
	struct mroce_rxwin w;
	u32 b, i, s;

	for (b = 0; b < ARRAY_SIZE(row); b++) {
		mroce_rxwin_init(&w);
		mroce_rxwin_mark(&w, 0xfffffff0 + row[b].forged, false, true, false, &policy, 1);
		s = 0xfffffff0 + row[b].next;
		for (i = 1; i < MROCE_RXWIN_STRAYS; i++, s++) {
			KUNIT_EXPECT_GE(test, mroce_rxwin_check(&w, s), MROCE_RXWIN_OLD);
			KUNIT_EXPECT_FALSE(test, mroce_rxwin_stray(&w, s));
		}
		KUNIT_EXPECT_TRUE(test, mroce_rxwin_stray(&w, s));
		/* 256 on is still the next one: those between may be lost. */
		KUNIT_EXPECT_EQ(test, mroce_rxwin_check(&w, s + 256), MROCE_RXWIN_NEW);
		mark(&w, s + 256, 3);
		KUNIT_EXPECT_EQ(test, w.highest, s + 256);
		/* Of CE the sender knows the running count. */
		KUNIT_EXPECT_EQ(test, w.ce_count, 1);
	}
}

/* Late packets, one by one or with good ones between, move nothing. */
static void strays_that_do_not_follow(struct kunit *test)
{
	struct mroce_rxwin w;
	u32 i;

	mroce_rxwin_init(&w);
	mark(&w, 100000, 1);
	for (i = 0; i < 100; i++) {
		/* The same again, backwards, and too far apart */
		KUNIT_EXPECT_FALSE(test, mroce_rxwin_stray(&w, 5000));
		KUNIT_EXPECT_FALSE(test, mroce_rxwin_stray(&w, 5000));
		KUNIT_EXPECT_FALSE(test, mroce_rxwin_stray(&w, 4990));
		KUNIT_EXPECT_FALSE(test, mroce_rxwin_stray(&w, 4990 + 257));
	}
	for (i = 0; i < 100; i++) {
		KUNIT_EXPECT_FALSE(test, mroce_rxwin_stray(&w, 6000 + i));
		if (i % (MROCE_RXWIN_STRAYS - 1) == 0)
			mark(&w, 100001 + i, 2);
	}
	KUNIT_EXPECT_EQ(test, w.highest, 100001u + 99u);
}

static struct kunit_case rxwin_cases[] = {
	KUNIT_CASE(verdicts),
	KUNIT_CASE(refused_verdicts_change_nothing),
	KUNIT_CASE(vector_is_what_arrived),
	KUNIT_CASE(bit_255_and_beyond),
	KUNIT_CASE(in_order_packets_wait),
	KUNIT_CASE(reasons_to_ack_now),
	KUNIT_CASE(due_is_not_forgotten),
	KUNIT_CASE(ce_counts_packets_once),
	KUNIT_CASE(ack_delay_is_of_the_highest),
	KUNIT_CASE(unacked_does_not_wrap),
	KUNIT_CASE(led_astray),
	KUNIT_CASE(strays_that_do_not_follow),
	{}
};

static struct kunit_suite rxwin_suite = {
	.name = "mroce_rxwin",
	.test_cases = rxwin_cases,
};

kunit_test_suite(rxwin_suite);
