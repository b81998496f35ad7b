// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_dut: control agent of a device under test. A conformance suite on the
 * other side of the network tells it what the verbs program of the device shall
 * do, and reads what that program has seen.
 *
 *   mroce_dut [-p PORT] [-x GID_INDEX] [-6] DEVICE
 *
 * One TCP connection is one session: a line is a command, each gets one line as
 * answer, "ok ..." or "err ERRNO text". All objects of a session go with it. The
 * commands are described in Documentation/conformance.rst. Nothing here knows
 * mroce: it runs on any device with RC queue pairs.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "tool.h"

#define VERSION 1
#define MAX_MRS 64
#define MAX_QPS 64
#define MAX_SRQS 8
#define LINE_BYTES 16384
#define MAX_READ_BYTES 4096
#define MAX_WORDS 32
#define FOREVER_NS 1000000000000000ull

/**
 * struct region - registered memory
 * @mr: NULL = no such region
 * @buf: its bytes, private pages
 */
struct region {
	struct ibv_mr *mr;
	uint8_t *buf;
};

/**
 * struct pair_end - a QP with a CQ of its own
 * @qp: NULL = no such QP
 * @cq: of both queues
 * @timing: what the last commands have set
 */
struct pair_end {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct mroce_qp_timing timing;
};

/**
 * struct session - one connection of a suite
 * @dev: the device
 * @fd: TCP socket
 * @region: by handle
 * @end: by handle
 * @srq: shared receive queues, by handle
 * @in: bytes received and not yet looked at
 * @in_bytes: how many
 * @out: answer under construction
 */
struct session {
	struct mroce_dev dev;
	int fd;
	struct region region[MAX_MRS];
	struct pair_end end[MAX_QPS];
	struct ibv_srq *srq[MAX_SRQS];
	char in[LINE_BYTES];
	size_t in_bytes;
	char out[LINE_BYTES];
};

/**
 * struct words - a command, cut at its blanks
 * @n: how many
 * @word: the first one is its name, then "key=value"
 */
struct words {
	int n;
	char *word[MAX_WORDS];
};

static struct session session;

/* ---- answers and arguments ---- */
static void __attribute__((format(printf, 2, 3))) answer(struct session *s, const char *fmt, ...)
{
	size_t used = strlen(s->out);
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->out + used, sizeof(s->out) - used, fmt, args);
	va_end(args);
}

static void answer_err(struct session *s, int err)
{
	s->out[0] = '\0';
	answer(s, "err %d %s", err, strerror(err));
}

/* Value of "key=...", or NULL */
static const char *text(const struct words *w, const char *key)
{
	size_t len = strlen(key);
	int i;

	for (i = 1; i < w->n; i++)
		if (!strncmp(w->word[i], key, len) && w->word[i][len] == '=')
			return w->word[i] + len + 1;
	return NULL;
}

static uint64_t number(const struct words *w, const char *key, uint64_t otherwise)
{
	const char *value = text(w, key);

	return value ? strtoull(value, NULL, 0) : otherwise;
}

static struct region *region_of(struct session *s, const struct words *w)
{
	uint64_t handle = number(w, "mr", MAX_MRS);

	return handle < MAX_MRS && s->region[handle].mr ? &s->region[handle] : NULL;
}

static struct pair_end *end_of(struct session *s, const struct words *w)
{
	uint64_t handle = number(w, "qp", MAX_QPS);

	return handle < MAX_QPS && s->end[handle].qp ? &s->end[handle] : NULL;
}

static struct ibv_srq **srq_of(struct session *s, const struct words *w)
{
	uint64_t handle = number(w, "srq", MAX_SRQS);

	return handle < MAX_SRQS && s->srq[handle] ? &s->srq[handle] : NULL;
}

/* Address of [off, off + len) of the region, NULL when that is not all in it */
static uint8_t *bytes_of(struct session *s, const struct words *w, size_t *len)
{
	const struct region *r = region_of(s, w);
	uint64_t off = number(w, "off", 0);

	*len = number(w, "len", 0);
	if (!r || off > r->mr->length || *len > r->mr->length - off)
		return NULL;
	return r->buf + off;
}

static int hex_to_bytes(const char *hex, uint8_t *to, size_t bytes)
{
	unsigned int byte;
	size_t i;

	if (!hex || strlen(hex) != 2 * bytes)
		return -1;
	for (i = 0; i < bytes; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -1;
		to[i] = byte;
	}
	return 0;
}

static void answer_hex(struct session *s, const uint8_t *from, size_t bytes)
{
	size_t used = strlen(s->out), i;

	for (i = 0; i < bytes && used + 2 * i + 2 < sizeof(s->out); i++)
		sprintf(s->out + used + 2 * i, "%02x", from[i]);
}

/* ---- commands: the device and its memory ---- */
static int do_info(struct session *s, const struct words *w)
{
	(void)w;
	answer(s, " version=%d max_srq=%d max_rd_atomic=%d atomic=%d gid=", VERSION,
	       s->dev.attr.max_srq, s->dev.attr.max_qp_rd_atom,
	       s->dev.attr.atomic_cap != IBV_ATOMIC_NONE);
	answer_hex(s, s->dev.gid.raw, sizeof(s->dev.gid.raw));
	return 0;
}

static int access_of(const char *letters)
{
	int access = IBV_ACCESS_LOCAL_WRITE;

	for (; letters && *letters; letters++) {
		switch (*letters) {
		case 'w':
			access |= IBV_ACCESS_REMOTE_WRITE;
			break;
		case 'r':
			access |= IBV_ACCESS_REMOTE_READ;
			break;
		case 'a':
			access |= IBV_ACCESS_REMOTE_ATOMIC;
			break;
		case 'x':
			access |= IBV_ACCESS_RELAXED_ORDERING;
			break;
		case '-':
			break;
		default:
			return -1;
		}
	}
	return access;
}

static int do_mr(struct session *s, const struct words *w)
{
	size_t len = number(w, "len", 4096);
	int access = access_of(text(w, "access"));
	struct region *r;
	int i;

	for (i = 0; i < MAX_MRS && s->region[i].mr; i++)
		;
	if (i == MAX_MRS || access < 0 || !len)
		return EINVAL;
	r = &s->region[i];
	r->buf = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r->buf == MAP_FAILED)
		return errno;
	r->mr = ibv_reg_mr(s->dev.pd, r->buf, len, access);
	if (!r->mr) {
		i = errno;
		munmap(r->buf, len);
		return i;
	}
	answer(s, " mr=%d addr=%" PRIu64 " rkey=%u", i, (uint64_t)(uintptr_t)r->buf, r->mr->rkey);
	return 0;
}

static int region_end(struct region *r)
{
	size_t len = r->mr->length;
	int err = ibv_dereg_mr(r->mr);

	if (err)
		return err;
	munmap(r->buf, len);
	r->mr = NULL;
	return 0;
}

static int do_unmr(struct session *s, const struct words *w)
{
	struct region *r = region_of(s, w);

	return r ? region_end(r) : EINVAL;
}

static int do_fill(struct session *s, const struct words *w)
{
	size_t len;
	uint8_t *at = bytes_of(s, w, &len);

	if (!at)
		return EINVAL;
	mroce_pattern_fill(at, len, number(w, "key", 0), number(w, "start", 0));
	return 0;
}

static int do_check(struct session *s, const struct words *w)
{
	size_t len;
	uint8_t *at = bytes_of(s, w, &len);

	if (!at)
		return EINVAL;
	answer(s, " differs=%td", mroce_pattern_check(at, len, number(w, "key", 0),
						      number(w, "start", 0)));
	return 0;
}

static int do_read(struct session *s, const struct words *w)
{
	size_t len;
	uint8_t *at = bytes_of(s, w, &len);

	if (!at || len > MAX_READ_BYTES)
		return EINVAL;
	answer(s, " bytes=");
	answer_hex(s, at, len);
	return 0;
}

static int do_put(struct session *s, const struct words *w)
{
	size_t len;
	uint8_t *at = bytes_of(s, w, &len);

	return at ? hex_to_bytes(text(w, "bytes"), at, len) ? EINVAL : 0 : EINVAL;
}

/* ---- commands: shared receive queues, queue pairs ---- */
static int do_srq(struct session *s, const struct words *w)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = number(w, "recv_wr", 64), .max_sge = 1 },
	};
	int i;

	for (i = 0; i < MAX_SRQS && s->srq[i]; i++)
		;
	if (i == MAX_SRQS)
		return ENOSPC;
	s->srq[i] = ibv_create_srq(s->dev.pd, &init);
	if (!s->srq[i])
		return errno;
	answer(s, " srq=%d", i);
	return 0;
}

static int srq_end(struct ibv_srq **srq)
{
	int err = ibv_destroy_srq(*srq);

	if (!err)
		*srq = NULL;
	return err;
}

static int do_unsrq(struct session *s, const struct words *w)
{
	struct ibv_srq **srq = srq_of(s, w);

	return srq ? srq_end(srq) : EINVAL;
}

static int do_qp(struct session *s, const struct words *w)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = number(w, "send_wr", 64),
			.max_recv_wr = number(w, "recv_wr", 64),
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ibv_srq **srq = srq_of(s, w);
	struct pair_end *e;
	int i, err;

	if (!srq && text(w, "srq"))
		return EINVAL;
	init.srq = srq ? *srq : NULL;
	for (i = 0; i < MAX_QPS && s->end[i].qp; i++)
		;
	if (i == MAX_QPS)
		return ENOSPC;
	e = &s->end[i];
	memset(e, 0, sizeof(*e));
	e->cq = ibv_create_cq(s->dev.ctx, init.cap.max_send_wr + init.cap.max_recv_wr, NULL, NULL,
			      0);
	if (!e->cq)
		return errno;
	init.send_cq = e->cq;
	init.recv_cq = e->cq;
	e->qp = ibv_create_qp(s->dev.pd, &init);
	if (!e->qp) {
		err = errno;
		ibv_destroy_cq(e->cq);
		return err;
	}
	answer(s, " qp=%d qpn=%u", i, e->qp->qp_num);
	return 0;
}

/* RESET to RTR: "gid" and "qpn" are the peer's, "psn" the first it sends */
static int do_rtr(struct session *s, const struct words *w)
{
	struct mroce_qp_addr remote = {
		.qpn = number(w, "qpn", 0),
		.psn = number(w, "psn", 0),
		.mtu = s->dev.port.active_mtu,
	};
	struct pair_end *e = end_of(s, w);
	int access = access_of(text(w, "access"));
	int err;

	if (!e || access < 0 || hex_to_bytes(text(w, "gid"), remote.gid.raw, 16))
		return EINVAL;
	e->timing.min_rnr_timer = number(w, "min_rnr_timer", 1);
	e->timing.dest_rd_atomic = number(w, "dest_rd_atomic", 1);
	e->timing.traffic_class = number(w, "traffic_class", 0);
	err = mroce_qp_to_init(e->qp, access);
	return err ? err : mroce_qp_to_rtr(e->qp, &s->dev, &remote, &e->timing);
}

static int do_rts(struct session *s, const struct words *w)
{
	struct pair_end *e = end_of(s, w);

	if (!e)
		return EINVAL;
	e->timing.timeout = number(w, "timeout", 18);
	e->timing.retry_cnt = number(w, "retry_cnt", 7);
	e->timing.rnr_retry = number(w, "rnr_retry", 7);
	e->timing.rd_atomic = number(w, "rd_atomic", 1);
	return mroce_qp_to_rts(e->qp, number(w, "psn", 0), &e->timing);
}

static int do_move(struct session *s, const struct words *w)
{
	const char *to = text(w, "to");
	struct pair_end *e = end_of(s, w);

	if (!e || !to)
		return EINVAL;
	if (!strcmp(to, "reset"))
		return mroce_qp_to_state(e->qp, IBV_QPS_RESET);
	if (!strcmp(to, "err"))
		return mroce_qp_to_state(e->qp, IBV_QPS_ERR);
	return EINVAL;
}

static int do_state(struct session *s, const struct words *w)
{
	static const char *const name[] = {
		[IBV_QPS_RESET] = "reset", [IBV_QPS_INIT] = "init", [IBV_QPS_RTR] = "rtr",
		[IBV_QPS_RTS] = "rts", [IBV_QPS_SQD] = "sqd", [IBV_QPS_SQE] = "sqe",
		[IBV_QPS_ERR] = "err",
	};
	struct pair_end *e = end_of(s, w);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err;

	if (!e)
		return EINVAL;
	err = ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init);
	if (err)
		return err;
	if (attr.qp_state >= ARRAY_SIZE(name))
		return EIO;
	answer(s, " state=%s", name[attr.qp_state]);
	return 0;
}

static int end_end(struct pair_end *e)
{
	int err = ibv_destroy_qp(e->qp);

	if (err)
		return err;
	e->qp = NULL;
	return ibv_destroy_cq(e->cq);
}

static int do_destroy(struct session *s, const struct words *w)
{
	struct pair_end *e = end_of(s, w);

	return e ? end_end(e) : EINVAL;
}

/* ---- commands: work and completions ---- */
static int sge_of(struct session *s, const struct words *w, struct ibv_sge *sge)
{
	size_t len;
	uint8_t *at = bytes_of(s, w, &len);

	if (!at)
		return EINVAL;
	sge->addr = (uintptr_t)at;
	sge->length = len;
	sge->lkey = region_of(s, w)->mr->lkey;
	return 0;
}

static int do_recv(struct session *s, const struct words *w)
{
	struct pair_end *e = end_of(s, w);
	struct ibv_srq **srq = srq_of(s, w);
	struct ibv_recv_wr *bad, wr = { .wr_id = number(w, "id", 0), .num_sge = 1 };
	struct ibv_sge sge;

	if (!e == !srq || sge_of(s, w, &sge))
		return EINVAL;
	wr.sg_list = &sge;
	return srq ? ibv_post_srq_recv(*srq, &wr, &bad) : ibv_post_recv(e->qp, &wr, &bad);
}

static const struct {
	const char *name;
	enum ibv_wr_opcode opcode;
} wr_ops[] = {
	{ "send", IBV_WR_SEND },
	{ "send_imm", IBV_WR_SEND_WITH_IMM },
	{ "write", IBV_WR_RDMA_WRITE },
	{ "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "read", IBV_WR_RDMA_READ },
	{ "cas", IBV_WR_ATOMIC_CMP_AND_SWP },
	{ "faa", IBV_WR_ATOMIC_FETCH_AND_ADD },
};

static int wr_opcode(const char *name, enum ibv_wr_opcode *opcode)
{
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(wr_ops); i++)
		if (!strcmp(name, wr_ops[i].name)) {
			*opcode = wr_ops[i].opcode;
			return 0;
		}
	return EINVAL;
}

static int do_post(struct session *s, const struct words *w)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = number(w, "id", 0),
		.num_sge = 1,
		.imm_data = htobe32(number(w, "imm", 0)),
		.send_flags = number(w, "signaled", 1) ? IBV_SEND_SIGNALED : 0,
	};
	struct pair_end *e = end_of(s, w);
	struct ibv_sge sge;

	if (!e || wr_opcode(text(w, "op"), &wr.opcode) || sge_of(s, w, &sge))
		return EINVAL;
	wr.sg_list = &sge;
	if (number(w, "fence", 0))
		wr.send_flags |= IBV_SEND_FENCE;
	if (number(w, "solicited", 0))
		wr.send_flags |= IBV_SEND_SOLICITED;
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = number(w, "raddr", 0);
		wr.wr.atomic.rkey = number(w, "rkey", 0);
		wr.wr.atomic.compare_add = number(w, "compare_add", 0);
		wr.wr.atomic.swap = number(w, "swap", 0);
	} else {
		wr.wr.rdma.remote_addr = number(w, "raddr", 0);
		wr.wr.rdma.rkey = number(w, "rkey", 0);
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

static void answer_wc(struct session *s, const struct ibv_wc *wc)
{
	bool imm = wc->status == IBV_WC_SUCCESS && (wc->wc_flags & IBV_WC_WITH_IMM);

	answer(s, " %" PRIu64 ",%d,%d,%u,%u", wc->wr_id, wc->status, wc->opcode, wc->byte_len,
	       imm ? be32toh(wc->imm_data) : 0);
}

/* Up to "n" completions, those that come within "ms" */
static int do_poll(struct session *s, const struct words *w)
{
	uint64_t end_ns = mroce_clock_ns() + number(w, "ms", 0) * 1000000;
	uint64_t want = number(w, "n", 1), n = 0;
	struct timespec pause = { .tv_nsec = 50000 };
	struct pair_end *e = end_of(s, w);
	struct ibv_wc wc;
	int got;

	if (!e || want > MAX_QPS * 4)
		return EINVAL;
	while (n < want) {
		got = ibv_poll_cq(e->cq, 1, &wc);
		if (got < 0)
			return EIO;
		if (got) {
			answer_wc(s, &wc);
			n++;
			continue;
		}
		if (mroce_clock_ns() >= end_ns)
			break;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(struct session *s, const struct words *w);
} commands[] = {
	{ "info", do_info }, { "mr", do_mr }, { "unmr", do_unmr }, { "fill", do_fill },
	{ "check", do_check }, { "read", do_read }, { "put", do_put }, { "qp", do_qp },
	{ "rtr", do_rtr }, { "rts", do_rts }, { "move", do_move }, { "state", do_state },
	{ "destroy", do_destroy }, { "recv", do_recv }, { "post", do_post }, { "poll", do_poll },
	{ "srq", do_srq }, { "unsrq", do_unsrq },
};

/* ---- sessions ---- */
/* The next line, without its end; NULL when the connection is over */
static char *next_line(struct session *s, char *line)
{
	char *end;
	ssize_t n;

	while (!(end = memchr(s->in, '\n', s->in_bytes))) {
		if (s->in_bytes == sizeof(s->in))
			return NULL;
		n = recv(s->fd, s->in + s->in_bytes, sizeof(s->in) - s->in_bytes, 0);
		if (n <= 0)
			return NULL;
		s->in_bytes += n;
	}
	memcpy(line, s->in, end - s->in);
	line[end - s->in] = '\0';
	s->in_bytes -= end + 1 - s->in;
	memmove(s->in, end + 1, s->in_bytes);
	return line;
}

static void run_command(struct session *s, char *line)
{
	struct words w = { 0 };
	char *rest = NULL, *word;
	size_t i;
	int err = EOPNOTSUPP;

	for (word = strtok_r(line, " \r", &rest); word && w.n < MAX_WORDS;
	     word = strtok_r(NULL, " \r", &rest))
		w.word[w.n++] = word;
	s->out[0] = '\0';
	answer(s, "ok");
	for (i = 0; w.n && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(w.word[0], commands[i].name)) {
			err = commands[i].run(s, &w);
			break;
		}
	if (err)
		answer_err(s, err < 0 ? -err : err);
	answer(s, "\n");
}

static int end_objects(struct session *s)
{
	int err = 0;
	int i;

	for (i = 0; i < MAX_QPS; i++)
		if (s->end[i].qp)
			err |= end_end(&s->end[i]);
	for (i = 0; i < MAX_SRQS; i++)
		if (s->srq[i])
			err |= srq_end(&s->srq[i]);
	for (i = 0; i < MAX_MRS; i++)
		if (s->region[i].mr)
			err |= region_end(&s->region[i]);
	return err;
}

static void serve(struct session *s)
{
	static char line[LINE_BYTES + 1];

	s->in_bytes = 0;
	while (next_line(s, line)) {
		run_command(s, line);
		if (mroce_peer_send(s->fd, s->out, strlen(s->out)))
			break;
	}
	if (end_objects(s))
		mroce_die("an object of the session does not go");
}

int main(int argc, char **argv)
{
	const char *port = "18600";
	struct session *s = &session;
	int opt, gid_index = -1;
	bool ipv6 = false;

	while ((opt = getopt(argc, argv, "p:x:6")) != -1) {
		switch (opt) {
		case 'p':
			port = optarg;
			break;
		case 'x':
			gid_index = atoi(optarg);
			break;
		case '6':
			ipv6 = true;
			break;
		default:
			return 2;
		}
	}
	if (optind != argc - 1) {
		fprintf(stderr, "usage: mroce_dut [-p PORT] [-x GID_INDEX] [-6] DEVICE\n");
		return 2;
	}
	if (mroce_dev_open(&s->dev, argv[optind], gid_index, ipv6))
		return 1;
	for (;;) {
		s->fd = mroce_peer_accept(port, mroce_clock_ns() + FOREVER_NS);
		if (s->fd < 0)
			mroce_die("cannot listen on port %s", port);
		serve(s);
		close(s->fd);
	}
}
