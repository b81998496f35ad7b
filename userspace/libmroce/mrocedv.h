/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Direct verbs of mroce: what a program may ask of an mroce device beyond verbs,
 * how a queue pair uses the paths of its connection and how these are doing.
 * Link with -lmroce -libverbs. See mrocedv(7).
 *
 * Structures grow at their end. The library is told the size that the program
 * was built with, and what it does not have is left alone or zero.
 */
#ifndef MROCEDV_H
#define MROCEDV_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * enum mrocedv_ordering - when WRITEs of the peer become visible
 * @MROCEDV_ORDERING_DEFAULT: as MROCE_ORDERING in the environment says, else as the device does
 * @MROCEDV_ORDERING_AUTO: in order, except in regions with relaxed ordering
 * @MROCEDV_ORDERING_STRICT: in order
 * @MROCEDV_ORDERING_RELAXED: when they arrive
 */
enum mrocedv_ordering {
	MROCEDV_ORDERING_DEFAULT	= 0,
	MROCEDV_ORDERING_AUTO		= 1,
	MROCEDV_ORDERING_STRICT		= 2,
	MROCEDV_ORDERING_RELAXED	= 3,
};

/* What is set in mrocedv_qp_init_attr; fields without their bit are not looked at. */
enum mrocedv_qp_init_attr_mask {
	MROCEDV_QP_INIT_ATTR_PATHS	= 1 << 0,
	MROCEDV_QP_INIT_ATTR_PLANE_MASK	= 1 << 1,
	MROCEDV_QP_INIT_ATTR_ORDERING	= 1 << 2,
};

/*
 * struct mrocedv_qp_init_attr - wishes for a new queue pair
 * @comp_mask: enum mrocedv_qp_init_attr_mask
 * @plane_mask: planes to send by: bit n = the plane with label n of this end; 0 = all. Labels go
 *   to 255, those from 64 on cannot be named
 * @paths: of how many paths of its connection to make use, at most 32; 0 = all
 * @ordering: enum mrocedv_ordering
 *
 * Paths and planes are no promise: while none of these works, others are used.
 */
struct mrocedv_qp_init_attr {
	uint64_t comp_mask;
	uint64_t plane_mask;
	uint32_t paths;
	uint32_t ordering;
};

enum mrocedv_conn_state {
	MROCEDV_CONN_IDLE,
	MROCEDV_CONN_HELLO,
	MROCEDV_CONN_COOKIE,
	MROCEDV_CONN_OPEN,
};

/* What the library has set in mrocedv_conn beyond the fields that are always there */
enum mrocedv_conn_mask {
	MROCEDV_CONN_LIVE	= 1 << 0,	/* it is open: @paths and all that follows */
};

/*
 * struct mrocedv_conn - the connection of a queue pair, shared with all that have the same two
 * addresses and the same DSCP
 * @comp_mask: enum mrocedv_conn_mask
 * @id: of this end, as 'mroce conn' shows it
 * @state: enum mrocedv_conn_state
 * @local, @remote: GIDs of its ends
 * @dscp: of its packets
 * @qps: queue pairs that use it
 * @memory_bytes: kernel memory of it
 * @paths: that are in use; @active_paths of them carry data
 * @payload_bytes: of a packet
 * @window_bytes: that may be in flight; @max_window_bytes is its ceiling
 * @inflight_bytes: in flight; @inflight_pkts: packets, with probes
 * @share_bytes: what the receiver grants, as a window; 0 when it says nothing
 * @heard_ms: since the peer was heard
 * @cc: name of the congestion control
 */
struct mrocedv_conn {
	uint64_t comp_mask;
	uint32_t id;
	uint32_t state;
	union ibv_gid local;
	union ibv_gid remote;
	uint32_t dscp;
	uint32_t qps;
	uint64_t memory_bytes;
	uint32_t paths;
	uint32_t active_paths;
	uint32_t payload_bytes;
	uint32_t inflight_pkts;
	uint64_t window_bytes;
	uint64_t max_window_bytes;
	uint64_t inflight_bytes;
	uint32_t heard_ms;
	uint32_t reserved;
	uint64_t share_bytes;
	char cc[16];
};

enum mrocedv_path_state {
	MROCEDV_PATH_PROBING,
	MROCEDV_PATH_ACTIVE,
	MROCEDV_PATH_SUSPECT,
	MROCEDV_PATH_FAILED,
	MROCEDV_PATH_OFF,
};

/* What the library has set in mrocedv_path beyond the fields that are always there */
enum mrocedv_path_mask {
	MROCEDV_PATH_CPU	= 1 << 0,	/* the path has sent: @cpu */
};

/*
 * struct mrocedv_path - a path of the connection, seen by its sender; counts are of this end
 * @comp_mask: enum mrocedv_path_mask
 * @path: number in the connection
 * @state: enum mrocedv_path_state
 * @plane: label of its plane, at this end
 * @source_port: UDP source port, which makes the path
 * @cpu: that sent last
 * @heard_ms: since an answer to something sent on it
 * @min_rtt_ns: smallest round trip of the last seconds; 0 when none was measured
 * @srtt_ns: smoothed round trip; ditto
 * @rttvar_ns: its mean deviation
 * @window_bytes: that may be in flight on it
 * @inflight_bytes: in flight; @inflight_pkts: packets, with probes
 * @loss_ppm: packets lost, smoothed, millionths; @marked_ppm: that met congestion, ditto
 * @rate_bytes: acknowledged in each second of the recent past
 * @sent_pkts: data packets, @sent_bytes of them; ditto @acked_pkts, @acked_bytes
 * @lost_pkts: taken for lost; @spurious_pkts of them arrived after all
 * @retrans_pkts: sent here that were sent before, on whichever path
 * @marked_pkts: that met congestion
 * @probe_timeouts: times that nothing was heard for so long that it was asked
 * @rerolls: changes of @source_port
 */
struct mrocedv_path {
	uint64_t comp_mask;
	uint32_t path;
	uint32_t state;
	uint32_t plane;
	uint32_t source_port;
	uint32_t cpu;
	uint32_t heard_ms;
	uint64_t min_rtt_ns;
	uint64_t srtt_ns;
	uint64_t rttvar_ns;
	uint64_t window_bytes;
	uint64_t inflight_bytes;
	uint32_t inflight_pkts;
	uint32_t loss_ppm;
	uint32_t marked_ppm;
	uint32_t reserved;
	uint64_t rate_bytes;
	uint64_t sent_pkts;
	uint64_t sent_bytes;
	uint64_t acked_pkts;
	uint64_t acked_bytes;
	uint64_t lost_pkts;
	uint64_t spurious_pkts;
	uint64_t retrans_pkts;
	uint64_t marked_pkts;
	uint64_t probe_timeouts;
	uint64_t rerolls;
};

/* mrocedv_is_supported - may this device be given to the functions below? */
bool mrocedv_is_supported(struct ibv_device *device);

/*
 * mrocedv_create_qp - ibv_create_qp_ex() with wishes
 * @attr: as there; .cap is set to what was granted
 * @dv_attr: NULL is the same as one with an empty comp_mask
 *
 * Return: NULL and errno: as ibv_create_qp_ex(); EOPNOTSUPP when the device is another one or
 * for a comp_mask that is not known, EINVAL for a value that is not.
 */
struct ibv_qp *mrocedv_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				 const struct mrocedv_qp_init_attr *dv_attr);

/*
 * mrocedv_query_conn - the connection of a queue pair (RC, UC)
 * @size: sizeof(*@conn)
 *
 * Return: 0, or EOPNOTSUPP (device, type of QP, or module cannot), ENOTCONN before RTR,
 * ENOENT when there is no connection any more, ENODEV in another network namespace than the
 * device's, or what a netlink socket answers.
 */
int mrocedv_query_conn(struct ibv_qp *qp, struct mrocedv_conn *conn, size_t size);

/*
 * mrocedv_query_path_array - the paths of its connection; by its own name or the next one's
 * @paths: array
 * @n: entries of @paths; set to how many paths there are, which may be more
 * @size: of an entry
 *
 * One that is not open has none. Return: as mrocedv_query_conn().
 */
int mrocedv_query_path_array(struct ibv_qp *qp, struct mrocedv_path *paths, unsigned int *n,
			     size_t size);

static inline int mrocedv_query_paths(struct ibv_qp *qp, struct mrocedv_path *paths,
				      unsigned int *n)
{
	return mrocedv_query_path_array(qp, paths, n, sizeof(*paths));
}

#ifdef __cplusplus
}
#endif

#endif /* MROCEDV_H */
