// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Contexts, regions and queues: what is created, refused and left behind. */
#include <errno.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

static void foreign_abi_is_refused(void)
{
	struct ibv_context *ctx;

	memset(&fake_kernel, 0, sizeof(fake_kernel));
	fake_kernel.abi_version = MROCE_ABI_VERSION + 1;
	errno = 0;
	ctx = fake_open();
	CHECK(!ctx);
	CHECK_EQ(errno, EPROTONOSUPPORT);
}

static void mr_flags_pass_through(void)
{
	struct rig rig;
	char byte[64];
	struct ibv_mr *mr;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	if (!CHECK(rig_open_base(&rig)))
		return;
	mr = ibv_reg_mr(rig.pd, byte, sizeof(byte), access);
	if (!CHECK(mr))
		return;
	CHECK_EQ(fake_kernel.last_access, access);
	CHECK(mr->addr == byte && mr->length == sizeof(byte));
	CHECK(mr->lkey != mr->rkey);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(fake_kernel.live_mrs, 0);
	rig_close(&rig);
}

static void caps_come_back(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
			 .max_recv_sge = 1, .max_inline_data = 100 },
		.qp_type = IBV_QPT_RC,
	};
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	attr.send_cq = rig.cq;
	attr.recv_cq = rig.cq;
	rig.qp = ibv_create_qp(rig.pd, &attr);
	if (!CHECK(rig.qp))
		return;
	CHECK_EQ(attr.cap.max_inline_data, 128);
	CHECK_EQ(rig.qp->qp_num, 100 + rig.qp->handle);
	CHECK(!ibv_qp_to_qp_ex(rig.qp));
	rig_close(&rig);
}

static void wrong_geometry_leaves_nothing(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	attr = rig_qp_attr(&rig);
	fake_kernel.corrupt_entries = 1;
	errno = 0;
	CHECK(!ibv_create_qp_ex(rig.ctx, &attr));
	CHECK_EQ(errno, EPROTO);
	CHECK_EQ(fake_kernel.live_qps, 0);
	errno = 0;
	CHECK(!ibv_create_cq(rig.ctx, 16, NULL, NULL, 0));
	CHECK_EQ(errno, EPROTO);
	CHECK_EQ(fake_kernel.live_cqs, 1);
	rig_close(&rig);
}

static void missing_verbs_say_so(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_ah_attr ah_attr = { .port_num = 1 };
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	errno = 0;
	CHECK(!ibv_create_ah(rig.pd, &ah_attr) && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(!ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1) && errno == EOPNOTSUPP);
	errno = 0;
	CHECK(!ibv_create_cq_ex(rig.ctx, &cq_attr) && errno == EOPNOTSUPP);

	attr = rig_qp_attr(&rig);
	attr.qp_type = IBV_QPT_RAW_PACKET;
	errno = 0;
	CHECK(!ibv_create_qp_ex(rig.ctx, &attr) && errno == EOPNOTSUPP);

	attr = rig_qp_attr(&rig);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	errno = 0;
	CHECK(!ibv_create_qp_ex(rig.ctx, &attr) && errno == EOPNOTSUPP);

	attr = rig_qp_attr(&rig);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	errno = 0;
	CHECK(!ibv_create_qp_ex(rig.ctx, &attr) && errno == EOPNOTSUPP);
	CHECK_EQ(fake_kernel.live_qps, 0);
	rig_close(&rig);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(foreign_abi_is_refused),
	KTAP_TEST(mr_flags_pass_through),
	KTAP_TEST(caps_come_back),
	KTAP_TEST(wrong_geometry_leaves_nothing),
	KTAP_TEST(missing_verbs_say_so),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
