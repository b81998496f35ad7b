// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting: what goes into the rings, which errno when not, when it traps. */
#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

static void send_needs_rts(void)
{
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RESET, 0)))
		return;
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), EINVAL);
	rig_set_state(rig.qp, IBV_QPS_INIT);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), EINVAL);
	rig_set_state(rig.qp, IBV_QPS_RTR);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), EINVAL);
	CHECK_EQ(rig.sq->hdr->prod, 0);
	rig_set_state(rig.qp, IBV_QPS_RTS);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	/* In SQD it waits in the queue, in ERR it is flushed. */
	rig_set_state(rig.qp, IBV_QPS_SQD);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	rig_set_state(rig.qp, IBV_QPS_ERR);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	CHECK_EQ(rig.sq->hdr->prod, 3);
	rig_close(&rig);
}

/*
 * A QP in ERR has its requests flushed at once: every post rings. The kernel
 * may have put it there without a word; then the state here still says RTS.
 */
static void error_state_rings_for_every_post(void)
{
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	rig.sq->hdr->state = MROCE_RING_KICK;
	rig.rq->hdr->state = MROCE_RING_KICK;
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	CHECK_EQ(fake_kernel.doorbell.command, IB_USER_VERBS_CMD_POST_SEND);
	CHECK_EQ(rig_recv_one(rig.qp), 0);
	CHECK_EQ(fake_kernel.doorbell.command, IB_USER_VERBS_CMD_POST_RECV);
	rig_set_state(rig.qp, IBV_QPS_ERR);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	CHECK_EQ(fake_kernel.doorbell.command, IB_USER_VERBS_CMD_POST_SEND);
	CHECK_EQ(rig_recv_one(rig.qp), 0);
	CHECK_EQ(fake_kernel.doorbell.command, IB_USER_VERBS_CMD_POST_RECV);
	CHECK_EQ(fake_kernel.doorbells, 4);
	rig_close(&rig);
}

static void send_queue_full_at_cap(void)
{
	struct rig rig;
	int round;
	int i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(rig.sq->entries, 8);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < SEND_WR; i++)
			CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
		CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), ENOMEM);
		CHECK_EQ(rig.sq->hdr->prod - rig.sq->hdr->cons, SEND_WR);
		rig.sq->hdr->cons = rig.sq->hdr->prod;
	}
	CHECK_EQ(rig.sq->hdr->prod, 4 * SEND_WR);
	rig_close(&rig);
}

static void send_list_stops_at_first_error(void)
{
	struct ibv_send_wr wrs[3] = {
		{ .wr_id = 10, .opcode = IBV_WR_SEND, .next = &wrs[1] },
		{ .wr_id = 11, .opcode = IBV_WR_TSO, .next = &wrs[2] },
		{ .wr_id = 12, .opcode = IBV_WR_SEND },
	};
	struct ibv_send_wr *bad;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(rig_post_send(rig.qp, wrs, &bad), EOPNOTSUPP);
	CHECK(bad == &wrs[1]);
	CHECK_EQ(rig.sq->hdr->prod, 1);
	sqe = fake_slot(rig.sq, 0);
	CHECK_EQ(sqe->wr_id, 10);
	rig_close(&rig);
}

/* What fits into the queue is posted and rung for, the rest is reported. */
static void list_longer_than_the_queue(void)
{
	struct ibv_send_wr wrs[SEND_WR + 1] = {};
	struct ibv_recv_wr rwrs[RECV_WR + 1] = {};
	struct ibv_recv_wr *rbad = NULL;
	struct ibv_send_wr *bad;
	struct rig rig;
	int i;

	for (i = 0; i < SEND_WR + 1; i++) {
		wrs[i].opcode = IBV_WR_SEND;
		wrs[i].next = i < SEND_WR ? &wrs[i + 1] : NULL;
	}
	for (i = 0; i < RECV_WR; i++)
		rwrs[i].next = &rwrs[i + 1];
	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	rig.sq->hdr->state = MROCE_RING_KICK;
	CHECK_EQ(rig_post_send(rig.qp, wrs, &bad), ENOMEM);
	CHECK(bad == &wrs[SEND_WR]);
	CHECK_EQ(rig.sq->hdr->prod, SEND_WR);
	CHECK_EQ(fake_kernel.doorbells, 1);
	CHECK_EQ(ibv_post_recv(rig.qp, rwrs, &rbad), ENOMEM);
	CHECK(rbad == &rwrs[RECV_WR]);
	CHECK_EQ(rig.rq->hdr->prod, RECV_WR);
	rig_close(&rig);
}

static void opcodes_beyond_the_table(void)
{
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_DRIVER1), EOPNOTSUPP);
	CHECK_EQ(rig_send_one(rig.qp, (enum ibv_wr_opcode)1000), EOPNOTSUPP);
	CHECK_EQ(rig_send_one(rig.qp, (enum ibv_wr_opcode)-1), EOPNOTSUPP);
	CHECK_EQ(rig.sq->hdr->prod, 0);
	rig_close(&rig);
}

static void write_imm_is_encoded(void)
{
	struct ibv_sge sges[2] = {
		{ .addr = 0x1122334455667788, .length = 7, .lkey = 0xaa },
		{ .addr = 0x99, .length = 8, .lkey = 0xbb },
	};
	struct ibv_send_wr wr = {
		.wr_id = 0xfedcba9876543210, .sg_list = sges, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |
			      IBV_SEND_FENCE,
		.imm_data = 0x04030201,
		.wr.rdma = { .remote_addr = 0x1000200030004000, .rkey = 0xcc },
	};
	struct ibv_send_wr *bad;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	sqe = fake_slot(rig.sq, 0);
	memset(sqe, 0xff, rig.sq->stride_bytes);
	if (!CHECK(!rig_post_send(rig.qp, &wr, &bad)))
		return;
	CHECK(sqe->wr_id == 0xfedcba9876543210);
	CHECK_EQ(sqe->opcode, 1);
	CHECK_EQ(sqe->flags, 1 | 2 | 4);
	CHECK_EQ(sqe->num_sge, 2);
	CHECK_EQ(sqe->imm_be, 0x04030201);
	CHECK_EQ(sqe->inline_bytes, 0);
	CHECK_EQ(sqe->remote_addr, 0x1000200030004000);
	CHECK_EQ(sqe->rkey, 0xcc);
	CHECK_EQ(sqe->reserved[3], 0);
	CHECK_EQ(sqe->sge[0].addr, 0x1122334455667788);
	CHECK_EQ(sqe->sge[0].length, 7);
	CHECK_EQ(sqe->sge[1].lkey, 0xbb);
	rig_close(&rig);
}

static void atomic_is_encoded(enum ibv_wr_opcode op)
{
	struct ibv_sge sge = { .addr = 0x7008, .length = 8, .lkey = 0xaa };
	struct ibv_send_wr wr = {
		.wr_id = 61, .sg_list = &sge, .num_sge = 1, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.wr.atomic = {
			.remote_addr = 0x1000200030004008,
			.compare_add = 0x0102030405060708,
			.swap = 0x1112131415161718, .rkey = 0xcc,
		},
	};
	struct ibv_send_wr *bad;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	sqe = fake_slot(rig.sq, 0);
	memset(sqe, 0xff, rig.sq->stride_bytes);
	if (!CHECK(!rig_post_send(rig.qp, &wr, &bad)))
		return;
	CHECK_EQ(sqe->wr_id, 61);
	CHECK_EQ(sqe->opcode, op);
	CHECK_EQ(sqe->flags, 1 | 2);
	CHECK_EQ(sqe->num_sge, 1);
	CHECK_EQ(sqe->imm_be, 0);
	CHECK_EQ(sqe->inline_bytes, 0);
	CHECK_EQ(sqe->remote_addr, 0x1000200030004008);
	CHECK_EQ(sqe->rkey, 0xcc);
	CHECK_EQ(sqe->atomic.compare_add, 0x0102030405060708);
	CHECK_EQ(sqe->atomic.swap, 0x1112131415161718);
	CHECK_EQ(sqe->sge[0].addr, 0x7008);
	CHECK_EQ(sqe->sge[0].length, 8);
	CHECK_EQ(sqe->sge[0].lkey, 0xaa);

	/* Whether the length is one of an atomic, the kernel says. */
	sge.length = 7;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), 0);
	sqe = fake_slot(rig.sq, 1);
	CHECK_EQ(sqe->sge[0].length, 7);
	rig_close(&rig);
}

static void atomics_are_encoded(void)
{
	atomic_is_encoded(IBV_WR_ATOMIC_CMP_AND_SWP);
	atomic_is_encoded(IBV_WR_ATOMIC_FETCH_AND_ADD);
}

static void read_is_encoded(void)
{
	struct ibv_sge sges[SGES] = {
		{ .addr = 0x5000, .length = 3, .lkey = 0xaa },
		{ .addr = 0x6000, .length = 0, .lkey = 0xbb },
		{ .addr = 0x7000, .length = UINT32_MAX, .lkey = 0xcc },
	};
	struct ibv_send_wr wr = {
		.wr_id = 71, .sg_list = sges, .num_sge = SGES,
		.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = 0x1000200030004001, .rkey = 0xdd },
	};
	struct ibv_send_wr *bad;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	sqe = fake_slot(rig.sq, 0);
	memset(sqe, 0xff, rig.sq->stride_bytes);
	if (!CHECK(!rig_post_send(rig.qp, &wr, &bad)))
		return;
	CHECK_EQ(sqe->wr_id, 71);
	CHECK_EQ(sqe->opcode, IBV_WR_RDMA_READ);
	CHECK_EQ(sqe->flags, 2);
	CHECK_EQ(sqe->num_sge, SGES);
	CHECK_EQ(sqe->imm_be, 0);
	CHECK_EQ(sqe->inline_bytes, 0);
	CHECK_EQ(sqe->remote_addr, 0x1000200030004001);
	CHECK_EQ(sqe->rkey, 0xdd);
	CHECK_EQ(sqe->atomic.compare_add, 0);
	CHECK_EQ(sqe->sge[0].addr, 0x5000);
	CHECK_EQ(sqe->sge[1].length, 0);
	CHECK_EQ(sqe->sge[2].length, UINT32_MAX);
	CHECK_EQ(sqe->sge[2].lkey, 0xcc);
	rig_close(&rig);
}

static const enum ibv_wr_opcode fetching_ops[] = {
	IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

#define NUM_FETCHING_OPS (sizeof(fetching_ops) / sizeof(fetching_ops[0]))

/* Data that comes from the peer cannot be in the slot, not even none of it. */
static void fetching_ops_take_no_inline(void)
{
	uint64_t word = 0;
	struct ibv_sge sge = { .addr = (uintptr_t)&word, .length = 8 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .send_flags = IBV_SEND_INLINE,
	};
	struct ibv_send_wr *bad;
	struct rig rig;
	size_t i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	for (i = 0; i < NUM_FETCHING_OPS; i++) {
		wr.opcode = fetching_ops[i];
		for (wr.num_sge = 0; wr.num_sge < 2; wr.num_sge++) {
			CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), EINVAL);
			CHECK(bad == &wr);
		}
	}
	CHECK_EQ(rig.sq->hdr->prod, 0);
	rig_close(&rig);
}

static void only_rc_fetches(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;
	size_t i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	attr = rig_qp_attr(&rig);
	attr.qp_type = IBV_QPT_UC;
	rig.qp = ibv_create_qp_ex(rig.ctx, &attr);
	if (!CHECK(rig.qp))
		return;
	rig_set_state(rig.qp, IBV_QPS_RTS);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_RDMA_WRITE), 0);
	for (i = 0; i < NUM_FETCHING_OPS; i++)
		CHECK_EQ(rig_send_one(rig.qp, fetching_ops[i]), EOPNOTSUPP);
	CHECK_EQ(fake_sq(rig.qp)->hdr->prod, 1);
	rig_close(&rig);
}

static void inline_data_is_gathered(void)
{
	char text[] = "multipath";
	struct ibv_sge sges[3] = {
		{ .addr = (uintptr_t)text, .length = 5 },
		{ .addr = 0, .length = 0 },
		{ .addr = (uintptr_t)text + 5, .length = 4 },
	};
	struct ibv_send_wr wr = {
		.sg_list = sges, .num_sge = 3, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct ibv_send_wr *bad;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	if (!CHECK(!rig_post_send(rig.qp, &wr, &bad)))
		return;
	sqe = fake_slot(rig.sq, 0);
	CHECK_EQ(sqe->flags, IBV_SEND_INLINE);
	CHECK_EQ(sqe->num_sge, 0);
	CHECK_EQ(sqe->inline_bytes, 9);
	CHECK(!memcmp(sqe->sge, "multipath", 9));
	rig_close(&rig);
}

static void inline_limit_is_the_cap(void)
{
	char data[129] = {};
	struct ibv_sge sges[2] = {
		{ .addr = (uintptr_t)data, .length = 128 },
		{ .addr = (uintptr_t)data, .length = 0 },
	};
	struct ibv_send_wr wr = {
		.sg_list = sges, .num_sge = 2, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct ibv_send_wr *bad;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), 0);
	sges[1].length = 1;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), EINVAL);
	CHECK(bad == &wr);
	sges[1].length = UINT32_MAX;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), EINVAL);
	CHECK_EQ(rig.sq->hdr->prod, 1);
	rig_close(&rig);
}

static void too_many_sges(void)
{
	struct ibv_sge sges[SGES + 1] = {};
	struct ibv_send_wr wr = {
		.sg_list = sges, .num_sge = SGES, .opcode = IBV_WR_SEND,
	};
	struct ibv_recv_wr rwr = { .sg_list = sges, .num_sge = SGES };
	struct ibv_recv_wr *rbad = NULL;
	struct ibv_send_wr *bad;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), 0);
	CHECK_EQ(ibv_post_recv(rig.qp, &rwr, &rbad), 0);
	wr.num_sge++;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), EINVAL);
	wr.num_sge = -1;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), EINVAL);
	rwr.num_sge++;
	CHECK_EQ(ibv_post_recv(rig.qp, &rwr, &rbad), EINVAL);
	CHECK(rbad == &rwr);
	rig_close(&rig);
}

static void sig_all_signals(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct mroce_sqe *sqe;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	attr = rig_qp_attr(&rig);
	attr.sq_sig_all = 1;
	rig.qp = ibv_create_qp_ex(rig.ctx, &attr);
	if (!CHECK(rig.qp))
		return;
	rig_set_state(rig.qp, IBV_QPS_RTS);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	sqe = fake_slot(fake_sq(rig.qp), 0);
	CHECK_EQ(sqe->flags, IBV_SEND_SIGNALED);
	rig_close(&rig);
}

static void send_doorbell_once_per_list(void)
{
	struct ibv_send_wr wrs[2] = {
		{ .opcode = IBV_WR_SEND, .next = &wrs[1] },
		{ .opcode = IBV_WR_SEND },
	};
	struct ibv_send_wr *bad;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(rig_post_send(rig.qp, wrs, &bad), 0);
	CHECK_EQ(fake_kernel.doorbells, 0);

	rig.sq->hdr->state = MROCE_RING_KICK;
	CHECK_EQ(rig_post_send(rig.qp, wrs, &bad), 0);
	CHECK_EQ(fake_kernel.doorbells, 1);
	CHECK_EQ(fake_kernel.doorbell.command, IB_USER_VERBS_CMD_POST_SEND);
	CHECK_EQ(fake_kernel.doorbell.handle, rig.qp->handle);
	CHECK_EQ(fake_kernel.doorbell.wr_count, 0);
	CHECK_EQ(fake_kernel.doorbell.sge_count, 0);
	CHECK_EQ(fake_kernel.doorbell.wqe_size,
		 sizeof(struct ib_uverbs_send_wr));
	CHECK_EQ(fake_kernel.doorbell.in_bytes,
		 sizeof(struct ib_uverbs_cmd_hdr) +
		 sizeof(struct ib_uverbs_post_send));
	CHECK_EQ(fake_kernel.doorbell.out_words, 1);

	/* Nothing posted, nothing rung. */
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_TSO), EOPNOTSUPP);
	CHECK_EQ(fake_kernel.doorbells, 1);
	rig_close(&rig);
}

static void dead_device_fails_the_post(void)
{
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	rig.sq->hdr->state = MROCE_RING_KICK;
	rig.rq->hdr->state = MROCE_RING_KICK;
	fake_kernel.doorbell_errno = EIO;
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), EIO);
	CHECK_EQ(rig_recv_one(rig.qp), EIO);
	rig_close(&rig);
}

/* The requests are published: an error would have them posted twice. */
static void doorbell_waits_for_memory(void)
{
	static const int shortage[] = { ENOMEM, EFAULT };
	struct rig rig;
	unsigned int i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	rig.sq->hdr->state = MROCE_RING_KICK;
	rig.rq->hdr->state = MROCE_RING_KICK;
	for (i = 0; i < 2; i++) {
		fake_kernel.doorbell_errno = shortage[i];
		fake_kernel.doorbell_failures = 3;
		CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
		CHECK_EQ(fake_kernel.doorbells, 2 * i + 1);
		fake_kernel.doorbell_errno = shortage[i];
		fake_kernel.doorbell_failures = 3;
		CHECK_EQ(rig_recv_one(rig.qp), 0);
		CHECK_EQ(fake_kernel.doorbells, 2 * i + 2);
		CHECK_EQ(fake_kernel.doorbell_failures, 0);
	}
	rig_close(&rig);
}

static void recv_states_and_cap(void)
{
	struct rig rig;
	int i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RESET, 0)))
		return;
	CHECK_EQ(rig_recv_one(rig.qp), EINVAL);
	rig_set_state(rig.qp, IBV_QPS_INIT);
	for (i = 0; i < RECV_WR; i++)
		CHECK_EQ(rig_recv_one(rig.qp), 0);
	CHECK_EQ(rig_recv_one(rig.qp), ENOMEM);
	CHECK_EQ(rig.rq->hdr->prod, RECV_WR);
	rig.rq->hdr->cons = 1;
	CHECK_EQ(rig_recv_one(rig.qp), 0);
	CHECK_EQ(rig_recv_one(rig.qp), ENOMEM);
	CHECK_EQ(fake_kernel.doorbells, 0);
	rig_close(&rig);
}

static void recv_is_encoded(void)
{
	struct ibv_sge sge = { .addr = 0x5000, .length = 64, .lkey = 0x77 };
	struct ibv_recv_wr wrs[2] = {
		{ .wr_id = 21, .next = &wrs[1] },
		{ .wr_id = 22, .sg_list = &sge, .num_sge = 1 },
	};
	struct ibv_recv_wr *bad = NULL;
	struct mroce_rqe *rqe;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_INIT, 0)))
		return;
	rig.rq->hdr->state = MROCE_RING_KICK;
	CHECK_EQ(ibv_post_recv(rig.qp, wrs, &bad), 0);
	CHECK_EQ(fake_kernel.doorbells, 1);
	CHECK_EQ(fake_kernel.doorbell.command, IB_USER_VERBS_CMD_POST_RECV);
	CHECK_EQ(fake_kernel.doorbell.handle, rig.qp->handle);
	CHECK_EQ(fake_kernel.doorbell.wqe_size,
		 sizeof(struct ib_uverbs_recv_wr));
	rqe = fake_slot(rig.rq, 0);
	CHECK_EQ(rqe->wr_id, 21);
	CHECK_EQ(rqe->num_sge, 0);
	rqe = fake_slot(rig.rq, 1);
	CHECK_EQ(rqe->wr_id, 22);
	CHECK_EQ(rqe->num_sge, 1);
	CHECK_EQ(rqe->sge[0].addr, 0x5000);
	CHECK_EQ(rqe->sge[0].length, 64);
	CHECK_EQ(rqe->sge[0].lkey, 0x77);
	rig_close(&rig);
}

static void reset_empties_the_queues(void)
{
	struct rig rig;
	int i;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	for (i = 0; i < SEND_WR; i++)
		CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	for (i = 0; i < RECV_WR; i++)
		CHECK_EQ(rig_recv_one(rig.qp), 0);
	rig_set_state(rig.qp, IBV_QPS_RESET);
	CHECK_EQ(rig.qp->state, IBV_QPS_RESET);
	rig_set_state(rig.qp, IBV_QPS_RTS);
	for (i = 0; i < SEND_WR; i++)
		CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), ENOMEM);
	CHECK_EQ(rig.sq->hdr->prod, SEND_WR);
	CHECK_EQ(rig_recv_one(rig.qp), 0);
	CHECK_EQ(rig.rq->hdr->prod, 1);
	rig_close(&rig);
}

static void srq_takes_the_receives(void)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 3, .max_sge = 1 },
	};
	struct ibv_srq_attr change = { .max_wr = 8, .srq_limit = 1 }, now = {};
	struct ibv_recv_wr wr = { .wr_id = 51 };
	struct ibv_recv_wr *bad = NULL;
	struct ibv_qp_init_attr_ex attr;
	struct fake_ring *ring;
	struct ibv_srq *srq;
	struct rig rig;
	int i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	srq = ibv_create_srq(rig.pd, &srq_attr);
	if (!CHECK(srq))
		return;
	attr = rig_qp_attr(&rig);
	attr.srq = srq;
	rig.qp = ibv_create_qp_ex(rig.ctx, &attr);
	if (!CHECK(rig.qp))
		return;
	rig_set_state(rig.qp, IBV_QPS_INIT);
	CHECK_EQ(rig_recv_one(rig.qp), EINVAL);

	ring = fake_srq(srq);
	ring->hdr->state = MROCE_RING_KICK;
	for (i = 0; i < 3; i++)
		CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	CHECK(bad == &wr);
	CHECK_EQ(ring->hdr->prod, 3);
	CHECK_EQ(((struct mroce_rqe *)fake_slot(ring, 2))->wr_id, 51);
	CHECK_EQ(fake_kernel.doorbells, 3);
	CHECK_EQ(fake_kernel.doorbell.command,
		 IB_USER_VERBS_CMD_POST_SRQ_RECV);
	CHECK_EQ(fake_kernel.doorbell.handle, srq->handle);
	CHECK_EQ(ibv_modify_srq(srq, &change, IBV_SRQ_MAX_WR), EOPNOTSUPP);
	CHECK_EQ(fake_kernel.srq_modifies, 0);
	CHECK_EQ(ibv_modify_srq(srq, &change, IBV_SRQ_LIMIT), 0);
	CHECK_EQ(fake_kernel.srq_modifies, 1);
	CHECK_EQ(ibv_query_srq(srq, &now), 0);
	CHECK_EQ(now.max_wr, 3);
	CHECK_EQ(now.srq_limit, 1);

	CHECK_EQ(ibv_destroy_qp(rig.qp), 0);
	rig.qp = NULL;
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(fake_kernel.live_srqs, 0);
	rig_close(&rig);
}

/* The kernel counts what is complete; slots come free in the order of the ring. */
static void srq_slots_come_back(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 2, .max_sge = 2 } };
	struct ibv_sge sge[3] = { { .addr = 10, .length = 11, .lkey = 12 },
				  { .addr = 20, .length = 21, .lkey = 22 } };
	struct ibv_recv_wr second = { .wr_id = 62, .sg_list = sge, .num_sge = 2 };
	struct ibv_recv_wr first = { .wr_id = 61, .next = &second };
	struct ibv_recv_wr *bad = NULL;
	const struct mroce_rqe *rqe;
	struct fake_ring *ring;
	struct ibv_srq *srq;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	srq = ibv_create_srq(rig.pd, &attr);
	if (!CHECK(srq))
		return;
	ring = fake_srq(srq);
	CHECK_EQ(ibv_post_srq_recv(srq, &first, &bad), 0);
	/* Nobody asks for a doorbell. */
	CHECK_EQ(fake_kernel.doorbells, 0);
	rqe = fake_slot(ring, 1);
	CHECK_EQ(rqe->wr_id, 62);
	CHECK_EQ(rqe->num_sge, 2);
	CHECK_EQ(rqe->sge[1].addr, 20);
	CHECK_EQ(rqe->sge[1].length, 21);
	CHECK_EQ(rqe->sge[1].lkey, 22);

	/* A list stops where the queue is full. */
	ring->hdr->cons = 1;
	CHECK_EQ(ibv_post_srq_recv(srq, &first, &bad), ENOMEM);
	CHECK(bad == &second);
	CHECK_EQ(ring->hdr->prod, 3);
	CHECK_EQ(((struct mroce_rqe *)fake_slot(ring, 2))->wr_id, 61);
	ring->hdr->cons = 2;
	second.num_sge = 3;
	CHECK_EQ(ibv_post_srq_recv(srq, &second, &bad), EINVAL);
	CHECK(bad == &second);
	CHECK_EQ(ring->hdr->prod, 3);

	CHECK_EQ(ibv_destroy_srq(srq), 0);
	rig_close(&rig);
}

static void refused_destroy_leaves_the_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 2, .max_sge = 1 } };
	struct ibv_recv_wr wr = { .wr_id = 71 };
	struct ibv_recv_wr *bad = NULL;
	struct ibv_srq *srq;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	srq = ibv_create_srq(rig.pd, &attr);
	if (!CHECK(srq))
		return;
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	fake_kernel.destroy_srq_errno = EBUSY;
	CHECK_EQ(ibv_destroy_srq(srq), EBUSY);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(fake_srq(srq)->hdr->prod, 2);
	CHECK_EQ(((struct mroce_rqe *)fake_slot(fake_srq(srq), 1))->wr_id, 71);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	/* The PD is still in use. */
	CHECK_EQ(ibv_dealloc_pd(rig.pd), EBUSY);
	fake_kernel.destroy_srq_errno = 0;
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(fake_kernel.live_srqs, 0);
	rig_close(&rig);
}

static void srq_without_a_ring_is_refused(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 2, .max_sge = 1 } };
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	fake_kernel.no_srq_ring = 1;
	CHECK(!ibv_create_srq(rig.pd, &attr));
	CHECK_EQ(errno, EPROTO);
	CHECK_EQ(fake_kernel.live_srqs, 0);
	rig_close(&rig);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(send_needs_rts),
	KTAP_TEST(error_state_rings_for_every_post),
	KTAP_TEST(send_queue_full_at_cap),
	KTAP_TEST(send_list_stops_at_first_error),
	KTAP_TEST(list_longer_than_the_queue),
	KTAP_TEST(opcodes_beyond_the_table),
	KTAP_TEST(write_imm_is_encoded),
	KTAP_TEST(atomics_are_encoded),
	KTAP_TEST(read_is_encoded),
	KTAP_TEST(fetching_ops_take_no_inline),
	KTAP_TEST(only_rc_fetches),
	KTAP_TEST(inline_data_is_gathered),
	KTAP_TEST(inline_limit_is_the_cap),
	KTAP_TEST(too_many_sges),
	KTAP_TEST(sig_all_signals),
	KTAP_TEST(send_doorbell_once_per_list),
	KTAP_TEST(dead_device_fails_the_post),
	KTAP_TEST(doorbell_waits_for_memory),
	KTAP_TEST(recv_states_and_cap),
	KTAP_TEST(recv_is_encoded),
	KTAP_TEST(reset_empties_the_queues),
	KTAP_TEST(srq_takes_the_receives),
	KTAP_TEST(srq_slots_come_back),
	KTAP_TEST(refused_destroy_leaves_the_srq),
	KTAP_TEST(srq_without_a_ring_is_refused),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
