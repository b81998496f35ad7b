// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Direct verbs of mroce at work: a queue pair that uses a few paths of its connection, what they
 * carry, and how they are doing.
 *
 *	mroce_paths [-d DEVICE]			one end: waits for the other
 *	mroce_paths [-d DEVICE] HOST		the other: WRITEs, then a line for each path
 *
 * Both may be on one host. 'sent' is of this run alone; everything else of the path since the
 * connection is open, which others may share.
 */
#include <errno.h>
#include <infiniband/mrocedv.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT		1
#define CHUNK_BYTES	(1u << 20)
#define MAX_PATHS	32
#define DEPTH		4

struct options {
	const char *device;
	const char *host;
	const char *tcp_port;
	unsigned int chunks;
	struct mrocedv_qp_init_attr wishes;
};

/* What an end tells the other; both ends have one byte order. */
struct end {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
};

struct example {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	int gid_index;
	int peer;
	struct end mine;
	struct end theirs;
};

static const char * const state_names[] = {
	[MROCEDV_PATH_PROBING] = "probing", [MROCEDV_PATH_ACTIVE] = "active",
	[MROCEDV_PATH_SUSPECT] = "suspect", [MROCEDV_PATH_FAILED] = "failed",
	[MROCEDV_PATH_OFF] = "off",
};

static void die(const char *what, int err)
{
	fprintf(stderr, "mroce_paths: %s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "");
	exit(1);
}

static void usage(void)
{
	fprintf(stderr,
		"Usage: mroce_paths [ -d DEVICE ] [ -t TCPPORT ] [ -p PATHS ] [ -m PLANEMASK ]\n"
		"                   [ -o default|auto|strict|relaxed ] [ -n MIB ] [ HOST ]\n");
	exit(2);
}

/* ---- options --------------------------------------------------------------------------- */
static uint32_t ordering_of(const char *word)
{
	static const char * const names[] = { "default", "auto", "strict", "relaxed" };
	uint32_t i;

	for (i = 0; i < 4; i++)
		if (!strcmp(word, names[i]))
			return i;
	usage();
	return 0;
}

static void take_options(struct options *o, int argc, char **argv)
{
	int c;

	*o = (struct options) {
		.tcp_port = "18515", .chunks = 64,
		.wishes = { .comp_mask = MROCEDV_QP_INIT_ATTR_PATHS, .paths = 2 },
	};
	while ((c = getopt(argc, argv, "d:t:p:m:o:n:")) != -1) {
		switch (c) {
		case 'd':
			o->device = optarg;
			break;
		case 't':
			o->tcp_port = optarg;
			break;
		case 'p':
			o->wishes.paths = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'm':
			o->wishes.comp_mask |= MROCEDV_QP_INIT_ATTR_PLANE_MASK;
			o->wishes.plane_mask = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			o->wishes.comp_mask |= MROCEDV_QP_INIT_ATTR_ORDERING;
			o->wishes.ordering = ordering_of(optarg);
			break;
		case 'n':
			o->chunks = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		default:
			usage();
		}
	}
	if (optind < argc)
		o->host = argv[optind++];
	if (optind < argc || !o->chunks)
		usage();
}

/* ---- the other end, by TCP --------------------------------------------------------------- */
static int try_address(const struct addrinfo *ai, bool is_server)
{
	int fd = socket(ai->ai_family, ai->ai_socktype, 0);
	int one = 1, peer;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (!is_server && !connect(fd, ai->ai_addr, ai->ai_addrlen))
		return fd;
	if (is_server && !bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, 1)) {
		peer = accept(fd, NULL, NULL);
		close(fd);
		return peer;
	}
	close(fd);
	return -1;
}

static int meet(const struct options *o)
{
	struct addrinfo hints = {
		.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM,
		.ai_family = o->host ? AF_UNSPEC : AF_INET,
	};
	struct addrinfo *list, *ai;
	int fd = -1;

	if (getaddrinfo(o->host, o->tcp_port, &hints, &list))
		die("no such host or port", 0);
	for (ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = try_address(ai, !o->host);
	freeaddrinfo(list);
	if (fd < 0)
		die("cannot reach the other end", errno);
	return fd;
}

static void tell(struct example *e, const void *data, size_t bytes)
{
	if (send(e->peer, data, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		die("the other end is gone", 0);
}

static void hear(struct example *e, void *data, size_t bytes)
{
	if (recv(e->peer, data, bytes, MSG_WAITALL) != (ssize_t)bytes)
		die("the other end is gone", 0);
}

/* ---- verbs ------------------------------------------------------------------------------- */
static void open_device(struct example *e, const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i] && !e->ctx; i++)
		if (mrocedv_is_supported(list[i]) &&
		    (!name || !strcmp(name, ibv_get_device_name(list[i]))))
			e->ctx = ibv_open_device(list[i]);
	if (!e->ctx)
		die("no such mroce device", 0);
	ibv_free_device_list(list);
}

/* The first address that can be routed; IPv4 before the others, as it stands after them */
static void choose_gid(struct example *e)
{
	static const uint8_t v4[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entry;
	int i;

	e->gid_index = -1;
	for (i = 0; i < 256; i++) {
		if (ibv_query_gid_ex(e->ctx, PORT, (uint32_t)i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 || entry.gid.raw[0] == 0xfe)
			continue;
		e->gid_index = i;
		e->mine.gid = entry.gid;
		if (!memcmp(entry.gid.raw, v4, sizeof(v4)))
			break;
	}
	if (e->gid_index < 0)
		die("the device has no address", 0);
}

static void create_queues(struct example *e, const struct mrocedv_qp_init_attr *wishes)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1, .comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	void *buf = calloc(1, CHUNK_BYTES);

	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, DEPTH + 1, NULL, NULL, 0);
	if (!buf || !e->pd || !e->cq)
		die("no memory", errno);
	e->mr = ibv_reg_mr(e->pd, buf, CHUNK_BYTES,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!e->mr)
		die("cannot register memory", errno);
	attr.pd = e->pd;
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = mrocedv_create_qp(e->ctx, &attr, wishes);
	if (!e->qp)
		die("cannot create the queue pair", errno);
	e->mine.addr = (uintptr_t)buf;
	e->mine.rkey = e->mr->rkey;
	e->mine.qpn = e->qp->qp_num;
}

static void connect_qp(struct example *e)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = e->theirs.qpn, .min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1, .port_num = PORT,
			.grh = { .dgid = e->theirs.gid, .hop_limit = 64,
				 .sgid_index = (uint8_t)e->gid_index },
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7,
	};
	int err;

	err = ibv_modify_qp(e->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS);
	if (!err)
		err = ibv_modify_qp(e->qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (!err)
		err = ibv_modify_qp(e->qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT |
				    IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC);
	if (err)
		die("cannot connect the queue pair", err);
}

static void write_chunk(struct example *e)
{
	struct ibv_sge sge = {
		.addr = e->mine.addr, .length = CHUNK_BYTES, .lkey = e->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = e->theirs.addr, .rkey = e->theirs.rkey },
	};
	struct ibv_send_wr *bad;
	int err = ibv_post_send(e->qp, &wr, &bad);

	if (err)
		die("cannot post", err);
}

static void complete_chunk(struct example *e)
{
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(e->cq, 1, &wc);
	} while (!n);
	if (n < 0)
		die("cannot poll", 0);
	if (wc.status != IBV_WC_SUCCESS)
		die(ibv_wc_status_str(wc.status), 0);
}

static void write_chunks(struct example *e, unsigned int chunks)
{
	unsigned int posted, completed;

	for (posted = 0, completed = 0; completed < chunks; completed++) {
		for (; posted < chunks && posted < completed + DEPTH; posted++)
			write_chunk(e);
		complete_chunk(e);
	}
}

/* ---- telemetry --------------------------------------------------------------------------- */
static unsigned int look(struct example *e, struct mrocedv_path *paths)
{
	unsigned int n = MAX_PATHS;
	int err = mrocedv_query_paths(e->qp, paths, &n);

	if (err)
		die("cannot query the paths", err);
	return n < MAX_PATHS ? n : MAX_PATHS;
}

static const char *state_of(const struct mrocedv_path *p)
{
	return p->state < sizeof(state_names) / sizeof(state_names[0]) ? state_names[p->state] :
									 "unknown";
}

static void show_path(const struct mrocedv_path *p, const struct mrocedv_path *before)
{
	printf("path %u plane %u state %s sport %u", p->path, p->plane, state_of(p),
	       p->source_port);
	printf(" sent %" PRIu64 " srtt_us %.1f window_bytes %" PRIu64,
	       p->sent_pkts - before->sent_pkts, (double)p->srtt_ns / 1000, p->window_bytes);
	printf(" sent_pkts %" PRIu64 " acked_pkts %" PRIu64 " lost_pkts %" PRIu64,
	       p->sent_pkts, p->acked_pkts, p->lost_pkts);
	printf(" retrans_pkts %" PRIu64 " marked_pkts %" PRIu64 " rerolls %" PRIu64 "\n",
	       p->retrans_pkts, p->marked_pkts, p->rerolls);
}

static void show(struct example *e, const struct mrocedv_path *before)
{
	struct mrocedv_path paths[MAX_PATHS];
	struct mrocedv_conn conn;
	unsigned int i, n;
	int err;

	err = mrocedv_query_conn(e->qp, &conn, sizeof(conn));
	if (err)
		die("cannot query the connection", err);
	printf("conn %u cc %s dscp %u qps %u paths %u active %u window_bytes %" PRIu64 "\n",
	       conn.id, conn.cc, conn.dscp, conn.qps, conn.paths, conn.active_paths,
	       conn.window_bytes);
	n = look(e, paths);
	for (i = 0; i < n; i++)
		show_path(&paths[i], &before[i]);
}

static void run(struct example *e, const struct options *o)
{
	struct mrocedv_path before[MAX_PATHS] = {};
	char word = 0;

	if (o->host) {
		/* The connection is open when something has come back. */
		write_chunks(e, 1);
		look(e, before);
		write_chunks(e, o->chunks);
		show(e, before);
		tell(e, &word, 1);
	} else {
		hear(e, &word, 1);
	}
}

int main(int argc, char **argv)
{
	struct example e = {};
	struct options o;
	char ready = 1;

	take_options(&o, argc, argv);
	open_device(&e, o.device);
	choose_gid(&e);
	create_queues(&e, &o.wishes);
	e.peer = meet(&o);
	tell(&e, &e.mine, sizeof(e.mine));
	hear(&e, &e.theirs, sizeof(e.theirs));
	connect_qp(&e);
	/* Both ends can take what the other sends. */
	tell(&e, &ready, 1);
	hear(&e, &ready, 1);
	run(&e, &o);

	ibv_destroy_qp(e.qp);
	ibv_dereg_mr(e.mr);
	ibv_destroy_cq(e.cq);
	ibv_dealloc_pd(e.pd);
	ibv_close_device(e.ctx);
	free((void *)(uintptr_t)e.mine.addr);
	close(e.peer);
	return 0;
}
