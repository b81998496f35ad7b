// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Atomics on 8 bytes: what they return, what they leave, how often they happen, what is refused. */
#include <errno.h>
#include <string.h>
#include "qpstate.h"

#define BAD_KEY 0x5a5a5a5a
#define COUNT 1000
#define DEPTH 64

/* On the first word of B's inbox, the old value into the start of A's buffer */
static struct mroce_req faa(struct mroce_side *target, uint64_t id, uint64_t add)
{
	return (struct mroce_req){
		.id = id, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .bytes = 8, .compare_add = add,
		.rkey = target->mr->rkey, .remote_addr = (uintptr_t)mroce_side_inbox(target),
	};
}

static struct mroce_req cas(struct mroce_side *target, uint64_t id, uint64_t compare, uint64_t swap)
{
	struct mroce_req req = faa(target, id, compare);

	req.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	req.swap = swap;
	return req;
}

static uint64_t *word_of(uint8_t *p)
{
	return (uint64_t *)p;
}

/* One atomic from start to end: the word was @before, is @after, and nothing beside it changed. */
static int one(struct mroce_test *test, const struct mroce_req *req, uint64_t before,
	       uint64_t after)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint64_t *word = word_of(mroce_side_inbox(b)), *old = word_of(a->buf);
	enum ibv_wc_opcode opcode = req->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? IBV_WC_COMP_SWAP :
				    IBV_WC_FETCH_ADD;

	word[0] = before;
	word[1] = 0x5555;
	old[0] = ~before;
	old[1] = 0x6666;
	if (mroce_side_post(test, MROCE_A, req) ||
	    mroce_wc_wait(test, a->send_cq, req->id, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (test->wc.opcode != opcode || test->wc.byte_len != 8)
		return mroce_case_fail(test, "opcode %d, %u bytes", test->wc.opcode,
				       test->wc.byte_len);
	if (old[0] != before || word[0] != after)
		return mroce_case_fail(test, "id %lu: %#lx read of %#lx, %#lx left instead of %#lx",
				       req->id, old[0], before, word[0], after);
	if (word[1] != 0x5555 || old[1] != 0x6666)
		return mroce_case_fail(test, "the next word was written");
	return 0;
}

static int atomic_values(struct mroce_test *test)
{
	static const uint64_t big = 0x123456789abcdef0;
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req[] = {
		faa(b, 0, 1), faa(b, 1, 0), faa(b, 2, 1), faa(b, 3, UINT64_MAX), faa(b, 4, big),
		cas(b, 5, big, 7), cas(b, 6, big, 7), cas(b, 7, 0, 0), cas(b, 8, 0, UINT64_MAX),
		cas(b, 9, big & UINT32_MAX, 7),
	};
	static const uint64_t before[] = {
		5, big, UINT64_MAX, 5, 0x10, big, big ^ (1ull << 63), 0, 0, big
	};
	static const uint64_t after[] = {
		6, big, 0, 4, big + 0x10, 7, big ^ (1ull << 63), 0, UINT64_MAX, big
	};
	size_t i;

	if (mroce_pair_open(test))
		return 1;
	for (i = 0; i < ARRAY_SIZE(req); i++) {
		if (one(test, &req[i], before[i], after[i]))
			return 1;
	}
	return 0;
}

/* Many at once on one word: each happens once, and they happen in order. */
static int atomic_counts(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint64_t *word = word_of(mroce_side_inbox(b)), *old = word_of(a->buf);
	unsigned int posted = 0, done;
	struct mroce_req req;

	test->timing.rd_atomic = DEPTH;
	test->timing.dest_rd_atomic = DEPTH;
	*word = 0;
	memset(a->buf, 0xff, COUNT * 8);
	if (mroce_pair_create(test, DEPTH, 16) || mroce_pair_connect(test))
		return 1;
	for (done = 0; done < COUNT; done++) {
		for (; posted < COUNT && posted - done < DEPTH; posted++) {
			req = faa(b, posted, 1);
			req.offset = posted * 8;
			if (mroce_side_post(test, MROCE_A, &req))
				return 1;
		}
		if (mroce_wc_wait(test, a->send_cq, done, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
	}
	if (*word != COUNT)
		return mroce_case_fail(test, "%lu instead of %d", *word, COUNT);
	for (done = 0; done < COUNT; done++) {
		if (old[done] != done)
			return mroce_case_fail(test, "number %u returned %lu", done, old[done]);
	}
	return 0;
}

/* After a WRITE that ends with the word, and before a READ of it, without any fence */
static int atomic_after_write(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint32_t bytes = 1u << 20;
	struct mroce_req write = {
		.id = 1, .opcode = IBV_WR_RDMA_WRITE, .bytes = bytes, .offset = 4096,
		.rkey = b->mr->rkey, .remote_addr = (uintptr_t)mroce_side_inbox(b),
	};
	struct mroce_req add = faa(b, 2, 1), read = write, list[3];
	uint64_t round;

	add.remote_addr += bytes - 8;
	read.id = 3;
	read.opcode = IBV_WR_RDMA_READ;
	read.offset = bytes + 8192;
	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	if (mroce_pair_open(test))
		return 1;
	list[0] = write;
	list[1] = add;
	list[2] = read;
	for (round = 1; round <= 20; round++) {
		mroce_pattern_fill(a->buf + 4096, bytes - 8, round, 0);
		*word_of(a->buf + 4096 + bytes - 8) = round << 32;
		if (mroce_side_post_list(test, MROCE_A, list, 3) ||
		    mroce_wc_range(test, a->send_cq, 1, 3, IBV_WC_SUCCESS))
			return 1;
		if (*word_of(a->buf) != round << 32)
			return mroce_case_fail(test, "the atomic returned %#lx in round %lu",
					       *word_of(a->buf), round);
		if (*word_of(a->buf + read.offset + bytes - 8) != (round << 32) + 1 ||
		    mroce_pattern_check(a->buf + read.offset, bytes - 8, round, 0) >= 0)
			return mroce_case_fail(test, "the READ missed something in round %lu",
					       round);
	}
	return 0;
}

/* A good one, @req, a good one: @req fails with @status and changes nothing. */
static int refused(struct mroce_test *test, struct mroce_req req, enum ibv_wc_status status,
		   enum ibv_qp_state peer_state)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req good = faa(b, 1, 1);

	test->timing.rd_atomic = 4;
	test->timing.dest_rd_atomic = 4;
	memset(mroce_side_inbox(b), 0, 64);
	memset(a->buf, 0x55, 64);
	req.id = 2;
	req.offset = 16;
	if (mroce_pair_open(test) || mroce_side_post(test, MROCE_A, &good) ||
	    mroce_side_post(test, MROCE_A, &req))
		return 1;
	good.id = 3;
	if (mroce_side_post(test, MROCE_A, &good) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 2, status, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 3, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
	    mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) ||
	    mroce_pair_state(test, MROCE_B, peer_state))
		return 1;
	if (*word_of(mroce_side_inbox(b)) != 1 || *word_of(mroce_side_inbox(b) + 8) ||
	    *word_of(a->buf + 16) != 0x5555555555555555)
		return mroce_case_fail(test, "memory was changed");
	return mroce_pair_close(test);
}

static int atomic_misaligned(struct mroce_test *test)
{
	static const unsigned int off[] = { 1, 4, 7 };
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(off); i++) {
		req = i == 1 ? cas(b, 0, 0, 9) : faa(b, 0, 9);
		req.remote_addr += off[i];
		if (refused(test, req, IBV_WC_REM_INV_REQ_ERR, IBV_QPS_ERR))
			return 1;
	}
	return 0;
}

static int atomic_bad_rkey(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = faa(b, 0, 9);

	req.rkey = BAD_KEY;
	if (refused(test, req, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR))
		return 1;
	req = cas(b, 0, 1, 9);
	req.rkey ^= 1;
	if (refused(test, req, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR))
		return 1;
	/* the word behind the region */
	req = faa(b, 0, 9);
	req.remote_addr = (uintptr_t)b->buf + 2 * MROCE_HALF_BYTES;
	return refused(test, req, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR);
}

static int atomic_no_right(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_mr *mr = ibv_reg_mr(b->dev->pd, mroce_side_inbox(b), 4096,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				       IBV_ACCESS_REMOTE_READ);
	struct mroce_req req = faa(b, 0, 9);
	int failed;

	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	req.rkey = mr->rkey;
	failed = refused(test, req, IBV_WC_REM_ACCESS_ERR, IBV_QPS_ERR);
	ibv_dereg_mr(mr);
	return failed;
}

static int atomic_no_right_on_qp(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = faa(b, 1, 9);

	test->access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	*word_of(mroce_side_inbox(b)) = 1;
	if (mroce_pair_open(test) || mroce_side_post(test, MROCE_A, &req) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_REM_INV_REQ_ERR, MROCE_WAIT_MS) ||
	    mroce_pair_state(test, MROCE_B, IBV_QPS_ERR))
		return 1;
	if (*word_of(mroce_side_inbox(b)) != 1)
		return mroce_case_fail(test, "the word was changed");
	return 0;
}

/* Not room for exactly 8 bytes: a local error, the word stays as it is. */
static int atomic_wrong_length(struct mroce_test *test)
{
	static const uint32_t length[] = { 4, 7, 16, 0 };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = faa(b, 1, 9);
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(length); i++) {
		*word_of(mroce_side_inbox(b)) = 1;
		req.bytes = length[i];
		if (mroce_pair_open(test))
			return 1;
		err = mroce_side_send(a, &req);
		if (err && mroce_case_errno(test, "post_send", err, EINVAL))
			return 1;
		if (!err && mroce_wc_wait(test, a->send_cq, 1, IBV_WC_LOC_LEN_ERR, MROCE_WAIT_MS) &&
		    test->wc.status != IBV_WC_LOC_QP_OP_ERR)
			return 1;
		if (*word_of(mroce_side_inbox(b)) != 1)
			return mroce_case_fail(test, "%u bytes: the word was changed", length[i]);
		if (mroce_pair_close(test))
			return 1;
	}
	return 0;
}

static int atomic_bad_sink(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_mr *mr = ibv_reg_mr(a->dev->pd, a->buf, 4096, 0);
	struct mroce_req req = faa(b, 0, 0);
	int failed;

	if (!mr)
		return mroce_case_errno(test, "reg_mr", errno, 0);
	req.lkey = BAD_KEY;
	failed = refused(test, req, IBV_WC_LOC_PROT_ERR, IBV_QPS_RTS);
	req.lkey = mr->lkey;
	if (!failed)
		failed = refused(test, req, IBV_WC_LOC_PROT_ERR, IBV_QPS_RTS);
	ibv_dereg_mr(mr);
	return failed;
}

const struct mroce_case mroce_cases_atomic[] = {
	{ "atomic_values", atomic_values, MROCE_NEEDS_NOTHING },
	{ "atomic_counts", atomic_counts, MROCE_NEEDS_NOTHING },
	{ "atomic_after_write", atomic_after_write, MROCE_NEEDS_NOTHING },
	{ "atomic_misaligned", atomic_misaligned, MROCE_NEEDS_NOTHING },
	{ "atomic_bad_rkey", atomic_bad_rkey, MROCE_NEEDS_NOTHING },
	{ "atomic_no_right", atomic_no_right, MROCE_NEEDS_NOTHING },
	{ "atomic_no_right_on_qp", atomic_no_right_on_qp, MROCE_NEEDS_NOTHING },
	{ "atomic_wrong_length", atomic_wrong_length, MROCE_NEEDS_NOTHING },
	{ "atomic_bad_sink", atomic_bad_sink, MROCE_NEEDS_NOTHING },
	{ }
};
