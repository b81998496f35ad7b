// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_orphan: what becomes of a program whose device is taken away while it
 * does nothing.
 *
 *   mroce_orphan [-t DEADLINE_S] [-x GID_INDEX] [-w] DEVICE
 *
 * Opens the device, makes one object of each kind and two queue pairs that are
 * connected to each other, moves a message, prints "READY", and waits. When the
 * device goes it must hear of it, every verb must fail with EIO, its rings must
 * stay memory. Prints "OK ..." or "FAIL reason", then destroys everything. With
 * -w it keeps everything instead, until a signal ends it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

#define DEPTH 16
#define BUF_BYTES 8192
#define MAX_RINGS 16

static const struct mroce_qp_timing timing = {
	.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12,
};

/* struct orphan - everything it owns */
struct orphan {
	struct mroce_dev dev;
	struct ibv_mr *mr;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp[2];
	struct { volatile uint32_t *start, *end; } ring[MAX_RINGS];
	int rings;
	char buf[BUF_BYTES];
};

static struct orphan orphan;
static int deadline_s = 60;

static void say(const char *text)
{
	puts(text);
	fflush(stdout);
}

static int post_send(struct orphan *o)
{
	struct ibv_sge sge = { (uintptr_t)o->buf, 64, o->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	return ibv_post_send(o->qp[0], &wr, &bad);
}

static int post_recv(struct orphan *o)
{
	struct ibv_sge sge = { (uintptr_t)o->buf, BUF_BYTES, o->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	return ibv_post_srq_recv(o->srq, &wr, &bad);
}

static void connect_qp(struct orphan *o, struct ibv_qp *qp, struct ibv_qp *other)
{
	struct mroce_qp_addr addr = {
		.gid = o->dev.gid, .qpn = other->qp_num, .psn = other->qp_num,
		.mtu = o->dev.port.active_mtu,
	};

	int err = mroce_qp_to_init(qp, IBV_ACCESS_REMOTE_WRITE) ?:
		  mroce_qp_to_rtr(qp, &o->dev, &addr, &timing) ?:
		  mroce_qp_to_rts(qp, qp->qp_num, &timing);

	if (err)
		mroce_die("cannot connect a queue pair to its neighbour: %s", strerrorname_np(err));
}

static void make_objects(struct orphan *o)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	o->mr = ibv_reg_mr(o->dev.pd, o->buf, BUF_BYTES, IBV_ACCESS_LOCAL_WRITE);
	o->channel = ibv_create_comp_channel(o->dev.ctx);
	if (!o->mr || !o->channel)
		mroce_die("cannot create region and channel");
	o->cq = ibv_create_cq(o->dev.ctx, 4 * DEPTH, NULL, o->channel, 0);
	init.send_cq = o->cq;
	init.recv_cq = o->cq;
	o->qp[0] = ibv_create_qp(o->dev.pd, &init);
	o->srq = ibv_create_srq(o->dev.pd, &shared);
	init.srq = o->srq;
	o->qp[1] = ibv_create_qp(o->dev.pd, &init);
	if (!o->cq || !o->srq || !o->qp[0] || !o->qp[1])
		mroce_die("cannot create queues");
}

static void move_message(struct orphan *o)
{
	uint64_t end_ns = mroce_clock_ns() + 10 * 1000000000ull;
	struct ibv_wc wc;
	int n = 0;

	if (post_recv(o) || post_recv(o) || post_send(o))
		mroce_die("cannot post");
	while (n < 2) {
		if (mroce_clock_ns() > end_ns)
			mroce_die("no message arrives");
		if (ibv_poll_cq(o->cq, 1, &wc) < 1)
			continue;
		if (wc.status)
			mroce_die("a message fails: %s", ibv_wc_status_str(wc.status));
		n++;
	}
	if (ibv_req_notify_cq(o->cq, 0))
		mroce_die("cannot arm the completion queue");
}

/* What of the device is mapped, whoever mapped it */
static void find_rings(struct orphan *o)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps) && o->rings < MAX_RINGS) {
		if (!strstr(line, "/uverbs") || sscanf(line, "%lx-%lx rw-s", &start, &end) != 2)
			continue;
		o->ring[o->rings].start = (void *)start;
		o->ring[o->rings++].end = (void *)end;
	}
	if (!maps || !o->rings)
		mroce_die("nothing of the device is mapped");
	fclose(maps);
}

/* Every word, read and written: a fault ends the program. Return: bytes touched */
static unsigned long touch_rings(struct orphan *o)
{
	unsigned long bytes = 0;
	volatile uint32_t *p;
	int i;

	for (i = 0; i < o->rings; i++) {
		for (p = o->ring[i].start; p < o->ring[i].end; p++)
			*p = *p ^ 0x5aa5c33c;
		bytes += (char *)o->ring[i].end - (char *)o->ring[i].start;
	}
	return bytes;
}

static void expect_event(struct orphan *o)
{
	struct pollfd fd = { .fd = o->dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	do {
		if (poll(&fd, 1, deadline_s * 1000) != 1)
			mroce_die("no asynchronous event");
		if (ibv_get_async_event(o->dev.ctx, &event))
			mroce_die("get_async_event: %s", strerrorname_np(errno));
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return;
	} while (event.event_type == IBV_EVENT_PORT_ERR ||
		 event.event_type == IBV_EVENT_GID_CHANGE);
	mroce_die("event '%s'", ibv_event_type_str(event.event_type));
}

static int try_query_device(struct orphan *o)
{
	return ibv_query_device(o->dev.ctx, &o->dev.attr);
}

static int try_query_port(struct orphan *o)
{
	return ibv_query_port(o->dev.ctx, 1, &o->dev.port);
}

static int try_alloc_pd(struct orphan *o)
{
	return ibv_alloc_pd(o->dev.ctx) ? 0 : errno;
}

static int try_reg_mr(struct orphan *o)
{
	return ibv_reg_mr(o->dev.pd, o->buf, BUF_BYTES, 0) ? 0 : errno;
}

static int try_create_channel(struct orphan *o)
{
	return ibv_create_comp_channel(o->dev.ctx) ? 0 : errno;
}

static int try_create_cq(struct orphan *o)
{
	return ibv_create_cq(o->dev.ctx, 4, NULL, NULL, 0) ? 0 : errno;
}

static int try_create_qp(struct orphan *o)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = o->cq, .recv_cq = o->cq,
		.cap = { 1, 1, 1, 1, 0 },
	};

	return ibv_create_qp(o->dev.pd, &init) ? 0 : errno;
}

static int try_create_srq(struct orphan *o)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };

	return ibv_create_srq(o->dev.pd, &init) ? 0 : errno;
}

static int try_modify_srq(struct orphan *o)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	return ibv_modify_srq(o->srq, &attr, IBV_SRQ_LIMIT);
}

static int try_query_srq(struct orphan *o)
{
	struct ibv_srq_attr attr;

	return ibv_query_srq(o->srq, &attr);
}

static int try_modify_qp(struct orphan *o)
{
	return mroce_qp_to_state(o->qp[0], IBV_QPS_ERR);
}

static int try_query_qp(struct orphan *o)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(o->qp[0], &attr, IBV_QP_STATE, &init);
}

static int try_get_cq_event(struct orphan *o)
{
	struct ibv_cq *cq;
	void *context;

	/* It was armed, and waits for a completion that cannot come. */
	if (!ibv_get_cq_event(o->channel, &cq, &context))
		return 0;
	return errno;
}

static const struct {
	const char *name;
	int (*call)(struct orphan *o);
} verbs[] = {
	{ "post_send", post_send },
	{ "query_device", try_query_device },
	{ "query_port", try_query_port },
	{ "alloc_pd", try_alloc_pd },
	{ "reg_mr", try_reg_mr },
	{ "create_comp_channel", try_create_channel },
	{ "create_cq", try_create_cq },
	{ "create_qp", try_create_qp },
	{ "create_srq", try_create_srq },
	{ "modify_srq", try_modify_srq },
	{ "query_srq", try_query_srq },
	{ "modify_qp", try_modify_qp },
	{ "query_qp", try_query_qp },
	{ "get_cq_event", try_get_cq_event },
};

static void expect_eio(struct orphan *o)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		err = verbs[i].call(o);
		if (err != EIO)
			mroce_die("%s: %s, expected EIO", verbs[i].name,
				  err ? strerrorname_np(err) : "success");
	}
}

/* What does not enter the kernel may work or not; it comes back, and makes nothing up. */
static void expect_nothing(struct orphan *o)
{
	struct ibv_wc wc;
	int i, n = 0;

	for (i = 0; i < 3 * DEPTH; i++) {
		post_send(o);
		post_recv(o);
		n += ibv_poll_cq(o->cq, 1, &wc) > 0;
	}
	ibv_req_notify_cq(o->cq, 0);
	if (n)
		mroce_die("%d completions after the device has gone", n);
}

static void destroy(struct orphan *o)
{
	int err = ibv_destroy_qp(o->qp[0]) ?: ibv_destroy_qp(o->qp[1]) ?:
		  ibv_destroy_srq(o->srq) ?: ibv_destroy_cq(o->cq) ?:
		  ibv_destroy_comp_channel(o->channel) ?: ibv_dereg_mr(o->mr) ?:
		  ibv_dealloc_pd(o->dev.pd) ?: ibv_close_device(o->dev.ctx);

	if (err)
		mroce_die("destroying what is left: %s", strerrorname_np(err));
}

int main(int argc, char **argv)
{
	struct orphan *o = &orphan;
	unsigned long bytes;
	bool wait = false;
	int opt, gid_index = -1;

	while ((opt = getopt(argc, argv, "t:x:w")) != -1) {
		if (opt == 't')
			deadline_s = atoi(optarg);
		else if (opt == 'x')
			gid_index = atoi(optarg);
		else if (opt == 'w')
			wait = true;
		else
			return 2;
	}
	if (optind != argc - 1)
		return 2;
	if (mroce_dev_open(&o->dev, argv[optind], gid_index, false))
		mroce_die("cannot open %s", argv[optind]);
	alarm(deadline_s + 30);
	make_objects(o);
	connect_qp(o, o->qp[0], o->qp[1]);
	connect_qp(o, o->qp[1], o->qp[0]);
	move_message(o);
	find_rings(o);
	say("READY");

	expect_event(o);
	expect_eio(o);
	expect_nothing(o);
	bytes = touch_rings(o);
	printf("OK %zu verbs fail with EIO, %lu bytes in %d rings are memory\n", ARRAY_SIZE(verbs),
	       bytes, o->rings);
	fflush(stdout);
	while (wait)
		pause();
	destroy(o);
	return 0;
}
