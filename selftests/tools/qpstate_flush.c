// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The error state and the way back from it. */
#include <unistd.h>
#include "qpstate.h"

static int to_error(struct mroce_test *test, int which)
{
	return mroce_case_errno(test, "modify_qp to ERR",
				mroce_qp_to_state(test->side[which].qp, IBV_QPS_ERR), 0);
}

static int to_reset(struct mroce_test *test, int which)
{
	return mroce_case_errno(test, "modify_qp to RESET",
				mroce_qp_to_state(test->side[which].qp, IBV_QPS_RESET), 0);
}

/* Sends wait for a receive of the peer, receives for a send: all must come back. */
static int err_flushes_all(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req req = { .opcode = IBV_WR_SEND, .bytes = 5000 };
	unsigned int i;

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_A, 200, 7, 64))
		return 1;
	for (i = 0; i < 9; i++) {
		req.id = 100 + i;
		req.unsignaled = i % 2;
		if (mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0))
			return 1;
	}
	return mroce_wc_none(test, a->send_cq, 20) || to_error(test, MROCE_A) ||
	       mroce_wc_range(test, a->send_cq, 100, 9, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_wc_range(test, a->recv_cq, 200, 7, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_wc_none(test, a->send_cq, 0) || mroce_wc_none(test, a->recv_cq, 0) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR);
}

/* How consumers drain a QP. */
static int post_in_err(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	unsigned int round;

	if (mroce_pair_open(test) || to_error(test, MROCE_A))
		return 1;
	for (round = 0; round < 20; round++) {
		if (mroce_side_sends(test, MROCE_A, 100, 5, round % 2 ? 0 : 64) ||
		    mroce_side_recvs(test, MROCE_A, 200, 5, round % 2 ? 0 : 64) ||
		    mroce_wc_range(test, a->send_cq, 100, 5, IBV_WC_WR_FLUSH_ERR) ||
		    mroce_wc_range(test, a->recv_cq, 200, 5, IBV_WC_WR_FLUSH_ERR))
			return 1;
	}
	return 0;
}

static void empty(struct mroce_test *test, struct ibv_cq *cq)
{
	while (ibv_poll_cq(cq, 1, &test->wc) > 0)
		;
}

/* Nothing of an earlier life may show up in the next one. */
static int reset_and_reuse(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	unsigned int round;

	if (mroce_pair_create(test, 16, 16))
		return 1;
	for (round = 0; round < 20; round++) {
		a->psn = mroce_mix(round) & 0xffffff;
		b->psn = mroce_mix(~round) & 0xffffff;
		if (mroce_pair_connect(test) || mroce_pair_ping(test))
			return 1;
		/* leave sends in flight, receives posted; every other time through ERR */
		if (mroce_side_sends(test, MROCE_A, 100, 3, 9000) ||
		    mroce_side_recvs(test, MROCE_A, 200, a->cap.max_recv_wr, 64))
			return 1;
		if (round % 2 && (to_error(test, MROCE_A) || to_error(test, MROCE_B)))
			return 1;
		if (to_reset(test, MROCE_A) || to_reset(test, MROCE_B) ||
		    mroce_pair_state(test, MROCE_A, IBV_QPS_RESET))
			return 1;
		empty(test, a->send_cq);
		empty(test, a->recv_cq);
		empty(test, b->send_cq);
		empty(test, b->recv_cq);
	}
	return mroce_pair_connect(test) ||
	       mroce_side_recvs(test, MROCE_A, 200, a->cap.max_recv_wr, 64) ||
	       mroce_wc_none(test, a->recv_cq, 20) || mroce_pair_ping(test);
}

/* mroce_pair_close() has the limit of time. */
static int destroy_busy(struct mroce_test *test)
{
	return mroce_pair_open(test) || mroce_side_sends(test, MROCE_A, 100, 16, 9000) ||
	       mroce_side_recvs(test, MROCE_A, 200, 16, 64);
}

const struct mroce_case mroce_cases_flush[] = {
	{ "err_flushes_all", err_flushes_all, MROCE_NEEDS_NOTHING },
	{ "post_in_err", post_in_err, MROCE_NEEDS_NOTHING },
	{ "reset_and_reuse", reset_and_reuse, MROCE_NEEDS_NOTHING },
	{ "destroy_busy", destroy_busy, MROCE_NEEDS_NOTHING },
	{ }
};
