/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What most provider tests begin with: a QP on the fake kernel. */
#ifndef MROCE_RIG_H
#define MROCE_RIG_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "fake_uverbs.h"

#define SEND_WR	5	/* on purpose not a power of two: the ring has 8 */
#define RECV_WR	3
#define SGES	3

/*
 * struct rig - a QP and all that it needs; every test has its own
 * @qp: in the state that rig_open() was told, or NULL
 * @sq: the kernel's view of the rings of @qp and @cq, likewise @rq and @cring
 */
struct rig {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct fake_ring *sq;
	struct fake_ring *rq;
	struct fake_ring *cring;
};

bool rig_open_base(struct rig *rig);
bool rig_open(struct rig *rig, enum ibv_qp_state state, uint64_t ops);
void rig_close(struct rig *rig);
void rig_set_state(struct ibv_qp *qp, enum ibv_qp_state state);
struct ibv_qp_init_attr_ex rig_qp_attr(const struct rig *rig);

/* Post one request; check that the bad pointer fits the result, return it. */
int rig_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad);
int rig_send_one(struct ibv_qp *qp, enum ibv_wr_opcode op);
int rig_recv_one(struct ibv_qp *qp);

#endif /* MROCE_RIG_H */
