// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of a sending stream: questions, tries of refused packets, RNR
 * waits, and the end of the verbs' patience; each at its exact time.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "txs.h"
#include "txs_stream.h"

#define MS		1000000ull
#define BACKOFF_MAX	MROCE_TXS_BACKOFF_MAX_NS

/*
 * Runs the timer as its next_ns says until something else than ASK is due.
 * Return: that, with the time in @now. Fails on a next_ns that is not ahead.
 */
static enum mroce_txs_action run(struct kunit *test, struct mroce_txs *s, u64 rto, u64 *now)
{
	enum mroce_txs_action act;
	u64 next;
	u32 n;

	for (n = 0; n < 1000; n++) {
		act = mroce_txs_timer(s, *now, rto, &next);
		KUNIT_EXPECT_GT(test, next, *now);
		if (act > MROCE_TXS_ASK || next == U64_MAX)
			return act;
		*now = next;
	}
	return MROCE_TXS_IDLE;
}

static void idle_stream_needs_no_timer(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u64 next;

	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, T0, RTO, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, U64_MAX);
	mroce_txs_sent(s, 3, T0);
	ok_record(s, FIRST + 3);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, T0 + 1000000 * MS, RTO, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, U64_MAX);
}

static void asks_after_one_round_trip_then_doubling(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 20, 7, 7);
	u64 next, at = T0 + RTO, gap = RTO;
	u32 i;

	mroce_txs_sent(s, 3, T0);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, T0, RTO, &next), MROCE_TXS_IDLE);
	for (i = 0; i < 12; i++) {
		KUNIT_EXPECT_EQ(test, next, at);
		KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, at - 1, RTO, &next), MROCE_TXS_IDLE);
		KUNIT_EXPECT_EQ(test, next, at);
		KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, at, RTO, &next), MROCE_TXS_ASK);
		gap = min_t(u64, 2 * gap, BACKOFF_MAX);
		at += gap;
	}
	/* A round trip above the ceiling is respected. */
	at = s->ask_ns;
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, at, 3 * BACKOFF_MAX, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, at + 3 * BACKOFF_MAX);
}

/*
 * A peer that answers every question, but never with progress: a packet has been
 * forgotten somewhere, and only we can send it again.
 */
static void answers_without_progress_send_una_again(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 20, 7, 7);
	u64 next, now = T0;
	u32 asks = 0, psn;

	mroce_txs_sent(s, 3, T0);
	mroce_txs_timer(s, now, RTO, &next);
	while (asks < 20 && !mroce_txs_next_rtx(s, &psn)) {
		now = next;
		asks += mroce_txs_timer(s, now, RTO, &next) == MROCE_TXS_ASK;
		ok_record(s, FIRST);
		mroce_txs_heard(s, now);
	}
	KUNIT_EXPECT_EQ(test, asks, (u32)MROCE_TXS_ASK_TRUST + 1);
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST);
}

/* All of it accepted at T0, and a response awaited */
static struct mroce_txs *owed_stream(struct kunit *test, u8 timeout, u8 retry_cnt)
{
	struct mroce_txs *s = stream_new(test, timeout, retry_cnt, 7);

	mroce_txs_sent(s, 3, T0);
	s->owed = true;
	ok_record(s, FIRST + 3);
	return s;
}

static void owed_responses_are_asked_for(struct kunit *test)
{
	struct mroce_txs *s = owed_stream(test, 20, 7);
	u64 next, at = T0 + RTO, gap = RTO;
	u32 i, psn;

	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, T0, RTO, &next), MROCE_TXS_IDLE);
	for (i = 0; i < 12; i++) {
		KUNIT_EXPECT_EQ(test, next, at);
		/* The peer is heard, with nothing new. */
		mroce_txs_heard(s, at - 1);
		KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, at - 1, RTO, &next), MROCE_TXS_IDLE);
		KUNIT_EXPECT_EQ(test, next, at);
		KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, at, RTO, &next), MROCE_TXS_ASK);
		gap = min_t(u64, 2 * gap, BACKOFF_MAX);
		at += gap;
	}
	/* Nothing of ours is missing: whoever owes the responses repeats them. */
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, s->n_rtx, 0);
	s->owed = false;
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, at + 1, RTO, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, U64_MAX);
}

static void silent_debtor_exhausts_the_retries(struct kunit *test)
{
	struct mroce_txs *s = owed_stream(test, 14, 2);
	u64 now = T0, period = mroce_timeout_ns(14);
	u32 i;

	for (i = 1; i <= 2; i++) {
		KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
		KUNIT_EXPECT_EQ(test, now, T0 + i * period);
		KUNIT_EXPECT_EQ(test, s->n_rtx + s->n_deferred, 0);
	}
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
	KUNIT_EXPECT_EQ(test, now, T0 + 3 * period);
}

/* A response of many packets: every one is a sign of life, and progress. */
static void each_response_packet_is_progress(struct kunit *test)
{
	struct mroce_txs *s = owed_stream(test, 14, 0);
	u64 next, now = T0, period = mroce_timeout_ns(14);
	u32 i;

	for (i = 0; i < 100; i++) {
		now += period - 1;
		KUNIT_ASSERT_NE(test, mroce_txs_timer(s, now, RTO, &next), MROCE_TXS_EXCEEDED);
		mroce_txs_progress(s, now);
		KUNIT_ASSERT_EQ(test, mroce_txs_timer(s, now, RTO, &next), MROCE_TXS_IDLE);
		KUNIT_ASSERT_EQ(test, next, now + RTO);
	}
	/* Heard alone is not progress: that ends, later. */
	for (next = now; next < now + 20 * period; next += period / 2) {
		u64 unused;

		mroce_txs_heard(s, next);
		if (mroce_txs_timer(s, next, RTO, &unused) == MROCE_TXS_EXCEEDED)
			break;
	}
	KUNIT_EXPECT_EQ(test, next, now + MROCE_TXS_ALIVE_BUDGETS * period);
}

/* More requests do not excuse the responses that are missing. */
static void more_requests_are_no_progress(struct kunit *test)
{
	struct mroce_txs *s = owed_stream(test, 14, 0);
	u64 now = T0;

	mroce_txs_sent(s, 1, T0 + 10 * RTO);
	KUNIT_EXPECT_EQ(test, s->progress_ns, T0);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
	KUNIT_EXPECT_EQ(test, now, T0 + mroce_timeout_ns(14));
}

static void progress_resets_the_questions(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 20, 7, 7);
	u64 next, now = T0;
	u32 i;

	mroce_txs_sent(s, 3, T0);
	for (i = 0; i < 5; i++) {
		mroce_txs_timer(s, now, RTO, &next);
		now = next;
	}
	peer_record(s, MROCE_SYN_OK, FIRST + 1, FIRST + 1 + WINDOW, 0, now);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, now, RTO, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, now + RTO);
	/* More packets on a busy stream are no progress. */
	mroce_txs_sent(s, 1, now + RTO / 2);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, now + RTO, RTO, &next), MROCE_TXS_ASK);
}

/* retry_cnt + 1 silent periods of the verbs timeout: una goes again, then the end. */
static void silent_peer_exhausts_the_retries(struct kunit *test)
{
	const u64 period = mroce_timeout_ns(14);
	u32 retries, i, psn;

	for (retries = 0; retries <= 7; retries++) {
		struct mroce_txs *s = stream_new(test, 14, retries, 7);
		u64 now = T0;

		mroce_txs_sent(s, 3, T0);
		for (i = 1; i <= retries; i++) {
			KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
			KUNIT_EXPECT_EQ(test, now, T0 + i * period);
			KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
			KUNIT_EXPECT_EQ(test, psn, FIRST);
			mroce_txs_resent(s, psn);
		}
		KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
		KUNIT_EXPECT_EQ(test, now, T0 + i * period);
		KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
	}
}

static void acceptance_refills_the_retries(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 1, 7);
	u64 now = T0;

	mroce_txs_sent(s, 3, T0);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	now += 5 * MS;
	peer_record(s, MROCE_SYN_OK, FIRST + 1, FIRST + 1 + WINDOW, 0, now);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	KUNIT_EXPECT_EQ(test, now, s->progress_ns + mroce_timeout_ns(14));
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
}

/* A refused una is resent on a verbs timeout too. */
static void resend_takes_una_out_of_the_deferred(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 1, 7, 7);
	u64 next;
	u32 psn;

	mroce_txs_sent(s, 3, T0);
	busy_record(s, FIRST, FIRST);
	mroce_txs_refused(s, FIRST);
	mroce_txs_refused(s, FIRST + 1);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, T0 + 4 * RTO, RTO, &next), MROCE_TXS_RESEND);
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 1);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 1);
}

/* A stream does not fail by being faster than the network. */
static void short_timeout_is_stretched(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 1, 1, 7);
	u64 now = T0;

	mroce_txs_sent(s, 3, T0);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	KUNIT_EXPECT_EQ(test, now, T0 + 4 * RTO);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
	KUNIT_EXPECT_EQ(test, now, T0 + 8 * RTO);
}

static void timeout_zero_never_ends(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 0, 0, 7);
	u64 now = T0;
	u32 i, psn;

	mroce_txs_sent(s, 3, T0);
	for (i = 1; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
		KUNIT_ASSERT_EQ(test, now, T0 + i * 1000 * MS);
		KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
		mroce_txs_resent(s, psn);
		if (i % 2)
			mroce_txs_heard(s, now);
	}
}

/* Heard, but nothing accepted: eight times the patience of silence, not more. */
static void arrival_without_acceptance_ends(struct kunit *test)
{
	const u64 period = mroce_timeout_ns(14);
	struct mroce_txs *s = stream_new(test, 14, 2, 7);
	u64 next, now;
	enum mroce_txs_action act = MROCE_TXS_IDLE;

	mroce_txs_sent(s, 3, T0);
	for (now = T0; act != MROCE_TXS_EXCEEDED; now += 5 * MS) {
		KUNIT_ASSERT_LT(test, now, T0 + 100 * period);
		act = mroce_txs_timer(s, now, RTO, &next);
		KUNIT_ASSERT_NE(test, act, MROCE_TXS_RESEND);
		mroce_txs_heard(s, now);
	}
	KUNIT_EXPECT_GE(test, now - 5 * MS, T0 + 8 * 3 * period);
	KUNIT_EXPECT_LT(test, now - 5 * MS, T0 + 8 * 3 * period + 5 * MS);
}

/* The same old news again and again does not keep a dead peer alive. */
static void old_news_is_no_sign_of_life(struct kunit *test)
{
	const u64 period = mroce_timeout_ns(14);
	struct mroce_txs *s = stream_new(test, 14, 1, 7);
	u64 now = T0;

	mroce_txs_sent(s, 3, T0);
	mroce_txs_heard(s, T0 + MS);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	KUNIT_EXPECT_EQ(test, now, T0 + MS + period);
	mroce_txs_heard(s, T0 + MS);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
	KUNIT_EXPECT_EQ(test, now, T0 + MS + 2 * period);
}

/* Records are signs of life like acknowledged packets. */
static void heard_begins_a_new_silent_period(struct kunit *test)
{
	const u64 period = mroce_timeout_ns(14);
	struct mroce_txs *s = stream_new(test, 14, 1, 7);
	u64 now = T0;

	mroce_txs_sent(s, 3, T0);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	mroce_txs_heard(s, now + 3 * MS);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	KUNIT_EXPECT_EQ(test, now, T0 + 2 * period + 3 * MS);
	peer_record(s, MROCE_SYN_OK, FIRST, FIRST + WINDOW, 0, now + 7 * MS);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_RESEND);
	KUNIT_EXPECT_EQ(test, now, T0 + 3 * period + 10 * MS);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
}

/* A record that is not taken in says nothing about the peer's life. */
static void stale_record_is_no_sign_of_life(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 0, 7);
	struct mroce_rec rec = { .recno = 9, .cum_psn = FIRST };
	u64 now = T0;

	mroce_txs_sent(s, 3, T0);
	mroce_txs_record(s, &rec, T0);
	KUNIT_EXPECT_EQ(test, mroce_txs_record(s, &rec, T0 + 9 * MS), MROCE_TXS_STALE);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_EXCEEDED);
	KUNIT_EXPECT_EQ(test, now, T0 + mroce_timeout_ns(14));
}

static void rnr_wait_is_by_timer_only(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 1, 0, 7);
	u64 next, until;
	u32 psn;

	mroce_txs_sent(s, 100, T0);
	for (psn = FIRST; psn != FIRST + 100; psn++)
		mroce_txs_refused(s, psn);
	rnr_record(s, FIRST, FIRST, 1, T0);
	until = s->rnr_until;
	/* The verbs timeout does not run: it would have been over long ago. */
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, until - 1000, 10000, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, until);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, until - 1, 10000, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, until, 10000, &next), MROCE_TXS_GO);
	KUNIT_EXPECT_EQ(test, s->progress_ns, until);
	/* A bounded number goes to see, from una on. */
	KUNIT_EXPECT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST);
	KUNIT_EXPECT_EQ(test, s->n_rtx, MROCE_TXS_GO_PKTS);
	KUNIT_EXPECT_EQ(test, s->n_deferred, 100 - MROCE_TXS_GO_PKTS);
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), 0);
	/* All clocks begin again with the try. */
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, until + 1, 10000, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_GE(test, next, until + 10000);
	KUNIT_EXPECT_EQ(test, s->n_rtx, MROCE_TXS_GO_PKTS);
	/* Accepted: the rest follows. */
	KUNIT_EXPECT_EQ(test, ok_record(s, FIRST + 1), MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, s->n_rtx, 99);
}

/* The record came, the path level's word of the refusal not yet. */
static void rnr_wait_over_una_goes_whatever_is_known(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 14, 7, 7);
	u64 next;
	u32 psn;

	mroce_txs_sent(s, 2, T0);
	rnr_record(s, FIRST, FIRST, 1, T0);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, s->rnr_until, RTO, &next), MROCE_TXS_GO);
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST);
	/* New ones may follow, a few. */
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), MROCE_TXS_GO_PKTS - 2);
}

/* Refused without a record (QP not ready), or busy: tried again with back-off. */
static void refused_without_wait_is_tried(struct kunit *test)
{
	u32 with_record;

	for (with_record = 0; with_record < 2; with_record++) {
		struct mroce_txs *s = stream_new(test, 20, 7, 0);
		u64 now = T0, gap = RTO;
		u32 i, psn;

		mroce_txs_sent(s, 3, T0);
		for (i = 0; i < 12; i++) {
			mroce_txs_refused(s, FIRST);
			mroce_txs_refused(s, FIRST + 2);
			if (with_record)
				peer_record(s, MROCE_SYN_BUSY, FIRST, FIRST, 0, now);
			KUNIT_EXPECT_FALSE(test, mroce_txs_next_rtx(s, &psn));
			KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_GO);
			KUNIT_EXPECT_EQ(test, now, T0 + gap);
			gap += min_t(u64, RTO << (i + 1), BACKOFF_MAX);
			for (psn = 0; mroce_txs_next_rtx(s, &psn);)
				mroce_txs_resent(s, psn);
			KUNIT_EXPECT_EQ(test, psn, FIRST + 2);
		}
		KUNIT_EXPECT_EQ(test, s->n_rtx + s->n_deferred, 0);
	}
}

/* The clock of a refusal is its own, however long the peer has been asked. */
static void late_refusal_is_tried_after_one_round_trip(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 20, 7, 7);
	u64 next, now = T0 + 40 * RTO;

	mroce_txs_sent(s, 3, T0);
	s->ask_shift = 6;
	s->ask_ns = now;
	mroce_txs_refused(s, FIRST);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, now, RTO, &next), MROCE_TXS_IDLE);
	KUNIT_EXPECT_EQ(test, next, now + RTO);
	KUNIT_EXPECT_EQ(test, mroce_txs_timer(s, next, RTO, &next), MROCE_TXS_GO);
	/* Nothing is known of the peer: a few new ones may follow, not a window full. */
	KUNIT_EXPECT_EQ(test, mroce_txs_room(s), MROCE_TXS_GO_PKTS - 3);
}

static void tries_are_bounded_and_lowest_first(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 20, 7, 7);
	u64 due, now = T0;
	u32 psn;

	mroce_txs_sent(s, 2000, T0);
	for (psn = FIRST + 1000; psn != FIRST + 2000; psn++)
		mroce_txs_refused(s, psn);
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_GO);
	KUNIT_EXPECT_EQ(test, s->n_rtx, MROCE_TXS_GO_PKTS);
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(s, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST + 1000);
	while (mroce_txs_next_rtx(s, &psn))
		mroce_txs_resent(s, psn);
	KUNIT_EXPECT_EQ(test, psn, FIRST + 1000 + MROCE_TXS_GO_PKTS - 1);
	/* Progress: the next refusal is tried after one round trip again. */
	peer_record(s, MROCE_SYN_BUSY, FIRST + 1, FIRST + 1001, 0, now);
	KUNIT_EXPECT_EQ(test, s->go_shift, 0);
	due = now + RTO;
	KUNIT_EXPECT_EQ(test, run(test, s, RTO, &now), MROCE_TXS_GO);
	KUNIT_EXPECT_EQ(test, now, due);
}

/* Without any answer the timer runs a bounded number of times, whatever the estimate. */
static void timer_never_spins(struct kunit *test)
{
	static const u64 rto[] = { 0, 1, 10000, RTO, 1000 * MS };
	enum mroce_txs_action act;
	u32 i, n, psn;
	u64 next;

	for (i = 0; i < 5; i++) {
		struct mroce_txs *s = stream_new(test, 0, 7, 7);
		u64 now = T0;

		mroce_txs_sent(s, 100, T0);
		for (n = 0; now < T0 + 10000 * MS; n++, now = next) {
			act = mroce_txs_timer(s, now, rto[i], &next);
			KUNIT_ASSERT_GT(test, next, now);
			KUNIT_ASSERT_LT(test, n, 300);
			KUNIT_ASSERT_NE(test, act, MROCE_TXS_EXCEEDED);
			if (act == MROCE_TXS_GO)
				mroce_txs_resent(s, FIRST);
			else if (mroce_txs_next_rtx(s, &psn))
				mroce_txs_refused(s, psn);
		}
		KUNIT_EXPECT_GT(test, n, 4);
	}
}

/* Called late or early, at any time: what is due comes, and next_ns is ahead. */
static void any_calling_time_will_do(struct kunit *test)
{
	struct mroce_txs *s = stream_new(test, 8, 7, 7);
	u64 next, now = T0;
	struct rnd r;
	u32 i;

	rnd_seed(&r, 7);
	mroce_txs_sent(s, 300, T0);
	for (i = 0; i < 20000; i++) {
		now += rnd_below(&r, 1 << rnd_below(&r, 28));
		if (!rnd_below(&r, 3))
			mroce_txs_refused(s, FIRST + rnd_below(&r, 300));
		if (!rnd_below(&r, 3))
			mroce_txs_lost(s, FIRST + rnd_below(&r, 300));
		if (!rnd_below(&r, 9))
			peer_record(s, MROCE_SYN_OK + rnd_below(&r, 3), FIRST,
				    FIRST + rnd_below(&r, 300), rnd_u32(&r), now);
		if (mroce_txs_timer(s, now, rnd_below(&r, RTO), &next) == MROCE_TXS_EXCEEDED) {
			KUNIT_ASSERT_EQ(test, next, U64_MAX);
			s->progress_ns = now;
		}
		KUNIT_ASSERT_GT(test, next, now);
		KUNIT_ASSERT_LE(test, s->n_rtx + s->n_deferred, 300);
	}
}

static struct kunit_case txs_timer_cases[] = {
	KUNIT_CASE(idle_stream_needs_no_timer),
	KUNIT_CASE(asks_after_one_round_trip_then_doubling),
	KUNIT_CASE(answers_without_progress_send_una_again),
	KUNIT_CASE(owed_responses_are_asked_for),
	KUNIT_CASE(silent_debtor_exhausts_the_retries),
	KUNIT_CASE(each_response_packet_is_progress),
	KUNIT_CASE(more_requests_are_no_progress),
	KUNIT_CASE(progress_resets_the_questions),
	KUNIT_CASE(silent_peer_exhausts_the_retries),
	KUNIT_CASE(acceptance_refills_the_retries),
	KUNIT_CASE(resend_takes_una_out_of_the_deferred),
	KUNIT_CASE(short_timeout_is_stretched),
	KUNIT_CASE(timeout_zero_never_ends),
	KUNIT_CASE(arrival_without_acceptance_ends),
	KUNIT_CASE(old_news_is_no_sign_of_life),
	KUNIT_CASE(heard_begins_a_new_silent_period),
	KUNIT_CASE(stale_record_is_no_sign_of_life),
	KUNIT_CASE(rnr_wait_is_by_timer_only),
	KUNIT_CASE(rnr_wait_over_una_goes_whatever_is_known),
	KUNIT_CASE(refused_without_wait_is_tried),
	KUNIT_CASE(late_refusal_is_tried_after_one_round_trip),
	KUNIT_CASE(tries_are_bounded_and_lowest_first),
	KUNIT_CASE(timer_never_spins),
	KUNIT_CASE(any_calling_time_will_do),
	{}
};

static struct kunit_suite txs_timer_suite = {
	.name = "mroce_txs_timer",
	.test_cases = txs_timer_cases,
};

kunit_test_suite(txs_timer_suite);
