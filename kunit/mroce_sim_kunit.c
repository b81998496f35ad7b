// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends of a connection over bad networks, simulated (see sim.h): each case
 * is one kind of trouble, with many seeds. The invariants of sim_check.c hold
 * in all of them; a case adds what must or must not happen in its kind.
 *
 * A failure names the seed: the same seed fails again, in the kernel as well as
 * on the host.
 */
#include <kunit/test.h>

#include "sim.h"

/* Whoever builds the suites may choose another number. */
#ifndef SEEDS
#ifdef MROCE_HOST_KERNEL_H
#define SEEDS	200
#else
#define SEEDS	10
#endif
#endif

static const struct sim_cfg clean = {
	.n_paths = 4, .n_qps = 3, .n_msgs = 30, .max_len = 60000, .unit = 1024,
	.delay_ns = 50000, .posted = SIM_MSGS, .strict_cpu = true, .timeout = 14,
	.late_copy_ppm = 50000, .deadline_ns = 2 * SIM_SEC, .rest_ns = 5 * SIM_SEC,
};

/* Runs @cfg with one seed. Return: whether no rule was broken. */
static bool run(struct kunit *test, struct sim *sim, const struct sim_cfg *cfg, u64 seed)
{
	mroce_sim_run(sim, cfg, seed);
	KUNIT_EXPECT_TRUE_MSG(test, !sim->broken, "seed %llu at %llu ns step %llu: %s (%llu, %llu)",
			      seed, sim->now, sim->steps, sim->broken, sim->a, sim->b);
	return !sim->broken;
}

static struct sim *sim_of(struct kunit *test)
{
	struct sim *sim = kunit_kzalloc(test, sizeof(*sim), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sim);
	return sim;
}

/* Nothing happens: then nothing but data and ACKs is sent, each packet once */
static void fair_weather(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u64 seed;

	cfg.late_copy_ppm = 0;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++) {
		KUNIT_ASSERT_EQ_MSG(test, sim->n_probes, 0, "seed %llu", seed);
		KUNIT_ASSERT_EQ_MSG(test, sim->n_resent, 0, "seed %llu", seed);
		KUNIT_ASSERT_EQ_MSG(test, sim->n_lost + sim->n_refused, 0, "seed %llu", seed);
		KUNIT_ASSERT_EQ_MSG(test, sim->n_dups, 0, "seed %llu", seed);
	}
}

/*
 * Paths of unlike delay, nothing lost: nothing is ever sent twice, whatever the
 * order over all paths (conformance: "no false loss").
 */
static void skewed_paths(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u64 seed;

	cfg.n_paths = 8;
	cfg.skew_ns = 1 * SIM_MS;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++) {
		KUNIT_ASSERT_EQ_MSG(test, sim->n_resent, 0, "seed %llu", seed);
		KUNIT_ASSERT_EQ_MSG(test, sim->n_lost, 0, "seed %llu", seed);
		KUNIT_ASSERT_EQ_MSG(test, sim->n_rerolls, 0, "seed %llu", seed);
	}
}

/* Lost ACKs alone cost no data either */
static void lost_acks(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 resent = 0, sent = 0;
	u64 seed;

	cfg.ack_loss_ppm = 300000;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++) {
		resent += sim->n_resent;
		sent += sim->n_data;
	}
	/* a path silent for two timeouts may be taken for dead now and then */
	KUNIT_EXPECT_LE_MSG(test, resent, sent / 50, "%u of %u sent again", resent, sent);
}

static void random_loss(struct kunit *test)
{
	static const u32 ppm[] = { 1000, 10000, 50000, 100000 };
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 lost, resent, sent, spurious;
	u64 seed;
	int i;

	cfg.deadline_ns = 10 * SIM_SEC;
	for (i = 0; i < ARRAY_SIZE(ppm); i++) {
		lost = 0, resent = 0, sent = 0, spurious = 0;
		cfg.loss_ppm = ppm[i];
		cfg.ack_loss_ppm = ppm[i];
		for (seed = 0; seed < SEEDS / 4 && run(test, sim, &cfg, seed); seed++) {
			lost += sim->n_lost;
			resent += sim->n_resent;
			sent += sim->n_data;
			spurious += sim->n_spurious;
		}
		kunit_info(test, "%u ppm: sent %u resent %u lost %u spurious %u last done at %llu us",
			   ppm[i], sent, resent, lost, spurious, sim->done_at / 1000);
		/* what goes again is what was lost, and little more */
		KUNIT_EXPECT_GT(test, resent, 0u);
		KUNIT_EXPECT_LE_MSG(test, resent, (u32)((u64)sent * ppm[i] / 500000 + sent / 100),
				    "%u ppm: %u of %u", ppm[i], resent, sent);
	}
}

/* Time that 20 seeds take, ns */
static u64 took_ns(struct kunit *test, struct sim *sim, const struct sim_cfg *cfg)
{
	u64 seed, sum = 0;

	for (seed = 0; seed < 20 && run(test, sim, cfg, seed); seed++)
		sum += sim->done_at;
	kunit_info(test, "%u ppm, queue %llu us: %llu us", cfg->loss_ppm, cfg->queue_ns / 1000,
		   sum / 20000);
	return sum;
}

/*
 * The promise of the transport: random loss costs hardly more than what is sent
 * again. 4 paths of 2 Gb/s, 16 MB or so in one direction. Queues are short and
 * drop, or have no end: then all paths must be kept busy all the same.
 */
static void goodput_under_loss(struct kunit *test)
{
	static const struct {
		u32 ppm;
		u32 short_percent;
		u32 deep_percent;
	} max[] = {
		{ 0, 100, 110 }, { 1000, 103, 115 }, { 10000, 108, 130 }, { 50000, 120, 135 },
	};
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u64 ideal = 0, took;
	int i;

	cfg.one_way = true;
	cfg.n_msgs = 90;
	cfg.unit = 4096;
	cfg.max_len = 400000;
	cfg.ns_per_byte_q8 = 256 * 4;
	cfg.deadline_ns = 10 * SIM_SEC;
	for (i = 0; i < ARRAY_SIZE(max); i++) {
		cfg.loss_ppm = max[i].ppm;
		cfg.ack_loss_ppm = max[i].ppm;
		cfg.queue_ns = 400000;
		took = took_ns(test, sim, &cfg);
		if (!i)
			ideal = took;
		KUNIT_EXPECT_LE_MSG(test, took, ideal * max[i].short_percent / 100, "%u ppm",
				    max[i].ppm);
		cfg.queue_ns = 0;
		took = took_ns(test, sim, &cfg);
		KUNIT_EXPECT_LE_MSG(test, took, ideal * max[i].deep_percent / 100,
				    "%u ppm, deep queues", max[i].ppm);
	}
}

static void reordering(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 spurious = 0, dups = 0;
	u64 seed;

	cfg.reorder_ppm = 50000;
	cfg.dup_ppm = 20000;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++) {
		spurious += sim->n_spurious;
		dups += sim->n_dups;
	}
	/* the trouble was there, and was noticed */
	KUNIT_EXPECT_GT(test, spurious, 0u);
	KUNIT_EXPECT_GT(test, dups, 0u);
}

static void receiver_not_ready(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 refused = 0, rnr = 0;
	u64 seed;

	cfg.posted = 1;
	cfg.busy_ppm = 20000;
	cfg.loss_ppm = 10000;
	cfg.ack_loss_ppm = 50000;
	cfg.deadline_ns = 20 * SIM_SEC;
	for (seed = 0; seed < SEEDS / 2 && run(test, sim, &cfg, seed); seed++) {
		refused += sim->n_refused;
		rnr += sim->n_rnr;
	}
	KUNIT_EXPECT_GT(test, rnr, 0u);
	KUNIT_EXPECT_GT(test, refused, 0u);
}

/* Two of four ports lead nowhere, both ways, from some time on */
static void dead_ports(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 rerolls = 0;
	u64 seed;

	cfg.dead_path = 2;
	cfg.loss_ppm = 2000;
	cfg.n_msgs = 60;
	cfg.ns_per_byte_q8 = 256 * 4;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++) {
		rerolls += sim->n_rerolls;
		cfg.dead_at = SIM_SEC + 1 + seed * 37000;
	}
	KUNIT_EXPECT_GT(test, rerolls, (u32)SEEDS / 4);
}

/*
 * Half of the network is gone, and half of all new ports lead there again: a
 * path that has found no way must go on trying ports, not only probe the last.
 */
static void dead_half(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 active = 0, paths = 0;
	u64 seed;
	int i;

	cfg.dead_half = true;
	cfg.timeout = 16;	/* a way may take a few tries */
	cfg.n_msgs = 60;
	cfg.ns_per_byte_q8 = 256 * 4;
	cfg.deadline_ns = 10 * SIM_SEC;
	cfg.rest_ns = 60 * SIM_SEC;
	for (seed = 0; seed < SEEDS / 2; seed++) {
		cfg.dead_at = SIM_SEC + 1 + seed * 23000;
		if (!run(test, sim, &cfg, seed))
			return;
		for (i = 0; i < 2 * cfg.n_paths; i++, paths++)
			active += sim->end[i & 1].path[i / 2].state == MROCE_PATH_ACTIVE;
	}
	KUNIT_EXPECT_GE_MSG(test, active, paths - paths / 20, "%u of %u paths came back", active,
			    paths);
}

/* The only path of a connection dies */
static void dead_single_port(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u64 seed;

	cfg.n_paths = 1;
	cfg.dead_path = 1;
	cfg.n_msgs = 10;
	cfg.deadline_ns = 10 * SIM_SEC;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++)
		cfg.dead_at = SIM_SEC + 1 + seed * 7000;
}

/* Nothing passes for a while: no error, and everything comes through afterwards */
static void all_silent(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u64 seed;

	cfg.loss_ppm = 5000;
	cfg.deadline_ns = 10 * SIM_SEC;
	for (seed = 0; seed < SEEDS; seed++) {
		cfg.silent_at = SIM_SEC + 10000 + seed * 9000;
		cfg.silent_ns = (1 + seed % 10) * 30 * SIM_MS;
		if (!run(test, sim, &cfg, seed))
			break;
	}
}

/* A narrow network that marks and drops */
static void bottleneck(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u32 marked = 0, sent = 0, lost = 0;
	u64 seed;

	cfg.n_msgs = 60;
	cfg.ns_per_byte_q8 = 256 * 8;	/* 1 Gb/s a path */
	cfg.mark_ns = 200000;
	cfg.queue_ns = 2 * SIM_MS;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++) {
		marked += sim->n_marked;
		sent += sim->n_data;
		lost += sim->n_lost;
	}
	KUNIT_EXPECT_GT(test, marked, 0u);
	/* marks come long before the queue is full: hardly a packet is lost */
	KUNIT_EXPECT_LE_MSG(test, lost, sent / 50, "%u of %u lost", lost, sent);
}

/* The local stack refuses packets, two CPUs send */
static void local_trouble(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct sim_cfg cfg = clean;
	u64 seed;

	cfg.strict_cpu = false;
	cfg.local_drop_ppm = 20000;
	cfg.loss_ppm = 5000;
	cfg.deadline_ns = 10 * SIM_SEC;
	for (seed = 0; seed < SEEDS && run(test, sim, &cfg, seed); seed++)
		;
}

/* All at once, every size of connection, dice thrown for each seed */
static void everything(struct kunit *test)
{
	struct sim *sim = sim_of(test);
	struct rnd r;
	u64 seed;

	for (seed = 0; seed < SEEDS; seed++) {
		struct sim_cfg cfg = clean;

		rnd_seed(&r, seed);
		cfg.n_paths = 1 + rnd_below(&r, SIM_PATHS);
		cfg.n_qps = 1 + rnd_below(&r, SIM_QPS);
		cfg.n_msgs = 1 + rnd_below(&r, 40);
		cfg.unit = 128 << rnd_below(&r, 7);
		cfg.max_len = 40 * cfg.unit;
		cfg.one_way = rnd_below(&r, 2);
		cfg.strict_cpu = rnd_below(&r, 2);
		cfg.loss_ppm = rnd_below(&r, 150000);
		cfg.ack_loss_ppm = rnd_below(&r, 300000);
		cfg.dup_ppm = rnd_below(&r, 100000);
		cfg.reorder_ppm = rnd_below(&r, 100000);
		cfg.local_drop_ppm = rnd_below(&r, 10000);
		cfg.busy_ppm = rnd_below(&r, 30000);
		cfg.late_copy_ppm = rnd_below(&r, 500000);
		cfg.delay_ns = 1000 + rnd_below(&r, 2000000);
		cfg.skew_ns = rnd_below(&r, 500000);
		cfg.ns_per_byte_q8 = rnd_below(&r, 2048);
		cfg.queue_ns = rnd_below(&r, 2) * 4 * SIM_MS;
		cfg.mark_ns = rnd_below(&r, 2) * 400000;
		cfg.posted = rnd_below(&r, 3) ? 1 + rnd_below(&r, 8) : SIM_MSGS;
		cfg.dead_path = rnd_below(&r, 2) ? rnd_below(&r, cfg.n_paths + 1) : 0;
		if (cfg.dead_path)
			cfg.dead_at = SIM_SEC + 1 + rnd_below(&r, 30 * SIM_MS);
		cfg.silent_at = SIM_SEC + rnd_below(&r, 30 * SIM_MS);
		cfg.silent_ns = rnd_below(&r, 3) ? 0 : rnd_below(&r, 300 * SIM_MS);
		cfg.timeout = 17;	/* so much trouble at once takes longer to get over */
		cfg.deadline_ns = 60 * SIM_SEC;
		if (!run(test, sim, &cfg, seed))
			break;
	}
}

static struct kunit_case sim_cases[] = {
	KUNIT_CASE(fair_weather),
	KUNIT_CASE(skewed_paths),
	KUNIT_CASE(lost_acks),
	KUNIT_CASE(random_loss),
	KUNIT_CASE(goodput_under_loss),
	KUNIT_CASE(reordering),
	KUNIT_CASE(receiver_not_ready),
	KUNIT_CASE(dead_ports),
	KUNIT_CASE(dead_half),
	KUNIT_CASE(dead_single_port),
	KUNIT_CASE(all_silent),
	KUNIT_CASE(bottleneck),
	KUNIT_CASE(local_trouble),
	KUNIT_CASE(everything),
	{}
};

static struct kunit_suite sim_suite = {
	.name = "mroce_sim",
	.test_cases = sim_cases,
};

kunit_test_suite(sim_suite);
