/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the threads of mroce_scribble share. */
#ifndef MROCE_SCRIBBLE_H
#define MROCE_SCRIBBLE_H

#include <pthread.h>
#include <rdma/mroce-abi.h>

#include "tool.h"

#define N_QPS		8
/* From this one on they take their receives from the shared queue of their side */
#define FIRST_SHARED	4
#define QP_ENTRIES	64
#define QP_SGES		4
#define QP_INLINE	64
#define CQ_ENTRIES	1024
#define MAX_RINGS	(2 * N_QPS + 4)
#define REGION_BYTES	65536
#define PATTERN_KEY	0x5c21bb1e

/* enum region - memory of a side; all but OPEN must never change */
enum region {
	OPEN,
	READ_ONLY,	/* registered, without the right to write */
	ELSEWHERE,	/* registered in another protection domain */
	UNREGISTERED,
	REGIONS
};

/* struct ring - a mapping found in /proc/self/maps */
struct ring {
	struct mroce_ring_hdr *hdr;
	size_t bytes;
};

/* struct receives - a receive queue; @cons: the ring's when it made sense last */
struct receives {
	struct ring *ring;
	uint32_t prod;
	uint32_t cons;
};

/*
 * struct side - what is had of one device; @cq_cons: our index, whatever the ring says; @srq: to
 * be found in @shared
 */
struct side {
	struct mroce_dev dev;
	struct ibv_cq *cq;
	struct ring *cq_ring;
	uint32_t cq_cons;
	struct ibv_srq *srq;
	struct receives shared;
	struct ibv_mr *open;
	struct ibv_mr *closed;
	uint8_t *buf[REGIONS];
};

/*
 * struct queue_pair - @lock: held while it is connected again, or posted to; @rq: @own, or its
 * side's
 */
struct queue_pair {
	pthread_mutex_t lock;
	struct side *side;
	struct ibv_qp *ibv;
	struct ring *sq;
	struct receives own;
	struct receives *rq;
	uint32_t sq_prod;
	size_t sq_stride;
	size_t rq_stride;
};

/* struct tally - what happened, in all rounds; shared with the parent */
struct tally {
	unsigned long posted, good, bad, flips, reconnects, refused, rounds;
};

struct scribble {
	uint64_t seed;
	bool stop;
	struct side side[2];
	int n_sides;
	struct queue_pair qp[N_QPS];
	struct ring ring[MAX_RINGS];
	int n_rings;
	struct tally *tally;
};

void *scribble_post(void *scribble);
void *scribble_flip(void *scribble);

#endif
