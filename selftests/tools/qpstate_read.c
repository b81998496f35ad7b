// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RDMA READ: sizes, shapes, how many at a time, what is refused and by whom. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "qpstate.h"

#define BAD_KEY 0x5a5a5a5a
#define MAX_READS 64
/* At most so long, on a slow machine: one of several hundred regions goes before the record */
#define DEREG_S 15

/* From the start of B's inbox into the start of A's buffer */
static struct mroce_req read_request(struct mroce_side *from, uint64_t id, uint32_t bytes)
{
	return (struct mroce_req){
		.id = id, .opcode = IBV_WR_RDMA_READ, .bytes = bytes, .rkey = from->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(from),
	};
}

/* Whatever the size and the alignment of both ends: every byte, and none beside them. */
static int read_sizes(struct mroce_test *test)
{
	static const uint32_t size[] = { 1, 7, 8, 127, 128, 129, 1408, 4096, 8191, 8192, 8193,
					 65536, 1000003, 4u << 20 };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req;
	uint8_t *sink;
	size_t i;

	if (mroce_pair_open(test))
		return 1;
	for (i = 0; i < ARRAY_SIZE(size); i++) {
		req = read_request(b, i, size[i]);
		req.remote_addr += 3 * i;
		req.offset = 64 + 5 * i;
		sink = a->buf + req.offset;
		mroce_pattern_fill(mroce_side_inbox(b) + 3 * i, size[i], i, 0);
		memset(a->buf, 0x55, size[i] + 256);
		if (mroce_side_post(test, MROCE_A, &req) ||
		    mroce_wc_wait(test, a->send_cq, i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (test->wc.opcode != IBV_WC_RDMA_READ || test->wc.byte_len != size[i])
			return mroce_case_fail(test, "opcode %d, %u bytes of %u", test->wc.opcode,
					       test->wc.byte_len, size[i]);
		if (mroce_pattern_check(sink, size[i], i, 0) >= 0)
			return mroce_case_fail(test, "%u bytes: wrong ones arrived", size[i]);
		if (sink[-1] != 0x55 || sink[size[i]] != 0x55)
			return mroce_case_fail(test, "%u bytes: others were written", size[i]);
	}
	return 0;
}

/* 16 MiB, more than paths and connection have room for */
static int read_large(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = read_request(b, 1, 2 * MROCE_HALF_BYTES);

	req.remote_addr = (uintptr_t)b->buf;
	mroce_pattern_fill(b->buf, req.bytes, 16, 0);
	memset(a->buf, 0, req.bytes);
	if (mroce_pair_open(test) || mroce_side_post(test, MROCE_A, &req) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, 4 * MROCE_WAIT_MS))
		return 1;
	if (mroce_pattern_check(a->buf, req.bytes, 16, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes arrived");
	return 0;
}

/* The pieces of the sink lie in another order than in the stream, with gaps between. */
static int read_many_sges(struct mroce_test *test)
{
	static const uint32_t length[] = { 1, 9001, 17, 30000 };
	static const uint32_t offset[] = { 100001, 50000, 77, 60003 };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_sge sge[ARRAY_SIZE(length)];
	struct ibv_send_wr wr = {
		.wr_id = 4, .opcode = IBV_WR_RDMA_READ, .sg_list = sge, .num_sge = ARRAY_SIZE(sge),
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = {
			.remote_addr = (uintptr_t)mroce_side_inbox(b) + 1, .rkey = b->mr->rkey,
		},
	}, *bad;
	size_t i, start = 0, written = 0;

	for (i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)a->buf + offset[i], length[i], a->mr->lkey };
	mroce_pattern_fill(mroce_side_inbox(b) + 1, 65536, 44, 0);
	memset(a->buf, 0, 200000);
	if (mroce_pair_open(test) ||
	    mroce_case_errno(test, "post_send", ibv_post_send(a->qp, &wr, &bad), 0) ||
	    mroce_wc_wait(test, a->send_cq, 4, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	for (i = 0; i < ARRAY_SIZE(sge); i++) {
		if (mroce_pattern_check(a->buf + offset[i], length[i], 44, start) >= 0)
			return mroce_case_fail(test, "wrong bytes in piece %zu", i);
		start += length[i];
		memset(a->buf + offset[i], 0, length[i]);
	}
	for (i = 0; i < 200000; i++)
		written += !!a->buf[i];
	return written ? mroce_case_fail(test, "%zu bytes beside the pieces written", written) : 0;
}

/* No bytes: no key is looked at, at either end. */
static int read_empty(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct mroce_req req = { .id = 1, .opcode = IBV_WR_RDMA_READ };
	struct ibv_sge sge = { .lkey = BAD_KEY };
	struct ibv_send_wr wr = {
		.wr_id = 2, .opcode = IBV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = 1, .rkey = BAD_KEY },
	}, *bad;

	if (mroce_pair_open(test) || mroce_side_post(test, MROCE_A, &req) ||
	    mroce_case_errno(test, "post_send", ibv_post_send(a->qp, &wr, &bad), 0) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (test->wc.byte_len)
		return mroce_case_fail(test, "%u bytes", test->wc.byte_len);
	return mroce_wc_wait(test, a->send_cq, 2, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	       mroce_pair_ping(test);
}

/* @rd_atomic at a time, of 64 that are posted: all in order, each with its own bytes */
static int many_reads(struct mroce_test *test, uint8_t rd_atomic, uint32_t bytes)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req[MAX_READS];
	unsigned int i;

	test->timing.rd_atomic = rd_atomic;
	test->timing.dest_rd_atomic = rd_atomic;
	mroce_pattern_fill(mroce_side_inbox(b), MAX_READS * bytes, bytes, 0);
	memset(a->buf, 0, MAX_READS * bytes);
	if (mroce_pair_create(test, MAX_READS, 16) || mroce_pair_connect(test))
		return 1;
	for (i = 0; i < MAX_READS; i++) {
		req[i] = read_request(b, i, bytes);
		req[i].offset = i * bytes;
		req[i].remote_addr += i * bytes;
	}
	if (mroce_side_post_list(test, MROCE_A, req, MAX_READS) ||
	    mroce_wc_range(test, a->send_cq, 0, MAX_READS, IBV_WC_SUCCESS))
		return 1;
	if (mroce_pattern_check(a->buf, MAX_READS * bytes, bytes, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes arrived");
	return mroce_pair_close(test);
}

static int reads_at_once(struct mroce_test *test)
{
	if (test->side[MROCE_A].dev->attr.max_qp_rd_atom < MAX_READS ||
	    test->side[MROCE_B].dev->attr.max_qp_init_rd_atom < MAX_READS)
		return mroce_case_fail(test, "max_qp_rd_atom is %d",
				       test->side[MROCE_A].dev->attr.max_qp_rd_atom);
	return many_reads(test, MAX_READS, 100000) || many_reads(test, MAX_READS, 8);
}

static int reads_one_by_one(struct mroce_test *test)
{
	return many_reads(test, 1, 100000) || many_reads(test, 1, 8);
}

/* The peer serves one at a time, we send more: the first is good, an error ends it. */
static int reads_too_many(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req[16];
	unsigned int i, failed = 0;

	test->timing.rd_atomic = 16;
	test->timing.dest_rd_atomic = 1;
	for (i = 0; i < 16; i++)
		req[i] = read_request(b, i, 4u << 20);
	if (mroce_pair_open(test) || mroce_side_post_list(test, MROCE_A, req, 16))
		return 1;
	if (mroce_wc_wait(test, a->send_cq, 0, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	for (i = 1; i < 16 && !failed; i++) {
		if (mroce_wc_wait(test, a->send_cq, i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			failed = i;
	}
	if (!failed)
		return mroce_case_fail(test, "all were served");
	if (test->wc.wr_id != failed || test->wc.status != IBV_WC_REM_INV_REQ_ERR)
		return 1;
	return mroce_wc_range(test, a->send_cq, failed + 1, 15 - failed, IBV_WC_WR_FLUSH_ERR);
}

/* None may be outstanding, so none can ever be sent. */
static int read_none_allowed(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = read_request(b, 1, 8);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = a->psn, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = 0,
	};

	if (mroce_pair_create(test, 16, 16) || mroce_pair_init(test) ||
	    mroce_pair_rtr(test, MROCE_A) || mroce_pair_rtr(test, MROCE_B))
		return 1;
	attr.sq_psn = a->psn;
	return mroce_case_errno(test, "modify_qp to RTS", ibv_modify_qp(a->qp, &attr, IBV_QP_STATE |
				IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), 0) ||
	       mroce_pair_rts(test, MROCE_B) || mroce_pair_ping(test) ||
	       mroce_side_post(test, MROCE_A, &req) || mroce_side_sends(test, MROCE_A, 2, 1, 8) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_LOC_QP_OP_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 2, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR);
}

/*
 * A good READ, @req, a good READ: the first completes, @req fails with @status and
 * gets no byte, the third is flushed. The peer's QP is in @peer_state afterwards,
 * which is IBV_QPS_UNKNOWN where either end may have found the error.
 */
static int refused(struct mroce_test *test, struct mroce_req *req, enum ibv_wc_status status,
		   enum ibv_qp_state peer_state)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req list[3];

	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	memset(mroce_side_inbox(b), 0x66, 200000);
	memset(a->buf, 0x55, 200000);
	list[0] = read_request(b, 1, 30000);
	list[1] = *req;
	list[1].id = 2;
	list[1].offset = 40000;
	list[2] = read_request(b, 3, 30000);
	list[2].offset = 100000;
	if (mroce_pair_open(test) || mroce_side_post_list(test, MROCE_A, list, 3) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 2, status, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 3, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
	    mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) ||
	    (peer_state != IBV_QPS_UNKNOWN && mroce_pair_state(test, MROCE_B, peer_state)))
		return 1;
	if (memchr(a->buf, 0x55, 30000) || memchr(a->buf + 30000, 0x66, 70000))
		return mroce_case_fail(test, "wrong bytes in memory");
	return mroce_pair_close(test);
}

static int read_bad_rkey(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	uint32_t key[] = { BAD_KEY, b->mr->rkey ^ 1, 0 };
	struct mroce_req req = read_request(b, 0, 20000);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(key); i++) {
		req.rkey = key[i];
		if (refused(test, &req, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR))
			return 1;
	}
	return 0;
}

static int read_out_of_range(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = read_request(b, 0, 20000);
	uint64_t end = (uintptr_t)b->buf + 2 * MROCE_HALF_BYTES;
	uint64_t addr[] = { end - 19999, end, (uintptr_t)b->buf - 1, 0, UINT64_MAX - 19999,
			    UINT64_MAX };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(addr); i++) {
		req.remote_addr = addr[i];
		/* beyond the end of all addresses: needs no peer to tell */
		if (refused(test, &req, IBV_WC_REM_ACCESS_ERR, addr[i] + req.bytes < addr[i] ?
			    IBV_QPS_UNKNOWN : IBV_QPS_ERR))
			return 1;
	}
	return 0;
}

/* The region may be written but not read, or belongs to somebody else. */
static int read_no_right(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_pd *pd = ibv_alloc_pd(b->dev->ctx);
	struct ibv_mr *mr[2];
	struct mroce_req req;
	int i, failed = 0;

	if (!pd)
		return mroce_case_errno(test, "alloc_pd", errno, 0);
	mr[0] = ibv_reg_mr(b->dev->pd, mroce_side_inbox(b), 65536,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_ATOMIC);
	mr[1] = ibv_reg_mr(pd, mroce_side_inbox(b), 65536, IBV_ACCESS_REMOTE_READ);
	if (!mr[0] || !mr[1])
		return mroce_case_errno(test, "reg_mr", errno, 0);
	for (i = 0; i < 2 && !failed; i++) {
		req = read_request(b, 0, 20000);
		req.rkey = mr[i]->rkey;
		failed = refused(test, &req, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR);
	}
	for (i = 0; i < 2; i++)
		ibv_dereg_mr(mr[i]);
	ibv_dealloc_pd(pd);
	return failed;
}

/* A region that may only be read is enough for the peer. */
static int read_right_only(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(b->dev->pd, p, 4096, IBV_ACCESS_REMOTE_READ);
	struct mroce_req req = read_request(b, 1, 4096);
	int failed;

	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	memset(a->buf, 0x55, 4096);
	req.rkey = mr->rkey;
	req.remote_addr = (uintptr_t)p;
	test->access = IBV_ACCESS_REMOTE_READ;
	failed = mroce_pair_open(test) || mroce_side_post(test, MROCE_A, &req) ||
		 mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS);
	ibv_dereg_mr(mr);
	munmap(p, 4096);
	if (!failed && memchr(a->buf, 0x55, 4096))
		return mroce_case_fail(test, "wrong bytes arrived");
	return failed;
}

/* The QP lets the peer write but not read: nothing of it can succeed. */
static int read_no_right_on_qp(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = read_request(b, 1, 64);

	test->access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	return mroce_pair_open(test) || mroce_pair_ping(test) ||
	       mroce_side_post(test, MROCE_A, &req) || mroce_side_sends(test, MROCE_A, 2, 1, 8) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_REM_INV_REQ_ERR, MROCE_WAIT_MS) ||
	       mroce_wc_wait(test, a->send_cq, 2, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
	       mroce_pair_state(test, MROCE_B, IBV_QPS_ERR);
}

/* The sink is no memory of ours, or ours to read only. The peer has done nothing wrong. */
static int read_bad_sink(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_mr *mr = ibv_reg_mr(a->dev->pd, a->buf, 200000, 0);
	struct mroce_req req = read_request(b, 0, 20000);
	int failed;

	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	req.lkey = BAD_KEY;
	failed = refused(test, &req, IBV_WC_LOC_PROT_ERR, IBV_QPS_RTS);
	req.lkey = mr->lkey;
	if (!failed)
		failed = refused(test, &req, IBV_WC_LOC_PROT_ERR, IBV_QPS_RTS);
	ibv_dereg_mr(mr);
	return failed;
}

/*
 * How many READs @cq still lets succeed until the first failure, whose status is left
 * in test->wc. Return: that, or -1 when time is up.
 */
static int count_until_failure(struct mroce_test *test, struct ibv_cq *cq)
{
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	int n = 0;

	while (mroce_clock_ns() < deadline_ns) {
		if (ibv_poll_cq(cq, 1, &test->wc) <= 0)
			continue;
		if (test->wc.status != IBV_WC_SUCCESS)
			return n;
		n++;
	}
	return -1;
}

/*
 * Memory under READs is taken away, at the responder or at the requester. What is on
 * the wire may still arrive, so one of them may succeed, or two if one was just
 * through; no more is sent, and nothing of the sink changes.
 */
static int dereg_under_reads(struct mroce_test *test, int owner, enum ibv_wc_status status)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	size_t bytes = 4u << 20;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mroce_req req = read_request(b, 0, bytes), list[12];
	struct ibv_mr *mr;
	int i, good;

	test->timing.rd_atomic = 16;
	test->timing.dest_rd_atomic = 16;
	if (p == MAP_FAILED || mroce_pair_open(test))
		return 1;
	mr = ibv_reg_mr(test->side[owner].dev->pd, p, bytes,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	if (owner == MROCE_A) {
		req.lkey = mr->lkey;
		req.offset = (uint8_t *)p - a->buf;
	} else {
		req.rkey = mr->rkey;
		req.remote_addr = (uintptr_t)p;
	}
	memset(p, 0x22, bytes);
	memset(mroce_side_inbox(b), 0x22, bytes);
	for (i = 0; i < 12; i++)
		list[i] = req;
	if (mroce_side_post_list(test, MROCE_A, list, 12) ||
	    mroce_wc_wait(test, a->send_cq, 0, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_case_errno(test, "dereg_mr", ibv_dereg_mr(mr), 0))
		return 1;
	/* those that were through before; perhaps a failure already */
	while ((good = ibv_poll_cq(a->send_cq, 1, &test->wc)) > 0 &&
	       test->wc.status == IBV_WC_SUCCESS)
		;
	memset(p, 0x11, bytes);
	/* They may all have been quick enough: this one is not. */
	if (mroce_side_post(test, MROCE_A, &req))
		return 1;
	good = good ? 0 : count_until_failure(test, a->send_cq);
	if (good < 0 || good > 2)
		return mroce_case_fail(test, "%d READs were good after dereg_mr", good);
	if (test->wc.status != status)
		return mroce_case_fail(test, "'%s' after dereg_mr",
				       ibv_wc_status_str(test->wc.status));
	if (owner == MROCE_A && memchr(p, 0x22, bytes))
		return mroce_case_fail(test, "memory was written after dereg_mr");
	munmap(p, bytes);
	return mroce_pair_close(test);
}

static int read_dereg_source(struct mroce_test *test)
{
	return dereg_under_reads(test, MROCE_B, IBV_WC_REM_ACCESS_ERR);
}

static int read_dereg_sink(struct mroce_test *test)
{
	return dereg_under_reads(test, MROCE_A, IBV_WC_LOC_PROT_ERR);
}

/*
 * Memory lives no longer than the READ of it: gone as soon as the reader has completed,
 * though the responder may not know yet that its responses have arrived.
 */
static int read_and_dereg(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint64_t end_ns = mroce_clock_ns() + DEREG_S * 1000000000ull;
	struct mroce_req req = read_request(b, 0, 1u << 18);
	struct ibv_mr *mr;
	int failed;

	mroce_pattern_fill(mroce_side_inbox(b), req.bytes, 18, 0);
	if (mroce_pair_open(test))
		return 1;
	for (req.id = 0; req.id < 1000 && mroce_clock_ns() < end_ns; req.id++) {
		mr = ibv_reg_mr(b->dev->pd, mroce_side_inbox(b), req.bytes, IBV_ACCESS_REMOTE_READ);
		if (!mr)
			return mroce_case_errno(test, "reg_mr", errno, 0);
		req.rkey = mr->rkey;
		memset(a->buf, 0, req.bytes);
		failed = mroce_side_post(test, MROCE_A, &req) ||
			 mroce_wc_wait(test, a->send_cq, req.id, IBV_WC_SUCCESS, MROCE_WAIT_MS);
		ibv_dereg_mr(mr);
		if (failed)
			return 1;
		if (memcmp(a->buf, mroce_side_inbox(b), req.bytes))
			return mroce_case_fail(test, "wrong bytes in READ %lu", req.id);
	}
	return mroce_pair_ping(test) || mroce_pair_state(test, MROCE_B, IBV_QPS_RTS);
}

const struct mroce_case mroce_cases_read[] = {
	{ "read_sizes", read_sizes, MROCE_NEEDS_NOTHING },
	{ "read_large", read_large, MROCE_NEEDS_NOTHING },
	{ "read_many_sges", read_many_sges, MROCE_NEEDS_NOTHING },
	{ "read_empty", read_empty, MROCE_NEEDS_NOTHING },
	{ "reads_at_once", reads_at_once, MROCE_NEEDS_NOTHING },
	{ "reads_one_by_one", reads_one_by_one, MROCE_NEEDS_NOTHING },
	{ "reads_too_many", reads_too_many, MROCE_NEEDS_NOTHING },
	{ "read_none_allowed", read_none_allowed, MROCE_NEEDS_NOTHING },
	{ "read_bad_rkey", read_bad_rkey, MROCE_NEEDS_NOTHING },
	{ "read_out_of_range", read_out_of_range, MROCE_NEEDS_NOTHING },
	{ "read_no_right", read_no_right, MROCE_NEEDS_NOTHING },
	{ "read_right_only", read_right_only, MROCE_NEEDS_NOTHING },
	{ "read_no_right_on_qp", read_no_right_on_qp, MROCE_NEEDS_NOTHING },
	{ "read_bad_sink", read_bad_sink, MROCE_NEEDS_NOTHING },
	{ "read_dereg_source", read_dereg_source, MROCE_NEEDS_NOTHING },
	{ "read_dereg_sink", read_dereg_sink, MROCE_NEEDS_NOTHING },
	{ "read_and_dereg", read_and_dereg, MROCE_NEEDS_NOTHING },
	{ }
};
