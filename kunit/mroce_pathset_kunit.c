// SPDX-License-Identifier: GPL-2.0
/* All paths together: acknowledgments, probe timeouts, failures, silence. */
#include "ps_rig.h"

static void ports_are_distinct(struct kunit *test)
{
	struct rig *rig = rig_new(test, MROCE_MAX_PATHS);
	u32 i, j;

	/* All asked for the same one. */
	for (i = 0; i < MROCE_MAX_PATHS; i++) {
		KUNIT_EXPECT_GE(test, rig->path[i].sport, 49152u);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, rig->path[i].sport, rig->path[j].sport);
		KUNIT_EXPECT_EQ(test, rig->path[i].state, MROCE_PATH_ACTIVE);
		KUNIT_EXPECT_EQ(test, rig->path[i].sb.next_seq, 0xfffffffeu + i);
	}
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
}

static void port_range_wraps(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	struct mroce_pathset_cfg cfg = rig->ps.cfg;
	u32 rnd[8] = { 0, 16383, 0, 16383 + 16384 * 3, 0, 16382, 0, 16382 };

	mroce_pathset_init(&rig->ps, &cfg, rig->path, rnd, rig->now);
	KUNIT_EXPECT_EQ(test, rig->path[0].sport, 65535u);
	KUNIT_EXPECT_EQ(test, rig->path[1].sport, 49152u);
	KUNIT_EXPECT_EQ(test, rig->path[2].sport, 65534u);
	/* Past three neighbours, whatever their order. */
	KUNIT_EXPECT_EQ(test, rig->path[3].sport, 49153u);
}

static void acknowledged_and_accounted(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 from = rig->path[1].sb.next_seq;
	u32 i;

	for (i = 0; i < 4; i++)
		rig_send_on(rig, 1, 0);
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_bytes, 4 * RIG_PKT);
	rig->now += RIG_RTT_NS;
	rig_arrive(rig, 1, from);
	KUNIT_EXPECT_EQ(test, rig_ack(rig, 1), 0);
	KUNIT_EXPECT_EQ(test, rig->res.acked_pkts, 4u);
	KUNIT_EXPECT_EQ(test, rig->res.acked_bytes, 4 * RIG_PKT);
	KUNIT_EXPECT_EQ(test, rig->res.rtt_ns, RIG_RTT_NS);
	KUNIT_EXPECT_EQ(test, rig->path[1].rtt.srtt_ns, RIG_RTT_NS);
	KUNIT_EXPECT_EQ(test, rig->path[1].acked_pkts, 4ull);
	KUNIT_EXPECT_EQ(test, rig->ps.last_heard_ns, rig->now);
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), RIG_RTT_NS * 3 + 20000);
	rig_check(test, rig);
}

static void unknown_path_changes_nothing(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct mroce_ack_part part = { .path = 2, .rcvd = { 1 } };

	rig_send_on(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_ack(&rig->ps, &part, rig->now, &rig->res, rig->ev, 4),
			0);
	part.path = 255;
	KUNIT_EXPECT_EQ(test, mroce_pathset_ack(&rig->ps, &part, rig->now, &rig->res, rig->ev, 4),
			0);
	KUNIT_EXPECT_FALSE(test, rig->res.heard);
	/* The caller does not try again. */
	KUNIT_EXPECT_FALSE(test, rig->res.more);
	rig_check(test, rig);
}

/* Resumed calls give policy the totals, once. */
static void losses_in_pieces(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	struct mroce_ack_part part = { .path = 0 };
	u32 before, i, n = 0;

	for (i = 0; i < 20; i++)
		rig_send_on(rig, 0, 0);
	before = rig->path[0].cc.cwnd_bytes;
	part.highest = rig->path[0].sb.next_seq - 1;
	part.rcvd[0] = 0x401;
	part.ce_count = 1;
	do {
		n += mroce_pathset_ack(&rig->ps, &part, rig->now + 1, &rig->res, rig->ev, 5);
		rig_check(test, rig);
	} while (rig->res.more);
	KUNIT_EXPECT_EQ(test, n, 18u);
	KUNIT_EXPECT_EQ(test, rig->res.lost_pkts, 18u);
	KUNIT_EXPECT_EQ(test, rig->res.acked_pkts, 2u);
	KUNIT_EXPECT_EQ(test, rig->res.marked_pkts, 1u);
	KUNIT_EXPECT_EQ(test, rig->path[0].lost_pkts, 18ull);
	KUNIT_EXPECT_LE(test, rig->path[0].cc.cwnd_bytes, before - 18 * RIG_PKT);
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_pkts, 0u);
}

static void marks_are_counted_and_bounded(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig->rx[0].ce_count = 1000;
	rig_exchange(rig, 0, 3);
	KUNIT_EXPECT_EQ(test, rig->res.marked_pkts, 3u);
	KUNIT_EXPECT_GT(test, rig->path[0].skip, 0u);
	rig->rx[0].ce_count = 990;
	rig_exchange(rig, 0, 3);
	KUNIT_EXPECT_EQ(test, rig->res.marked_pkts, 0u);
	rig->rx[0].ce_count = 1001;
	rig_exchange(rig, 0, 3);
	KUNIT_EXPECT_EQ(test, rig->res.marked_pkts, 1u);
}

/* The last packets of a burst are lost: PROBE within the timeout, loss in its answer. */
static void tail_loss(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u64 sent_at;
	u32 seq;

	rig_warm(rig);
	sent_at = rig->now;
	rig_send_on(rig, 2, 0);
	rig_send_on(rig, 2, 0);
	KUNIT_ASSERT_TRUE(test, rig_next(rig));
	KUNIT_EXPECT_LE(test, rig->now - sent_at, MROCE_PTO_MIN_NS);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 2), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, -1), 0);
	KUNIT_EXPECT_EQ(test, rig->path[2].state, MROCE_PATH_ACTIVE);
	seq = mroce_pathset_probe_sent(&rig->ps, 2, 0, rig->now);
	KUNIT_EXPECT_GT(test, mroce_pathset_deadline(&rig->ps), rig->now);
	rig->now += RIG_RTT_NS;
	rig_arrive(rig, 2, seq);
	KUNIT_EXPECT_EQ(test, rig_ack(rig, 2), 2);
	KUNIT_EXPECT_EQ(test, rig->ev[0].kind, MROCE_PS_LOST);
	KUNIT_EXPECT_EQ(test, rig->path[2].n_pto, 0u);
	/* The witness has not been answered, and that is all. */
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_bytes, 0u);
	rig_check(test, rig);
}

/* The path answered just now, only its last packet is missing: no suspicion. */
static void tail_of_a_lively_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 first, k;
	u64 start;

	rig_warm(rig);
	start = rig->now;
	first = rig_send_on(rig, 1, 0);
	rig_send_on(rig, 1, 0);
	while (rig->now < start + MROCE_PTO_MIN_NS) {
		rig_exchange(rig, 0, 2);
		if (rig->now - start == 3 * RIG_RTT_NS) {
			mroce_rxwin_mark(&rig->rx[1], first, false, false, false, &rig_policy,
					 rig->now);
			rig_ack(rig, 1);
		}
	}
	KUNIT_ASSERT_EQ(test, rig->path[1].sb.inflight_pkts, 1u);
	for (k = 0; k < 3 && !rig_acted(rig, MROCE_PS_PROBE, 1); k++)
		rig_next(rig);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_GT(test, rig->path[1].cc.cwnd_bytes, RIG_PKT);
	/* The answer is due after a round trip; if it does not come the path is suspected. */
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + 20000 +
			rig->path[1].rtt.srtt_ns + rig->path[1].rtt.rttvar_ns);
}

/* A packet is missing on a path that reorders: one PROBE, not one for each arrival. */
static void missing_is_asked_for_once(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u64 rtt = 10 * RIG_MS;
	u32 first, probe, i;
	u64 start;

	rig->path[0].rtt.srtt_ns = rtt;
	rig->path[0].rtt.rttvar_ns = MROCE_RTTVAR_MIN_NS;
	rig->path[0].rtt.min_ns = rtt;
	rig->path[0].sb.reo_tol = 50;
	start = rig->now;
	first = rig_send_on(rig, 0, 0);
	rig->now += rtt + RIG_MS;
	for (i = 0; i < 8; i++) {
		rig->now += RIG_MS / 10;
		rig_send_on(rig, 0, 0);
	}
	rig_next(rig);
	KUNIT_EXPECT_LE(test, rig->now, start + 2 * rtt + RIG_MS / 5);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 0), 1);
	probe = mroce_pathset_probe_sent(&rig->ps, 0, 0, rig->now);
	for (i = 1; i < 9; i++) {
		rig->now = start + 2 * rtt + RIG_MS + i * (RIG_MS / 10);
		mroce_rxwin_mark(&rig->rx[0], first + i, false, false, false, &rig_policy,
				 rig->now);
		KUNIT_EXPECT_EQ(test, rig_ack(rig, 0), 0);
		KUNIT_EXPECT_GT(test, mroce_pathset_deadline(&rig->ps), rig->now);
	}
	rig->now = start + 3 * rtt + RIG_MS;
	rig_arrive(rig, 0, probe);
	KUNIT_EXPECT_EQ(test, rig_ack(rig, 0), 1);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
}

/* A packet that came late makes the path's timeout and its patience longer. */
static void late_packets_teach_patience(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	struct mroce_path *p = &rig->path[0];
	u64 patience, late = 20 * RIG_MS;
	u32 first;

	rig_warm(rig);
	first = rig_send_on(rig, 0, 0);
	rig_exchange(rig, 0, 1);
	KUNIT_ASSERT_EQ(test, rig->n_ev, 1);
	rig->now += late - RIG_RTT_NS;
	mroce_rxwin_mark(&rig->rx[0], first, false, false, false, &rig_policy, rig->now);
	KUNIT_EXPECT_EQ(test, rig_ack(rig, 0), 0);
	KUNIT_EXPECT_EQ(test, rig->res.spurious_pkts, 1u);
	KUNIT_EXPECT_GE(test, p->rtt.srtt_ns, late / 8);
	KUNIT_EXPECT_GE(test, p->rtt.rttvar_ns, late / 4 - RIG_MS);
	/* While it reorders, a packet may stay away as long as round trips vary. */
	p->sb.reo_tol = 100;
	patience = p->rtt.srtt_ns + p->rtt.srtt_ns / 4 + 2 * p->rtt.rttvar_ns;
	rig_send_on(rig, 0, 0);
	rig->now += patience;
	rig_exchange(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 0);
	rig->now += 4 * patience;
	rig_exchange(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 1);
}

/* An answer that was on its way already does not accuse the path that sent later. */
static void early_answers_accuse_nobody(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 seq;

	rig_warm(rig);
	seq = rig_send_on(rig, 0, 0);
	rig_send_on(rig, 1, 0);
	rig->now += RIG_RTT_NS / 2;
	rig_arrive(rig, 0, seq);
	rig_ack(rig, 0);
	rig_next(rig);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_TRUE(test, rig->ps.silent);
}

/* Others keep working; nothing comes back on path 1. @lost: packets handed out, in which state */
static u64 starve_path(struct rig *rig, struct kunit *test, u32 lost[MROCE_PATH_STATES])
{
	u64 start = rig->now;
	u32 k;

	memset(lost, 0, MROCE_PATH_STATES * sizeof(*lost));

	for (k = 0; k < 10; k++)
		rig_send_on(rig, 1, 0);
	for (k = 0; k < 4000 && rig->path[1].state != MROCE_PATH_PROBING; k++) {
		rig_exchange(rig, 0, 2);
		rig_exchange(rig, 2, 2);
		if (mroce_pathset_deadline(&rig->ps) > rig->now)
			continue;
		rig_timer(rig);
		lost[rig->path[1].state] += rig->n_ev;
		if (rig_acted(rig, MROCE_PS_PROBE, 1))
			mroce_pathset_probe_sent(&rig->ps, 1, 0, rig->now);
		rig_check(test, rig);
	}
	return rig->now - start;
}

static void dead_path_fails_alone(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u16 port = rig->path[1].sport;
	u32 lost[MROCE_PATH_STATES];
	u64 took;

	rig_warm(rig);
	took = starve_path(rig, test, lost);
	KUNIT_EXPECT_LE(test, took, 2 * MROCE_PTO_MIN_NS + 6 * RIG_RTT_NS);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_PROBING);
	/* What is on it goes elsewhere with the first suspicion. */
	KUNIT_EXPECT_EQ(test, lost[MROCE_PATH_SUSPECT], 10u);
	KUNIT_EXPECT_EQ(test, lost[MROCE_PATH_PROBING], 0u);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_REROLL, 1), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	KUNIT_EXPECT_NE(test, rig->path[1].sport, port);
	KUNIT_EXPECT_EQ(test, rig->path[1].cc.cwnd_bytes, RIG_PKT);
	KUNIT_EXPECT_EQ(test, rig->path[0].state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_EQ(test, rig->path[2].state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_EQ(test, rig->ps.silent, false);
}

/* Where packets get lost an answer that does not come says less: they stay until it fails. */
static void lossy_path_keeps_its_packets(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 lost[MROCE_PATH_STATES];

	rig_warm(rig);
	rig->path[1].loss_q16 = 3000;
	starve_path(rig, test, lost);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_PROBING);
	KUNIT_EXPECT_EQ(test, lost[MROCE_PATH_SUSPECT], 0u);
	KUNIT_EXPECT_EQ(test, lost[MROCE_PATH_PROBING], 10u);
}

/* First the timeout, then only suspicion; any sign of life ends it. */
static void suspect_is_forgiven(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 from, k;

	rig_warm(rig);
	from = rig->path[1].sb.next_seq;
	rig_send_on(rig, 1, 0);
	for (k = 0; k < 200 && rig->path[1].state == MROCE_PATH_ACTIVE; k++) {
		rig_exchange(rig, 0, 2);
		rig_timer(rig);
	}
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_SUSPECT);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, -1), 1);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 1);
	rig_arrive(rig, 1, from);
	KUNIT_EXPECT_EQ(test, rig_ack(rig, 1), 0);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
}

/* One good probe after the other proves the new port; each is asked for at once. */
static void three_probes_prove_a_port(struct kunit *test)
{
	u32 lost[MROCE_PATH_STATES];
	struct rig *rig = rig_new(test, 3);
	u32 k, seq;

	rig_warm(rig);
	starve_path(rig, test, lost);
	for (k = 0; k < 3; k++) {
		KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_PROBING);
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
		seq = mroce_pathset_probe_sent(&rig->ps, 1, 0, rig->now);
		rig->now += RIG_RTT_NS;
		rig_arrive(rig, 1, seq);
		rig_ack(rig, 1);
		if (k < 2) {
			KUNIT_EXPECT_LE(test, mroce_pathset_deadline(&rig->ps), rig->now);
			rig_timer(rig);
		}
	}
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_ACTIVE);
	KUNIT_EXPECT_EQ(test, rig->path[1].cc.cwnd_bytes, 2 * RIG_PKT);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
}

/* What was sent through the old port proves nothing about the new one. */
static void old_answers_prove_nothing(struct kunit *test)
{
	u32 lost[MROCE_PATH_STATES];
	struct rig *rig = rig_new(test, 3);
	u32 seq;

	rig_warm(rig);
	seq = rig->path[1].sb.next_seq;
	starve_path(rig, test, lost);
	for (; seq != rig->path[1].sb.epoch_seq; seq++) {
		mroce_rxwin_mark(&rig->rx[1], seq, false, false, false, &rig_policy, rig->now);
		rig_ack(rig, 1);
	}
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_PROBING);
	KUNIT_EXPECT_EQ(test, rig->path[1].good_probes, 0u);
}

/* Probes back off, and a port that does not answer is given up for another. */
static void bad_port_is_rolled_again(struct kunit *test)
{
	u32 lost[MROCE_PATH_STATES];
	struct rig *rig = rig_new(test, 3);
	u64 last, longest = 0;
	u32 probes = 0, rerolls = 0;
	u64 end;

	rig_warm(rig);
	starve_path(rig, test, lost);
	/* Data elsewhere keeps the connection busy. */
	last = rig->now;
	end = rig->now + 1000 * RIG_MS;
	while (rig->now < end) {
		rig_send_on(rig, 0, 0);
		rig_exchange(rig, 0, 1);
		rig_send_on(rig, 2, 0);
		rig_timer(rig);
		if (rig_acted(rig, MROCE_PS_PROBE, 1)) {
			mroce_pathset_probe_sent(&rig->ps, 1, 0, rig->now);
			longest = max(longest, rig->now - last);
			last = rig->now;
			probes++;
		}
		rerolls += rig_acted(rig, MROCE_PS_REROLL, 1);
		rig->now += RIG_MS / 4;
		rig_exchange(rig, 2, 1);
	}
	KUNIT_EXPECT_GE(test, probes, 15u);
	KUNIT_EXPECT_LE(test, probes, 30u);
	KUNIT_EXPECT_GE(test, rerolls, 5u);
	KUNIT_EXPECT_GE(test, longest, MROCE_PROBE_MAX_NS);
	KUNIT_EXPECT_LE(test, longest, MROCE_PROBE_MAX_NS + 2 * RIG_MS);
	KUNIT_EXPECT_LE(test, rig->path[1].sb.inflight_pkts, 1u);
	rig_check(test, rig);
}

/* A route of 30 ms is not judged by the interval for short ones. */
static void probes_wait_for_long_routes(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig->path[1].rtt.srtt_ns = 30 * RIG_MS;
	rig->path[1].state = MROCE_PATH_PROBING;
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	/* Twice the round trip, and the acknowledgment delay */
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + 60 * RIG_MS + 20000);
}

/* The PROBE of a suspect may fail to leave: it is sent again. */
static void suspect_without_flight_is_asked_again(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 k;

	rig_warm(rig);
	rig->path[1].state = MROCE_PATH_SUSPECT;
	rig->path[1].timer_ns = rig->now + RIG_MS;
	for (k = 0; k < 5; k++) {
		KUNIT_ASSERT_TRUE(test, rig_next(rig));
		if (rig_acted(rig, MROCE_PS_PROBE, 1))
			return;
	}
	KUNIT_FAIL(test, "no PROBE");
}

static void unanswered_questions_are_forgotten(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig_warm(rig);
	mroce_pathset_probe_sent(&rig->ps, 1, 3, rig->now);
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_pkts, 1u);
	KUNIT_EXPECT_TRUE(test, rig_next(rig));
	KUNIT_EXPECT_EQ(test, rig->n_act, 0);
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_pkts, 0u);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
	/* The next one goes elsewhere. */
	KUNIT_EXPECT_GT(test, rig->path[1].skip, 0u);
}

/* ... unless others were heard after the answer was due. */
static void unanswered_question_raises_suspicion(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 before, k;

	rig_warm(rig);
	before = rig->path[1].cc.cwnd_bytes;
	mroce_pathset_probe_sent(&rig->ps, 1, 0, rig->now);
	for (k = 0; k < 30; k++)
		rig_exchange(rig, 0, 2);
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_SUSPECT);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	KUNIT_EXPECT_EQ(test, rig->path[1].cc.cwnd_bytes, before);
}

static void a_probe_is_always_possible(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 i;

	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_TRUE(test, mroce_pathset_probe_room(&rig->ps, 0));
		mroce_pathset_probe_sent(&rig->ps, 0, 0, rig->now);
	}
	KUNIT_EXPECT_LE(test, rig->ps.inflight_pkts, 256u);
	rig_check(test, rig);
}

/* A span full of data leaves room for PROBEs; when that is used up, the data is given up. */
static void probes_never_overwrite_data(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 data = 0, probes = 0;

	rig->ps.cc.cwnd_bytes = 1000 * RIG_PKT;
	rig->ps.cc.max_bytes = 1000 * RIG_PKT;
	rig->path[0].cc.cwnd_bytes = 1000 * RIG_PKT;
	for (; mroce_pathset_pick(&rig->ps, 0, RIG_PKT, -1, rig->now) == 0; data++)
		rig_send_on(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, data, (u32)(MROCE_SB_SPAN - MROCE_SB_PROBE_RESERVE));
	for (; probes < 1000 && mroce_pathset_probe_room(&rig->ps, 0); probes++)
		mroce_pathset_probe_sent(&rig->ps, 0, 0, rig->now);
	KUNIT_EXPECT_EQ(test, probes, (u32)MROCE_SB_PROBE_RESERVE);
	KUNIT_EXPECT_EQ(test, rig->path[0].sb.inflight_data, data);
	rig_check(test, rig);
	/* The timer hands all of it out to be sent again. */
	rig_next(rig);
	KUNIT_EXPECT_EQ(test, (u32)rig->n_ev, data);
	KUNIT_EXPECT_TRUE(test, mroce_pathset_probe_room(&rig->ps, 0));
}

static void actions_come_in_small_portions(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	struct mroce_ps_action act;
	u8 order[8];
	u32 n = 0;

	rig_warm(rig);
	rig->path[1].state = MROCE_PATH_SUSPECT;
	rig_send_on(rig, 1, 0);
	rig->now += 10 * RIG_MS;
	rig_exchange(rig, 0, 1);
	while (mroce_pathset_timer(&rig->ps, rig->now, 1, &act, 1) == 1 && n < 8) {
		KUNIT_EXPECT_EQ(test, act.path, 1u);
		order[n++] = act.act;
	}
	KUNIT_ASSERT_EQ(test, n, 3u);
	KUNIT_EXPECT_EQ(test, order[0], MROCE_PS_FLUSH);
	KUNIT_EXPECT_EQ(test, order[1], MROCE_PS_REROLL);
	KUNIT_EXPECT_EQ(test, order[2], MROCE_PS_PROBE);
}

static void local_drop_is_back_pressure(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 before = rig->path[0].cc.cwnd_bytes;
	u32 seq = rig_send_on(rig, 0, 0);

	KUNIT_EXPECT_TRUE(test, mroce_pathset_local_drop(&rig->ps, 0, seq, rig->now, rig->ev));
	KUNIT_EXPECT_EQ(test, rig->ev[0].psn, 0u);
	KUNIT_EXPECT_FALSE(test, mroce_pathset_local_drop(&rig->ps, 0, seq, rig->now, rig->ev));
	KUNIT_EXPECT_EQ(test, rig->path[0].cc.cwnd_bytes, before);
	KUNIT_EXPECT_EQ(test, rig->path[0].lost_pkts, 0ull);
	KUNIT_EXPECT_EQ(test, rig->path[0].loss_q16, 0u);
	rig_check(test, rig);
}

/* Send on all paths round by round; path 1 loses @ppt packets of a thousand, the others @rest. */
static u32 lossy_rounds(struct rig *rig, u32 rounds, u32 ppt, u32 rest)
{
	u32 rerolls = 0, lost = 0;
	u32 k, i, n;

	for (k = 0; k < rounds; k++) {
		for (i = 0; i < rig->ps.cfg.n_paths; i++) {
			for (n = 0; n < 10; n++) {
				u32 seq = rig_send_on(rig, i, 0);

				lost += i == 1 ? ppt : rest;
				if (lost >= 1000)
					lost -= 1000;
				else
					rig_arrive(rig, i, seq);
			}
		}
		rig->now += RIG_RTT_NS;
		for (i = 0; i < rig->ps.cfg.n_paths; i++)
			rig_ack(rig, i);
		rig_timer(rig);
		rerolls += rig_acted(rig, MROCE_PS_REROLL, -1);
	}
	return rerolls;
}

/* A route much worse than the others is left, in flight, without a flush. */
static void bad_route_is_left(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u16 port = rig->path[1].sport;
	u32 k;

	KUNIT_EXPECT_GT(test, lossy_rounds(rig, 100, 100, 2), 0u);
	KUNIT_EXPECT_NE(test, rig->path[1].sport, port);
	KUNIT_EXPECT_GE(test, rig->path[1].rerolls, 2ull);
	KUNIT_EXPECT_LE(test, rig->path[1].rerolls, 8ull);
	KUNIT_EXPECT_EQ(test, rig->path[0].rerolls, 0ull);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_ACTIVE);
	rig_check(test, rig);
	/* One that is good now is kept, whatever there was before. */
	rig = rig_new(test, 4);
	for (k = 0; k < 100 && !rig->path[1].rerolls; k++)
		lossy_rounds(rig, 1, 400, 0);
	KUNIT_EXPECT_EQ(test, rig->path[1].rerolls, 1ull);
	KUNIT_EXPECT_EQ(test, lossy_rounds(rig, 100, 0, 0), 0u);
	/* Loss that all share, or little of it, is no reason. */
	rig = rig_new(test, 4);
	KUNIT_EXPECT_EQ(test, lossy_rounds(rig, 200, 50, 50), 0u);
	rig = rig_new(test, 4);
	KUNIT_EXPECT_EQ(test, lossy_rounds(rig, 200, 8, 0), 0u);
	rig = rig_new(test, 2);
	KUNIT_EXPECT_EQ(test, lossy_rounds(rig, 200, 100, 0), 0u);
}

static u32 marked_rounds(struct rig *rig, u32 rounds, u32 also)
{
	u32 k, i;

	for (k = 0; k < rounds; k++) {
		rig->rx[1].ce_count += 8;
		for (i = 2; i < 2 + also; i++)
			rig->rx[i].ce_count += 8;
		for (i = 0; i < rig->ps.cfg.n_paths; i++)
			rig_exchange(rig, i, 10);
		rig_timer(rig);
	}
	return rig->path[1].rerolls;
}

static void congested_route_is_left(struct kunit *test)
{
	KUNIT_EXPECT_GT(test, marked_rounds(rig_new(test, 4), 60, 0), 0u);
	KUNIT_EXPECT_EQ(test, marked_rounds(rig_new(test, 4), 60, 1), 0u);
}

static void first_timeout_uses_the_siblings(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig_send_on(rig, 1, 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + 20 * RIG_MS);
	rig->path[0].rtt.srtt_ns = RIG_RTT_NS;
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + 2 * RIG_MS);
}

static void any_path_is_the_one_heard_last(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);

	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 0);
	rig_exchange(rig, 2, 1);
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 2);
	rig->path[2].state = MROCE_PATH_SUSPECT;
	rig_exchange(rig, 1, 1);
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 1);
	/* What another CPU is sending on is the last choice. */
	rig_send_on(rig, 1, 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 1);
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 1), 0);
	rig_send_on(rig, 0, 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 1), 1);
	rig->path[0].state = MROCE_PATH_PROBING;
	rig->path[1].state = MROCE_PATH_PROBING;
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 1);
}

/* A host that could not look for a while has not looked at what came in, either. */
static void a_late_timer_accuses_nobody(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 from;

	rig_warm(rig);
	from = rig->path[1].sb.next_seq;
	rig_send_on(rig, 1, 0);
	rig->now += 50 * RIG_MS;
	rig_exchange(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, rig_timer(rig), 0);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_ACTIVE);
	/* Only once. */
	rig_next(rig);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_SUSPECT);
	rig_arrive(rig, 1, from);
	rig_ack(rig, 1);
	KUNIT_EXPECT_FALSE(test, rig->path[1].grace);
}

/* In silence the state of a path says little: each one is tried. */
static void any_path_takes_turns_in_silence(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 seen = 0;
	u32 i;

	rig_exchange(rig, 2, 1);
	rig->ps.silent = true;
	for (i = 0; i < 3; i++)
		seen |= 1u << mroce_pathset_any(&rig->ps, 0);
	KUNIT_EXPECT_EQ(test, seen, 7u);
}

/* While packets follow, one in 16 asks; before a pause the last one does. */
static void last_packet_asks(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 i;

	for (i = 0; i < 15; i++)
		KUNIT_EXPECT_FALSE(test, mroce_pathset_ask(&rig->ps));
	KUNIT_EXPECT_TRUE(test, mroce_pathset_ask(&rig->ps));
	KUNIT_EXPECT_FALSE(test, mroce_pathset_ask(&rig->ps));
	KUNIT_EXPECT_TRUE(test, mroce_pathset_ask_end(&rig->ps, false));
	/* And the count begins anew. */
	for (i = 0; i < 15; i++)
		KUNIT_EXPECT_FALSE(test, mroce_pathset_ask(&rig->ps));
	KUNIT_EXPECT_TRUE(test, mroce_pathset_ask(&rig->ps));
}

/* On a full window the answers on their way make room: not every packet asks. */
static void full_window_asks_by_quarters(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);
	u32 asked = 0;
	u32 i;

	rig->ps.inflight_pkts = 32;
	for (i = 0; i < 32; i++) {
		KUNIT_EXPECT_FALSE(test, mroce_pathset_ask(&rig->ps));
		asked += mroce_pathset_ask_end(&rig->ps, true);
	}
	KUNIT_EXPECT_EQ(test, asked, 4u);
	/* With hardly anything in flight nothing else would be answered. */
	rig->ps.inflight_pkts = 1;
	mroce_pathset_ask(&rig->ps);
	KUNIT_EXPECT_TRUE(test, mroce_pathset_ask_end(&rig->ps, true));
	/* Nothing was sent since. */
	KUNIT_EXPECT_FALSE(test, mroce_pathset_ask_end(&rig->ps, true));
}

static struct kunit_case pathset_cases[] = {
	KUNIT_CASE(ports_are_distinct),
	KUNIT_CASE(port_range_wraps),
	KUNIT_CASE(acknowledged_and_accounted),
	KUNIT_CASE(unknown_path_changes_nothing),
	KUNIT_CASE(losses_in_pieces),
	KUNIT_CASE(marks_are_counted_and_bounded),
	KUNIT_CASE(tail_loss),
	KUNIT_CASE(tail_of_a_lively_path),
	KUNIT_CASE(missing_is_asked_for_once),
	KUNIT_CASE(late_packets_teach_patience),
	KUNIT_CASE(early_answers_accuse_nobody),
	KUNIT_CASE(dead_path_fails_alone),
	KUNIT_CASE(lossy_path_keeps_its_packets),
	KUNIT_CASE(suspect_is_forgiven),
	KUNIT_CASE(three_probes_prove_a_port),
	KUNIT_CASE(old_answers_prove_nothing),
	KUNIT_CASE(bad_port_is_rolled_again),
	KUNIT_CASE(probes_wait_for_long_routes),
	KUNIT_CASE(suspect_without_flight_is_asked_again),
	KUNIT_CASE(unanswered_questions_are_forgotten),
	KUNIT_CASE(unanswered_question_raises_suspicion),
	KUNIT_CASE(a_probe_is_always_possible),
	KUNIT_CASE(probes_never_overwrite_data),
	KUNIT_CASE(actions_come_in_small_portions),
	KUNIT_CASE(local_drop_is_back_pressure),
	KUNIT_CASE(bad_route_is_left),
	KUNIT_CASE(congested_route_is_left),
	KUNIT_CASE(first_timeout_uses_the_siblings),
	KUNIT_CASE(any_path_is_the_one_heard_last),
	KUNIT_CASE(a_late_timer_accuses_nobody),
	KUNIT_CASE(any_path_takes_turns_in_silence),
	KUNIT_CASE(last_packet_asks),
	KUNIT_CASE(full_window_asks_by_quarters),
	{}
};

static struct kunit_suite pathset_suite = {
	.name = "mroce_pathset",
	.test_cases = pathset_cases,
};

kunit_test_suite(pathset_suite);
