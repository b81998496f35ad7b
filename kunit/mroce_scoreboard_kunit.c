// SPDX-License-Identifier: GPL-2.0
/*
 * Scoreboard: gap rule, time rule, reordering tolerance, refusals, the edges of
 * the vector, acknowledgments that are stale or made up; and random traffic
 * against a model that keeps a plain list.
 */
#include <kunit/test.h>
#include "rnd.h"
#include "rxwin.h"
#include "scoreboard.h"
#include "vec.h"

#define US 1000ull
#define BYTES 1000u
#define SRTT (100 * US)

struct board {
	struct mroce_sb sb;
	struct mroce_sb_rec rec[MROCE_SB_SPAN];
	struct mroce_ps_ack_result res;
	struct mroce_ps_event ev[MROCE_SB_SPAN];
	struct mroce_ack_part part;
	u32 psn;
};

static struct board *board_new(struct kunit *test, u32 first)
{
	struct board *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->sb.rec = b->rec;
	mroce_sb_init(&b->sb, 3, first);
	return b;
}

/* The psn of a packet is its position, counted from 0. */
static u32 send_at(struct board *b, u64 now)
{
	struct mroce_sb_rec rec = {
		.sent_ns = now, .stream = 0x1000007, .gen = 9, .psn = b->psn++, .bytes = BYTES,
	};

	return mroce_sb_sent(&b->sb, &rec);
}

static void send_n(struct board *b, u32 n)
{
	while (n--)
		send_at(b, 1000);
}

static u32 probe_at(struct board *b, u64 now)
{
	struct mroce_sb_rec rec = { .sent_ns = now, .probe = true };

	b->psn++;
	return mroce_sb_sent(&b->sb, &rec);
}

/* A part that reports nothing but @highest; add more with got(). */
static void part_begin(struct board *b, u32 highest)
{
	memset(&b->part, 0, sizeof(b->part));
	b->part.highest = highest;
	b->part.rcvd[0] = 1;
}

static void got(struct board *b, u32 from, u32 to)
{
	for (; from != to; from++)
		mroce_vec_set(b->part.rcvd, b->part.highest - from);
}

static void refused(struct board *b, u32 seq)
{
	b->part.has_refused = true;
	mroce_vec_set(b->part.rcvd, b->part.highest - seq);
	mroce_vec_set(b->part.refused, b->part.highest - seq);
}

static int ack_at(struct board *b, u64 now)
{
	memset(&b->res, 0, sizeof(b->res));
	return mroce_sb_ack(&b->sb, &b->part, SRTT, now, &b->res, b->ev, ARRAY_SIZE(b->ev));
}

static int ack(struct board *b)
{
	return ack_at(b, 2000);
}

static const u32 bases[] = { 0, 100, 0x7ffffff0, 0xfffffff0, 0xffffffff };

static void in_order(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 s = bases[i];
		struct board *b = board_new(test, s);

		send_n(b, 10);
		KUNIT_EXPECT_EQ(test, b->sb.next_seq, s + 10);
		KUNIT_EXPECT_EQ(test, b->sb.una_seq, s);
		part_begin(b, s + 5);
		got(b, s, s + 5);
		KUNIT_EXPECT_EQ(test, ack_at(b, 7000), 0);
		KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 6u);
		KUNIT_EXPECT_EQ(test, b->res.acked_bytes, 6 * BYTES);
		KUNIT_EXPECT_EQ(test, b->res.rtt_ns, 6000ull);
		KUNIT_EXPECT_TRUE(test, b->res.heard);
		KUNIT_EXPECT_EQ(test, b->sb.una_seq, s + 6);
		KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 4u);
		KUNIT_EXPECT_EQ(test, b->sb.inflight_bytes, 4 * BYTES);
		KUNIT_EXPECT_EQ(test, b->sb.highest_acked, s + 5);
	}
}

static void init_forgets_everything(struct kunit *test)
{
	struct board *b = board_new(test, 5);
	u32 i;

	b->sb.reo_tol = 9;
	send_n(b, 100);
	mroce_sb_init(&b->sb, 2, 77);
	KUNIT_EXPECT_PTR_EQ(test, b->sb.rec, &b->rec[0]);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_bytes, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.reo_tol, 0u);
	for (i = 0; i < MROCE_VEC_WORDS; i++)
		KUNIT_EXPECT_EQ(test, b->sb.out[i], 0ull);
	/* What was sent before is not known any more. */
	part_begin(b, 76);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_FALSE(test, b->res.heard);
}

static void gap_is_lost_at_once(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 s = bases[i];
		struct board *b = board_new(test, s);

		send_n(b, 10);
		part_begin(b, s + 3);
		got(b, s, s + 2);
		KUNIT_ASSERT_EQ(test, ack(b), 1);
		KUNIT_EXPECT_EQ(test, b->ev[0].kind, MROCE_PS_LOST);
		KUNIT_EXPECT_EQ(test, b->ev[0].cause, MROCE_PS_GAP);
		KUNIT_EXPECT_EQ(test, b->ev[0].path, 3u);
		KUNIT_EXPECT_EQ(test, b->ev[0].psn, 2u);
		KUNIT_EXPECT_EQ(test, b->ev[0].stream, 0x1000007u);
		KUNIT_EXPECT_EQ(test, b->ev[0].gen, 9u);
		KUNIT_EXPECT_EQ(test, b->res.lost_pkts, 1u);
		KUNIT_EXPECT_EQ(test, b->res.lost_bytes, BYTES);
		KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 6u);
		KUNIT_EXPECT_EQ(test, b->sb.una_seq, s + 4);
		/* Once is enough. */
		KUNIT_EXPECT_EQ(test, ack(b), 0);
		KUNIT_EXPECT_EQ(test, b->res.lost_pkts, 0u);
	}
}

/* Packets sent but not yet due say nothing about loss. */
static void newer_than_highest_are_not_lost(struct kunit *test)
{
	struct board *b = board_new(test, 50);

	send_n(b, 256);
	part_begin(b, 50);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 255u);
	KUNIT_EXPECT_EQ(test, b->sb.una_seq, 51u);
}

static void span_is_the_vector(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		u32 s = bases[i];
		struct board *b = board_new(test, s);
		u32 n = 0;

		while (mroce_sb_can_send(&b->sb)) {
			send_at(b, 1000);
			n++;
		}
		KUNIT_EXPECT_EQ(test, n, 256u);
		/* Everything but the oldest: bit 255 must be seen as missing. */
		part_begin(b, s + 255);
		got(b, s + 1, s + 255);
		KUNIT_EXPECT_EQ(test, ack(b), 1);
		KUNIT_EXPECT_EQ(test, b->ev[0].psn, 0u);
		KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 255u);
		KUNIT_EXPECT_EQ(test, b->sb.una_seq, b->sb.next_seq);
		KUNIT_EXPECT_TRUE(test, mroce_sb_can_send(&b->sb));
	}
}

static void oldest_open_holds_the_span(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	b->sb.reo_tol = 4;
	send_n(b, 256);
	part_begin(b, 4);
	got(b, 1, 5);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 252u);
	KUNIT_EXPECT_FALSE(test, mroce_sb_can_send(&b->sb));
	part_begin(b, 255);
	got(b, 0, 255);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 252u);
	KUNIT_EXPECT_TRUE(test, mroce_sb_can_send(&b->sb));
}

static void stale_and_forged_change_nothing(struct kunit *test)
{
	static const u32 never[] = { 99, 0, 110, 111, 400, 0x80000000, 100 - 256 };
	struct board *b = board_new(test, 100);
	struct mroce_sb copy;
	u32 i;

	send_n(b, 10);
	for (i = 0; i < ARRAY_SIZE(never); i++) {
		copy = b->sb;
		memset(&b->part, 0xff, sizeof(b->part));
		b->part.highest = never[i];
		KUNIT_EXPECT_EQ(test, ack(b), 0);
		KUNIT_EXPECT_FALSE_MSG(test, b->res.heard, "highest %u", never[i]);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&copy, &b->sb, sizeof(copy)), 0,
				    "highest %u", never[i]);
	}
	/* A vector without its own anchor is not one. */
	copy = b->sb;
	part_begin(b, 105);
	b->part.rcvd[0] = 2;
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&copy, &b->sb, sizeof(copy)), 0);
	/* The same part again, and an older one. */
	part_begin(b, 108);
	got(b, 100, 108);
	ack(b);
	copy = b->sb;
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_FALSE(test, b->res.heard);
	KUNIT_EXPECT_EQ(test, b->res.rtt_ns, 0ull);
	part_begin(b, 103);
	got(b, 101, 103);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_FALSE(test, b->res.heard);
	KUNIT_EXPECT_EQ(test, memcmp(&copy, &b->sb, sizeof(copy)), 0);
}

/* A part more than 256 sequences old must not be matched with newer records. */
static void too_old_is_ignored(struct kunit *test)
{
	struct board *b = board_new(test, 0);
	u32 i;

	for (i = 0; i < 300; i++) {
		send_at(b, 1000);
		part_begin(b, i);
		got(b, i - min(i, 200u), i);
		if (i < 299)
			ack(b);
	}
	part_begin(b, 299 - 256);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_FALSE(test, b->res.heard);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 1u);
	part_begin(b, 299);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 1u);
}

static void spurious_raises_tolerance(struct kunit *test)
{
	struct board *b = board_new(test, 0xfffffff8);
	u32 s = 0xfffffff8;
	u32 tol[] = { 1, 3, 7, 15, 31, 63, 127, 192, 192 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(tol); i++) {
		u32 before = b->sb.reo_tol;

		/* One packet late by exactly one more than tolerated. */
		send_n(b, before + 2);
		part_begin(b, s + before + 1);
		got(b, s + 1, s + before + 1);
		KUNIT_EXPECT_EQ(test, ack(b), 1);
		got(b, s, s + 1);
		KUNIT_EXPECT_EQ(test, ack(b), 0);
		KUNIT_EXPECT_EQ(test, b->res.spurious_pkts, 1u);
		KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 0u);
		KUNIT_EXPECT_EQ(test, b->sb.reo_tol, tol[i]);
		KUNIT_EXPECT_EQ(test, b->sb.reo_run, 0u);
		/* Reported twice is one event. */
		KUNIT_EXPECT_EQ(test, ack(b), 0);
		KUNIT_EXPECT_EQ(test, b->res.spurious_pkts, 0u);
		s += before + 2;
	}
}

static void tolerance_delays_the_gap_rule(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	b->sb.reo_tol = 3;
	send_n(b, 10);
	part_begin(b, 3);
	got(b, 1, 2);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_TRUE(test, b->res.advanced);
	/* One that comes late is a sign of life, though it is not the newest. */
	got(b, 2, 3);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_FALSE(test, b->res.advanced);
	KUNIT_EXPECT_TRUE(test, b->res.heard);
	part_begin(b, 4);
	got(b, 1, 4);
	KUNIT_EXPECT_EQ(test, ack(b), 1);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 0u);
}

static void tolerance_decays(struct kunit *test)
{
	struct board *b = board_new(test, 0);
	u32 i;

	b->sb.reo_tol = 7;
	for (i = 0; i < 1024; i++) {
		send_at(b, 1000);
		part_begin(b, i);
		ack(b);
		KUNIT_EXPECT_EQ(test, b->sb.reo_tol, 7u >> (i + 1) / 256);
	}
}

static void refused_leaves_the_flight(struct kunit *test)
{
	struct board *b = board_new(test, 40);

	send_n(b, 6);
	part_begin(b, 45);
	got(b, 40, 45);
	refused(b, 42);
	refused(b, 45);
	KUNIT_ASSERT_EQ(test, ack_at(b, 5000), 2);
	KUNIT_EXPECT_EQ(test, b->ev[0].kind, MROCE_PS_REFUSED);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 2u);
	KUNIT_EXPECT_EQ(test, b->ev[1].kind, MROCE_PS_REFUSED);
	KUNIT_EXPECT_EQ(test, b->ev[1].cause, MROCE_PS_UNWANTED);
	KUNIT_EXPECT_EQ(test, b->ev[1].psn, 5u);
	KUNIT_EXPECT_EQ(test, b->res.lost_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 6u);
	KUNIT_EXPECT_EQ(test, b->res.rtt_ns, 4000ull);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	/* A refused bit for a packet that did not arrive means nothing. */
	send_n(b, 3);
	part_begin(b, 48);
	b->part.has_refused = true;
	b->part.refused[0] = 2;
	KUNIT_ASSERT_EQ(test, ack(b), 2);
	KUNIT_EXPECT_EQ(test, b->ev[0].kind, MROCE_PS_LOST);
	KUNIT_EXPECT_EQ(test, b->ev[1].kind, MROCE_PS_LOST);
}

/* A PROBE carries nothing that could be refused; it is only heard. */
static void refused_probe_is_no_event(struct kunit *test)
{
	struct board *b = board_new(test, 40);
	u32 probe;

	send_n(b, 1);
	probe = probe_at(b, 3000);
	part_begin(b, probe);
	refused(b, 40);
	refused(b, probe);
	KUNIT_ASSERT_EQ(test, ack_at(b, 5000), 1);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 0u);
	KUNIT_EXPECT_EQ(test, b->res.rtt_ns, 2000ull);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 1u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_data, 0u);
}

/* One event at a time must give what all at once gives. */
static void small_event_array_resumes(struct kunit *test)
{
	struct board *b = board_new(test, 0xffffffc0);
	u32 s = 0xffffffc0;
	struct mroce_ps_event ev;
	u32 lost = 0, ref = 0, calls = 0;
	u32 i;

	send_n(b, 200);
	part_begin(b, s + 199);
	for (i = 0; i < 199; i += 3)
		got(b, s + i, s + i + 1);
	for (i = 0; i < 199; i += 5)
		refused(b, s + i);
	memset(&b->res, 0, sizeof(b->res));
	do {
		int n = mroce_sb_ack(&b->sb, &b->part, SRTT, 2000, &b->res, &ev, 1);

		KUNIT_ASSERT_LE(test, n, 1);
		if (n && ev.kind == MROCE_PS_LOST) {
			KUNIT_EXPECT_NE(test, ev.psn % 3, 0u);
			KUNIT_EXPECT_NE(test, ev.psn % 5, 0u);
			lost++;
		} else if (n) {
			KUNIT_EXPECT_EQ(test, ev.psn % 5, 0u);
			ref++;
		}
	} while (b->res.more && calls++ < 1000);
	KUNIT_EXPECT_EQ(test, ref, 40u);
	KUNIT_EXPECT_EQ(test, lost, 106u);
	KUNIT_EXPECT_EQ(test, b->res.lost_pkts, lost);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 200 - lost);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_bytes, 0u);
}

static void no_events_wanted_none_given(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	send_n(b, 3);
	part_begin(b, 2);
	KUNIT_EXPECT_EQ(test, mroce_sb_ack(&b->sb, &b->part, SRTT, 2000, &b->res, NULL, 0), 0);
	KUNIT_EXPECT_TRUE(test, b->res.more);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 2u);
	KUNIT_EXPECT_EQ(test, ack(b), 2);
	KUNIT_EXPECT_FALSE(test, b->res.more);
}

static void probe_shows_the_tail(struct kunit *test)
{
	struct board *b = board_new(test, 0);
	u32 probe;

	send_n(b, 4);
	probe = probe_at(b, 1000000);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 5u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_data, 4u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_bytes, 4 * BYTES);
	part_begin(b, probe);
	got(b, 0, 2);
	KUNIT_EXPECT_EQ(test, ack(b), 2);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 2u);
	KUNIT_EXPECT_EQ(test, b->ev[1].psn, 3u);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 2u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
}

static void lost_probe_is_no_event(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	probe_at(b, 1000);
	send_n(b, 1);
	part_begin(b, 1);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->res.lost_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	probe_at(b, 1000);
	send_n(b, 2);
	probe_at(b, 1000);
	mroce_sb_forget_probes(&b->sb);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 2u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_data, 2u);
	KUNIT_EXPECT_EQ(test, b->sb.una_seq, 3u);
}

/* Over a change of port the order does not hold: time decides (100 + 100 us here). */
static void old_epoch_goes_by_time(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	send_at(b, 1000 * US);
	send_at(b, 1100 * US);
	mroce_sb_new_epoch(&b->sb);
	send_at(b, 1100 * US);
	send_at(b, 1200 * US);
	send_at(b, 1201 * US);
	part_begin(b, 3);
	KUNIT_EXPECT_EQ(test, ack_at(b, 1400 * US), 1);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 2u);
	KUNIT_EXPECT_EQ(test, b->sb.una_seq, 0u);
	part_begin(b, 4);
	got(b, 3, 4);
	KUNIT_EXPECT_EQ(test, ack_at(b, 1400 * US), 1);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.una_seq, 1u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 1u);
	/* Late by little is no loss at all. */
	part_begin(b, 4);
	got(b, 3, 4);
	got(b, 1, 2);
	KUNIT_EXPECT_EQ(test, ack_at(b, 1400 * US), 0);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 1u);
	KUNIT_EXPECT_EQ(test, b->sb.reo_tol, 0u);
}

/* An old part after the change of port: its highest is before the epoch. */
static void stale_part_of_old_epoch(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	send_n(b, 4);
	mroce_sb_new_epoch(&b->sb);
	send_n(b, 2);
	part_begin(b, 3);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 5u);
}

static void within_tolerance_goes_by_time(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	b->sb.reo_tol = 50;
	send_at(b, 1000 * US);
	send_at(b, 1200 * US);
	part_begin(b, 1);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	send_at(b, 1200 * US);
	send_at(b, 1201 * US);
	send_at(b, 1200 * US);
	part_begin(b, 4);
	got(b, 1, 4);
	KUNIT_EXPECT_EQ(test, ack(b), 1);
	KUNIT_EXPECT_EQ(test, b->ev[0].psn, 0u);
}

/* Lost by time or by a gap: arriving after all, it tells how long the path can take. */
static void late_packets_tell_their_age(struct kunit *test)
{
	struct board *b = board_new(test, 0);

	b->sb.reo_tol = 50;
	send_at(b, 1000 * US);
	send_at(b, 1300 * US);
	part_begin(b, 1);
	KUNIT_EXPECT_EQ(test, ack_at(b, 1400 * US), 1);
	KUNIT_EXPECT_EQ(test, b->res.late_ns, 0ull);
	got(b, 0, 1);
	KUNIT_EXPECT_EQ(test, ack_at(b, 1900 * US), 0);
	KUNIT_EXPECT_EQ(test, b->res.spurious_pkts, 1u);
	KUNIT_EXPECT_EQ(test, b->res.late_ns, 900 * US);
	KUNIT_EXPECT_EQ(test, b->sb.reo_tol, 101u);
	b->sb.reo_tol = 0;
	send_at(b, 2000 * US);
	send_at(b, 2010 * US);
	send_at(b, 2020 * US);
	part_begin(b, 4);
	KUNIT_EXPECT_EQ(test, ack_at(b, 2100 * US), 2);
	got(b, 2, 4);
	KUNIT_EXPECT_EQ(test, ack_at(b, 2150 * US), 0);
	KUNIT_EXPECT_EQ(test, b->res.late_ns, 150 * US);
}

static void time_rule_alone(struct kunit *test)
{
	struct board *b = board_new(test, 0);
	struct mroce_ps_event ev[2];
	u32 i;

	for (i = 0; i < 5; i++)
		send_at(b, 1000 * US);
	KUNIT_EXPECT_EQ(test, mroce_sb_time_loss(&b->sb, SRTT, &b->res, ev, 2), 0);
	b->sb.newest_acked_ns = 1201 * US;
	KUNIT_EXPECT_EQ(test, mroce_sb_time_loss(&b->sb, SRTT, &b->res, ev, 2), 2);
	KUNIT_EXPECT_TRUE(test, b->res.more);
	KUNIT_EXPECT_EQ(test, mroce_sb_time_loss(&b->sb, SRTT, &b->res, ev, 2), 2);
	KUNIT_EXPECT_EQ(test, mroce_sb_time_loss(&b->sb, SRTT, &b->res, ev, 2), 1);
	KUNIT_EXPECT_EQ(test, ev[0].cause, MROCE_PS_TIME);
	KUNIT_EXPECT_FALSE(test, b->res.more);
	KUNIT_EXPECT_EQ(test, b->res.lost_pkts, 5u);
}

static void flush_takes_all_in_pieces(struct kunit *test)
{
	struct board *b = board_new(test, 0xfffffff0);
	struct mroce_ps_event ev[16];
	u32 next_psn = 0;
	int n, i;

	send_n(b, 100);
	probe_at(b, 1000);
	do {
		n = mroce_sb_flush(&b->sb, &b->res, ev, 16);
		for (i = 0; i < n; i++)
			KUNIT_EXPECT_EQ(test, ev[i].psn, next_psn++);
	} while (n == 16);
	KUNIT_EXPECT_EQ(test, ev[0].cause, MROCE_PS_FLUSHED);
	KUNIT_EXPECT_EQ(test, next_psn, 100u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_data, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.una_seq, b->sb.next_seq);
	/* Late after a flush says nothing about order. */
	part_begin(b, 0xfffffff0 + 50);
	got(b, 0xfffffff0, 0xfffffff0 + 50);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->res.acked_pkts, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.reo_tol, 0u);
}

static void drop_is_no_loss(struct kunit *test)
{
	struct board *b = board_new(test, 10);
	struct mroce_ps_event ev;

	send_n(b, 3);
	KUNIT_EXPECT_TRUE(test, mroce_sb_drop(&b->sb, 10, &ev));
	KUNIT_EXPECT_EQ(test, ev.kind, MROCE_PS_LOST);
	KUNIT_EXPECT_EQ(test, ev.cause, MROCE_PS_LOCAL);
	KUNIT_EXPECT_EQ(test, ev.psn, 0u);
	KUNIT_EXPECT_EQ(test, b->sb.una_seq, 11u);
	KUNIT_EXPECT_FALSE(test, mroce_sb_drop(&b->sb, 10, &ev));
	KUNIT_EXPECT_FALSE(test, mroce_sb_drop(&b->sb, 13, &ev));
	KUNIT_EXPECT_FALSE(test, mroce_sb_drop(&b->sb, 9, &ev));
	probe_at(b, 1000);
	KUNIT_EXPECT_FALSE(test, mroce_sb_drop(&b->sb, 13, &ev));
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 2u);
	part_begin(b, 12);
	got(b, 11, 12);
	KUNIT_EXPECT_EQ(test, ack(b), 0);
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 0u);
	/* One that old has the record of the newest. */
	send_n(b, 256);
	KUNIT_EXPECT_FALSE(test, mroce_sb_drop(&b->sb, b->sb.next_seq - 1 - 256, &ev));
	KUNIT_EXPECT_EQ(test, b->sb.inflight_pkts, 256u);
}

/*
 * Random traffic over a lossy path in order, acknowledgments lost and late,
 * against a list of fates: each packet must end exactly once, as lost if and
 * only if it was lost, and the sums must agree at every step.
 */
enum fate { ARRIVED = 1, VANISHED = 2, OVER = 4 };

#define MODEL_PKTS 6000

static void random_traffic(struct kunit *test)
{
	static const struct mroce_ack_policy policy = { .every_pkts = 4, .delay_ns = 1 };
	u8 *fate = kunit_kzalloc(test, MODEL_PKTS + 300, GFP_KERNEL);
	struct board *b = board_new(test, 0xfffff000);
	struct mroce_rxwin rx;
	struct rnd r;
	u32 open = 0, bad = 0, rounds, i;
	int n;

	KUNIT_ASSERT_NOT_NULL(test, fate);
	rnd_seed(&r, 3);
	mroce_rxwin_init(&rx);
	for (rounds = 0; b->psn < MODEL_PKTS; rounds++) {
		KUNIT_ASSERT_LT(test, rounds, 100 * MODEL_PKTS);
		for (i = rnd_below(&r, 60); i && mroce_sb_can_send(&b->sb); i--) {
			u32 psn = b->psn;
			u32 seq = send_at(b, b->psn);
			bool lost = rnd_below(&r, 100) < 8;

			fate[psn] = lost ? VANISHED : ARRIVED;
			open++;
			if (!lost)
				mroce_rxwin_mark(&rx, seq, false, false, false, &policy, 1);
		}
		if (!rx.started || rnd_below(&r, 3) == 0)
			continue;
		mroce_rxwin_part(&rx, &b->part, 1);
		n = ack(b);
		for (i = 0; i < n; i++) {
			bad += fate[b->ev[i].psn] != VANISHED;
			fate[b->ev[i].psn] |= OVER;
		}
		open -= n + b->res.acked_pkts;
		bad += open != b->sb.inflight_pkts || open * BYTES != b->sb.inflight_bytes;
		bad += b->res.lost_pkts != n || b->res.spurious_pkts != 0;
		bad += b->sb.next_seq - b->sb.una_seq > MROCE_SB_SPAN;
		/* All below the highest is decided. */
		bad += mroce_seq_before(b->sb.una_seq, rx.highest + 1);
	}
	for (i = 0; i + 300 < MODEL_PKTS; i++)
		bad += fate[i] == VANISHED;
	KUNIT_EXPECT_EQ(test, bad, 0u);
}

static struct kunit_case scoreboard_cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(init_forgets_everything),
	KUNIT_CASE(gap_is_lost_at_once),
	KUNIT_CASE(newer_than_highest_are_not_lost),
	KUNIT_CASE(span_is_the_vector),
	KUNIT_CASE(oldest_open_holds_the_span),
	KUNIT_CASE(stale_and_forged_change_nothing),
	KUNIT_CASE(too_old_is_ignored),
	KUNIT_CASE(spurious_raises_tolerance),
	KUNIT_CASE(tolerance_delays_the_gap_rule),
	KUNIT_CASE(tolerance_decays),
	KUNIT_CASE(refused_leaves_the_flight),
	KUNIT_CASE(refused_probe_is_no_event),
	KUNIT_CASE(small_event_array_resumes),
	KUNIT_CASE(no_events_wanted_none_given),
	KUNIT_CASE(probe_shows_the_tail),
	KUNIT_CASE(lost_probe_is_no_event),
	KUNIT_CASE(old_epoch_goes_by_time),
	KUNIT_CASE(stale_part_of_old_epoch),
	KUNIT_CASE(within_tolerance_goes_by_time),
	KUNIT_CASE(late_packets_tell_their_age),
	KUNIT_CASE(time_rule_alone),
	KUNIT_CASE(flush_takes_all_in_pieces),
	KUNIT_CASE(drop_is_no_loss),
	KUNIT_CASE(random_traffic),
	{}
};

static struct kunit_suite scoreboard_suite = {
	.name = "mroce_scoreboard",
	.test_cases = scoreboard_cases,
};

kunit_test_suite(scoreboard_suite);
