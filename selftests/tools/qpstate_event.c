// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Asynchronous events: who gets which, when. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qpstate.h"

/* Is it the object, or any if that is NULL? */
static bool is_about(const struct ibv_async_event *event, const void *element)
{
	if (!element)
		return true;
	if (event->event_type == IBV_EVENT_CQ_ERR)
		return event->element.cq == element;
	if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
		return event->element.srq == element;
	return event->element.qp == element;
}

/* Takes events until there is the wished one. Return: whether it came. */
static bool look_for(struct mroce_side *side, enum ibv_event_type type, const void *element,
		     unsigned int wait_ms)
{
	struct pollfd pfd = { .fd = side->dev->ctx->async_fd, .events = POLLIN };
	uint64_t now_ns = mroce_clock_ns(), deadline_ns = now_ns + wait_ms * 1000000ull;
	struct ibv_async_event event;
	bool found = false;

	for (; !found && now_ns <= deadline_ns; now_ns = mroce_clock_ns()) {
		if (poll(&pfd, 1, (deadline_ns - now_ns) / 1000000) <= 0)
			break;
		if (ibv_get_async_event(side->dev->ctx, &event))
			break;
		found = event.event_type == type && is_about(&event, element);
		ibv_ack_async_event(&event);
	}
	return found;
}

/**
 * mroce_event_drop - forget the events there are
 * @side: whose device
 */
void mroce_event_drop(struct mroce_side *side)
{
	struct pollfd pfd = { .fd = side->dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&pfd, 1, 0) > 0 && !ibv_get_async_event(side->dev->ctx, &event))
		ibv_ack_async_event(&event);
}

/**
 * mroce_event_wait - an event must come; others before it are dropped
 * @test: running case
 * @side: whose device
 * @type: which event
 * @element: the QP, CQ or SRQ it must be about, NULL = any
 */
int mroce_event_wait(struct mroce_test *test, struct mroce_side *side, enum ibv_event_type type,
		     const void *element)
{
	if (look_for(side, type, element, MROCE_WAIT_MS))
		return 0;
	return mroce_case_fail(test, "no event '%s'", ibv_event_type_str(type));
}

/**
 * mroce_event_none - no event of a type may come; all are dropped
 * @test: running case
 * @side: whose device
 * @type: which event
 * @wait_ms: how long to watch, 0 = look once
 */
int mroce_event_none(struct mroce_test *test, struct mroce_side *side, enum ibv_event_type type,
		     unsigned int wait_ms)
{
	if (!look_for(side, type, NULL, wait_ms))
		return 0;
	return mroce_case_fail(test, "unexpected event '%s'", ibv_event_type_str(type));
}

/* Told to a responder that had no other way to know; not to the one that is in RTS. */
static int event_comm_est(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	if (mroce_pair_create(test, 16, 16) || mroce_pair_init(test) ||
	    mroce_side_recvs(test, MROCE_B, 200, 4, 64) || mroce_pair_rtr(test, MROCE_A) ||
	    mroce_pair_rtr(test, MROCE_B) || mroce_pair_rts(test, MROCE_A) ||
	    mroce_event_none(test, b, IBV_EVENT_COMM_EST, 20) ||
	    mroce_side_sends(test, MROCE_A, 1, 2, 64) ||
	    mroce_wc_range(test, b->recv_cq, 200, 2, IBV_WC_SUCCESS) ||
	    mroce_event_wait(test, b, IBV_EVENT_COMM_EST, b->qp) || mroce_pair_rts(test, MROCE_B))
		return 1;
	return mroce_side_sends(test, MROCE_A, 3, 2, 64) ||
	       mroce_wc_range(test, b->recv_cq, 202, 2, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, a->send_cq, 1, 4, IBV_WC_SUCCESS) ||
	       mroce_event_none(test, b, IBV_EVENT_COMM_EST, 20);
}

/* @req fails at the requester with @status, the responder is told by @type. */
static int responder_event(struct mroce_test *test, const struct mroce_req *req,
			   enum ibv_wc_status status, enum ibv_event_type type)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	return mroce_pair_open(test) || mroce_event_none(test, b, type, 0) ||
	       mroce_side_post(test, MROCE_A, req) ||
	       mroce_wc_wait(test, a->send_cq, req->id, status, MROCE_WAIT_MS) ||
	       mroce_event_wait(test, b, type, b->qp) || mroce_event_none(test, b, type, 20) ||
	       mroce_pair_state(test, MROCE_B, IBV_QPS_ERR) || mroce_pair_close(test);
}

static int event_access_error(struct mroce_test *test)
{
	static const enum ibv_wr_opcode opcode[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD
	};
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.id = 1, .bytes = 8, .rkey = b->mr->rkey ^ 1,
		.remote_addr = (uintptr_t)mroce_side_inbox(b),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcode); i++) {
		req.opcode = opcode[i];
		if (responder_event(test, &req, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR))
			return 1;
	}
	return 0;
}

static int event_request_error(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct mroce_req req = {
		.id = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .bytes = 8, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b) + 4,
	};

	if (responder_event(test, &req, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR))
		return 1;
	req.opcode = IBV_WR_RDMA_WRITE;
	test->access = IBV_ACCESS_LOCAL_WRITE;
	return responder_event(test, &req, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

/* The own QP's errors come as completions, the path's trouble is no event at all. */
static int no_event_without_reason(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req req = { .id = 1, .opcode = IBV_WR_SEND, .bytes = 64, .lkey = 1 };

	return mroce_pair_open(test) || mroce_pair_ping(test) ||
	       mroce_side_post(test, MROCE_A, &req) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_LOC_PROT_ERR, MROCE_WAIT_MS) ||
	       mroce_pair_modify(test, MROCE_B, IBV_QPS_ERR) ||
	       mroce_event_none(test, a, IBV_EVENT_QP_FATAL, 50) ||
	       mroce_event_none(test, b, IBV_EVENT_QP_FATAL, 50);
}

/* More completions than it was made for, nobody takes them. */
static int event_cq_overflow(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 64, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct ibv_cq *cq = ibv_create_cq(a->dev->ctx, 4, NULL, NULL, 0);
	struct mroce_req req = { .opcode = IBV_WR_RDMA_WRITE };
	int failed;

	if (!cq || cq->cqe >= 60)
		return mroce_case_fail(test, "no small CQ");
	if (mroce_pair_create_side(test, MROCE_B, 16, 16))
		return 1;
	init.send_cq = cq;
	init.recv_cq = cq;
	a->qp = ibv_create_qp(a->dev->pd, &init);
	if (!a->qp)
		return mroce_case_errno(test, "create_qp", errno, 0);
	failed = mroce_pair_connect(test);
	/* as many as it holds are no overflow */
	for (req.id = 0; req.id < (uint64_t)cq->cqe && !failed; req.id++)
		failed = mroce_side_post(test, MROCE_A, &req);
	if (!failed)
		failed = mroce_event_none(test, a, IBV_EVENT_CQ_ERR, 50);
	for (; req.id < 64 && !failed; req.id++)
		failed = mroce_side_post(test, MROCE_A, &req);
	if (!failed)
		failed = mroce_event_wait(test, a, IBV_EVENT_CQ_ERR, cq);
	ibv_destroy_qp(a->qp);
	a->qp = NULL;
	return mroce_case_errno(test, "destroy_cq", ibv_destroy_cq(cq), 0) || failed;
}

static int wait_port(struct mroce_test *test, enum ibv_port_state state)
{
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	struct ibv_port_attr port = { };

	do {
		if (ibv_query_port(test->side[MROCE_A].dev->ctx, 1, &port))
			return mroce_case_fail(test, "query_port failed");
		if (port.state == state)
			return 0;
		mroce_case_pause(5);
	} while (mroce_clock_ns() < deadline_ns);
	return mroce_case_fail(test, "port state %d, expected %d", port.state, state);
}

/* Until our address has its old place in the table */
static int wait_gid(struct mroce_test *test, int index)
{
	const struct mroce_dev *dev = test->side[MROCE_A].dev;
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	union ibv_gid gid;

	do {
		if (!ibv_query_gid(dev->ctx, 1, index, &gid) &&
		    !memcmp(&gid, &dev->gid, sizeof(gid)))
			return 0;
		mroce_case_pause(5);
	} while (mroce_clock_ns() < deadline_ns);
	return mroce_case_fail(test, "the address did not come back");
}

static int event_port(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];

	mroce_event_drop(a);
	if (mroce_case_command(test, MROCE_DOWN) ||
	    mroce_event_wait(test, a, IBV_EVENT_PORT_ERR, NULL) ||
	    wait_port(test, IBV_PORT_DOWN) ||
	    mroce_event_none(test, a, IBV_EVENT_PORT_ACTIVE, 50) ||
	    mroce_case_command(test, MROCE_UP) ||
	    mroce_event_wait(test, a, IBV_EVENT_PORT_ACTIVE, NULL) ||
	    wait_port(test, IBV_PORT_ACTIVE) || wait_gid(test, a->dev->gid_index))
		return 1;
	return mroce_pair_open(test) || mroce_pair_ping(test);
}

/* How many addresses the port has */
static int count_gids(struct mroce_side *side)
{
	static const union ibv_gid none;
	struct ibv_gid_entry entry;
	int i, n = 0;

	for (i = 0; i < side->dev->port.gid_tbl_len; i++)
		n += !ibv_query_gid_ex(side->dev->ctx, 1, i, &entry, 0) &&
		     memcmp(&entry.gid, &none, sizeof(none));
	return n;
}

/* The command changes the number of addresses to @expected, an event says so. */
static int change_gids(struct mroce_test *test, enum mroce_command command, int expected)
{
	struct mroce_side *a = &test->side[MROCE_A];
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;

	/* one address may be several entries, each with an event */
	mroce_case_pause(50);
	mroce_event_drop(a);
	if (mroce_case_command(test, command) ||
	    mroce_event_wait(test, a, IBV_EVENT_GID_CHANGE, NULL))
		return 1;
	while (count_gids(a) != expected) {
		if (mroce_clock_ns() > deadline_ns)
			return mroce_case_fail(test, "%d addresses instead of %d", count_gids(a),
					       expected);
		mroce_case_pause(5);
	}
	return 0;
}

static int event_gid_change(struct mroce_test *test)
{
	int before = count_gids(&test->side[MROCE_A]);

	return change_gids(test, MROCE_ADD, before + 1) || change_gids(test, MROCE_DEL, before);
}

#define RING_MAPS_MAX 32
/* Where a program may only break its own queue pair, as mroce says who it is */
#define MROCE_VENDOR 0x4d5243

/* Start addresses of what is mapped of verbs devices; how many */
static unsigned int ring_maps(uintptr_t *start, unsigned int max)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int n = 0;
	char line[512];

	while (maps && n < max && fgets(line, sizeof(line), maps)) {
		if (strstr(line, "uverbs"))
			start[n++] = strtoul(line, NULL, 16);
	}
	if (maps)
		fclose(maps);
	return n;
}

/* Move the producer index of every ring mapped since @old to where it cannot be. */
static int break_new_rings(struct mroce_test *test, const uintptr_t *old, unsigned int n_old)
{
	uintptr_t now[RING_MAPS_MAX];
	unsigned int n = ring_maps(now, RING_MAPS_MAX), i, j, broken = 0;

	for (i = 0; i < n; i++) {
		for (j = 0; j < n_old && old[j] != now[i]; j++)
			;
		if (j < n_old)
			continue;
		*(volatile uint32_t *)now[i] += 0x40000000;
		broken++;
	}
	return broken ? 0 : mroce_case_fail(test, "no new ring is mapped");
}

/* A ring that its owner has broken: his queue pair fails, he is told, others live. */
static int event_qp_fatal(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	uintptr_t old[RING_MAPS_MAX];
	unsigned int n = ring_maps(old, RING_MAPS_MAX);
	int err;

	if (a->dev->attr.vendor_id != MROCE_VENDOR)
		return 0;
	if (mroce_pair_open(test))
		return 1;
	/* The kernel looks at the ring when there may be work in it. */
	err = mroce_qp_to_state(a->qp, IBV_QPS_SQD);
	if (err)
		return mroce_case_errno(test, "RTS to SQD", err, 0);
	if (break_new_rings(test, old, n))
		return 1;
	err = mroce_qp_to_state(a->qp, IBV_QPS_RTS);
	if (err)
		return mroce_case_errno(test, "SQD to RTS", err, 0);
	return mroce_event_wait(test, a, IBV_EVENT_QP_FATAL, a->qp) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) || mroce_pair_close(test);
}

const struct mroce_case mroce_cases_event[] = {
	{ "event_comm_est", event_comm_est, MROCE_NEEDS_NOTHING },
	{ "event_access_error", event_access_error, MROCE_NEEDS_NOTHING },
	{ "event_request_error", event_request_error, MROCE_NEEDS_NOTHING },
	{ "no_event_without_reason", no_event_without_reason, MROCE_NEEDS_NOTHING },
	{ "event_qp_fatal", event_qp_fatal, MROCE_NEEDS_NOTHING },
	{ "event_cq_overflow", event_cq_overflow, MROCE_NEEDS_NOTHING },
	{ "event_port", event_port, MROCE_NEEDS_NETDEV },
	{ "event_gid_change", event_gid_change, MROCE_NEEDS_NETDEV },
	{ }
};
