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
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "verify.h"

#define WC_BATCH 16
#define IDLE_ROUNDS 256
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* struct run - one execution: the command line and what it opened */
struct run {
	struct mroce_options options;
	struct mroce_params *params;
	uint64_t start_ns;
	uint64_t deadline_ns;
	struct mroce_dev dev;
	struct ibv_comp_channel *channel;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct mroce_end *end;
	struct mroce_tally tally;
	int peer;
};

/* Only if a system call does not come back: the main loop has its own deadline. */
static void on_alarm(int sig)
{
	static const char text[] = "FAIL stuck in a system call past the deadline\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static void open_qp(struct run *run, struct mroce_end *end)
{
	struct ibv_qp_init_attr init = {
		.send_cq = run->send_cq, .recv_cq = run->recv_cq, .qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = end->sq.capacity, .max_recv_wr = end->params.depth,
			.max_send_sge = end->params.sges, .max_recv_sge = end->params.sges,
			.max_inline_data = end->params.use_inline ? 64 : 0,
		},
	};
	int err;

	end->qp = ibv_create_qp(run->dev.pd, &init);
	if (!end->qp)
		mroce_die("create_qp: %s", strerror(errno));
	end->max_inline = init.cap.max_inline_data;
	err = mroce_qp_to_init(end->qp, ACCESS | IBV_ACCESS_REMOTE_ATOMIC);
	if (err)
		mroce_die("modify_qp to INIT: %s", strerror(err));
}

static void create_ctl(struct run *run, struct mroce_end *end)
{
	struct mroce_ctl *ctl = mroce_pages_map(sizeof(*ctl));
	uint32_t i;

	mroce_pattern_fill(ctl->guard0, sizeof(ctl->guard0), end->index, 0);
	mroce_pattern_fill(ctl->guard1, sizeof(ctl->guard1), end->index, 0);
	mroce_pattern_fill(ctl->guard2, sizeof(ctl->guard2), end->index, 0);
	mroce_pattern_fill(ctl->guard3, sizeof(ctl->guard3), end->index, 0);
	mroce_pattern_fill(ctl->guard4, sizeof(ctl->guard4), end->index, 0);
	for (i = 0; i < MROCE_WORDS; i++) {
		end->tx.word[i] = mroce_msg_word(&end->params, end->tx_flow, i);
		end->rx.word[i] = mroce_msg_word(&end->params, end->rx_flow, i);
		ctl->word[i] = end->rx.word[i];
	}
	end->ctl = ctl;
	end->ctl_mr = mroce_pages_register(run->dev.pd, ctl, sizeof(*ctl), IBV_ACCESS_LOCAL_WRITE |
					   IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
}

static void create_buffers(struct run *run, struct mroce_end *end)
{
	struct mroce_sq *sq = &end->sq;
	uint64_t key = end->params.seed ^ ((uint64_t)end->index << 32);
	bool relaxed = end->params.relaxed;

	create_ctl(run, end);
	sq->word = mroce_pages_map(sq->entries * sizeof(*sq->word));
	sq->word_mr = mroce_pages_register(run->dev.pd, sq->word, sq->entries * sizeof(*sq->word),
					   0);
	sq->wr = calloc(sq->entries, sizeof(*sq->wr));
	end->rx.msg = calloc(end->params.depth, sizeof(*end->rx.msg));
	end->tx.expect = calloc(end->params.depth, sizeof(*end->tx.expect));
	if (!sq->wr || !end->rx.msg || !end->tx.expect)
		mroce_die("no memory");
	mroce_slots_create(&end->tx.slots, run->dev.pd, &end->params, key, IBV_ACCESS_LOCAL_WRITE);
	mroce_slots_create(&end->rx.slots, run->dev.pd, &end->params, ~key,
			   ACCESS | (relaxed ? IBV_ACCESS_RELAXED_ORDERING : 0));
}

static uint32_t sq_capacity(const struct mroce_params *params)
{
	return 2 * params->depth + 4;
}

static void create_end(struct run *run, uint32_t index)
{
	struct mroce_end *end = &run->end[index];
	bool client = run->options.host;

	end->tally = &run->tally;
	end->index = index;
	end->sq.capacity = sq_capacity(&end->params);
	for (end->sq.entries = 8; end->sq.entries < end->sq.capacity; end->sq.entries *= 2)
		;
	end->tx.active = client || run->params->bidir;
	end->rx.active = !client || run->params->bidir;
	end->tx.end = run->params->messages;
	end->rx.end = run->params->messages;
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
		.data_rkey = end->rx.slots.mr->rkey, .data_addr = (uintptr_t)end->rx.slots.base,
		.ctl_rkey = end->ctl_mr->rkey, .ctl_addr = (uintptr_t)end->ctl,
		.count_rkey = run->tally.count_mr->rkey, .count_addr = (uintptr_t)run->tally.count,
	};
}

static void arm(struct run *run, struct ibv_cq *cq)
{
	bool solicited = run->options.events == MROCE_EVENTS_SOLICITED && cq == run->recv_cq;

	if (ibv_req_notify_cq(cq, solicited))
		mroce_die("req_notify_cq failed");
}

static void create_cqs(struct run *run)
{
	uint32_t i, sends = 0, recvs = 0;

	for (i = 0; i < run->params->qps; i++) {
		mroce_params_vary(run->params, i, &run->end[i].params);
		sends += sq_capacity(&run->end[i].params);
		recvs += run->end[i].params.depth;
	}
	run->channel = ibv_create_comp_channel(run->dev.ctx);
	if (!run->channel)
		mroce_die("create_comp_channel: %s", strerror(errno));
	run->send_cq = ibv_create_cq(run->dev.ctx, sends, NULL, run->channel, 0);
	run->recv_cq = ibv_create_cq(run->dev.ctx, recvs, NULL, run->channel, 0);
	if (!run->send_cq || !run->recv_cq)
		mroce_die("create_cq: %s", strerror(errno));
	fcntl(run->channel->fd, F_SETFL, O_NONBLOCK);
	fcntl(run->dev.ctx->async_fd, F_SETFL, O_NONBLOCK);
	if (run->options.events == MROCE_EVENTS_NONE)
		return;
	arm(run, run->send_cq);
	arm(run, run->recv_cq);
}

static void connect_ends(struct run *run)
{
	struct mroce_end *end;
	uint32_t i;
	int err;

	for (i = 0; i < run->params->qps; i++) {
		end = &run->end[i];
		if (mroce_peer_exchange(run->peer, &end->local, &end->remote, sizeof(end->local),
					run->deadline_ns))
			mroce_die("peer is gone or too slow (addresses)");
		end->params.timing.dest_rd_atomic = run->params->timing.rd_atomic;
		err = mroce_qp_to_rtr(end->qp, &run->dev, &end->remote.addr, &end->params.timing);
		if (err)
			mroce_die("modify_qp to RTR: %s", strerror(err));
		err = mroce_qp_to_rts(end->qp, end->local.addr.psn, &end->params.timing);
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
			if (wc[i].wr_id >> 48 >= run->params->qps)
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
		arm(run, cq);
		any |= drain(run, cq);
	}
	return any;
}

static bool is_finished(const struct run *run)
{
	const struct mroce_end *end;
	uint32_t i;

	for (i = 0; i < run->params->qps; i++) {
		end = &run->end[i];
		if (!mroce_tx_is_finished(end) ||
		    (end->rx.active && end->rx.verified != end->rx.end))
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
		/* A port that is down may come back in time. */
		if (event.event_type != IBV_EVENT_COMM_EST &&
		    event.event_type != IBV_EVENT_GID_CHANGE &&
		    event.event_type != IBV_EVENT_PORT_ACTIVE &&
		    event.event_type != IBV_EVENT_PORT_ERR)
			mroce_die("async event: %s", ibv_event_type_str(event.event_type));
	}
	if (mroce_clock_ns() < run->deadline_ns)
		return;
	for (i = 0; i < run->params->qps; i++) {
		end = &run->end[i];
		if (!mroce_tx_is_finished(end) ||
		    (end->rx.active && end->rx.verified != end->rx.end))
			break;
	}
	mroce_die("deadline: qp %u sent %lu retired %lu credit %lu got %lu checked %lu open %lu",
		  end->index, end->tx.posted, end->tx.retired, end->tx.credit, end->rx.received,
		  end->rx.verified, end->sq.head - end->sq.tail);
}

static void idle(struct run *run, uint32_t rounds)
{
	struct pollfd pfd = { .events = POLLIN };

	if (run->options.events) {
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
		any = run->options.events ? drain_by_event(run) :
				    drain(run, run->send_cq) | drain(run, run->recv_cq);
		for (i = 0; i < run->params->qps; i++)
			any |= mroce_tx_advance(&run->end[i]) | mroce_rx_advance(&run->end[i]);
		if (any && ++rounds % IDLE_ROUNDS)
			continue;
		idle(run, ++rounds);
		/* The peer leaves its socket quiet until it has finished as well. */
		if (!(rounds % IDLE_ROUNDS) && mroce_peer_is_gone(run->peer))
			mroce_die("peer is gone");
	}
}

static void destroy(struct run *run)
{
	struct mroce_end *end;
	uint32_t i;

	for (i = 0; i < run->params->qps; i++) {
		end = &run->end[i];
		if (ibv_destroy_qp(end->qp) || ibv_dereg_mr(end->rx.slots.mr) ||
		    ibv_dereg_mr(end->tx.slots.mr) || ibv_dereg_mr(end->ctl_mr) ||
		    ibv_dereg_mr(end->sq.word_mr))
			mroce_die("destroying qp %u failed: %s", i, strerror(errno));
	}
	if (ibv_dereg_mr(run->tally.count_mr) || ibv_destroy_cq(run->send_cq) ||
	    ibv_destroy_cq(run->recv_cq) || ibv_destroy_comp_channel(run->channel))
		mroce_die("destroying the completion queues failed: %s", strerror(errno));
	mroce_dev_close(&run->dev);
}

static void finish(struct run *run)
{
	struct timespec linger = {
		.tv_sec = run->params->linger_ms / 1000,
		.tv_nsec = run->params->linger_ms % 1000 * 1000000,
	};
	uint64_t peer_counted;
	uint32_t i;

	if (mroce_peer_exchange(run->peer, &run->tally.counted, &peer_counted,
				sizeof(peer_counted), run->deadline_ns))
		mroce_die("peer is gone or too slow (end of traffic)");
	nanosleep(&linger, NULL);
	drain(run, run->send_cq);
	drain(run, run->recv_cq);
	for (i = 0; i < run->params->qps; i++) {
		mroce_tx_check_idle(&run->end[i]);
		mroce_rx_check_idle(&run->end[i]);
	}
	mroce_count_check(&run->tally, peer_counted);
	barrier(run, "last check");
	destroy(run);
}

static uint64_t excess(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Return: exit status */
static int report(const struct run *run, double seconds)
{
	const struct mroce_tally *t = &run->tally;
	uint64_t lost = excess(t->sends_due, t->sends_seen) + excess(t->recvs_due, t->recvs_seen);
	uint64_t more = excess(t->sends_seen, t->sends_due) + excess(t->recvs_seen, t->recvs_due);
	bool good = !t->wrong && !lost && !more;

	printf("%s %u QPs, sent %lu messages (%lu READs and atomics, %lu on the shared word), ",
	       good ? "OK" : "FAIL", run->params->qps, t->messages, t->fetches, t->counted);
	printf("%lu bytes, checked %lu messages, %.3f s: wrong %lu, lost %lu, doubled %lu\n",
	       t->bytes, t->checked, seconds, t->wrong, lost, more);
	return !good;
}

static void agree(struct run *run)
{
	const char *host = run->options.host, *port = run->options.port;

	run->peer = host ? mroce_peer_connect(host, port, run->deadline_ns) :
			   mroce_peer_accept(port, run->deadline_ns);
	if (run->peer < 0)
		mroce_die("no connection to the peer");
	if (host && mroce_peer_send(run->peer, run->params, sizeof(*run->params)))
		mroce_die("peer is gone (parameters)");
	if (!host && mroce_peer_receive(run->peer, run->params, sizeof(*run->params),
					run->deadline_ns))
		mroce_die("peer is gone or too slow (parameters)");
	if (run->params->magic != MROCE_VERIFY_MAGIC)
		mroce_die("the peer is another program");
}

static struct run run;

/* SIGUSR1: with --seconds, the time is up. */
static void on_enough(int sig)
{
	uint32_t i;

	(void)sig;
	for (i = 0; i < run.params->qps; i++)
		run.end[i].stop_ns = 0;
}

int main(int argc, char **argv)
{
	uint64_t began_ns;
	uint32_t i;

	mroce_options_parse(&run.options, argc, argv);
	run.params = &run.options.params;
	run.start_ns = mroce_clock_ns();
	run.deadline_ns = run.start_ns + run.options.deadline_s * 1000000000ull;
	signal(SIGALRM, on_alarm);
	alarm(run.options.deadline_s + 10);
	if (mroce_dev_open(&run.dev, run.options.device, run.options.gid_index, run.options.ipv6))
		mroce_die("no device");
	agree(&run);
	run.end = calloc(run.params->qps, sizeof(*run.end));
	if (!run.end)
		mroce_die("no memory");
	create_cqs(&run);
	mroce_count_create(&run.tally, run.dev.pd);
	for (i = 0; i < run.params->qps; i++)
		create_end(&run, i);
	connect_ends(&run);
	barrier(&run, "start");
	began_ns = mroce_clock_ns();
	for (i = 0; i < run.params->qps; i++)
		run.end[i].stop_ns = began_ns + run.params->seconds * 1000000000ull;
	signal(SIGUSR1, on_enough);
	transfer(&run);
	began_ns = mroce_clock_ns() - began_ns;
	finish(&run);
	return report(&run, began_ns / 1e9);
}
