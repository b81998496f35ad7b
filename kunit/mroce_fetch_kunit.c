// SPDX-License-Identifier: GPL-2.0
/*
 * READs and atomics with both streams over a network that loses, repeats and
 * reorders packets and records, with every number of them allowed: each one is
 * executed once, in its turn, and answered right. The judge (fetch_sim.c) is
 * tested, too: ends that do something wrong are found out.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "fetch_sim.h"

static const u8 maxes[] = { 1, 2, 3, 16, 64 };

static struct fetch_sim *sim_new(struct kunit *test)
{
	struct fetch_sim *sim = kunit_kzalloc(test, sizeof(*sim), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sim);
	return sim;
}

/* What a case must have been about, counted over all its runs */
struct seen {
	u32 early;
	u32 by_oldest;
	u32 sends[2];
};

static void run_seeds(struct kunit *test, struct fetch_weather w, u32 seeds, struct seen *seen)
{
	struct fetch_sim *sim = sim_new(test);
	const char *broken;
	u32 i, seed;

	memset(seen, 0, sizeof(*seen));
	for (i = 0; i < ARRAY_SIZE(maxes); i++) {
		w.max = maxes[i];
		for (seed = 0; seed < seeds; seed++) {
			broken = mroce_fetch_sim_run(sim, &w, FETCH_GOOD, seed);
			KUNIT_ASSERT_TRUE_MSG(test, !broken, "max %u seed %u: not so: %s", w.max,
					      seed, broken);
			/* The verbs timeout is for peers that are not heard. */
			if (w.rec_loss_ppm <= 500000)
				KUNIT_ASSERT_EQ(test, sim->timeouts, 0);
			seen->early += sim->early;
			seen->by_oldest += sim->by_oldest;
			seen->sends[0] += sim->sends[0];
			seen->sends[1] += sim->sends[1];
		}
	}
}

/* Nothing is lost, but packets overtake each other. */
static void reordering(struct kunit *test)
{
	struct fetch_weather w = { };
	struct seen seen;

	run_seeds(test, w, 3, &seen);
	KUNIT_EXPECT_GT(test, seen.early, 100);
}

static void losses(struct kunit *test)
{
	struct fetch_weather w = { .loss_ppm = 50000, .rec_loss_ppm = 300000 };
	struct seen seen;

	run_seeds(test, w, 5, &seen);
	KUNIT_EXPECT_GT(test, seen.early, 100);
	KUNIT_EXPECT_GT(test, seen.by_oldest, 100);
}

static void copies(struct kunit *test)
{
	struct fetch_weather w = {
		.loss_ppm = 10000, .rec_loss_ppm = 100000, .spurious_ppm = 300000,
	};
	struct seen seen;

	run_seeds(test, w, 5, &seen);
}

/* Few records come through: slots are freed by later requests. */
static void records_are_lost(struct kunit *test)
{
	struct fetch_weather w = { .loss_ppm = 10000, .rec_loss_ppm = 800000 };
	struct seen seen;

	run_seeds(test, w, 3, &seen);
	KUNIT_EXPECT_GT(test, seen.by_oldest, 1000);
}

static void fences(struct kunit *test)
{
	struct fetch_weather w = { .loss_ppm = 20000, .rec_loss_ppm = 200000, .fence_ppm = 150000 };
	struct seen seen;

	run_seeds(test, w, 3, &seen);
}

static void everything_at_once(struct kunit *test)
{
	struct fetch_weather w = {
		.loss_ppm = 100000, .rec_loss_ppm = 500000, .spurious_ppm = 50000,
		.whim_ppm = 10000, .fence_ppm = 20000,
	};
	struct seen seen;

	run_seeds(test, w, 5, &seen);
	KUNIT_EXPECT_GT(test, seen.early, 100);
	KUNIT_EXPECT_GT(test, seen.by_oldest, 100);
}

/* How each fault shows first */
static const char *const found_out[FETCH_FAULTS] = {
	[FETCH_NO_LIMIT]	= "no more fetches are out than agreed",
	[FETCH_NO_FENCE]	= "a fence waits for all fetches before it",
	[FETCH_NO_OLDEST]	= "there is a slot for each fetch",
	[FETCH_DONE_EARLY]	= "what completes has all responses, once",
	[FETCH_TAKE_AGAIN]	= "what completes has all responses, once",
	[FETCH_FREE_EARLY]	= "a response comes from its slot",
	[FETCH_AT_ARRIVAL]	= "executed when all before it is complete",
	[FETCH_SERVE_AGAIN]	= "there is a slot for each fetch",
	[FETCH_REPLAY]		= "an atomic returns its old value",
};

static void wrong_ends_are_found_out(struct kunit *test)
{
	static const struct fetch_weather w = {
		.max = 4, .loss_ppm = 50000, .rec_loss_ppm = 500000, .spurious_ppm = 50000,
		.fence_ppm = 50000,
	};
	struct fetch_sim *sim = sim_new(test);
	const char *broken;
	u32 fault, seed;

	for (seed = 0; seed < 3; seed++) {
		KUNIT_EXPECT_TRUE(test, !mroce_fetch_sim_run(sim, &w, FETCH_GOOD, seed));
		for (fault = FETCH_GOOD + 1; fault < FETCH_FAULTS; fault++) {
			broken = mroce_fetch_sim_run(sim, &w, fault, seed);
			KUNIT_ASSERT_TRUE_MSG(test, !!broken, "fault %u seed %u", fault, seed);
			KUNIT_EXPECT_STREQ(test, broken, found_out[fault]);
		}
	}
}

static struct kunit_case fetch_cases[] = {
	KUNIT_CASE(reordering),
	KUNIT_CASE(losses),
	KUNIT_CASE(copies),
	KUNIT_CASE(records_are_lost),
	KUNIT_CASE(fences),
	KUNIT_CASE(everything_at_once),
	KUNIT_CASE(wrong_ends_are_found_out),
	{}
};

static struct kunit_suite fetch_suite = {
	.name = "mroce_fetch",
	.test_cases = fetch_cases,
};

kunit_test_suite(fetch_suite);
