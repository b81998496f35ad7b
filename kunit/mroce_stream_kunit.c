// SPDX-License-Identifier: GPL-2.0
/*
 * Both ends of one stream (txs, rxs) over a network of their own: packets are
 * lost, refused for want of receives, refused for being too far ahead, held back
 * (hold) or refused because the hold is full, or refused for no reason that a
 * record would tell; records are lost and overtake each other.
 * The path level is taken for granted: it reports every lost and every refused
 * transmission once, in the end.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "hold.h"
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
	u32 pkt_bytes;		/* true size of a packet of a WRITE that may be held; 0 = SENDs */
	enum mroce_hold_mode mode;
	u32 relaxed_ppm;	/* of the messages go to a region with relaxed ordering */
	u64 others_bytes;	/* held by other queue pairs of the device */
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
	u32 msg_pkts[N_PSNS];	/* its packets */
	u8 placed[N_PSNS];
	bool relaxed[N_PSNS];	/* likewise */
	bool held[N_PSNS];
	struct mroce_hold hold;
	u32 all_placed;		/* up to here */
	u32 n_held;		/* in all */
	u32 n_ahead;		/* placed before something that order puts first */
	bool early;		/* although it should have waited */
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

static struct mroce_pkt_data packet(const struct stream *st, u32 i)
{
	return (struct mroce_pkt_data) {
		.opcode = MROCE_OP_WRITE, .psn = FIRST + i, .msg_psn = st->msg_psn[i],
		.unit_bytes = 128, .payload_len = 128, .msg_len = 128 * st->msg_pkts[i],
	};
}

static bool must_wait(const struct stream *st, u32 i)
{
	struct mroce_pkt_data p = packet(st, i);

	return st->w->pkt_bytes &&
	       mroce_hold_must(st->w->mode, st->relaxed[i], &p, st->rx.cum);
}

/* Into its memory, and seen by the user from here on */
static void place(struct stream *st, u32 i)
{
	u32 msg = st->msg_psn[i] - FIRST;
	bool last = i == msg + st->msg_pkts[i] - 1;
	bool ahead = st->all_placed < (last ? i : msg);
	bool free = !st->w->pkt_bytes || st->w->mode == MROCE_HOLD_RELAXED ||
		    (st->w->mode != MROCE_HOLD_STRICT && st->relaxed[i]);

	st->n_ahead += ahead;
	st->early |= ahead && !free;
	st->placed[i]++;
	while (st->all_placed < N_PSNS && st->placed[st->all_placed])
		st->all_placed++;
}

static void hold(struct stream *st, u32 i)
{
	if (mroce_hold_put(&st->hold, st->w->pkt_bytes,
			   st->w->others_bytes + st->hold.bytes + st->w->pkt_bytes)) {
		mroce_rxs_claim(&st->rx, FIRST + i);
		st->held[i] = true;
		st->n_held++;
	} else {
		mroce_rxs_refuse(&st->rx, FIRST + i, st->msg_psn[i], MROCE_SYN_BUSY, 0);
		fly(st, ECHO_REFUSED, FIRST + i, NULL);
	}
}

/* Those of the oldest incomplete message, which may complete it, and so on */
static void release(struct stream *st)
{
	u32 i;

	for (i = st->rx.cum - FIRST; i < N_PSNS; i++) {
		struct mroce_pkt_data p = packet(st, i);

		if (mroce_seq_after(st->msg_psn[i], st->rx.cum))
			return;
		if (!st->held[i])
			continue;
		if (mroce_seq_after(mroce_hold_until(&p), st->rx.cum))
			return;
		st->held[i] = false;
		mroce_hold_take(&st->hold, st->w->pkt_bytes);
		mroce_rxs_drained(&st->rx, 1);
		place(st, i);
		mroce_rxs_commit(&st->rx, FIRST + i);
	}
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
	} else if (must_wait(st, i)) {
		hold(st, i);
	} else {
		mroce_rxs_claim(&st->rx, psn);
		place(st, i);
		if (mroce_rxs_commit(&st->rx, psn))
			release(st);
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
	bool relaxed;

	memset(st, 0, sizeof(*st));
	st->w = w;
	st->now = RTT;
	rnd_seed(&st->rnd, seed);
	mroce_txs_init(&st->tx, FIRST, &cfg);
	mroce_rxs_init(&st->rx, FIRST);
	mroce_rxs_set_bits(&st->rx, &st->bits);
	for (i = 0; i < N_PSNS; msg++) {
		len = min_t(u32, 1 + rnd_below(&st->rnd, MSG_MAX), N_PSNS - i);
		relaxed = w->relaxed_ppm && rnd_ppm(&st->rnd, w->relaxed_ppm);
		for (j = i; i < j + len; i++) {
			st->msg_pkts[i] = len;
			st->msg_psn[i] = FIRST + j;
			st->msg_no[i] = msg;
			st->relaxed[i] = relaxed;
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
		KUNIT_ASSERT_FALSE(test, st->early);
		KUNIT_ASSERT_LE(test, st->hold.bytes, MROCE_HOLD_QP_BYTES);
		KUNIT_ASSERT_LE(test, mroce_seq_diff(st->tx.una, st->rx.cum), 0);
	}
	for (i = 0; i < N_PSNS; i++)
		KUNIT_ASSERT_EQ(test, st->placed[i], 1);
	KUNIT_ASSERT_EQ(test, st->hold.bytes | st->hold.pkts, 0);
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

/* The packets are so large that the hold takes 32. */
#define BIG	(MROCE_HOLD_QP_BYTES / 32)

static void writes_wait_in_a_full_hold(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 20000, .rec_loss_ppm = 100000, .hold_psns = 4096, .pkt_bytes = BIG,
	};
	struct stream *st = run_seeds(test, &w, 10);

	KUNIT_EXPECT_EQ(test, st->hold.peak_bytes, MROCE_HOLD_QP_BYTES);
	KUNIT_EXPECT_GT(test, st->n_held, 1000);
	KUNIT_EXPECT_EQ(test, st->n_ahead, 0);
	KUNIT_EXPECT_LT(test, st->sends, N_PSNS * 3);
}

static void writes_do_not_wait_where_relaxed(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 20000, .rec_loss_ppm = 100000, .hold_psns = 4096, .pkt_bytes = BIG,
		.relaxed_ppm = 500000,
	};
	static const struct weather strict = {
		.loss_ppm = 20000, .rec_loss_ppm = 100000, .hold_psns = 4096, .pkt_bytes = BIG,
		.relaxed_ppm = 500000, .mode = MROCE_HOLD_STRICT,
	};
	static const struct weather relaxed = {
		.loss_ppm = 20000, .rec_loss_ppm = 100000, .hold_psns = 4096, .pkt_bytes = BIG,
		.mode = MROCE_HOLD_RELAXED,
	};
	struct stream *st = run_seeds(test, &w, 3);

	KUNIT_EXPECT_GT(test, st->n_held, 500);
	KUNIT_EXPECT_GT(test, st->n_ahead, 500);
	st = run_seeds(test, &strict, 3);
	KUNIT_EXPECT_EQ(test, st->n_ahead, 0);
	st = run_seeds(test, &relaxed, 3);
	KUNIT_EXPECT_EQ(test, st->n_held, 0);
	KUNIT_EXPECT_GT(test, st->n_ahead, 1000);
}

/* Other queue pairs have filled the device's hold: one message at a time gets through. */
static void writes_get_through_without_a_hold(struct kunit *test)
{
	static const struct weather w = {
		.loss_ppm = 10000, .rec_loss_ppm = 100000, .hold_psns = 4096, .pkt_bytes = BIG,
		.others_bytes = MROCE_HOLD_DEV_BYTES,
	};
	struct stream *st = run_seeds(test, &w, 3);

	KUNIT_EXPECT_EQ(test, st->n_held + st->n_ahead, 0);
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(fair_weather_sends_once),
	KUNIT_CASE(loss_and_lost_records),
	KUNIT_CASE(small_hold_behind_losses),
	KUNIT_CASE(late_receives),
	KUNIT_CASE(late_receives_within_the_retries),
	KUNIT_CASE(refusals_without_a_word),
	KUNIT_CASE(everything_at_once),
	KUNIT_CASE(writes_wait_in_a_full_hold),
	KUNIT_CASE(writes_do_not_wait_where_relaxed),
	KUNIT_CASE(writes_get_through_without_a_hold),
	{}
};

static struct kunit_suite stream_suite = {
	.name = "mroce_stream",
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
