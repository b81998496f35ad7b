// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles, and sends that name one. */
#include <errno.h>
#include <string.h>

#include "ktap.h"
#include "rig.h"

static struct ibv_ah_attr ah_attr(void)
{
	struct ibv_ah_attr attr = { .is_global = 1, .port_num = 1 };

	attr.grh.dgid.raw[15] = 1;
	return attr;
}

/* A QP of type UD in RTS, and an address handle of number 77. */
static struct ibv_ah *open_ud(struct rig *rig, uint64_t ops)
{
	struct ibv_ah_attr to = ah_attr();
	struct ibv_qp_init_attr_ex attr;
	int s;

	if (!CHECK(rig_open_base(rig)))
		return NULL;
	attr = rig_qp_attr(rig);
	attr.qp_type = IBV_QPT_UD;
	if (ops) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = ops;
	}
	rig->qp = ibv_create_qp_ex(rig->ctx, &attr);
	if (!CHECK(rig->qp))
		return NULL;
	rig->sq = fake_sq(rig->qp);
	for (s = IBV_QPS_INIT; s <= IBV_QPS_RTS; s++)
		rig_set_state(rig->qp, (enum ibv_qp_state)s);
	fake_kernel.next_ah = 77;
	return ibv_create_ah(rig->pd, &to);
}

static void close_ud(struct rig *rig, struct ibv_ah *ah)
{
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(fake_kernel.live_ahs, 0);
	rig_close(rig);
}

static void check_address(const struct rig *rig, uint32_t index, uint32_t ah_num)
{
	const struct mroce_sqe *sqe = fake_slot(rig->sq, index);

	CHECK_EQ(sqe->ud.ah_num, ah_num);
	CHECK_EQ(sqe->ud.remote_qpn, 0x123456);
	CHECK_EQ(sqe->ud.remote_qkey, 0x11223344);
}

static void a_send_names_its_handle(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .wr_id = 5 };
	struct ibv_ah_attr to = ah_attr();
	struct ibv_ah *first, *second;
	struct ibv_send_wr *bad;
	struct rig rig;

	first = open_ud(&rig, 0);
	if (!CHECK(first))
		return;
	second = ibv_create_ah(rig.pd, &to);
	if (!CHECK(second))
		return;
	wr.wr.ud.remote_qpn = 0x123456;
	wr.wr.ud.remote_qkey = 0x11223344;
	wr.wr.ud.ah = second;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), 0);
	wr.wr.ud.ah = first;
	CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), 0);
	check_address(&rig, 0, 78);
	check_address(&rig, 1, 77);
	CHECK_EQ(ibv_destroy_ah(second), 0);
	close_ud(&rig, first);
}

static void so_does_one_of_the_other_interface(void)
{
	struct ibv_qp_ex *qp;
	struct ibv_ah *ah;
	struct rig rig;
	char data = 1;

	ah = open_ud(&rig, IBV_QP_EX_WITH_SEND);
	if (!CHECK(ah))
		return;
	qp = ibv_qp_to_qp_ex(rig.qp);
	ibv_wr_start(qp);
	ibv_wr_send(qp);
	ibv_wr_set_ud_addr(qp, ah, 0x123456, 0x11223344);
	ibv_wr_set_inline_data(qp, &data, sizeof(data));
	CHECK_EQ(ibv_wr_complete(qp), 0);
	check_address(&rig, 0, 77);
	close_ud(&rig, ah);
}

static void nothing_else_goes_to_a_handle(void)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_send_wr *bad;
	struct ibv_ah *ah;
	struct rig rig;
	size_t i;

	ah = open_ud(&rig, 0);
	if (!CHECK(ah))
		return;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct ibv_send_wr wr = { .opcode = ops[i] };

		wr.wr.ud.ah = ah;
		CHECK_EQ(rig_post_send(rig.qp, &wr, &bad), EOPNOTSUPP);
	}
	CHECK_EQ(rig.sq->hdr->prod, 0);
	close_ud(&rig, ah);
}

static void a_refused_handle_leaves_nothing(void)
{
	struct ibv_ah_attr to = ah_attr();
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	fake_kernel.create_ah_errno = EINVAL;
	errno = 0;
	CHECK(!ibv_create_ah(rig.pd, &to));
	CHECK_EQ(errno, EINVAL);
	rig_close(&rig);
}

static void the_domain_outlives_its_handles(void)
{
	struct ibv_ah *ah;
	struct rig rig;

	ah = open_ud(&rig, 0);
	if (!CHECK(ah))
		return;
	CHECK_EQ(ibv_dealloc_pd(rig.pd), EBUSY);
	close_ud(&rig, ah);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(a_send_names_its_handle),
	KTAP_TEST(so_does_one_of_the_other_interface),
	KTAP_TEST(nothing_else_goes_to_a_handle),
	KTAP_TEST(a_refused_handle_leaves_nothing),
	KTAP_TEST(the_domain_outlives_its_handles),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
