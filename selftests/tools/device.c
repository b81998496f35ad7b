// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Opening a verbs device, choosing its address, moving RC QPs through their states. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "tool.h"

#define PORT 1

/**
 * mroce_clock_ns - monotonic time
 */
uint64_t mroce_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static struct ibv_context *open_by_name(const char *name)
{
	struct ibv_context *ctx = NULL;
	struct ibv_device **list;
	int i, n;

	list = ibv_get_device_list(&n);
	if (!list)
		return NULL;
	for (i = 0; i < n && !ctx; i++) {
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	}
	ibv_free_device_list(list);
	return ctx;
}

static bool gid_is_v4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

static bool gid_is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* The first RoCE v2 address of the wished family that can be routed. */
static int choose_gid(struct mroce_dev *dev, bool ipv6)
{
	struct ibv_gid_entry entry;
	int i;

	for (i = 0; i < dev->port.gid_tbl_len; i++) {
		if (ibv_query_gid_ex(dev->ctx, PORT, i, &entry, 0))
			continue;
		if (entry.gid_type != IBV_GID_TYPE_ROCE_V2 || gid_is_link_local(&entry.gid))
			continue;
		if (gid_is_v4(&entry.gid) == ipv6)
			continue;
		dev->gid = entry.gid;
		dev->gid_index = i;
		return 0;
	}
	return -1;
}

/**
 * mroce_dev_open - open a device and find its address
 * @dev: filled in
 * @name: verbs device name, NULL = the first one
 * @gid_index: use this address, or -1 to choose one
 * @ipv6: when choosing: IPv6 instead of IPv4
 *
 * Return: 0, or -1 after a line on stderr that says what is missing.
 */
int mroce_dev_open(struct mroce_dev *dev, const char *name, int gid_index, bool ipv6)
{
	memset(dev, 0, sizeof(*dev));
	dev->ctx = open_by_name(name);
	if (!dev->ctx) {
		fprintf(stderr, "cannot open verbs device %s\n", name ? name : "(any)");
		return -1;
	}
	if (ibv_query_device(dev->ctx, &dev->attr) || ibv_query_port(dev->ctx, PORT, &dev->port)) {
		fprintf(stderr, "cannot query device or port\n");
		goto close;
	}
	if (dev->port.state != IBV_PORT_ACTIVE) {
		fprintf(stderr, "port is not active\n");
		goto close;
	}
	if (gid_index >= 0) {
		dev->gid_index = gid_index;
		if (ibv_query_gid(dev->ctx, PORT, gid_index, &dev->gid))
			gid_index = -1;
	} else {
		gid_index = choose_gid(dev, ipv6);
	}
	if (gid_index < 0) {
		fprintf(stderr, "no usable RoCE v2 address\n");
		goto close;
	}
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (dev->pd)
		return 0;
	fprintf(stderr, "cannot allocate a protection domain: %s\n", strerror(errno));
close:
	ibv_close_device(dev->ctx);
	return -1;
}

/**
 * mroce_dev_close - undo mroce_dev_open(); every object of it must be gone
 * @dev: the device
 */
void mroce_dev_close(struct mroce_dev *dev)
{
	ibv_dealloc_pd(dev->pd);
	ibv_close_device(dev->ctx);
}

/**
 * mroce_qp_to_init - RESET to INIT
 * @qp: RC QP
 * @access: enum ibv_access_flags the peer gets
 *
 * Return: 0 or an errno value.
 */
int mroce_qp_to_init(struct ibv_qp *qp, int access)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = access,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_ACCESS_FLAGS);
}

/**
 * mroce_qp_to_rtr - INIT to RTR
 * @qp: RC QP
 * @dev: device of @qp, for the address to send from
 * @remote: the peer's QP
 * @timing: min_rnr_timer and dest_rd_atomic are used
 *
 * Return: 0 or an errno value.
 */
int mroce_qp_to_rtr(struct ibv_qp *qp, const struct mroce_dev *dev,
		    const struct mroce_qp_addr *remote, const struct mroce_qp_timing *timing)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = remote->mtu < dev->port.active_mtu ? remote->mtu : dev->port.active_mtu,
		.dest_qp_num = remote->qpn,
		.rq_psn = remote->psn & 0xffffff,
		.max_dest_rd_atomic = timing->dest_rd_atomic ? timing->dest_rd_atomic : 1,
		.min_rnr_timer = timing->min_rnr_timer,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = {
				.dgid = remote->gid,
				.sgid_index = dev->gid_index,
				.hop_limit = 64,
				.traffic_class = timing->traffic_class,
			},
		},
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			     IBV_QP_MIN_RNR_TIMER);
}

/**
 * mroce_qp_to_rts - RTR to RTS
 * @qp: RC QP
 * @psn: the one told to the peer
 * @timing: timeout, retry limits, rd_atomic
 *
 * Return: 0 or an errno value.
 */
int mroce_qp_to_rts(struct ibv_qp *qp, uint32_t psn, const struct mroce_qp_timing *timing)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = psn & 0xffffff,
		.timeout = timing->timeout,
		.retry_cnt = timing->retry_cnt,
		.rnr_retry = timing->rnr_retry,
		.max_rd_atomic = timing->rd_atomic ? timing->rd_atomic : 1,
	};

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			     IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

/**
 * mroce_qp_to_state - a transition that needs no attributes
 * @qp: QP
 * @state: RESET or ERR
 *
 * Return: 0 or an errno value.
 */
int mroce_qp_to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}
