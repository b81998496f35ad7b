// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program that lies to the kernel in the memory it shares with it.
 *
 *   mroce_scribble [--seed N] [--seconds S] DEVICE [DEVICE]
 *
 * Pairs of queue pairs: of the first device with itself, and of both with each
 * other; half of them with shared receive queues. One thread writes work requests,
 * most of them legal, into the rings, as mroce-abi.h says, without the provider, and
 * rings the doorbells; the other overwrites words of all rings, headers included.
 * Queue pairs that break are connected again.
 *
 * All it may break is its own queue pairs: memory that no work request may write
 * to (registered for reading, registered elsewhere, not registered) must stay as
 * it is. Exit code 0: it did, and work was completed meanwhile.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mroce-abi.h>

#include "scribble.h"

#define ROUND_NS	1500000000ull

static struct scribble s = { .seed = 1 };

static struct ring *find_new_ring(void)
{
	unsigned long from, to;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	struct ring *ring = NULL;
	int i;

	while (maps && !ring && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		for (i = 0; i < s.n_rings; i++)
			if ((unsigned long)s.ring[i].hdr == from)
				break;
		if (i < s.n_rings || i == MAX_RINGS)
			continue;
		ring = &s.ring[s.n_rings++];
		ring->hdr = (void *)from;
		ring->bytes = to - from;
	}
	if (maps)
		fclose(maps);
	return ring;
}

/* Which of two new rings is the send ring? The kernel waits for a doorbell there only. */
static bool find_rings(struct queue_pair *qp)
{
	struct ring *a = find_new_ring(), *b;

	qp->rq = &qp->own;
	if (qp->ibv->srq) {
		qp->rq = &qp->side->shared;
		qp->sq = a;
		return a;
	}
	b = find_new_ring();
	if (!a || !b)
		return false;
	qp->sq = a->hdr->state & MROCE_RING_KICK ? a : b;
	qp->own.ring = qp->sq == a ? b : a;
	return true;
}

static struct ibv_mr *region(struct ibv_pd *pd, uint8_t **buf, int access)
{
	*buf = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*buf == MAP_FAILED)
		return NULL;
	mroce_pattern_fill(*buf, REGION_BYTES, PATTERN_KEY, 0);
	return ibv_reg_mr(pd, *buf, REGION_BYTES, access);
}

static bool open_side(struct side *side, const char *name)
{
	const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = QP_ENTRIES, .max_sge = QP_SGES } };
	struct ibv_pd *elsewhere;

	if (mroce_dev_open(&side->dev, name, -1, false))
		return false;
	side->open = region(side->dev.pd, &side->buf[OPEN], all);
	side->closed = region(side->dev.pd, &side->buf[READ_ONLY], IBV_ACCESS_REMOTE_READ);
	elsewhere = ibv_alloc_pd(side->dev.ctx);
	if (!elsewhere || !region(elsewhere, &side->buf[ELSEWHERE], all))
		return false;
	side->buf[UNREGISTERED] = malloc(REGION_BYTES);
	mroce_pattern_fill(side->buf[UNREGISTERED], REGION_BYTES, PATTERN_KEY, 0);
	side->cq = ibv_create_cq(side->dev.ctx, CQ_ENTRIES, NULL, NULL, 0);
	side->cq_ring = side->cq ? find_new_ring() : NULL;
	side->srq = ibv_create_srq(side->dev.pd, &shared);
	side->shared.ring = side->srq ? find_new_ring() : NULL;
	return side->open && side->closed && side->cq_ring && side->shared.ring;
}

static bool create(struct queue_pair *qp, struct side *side)
{
	struct ibv_qp_init_attr init = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.srq = qp >= &s.qp[FIRST_SHARED] ? side->srq : NULL,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {
			.max_send_wr = QP_ENTRIES,
			.max_recv_wr = QP_ENTRIES,
			.max_send_sge = QP_SGES,
			.max_recv_sge = QP_SGES,
			.max_inline_data = QP_INLINE,
		},
	};

	qp->side = side;
	qp->ibv = ibv_create_qp(side->dev.pd, &init);
	if (!qp->ibv || !find_rings(qp))
		return false;
	qp->sq_stride = MROCE_SQE_SIZE + (QP_SGES * sizeof(struct mroce_sge) > QP_INLINE ?
					  QP_SGES * sizeof(struct mroce_sge) : QP_INLINE);
	qp->rq_stride = MROCE_RQE_SIZE + QP_SGES * sizeof(struct mroce_sge);
	return true;
}

static int connect_half(struct queue_pair *qp, const struct queue_pair *peer, uint32_t psn)
{
	static const struct mroce_qp_timing timing = {
		.timeout = 10, .retry_cnt = 1, .rnr_retry = 1, .min_rnr_timer = 1,
		.rd_atomic = 4, .dest_rd_atomic = 4,
	};
	struct mroce_qp_addr to = {
		.gid = peer->side->dev.gid,
		.qpn = peer->ibv->qp_num,
		.psn = psn,
		.mtu = IBV_MTU_4096,
	};

	qp->sq_prod = 0;
	qp->own.prod = 0;
	qp->own.cons = 0;
	return mroce_qp_to_init(qp->ibv, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC) ?:
	       mroce_qp_to_rtr(qp->ibv, &qp->side->dev, &to, &timing) ?:
	       mroce_qp_to_rts(qp->ibv, psn, &timing);
}

/* Both ends from whatever they are in to RTS */
static bool connect_pair(struct queue_pair *a, struct queue_pair *b)
{
	uint32_t psn = mroce_mix(s.tally->reconnects + 1) & 0xffffff;

	s.tally->reconnects++;
	return !mroce_qp_to_state(a->ibv, IBV_QPS_RESET) &&
	       !mroce_qp_to_state(b->ibv, IBV_QPS_RESET) &&
	       !connect_half(a, b, psn) && !connect_half(b, a, psn);
}

static bool is_broken(const struct queue_pair *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(qp->ibv, &attr, IBV_QP_STATE, &init) || attr.qp_state != IBV_QPS_RTS;
}

/* Our own memory, and memory that is ours no longer, must be as it was. */
static bool untouched(const struct side *side)
{
	ptrdiff_t at;
	int i;

	for (i = READ_ONLY; i < REGIONS; i++) {
		at = mroce_pattern_check(side->buf[i], REGION_BYTES, PATTERN_KEY, 0);
		if (at < 0)
			continue;
		fprintf(stderr, "FAIL byte %td of region %d was written\n", at, i);
		return false;
	}
	return true;
}

static bool all_untouched(void)
{
	int i;

	for (i = 0; i < s.n_sides; i++)
		if (!untouched(&s.side[i]))
			return false;
	return true;
}

static bool set_up(char **names, int n)
{
	int i;

	s.n_sides = n;
	for (i = 0; i < n; i++)
		if (!open_side(&s.side[i], names[i]))
			return false;
	for (i = 0; i < N_QPS; i++)
		if (!create(&s.qp[i], &s.side[n == 2 && i % 4 == 3]))
			return false;
	for (i = 0; i < N_QPS; i += 2)
		if (!connect_pair(&s.qp[i], &s.qp[i + 1]))
			return false;
	return true;
}

static bool watch(void)
{
	uint64_t end = mroce_clock_ns() + ROUND_NS;
	unsigned int turn = 0;
	int i;

	while (mroce_clock_ns() < end) {
		usleep(2000);
		for (i = 0; i < N_QPS; i += 2) {
			if (!is_broken(&s.qp[i]) && !is_broken(&s.qp[i + 1]))
				continue;
			/* The poster must not write to a ring that begins anew. */
			pthread_mutex_lock(&s.qp[i].lock);
			pthread_mutex_lock(&s.qp[i + 1].lock);
			if (!connect_pair(&s.qp[i], &s.qp[i + 1]))
				s.tally->refused++;
			pthread_mutex_unlock(&s.qp[i + 1].lock);
			pthread_mutex_unlock(&s.qp[i].lock);
		}
		if (turn++ % 64 == 0 && !all_untouched())
			return false;
	}
	return all_untouched();
}

static void take_options(int argc, char **argv, unsigned int *seconds)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 'S' },
		{ "seconds", required_argument, NULL, 's' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "S:s:", options, NULL)) != -1) {
		if (c == 'S')
			s.seed = strtoull(optarg, NULL, 0);
		else if (c == 's')
			*seconds = strtoul(optarg, NULL, 0);
		else
			exit(2);
	}
	if (optind == argc || argc - optind > 2) {
		fprintf(stderr, "usage: mroce_scribble [--seed N] [--seconds S] DEVICE [DEVICE]\n");
		exit(2);
	}
}

/* A child's life: no cleaning up at the end, that is the kernel's. */
static int run_round(char **names, int n)
{
	pthread_t poster, flipper;
	bool ok;
	int i;

	for (i = 0; i < N_QPS; i++)
		pthread_mutex_init(&s.qp[i].lock, NULL);
	if (!set_up(names, n)) {
		perror("FAIL set-up");
		return 1;
	}
	if (pthread_create(&poster, NULL, scribble_post, &s) ||
	    pthread_create(&flipper, NULL, scribble_flip, &s))
		return 1;
	ok = watch();
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	pthread_join(poster, NULL);
	pthread_join(flipper, NULL);
	return ok ? 0 : 1;
}

/* What was written to a completion queue may end it for good: so each round is a new process. */
static bool run_rounds(char **names, int n, unsigned int seconds)
{
	uint64_t end = mroce_clock_ns() + seconds * 1000000000ull;
	int status = 0;
	pid_t child;

	while (!status && mroce_clock_ns() < end) {
		s.seed = mroce_mix(s.seed);
		child = fork();
		if (!child)
			_exit(run_round(names, n));
		if (child < 0 || waitpid(child, &status, 0) != child)
			return false;
		s.tally->rounds++;
	}
	if (status)
		fprintf(stderr, "FAIL round %lu: status %#x\n", s.tally->rounds, status);
	return !status;
}

int main(int argc, char **argv)
{
	unsigned int seconds = 10;
	struct tally *t;
	bool ok;

	take_options(argc, argv, &seconds);
	t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		return 1;
	s.tally = t;
	ok = run_rounds(argv + optind, argc - optind, seconds);
	printf("%lu rounds, %lu posted, %lu completed well, %lu badly; ",
	       t->rounds, t->posted, t->good, t->bad);
	printf("%lu words overwritten, %lu connects, %lu refused\n",
	       t->flips, t->reconnects, t->refused);
	if (ok && (!t->good || !t->bad || !t->flips || t->reconnects <= t->rounds * N_QPS / 2))
		ok = !fprintf(stderr, "FAIL nothing went well, or nothing broke\n");
	return ok ? 0 : 1;
}
