// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ibv_wr_*() interface. */
#include <errno.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define WR_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |	\
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |			\
		 IBV_QP_EX_WITH_SEND_WITH_IMM)

static void wr_api_builds_a_batch(void)
{
	struct ibv_data_buf bufs[2] = { { "multi", 5 }, { "path", 4 } };
	struct ibv_qp_ex *qpx;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, WR_OPS)))
		return;
	qpx = ibv_qp_to_qp_ex(rig.qp);
	if (!CHECK(qpx))
		return;
	rig.sq->hdr->state = MROCE_RING_KICK;
	ibv_wr_start(qpx);
	qpx->wr_id = 41;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(qpx, 0xcc, 0x6000, 0x04030201);
	ibv_wr_set_sge(qpx, 0xaa, 0x7000, 12);
	qpx->wr_id = 42;
	qpx->wr_flags = 0;
	ibv_wr_send(qpx);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	CHECK_EQ(rig.sq->hdr->prod, 0);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	CHECK_EQ(rig.sq->hdr->prod, 2);
	CHECK_EQ(fake_kernel.doorbells, 1);

	sqe = fake_slot(rig.sq, 0);
	CHECK_EQ(sqe->wr_id, 41);
	CHECK_EQ(sqe->opcode, IBV_WR_RDMA_WRITE_WITH_IMM);
	CHECK_EQ(sqe->flags, IBV_SEND_SIGNALED);
	CHECK_EQ(sqe->rkey, 0xcc);
	CHECK_EQ(sqe->remote_addr, 0x6000);
	CHECK_EQ(sqe->imm_be, 0x04030201);
	CHECK_EQ(sqe->num_sge, 1);
	CHECK_EQ(sqe->sge[0].length, 12);
	sqe = fake_slot(rig.sq, 1);
	CHECK_EQ(sqe->flags, IBV_SEND_INLINE);
	CHECK_EQ(sqe->inline_bytes, 9);
	CHECK(!memcmp(sqe->sge, "multipath", 9));
	rig_close(&rig);
}

static void wr_api_is_all_or_nothing(void)
{
	struct ibv_sge sges[SGES + 1] = {};
	struct ibv_qp_ex *qpx;
	struct rig rig;
	int i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, WR_OPS)))
		return;
	qpx = ibv_qp_to_qp_ex(rig.qp);
	if (!CHECK(qpx))
		return;
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_abort(qpx);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge_list(qpx, SGES + 1, sges);
	ibv_wr_send(qpx);
	CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
	ibv_wr_start(qpx);
	for (i = 0; i < SEND_WR + 1; i++)
		ibv_wr_send(qpx);
	CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	CHECK_EQ(rig.sq->hdr->prod, 0);
	ibv_wr_start(qpx);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	for (i = 0; i < SEND_WR; i++)
		CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	CHECK_EQ(rig.sq->hdr->prod, SEND_WR);
	rig_set_state(rig.qp, IBV_QPS_RESET);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
	rig_close(&rig);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(wr_api_builds_a_batch),
	KTAP_TEST(wr_api_is_all_or_nothing),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
