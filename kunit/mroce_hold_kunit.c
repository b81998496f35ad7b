// SPDX-License-Identifier: GPL-2.0
/*
 * Which packets of WRITEs wait for the messages before theirs, and how many may:
 * every mode, region and place; the bounds; then sender, receiver and a full hold
 * step by step. At random, with losses: mroce_stream_kunit.c.
 */
#include <kunit/test.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "hold.h"
#include "rxs.h"
#include "txs_stream.h"

/* The third packet of a message of four at @msg_psn */
static struct mroce_pkt_data packet(u8 opcode, u32 msg_psn)
{
	return (struct mroce_pkt_data) {
		.opcode = opcode, .unit_bytes = 1024, .msg_len = 4 * 1024, .payload_len = 1024,
		.msg_psn = msg_psn, .psn = msg_psn + 2,
	};
}

static bool waits(enum mroce_hold_mode mode, bool relaxed, u8 opcode, s32 ahead)
{
	struct mroce_pkt_data p = packet(opcode, FIRST + 10 + ahead);

	return mroce_hold_must(mode, relaxed, &p, FIRST + 10);
}

static void mode_and_region_decide(struct kunit *test)
{
	static const struct {
		enum mroce_hold_mode mode;
		bool relaxed, want;
	} rows[] = {
		{ MROCE_HOLD_DEFAULT, false, true }, { MROCE_HOLD_DEFAULT, true, false },
		{ MROCE_HOLD_AUTO, false, true }, { MROCE_HOLD_AUTO, true, false },
		{ MROCE_HOLD_STRICT, false, true }, { MROCE_HOLD_STRICT, true, true },
		{ MROCE_HOLD_RELAXED, false, false }, { MROCE_HOLD_RELAXED, true, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ_MSG(test, waits(rows[i].mode, rows[i].relaxed, MROCE_OP_WRITE, 1),
				    rows[i].want, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test,
				    waits(rows[i].mode, rows[i].relaxed, MROCE_OP_WRITE_IMM, 1),
				    rows[i].want, "row %u, with immediate", i);
		/* The oldest incomplete message never waits, nor what is before it. */
		KUNIT_EXPECT_FALSE(test, waits(rows[i].mode, rows[i].relaxed, MROCE_OP_WRITE, 0));
		KUNIT_EXPECT_FALSE(test, waits(rows[i].mode, rows[i].relaxed, MROCE_OP_WRITE, -1));
	}
}

/*
 * The psn of the message counts, not that of the packet; round 2^32, too. The last
 * packet waits for the others.
 */
static void place_in_the_order_decides(struct kunit *test)
{
	struct mroce_pkt_data p = packet(MROCE_OP_WRITE, FIRST + 10);
	u32 idx, cum, until;

	for (idx = 0; idx < 4; idx++) {
		p.psn = p.msg_psn + idx;
		until = idx < 3 ? 10 : 13;
		KUNIT_EXPECT_EQ(test, mroce_hold_until(&p), FIRST + until);
		for (cum = 0; cum < 40; cum++)
			KUNIT_EXPECT_EQ_MSG(test,
					    mroce_hold_must(MROCE_HOLD_AUTO, false, &p,
							    FIRST + cum),
					    cum < until, "packet %u cum %u", idx, cum);
	}
}

/* The only packet is the last one, and the last need not be full. */
static void last_packet_is_known(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 1023, 1024, 1025, 2048, 2049, 1u << 31 };
	static const u32 last[] = { 0, 0, 0, 0, 1, 1, 2, (1u << 21) - 1 };
	struct mroce_pkt_data p = packet(MROCE_OP_WRITE, FIRST);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		p.msg_len = lens[i];
		p.psn = FIRST + last[i];
		KUNIT_EXPECT_EQ_MSG(test, mroce_hold_until(&p), p.psn, "length %u", lens[i]);
		if (!last[i])
			continue;
		p.psn--;
		KUNIT_EXPECT_EQ_MSG(test, mroce_hold_until(&p), FIRST, "length %u", lens[i]);
	}
}

static void only_writes_with_bytes_wait(struct kunit *test)
{
	struct mroce_pkt_data p;
	u32 op, want;

	for (op = 0; op < 256; op++) {
		want = op == MROCE_OP_WRITE || op == MROCE_OP_WRITE_IMM;
		KUNIT_EXPECT_EQ_MSG(test, waits(MROCE_HOLD_STRICT, false, op, 1), want,
				    "opcode %u", op);
		p = packet(op, FIRST + 1);
		p.payload_len = 0;
		p.msg_len = 0;
		KUNIT_EXPECT_FALSE(test, mroce_hold_must(MROCE_HOLD_STRICT, false, &p, FIRST));
	}
}

static void modes_have_names(struct kunit *test)
{
	static const char *const want[] = { "default", "auto", "strict", "relaxed" };
	u32 i;

	KUNIT_ASSERT_EQ(test, (u32)ARRAY_SIZE(want), (u32)MROCE_HOLD_MODES);
	for (i = 0; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_STREQ(test, mroce_hold_mode_name[i], want[i]);
}

static void hold_is_bounded_per_queue_pair(struct kunit *test)
{
	struct mroce_hold h = {};
	u32 n;

	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, MROCE_HOLD_QP_BYTES + 1, 0));
	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, U32_MAX, 0));
	KUNIT_EXPECT_EQ(test, h.bytes | h.pkts | h.peak_bytes, 0);
	for (n = 0; mroce_hold_put(&h, 4352, 0); n++)
		KUNIT_ASSERT_LT(test, n, 1000);
	KUNIT_EXPECT_EQ(test, n, (MROCE_HOLD_QP_BYTES) / 4352);
	KUNIT_EXPECT_EQ(test, h.bytes, n * 4352);
	KUNIT_EXPECT_EQ(test, h.pkts, n);
	/* To the last byte */
	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, (MROCE_HOLD_QP_BYTES) - h.bytes + 1, 0));
	KUNIT_EXPECT_TRUE(test, mroce_hold_put(&h, (MROCE_HOLD_QP_BYTES) - h.bytes, 0));
	KUNIT_EXPECT_EQ(test, h.bytes, MROCE_HOLD_QP_BYTES);
	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, 1, 0));
	KUNIT_EXPECT_EQ(test, h.pkts, n + 1);
	/* A packet gone is room for one like it. */
	mroce_hold_take(&h, 4352);
	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, 4353, 0));
	KUNIT_EXPECT_TRUE(test, mroce_hold_put(&h, 4352, 0));
	KUNIT_EXPECT_EQ(test, h.peak_bytes, MROCE_HOLD_QP_BYTES);
}

static void hold_is_bounded_per_device(struct kunit *test)
{
	struct mroce_hold h = {};

	KUNIT_EXPECT_TRUE(test, mroce_hold_put(&h, 1000, 32u << 20));
	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, 1000, (32u << 20) + 1));
	KUNIT_EXPECT_FALSE(test, mroce_hold_put(&h, 1000, 1ull << 32));
	KUNIT_EXPECT_EQ(test, h.bytes, 1000);
	KUNIT_EXPECT_EQ(test, h.pkts, 1);
	KUNIT_EXPECT_EQ(test, h.peak_bytes, 1000);
}

static void peak_stays(struct kunit *test)
{
	struct mroce_hold h = {};

	mroce_hold_put(&h, 1000, 0);
	mroce_hold_put(&h, 500, 0);
	mroce_hold_take(&h, 1000);
	KUNIT_EXPECT_EQ(test, h.peak_bytes, 1500);
	mroce_hold_put(&h, 700, 0);
	KUNIT_EXPECT_EQ(test, h.peak_bytes, 1500);
	mroce_hold_put(&h, 301, 0);
	KUNIT_EXPECT_EQ(test, h.peak_bytes, 1501);
	KUNIT_EXPECT_EQ(test, h.bytes, 1501);
	KUNIT_EXPECT_EQ(test, h.pkts, 3);
}

/* Both ends of a stream; the packets are so large that the hold takes sixteen. */
#define BIG		(MROCE_HOLD_QP_BYTES / 16)
#define N_PSNS		40

struct ends {
	struct mroce_txs *tx;
	struct mroce_rxs rx;
	struct mroce_rxs_bits bits;
	struct mroce_hold hold;
	bool held[N_PSNS];
	u8 placed[N_PSNS];
};

/* One message of a packet, then one of all the rest */
static struct mroce_pkt_data pkt(u32 i)
{
	struct mroce_pkt_data p = packet(MROCE_OP_WRITE, FIRST + !!i);

	p.psn = FIRST + i;
	p.msg_len = p.unit_bytes * (i ? N_PSNS - 1 : 1);
	return p;
}

static struct ends *ends_new(struct kunit *test)
{
	struct ends *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->tx = stream_new(test, 14, 7, 7);
	mroce_rxs_init(&e->rx, FIRST);
	mroce_rxs_set_bits(&e->rx, &e->bits);
	return e;
}

static void place(struct ends *e, u32 i)
{
	e->placed[i]++;
	mroce_rxs_commit(&e->rx, FIRST + i);
}

static void release(struct ends *e)
{
	u32 i;

	for (i = 0; i < N_PSNS; i++) {
		struct mroce_pkt_data p = pkt(i);

		if (!e->held[i] || mroce_seq_after(mroce_hold_until(&p), e->rx.cum))
			continue;
		e->held[i] = false;
		mroce_hold_take(&e->hold, BIG);
		mroce_rxs_drained(&e->rx, 1);
		place(e, i);
	}
}

/* Packet @i arrives. Return: false when it was refused, which the sender then knows */
static bool arrive(struct ends *e, u32 i)
{
	struct mroce_pkt_data p = pkt(i);

	if (mroce_rxs_classify(&e->rx, p.psn) != MROCE_RXS_NEW)
		return true;
	if (mroce_hold_must(MROCE_HOLD_AUTO, false, &p, e->rx.cum)) {
		if (!mroce_hold_put(&e->hold, BIG, 0)) {
			mroce_rxs_refuse(&e->rx, p.psn, p.msg_psn, MROCE_SYN_BUSY, 0);
			mroce_txs_refused(e->tx, p.psn);
			return false;
		}
		e->held[i] = true;
		mroce_rxs_claim(&e->rx, p.psn);
		return true;
	}
	mroce_rxs_claim(&e->rx, p.psn);
	place(e, i);
	release(e);
	return true;
}

static u32 report(struct ends *e, struct mroce_rec *rec)
{
	memset(rec, 0, sizeof(*rec));
	mroce_rxs_record(&e->rx, rec);
	return mroce_txs_record(e->tx, rec, T0);
}

static u32 held(const struct ends *e)
{
	u32 i, n = 0;

	for (i = 0; i < N_PSNS; i++)
		n += e->held[i];
	return n;
}

/* Everything that may go again goes, and arrives. */
static void resend_all(struct kunit *test, struct ends *e)
{
	u32 psn, n;

	for (n = 0; mroce_txs_next_rtx(e->tx, &psn); n++) {
		KUNIT_ASSERT_LT(test, n, N_PSNS);
		mroce_txs_resent(e->tx, psn);
		arrive(e, psn - FIRST);
	}
}

static void full_hold_refuses_with_a_limit_that_grows(struct kunit *test)
{
	struct ends *e = ends_new(test);
	struct mroce_rec rec;
	u32 i, psn;

	/* The first packet is lost: sixteen are held, the rest is too much. */
	mroce_txs_sent(e->tx, N_PSNS, T0);
	for (i = 1; i < N_PSNS; i++)
		KUNIT_EXPECT_EQ_MSG(test, arrive(e, i), i <= 16, "packet %u", i);
	KUNIT_EXPECT_TRUE(test, mroce_txs_lost(e->tx, FIRST));
	KUNIT_EXPECT_EQ(test, held(e), 16);
	KUNIT_EXPECT_EQ(test, report(e, &rec), 0);
	KUNIT_EXPECT_EQ(test, rec.syndrome, MROCE_SYN_BUSY);
	KUNIT_EXPECT_EQ(test, rec.cum_psn, FIRST);
	KUNIT_EXPECT_EQ(test, rec.limit_psn, FIRST + 17);
	KUNIT_EXPECT_EQ(test, e->tx->n_deferred, 23);
	/* Only the lost one goes, and nothing new. */
	KUNIT_EXPECT_EQ(test, mroce_txs_room(e->tx), 0);
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(e->tx, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST);
	KUNIT_EXPECT_EQ(test, e->tx->n_rtx, 1);

	/* It comes: the hold drains, and as many more are welcome. */
	mroce_txs_resent(e->tx, FIRST);
	KUNIT_EXPECT_TRUE(test, arrive(e, 0));
	KUNIT_EXPECT_EQ(test, held(e), 0);
	KUNIT_EXPECT_EQ(test, e->hold.bytes | e->hold.pkts, 0);
	KUNIT_EXPECT_EQ(test, report(e, &rec), MROCE_TXS_ADVANCED | MROCE_TXS_RESUME);
	KUNIT_EXPECT_EQ(test, rec.syndrome, MROCE_SYN_BUSY);
	KUNIT_EXPECT_EQ(test, rec.cum_psn, FIRST + 17);
	KUNIT_EXPECT_EQ(test, rec.limit_psn, FIRST + 33);
	KUNIT_EXPECT_EQ(test, e->tx->n_rtx, 16);
	KUNIT_EXPECT_EQ(test, e->tx->n_deferred, 7);

	/* They are of the oldest message now: no hold, and the refusal ends. */
	resend_all(test, e);
	report(e, &rec);
	KUNIT_EXPECT_EQ(test, rec.syndrome, MROCE_SYN_OK);
	KUNIT_EXPECT_EQ(test, rec.cum_psn, FIRST + 33);
	resend_all(test, e);
	report(e, &rec);
	KUNIT_EXPECT_EQ(test, rec.cum_psn, FIRST + N_PSNS);
	KUNIT_EXPECT_FALSE(test, mroce_txs_busy(e->tx));
	KUNIT_EXPECT_EQ(test, mroce_txs_room(e->tx), WINDOW);
	for (i = 0; i < N_PSNS; i++)
		KUNIT_EXPECT_EQ(test, e->placed[i], 1);
	KUNIT_EXPECT_EQ(test, e->hold.peak_bytes, MROCE_HOLD_QP_BYTES);
}

/* What is held was acknowledged, not accepted: a copy of it is a duplicate. */
static void held_is_claimed_and_not_accepted(struct kunit *test)
{
	struct ends *e = ends_new(test);
	struct mroce_rec rec;

	mroce_txs_sent(e->tx, 10, T0);
	KUNIT_EXPECT_TRUE(test, arrive(e, 5));
	KUNIT_EXPECT_TRUE(test, arrive(e, 5));
	KUNIT_EXPECT_EQ(test, mroce_rxs_classify(&e->rx, FIRST + 5), MROCE_RXS_DUP);
	KUNIT_EXPECT_EQ(test, e->hold.pkts, 1);
	KUNIT_EXPECT_EQ(test, e->placed[5], 0);
	report(e, &rec);
	KUNIT_EXPECT_EQ(test, rec.cum_psn, FIRST);
	KUNIT_EXPECT_EQ(test, rec.syndrome, MROCE_SYN_OK);
	arrive(e, 0);
	KUNIT_EXPECT_EQ(test, e->placed[5], 1);
	KUNIT_EXPECT_EQ(test, e->rx.cum, FIRST + 1);
}

/* The last packet of the oldest message comes before the others. */
static void last_packet_is_held_for_the_others(struct kunit *test)
{
	struct ends *e = ends_new(test);
	u32 i;

	mroce_txs_sent(e->tx, N_PSNS, T0);
	KUNIT_EXPECT_TRUE(test, arrive(e, 0));
	KUNIT_EXPECT_TRUE(test, arrive(e, N_PSNS - 1));
	KUNIT_EXPECT_EQ(test, held(e), 1);
	for (i = N_PSNS - 2; i > 0; i--) {
		KUNIT_EXPECT_EQ(test, e->placed[N_PSNS - 1], 0);
		KUNIT_EXPECT_TRUE(test, arrive(e, i));
	}
	KUNIT_EXPECT_EQ(test, held(e), 0);
	KUNIT_EXPECT_EQ(test, e->placed[N_PSNS - 1], 1);
	KUNIT_EXPECT_EQ(test, e->rx.cum, FIRST + N_PSNS);
}

static struct kunit_case hold_cases[] = {
	KUNIT_CASE(mode_and_region_decide),
	KUNIT_CASE(place_in_the_order_decides),
	KUNIT_CASE(last_packet_is_known),
	KUNIT_CASE(only_writes_with_bytes_wait),
	KUNIT_CASE(modes_have_names),
	KUNIT_CASE(hold_is_bounded_per_queue_pair),
	KUNIT_CASE(hold_is_bounded_per_device),
	KUNIT_CASE(peak_stays),
	KUNIT_CASE(full_hold_refuses_with_a_limit_that_grows),
	KUNIT_CASE(held_is_claimed_and_not_accepted),
	KUNIT_CASE(last_packet_is_held_for_the_others),
	{}
};

static struct kunit_suite hold_suite = {
	.name = "mroce_hold",
	.test_cases = hold_cases,
};

kunit_test_suite(hold_suite);
