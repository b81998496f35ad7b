// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A QP in SQD, and what other states do to work; old and new peers of one QP. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include "qpstate.h"

/* READs that wait for a SEND before them */
#define MAX_WAITING 8
/* A life takes two of the numbers that a 16 bit counter of lives has: more than half of all */
#define OTHER_LIVES 17000

static int to_rts(struct mroce_test *test, int which)
{
	return mroce_pair_modify(test, which, IBV_QPS_RTS);
}

static int to_sqd(struct mroce_test *test, bool notify)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = notify };

	return mroce_case_errno(test, "modify_qp to SQD",
				ibv_modify_qp(test->side[MROCE_A].qp, &attr, IBV_QP_STATE |
					      (notify ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0)), 0);
}

static bool is_draining(struct mroce_test *test)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { };

	ibv_query_qp(test->side[MROCE_A].qp, &attr, IBV_QP_STATE, &init);
	return attr.sq_draining;
}

static int drained(struct mroce_test *test)
{
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;

	while (is_draining(test)) {
		if (mroce_clock_ns() > deadline_ns)
			return mroce_case_fail(test, "still draining");
		sched_yield();
	}
	return mroce_pair_state(test, MROCE_A, IBV_QPS_SQD);
}

/* Nothing to drain: the event comes at once. What is posted waits for RTS, not what arrives. */
static int sqd_idle(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	if (mroce_pair_open(test) || mroce_pair_ping(test) ||
	    to_sqd(test, true) ||
	    mroce_event_wait(test, a, IBV_EVENT_SQ_DRAINED, a->qp) || drained(test) ||
	    mroce_event_none(test, a, IBV_EVENT_SQ_DRAINED, 20))
		return 1;
	if (mroce_side_recvs(test, MROCE_B, 200, 4, 9000) ||
	    mroce_side_sends(test, MROCE_A, 100, 4, 9000) || mroce_wc_none(test, a->send_cq, 100) ||
	    mroce_wc_none(test, b->recv_cq, 0) || mroce_side_recvs(test, MROCE_A, 300, 1, 9000) ||
	    mroce_side_sends(test, MROCE_B, 400, 1, 9000) ||
	    mroce_wc_wait(test, a->recv_cq, 300, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, b->send_cq, 400, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	return to_rts(test, MROCE_A) || mroce_wc_range(test, b->recv_cq, 200, 4, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, a->send_cq, 100, 4, IBV_WC_SUCCESS) || mroce_pair_ping(test);
}

/* No event unless it was asked for */
static int sqd_silent(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];

	return mroce_pair_open(test) || mroce_event_none(test, a, IBV_EVENT_SQ_DRAINED, 0) ||
	       to_sqd(test, false) || drained(test) ||
	       mroce_event_none(test, a, IBV_EVENT_SQ_DRAINED, 50) || to_rts(test, MROCE_A) ||
	       mroce_pair_ping(test);
}

/* Completions of @cq from @first on, none after a while. Return: how many. */
static unsigned int count_wcs(struct mroce_test *test, struct ibv_cq *cq, uint64_t first,
			      unsigned int wait_ms)
{
	unsigned int n = 0;

	while (!mroce_wc_wait(test, cq, first + n, IBV_WC_SUCCESS, wait_ms))
		n++;
	return n;
}

/*
 * Work that has begun is finished before SQ_DRAINED: here it cannot, for want of
 * receives. How much has begun is up to the device, but it is a beginning of the
 * queue, at least one; work posted later is none of it.
 */
static int sqd_busy(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	unsigned int begun;

	if (mroce_pair_open(test) || mroce_side_sends(test, MROCE_A, 100, 8, 9000) ||
	    mroce_wc_none(test, a->send_cq, 20) || to_sqd(test, true))
		return 1;
	if (!is_draining(test))
		return mroce_case_fail(test, "not draining with 8 requests under way");
	if (mroce_event_none(test, a, IBV_EVENT_SQ_DRAINED, 50) ||
	    mroce_side_sends(test, MROCE_A, 108, 4, 9000) ||
	    mroce_side_recvs(test, MROCE_B, 200, 12, 9000) ||
	    mroce_event_wait(test, a, IBV_EVENT_SQ_DRAINED, a->qp) || drained(test))
		return 1;
	begun = count_wcs(test, a->send_cq, 100, 100);
	if (!begun || begun > 8)
		return mroce_case_fail(test, "%u of 8 were finished", begun);
	if (mroce_wc_range(test, b->recv_cq, 200, begun, IBV_WC_SUCCESS) ||
	    mroce_wc_none(test, b->recv_cq, 50) || to_rts(test, MROCE_A))
		return 1;
	return mroce_wc_range(test, b->recv_cq, 200 + begun, 12 - begun, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, a->send_cq, 100 + begun, 12 - begun, IBV_WC_SUCCESS) ||
	       mroce_pair_ping(test);
}

/* Large READs and WRITEs under way: complete when it is drained, and with the right bytes. */
static int sqd_under_load(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.bytes = 1u << 20, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b),
	}, list[12];
	unsigned int round, i, begun;

	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	if (mroce_pair_open(test))
		return 1;
	for (round = 0; round < 5; round++) {
		for (i = 0; i < 12; i++) {
			req.id = i;
			req.opcode = i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
			list[i] = req;
		}
		if (mroce_side_post_list(test, MROCE_A, list, 12) || to_sqd(test, true) ||
		    mroce_event_wait(test, a, IBV_EVENT_SQ_DRAINED, a->qp) ||
		    drained(test))
			return 1;
		/* All that has begun is complete by now: nothing comes later. */
		for (begun = 0; ibv_poll_cq(a->send_cq, 1, &test->wc) > 0; begun++) {
			if (test->wc.wr_id != begun || test->wc.status != IBV_WC_SUCCESS)
				return mroce_case_fail(test, "completion %lu '%s'", test->wc.wr_id,
						       ibv_wc_status_str(test->wc.status));
		}
		if (mroce_wc_none(test, a->send_cq, 50) || to_rts(test, MROCE_A) ||
		    mroce_wc_range(test, a->send_cq, begun, 12 - begun, IBV_WC_SUCCESS))
			return 1;
	}
	return mroce_pair_ping(test);
}

/* Both ends are drained and may have more fetches out from then on. */
static int sqd_more_reads(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_qp_attr more = { .max_rd_atomic = 16, .max_dest_rd_atomic = 16 };
	struct mroce_req req[16];
	unsigned int round, i;

	if (mroce_pair_open(test))
		return 1;
	mroce_pattern_fill(mroce_side_inbox(b), 16 * 100000, 16, 0);
	for (i = 0; i < 16; i++)
		req[i] = (struct mroce_req){
			.id = i, .opcode = IBV_WR_RDMA_READ, .bytes = 100000, .offset = i * 100000,
			.rkey = b->mr->rkey,
			.remote_addr = (uintptr_t)mroce_side_inbox(b) + i * 100000,
		};
	/* the first round one by one, so that numbers do not begin at 0 when they may be more */
	for (round = 0; round < 3; round++) {
		memset(a->buf, 0, 16 * 100000);
		if (mroce_side_post_list(test, MROCE_A, req, 16 - round) ||
		    mroce_wc_range(test, a->send_cq, 0, 16 - round, IBV_WC_SUCCESS))
			return 1;
		if (mroce_pattern_check(a->buf, (16 - round) * 100000, 16, 0) >= 0)
			return mroce_case_fail(test, "wrong bytes in round %u", round);
		if (round)
			continue;
		if (mroce_pair_modify(test, MROCE_B, IBV_QPS_SQD) || to_sqd(test, false) ||
		    drained(test) ||
		    mroce_case_errno(test, "more from B",
				     ibv_modify_qp(b->qp, &more, IBV_QP_MAX_DEST_RD_ATOMIC), 0) ||
		    mroce_case_errno(test, "more to A",
				     ibv_modify_qp(a->qp, &more, IBV_QP_MAX_QP_RD_ATOMIC), 0) ||
		    to_rts(test, MROCE_B) || to_rts(test, MROCE_A))
			return 1;
	}
	return mroce_pair_ping(test);
}

/* 1 SEND that finds no receive, @count READs behind it, numbered from 0 on */
static int reads_behind_send(struct mroce_test *test, unsigned int count)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req list[1 + MAX_WAITING] = { { .opcode = IBV_WR_SEND, .bytes = 64 } };
	unsigned int i;

	mroce_pattern_fill(mroce_side_inbox(b) + 65536, MAX_WAITING * 64, 65, 0);
	memset(test->side[MROCE_A].buf, 0, MAX_WAITING * 64);
	for (i = 0; i < count; i++)
		list[1 + i] = (struct mroce_req){
			.id = 1 + i, .opcode = IBV_WR_RDMA_READ, .bytes = 64, .offset = i * 64,
			.rkey = b->mr->rkey,
			.remote_addr = (uintptr_t)mroce_side_inbox(b) + 65536 + i * 64,
		};
	return mroce_side_post_list(test, MROCE_A, list, 1 + count);
}

/* The responder promises fewer from now on: those that wait with it were promised before. */
static int sqd_fewer_reads(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_qp_attr fewer = { .max_dest_rd_atomic = 2 };

	test->timing.rd_atomic = MAX_WAITING;
	test->timing.dest_rd_atomic = MAX_WAITING;
	if (mroce_pair_open(test) || mroce_pair_ping(test) ||
	    reads_behind_send(test, MAX_WAITING) || mroce_wc_none(test, a->send_cq, 200) ||
	    mroce_pair_modify(test, MROCE_B, IBV_QPS_SQD) ||
	    mroce_case_errno(test, "fewer from B",
			     ibv_modify_qp(b->qp, &fewer, IBV_QP_MAX_DEST_RD_ATOMIC), 0) ||
	    to_rts(test, MROCE_B) || mroce_side_recvs(test, MROCE_B, 200, 1, 64) ||
	    mroce_wc_range(test, a->send_cq, 0, 1 + MAX_WAITING, IBV_WC_SUCCESS) ||
	    mroce_wc_wait(test, b->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (mroce_pattern_check(a->buf, MAX_WAITING * 64, 65, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes were read");
	return mroce_pair_ping(test);
}

/* The requester forbids itself what its queue still holds: that fails, it does not stick. */
static int sqd_no_more_reads(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_qp_attr none = { .max_rd_atomic = 0 };
	unsigned int begun;

	if (mroce_pair_open(test) || mroce_pair_ping(test) || reads_behind_send(test, 4) ||
	    mroce_wc_none(test, a->send_cq, 20) || to_sqd(test, false) ||
	    mroce_side_recvs(test, MROCE_B, 200, 1, 64) || drained(test))
		return 1;
	begun = count_wcs(test, a->send_cq, 0, 100);
	if (!begun || begun > 2)
		return mroce_case_fail(test, "%u requests were finished, of one READ at a time",
				       begun);
	return mroce_case_errno(test, "none for A",
				ibv_modify_qp(a->qp, &none, IBV_QP_MAX_QP_RD_ATOMIC), 0) ||
	       to_rts(test, MROCE_A) ||
	       mroce_wc_wait(test, a->send_cq, begun, IBV_WC_LOC_QP_OP_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_range(test, a->send_cq, begun + 1, 4 - begun, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR);
}

/* Out of SQD the hard way: by ERR all is flushed, by RESET all is forgotten. */
static int sqd_left(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];

	if (mroce_pair_open(test) || to_sqd(test, false) || drained(test) ||
	    mroce_side_sends(test, MROCE_A, 100, 5, 64) ||
	    mroce_side_recvs(test, MROCE_A, 200, 5, 64) ||
	    mroce_pair_modify(test, MROCE_A, IBV_QPS_ERR) ||
	    mroce_wc_range(test, a->send_cq, 100, 5, IBV_WC_WR_FLUSH_ERR) ||
	    mroce_wc_range(test, a->recv_cq, 200, 5, IBV_WC_WR_FLUSH_ERR) || mroce_pair_close(test))
		return 1;
	return mroce_pair_open(test) || to_sqd(test, false) || drained(test) ||
	       mroce_side_sends(test, MROCE_A, 100, 5, 64) ||
	       mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET) ||
	       mroce_pair_modify(test, MROCE_B, IBV_QPS_RESET) ||
	       mroce_wc_none(test, a->send_cq, 20) || mroce_pair_connect(test) ||
	       mroce_pair_ping(test);
}

static int advance(struct mroce_test *test, enum ibv_qp_state state)
{
	if (mroce_pair_create(test, 16, 16) || mroce_pair_init(test))
		return 1;
	if (state >= IBV_QPS_RTR &&
	    (mroce_pair_rtr(test, MROCE_A) || mroce_pair_rtr(test, MROCE_B)))
		return 1;
	return state >= IBV_QPS_RTS &&
	       (mroce_pair_rts(test, MROCE_A) || mroce_pair_rts(test, MROCE_B));
}

/* Receives come back from every state that takes them, and go with RESET. */
static int flush_in_every_state(struct mroce_test *test)
{
	static const enum ibv_qp_state state[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
	struct mroce_side *a = &test->side[MROCE_A];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(state); i++) {
		if (advance(test, state[i]) || mroce_side_recvs(test, MROCE_A, 200, 9, 64) ||
		    mroce_wc_none(test, a->recv_cq, 10) ||
		    mroce_pair_modify(test, MROCE_A, IBV_QPS_ERR) ||
		    mroce_wc_range(test, a->recv_cq, 200, 9, IBV_WC_WR_FLUSH_ERR) ||
		    mroce_side_recvs(test, MROCE_A, 209, 2, 0) ||
		    mroce_side_sends(test, MROCE_A, 300, 2, 0) ||
		    mroce_wc_range(test, a->recv_cq, 209, 2, IBV_WC_WR_FLUSH_ERR) ||
		    mroce_wc_range(test, a->send_cq, 300, 2, IBV_WC_WR_FLUSH_ERR) ||
		    mroce_pair_close(test))
			return 1;
		if (advance(test, state[i]) || mroce_side_recvs(test, MROCE_A, 200, 9, 64) ||
		    mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET) ||
		    mroce_wc_none(test, a->recv_cq, 10) || mroce_pair_close(test))
			return 1;
	}
	return 0;
}

/* Work of all kinds is under way at both ends: all comes back, in order, READ sinks rest. */
static int flush_under_load(struct mroce_test *test)
{
	static const enum ibv_wr_opcode opcode[] = {
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND
	};
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.rkey = b->mr->rkey, .remote_addr = (uintptr_t)mroce_side_inbox(b),
	}, list[16];
	unsigned int i, round, good = 0;

	test->timing.rd_atomic = 8;
	test->timing.dest_rd_atomic = 8;
	for (round = 0; round < 10; round++) {
		memset(mroce_side_inbox(b), 0x66, 1u << 20);
		if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 200, 2, 1u << 20))
			return 1;
		for (i = 0; i < 16; i++) {
			req.id = i;
			req.opcode = opcode[i % 4];
			req.bytes = i % 4 == 2 ? 8 : 1u << 19;
			list[i] = req;
		}
		if (mroce_side_post_list(test, MROCE_A, list, 16))
			return 1;
		for (i = 0; i < round * 20000; i++)
			__asm__ volatile ("" : : : "memory");
		if (mroce_pair_modify(test, MROCE_A, IBV_QPS_ERR))
			return 1;
		memset(a->buf, 0x11, 1u << 19);
		for (i = 0, good = 0; i < 16; i++) {
			while (!ibv_poll_cq(a->send_cq, 1, &test->wc))
				sched_yield();
			if (test->wc.wr_id != i || (test->wc.status != IBV_WC_SUCCESS &&
						    test->wc.status != IBV_WC_WR_FLUSH_ERR))
				return mroce_case_fail(test, "completion %lu '%s', expected %u",
						       test->wc.wr_id,
						       ibv_wc_status_str(test->wc.status), i);
			if (test->wc.status == IBV_WC_SUCCESS && good++ != i)
				return mroce_case_fail(test, "%u is good after a flushed one", i);
		}
		mroce_case_pause(20);
		if (memchr(a->buf, 0x66, 1u << 19))
			return mroce_case_fail(test, "a READ went on after its flush");
		if (mroce_wc_none(test, a->send_cq, 0) || mroce_pair_close(test))
			return 1;
	}
	return 0;
}

/* A receive without memory takes what has no bytes, and nothing else. */
static int receive_without_memory(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	return mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 200, 3, 0) ||
	       mroce_side_sends(test, MROCE_A, 1, 1, 0) ||
	       mroce_side_sends(test, MROCE_A, 2, 2, 1) ||
	       mroce_wc_wait(test, b->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->recv_cq, 201, IBV_WC_LOC_LEN_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->recv_cq, 202, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 2, IBV_WC_REM_INV_REQ_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 3, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS);
}

/* Sends go on from the old peer @stranger while A and the new B talk: nothing of it arrives. */
static int talk_beside(struct mroce_test *test, struct mroce_side *stranger)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req send = { .opcode = IBV_WR_SEND, .bytes = 9000 };
	struct mroce_req write = {
		.opcode = IBV_WR_RDMA_WRITE, .bytes = 9000, .offset = 100000, .rkey = a->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(a) + 100000,
	};
	unsigned int round;

	memset(b->buf + 100000, 0x77, 9000);
	for (round = 0; round < 4; round++) {
		send.id = 2 * round;
		write.id = 2 * round + 1;
		if (mroce_case_errno(test, "post_send", mroce_side_send(stranger, &write), 0) ||
		    mroce_case_errno(test, "post_send", mroce_side_send(stranger, &send), 0))
			return 1;
		memset(mroce_side_inbox(a), 0x55, 200000);
		mroce_pattern_fill(b->buf, 9000, round, 0);
		if (mroce_side_recvs(test, MROCE_A, 300, 1, 9000) ||
		    mroce_side_sends(test, MROCE_B, 400, 1, 9000) ||
		    mroce_wc_wait(test, a->recv_cq, 300, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, b->send_cq, 400, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (mroce_pattern_check(mroce_side_inbox(a), 9000, round, 0) >= 0)
			return mroce_case_fail(test, "the message is not the new peer's");
		if (memchr(mroce_side_inbox(a) + 9000, 0x77, 191000))
			return mroce_case_fail(test, "the old peer wrote");
	}
	if (mroce_side_recvs(test, MROCE_A, 301, 2, 9000) || mroce_wc_none(test, a->recv_cq, 100))
		return 1;
	while (ibv_poll_cq(stranger->send_cq, 1, &test->wc) > 0) {
		if (test->wc.status == IBV_WC_SUCCESS)
			return mroce_case_fail(test, "the old peer's request %lu succeeded",
					       test->wc.wr_id);
	}
	return 0;
}

/* A is reset and gets another peer; the old one does not know. */
static int old_peer_talks_on(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B], old, fresh;
	int failed;

	if (mroce_pair_open(test) || mroce_pair_ping(test) ||
	    mroce_side_sends(test, MROCE_B, 100, 4, 9000) ||
	    mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET))
		return 1;
	old = *b;
	b->qp = NULL;
	b->send_cq = NULL;
	b->recv_cq = NULL;
	failed = mroce_pair_create_side(test, MROCE_B, 16, 16) || mroce_pair_connect(test) ||
		 talk_beside(test, &old);
	fresh = *b;
	if (ibv_destroy_qp(old.qp) || ibv_destroy_cq(old.send_cq) || ibv_destroy_cq(old.recv_cq))
		failed = failed ? failed : mroce_case_fail(test, "destroying the old peer failed");
	*b = fresh;
	return failed;
}

/* Both ends begin a new life with the psns of the one before */
static int reborn(struct mroce_test *test)
{
	return mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET) ||
	       mroce_pair_modify(test, MROCE_B, IBV_QPS_RESET) || mroce_pair_connect(test);
}

/*
 * The response to a READ is on its way when both ends are born again. It comes while
 * the first READ of the new life waits, looks like what that waits for, and is not.
 */
static int old_response(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req read = {
		.id = 1, .opcode = IBV_WR_RDMA_READ, .bytes = 64, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b),
	};

	if (mroce_pair_open(test) || mroce_pair_ping(test) || reborn(test))
		return 1;
	memset(mroce_side_inbox(b), 0x11, 64);
	memset(a->buf, 0, 64);
	if (mroce_case_command(test, MROCE_DELAY) || mroce_side_post(test, MROCE_A, &read) ||
	    mroce_wc_none(test, a->send_cq, 50) || reborn(test))
		return 1;
	memset(mroce_side_inbox(b), 0x22, 64);
	read.id = 2;
	if (mroce_side_post(test, MROCE_A, &read) ||
	    mroce_wc_wait(test, a->send_cq, 2, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (memcmp(a->buf, mroce_side_inbox(b), 64))
		return mroce_case_fail(test, "read %#x where %#x is", a->buf[0],
				       *mroce_side_inbox(b));
	return mroce_case_command(test, MROCE_PROMPT) || mroce_pair_ping(test);
}

/* @other lives and dies again and again, B's own QP rests. Leaves @other in RESET. */
static int live_often(struct mroce_test *test, struct mroce_side *other)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_qp_addr addr = {
		.gid = a->dev->gid, .qpn = a->qp->qp_num, .psn = a->psn,
		.mtu = a->dev->port.active_mtu,
	};
	int i, err = 0;

	for (i = 0; i < OTHER_LIVES && !err; i++) {
		err = mroce_qp_to_init(other->qp, test->access);
		if (!err)
			err = mroce_qp_to_rtr(other->qp, other->dev, &addr, &test->timing);
		if (!err)
			err = mroce_qp_to_state(other->qp, IBV_QPS_RESET);
	}
	return mroce_case_errno(test, "modify_qp of another QP", err, 0);
}

/* A message from B to A */
static int pong(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	return mroce_side_recvs(test, MROCE_A, 300, 1, 9000) ||
	       mroce_side_sends(test, MROCE_B, 400, 1, 9000) ||
	       mroce_wc_wait(test, a->recv_cq, 300, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->send_cq, 400, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

/* However often others on its device begin anew, the next life of a QP is not an old one. */
static int many_other_lives(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct mroce_side other = { .dev = b->dev };
	int failed;

	if (mroce_pair_open(test) || mroce_pair_ping(test) || pong(test) ||
	    mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET) ||
	    mroce_pair_modify(test, MROCE_B, IBV_QPS_RESET))
		return 1;
	init.send_cq = b->send_cq;
	init.recv_cq = b->recv_cq;
	other.qp = ibv_create_qp(b->dev->pd, &init);
	if (!other.qp)
		return mroce_case_errno(test, "create_qp", errno, 0);
	failed = live_often(test, &other);
	ibv_destroy_qp(other.qp);
	return failed || mroce_pair_connect(test) || pong(test) || mroce_pair_ping(test);
}

/* The receiver is two seconds late, and not even in INIT: that is no error and loses nothing. */
static int receiver_late(struct mroce_test *test, bool init)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req write = {
		.id = 104, .opcode = IBV_WR_RDMA_WRITE, .bytes = 9000, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b) + 65536,
	};
	struct mroce_req read = write;

	read.id = 105;
	read.opcode = IBV_WR_RDMA_READ;
	read.offset = 65536;
	memset(a->buf, 0, 200000);
	mroce_pattern_fill(a->buf, 9000, 9, 0);
	if (mroce_pair_create(test, 16, 16) ||
	    mroce_case_errno(test, "modify_qp to INIT", mroce_qp_to_init(a->qp, test->access), 0) ||
	    (init && mroce_case_errno(test, "modify_qp to INIT",
				      mroce_qp_to_init(b->qp, test->access), 0)) ||
	    mroce_pair_rtr(test, MROCE_A) || mroce_pair_rts(test, MROCE_A) ||
	    mroce_side_sends(test, MROCE_A, 100, 4, 9000) ||
	    mroce_side_post(test, MROCE_A, &write) || mroce_side_post(test, MROCE_A, &read) ||
	    mroce_wc_none(test, a->send_cq, 2000))
		return 1;
	if ((!init && mroce_case_errno(test, "modify_qp to INIT",
				       mroce_qp_to_init(b->qp, test->access), 0)) ||
	    mroce_side_recvs(test, MROCE_B, 200, 4, 9000) || mroce_pair_rtr(test, MROCE_B) ||
	    mroce_wc_range(test, b->recv_cq, 200, 4, IBV_WC_SUCCESS) ||
	    mroce_wc_range(test, a->send_cq, 100, 6, IBV_WC_SUCCESS))
		return 1;
	if (mroce_pattern_check(a->buf + 65536, 9000, 9, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes were written or read");
	return mroce_pair_rts(test, MROCE_B) || mroce_pair_ping(test) || mroce_pair_close(test);
}

static int receiver_late_2s(struct mroce_test *test)
{
	return receiver_late(test, true) || receiver_late(test, false);
}

const struct mroce_case mroce_cases_state[] = {
	{ "sqd_idle", sqd_idle, MROCE_NEEDS_NOTHING },
	{ "sqd_silent", sqd_silent, MROCE_NEEDS_NOTHING },
	{ "sqd_busy", sqd_busy, MROCE_NEEDS_NOTHING },
	{ "sqd_under_load", sqd_under_load, MROCE_NEEDS_NOTHING },
	{ "sqd_more_reads", sqd_more_reads, MROCE_NEEDS_NOTHING },
	{ "sqd_fewer_reads", sqd_fewer_reads, MROCE_NEEDS_NOTHING },
	{ "sqd_no_more_reads", sqd_no_more_reads, MROCE_NEEDS_NOTHING },
	{ "sqd_left", sqd_left, MROCE_NEEDS_NOTHING },
	{ "flush_in_every_state", flush_in_every_state, MROCE_NEEDS_NOTHING },
	{ "flush_under_load", flush_under_load, MROCE_NEEDS_NOTHING },
	{ "receive_without_memory", receive_without_memory, MROCE_NEEDS_NOTHING },
	{ "old_peer_talks_on", old_peer_talks_on, MROCE_NEEDS_NOTHING },
	{ "old_response", old_response, MROCE_NEEDS_DELAY },
	{ "many_other_lives", many_other_lives, MROCE_NEEDS_FAST },
	{ "receiver_late_2s", receiver_late_2s, MROCE_NEEDS_NOTHING },
	{ }
};
