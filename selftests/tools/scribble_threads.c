// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The two threads of mroce_scribble: one works, one overwrites. */
#include <string.h>
#include <unistd.h>
#include <rdma/ib_user_verbs.h>

#include "scribble.h"

static uint64_t next(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return mroce_mix(*state);
}

/* A post command without work requests, as the provider sends it */
static void doorbell_of(const struct ibv_context *ctx, uint32_t command, uint32_t handle)
{
	struct ib_uverbs_post_send_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd = {
		.hdr = {
			.command = command,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.core = {
			.response = (uintptr_t)&resp,
			.qp_handle = handle,
			.wqe_size = command == IB_USER_VERBS_CMD_POST_SEND ?
				    sizeof(struct ib_uverbs_send_wr) :
				    sizeof(struct ib_uverbs_recv_wr),
		},
	};

	if (write(ctx->cmd_fd, &cmd, sizeof(cmd)) < 0)
		usleep(100);
}

static void doorbell(const struct queue_pair *qp, uint32_t command)
{
	doorbell_of(qp->ibv->context, command, qp->ibv->handle);
}

static void *slot(const struct ring *ring, uint32_t idx, uint32_t entries, size_t stride)
{
	return (uint8_t *)ring->hdr + MROCE_RING_DATA_OFFSET + (idx & (entries - 1)) * stride;
}

static uint32_t lie(uint32_t old, uint64_t *rnd)
{
	static const uint32_t edges[] = {
		0, 1, 0x7fffffff, 0x80000000, 0xffffffff, QP_ENTRIES, 0xffff, 0x10000,
	};
	uint64_t r = next(rnd);

	switch (r % 4) {
	case 0:
		return old ^ 1u << (r >> 8) % 32;
	case 1:
		return edges[(r >> 8) % ARRAY_SIZE(edges)];
	case 2:
		return old + (int)((r >> 8) % 257) - 128;
	default:
		return r >> 32;
	}
}

/* Every now and then a slot is bad from the beginning: the other thread is seldom in time. */
static void maybe_spoil(void *slot, size_t bytes, uint64_t *rnd)
{
	static const uint16_t edges[] = { 0, 1, QP_SGES + 1, 17, 64, 65, 255, 0x7fff, 0xffff };
	uint64_t r = next(rnd);
	uint32_t *word = (uint32_t *)slot + (r >> 8) % (bytes / 4);

	if (r % 16 == 0)
		*word = lie(*word, rnd);
	else if (r % 16 == 1)
		((uint16_t *)word)[r >> 63] = edges[(r >> 40) % ARRAY_SIZE(edges)];
}

/* Pieces of the open region; their sum is @length, a few KiB at most */
static int put_sges(struct mroce_sge *sge, const struct side *side, uint32_t length, uint64_t *rnd)
{
	int n = 1 + next(rnd) % QP_SGES, i;

	for (i = 0; i < n; i++) {
		sge[i].length = i < n - 1 ? length / n : length - length / n * (n - 1);
		sge[i].addr = (uintptr_t)side->buf[OPEN] + next(rnd) % (REGION_BYTES - 16384);
		sge[i].lkey = side->open->lkey;
	}
	return n;
}

static void put_send(struct queue_pair *qp, const struct queue_pair *peer, uint64_t *rnd)
{
	static const uint8_t opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct mroce_sqe *sqe = slot(qp->sq, qp->sq_prod, QP_ENTRIES, qp->sq_stride);
	uint32_t length = next(rnd) % 16384;

	memset(sqe, 0, sizeof(*sqe));
	sqe->wr_id = qp->sq_prod;
	sqe->opcode = opcodes[next(rnd) % ARRAY_SIZE(opcodes)];
	sqe->flags = IBV_SEND_SIGNALED;
	sqe->remote_addr = (uintptr_t)peer->side->buf[OPEN] + next(rnd) % 4096 * 8;
	sqe->rkey = peer->side->open->rkey;
	if (sqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || sqe->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		length = 8;
	if (sqe->opcode <= IBV_WR_SEND_WITH_IMM && next(rnd) % 4 == 0) {
		sqe->flags |= IBV_SEND_INLINE;
		sqe->inline_bytes = length % (QP_INLINE + 1);
	} else {
		sqe->num_sge = put_sges(sqe->sge, qp->side, length, rnd);
	}
	if (length == 8)
		sqe->num_sge = 1, sqe->sge[0].length = 8;
	maybe_spoil(sqe, sizeof(*sqe), rnd);
	__atomic_store_n(&qp->sq->hdr->prod, ++qp->sq_prod, __ATOMIC_RELEASE);
}

static void put_recv(struct queue_pair *qp, uint64_t *rnd)
{
	struct receives *rq = qp->rq;
	struct mroce_rqe *rqe = slot(rq->ring, rq->prod, QP_ENTRIES, qp->rq_stride);

	memset(rqe, 0, sizeof(*rqe));
	rqe->wr_id = rq->prod;
	rqe->num_sge = put_sges(rqe->sge, qp->side, 16384, rnd);
	maybe_spoil(rqe, qp->rq_stride, rnd);
	rq->prod++;
}

/* As many as there is room for. Nothing resets a shared queue: it has to find its way back. */
static void put_recvs(struct queue_pair *qp, uint64_t *rnd)
{
	struct receives *rq = qp->rq;
	uint32_t cons = __atomic_load_n(&rq->ring->hdr->cons, __ATOMIC_ACQUIRE);

	if (rq->prod - cons <= QP_ENTRIES)
		rq->cons = cons;
	while (rq->prod - rq->cons < QP_ENTRIES)
		put_recv(qp, rnd);
	__atomic_store_n(&rq->ring->hdr->prod, rq->prod, __ATOMIC_RELEASE);
}

/* Receives, then a few requests if there is room */
static void post(struct scribble *s, struct queue_pair *qp, const struct queue_pair *peer,
		 uint64_t *rnd)
{
	uint32_t cons, n;

	put_recvs(qp, rnd);
	cons = __atomic_load_n(&qp->sq->hdr->cons, __ATOMIC_ACQUIRE);
	if (qp->sq_prod - cons >= QP_ENTRIES)
		return;
	for (n = next(rnd) % 4 ? 1 : 8; n && qp->sq_prod - cons < QP_ENTRIES; n--) {
		put_send(qp, peer, rnd);
		s->tally->posted++;
	}
	/* Needed or not: more of them means more looks at what was overwritten. */
	doorbell(qp, IB_USER_VERBS_CMD_POST_SEND);
	if (next(rnd) % 16 == 0)
		doorbell(qp, IB_USER_VERBS_CMD_POST_RECV);
	if (qp->side->srq && next(rnd) % 64 == 0)
		doorbell_of(qp->ibv->context, IB_USER_VERBS_CMD_POST_SRQ_RECV,
			    qp->side->srq->handle);
}

/* Look at the completions, and give their slots back. */
static void poll(struct scribble *s, struct side *side)
{
	struct mroce_ring_hdr *hdr = side->cq_ring->hdr;
	uint32_t prod = __atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE);
	const struct mroce_cqe *cqe;

	if (prod - side->cq_cons > CQ_ENTRIES)
		side->cq_cons = prod;
	for (; side->cq_cons != prod; side->cq_cons++) {
		cqe = slot(side->cq_ring, side->cq_cons, CQ_ENTRIES, MROCE_CQE_SIZE);
		if (cqe->status)
			s->tally->bad++;
		else
			s->tally->good++;
	}
	__atomic_store_n(&hdr->cons, side->cq_cons, __ATOMIC_RELEASE);
}

/**
 * scribble_post - thread: legal work requests and doorbells, until told to stop
 * @scribble: struct scribble
 */
void *scribble_post(void *scribble)
{
	struct scribble *s = scribble;
	uint64_t rnd = s->seed;
	int i;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < N_QPS; i++) {
			pthread_mutex_lock(&s->qp[i].lock);
			post(s, &s->qp[i], &s->qp[i ^ 1], &rnd);
			pthread_mutex_unlock(&s->qp[i].lock);
		}
		for (i = 0; i < s->n_sides; i++)
			poll(s, &s->side[i]);
	}
	return NULL;
}

/* One word: of the header in one case of four, else of a slot */
static void overwrite(const struct ring *ring, uint64_t *rnd)
{
	uint32_t *word = (uint32_t *)ring->hdr;
	uint64_t r = next(rnd);

	if (r % 4)
		word += (r >> 8) % (ring->bytes / 4);
	else
		/* prod, cons, state: a cache line each */
		word += (r >> 8) % 3 * 16;
	__atomic_store_n(word, lie(*word, rnd), __ATOMIC_RELAXED);
}

/**
 * scribble_flip - thread: overwrites words of all rings, at a changing pace
 * @scribble: struct scribble
 */
void *scribble_flip(void *scribble)
{
	struct scribble *s = scribble;
	uint64_t rnd = ~s->seed;
	uint32_t n;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED)) {
		/* Pauses, so that something goes well between. */
		usleep(next(&rnd) % 20000);
		for (n = 1u << next(&rnd) % 10; n; n--, s->tally->flips++)
			overwrite(&s->ring[next(&rnd) % s->n_rings], &rnd);
	}
	return NULL;
}
