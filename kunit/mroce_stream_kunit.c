// SPDX-License-Identifier: GPL-2.0
/*
 * Both ends of one stream (txs, rxs) over a network of their own: packets are
 * lost, refused for want of receives, refused for being too far ahead, or for
 * no reason that a record would tell; records are lost and overtake each other.
 * The path level is taken for granted: it reports every lost and every refused
 * transmission once, in the end.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "rxs.h"
#include "txs.h"

#define US		1000ull
#define RTT		(100 * US)
#define STEP		(5 * US)
#define RTO		(2 * RTT)
#define N_PSNS		6000
#define N_FLIGHT	512
#define MSG_MAX		50
#define FIRST		0xffffff00u
#define PER_STEP	6	/* packets the sender may send in one step */

enum kind { NONE, DATA, ECHO_LOST, ECHO_REFUSED, RECORD };

struct flight {
	enum kind what;
	u32 psn;
	u64 at;
	struct mroce_rec rec;
};

/* What goes wrong how often, of a million, and the receiver's habits */
struct weather {
	u32 loss_ppm;
	u32 rec_loss_ppm;
	u32 whim_ppm;		/* refused without a word to the stream level */
	u32 hold_psns;		/* accepted that far ahead of cum */
	u32 post_ppm;		/* a receive is posted in this step */
	u8 rnr_retry;
};

struct stream {
	struct mroce_txs tx;
	struct mroce_rxs rx;
	struct mroce_rxs_bits bits;
	const struct weather *w;
	struct rnd rnd;
	u64 now;
	u64 timer_ns;
	u32 msg_psn[N_PSNS];	/* of the message that psn FIRST + i belongs to */
	u32 msg_no[N_PSNS];
	u8 placed[N_PSNS];
	u32 posted;		/* receives: message numbers below it have one */
	u32 sends;
	u32 timeouts;
	bool failed;
	struct flight flight[N_FLIGHT];
};

static void fly(struct stream *st, enum kind what, u32 psn, const struct mroce_rec *rec)
{
	struct flight *f = st->flight;

	while (f->what != NONE) {
		if (++f == st->flight + N_FLIGHT)
			return;
	}
	f->what = what;
	f->psn = psn;
	f->at = st->now + RTT / 2 + rnd_below(&st->rnd, RTT / 4);
	if (rec)
		f->rec = *rec;
}

static void send_record(struct stream *st)
{
	struct mroce_rec rec = {};

	mroce_rxs_record(&st->rx, &rec);
	if (!rnd_ppm(&st->rnd, st->w->rec_loss_ppm))
		fly(st, RECORD, 0, &rec);
}

/* The receiver's choice, as the driver would make it */
static void arrive(struct stream *st, u32 psn)
{
	u32 i = psn - FIRST;

	if (mroce_rxs_classify(&st->rx, psn) != MROCE_RXS_NEW) {
		send_record(st);
		return;
	}
	if (rnd_ppm(&st->rnd, st->w->whim_ppm)) {
		fly(st, ECHO_REFUSED, psn, NULL);
		return;
	}
	if (st->msg_no[i] >= st->posted) {
		mroce_rxs_refuse(&st->rx, psn, st->msg_psn[i], MROCE_SYN_RNR, 5);
		fly(st, ECHO_REFUSED, psn, NULL);
	} else if (psn - st->rx.cum >= st->w->hold_psns) {
		mroce_rxs_refuse(&st->rx, psn, st->msg_psn[i], MROCE_SYN_BUSY, 0);
		fly(st, ECHO_REFUSED, psn, NULL);
	} else {
		mroce_rxs_claim(&st->rx, psn);
		st->placed[i]++;
		mroce_rxs_commit(&st->rx, psn);
	}
	send_record(st);
}

static void land(struct stream *st, const struct flight *f)
{
	u32 fatal = MROCE_TXS_FATAL | MROCE_TXS_RNR_EXCEEDED;

	switch (f->what) {
	case DATA:
		if (rnd_ppm(&st->rnd, st->w->loss_ppm))
			fly(st, ECHO_LOST, f->psn, NULL);
		else
			arrive(st, f->psn);
		break;
	case ECHO_LOST:
		mroce_txs_lost(&st->tx, f->psn);
		break;
	case ECHO_REFUSED:
		mroce_txs_refused(&st->tx, f->psn);
		st->timer_ns = st->now;
		break;
	case RECORD:
		st->failed |= mroce_txs_record(&st->tx, &f->rec, st->now) & fatal;
		st->timer_ns = st->now;
		break;
	case NONE:
		break;
	}
}

static void send_some(struct stream *st)
{
	u32 i, psn;

	for (i = 0; i < PER_STEP; i++) {
		if (mroce_txs_next_rtx(&st->tx, &psn)) {
			mroce_txs_resent(&st->tx, psn);
		} else if (mroce_txs_room(&st->tx) && st->tx.nxt != FIRST + N_PSNS) {
			psn = st->tx.nxt;
			mroce_txs_sent(&st->tx, 1, st->now);
		} else {
			return;
		}
		st->sends++;
		fly(st, DATA, psn, NULL);
	}
}

static void run_timer(struct stream *st)
{
	enum mroce_txs_action act;

	if (st->now < st->timer_ns)
		return;
	act = mroce_txs_timer(&st->tx, st->now, RTO, &st->timer_ns);
	st->failed |= act == MROCE_TXS_EXCEEDED;
	st->timeouts += act == MROCE_TXS_RESEND;
	if (act == MROCE_TXS_ASK || act == MROCE_TXS_RESEND)
		send_record(st);
	if (!mroce_txs_busy(&st->tx))
		st->timer_ns = st->now;
}

static void step(struct stream *st)
{
	struct flight f;
	u32 i;

	st->now += STEP;
	if (rnd_ppm(&st->rnd, st->w->post_ppm))
		st->posted++;
	for (i = 0; i < N_FLIGHT; i++) {
		if (st->flight[i].what == NONE || st->flight[i].at > st->now)
			continue;
		f = st->flight[i];
		st->flight[i].what = NONE;
		land(st, &f);
	}
	/* A full sky drops whatever comes; so does this. */
	for (i = N_FLIGHT - 8 * PER_STEP; i < N_FLIGHT; i++) {
		if (st->flight[i].what != NONE)
			return run_timer(st);
	}
	send_some(st);
	run_timer(st);
}

static void stream_init(struct stream *st, const struct weather *w, u32 seed)
{
	struct mroce_txs_cfg cfg = {
		.window = 1000, .timeout = 14, .retry_cnt = 2, .rnr_retry = w->rnr_retry,
	};
	u32 i, j, len, msg = 0;

	memset(st, 0, sizeof(*st));
	st->w = w;
	st->now = RTT;
	rnd_seed(&st->rnd, seed);
	mroce_txs_init(&st->tx, FIRST, &cfg);
	mroce_rxs_init(&st->rx, FIRST);
	mroce_rxs_set_bits(&st->rx, &st->bits);
	for (i = 0; i < N_PSNS; msg++) {
		len = 1 + rnd_below(&st->rnd, MSG_MAX);
		for (j = i; len-- && i < N_PSNS; i++) {
			st->msg_psn[i] = FIRST + j;
			st->msg_no[i] = msg;
		}
	}
	st->posted = w->post_ppm ? 0 : U32_MAX;
}

/* Runs to the end: everything accepted, everything placed once. */
static void run(struct kunit *test, struct stream *st)
{
	u32 i, n, total = FIRST + N_PSNS;

	for (n = 0; st->tx.una != total; n++) {
		KUNIT_ASSERT_LT_MSG(test, n, 2000000, "stuck: una %d cum %d rtx %u deferred %u",
				    st->tx.una - FIRST, st->rx.cum - FIRST, st->tx.n_rtx,
				    st->tx.n_deferred);
		step(st);
		KUNIT_ASSERT_FALSE(test, st->failed);
		KUNIT_ASSERT_LE(test, mroce_seq_diff(st->tx.una, st->rx.cum), 0);
	}
	for (i = 0; i < N_PSNS; i++)
		KUNIT_ASSERT_EQ(test, st->placed[i], 1);
	/* The verbs timeout is for dead peers, not for anything here. */
	KUNIT_ASSERT_EQ(test, st->timeouts, 0);
}

static struct stream *run_seeds(struct kunit *test, const struct weather *w, u32 seeds)
{
	struct stream *st = kunit_kzalloc(test, sizeof(*st), GFP_KERNEL);
	u32 seed;

	KUNIT_ASSERT_NOT_NULL(test, st);
	for (seed = 0; seed < seeds; seed++) {
		stream_init(st, w, seed);
		run(test, st);
	}
	return st;
}

static void fair_weather_sends_once(struct kunit *test)
{
	static const struct weather w = { .hold_psns = 4096 };
	struct stream *st = run_seeds(test, &w, 3);

	KUNIT_EXPECT_EQ(test, st->sends, N_PSNS);
	/* At the sender's pace, and a round trip */
	KUNIT_EXPECT_LT(test, st->now, N_PSNS / PER_STEP * STEP + 5 * RTT);
}

static void loss_and_lost_records(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 100000, .rec_loss_ppm = 500000, .hold_psns = 4096,
	};
	struct stream *st = run_seeds(test, &w, 10);

	/* Only what was lost goes again. */
	KUNIT_EXPECT_LT(test, st->sends, N_PSNS * 6 / 5);
}

static void small_hold_behind_losses(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 20000, .rec_loss_ppm = 100000, .hold_psns = 40,
	};
	struct stream *st = run_seeds(test, &w, 10);

	KUNIT_EXPECT_LT(test, st->sends, N_PSNS * 4);
}

static void late_receives(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 10000, .rec_loss_ppm = 200000, .hold_psns = 4096, .post_ppm = 30000,
		.rnr_retry = 7,
	};

	run_seeds(test, &w, 5);
}

static void late_receives_within_the_retries(struct kunit *test)
{
	static const struct weather w = {
		.rec_loss_ppm = 100000, .hold_psns = 200, .post_ppm = 250000, .rnr_retry = 6,
	};

	run_seeds(test, &w, 5);
}

static void refusals_without_a_word(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 10000, .rec_loss_ppm = 200000, .hold_psns = 300, .whim_ppm = 30000,
	};

	run_seeds(test, &w, 5);
}

static void everything_at_once(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 50000, .rec_loss_ppm = 400000, .hold_psns = 60, .whim_ppm = 10000,
		.post_ppm = 50000, .rnr_retry = 7,
	};

	run_seeds(test, &w, 10);
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(fair_weather_sends_once),
	KUNIT_CASE(loss_and_lost_records),
	KUNIT_CASE(small_hold_behind_losses),
	KUNIT_CASE(late_receives),
	KUNIT_CASE(late_receives_within_the_retries),
	KUNIT_CASE(refusals_without_a_word),
	KUNIT_CASE(everything_at_once),
	{}
};

static struct kunit_suite stream_suite = {
	.name = "mroce_stream",
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
