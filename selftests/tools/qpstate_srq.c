// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues, used by one queue pair: limits, order, events, errors. */
#include <errno.h>
#include <string.h>
#include "qpstate.h"

/**
 * mroce_srq_create - the shared receive queue of side B; its next QP uses it
 * @test: running case
 * @pd: protection domain, NULL = that of the side
 * @max_wr: receives
 * @max_sge: pieces of each
 */
int mroce_srq_create(struct mroce_test *test, struct ibv_pd *pd, uint32_t max_wr,
		     uint32_t max_sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };
	struct mroce_side *b = &test->side[MROCE_B];

	b->srq = ibv_create_srq(pd ? pd : b->dev->pd, &init);
	return mroce_case_errno(test, "create_srq", b->srq ? 0 : errno, 0);
}

/**
 * mroce_srq_open - two connected QPs of 16 work requests, that of side B with a shared queue
 * @test: running case
 * @max_wr: receives of the shared queue
 */
int mroce_srq_open(struct mroce_test *test, uint32_t max_wr)
{
	return mroce_srq_create(test, NULL, max_wr, 2) || mroce_pair_open(test);
}

/**
 * mroce_srq_recv - post a receive
 * @side: of the pair, with a shared queue
 * @id: wr_id
 * @offset: in the inbox
 * @bytes: 0 = no memory at all
 *
 * Return: errno of post_srq_recv.
 */
int mroce_srq_recv(struct mroce_side *side, uint64_t id, size_t offset, uint32_t bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mroce_side_inbox(side) + offset, .length = bytes,
		.lkey = side->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = id, .sg_list = bytes ? &sge : NULL, .num_sge = !!bytes,
	}, *bad;

	return ibv_post_srq_recv(side->srq, &wr, &bad);
}

/**
 * mroce_srq_recvs - post several receives into the start of the inbox
 * @test: running case
 * @first_id: wr_id of the first, they count up
 * @count: how many
 * @bytes: of each
 */
int mroce_srq_recvs(struct mroce_test *test, uint64_t first_id, unsigned int count,
		    uint32_t bytes)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = mroce_srq_recv(&test->side[MROCE_B], first_id + i, 0, bytes);
	return mroce_case_errno(test, "post_srq_recv", err, 0);
}

/**
 * mroce_srq_arm - wish for an event when fewer receives are left
 * @test: running case
 * @limit: fewer than these; 0 = no event
 */
int mroce_srq_arm(struct mroce_test *test, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	return mroce_case_errno(test, "modify_srq",
				ibv_modify_srq(test->side[MROCE_B].srq, &attr, IBV_SRQ_LIMIT), 0);
}

/* The limit that is armed must be this. */
static int limit_is(struct mroce_test *test, uint32_t limit)
{
	struct ibv_srq_attr attr = { };

	if (mroce_case_errno(test, "query_srq", ibv_query_srq(test->side[MROCE_B].srq, &attr), 0))
		return 1;
	if (attr.srq_limit == limit)
		return 0;
	return mroce_case_fail(test, "the limit is %u, expected %u", attr.srq_limit, limit);
}

/* Create and destroy at once. Return: errno. */
static int try_srq(struct mroce_test *test, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };
	struct ibv_srq *srq = ibv_create_srq(test->side[MROCE_B].dev->pd, &init);

	if (!srq)
		return errno;
	if (ibv_destroy_srq(srq))
		return EBUSY;
	return init.attr.max_wr < max_wr || init.attr.max_sge < max_sge ? ERANGE : 0;
}

static int srq_caps(struct mroce_test *test)
{
	const struct ibv_device_attr *attr = &test->side[MROCE_B].dev->attr;

	if (attr->max_srq < 1 || attr->max_srq_wr < 1 || attr->max_srq_sge < 1)
		return mroce_case_fail(test, "no shared receive queues");
	return mroce_case_errno(test, "max_srq_wr", try_srq(test, attr->max_srq_wr, 1), 0) ||
	       mroce_case_errno(test, "max_srq_sge", try_srq(test, 1, attr->max_srq_sge), 0) ||
	       mroce_case_errno(test, "no piece", try_srq(test, 1, 0), 0) ||
	       mroce_case_errno(test, "max_srq_wr + 1", try_srq(test, attr->max_srq_wr + 1, 1),
				EINVAL) ||
	       mroce_case_errno(test, "max_srq_sge + 1", try_srq(test, 1, attr->max_srq_sge + 1),
				EINVAL) ||
	       mroce_case_errno(test, "no receive", try_srq(test, 0, 1), EINVAL);
}

static int srq_attributes(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_srq_attr attr = { .srq_limit = 11, .max_wr = 20 };
	bool resizes = b->dev->attr.device_cap_flags & IBV_DEVICE_SRQ_RESIZE;

	if (mroce_srq_create(test, NULL, 10, 3) || limit_is(test, 0) || mroce_srq_arm(test, 0) ||
	    mroce_case_errno(test, "limit above the size",
			     ibv_modify_srq(b->srq, &attr, IBV_SRQ_LIMIT), EINVAL))
		return 1;
	if (!resizes && mroce_case_errno(test, "resize",
					 ibv_modify_srq(b->srq, &attr, IBV_SRQ_MAX_WR), EOPNOTSUPP))
		return 1;
	if (ibv_query_srq(b->srq, &attr))
		return mroce_case_fail(test, "query_srq failed");
	if (attr.max_wr < 10 || attr.max_sge < 3)
		return mroce_case_fail(test, "query says %u receives of %u pieces", attr.max_wr,
				       attr.max_sge);
	return limit_is(test, 0);
}

/* With a shared queue its own receive queue means nothing, not even an impossible one. */
static int srq_qp_has_no_receives(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (mroce_srq_create(test, NULL, 4, 1) || mroce_pair_open(test) ||
	    mroce_case_errno(test, "post_recv", mroce_side_recv(b, 1, 64), EINVAL))
		return 1;
	if (ibv_query_qp(b->qp, &attr, IBV_QP_CAP, &init))
		return mroce_case_fail(test, "query_qp failed");
	if (init.srq != b->srq || attr.cap.max_recv_wr || attr.cap.max_recv_sge)
		return mroce_case_fail(test, "query_qp: %u receives of %u pieces",
				       attr.cap.max_recv_wr, attr.cap.max_recv_sge);
	return 0;
}

static int srq_full(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_srq_attr attr = { };
	unsigned int round;

	if (mroce_srq_open(test, 5) || ibv_query_srq(b->srq, &attr))
		return 1;
	for (round = 0; round < 20; round++) {
		if (mroce_srq_recvs(test, 100, attr.max_wr, 64) ||
		    mroce_case_errno(test, "one too many", mroce_srq_recv(b, 99, 0, 64), ENOMEM))
			return 1;
		if (mroce_side_sends(test, MROCE_A, 1, attr.max_wr, 64) ||
		    mroce_wc_range(test, b->recv_cq, 100, attr.max_wr, IBV_WC_SUCCESS) ||
		    mroce_wc_range(test, test->side[MROCE_A].send_cq, 1, attr.max_wr,
				   IBV_WC_SUCCESS))
			return 1;
	}
	return 0;
}

/* Every message waits for the receive that is posted when the one before is complete. */
static int srq_of_one(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	unsigned int i;

	test->timing.min_rnr_timer = 1;
	if (mroce_srq_open(test, 1))
		return 1;
	for (i = 0; i < 40; i++) {
		mroce_pattern_fill(a->buf, 30000, i, 0);
		if (mroce_side_sends(test, MROCE_A, i, 1, 30000) ||
		    mroce_srq_recv(b, 1000 + i, 0, 30000) ||
		    mroce_wc_wait(test, b->recv_cq, 1000 + i, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    mroce_wc_wait(test, a->send_cq, i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return mroce_case_fail(test, "message %u", i);
		if (mroce_pattern_check(mroce_side_inbox(b), 30000, i, 0) >= 0)
			return mroce_case_fail(test, "message %u: wrong bytes", i);
	}
	return 0;
}

static int srq_pieces(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint8_t *inbox = mroce_side_inbox(b);
	struct ibv_sge sge[4] = {
		{ (uintptr_t)inbox + 40000, 9001, b->mr->lkey },
		{ (uintptr_t)inbox + 3, 1, b->mr->lkey },
		{ (uintptr_t)inbox + 80000, 20000, b->mr->lkey },
	};
	struct ibv_recv_wr wr = { .wr_id = 100, .sg_list = sge, .num_sge = 4 }, *bad = NULL;

	memset(inbox, 0, 100000);
	mroce_pattern_fill(a->buf, 29002, 7, 0);
	if (mroce_srq_create(test, NULL, 4, 3) || mroce_pair_open(test) ||
	    mroce_case_errno(test, "four pieces", ibv_post_srq_recv(b->srq, &wr, &bad), EINVAL))
		return 1;
	if (bad != &wr)
		return mroce_case_fail(test, "bad_wr is wrong");
	wr.num_sge = 3;
	if (mroce_case_errno(test, "three pieces", ibv_post_srq_recv(b->srq, &wr, &bad), 0) ||
	    mroce_side_sends(test, MROCE_A, 1, 1, 29002) ||
	    mroce_wc_wait(test, b->recv_cq, 100, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (test->wc.byte_len != 29002 || test->wc.qp_num != b->qp->qp_num ||
	    mroce_pattern_check(inbox + 40000, 9001, 7, 0) >= 0 ||
	    mroce_pattern_check(inbox + 3, 1, 7, 9001) >= 0 ||
	    mroce_pattern_check(inbox + 80000, 20000, 7, 9002) >= 0 || inbox[2] || inbox[4])
		return mroce_case_fail(test, "wrong bytes arrived");
	return 0;
}

/* Who has nothing to receive into says so; the message comes again, or does not. */
static int srq_empty(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	if (mroce_srq_open(test, 4) || mroce_side_sends(test, MROCE_A, 1, 1, 5000) ||
	    mroce_wc_none(test, a->send_cq, 100) || mroce_srq_recvs(test, 100, 1, 5000) ||
	    mroce_wc_wait(test, b->recv_cq, 100, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_pair_close(test))
		return 1;
	test->timing.rnr_retry = 2;
	return mroce_srq_open(test, 4) || mroce_side_sends(test, MROCE_A, 1, 1, 5000) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR, MROCE_WAIT_MS);
}

static int consume(struct mroce_test *test, uint64_t id, unsigned int count)
{
	return mroce_side_sends(test, MROCE_A, id, count, 64) ||
	       mroce_wc_range(test, test->side[MROCE_B].recv_cq, id, count, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, test->side[MROCE_A].send_cq, id, count, IBV_WC_SUCCESS);
}

static int srq_limit(struct mroce_test *test)
{
	static const enum ibv_event_type type = IBV_EVENT_SRQ_LIMIT_REACHED;
	struct mroce_side *b = &test->side[MROCE_B];

	/* As many as the limit are not fewer. */
	if (mroce_srq_open(test, 16) || mroce_srq_recvs(test, 0, 12, 64) ||
	    mroce_srq_arm(test, 8) || limit_is(test, 8) || consume(test, 0, 4) ||
	    mroce_event_none(test, b, type, 20) || limit_is(test, 8) || consume(test, 4, 1) ||
	    mroce_event_wait(test, b, type, b->srq))
		return 1;
	/* Once. */
	if (limit_is(test, 0) || consume(test, 5, 3) || mroce_event_none(test, b, type, 20))
		return 1;
	/* Again, and more posted meanwhile. */
	if (mroce_srq_arm(test, 3) || mroce_srq_recvs(test, 12, 4, 64) || consume(test, 8, 5) ||
	    mroce_event_none(test, b, type, 20) || consume(test, 13, 1) ||
	    mroce_event_wait(test, b, type, b->srq) || mroce_event_none(test, b, type, 20))
		return 1;
	/* Reached already; and not wanted any more */
	return mroce_srq_arm(test, 3) || mroce_event_wait(test, b, type, b->srq) ||
	       mroce_event_none(test, b, type, 20) || mroce_srq_arm(test, 2) ||
	       mroce_srq_arm(test, 0) || consume(test, 14, 2) ||
	       mroce_event_none(test, b, type, 20) || mroce_srq_arm(test, 1) ||
	       mroce_event_wait(test, b, type, b->srq);
}

/* What the QP has not bound stays, and it says that it will bind nothing more. */
static int srq_last_wqe(struct mroce_test *test)
{
	static const enum ibv_event_type type = IBV_EVENT_QP_LAST_WQE_REACHED;
	struct mroce_side *b = &test->side[MROCE_B];
	unsigned int i;

	if (mroce_srq_open(test, 8) || mroce_srq_recvs(test, 0, 8, 64) || consume(test, 0, 2) ||
	    mroce_event_none(test, b, type, 0))
		return 1;
	for (i = 0; i < 3; i++) {
		if (mroce_pair_modify(test, MROCE_B, IBV_QPS_ERR) ||
		    mroce_event_wait(test, b, type, b->qp) ||
		    mroce_wc_none(test, b->recv_cq, 0) ||
		    mroce_pair_modify(test, MROCE_B, IBV_QPS_ERR) ||
		    mroce_event_none(test, b, type, 20) ||
		    mroce_pair_modify(test, MROCE_A, IBV_QPS_RESET) ||
		    mroce_pair_modify(test, MROCE_B, IBV_QPS_RESET) ||
		    mroce_event_none(test, b, type, 20) || mroce_pair_connect(test) ||
		    consume(test, 2 + i, 1))
			return 1;
	}
	return mroce_event_none(test, b, type, 20);
}

/* @req fails at the receiver, with @status of the receive and @remote of the request. */
static int receiver_fails(struct mroce_test *test, const struct mroce_req *req,
			  enum ibv_wc_status status, enum ibv_wc_status remote)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	return mroce_side_post(test, MROCE_A, req) ||
	       mroce_wc_wait(test, b->recv_cq, 50, status, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, req->id, remote, MROCE_WAIT_MS) ||
	       mroce_event_wait(test, b, IBV_EVENT_QP_LAST_WQE_REACHED, b->qp) ||
	       mroce_pair_state(test, MROCE_B, IBV_QPS_ERR) || mroce_wc_none(test, b->recv_cq, 0);
}

/* A receive that cannot be used is the trouble of the QP that has got it. */
static int srq_bad_receive(struct mroce_test *test)
{
	struct mroce_req req = { .id = 1, .opcode = IBV_WR_SEND, .bytes = 5000 };
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_sge sge = {
		.addr = (uintptr_t)b->buf, .length = 5000, .lkey = b->mr->lkey ^ 1,
	};
	struct ibv_recv_wr wr = { .wr_id = 50, .sg_list = &sge, .num_sge = 1 }, *bad;

	if (mroce_srq_open(test, 4) || mroce_srq_recvs(test, 50, 1, 4999) ||
	    receiver_fails(test, &req, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR) ||
	    mroce_pair_close(test))
		return 1;
	return mroce_srq_open(test, 4) ||
	       mroce_case_errno(test, "post_srq_recv", ibv_post_srq_recv(b->srq, &wr, &bad), 0) ||
	       receiver_fails(test, &req, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR);
}

/* Keys of a shared receive are those of its queue's domain, not of the QP's. */
static int srq_domain(struct mroce_test *test)
{
	struct mroce_req req = { .id = 2, .opcode = IBV_WR_SEND, .bytes = 64 };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_pd *pd = ibv_alloc_pd(b->dev->ctx);
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, b->buf, 8192, IBV_ACCESS_LOCAL_WRITE) : NULL;
	struct ibv_sge sge = { .addr = (uintptr_t)b->buf, .length = 5000 };
	struct ibv_recv_wr wr = { .wr_id = 49, .sg_list = &sge, .num_sge = 1 }, *bad;
	int failed;

	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	sge.lkey = mr->lkey;
	failed = mroce_srq_create(test, pd, 4, 1) || mroce_pair_open(test) ||
		 mroce_case_errno(test, "post_srq_recv", ibv_post_srq_recv(b->srq, &wr, &bad), 0) ||
		 mroce_srq_recvs(test, 50, 1, 5000) ||
		 mroce_side_sends(test, MROCE_A, 1, 1, 5000) ||
		 mroce_wc_wait(test, b->recv_cq, 49, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		 mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		 receiver_fails(test, &req, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR) ||
		 mroce_pair_close(test);
	if (failed)
		return 1;
	return mroce_case_errno(test, "dereg_mr", ibv_dereg_mr(mr), 0) ||
	       mroce_case_errno(test, "dealloc_pd", ibv_dealloc_pd(pd), 0);
}

static int srq_immediates(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.rkey = b->mr->rkey, .remote_addr = (uintptr_t)mroce_side_inbox(b) + 70000,
		.bytes = 20000,
	};
	unsigned int i;

	mroce_pattern_fill(a->buf, 20000, 3, 0);
	if (mroce_srq_open(test, 16) || mroce_srq_recvs(test, 0, 8, 20000))
		return 1;
	for (i = 0; i < 8; i++) {
		req.id = i;
		req.opcode = i % 2 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_SEND_WITH_IMM;
		req.imm = 0x1000 + i;
		if (mroce_side_post(test, MROCE_A, &req))
			return 1;
	}
	for (i = 0; i < 8; i++) {
		if (mroce_wc_wait(test, b->recv_cq, i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (be32toh(test->wc.imm_data) != 0x1000 + i || test->wc.byte_len != 20000 ||
		    test->wc.opcode != (i % 2 ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV) ||
		    !(test->wc.wc_flags & IBV_WC_WITH_IMM))
			return mroce_case_fail(test, "completion %u is wrong", i);
	}
	if (mroce_pattern_check(mroce_side_inbox(b), 20000, 3, 0) >= 0 ||
	    mroce_pattern_check(mroce_side_inbox(b) + 70000, 20000, 3, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes arrived");
	return mroce_wc_range(test, a->send_cq, 0, 8, IBV_WC_SUCCESS);
}

static int srq_busy(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_srq *srq;

	if (mroce_srq_open(test, 8) || mroce_srq_recvs(test, 0, 2, 64) ||
	    mroce_case_errno(test, "destroy_srq", ibv_destroy_srq(b->srq), EBUSY) ||
	    mroce_srq_recvs(test, 2, 2, 64) || consume(test, 0, 4))
		return 1;
	srq = b->srq;
	b->srq = NULL;
	if (mroce_pair_close(test))
		return 1;
	/* One with receives in it that nobody wants */
	b->srq = srq;
	return mroce_srq_recvs(test, 4, 3, 64) || mroce_pair_close(test);
}

static int srq_other_types(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = 4, .max_sge = 1 }, .pd = b->dev->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE,
		.srq_type = IBV_SRQT_BASIC,
	};

	b->srq = ibv_create_srq_ex(b->dev->ctx, &init);
	if (mroce_case_errno(test, "basic", b->srq ? 0 : errno, 0) || mroce_pair_close(test))
		return 1;
	init.srq_type = IBV_SRQT_TM;
	init.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	b->srq = ibv_create_srq_ex(b->dev->ctx, &init);
	return mroce_case_errno(test, "tag matching", b->srq ? 0 : errno, EOPNOTSUPP);
}

const struct mroce_case mroce_cases_srq[] = {
	{ "srq_caps", srq_caps, MROCE_NEEDS_NOTHING },
	{ "srq_attributes", srq_attributes, MROCE_NEEDS_NOTHING },
	{ "srq_other_types", srq_other_types, MROCE_NEEDS_NOTHING },
	{ "srq_qp_has_no_receives", srq_qp_has_no_receives, MROCE_NEEDS_NOTHING },
	{ "srq_full", srq_full, MROCE_NEEDS_NOTHING },
	{ "srq_of_one", srq_of_one, MROCE_NEEDS_NOTHING },
	{ "srq_pieces", srq_pieces, MROCE_NEEDS_NOTHING },
	{ "srq_immediates", srq_immediates, MROCE_NEEDS_NOTHING },
	{ "srq_empty", srq_empty, MROCE_NEEDS_NOTHING },
	{ "srq_limit", srq_limit, MROCE_NEEDS_NOTHING },
	{ "srq_last_wqe", srq_last_wqe, MROCE_NEEDS_NOTHING },
	{ "srq_bad_receive", srq_bad_receive, MROCE_NEEDS_NOTHING },
	{ "srq_domain", srq_domain, MROCE_NEEDS_NOTHING },
	{ "srq_busy", srq_busy, MROCE_NEEDS_NOTHING },
	{ }
};
