// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_polling: order and wholeness as seen by a program that watches memory.
 *
 *   server:  mroce_polling -D mr1
 *   client:  mroce_polling -D mr0 -m flag -n 10000 10.9.0.2
 *
 * The client's options rule; the server takes them over. The last line is
 * "OK ..." (exit 0) or "FAIL ..." (exit 1). See polling.h for the method.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "polling.h"

#define WRS_PER_ROUND (MROCE_PIECES_MAX + 1)
#define FLAG_BYTES 64
#define SPINS_PER_LOOK_AT_CLOCK 16384
#define IDLE_NS 1000000000ull

static const char * const mode_name[MROCE_POLL_MODES] = {
	[MROCE_POLL_FLAG] = "flag",
	[MROCE_POLL_LAST] = "last",
	[MROCE_POLL_RECORD] = "record",
};

static const struct mroce_qp_timing timing = {
	.timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12,
};

/* struct memory - what one end opens to the other */
struct memory {
	struct mroce_qp_addr addr;
	uint32_t slots_rkey;
	uint32_t flags_rkey;
	uint64_t slots;
	uint64_t flags;
};

/* struct run - one execution: the command line and what it opened */
struct run {
	struct mroce_poll_params params;
	const char *device;
	const char *host;
	const char *port;
	int peer;
	uint64_t start_ns;
	uint64_t deadline_ns;
	struct mroce_dev dev;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr[4];
	unsigned int mrs;
	struct mroce_poll_rx rx;
	uint8_t *images;
	uint64_t *flags;
	uint32_t images_lkey;
	uint32_t flags_lkey;
	struct memory local;
	struct memory remote;
	uint64_t posted;
	uint64_t completed;
};

/* Only if something does not come back: the loops have their own deadlines. */
static void on_alarm(int sig)
{
	static const char text[] = "FAIL stuck past the deadline\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void *open_memory(struct run *run, size_t bytes, int access, struct ibv_mr **mr)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		mroce_die("no memory for %zu bytes", bytes);
	*mr = ibv_reg_mr(run->dev.pd, p, bytes, access);
	if (!*mr)
		mroce_die("reg_mr of %zu bytes: %s", bytes, strerror(errno));
	run->mr[run->mrs++] = *mr;
	return p;
}

static void create_memory(struct run *run)
{
	const struct mroce_poll_params *params = &run->params;
	int remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	size_t images_bytes = mroce_poll_image_bytes(params) * params->depth;
	struct mroce_poll_rx *rx = &run->rx;
	struct ibv_mr *mr;

	run->images = open_memory(run, images_bytes, 0, &mr);
	run->images_lkey = mr->lkey;
	run->flags = open_memory(run, mroce_poll_flags_bytes(params), 0, &mr);
	run->flags_lkey = mr->lkey;
	rx->slots = open_memory(run, mroce_poll_slot_bytes(params) * params->depth, remote |
				(params->relaxed_data ? IBV_ACCESS_RELAXED_ORDERING : 0), &mr);
	run->local.slots_rkey = mr->rkey;
	run->local.slots = (uintptr_t)rx->slots;
	rx->flags = open_memory(run, mroce_poll_flags_bytes(params), remote |
				(params->relaxed_flags ? IBV_ACCESS_RELAXED_ORDERING : 0), &mr);
	run->local.flags_rkey = mr->rkey;
	run->local.flags = (uintptr_t)rx->flags;
	rx->params = params;
	rx->way = !run->host ? 0 : 1;
	rx->deadline_ns = run->deadline_ns;
	rx->images = malloc(images_bytes);
	rx->scratch = malloc(params->max_bytes);
	rx->round = calloc(params->depth, sizeof(*rx->round));
	if (!rx->images || !rx->scratch || !rx->round)
		mroce_die("no memory");
	mroce_poll_start(rx);
}

static void create_qp(struct run *run)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = run->params.depth * WRS_PER_ROUND, .max_recv_wr = 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	int err;

	run->cq = ibv_create_cq(run->dev.ctx, run->params.depth + 1, NULL, NULL, 0);
	if (!run->cq)
		mroce_die("no completion queue: %s", strerror(errno));
	init.send_cq = run->cq;
	init.recv_cq = run->cq;
	run->qp = ibv_create_qp(run->dev.pd, &init);
	if (!run->qp)
		mroce_die("no queue pair: %s", strerror(errno));
	err = mroce_qp_to_init(run->qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	if (err)
		mroce_die("modify_qp to INIT: %s", strerror(err));
	run->local.addr = (struct mroce_qp_addr){
		.gid = run->dev.gid, .qpn = run->qp->qp_num,
		.psn = mroce_mix(run->start_ns) & 0xffffff, .mtu = run->dev.port.active_mtu,
	};
}

static void barrier(struct run *run, const char *what)
{
	char out = 'b', in;

	if (mroce_peer_exchange(run->peer, &out, &in, 1, run->deadline_ns))
		mroce_die("peer is gone or too slow (%s)", what);
}

static void connect_qp(struct run *run)
{
	int err;

	if (mroce_peer_exchange(run->peer, &run->local, &run->remote, sizeof(run->local),
				run->deadline_ns))
		mroce_die("peer is gone or too slow (addresses)");
	err = mroce_qp_to_rtr(run->qp, &run->dev, &run->remote.addr, &timing);
	if (err)
		mroce_die("modify_qp to RTR: %s", strerror(err));
	err = mroce_qp_to_rts(run->qp, run->local.addr.psn, &timing);
	if (err)
		mroce_die("modify_qp to RTS: %s", strerror(err));
	barrier(run, "start");
}

static void reap(struct run *run)
{
	struct ibv_wc wc;
	int n;

	while ((n = ibv_poll_cq(run->cq, 1, &wc)) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			mroce_die("round %lu: completion: %s (vendor %#x)", wc.wr_id,
				  ibv_wc_status_str(wc.status), wc.vendor_err);
		if (wc.wr_id != run->completed)
			mroce_die("completion of round %lu, round %lu is next", wc.wr_id,
				  run->completed);
		run->completed++;
	}
	if (n < 0)
		mroce_die("poll_cq failed");
}

/* Until at most so many rounds of ours wait for their completion */
static void reap_down_to(struct run *run, uint64_t open)
{
	reap(run);
	while (run->posted - run->completed > open) {
		if (mroce_clock_ns() > run->deadline_ns)
			mroce_die("deadline: round %lu does not complete", run->completed);
		reap(run);
	}
}

static void post(struct run *run, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int err = ibv_post_send(run->qp, wr, &bad);

	if (err)
		mroce_die("round %lu: post_send: %s", run->posted, strerror(err));
}

/* The WRITEs of a round; returns how many */
static unsigned int build(struct run *run, const struct mroce_poll_round *round, uint8_t *image,
			  struct ibv_sge *sge, struct ibv_send_wr *wr)
{
	uint64_t slot = round->index % run->params.depth;
	uint64_t to = run->remote.slots + slot * mroce_poll_slot_bytes(&run->params);
	uint64_t *flag = (void *)run->flags + slot * FLAG_BYTES;
	unsigned int i, n = round->pieces;

	for (i = 0; i < n; i++) {
		sge[i].addr = (uintptr_t)image + round->piece[i].image_off;
		sge[i].length = round->piece[i].bytes;
		sge[i].lkey = run->images_lkey;
		wr[i].wr.rdma.remote_addr = to + round->piece[i].slot_off;
		wr[i].wr.rdma.rkey = run->remote.slots_rkey;
	}
	if (round->has_flag) {
		*flag = round->sign;
		sge[n].addr = (uintptr_t)flag;
		sge[n].length = sizeof(*flag);
		sge[n].lkey = run->flags_lkey;
		wr[n].wr.rdma.remote_addr = (round->flag_is_apart ? run->remote.flags : to) +
					    round->sign_off;
		wr[n].wr.rdma.rkey = round->flag_is_apart ? run->remote.flags_rkey :
							    run->remote.slots_rkey;
		n++;
	}
	for (i = 0; i < n; i++) {
		wr[i].wr_id = round->index;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].sg_list = &sge[i];
		wr[i].num_sge = 1;
	}
	wr[n - 1].send_flags = IBV_SEND_SIGNALED;
	return n;
}

static void post_round(struct run *run)
{
	uint64_t slot = run->posted % run->params.depth;
	uint8_t *image = run->images + slot * mroce_poll_image_bytes(&run->params);
	struct ibv_send_wr wr[WRS_PER_ROUND] = { };
	struct ibv_sge sge[WRS_PER_ROUND] = { };
	struct mroce_poll_round round;
	uint32_t way = !run->rx.way;
	unsigned int i, n;

	/* The last round from this image may still be retransmitted. */
	reap_down_to(run, run->params.depth - 1);
	mroce_poll_describe(&run->params, way, run->posted, &round);
	mroce_poll_paint(&run->params, way, &round, image);
	n = build(run, &round, image, sge, wr);
	for (i = 0; i + 1 < n && round.chained; i++)
		wr[i].next = &wr[i + 1];
	for (i = 0; i < (round.chained ? 1 : n); i++)
		post(run, &wr[i]);
	run->posted++;
}

/* Nothing has come for long: look for the reason. */
static void check_trouble(struct run *run)
{
	reap(run);
	if (mroce_peer_is_gone(run->peer))
		mroce_die("peer is gone");
	if (mroce_clock_ns() > run->deadline_ns)
		mroce_die("deadline: posted %lu, completed %lu, seen %lu of %lu", run->posted,
			  run->completed, run->rx.next, run->params.rounds);
}

/* The client is ahead by as many rounds as there are slots, the server only answers. */
static void play(struct run *run)
{
	uint64_t rounds = run->params.rounds, lead = run->host ? run->params.depth : 0;
	uint64_t last_ns = mroce_clock_ns();
	uint32_t spins = 0;

	while (run->rx.next < rounds || run->posted < rounds) {
		while (run->posted < rounds && run->posted < run->rx.next + lead)
			post_round(run);
		if (mroce_poll_look(&run->rx)) {
			spins = 0;
			last_ns = 0;
			continue;
		}
		if (++spins % SPINS_PER_LOOK_AT_CLOCK)
			continue;
		if (!last_ns)
			last_ns = mroce_clock_ns();
		if (mroce_clock_ns() - last_ns < IDLE_NS)
			continue;
		check_trouble(run);
		last_ns = 0;
	}
	reap_down_to(run, 0);
}

static void finish(struct run *run)
{
	barrier(run, "end");
	if (ibv_destroy_qp(run->qp) || ibv_destroy_cq(run->cq))
		mroce_die("destroying the queue pair failed: %s", strerror(errno));
	while (run->mrs) {
		if (ibv_dereg_mr(run->mr[--run->mrs]))
			mroce_die("dereg_mr: %s", strerror(errno));
	}
	mroce_dev_close(&run->dev);
}

static void agree(struct run *run)
{
	run->peer = run->host ? mroce_peer_connect(run->host, run->port, run->deadline_ns) :
				mroce_peer_accept(run->port, run->deadline_ns);
	if (run->peer < 0)
		mroce_die("no connection to the peer");
	if (run->host && mroce_peer_send(run->peer, &run->params, sizeof(run->params)))
		mroce_die("peer is gone (parameters)");
	if (!run->host && mroce_peer_receive(run->peer, &run->params, sizeof(run->params),
					     run->deadline_ns))
		mroce_die("peer is gone or too slow (parameters)");
	if (run->params.magic != MROCE_POLLING_MAGIC)
		mroce_die("the peer is another program");
}

static void show_usage(void)
{
	fprintf(stderr,
		"usage: mroce_polling [options] [server]\n"
		"  -D, --device NAME     verbs device (first one)\n"
		"  -p, --port PORT       TCP port to meet on (18700)\n"
		"  -t, --deadline S      give up after this time (60)\n"
		"client only, told to the server:\n"
		"  -m, --mode MODE       flag (after the data), last (byte of a packet),\n"
		"                        record (number in a record of several) (flag)\n"
		"  -n, --rounds N        (1000)\n"
		"  -s, --size BYTES      largest WRITE (262144 for flag, else 4096);\n"
		"                        for last and record no more than one packet\n"
		"  -d, --depth N         rounds in flight (16)\n"
		"  -S, --seed N          of sizes, places and bytes (1)\n"
		"      --relaxed WHAT    relaxed ordering for none, data (flags are apart then),\n"
		"                        all (none)\n"
		"      --unordered       count what is out of order between WRITEs, do not fail\n");
	exit(2);
}

static const struct option long_options[] = {
	{ "device", 1, NULL, 'D' }, { "port", 1, NULL, 'p' }, { "deadline", 1, NULL, 't' },
	{ "mode", 1, NULL, 'm' }, { "rounds", 1, NULL, 'n' }, { "size", 1, NULL, 's' },
	{ "depth", 1, NULL, 'd' }, { "seed", 1, NULL, 'S' }, { "relaxed", 1, NULL, 'r' },
	{ "unordered", 0, NULL, 'u' }, { }
};

static uint32_t parse_mode(const char *text)
{
	uint32_t mode = 0;

	while (mode < MROCE_POLL_MODES && strcmp(text, mode_name[mode]))
		mode++;
	return mode;
}

static void parse_relaxed(struct mroce_poll_params *p, const char *what)
{
	p->relaxed_flags = !strcmp(what, "all");
	p->relaxed_data = p->relaxed_flags || !strcmp(what, "data");
	if (!p->relaxed_data && strcmp(what, "none"))
		show_usage();
}

static void parse_option(struct run *run, int opt, const char *arg)
{
	struct mroce_poll_params *p = &run->params;

	switch (opt) {
	case 'D':
		run->device = arg;
		break;
	case 'p':
		run->port = arg;
		break;
	case 't':
		run->deadline_ns = run->start_ns + strtoull(arg, NULL, 0) * 1000000000ull;
		break;
	case 'm':
		p->mode = parse_mode(arg);
		break;
	case 'n':
		p->rounds = strtoull(arg, NULL, 0);
		break;
	case 's':
		p->max_bytes = strtoul(arg, NULL, 0);
		break;
	case 'd':
		p->depth = strtoul(arg, NULL, 0);
		break;
	case 'S':
		p->seed = strtoull(arg, NULL, 0);
		break;
	case 'r':
		parse_relaxed(p, arg);
		break;
	case 'u':
		p->unordered = true;
		break;
	default:
		show_usage();
	}
}

static void parse(struct run *run, int argc, char **argv)
{
	struct mroce_poll_params *p = &run->params;
	int opt;

	while ((opt = getopt_long(argc, argv, "D:p:t:m:n:s:d:S:", long_options, NULL)) != -1)
		parse_option(run, opt, optarg);
	run->host = argv[optind];
	if (p->mode >= MROCE_POLL_MODES || !p->rounds || !p->depth || p->depth > 1024 ||
	    p->max_bytes > 1u << 24)
		show_usage();
	if (!p->max_bytes)
		p->max_bytes = p->mode == MROCE_POLL_FLAG ? 262144 : 4096;
	/* the largest record */
	if (p->max_bytes < 128 && p->mode == MROCE_POLL_RECORD)
		show_usage();
}

int main(int argc, char **argv)
{
	static struct run run = {
		.port = "18700",
		.params = {
			.magic = MROCE_POLLING_MAGIC, .rounds = 1000, .depth = 16, .seed = 1,
		},
	};
	uint64_t began_ns;

	run.start_ns = mroce_clock_ns();
	run.deadline_ns = run.start_ns + 60000000000ull;
	parse(&run, argc, argv);
	signal(SIGALRM, on_alarm);
	alarm((run.deadline_ns - run.start_ns) / 1000000000ull + 10);
	if (mroce_dev_open(&run.dev, run.device, -1, false))
		mroce_die("no device");
	agree(&run);
	create_memory(&run);
	create_qp(&run);
	connect_qp(&run);
	began_ns = mroce_clock_ns();
	play(&run);
	began_ns = mroce_clock_ns() - began_ns;
	finish(&run);
	printf("OK %s: %lu rounds, %lu early, %lu overtaken, %.3f s\n", mode_name[run.params.mode],
	       run.rx.next, run.rx.early, run.rx.overtaken, began_ns / 1e9);
	return 0;
}
