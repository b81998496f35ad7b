// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Direct verbs: which wishes reach the kernel, what is refused where, what telemetry says. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "fake_netlink.h"
#include "ktap.h"
#include "mrocedv.h"
#include "rig.h"

#define WISH_ALL	(MROCEDV_QP_INIT_ATTR_PATHS | MROCEDV_QP_INIT_ATTR_PLANE_MASK | \
			 MROCEDV_QP_INIT_ATTR_ORDERING)
#define CONN_ID		0x89abcdefu
#define PLANE_MASK	0x8000000000000005ull

static const union ibv_gid local = { .raw = { 0xfd, 1, [15] = 1 } };
static const union ibv_gid remote = { .raw = { 0xfd, 1, [15] = 2 } };

static struct ibv_qp *create(struct rig *rig, const struct mrocedv_qp_init_attr *dv)
{
	struct ibv_qp_init_attr_ex attr = rig_qp_attr(rig);

	errno = 0;
	rig->qp = mrocedv_create_qp(rig->ctx, &attr, dv);
	return rig->qp;
}

/* Create one, look at what the kernel was told, take it away. */
static bool told(struct rig *rig, const struct mrocedv_qp_init_attr *dv)
{
	memset(&fake_kernel.qp_req, 0xff, sizeof(fake_kernel.qp_req));
	if (!CHECK(create(rig, dv)))
		return false;
	CHECK_EQ(fake_kernel.qp_req_bytes, sizeof(struct mroce_create_qp_req));
	CHECK_EQ(fake_kernel.qp_req.comp_mask, 0);
	CHECK_EQ(fake_kernel.qp_req.flags, 0);
	CHECK_EQ(fake_kernel.qp_req.reserved, 0);
	CHECK_EQ(ibv_destroy_qp(rig->qp), 0);
	rig->qp = NULL;
	return true;
}

static void wishes_arrive(void)
{
	struct mrocedv_qp_init_attr dv = {
		.comp_mask = WISH_ALL, .paths = 2, .plane_mask = PLANE_MASK,
		.ordering = MROCEDV_ORDERING_RELAXED,
	};
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	if (told(&rig, &dv)) {
		CHECK_EQ(fake_kernel.qp_req.paths, 2);
		CHECK(fake_kernel.qp_req.plane_mask == PLANE_MASK);
		CHECK_EQ(fake_kernel.qp_req.ordering, MROCE_ORDERING_RELAXED);
	}
	/* Each by itself; the others' values are not looked at. */
	dv.comp_mask = MROCEDV_QP_INIT_ATTR_PATHS;
	if (told(&rig, &dv)) {
		CHECK_EQ(fake_kernel.qp_req.paths, 2);
		CHECK_EQ(fake_kernel.qp_req.plane_mask, 0);
		CHECK_EQ(fake_kernel.qp_req.ordering, 0);
	}
	dv.comp_mask = MROCEDV_QP_INIT_ATTR_PLANE_MASK;
	if (told(&rig, &dv)) {
		CHECK_EQ(fake_kernel.qp_req.paths, 0);
		CHECK(fake_kernel.qp_req.plane_mask == PLANE_MASK);
		CHECK_EQ(fake_kernel.qp_req.ordering, 0);
	}
	dv.comp_mask = MROCEDV_QP_INIT_ATTR_ORDERING;
	if (told(&rig, &dv)) {
		CHECK_EQ(fake_kernel.qp_req.paths, 0);
		CHECK_EQ(fake_kernel.qp_req.plane_mask, 0);
		CHECK_EQ(fake_kernel.qp_req.ordering, MROCE_ORDERING_RELAXED);
	}
	rig_close(&rig);
}

static void no_wishes_are_as_verbs(void)
{
	const struct mrocedv_qp_init_attr none = { .paths = 7, .plane_mask = 7, .ordering = 7 };
	const struct mrocedv_qp_init_attr *dv[] = { NULL, &none };
	struct rig rig;
	size_t i;

	if (!CHECK(rig_open_base(&rig)))
		return;
	for (i = 0; i < 2; i++) {
		if (!told(&rig, dv[i]))
			break;
		CHECK_EQ(fake_kernel.qp_req.paths, 0);
		CHECK_EQ(fake_kernel.qp_req.plane_mask, 0);
		CHECK_EQ(fake_kernel.qp_req.ordering, 0);
	}
	rig_close(&rig);
}

static void created_is_usable(void)
{
	struct mrocedv_qp_init_attr dv = { .comp_mask = MROCEDV_QP_INIT_ATTR_PATHS, .paths = 1 };
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	attr = rig_qp_attr(&rig);
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	rig.qp = mrocedv_create_qp(rig.ctx, &attr, &dv);
	if (CHECK(rig.qp)) {
		CHECK_EQ(attr.cap.max_inline_data, 128);
		CHECK(ibv_qp_to_qp_ex(rig.qp));
		rig_set_state(rig.qp, IBV_QPS_INIT);
		rig_set_state(rig.qp, IBV_QPS_RTR);
		rig_set_state(rig.qp, IBV_QPS_RTS);
		CHECK_EQ(rig_send_one(rig.qp, IBV_WR_SEND), 0);
	}
	rig_close(&rig);
}

/* A program that says nothing leaves it to its user; one that does knows better. */
static void environment_is_for_who_says_nothing(void)
{
	struct mrocedv_qp_init_attr dv = {
		.comp_mask = MROCEDV_QP_INIT_ATTR_ORDERING, .ordering = MROCEDV_ORDERING_AUTO,
	};
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	setenv("MROCE_ORDERING", "strict", 1);
	if (told(&rig, NULL))
		CHECK_EQ(fake_kernel.qp_req.ordering, MROCE_ORDERING_STRICT);
	if (told(&rig, &dv))
		CHECK_EQ(fake_kernel.qp_req.ordering, MROCE_ORDERING_AUTO);
	dv.ordering = MROCEDV_ORDERING_DEFAULT;
	if (told(&rig, &dv))
		CHECK_EQ(fake_kernel.qp_req.ordering, MROCE_ORDERING_STRICT);
	setenv("MROCE_ORDERING", "sloppy", 1);
	CHECK(!create(&rig, NULL));
	CHECK_EQ(errno, EINVAL);
	unsetenv("MROCE_ORDERING");
	rig_close(&rig);
}

/* Refused here: the kernel is not asked. */
static void check_refused(struct rig *rig, const struct mrocedv_qp_init_attr *dv, int err)
{
	unsigned int calls = fake_kernel.calls;

	CHECK(!create(rig, dv));
	CHECK_EQ(errno, err);
	CHECK_EQ(fake_kernel.calls, calls);
	CHECK_EQ(fake_kernel.live_qps, 0);
}

static void refusals_say_why(void)
{
	struct mrocedv_qp_init_attr dv = { .comp_mask = 1ull << 3 };
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	check_refused(&rig, &dv, EOPNOTSUPP);
	dv.comp_mask = 1ull << 40;
	check_refused(&rig, &dv, EOPNOTSUPP);
	/* What does not fit must not become something that does. */
	dv.comp_mask = MROCEDV_QP_INIT_ATTR_PATHS;
	dv.paths = 0x10001;
	check_refused(&rig, &dv, EINVAL);
	dv.comp_mask = MROCEDV_QP_INIT_ATTR_ORDERING;
	dv.ordering = 0x10001;
	check_refused(&rig, &dv, EINVAL);
	/* What fits is the kernel's to refuse. */
	dv.comp_mask = MROCEDV_QP_INIT_ATTR_PATHS;
	dv.paths = 33;
	fake_kernel.create_qp_errno = EINVAL;
	CHECK(!create(&rig, &dv));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(fake_kernel.qp_req.paths, 33);
	fake_kernel.create_qp_errno = ENOMEM;
	CHECK(!create(&rig, &dv));
	CHECK_EQ(errno, ENOMEM);
	rig_close(&rig);
}

static void foreign_devices_are_refused(void)
{
	struct mrocedv_path path;
	struct mrocedv_conn conn;
	unsigned int n = 1;
	struct rig rig;

	fake_netlink_reset();
	CHECK(!mrocedv_is_supported(NULL));
	if (!CHECK(rig_open(&rig, IBV_QPS_RTS, 0)))
		return;
	CHECK(mrocedv_is_supported(rig.ctx->device));
	CHECK_EQ(ibv_destroy_qp(rig.qp), 0);
	rig.qp = NULL;
	fake_set_foreign(rig.ctx, true);
	CHECK(!mrocedv_is_supported(rig.ctx->device));
	check_refused(&rig, NULL, EOPNOTSUPP);
	fake_set_foreign(rig.ctx, false);
	if (CHECK(create(&rig, NULL))) {
		fake_set_foreign(rig.ctx, true);
		CHECK_EQ(mrocedv_query_conn(rig.qp, &conn, sizeof(conn)), EOPNOTSUPP);
		CHECK_EQ(mrocedv_query_paths(rig.qp, &path, &n), EOPNOTSUPP);
		fake_set_foreign(rig.ctx, false);
	}
	CHECK_EQ(fake_netlink.sockets, 0);
	rig_close(&rig);
}

/* ---- telemetry --------------------------------------------------------------------------- */
static void put_conn(uint32_t id, const union ibv_gid *from, const union ibv_gid *to, uint8_t dscp)
{
	struct fake_dump *d = &fake_netlink.conns;

	fake_message(d, MROCE_CMD_CONN_GET);
	fake_u32(d, MROCE_A_CONN_DEV_INDEX, 3);
	fake_u32(d, MROCE_A_CONN_ID, id);
	fake_attr(d, MROCE_A_CONN_LOCAL, from, sizeof(*from));
	fake_attr(d, MROCE_A_CONN_REMOTE, to, sizeof(*to));
	fake_u8(d, MROCE_A_CONN_DSCP, dscp);
	fake_u8(d, MROCE_A_CONN_STATE, MROCE_CONN_STATUS_OPEN);
}

/* The one that is looked for, among others that differ in one thing */
static void put_conns(void)
{
	put_conn(1, &local, &remote, 25);
	put_conn(2, &remote, &local, 26);
	put_conn(CONN_ID, &local, &remote, 26);
	fake_u32(&fake_netlink.conns, MROCE_A_CONN_QPS, 5);
	fake_u32(&fake_netlink.conns, MROCE_A_CONN_BYTES, 70000);
	put_conn(4, &local, &local, 26);
	put_conn(5, &remote, &remote, 26);
	put_conn(6, &local, &remote, 27);
}

static void put_path(uint8_t id)
{
	struct fake_dump *d = &fake_netlink.paths;
	uint16_t attr;

	fake_message(d, MROCE_CMD_PATH_GET);
	fake_u32(d, MROCE_A_PATH_CONN_ID, CONN_ID);
	fake_u8(d, MROCE_A_PATH_ID, id);
	fake_u8(d, MROCE_A_PATH_STATE, MROCE_PATH_STATUS_FAILED);
	fake_u8(d, MROCE_A_PATH_PLANE, 7);
	fake_u16(d, MROCE_A_PATH_SOURCE_PORT, (uint16_t)(50000 + id));
	for (attr = MROCE_A_PATH_MIN_RTT_NS; attr <= MROCE_A_PATH_RTTVAR_NS; attr++)
		fake_u64(d, attr, ((uint64_t)attr << 32) + id);
	for (attr = MROCE_A_PATH_WINDOW_BYTES; attr <= MROCE_A_PATH_HEARD_MS; attr++)
		fake_u32(d, attr, 1000u * attr + id);
	for (attr = MROCE_A_PATH_RATE_BYTES; attr <= MROCE_A_PATH_REROLLS; attr++)
		fake_u64(d, attr, ((uint64_t)attr << 32) + id);
}

static bool open_connected(struct rig *rig)
{
	fake_netlink_reset();
	if (!CHECK(rig_open(rig, IBV_QPS_RTS, 0)))
		return false;
	fake_kernel.gid = local;
	fake_kernel.dgid = remote;
	fake_kernel.sgid_index = 1;
	fake_kernel.traffic_class = 26 << 2 | 3;
	fake_kernel.device_index = 3;
	return true;
}

static void conn_is_found(void)
{
	struct mrocedv_conn conn;
	struct rig rig;

	if (!open_connected(&rig))
		return;
	put_conns();
	memset(&conn, 0xff, sizeof(conn));
	CHECK_EQ(mrocedv_query_conn(rig.qp, &conn, sizeof(conn)), 0);
	CHECK_EQ(conn.id, CONN_ID);
	CHECK_EQ(conn.state, MROCEDV_CONN_OPEN);
	CHECK(!memcmp(&conn.local, &local, sizeof(local)));
	CHECK(!memcmp(&conn.remote, &remote, sizeof(remote)));
	CHECK_EQ(conn.dscp, 26);
	CHECK_EQ(conn.qps, 5);
	CHECK_EQ(conn.memory_bytes, 70000);
	/* Not told: it is not open. */
	CHECK_EQ(conn.comp_mask, 0);
	CHECK_EQ(conn.paths, 0);
	CHECK_EQ(conn.window_bytes, 0);
	CHECK(!conn.cc[0]);
	CHECK_EQ(fake_netlink.device_index, 3);
	CHECK(!*fake_netlink.device_name);
	rig_close(&rig);
}

static void open_conn_has_all(void)
{
	struct fake_dump *d = &fake_netlink.conns;
	struct mrocedv_conn conn = {};
	struct rig rig;
	uint16_t attr;

	if (!open_connected(&rig))
		return;
	put_conn(CONN_ID, &local, &remote, 26);
	for (attr = MROCE_A_CONN_PATHS; attr <= MROCE_A_CONN_SHARE_BYTES; attr++)
		fake_u32(d, attr, 1000u * attr);
	fake_attr(d, MROCE_A_CONN_CC, "a-very-long-name-of-one", 24);
	fake_u32(d, MROCE_A_CONN_HEARD_MS, 9);
	/* Of a newer kernel: in the table, and beyond it */
	fake_u32(d, 63, 1);
	fake_u32(d, 64, 1);
	fake_u32(d, 1000, 1);
	CHECK_EQ(mrocedv_query_conn(rig.qp, &conn, sizeof(conn)), 0);
	CHECK_EQ(conn.comp_mask, MROCEDV_CONN_LIVE);
	CHECK_EQ(conn.paths, 1000 * MROCE_A_CONN_PATHS);
	CHECK_EQ(conn.active_paths, 1000 * MROCE_A_CONN_ACTIVE_PATHS);
	CHECK_EQ(conn.payload_bytes, 1000 * MROCE_A_CONN_PAYLOAD_BYTES);
	CHECK_EQ(conn.window_bytes, 1000 * MROCE_A_CONN_WINDOW_BYTES);
	CHECK_EQ(conn.max_window_bytes, 1000 * MROCE_A_CONN_MAX_WINDOW_BYTES);
	CHECK_EQ(conn.inflight_bytes, 1000 * MROCE_A_CONN_INFLIGHT_BYTES);
	CHECK_EQ(conn.inflight_pkts, 1000 * MROCE_A_CONN_INFLIGHT_PKTS);
	CHECK_EQ(conn.share_bytes, 1000 * MROCE_A_CONN_SHARE_BYTES);
	CHECK_EQ(conn.heard_ms, 9);
	CHECK(!strcmp(conn.cc, "a-very-long-nam"));
	rig_close(&rig);
}

#define BIG(name)	(((uint64_t)MROCE_A_PATH_ ## name << 32) + 1)
#define SMALL(name)	(1000 * MROCE_A_PATH_ ## name + 1)

static void path_has_all(void)
{
	struct mrocedv_path p[2];
	unsigned int n = 2;
	struct rig rig;

	if (!open_connected(&rig))
		return;
	put_conns();
	put_path(0);
	put_path(1);
	fake_u32(&fake_netlink.paths, MROCE_A_PATH_CPU, 0);
	memset(p, 0xff, sizeof(p));
	CHECK_EQ(mrocedv_query_paths(rig.qp, p, &n), 0);
	CHECK_EQ(n, 2);
	CHECK_EQ(fake_netlink.conn_id, CONN_ID);
	CHECK_EQ(fake_netlink.device_index, 3);
	CHECK_EQ(p[0].comp_mask, 0);
	CHECK_EQ(p[0].path, 0);
	CHECK_EQ(p[0].source_port, 50000);
	CHECK_EQ(p[1].comp_mask, MROCEDV_PATH_CPU);
	CHECK_EQ(p[1].path, 1);
	CHECK_EQ(p[1].cpu, 0);
	CHECK_EQ(p[1].state, MROCEDV_PATH_FAILED);
	CHECK_EQ(p[1].plane, 7);
	CHECK_EQ(p[1].source_port, 50001);
	CHECK_EQ(p[1].heard_ms, SMALL(HEARD_MS));
	CHECK_EQ(p[1].window_bytes, SMALL(WINDOW_BYTES));
	CHECK_EQ(p[1].inflight_bytes, SMALL(INFLIGHT_BYTES));
	CHECK_EQ(p[1].inflight_pkts, SMALL(INFLIGHT_PKTS));
	CHECK_EQ(p[1].loss_ppm, SMALL(LOSS_PPM));
	CHECK_EQ(p[1].marked_ppm, SMALL(MARKED_PPM));
	CHECK_EQ(p[1].reserved, 0);
	CHECK_EQ(p[1].min_rtt_ns, BIG(MIN_RTT_NS));
	CHECK_EQ(p[1].srtt_ns, BIG(SRTT_NS));
	CHECK_EQ(p[1].rttvar_ns, BIG(RTTVAR_NS));
	CHECK_EQ(p[1].rate_bytes, BIG(RATE_BYTES));
	CHECK_EQ(p[1].sent_pkts, BIG(SENT_PKTS));
	CHECK_EQ(p[1].sent_bytes, BIG(SENT_BYTES));
	CHECK_EQ(p[1].acked_pkts, BIG(ACKED_PKTS));
	CHECK_EQ(p[1].acked_bytes, BIG(ACKED_BYTES));
	CHECK_EQ(p[1].lost_pkts, BIG(LOST_PKTS));
	CHECK_EQ(p[1].spurious_pkts, BIG(SPURIOUS_PKTS));
	CHECK_EQ(p[1].retrans_pkts, BIG(RETRANS_PKTS));
	CHECK_EQ(p[1].marked_pkts, BIG(MARKED_PKTS));
	CHECK_EQ(p[1].probe_timeouts, BIG(PROBE_TIMEOUTS));
	CHECK_EQ(p[1].rerolls, BIG(REROLLS));
	rig_close(&rig);
}

/* No room is no error: the number says how much there is. Interruptions are none either. */
static void room_is_respected(void)
{
	struct mrocedv_path p[4];
	unsigned int n = 3;
	struct rig rig;
	uint8_t i;

	if (!open_connected(&rig))
		return;
	put_conns();
	for (i = 0; i < 5; i++)
		put_path(i);
	memset(p, 0xff, sizeof(p));
	fake_netlink.interrupts = 3;
	CHECK_EQ(mrocedv_query_paths(rig.qp, p, &n), 0);
	CHECK_EQ(n, 5);
	CHECK_EQ(p[2].path, 2);
	CHECK_EQ(p[3].path, UINT32_MAX);
	n = 0;
	CHECK_EQ(mrocedv_query_paths(rig.qp, NULL, &n), 0);
	CHECK_EQ(n, 5);
	CHECK_EQ(p[0].path, 0);
	rig_close(&rig);
}

/* Programs that know less, and more, than the library */
static void other_sizes_are_respected(void)
{
	struct { struct mrocedv_conn conn; uint64_t more; } newer;
	struct { struct mrocedv_path path; uint64_t more; } paths[2];
	size_t old = offsetof(struct mrocedv_conn, local);
	struct mrocedv_conn conn;
	unsigned int n = 2;
	struct rig rig;

	if (!open_connected(&rig))
		return;
	put_conns();
	put_path(0);
	put_path(1);
	memset(&conn, 0xff, sizeof(conn));
	CHECK_EQ(mrocedv_query_conn(rig.qp, &conn, old), 0);
	CHECK_EQ(conn.id, CONN_ID);
	CHECK_EQ(conn.local.raw[0], 0xff);
	memset(&newer, 0xff, sizeof(newer));
	CHECK_EQ(mrocedv_query_conn(rig.qp, &newer.conn, sizeof(newer)), 0);
	CHECK_EQ(newer.conn.id, CONN_ID);
	CHECK_EQ(newer.more, 0);
	memset(paths, 0xff, sizeof(paths));
	CHECK_EQ(mrocedv_query_path_array(rig.qp, &paths[0].path, &n, sizeof(paths[0])), 0);
	CHECK_EQ(paths[0].more, 0);
	CHECK_EQ(paths[1].path.path, 1);
	CHECK_EQ(paths[1].more, 0);
	rig_close(&rig);
}

static void query_both(struct rig *rig, int err)
{
	struct mrocedv_path path = { .path = 99 };
	struct mrocedv_conn conn = { .id = 99 };
	unsigned int n = 1;

	CHECK_EQ(mrocedv_query_conn(rig->qp, &conn, sizeof(conn)), err);
	CHECK_EQ(conn.id, 99);
	CHECK_EQ(mrocedv_query_paths(rig->qp, &path, &n), err);
	CHECK_EQ(path.path, 99);
	CHECK_EQ(n, 1);
}

static void query_errors_come_back(void)
{
	struct rig rig;

	if (!open_connected(&rig))
		return;
	query_both(&rig, ENOENT);
	put_conns();
	fake_netlink.refusal = ENODEV;
	query_both(&rig, ENODEV);
	fake_netlink.refusal = 0;
	fake_netlink.end = EPERM;
	query_both(&rig, EPERM);
	fake_netlink.end = 0;
	fake_netlink.has_family = false;
	query_both(&rig, EOPNOTSUPP);
	fake_netlink.has_family = true;
	fake_netlink.is_mute = true;
	query_both(&rig, ETIMEDOUT);
	fake_netlink.is_mute = false;
	fake_netlink.socket_errno = EAFNOSUPPORT;
	query_both(&rig, EAFNOSUPPORT);
	fake_netlink.socket_errno = 0;
	fake_netlink.sockets = 0;
	rig_set_state(rig.qp, IBV_QPS_RESET);
	query_both(&rig, ENOTCONN);
	rig_set_state(rig.qp, IBV_QPS_INIT);
	query_both(&rig, ENOTCONN);
	CHECK_EQ(fake_netlink.sockets, 0);
	rig_close(&rig);
}

static void ud_has_no_connection(void)
{
	struct ibv_qp_init_attr_ex attr;
	struct rig rig;

	fake_netlink_reset();
	if (!CHECK(rig_open_base(&rig)))
		return;
	attr = rig_qp_attr(&rig);
	attr.qp_type = IBV_QPT_UD;
	rig.qp = ibv_create_qp_ex(rig.ctx, &attr);
	if (CHECK(rig.qp))
		query_both(&rig, EOPNOTSUPP);
	rig_close(&rig);
}

static void number_unknown_name_is_used(void)
{
	struct mrocedv_conn conn;
	struct rig rig;

	if (!open_connected(&rig))
		return;
	put_conns();
	fake_kernel.device_index = -1;
	CHECK_EQ(mrocedv_query_conn(rig.qp, &conn, sizeof(conn)), 0);
	CHECK_EQ(fake_netlink.device_index, -1);
	CHECK(!strcmp(fake_netlink.device_name, "mr0"));
	rig_close(&rig);
}

/*
 * The kernel does not do this. An attribute that cannot be, or is too short for a GID, is none,
 * although what would make it whole stands behind it.
 */
static void spoiled_answers_are_harmless(void)
{
	static const uint16_t lengths[] = { 0, 3, NLA_HDRLEN + 8, 0xffff };
	struct mrocedv_conn conn;
	struct fake_dump *d;
	struct rig rig;
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		if (!open_connected(&rig))
			return;
		d = &fake_netlink.conns;
		fake_message(d, MROCE_CMD_CONN_GET);
		fake_u8(d, MROCE_A_CONN_DSCP, 26);
		fake_attr(d, MROCE_A_CONN_LOCAL, &local, sizeof(local));
		fake_attr(d, MROCE_A_CONN_REMOTE, &remote, sizeof(remote));
		fake_last_attr(d, MROCE_A_CONN_REMOTE)->nla_len = lengths[i];
		CHECK_EQ(mrocedv_query_conn(rig.qp, &conn, sizeof(conn)), ENOENT);
		rig_close(&rig);
	}
}

int main(void)
{
	static const struct ktap_test tests[] = {
		KTAP_TEST(wishes_arrive),
		KTAP_TEST(no_wishes_are_as_verbs),
		KTAP_TEST(created_is_usable),
		KTAP_TEST(environment_is_for_who_says_nothing),
		KTAP_TEST(refusals_say_why),
		KTAP_TEST(foreign_devices_are_refused),
		KTAP_TEST(conn_is_found),
		KTAP_TEST(open_conn_has_all),
		KTAP_TEST(path_has_all),
		KTAP_TEST(room_is_respected),
		KTAP_TEST(other_sizes_are_respected),
		KTAP_TEST(query_errors_come_back),
		KTAP_TEST(ud_has_no_connection),
		KTAP_TEST(number_unknown_name_is_used),
		KTAP_TEST(spoiled_answers_are_harmless),
	};

	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
