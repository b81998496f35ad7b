// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Errors one end causes at the other, or at itself by a wrong key. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "qpstate.h"

#define BAD_KEY 0x5a5a5a5a

static int bad_lkey_send(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = { .id = 1, .opcode = IBV_WR_SEND, .bytes = 64, .lkey = BAD_KEY };

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 200, 3, 64))
		return 1;
	return mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0) ||
	       mroce_side_sends(test, MROCE_A, 2, 2, 64) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_LOC_PROT_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_range(test, a->send_cq, 2, 2, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) ||
	       mroce_wc_none(test, b->recv_cq, 20) || mroce_pair_state(test, MROCE_B, IBV_QPS_RTS);
}

static int bad_lkey_recv(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_sge sge = {
		.addr = (uintptr_t)mroce_side_inbox(b), .length = 64, .lkey = BAD_KEY,
	};
	struct ibv_recv_wr wr = { .wr_id = 201, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 200, 1, 64) ||
	    mroce_case_errno(test, "post_recv", ibv_post_recv(b->qp, &wr, &bad), 0) ||
	    mroce_side_recvs(test, MROCE_B, 202, 1, 64) ||
	    mroce_side_sends(test, MROCE_A, 1, 3, 64))
		return 1;
	return mroce_wc_wait(test, b->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->recv_cq, 201, IBV_WC_LOC_PROT_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->recv_cq, 202, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 2, IBV_WC_REM_OP_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 3, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS);
}

/*
 * Good messages, then @req, then more: the good ones complete, @req fails with
 * @status, the rest is flushed, and no byte of @req or the rest arrives.
 */
static int refused_in_order(struct mroce_test *test, struct mroce_req *req,
			    enum ibv_wc_status status)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	memset(mroce_side_inbox(b), 0x55, 65536);
	memset(a->buf, 0x66, 65536);
	req->id = 3;
	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 200, 6, 64) ||
	    mroce_side_sends(test, MROCE_A, 1, 2, 64) ||
	    mroce_case_errno(test, "post_send", mroce_side_send(a, req), 0) ||
	    mroce_side_sends(test, MROCE_A, 4, 3, 64) ||
	    mroce_wc_range(test, a->send_cq, 1, 2, IBV_WC_SUCCESS) ||
	    mroce_wc_wait(test, a->send_cq, 3, status, MROCE_WAIT_MS) ||
	    mroce_wc_range(test, a->send_cq, 4, 3, IBV_WC_WR_FLUSH_ERR) ||
	    mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) ||
	    mroce_wc_range(test, b->recv_cq, 200, 2, IBV_WC_SUCCESS))
		return 1;
	if (memchr(mroce_side_inbox(b) + 64, 0x66, 65536 - 64))
		return mroce_case_fail(test, "refused bytes were placed");
	return mroce_pair_close(test);
}

static struct mroce_req write_request(struct mroce_side *to, uint32_t rkey)
{
	return (struct mroce_req){
		.opcode = IBV_WR_RDMA_WRITE, .bytes = 20000, .rkey = rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(to) + 4096,
	};
}

static int bad_rkey(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = write_request(b, BAD_KEY);

	if (refused_in_order(test, &req, IBV_WC_REM_ACCESS_ERR))
		return 1;
	/* one bit off, in the part of the key that changes with every registration */
	req = write_request(b, b->mr->rkey ^ 1);
	return refused_in_order(test, &req, IBV_WC_REM_ACCESS_ERR);
}

static int out_of_range(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = write_request(b, b->mr->rkey);
	uint64_t end = (uintptr_t)b->buf + 2 * MROCE_HALF_BYTES;
	uint64_t addr[] = { end - req.bytes + 1, end, (uintptr_t)b->buf - 1, 0,
			    UINT64_MAX - req.bytes + 1, UINT64_MAX };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(addr); i++) {
		req.remote_addr = addr[i];
		if (refused_in_order(test, &req, IBV_WC_REM_ACCESS_ERR))
			return 1;
	}
	return 0;
}

static int try_foreign_mr(struct mroce_test *test, struct ibv_pd *pd, int access, bool stale)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_mr *mr = ibv_reg_mr(pd, mroce_side_inbox(b), 65536, access);
	struct mroce_req req;
	int failed;

	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	req = write_request(b, mr->rkey);
	if (stale)
		ibv_dereg_mr(mr);
	failed = refused_in_order(test, &req, IBV_WC_REM_ACCESS_ERR);
	if (!stale)
		ibv_dereg_mr(mr);
	return failed;
}

static int no_right_on_region(struct mroce_test *test)
{
	struct ibv_pd *pd = test->side[MROCE_B].dev->pd;

	return try_foreign_mr(test, pd, IBV_ACCESS_LOCAL_WRITE, false) ||
	       try_foreign_mr(test, pd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ, false);
}

static int deregistered_region(struct mroce_test *test)
{
	return try_foreign_mr(test, test->side[MROCE_B].dev->pd,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, true);
}

static int region_of_other_pd(struct mroce_test *test)
{
	struct ibv_pd *pd = ibv_alloc_pd(test->side[MROCE_B].dev->ctx);
	int failed;

	if (!pd)
		return mroce_case_errno(test, "alloc_pd", errno, 0);
	failed = try_foreign_mr(test, pd, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, false);
	ibv_dealloc_pd(pd);
	return failed;
}

static int no_right_on_qp(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = write_request(b, b->mr->rkey);

	test->access = IBV_ACCESS_LOCAL_WRITE;
	return refused_in_order(test, &req, IBV_WC_REM_INV_REQ_ERR);
}

static int receive_too_short(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	static const uint32_t size[] = { 1, 64, 9001, 100000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(size); i++) {
		memset(mroce_side_inbox(b), 0x55, 200000);
		memset(a->buf, 0x66, 200000);
		if (mroce_pair_open(test) ||
		    mroce_side_recvs(test, MROCE_B, 200, 1, size[i]) ||
		    mroce_side_recvs(test, MROCE_B, 201, 1, size[i] - 1) ||
		    mroce_side_recvs(test, MROCE_B, 202, 1, size[i]) ||
		    mroce_side_sends(test, MROCE_A, 1, 3, size[i]) ||
		    mroce_wc_wait(test, b->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, b->recv_cq, 201, IBV_WC_LOC_LEN_ERR, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, b->recv_cq, 202, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, a->send_cq, 2, IBV_WC_REM_INV_REQ_ERR, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, a->send_cq, 3, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS))
			return 1;
		if (mroce_side_inbox(b)[size[i]] != 0x55)
			return mroce_case_fail(test, "a byte beyond the receive was written");
		if (mroce_pair_close(test))
			return 1;
	}
	return 0;
}

/* A reference or a window that outlives its region would let the peer write on. */
static int dereg_under_traffic(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	size_t bytes = 4u << 20;
	struct mroce_req req = { .opcode = IBV_WR_RDMA_WRITE, .bytes = bytes };
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t deadline_ns;
	struct ibv_mr *mr;
	int i, err;

	if (p == MAP_FAILED || mroce_pair_open(test))
		return 1;
	mr = ibv_reg_mr(b->dev->pd, p, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	req.rkey = mr->rkey;
	req.remote_addr = (uintptr_t)p;
	for (i = 0; i < 16; i++) {
		if (mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0))
			return 1;
	}
	err = mroce_wc_wait(test, a->send_cq, 0, IBV_WC_SUCCESS, MROCE_WAIT_MS);
	if (err || mroce_case_errno(test, "dereg_mr", ibv_dereg_mr(mr), 0))
		return 1;
	memset(p, 0x11, bytes);
	/* They may all have been quick enough: this one is not. */
	if (mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0))
		return 1;
	deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	do {
		err = ibv_poll_cq(a->send_cq, 1, &test->wc);
	} while (mroce_clock_ns() < deadline_ns &&
		 (!err || (err > 0 && test->wc.status == IBV_WC_SUCCESS)));
	if (err <= 0 || test->wc.status != IBV_WC_REM_ACCESS_ERR)
		return mroce_case_fail(test, "'%s' after dereg_mr",
				       ibv_wc_status_str(test->wc.status));
	for (i = 0; i < (int)bytes; i++) {
		if (((char *)p)[i] != 0x11)
			return mroce_case_fail(test, "written after dereg_mr");
	}
	munmap(p, bytes);
	return 0;
}

const struct mroce_case mroce_cases_remote[] = {
	{ "bad_lkey_send", bad_lkey_send, MROCE_NEEDS_NOTHING },
	{ "bad_lkey_recv", bad_lkey_recv, MROCE_NEEDS_NOTHING },
	{ "bad_rkey", bad_rkey, MROCE_NEEDS_NOTHING },
	{ "out_of_range", out_of_range, MROCE_NEEDS_NOTHING },
	{ "no_right_on_region", no_right_on_region, MROCE_NEEDS_NOTHING },
	{ "deregistered_region", deregistered_region, MROCE_NEEDS_NOTHING },
	{ "region_of_other_pd", region_of_other_pd, MROCE_NEEDS_NOTHING },
	{ "no_right_on_qp", no_right_on_qp, MROCE_NEEDS_NOTHING },
	{ "receive_too_short", receive_too_short, MROCE_NEEDS_NOTHING },
	{ "dereg_under_traffic", dereg_under_traffic, MROCE_NEEDS_NOTHING },
	{ }
};
