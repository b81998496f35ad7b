// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What comes after what: READs beside other operations, fences, errors. */
#include <string.h>
#include "qpstate.h"

#define BAD_KEY 0x5a5a5a5a
#define ROUNDS 50

static struct mroce_req request(struct mroce_side *peer, uint64_t id, enum ibv_wr_opcode opcode,
				uint32_t bytes)
{
	return (struct mroce_req){
		.id = id, .opcode = opcode, .bytes = bytes, .rkey = peer->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(peer),
	};
}

/* The READ sees what was written before it: no fence is needed for that. */
static int read_after_write(struct mroce_test *test)
{
	static const uint32_t size[] = { 1, 64, 9000, 300000 };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req list[2];
	unsigned int round;

	if (mroce_pair_open(test))
		return 1;
	for (round = 0; round < ROUNDS; round++) {
		list[0] = request(b, 1, IBV_WR_RDMA_WRITE, size[round % 4]);
		list[1] = request(b, 2, IBV_WR_RDMA_READ, size[round % 4]);
		list[1].offset = 1u << 20;
		mroce_pattern_fill(a->buf, list[0].bytes, round, 0);
		if (mroce_side_post_list(test, MROCE_A, list, 2) ||
		    mroce_wc_range(test, a->send_cq, 1, 2, IBV_WC_SUCCESS))
			return 1;
		if (mroce_pattern_check(a->buf + list[1].offset, list[1].bytes, round, 0) >= 0)
			return mroce_case_fail(test, "round %u: the READ missed the WRITE", round);
	}
	return 0;
}

/* A fenced WRITE waits for the READ before it, which so sees the old bytes. */
static int write_after_read(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint32_t bytes = 200000;
	struct mroce_req list[16], *read, *write;
	unsigned int i;

	test->timing.rd_atomic = 16;
	test->timing.dest_rd_atomic = 16;
	mroce_pattern_fill(mroce_side_inbox(b), bytes, 0, 0);
	memset(a->buf, 0, 20 * bytes);
	if (mroce_pair_open(test))
		return 1;
	/* The next WRITE has the bytes the next READ expects */
	for (i = 0; i < 8; i++) {
		read = &list[2 * i];
		*read = request(b, 2 * i, IBV_WR_RDMA_READ, bytes);
		read->offset = i * bytes;
		write = &list[2 * i + 1];
		*write = request(b, 2 * i + 1, IBV_WR_RDMA_WRITE, bytes);
		write->flags = IBV_SEND_FENCE;
		write->offset = (10 + i) * bytes;
		mroce_pattern_fill(a->buf + write->offset, bytes, i + 1, 0);
	}
	if (mroce_side_post_list(test, MROCE_A, list, 16) ||
	    mroce_wc_range(test, a->send_cq, 0, 16, IBV_WC_SUCCESS))
		return 1;
	for (i = 0; i < 8; i++) {
		if (mroce_pattern_check(a->buf + i * bytes, bytes, i, 0) >= 0)
			return mroce_case_fail(test, "READ %u has bytes of a later WRITE", i);
	}
	return 0;
}

/* What a fence is for: sending on what was just read. */
static int send_after_read(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req list[] = {
		request(b, 1, IBV_WR_RDMA_READ, 1u << 20), request(b, 2, IBV_WR_SEND, 1u << 20),
	};
	uint32_t bytes = list[0].bytes;
	unsigned int round;

	list[1].flags = IBV_SEND_FENCE;
	list[0].remote_addr = (uintptr_t)b->buf;
	if (mroce_pair_open(test))
		return 1;
	for (round = 0; round < 10; round++) {
		mroce_pattern_fill(b->buf, bytes, round, 0);
		memset(a->buf, 0x55, bytes);
		if (mroce_side_recvs(test, MROCE_B, 200, 1, bytes) ||
		    mroce_side_post_list(test, MROCE_A, list, 2) ||
		    mroce_wc_range(test, a->send_cq, 1, 2, IBV_WC_SUCCESS) ||
		    mroce_wc_wait(test, b->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (mroce_pattern_check(mroce_side_inbox(b), bytes, round, 0) >= 0)
			return mroce_case_fail(test, "round %u: sent before it was read", round);
	}
	return 0;
}

/* READs are slow, small messages behind them are not: still they complete in posting order. */
static int completions_in_order(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req[16];
	unsigned int round, i;

	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	if (mroce_pair_open(test))
		return 1;
	for (round = 0; round < 10; round++) {
		if (mroce_side_recvs(test, MROCE_B, 200, 4, 64))
			return 1;
		for (i = 0; i < 16; i++) {
			req[i] = request(b, i, i % 4 == 0 ? IBV_WR_RDMA_READ :
				      i % 4 == 1 ? IBV_WR_SEND :
				      i % 4 == 2 ? IBV_WR_RDMA_WRITE : IBV_WR_ATOMIC_FETCH_AND_ADD,
				      i % 4 == 0 ? 1u << 18 : 8);
			req[i].offset = 1u << 20;
		}
		if (mroce_side_post_list(test, MROCE_A, req, 16) ||
		    mroce_wc_range(test, a->send_cq, 0, 16, IBV_WC_SUCCESS) ||
		    mroce_wc_range(test, b->recv_cq, 200, 4, IBV_WC_SUCCESS))
			return 1;
	}
	return 0;
}

/* @bad between two good READs: only what is after it suffers, at both ends. */
static int error_between_reads(struct mroce_test *test, struct mroce_req bad,
			       enum ibv_wc_status status)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint32_t bytes = 1u << 20;
	struct mroce_req list[] = {
		request(b, 1, IBV_WR_RDMA_READ, bytes), bad, request(b, 3, IBV_WR_RDMA_READ, bytes),
		request(b, 4, IBV_WR_SEND, 64),
	};

	/* not where receives go: a message may be placed before the error has its turn */
	list[0].remote_addr += 4096;
	list[2].remote_addr += 4096;
	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	mroce_pattern_fill(mroce_side_inbox(b) + 4096, bytes, 3, 0);
	memset(a->buf, 0, 2 * bytes);
	list[1].id = 2;
	list[1].offset = 4u << 20;
	list[2].offset = bytes;
	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 200, 5, 64) ||
	    mroce_side_recvs(test, MROCE_A, 300, 4, 64) ||
	    mroce_side_post_list(test, MROCE_A, list, 4) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 2, status, MROCE_WAIT_MS) ||
	    mroce_wc_range(test, a->send_cq, 3, 2, IBV_WC_WR_FLUSH_ERR) ||
	    mroce_wc_range(test, a->recv_cq, 300, 4, IBV_WC_WR_FLUSH_ERR) ||
	    mroce_wc_range(test, b->recv_cq, 200, 5, IBV_WC_WR_FLUSH_ERR) ||
	    mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) ||
	    mroce_pair_state(test, MROCE_B, IBV_QPS_ERR))
		return 1;
	if (mroce_pattern_check(a->buf, bytes, 3, 0) >= 0)
		return mroce_case_fail(test, "the good READ has wrong bytes");
	return mroce_pair_close(test);
}

static int errors_in_order(struct mroce_test *test)
{
	static const enum ibv_wr_opcode opcode[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD
	};
	struct mroce_req bad;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcode); i++) {
		bad = request(&test->side[MROCE_B], 0, opcode[i], 8);
		bad.rkey = BAD_KEY;
		if (error_between_reads(test, bad, IBV_WC_REM_ACCESS_ERR))
			return 1;
	}
	bad = request(&test->side[MROCE_B], 0, IBV_WR_ATOMIC_CMP_AND_SWP, 8);
	bad.remote_addr += 4;
	return error_between_reads(test, bad, IBV_WC_REM_INV_REQ_ERR);
}

const struct mroce_case mroce_cases_order[] = {
	{ "read_after_write", read_after_write, MROCE_NEEDS_NOTHING },
	{ "write_after_read", write_after_read, MROCE_NEEDS_NOTHING },
	{ "send_after_read", send_after_read, MROCE_NEEDS_NOTHING },
	{ "completions_in_order", completions_in_order, MROCE_NEEDS_NOTHING },
	{ "errors_in_order", errors_in_order, MROCE_NEEDS_NOTHING },
	{ }
};
