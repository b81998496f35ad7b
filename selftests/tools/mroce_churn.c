// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_churn: queue pairs that are destroyed while their timers run.
 *
 *   mroce_churn -A mrA -B mrB [-m silent|rnr] [-T THREADS] [-s SECONDS] [-l LIMIT_MS]
 *
 * Each thread, again and again: a queue pair on A and one on B, connected, RTS
 * with a short timeout, one message posted, a pause of 0 to 20 ms, both
 * destroyed. What is posted never succeeds: in mode "silent" the network is
 * expected to lose everything, in mode "rnr" nobody posts a receive. No destroy
 * may take longer than the limit. The last line is "OK ..." or "FAIL reason".
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

#define MAX_THREADS 64
#define MESSAGE_BYTES 20000	/* several packets, whatever the MTU */
#define PAUSE_US 20000

/* struct churner - one thread: two ends of its own, and what it has seen */
struct churner {
	pthread_t thread;
	uint64_t seed;
	struct ibv_mr *mr[2];
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
	unsigned long rounds;
	unsigned long failed_wrs;
	uint64_t longest_ns;
	char *buf;
};

static struct mroce_dev dev[2];
static struct churner churner[MAX_THREADS];
static bool rnr;
static uint64_t end_ns;

static uint64_t draw(struct churner *c, uint64_t below)
{
	return (mroce_mix(c->seed++) >> 32) % below;
}

static void make_ends(struct churner *c)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	int i;

	for (i = 0; i < 2; i++) {
		c->cq[i] = ibv_create_cq(dev[i].ctx, 8, NULL, NULL, 0);
		init.send_cq = c->cq[i];
		init.recv_cq = c->cq[i];
		c->qp[i] = c->cq[i] ? ibv_create_qp(dev[i].pd, &init) : NULL;
		if (!c->qp[i])
			mroce_die("round %lu: create: %s", c->rounds, strerror(errno));
	}
}

static void connect_ends(struct churner *c)
{
	struct mroce_qp_timing timing = {
		.timeout = 1 + draw(c, 4), .retry_cnt = draw(c, 8), .rnr_retry = draw(c, 8),
		.min_rnr_timer = 1 + draw(c, 14),
	};
	struct mroce_qp_addr addr;
	int i, err = 0;

	for (i = 0; i < 2 && !err; i++) {
		addr = (struct mroce_qp_addr) {
			.gid = dev[!i].gid, .qpn = c->qp[!i]->qp_num, .psn = 7,
			.mtu = dev[!i].port.active_mtu,
		};
		err = mroce_qp_to_init(c->qp[i], IBV_ACCESS_REMOTE_WRITE) ?:
		      mroce_qp_to_rtr(c->qp[i], &dev[i], &addr, &timing) ?:
		      mroce_qp_to_rts(c->qp[i], 7, &timing);
	}
	if (err)
		mroce_die("round %lu: connect: %s", c->rounds, strerror(err));
}

static void post_message(struct churner *c)
{
	int from = draw(c, 2);
	struct ibv_sge sge = { (uintptr_t)c->buf, 1 + draw(c, MESSAGE_BYTES), c->mr[from]->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = rnr || draw(c, 2) ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)c->buf, c->mr[!from]->rkey },
	};
	int err = ibv_post_send(c->qp[from], &wr, &bad);

	if (err)
		mroce_die("round %lu: post: %s", c->rounds, strerror(err));
}

static void look(struct churner *c)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 2; i++) {
		while (ibv_poll_cq(c->cq[i], 1, &wc) > 0) {
			if (!wc.status)
				mroce_die("round %lu: a message arrived", c->rounds);
			if (wc.status != IBV_WC_RETRY_EXC_ERR &&
			    wc.status != IBV_WC_RNR_RETRY_EXC_ERR)
				mroce_die("round %lu: %s", c->rounds, ibv_wc_status_str(wc.status));
			c->failed_wrs++;
		}
	}
}

static void destroy_ends(struct churner *c)
{
	int i, first = draw(c, 2), err;
	uint64_t start_ns, took_ns;

	for (i = 0; i < 2; i++) {
		start_ns = mroce_clock_ns();
		err = ibv_destroy_qp(c->qp[i ^ first]);
		took_ns = mroce_clock_ns() - start_ns;
		if (took_ns > c->longest_ns)
			c->longest_ns = took_ns;
		if (err)
			mroce_die("round %lu: destroy: %s", c->rounds, strerror(err));
	}
	if (ibv_destroy_cq(c->cq[0]) || ibv_destroy_cq(c->cq[1]))
		mroce_die("round %lu: cannot destroy a completion queue", c->rounds);
}

static void *churn(void *arg)
{
	struct churner *c = arg;

	while (mroce_clock_ns() < end_ns) {
		make_ends(c);
		connect_ends(c);
		post_message(c);
		usleep(draw(c, PAUSE_US));
		look(c);
		destroy_ends(c);
		c->rounds++;
	}
	return NULL;
}

static void start_thread(struct churner *c, int number)
{
	int i;

	c->seed = mroce_clock_ns() + ((uint64_t)number << 40);
	c->buf = calloc(1, MESSAGE_BYTES);
	for (i = 0; c->buf && i < 2; i++)
		c->mr[i] = ibv_reg_mr(dev[i].pd, c->buf, MESSAGE_BYTES,
				      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!c->mr[0] || !c->mr[1] || pthread_create(&c->thread, NULL, churn, c))
		mroce_die("cannot start thread %d", number);
}

int main(int argc, char **argv)
{
	const char *name[2] = { NULL, NULL };
	int opt, i, threads = 4, seconds = 5;
	unsigned long limit_ms = 1000, rounds = 0, failed_wrs = 0;
	uint64_t longest_ns = 0;

	while ((opt = getopt(argc, argv, "A:B:m:T:s:l:")) != -1) {
		switch (opt) {
		case 'A':
		case 'B':
			name[opt - 'A'] = optarg;
			break;
		case 'm':
			rnr = !strcmp(optarg, "rnr");
			break;
		case 'T':
			threads = atoi(optarg);
			break;
		case 's':
			seconds = atoi(optarg);
			break;
		case 'l':
			limit_ms = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	for (i = 0; i < 2; i++) {
		if (mroce_dev_open(&dev[i], name[i], -1, false))
			mroce_die("cannot open %s", name[i]);
	}
	end_ns = mroce_clock_ns() + seconds * 1000000000ull;
	for (i = 0; i < threads && i < MAX_THREADS; i++)
		start_thread(&churner[i], i);
	for (i = 0; i < threads && i < MAX_THREADS; i++) {
		pthread_join(churner[i].thread, NULL);
		rounds += churner[i].rounds;
		failed_wrs += churner[i].failed_wrs;
		if (churner[i].longest_ns > longest_ns)
			longest_ns = churner[i].longest_ns;
	}
	if (longest_ns > limit_ms * 1000000ull)
		mroce_die("a destroy took %lu ms", (unsigned long)(longest_ns / 1000000));
	printf("OK %lu rounds, %lu messages failed, longest destroy %lu us\n", rounds, failed_wrs,
	       (unsigned long)(longest_ns / 1000));
	return 0;
}
