// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Limits: what create, register and post calls accept and how they refuse. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "qpstate.h"

/* Create and destroy at once. Return: errno. */
static int try_qp(struct mroce_side *side, enum ibv_qp_type type, struct ibv_qp_cap cap)
{
	struct ibv_cq *cq = ibv_create_cq(side->dev->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .cap = cap,
	};
	struct ibv_qp *qp;
	int err = 0;

	if (!cq)
		return errno;
	qp = ibv_create_qp(side->dev->pd, &init);
	if (!qp)
		err = errno;
	else if (ibv_destroy_qp(qp))
		err = EBUSY;
	ibv_destroy_cq(cq);
	return err;
}

static struct ibv_qp_cap small_cap(void)
{
	return (struct ibv_qp_cap){
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};
}

static int caps_at_max(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_qp_cap cap = small_cap();
	struct ibv_cq *cq;

	cap.max_send_wr = a->dev->attr.max_qp_wr;
	cap.max_recv_wr = a->dev->attr.max_qp_wr;
	if (mroce_case_errno(test, "max_qp_wr", try_qp(a, IBV_QPT_RC, cap), 0))
		return 1;
	cap = small_cap();
	cap.max_send_sge = a->dev->attr.max_sge;
	cap.max_recv_sge = a->dev->attr.max_sge;
	if (mroce_case_errno(test, "max_sge", try_qp(a, IBV_QPT_RC, cap), 0))
		return 1;
	cq = ibv_create_cq(a->dev->ctx, a->dev->attr.max_cqe, NULL, NULL, 0);
	if (!cq)
		return mroce_case_errno(test, "max_cqe", errno, 0);
	return mroce_case_errno(test, "destroy_cq", ibv_destroy_cq(cq), 0);
}

static int caps_above_max(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_qp_cap cap[5];
	struct ibv_cq *cq;
	int i;

	for (i = 0; i < 5; i++)
		cap[i] = small_cap();
	cap[0].max_send_wr = a->dev->attr.max_qp_wr + 1;
	cap[1].max_recv_wr = a->dev->attr.max_qp_wr + 1;
	cap[2].max_send_sge = a->dev->attr.max_sge + 1;
	cap[3].max_recv_sge = a->dev->attr.max_sge + 1;
	cap[4].max_inline_data = 1 << 20;
	for (i = 0; i < 5; i++) {
		if (try_qp(a, IBV_QPT_RC, cap[i]) != EINVAL)
			return mroce_case_fail(test, "limit %d: %d instead of EINVAL", i,
					       try_qp(a, IBV_QPT_RC, cap[i]));
	}
	cq = ibv_create_cq(a->dev->ctx, a->dev->attr.max_cqe + 1, NULL, NULL, 0);
	if (!cq)
		return mroce_case_errno(test, "max_cqe + 1", errno, EINVAL);
	ibv_destroy_cq(cq);
	return mroce_case_fail(test, "more than max_cqe granted");
}

/* Types that will not come are refused, the others work or are refused, in one way. */
static int qp_types(struct mroce_test *test)
{
	static const struct {
		enum ibv_qp_type type;
		const char *name;
		bool may_work;
	} row[] = {
		{ IBV_QPT_UC, "UC", true },
		{ IBV_QPT_UD, "UD", true },
		{ IBV_QPT_RAW_PACKET, "raw packet", false },
		{ IBV_QPT_XRC_SEND, "XRC", false },
		{ IBV_QPT_DRIVER, "driver", false },
	};
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		err = try_qp(&test->side[MROCE_A], row[i].type, small_cap());
		if (!(err == 0 && row[i].may_work) &&
		    mroce_case_errno(test, row[i].name, err, EOPNOTSUPP))
			return 1;
	}
	return 0;
}

static int post_too_early(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req req = { .opcode = IBV_WR_SEND, .bytes = 8 };

	if (mroce_pair_create(test, 4, 4) ||
	    mroce_case_errno(test, "post_recv in RESET", mroce_side_recv(a, 1, 8), EINVAL) ||
	    mroce_case_errno(test, "post_send in RESET", mroce_side_send(a, &req), EINVAL) ||
	    mroce_pair_init(test) ||
	    mroce_case_errno(test, "post_recv in INIT", mroce_side_recv(a, 1, 8), 0) ||
	    mroce_case_errno(test, "post_send in INIT", mroce_side_send(a, &req), EINVAL))
		return 1;
	return 0;
}

/* The peer has no receive, so nothing leaves the queue; then it takes all of them. */
static int send_queue_full(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = { .id = 99, .opcode = IBV_WR_SEND, .bytes = 8 };
	uint32_t cap, round;

	if (mroce_pair_create(test, 5, 64) || mroce_pair_connect(test))
		return 1;
	cap = a->cap.max_send_wr;
	if (cap < 5 || cap > 64)
		return mroce_case_fail(test, "asked for 5 send requests, granted %u", cap);
	for (round = 0; round < 3; round++) {
		if (mroce_side_sends(test, MROCE_A, 100, cap, 8) ||
		    mroce_case_errno(test, "one too many", mroce_side_send(a, &req), ENOMEM) ||
		    mroce_side_recvs(test, MROCE_B, 200, cap, 8) ||
		    mroce_wc_range(test, a->send_cq, 100, cap, IBV_WC_SUCCESS) ||
		    mroce_wc_range(test, b->recv_cq, 200, cap, IBV_WC_SUCCESS))
			return 1;
	}
	return 0;
}

static int recv_queue_full(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	uint32_t cap, round;

	if (mroce_pair_create(test, 64, 5) || mroce_pair_connect(test))
		return 1;
	cap = b->cap.max_recv_wr;
	if (cap < 5 || cap > 64)
		return mroce_case_fail(test, "asked for 5 receives, granted %u", cap);
	for (round = 0; round < 3; round++) {
		if (mroce_side_recvs(test, MROCE_B, 200, cap, 8) ||
		    mroce_case_errno(test, "one too many", mroce_side_recv(b, 99, 8), ENOMEM) ||
		    mroce_side_sends(test, MROCE_A, 100, cap, 8) ||
		    mroce_wc_range(test, b->recv_cq, 200, cap, IBV_WC_SUCCESS))
			return 1;
	}
	return 0;
}

/* A list is taken up to the bad request, which is pointed at. */
static int bad_request_in_list(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_sge sge[33];
	struct ibv_send_wr wr[3] = { }, *bad = NULL;
	struct ibv_recv_wr rwr[3] = { }, *rbad = NULL;
	int i;

	if (mroce_pair_open(test))
		return 1;
	for (i = 0; i < 33; i++) {
		sge[i].addr = (uintptr_t)b->buf;
		sge[i].length = 8;
		sge[i].lkey = a->mr->lkey;
	}
	for (i = 0; i < 3; i++) {
		wr[i].wr_id = 10 + i;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		rwr[i].wr_id = 20 + i;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
		rwr[i].next = i < 2 ? &rwr[i + 1] : NULL;
	}
	wr[1].sg_list = sge;
	wr[1].num_sge = a->cap.max_send_sge + 1;
	rwr[1].sg_list = sge;
	rwr[1].num_sge = b->cap.max_recv_sge + 1;
	if (mroce_case_errno(test, "too many receive SGEs",
			     ibv_post_recv(b->qp, rwr, &rbad), EINVAL) ||
	    mroce_case_errno(test, "too many send SGEs", ibv_post_send(a->qp, wr, &bad), EINVAL))
		return 1;
	if (bad != &wr[1] || rbad != &rwr[1])
		return mroce_case_fail(test, "bad_wr does not point at the bad request");
	return mroce_wc_wait(test, a->send_cq, 10, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->recv_cq, 20, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_none(test, a->send_cq, 0);
}

static int inline_too_long(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = { .id = 1, .opcode = IBV_WR_SEND, .flags = IBV_SEND_INLINE };

	if (mroce_pair_open(test) || mroce_side_recvs(test, MROCE_B, 2, 1, 65536))
		return 1;
	req.bytes = a->cap.max_inline_data + 1;
	if (mroce_case_errno(test, "above max_inline_data", mroce_side_send(a, &req), EINVAL))
		return 1;
	req.bytes--;
	return mroce_case_errno(test, "max_inline_data", mroce_side_send(a, &req), 0) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, b->recv_cq, 2, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

/* Return: errno of reg_mr. */
static int try_mr(struct mroce_side *side, void *p, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(side->dev->pd, p, 4096, access);

	if (!mr)
		return errno;
	ibv_dereg_mr(mr);
	return 0;
}

static int mr_access(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	void *read_only = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (read_only == MAP_FAILED)
		return mroce_case_fail(test, "mmap failed");
	if (mroce_case_errno(test, "optional flags", try_mr(a, a->buf, IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_RELAXED_ORDERING), 0) ||
	    mroce_case_errno(test, "remote without local write",
			     try_mr(a, a->buf, IBV_ACCESS_REMOTE_WRITE), EINVAL) ||
	    mroce_case_errno(test, "unmapped memory",
			     try_mr(a, NULL, IBV_ACCESS_LOCAL_WRITE), EFAULT))
		return 1;
	err = try_mr(a, read_only, IBV_ACCESS_LOCAL_WRITE);
	munmap(read_only, 4096);
	if (err != EFAULT && err != EPERM)
		return mroce_case_errno(test, "writing to read-only pages", err, EFAULT);
	return 0;
}

const struct mroce_case mroce_cases_caps[] = {
	{ "caps_at_max", caps_at_max, MROCE_NEEDS_NOTHING },
	{ "caps_above_max", caps_above_max, MROCE_NEEDS_NOTHING },
	{ "qp_types", qp_types, MROCE_NEEDS_NOTHING },
	{ "post_too_early", post_too_early, MROCE_NEEDS_NOTHING },
	{ "send_queue_full", send_queue_full, MROCE_NEEDS_NOTHING },
	{ "recv_queue_full", recv_queue_full, MROCE_NEEDS_NOTHING },
	{ "bad_request_in_list", bad_request_in_list, MROCE_NEEDS_NOTHING },
	{ "inline_too_long", inline_too_long, MROCE_NEEDS_NOTHING },
	{ "mr_access", mr_access, MROCE_NEEDS_NOTHING },
	{ }
};
