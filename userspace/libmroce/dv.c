// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Direct verbs: queue pairs with wishes, and what the kernel tells of their connections. */
/* All else is hidden: see Makefile, provider.map. */
#pragma GCC visibility push(default)
#include "mrocedv.h"
#pragma GCC visibility pop

#include <assert.h>
#include <errno.h>
#include <linux/mroce.h>
#include <string.h>

#include "dv_nl.h"
#include "mroce.h"

#define QP_KNOWN_MASK	(MROCEDV_QP_INIT_ATTR_PATHS | MROCEDV_QP_INIT_ATTR_PLANE_MASK | \
			 MROCEDV_QP_INIT_ATTR_ORDERING)

#define DSCP_SHIFT	2

/* What programs are built with is what the kernel says. */
#define SAME(ours, kernel)	static_assert((int)(ours) == (int)(kernel), #ours)

SAME(MROCEDV_ORDERING_DEFAULT, MROCE_ORDERING_DEFAULT);
SAME(MROCEDV_ORDERING_AUTO, MROCE_ORDERING_AUTO);
SAME(MROCEDV_ORDERING_STRICT, MROCE_ORDERING_STRICT);
SAME(MROCEDV_ORDERING_RELAXED, MROCE_ORDERING_RELAXED);
SAME(MROCEDV_CONN_IDLE, MROCE_CONN_STATUS_IDLE);
SAME(MROCEDV_CONN_HELLO, MROCE_CONN_STATUS_HELLO);
SAME(MROCEDV_CONN_COOKIE, MROCE_CONN_STATUS_COOKIE);
SAME(MROCEDV_CONN_OPEN, MROCE_CONN_STATUS_OPEN);
SAME(MROCEDV_PATH_PROBING, MROCE_PATH_STATUS_PROBING);
SAME(MROCEDV_PATH_ACTIVE, MROCE_PATH_STATUS_ACTIVE);
SAME(MROCEDV_PATH_SUSPECT, MROCE_PATH_STATUS_SUSPECT);
SAME(MROCEDV_PATH_FAILED, MROCE_PATH_STATUS_FAILED);
SAME(MROCEDV_PATH_OFF, MROCE_PATH_STATUS_OFF);
/* Either request names its device by them. */
SAME(MROCE_A_CONN_DEV_INDEX, MROCE_A_PATH_DEV_INDEX);
SAME(MROCE_A_CONN_DEV_NAME, MROCE_A_PATH_DEV_NAME);
static_assert(MROCE_A_CONN_MAX <= MROCE_NL_MAX_ATTR && MROCE_A_PATH_MAX <= MROCE_NL_MAX_ATTR,
	      "room for attributes");

/* struct field - an attribute and the number it goes to */
struct field {
	uint16_t attr;
	uint16_t offset;
	uint16_t bytes;
};

#define C(name, member, type)	{ MROCE_A_CONN_ ## name, offsetof(struct mrocedv_conn, member), \
				  sizeof(type) }
#define P(name, member, type)	{ MROCE_A_PATH_ ## name, offsetof(struct mrocedv_path, member), \
				  sizeof(type) }

static const struct field conn_fields[] = {
	C(ID, id, uint32_t),
	C(STATE, state, uint32_t),
	C(DSCP, dscp, uint32_t),
	C(QPS, qps, uint32_t),
	C(BYTES, memory_bytes, uint64_t),
	C(PATHS, paths, uint32_t),
	C(ACTIVE_PATHS, active_paths, uint32_t),
	C(PAYLOAD_BYTES, payload_bytes, uint32_t),
	C(WINDOW_BYTES, window_bytes, uint64_t),
	C(MAX_WINDOW_BYTES, max_window_bytes, uint64_t),
	C(INFLIGHT_BYTES, inflight_bytes, uint64_t),
	C(INFLIGHT_PKTS, inflight_pkts, uint32_t),
	C(HEARD_MS, heard_ms, uint32_t),
	C(SHARE_BYTES, share_bytes, uint64_t),
};

static const struct field path_fields[] = {
	P(ID, path, uint32_t),
	P(STATE, state, uint32_t),
	P(PLANE, plane, uint32_t),
	P(SOURCE_PORT, source_port, uint32_t),
	P(CPU, cpu, uint32_t),
	P(HEARD_MS, heard_ms, uint32_t),
	P(MIN_RTT_NS, min_rtt_ns, uint64_t),
	P(SRTT_NS, srtt_ns, uint64_t),
	P(RTTVAR_NS, rttvar_ns, uint64_t),
	P(WINDOW_BYTES, window_bytes, uint64_t),
	P(INFLIGHT_BYTES, inflight_bytes, uint64_t),
	P(INFLIGHT_PKTS, inflight_pkts, uint32_t),
	P(LOSS_PPM, loss_ppm, uint32_t),
	P(MARKED_PPM, marked_ppm, uint32_t),
	P(RATE_BYTES, rate_bytes, uint64_t),
	P(SENT_PKTS, sent_pkts, uint64_t),
	P(SENT_BYTES, sent_bytes, uint64_t),
	P(ACKED_PKTS, acked_pkts, uint64_t),
	P(ACKED_BYTES, acked_bytes, uint64_t),
	P(LOST_PKTS, lost_pkts, uint64_t),
	P(SPURIOUS_PKTS, spurious_pkts, uint64_t),
	P(RETRANS_PKTS, retrans_pkts, uint64_t),
	P(MARKED_PKTS, marked_pkts, uint64_t),
	P(PROBE_TIMEOUTS, probe_timeouts, uint64_t),
	P(REROLLS, rerolls, uint64_t),
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/*
 * struct ends - what tells a connection from the others of a device, and where it goes when it
 * is found
 */
struct ends {
	union ibv_gid local;
	union ibv_gid remote;
	uint8_t dscp;
	struct mrocedv_conn *conn;
	bool found;
};

/* struct path_array - where paths go; @there counts them, also those without room */
struct path_array {
	char *paths;
	size_t size;
	unsigned int room;
	unsigned int there;
};

/* mrocedv_is_supported - see mrocedv.h */
bool mrocedv_is_supported(struct ibv_device *device)
{
	return device && mroce_device_is_ours(device);
}

static int set_request(struct mroce_create_qp_req *req, const struct mrocedv_qp_init_attr *dv)
{
	if (dv->comp_mask & ~(uint64_t)QP_KNOWN_MASK)
		return EOPNOTSUPP;
	/* The kernel knows what it takes, but it must not be told something else. */
	if (dv->comp_mask & MROCEDV_QP_INIT_ATTR_PATHS) {
		if (dv->paths > UINT16_MAX)
			return EINVAL;
		req->paths = (uint16_t)dv->paths;
	}
	if (dv->comp_mask & MROCEDV_QP_INIT_ATTR_ORDERING) {
		if (dv->ordering > UINT16_MAX)
			return EINVAL;
		req->ordering = (uint16_t)dv->ordering;
	}
	if (dv->comp_mask & MROCEDV_QP_INIT_ATTR_PLANE_MASK)
		req->plane_mask = dv->plane_mask;
	return 0;
}

/* mrocedv_create_qp - see mrocedv.h */
struct ibv_qp *mrocedv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				 const struct mrocedv_qp_init_attr *dv_attr)
{
	struct mroce_create_qp_req req = {};
	int ret = 0;

	if (!mrocedv_is_supported(context->device))
		ret = EOPNOTSUPP;
	else if (dv_attr)
		ret = set_request(&req, dv_attr);
	if (ret) {
		errno = ret;
		return NULL;
	}
	return mroce_qp_create_req(context, attr, &req);
}

/* The ends of the connection, as the QP was told them at RTR */
static int find_ends(struct ibv_qp *qp, struct ends *ends)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = {};
	int ret;

	if (!mrocedv_is_supported(qp->context->device) ||
	    (qp->qp_type != IBV_QPT_RC && qp->qp_type != IBV_QPT_UC))
		return EOPNOTSUPP;
	ret = mroce_qp_query(qp, &attr, IBV_QP_STATE | IBV_QP_AV, &init);
	if (ret)
		return ret;
	if (attr.qp_state == IBV_QPS_RESET || attr.qp_state == IBV_QPS_INIT ||
	    !attr.ah_attr.is_global)
		return ENOTCONN;
	ends->remote = attr.ah_attr.grh.dgid;
	ends->dscp = attr.ah_attr.grh.traffic_class >> DSCP_SHIFT;
	if (ibv_query_gid(qp->context, attr.ah_attr.port_num, attr.ah_attr.grh.sgid_index,
			  &ends->local))
		return ENOENT;
	return 0;
}

static void set_fields(void *object, const struct field *field, size_t n,
		       const struct mroce_nl_answer *answer)
{
	for (; n; n--, field++) {
		char *to = (char *)object + field->offset;
		uint64_t value;

		if (!answer->attr[field->attr])
			continue;
		value = mroce_nl_uint(answer->attr[field->attr]);
		if (field->bytes == sizeof(uint64_t))
			*(uint64_t *)(void *)to = value;
		else
			*(uint32_t *)(void *)to = (uint32_t)value;
	}
}

static bool get_gid(const struct mroce_nl_answer *answer, uint16_t attr, union ibv_gid *gid)
{
	return answer->attr[attr] &&
	       mroce_nl_bytes(answer->attr[attr], gid, sizeof(*gid)) == sizeof(*gid);
}

static void take_conn(const struct mroce_nl_answer *answer, void *arg)
{
	struct ends *ends = arg;
	struct mrocedv_conn conn = {};

	if (!get_gid(answer, MROCE_A_CONN_LOCAL, &conn.local) ||
	    !get_gid(answer, MROCE_A_CONN_REMOTE, &conn.remote))
		return;
	set_fields(&conn, conn_fields, COUNT(conn_fields), answer);
	if (memcmp(&conn.local, &ends->local, sizeof(conn.local)) ||
	    memcmp(&conn.remote, &ends->remote, sizeof(conn.remote)) || conn.dscp != ends->dscp)
		return;
	if (answer->attr[MROCE_A_CONN_PATHS])
		conn.comp_mask |= MROCEDV_CONN_LIVE;
	if (answer->attr[MROCE_A_CONN_CC])
		mroce_nl_bytes(answer->attr[MROCE_A_CONN_CC], conn.cc, sizeof(conn.cc) - 1);
	*ends->conn = conn;
	ends->found = true;
}

/* Which device a request is about: by its number, which stays when it is renamed */
static struct mroce_nl_put name_device(struct ibv_device *device, uint32_t *index)
{
	int known = ibv_get_device_index(device);

	*index = (uint32_t)known;
	if (known >= 0)
		return (struct mroce_nl_put) { MROCE_A_CONN_DEV_INDEX, sizeof(*index), index };
	return (struct mroce_nl_put) {
		MROCE_A_CONN_DEV_NAME, (uint16_t)(strlen(device->name) + 1), device->name,
	};
}

/* Find the connection; @nl is a socket for what else is to be asked, open unless this fails. */
static int find_conn(struct ibv_qp *qp, struct mrocedv_conn *conn, struct mroce_nl **nl)
{
	struct ends ends = { .conn = conn };
	struct mroce_nl_put device;
	uint32_t index;
	int ret;

	ret = find_ends(qp, &ends);
	if (ret)
		return ret;
	*nl = mroce_nl_open();
	if (!*nl)
		return errno;
	device = name_device(qp->context->device, &index);
	ret = mroce_nl_dump(*nl, MROCE_CMD_CONN_GET, &device, 1, take_conn, &ends);
	if (!ret && !ends.found)
		ret = ENOENT;
	if (ret)
		mroce_nl_close(*nl);
	return ret;
}

/* Programs may be older or newer than this library. */
static void copy_out(void *to, size_t to_bytes, const void *from, size_t from_bytes)
{
	memset(to, 0, to_bytes);
	memcpy(to, from, to_bytes < from_bytes ? to_bytes : from_bytes);
}

/* mrocedv_query_conn - see mrocedv.h */
int mrocedv_query_conn(struct ibv_qp *qp, struct mrocedv_conn *conn, size_t size)
{
	struct mrocedv_conn found = {};
	struct mroce_nl *nl;
	int ret;

	ret = find_conn(qp, &found, &nl);
	if (ret)
		return ret;
	mroce_nl_close(nl);
	copy_out(conn, size, &found, sizeof(found));
	return 0;
}

static void take_path(const struct mroce_nl_answer *answer, void *arg)
{
	struct path_array *array = arg;
	struct mrocedv_path path = {};
	unsigned int i = array->there++;

	if (i >= array->room)
		return;
	set_fields(&path, path_fields, COUNT(path_fields), answer);
	if (answer->attr[MROCE_A_PATH_CPU])
		path.comp_mask |= MROCEDV_PATH_CPU;
	copy_out(array->paths + i * array->size, array->size, &path, sizeof(path));
}

/* mrocedv_query_path_array - see mrocedv.h */
int mrocedv_query_path_array(struct ibv_qp *qp, struct mrocedv_path *paths, unsigned int *n,
			     size_t size)
{
	struct path_array array = { .paths = (char *)paths, .size = size, .room = *n };
	struct mrocedv_conn conn = {};
	struct mroce_nl_put put[2];
	struct mroce_nl *nl;
	uint32_t index;
	int ret;

	ret = find_conn(qp, &conn, &nl);
	if (ret)
		return ret;
	put[0] = name_device(qp->context->device, &index);
	put[1] = (struct mroce_nl_put) { MROCE_A_PATH_CONN_ID, sizeof(conn.id), &conn.id };
	ret = mroce_nl_dump(nl, MROCE_CMD_PATH_GET, put, 2, take_path, &array);
	mroce_nl_close(nl);
	if (!ret)
		*n = array.there;
	return ret;
}
