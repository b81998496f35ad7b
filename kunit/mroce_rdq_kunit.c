// SPDX-License-Identifier: GPL-2.0
/*
 * READs and atomics: the requester's limit and fence; the responder's slots,
 * turn by turn. Numbers and psns start near 2^32 so that every case wraps.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rdq.h"
#include "txs.h"

#define FIRST_SN	0xfffffffeu
#define FIRST_REQ	0xfffffffdu	/* psn of the first request */
#define FIRST_RESP	0xfffffffbu	/* psn of the first response */
#define UNIT		1024
#define SLOTS		256

struct slots {
	struct mroce_rdslots s;
	struct mroce_rdslot slot[SLOTS];
};

static u32 pow2_above(u32 n)
{
	u32 p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static struct mroce_rdslots *slots_new(struct kunit *test, u8 depth)
{
	struct slots *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	mroce_rdslots_init(&m->s, m->slot, pow2_above(depth) - 1, depth, FIRST_RESP);
	m->s.una_sn = FIRST_SN;
	m->s.exec_sn = FIRST_SN;
	return &m->s;
}

/* The request for fetch FIRST_SN + @i arrives: @n_resp responses, from @resp_psn on */
static bool put(struct mroce_rdslots *s, u32 i, u32 resp_psn, u32 n_resp)
{
	static const struct mroce_atomic_op none;
	struct mroce_pkt_data p = {
		.opcode = MROCE_OP_READ_REQ, .psn = FIRST_REQ + i, .rsn = FIRST_SN + i,
		.msg_len = n_resp * UNIT, .unit_bytes = UNIT,
	};

	mroce_wire_set_resp_psn(&p, resp_psn);
	return mroce_rdslots_put(s, &p, &none);
}

/* The same with one response each, so that numbers and psns go together */
static bool put_one(struct mroce_rdslots *s, u32 i)
{
	return put(s, i, FIRST_RESP + i, 1);
}

/* What is due when the requests before FIRST_REQ + @i are complete */
static enum mroce_rdq_due due(const struct mroce_rdslots *s, u32 i)
{
	struct mroce_rdslot *slot = NULL;
	enum mroce_rdq_due d = mroce_rdslots_due(s, FIRST_REQ + i, &slot);

	if (d == MROCE_RDQ_RUN && slot != &s->slot[s->exec_sn & s->mask])
		return MROCE_RDQ_BAD;
	return d;
}

/* Executes all that may be. Return: how many */
static u32 execute(struct mroce_rdslots *s, u32 i)
{
	u32 n = 0;

	for (; due(s, i) == MROCE_RDQ_RUN; n++)
		mroce_rdslots_done(s);
	return n;
}

static void limit_and_fence(struct kunit *test)
{
	static const u8 maxes[] = { 1, 2, 64, 128, 255 };
	struct mroce_rdreq r;
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(maxes); i++) {
		mroce_rdreq_init(&r, maxes[i], 5);
		r.issued = FIRST_SN;
		r.done = FIRST_SN;
		for (n = 0; n < maxes[i]; n++) {
			KUNIT_EXPECT_EQ(test, mroce_rdreq_out(&r), n);
			KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, true, false));
			KUNIT_EXPECT_EQ(test, mroce_rdreq_may_go(&r, true, true), !n);
			KUNIT_EXPECT_EQ(test, mroce_rdreq_may_go(&r, false, true), !n);
			r.issued++;
		}
		KUNIT_EXPECT_EQ(test, mroce_rdreq_out(&r), maxes[i]);
		KUNIT_EXPECT_FALSE(test, mroce_rdreq_may_go(&r, true, false));
		KUNIT_EXPECT_FALSE(test, mroce_rdreq_may_go(&r, true, true));
		/* What is no fetch has no limit, only the fence. */
		KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, false, false));
		KUNIT_EXPECT_FALSE(test, mroce_rdreq_may_go(&r, false, true));
		r.done++;
		KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, true, false));
		r.done = r.issued;
		KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, false, true));
	}
}

static void max_zero_is_none_at_all(struct kunit *test)
{
	struct mroce_rdreq r;

	mroce_rdreq_init(&r, 0, 5);
	KUNIT_EXPECT_FALSE(test, mroce_rdreq_may_go(&r, true, false));
	KUNIT_EXPECT_FALSE(test, mroce_rdreq_may_go(&r, true, true));
	KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, false, false));
	KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, false, true));
}

/* Taken in is not sent: only what is sent is out. */
static void responses_are_numbered_beforehand(struct kunit *test)
{
	static const u32 n_pkts[] = { 1, 4, 1, 1 << 22 };
	struct mroce_rdreq r;
	u32 i, psn, want = FIRST_RESP;

	memset(&r, 0xff, sizeof(r));
	mroce_rdreq_init(&r, 2, FIRST_RESP);
	for (i = 0; i < ARRAY_SIZE(n_pkts); i++) {
		KUNIT_EXPECT_EQ(test, mroce_rdreq_take(&r, n_pkts[i], &psn), i);
		KUNIT_EXPECT_EQ(test, psn, want);
		want += n_pkts[i];
	}
	KUNIT_EXPECT_EQ(test, mroce_rdreq_out(&r), 0);
	KUNIT_EXPECT_TRUE(test, mroce_rdreq_may_go(&r, true, true));
}

static void slot_keeps_the_request(struct kunit *test)
{
	static const struct mroce_atomic_op op = { .compare_add = 1ull << 40, .swap = 2ull << 40 };
	struct mroce_rdslots *s = slots_new(test, 4);
	struct mroce_pkt_data p = {
		.opcode = MROCE_OP_ATOMIC_CS, .unit_bytes = 4096, .psn = FIRST_REQ,
		.msg_len = 8, .rsn = FIRST_SN, .rkey = 0x1234, .addr = 5ull << 40,
	};
	struct mroce_rdslot *slot;

	mroce_wire_set_resp_psn(&p, FIRST_RESP);
	KUNIT_ASSERT_TRUE(test, mroce_rdslots_put(s, &p, &op));
	KUNIT_ASSERT_EQ(test, mroce_rdslots_due(s, FIRST_REQ + 1, &slot), MROCE_RDQ_RUN);
	KUNIT_EXPECT_EQ(test, slot->opcode, MROCE_OP_ATOMIC_CS);
	KUNIT_EXPECT_EQ(test, slot->unit_bytes, 4096);
	KUNIT_EXPECT_EQ(test, slot->req_psn, FIRST_REQ);
	KUNIT_EXPECT_EQ(test, slot->resp_psn, FIRST_RESP);
	KUNIT_EXPECT_EQ(test, slot->len, 8);
	KUNIT_EXPECT_EQ(test, slot->rkey, 0x1234);
	KUNIT_EXPECT_EQ(test, slot->addr, 5ull << 40);
	KUNIT_EXPECT_EQ(test, slot->compare_add, op.compare_add);
	KUNIT_EXPECT_EQ(test, slot->swap, op.swap);
}

static void executed_when_cum_has_passed(struct kunit *test)
{
	struct mroce_rdslots *s = slots_new(test, 4);

	KUNIT_EXPECT_EQ(test, due(s, 10), MROCE_RDQ_WAIT);
	KUNIT_ASSERT_TRUE(test, put_one(s, 0));
	KUNIT_EXPECT_EQ(test, due(s, -1), MROCE_RDQ_WAIT);
	/* Cum at the request: all before it is complete, but not the request. */
	KUNIT_EXPECT_EQ(test, due(s, 0), MROCE_RDQ_WAIT);
	KUNIT_EXPECT_EQ(test, due(s, 1), MROCE_RDQ_RUN);
	KUNIT_EXPECT_EQ(test, due(s, 100), MROCE_RDQ_RUN);
	/* Asking changes nothing; saying that it is done does. */
	mroce_rdslots_done(s);
	KUNIT_EXPECT_EQ(test, due(s, 100), MROCE_RDQ_WAIT);
}

static void executed_in_order_whatever_the_arrival(struct kunit *test)
{
	static const u8 order[] = { 3, 1, 2, 0 };
	struct mroce_rdslots *s = slots_new(test, 4);
	u32 i;

	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, execute(s, 4), 0);
		KUNIT_ASSERT_TRUE(test, put_one(s, order[i]));
	}
	/* All are there: as far as cum is, no further. */
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, execute(s, i), i ? 1 : 0);
		KUNIT_EXPECT_EQ(test, s->exec_sn, FIRST_SN + i);
	}
	KUNIT_EXPECT_EQ(test, execute(s, 4), 1);
}

/* Any depth; the numbers go round the slots, and past 2^32. */
static void no_more_than_agreed(struct kunit *test)
{
	static const u8 depths[] = { 1, 2, 3, 16, 64, 65, 128, 255 };
	struct mroce_rdslots *s;
	u32 i, k, d, base, round;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		d = depths[i];
		s = slots_new(test, d);
		for (round = 0, base = 0; round < 5; round++, base += d) {
			KUNIT_EXPECT_FALSE(test, put_one(s, base + d));
			KUNIT_EXPECT_FALSE(test, put_one(s, base + d + SLOTS));
			for (k = d; k-- > 0;)
				KUNIT_ASSERT_TRUE_MSG(test, put_one(s, base + k),
						      "depth %u fetch %u", d, base + k);
			KUNIT_EXPECT_FALSE(test, put_one(s, base + d));
			KUNIT_EXPECT_EQ(test, execute(s, base + d), d);
			/* Executed is not accepted. */
			KUNIT_EXPECT_FALSE(test, put_one(s, base + d));
			KUNIT_EXPECT_FALSE(test, mroce_rdslots_idle(s));
			mroce_rdslots_accepted(s, FIRST_RESP + base + d);
			KUNIT_EXPECT_TRUE(test, mroce_rdslots_idle(s));
		}
	}
}

/* What has come was allowed when it came; it runs, and only then is the lower depth felt. */
static void lowered_depth_strands_none(struct kunit *test)
{
	static const u8 depths[] = { 1, 2, 7 };
	struct mroce_rdslots *s;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		s = slots_new(test, 8);
		for (k = 0; k < 8; k++)
			KUNIT_ASSERT_TRUE(test, put_one(s, k));
		KUNIT_EXPECT_EQ(test, execute(s, 1), 1);
		s->depth = depths[i];
		KUNIT_EXPECT_FALSE(test, put_one(s, 8));
		KUNIT_EXPECT_EQ(test, execute(s, 8), 7);
		mroce_rdslots_accepted(s, FIRST_RESP + 8);
		KUNIT_EXPECT_TRUE(test, mroce_rdslots_idle(s));
		KUNIT_EXPECT_FALSE(test, put_one(s, 8 + depths[i]));
		for (k = depths[i]; k-- > 0;)
			KUNIT_EXPECT_TRUE(test, put_one(s, 8 + k));
		KUNIT_EXPECT_EQ(test, execute(s, 8 + depths[i]), depths[i]);
	}
}

static void depth_zero_takes_none(struct kunit *test)
{
	struct mroce_rdslots s;
	struct mroce_rdslot *slot;

	mroce_rdslots_init(&s, NULL, ~0u, 0, FIRST_RESP);
	KUNIT_EXPECT_FALSE(test, put_one(&s, 0 - FIRST_SN));
	KUNIT_EXPECT_EQ(test, mroce_rdslots_due(&s, 1000, &slot), MROCE_RDQ_WAIT);
	KUNIT_EXPECT_TRUE(test, mroce_rdslots_idle(&s));
	mroce_rdslots_accepted(&s, 1000);
}

/* Waiting, executed, or forgotten: a number is used once. */
static void number_is_used_once(struct kunit *test)
{
	struct mroce_rdslots *s = slots_new(test, 4);

	KUNIT_ASSERT_TRUE(test, put(s, 1, FIRST_RESP + 1, 1));
	KUNIT_EXPECT_FALSE(test, put(s, 1, FIRST_RESP + 7, 3));
	KUNIT_EXPECT_EQ(test, s->slot[(FIRST_SN + 1) & s->mask].resp_psn, FIRST_RESP + 1);
	KUNIT_ASSERT_TRUE(test, put_one(s, 0));
	KUNIT_EXPECT_EQ(test, execute(s, 2), 2);
	KUNIT_EXPECT_FALSE(test, put_one(s, 0));
	KUNIT_EXPECT_FALSE(test, put_one(s, 1));
	mroce_rdslots_accepted(s, FIRST_RESP + 1);
	KUNIT_EXPECT_FALSE(test, put_one(s, 0));
	KUNIT_EXPECT_FALSE(test, put_one(s, 1));
	mroce_rdslots_accepted(s, FIRST_RESP + 2);
	KUNIT_EXPECT_FALSE(test, put_one(s, 0));
	KUNIT_EXPECT_FALSE(test, put_one(s, 1));
	KUNIT_EXPECT_TRUE(test, put_one(s, 2));
	KUNIT_EXPECT_FALSE(test, put_one(s, -1000));
}

/*
 * Only the next number can be executed, and with all slots taken by executed
 * ones there is none: the slot it would have is another's.
 */
static void executed_ones_are_not_due_again(struct kunit *test)
{
	struct mroce_rdslots *s = slots_new(test, 2);

	put_one(s, 0);
	put_one(s, 1);
	KUNIT_EXPECT_EQ(test, execute(s, 2), 2);
	KUNIT_EXPECT_EQ(test, due(s, 100), MROCE_RDQ_WAIT);
	mroce_rdslots_accepted(s, FIRST_RESP + 1);
	KUNIT_EXPECT_EQ(test, due(s, 100), MROCE_RDQ_WAIT);
	KUNIT_ASSERT_TRUE(test, put_one(s, 2));
	KUNIT_EXPECT_EQ(test, execute(s, 3), 1);
}

static void accepted_frees_whole_fetches(struct kunit *test)
{
	struct mroce_rdslots *s = slots_new(test, 4);

	put(s, 0, FIRST_RESP, 3);
	put(s, 1, FIRST_RESP + 3, 0);	/* nothing to read is one empty response */
	put(s, 2, FIRST_RESP + 4, 2);
	put(s, 3, FIRST_RESP + 6, 1);
	KUNIT_EXPECT_EQ(test, execute(s, 3), 3);
	KUNIT_EXPECT_EQ(test, s->next_psn, FIRST_RESP + 6);
	mroce_rdslots_accepted(s, FIRST_RESP);
	mroce_rdslots_accepted(s, FIRST_RESP + 2);
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN);
	KUNIT_EXPECT_FALSE(test, put_one(s, 4));
	mroce_rdslots_accepted(s, FIRST_RESP + 3);
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN + 1);
	mroce_rdslots_accepted(s, FIRST_RESP + 5);
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN + 2);
	/* Old news */
	mroce_rdslots_accepted(s, FIRST_RESP + 3);
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN + 2);
	/* Whatever is said: what was not executed has no response. */
	mroce_rdslots_accepted(s, FIRST_RESP + 1000);
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN + 3);
	KUNIT_EXPECT_TRUE(test, mroce_rdslots_idle(s));
	KUNIT_EXPECT_EQ(test, execute(s, 4), 1);
	KUNIT_EXPECT_FALSE(test, mroce_rdslots_idle(s));
}

/* A requester cannot have what has not been sent. */
static void oldest_covers_what_was_sent(struct kunit *test)
{
	struct mroce_rdslots *s = slots_new(test, 4);
	u32 una = FIRST_RESP;

	put(s, 0, FIRST_RESP, 2);
	put(s, 1, FIRST_RESP + 2, 2);
	put(s, 2, FIRST_RESP + 4, 2);
	KUNIT_EXPECT_EQ(test, execute(s, 2), 2);
	/* oldest, sent up to -> accepted up to */
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN, una, una + 4), una);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN - 9, una, una + 4), una);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 1, una, una + 4), una + 2);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 1, una, una + 2), una + 2);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 1, una, una + 1), una);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 2, una, una + 3), una + 2);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 2, una, una + 4), una + 4);
	/* Beyond what was executed, there is nothing it could mean. */
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 3, una, una + 4), una + 4);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 5000, una, una + 9), una + 4);
	/* Part of the first was accepted before. */
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN, una + 1, una + 4), una + 1);
	KUNIT_EXPECT_EQ(test, mroce_rdslots_oldest(s, FIRST_SN + 1, una + 1, una + 4), una + 2);
	/* It is a question: nothing is free yet. */
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN);
}

/* The record that would have freed the slots was lost; the next request frees them. */
static void oldest_stands_in_for_a_lost_record(struct kunit *test)
{
	static const struct mroce_txs_cfg cfg = { .window = 100, .timeout = 14, .retry_cnt = 7 };
	struct mroce_txs *txs = kunit_kzalloc(test, sizeof(*txs), GFP_KERNEL);
	struct mroce_rdslots *s = slots_new(test, 2);
	u32 psn;

	KUNIT_ASSERT_NOT_NULL(test, txs);
	mroce_txs_init(txs, FIRST_RESP, &cfg);
	put(s, 0, FIRST_RESP, 3);
	put(s, 1, FIRST_RESP + 3, 2);
	KUNIT_EXPECT_EQ(test, execute(s, 2), 2);
	mroce_txs_sent(txs, 4, 1000);
	mroce_txs_lost(txs, FIRST_RESP + 1);
	mroce_txs_lost(txs, FIRST_RESP + 3);
	KUNIT_EXPECT_FALSE(test, put(s, 2, FIRST_RESP + 5, 1));
	psn = mroce_rdslots_oldest(s, FIRST_SN + 2, txs->una, txs->nxt);
	KUNIT_EXPECT_TRUE(test, mroce_txs_accept(txs, psn, 2000));
	mroce_rdslots_accepted(s, txs->una);
	KUNIT_EXPECT_EQ(test, txs->una, FIRST_RESP + 3);
	KUNIT_EXPECT_EQ(test, s->una_sn, FIRST_SN + 1);
	KUNIT_EXPECT_TRUE(test, put(s, 2, FIRST_RESP + 5, 1));
	/* What was lost of the other one still goes again. */
	KUNIT_ASSERT_TRUE(test, mroce_txs_next_rtx(txs, &psn));
	KUNIT_EXPECT_EQ(test, psn, FIRST_RESP + 3);
	KUNIT_EXPECT_EQ(test, txs->n_rtx, 1);
}

static void contradicting_response_psn_is_bad(struct kunit *test)
{
	static const s32 off[] = { -1, 1, 2, 0x7fffffff, -0x7fffffff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(off); i++) {
		struct mroce_rdslots *s = slots_new(test, 4);

		put(s, 0, FIRST_RESP, 2);
		put(s, 1, FIRST_RESP + 2 + off[i], 1);
		/* It shows in its turn only. */
		KUNIT_EXPECT_EQ(test, due(s, 2), MROCE_RDQ_RUN);
		mroce_rdslots_done(s);
		KUNIT_EXPECT_EQ(test, due(s, 1), MROCE_RDQ_WAIT);
		KUNIT_EXPECT_EQ(test, due(s, 2), MROCE_RDQ_BAD);
	}
}

static struct kunit_case rdq_cases[] = {
	KUNIT_CASE(limit_and_fence),
	KUNIT_CASE(max_zero_is_none_at_all),
	KUNIT_CASE(responses_are_numbered_beforehand),
	KUNIT_CASE(slot_keeps_the_request),
	KUNIT_CASE(executed_when_cum_has_passed),
	KUNIT_CASE(executed_in_order_whatever_the_arrival),
	KUNIT_CASE(no_more_than_agreed),
	KUNIT_CASE(lowered_depth_strands_none),
	KUNIT_CASE(depth_zero_takes_none),
	KUNIT_CASE(number_is_used_once),
	KUNIT_CASE(executed_ones_are_not_due_again),
	KUNIT_CASE(accepted_frees_whole_fetches),
	KUNIT_CASE(oldest_covers_what_was_sent),
	KUNIT_CASE(oldest_stands_in_for_a_lost_record),
	KUNIT_CASE(contradicting_response_psn_is_bad),
	{}
};

static struct kunit_suite rdq_suite = {
	.name = "mroce_rdq",
	.test_cases = rdq_cases,
};

kunit_test_suite(rdq_suite);
