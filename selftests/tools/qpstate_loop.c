// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A QP that is its own peer. */
#include <string.h>
#include "qpstate.h"

/* A's QP from RESET to RTS, connected to itself; B has none */
static int connect_itself(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_qp_addr self;

	if (!a->qp && mroce_pair_create_side(test, MROCE_A, 16, 16))
		return 1;
	self = (struct mroce_qp_addr){
		.gid = a->dev->gid, .qpn = a->qp->qp_num, .psn = a->psn,
		.mtu = a->dev->port.active_mtu,
	};
	return mroce_case_errno(test, "modify_qp to INIT",
				mroce_qp_to_init(a->qp, test->access), 0) ||
	       mroce_case_errno(test, "modify_qp to RTR",
				mroce_qp_to_rtr(a->qp, a->dev, &self, &test->timing), 0) ||
	       mroce_pair_rts(test, MROCE_A);
}

static struct mroce_req to_itself(struct mroce_test *test, uint64_t id, enum ibv_wr_opcode opcode,
				  uint32_t bytes)
{
	struct mroce_side *a = &test->side[MROCE_A];

	return (struct mroce_req){
		.id = id, .opcode = opcode, .bytes = bytes, .rkey = a->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(a) + 65536,
	};
}

/* All operations, one after the other and so often that sequence numbers get around */
static int qp_to_itself(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req write = to_itself(test, 2, IBV_WR_RDMA_WRITE, 30000);
	struct mroce_req read = to_itself(test, 3, IBV_WR_RDMA_READ, 30000);
	struct mroce_req add = to_itself(test, 4, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	uint64_t *word = (uint64_t *)(mroce_side_inbox(a) + 200000);
	uint64_t round;

	read.offset = 65536;
	add.offset = 131072;
	add.compare_add = 3;
	add.remote_addr = (uintptr_t)word;
	*word = 0;
	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	if (connect_itself(test))
		return 1;
	for (round = 0; round < 200; round++) {
		mroce_pattern_fill(a->buf, 30000, round, 0);
		if (mroce_side_recvs(test, MROCE_A, 200, 1, 30000) ||
		    mroce_side_sends(test, MROCE_A, 1, 1, 30000) ||
		    mroce_side_post(test, MROCE_A, &write) ||
		    mroce_side_post(test, MROCE_A, &read) ||
		    mroce_side_post(test, MROCE_A, &add) ||
		    mroce_wc_range(test, a->send_cq, 1, 4, IBV_WC_SUCCESS) ||
		    mroce_wc_wait(test, a->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (mroce_pattern_check(mroce_side_inbox(a), 30000, round, 0) >= 0 ||
		    mroce_pattern_check(mroce_side_inbox(a) + 65536, 30000, round, 0) >= 0 ||
		    mroce_pattern_check(a->buf + 65536, 30000, round, 0) >= 0)
			return mroce_case_fail(test, "wrong bytes arrived in round %lu", round);
		if (*word != 3 * (round + 1) || *(uint64_t *)(a->buf + 131072) != 3 * round)
			return mroce_case_fail(test, "%lu after round %lu", *word, round);
	}
	return 0;
}

static int large_to_itself(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req req = to_itself(test, 1, IBV_WR_RDMA_WRITE, MROCE_HALF_BYTES);

	req.remote_addr = (uintptr_t)mroce_side_inbox(a);
	mroce_pattern_fill(a->buf, req.bytes, 8, 0);
	if (connect_itself(test) || mroce_side_post(test, MROCE_A, &req) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, 4 * MROCE_WAIT_MS))
		return 1;
	if (mroce_pattern_check(mroce_side_inbox(a), req.bytes, 8, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes were written");
	memset(a->buf, 0, req.bytes);
	req.id = 2;
	req.opcode = IBV_WR_RDMA_READ;
	if (mroce_side_post(test, MROCE_A, &req) ||
	    mroce_wc_wait(test, a->send_cq, 2, IBV_WC_SUCCESS, 4 * MROCE_WAIT_MS))
		return 1;
	return mroce_pattern_check(a->buf, req.bytes, 8, 0) >= 0 ?
	       mroce_case_fail(test, "wrong bytes were read") : 0;
}

/*
 * It is requester and responder of the same error: the bad request fails as such, or
 * is flushed as the responder's half breaks the QP before the requester's knows.
 */
static int error_to_itself(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req good = to_itself(test, 1, IBV_WR_RDMA_READ, 9000);
	struct mroce_req bad = to_itself(test, 2, IBV_WR_RDMA_WRITE, 9000);

	bad.rkey ^= 1;
	return connect_itself(test) || mroce_side_recvs(test, MROCE_A, 200, 5, 64) ||
	       mroce_side_post(test, MROCE_A, &good) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_side_post(test, MROCE_A, &bad) ||
	       mroce_side_sends(test, MROCE_A, 3, 2, 64) ||
	       (mroce_wc_wait(test, a->send_cq, 2, IBV_WC_REM_ACCESS_ERR, MROCE_WAIT_MS) &&
		(test->wc.wr_id != 2 || test->wc.status != IBV_WC_WR_FLUSH_ERR)) ||
	       mroce_wc_range(test, a->send_cq, 3, 2, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_wc_range(test, a->recv_cq, 200, 5, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR);
}

/* Its own receives come late. */
static int rnr_to_itself(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];

	return connect_itself(test) || mroce_side_sends(test, MROCE_A, 1, 8, 9000) ||
	       mroce_wc_none(test, a->send_cq, 100) ||
	       mroce_side_recvs(test, MROCE_A, 200, 8, 9000) ||
	       mroce_wc_range(test, a->send_cq, 1, 8, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, a->recv_cq, 200, 8, IBV_WC_SUCCESS);
}

/* In the middle of everything: reset and connected again, at last destroyed */
static int reset_to_itself(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req read = to_itself(test, 1, IBV_WR_RDMA_READ, 1u << 20);
	unsigned int round, i;

	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	for (round = 0; round < 20; round++) {
		a->psn = mroce_mix(round) & 0xffffff;
		if (connect_itself(test) || mroce_side_recvs(test, MROCE_A, 200, 1, 64) ||
		    mroce_side_sends(test, MROCE_A, 100, 1, 64) ||
		    mroce_wc_wait(test, a->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, a->send_cq, 100, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		for (i = 0; i < 8; i++) {
			if (mroce_side_post(test, MROCE_A, &read))
				return 1;
		}
		if (mroce_side_sends(test, MROCE_A, 300, 4, 9000))
			return 1;
		if (round == 19)
			break;
		if (mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET))
			return 1;
		while (ibv_poll_cq(a->send_cq, 1, &test->wc) > 0)
			;
	}
	return 0;
}

const struct mroce_case mroce_cases_loop[] = {
	{ "qp_to_itself", qp_to_itself, MROCE_NEEDS_LOOP },
	{ "large_to_itself", large_to_itself, MROCE_NEEDS_LOOP },
	{ "error_to_itself", error_to_itself, MROCE_NEEDS_LOOP },
	{ "rnr_to_itself", rnr_to_itself, MROCE_NEEDS_LOOP },
	{ "reset_to_itself", reset_to_itself, MROCE_NEEDS_LOOP },
	{ }
};
