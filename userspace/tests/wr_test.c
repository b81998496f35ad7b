// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ibv_wr_*() interface. */
#include <errno.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

#define WR_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND |	\
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |			\
		 IBV_QP_EX_WITH_SEND_WITH_IMM |				\
		 IBV_QP_EX_WITH_RDMA_READ |				\
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |			\
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

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

/*
 * struct op_case - one operation, through both interfaces
 * @wr: for ibv_post_send(), without identity, flags and data
 * @call: the same for the ibv_wr_*() interface
 */
struct op_case {
	struct ibv_send_wr wr;
	void (*call)(struct ibv_qp_ex *qpx);
};

#define REMOTE	.remote_addr = 0x1000200030004008, .rkey = 0xcc

static void call_read(struct ibv_qp_ex *qpx)
{
	ibv_wr_rdma_read(qpx, 0xcc, 0x1000200030004008);
}

static void call_cmp_swp(struct ibv_qp_ex *qpx)
{
	ibv_wr_atomic_cmp_swp(qpx, 0xcc, 0x1000200030004008, 5, 6);
}

static void call_fetch_add(struct ibv_qp_ex *qpx)
{
	ibv_wr_atomic_fetch_add(qpx, 0xcc, 0x1000200030004008, 7);
}

static void call_write(struct ibv_qp_ex *qpx)
{
	ibv_wr_rdma_write(qpx, 0xcc, 0x1000200030004008);
}

static void call_write_imm(struct ibv_qp_ex *qpx)
{
	ibv_wr_rdma_write_imm(qpx, 0xcc, 0x1000200030004008, 0x04030201);
}

static void call_send(struct ibv_qp_ex *qpx)
{
	ibv_wr_send(qpx);
}

static void call_send_imm(struct ibv_qp_ex *qpx)
{
	ibv_wr_send_imm(qpx, 0x04030201);
}

static const struct op_case op_cases[] = {
	{ { .opcode = IBV_WR_RDMA_READ, .wr.rdma = { REMOTE } }, call_read },
	{ { .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
	    .wr.atomic = { REMOTE, .compare_add = 5, .swap = 6 } },
	  call_cmp_swp },
	{ { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	    .wr.atomic = { REMOTE, .compare_add = 7 } }, call_fetch_add },
	{ { .opcode = IBV_WR_RDMA_WRITE, .wr.rdma = { REMOTE } }, call_write },
	{ { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .imm_data = 0x04030201,
	    .wr.rdma = { REMOTE } }, call_write_imm },
	{ { .opcode = IBV_WR_SEND }, call_send },
	{ { .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = 0x04030201 },
	  call_send_imm },
};

static void same_slots(const struct op_case *c)
{
	struct ibv_sge sge = { .addr = 0x7008, .length = 8, .lkey = 0xaa };
	struct ibv_send_wr wr = c->wr;
	struct ibv_send_wr *bad;
	struct ibv_qp_ex *qpx;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, WR_OPS)))
		return;
	qpx = ibv_qp_to_qp_ex(rig.qp);
	if (!CHECK(qpx))
		return;
	wr.wr_id = 81;
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), 0);

	ibv_wr_start(qpx);
	qpx->wr_id = 81;
	qpx->wr_flags = wr.send_flags;
	c->call(qpx);
	ibv_wr_set_sge(qpx, 0xaa, 0x7008, 8);
	CHECK_EQ(ibv_wr_complete(qpx), 0);

	CHECK_EQ(rig.sq->hdr->prod, 2);
	sqe = fake_slot(rig.sq, 1);
	CHECK_EQ(sqe->opcode, c->wr.opcode);
	CHECK(!memcmp(sqe, fake_slot(rig.sq, 0),
		      MROCE_SQE_SIZE + sizeof(struct mroce_sge)));
	rig_close(&rig);
}

/* What post_test.c says about the fields of a slot holds here as well. */
static void both_interfaces_write_the_same(void)
{
	size_t i;

	for (i = 0; i < sizeof(op_cases) / sizeof(op_cases[0]); i++)
		same_slots(&op_cases[i]);
}

static void fetching_ops_take_no_inline(void)
{
	uint64_t word = 0;
	struct ibv_qp_ex *qpx;
	struct rig rig;
	size_t i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, WR_OPS)))
		return;
	qpx = ibv_qp_to_qp_ex(rig.qp);
	if (!CHECK(qpx))
		return;
	for (i = 0; i < 3; i++) {
		ibv_wr_start(qpx);
		op_cases[i].call(qpx);
		ibv_wr_set_inline_data(qpx, &word, sizeof(word));
		CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
		ibv_wr_start(qpx);
		op_cases[i].call(qpx);
		ibv_wr_set_inline_data_list(qpx, 0, NULL);
		CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
	}
	CHECK_EQ(rig.sq->hdr->prod, 0);
	rig_close(&rig);
}

static void wr_api_follows_the_state(void)
{
	static const struct {
		enum ibv_qp_state state;
		int err;
	} rows[] = {
		{ IBV_QPS_RESET, EINVAL }, { IBV_QPS_INIT, EINVAL },
		{ IBV_QPS_RTR, EINVAL }, { IBV_QPS_RTS, 0 },
		{ IBV_QPS_SQD, 0 }, { IBV_QPS_ERR, 0 },
	};
	struct ibv_qp_ex *qpx;
	struct rig rig;
	uint32_t posted = 0;
	size_t i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RESET, WR_OPS)))
		return;
	qpx = ibv_qp_to_qp_ex(rig.qp);
	if (!CHECK(qpx))
		return;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig_set_state(rig.qp, rows[i].state);
		ibv_wr_start(qpx);
		ibv_wr_send(qpx);
		CHECK_EQ(ibv_wr_complete(qpx), rows[i].err);
		posted += !rows[i].err;
		CHECK_EQ(rig.sq->hdr->prod, posted);
	}
	rig_close(&rig);
}

/* A type of QP has the operations that can be posted on it and no other. */
static void ops_go_with_the_type(void)
{
	static const struct {
		enum ibv_qp_type type;
		uint64_t ops;
		bool ok;
	} rows[] = {
		{ IBV_QPT_RC, WR_OPS, true },
		{ IBV_QPT_RC, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_BIND_MW,
		  false },
		{ IBV_QPT_RC, 1 << 15, false },
		{ IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_WRITE, true },
		{ IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ, false },
		{ IBV_QPT_UC, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, false },
		{ IBV_QPT_UD, IBV_QP_EX_WITH_SEND, true },
		{ IBV_QPT_UD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, false },
	};
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;
	struct ibv_qp *qp;
	size_t i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		attr = rig_qp_attr(&rig);
		attr.qp_type = rows[i].type;
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = rows[i].ops;
		errno = 0;
		qp = ibv_create_qp_ex(rig.ctx, &attr);
		CHECK_EQ(!!qp, rows[i].ok);
		if (qp)
			CHECK_EQ(ibv_destroy_qp(qp), 0);
		else
			CHECK_EQ(errno, EOPNOTSUPP);
	}
	rig_close(&rig);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(wr_api_builds_a_batch),
	KTAP_TEST(wr_api_is_all_or_nothing),
	KTAP_TEST(both_interfaces_write_the_same),
	KTAP_TEST(fetching_ops_take_no_inline),
	KTAP_TEST(wr_api_follows_the_state),
	KTAP_TEST(ops_go_with_the_type),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
