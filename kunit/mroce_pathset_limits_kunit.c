// SPDX-License-Identifier: GPL-2.0
/* The numbers in the rules of a path set: exactly enough, and one less. */
#include "ps_rig.h"
#include "sched.h"

static void packets_and_bytes_are_counted(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct mroce_path *p = &rig->path[1];

	rig->rx[1].ce_count = 2;
	rig_exchange(rig, 1, 5);
	KUNIT_EXPECT_EQ(test, p->tx_pkts, 5ull);
	KUNIT_EXPECT_EQ(test, p->tx_bytes, 5ull * RIG_PKT);
	KUNIT_EXPECT_EQ(test, p->acked_pkts, 5ull);
	KUNIT_EXPECT_EQ(test, p->marked_pkts, 2ull);
	/* The first of three is lost, and comes after all. */
	rig_send_on(rig, 1, 0);
	rig_exchange(rig, 1, 2);
	KUNIT_EXPECT_EQ(test, p->lost_pkts, 1ull);
	mroce_rxwin_mark(&rig->rx[1], p->sb.next_seq - 3, false, false, false, &rig_policy,
			 rig->now);
	rig_ack(rig, 1);
	KUNIT_EXPECT_EQ(test, p->spurious_pkts, 1ull);
	KUNIT_EXPECT_EQ(test, p->tx_pkts, 8ull);
	KUNIT_EXPECT_EQ(test, p->acked_pkts, 7ull);
	KUNIT_EXPECT_EQ(test, rig->path[0].tx_pkts, 0ull);
	/* A PROBE is no data. */
	mroce_pathset_probe_sent(&rig->ps, 1, 0, rig->now);
	KUNIT_EXPECT_EQ(test, p->tx_pkts, 8ull);
}

/* Path 1 of four with these rates, all others with those: is it left? */
static bool is_left(struct kunit *test, u32 loss_q16, u32 rest_loss_q16, u32 mark_q16,
		    u32 rest_mark_q16)
{
	struct rig *rig = rig_new(test, 4);
	u32 i;

	for (i = 0; i < 4; i++) {
		rig->path[i].loss_q16 = i == 1 ? loss_q16 : rest_loss_q16;
		rig->path[i].mark_q16 = i == 1 ? mark_q16 : rest_mark_q16;
	}
	rig->path[1].rate_pkts = MROCE_PATH_RATE_PKTS - 1;
	rig_exchange(rig, 1, 1);
	if (rig->path[1].rerolls) {
		KUNIT_EXPECT_EQ(test, rig->path[1].loss_q16, 0u);
		KUNIT_EXPECT_EQ(test, rig->path[1].mark_q16, 0u);
	}
	KUNIT_EXPECT_EQ(test, rig->path[1].rate_pkts, 0u);
	return rig->path[1].rerolls;
}

/* The packet itself takes 1/128 off both rates: 8192 becomes 8128, 33026 becomes 32768. */
static void four_times_the_loss_of_most(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, is_left(test, 8192, 8128 / 4, 0, 0));
	KUNIT_EXPECT_TRUE(test, is_left(test, 8192, 8128 / 4 - 1, 0, 0));
	/* 2 % is nothing, however good the others are: 1321 becomes 1311, 1322 1312. */
	KUNIT_EXPECT_FALSE(test, is_left(test, 1321, 0, 0, 0));
	KUNIT_EXPECT_TRUE(test, is_left(test, 1322, 0, 0, 0));
}

static void half_marked_and_most_a_quarter(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, is_left(test, 0, 0, 33026, 0));
	KUNIT_EXPECT_TRUE(test, is_left(test, 0, 0, 33028, 0));
	KUNIT_EXPECT_FALSE(test, is_left(test, 0, 0, 40000, 16384));
	KUNIT_EXPECT_TRUE(test, is_left(test, 0, 0, 40000, 16383));
	/* Loss that is no reason does not hide marks that are. */
	KUNIT_EXPECT_TRUE(test, is_left(test, 8192, 8192, 40000, 0));
	KUNIT_EXPECT_TRUE(test, is_left(test, 8192, 0, 40000, 40000));
}

/* Most: three of four, two of three, all of two. */
static void most_is_more_than_half(struct kunit *test)
{
	u32 n, bad;

	for (n = 2; n <= 4; n++) {
		for (bad = 0; bad < n; bad++) {
			struct rig *rig = rig_new(test, n);
			u32 i;

			rig->path[0].loss_q16 = 8192;
			for (i = 0; i < bad; i++)
				rig->path[1 + i].loss_q16 = 8192;
			rig->path[0].rate_pkts = MROCE_PATH_RATE_PKTS;
			rig_exchange(rig, 0, 1);
			KUNIT_EXPECT_EQ_MSG(test, rig->path[0].rerolls,
					    n - 1 - bad >= n / 2 + 1, "%u of %u", bad, n);
		}
	}
}

static void rates_need_packets(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);

	rig->path[1].loss_q16 = 8192;
	rig->path[1].rate_pkts = MROCE_PATH_RATE_PKTS - 2;
	rig_exchange(rig, 1, 1);
	KUNIT_EXPECT_EQ(test, rig->path[1].rerolls, 0ull);
	KUNIT_EXPECT_EQ(test, rig->path[1].rate_pkts, MROCE_PATH_RATE_PKTS - 1);
	rig_exchange(rig, 1, 1);
	KUNIT_EXPECT_EQ(test, rig->path[1].rerolls, 1ull);
	/* The new port is another route, with a round trip of its own. */
	KUNIT_EXPECT_EQ(test, rig->path[1].rtt.min_ns, 0ull);
	KUNIT_EXPECT_EQ(test, rig->path[1].sb.epoch_seq, rig->path[1].sb.next_seq);
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_REROLL, 1), 1);
	KUNIT_EXPECT_EQ(test, rig->n_act, 1);
}

/* A path that is being judged already is left to that. */
static void only_working_routes_are_left(struct kunit *test)
{
	struct rig *rig = rig_new(test, 4);

	rig->path[1].state = MROCE_PATH_PROBING;
	rig->path[1].loss_q16 = 8192;
	rig->path[1].rate_pkts = MROCE_PATH_RATE_PKTS;
	rig_exchange(rig, 1, 1);
	KUNIT_EXPECT_EQ(test, rig->path[1].state, MROCE_PATH_PROBING);
	KUNIT_EXPECT_EQ(test, rig->path[1].rerolls, 0ull);
}

/* Sent so long before a packet that is acknowledged: is one given up? */
static int lost_after(struct kunit *test, u32 reo_tol, u64 age_ns)
{
	struct rig *rig = rig_new(test, 1);
	struct mroce_path *p = &rig->path[0];

	p->rtt.srtt_ns = RIG_MS;
	p->rtt.rttvar_ns = RIG_MS;
	p->rtt.min_ns = RIG_MS;
	p->sb.reo_tol = reo_tol;
	rig_send_on(rig, 0, 0);
	if (!reo_tol) {
		/* The gap rule ends at a change of port. */
		mroce_sb_new_epoch(&p->sb);
	}
	rig->now += age_ns;
	rig_exchange(rig, 0, 1);
	return rig->n_ev;
}

/* A round trip, on a path that reorders four variations more, and a quarter of it all. */
static void patience_of_the_time_rule(struct kunit *test)
{
	u64 plain = RIG_MS + RIG_MS / 4;
	u64 reordering = 5 * RIG_MS + 5 * RIG_MS / 4;

	KUNIT_EXPECT_EQ(test, lost_after(test, 0, plain), 0);
	KUNIT_EXPECT_EQ(test, lost_after(test, 0, plain + 1), 1);
	KUNIT_EXPECT_EQ(test, lost_after(test, 100, reordering), 0);
	KUNIT_EXPECT_EQ(test, lost_after(test, 100, reordering + 1), 1);
}

/* Without an acknowledgment: the rule needs a packet that was sent later and has arrived. */
static void time_rule_by_timer(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct mroce_path *p = &rig->path[1];
	u32 i;

	p->rtt.srtt_ns = RIG_MS;
	for (i = 0; i < 3; i++)
		rig_send_on(rig, 1, 0);
	p->sb.newest_acked_ns = rig->now + RIG_MS + RIG_MS / 4;
	KUNIT_EXPECT_EQ(test, mroce_pathset_time_loss(&rig->ps, 1, rig->now, rig->ev, 2), 0);
	KUNIT_EXPECT_EQ(test, p->loss_q16, 0u);
	p->sb.newest_acked_ns++;
	KUNIT_EXPECT_EQ(test, mroce_pathset_time_loss(&rig->ps, 1, rig->now, rig->ev, 2), 2);
	KUNIT_EXPECT_EQ(test, rig->ev[1].kind, MROCE_PS_LOST);
	KUNIT_EXPECT_EQ(test, rig->ev[1].psn, 1u);
	rig_check(test, rig);
	KUNIT_EXPECT_EQ(test, mroce_pathset_time_loss(&rig->ps, 1, rig->now, rig->ev, 2), 1);
	KUNIT_EXPECT_EQ(test, p->lost_pkts, 3ull);
	/* Two of 128 parts, and one of the rest */
	KUNIT_EXPECT_EQ(test, p->loss_q16, 1024u + (65536 - 1024) / 128);
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_pkts, 0u);
	rig_check(test, rig);
}

/* Nothing answers: each path gets its turn to find another port, whatever their number. */
static void silent_paths_take_turns(struct kunit *test)
{
	u32 n, i;

	for (n = 2; n <= 5; n++) {
		struct rig *rig = rig_new(test, n);
		u32 rerolls[8] = { 0 };
		u32 k = 0;

		rig_warm(rig);
		for (i = 0; i < n; i++)
			rig_send_on(rig, i, 0);
		while (k < 3 * n && rig_next(rig)) {
			for (i = 0; i < n; i++) {
				if (rig_acted(rig, MROCE_PS_PROBE, i))
					mroce_pathset_probe_sent(&rig->ps, i, 0, rig->now);
				k += rig_acted(rig, MROCE_PS_REROLL, i);
				rerolls[i] += rig_acted(rig, MROCE_PS_REROLL, i);
			}
		}
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_EQ_MSG(test, rerolls[i], 3u, "path %u of %u", i, n);
	}
}

/* What was lost was in flight as well: half a window makes both windows grow, by a quarter. */
static void lost_bytes_have_used_the_window(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);

	rig_send_on(rig, 0, 0);
	rig_exchange(rig, 0, RIG_START / 2 / RIG_PKT - 1);
	KUNIT_ASSERT_EQ(test, rig->res.lost_pkts, 1u);
	KUNIT_EXPECT_EQ(test, rig->ps.cc.cwnd_bytes, RIG_START + 31 * RIG_PKT / 4);
	KUNIT_EXPECT_EQ(test, rig->path[0].cc.cwnd_bytes, RIG_START - RIG_PKT + 31 * RIG_PKT / 4);
	/* One packet less, and they have not been used enough. */
	rig = rig_new(test, 1);
	rig_send_on(rig, 0, 0);
	rig_exchange(rig, 0, RIG_START / 2 / RIG_PKT - 2);
	KUNIT_ASSERT_EQ(test, rig->res.lost_pkts, 1u);
	KUNIT_EXPECT_EQ(test, rig->ps.cc.cwnd_bytes, RIG_START);
	KUNIT_EXPECT_EQ(test, rig->path[0].cc.cwnd_bytes, RIG_START - RIG_PKT);
}

/* A lost packet goes again on its own path, even if that is the first and another is emptier. */
static void retransmission_prefers_its_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig_send_on(rig, 0, 0);
	rig_send_on(rig, 0, 0);
	rig->ps.burst_pkts = 0;
	rig->path[0].cc.cwnd_bytes = 2 * RIG_PKT;
	KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, 0, rig->now), 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_pick(&rig->ps, 0, RIG_PKT, -1, rig->now), 1);
}

/* The caller's memory after the last path belongs to others. */
static void nothing_beyond_the_last_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct mroce_path *bait = &rig->path[2];

	bait->state = MROCE_PATH_ACTIVE;
	bait->acts = 1u << MROCE_PS_PROBE;
	bait->last_ack_ns = U64_MAX;
	bait->rtt.srtt_ns = 1000 * RIG_MS;
	bait->rtt.min_ns = 1000 * RIG_MS;
	bait->cc.cwnd_bytes = 1000 * RIG_PKT;
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), U64_MAX);
	KUNIT_EXPECT_EQ(test, rig_timer(rig), 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), MROCE_PTO_INITIAL_NS);
	mroce_pathset_share(&rig->ps, 1, rig->now);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&rig->ps.cc, rig->now), RIG_START);
	/* Nor does it help to prove that the others are better, or lend its round trip. */
	rig->path[0].loss_q16 = 8192;
	rig->path[0].rate_pkts = MROCE_PATH_RATE_PKTS;
	rig_send_on(rig, 1, 0);
	KUNIT_EXPECT_EQ(test, mroce_pathset_deadline(&rig->ps), rig->now + MROCE_PTO_INITIAL_NS);
	rig_exchange(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, rig->path[0].rerolls, 0ull);
}

/* Only data is in the way of a PROBE that is due: the data goes, the PROBE waits. */
static void no_probe_without_room(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 i;

	for (i = 0; i < MROCE_SB_SPAN; i++)
		rig_send_on(rig, 0, 0);
	rig->path[0].acts = 1u << MROCE_PS_PROBE;
	KUNIT_EXPECT_FALSE(test, mroce_pathset_probe_room(&rig->ps, 0));
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, 0), 1);
	KUNIT_EXPECT_EQ(test, rig->n_act, 1);
	KUNIT_EXPECT_EQ(test, rig->n_ev, MROCE_SB_SPAN);
	KUNIT_EXPECT_TRUE(test, mroce_pathset_probe_room(&rig->ps, 0));
}

/* PROBEs make room for another one where there is none, and only there. */
static void probes_stay_where_there_is_room(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	u32 i;

	for (i = 0; i < MROCE_SB_SPAN; i++) {
		KUNIT_ASSERT_TRUE(test, mroce_pathset_probe_room(&rig->ps, 0));
		KUNIT_ASSERT_EQ(test, rig->ps.inflight_pkts, i);
		mroce_pathset_probe_sent(&rig->ps, 0, 0, rig->now);
	}
	KUNIT_EXPECT_TRUE(test, mroce_pathset_probe_room(&rig->ps, 0));
	KUNIT_EXPECT_EQ(test, rig->ps.inflight_pkts, 0u);
}

/* A PROBE that left on another occasion answers what the timer wanted; the rest stays. */
static void a_sent_probe_is_not_asked_for(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);

	rig_send_on(rig, 0, 0);
	rig->path[0].acts = 1u << MROCE_PS_PROBE | 1u << MROCE_PS_REROLL | 1u << MROCE_PS_FLUSH;
	mroce_pathset_probe_sent(&rig->ps, 0, 0, rig->now);
	KUNIT_EXPECT_EQ(test, rig_timer(rig), 2);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, 0), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_REROLL, 0), 1);
}

/* Data on a port that has yet to prove itself goes elsewhere when its PROBE is overdue. */
static void unproved_port_keeps_no_data(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);

	rig_send_on(rig, 1, 0);
	rig->path[1].state = MROCE_PATH_PROBING;
	rig_timer(rig);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_FLUSH, 1), 1);
	KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 1), 1);
	KUNIT_EXPECT_EQ(test, rig->n_ev, 1);
	rig_check(test, rig);
}

/* No algorithm named: the default one works, as the state it keeps shows. */
static void default_algorithm(struct kunit *test)
{
	struct rig *rig = rig_new(test, 1);
	struct mroce_pathset_cfg cfg = rig->ps.cfg;
	u32 rnd[2] = { 0, 0 };

	cfg.cc = NULL;
	mroce_pathset_init(&rig->ps, &cfg, rig->path, rnd, rig->now);
	KUNIT_EXPECT_PTR_EQ(test, rig->ps.cfg.cc, MROCE_CC_DEFAULT);
	KUNIT_EXPECT_EQ(test, rig->path[0].cc.cwnd_bytes, RIG_START);
	rig_exchange(rig, 0, 1);
	KUNIT_EXPECT_EQ(test, rig->path[0].acked_pkts, 1ull);
}

/* The share becomes a window by the shortest round trip; before the first one it says nothing. */
static void share_needs_a_round_trip(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);

	mroce_pathset_share(&rig->ps, 100, rig->now);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&rig->ps.cc, rig->now), RIG_START);
	rig->path[1].rtt.min_ns = 300000;
	rig->path[2].rtt.min_ns = 100000;
	mroce_pathset_share(&rig->ps, 0, rig->now);
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&rig->ps.cc, rig->now), RIG_START);
	mroce_pathset_share(&rig->ps, 100, rig->now);
	/* 100 Mb/s * (100 us + 500 us) */
	KUNIT_EXPECT_EQ(test, mroce_cc_window(&rig->ps.cc, rig->now), 7500u);
}

/* The longest of all paths in use, or a guess */
static void streams_wait_for_the_slowest_path(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	u32 i;

	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), MROCE_PTO_INITIAL_NS);
	for (i = 1; i < 3; i++) {
		rig->path[i].rtt.srtt_ns = i * RIG_MS;
		rig->path[i].rtt.rttvar_ns = RIG_MS / 4;
	}
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), 3 * RIG_MS + 20000);
	rig->path[2].state = MROCE_PATH_FAILED;
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), 2 * RIG_MS + 20000);
	rig->path[1].state = MROCE_PATH_FAILED;
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), MROCE_PTO_INITIAL_NS);
	rig->path[0].rtt.srtt_ns = RIG_MS;
	KUNIT_EXPECT_EQ(test, mroce_pathset_rto_ns(&rig->ps), RIG_MS + 20000);
}

/* Before any other: the others are asked when none of those is left, and OFF ones never. */
static void working_paths_are_asked_first(struct kunit *test)
{
	u32 state;

	for (state = 0; state < MROCE_PATH_STATES; state++) {
		struct rig *rig = rig_new(test, 3);

		if (state == MROCE_PATH_ACTIVE)
			continue;
		rig->now += RIG_MS;
		rig->path[0].state = state;
		rig->path[0].last_ack_ns = rig->now;
		rig->path[2].state = state;
		rig->path[2].last_ack_ns = rig->now;
		KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 1);
		rig->path[1].state = MROCE_PATH_OFF;
		rig->path[1].last_ack_ns = U64_MAX;
		if (state != MROCE_PATH_PROBING && state != MROCE_PATH_SUSPECT)
			continue;
		KUNIT_EXPECT_NE(test, mroce_pathset_any(&rig->ps, 0), 1);
		/* New ports and suspects are alike: the one heard last. */
		rig->path[0].state = MROCE_PATH_PROBING + MROCE_PATH_SUSPECT - state;
		rig->path[2].last_ack_ns++;
		KUNIT_EXPECT_EQ(test, mroce_pathset_any(&rig->ps, 0), 2);
	}
}

/* The last sample an algorithm was given */
static struct mroce_cc_sample given;

static void take_sample(struct mroce_cc_conn *c, struct mroce_cc_path *p,
			const struct mroce_cc_sample *s)
{
	given = *s;
}

static void take_pto(struct mroce_cc_conn *c, struct mroce_cc_path *p)
{
}

static const struct mroce_cc_ops sampler = {
	.on_ack = take_sample, .on_pto = take_pto, .name = "sampler",
};

/* Three packets on path 1: one is lost, one was marked; one more is on path 0. */
static void algorithms_are_told_all(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 seq, i;

	rig->ps.cfg.cc = &sampler;
	memset(&given, 0, sizeof(given));
	rig_send_on(rig, 0, 0);
	seq = rig_send_on(rig, 1, 0);
	for (i = 0; i < 2; i++)
		rig_send_on(rig, 1, 0);
	rig->rx[1].ce_count = 1;
	rig->now += RIG_RTT_NS;
	rig_arrive(rig, 1, seq + 1);
	rig_ack(rig, 1);
	KUNIT_EXPECT_EQ(test, given.now_ns, rig->now);
	KUNIT_EXPECT_EQ(test, given.srtt_ns, RIG_RTT_NS);
	KUNIT_EXPECT_EQ(test, given.min_rtt_ns, RIG_RTT_NS);
	KUNIT_EXPECT_EQ(test, given.rtt_ns, RIG_RTT_NS);
	KUNIT_EXPECT_EQ(test, given.acked_bytes, 2 * RIG_PKT);
	KUNIT_EXPECT_EQ(test, given.lost_bytes, RIG_PKT);
	KUNIT_EXPECT_EQ(test, given.marked_bytes, RIG_PKT);
	KUNIT_EXPECT_EQ(test, given.path_prior_bytes, 3 * RIG_PKT);
	KUNIT_EXPECT_EQ(test, given.conn_prior_bytes, 4 * RIG_PKT);
	/* One of three, at the weight of three */
	KUNIT_EXPECT_EQ(test, given.loss_q16, 65536 / 3 * 3 / MROCE_PATH_RATE_PKTS);
}

/* However small the portions in which it is collected. */
static void what_is_given_up_is_counted(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	u32 i, n = 0;

	for (i = 0; i < 5; i++)
		rig_send_on(rig, 1, 0);
	for (i = 0; i < 3; i++)
		n += mroce_pathset_flush(&rig->ps, 1, rig->ev, 2);
	KUNIT_EXPECT_EQ(test, n, 5u);
	KUNIT_EXPECT_EQ(test, rig->path[1].lost_pkts, 5ull);
	KUNIT_EXPECT_EQ(test, rig->path[0].lost_pkts, 0ull);
	rig_check(test, rig);
}

/*
 * The last packet of a path that was just heard is overdue: the answer to the first PROBE
 * is waited for as long as answers take, from then on ever longer.
 */
static void tails_are_asked_for_ever_slower(struct kunit *test)
{
	u32 n;

	for (n = 0; n < 4; n++) {
		struct rig *rig = rig_new(test, 1);
		struct mroce_path *p = &rig->path[0];

		rig_warm(rig);
		rig_send_on(rig, 0, 0);
		rig->now += 2 * RIG_MS;
		p->last_ack_ns = rig->now;
		rig->ps.last_heard_ns = rig->now;
		p->grace = true;
		p->n_pto = n;
		KUNIT_EXPECT_EQ(test, rig_timer(rig), 1);
		KUNIT_EXPECT_EQ(test, rig_acted(rig, MROCE_PS_PROBE, 0), 1);
		KUNIT_EXPECT_EQ(test, p->n_pto, n + 1);
		KUNIT_EXPECT_EQ(test, p->timer_ns - rig->now, n ? MROCE_PTO_MIN_NS << n :
				p->rtt.srtt_ns + p->rtt.rttvar_ns + rig->ps.cfg.ack_delay_ns);
	}
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(packets_and_bytes_are_counted),
	KUNIT_CASE(four_times_the_loss_of_most),
	KUNIT_CASE(half_marked_and_most_a_quarter),
	KUNIT_CASE(most_is_more_than_half),
	KUNIT_CASE(rates_need_packets),
	KUNIT_CASE(only_working_routes_are_left),
	KUNIT_CASE(patience_of_the_time_rule),
	KUNIT_CASE(time_rule_by_timer),
	KUNIT_CASE(silent_paths_take_turns),
	KUNIT_CASE(lost_bytes_have_used_the_window),
	KUNIT_CASE(retransmission_prefers_its_path),
	KUNIT_CASE(nothing_beyond_the_last_path),
	KUNIT_CASE(no_probe_without_room),
	KUNIT_CASE(probes_stay_where_there_is_room),
	KUNIT_CASE(a_sent_probe_is_not_asked_for),
	KUNIT_CASE(unproved_port_keeps_no_data),
	KUNIT_CASE(default_algorithm),
	KUNIT_CASE(share_needs_a_round_trip),
	KUNIT_CASE(streams_wait_for_the_slowest_path),
	KUNIT_CASE(working_paths_are_asked_first),
	KUNIT_CASE(algorithms_are_told_all),
	KUNIT_CASE(what_is_given_up_is_counted),
	KUNIT_CASE(tails_are_asked_for_ever_slower),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "mroce_pathset_limits",
	.test_cases = limits_cases,
};

kunit_test_suite(limits_suite);
