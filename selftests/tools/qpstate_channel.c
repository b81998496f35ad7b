// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion channels: which completion raises an event, and on which queue. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "qpstate.h"

/* Which queue has an event, NULL = none within the time */
static struct ibv_cq *next_event(struct ibv_comp_channel *channel, int wait_ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, wait_ms) <= 0 || ibv_get_cq_event(channel, &cq, &context))
		return NULL;
	ibv_ack_cq_events(cq, 1);
	return context == channel ? cq : NULL;
}

static int no_event(struct mroce_test *test, struct ibv_comp_channel *channel, const char *when)
{
	return next_event(channel, 50) ? mroce_case_fail(test, "event %s", when) : 0;
}

static int one_event(struct mroce_test *test, struct ibv_comp_channel *channel, struct ibv_cq *cq,
		     const char *when)
{
	struct ibv_cq *got = next_event(channel, MROCE_WAIT_MS);

	if (got == cq)
		return no_event(test, channel, "twice");
	return mroce_case_fail(test, "%s %s", got ? "event of another queue" : "no event", when);
}

static int arm(struct mroce_test *test, struct ibv_cq *cq, bool solicited_only)
{
	return mroce_case_errno(test, "req_notify_cq", ibv_req_notify_cq(cq, solicited_only), 0);
}

/* A message from A that B receives; B's queue has the completion, @flags are A's */
static int deliver(struct mroce_test *test, uint64_t id, uint32_t flags)
{
	struct mroce_req req = { .id = id, .opcode = IBV_WR_SEND, .bytes = 8, .flags = flags };

	return mroce_side_recvs(test, MROCE_B, id, 1, 8) || mroce_side_post(test, MROCE_A, &req) ||
	       mroce_wc_wait(test, test->side[MROCE_A].send_cq, id, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

static int take(struct mroce_test *test, uint64_t id)
{
	return mroce_wc_wait(test, test->side[MROCE_B].recv_cq, id, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

/*
 * A connected pair, the queues of B on one channel. The channel has to outlive them:
 * they are closed here, whatever @steps says.
 */
static int with_channel(struct mroce_test *test,
			int (*steps)(struct mroce_test *test, struct ibv_comp_channel *channel))
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_comp_channel *channel = ibv_create_comp_channel(b->dev->ctx);
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	char why[sizeof(test->why)];
	int failed;

	if (!channel)
		return mroce_case_errno(test, "create_comp_channel", errno, 0);
	b->send_cq = ibv_create_cq(b->dev->ctx, 64, channel, channel, 0);
	b->recv_cq = ibv_create_cq(b->dev->ctx, 64, channel, channel, 0);
	init.send_cq = b->send_cq;
	init.recv_cq = b->recv_cq;
	b->qp = b->send_cq && b->recv_cq ? ibv_create_qp(b->dev->pd, &init) : NULL;
	if (!b->qp)
		return mroce_case_errno(test, "create_cq or create_qp", errno, 0);
	failed = mroce_pair_create_side(test, MROCE_A, 16, 16) || mroce_pair_connect(test) ||
		 steps(test, channel);
	memcpy(why, test->why, sizeof(why));
	if (mroce_pair_close(test) && !failed)
		return 1;
	if (ibv_destroy_comp_channel(channel) && !failed)
		return mroce_case_fail(test, "destroy_comp_channel failed");
	if (failed)
		mroce_case_fail(test, "%s", why);
	return failed;
}

/* Each has events of its own, and only those of the armed ones. */
static int several_queues_steps(struct mroce_test *test, struct ibv_comp_channel *channel)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_cq *first, *second;

	if (mroce_side_recvs(test, MROCE_A, 1, 8, 8) || arm(test, b->recv_cq, false) ||
	    mroce_side_sends(test, MROCE_B, 1, 1, 8) ||
	    mroce_wc_wait(test, b->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    no_event(test, channel, "of a queue that is not armed") || deliver(test, 2, 0) ||
	    one_event(test, channel, b->recv_cq, "of the receive queue") || take(test, 2) ||
	    arm(test, b->send_cq, false) || mroce_side_sends(test, MROCE_B, 3, 1, 8) ||
	    one_event(test, channel, b->send_cq, "of the send queue") ||
	    mroce_wc_wait(test, b->send_cq, 3, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (arm(test, b->send_cq, false) || arm(test, b->recv_cq, false) || deliver(test, 4, 0) ||
	    mroce_side_sends(test, MROCE_B, 5, 1, 8) || take(test, 4) ||
	    mroce_wc_wait(test, b->send_cq, 5, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	first = next_event(channel, MROCE_WAIT_MS);
	second = next_event(channel, MROCE_WAIT_MS);
	if (!first || !second || first == second)
		return mroce_case_fail(test, "not one event of each");
	return mroce_wc_range(test, a->recv_cq, 1, 3, IBV_WC_SUCCESS) ||
	       no_event(test, channel, "too many");
}

/*
 * The sequence of every program: arm, then look. Completions that are there already
 * raise nothing, the next one does, however many of them nobody has taken.
 */
static int arm_when_pending_steps(struct mroce_test *test, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = test->side[MROCE_B].recv_cq;

	return deliver(test, 1, 0) || deliver(test, 2, 0) || arm(test, cq, false) ||
	       no_event(test, channel, "of completions before arming") || deliver(test, 3, 0) ||
	       one_event(test, channel, cq, "of the first after arming") || deliver(test, 4, 0) ||
	       no_event(test, channel, "without arming again") || take(test, 1) || take(test, 2) ||
	       take(test, 3) || take(test, 4) || mroce_wc_none(test, cq, 0);
}

/* To ask for all is more than to ask for solicited ones, in whatever order it is asked. */
static int arm_twice_steps(struct mroce_test *test, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = test->side[MROCE_B].recv_cq;
	uint64_t id;

	for (id = 0; id < 2; id++) {
		if (arm(test, cq, !id) || arm(test, cq, id) || deliver(test, id, 0) ||
		    one_event(test, channel, cq, id ? "armed for all, then solicited" :
			      "armed for solicited, then all") || take(test, id))
			return 1;
	}
	return arm(test, cq, true) || arm(test, cq, true) || deliver(test, 2, 0) || take(test, 2) ||
	       no_event(test, channel, "though not solicited") ||
	       deliver(test, 3, IBV_SEND_SOLICITED) ||
	       one_event(test, channel, cq, "of a solicited one") || take(test, 3);
}

/* A solicited immediate counts, a WRITE that nobody receives does not. */
static int solicited_imm_steps(struct mroce_test *test, struct ibv_comp_channel *channel)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.id = 1, .opcode = IBV_WR_RDMA_WRITE, .bytes = 8, .flags = IBV_SEND_SOLICITED,
		.rkey = b->mr->rkey, .remote_addr = (uintptr_t)mroce_side_inbox(b),
	};

	if (arm(test, b->recv_cq, true) || mroce_side_recvs(test, MROCE_B, 1, 1, 0) ||
	    mroce_side_post(test, MROCE_A, &req) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    no_event(test, channel, "of a WRITE"))
		return 1;
	req.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	return mroce_side_post(test, MROCE_A, &req) ||
	       one_event(test, channel, b->recv_cq, "of an immediate") || take(test, 1);
}

static int some_event(struct mroce_test *test, struct ibv_comp_channel *channel)
{
	return next_event(channel, MROCE_WAIT_MS) ? 0 : mroce_case_fail(test, "no event of errors");
}

/* Armed for solicited ones: a program that waits so must learn of the end. */
static int error_raises_steps(struct mroce_test *test, struct ibv_comp_channel *channel)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = { .id = 1, .opcode = IBV_WR_SEND, .bytes = 8, .lkey = 1 };

	return mroce_side_recvs(test, MROCE_B, 1, 2, 8) || arm(test, b->recv_cq, true) ||
	       arm(test, b->send_cq, true) || mroce_side_sends(test, MROCE_B, 7, 1, 0) ||
	       mroce_side_recvs(test, MROCE_A, 7, 1, 0) ||
	       mroce_wc_wait(test, b->send_cq, 7, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       no_event(test, channel, "of a good send") || mroce_side_post(test, MROCE_B, &req) ||
	       mroce_wc_wait(test, b->send_cq, 1, IBV_WC_LOC_PROT_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_range(test, b->recv_cq, 1, 2, IBV_WC_WR_FLUSH_ERR) ||
	       some_event(test, channel) || some_event(test, channel) ||
	       no_event(test, channel, "too many");
}

static int events_of_several_queues(struct mroce_test *test)
{
	return with_channel(test, several_queues_steps);
}

static int arm_when_pending(struct mroce_test *test)
{
	return with_channel(test, arm_when_pending_steps);
}

static int arm_twice(struct mroce_test *test)
{
	return with_channel(test, arm_twice_steps);
}

static int solicited_imm(struct mroce_test *test)
{
	return with_channel(test, solicited_imm_steps);
}

static int error_raises_event(struct mroce_test *test)
{
	return with_channel(test, error_raises_steps);
}

const struct mroce_case mroce_cases_channel[] = {
	{ "events_of_several_queues", events_of_several_queues, MROCE_NEEDS_NOTHING },
	{ "arm_when_pending", arm_when_pending, MROCE_NEEDS_NOTHING },
	{ "arm_twice", arm_twice, MROCE_NEEDS_NOTHING },
	{ "solicited_imm", solicited_imm, MROCE_NEEDS_NOTHING },
	{ "error_raises_event", error_raises_event, MROCE_NEEDS_NOTHING },
	{ }
};
