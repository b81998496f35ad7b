// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Transfers with something special: empty, large, early, with events. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include "qpstate.h"

/* No bytes: no key is looked at, no memory needed, messages still count. */
static int zero_length(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req[] = {
		{ .id = 1, .opcode = IBV_WR_RDMA_WRITE },
		{ .id = 2, .opcode = IBV_WR_RDMA_WRITE, .flags = IBV_SEND_INLINE },
		{ .id = 3, .opcode = IBV_WR_SEND },
		{ .id = 4, .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm = 0x12345678 },
		{ .id = 5, .opcode = IBV_WR_SEND_WITH_IMM, .imm = 0x9abcdef0 },
	};
	size_t i;

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 13, 3, 0))
		return 1;
	for (i = 0; i < ARRAY_SIZE(req); i++) {
		if (mroce_case_errno(test, "post_send", mroce_side_send(a, &req[i]), 0))
			return 1;
	}
	if (mroce_wc_range(test, a->send_cq, 1, 5, IBV_WC_SUCCESS) ||
	    mroce_wc_wait(test, b->recv_cq, 13, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (test->wc.byte_len || test->wc.opcode != IBV_WC_RECV)
		return mroce_case_fail(test, "SEND: %u bytes received", test->wc.byte_len);
	for (i = 3; i < 5; i++) {
		if (mroce_wc_wait(test, b->recv_cq, 11 + i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (test->wc.byte_len || ntohl(test->wc.imm_data) != req[i].imm)
			return mroce_case_fail(test, "%u bytes, immediate %#x", test->wc.byte_len,
					       ntohl(test->wc.imm_data));
	}
	return 0;
}

/* The receive of a WRITE with immediate needs no memory, and gets none written. */
static int write_imm(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .bytes = 20001, .imm = 0xfeedf00d,
		.rkey = b->mr->rkey, .remote_addr = (uintptr_t)mroce_side_inbox(b) + 4096,
	};

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 10, 1, 0) ||
	    mroce_side_recvs(test, MROCE_B, 11, 1, 64))
		return 1;
	mroce_pattern_fill(a->buf, req.bytes, 77, 0);
	memset(mroce_side_inbox(b), 0x55, 4096 + req.bytes);
	for (req.id = 0; req.id < 2; req.id++) {
		if (mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0) ||
		    mroce_wc_wait(test, b->recv_cq, 10 + req.id, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (test->wc.byte_len != req.bytes || ntohl(test->wc.imm_data) != req.imm ||
		    test->wc.opcode != IBV_WC_RECV_RDMA_WITH_IMM)
			return mroce_case_fail(test, "%u bytes, immediate %#x, opcode %d",
					       test->wc.byte_len, ntohl(test->wc.imm_data),
					       test->wc.opcode);
	}
	if (mroce_pattern_check(mroce_side_inbox(b) + 4096, req.bytes, 77, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes arrived");
	if (mroce_side_inbox(b)[0] != 0x55 || mroce_side_inbox(b)[63] != 0x55)
		return mroce_case_fail(test, "memory of the receive was written");
	return 0;
}

static int large_messages(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.opcode = IBV_WR_RDMA_WRITE, .bytes = MROCE_HALF_BYTES, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b),
	};

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 10, 1, MROCE_HALF_BYTES))
		return 1;
	for (req.id = 0; req.id < 2; req.id++) {
		mroce_pattern_fill(a->buf, req.bytes, req.id, 0);
		if (mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0) ||
		    mroce_wc_wait(test, a->send_cq, req.id, IBV_WC_SUCCESS, 4 * MROCE_WAIT_MS))
			return 1;
		if (mroce_pattern_check(mroce_side_inbox(b), req.bytes, req.id, 0) >= 0)
			return mroce_case_fail(test, "wrong bytes arrived, opcode %d", req.opcode);
		req.opcode = IBV_WR_SEND;
	}
	return mroce_wc_wait(test, b->recv_cq, 10, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

/* A responder that never gets to RTS, like the server of a bandwidth test. */
static int responder_in_rtr(struct mroce_test *test)
{
	return mroce_pair_create(test, 16, 16) || mroce_pair_init(test) ||
	       mroce_pair_rtr(test, MROCE_A) || mroce_pair_rtr(test, MROCE_B) ||
	       mroce_pair_rts(test, MROCE_A) || mroce_pair_ping(test) ||
	       mroce_pair_state(test, MROCE_B, IBV_QPS_RTR);
}

/* The peer gets ready a while after the first packet. */
static int early_sender(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	if (mroce_pair_create(test, 16, 16) || mroce_pair_init(test) ||
	    mroce_side_recvs(test, MROCE_B, 200, 4, 9000) || mroce_pair_rtr(test, MROCE_A) ||
	    mroce_pair_rts(test, MROCE_A) || mroce_side_sends(test, MROCE_A, 100, 4, 9000) ||
	    mroce_wc_none(test, a->send_cq, 100))
		return 1;
	return mroce_pair_rtr(test, MROCE_B) ||
	       mroce_wc_range(test, b->recv_cq, 200, 4, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, a->send_cq, 100, 4, IBV_WC_SUCCESS) ||
	       mroce_pair_rts(test, MROCE_B) || mroce_pair_ping(test);
}

static bool has_event(struct ibv_comp_channel *channel, int wait_ms)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, wait_ms) <= 0 || ibv_get_cq_event(channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* Armed for solicited completions only a solicited one raises an event, and once. */
static int event_steps(struct mroce_test *test, struct ibv_comp_channel *channel,
		       struct ibv_cq *cq)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req req = { .opcode = IBV_WR_SEND, .bytes = 8 };
	int i;

	for (i = 0; i < 4; i++) {
		/* i: 0 not armed, 1 plain for solicited, 2 solicited, 3 any */
		if (i && ibv_req_notify_cq(cq, i != 3))
			return mroce_case_fail(test, "req_notify_cq failed");
		req.flags = i == 2 ? IBV_SEND_SOLICITED : 0;
		if (mroce_side_recvs(test, MROCE_B, i, 1, 8) ||
		    mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0) ||
		    mroce_wc_wait(test, cq, i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (i < 2 && has_event(channel, 50))
			return mroce_case_fail(test, "step %d: event without reason", i);
		if (i >= 2 && !has_event(channel, MROCE_WAIT_MS))
			return mroce_case_fail(test, "step %d: no event", i);
	}
	if (has_event(channel, 50))
		return mroce_case_fail(test, "a second event");
	return 0;
}

static int cq_events(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_comp_channel *channel = ibv_create_comp_channel(b->dev->ctx);
	struct ibv_cq *cq;
	int failed;

	if (!channel || mroce_pair_create(test, 16, 16))
		return 1;
	/* side B again, its receive queue with a channel */
	cq = ibv_create_cq(b->dev->ctx, 16, NULL, channel, 0);
	ibv_destroy_qp(b->qp);
	init.send_cq = b->send_cq;
	init.recv_cq = cq;
	b->qp = ibv_create_qp(b->dev->pd, &init);
	if (!cq || !b->qp)
		return mroce_case_fail(test, "no QP with a completion channel");
	failed = mroce_pair_connect(test) || event_steps(test, channel, cq);
	ibv_destroy_qp(b->qp);
	b->qp = NULL;
	if (!failed && (ibv_destroy_cq(cq) || ibv_destroy_comp_channel(channel)))
		return mroce_case_fail(test, "destroying queue or channel failed");
	return failed;
}

/* A receive that is late by several timer periods loses nothing. */
static int late_receives(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	unsigned int i;

	if (mroce_pair_open(test) || mroce_side_sends(test, MROCE_A, 100, 8, 9000))
		return 1;
	for (i = 0; i < 8; i++) {
		mroce_case_pause(20);
		if (mroce_side_recvs(test, MROCE_B, 200 + i, 1, 9000) ||
		    mroce_wc_wait(test, b->recv_cq, 200 + i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
	}
	return mroce_wc_range(test, a->send_cq, 100, 8, IBV_WC_SUCCESS);
}

const struct mroce_case mroce_cases_data[] = {
	{ "zero_length", zero_length, MROCE_NEEDS_NOTHING },
	{ "write_imm", write_imm, MROCE_NEEDS_NOTHING },
	{ "large_messages", large_messages, MROCE_NEEDS_NOTHING },
	{ "responder_in_rtr", responder_in_rtr, MROCE_NEEDS_NOTHING },
	{ "early_sender", early_sender, MROCE_NEEDS_NOTHING },
	{ "cq_events", cq_events, MROCE_NEEDS_NOTHING },
	{ "late_receives", late_receives, MROCE_NEEDS_NOTHING },
	{ }
};
