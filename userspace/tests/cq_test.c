// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completions, polled by both interfaces, and arming. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

static void completion_is_copied(void)
{
	struct mroce_cqe cqe = {
		.wr_id = 0x0123456789abcdef, .status = IBV_WC_REM_ACCESS_ERR,
		.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .vendor_err = 3,
		.byte_len = 4, .imm_be = 5, .qp_num = 6, .src_qp = 7,
		.wc_flags = IBV_WC_WITH_IMM, .pkey_index = 8, .sl = 9,
	};
	struct ibv_wc wc;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	CHECK_EQ(ibv_poll_cq(rig.cq, 1, &wc), 0);
	fake_complete(rig.cring, &cqe);
	memset(&wc, 0xff, sizeof(wc));
	CHECK_EQ(ibv_poll_cq(rig.cq, 1, &wc), 1);
	CHECK_EQ(wc.wr_id, 0x0123456789abcdef);
	CHECK_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
	CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(wc.vendor_err, 3);
	CHECK_EQ(wc.byte_len, 4);
	CHECK_EQ(wc.imm_data, 5);
	CHECK_EQ(wc.qp_num, 6);
	CHECK_EQ(wc.src_qp, 7);
	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(wc.pkey_index, 8);
	CHECK_EQ(wc.slid, 0);
	CHECK_EQ(wc.sl, 9);
	CHECK_EQ(wc.dlid_path_bits, 0);
	CHECK_EQ(rig.cring->hdr->cons, 1);
	rig_close(&rig);
}

static void completions_keep_their_order(void)
{
	struct mroce_cqe cqe = {};
	struct ibv_wc wc[7];
	uint64_t posted = 0;
	uint64_t polled = 0;
	struct rig rig;
	int round;
	int got;
	int i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 9; i++) {
			cqe.wr_id = posted++;
			fake_complete(rig.cring, &cqe);
		}
		while ((got = ibv_poll_cq(rig.cq, 7, wc)) > 0)
			for (i = 0; i < got; i++)
				CHECK_EQ(wc[i].wr_id, polled++);
		CHECK_EQ(got, 0);
		CHECK_EQ(rig.cring->hdr->cons, posted);
	}
	CHECK_EQ(polled, posted);
	rig_close(&rig);
}

/* A wild index, or the completion of a QP nobody knows, must not crash anyone. */
static void strange_completions_are_survived(void)
{
	struct mroce_cqe cqe = { .qp_num = 0xffffff, .status = 0xffffffff };
	struct ibv_wc wc[32];
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	fake_complete(rig.cring, &cqe);
	CHECK_EQ(ibv_destroy_qp(rig.qp), 0);
	rig.qp = NULL;
	CHECK_EQ(ibv_poll_cq(rig.cq, 1, wc), 1);
	rig.cring->hdr->prod += 0x80000000;
	CHECK_EQ(ibv_poll_cq(rig.cq, 32, wc), 32);
	rig_close(&rig);
}

/* @n completions, every third of another QP, wr_id counting; returns the next wr_id */
static uint64_t complete_mixed(struct rig *rig, uint64_t wr_id, int n)
{
	struct mroce_cqe cqe = {};

	for (; n; n--) {
		cqe.wr_id = wr_id++;
		cqe.qp_num = rig->qp->qp_num + (wr_id % 3 == 0);
		fake_complete(rig->cring, &cqe);
	}
	return wr_id;
}

static void expect_others(struct rig *rig, uint64_t first, uint64_t end)
{
	struct ibv_wc wc;

	for (; first < end; first++) {
		if ((first + 1) % 3)
			continue;
		CHECK_EQ(ibv_poll_cq(rig->cq, 1, &wc), 1);
		CHECK_EQ(wc.wr_id, first);
		CHECK_EQ(wc.qp_num, rig->qp ? rig->qp->qp_num + 1 : wc.qp_num);
	}
	CHECK_EQ(ibv_poll_cq(rig->cq, 1, &wc), 0);
}

/* Of the last life of a QP nothing is seen in the next; other QPs lose nothing. */
static void reset_and_destroy_take_completions(void)
{
	uint64_t next = 0, first;
	struct ibv_wc wc;
	struct rig rig;
	int round;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	for (round = 0; round < 7; round++) {
		first = next;
		next = complete_mixed(&rig, next, 7);
		if (round == 3) {
			/* One is polled, and it may be one of either. */
			CHECK_EQ(ibv_poll_cq(rig.cq, 1, &wc), 1);
			CHECK_EQ(wc.wr_id, first++);
		}
		rig_set_state(rig.qp, IBV_QPS_RESET);
		expect_others(&rig, first, next);
		CHECK_EQ(rig.cring->hdr->cons, rig.cring->hdr->prod);
		CHECK_EQ(rig.cring->hdr->cons, next);
	}
	first = next;
	next = complete_mixed(&rig, next, 7);
	CHECK_EQ(ibv_destroy_qp(rig.qp), 0);
	rig.qp = NULL;
	expect_others(&rig, first, next);
	rig_close(&rig);
}

static void arming_needs_no_trap(void)
{
	struct ibv_wc wc;
	unsigned int calls;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	calls = fake_kernel.calls;
	CHECK_EQ(ibv_req_notify_cq(rig.cq, 1), 0);
	CHECK_EQ(rig.cring->hdr->state, MROCE_RING_ARM_SOLICITED);
	/* Any completion is asked for now, no matter what was before or after. */
	CHECK_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	CHECK_EQ(rig.cring->hdr->state,
		 MROCE_RING_ARM_SOLICITED | MROCE_RING_ARM_NEXT);
	CHECK_EQ(ibv_req_notify_cq(rig.cq, 1), 0);
	CHECK_EQ(rig.cring->hdr->state,
		 MROCE_RING_ARM_SOLICITED | MROCE_RING_ARM_NEXT);
	/* The event takes both; another one has to be asked for. */
	rig.cring->hdr->state = 0;
	CHECK_EQ(ibv_poll_cq(rig.cq, 1, &wc), 0);
	CHECK_EQ(rig.cring->hdr->state, 0);
	CHECK_EQ(ibv_req_notify_cq(rig.cq, 0), 0);
	CHECK_EQ(rig.cring->hdr->state, MROCE_RING_ARM_NEXT);
	CHECK_EQ(fake_kernel.calls, calls);
	rig_close(&rig);
}

static void extended_poll(unsigned int flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = flags,
	};
	struct mroce_cqe cqe = {
		.wr_id = 31, .opcode = IBV_WC_RECV, .byte_len = 4, .imm_be = 5,
		.qp_num = 6, .src_qp = 7, .wc_flags = IBV_WC_WITH_IMM, .sl = 9,
		.vendor_err = 2,
	};
	struct ibv_poll_cq_attr poll = {};
	struct ibv_cq_ex *cq;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	cq = ibv_create_cq_ex(rig.ctx, &attr);
	if (!CHECK(cq))
		return;
	CHECK_EQ(ibv_start_poll(cq, &poll), ENOENT);
	fake_complete(fake_cq(ibv_cq_ex_to_cq(cq)), &cqe);
	cqe.wr_id = 32;
	cqe.status = IBV_WC_WR_FLUSH_ERR;
	fake_complete(fake_cq(ibv_cq_ex_to_cq(cq)), &cqe);

	if (!CHECK(!ibv_start_poll(cq, &poll)))
		return;
	CHECK_EQ(cq->wr_id, 31);
	CHECK_EQ(cq->status, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
	CHECK_EQ(ibv_wc_read_vendor_err(cq), 2);
	CHECK_EQ(ibv_wc_read_byte_len(cq), 4);
	CHECK_EQ(ibv_wc_read_imm_data(cq), 5);
	CHECK_EQ(ibv_wc_read_qp_num(cq), 6);
	CHECK_EQ(ibv_wc_read_src_qp(cq), 7);
	CHECK_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
	CHECK_EQ(ibv_wc_read_slid(cq), 0);
	CHECK_EQ(ibv_wc_read_sl(cq), 9);
	CHECK_EQ(ibv_wc_read_dlid_path_bits(cq), 0);
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(cq->wr_id, 32);
	CHECK_EQ(cq->status, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(ibv_next_poll(cq), ENOENT);
	ibv_end_poll(cq);
	CHECK_EQ(fake_cq(ibv_cq_ex_to_cq(cq))->hdr->cons, 2);
	/* The lock is free again: this would hang otherwise. */
	CHECK_EQ(ibv_start_poll(cq, &poll), ENOENT);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	rig_close(&rig);
}

static void extended_poll_locked(void)
{
	extended_poll(0);
}

static void extended_poll_single_threaded(void)
{
	extended_poll(IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
}

/*
 * struct cq_row - a wish for an extended CQ
 * @reader: the function it must bring, as an offset in struct ibv_cq_ex; 0: none
 * @err: 0 or the errno that it must be refused with
 */
struct cq_row {
	uint64_t wc_flags;
	uint32_t comp_mask;
	uint32_t flags;
	size_t reader;
	int err;
};

#define WITH(flag, member) \
	{ IBV_WC_EX_WITH_##flag, 0, 0, offsetof(struct ibv_cq_ex, member), 0 }
#define WITHOUT(flag) { IBV_WC_EX_WITH_##flag, 0, 0, 0, EOPNOTSUPP }
#define FLAGS	IBV_CQ_INIT_ATTR_MASK_FLAGS

static const struct cq_row cq_rows[] = {
	WITH(BYTE_LEN, read_byte_len),
	WITH(IMM, read_imm_data),
	WITH(QP_NUM, read_qp_num),
	WITH(SRC_QP, read_src_qp),
	WITH(SLID, read_slid),
	WITH(SL, read_sl),
	WITH(DLID_PATH_BITS, read_dlid_path_bits),
	WITHOUT(COMPLETION_TIMESTAMP),
	WITHOUT(COMPLETION_TIMESTAMP_WALLCLOCK),
	WITHOUT(CVLAN),
	WITHOUT(FLOW_TAG),
	WITHOUT(TM_INFO),
	/* These three are there without being asked for. */
	{ 0, 0, 0, offsetof(struct ibv_cq_ex, read_opcode), 0 },
	{ 0, 0, 0, offsetof(struct ibv_cq_ex, read_vendor_err), 0 },
	{ 0, 0, 0, offsetof(struct ibv_cq_ex, read_wc_flags), 0 },
	{ 0, FLAGS, 0, 0, 0 },
	{ 0, FLAGS, IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 0, 0 },
	{ 0, FLAGS, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, 0, EOPNOTSUPP },
	{ 0, FLAGS, 1u << 30, 0, EOPNOTSUPP },
};

static bool has_reader(const struct ibv_cq_ex *cq, size_t offset)
{
	void (*reader)(void);

	memcpy(&reader, (const char *)cq + offset, sizeof(reader));
	return reader;
}

static void extended_cqs_are_had_or_refused(void)
{
	const struct cq_row *row;
	struct ibv_cq_ex *cq;
	struct rig rig;
	size_t i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	for (i = 0; i < sizeof(cq_rows) / sizeof(cq_rows[0]); i++) {
		struct ibv_cq_init_attr_ex attr = { .cqe = 4 };

		row = &cq_rows[i];
		attr.wc_flags = row->wc_flags;
		attr.comp_mask = row->comp_mask;
		attr.flags = row->flags;
		errno = 0;
		cq = ibv_create_cq_ex(rig.ctx, &attr);
		CHECK_EQ(!cq, !!row->err);
		if (!cq) {
			CHECK_EQ(errno, row->err);
			continue;
		}
		CHECK(!row->reader || has_reader(cq, row->reader));
		CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	}
	rig_close(&rig);
}

/* A start that fails leaves no lock behind; entries go back at the end only. */
static void extended_poll_gives_back_at_the_end(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 8 };
	struct ibv_poll_cq_attr unknown = { .comp_mask = 1 };
	struct ibv_poll_cq_attr poll = {};
	struct mroce_cqe cqe = {};
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	cq = ibv_create_cq_ex(rig.ctx, &attr);
	if (!CHECK(cq))
		return;
	rig.cring = fake_cq(ibv_cq_ex_to_cq(cq));
	for (cqe.wr_id = 1; cqe.wr_id <= 3; cqe.wr_id++)
		fake_complete(rig.cring, &cqe);
	CHECK_EQ(ibv_start_poll(cq, &unknown), EINVAL);
	CHECK_EQ(ibv_start_poll(cq, &poll), 0);
	CHECK_EQ(cq->wr_id, 1);
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(cq->wr_id, 2);
	CHECK_EQ(rig.cring->hdr->cons, 0);
	ibv_end_poll(cq);
	CHECK_EQ(rig.cring->hdr->cons, 2);
	/* Both interfaces read the same queue. */
	CHECK_EQ(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 1);
	CHECK_EQ(wc.wr_id, 3);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	rig_close(&rig);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(completion_is_copied),
	KTAP_TEST(completions_keep_their_order),
	KTAP_TEST(strange_completions_are_survived),
	KTAP_TEST(reset_and_destroy_take_completions),
	KTAP_TEST(arming_needs_no_trap),
	KTAP_TEST(extended_poll_locked),
	KTAP_TEST(extended_poll_single_threaded),
	KTAP_TEST(extended_poll_gives_back_at_the_end),
	KTAP_TEST(extended_cqs_are_had_or_refused),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
