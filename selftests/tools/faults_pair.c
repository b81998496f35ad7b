// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_faults: states of queue pairs, posting, events. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

#define A 0
#define B 1

#define PSN		1000
#define BUF_BYTES	MROCE_FAULTS_BUF_BYTES
#define LONG_BYTES	(256 << 10)
#define WAIT_NS		30000000000ull
#define ALL_ATTRIBUTES	(2 * IBV_QP_DEST_QPN - 1)

static const struct mroce_qp_timing timing = {
	.timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1,
	.rd_atomic = 4, .dest_rd_atomic = 2,
};

/* ---- the standing pair ------------------------------------------------------------------- */
/**
 * mroce_side_qp - a queue pair in RESET
 * @f: state
 * @side: of which device
 *
 * Return: it, or NULL and errno.
 */
struct ibv_qp *mroce_side_qp(struct mroce_faults *f, int side)
{
	struct ibv_qp_init_attr init = {
		.send_cq = f->side_cq[side], .recv_cq = f->side_cq[side],
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(f->dev[side].pd, &init);
}

static int to_rtr(struct mroce_faults *f, struct ibv_qp *qp, int side, uint32_t far_qpn)
{
	struct mroce_qp_addr far = {
		.gid = f->dev[!side].gid, .qpn = far_qpn, .psn = PSN, .mtu = IBV_MTU_4096,
	};

	return mroce_qp_to_rtr(qp, &f->dev[side], &far, &timing);
}

/**
 * mroce_side_rts - from RESET to RTS
 * @f: state
 * @qp: queue pair
 * @side: of which device
 * @far_qpn: number of its peer, on the other device
 *
 * Return: 0 or an errno.
 */
int mroce_side_rts(struct mroce_faults *f, struct ibv_qp *qp, int side, uint32_t far_qpn)
{
	return mroce_qp_to_init(qp, MROCE_FAULTS_ACCESS) ?: to_rtr(f, qp, side, far_qpn) ?:
	       mroce_qp_to_rts(qp, PSN, &timing);
}

/**
 * mroce_side_open - completion queues, memory, and a connected pair
 * @f: state, its devices are open
 *
 * Return: 0 or -1.
 */
int mroce_side_open(struct mroce_faults *f)
{
	int side;

	for (side = A; side <= B; side++) {
		f->side_buf[side] = aligned_alloc(4096, BUF_BYTES);
		if (!f->side_buf[side])
			return -1;
		memset(f->side_buf[side], 1, BUF_BYTES);
		f->side_mr[side] = ibv_reg_mr(f->dev[side].pd, f->side_buf[side], BUF_BYTES,
					      MROCE_FAULTS_ACCESS);
		f->side_cq[side] = ibv_create_cq(f->dev[side].ctx, 256, NULL, NULL, 0);
		if (!f->side_mr[side] || !f->side_cq[side])
			return -1;
		f->pair[side] = mroce_side_qp(f, side);
		if (!f->pair[side])
			return -1;
	}
	for (side = A; side <= B; side++)
		if (mroce_side_rts(f, f->pair[side], side, f->pair[!side]->qp_num))
			return mroce_complain("cannot connect");
	return 0;
}

/**
 * mroce_side_close - undo mroce_side_open()
 * @f: state
 */
void mroce_side_close(struct mroce_faults *f)
{
	int side;

	for (side = A; side <= B; side++) {
		ibv_destroy_qp(f->pair[side]);
		ibv_destroy_cq(f->side_cq[side]);
		ibv_dereg_mr(f->side_mr[side]);
	}
}

/* ---- states ------------------------------------------------------------------------------ */
static int note(struct mroce_faults *f)
{
	struct ibv_qp_init_attr init;

	memset(&f->before, 0, sizeof(f->before));
	return ibv_query_qp(f->qp, &f->before, ALL_ATTRIBUTES, &init);
}

static int is_as_before(struct mroce_faults *f)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr now = {};

	if (ibv_query_qp(f->qp, &now, ALL_ATTRIBUTES, &init))
		return mroce_complain("cannot query");
	if (now.qp_state != f->before.qp_state)
		return mroce_complain("state %d before, %d now", f->before.qp_state, now.qp_state);
	if (memcmp(&now, &f->before, sizeof(now)))
		return mroce_complain("other attributes than before");
	return 0;
}

/* A new queue pair in a state */
static int have(struct mroce_faults *f, enum ibv_qp_state state)
{
	f->qp = mroce_side_qp(f, A);
	if (!f->qp || (state >= IBV_QPS_INIT && mroce_qp_to_init(f->qp, MROCE_FAULTS_ACCESS)) ||
	    (state >= IBV_QPS_RTR && to_rtr(f, f->qp, A, f->pair[B]->qp_num)) ||
	    (state >= IBV_QPS_RTS && mroce_qp_to_rts(f->qp, PSN, &timing)) ||
	    (state >= IBV_QPS_SQD && mroce_qp_to_state(f->qp, IBV_QPS_SQD)))
		return -1;
	return note(f);
}

static int have_reset(struct mroce_faults *f)
{
	return have(f, IBV_QPS_RESET);
}

static int have_init(struct mroce_faults *f)
{
	return have(f, IBV_QPS_INIT);
}

static int have_rtr(struct mroce_faults *f)
{
	return have(f, IBV_QPS_RTR);
}

static int have_rts(struct mroce_faults *f)
{
	return have(f, IBV_QPS_RTS);
}

static int have_sqd(struct mroce_faults *f)
{
	return have(f, IBV_QPS_SQD);
}

static int drop_qp(struct mroce_faults *f)
{
	return ibv_destroy_qp(f->qp);
}

/**
 * mroce_side_destroy_qp - destroy @f->qp, of which there were @f->count
 * @f: state
 *
 * The answer comes after the deed, and may be what cannot be copied.
 *
 * Return: 0 or an errno.
 */
int mroce_side_destroy_qp(struct mroce_faults *f)
{
	int err = drop_qp(f);

	mroce_inject_end();
	return err == EFAULT && mroce_resources_count(f->nl, "qp") < f->count ? 0 : err;
}

static int have_counted_rts(struct mroce_faults *f)
{
	int err = have(f, IBV_QPS_RTS);

	f->count = mroce_resources_count(f->nl, "qp");
	return err;
}

/* It has this state, and is dropped. */
static int drop_from(struct mroce_faults *f, enum ibv_qp_state state)
{
	if (note(f) || f->before.qp_state != state)
		return mroce_complain("state %d, not %d", f->before.qp_state, state);
	return drop_qp(f);
}

static int drop_init(struct mroce_faults *f)
{
	return drop_from(f, IBV_QPS_INIT);
}

static int drop_rtr(struct mroce_faults *f)
{
	return drop_from(f, IBV_QPS_RTR);
}

static int drop_rts(struct mroce_faults *f)
{
	return drop_from(f, IBV_QPS_RTS);
}

static int drop_sqd(struct mroce_faults *f)
{
	return drop_from(f, IBV_QPS_SQD);
}

static int drop_error(struct mroce_faults *f)
{
	return drop_from(f, IBV_QPS_ERR);
}

static int drop_reset(struct mroce_faults *f)
{
	return drop_from(f, IBV_QPS_RESET);
}

static int modify_init(struct mroce_faults *f)
{
	return mroce_qp_to_init(f->qp, MROCE_FAULTS_ACCESS);
}

/* To a peer nobody has talked to: 10.10.x.y, where there is nobody. */
static int modify_rtr_first(struct mroce_faults *f)
{
	struct mroce_qp_addr far = {
		.gid = f->dev[B].gid, .qpn = 77, .psn = PSN, .mtu = IBV_MTU_1024,
	};

	far.gid.raw[13] = 10;
	far.gid.raw[14] = 1 + f->round / 250;
	far.gid.raw[15] = 1 + f->round % 250;
	return mroce_qp_to_rtr(f->qp, &f->dev[A], &far, &timing);
}

static int modify_rtr_second(struct mroce_faults *f)
{
	return to_rtr(f, f->qp, A, f->pair[B]->qp_num);
}

static int modify_rts(struct mroce_faults *f)
{
	return mroce_qp_to_rts(f->qp, PSN, &timing);
}

static int modify_sqd(struct mroce_faults *f)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	return ibv_modify_qp(f->qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static int modify_resize(struct mroce_faults *f)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .max_dest_rd_atomic = 16 };

	return ibv_modify_qp(f->qp, &attr, IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC);
}

static int drop_resized(struct mroce_faults *f)
{
	if (note(f) || f->before.max_dest_rd_atomic != 16)
		return mroce_complain("not resized");
	return drop_qp(f);
}

static int modify_back(struct mroce_faults *f)
{
	return mroce_qp_to_state(f->qp, IBV_QPS_RTS);
}

static int modify_error(struct mroce_faults *f)
{
	return mroce_qp_to_state(f->qp, IBV_QPS_ERR);
}

static int modify_reset(struct mroce_faults *f)
{
	return mroce_qp_to_state(f->qp, IBV_QPS_RESET);
}

/* ---- posting ----------------------------------------------------------------------------- */
static int wait_completion(struct mroce_faults *f, int side, enum ibv_wc_status status)
{
	uint64_t deadline_ns = mroce_clock_ns() + WAIT_NS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(f->side_cq[side], 1, &wc)) && mroce_clock_ns() < deadline_ns)
		sched_yield();
	if (n != 1)
		return mroce_complain("no completion at %c", "AB"[side]);
	if (wc.status != status)
		return mroce_complain("completion: %s", ibv_wc_status_str(wc.status));
	if (wc.wr_id != f->round)
		return mroce_complain("another completion than that");
	return 0;
}

static int no_completion(struct mroce_faults *f)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(f->side_cq[A], 1, &wc) || ibv_poll_cq(f->side_cq[B], 1, &wc))
		return mroce_complain("one completion too many");
	return 0;
}

static int post_receive(struct mroce_faults *f, struct ibv_qp *qp, int side)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)f->side_buf[side], .length = LONG_BYTES,
		.lkey = f->side_mr[side]->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = f->round, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

static int prepare_data(struct mroce_faults *f)
{
	mroce_pattern_fill(f->side_buf[A], LONG_BYTES, f->round, 0);
	mroce_pattern_fill(f->side_buf[B], LONG_BYTES, ~f->round, 0);
	return 0;
}

static int prepare_send(struct mroce_faults *f)
{
	return prepare_data(f) ?: post_receive(f, f->pair[B], B);
}

static int post(struct mroce_faults *f, enum ibv_wr_opcode opcode, uint32_t bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)f->side_buf[A], .length = bytes,
		.lkey = f->side_mr[A]->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = f->round, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)f->side_buf[B];
		wr.wr.atomic.rkey = f->side_mr[B]->rkey;
		wr.wr.atomic.compare_add = 1;
	} else if (opcode != IBV_WR_SEND) {
		wr.wr.rdma.remote_addr = (uintptr_t)f->side_buf[B];
		wr.wr.rdma.rkey = f->side_mr[B]->rkey;
	}
	return ibv_post_send(f->pair[A], &wr, &bad);
}

static int post_send(struct mroce_faults *f)
{
	return post(f, IBV_WR_SEND, LONG_BYTES);
}

static int post_write(struct mroce_faults *f)
{
	return post(f, IBV_WR_RDMA_WRITE, LONG_BYTES);
}

static int post_read(struct mroce_faults *f)
{
	return post(f, IBV_WR_RDMA_READ, LONG_BYTES);
}

static int post_atomic(struct mroce_faults *f)
{
	return post(f, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
}

/* Once and whole, and the pattern of the side it comes from */
static int is_there(struct mroce_faults *f, int at, uint64_t key, bool received)
{
	if (wait_completion(f, A, IBV_WC_SUCCESS) ||
	    (received && wait_completion(f, B, IBV_WC_SUCCESS)) || no_completion(f))
		return -1;
	if (mroce_pattern_check(f->side_buf[at], LONG_BYTES, key, 0) >= 0)
		return mroce_complain("wrong data");
	return 0;
}

static int is_sent(struct mroce_faults *f)
{
	return is_there(f, B, f->round, true);
}

static int is_written(struct mroce_faults *f)
{
	return is_there(f, B, f->round, false);
}

static int is_read(struct mroce_faults *f)
{
	return is_there(f, A, ~f->round, false);
}

/* B's word is one more than the answer, which is what it was. */
static int is_added(struct mroce_faults *f)
{
	uint64_t *word = (uint64_t *)f->side_buf[B], *answer = (uint64_t *)f->side_buf[A];

	if (wait_completion(f, A, IBV_WC_SUCCESS) || no_completion(f))
		return -1;
	if (*word != *answer + 1)
		return mroce_complain("added more than once, or never");
	--*word;
	if (mroce_pattern_check(word, 8, ~f->round, 0) >= 0)
		return mroce_complain("another word than that");
	return 0;
}

static int have_error(struct mroce_faults *f)
{
	return have(f, IBV_QPS_INIT) ?: mroce_qp_to_state(f->qp, IBV_QPS_ERR);
}

static int post_flushed(struct mroce_faults *f)
{
	return post_receive(f, f->qp, A);
}

static int is_flushed(struct mroce_faults *f)
{
	return wait_completion(f, A, IBV_WC_WR_FLUSH_ERR) ?: no_completion(f) ?: drop_error(f);
}

/* ---- events ------------------------------------------------------------------------------ */
static bool is_waiting(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

static int forget_events(struct mroce_faults *f)
{
	struct ibv_async_event event;

	while (is_waiting(f->dev[A].ctx->async_fd)) {
		if (ibv_get_async_event(f->dev[A].ctx, &event))
			return -1;
		ibv_ack_async_event(&event);
	}
	return 0;
}

/* The core has no other way than to forget an event there is no memory for. */
static int drop_drained(struct mroce_faults *f)
{
	bool lost = mroce_inject_end();

	if (!lost && !is_waiting(f->dev[A].ctx->async_fd))
		return mroce_complain("no event");
	return forget_events(f) ?: drop_sqd(f);
}

static int have_async_event(struct mroce_faults *f)
{
	return forget_events(f) ?: have_rts(f) ?: modify_sqd(f);
}

static int get_async_event(struct mroce_faults *f)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(f->dev[A].ctx, &event))
		return errno;
	if (event.event_type != IBV_EVENT_SQ_DRAINED || event.element.qp != f->qp)
		return mroce_complain("another event");
	ibv_ack_async_event(&event);
	return 0;
}

/* What could not be copied is gone, but counted: destroying the object waits for it. */
static int get_async_event_again(struct mroce_faults *f)
{
	struct ibv_async_event event = {
		.event_type = IBV_EVENT_SQ_DRAINED, .element.qp = f->qp,
	};

	if (is_waiting(f->dev[A].ctx->async_fd))
		return get_async_event(f);
	ibv_ack_async_event(&event);
	return 0;
}

/* A flushed receive raises one. */
static int have_cq_event(struct mroce_faults *f)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_recv_wr = 1, .max_recv_sge = 1 }, .qp_type = IBV_QPT_RC,
	};

	f->channel = ibv_create_comp_channel(f->dev[A].ctx);
	f->cq = f->channel ? ibv_create_cq(f->dev[A].ctx, 1, NULL, f->channel, 0) : NULL;
	init.send_cq = f->cq;
	init.recv_cq = f->cq;
	f->qp = f->cq ? ibv_create_qp(f->dev[A].pd, &init) : NULL;
	if (!f->qp || ibv_req_notify_cq(f->cq, 0) || mroce_qp_to_init(f->qp, MROCE_FAULTS_ACCESS) ||
	    mroce_qp_to_state(f->qp, IBV_QPS_ERR) || post_receive(f, f->qp, A))
		return -1;
	return is_waiting(f->channel->fd) ? 0 : mroce_complain("no event");
}

static int get_cq_event(struct mroce_faults *f)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(f->channel, &cq, &context))
		return errno;
	if (cq != f->cq)
		return mroce_complain("another event");
	ibv_ack_cq_events(f->cq, 1);
	return 0;
}

static int get_cq_event_again(struct mroce_faults *f)
{
	if (is_waiting(f->channel->fd))
		return get_cq_event(f);
	ibv_ack_cq_events(f->cq, 1);
	return 0;
}

static int drop_cq_event(struct mroce_faults *f)
{
	return ibv_destroy_qp(f->qp) ?: ibv_destroy_cq(f->cq) ?:
	       ibv_destroy_comp_channel(f->channel);
}

#define MODIFY(n, from, to) { .name = "modify_" #n, .prepare = have_ ## from, \
	.call = modify_ ## n, .check = is_as_before, .undo = drop_ ## to }
#define POST(n, ready, done) { .name = "post_" #n, .prepare = ready, .call = post_ ## n, \
	.undo = done, .flags = MROCE_OP_NEVER_FAILS, .least_bytes = 512 }

const struct mroce_op mroce_pair_ops[] = {
	MODIFY(init, reset, init),
	MODIFY(rtr_first, init, rtr),
	MODIFY(rtr_second, init, rtr),
	MODIFY(rts, rtr, rts),
	MODIFY(sqd, rts, drained),
	MODIFY(resize, sqd, resized),
	MODIFY(back, sqd, rts),
	MODIFY(error, rts, error),
	MODIFY(reset, rts, reset),
	{ .name = "destroy_qp_rts", .prepare = have_counted_rts, .call = mroce_side_destroy_qp,
	  .flags = MROCE_OP_NEEDS_NO_MEMORY },
	POST(send, prepare_send, is_sent),
	POST(write, prepare_data, is_written),
	POST(read, prepare_data, is_read),
	POST(atomic, prepare_data, is_added),
	POST(flushed, have_error, is_flushed),
	{ .name = "get_async_event", .prepare = have_async_event, .call = get_async_event,
	  .undo = drop_sqd, .again = get_async_event_again, .flags = MROCE_OP_COPIES_ONLY },
	{ .name = "get_cq_event", .prepare = have_cq_event, .call = get_cq_event,
	  .undo = drop_cq_event, .again = get_cq_event_again, .flags = MROCE_OP_COPIES_ONLY },
	{ }
};
