// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rig.h"

#include <string.h>

#include "ktap.h"

void rig_set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static struct ibv_context *open_ctx(void)
{
	memset(&fake_kernel, 0, sizeof(fake_kernel));
	fake_kernel.abi_version = MROCE_ABI_VERSION;
	return fake_open();
}

struct ibv_qp_init_attr_ex rig_qp_attr(const struct rig *rig)
{
	return (struct ibv_qp_init_attr_ex) {
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.cap = {
			.max_send_wr = SEND_WR, .max_recv_wr = RECV_WR,
			.max_send_sge = SGES, .max_recv_sge = SGES,
			.max_inline_data = 100,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = rig->pd,
	};
}

bool rig_open_base(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->ctx = open_ctx();
	if (!CHECK(rig->ctx))
		return false;
	rig->pd = ibv_alloc_pd(rig->ctx);
	if (!CHECK(rig->pd))
		return false;
	rig->cq = ibv_create_cq(rig->ctx, 16, NULL, NULL, 0);
	if (!CHECK(rig->cq))
		return false;
	rig->cring = fake_cq(rig->cq);
	return true;
}

/* @ops: enum ibv_qp_create_send_ops_flags, 0 for a QP without ibv_wr_*() */
bool rig_open(struct rig *rig, enum ibv_qp_state state, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr;
	int s;

	if (!rig_open_base(rig))
		return false;
	attr = rig_qp_attr(rig);
	if (ops) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = ops;
	}
	rig->qp = ibv_create_qp_ex(rig->ctx, &attr);
	if (!CHECK(rig->qp))
		return false;
	rig->sq = fake_sq(rig->qp);
	rig->rq = fake_rq(rig->qp);
	for (s = IBV_QPS_INIT; s <= (int)state; s++)
		rig_set_state(rig->qp, (enum ibv_qp_state)s);
	return true;
}

/* Nothing may be left in the kernel; LeakSanitizer looks after the rest. */
void rig_close(struct rig *rig)
{
	if (rig->qp)
		CHECK_EQ(ibv_destroy_qp(rig->qp), 0);
	CHECK_EQ(ibv_destroy_cq(rig->cq), 0);
	CHECK_EQ(ibv_dealloc_pd(rig->pd), 0);
	CHECK_EQ(fake_kernel.live_qps, 0);
	CHECK_EQ(fake_kernel.live_cqs, 0);
	CHECK_EQ(fake_kernel.live_pds, 0);
	CHECK_EQ(ibv_close_device(rig->ctx), 0);
}

int rig_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		  struct ibv_send_wr **bad)
{
	*bad = NULL;
	return ibv_post_send(qp, wr, bad);
}

int rig_send_one(struct ibv_qp *qp, enum ibv_wr_opcode op)
{
	struct ibv_send_wr wr = { .opcode = op };
	struct ibv_send_wr *bad;
	int ret = rig_post_send(qp, &wr, &bad);

	CHECK(ret ? bad == &wr : !bad);
	return ret;
}

int rig_recv_one(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = { .wr_id = 1 };
	struct ibv_recv_wr *bad = NULL;
	int ret = ibv_post_recv(qp, &wr, &bad);

	CHECK(ret ? bad == &wr : !bad);
	return ret;
}
