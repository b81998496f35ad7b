// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How much may one have?
 *
 *   mroce_limits DEVICE cqs N [ENTRIES]      completion queues of that many entries
 *   mroce_limits DEVICE lost N [ENTRIES]     the same, destroyed while another process maps them
 *   mroce_limits DEVICE qps N [ENTRIES]      queue pairs with rings of that many
 *   mroce_limits DEVICE srqs N [ENTRIES]     shared receive queues of that many receives
 *   mroce_limits DEVICE mrs N [BYTES]        memory regions of that size
 *   mroce_limits DEVICE peers N              queue pairs in RTR, each to a peer of its own
 *   mroce_limits DEVICE streams N [ENTRIES]  queue pairs in RTS, all to one peer
 *
 * Makes them until there are N or one is refused, and says "made K, errno E"; then gives
 * all back and makes one more. Exit code 0: that worked. With a fifth word, "hold", it
 * keeps them until its standard input ends.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool.h"

#define MAX_OBJECTS	20000
#define HEAP_BYTES	(4 << 20)

struct limits {
	struct mroce_dev dev;
	unsigned long n, size;
	struct ibv_cq *cq;
	bool hold;
};

static void *make_cq(struct limits *l, unsigned int i)
{
	(void)i;
	return ibv_create_cq(l->dev.ctx, l->size, NULL, NULL, 0);
}

/* The object is the process that has the ring mapped. */
static void *make_lost(struct limits *l, unsigned int i)
{
	struct ibv_cq *cq = make_cq(l, i);
	pid_t pid;

	if (!cq)
		return NULL;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return ibv_destroy_cq(cq) || pid < 0 ? NULL : (void *)(intptr_t)pid;
}

static int drop_lost(void *process)
{
	pid_t pid = (intptr_t)process;

	return kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid;
}

static void *make_qp(struct limits *l, unsigned int i)
{
	struct ibv_qp_init_attr init = {
		.send_cq = l->cq,
		.recv_cq = l->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = l->size, .max_recv_wr = l->size, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	(void)i;
	return ibv_create_qp(l->dev.pd, &init);
}

static void *make_srq(struct limits *l, unsigned int i)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = l->size, .max_sge = 1 } };

	(void)i;
	return ibv_create_srq(l->dev.pd, &init);
}

static void *make_mr(struct limits *l, unsigned int i)
{
	void *buf = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)i;
	if (buf == MAP_FAILED)
		return NULL;
	return ibv_reg_mr(l->dev.pd, buf, l->size, IBV_ACCESS_LOCAL_WRITE);
}

/* Nobody is there: 10.9.1.0 and on */
static void *make_connected(struct limits *l, unsigned int peer, bool rts)
{
	static const struct mroce_qp_timing timing = { .timeout = 10 };
	struct mroce_qp_addr to = { .gid = l->dev.gid, .qpn = 77, .mtu = IBV_MTU_1024 };
	struct ibv_qp *qp = make_qp(l, 0);
	int err;

	if (!qp)
		return NULL;
	to.gid.raw[14] = 1 + peer / 256;
	to.gid.raw[15] = peer;
	err = mroce_qp_to_init(qp, 0) ?: mroce_qp_to_rtr(qp, &l->dev, &to, &timing);
	if (!err && rts)
		err = mroce_qp_to_rts(qp, 0, &timing);
	if (!err)
		return qp;
	ibv_destroy_qp(qp);
	errno = err;
	return NULL;
}

static void *make_peer(struct limits *l, unsigned int i)
{
	return make_connected(l, i, false);
}

static void *make_stream(struct limits *l, unsigned int i)
{
	(void)i;
	return make_connected(l, 0, true);
}

static int drop_cq(void *cq)
{
	return ibv_destroy_cq(cq);
}

static int drop_qp(void *qp)
{
	return ibv_destroy_qp(qp);
}

static int drop_srq(void *srq)
{
	return ibv_destroy_srq(srq);
}

static int drop_mr(void *mr)
{
	return ibv_dereg_mr(mr);
}

static const struct kind {
	const char *name;
	unsigned long size;
	void *(*make)(struct limits *l, unsigned int i);
	int (*drop)(void *object);
} kinds[] = {
	{ "cqs", 1024, make_cq, drop_cq },
	{ "lost", 1024, make_lost, drop_lost },
	{ "qps", 256, make_qp, drop_qp },
	{ "srqs", 1024, make_srq, drop_srq },
	{ "mrs", 65536, make_mr, drop_mr },
	{ "peers", 1, make_peer, drop_qp },
	{ "streams", 1, make_stream, drop_qp },
};

static int run(struct limits *l, const struct kind *kind)
{
	static void *object[MAX_OBJECTS];
	unsigned int i, made, kept;
	int err = 0;

	memset(object, 1, sizeof(object));
	for (made = 0; made < l->n; made++) {
		errno = 0;
		object[made] = kind->make(l, made);
		err = errno;
		if (!object[made])
			break;
	}
	/* Printing wants pages, too: see mroce_heap_touch(). */
	kept = made;
	if (kept && made < l->n && kind->drop(object[--kept]))
		return fprintf(stderr, "FAIL cannot give back the last one\n");
	printf("made %u, errno %d\n", made, made < l->n ? err : 0);
	fflush(stdout);
	while (l->hold && getchar() != EOF)
		;
	for (i = 0; i < kept; i++)
		if (kind->drop(object[i]))
			return fprintf(stderr, "FAIL cannot give back number %u\n", i);
	if (!kind->make(l, made))
		return fprintf(stderr, "FAIL one more is refused: %s\n", strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	const struct kind *kind;
	struct limits l = {};

	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++)
		if (argc >= 4 && !strcmp(argv[2], kind->name))
			break;
	if (kind == kinds + ARRAY_SIZE(kinds)) {
		fprintf(stderr, "usage: mroce_limits DEVICE KIND N [SIZE [hold]]\nkinds:");
		for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++)
			fprintf(stderr, " %s", kind->name);
		fputc('\n', stderr);
		return 2;
	}
	l.n = strtoul(argv[3], NULL, 0);
	l.size = argc > 4 ? strtoul(argv[4], NULL, 0) : kind->size;
	l.hold = argc > 5 && !strcmp(argv[5], "hold");
	if (l.n > MAX_OBJECTS || mroce_heap_touch(HEAP_BYTES) ||
	    mroce_dev_open(&l.dev, argv[1], -1, false))
		return 2;
	l.cq = ibv_create_cq(l.dev.ctx, 1, NULL, NULL, 0);
	if (!l.cq) {
		perror("FAIL completion queue");
		return 1;
	}
	return run(&l, kind) ? 1 : 0;
}
