// SPDX-License-Identifier: GPL-2.0
/* Nothing comes back on any path: whose fault is it, and how does it end? */
#include "ps_rig.h"

/* Request and answer over one dead path, the others idle: the witness tells. */
static void witness_convicts_a_dead_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u64 start;
	u32 seq, k;

	rig_warm(rig);
	start = rig->now;
	/* The neighbour is in no state to give evidence. */
	rig->path[2].state = MROCE_PATH_SUSPECT;
	rig->path[2].timer_ns = rig->now + 1000 * RIG_MS;
	rig_send_on(rig, 1, 0);
	for (k = 0; k < 20 && rig->path[1].state == MROCE_PATH_ACTIVE; k++) {
		int i;

		rig_next(rig);
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 2), 0);
		for (i = 0; i < 4; i++) {
			if (!rig_acted(rig, MROCE_PS_PROBE, i))
				continue;
			seq = mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
			if (i == 1)
				continue;
			rig->now += RIG_RTT_NS;
			rig_arrive(rig, i, seq);
			rig_ack(rig, i);
		}
	}
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_PROBING);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 1);
	KUNIT_EXPECT_LE(test, rig->now - start, MROCE_PTO_MIN_NS + 6 * RIG_RTT_NS);
}

/* One witness is enough: the next path that has nothing to do. */
static void one_witness_is_called(struct kunit *test)
{
	struct rig *rig = rig_new(test, 5);

	rig_warm(rig);
	rig_send_on(rig, 3, 0);
	/* The first neighbour is busy, too, but not for as long. */
	rig->now += 1000;
	rig_send_on(rig, 4, 0);
	rig_next(rig);
	KUNIT_EXPECT_TRUE(test, rig->ps.silent);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 3), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 0), 1);
	KUNIT_EXPECT_EQ(test, rig->n_act, 2);
}

/* The neighbour, whoever is silent, if it is the only one, too. */
static void the_neighbour_is_called(struct kunit *test)
{
	u32 n;

	for (n = 2; n <= 4; n++) {
		u32 i;

		for (i = 0; i < n; i++) {
			struct rig *rig = rig_new(test, n);

			rig_warm(rig);
			rig_send_on(rig, i, 0);
			rig_next(rig);
			KUNIT_EXPECT_TRUE(test, rig->ps.silent);
			KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, i), 1);
			KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, (i + 1) % n), 1);
			KUNIT_EXPECT_EQ(test, rig->n_act, 2);
		}
	}
}

/* The first wait is a probe timeout, the next ones twice the one before. */
static void silence_doubles_the_wait(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 k;

	rig_warm(rig);
	rig_send_on(rig, 0, 0);
	for (k = 0; k < 10; k++) {
		KUNIT_ASSERT_TRUE(test, rig_next(rig));
		KUNIT_ASSERT_EQ(test, rig->ps.n_silent, k + 1);
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 0), 1);
		KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps) - rig->now,
				min(MROCE_PTO_MIN_NS << k, MROCE_PROBE_MAX_NS));
	}
}

/*
 * Nothing comes back on any path: few PROBEs, ever rarer; no path fails, but in
 * the end everything has been handed back to be sent again.
 */
static void all_silent(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 probes = 0, flushed = 0, failed = 0, i;
	u64 start, last, longest = 0;

	rig_warm(rig);
	start = rig->now;
	last = start;
	for (i = 0; i < 40; i++)
		rig_send_on(rig, i % 4, 0);
	while (rig->now < start + 10000 * RIG_MS && rig_next(rig)) {
		for (i = 0; i < 4; i++) {
			if (rig_acted(rig, MROCE_PS_PROBE, i))
				mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
			failed += rig->path[i].state == MROCE_PATH_PROBING ||
				  rig->path[i].state == MROCE_PATH_FAILED;
		}
		if (rig->now < start + 2 * RIG_MS)
			KUNIT_EXPECT_EQ(test, rig->n_ev, 0);
		if (rig_acted(rig, MROCE_PS_PROBE, -1)) {
			longest = max(longest, rig->now - last);
			last = rig->now;
			probes++;
		}
		flushed += rig->n_ev;
		KUNIT_ASSERT_GT(test, mroce_pathset_deadline(&rig->ps), rig->now);
		rig_check(test, rig);
	}
	KUNIT_EXPECT_TRUE(test, rig->ps.silent);
	KUNIT_EXPECT_EQ(test, failed, 0u);
	KUNIT_EXPECT_EQ(test, flushed, 40u);
	/* 1, 2, 4 .. 64 ms, one in 64 ms up to the 16th, then one a second. */
	KUNIT_EXPECT_EQ(test, longest, MROCE_PTO_MAX_NS);
	KUNIT_EXPECT_GE(test, probes, 24u);
	KUNIT_EXPECT_LE(test, probes, 30u);
}

/* And when the network is back, all paths are back soon. */
static void silence_ends(struct kunit *test)
{
	u32 n;

	for (n = 1; n <= 4; n++) {
		struct rig *rig = rig_new(test, n);
		u32 i, active, rerolls = 0;
		u64 back = 0;

		rig_warm(rig);
		/* With others, one path was without a good port before. */
		if (n > 1)
			rig->path[1].state = MROCE_PATH_PROBING;
		for (i = 0; i < n; i++)
			rig_send_on(rig, i, 0);
		for (active = 0; active < n && rig_next(rig);) {
			for (i = 0; i < n; i++) {
				u32 seq;

				if (!rig_acted(rig, MROCE_PS_PROBE, i))
					continue;
				seq = mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
				if (rig->ps.n_silent < 8 && !back)
					continue;
				back = back ? back : rig->now;
				rig->now += RIG_RTT_NS / n;
				rig_arrive(rig, i, seq);
				rig_ack(rig, i);
			}
			for (active = 0, i = 0; i < n; i++)
				active += rig->path[i].state == MROCE_PATH_ACTIVE &&
					  !rig->path[i].sb.inflight_pkts && back;
		}
		KUNIT_EXPECT_EQ_MSG(test, active, n, "%u paths", n);
		KUNIT_EXPECT_FALSE(test, rig->ps.silent);
		KUNIT_EXPECT_LE_MSG(test, rig->now - back, 2 * RIG_MS, "%u paths", n);
		/* The long silence convicts nobody. */
		for (i = 0; i < n; i++)
			rerolls += rig->path[i].rerolls;
		KUNIT_EXPECT_LE_MSG(test, rerolls, 8 - 2, "%u paths", n);
		KUNIT_EXPECT_EQ(test, rig->ps.inflight_pkts, 0u);
	}
}

/* Who was silent while all were is suspected again, not condemned. */
static void silence_is_no_evidence(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 seq;

	rig_warm(rig);
	seq = rig_send_on(rig, 0, 0);
	rig_send_on(rig, 1, 0);
	while (rig->ps.n_silent < 2)
		rig_next(rig);
	rig->now += RIG_RTT_NS;
	rig_arrive(rig, 0, seq);
	rig_ack(rig, 0);
	KUNIT_EXPECT_FALSE(test, rig->ps.silent);
	KUNIT_EXPECT_EQ(test, rig->ps.n_silent, 0);
	while (rig->path[1].state == MROCE_PATH_ACTIVE && rig_next(rig))
		;
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_SUSPECT);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
}

/* A peer that stops for a moment costs PROBEs, not paths. */
static void short_stall_costs_nothing(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 from[4], i;
	u64 back;

	rig_warm(rig);
	for (i = 0; i < 4; i++) {
		from[i] = rig->path[i].sb.next_seq;
		rig->now += 1000;
		rig_send_on(rig, i, 0);
		rig_send_on(rig, i, 0);
	}
	back = rig->now + 2500000;
	while (mroce_pathset_deadline(&rig->ps) < back) {
		rig_next(rig);
		KUNIT_EXPECT_EQ(test, rig->n_ev, 0);
		for (i = 0; i < 4; i++)
			if (rig_acted(rig, MROCE_PS_PROBE, i))
				mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
	}
	rig->now = back;
	for (i = 0; i < 4; i++) {
		rig_arrive(rig, i, from[i]);
		KUNIT_EXPECT_EQ(test, rig_ack(rig, i), 0);
		KUNIT_EXPECT_EQ(test, rig->path[i].state, MROCE_PATH_ACTIVE);
		KUNIT_EXPECT_GT(test, rig->path[i].cc.cwnd_bytes, RIG_PKT);
	}
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
}

/* Questions go round in silence: one way may work. */
static void questions_take_turns(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 seen[3] = { 0 };
	u32 i;

	rig_warm(rig);
	rig_send_on(rig, 0, 0);
	rig_next(rig);
	KUNIT_ASSERT_TRUE(test, rig->ps.silent);
	for (i = 0; i < 6; i++)
		seen[mroce_pathset_any(&rig->ps, 0)]++;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, seen[i], 2u);
}

/*
 * A long silence, probes are rare; then a stream begins. It is asked at once, and
 * again as eagerly as at first; but no oftener, whoever else begins.
 */
static void a_stream_that_begins_asks_again(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i, probes = 0;
	u64 start;

	rig_warm(rig);
	mroce_pathset_wake(&rig->ps, rig->now);
	KUNIT_EXPECT_FALSE(test, rig->ps.silent);
	start = rig->now;
	for (i = 0; i < 4; i++)
		rig_send_on(rig, i, 0);
	while (rig->now < start + 5000 * RIG_MS && rig_next(rig))
		for (i = 0; i < 4; i++)
			if (rig_acted(rig, MROCE_PS_PROBE, i))
				mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
	KUNIT_ASSERT_TRUE(test, rig->ps.silent);
	KUNIT_ASSERT_GT(test, mroce_pathset_deadline(&rig->ps), rig->now);

	mroce_pathset_wake(&rig->ps, rig->now);
	KUNIT_EXPECT_LE(test, mroce_pathset_deadline(&rig->ps), rig->now);
	start = rig->now;
	while (rig->now < start + 250 * RIG_MS && rig_next(rig)) {
		for (i = 0; i < 4; i++)
			if (rig_acted(rig, MROCE_PS_PROBE, i))
				mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
		probes += rig_acted(rig, MROCE_PS_PROBE, -1);
		rig_check(test, rig);
	}
	KUNIT_EXPECT_GE(test, probes, 4u);

	/* Others begin as well: the next probe is not before its time. */
	rig->ps.n_silent = 3;
	start = mroce_pathset_deadline(&rig->ps);
	mroce_pathset_wake(&rig->ps, rig->now);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), start);
}

/* Ports without proof, too, begin with their shortest interval again. */
static void who_begins_asks_new_ports_again(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct mroce_path *p = &rig->path[1], *bait = &rig->path[2];

	rig_warm(rig);
	rig->ps.silent = true;
	rig->ps.n_silent = 20;
	p->state = MROCE_PATH_PROBING;
	p->backoff = 9;
	p->timer_ns = rig->now + 500 * RIG_MS;
	bait->backoff = 9;
	mroce_pathset_wake(&rig->ps, rig->now);
	KUNIT_EXPECT_EQ(test, rig_timer(rig), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	KUNIT_EXPECT_EQ(test, p->timer_ns, rig->now + MROCE_PROBE_MIN_NS);
	KUNIT_EXPECT_EQ(test, p->backoff, 1);
	/* Behind the last path is none. */
	KUNIT_EXPECT_EQ(test, bait->backoff, 9);
}

/* What the end of a silence changes, and where: on the paths there are. */
static void the_end_forgives_all_paths(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 i;

	rig_warm(rig);
	rig->ps.silent = true;
	rig->ps.n_silent = 2;
	for (i = 0; i < 4; i++) {
		rig->path[i].state = MROCE_PATH_SUSPECT;
		rig->path[i].n_pto = 9;
		rig->path[i].backoff = 9;
		rig->path[i].timer_ns = U64_MAX;
	}
	rig_exchange(rig, 1, 1);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, rig->path[i].n_pto, 0);
		KUNIT_EXPECT_EQ(test, rig->path[i].backoff, 0);
		KUNIT_EXPECT_EQ(test, rig->path[i].timer_ns, rig->now + MROCE_PTO_MIN_NS);
	}
	KUNIT_EXPECT_EQ(test, rig->path[3].n_pto, 9);
	KUNIT_EXPECT_EQ(test, rig->path[3].timer_ns, U64_MAX);
	/* Who is still suspected is asked, who was heard is not. */
	rig_timer(rig);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, i), i != 1);
}

static struct kunit_case silence_cases[] = {
	KUNIT_CASE(witness_convicts_a_dead_path),
	KUNIT_CASE(one_witness_is_called),
	KUNIT_CASE(the_neighbour_is_called),
	KUNIT_CASE(silence_doubles_the_wait),
	KUNIT_CASE(all_silent),
	KUNIT_CASE(a_stream_that_begins_asks_again),
	KUNIT_CASE(silence_ends),
	KUNIT_CASE(silence_is_no_evidence),
	KUNIT_CASE(short_stall_costs_nothing),
	KUNIT_CASE(questions_take_turns),
	KUNIT_CASE(who_begins_asks_new_ports_again),
	KUNIT_CASE(the_end_forgives_all_paths),
	{}
};

static struct kunit_suite silence_suite = {
	.name = "mroce_silence",
	.test_cases = silence_cases,
};

kunit_test_suite(silence_suite);
