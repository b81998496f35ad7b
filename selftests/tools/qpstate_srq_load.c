// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A shared receive queue that many queue pairs drain at once, every byte compared. */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "qpstate.h"

#define PAIRS 8
#define SLOTS 48
#define SLOT_BYTES 65536
#define GUARD_BYTES 32
/* Messages a QP has under way */
#define DEPTH 4
#define LIMIT_MS 40000
#define GUARD 0xe7

/**
 * struct load - what a case has going
 * @pair: QPs; those of side B share the queue of the first
 * @messages: each of side A sends so many
 * @sent: by each
 * @done: of these, complete
 * @received: by each of side B
 * @newest: count of posts, of the newest receive each has completed
 * @posts: receives posted so far
 * @slot: places in the inbox that are not posted
 * @n_slots: how many
 * @events: of the limit
 */
struct load {
	struct mroce_test pair[PAIRS];
	uint32_t messages;
	uint32_t sent[PAIRS];
	uint32_t done[PAIRS];
	uint32_t received[PAIRS];
	uint64_t newest[PAIRS];
	uint64_t posts;
	uint32_t slot[SLOTS];
	uint32_t n_slots;
	uint32_t events;
};

static struct load load;

static uint64_t key_of(uint32_t pair, uint32_t message)
{
	return mroce_mix((uint64_t)pair << 32 | message);
}

static uint32_t bytes_of(uint64_t key)
{
	return key % 4 ? key % 5000 : key / 4 % (SLOT_BYTES - GUARD_BYTES + 1);
}

/* Room beside the inbox for what each QP has under way */
static size_t place(uint32_t pair, uint32_t message)
{
	return (size_t)(pair * DEPTH + message % DEPTH) * SLOT_BYTES;
}

static int post_slots(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];

	while (load.n_slots) {
		uint32_t slot = load.slot[--load.n_slots];
		size_t at = (size_t)slot * SLOT_BYTES;

		memset(mroce_side_inbox(b) + at, GUARD, SLOT_BYTES);
		if (mroce_srq_recv(b, load.posts++ << 8 | slot, at, SLOT_BYTES - GUARD_BYTES))
			return mroce_case_fail(test, "no room for receive %lu", load.posts);
	}
	return 0;
}

static int send_next(struct mroce_test *test, uint32_t i)
{
	struct mroce_side *a = &load.pair[i].side[MROCE_A];
	uint64_t key = key_of(i, load.sent[i]);
	struct mroce_req req = {
		.id = load.sent[i], .opcode = key & 16 ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM,
		.bytes = bytes_of(key), .offset = place(i, load.sent[i]), .imm = load.sent[i],
	};

	if (load.sent[i] == load.messages || load.sent[i] - load.done[i] == DEPTH)
		return 0;
	mroce_pattern_fill(a->buf + req.offset, req.bytes, key, 0);
	load.sent[i]++;
	return mroce_case_errno(test, "post_send", mroce_side_send(a, &req), 0);
}

static int take_sends(struct mroce_test *test, uint32_t i)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(load.pair[i].side[MROCE_A].send_cq, 1, &wc) > 0) {
		if (wc.status || wc.wr_id != load.done[i])
			return mroce_case_fail(test, "QP %u: request %lu '%s', expected %u", i,
					       wc.wr_id, ibv_wc_status_str(wc.status),
					       load.done[i]);
		load.done[i]++;
	}
	return 0;
}

/* It is the next message of this QP, whole, and nothing else was written. */
static int check_receive(struct mroce_test *test, uint32_t i, const struct ibv_wc *wc)
{
	struct mroce_side *b = &load.pair[i].side[MROCE_B];
	uint64_t key = key_of(i, load.received[i]), post = wc->wr_id >> 8;
	const uint8_t *data = mroce_side_inbox(b) + (wc->wr_id & 0xff) * SLOT_BYTES;
	uint32_t n = bytes_of(key), k;

	if (wc->status || wc->qp_num != b->qp->qp_num || wc->byte_len != n ||
	    load.received[i] == load.messages)
		return mroce_case_fail(test, "QP %u: receive %u '%s', QP %#x, %u bytes of %u", i,
				       load.received[i], ibv_wc_status_str(wc->status), wc->qp_num,
				       wc->byte_len, n);
	if (!(key & 16) != !!(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    (!(key & 16) && be32toh(wc->imm_data) != load.received[i]))
		return mroce_case_fail(test, "QP %u: immediate of %u", i, load.received[i]);
	/* Receives of a QP are those of the queue in their order. */
	if (load.received[i] && post <= load.newest[i])
		return mroce_case_fail(test, "QP %u: receive %lu after %lu", i, post,
				       load.newest[i]);
	if (mroce_pattern_check(data, n, key, 0) >= 0)
		return mroce_case_fail(test, "QP %u: wrong bytes in message %u", i,
				       load.received[i]);
	for (k = 0; k < GUARD_BYTES; k++) {
		if (data[n + k] != GUARD)
			return mroce_case_fail(test, "QP %u: bytes behind message %u", i,
					       load.received[i]);
	}
	load.newest[i] = post;
	load.received[i]++;
	load.slot[load.n_slots++] = wc->wr_id & 0xff;
	return 0;
}

static int take_receives(struct mroce_test *test, uint32_t i)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(load.pair[i].side[MROCE_B].recv_cq, 1, &wc) > 0) {
		if (check_receive(test, i, &wc))
			return 1;
	}
	return 0;
}

/* Is there an event of the limit? Others are none of ours. */
static bool limit_event(struct mroce_side *side)
{
	struct pollfd pfd = { .fd = side->dev->ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool found = false;

	while (!found && poll(&pfd, 1, 0) > 0 && !ibv_get_async_event(side->dev->ctx, &event)) {
		found = event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED &&
			event.element.srq == side->srq;
		ibv_ack_async_event(&event);
	}
	return found;
}

/* As servers do: receives are posted when the event says that few are left. */
static int refill(struct mroce_test *test, uint32_t limit)
{
	if (!limit)
		return post_slots(test);
	if (!limit_event(&test->side[MROCE_B]))
		return 0;
	load.events++;
	return post_slots(test) || mroce_srq_arm(test, limit);
}

static bool is_done(void)
{
	uint32_t i;

	for (i = 0; i < PAIRS; i++) {
		if (load.done[i] != load.messages || load.received[i] != load.messages)
			return false;
	}
	return true;
}

static int transfer(struct mroce_test *test, uint32_t limit)
{
	uint64_t deadline_ns = mroce_clock_ns() + LIMIT_MS * 1000000ull;
	uint32_t i;

	if (post_slots(test) || (limit && mroce_srq_arm(test, limit)))
		return 1;
	while (!is_done()) {
		for (i = 0; i < PAIRS; i++) {
			if (send_next(test, i) || take_sends(test, i) || take_receives(test, i))
				return 1;
		}
		if (refill(test, limit))
			return 1;
		sched_yield();
		if (mroce_clock_ns() > deadline_ns)
			return mroce_case_fail(test, "QP 0 has sent %u, %u complete, %u received",
					       load.sent[0], load.done[0], load.received[0]);
	}
	return 0;
}

static int close_pairs(struct mroce_test *test, int failed)
{
	uint32_t i;

	for (i = 1; i < PAIRS; i++)
		failed = mroce_srq_part(test, &load.pair[i], failed);
	return failed;
}

static int open_pairs(struct mroce_test *test, uint32_t messages)
{
	uint32_t i;

	memset(&load, 0, sizeof(load));
	load.messages = messages;
	for (load.n_slots = 0; load.n_slots < SLOTS; load.n_slots++)
		load.slot[load.n_slots] = load.n_slots;
	test->timing.min_rnr_timer = 1;
	mroce_event_drop(&test->side[MROCE_B]);
	if (mroce_srq_open(test, SLOTS))
		return 1;
	load.pair[0] = *test;
	for (i = 1; i < PAIRS; i++) {
		if (mroce_srq_beside(test, &load.pair[i]))
			return 1;
	}
	return 0;
}

/* A debugging kernel has less time. */
static uint32_t messages(const struct mroce_test *test)
{
	return test->slack_ms > MROCE_SLOW_SLACK_MS ? 60 : test->slack_ms > 1000 ? 100 : 500;
}

static int srq_load(struct mroce_test *test)
{
	return close_pairs(test, open_pairs(test, messages(test)) || transfer(test, 0));
}

static int srq_load_by_limit(struct mroce_test *test)
{
	int failed = open_pairs(test, messages(test)) || transfer(test, SLOTS / 3);

	if (!failed && load.events < load.messages * PAIRS / SLOTS)
		failed = mroce_case_fail(test, "%u events, %lu receives", load.events, load.posts);
	return close_pairs(test, failed);
}

/* Until some messages have come, of whichever */
static int some_arrive(struct mroce_test *test, unsigned int count)
{
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	unsigned int n = 0;
	struct ibv_wc wc;
	uint32_t i;

	while (n < count) {
		for (i = 0; i < PAIRS; i++)
			n += ibv_poll_cq(load.pair[i].side[MROCE_B].recv_cq, 1, &wc) > 0;
		if (mroce_clock_ns() > deadline_ns)
			return mroce_case_fail(test, "%u messages instead of %u", n, count);
	}
	return 0;
}

static int open_and_break(struct mroce_test *test, uint32_t round)
{
	uint32_t i, k;
	struct mroce_side *b;

	if (open_pairs(test, SLOTS) || post_slots(test))
		return 1;
	for (k = 0; k < DEPTH; k++) {
		for (i = 0; i < PAIRS; i++) {
			if (send_next(test, i))
				return 1;
		}
	}
	if (some_arrive(test, round % 16))
		return 1;
	/* The receivers go, then the queue, while packets come in. */
	for (i = PAIRS; i--;) {
		b = &load.pair[i].side[MROCE_B];
		if (round % 2 && mroce_pair_modify(&load.pair[i], MROCE_B, IBV_QPS_ERR))
			return mroce_case_fail(test, "%s", load.pair[i].why);
		if (ibv_destroy_qp(b->qp))
			return mroce_case_fail(test, "destroy_qp failed");
		b->qp = NULL;
		if (!i)
			test->side[MROCE_B].qp = NULL;
	}
	if (ibv_destroy_srq(test->side[MROCE_B].srq))
		return mroce_case_fail(test, "destroy_srq failed");
	test->side[MROCE_B].srq = NULL;
	return 0;
}

static int srq_destroyed_under_load(struct mroce_test *test)
{
	uint32_t round, rounds = test->slack_ms > 1000 ? 10 : 40;

	for (round = 0; round < rounds; round++) {
		if (close_pairs(test, open_and_break(test, round)) || mroce_pair_close(test))
			return 1;
	}
	return mroce_srq_open(test, 8) || mroce_srq_recvs(test, 1, 1, 64) ||
	       mroce_side_sends(test, MROCE_A, 1, 1, 64) ||
	       mroce_wc_wait(test, test->side[MROCE_B].recv_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS);
}

const struct mroce_case mroce_cases_srq_load[] = {
	{ "srq_load", srq_load, MROCE_NEEDS_NOTHING },
	{ "srq_load_by_limit", srq_load_by_limit, MROCE_NEEDS_NOTHING },
	{ "srq_destroyed_under_load", srq_destroyed_under_load, MROCE_NEEDS_NOTHING },
	{ }
};
