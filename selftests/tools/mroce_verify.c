// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_verify: checks every byte, order and immediate of RC traffic.
 *
 *   server:  mroce_verify -D mr1
 *   client:  mroce_verify -D mr0 -q 4 -n 10000 10.9.0.2
 *
 * The client's options rule; the server takes them over. The last line is
 * "OK ..." (exit 0) or "FAIL ..." (exit 1). See verify.h for the method.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "verify.h"

#define WC_BATCH 16
#define IDLE_ROUNDS 256

/* struct run - one execution: the command line and what it opened */
struct run {
	struct mroce_params params;
	const char *device;
	const char *host;
	const char *port;
	int gid_index;
	bool ipv6;
	bool events;
	uint64_t start_ns;
	uint64_t deadline_ns;
	struct mroce_dev dev;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct mroce_end *end;
	int peer;
};

/**
 * mroce_verify_exit - end the failure line and the program
 */
void mroce_verify_exit(void)
{
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

/* Only if a system call does not come back: the main loop has its own deadline. */
static void on_alarm(int sig)
{
	static const char text[] = "FAIL stuck in a system call past the deadline\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void *map_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		mroce_die("no memory for %zu bytes", bytes);
	return p;
}

static struct ibv_mr *register_pages(struct run *run, void *p, size_t bytes, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(run->dev.pd, p, bytes, access);

	if (!mr)
		mroce_die("reg_mr of %zu bytes: %s", bytes, strerror(errno));
	return mr;
}

static void open_qp(struct run *run, struct mroce_end *end)
{
	struct ibv_qp_init_attr init = {
		.send_cq = run->send_cq, .recv_cq = run->recv_cq, .qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = end->sq.capacity, .max_recv_wr = run->params.depth,
			.max_send_sge = run->params.sges, .max_recv_sge = run->params.sges,
			.max_inline_data = run->params.use_inline ? 64 : 0,
		},
	};
	int err;

	end->qp = ibv_create_qp(run->dev.pd, &init);
	if (!end->qp)
		mroce_die("create_qp: %s", strerror(errno));
	end->max_inline = init.cap.max_inline_data;
	err = mroce_qp_to_init(end->qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE);
	if (err)
		mroce_die("modify_qp to INIT: %s", strerror(err));
}

static void create_buffers(struct run *run, struct mroce_end *end)
{
	size_t slots_bytes = (size_t)end->slot_bytes * run->params.depth;
	int remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct mroce_ctl *ctl = map_pages(sizeof(*ctl));

	mroce_pattern_fill(ctl, sizeof(*ctl), 0, 0);
	mroce_pattern_fill(ctl->guard0, sizeof(ctl->guard0), end->index, 0);
	mroce_pattern_fill(ctl->guard1, sizeof(ctl->guard1), end->index, 0);
	mroce_pattern_fill(ctl->guard2, sizeof(ctl->guard2), end->index, 0);
	ctl->credit = 0;
	ctl->flag = 0;
	end->ctl = ctl;
	end->ctl_mr = register_pages(run, ctl, sizeof(*ctl), remote);
	end->sq.word = map_pages(end->sq.entries * sizeof(*end->sq.word));
	end->sq.word_mr = register_pages(run, end->sq.word,
					 end->sq.entries * sizeof(*end->sq.word), 0);
	end->sq.wr = calloc(end->sq.entries, sizeof(*end->sq.wr));
	end->rx.msg = calloc(run->params.depth, sizeof(*end->rx.msg));
	if (!end->sq.wr || !end->rx.msg)
		mroce_die("no memory");
	end->tx.slots = map_pages(slots_bytes);
	end->tx.mr = register_pages(run, end->tx.slots, slots_bytes, 0);
	end->rx.slots = map_pages(slots_bytes);
	end->rx.mr = register_pages(run, end->rx.slots, slots_bytes, remote |
				    (run->params.relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0));
}

static void create_end(struct run *run, uint32_t index)
{
	struct mroce_end *end = &run->end[index];
	bool client = run->host;

	end->params = &run->params;
	end->index = index;
	end->slot_bytes = mroce_msg_slot_bytes(&run->params);
	end->sq.capacity = 2 * run->params.depth + 4;
	for (end->sq.entries = 8; end->sq.entries < end->sq.capacity; end->sq.entries *= 2)
		;
	end->tx.active = client || run->params.bidir;
	end->rx.active = !client || run->params.bidir;
	end->tx_flow = index * 2 + client;
	end->rx_flow = index * 2 + !client;
	open_qp(run, end);
	create_buffers(run, end);
	mroce_rx_start(end);
	end->local = (struct mroce_end_info){
		.addr = {
			.gid = run->dev.gid, .qpn = end->qp->qp_num,
			.psn = mroce_mix(run->start_ns + index) & 0xffffff,
			.mtu = run->dev.port.active_mtu,
		},
		.data_rkey = end->rx.mr->rkey, .data_addr = (uintptr_t)end->rx.slots,
		.ctl_rkey = end->ctl_mr->rkey, .ctl_addr = (uintptr_t)end->ctl,
	};
}

static void create_cqs(struct run *run)
{
	uint32_t qps = run->params.qps;

	run->channel = ibv_create_comp_channel(run->dev.ctx);
	if (!run->channel)
		mroce_die("create_comp_channel: %s", strerror(errno));
	run->send_cq = ibv_create_cq(run->dev.ctx, qps * (2 * run->params.depth + 4), NULL,
				     run->channel, 0);
	run->recv_cq = ibv_create_cq(run->dev.ctx, qps * run->params.depth, NULL, run->channel, 0);
	if (!run->send_cq || !run->recv_cq)
		mroce_die("create_cq: %s", strerror(errno));
	fcntl(run->channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(run->dev.ctx->async_fd, F_SETFL, O_NONBLOCK);
	if (!run->events)
		return;
	if (ibv_req_notify_cq(run->send_cq, 0) || ibv_req_notify_cq(run->recv_cq, 0))
		mroce_die("req_notify_cq failed");
}

static void connect_ends(struct run *run)
{
	struct mroce_end *end;
	uint32_t i;
	int err;

	for (i = 0; i < run->params.qps; i++) {
		end = &run->end[i];
		if (mroce_peer_exchange(run->peer, &end->local, &end->remote, sizeof(end->local),
					run->deadline_ns))
			mroce_die("peer is gone or too slow (addresses)");
		err = mroce_qp_to_rtr(end->qp, &run->dev, &end->remote.addr, &run->params.timing);
		if (err)
			mroce_die("modify_qp to RTR: %s", strerror(err));
		err = mroce_qp_to_rts(end->qp, end->local.addr.psn, &run->params.timing);
		if (err)
			mroce_die("modify_qp to RTS: %s", strerror(err));
	}
}

static void barrier(struct run *run, const char *what)
{
	char out = 'b', in;

	if (mroce_peer_exchange(run->peer, &out, &in, 1, run->deadline_ns))
		mroce_die("peer is gone or too slow (%s)", what);
}

static bool drain(struct run *run, struct ibv_cq *cq)
{
	struct ibv_wc wc[WC_BATCH];
	struct mroce_end *end;
	bool any = false;
	int i, n;

	while ((n = ibv_poll_cq(cq, WC_BATCH, wc)) > 0) {
		any = true;
		for (i = 0; i < n; i++) {
			if (wc[i].wr_id >> 48 >= run->params.qps)
				mroce_die("completion with wr_id %#lx", wc[i].wr_id);
			end = &run->end[wc[i].wr_id >> 48];
			if (wc[i].status != IBV_WC_SUCCESS)
				mroce_die("qp %u: %s completion: %s (vendor %#x)", end->index,
					  cq == run->send_cq ? "send" : "receive",
					  ibv_wc_status_str(wc[i].status), wc[i].vendor_err);
			if (wc[i].qp_num != end->qp->qp_num)
				mroce_die("qp %u: completion carries qp_num %u", end->index,
					  wc[i].qp_num);
			if (cq == run->send_cq)
				mroce_tx_complete(end, &wc[i]);
			else
				mroce_rx_complete(end, &wc[i]);
		}
	}
	if (n < 0)
		mroce_die("poll_cq failed");
	return any;
}

/* With events a queue is looked at only after its event: a lost one ends in the deadline. */
static bool drain_by_event(struct run *run)
{
	struct ibv_cq *cq;
	bool any = false;
	void *context;

	while (!ibv_get_cq_event(run->channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			mroce_die("req_notify_cq failed");
		any |= drain(run, cq);
	}
	return any;
}

static bool is_finished(const struct run *run)
{
	const struct mroce_end *end;
	uint32_t i;

	for (i = 0; i < run->params.qps; i++) {
		end = &run->end[i];
		if (end->sq.head != end->sq.tail ||
		    (end->tx.active && end->tx.posted != run->params.messages) ||
		    (end->rx.active && end->rx.verified != run->params.messages))
			return false;
	}
	return true;
}

static void check_trouble(struct run *run)
{
	struct ibv_async_event event;
	const struct mroce_end *end = &run->end[0];
	uint32_t i;

	if (!ibv_get_async_event(run->dev.ctx, &event)) {
		ibv_ack_async_event(&event);
		if (event.event_type != IBV_EVENT_COMM_EST &&
		    event.event_type != IBV_EVENT_GID_CHANGE &&
		    event.event_type != IBV_EVENT_PORT_ACTIVE)
			mroce_die("async event: %s", ibv_event_type_str(event.event_type));
	}
	if (mroce_clock_ns() < run->deadline_ns)
		return;
	for (i = 0; i < run->params.qps; i++) {
		end = &run->end[i];
		if (end->sq.head != end->sq.tail || end->rx.verified != run->params.messages)
			break;
	}
	mroce_die("deadline: qp %u sent %lu retired %lu credit %lu got %lu checked %lu open %lu",
		  end->index, end->tx.posted, end->tx.retired, end->tx.credit, end->rx.received,
		  end->rx.verified, end->sq.head - end->sq.tail);
}

static void idle(struct run *run, uint32_t rounds)
{
	struct pollfd pfd = { .events = POLLIN };

	if (run->events) {
		/* Credits and flags raise no event: look again after a millisecond. */
		pfd.fd = run->channel->fd;
		poll(&pfd, 1, 1);
	} else {
		sched_yield();
	}
	if (rounds % IDLE_ROUNDS)
		return;
	check_trouble(run);
}

static void transfer(struct run *run)
{
	uint32_t i, rounds = 0;
	bool any;

	while (!is_finished(run)) {
		any = run->events ? drain_by_event(run) :
				    drain(run, run->send_cq) | drain(run, run->recv_cq);
		for (i = 0; i < run->params.qps; i++)
			any |= mroce_tx_advance(&run->end[i]) | mroce_rx_advance(&run->end[i]);
		if (any && ++rounds % IDLE_ROUNDS)
			continue;
		idle(run, ++rounds);
		/* The peer leaves its socket quiet until it has finished as well. */
		if (!(rounds % IDLE_ROUNDS) && mroce_peer_is_gone(run->peer))
			mroce_die("peer is gone");
	}
}

static void finish(struct run *run)
{
	struct timespec linger = {
		.tv_sec = run->params.linger_ms / 1000,
		.tv_nsec = run->params.linger_ms % 1000 * 1000000,
	};
	struct mroce_end *end;
	uint32_t i;

	barrier(run, "end of traffic");
	nanosleep(&linger, NULL);
	drain(run, run->send_cq);
	drain(run, run->recv_cq);
	for (i = 0; i < run->params.qps; i++)
		mroce_rx_check_idle(&run->end[i]);
	barrier(run, "last check");
	for (i = 0; i < run->params.qps; i++) {
		end = &run->end[i];
		if (ibv_destroy_qp(end->qp) || ibv_dereg_mr(end->rx.mr) ||
		    ibv_dereg_mr(end->tx.mr) || ibv_dereg_mr(end->ctl_mr) ||
		    ibv_dereg_mr(end->sq.word_mr))
			mroce_die("destroying qp %u failed: %s", i, strerror(errno));
	}
	if (ibv_destroy_cq(run->send_cq) || ibv_destroy_cq(run->recv_cq) ||
	    ibv_destroy_comp_channel(run->channel))
		mroce_die("destroying the completion queues failed: %s", strerror(errno));
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
	if (run->params.magic != MROCE_VERIFY_MAGIC)
		mroce_die("the peer is another program");
}

static uint32_t parse_ops(const char *text)
{
	uint32_t mask = 0, i;
	char *copy = strdup(text), *name, *rest = copy;

	while ((name = strsep(&rest, ","))) {
		if (!strcmp(name, "mix"))
			mask |= (1u << mroce_ops_count) - 1;
		for (i = 0; i < mroce_ops_count; i++) {
			if (!strcmp(name, mroce_ops[i].name))
				mask |= 1u << i;
		}
	}
	free(copy);
	return mask;
}

static void show_usage(void)
{
	fprintf(stderr,
		"usage: mroce_verify [options] [server]\n"
		"  -D, --device NAME     verbs device (first one)\n"
		"  -x, --gid-index N     address (a RoCE v2 IPv4 one)\n"
		"  -6                    choose an IPv6 address\n"
		"  -p, --port PORT       TCP port to meet on (18600)\n"
		"  -t, --deadline S      give up after this time (60)\n"
		"      --events yes|no   wait for completion events (no)\n"
		"client only, told to the server:\n"
		"  -q, --qps N           queue pairs (1)\n"
		"  -n, --messages N      per queue pair and direction (1000)\n"
		"  -s, --size BYTES      largest message (65536)\n"
		"  -d, --depth N         messages in flight per queue pair (16)\n"
		"  -S, --seed N          of sizes, places and bytes (1)\n"
		"  -o, --ops LIST        of send,send_imm,write,write_imm or mix (mix)\n"
		"      --sges N          pieces per message, at most (1)\n"
		"      --unsignaled K    every K-th work request is signaled (1)\n"
		"      --inline          send inline what fits\n"
		"      --relaxed         register memory with relaxed ordering\n"
		"      --bidir           both ends send\n"
		"      --no-poll         WRITEs are visible by later completions only\n"
		"      --linger MS       wait for late duplicates at the end (200)\n"
		"      --timeout N       local ACK timeout code (18: about 1 s)\n"
		"      --retry N         retry count (7)\n");
	exit(2);
}

enum {
	OPT_SGES = 256,
	OPT_UNSIGNALED,
	OPT_INLINE,
	OPT_RELAXED,
	OPT_BIDIR,
	OPT_NO_POLL,
	OPT_LINGER,
	OPT_TIMEOUT,
	OPT_RETRY,
	OPT_EVENTS,
};

static const struct option long_options[] = {
	{ "device", 1, NULL, 'D' }, { "gid-index", 1, NULL, 'x' }, { "port", 1, NULL, 'p' },
	{ "deadline", 1, NULL, 't' }, { "qps", 1, NULL, 'q' }, { "messages", 1, NULL, 'n' },
	{ "size", 1, NULL, 's' }, { "depth", 1, NULL, 'd' }, { "seed", 1, NULL, 'S' },
	{ "ops", 1, NULL, 'o' }, { "sges", 1, NULL, OPT_SGES },
	{ "unsignaled", 1, NULL, OPT_UNSIGNALED }, { "inline", 0, NULL, OPT_INLINE },
	{ "relaxed", 0, NULL, OPT_RELAXED }, { "bidir", 0, NULL, OPT_BIDIR },
	{ "no-poll", 0, NULL, OPT_NO_POLL },
	{ "linger", 1, NULL, OPT_LINGER }, { "timeout", 1, NULL, OPT_TIMEOUT },
	{ "retry", 1, NULL, OPT_RETRY }, { "events", 1, NULL, OPT_EVENTS }, { }
};

static void parse_option(struct run *run, int opt, const char *arg)
{
	struct mroce_params *p = &run->params;
	uint64_t number = arg ? strtoull(arg, NULL, 0) : 1;

	switch (opt) {
	case 'D':
		run->device = arg;
		break;
	case 'x':
		run->gid_index = number;
		break;
	case '6':
		run->ipv6 = true;
		break;
	case 'p':
		run->port = arg;
		break;
	case 't':
		run->deadline_ns = run->start_ns + number * 1000000000ull;
		break;
	case 'q':
		p->qps = number;
		break;
	case 'n':
		p->messages = number;
		break;
	case 's':
		p->max_bytes = number;
		break;
	case 'd':
		p->depth = number;
		break;
	case 'S':
		p->seed = number;
		break;
	case 'o':
		p->ops = parse_ops(arg);
		break;
	case OPT_SGES:
		p->sges = number;
		break;
	case OPT_UNSIGNALED:
		p->unsignaled = number;
		break;
	case OPT_INLINE:
		p->use_inline = true;
		break;
	case OPT_RELAXED:
		p->relaxed = true;
		break;
	case OPT_BIDIR:
		p->bidir = true;
		break;
	case OPT_NO_POLL:
		p->poll = false;
		break;
	case OPT_LINGER:
		p->linger_ms = number;
		break;
	case OPT_TIMEOUT:
		p->timing.timeout = number;
		break;
	case OPT_RETRY:
		p->timing.retry_cnt = number;
		break;
	case OPT_EVENTS:
		run->events = !strcmp(arg, "yes");
		break;
	default:
		show_usage();
	}
}

static void parse(struct run *run, int argc, char **argv)
{
	const struct mroce_params *p = &run->params;
	int opt;

	while ((opt = getopt_long(argc, argv, "D:x:6p:t:q:n:s:d:S:o:", long_options, NULL)) != -1)
		parse_option(run, opt, optarg);
	run->host = argv[optind];
	if (!p->qps || p->qps > 4096 || !p->messages || !p->depth || !p->ops || !p->sges ||
	    p->sges > MROCE_SGES_MAX || !p->unsignaled || p->unsignaled > p->depth ||
	    p->max_bytes > 1u << 30 || (!p->poll && !(p->ops & MROCE_OPS_RECV)))
		show_usage();
}

int main(int argc, char **argv)
{
	static struct run run = {
		.port = "18600",
		.gid_index = -1,
		.params = {
			.magic = MROCE_VERIFY_MAGIC, .qps = 1, .max_bytes = 65536, .depth = 16,
			.sges = 1, .unsignaled = 1, .poll = 1, .linger_ms = 200, .messages = 1000,
			.seed = 1,
			.timing = {
				.timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12,
			},
		},
	};
	uint64_t began_ns;
	uint32_t i;

	run.start_ns = mroce_clock_ns();
	run.deadline_ns = run.start_ns + 60000000000ull;
	run.params.ops = parse_ops("mix");
	parse(&run, argc, argv);
	signal(SIGALRM, on_alarm);
	alarm((run.deadline_ns - run.start_ns) / 1000000000ull + 10);
	if (mroce_dev_open(&run.dev, run.device, run.gid_index, run.ipv6))
		mroce_die("no device");
	agree(&run);
	run.end = calloc(run.params.qps, sizeof(*run.end));
	if (!run.end)
		mroce_die("no memory");
	create_cqs(&run);
	for (i = 0; i < run.params.qps; i++)
		create_end(&run, i);
	connect_ends(&run);
	barrier(&run, "start");
	began_ns = mroce_clock_ns();
	transfer(&run);
	began_ns = mroce_clock_ns() - began_ns;
	finish(&run);
	printf("OK %u QPs, %lu messages each, %.3f s\n", run.params.qps, run.params.messages,
	       began_ns / 1e9);
	return 0;
}
