// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control. Rounds of a fluid model: in each round trip every path
 * sends what the windows allow, some of it is lost or marked, the rest comes
 * back in several acknowledgments.
 */
#include <kunit/test.h>
#include "cc.h"
#include "rnd.h"

#define MS 1000000ull
#define PKT 8256u
#define CEILING 0x100000u
#define START 131072u
#define RTT_NS (200 * 1000ull)
#define N_PATHS 8
#define ACKS_PER_ROUND 4

/**
 * struct world - connection, paths and what the network does to them
 * @ops: algorithm under test
 * @c: connection
 * @p: its paths
 * @n_paths: how many of them
 * @loss_ppm: random loss
 * @mark_ppm: share of packets marked, by path
 * @loss_q16: smoothed loss rate, by path
 * @queue_ns: queueing delay on top of RTT_NS
 * @fill_bytes: how much the application has in flight at most
 * @now: time
 * @rnd: dice
 */
struct world {
	const struct mroce_cc_ops *ops;
	struct mroce_cc_conn c;
	struct mroce_cc_path p[N_PATHS];
	u32 n_paths;
	u32 loss_ppm;
	u32 mark_ppm[N_PATHS];
	u32 loss_q16[N_PATHS];
	u64 queue_ns;
	u32 fill_bytes;
	u64 now;
	struct rnd rnd;
};

static struct world *world_new(struct kunit *test, const struct mroce_cc_ops *ops, u32 n_paths)
{
	struct world *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->ops = ops;
	w->n_paths = n_paths;
	w->fill_bytes = U32_MAX;
	rnd_seed(&w->rnd, 4);
	mroce_cc_start(ops, &w->c, START, CEILING, PKT);
	for (i = 0; i < n_paths; i++)
		ops->path_init(&w->c, &w->p[i], START);
	return w;
}

/* One acknowledgment for @n packets on path @i. */
static void ack_some(struct world *w, u32 i, u32 n, u32 path_bytes, u32 conn_bytes)
{
	struct mroce_cc_sample s = {
		.now_ns = w->now, .srtt_ns = RTT_NS + w->queue_ns, .min_rtt_ns = RTT_NS,
		.rtt_ns = RTT_NS + w->queue_ns,
		.path_prior_bytes = path_bytes, .conn_prior_bytes = conn_bytes,
	};

	while (n--) {
		bool lost = rnd_ppm(&w->rnd, w->loss_ppm);

		w->loss_q16[i] += lost ? (65536 - w->loss_q16[i]) / 128 : 0;
		w->loss_q16[i] -= lost ? 0 : w->loss_q16[i] / 128;
		if (lost)
			s.lost_bytes += PKT;
		else
			s.acked_bytes += PKT;
		if (!lost && rnd_ppm(&w->rnd, w->mark_ppm[i]))
			s.marked_bytes += PKT;
	}
	s.loss_q16 = w->loss_q16[i];
	if (s.acked_bytes || s.lost_bytes)
		w->ops->on_ack(&w->c, &w->p[i], &s);
}

/* One round trip: fill the paths from the emptiest on, as the scheduler does. */
static void round_trip(struct world *w)
{
	u32 pkts[N_PATHS] = { 0 };
	u32 total = 0;
	u32 limit = min(mroce_cc_window(&w->c, w->now), w->fill_bytes);
	u32 i, k;
	bool more = true;

	while (more) {
		more = false;
		for (i = 0; i < w->n_paths; i++) {
			if (total && (total + 1) * PKT > limit)
				break;
			if (pkts[i] && (pkts[i] + 1) * PKT > w->p[i].cwnd_bytes)
				continue;
			pkts[i]++;
			total++;
			more = true;
		}
	}
	for (k = 0; k < ACKS_PER_ROUND; k++) {
		for (i = 0; i < w->n_paths; i++) {
			u32 n = pkts[i] * (k + 1) / ACKS_PER_ROUND - pkts[i] * k / ACKS_PER_ROUND;

			w->now += (RTT_NS + w->queue_ns) / ACKS_PER_ROUND / w->n_paths;
			ack_some(w, i, n, pkts[i] * PKT, total * PKT);
		}
	}
}

static void rounds(struct world *w, u32 n)
{
	while (n--)
		round_trip(w);
}

static u32 path_sum(const struct world *w)
{
	u32 sum = 0;
	u32 i;

	for (i = 0; i < w->n_paths; i++)
		sum += w->p[i].cwnd_bytes;
	return sum;
}

static void found_by_name(struct kunit *test)
{
	KUNIT_EXPECT_PTR_EQ(test, mroce_cc_find("ecn"), &mroce_cc_ecn);
	KUNIT_EXPECT_PTR_EQ(test, mroce_cc_find("delay"), &mroce_cc_delay);
	KUNIT_EXPECT_NULL(test, mroce_cc_find("none"));
	KUNIT_EXPECT_NULL(test, mroce_cc_find(""));
}

static void start_is_within_limits(struct kunit *test)
{
	struct mroce_cc_conn c;

	mroce_cc_start(&mroce_cc_ecn, &c, START, CEILING, PKT);
	KUNIT_EXPECT_EQ(test, c.cwnd_bytes, START);
	mroce_cc_start(&mroce_cc_ecn, &c, 10, CEILING, PKT);
	KUNIT_EXPECT_EQ(test, c.cwnd_bytes, PKT);
	mroce_cc_start(&mroce_cc_ecn, &c, 10 * CEILING, CEILING, PKT);
	KUNIT_EXPECT_EQ(test, c.cwnd_bytes, CEILING);
	mroce_cc_start(&mroce_cc_ecn, &c, 1, 1, PKT);
	KUNIT_EXPECT_EQ(test, c.cwnd_bytes, PKT);
}

/* The first round trips of a clean connection, one path or many. */
static void clean_start_is_fast(struct kunit *test)
{
	u32 n;

	for (n = 1; n <= N_PATHS; n *= 2) {
		struct world *w = world_new(test, &mroce_cc_ecn, n);

		rounds(w, 6);
		KUNIT_EXPECT_EQ_MSG(test, w->c.cwnd_bytes, CEILING, "%u paths", n);
		KUNIT_EXPECT_GE_MSG(test, path_sum(w), CEILING - n * PKT, "%u paths", n);
		rounds(w, 50);
		KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, CEILING);
	}
}

static void idle_window_does_not_grow(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);

	w->fill_bytes = 2 * PKT;
	rounds(w, 50);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START);
}

/* The product's main promise: random loss does not close the window. */
static void random_loss_keeps_the_window(struct kunit *test)
{
	static const u32 ppm[] = { 1000, 10000, 50000 };
	u32 i, k, n;

	for (n = 1; n <= N_PATHS; n *= 2) {
		for (i = 0; i < ARRAY_SIZE(ppm); i++) {
			struct world *w = world_new(test, &mroce_cc_ecn, n);
			u32 low = U32_MAX;

			w->loss_ppm = ppm[i];
			rounds(w, 20);
			for (k = 0; k < 2000; k++) {
				round_trip(w);
				low = min3(low, w->c.cwnd_bytes, path_sum(w));
			}
			KUNIT_EXPECT_GE_MSG(test, low, CEILING / 2, "%u ppm, %u paths", ppm[i], n);
		}
	}
}

/* ... and not even with a standing queue of our own making behind it. */
static void loss_with_own_queue_keeps_the_window(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u64 sum = 0;
	u32 k;

	w->loss_ppm = 30000;
	w->queue_ns = 2 * MS;
	rounds(w, 20);
	for (k = 0; k < 1000; k++) {
		round_trip(w);
		sum += min(w->c.cwnd_bytes, path_sum(w));
	}
	KUNIT_EXPECT_GE(test, (u32)div_u64(sum, 1000), CEILING / 2);
}

/* 10 %: slower, but useful. */
static void heavy_loss_stays_useful(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 low = U32_MAX;
	u32 k;

	w->loss_ppm = 100000;
	rounds(w, 30);
	for (k = 0; k < 1000; k++) {
		round_trip(w);
		low = min3(low, w->c.cwnd_bytes, path_sum(w));
	}
	KUNIT_EXPECT_GE(test, low, CEILING / 4);
}

/* More than an eighth is not outgrown: some of it must be our own. */
static void overrun_ends(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 k, high = 0;

	rounds(w, 10);
	w->loss_ppm = 160000;
	rounds(w, 150);
	for (k = 0; k < 100; k++) {
		round_trip(w);
		high = max(high, path_sum(w));
	}
	KUNIT_EXPECT_LE(test, high, CEILING / 2);
}

/* Where nothing marks: heavy loss while a queue stands takes the window down. */
static void loss_with_queue_is_congestion(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 k, high = 0;

	w->loss_ppm = 110000;
	w->queue_ns = 5 * MS;
	rounds(w, 100);
	for (k = 0; k < 100; k++) {
		round_trip(w);
		high = max(high, path_sum(w));
	}
	KUNIT_EXPECT_LE(test, high, CEILING / 2);
	KUNIT_EXPECT_GE(test, w->p[0].cwnd_bytes, 2 * PKT);
}

static void loss_takes_its_bytes(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);
	struct mroce_cc_sample s = {
		.now_ns = 1, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS, .lost_bytes = 3 * PKT,
	};

	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START - 3 * PKT);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START);
	s.lost_bytes = 10 * CEILING;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, PKT);
}

/* A round without a sample of the round trip knows of no queue: loss is just loss. */
static void no_samples_no_queue(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);
	struct mroce_cc_sample s = {
		.now_ns = 10 * MS, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS,
		.acked_bytes = PKT, .loss_q16 = 32768,
	};

	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START);
	/* With one it is congestion; the connection keeps some packets. */
	w->c.cwnd_bytes = 60 * PKT;
	s.rtt_ns = RTT_NS + 5 * MS;
	s.now_ns += MS;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 10 * 7);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, 32 * PKT);
	/* A queue that shrinks is on its way out; one that stays is not. */
	s.rtt_ns = RTT_NS + 2 * MS;
	s.now_ns += MS;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 10 * 7);
	s.now_ns += MS;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 10 * 7 / 10 * 7);
}

/* One path of eight marked: it shrinks, the others and the connection do not. */
static void marks_on_one_path(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 i;

	rounds(w, 10);
	w->mark_ppm[2] = 1000000;
	rounds(w, 20);
	KUNIT_EXPECT_LE(test, w->p[2].cwnd_bytes, 4 * PKT);
	KUNIT_EXPECT_GE(test, w->c.cwnd_bytes, CEILING - CEILING / 8);
	for (i = 0; i < N_PATHS; i++)
		if (i != 2)
			KUNIT_EXPECT_GE_MSG(test, w->p[i].cwnd_bytes, START, "path %u", i);
	w->mark_ppm[2] = 0;
	rounds(w, 40);
	KUNIT_EXPECT_GE(test, w->p[2].cwnd_bytes, START / 2);
}

static void marks_on_all_paths(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 i, before;

	rounds(w, 10);
	for (i = 0; i < N_PATHS; i++)
		w->mark_ppm[i] = 1000000;
	w->queue_ns = 2 * MS;
	before = w->c.cwnd_bytes;
	for (i = 0; i < 33; i++) {
		u32 last = w->c.cwnd_bytes;

		/* Never more than half of it in a round trip. */
		round_trip(w);
		KUNIT_EXPECT_GE(test, w->c.cwnd_bytes, last / 2);
		if (i == 2)
			KUNIT_EXPECT_LE(test, w->c.cwnd_bytes, before - before / 8);
	}
	KUNIT_EXPECT_LE(test, w->c.cwnd_bytes, 4 * PKT);
	KUNIT_EXPECT_GE(test, w->c.cwnd_bytes, PKT);
}

/* DCTCP's point: a few marks take little, and alpha finds the share of marks. */
static void few_marks_cut_little(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);
	u32 low = U32_MAX;
	u32 k;

	rounds(w, 100);
	w->mark_ppm[0] = 10000;
	rounds(w, 5);
	for (k = 0; k < 20; k++) {
		u32 before = w->p[0].cwnd_bytes;

		round_trip(w);
		low = min(low, w->p[0].cwnd_bytes * 64 / before);
	}
	KUNIT_EXPECT_GE(test, low, 56u);
}

/* At most one cut a round trip, whatever the number of acknowledgments. */
static void one_cut_a_round(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);
	struct mroce_cc_sample s = {
		.now_ns = 10 * MS, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS, .rtt_ns = RTT_NS,
		.acked_bytes = PKT, .marked_bytes = PKT,
		.path_prior_bytes = START, .conn_prior_bytes = START,
	};
	u32 k;

	for (k = 0; k < 20; k++) {
		s.now_ns += RTT_NS / 25;
		mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	}
	KUNIT_EXPECT_GE(test, w->p[0].cwnd_bytes, START / 2 - 1);
	KUNIT_EXPECT_LT(test, w->p[0].cwnd_bytes, START);
}

/* A round that is all marks, and a queue of 1020 us: half of w, and of W 26 parts of 64. */
static void cuts_are_exact(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);
	struct mroce_cc_sample s = {
		.now_ns = 10 * MS, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS,
		.rtt_ns = RTT_NS + 1020 * 1000, .acked_bytes = PKT, .marked_bytes = PKT,
		.path_prior_bytes = START, .conn_prior_bytes = START,
	};

	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 2);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START / 64 * (64 - 26));
	/* Half the bytes marked is not more than half: none of W; alpha is 31/32 by now. */
	w = world_new(test, &mroce_cc_ecn, 1);
	s.marked_bytes = PKT / 2;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START - START / 64 * 31);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START);
	/* The delay algorithm takes the same 26 parts off the path. */
	w = world_new(test, &mroce_cc_delay, 1);
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 64 * (64 - 26));
	/* Once a round trip. */
	s.now_ns += RTT_NS - 1;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 64 * (64 - 26));
	s.now_ns += 1;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_LT(test, w->p[0].cwnd_bytes, START / 64 * (64 - 26));
	/* Half of it at most. */
	w = world_new(test, &mroce_cc_delay, 1);
	s.rtt_ns = RTT_NS + 1000 * MS;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START / 2);
}

/* One path is all marks, the other carries as much without: that is not most of it. */
static void half_the_bytes_are_not_most(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 2);
	struct mroce_cc_sample s = {
		.now_ns = 10 * MS, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS,
		.rtt_ns = RTT_NS + 1020 * 1000, .acked_bytes = PKT,
	};

	/* The first packet begins the rounds, for itself. */
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	s.now_ns += RTT_NS / 2;
	s.marked_bytes = PKT;
	mroce_cc_ecn.on_ack(&w->c, &w->p[1], &s);
	s.now_ns += RTT_NS / 2;
	s.marked_bytes = 0;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START);
	/* The same with two packets of the marked one. */
	s.now_ns += RTT_NS / 2;
	s.acked_bytes = 2 * PKT;
	s.marked_bytes = 2 * PKT;
	mroce_cc_ecn.on_ack(&w->c, &w->p[1], &s);
	s.now_ns += RTT_NS / 2;
	s.acked_bytes = PKT;
	s.marked_bytes = 0;
	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_LT(test, w->c.cwnd_bytes, START);
}

/* A mark here and there on all paths is for the path windows, not the connection's. */
static void few_marks_spare_the_connection(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 i;

	rounds(w, 10);
	for (i = 0; i < N_PATHS; i++)
		w->mark_ppm[i] = 50000;
	rounds(w, 30);
	KUNIT_EXPECT_GE(test, w->c.cwnd_bytes, CEILING - CEILING / 8);
	KUNIT_EXPECT_LE(test, path_sum(w), CEILING);
}

/* A window of bytes adds exactly one packet, however it is cut up. */
static void additive_increase_is_exact(struct kunit *test)
{
	struct mroce_cc_conn c;
	u32 chunk;

	mroce_cc_start(&mroce_cc_ecn, &c, 100 * PKT, CEILING, PKT);
	for (chunk = 1; chunk <= 100 * PKT; chunk *= 10) {
		u32 done, added = 0;
		u64 rem = 0;

		for (done = 0; done < 100 * PKT; done += chunk)
			added += mroce_cc_add(&c, min(chunk, 100 * PKT - done), &rem);
		KUNIT_EXPECT_EQ_MSG(test, added, PKT, "by %u", chunk);
		KUNIT_EXPECT_EQ(test, rem, 0ull);
	}
}

/* After marks: one packet per round trip for all paths together. */
static void careful_growth_is_coupled(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, N_PATHS);
	u32 i, before, grown;

	rounds(w, 10);
	for (i = 0; i < N_PATHS; i++)
		w->mark_ppm[i] = 1000000;
	w->queue_ns = 1 * MS;
	rounds(w, 4);
	for (i = 0; i < N_PATHS; i++)
		w->mark_ppm[i] = 0;
	rounds(w, 3);
	before = w->c.cwnd_bytes;
	rounds(w, 4);
	grown = w->c.cwnd_bytes - before;
	KUNIT_EXPECT_GE(test, grown, 2 * PKT);
	KUNIT_EXPECT_LE(test, grown, 5 * PKT);
}

/* Eight rounds without a mark, and the window grows by a quarter again. */
static void careful_for_eight_rounds(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);
	struct mroce_cc_sample s = {
		.now_ns = 10 * MS, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS, .rtt_ns = RTT_NS,
		.acked_bytes = PKT, .marked_bytes = PKT, .path_prior_bytes = START,
	};
	u32 before, k;

	mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
	s.marked_bytes = 0;
	for (k = 0; k < 10; k++) {
		before = w->p[0].cwnd_bytes;
		s.now_ns += RTT_NS;
		mroce_cc_ecn.on_ack(&w->c, &w->p[0], &s);
		if (k < 8)
			KUNIT_EXPECT_LT_MSG(test, w->p[0].cwnd_bytes - before, PKT / 8, "%u", k);
		else
			KUNIT_EXPECT_EQ_MSG(test, w->p[0].cwnd_bytes - before, PKT / 4, "%u", k);
	}
}

static void timeout_leaves_one_packet(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 2);

	w->loss_ppm = 100000;
	rounds(w, 5);
	w->loss_ppm = 0;
	w->ops->on_pto(&w->c, &w->p[0]);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, PKT);
	KUNIT_EXPECT_GT(test, w->p[1].cwnd_bytes, PKT);
	/* Doubling again. */
	rounds(w, 4);
	KUNIT_EXPECT_GE(test, w->p[0].cwnd_bytes, 12 * PKT);
}

/* The lone queue that is not ours: the delay algorithm yields to it. */
static void delay_algorithm_follows_delay(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_delay, 2);

	rounds(w, 10);
	KUNIT_EXPECT_GE(test, path_sum(w), CEILING - 2 * PKT);
	w->queue_ns = 5 * MS;
	rounds(w, 1);
	KUNIT_EXPECT_GE(test, path_sum(w), CEILING / 4);
	rounds(w, 20);
	KUNIT_EXPECT_LE(test, path_sum(w), 4 * PKT);
	w->queue_ns = 0;
	rounds(w, 20);
	KUNIT_EXPECT_GE(test, path_sum(w), 10 * PKT);
	KUNIT_EXPECT_LE(test, path_sum(w), 30 * PKT);
	w->ops->on_pto(&w->c, &w->p[0]);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, PKT);
}

/* The delay algorithm: what is not used does not grow, neither path nor connection. */
static void delay_algorithm_grows_what_is_used(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_delay, 2);
	struct mroce_cc_sample s = {
		.now_ns = 1, .srtt_ns = RTT_NS, .min_rtt_ns = RTT_NS, .rtt_ns = RTT_NS,
		.acked_bytes = PKT,
	};

	s.path_prior_bytes = START / 2 - 1;
	s.conn_prior_bytes = START / 2 - 1;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START);
	s.conn_prior_bytes = START / 2;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START + PKT);
	s.path_prior_bytes = START / 2;
	s.conn_prior_bytes = START / 2;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START + PKT);
	KUNIT_EXPECT_EQ(test, w->c.cwnd_bytes, START + PKT);
	/* Loss takes its bytes, and no more. */
	s.path_prior_bytes = 0;
	s.lost_bytes = 3 * PKT;
	mroce_cc_delay.on_ack(&w->c, &w->p[0], &s);
	KUNIT_EXPECT_EQ(test, w->p[0].cwnd_bytes, START - 2 * PKT);
}

static void share_only_caps(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);

	mroce_cc_share(&w->c, 0, RTT_NS, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), START);
	/* 400 Gb/s is more than the window: no effect. */
	mroce_cc_share(&w->c, 400000, RTT_NS, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), START);
	/* 100 Mb/s * (200 us + 500 us) = 8750 bytes; a drop holds at once. */
	mroce_cc_share(&w->c, 100, RTT_NS, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), 8750u);
	/* Never below a packet; a rise doubles at most. */
	mroce_cc_share(&w->c, 1, RTT_NS, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), PKT);
	mroce_cc_share(&w->c, 400000, RTT_NS, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), 2 * PKT);
	mroce_cc_share(&w->c, U32_MAX, U64_MAX, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), 4 * PKT);
}

static void share_expires(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);

	mroce_cc_share(&w->c, 100, RTT_NS, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, MS), 8750u);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, MS + 1), 2 * 8750u);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, MS + RTT_NS + 1), 4 * 8750u);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 100 * MS), START);
}

/* Round trips are believed from 1 us to 1 s. */
static void share_of_odd_round_trips(struct kunit *test)
{
	struct world *w = world_new(test, &mroce_cc_ecn, 1);

	/* 1000 Mb/s * (1 us + 500 us) */
	mroce_cc_share(&w->c, 1000, 0, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 0), 62625u);
	/* 1 Mb/s * (1 s + 500 us), for 4 s */
	w = world_new(test, &mroce_cc_ecn, 1);
	mroce_cc_share(&w->c, 1, U64_MAX, 0);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 4000 * MS), 125062u);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&w->c, 4000 * MS + 1), START);
}

static struct kunit_case cc_cases[] = {
	KUNIT_CASE(found_by_name),
	KUNIT_CASE(start_is_within_limits),
	KUNIT_CASE(clean_start_is_fast),
	KUNIT_CASE(idle_window_does_not_grow),
	KUNIT_CASE(random_loss_keeps_the_window),
	KUNIT_CASE(loss_with_own_queue_keeps_the_window),
	KUNIT_CASE(heavy_loss_stays_useful),
	KUNIT_CASE(overrun_ends),
	KUNIT_CASE(loss_with_queue_is_congestion),
	KUNIT_CASE(loss_takes_its_bytes),
	KUNIT_CASE(no_samples_no_queue),
	KUNIT_CASE(marks_on_one_path),
	KUNIT_CASE(marks_on_all_paths),
	KUNIT_CASE(few_marks_cut_little),
	KUNIT_CASE(few_marks_spare_the_connection),
	KUNIT_CASE(one_cut_a_round),
	KUNIT_CASE(cuts_are_exact),
	KUNIT_CASE(half_the_bytes_are_not_most),
	KUNIT_CASE(additive_increase_is_exact),
	KUNIT_CASE(careful_growth_is_coupled),
	KUNIT_CASE(careful_for_eight_rounds),
	KUNIT_CASE(timeout_leaves_one_packet),
	KUNIT_CASE(delay_algorithm_follows_delay),
	KUNIT_CASE(delay_algorithm_grows_what_is_used),
	KUNIT_CASE(share_only_caps),
	KUNIT_CASE(share_expires),
	KUNIT_CASE(share_of_odd_round_trips),
	{}
};

static struct kunit_suite cc_suite = {
	.name = "mroce_cc",
	.test_cases = cc_cases,
};

kunit_test_suite(cc_suite);
