// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Contexts, regions and queues: what is created, refused and left behind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A pointer that must be missing, and the reason in errno. */
#define CHECK_NULL(call, err)						\
	do {								\
		errno = 0;						\
		CHECK(!(call));						\
		CHECK_EQ(errno, err);					\
	} while (0)

#define CHECK_MISSING(call)	CHECK_NULL(call, EOPNOTSUPP)

/* Programs skip what answers EOPNOTSUPP, and give up at anything else. */
static void missing_objects_say_so(void)
{
	struct ibv_counters_init_attr counters = {};
	struct ibv_srq_init_attr_ex srq = { .comp_mask = 0 };
	struct ibv_alloc_dm_attr dm = { .length = 64 };
	struct ibv_xrcd_init_attr xrcd = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
	};
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	srq.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			IBV_SRQ_INIT_ATTR_XRCD;
	srq.srq_type = IBV_SRQT_XRC;
	srq.pd = rig.pd;
	CHECK_MISSING(ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1));
	CHECK_MISSING(ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2));
	CHECK_MISSING(ibv_alloc_null_mr(rig.pd));
	CHECK_MISSING(ibv_alloc_dm(rig.ctx, &dm));
	CHECK_MISSING(ibv_open_xrcd(rig.ctx, &xrcd));
	CHECK_MISSING(ibv_create_srq_ex(rig.ctx, &srq));
	CHECK_MISSING(ibv_create_counters(rig.ctx, &counters));
	rig_close(&rig);
}

static void missing_calls_say_so(void)
{
	struct ibv_qp_rate_limit_attr rate = { .rate_limit = 1 };
	struct ibv_modify_cq_attr moderation = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
	};
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	struct ibv_ece ece = { .vendor_id = 1 };
	union ibv_gid gid = {};
	char byte[64];
	struct ibv_mr *mr;
	struct rig rig;

	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK_EQ(ibv_resize_cq(rig.cq, 32), EOPNOTSUPP);
	CHECK_EQ(ibv_modify_cq(rig.cq, &moderation), EOPNOTSUPP);
	CHECK_EQ(ibv_query_ece(rig.qp, &ece), EOPNOTSUPP);
	ece.vendor_id = 1;
	CHECK_EQ(ibv_set_ece(rig.qp, &ece), EOPNOTSUPP);
	CHECK_EQ(ibv_attach_mcast(rig.qp, &gid, 0), EOPNOTSUPP);
	CHECK_EQ(ibv_query_rt_values_ex(rig.ctx, &values), EOPNOTSUPP);
	CHECK_EQ(ibv_modify_qp_rate_limit(rig.qp, &rate), EOPNOTSUPP);
	/* Packets of a message are placed as they come. */
	CHECK_EQ(ibv_query_qp_data_in_order(rig.qp, IBV_WR_RDMA_WRITE, 0), 0);

	/* Here the kernel is asked; errno is what programs look at. */
	mr = ibv_reg_mr(rig.pd, byte, sizeof(byte), IBV_ACCESS_LOCAL_WRITE);
	if (!CHECK(mr))
		return;
	errno = 0;
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	rig_close(&rig);
}

static void unusual_qps_are_refused(void)
{
	static const struct {
		enum ibv_qp_type type;
		uint32_t comp_mask;
		uint32_t create_flags;
		int err;
	} rows[] = {
		{ IBV_QPT_RAW_PACKET, IBV_QP_INIT_ATTR_PD, 0, EOPNOTSUPP },
		{ IBV_QPT_DRIVER, IBV_QP_INIT_ATTR_PD, 0, EOPNOTSUPP },
		{ IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_PD, 0, EOPNOTSUPP },
		{ IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD, 0, EOPNOTSUPP },
		{ IBV_QPT_XRC_RECV, 0, 0, EOPNOTSUPP },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_PD |
			      IBV_QP_INIT_ATTR_MAX_TSO_HEADER, 0, EOPNOTSUPP },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_PD | 1 << 30, 0, EOPNOTSUPP },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_PD |
			      IBV_QP_INIT_ATTR_CREATE_FLAGS,
		  IBV_QP_CREATE_SOURCE_QPN, EOPNOTSUPP },
		{ IBV_QPT_RC, 0, 0, EINVAL },
	};
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;
	size_t i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		attr = rig_qp_attr(&rig);
		attr.qp_type = rows[i].type;
		attr.comp_mask = rows[i].comp_mask;
		attr.create_flags = rows[i].create_flags;
		CHECK_NULL(ibv_create_qp_ex(rig.ctx, &attr), rows[i].err);
	}
	CHECK_EQ(fake_kernel.live_qps, 0);
	rig_close(&rig);
}

/* rdma-core's own tests say at times, and at times not, that there is none. */
static void no_create_flags_may_be_said(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	attr = rig_qp_attr(&rig);
	attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
	rig.qp = ibv_create_qp_ex(rig.ctx, &attr);
	CHECK(rig.qp);
	/* Granted capabilities come back, and nothing else has changed. */
	CHECK_EQ(attr.cap.max_inline_data, 128);
	CHECK_EQ(attr.comp_mask,
		 IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS);
	rig_close(&rig);
}

/* Standard error goes to a file from here on; returns what it was. */
static int divert_stderr(int file)
{
	int saved = dup(STDERR_FILENO);

	fflush(stderr);
	dup2(file, STDERR_FILENO);
	return saved;
}

static void restore_stderr(int saved)
{
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static void try_ordering(struct rig *rig, const char *word, int ordering)
{
	struct ibv_qp_init_attr_ex attr = rig_qp_attr(rig);
	struct ibv_qp *qp;

	CHECK_EQ(word ? setenv("MROCE_ORDERING", word, 1) :
			unsetenv("MROCE_ORDERING"), 0);
	memset(&fake_kernel.qp_req, 0xff, sizeof(fake_kernel.qp_req));
	qp = ibv_create_qp_ex(rig->ctx, &attr);
	CHECK_EQ(unsetenv("MROCE_ORDERING"), 0);
	if (!CHECK(qp))
		return;
	CHECK_EQ(fake_kernel.qp_req_bytes, sizeof(fake_kernel.qp_req));
	CHECK_EQ(fake_kernel.qp_req.ordering, ordering);
	CHECK_EQ(fake_kernel.qp_req.comp_mask, 0);
	CHECK_EQ(fake_kernel.qp_req.flags, 0);
	CHECK_EQ(fake_kernel.qp_req.paths, 0);
	CHECK_EQ(fake_kernel.qp_req.plane_mask, 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static void ordering_comes_from_the_environment(void)
{
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	try_ordering(&rig, NULL, 0);
	try_ordering(&rig, "", 0);
	try_ordering(&rig, "auto", 1);
	try_ordering(&rig, "strict", 2);
	try_ordering(&rig, "relaxed", 3);
	rig_close(&rig);
}

static void unknown_ordering_is_refused(void)
{
	static const char * const words[] = {
		"Strict", "strict ", "1", "strictly", "stric", "auto,strict",
	};
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct rig rig;
	FILE *said = tmpfile();
	char line[256];
	size_t i;
	int saved;

	if (!CHECK(said) || !CHECK(rig_open_base(&rig)))
		return;
	attr.send_cq = rig.cq;
	attr.recv_cq = rig.cq;
	attr.cap = rig_qp_attr(&rig).cap;
	saved = divert_stderr(fileno(said));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		setenv("MROCE_ORDERING", words[i], 1);
		CHECK_NULL(ibv_create_qp(rig.pd, &attr), EINVAL);
	}
	unsetenv("MROCE_ORDERING");
	restore_stderr(saved);
	CHECK_EQ(fake_kernel.live_qps, 0);

	/* One line each time, which names the variable and its value. */
	rewind(said);
	for (i = 0; fgets(line, sizeof(line), said); i++) {
		CHECK(strstr(line, "MROCE_ORDERING"));
		CHECK(i < sizeof(words) / sizeof(words[0]) &&
		      strstr(line, words[i]));
	}
	CHECK_EQ(i, sizeof(words) / sizeof(words[0]));
	fclose(said);
	rig_close(&rig);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(foreign_abi_is_refused),
	KTAP_TEST(mr_flags_pass_through),
	KTAP_TEST(caps_come_back),
	KTAP_TEST(wrong_geometry_leaves_nothing),
	KTAP_TEST(missing_objects_say_so),
	KTAP_TEST(missing_calls_say_so),
	KTAP_TEST(unusual_qps_are_refused),
	KTAP_TEST(no_create_flags_may_be_said),
	KTAP_TEST(ordering_comes_from_the_environment),
	KTAP_TEST(unknown_ordering_is_refused),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
