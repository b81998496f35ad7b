// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Retry limits and the timers behind them. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include "qpstate.h"

/* Code of about 41 ms, IBTA specification 1.4, table 45 (RNR NAK timer field). */
#define RNR_CODE 24
#define RNR_US 40960

/* IBTA specification 1.4, 9.7.6.1.3: local ACK timeout. */
static unsigned int timeout_ms(const struct mroce_qp_timing *timing)
{
	return (4096ull << timing->timeout) / 1000000;
}

static unsigned int since_ms(uint64_t start_ns)
{
	return (mroce_clock_ns() - start_ns) / 1000000;
}

static int between(struct mroce_test *test, const char *what, unsigned int ms, unsigned int min,
		   unsigned int max)
{
	if (ms >= min && ms <= max)
		return 0;
	return mroce_case_fail(test, "%s after %u ms, expected %u to %u", what, ms, min, max);
}

static int cut_link(struct mroce_test *test)
{
	return mroce_case_command(test, MROCE_CUT);
}

static int mend_link(struct mroce_test *test)
{
	return mroce_case_command(test, MROCE_MEND);
}

/* Three retries are three waits at least, whatever else happens on the QP meanwhile. */
static int rnr_limit(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	uint64_t start_ns;

	test->timing.min_rnr_timer = RNR_CODE;
	test->timing.rnr_retry = 3;
	if (mroce_pair_open(test))
		return 1;
	start_ns = mroce_clock_ns();
	if (mroce_side_sends(test, MROCE_A, 1, 1, 64))
		return 1;
	mroce_case_pause(10);
	/* a new post must not start the queue before its time */
	if (mroce_side_sends(test, MROCE_A, 2, 2, 64) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_RNR_RETRY_EXC_ERR, MROCE_WAIT_MS) ||
	    between(test, "RNR error", since_ms(start_ns), 3 * RNR_US / 1000,
		    5 * RNR_US / 1000 + test->slack_ms))
		return 1;
	return mroce_wc_range(test, a->send_cq, 2, 2, IBV_WC_WR_FLUSH_ERR) ||
	       mroce_pair_state(test, MROCE_A, IBV_QPS_ERR);
}

static int rnr_in_time(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	test->timing.min_rnr_timer = RNR_CODE;
	test->timing.rnr_retry = 3;
	if (mroce_pair_open(test) || mroce_side_sends(test, MROCE_A, 1, 3, 64))
		return 1;
	mroce_case_pause(60);
	return mroce_side_recvs(test, MROCE_B, 200, 3, 64) ||
	       mroce_wc_range(test, a->send_cq, 1, 3, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, b->recv_cq, 200, 3, IBV_WC_SUCCESS);
}

/* 7 is for ever: far longer than any count of this timer. */
static int rnr_forever(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	test->timing.min_rnr_timer = 6;
	if (mroce_pair_open(test) || mroce_side_sends(test, MROCE_A, 1, 2, 64) ||
	    mroce_wc_none(test, a->send_cq, 1000))
		return 1;
	return mroce_side_recvs(test, MROCE_B, 200, 2, 64) ||
	       mroce_wc_range(test, a->send_cq, 1, 2, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, b->recv_cq, 200, 2, IBV_WC_SUCCESS);
}

/* IBTA specification 1.4, table 45: the sender comes again when this has passed, and not before. */
static int rnr_timer_respected(struct mroce_test *test)
{
	static const struct {
		uint8_t code;
		unsigned int ms;
	} row[] = { { 24, 40 }, { 28, 163 }, { 30, 327 }, { 31, 491 }, { 0, 655 } };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	unsigned int stalls = 0;
	uint64_t start_ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		test->timing.min_rnr_timer = row[i].code;
		if (mroce_pair_open(test) || mroce_pair_ping(test))
			return 1;
		start_ns = mroce_clock_ns();
		if (mroce_side_sends(test, MROCE_A, 1, 1, 64))
			return 1;
		mroce_case_pause(10);
		if (since_ms(start_ns) > 30 && stalls++ < 10) {
			/* The machine stood still: its time says nothing. Once more. */
			if (mroce_pair_close(test))
				return 1;
			i--;
			continue;
		}
		if (mroce_side_recvs(test, MROCE_B, 200, 1, 64) ||
		    mroce_wc_wait(test, b->recv_cq, 200, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    between(test, "message", since_ms(start_ns), row[i].ms,
			    2 * row[i].ms + test->slack_ms) ||
		    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
		    mroce_pair_close(test))
			return 1;
	}
	return 0;
}

/* Time all processors have been busy since the start, in ms; 0 = cannot tell */
static uint64_t busy_ms(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	FILE *file = fopen("/proc/stat", "r");
	int n = 0;

	if (file) {
		n = fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			   &idle, &iowait, &irq, &softirq);
		fclose(file);
	}
	return n == 7 ? (user + nice + system + irq + softirq) * 1000 / sysconf(_SC_CLK_TCK) : 0;
}

/* Waiting for receives takes less than a tenth of one processor, in all contexts together. */
static int rnr_without_cpu(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	uint64_t start_ms, busy;
	unsigned int wait_ms = 3000;

	/* 0.64 ms; 10 ms where a packet takes ten times as long: who spins does so anyway. */
	test->timing.min_rnr_timer = test->slack_ms > MROCE_SLOW_SLACK_MS ? 20 : 12;
	if (mroce_pair_open(test) || mroce_pair_ping(test) ||
	    mroce_side_sends(test, MROCE_A, 1, 16, 9000))
		return 1;
	start_ms = busy_ms();
	if (!start_ms)
		return mroce_case_fail(test, "/proc/stat does not tell");
	mroce_case_pause(wait_ms);
	busy = busy_ms() - start_ms;
	if (busy > wait_ms / 10)
		return mroce_case_fail(test, "busy for %lu of %u ms", busy, wait_ms);
	return mroce_wc_none(test, a->send_cq, 0) ||
	       mroce_side_recvs(test, MROCE_B, 200, 16, 9000) ||
	       mroce_wc_range(test, a->send_cq, 1, 16, IBV_WC_SUCCESS);
}

/* A missing receive on one QP is nothing to the others of the same connection. */
static int rnr_stalls_one_qp(struct mroce_test *test)
{
	struct mroce_side stalled[2];
	int failed;

	if (mroce_pair_open(test) || mroce_side_sends(test, MROCE_A, 1, 8, 9000))
		return 1;
	stalled[MROCE_A] = test->side[MROCE_A];
	stalled[MROCE_B] = test->side[MROCE_B];
	test->side[MROCE_A].qp = NULL;
	test->side[MROCE_B].qp = NULL;
	failed = mroce_pair_open(test) || mroce_pair_ping(test) || mroce_pair_ping(test) ||
		 mroce_wc_none(test, stalled[MROCE_A].send_cq, 0) || mroce_pair_close(test);
	test->side[MROCE_A] = stalled[MROCE_A];
	test->side[MROCE_B] = stalled[MROCE_B];
	return failed;
}

/* An answer that the QP does not exist may shorten it, nothing may stretch it. */
static int peer_qp_gone(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	uint64_t start_ns;

	test->timing.retry_cnt = 2;
	if (mroce_pair_open(test) || mroce_pair_ping(test))
		return 1;
	if (ibv_destroy_qp(b->qp))
		return mroce_case_fail(test, "destroy_qp failed");
	b->qp = NULL;
	start_ns = mroce_clock_ns();
	return mroce_side_sends(test, MROCE_A, 1, 3, 64) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_RETRY_EXC_ERR, MROCE_WAIT_MS) ||
	       between(test, "error", since_ms(start_ns), 0, 4 * 3 * timeout_ms(&test->timing) +
		       test->slack_ms) ||
	       mroce_wc_range(test, a->send_cq, 2, 2, IBV_WC_WR_FLUSH_ERR);
}

/* The whole link is silent: the configured time, one error, the rest flushed. */
static int silence(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	unsigned int least_ms;
	uint64_t start_ns;

	test->timing.retry_cnt = 3;
	least_ms = (test->timing.retry_cnt + 1) * timeout_ms(&test->timing);
	if (mroce_pair_open(test) || mroce_pair_ping(test) || cut_link(test))
		return 1;
	start_ns = mroce_clock_ns();
	if (mroce_side_sends(test, MROCE_A, 1, 4, 9000) ||
	    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_RETRY_EXC_ERR, MROCE_WAIT_MS) ||
	    between(test, "error", since_ms(start_ns), least_ms * 8 / 10,
		    4 * least_ms + test->slack_ms) ||
	    mroce_wc_range(test, a->send_cq, 2, 3, IBV_WC_WR_FLUSH_ERR) ||
	    mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) || mroce_pair_close(test))
		return 1;
	return mend_link(test) || mroce_pair_open(test) || mroce_pair_ping(test);
}

/* The limit is what the attributes say, whatever they say. */
static int silence_limits(struct mroce_test *test)
{
	static const struct {
		uint8_t timeout;
		uint8_t retry_cnt;
	} row[] = { { 17, 0 }, { 12, 7 }, { 15, 4 } };
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct mroce_req read = {
		.id = 1, .opcode = IBV_WR_RDMA_READ, .bytes = 9000, .rkey = b->mr->rkey,
		.remote_addr = (uintptr_t)mroce_side_inbox(b),
	};
	unsigned int least_ms;
	uint64_t start_ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		test->timing.timeout = row[i].timeout;
		test->timing.retry_cnt = row[i].retry_cnt;
		least_ms = (row[i].retry_cnt + 1) * timeout_ms(&test->timing);
		if (mroce_pair_open(test) || mroce_pair_ping(test) || cut_link(test))
			return 1;
		start_ns = mroce_clock_ns();
		/* a READ waits for its response as others wait for an acknowledgement */
		if (mroce_side_post(test, MROCE_A, &read) ||
		    mroce_side_sends(test, MROCE_A, 2, 1, 64) ||
		    mroce_wc_wait(test, a->send_cq, 1, IBV_WC_RETRY_EXC_ERR, MROCE_WAIT_MS) ||
		    between(test, "error", since_ms(start_ns), least_ms * 8 / 10,
			    4 * least_ms + test->slack_ms) ||
		    mroce_wc_wait(test, a->send_cq, 2, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
		    mroce_pair_close(test) || mend_link(test))
			return 1;
	}
	return 0;
}

/* The link is back before the limit: nobody notices. */
static int short_silence(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	test->timing.timeout = 16;
	if (mroce_pair_open(test) || mroce_pair_ping(test) ||
	    mroce_side_recvs(test, MROCE_B, 200, 8, 9000) || cut_link(test) ||
	    mroce_side_sends(test, MROCE_A, 1, 8, 9000) || mroce_wc_none(test, a->send_cq, 600))
		return 1;
	return mend_link(test) || mroce_wc_range(test, b->recv_cq, 200, 8, IBV_WC_SUCCESS) ||
	       mroce_wc_range(test, a->send_cq, 1, 8, IBV_WC_SUCCESS) || mroce_pair_ping(test);
}

/* Timeout 0 is for ever, and still nothing keeps the QP from being destroyed. */
static int endless_silence(struct mroce_test *test)
{
	test->timing.timeout = 0;
	test->timing.retry_cnt = 1;
	return mroce_pair_open(test) || mroce_pair_ping(test) || cut_link(test) ||
	       mroce_side_sends(test, MROCE_A, 1, 4, 9000) ||
	       mroce_wc_none(test, test->side[MROCE_A].send_cq, 1500) || mroce_pair_close(test);
}

/* Nothing of the QP has been on the wire yet. The first case of all: nor of the connection. */
static int silent_from_birth(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	unsigned int least_ms;
	uint64_t start_ns;

	test->timing.retry_cnt = 1;
	least_ms = (test->timing.retry_cnt + 1) * timeout_ms(&test->timing);
	/* Connecting needs the peer's link address, so the link is cut after it. */
	if (mroce_pair_open(test) || cut_link(test))
		return 1;
	start_ns = mroce_clock_ns();
	return mroce_side_sends(test, MROCE_A, 1, 2, 64) ||
	       mroce_wc_wait(test, a->send_cq, 1, IBV_WC_RETRY_EXC_ERR, MROCE_WAIT_MS) ||
	       between(test, "error", since_ms(start_ns), least_ms * 8 / 10,
		       4 * least_ms + test->slack_ms) ||
	       mroce_wc_wait(test, a->send_cq, 2, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS);
}

const struct mroce_case mroce_cases_retry[] = {
	{ "rnr_limit", rnr_limit, MROCE_NEEDS_NOTHING },
	{ "rnr_in_time", rnr_in_time, MROCE_NEEDS_NOTHING },
	{ "rnr_forever", rnr_forever, MROCE_NEEDS_NOTHING },
	{ "rnr_timer_respected", rnr_timer_respected, MROCE_NEEDS_NOTHING },
	{ "rnr_without_cpu", rnr_without_cpu, MROCE_NEEDS_NOTHING },
	{ "rnr_stalls_one_qp", rnr_stalls_one_qp, MROCE_NEEDS_NOTHING },
	{ "peer_qp_gone", peer_qp_gone, MROCE_NEEDS_NOTHING },
	{ "silence", silence, MROCE_NEEDS_CUT },
	{ "silence_limits", silence_limits, MROCE_NEEDS_CUT },
	{ "short_silence", short_silence, MROCE_NEEDS_CUT },
	{ "endless_silence", endless_silence, MROCE_NEEDS_CUT },
	{ "silent_from_birth", silent_from_birth, MROCE_NEEDS_CUT },
	{ }
};
