// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A shared receive queue of two queue pairs, one of which may stand still or go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "qpstate.h"

#define LARGE_BYTES MROCE_HALF_BYTES

/**
 * mroce_srq_beside - another pair of QPs, on the same shared queue
 * @test: running case, with the shared queue
 * @other: to be set up; mroce_srq_part() before the shared queue goes
 */
int mroce_srq_beside(struct mroce_test *test, struct mroce_test *other)
{
	int i;

	*other = *test;
	for (i = 0; i < 2; i++) {
		other->side[i].qp = NULL;
		other->side[i].send_cq = NULL;
		other->side[i].recv_cq = NULL;
	}
	if (!mroce_pair_open(other))
		return 0;
	return mroce_case_fail(test, "another pair: %s", other->why);
}

/**
 * mroce_srq_part - undo mroce_srq_beside()
 * @test: running case; its reason is that of the other pair if it has none
 * @other: the pair
 * @failed: what has happened so far
 *
 * Return: whether anything failed.
 */
int mroce_srq_part(struct mroce_test *test, struct mroce_test *other, int failed)
{
	if (failed && !test->why[0])
		snprintf(test->why, sizeof(test->why), "%s", other->why);
	other->side[MROCE_B].srq = NULL;
	if (mroce_pair_close(other) && !failed)
		return mroce_case_fail(test, "another pair: %s", other->why);
	return failed;
}

/* A message from A to B of @test, into the receive with @id */
static int pass(struct mroce_test *test, uint64_t id)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	if (mroce_side_sends(test, MROCE_A, id, 1, 64) ||
	    mroce_wc_wait(test, b->recv_cq, id, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (test->wc.qp_num != b->qp->qp_num)
		return mroce_case_fail(test, "receive %#lx is of QP %#x, expected %#x", id,
				       test->wc.qp_num, b->qp->qp_num);
	return mroce_wc_wait(test, a->send_cq, id, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

/* Whoever comes next gets the oldest. */
static int in_turns(struct mroce_test *test, struct mroce_test *other)
{
	uint64_t id, posted = 0;

	for (id = 0; id < 200; id++) {
		if (posted == id && mroce_srq_recvs(test, posted, 8, 64))
			return 1;
		posted += posted == id ? 8 : 0;
		if (pass(mroce_mix(id) % 2 ? test : other, id))
			return 1;
	}
	return mroce_wc_none(test, test->side[MROCE_B].recv_cq, 0) ||
	       mroce_wc_none(other, other->side[MROCE_B].recv_cq, 0);
}

/* One QP fails, with nothing bound: what was posted is for the other. */
static int one_fails(struct mroce_test *test, struct mroce_test *other)
{
	static const enum ibv_event_type type = IBV_EVENT_QP_LAST_WQE_REACHED;
	struct mroce_side *b = &test->side[MROCE_B];
	uint64_t id;

	if (mroce_srq_recvs(test, 0, 8, 64) || pass(test, 0) || pass(other, 1) ||
	    mroce_pair_modify(test, MROCE_B, IBV_QPS_ERR) ||
	    mroce_event_wait(test, b, type, b->qp) || mroce_event_none(test, b, type, 20) ||
	    mroce_wc_none(test, b->recv_cq, 0))
		return 1;
	for (id = 2; id < 8; id++) {
		if (pass(other, id))
			return 1;
	}
	return 0;
}

/*
 * B gets the beginning of a message, and binds the only receive there is, @id; then its
 * peer falls silent.
 */
static int half_message(struct mroce_test *test, uint64_t id)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	int failed;

	/* As acknowledgements are late, A waits for them in the middle. */
	if (mroce_case_command(test, MROCE_DELAY))
		return 1;
	failed = mroce_srq_recvs(test, id, 1, LARGE_BYTES) || mroce_srq_arm(test, 1) ||
		 mroce_side_sends(test, MROCE_A, id, 1, LARGE_BYTES) ||
		 mroce_event_wait(test, b, IBV_EVENT_SRQ_LIMIT_REACHED, b->srq) ||
		 mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET) ||
		 mroce_wc_none(test, a->send_cq, 0) || mroce_wc_none(test, b->recv_cq, 20);
	return mroce_case_command(test, MROCE_PROMPT) || failed;
}

/* A full queue of 4, of which one is bound and not complete: there is room for 3. */
static int pass_many(struct mroce_test *test, struct mroce_test *other)
{
	uint64_t id;

	if (mroce_srq_recvs(test, 100, 3, 64) ||
	    mroce_case_errno(test, "more than fit", mroce_srq_recv(&test->side[MROCE_B], 1, 0, 64),
			     ENOMEM))
		return 1;
	for (id = 100; id < 400; id++) {
		if (pass(other, id) || mroce_srq_recvs(test, id + 3, 1, 64))
			return 1;
	}
	return 0;
}

static int room_for_all(struct mroce_test *test, struct mroce_test *other)
{
	if (mroce_srq_recvs(test, 403, 1, 64) ||
	    mroce_case_errno(test, "more than fit", mroce_srq_recv(&test->side[MROCE_B], 1, 0, 64),
			     ENOMEM))
		return 1;
	return pass(other, 400) || pass(other, 401) || pass(other, 402) || pass(other, 403);
}

/* Who stands still keeps one receive and nobody; in ERR it comes back, before the event. */
static int bound_is_flushed(struct mroce_test *test, struct mroce_test *other)
{
	struct mroce_side *b = &test->side[MROCE_B];

	return half_message(test, 50) || pass_many(test, other) ||
	       mroce_event_none(test, b, IBV_EVENT_QP_LAST_WQE_REACHED, 0) ||
	       mroce_pair_modify(test, MROCE_B, IBV_QPS_ERR) ||
	       mroce_event_wait(test, b, IBV_EVENT_QP_LAST_WQE_REACHED, b->qp) ||
	       mroce_wc_wait(test, b->recv_cq, 50, IBV_WC_WR_FLUSH_ERR, 0) ||
	       mroce_wc_none(test, b->recv_cq, 20) || room_for_all(test, other);
}

/* Without ERR before there is no completion, but the room is there again. */
static int bound_is_reset(struct mroce_test *test, struct mroce_test *other)
{
	struct mroce_side *b = &test->side[MROCE_B];

	return half_message(test, 50) || pass_many(test, other) ||
	       mroce_pair_modify(test, MROCE_B, IBV_QPS_RESET) ||
	       mroce_wc_none(test, b->recv_cq, 0) || room_for_all(test, other) ||
	       mroce_event_none(test, b, IBV_EVENT_QP_LAST_WQE_REACHED, 0);
}

static int bound_is_destroyed(struct mroce_test *test, struct mroce_test *other)
{
	struct mroce_side *b = &test->side[MROCE_B];

	if (half_message(test, 50) || pass_many(test, other) ||
	    mroce_case_errno(test, "destroy_qp", ibv_destroy_qp(b->qp), 0))
		return 1;
	b->qp = NULL;
	return room_for_all(test, other);
}

static int with_two(struct mroce_test *test, uint32_t max_wr,
		    int (*body)(struct mroce_test *test, struct mroce_test *other))
{
	static struct mroce_test other;
	int failed;

	mroce_event_drop(&test->side[MROCE_B]);
	failed = mroce_srq_open(test, max_wr) || mroce_srq_beside(test, &other) ||
		 body(test, &other);
	return mroce_srq_part(test, &other, failed);
}

static int srq_in_turns(struct mroce_test *test)
{
	return with_two(test, 8, in_turns);
}

static int srq_one_fails(struct mroce_test *test)
{
	return with_two(test, 8, one_fails);
}

static int srq_bound_is_flushed(struct mroce_test *test)
{
	return with_two(test, 4, bound_is_flushed);
}

static int srq_bound_is_reset(struct mroce_test *test)
{
	return with_two(test, 4, bound_is_reset);
}

static int srq_bound_is_destroyed(struct mroce_test *test)
{
	return with_two(test, 4, bound_is_destroyed);
}

const struct mroce_case mroce_cases_srq_shared[] = {
	{ "srq_in_turns", srq_in_turns, MROCE_NEEDS_NOTHING },
	{ "srq_one_fails", srq_one_fails, MROCE_NEEDS_NOTHING },
	{ "srq_bound_is_flushed", srq_bound_is_flushed, MROCE_NEEDS_DELAY },
	{ "srq_bound_is_reset", srq_bound_is_reset, MROCE_NEEDS_DELAY },
	{ "srq_bound_is_destroyed", srq_bound_is_destroyed, MROCE_NEEDS_DELAY },
	{ }
};
