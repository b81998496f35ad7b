// SPDX-License-Identifier: GPL-2.0
/*
 * Sending end of a stream: sets and windows, records, refusals and the RNR
 * rules. The timer's suite is mroce_txs_timer. Streams start near 2^32 so that
 * every case wraps.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "txs.h"
#include "txs_stream.h"

static void starts_empty(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 psn;

	KUNIT_EXPECT_FALSE(test, mroce_txs_busy(s));
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	mroce_txs_sent(s, 1, T0);
	KUNIT_EXPECT_TRUE(test, mroce_txs_busy(s));
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW - 1);
}

static void window_bounds_what_is_numbered(struct kunit *test)
{
	struct mroce_txs_cfg cfg = { .window = 100 };
	struct mroce_txs *s = stream_new(test, 14, 7, 7);

	mroce_txs_sent(s, WINDOW, T0);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 3), MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 3);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 4), MROCE_TXS_ADVANCED);

	mroce_txs_init(s, FIRST, &cfg);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 100);
	cfg.window = 2 * WINDOW;
	mroce_txs_init(s, FIRST, &cfg);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW);
	cfg.window = 0;
	mroce_txs_init(s, FIRST, &cfg);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 1);
}

static void lost_packets_go_again_lowest_first(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	static const u32 lost[] = { 100, 15, 4000, 16, 63 };
	static const u32 order[] = { 15, 16, 63, 100, 4000 };
	u32 i, psn;

	mroce_txs_sent(s, WINDOW, T0);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_TRUE(test, mroce_txs_lost(s, FIRST + lost[i]));
	KUNIT_EXPECT_TRUE(test, mroce_txs_lost(s, FIRST + 15));
	KUNIT_EXPECT_EQ(test, s->n_rtx, 5);
	for (i = 0; i < 5; i++) {
		KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
		KUNIT_EXPECT_EQ(test, psn, FIRST + order[i]);
		mroce_txs_resent(s, psn);
		mroce_txs_resent(s, psn);
	}
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, s->n_rtx, 0);
}

/* Sending all of it again has not helped: others may go first. Progress ends it. */
static void sent_again_in_vain(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 i;

	KUNIT_EXPECT_FALSE(test, mroce_txs_stuck(s));
	mroce_txs_sent(s, 4, T0);
	KUNIT_EXPECT_FALSE(test, mroce_txs_stuck(s));
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_FALSE(test, mroce_txs_stuck(s));
		mroce_txs_lost(s, FIRST + i);
		mroce_txs_resent(s, FIRST + i);
	}
	KUNIT_EXPECT_TRUE(test, mroce_txs_stuck(s));
	ok_record(s, FIRST + 1);
	KUNIT_EXPECT_FALSE(test, mroce_txs_stuck(s));
	for (i = 0; i < 2 * WINDOW; i++)
		mroce_txs_resent(s, FIRST + 1);
	KUNIT_EXPECT_EQ(test, s->rescues, WINDOW);
	KUNIT_EXPECT_TRUE(test, mroce_txs_stuck(s));
}

/* What is accepted, or was never sent, does not come back. */
static void events_outside_the_window_do_nothing(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 psn;

	mroce_txs_sent(s, 10, T0);
	ok_record(s, FIRST + 5);
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 4));
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 10));
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 4 + WINDOW));
	mroce_txs_refused(s, FIRST + 4);
	mroce_txs_refused(s, FIRST + 10);
	mroce_txs_resent(s, FIRST + 4 + WINDOW);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, s->n_rtx + s->n_deferred, 0);
	KUNIT_EXPECT_TRUE(test, mroce_txs_lost(s, FIRST + 5));
	KUNIT_EXPECT_TRUE(test, mroce_txs_lost(s, FIRST + 9));
	KUNIT_EXPECT_EQ(test, s->n_rtx, 2);
	mroce_txs_resent(s, FIRST + 5 + WINDOW);
	mroce_txs_resent(s, FIRST + 9 - WINDOW);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 2);
}

static void acceptance_clears_the_sets(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 i, psn;

	mroce_txs_sent(s, WINDOW, T0);
	for (i = 0; i < WINDOW; i++) {
		if (i % 3)
			mroce_txs_lost(s, FIRST + i);
		else
			mroce_txs_refused(s, FIRST + i);
	}
	busy_record(s, FIRST + 1000, FIRST + 1001);
	KUNIT_EXPECT_EQ(test, s->n_rtx, (WINDOW - 1000) - (WINDOW - 1000 + 1) / 3);
	KUNIT_EXPECT_EQ(test, s->n_deferred, (WINDOW - 1000 + 1) / 3);
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST + 1000);
	ok_record(s, FIRST + WINDOW);
	KUNIT_EXPECT_EQ(test, s->n_rtx + s->n_deferred, 0);
	for (i = 0; i < MROCE_STREAM_WORDS; i++)
		KUNIT_EXPECT_EQ(test, s->rtx[i] | s->deferred[i], 0);
}

static void older_records_are_ignored(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	struct mroce_rec rec = { .recno = 0xfffffffe, .cum_psn = FIRST + 2 };

	mroce_txs_sent(s, 20, T0);
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_ADVANCED);
	rec.cum_psn = FIRST + 3;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_STALE);
	rec.recno = 0xfffffffd;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_STALE);
	rec.syndrome = MROCE_SYN_ACCESS;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_STALE);
	KUNIT_EXPECT_EQ(test, s->una, FIRST + 2);
	rec.syndrome = MROCE_SYN_OK;
	rec.recno = 1;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_ADVANCED);
	KUNIT_EXPECT_EQ(test, s->una, FIRST + 3);
}

/* A record out of range is not taken in: its number does not count either. */
static void records_out_of_range_are_ignored(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	struct mroce_rec rec = { .recno = 100, .cum_psn = FIRST + 21 };

	mroce_txs_sent(s, 20, T0);
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_STALE);
	rec.cum_psn = FIRST - 1;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_STALE);
	rec.recno = 5;
	rec.cum_psn = FIRST + 20;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_ADVANCED);
	KUNIT_EXPECT_FALSE(test, mroce_txs_busy(s));
}

static void fatal_syndromes_have_their_turn(struct kunit *test)
{
	static const u8 syn[] = { MROCE_SYN_INV_REQ, MROCE_SYN_ACCESS, MROCE_SYN_OP_ERR, 200 };
	struct mroce_rec rec = { };
	u32 i;

	for (i = 0; i < 4; i++) {
		struct mroce_txs *s = stream_new(test, 14, 7, 7);

		mroce_txs_sent(s, 5, T0);
		rec.syndrome = syn[i];
		rec.recno = i;
		rec.cum_psn = FIRST + 3;
		KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0),
				MROCE_TXS_ADVANCED | MROCE_TXS_FATAL);
		KUNIT_EXPECT_EQ(test, s->una, FIRST + 3);
		/* Nothing is left that could fail. */
		rec.recno++;
		rec.cum_psn = FIRST + 5;
		KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_ADVANCED);
	}
}

/* The answer for a QPN that nobody has: there is no state behind it. */
static void no_qp_needs_no_state(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	struct mroce_rec rec = { .syndrome = MROCE_SYN_NO_QP, .cum_psn = FIRST + 1 };

	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_STALE);
	mroce_txs_sent(s, 5, T0);
	ok_record(s, FIRST);
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_FATAL);
	KUNIT_EXPECT_EQ(test, s->una, FIRST);
	rec.cum_psn = 12345;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_FATAL);
}

/* The last record of a QP that is gone: what it had accepted is accepted. */
static void gone_has_a_last_word(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	struct mroce_rec rec = { .syndrome = MROCE_SYN_GONE, .recno = 1000 };

	mroce_txs_sent(s, 5, T0);
	rec.cum_psn = FIRST + 3;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_ADVANCED | MROCE_TXS_FATAL);
	KUNIT_EXPECT_EQ(test, s->una, FIRST + 3);
	rec.recno++;
	rec.cum_psn = FIRST + 5;
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_ADVANCED);
	KUNIT_EXPECT_EQ(test, s->una, FIRST + 5);
}

/* Everything is accepted, but the peer still owes responses: it cannot just go. */
static void responses_owed_make_it_fatal(struct kunit *test)
{
	static const u8 syn[] = { MROCE_SYN_NO_QP, MROCE_SYN_GONE, MROCE_SYN_ACCESS };
	struct mroce_rec rec = { .cum_psn = FIRST + 5 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(syn); i++) {
		struct mroce_txs *s = stream_new(test, 14, 7, 7);

		mroce_txs_sent(s, 5, T0);
		KUNIT_EXPECT_TRUE(test, mroce_txs_engaged(s));
		ok_record(s, FIRST + 5);
		KUNIT_EXPECT_FALSE(test, mroce_txs_engaged(s));
		s->owed = true;
		KUNIT_EXPECT_TRUE(test, mroce_txs_engaged(s));
		KUNIT_EXPECT_FALSE(test, mroce_txs_busy(s));
		rec.syndrome = syn[i];
		rec.recno = s->recno + 1;
		KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0), MROCE_TXS_FATAL);
		s->owed = false;
		rec.recno++;
		KUNIT_EXPECT_FALSE(test, mroce_txs_record(s, &rec, T0) & MROCE_TXS_FATAL);
	}
}

/* A response, or a later request, tells what a record would have told. */
static void accepted_by_other_news(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 psn;

	mroce_txs_sent(s, 20, T0);
	mroce_txs_lost(s, FIRST + 3);
	mroce_txs_lost(s, FIRST + 12);
	mroce_txs_refused(s, FIRST + 4);
	mroce_txs_refused(s, FIRST + 13);
	KUNIT_EXPECT_FALSE(test, mroce_txs_accept(s, FIRST, T0));
	KUNIT_EXPECT_FALSE(test, mroce_txs_accept(s, FIRST - 1, T0));
	KUNIT_EXPECT_FALSE(test, mroce_txs_accept(s, FIRST + 21, T0));
	KUNIT_EXPECT_EQ(test, s->una, FIRST);
	KUNIT_EXPECT_TRUE(test, mroce_txs_accept(s, FIRST + 10, T0 + 5));
	KUNIT_EXPECT_EQ(test, s->una, FIRST + 10);
	KUNIT_EXPECT_EQ(test, s->progress_ns, T0 + 5);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 1);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 1);
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST + 12);
	/* The record itself comes late: no advance, and older ones not at all. */
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 10), 0);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 8), MROCE_TXS_STALE);
	KUNIT_EXPECT_FALSE(test, mroce_txs_accept(s, FIRST + 8, T0));
	KUNIT_EXPECT_TRUE(test, mroce_txs_accept(s, FIRST + 20, T0));
	KUNIT_EXPECT_FALSE(test, mroce_txs_busy(s));
	KUNIT_EXPECT_EQ(test, s->n_rtx + s->n_deferred, 0);
}

/* Acceptance by other news says nothing of a limit, unless nothing is out any more. */
static void other_news_keep_the_limit(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 1);

	mroce_txs_sent(s, 20, T0);
	rnr_record(s, FIRST, FIRST + 15, 1, T0);
	KUNIT_EXPECT_TRUE(test, s->rnr_wait);
	KUNIT_EXPECT_EQ(test, s->rnr_left, 0);
	KUNIT_EXPECT_TRUE(test, mroce_txs_accept(s, FIRST + 1, T0));
	KUNIT_EXPECT_FALSE(test, s->rnr_wait);
	KUNIT_EXPECT_EQ(test, s->rnr_left, 1);
	KUNIT_EXPECT_TRUE(test, s->limited);
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 15));
	KUNIT_EXPECT_TRUE(test, mroce_txs_lost(s, FIRST + 14));
	/* No record may ever come of a stream on which nothing is out. */
	KUNIT_EXPECT_TRUE(test, mroce_txs_accept(s, FIRST + 20, T0));
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW);
}

static void dropped_stream_starts_anew(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 psn, i;
	u64 next;

	mroce_txs_sent(s, 20, T0);
	rnr_record(s, FIRST + 2, FIRST + 5, 1, T0);
	mroce_txs_lost(s, FIRST + 3);
	mroce_txs_refused(s, FIRST + 6);
	mroce_txs_drop(s, FIRST + 25);
	KUNIT_EXPECT_FALSE(test, mroce_txs_engaged(s));
	KUNIT_EXPECT_EQ(test, s->nxt, FIRST + 25);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW);
	KUNIT_EXPECT_EQ(test, s->n_rtx + s->n_deferred, 0);
	for (i = 0; i < MROCE_STREAM_WORDS; i++)
		KUNIT_EXPECT_EQ(test, s->rtx[i] | s->deferred[i], 0);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, T0 + 1, RTO, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, U64_MAX);
	/* What was dropped is of no interest to anybody. */
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 8));
	mroce_txs_refused(s, FIRST + 9);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 20), MROCE_TXS_STALE);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	mroce_txs_sent(s, 1, T0);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 26), MROCE_TXS_ADVANCED);
}

static void limit_holds_back(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 psn;

	mroce_txs_sent(s, 30, T0);
	busy_record(s, FIRST + 10, FIRST + 20);
	for (psn = FIRST + 20; psn != FIRST + 30; psn++)
		mroce_txs_refused(s, psn);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	/* Lost ones below the limit go, above it not. */
	KUNIT_EXPECT_TRUE(test, mroce_txs_lost(s, FIRST + 15));
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST + 15);
	mroce_txs_resent(s, psn);
	/* A limit that has grown lets as many go. */
	KUNIT_EXPECT_EQ(test, busy_record(s, FIRST + 11, FIRST + 25),
			MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 5);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 5);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
	/* The end of the refusal lets all go, and new ones. */
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 11), MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 10);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 0);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW - 19);
}

/* New psns stay below a limit ahead of them; the lost above it wait. */
static void limit_ahead_leaves_room(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u32 psn;

	mroce_txs_sent(s, 30, T0);
	busy_record(s, FIRST + 10, FIRST + 40);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 10);
	busy_record(s, FIRST + 10, FIRST + 20);
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 20));
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	/* Whatever the limit, the oldest psn may always be tried. */
	busy_record(s, FIRST + 20, FIRST + 20);
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST + 20);
	busy_record(s, FIRST + 20, FIRST - 100);
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	/* A limit behind una is una. */
	for (psn = FIRST + 21; psn != FIRST + 25; psn++)
		mroce_txs_refused(s, psn);
	busy_record(s, FIRST + 21, FIRST - 100);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 1);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 3);
}

/* Everything sent is accepted, so a limit cannot stop the stream for good. */
static void idle_stream_is_never_limited(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);

	mroce_txs_sent(s, 30, T0);
	busy_record(s, FIRST + 10, FIRST + 30);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
	KUNIT_EXPECT_EQ(test, busy_record(s, FIRST + 30, FIRST + 30),
			MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), WINDOW);
}

/* Cum reaches the refused psn: its turn, it goes again without waiting. */
static void refused_psn_goes_in_its_turn(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 3);
	u32 psn;

	mroce_txs_sent(s, 10, T0);
	mroce_txs_refused(s, FIRST + 5);
	mroce_txs_refused(s, FIRST + 6);
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST + 4, FIRST + 5, 0, T0), MROCE_TXS_ADVANCED);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST + 5, FIRST + 5, 0, T0),
			MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST + 5);
	mroce_txs_resent(s, psn);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, s->n_deferred, 1);
	KUNIT_EXPECT_EQ(test, s->rnr_left, 3);
}

/* A copy lost and a copy refused: deferred wins, in either order. */
static void refused_outweighs_lost(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);

	mroce_txs_sent(s, 10, T0);
	mroce_txs_lost(s, FIRST + 2);
	mroce_txs_refused(s, FIRST + 2);
	mroce_txs_refused(s, FIRST + 3);
	mroce_txs_refused(s, FIRST + 3);
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 3));
	KUNIT_EXPECT_EQ(test, s->n_rtx, 0);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 2);
	/* Without a limit known, new ones would only be refused too. */
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST), 0);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 2);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 1), MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 2);
}

static void rnr_waits_and_counts_once(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 3);
	u32 psn;

	mroce_txs_sent(s, 10, T0);
	mroce_txs_refused(s, FIRST);
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST, FIRST, 1, T0), MROCE_TXS_RNR);
	KUNIT_EXPECT_EQ(test, s->rnr_until, T0 + mroce_rnr_timer_ns(RNR_CODE));
	KUNIT_EXPECT_EQ(test, s->rnr_left, 2);
	/* Repeated, and a late second copy refused in the same wait */
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST, FIRST, 1, T0 + 5), 0);
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST, FIRST, 2, T0 + 5), 0);
	KUNIT_EXPECT_EQ(test, s->rnr_until, T0 + mroce_rnr_timer_ns(RNR_CODE));
	KUNIT_EXPECT_EQ(test, s->rnr_left, 2);
	/* Nothing goes in the wait, whatever is lost and whatever the peer says. */
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 1));
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST), 0);
	KUNIT_EXPECT_FALSE(test, mroce_txs_lost(s, FIRST + 1));
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
}

static void rnr_retries_end(struct kunit *test)
{
	u32 retries, i;
	u64 next;

	for (retries = 0; retries < 7; retries++) {
		struct mroce_txs *s = stream_new(test, 14, 7, retries);

		mroce_txs_sent(s, 1, T0);
		for (i = 1; i <= retries; i++) {
			KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST, FIRST, i, T0), MROCE_TXS_RNR);
			KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, s->rnr_until, RTO, &next),
					MROCE_TXS_GO);
		}
		KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST, FIRST, i, T0), MROCE_TXS_RNR_EXCEEDED);
	}
}

static void rnr_retries_seven_is_for_ever(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 1, 0, 7);
	u64 next, now = T0;
	u32 i, psn;

	mroce_txs_sent(s, 1, T0);
	for (i = 1; i < 70000; i++) {	/* the count wraps */
		mroce_txs_refused(s, FIRST);
		KUNIT_ASSERT_EQ(test, rnr_record(s, FIRST, FIRST, i, now), MROCE_TXS_RNR);
		now = s->rnr_until;
		KUNIT_ASSERT_EQ(test, mroce_txs_timer(s, now, RTO, &next), MROCE_TXS_GO);
		KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
		mroce_txs_resent(s, psn);
	}
}

static void acceptance_refills_the_rnr_retries(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 1);
	u32 psn;

	mroce_txs_sent(s, 3, T0);
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST, FIRST, 1, T0), MROCE_TXS_RNR);
	KUNIT_EXPECT_EQ(test, s->rnr_left, 0);
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST + 1, FIRST + 1, 2, T0 + 10),
			MROCE_TXS_ADVANCED | MROCE_TXS_RNR);
	KUNIT_EXPECT_EQ(test, s->rnr_until, T0 + 10 + mroce_rnr_timer_ns(RNR_CODE));
	/* Acceptance ends a wait at once. */
	mroce_txs_lost(s, FIRST + 2);
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 2), MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	/* Counted in a record that said OK: seen, burns nothing. */
	peer_record(s, MROCE_SYN_OK, FIRST + 2, FIRST + 2 + WINDOW, 3, T0);
	KUNIT_EXPECT_EQ(test, rnr_record(s, FIRST + 2, FIRST + 2, 3, T0), 0);
	KUNIT_EXPECT_EQ(test, s->rnr_left, 1);
}

/* A peer that is busy costs no RNR retry. */
static void busy_burns_nothing(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 0);
	u32 i;

	mroce_txs_sent(s, 3, T0);
	for (i = 0; i < 100; i++) {
		mroce_txs_refused(s, FIRST);
		KUNIT_EXPECT_EQ(test, busy_record(s, FIRST, FIRST), 0);
	}
	KUNIT_EXPECT_EQ(test, peer_record(s, MROCE_SYN_BUSY, FIRST, FIRST, 5, T0), 0);
	KUNIT_EXPECT_FALSE(test, s->rnr_wait);
}

static void rnr_timer_table(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(0), 655360000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(1), 10000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(2), 20000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(5), 60000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(12), 640000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(14), 1280000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(24), 40960000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(30), 327680000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(31), 491520000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(32), 655360000);
	KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(255), 491520000);
}

/* From code 4 on every second one doubles, and the ones between are half-way. */
static void rnr_timer_grows_evenly(struct kunit *test)
{
	u8 code;

	for (code = 4; code < 30; code++)
		KUNIT_EXPECT_EQ(test, mroce_rnr_timer_ns(code + 2), 2 * mroce_rnr_timer_ns(code));
}

static void timeout_codes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_timeout_ns(0), 0);
	KUNIT_EXPECT_EQ(test, mroce_timeout_ns(1), 8192);
	KUNIT_EXPECT_EQ(test, mroce_timeout_ns(14), 67108864);
	KUNIT_EXPECT_EQ(test, mroce_timeout_ns(20), 4294967296ull);
	KUNIT_EXPECT_EQ(test, mroce_timeout_ns(31), 4096ull << 31);
	KUNIT_EXPECT_EQ(test, mroce_timeout_ns(32), 0);
}

static struct kunit_case txs_cases[] = {
	KUNIT_CASE(starts_empty),
	KUNIT_CASE(window_bounds_what_is_numbered),
	KUNIT_CASE(lost_packets_go_again_lowest_first),
	KUNIT_CASE(events_outside_the_window_do_nothing),
	KUNIT_CASE(acceptance_clears_the_sets),
	KUNIT_CASE(older_records_are_ignored),
	KUNIT_CASE(records_out_of_range_are_ignored),
	KUNIT_CASE(fatal_syndromes_have_their_turn),
	KUNIT_CASE(no_qp_needs_no_state),
	KUNIT_CASE(gone_has_a_last_word),
	KUNIT_CASE(responses_owed_make_it_fatal),
	KUNIT_CASE(accepted_by_other_news),
	KUNIT_CASE(other_news_keep_the_limit),
	KUNIT_CASE(dropped_stream_starts_anew),
	KUNIT_CASE(limit_holds_back),
	KUNIT_CASE(limit_ahead_leaves_room),
	KUNIT_CASE(idle_stream_is_never_limited),
	KUNIT_CASE(refused_psn_goes_in_its_turn),
	KUNIT_CASE(refused_outweighs_lost),
	KUNIT_CASE(rnr_waits_and_counts_once),
	KUNIT_CASE(rnr_retries_end),
	KUNIT_CASE(rnr_retries_seven_is_for_ever),
	KUNIT_CASE(acceptance_refills_the_rnr_retries),
	KUNIT_CASE(busy_burns_nothing),
	KUNIT_CASE(sent_again_in_vain),
	KUNIT_CASE(rnr_timer_table),
	KUNIT_CASE(rnr_timer_grows_evenly),
	KUNIT_CASE(timeout_codes),
	{}
};

static struct kunit_suite txs_suite = {
	.name = "mroce_txs",
	.test_cases = txs_cases,
};

kunit_test_suite(txs_suite);
