// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two connected QPs, posting to them, waiting for their completions. */
#include <arpa/inet.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "qpstate.h"

/**
 * mroce_case_fail - note the reason of a failure
 * @test: running case
 * @fmt: what is wrong
 *
 * Return: 1, for the caller to return.
 */
int mroce_case_fail(struct mroce_test *test, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(test->why, sizeof(test->why), fmt, args);
	va_end(args);
	return 1;
}

/**
 * mroce_case_errno - compare an error number
 * @test: running case
 * @what: the call
 * @got: its errno, 0 = success
 * @expected: likewise
 *
 * Return: 0 if equal, else 1 with the reason noted.
 */
int mroce_case_errno(struct mroce_test *test, const char *what, int got, int expected)
{
	if (got == expected)
		return 0;
	return mroce_case_fail(test, "%s: %s, expected %s", what,
			       got ? strerrorname_np(got) : "success",
			       expected ? strerrorname_np(expected) : "success");
}

/**
 * mroce_case_command - have the script around do something
 * @test: running case; it needs the command, so there is one
 * @which: the command
 */
int mroce_case_command(struct mroce_test *test, enum mroce_command which)
{
	if (!system(test->command[which]))
		return 0;
	return mroce_case_fail(test, "failed: %s", test->command[which]);
}

/**
 * mroce_case_pause - let time pass where time is what the case is about
 * @ms: how long
 */
void mroce_case_pause(unsigned int ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

/**
 * mroce_pair_create_side - one QP in RESET
 * @test: running case
 * @which: side; it has none
 * @send_wr: depth of the send queue
 * @recv_wr: depth of the receive queue
 */
int mroce_pair_create_side(struct mroce_test *test, int which, uint32_t send_wr,
			   uint32_t recv_wr)
{
	struct mroce_side *side = &test->side[which];
	struct ibv_qp_init_attr init = {
		.qp_type = test->qp_type,
		.cap = {
			.max_send_wr = send_wr, .max_recv_wr = recv_wr,
			.max_send_sge = 4, .max_recv_sge = 2, .max_inline_data = 32,
		},
	};

	/* The granted queues may be larger than asked for: leave room for all of them. */
	side->send_cq = ibv_create_cq(side->dev->ctx, 4 * send_wr, NULL, NULL, 0);
	side->recv_cq = ibv_create_cq(side->dev->ctx, 4 * recv_wr, NULL, NULL, 0);
	if (!side->send_cq || !side->recv_cq)
		return mroce_case_errno(test, "create_cq", errno, 0);
	init.send_cq = side->send_cq;
	init.recv_cq = side->recv_cq;
	init.srq = side->srq;
	side->qp = ibv_create_qp(side->dev->pd, &init);
	if (!side->qp)
		return mroce_case_errno(test, "create_qp", errno, 0);
	side->cap = init.cap;
	side->psn = mroce_mix(mroce_clock_ns()) & 0xffffff;
	return 0;
}

/**
 * mroce_pair_create - two QPs in RESET
 * @test: running case
 * @send_wr: depth of the send queues
 * @recv_wr: depth of the receive queues
 */
int mroce_pair_create(struct mroce_test *test, uint32_t send_wr, uint32_t recv_wr)
{
	return mroce_pair_create_side(test, MROCE_A, send_wr, recv_wr) ||
	       mroce_pair_create_side(test, MROCE_B, send_wr, recv_wr);
}

/**
 * mroce_pair_init - both to INIT
 * @test: running case
 */
int mroce_pair_init(struct mroce_test *test)
{
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++)
		err = mroce_qp_to_init(test->side[i].qp, test->access);
	return mroce_case_errno(test, "modify_qp to INIT", err, 0);
}

/**
 * mroce_pair_rtr - one to RTR, connected to the other
 * @test: running case
 * @which: side
 */
int mroce_pair_rtr(struct mroce_test *test, int which)
{
	struct mroce_side *side = &test->side[which], *other = &test->side[!which];
	struct mroce_qp_addr addr = {
		.gid = other->dev->gid, .qpn = other->qp->qp_num, .psn = other->psn,
		.mtu = other->dev->port.active_mtu,
	};

	return mroce_case_errno(test, "modify_qp to RTR",
				mroce_qp_to_rtr(side->qp, side->dev, &addr, &test->timing), 0);
}

/**
 * mroce_pair_rts - one to RTS
 * @test: running case
 * @which: side
 */
int mroce_pair_rts(struct mroce_test *test, int which)
{
	struct mroce_side *side = &test->side[which];

	return mroce_case_errno(test, "modify_qp to RTS",
				mroce_qp_to_rts(side->qp, side->psn, &test->timing), 0);
}

/**
 * mroce_pair_connect - both from RESET to RTS
 * @test: running case
 */
int mroce_pair_connect(struct mroce_test *test)
{
	return mroce_pair_init(test) || mroce_pair_rtr(test, MROCE_A) ||
	       mroce_pair_rtr(test, MROCE_B) || mroce_pair_rts(test, MROCE_A) ||
	       mroce_pair_rts(test, MROCE_B);
}

/**
 * mroce_pair_open - two connected QPs of 16 work requests
 * @test: running case
 */
int mroce_pair_open(struct mroce_test *test)
{
	return mroce_pair_create(test, 16, 16) || mroce_pair_connect(test);
}

/**
 * mroce_pair_state - wait until the QP reports a state
 * @test: running case
 * @which: side
 * @state: expected
 */
int mroce_pair_state(struct mroce_test *test, int which, enum ibv_qp_state state)
{
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { };

	do {
		if (ibv_query_qp(test->side[which].qp, &attr, IBV_QP_STATE, &init))
			return mroce_case_fail(test, "query_qp failed");
		if (attr.qp_state == state)
			return 0;
		sched_yield();
	} while (mroce_clock_ns() < deadline_ns);
	return mroce_case_fail(test, "QP of side %d is in state %d, expected %d", which,
			       attr.qp_state, state);
}

/**
 * mroce_pair_modify - a transition that needs no attributes
 * @test: running case
 * @which: side
 * @state: RESET, SQD or ERR
 */
int mroce_pair_modify(struct mroce_test *test, int which, enum ibv_qp_state state)
{
	char what[32];

	snprintf(what, sizeof(what), "modify_qp to state %d", state);
	return mroce_case_errno(test, what, mroce_qp_to_state(test->side[which].qp, state), 0);
}

static int close_side(struct mroce_side *side)
{
	int err = 0;

	if (side->qp)
		err |= ibv_destroy_qp(side->qp);
	if (side->send_cq)
		err |= ibv_destroy_cq(side->send_cq);
	if (side->recv_cq)
		err |= ibv_destroy_cq(side->recv_cq);
	if (side->srq)
		err |= ibv_destroy_srq(side->srq);
	side->srq = NULL;
	side->qp = NULL;
	side->send_cq = NULL;
	side->recv_cq = NULL;
	return err;
}

/**
 * mroce_pair_close - destroy whatever exists, within two seconds
 * @test: running case
 */
int mroce_pair_close(struct mroce_test *test)
{
	uint64_t start_ns = mroce_clock_ns();
	int err = close_side(&test->side[MROCE_A]);

	err |= close_side(&test->side[MROCE_B]);
	if (err)
		return mroce_case_fail(test, "destroying the objects failed");
	if (mroce_clock_ns() - start_ns > 2000000000ull)
		return mroce_case_fail(test, "destroying the objects took more than 2 s");
	return 0;
}

/**
 * mroce_pair_ping - one SEND and one WRITE from A to B arrive
 * @test: running case
 */
int mroce_pair_ping(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req write = {
		.id = 0x71, .opcode = IBV_WR_RDMA_WRITE, .bytes = 5000, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b) + 8192,
	};
	uint64_t key = mroce_mix(mroce_clock_ns());

	mroce_pattern_fill(a->buf, 5000, key, 0);
	if (mroce_side_recvs(test, MROCE_B, 0x70, 1, 5000) ||
	    mroce_case_errno(test, "post_send", mroce_side_send(a, &write), 0) ||
	    mroce_side_sends(test, MROCE_A, 0x72, 1, 5000) ||
	    mroce_wc_wait(test, a->send_cq, 0x71, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, a->send_cq, 0x72, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, b->recv_cq, 0x70, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (mroce_pattern_check(mroce_side_inbox(b), 5000, key, 0) >= 0 ||
	    mroce_pattern_check(mroce_side_inbox(b) + 8192, 5000, key, 0) >= 0)
		return mroce_case_fail(test, "wrong bytes arrived");
	return 0;
}

/**
 * mroce_side_inbox - memory to receive into
 * @side: of the pair
 */
uint8_t *mroce_side_inbox(struct mroce_side *side)
{
	return side->buf + MROCE_HALF_BYTES;
}

static void fill_wr(const struct mroce_side *side, const struct mroce_req *req,
		    struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge){
		.addr = (uintptr_t)side->buf + req->offset, .length = req->bytes,
		.lkey = req->lkey ? req->lkey : side->mr->lkey,
	};
	*wr = (struct ibv_send_wr){
		.wr_id = req->id, .opcode = req->opcode, .sg_list = sge,
		.num_sge = !!req->bytes, .imm_data = htonl(req->imm),
		.send_flags = req->flags | (req->unsignaled ? 0 : IBV_SEND_SIGNALED),
	};
	if (req->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	    req->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.remote_addr = req->remote_addr;
		wr->wr.atomic.rkey = req->rkey;
		wr->wr.atomic.compare_add = req->compare_add;
		wr->wr.atomic.swap = req->swap;
	} else {
		wr->wr.rdma.remote_addr = req->remote_addr;
		wr->wr.rdma.rkey = req->rkey;
	}
}

/**
 * mroce_side_send - post a send work request
 * @side: of the pair
 * @req: the request
 *
 * Return: errno of post_send.
 */
int mroce_side_send(struct mroce_side *side, const struct mroce_req *req)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	fill_wr(side, req, &wr, &sge);
	return ibv_post_send(side->qp, &wr, &bad);
}

/**
 * mroce_side_recv - post a receive into the start of the inbox
 * @side: of the pair
 * @id: wr_id
 * @bytes: 0 = no memory at all
 *
 * Return: errno of post_recv.
 */
int mroce_side_recv(struct mroce_side *side, uint64_t id, uint32_t bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mroce_side_inbox(side), .length = bytes, .lkey = side->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = id, .sg_list = bytes ? &sge : NULL, .num_sge = !!bytes,
	}, *bad;

	return ibv_post_recv(side->qp, &wr, &bad);
}

/**
 * mroce_side_post - post a send work request that must be taken
 * @test: running case
 * @which: side
 * @req: the request
 */
int mroce_side_post(struct mroce_test *test, int which, const struct mroce_req *req)
{
	return mroce_case_errno(test, "post_send", mroce_side_send(&test->side[which], req), 0);
}

/**
 * mroce_side_post_list - post several in one call, so that they are under way together
 * @test: running case
 * @which: side
 * @req: the requests
 * @count: how many, 1 to MROCE_LIST_MAX
 *
 * A software device may well have done a request when the call that posts it returns.
 */
int mroce_side_post_list(struct mroce_test *test, int which, const struct mroce_req *req,
			 unsigned int count)
{
	struct ibv_send_wr wr[MROCE_LIST_MAX], *bad;
	struct mroce_side *side = &test->side[which];
	struct ibv_sge sge[MROCE_LIST_MAX];
	unsigned int i;

	for (i = 0; i < count; i++) {
		fill_wr(side, &req[i], &wr[i], &sge[i]);
		wr[i].next = i + 1 < count ? &wr[i + 1] : NULL;
	}
	return mroce_case_errno(test, "post_send", ibv_post_send(side->qp, wr, &bad), 0);
}

/**
 * mroce_side_sends - post several signaled SENDs
 * @test: running case
 * @which: side
 * @first_id: wr_id of the first, they count up
 * @count: how many
 * @bytes: of each
 */
int mroce_side_sends(struct mroce_test *test, int which, uint64_t first_id, unsigned int count,
		     uint32_t bytes)
{
	struct mroce_req req = { .opcode = IBV_WR_SEND, .bytes = bytes };
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++) {
		req.id = first_id + i;
		err = mroce_side_send(&test->side[which], &req);
	}
	return mroce_case_errno(test, "post_send", err, 0);
}

/**
 * mroce_side_recvs - post several receives
 * @test: running case
 * @which: side
 * @first_id: wr_id of the first, they count up
 * @count: how many
 * @bytes: of each
 */
int mroce_side_recvs(struct mroce_test *test, int which, uint64_t first_id, unsigned int count,
		     uint32_t bytes)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < count && !err; i++)
		err = mroce_side_recv(&test->side[which], first_id + i, bytes);
	return mroce_case_errno(test, "post_recv", err, 0);
}

/**
 * mroce_wc_wait - the next completion must be this one
 * @test: running case; its wc is filled in
 * @cq: where
 * @id: expected wr_id
 * @status: expected status
 * @wait_ms: how long to wait for it
 */
int mroce_wc_wait(struct mroce_test *test, struct ibv_cq *cq, uint64_t id,
		  enum ibv_wc_status status, unsigned int wait_ms)
{
	uint64_t deadline_ns = mroce_clock_ns() + wait_ms * 1000000ull;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &test->wc))) {
		if (mroce_clock_ns() > deadline_ns)
			return mroce_case_fail(test, "no completion of %#lx within %u ms", id,
					       wait_ms);
		sched_yield();
	}
	if (n < 0)
		return mroce_case_fail(test, "poll_cq failed");
	if (test->wc.wr_id != id || test->wc.status != status)
		return mroce_case_fail(test, "completion %#lx '%s', expected %#lx '%s'",
				       test->wc.wr_id, ibv_wc_status_str(test->wc.status), id,
				       ibv_wc_status_str(status));
	return 0;
}

/**
 * mroce_wc_range - the next completions must be these
 * @test: running case
 * @cq: where
 * @first_id: wr_id of the first, they count up
 * @count: how many
 * @status: of each
 */
int mroce_wc_range(struct mroce_test *test, struct ibv_cq *cq, uint64_t first_id,
		   unsigned int count, enum ibv_wc_status status)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (mroce_wc_wait(test, cq, first_id + i, status, MROCE_WAIT_MS))
			return 1;
	}
	return 0;
}

/**
 * mroce_wc_none - no completion may come
 * @test: running case
 * @cq: where
 * @wait_ms: how long to watch, 0 = look once
 */
int mroce_wc_none(struct mroce_test *test, struct ibv_cq *cq, unsigned int wait_ms)
{
	uint64_t deadline_ns = mroce_clock_ns() + wait_ms * 1000000ull;

	do {
		if (ibv_poll_cq(cq, 1, &test->wc))
			return mroce_case_fail(test, "unexpected completion %#lx '%s'",
					       test->wc.wr_id, ibv_wc_status_str(test->wc.status));
		sched_yield();
	} while (mroce_clock_ns() < deadline_ns);
	return 0;
}
