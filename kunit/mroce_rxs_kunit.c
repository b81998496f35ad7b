// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving end of a stream: verdicts, claim and commit in every order, errors
 * and refusals, completion, records. Streams start near 2^32 so that every
 * case wraps.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "rxs.h"

#define FIRST	0xfffffff0u	/* psn 16 from here is 0 */
#define WINDOW	MROCE_STREAM_WINDOW

struct rx {
	struct mroce_rxs s;
	struct mroce_rxs_bits bits;
};

/* A stream at FIRST, with its out-of-order memory if @bits */
static struct rx *rx_new(struct kunit *test, bool bits)
{
	struct rx *rx = kunit_kzalloc(test, sizeof(*rx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, rx);
	mroce_rxs_init(&rx->s, FIRST);
	if (bits)
		mroce_rxs_set_bits(&rx->s, &rx->bits);
	return rx;
}

static bool place(struct mroce_rxs *s, u32 psn)
{
	mroce_rxs_claim(s, psn);
	return mroce_rxs_commit(s, psn);
}

static struct mroce_rec record(struct mroce_rxs *s)
{
	struct mroce_rec rec;

	memset(&rec, 0xa5, sizeof(rec));
	mroce_rxs_record(s, &rec);
	return rec;
}

static u32 bits_left(const struct rx *rx)
{
	u32 i, n = 0;

	for (i = 0; i < MROCE_STREAM_WORDS; i++)
		n += hweight64(rx->bits.claimed[i]) + hweight64(rx->bits.committed[i]);
	return n;
}

static void verdicts_at_the_edges(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST), MROCE_RXS_NEW);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + WINDOW - 1), MROCE_RXS_NEW);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + WINDOW), MROCE_RXS_BEYOND);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 0x7fffffff), MROCE_RXS_BEYOND);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 0x80000000), MROCE_RXS_DUP);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST - 1), MROCE_RXS_DUP);
	/* Asking changes nothing. */
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST), MROCE_RXS_NEW);
}

static void in_order_needs_no_memory(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, false)->s;
	u32 i;

	for (i = 0; i < 2 * WINDOW; i++) {
		KUNIT_ASSERT_EQ(test, mroce_rxs_classify(s, FIRST + i), MROCE_RXS_NEW);
		KUNIT_ASSERT_EQ(test, mroce_rxs_classify(s, FIRST + i + 1), MROCE_RXS_NEED_BITS);
		mroce_rxs_claim(s, FIRST + i);
		KUNIT_ASSERT_EQ(test, mroce_rxs_classify(s, FIRST + i), MROCE_RXS_DUP);
		KUNIT_ASSERT_TRUE(test, mroce_rxs_commit(s, FIRST + i));
		KUNIT_ASSERT_EQ(test, mroce_rxs_classify(s, FIRST + i), MROCE_RXS_DUP);
	}
	KUNIT_EXPECT_EQ(test, s->cum, FIRST + 2 * WINDOW);
}

/* Memory comes while the next psn is being copied: its claim stands. */
static void claim_survives_the_coming_of_memory(struct kunit *test)
{
	struct rx *rx = rx_new(test, false);

	mroce_rxs_claim(&rx->s, FIRST);
	mroce_rxs_set_bits(&rx->s, &rx->bits);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST), MROCE_RXS_DUP);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + 1), MROCE_RXS_NEW);
	KUNIT_EXPECT_FALSE(test, place(&rx->s, FIRST + 1));
	KUNIT_EXPECT_TRUE(test, mroce_rxs_commit(&rx->s, FIRST));
	KUNIT_EXPECT_EQ(test, rx->s.cum, FIRST + 2);
	KUNIT_EXPECT_EQ(test, bits_left(rx), 0);
}

static void memory_can_be_taken_back(struct kunit *test)
{
	struct rx *rx = rx_new(test, false);

	KUNIT_ASSERT_TRUE(test, place(&rx->s, FIRST));
	mroce_rxs_set_bits(&rx->s, &rx->bits);
	KUNIT_EXPECT_EQ(test, bits_left(rx), 0);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + 2), MROCE_RXS_NEW);
	mroce_rxs_claim(&rx->s, FIRST + 1);
	mroce_rxs_set_bits(&rx->s, NULL);
	/* Nothing is claimed any more, and nothing but the next psn can be. */
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + 1), MROCE_RXS_NEW);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + 2), MROCE_RXS_NEED_BITS);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST + 1));
	/* Without memory a claim is not made anew by its coming and going. */
	mroce_rxs_claim(&rx->s, FIRST + 1);
	mroce_rxs_set_bits(&rx->s, NULL);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST + 1));
}

static void claimed_is_duplicate_until_given_back(struct kunit *test)
{
	struct rx *rx = rx_new(test, true);
	struct mroce_rxs *s = &rx->s;

	mroce_rxs_claim(s, FIRST + 3);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 3), MROCE_RXS_DUP);
	mroce_rxs_unclaim(s, FIRST + 3);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 3), MROCE_RXS_NEW);
	place(s, FIRST + 3);
	mroce_rxs_unclaim(s, FIRST + 3);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 3), MROCE_RXS_DUP);

	rx = rx_new(test, false);
	mroce_rxs_claim(&rx->s, FIRST);
	mroce_rxs_unclaim(&rx->s, FIRST);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST), MROCE_RXS_NEW);
}

/* A commit without a claim would accept what nobody has placed. */
static void commit_needs_a_claim(struct kunit *test)
{
	struct rx *rx = rx_new(test, true);

	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST));
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST + WINDOW));
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST - 1));
	KUNIT_EXPECT_EQ(test, bits_left(rx), 0);
	/* Nor is a claim on another psn of the same bit one. */
	mroce_rxs_claim(&rx->s, FIRST);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST + WINDOW));
	mroce_rxs_unclaim(&rx->s, FIRST + WINDOW);
	KUNIT_EXPECT_EQ(test, bits_left(rx), 1);
	mroce_rxs_unclaim(&rx->s, FIRST);
	KUNIT_EXPECT_EQ(test, rx->s.cum, FIRST);
	KUNIT_EXPECT_EQ(test, bits_left(rx), 0);
	rx = rx_new(test, false);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST));
	mroce_rxs_claim(&rx->s, FIRST);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(&rx->s, FIRST + 1));
	KUNIT_EXPECT_EQ(test, rx->s.cum, FIRST);
}

/* The whole window backwards: cum moves once, over all of it. */
static void window_in_reverse(struct kunit *test)
{
	struct rx *rx = rx_new(test, true);
	u32 i;

	for (i = WINDOW - 1; i > 0; i--) {
		KUNIT_ASSERT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + i), MROCE_RXS_NEW);
		KUNIT_ASSERT_FALSE(test, place(&rx->s, FIRST + i));
		KUNIT_ASSERT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + i), MROCE_RXS_DUP);
	}
	KUNIT_EXPECT_TRUE(test, place(&rx->s, FIRST));
	KUNIT_EXPECT_EQ(test, rx->s.cum, FIRST + WINDOW);
	KUNIT_EXPECT_EQ(test, bits_left(rx), 0);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&rx->s, FIRST + WINDOW), MROCE_RXS_NEW);
}

/* The first hole stops cum, wherever in a word it is. */
static void cum_stops_at_every_hole(struct kunit *test)
{
	u32 hole, i;

	for (hole = 0; hole < 200; hole++) {
		struct rx *rx = rx_new(test, true);

		for (i = 200; i-- > 0;) {
			if (i != hole)
				place(&rx->s, FIRST + i);
		}
		KUNIT_ASSERT_EQ(test, rx->s.cum, FIRST + hole);
		KUNIT_ASSERT_TRUE(test, place(&rx->s, FIRST + hole));
		KUNIT_ASSERT_EQ(test, rx->s.cum, FIRST + 200);
		KUNIT_ASSERT_EQ(test, bits_left(rx), 0);
	}
}

/* Random order, duplicates, given-back claims: everything is placed once. */
static void random_arrivals_are_placed_once(struct kunit *test)
{
	struct rx *rx = rx_new(test, true);
	u8 *placed = kunit_kzalloc(test, 4 * WINDOW, GFP_KERNEL);
	u32 at, last, n = 0;
	struct rnd r;

	KUNIT_ASSERT_NOT_NULL(test, placed);
	rnd_seed(&r, 1);
	while (rx->s.cum != FIRST + 4 * WINDOW) {
		KUNIT_ASSERT_LT(test, n++, 10000000);
		last = rx->s.cum - FIRST;
		at = last + rnd_below(&r, 300);
		if (at >= 4 * WINDOW || mroce_rxs_classify(&rx->s, FIRST + at) != MROCE_RXS_NEW)
			continue;
		mroce_rxs_claim(&rx->s, FIRST + at);
		if (!rnd_below(&r, 4)) {
			mroce_rxs_unclaim(&rx->s, FIRST + at);
			continue;
		}
		KUNIT_ASSERT_EQ(test, placed[at]++, 0);
		KUNIT_ASSERT_EQ(test, mroce_rxs_commit(&rx->s, FIRST + at), at == last);
		KUNIT_ASSERT_EQ(test, at == last, rx->s.cum - FIRST > last);
	}
	KUNIT_EXPECT_EQ(test, bits_left(rx), 0);
}

static void error_waits_for_its_turn(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	mroce_rxs_claim(s, FIRST + 2);
	mroce_rxs_fail(s, FIRST + 2, MROCE_SYN_ACCESS);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_error_due(s));
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_OK);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 1), MROCE_RXS_NEW);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 2), MROCE_RXS_AFTER_ERR);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + 9), MROCE_RXS_AFTER_ERR);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST + WINDOW), MROCE_RXS_BEYOND);
	place(s, FIRST);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_error_due(s));
	KUNIT_EXPECT_TRUE(test, place(s, FIRST + 1));
	KUNIT_EXPECT_TRUE(test, mroce_rxs_error_due(s));
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_ACCESS);
	KUNIT_EXPECT_EQ(test, record(s).cum_psn, FIRST + 2);
}

/* Nothing moves cum past an error, not even what was placed before it was known. */
static void cum_never_passes_an_error(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	place(s, FIRST + 2);
	place(s, FIRST + 3);
	mroce_rxs_claim(s, FIRST + 4);
	mroce_rxs_fail(s, FIRST + 2, MROCE_SYN_OP_ERR);
	mroce_rxs_commit(s, FIRST + 4);
	place(s, FIRST + 1);
	KUNIT_EXPECT_TRUE(test, place(s, FIRST));
	KUNIT_EXPECT_EQ(test, s->cum, FIRST + 2);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(s, FIRST + 2));
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(s, FIRST + 4));
	KUNIT_EXPECT_EQ(test, s->cum, FIRST + 2);
}

static void lowest_error_counts(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	place(s, FIRST);
	mroce_rxs_fail(s, FIRST + 5, MROCE_SYN_ACCESS);
	mroce_rxs_fail(s, FIRST + 7, MROCE_SYN_OP_ERR);
	KUNIT_EXPECT_EQ(test, s->err_psn, FIRST + 5);
	KUNIT_EXPECT_EQ(test, s->err_syndrome, MROCE_SYN_ACCESS);
	mroce_rxs_fail(s, FIRST + 5, MROCE_SYN_OP_ERR);
	KUNIT_EXPECT_EQ(test, s->err_syndrome, MROCE_SYN_ACCESS);
	mroce_rxs_fail(s, FIRST, MROCE_SYN_OP_ERR);
	KUNIT_EXPECT_EQ(test, s->err_psn, FIRST + 5);
	mroce_rxs_fail(s, FIRST + 3, MROCE_SYN_INV_REQ);
	KUNIT_EXPECT_EQ(test, s->err_psn, FIRST + 3);
	KUNIT_EXPECT_EQ(test, s->err_syndrome, MROCE_SYN_INV_REQ);
}

static void error_at_the_next_psn_without_memory(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, false)->s;

	mroce_rxs_claim(s, FIRST);
	mroce_rxs_fail(s, FIRST, MROCE_SYN_INV_REQ);
	KUNIT_EXPECT_TRUE(test, mroce_rxs_error_due(s));
	KUNIT_EXPECT_FALSE(test, mroce_rxs_commit(s, FIRST));
	KUNIT_EXPECT_EQ(test, s->cum, FIRST);
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(s, FIRST), MROCE_RXS_AFTER_ERR);
}

/* The limit is the lowest psn refused, with what was said of that one. */
static void limit_is_the_lowest_refused(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;
	struct mroce_rec rec;

	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + WINDOW);
	mroce_rxs_refuse(s, FIRST + 20, FIRST + 20, MROCE_SYN_BUSY, 0);
	mroce_rxs_refuse(s, FIRST + 10, FIRST + 10, MROCE_SYN_RNR, 12);
	mroce_rxs_refuse(s, FIRST + 30, FIRST + 30, MROCE_SYN_BUSY, 0);
	rec = record(s);
	KUNIT_EXPECT_EQ(test, rec.limit_psn, FIRST + 10);
	KUNIT_EXPECT_EQ(test, rec.syndrome, MROCE_SYN_RNR);
	KUNIT_EXPECT_EQ(test, rec.rnr_timer, 12);
	/* Not the window's: a late copy. */
	mroce_rxs_refuse(s, FIRST - 1, FIRST - 1, MROCE_SYN_RNR, 1);
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 10);
	/* The refused psn is in: no refusal is in force, whatever else was refused. */
	place(s, FIRST + 10);
	rec = record(s);
	KUNIT_EXPECT_EQ(test, rec.syndrome, MROCE_SYN_OK);
	KUNIT_EXPECT_EQ(test, rec.limit_psn, FIRST + WINDOW);
	KUNIT_EXPECT_EQ(test, rec.cum_psn, FIRST);
}

/* No receive posted: over only when the refused packet itself comes in. */
static void rnr_refusal_ends_with_its_packet(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	mroce_rxs_refuse(s, FIRST + 2, FIRST + 2, MROCE_SYN_RNR, 1);
	place(s, FIRST);
	place(s, FIRST + 3);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_RNR);
	place(s, FIRST + 1);
	KUNIT_EXPECT_EQ(test, s->cum, FIRST + 2);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_RNR);
	KUNIT_EXPECT_TRUE(test, place(s, FIRST + 2));
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_OK);
	KUNIT_EXPECT_EQ(test, s->cum, FIRST + 4);
}

/* Too far ahead: over when everything before it is in. */
static void busy_refusal_ends_when_its_turn_comes(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	mroce_rxs_refuse(s, FIRST + 2, FIRST + 2, MROCE_SYN_BUSY, 0);
	place(s, FIRST);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_BUSY);
	place(s, FIRST + 1);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_OK);
	/* Refused in its turn: that stands, whatever comes behind it. */
	mroce_rxs_refuse(s, FIRST + 2, FIRST + 2, MROCE_SYN_BUSY, 0);
	place(s, FIRST + 5);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_BUSY);
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 2);
}

/* One try of a message is one refusal, and only in its turn. */
/* The hold has let packets go: as many more are welcome. */
static void limit_grows_as_the_hold_drains(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;
	u32 i;

	KUNIT_EXPECT_FALSE(test, mroce_rxs_drained(s, 1));
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + WINDOW);
	mroce_rxs_refuse(s, FIRST + 12, FIRST + 12, MROCE_SYN_BUSY, 0);
	mroce_rxs_refuse(s, FIRST + 10, FIRST + 10, MROCE_SYN_BUSY, 0);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_drained(s, 0));
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 10);
	KUNIT_EXPECT_TRUE(test, mroce_rxs_drained(s, 1));
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 11);
	KUNIT_EXPECT_TRUE(test, mroce_rxs_drained(s, 9));
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 20);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_BUSY);
	/* Refused again below it: that is the limit now; above it, nothing new. */
	mroce_rxs_refuse(s, FIRST + 25, FIRST + 25, MROCE_SYN_BUSY, 0);
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 20);
	mroce_rxs_refuse(s, FIRST + 18, FIRST + 18, MROCE_SYN_BUSY, 0);
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 18);
	/* It ends when its turn comes. */
	for (i = 0; i < 18; i++) {
		KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_BUSY);
		place(s, FIRST + i);
	}
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_OK);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_drained(s, 1));
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 18 + WINDOW);
}

/* Room in the hold is no receive. */
static void draining_leaves_rnr_alone(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	mroce_rxs_refuse(s, FIRST + 10, FIRST + 10, MROCE_SYN_RNR, 5);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_drained(s, 7));
	KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 10);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_RNR);
}

static void rnr_refusals_are_counted_once_per_try(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;
	u32 i, try;

	mroce_rxs_refuse(s, FIRST + 1, FIRST + 1, MROCE_SYN_RNR, 1);
	KUNIT_EXPECT_EQ(test, record(s).refusals, 0);
	place(s, FIRST);
	for (try = 1; try <= 3; try++) {
		for (i = 10; i-- > 1;)
			mroce_rxs_refuse(s, FIRST + i, FIRST + 1, MROCE_SYN_RNR, 1);
		KUNIT_EXPECT_EQ(test, record(s).refusals, try);
		KUNIT_EXPECT_EQ(test, record(s).limit_psn, FIRST + 1);
	}
	mroce_rxs_refuse(s, FIRST + 1, FIRST + 1, MROCE_SYN_BUSY, 0);
	KUNIT_EXPECT_EQ(test, record(s).refusals, 3);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_BUSY);
}

/* A message that begins after what is waited for did not get its turn: no try was burnt. */
static void later_message_counts_no_refusal(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	mroce_rxs_refuse(s, FIRST, FIRST + 1, MROCE_SYN_RNR, 1);
	KUNIT_EXPECT_EQ(test, record(s).refusals, 0);
	mroce_rxs_refuse(s, FIRST, FIRST - 1, MROCE_SYN_RNR, 1);
	KUNIT_EXPECT_EQ(test, record(s).refusals, 1);
}

static void due_error_outweighs_a_refusal(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;

	mroce_rxs_fail(s, FIRST, MROCE_SYN_INV_REQ);
	mroce_rxs_refuse(s, FIRST, FIRST, MROCE_SYN_RNR, 1);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_INV_REQ);
}

static void records_are_numbered_for_ever(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;
	u32 recno = record(s).recno;

	KUNIT_EXPECT_EQ(test, record(s).recno, recno + 1);
	place(s, FIRST);
	mroce_rxs_fail(s, FIRST + 1, MROCE_SYN_OP_ERR);
	mroce_rxs_init(s, 77);
	KUNIT_EXPECT_EQ(test, record(s).recno, recno + 2);
	KUNIT_EXPECT_EQ(test, record(s).cum_psn, 77);
	KUNIT_EXPECT_EQ(test, record(s).syndrome, MROCE_SYN_OK);
	KUNIT_EXPECT_NULL(test, s->bits);
	s->recno = U32_MAX;
	KUNIT_EXPECT_EQ(test, record(s).recno, 0);
}

/* All packets of a message tell the same of it, or somebody plays with us. */
static void message_keeps_its_story(struct kunit *test)
{
	struct mroce_pkt_data p = {
		.opcode = MROCE_OP_SEND, .msg_psn = FIRST, .psn = FIRST, .msg_len = 9000,
		.unit_bytes = 4096,
	};
	struct mroce_pkt_data q;
	struct mroce_rxs_msg m = {};

	KUNIT_EXPECT_TRUE(test, mroce_rxs_msg_fits(&m, &p));
	mroce_rxs_msg_set(&m, &p);
	q = p;
	q.psn++;
	KUNIT_EXPECT_TRUE(test, mroce_rxs_msg_fits(&m, &q));
	q.msg_len--;
	KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_fits(&m, &q));
	q = p;
	q.msg_psn++;
	KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_fits(&m, &q));
	q = p;
	q.opcode = MROCE_OP_SEND_IMM;
	KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_fits(&m, &q));
}

static void message_is_done_when_cum_has_passed_it(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, true)->s;
	struct mroce_pkt_data p = {
		.opcode = MROCE_OP_SEND_IMM, .msg_psn = FIRST + 1, .psn = FIRST + 2,
		.msg_len = 20 * 4096 + 1, .unit_bytes = 4096, .imm = cpu_to_be32(0x12345678),
	};
	struct mroce_rxs_msg m = {};
	u32 i;

	KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_done(s, &m));
	mroce_rxs_msg_set(&m, &p);
	p.flags = MROCE_F_SOLICITED;
	mroce_rxs_msg_set(&m, &p);
	p.flags = 0;
	mroce_rxs_msg_set(&m, &p);
	KUNIT_EXPECT_TRUE(test, m.known && m.solicited);
	KUNIT_EXPECT_EQ(test, m.opcode, MROCE_OP_SEND_IMM);
	KUNIT_EXPECT_EQ(test, m.end_psn, FIRST + 22);
	KUNIT_EXPECT_EQ(test, m.msg_len, 20 * 4096 + 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(m.imm), 0x12345678);
	for (i = 0; i < 22; i++) {
		KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_done(s, &m));
		place(s, FIRST + i);
	}
	KUNIT_EXPECT_TRUE(test, mroce_rxs_msg_done(s, &m));
	place(s, FIRST + 22);
	KUNIT_EXPECT_TRUE(test, mroce_rxs_msg_done(s, &m));
}

static void unknown_message_is_never_done(struct kunit *test)
{
	struct mroce_rxs_msg m = {};
	struct mroce_rxs s = {};

	mroce_rxs_init(&s, 5);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_done(&s, &m));
}

static void empty_message_is_one_psn(struct kunit *test)
{
	struct mroce_rxs *s = &rx_new(test, false)->s;
	struct mroce_pkt_data p = { .opcode = MROCE_OP_SEND, .msg_psn = FIRST, .unit_bytes = 4096 };
	struct mroce_rxs_msg m = {};

	mroce_rxs_msg_set(&m, &p);
	KUNIT_EXPECT_EQ(test, m.end_psn, FIRST + 1);
	KUNIT_EXPECT_FALSE(test, m.solicited);
	KUNIT_EXPECT_FALSE(test, mroce_rxs_msg_done(s, &m));
	place(s, FIRST);
	KUNIT_EXPECT_TRUE(test, mroce_rxs_msg_done(s, &m));
}

static struct kunit_case rxs_cases[] = {
	KUNIT_CASE(verdicts_at_the_edges),
	KUNIT_CASE(in_order_needs_no_memory),
	KUNIT_CASE(claim_survives_the_coming_of_memory),
	KUNIT_CASE(memory_can_be_taken_back),
	KUNIT_CASE(claimed_is_duplicate_until_given_back),
	KUNIT_CASE(commit_needs_a_claim),
	KUNIT_CASE(window_in_reverse),
	KUNIT_CASE(cum_stops_at_every_hole),
	KUNIT_CASE(random_arrivals_are_placed_once),
	KUNIT_CASE(error_waits_for_its_turn),
	KUNIT_CASE(cum_never_passes_an_error),
	KUNIT_CASE(lowest_error_counts),
	KUNIT_CASE(error_at_the_next_psn_without_memory),
	KUNIT_CASE(limit_is_the_lowest_refused),
	KUNIT_CASE(rnr_refusal_ends_with_its_packet),
	KUNIT_CASE(busy_refusal_ends_when_its_turn_comes),
	KUNIT_CASE(limit_grows_as_the_hold_drains),
	KUNIT_CASE(draining_leaves_rnr_alone),
	KUNIT_CASE(rnr_refusals_are_counted_once_per_try),
	KUNIT_CASE(later_message_counts_no_refusal),
	KUNIT_CASE(due_error_outweighs_a_refusal),
	KUNIT_CASE(records_are_numbered_for_ever),
	KUNIT_CASE(message_keeps_its_story),
	KUNIT_CASE(message_is_done_when_cum_has_passed_it),
	KUNIT_CASE(unknown_message_is_never_done),
	KUNIT_CASE(empty_message_is_one_psn),
	{}
};

static struct kunit_suite rxs_suite = {
	.name = "mroce_rxs",
	.test_cases = rxs_cases,
};

kunit_test_suite(rxs_suite);
