// SPDX-License-Identifier: GPL-2.0
/* Planes of a connection: opening, proof, closing, and how data is spread over them. */
#include <kunit/test.h>
#include "plane.h"
#include "ps_rig.h"
#include "sched.h"

/* The answer to every PROBE under way on path @i arrives. */
static void answer(struct rig *rig, int i)
{
	rig_arrive(rig, i, rig->path[i].sb.una_seq);
	rig_ack(rig, i);
}

/* Send the PROBEs the timer asks for now; those on @plane are answered. Return: how many. */
static u32 probe(struct rig *rig, int plane)
{
	u32 n = 0;
	int k;

	rig_timer(rig);
	for (k = 0; k < rig->n_act; k++) {
		int i = rig->act[k].path;

		if (rig->act[k].act != MROCE_PS_PROBE)
			continue;
		mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
		if (rig->path[i].plane != plane)
			continue;
		n++;
		rig->now += RIG_RTT_NS / 16;
		answer(rig, i);
	}
	return n;
}

static u32 n_in(const struct rig *rig, u8 plane, enum mroce_path_state state)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < rig->ps.cfg.n_paths; i++)
		n += rig->path[i].plane == plane && rig->path[i].state == state;
	return n;
}

static void prove(struct kunit *test, struct rig *rig, u8 plane)
{
	u32 k;

	for (k = 0; k < 40 && n_in(rig, plane, MROCE_PATH_PROBING); k++) {
		probe(rig, plane);
		rig->now = max(rig->now, mroce_pathset_deadline(&rig->ps));
	}
	KUNIT_EXPECT_EQ(test, n_in(rig, plane, MROCE_PATH_PROBING), 0u);
}

static void one_asks_for_all(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 k;

	rig_warm(rig);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 1, 4, false), 4u);
	KUNIT_EXPECT_EQ(test, n_in(rig, 1, MROCE_PATH_PROBING), 4u);
	/* The first PROBE is small, those that prove the plane are full-sized. */
	for (k = 0; k < MROCE_PATH_GOOD_PROBES; k++) {
		KUNIT_EXPECT_EQ(test, mroce_pathset_probe_full(&rig->ps, 4), k > 0);
		KUNIT_EXPECT_EQ(test, probe(rig, 1), 1u);
		rig->now++;
	}
	KUNIT_EXPECT_EQ(test, n_in(rig, 1, MROCE_PATH_ACTIVE), 1u);
	KUNIT_EXPECT_TRUE(test, rig->ps.plane[1].proved);
	/* Then the others, and small ones will do. */
	KUNIT_EXPECT_EQ(test, probe(rig, 1), 3u);
	KUNIT_EXPECT_FALSE(test, mroce_pathset_probe_full(&rig->ps, 5));
	prove(test, rig, 1);
	KUNIT_EXPECT_EQ(test, n_in(rig, 1, MROCE_PATH_ACTIVE), 4u);
	rig_check(test, rig);
}

static void each_brings_a_window(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	struct mroce_cc_conn *cc = &rig->ps.cc;

	rig_warm(rig);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, RIG_CEILING);
	rig_open(rig, 1, 4, false);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, RIG_CEILING);
	prove(test, rig, 1);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, 2 * RIG_CEILING);
	rig_open(rig, 2, 4, true);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, 3 * RIG_CEILING);
	cc->cwnd_bytes = 3 * RIG_CEILING;
	/* What it had grown to goes with the plane. */
	mroce_plane_close(&rig->ps, 2);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, 2 * RIG_CEILING);
	KUNIT_EXPECT_EQ(test, cc->cwnd_bytes, 2 * RIG_CEILING);
	mroce_plane_close(&rig->ps, 1);
	mroce_plane_close(&rig->ps, 0);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, RIG_CEILING);
	/* However much is asked for. */
	mroce_cc_bound(cc, U64_MAX);
	KUNIT_EXPECT_EQ(test, cc->max_bytes, MROCE_CC_MAX_BYTES);
}

/* Who waits behind a queue that another path has met is not dead. */
static void a_full_queue_accuses_nobody(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 k;

	rig_warm(rig);
	rig_round_trip(rig, 0, 20 * RIG_MS);
	rig_send_on(rig, 1, 0);
	for (k = 0; k < 3; k++) {
		rig_round_trip(rig, 0, 10 * RIG_MS);
		rig_timer(rig);
		KUNIT_EXPECT_EQ(test, rig->n_act, 0);
	}
	KUNIT_EXPECT_EQ(test, (u32)rig->path[1].state, (u32)MROCE_PATH_ACTIVE);
	/* On another plane there is another queue. */
	rig_open(rig, 1, 1, true);
	rig_round_trip(rig, 4, RIG_RTT_NS);
	rig_send_on(rig, 4, 0);
	for (k = 0; k < 2; k++) {
		rig_round_trip(rig, 0, 10 * RIG_MS);
		rig_timer(rig);
	}
	KUNIT_EXPECT_GT(test, rig->n_act, 0);
	/* But not for ever. */
	for (k = 0; k < 20 && rig->path[1].state == MROCE_PATH_ACTIVE; k++) {
		rig_round_trip(rig, 0, 10 * RIG_MS);
		rig_timer(rig);
	}
	KUNIT_EXPECT_NE(test, (u32)rig->path[1].state, (u32)MROCE_PATH_ACTIVE);
}

static void alone_all_ask(struct kunit *test)
{
	struct rig *rig = rig_new(test, 0);

	/* No plane works: nothing tells which will. */
	rig_open(rig, 2, 4, false);
	rig_open(rig, 3, 4, false);
	KUNIT_EXPECT_EQ(test, probe(rig, 2), 4u);
	KUNIT_EXPECT_FALSE(test, mroce_pathset_probe_full(&rig->ps, 0));
}

/* Who has numbered packets before can tell what comes next, wherever it goes. */
static void an_answer_by_another_plane_proves_nothing(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 k;

	rig_warm(rig);
	rig_open(rig, 1, 4, false);
	for (k = 0; k < 3 * MROCE_PATH_GOOD_PROBES; k++) {
		rig_timer(rig);
		mroce_pathset_probe_sent(&rig->ps, 4, 0, rig->now);
		rig_arrive(rig, 4, rig->path[4].sb.una_seq);
		rig_ack_by(rig, 4, 0);
		KUNIT_EXPECT_FALSE(test, mroce_pathset_probe_full(&rig->ps, 4));
		rig->now = max(rig->now, mroce_pathset_deadline(&rig->ps));
	}
	KUNIT_EXPECT_EQ(test, n_in(rig, 1, MROCE_PATH_PROBING), 4u);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[1].proved);
	rig_check(test, rig);
	prove(test, rig, 1);
	KUNIT_EXPECT_TRUE(test, rig->ps.plane[1].proved);
}

/* However often the peer names other addresses, and starts anew. */
static void strangers_are_asked_rarely(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	struct mroce_gate gate = {};
	u32 probes = 0, answered, k, i;

	rig->ps.cfg.strangers = &gate;
	rig_warm(rig);
	for (k = 0; k < 2000; k++, rig->now += RIG_MS / 2) {
		u8 plane = 1 + k % 7;

		mroce_plane_close(&rig->ps, plane);
		rig_open(rig, plane, 4, false);
		rig_timer(rig);
		for (i = 0; i < (u32)rig->n_act; i++)
			probes += rig->act[i].act == MROCE_PS_PROBE &&
				  rig->path[rig->act[i].path].plane;
		if (k % 400 == 0)
			rig_exchange(rig, 0, 1);
	}
	KUNIT_EXPECT_GE(test, probes, 1000u * RIG_MS / MROCE_STRANGER_NS);
	KUNIT_EXPECT_LE(test, probes,
			1000u * RIG_MS / MROCE_STRANGER_NS + MROCE_STRANGER_BURST + 1);
	/* Who answers is no stranger: nobody waits for the gate between one PROBE and the next. */
	rig->now += 1000 * RIG_MS;
	for (k = 1; k < 8; k++)
		mroce_plane_close(&rig->ps, k);
	rig_timer(rig);
	rig_open(rig, 1, 4, false);
	gate.free_ns = rig->now + (MROCE_STRANGER_BURST - 1) * MROCE_STRANGER_NS;
	for (answered = 0, k = 0; k < 8 && answered < MROCE_PATH_GOOD_PROBES + 3; k++)
		answered += probe(rig, 1);
	KUNIT_EXPECT_EQ(test, answered, MROCE_PATH_GOOD_PROBES + 3u);
}

static void no_data_before_the_proof(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i;

	rig_warm(rig);
	rig_open(rig, 1, 4, false);
	for (i = 0; i < 200; i++) {
		int at = rig_send(rig, 0);

		if (at < 0)
			break;
		KUNIT_EXPECT_EQ(test, rig->path[at].plane, 0u);
	}
	KUNIT_EXPECT_GT(test, i, 0u);
}

static void closing_hands_out_what_is_in_flight(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i;

	rig_open(rig, 1, 4, true);
	rig_warm(rig);
	for (i = 0; i < 8; i++)
		rig_send_on(rig, i, 0);
	mroce_plane_close(&rig->ps, 1);
	KUNIT_EXPECT_EQ(test, n_in(rig, 1, MROCE_PATH_OFF), 4u);
	KUNIT_EXPECT_EQ(test, n_in(rig, 0, MROCE_PATH_ACTIVE), 4u);
	KUNIT_EXPECT_LE(test, mroce_pathset_deadline(&rig->ps), rig->now);
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, -1), 4);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 4);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[1].inflight_bytes, 0u);
	rig_check(test, rig);
	/* Nothing goes there, nothing is asked there. */
	for (i = 0; i < 50; i++) {
		int at = rig_send(rig, 0);

		if (at < 0)
			break;
		KUNIT_EXPECT_EQ(test, rig->path[at].plane, 0u);
	}
	for (i = 0; i < 20 && rig_next(rig); i++)
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 4) +
				rig_acted(rig, MROCE_PS_PROBE, 7), 0);
	KUNIT_EXPECT_NE(test, rig->path[mroce_pathset_any(&rig->ps, 0)].state, MROCE_PATH_OFF);
}

static void numbers_go_on(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 seq[4], i;

	rig_open(rig, 1, 4, true);
	rig_warm(rig);
	for (i = 0; i < 4; i++) {
		rig_send_on(rig, 4 + i, 0);
		seq[i] = rig->path[4 + i].sb.next_seq;
	}
	mroce_plane_close(&rig->ps, 1);
	/* Not before what was in flight has been handed out. */
	KUNIT_EXPECT_EQ(test, rig_open(rig, 1, 4, false), 4u);
	KUNIT_EXPECT_EQ(test, rig->ps.cfg.n_paths, 12u);
	mroce_plane_close(&rig->ps, 1);
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 2, 8, false), 8u);
	KUNIT_EXPECT_EQ(test, rig->ps.cfg.n_paths, 12u);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, rig->path[4 + i].sb.next_seq, seq[i]);
		KUNIT_EXPECT_EQ(test, rig->path[4 + i].plane, 2u);
		KUNIT_EXPECT_EQ(test, rig->path[4 + i].sb.epoch_seq, seq[i]);
	}
	prove(test, rig, 2);
	rig_check(test, rig);
}

static void no_more_paths_than_there_may_be(struct kunit *test)
{
	struct rig *rig = rig_new(test, 8);
	u32 i, j;

	KUNIT_EXPECT_EQ(test, rig_open(rig, 1, 16, true), 16u);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 2, 16, true), 8u);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 3, 16, true), 0u);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[3].used);
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[3].proved);
	for (i = 0; i < MROCE_MAX_PATHS; i++)
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, rig->path[i].sport, rig->path[j].sport);
	mroce_plane_close(&rig->ps, 1);
	rig_timer(rig);
	/* Without memory for its records a path cannot be. */
	rig->ps.cfg.n_paths = 30;
	rig->path[31].sb.rec = NULL;
	KUNIT_EXPECT_EQ(test, rig_open(rig, 3, 32, true), 17u);
}

/* All numbers are in use; a plane goes and comes back before its packets are handed out. */
static void a_plane_flaps_when_all_numbers_are_taken(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 p, i;

	for (p = 1; p < 8; p++)
		KUNIT_EXPECT_EQ(test, rig_open(rig, p, 4, true), 4u);
	rig_warm(rig);
	for (i = 0; i < 4; i++) {
		rig_send_on(rig, 8 + i, 0);
		rig_send_on(rig, 20 + i, 0);
	}
	mroce_plane_close(&rig->ps, 2);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 2, 4, false), 4u);
	rig_check(test, rig);
	/* Now with the numbers of another */
	mroce_plane_close(&rig->ps, 2);
	mroce_plane_close(&rig->ps, 5);
	KUNIT_EXPECT_EQ(test, rig_open(rig, 5, 4, false), 4u);
	KUNIT_EXPECT_EQ(test, rig->path[8].plane, 5u);
	rig_check(test, rig);
	/* Nothing is lost but what was in flight, and once. */
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 8);
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_bytes, 0u);
	rig_check(test, rig);
	prove(test, rig, 5);
	rig_check(test, rig);
}

static void who_was_alone_makes_room(struct kunit *test)
{
	struct rig *rig = rig_new(test, 8);
	u32 p;

	rig_warm(rig);
	rig_send_on(rig, 7, 0);
	for (p = 1; p < 8; p++)
		KUNIT_EXPECT_EQ(test, rig_open(rig, p, 4, false), 4u);
	KUNIT_EXPECT_EQ(test, n_in(rig, 0, MROCE_PATH_ACTIVE), 4u);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[0].n_paths, 4u);
	KUNIT_EXPECT_EQ(test, rig->ps.cfg.n_paths, 32u);
	rig_check(test, rig);
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 1);
	prove(test, rig, 7);
	rig_check(test, rig);
}

static void equal_planes_carry_the_same(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 p, i;

	for (p = 1; p < 4; p++)
		rig_open(rig, p, 4, true);
	/* One message at a time, each alone on the wire: the same but for the burst under way. */
	for (i = 0; i < 4000; i++) {
		int at = rig_send(rig, 0);

		KUNIT_ASSERT_GE(test, at, 0);
		rig->now += RIG_RTT_NS;
		rig_arrive(rig, at, rig->path[at].sb.una_seq);
		rig_ack(rig, at);
	}
	for (p = 0; p < 4; p++) {
		KUNIT_EXPECT_GT(test, rig->ps.plane[p].served_bytes, 960ull * RIG_PKT);
		KUNIT_EXPECT_LT(test, rig->ps.plane[p].served_bytes, 1040ull * RIG_PKT);
	}
}

/* A plane that is slower keeps what it has longer, and so is given less. */
static void the_least_in_flight_is_next(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i;

	rig_open(rig, 1, 4, true);
	for (i = 0; i < MROCE_SCHED_BURST_BYTES / RIG_PKT + 1; i++)
		rig_send_on(rig, 0, 0);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 1u);
}

static void a_new_plane_need_not_catch_up(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i, n = 0;

	for (i = 0; i < 1000; i++)
		rig_exchange(rig, 0, 1);
	rig_open(rig, 1, 4, true);
	for (i = 0; i < 400; i++) {
		int at = rig_send(rig, 0);

		n += rig->path[at].plane;
		rig->now += RIG_RTT_NS;
		rig_arrive(rig, at, rig->path[at].sb.una_seq);
		rig_ack(rig, at);
	}
	KUNIT_EXPECT_GT(test, n, 180u);
	KUNIT_EXPECT_LT(test, n, 220u);
}

static void draining_takes_nothing_new(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i;

	rig_open(rig, 1, 4, true);
	rig_warm(rig);
	rig_send_on(rig, 5, 0);
	mroce_plane_drain(&rig->ps, 1, true);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[1].inflight_bytes, RIG_PKT);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 0u);
	/* Retransmissions neither */
	KUNIT_EXPECT_LT(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, 5, rig->now), 4);
	answer(rig, 5);
	KUNIT_EXPECT_EQ(test, rig->ps.plane[1].inflight_bytes, 0u);
	/* The last one that works carries on. */
	mroce_plane_close(&rig->ps, 0);
	rig_timer(rig);
	mroce_plane_drain(&rig->ps, 1, true);
	KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 1u);
}

static void not_all_are_drained(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	int at;

	rig_open(rig, 1, 4, true);
	mroce_plane_drain(&rig->ps, 0, true);
	mroce_plane_drain(&rig->ps, 1, true);
	at = rig_send(rig, 0);
	KUNIT_ASSERT_GE(test, at, 0);
	KUNIT_EXPECT_EQ(test, rig->path[at].plane, 1u);
	/* It was removed, and is there again. */
	mroce_plane_drain(&rig->ps, 0, false);
	mroce_plane_drain(&rig->ps, 1, true);
	at = rig_send(rig, 0);
	KUNIT_ASSERT_GE(test, at, 0);
	KUNIT_EXPECT_EQ(test, rig->path[at].plane, 0u);
}

static void marked_planes_wait(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i;

	rig_open(rig, 1, 2, true);
	mroce_sched_marked(&rig->ps, 0);
	mroce_sched_marked(&rig->ps, 1);
	rig->ps.plane[1].served_bytes = 1000000;
	KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 1u);
	for (i = 2; i < 4; i++)
		mroce_sched_marked(&rig->ps, i);
	/* All are: the turn decides again. */
	KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 0u);
}

/* All paths of a plane fail: it has to prove itself anew, by one path. */
static void a_dead_plane_is_doubted(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i, k;

	rig_open(rig, 1, 4, true);
	rig_warm(rig);
	for (k = 0; k < 400 && rig->ps.plane[1].proved; k++) {
		for (i = 0; i < 4; i++)
			rig_exchange(rig, i, 1);
		for (i = 4; i < 8; i++)
			if (rig->path[i].state == MROCE_PATH_ACTIVE &&
			    !rig->path[i].sb.inflight_pkts)
				rig_send_on(rig, i, 0);
		if (mroce_pathset_deadline(&rig->ps) <= rig->now)
			rig_timer(rig);
	}
	KUNIT_EXPECT_FALSE(test, rig->ps.plane[1].proved);
	KUNIT_EXPECT_EQ(test, n_in(rig, 1, MROCE_PATH_PROBING), 4u);
	KUNIT_EXPECT_EQ(test, n_in(rig, 0, MROCE_PATH_ACTIVE), 4u);
	rig_timer(rig);
	prove(test, rig, 1);
	KUNIT_EXPECT_TRUE(test, rig->ps.plane[1].proved);
	rig_check(test, rig);
}

/* One path of a plane is silent: the others are not trusted until one is heard. */
static void a_plane_in_doubt_waits(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i, k;

	rig_open(rig, 1, 4, true);
	rig_warm(rig);
	rig_send_on(rig, 5, 0);
	for (k = 0; k < 400 && rig->path[5].state == MROCE_PATH_ACTIVE; k++) {
		rig_exchange(rig, k % 4, 1);
		rig_timer(rig);
	}
	KUNIT_EXPECT_EQ(test, rig->path[5].state, MROCE_PATH_SUSPECT);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, 5), 1);
	/* Idle ones would never notice: they ask. */
	for (i = 4; i < 8; i++)
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, i), 1);
	KUNIT_EXPECT_LT(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, 5, rig->now), 4);
	KUNIT_EXPECT_LT(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, 6, rig->now), 4);
	for (i = 0; i < 20; i++)
		KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 0u);
	/* Nothing else works: better there than nowhere. */
	mroce_plane_close(&rig->ps, 0);
	rig_timer(rig);
	KUNIT_EXPECT_GE(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, -1, rig->now), 4);
	rig_open(rig, 0, 4, true);
	KUNIT_EXPECT_EQ(test, rig->path[rig_send(rig, 0)].plane, 0u);
	/* It was only that path. */
	mroce_pathset_probe_sent(&rig->ps, 6, 0, rig->now);
	answer(rig, 6);
	KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, 6, rig->now), 6);
	rig_check(test, rig);
}

/* Loss that all paths of a plane see is not the fault of their ports. */
static void bad_routes_are_compared_within_a_plane(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i, k;

	rig_open(rig, 1, 4, true);
	for (k = 0; k < 400; k++) {
		for (i = 0; i < 8; i++) {
			u32 seq = rig->path[i].sb.next_seq;

			rig_send_on(rig, i, 0);
			rig_send_on(rig, i, 0);
			rig->now += RIG_RTT_NS / 8;
			/* Every tenth of plane 1 is lost. */
			rig_arrive(rig, i, seq + (i >= 4 && k % 5 == 0));
			rig_ack(rig, i);
		}
	}
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, rig->path[i].rerolls, 0ull);
}

/* Send @n packets for a stream that prefers some paths. Return: on which, bit = path. */
static u32 send_for(struct rig *rig, const struct mroce_want *want, u32 n)
{
	u32 used = 0;

	while (n--) {
		int at = mroce_pathset_pick_for(&rig->ps, 0, RIG_PKT, -1, want, rig->now);

		if (at < 0)
			break;
		used |= 1u << at;
		rig_send_on(rig, at, 0);
		rig->now += RIG_RTT_NS;
		rig_arrive(rig, at, rig->path[at].sb.una_seq);
		rig_ack(rig, at);
	}
	return used;
}

static void streams_may_prefer_paths(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	struct mroce_want want = { .paths = 1 };
	u32 seen = 0;

	rig_open(rig, 1, 4, true);
	for (want.salt = 0; want.salt < 8; want.salt++) {
		u32 used = send_for(rig, &want, 200);

		KUNIT_EXPECT_EQ(test, hweight32(used), 1u);
		seen |= used;
	}
	KUNIT_EXPECT_EQ(test, seen, 0xffu);
	want.paths = 3;
	KUNIT_EXPECT_EQ(test, hweight32(send_for(rig, &want, 400)), 3u);
	want.paths = 0;
	want.planes = 2;
	KUNIT_EXPECT_EQ(test, send_for(rig, &want, 400) & 0x0f, 0u);
	/* Retransmissions keep to it, too. */
	KUNIT_EXPECT_GE(test, mroce_pathset_pick_for(&rig->ps, 0, RIG_PKT, 1, &want, rig->now), 4);
	KUNIT_EXPECT_EQ(test, mroce_pathset_pick_for(&rig->ps, 0, RIG_PKT, 6, &want, rig->now), 6);
	/* Few paths, of that plane */
	want.paths = 2;
	for (want.salt = 0; want.salt < 8; want.salt++) {
		u32 used = send_for(rig, &want, 400);

		KUNIT_EXPECT_EQ(test, hweight32(used), 2u);
		KUNIT_EXPECT_EQ(test, used & 0x0f, 0u);
	}
	want.paths = 0;
	/* A plane that is leaving is none to wait for. */
	mroce_plane_drain(&rig->ps, 1, true);
	KUNIT_EXPECT_NE(test, send_for(rig, &want, 10), 0u);
	rig->ps.plane[1].draining = false;
	/* Better another path than none. */
	mroce_plane_close(&rig->ps, 1);
	rig_timer(rig);
	KUNIT_EXPECT_NE(test, send_for(rig, &want, 400), 0u);
	KUNIT_EXPECT_EQ(test, mroce_pathset_pick_for(&rig->ps, 0, RIG_PKT, 1, &want, rig->now), 1);
}

static void few_paths_on_each_of_many_planes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(0, 1), 8u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(0, 0), 8u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(0, 2), 4u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(0, 8), 4u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(1, 8), 1u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(32, 1), 32u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(32, 4), 8u);
	KUNIT_EXPECT_EQ(test, mroce_plane_paths(99, 1), 32u);
}

/* A plane that is off says nothing about round trips. */
static void off_planes_do_not_delay(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u64 rto;

	rig_warm(rig);
	rto = mroce_pathset_rto_ns(&rig->ps);
	rig_open(rig, 1, 4, true);
	rig->path[4].rtt.srtt_ns = 900 * RIG_MS;
	KUNIT_EXPECT_GE(test, mroce_pathset_rto_ns(&rig->ps), 900 * RIG_MS);
	mroce_plane_close(&rig->ps, 1);
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), rto);
}

/* A HELLO is large: it goes where the peer has answered, and not always there. */
static void hellos_take_proved_planes(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig_warm(rig);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), 1);
	/* Of several paths the one heard last, of whichever plane */
	rig_open(rig, 1, 2, true);
	rig_exchange(rig, 3, 1);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), 3);
	rig_exchange(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), 0);
	/* Not in the way of another CPU */
	rig_send_on(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 1), 0);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), 3);
	rig_exchange(rig, 0, 1);
	/* Without an answer every other one tries the planes instead. */
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 1, 0), -1);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 3, 0), -1);
	/* In silence all do; no path loses its turn by that. */
	rig->ps.silent = true;
	rig->ps.any = 0;
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), -1);
	KUNIT_EXPECT_EQ(test, rig->ps.any, 0);
}

/* Large packets to an address that only the peer's word has named would be an attack by us. */
static void hellos_avoid_planes_without_proof(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig_warm(rig);
	rig_open(rig, 1, 2, false);
	/* Another plane's path is there. */
	KUNIT_EXPECT_EQ(test, rig->path[mroce_plane_hello(&rig->ps, 0, 0)].plane, 0);
	/* It is not: better none than one that proves nothing. */
	mroce_plane_close(&rig->ps, 0);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), -1);
	prove(test, rig, 1);
	KUNIT_EXPECT_GE(test, mroce_plane_hello(&rig->ps, 0, 0), 2);
	/* All paths failed: it has to prove itself again. */
	rig->path[2].state = MROCE_PATH_FAILED;
	rig->path[3].state = MROCE_PATH_FAILED;
	mroce_plane_doubt(&rig->ps, 1);
	KUNIT_EXPECT_EQ(test, mroce_plane_hello(&rig->ps, 0, 0), -1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(one_asks_for_all),
	KUNIT_CASE(each_brings_a_window),
	KUNIT_CASE(a_full_queue_accuses_nobody),
	KUNIT_CASE(alone_all_ask),
	KUNIT_CASE(an_answer_by_another_plane_proves_nothing),
	KUNIT_CASE(strangers_are_asked_rarely),
	KUNIT_CASE(no_data_before_the_proof),
	KUNIT_CASE(closing_hands_out_what_is_in_flight),
	KUNIT_CASE(numbers_go_on),
	KUNIT_CASE(no_more_paths_than_there_may_be),
	KUNIT_CASE(a_plane_flaps_when_all_numbers_are_taken),
	KUNIT_CASE(who_was_alone_makes_room),
	KUNIT_CASE(equal_planes_carry_the_same),
	KUNIT_CASE(the_least_in_flight_is_next),
	KUNIT_CASE(a_new_plane_need_not_catch_up),
	KUNIT_CASE(draining_takes_nothing_new),
	KUNIT_CASE(not_all_are_drained),
	KUNIT_CASE(marked_planes_wait),
	KUNIT_CASE(a_dead_plane_is_doubted),
	KUNIT_CASE(a_plane_in_doubt_waits),
	KUNIT_CASE(bad_routes_are_compared_within_a_plane),
	KUNIT_CASE(streams_may_prefer_paths),
	KUNIT_CASE(few_paths_on_each_of_many_planes),
	KUNIT_CASE(off_planes_do_not_delay),
	KUNIT_CASE(hellos_take_proved_planes),
	KUNIT_CASE(hellos_avoid_planes_without_proof),
	{}
};

static struct kunit_suite suite = { .name = "mroce_plane", .test_cases = cases };
kunit_test_suite(suite);
