/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The contract between the mroce kernel module and its user-space provider.
 *
 * Every object that moves work (send queue, receive queue, completion queue)
 * is one ring in memory shared by both sides. A ring is a header of
 * MROCE_RING_DATA_OFFSET bytes followed by `entries` slots of `stride` bytes.
 * Indices run free (32 bits, never masked when stored); the slot of index i is
 * i & (entries - 1). `entries` is a power of two.
 *
 * Neither side trusts the other: the kernel copies a work queue entry once
 * into private memory before it looks at it, keeps its own copy of the indices
 * it owns and checks the distance to the ones it does not.
 *
 * MROCE_ABI_VERSION changes with every incompatible change of this file. The
 * provider refuses a version it does not know.
 */
#ifndef _UAPI_RDMA_MROCE_ABI_H
#define _UAPI_RDMA_MROCE_ABI_H

#include <linux/types.h>

#define MROCE_ABI_VERSION	1

/*
 * Private constant ("MROC"), compared by libibverbs and the uverbs ioctl. It is
 * outside the kernel's enum rdma_driver_id on purpose: see
 * Documentation/architecture.rst.
 */
#define MROCE_DRIVER_ID		0x4d524f43

#define MROCE_RING_DATA_OFFSET	256

/* Fixed part of a send queue entry; SGEs or inline data follow it. */
#define MROCE_SQE_SIZE		64
/* Fixed part of a receive queue entry; SGEs follow it. */
#define MROCE_RQE_SIZE		16
#define MROCE_CQE_SIZE		64

/*
 * enum mroce_ring_state - bits of mroce_ring_hdr.state
 * @MROCE_RING_KICK: (SQ, RQ; written by the kernel) the kernel is not looking
 *	at this ring: after a post the user must ring the doorbell. To post:
 *	fill the slot, store prod with release order, full barrier, read state.
 * @MROCE_RING_ARM_NEXT: (CQ; set by the user, cleared by the kernel when it
 *	raises the event) any completion raises an event
 * @MROCE_RING_ARM_SOLICITED: (CQ) only a solicited completion or an error does
 */
enum mroce_ring_state {
	MROCE_RING_KICK			= 1 << 0,
	MROCE_RING_ARM_NEXT		= 1 << 1,
	MROCE_RING_ARM_SOLICITED	= 1 << 2,
};

/*
 * struct mroce_ring_hdr - head of a shared ring, one writer per cache line
 * @prod: index one past the newest filled slot. SQ, RQ: written by the user.
 *	CQ: written by the kernel.
 * @cons: index of the oldest slot still in use. SQ, RQ: written by the kernel
 *	when the work request has completed (so that prod - cons never exceeds
 *	what the application asked for), before its CQE becomes visible. SRQ: how
 *	many have completed: they do so in any order, and the kernel has a copy of
 *	each that has not, so that its slot is not the slot of that index any more.
 *	CQ: written by the user.
 *	A modify to RESET sets prod and cons of SQ and RQ to 0; the user reads
 *	them back.
 * @state: enum mroce_ring_state
 */
struct mroce_ring_hdr {
	__u32 prod;
	__u32 pad0[15];
	__u32 cons;
	__u32 pad1[15];
	__u32 state;
	__u32 pad2[15];
	__u32 reserved[16];
};

/* struct mroce_sge - as struct ibv_sge */
struct mroce_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/*
 * struct mroce_sqe - a send work request as the user posts it
 * @wr_id: returned in the completion
 * @opcode: enum ib_uverbs_wr_opcode (rdma/ib_user_verbs.h)
 * @flags: enum ibv_send_flags (FENCE 1, SIGNALED 2, SOLICITED 4, INLINE 8)
 * @num_sge: entries in @sge; 0 with the INLINE flag
 * @imm_be: immediate data in network order, or the key to invalidate
 * @inline_bytes: with the INLINE flag: bytes of data that follow the header
 * @remote_addr: RDMA and atomics
 * @rkey: RDMA and atomics
 * @ah_num: UD: kernel's address handle number
 * @atomic: compare_add, swap
 * @ud: remote QPN and qkey
 * @sge: or inline data
 */
struct mroce_sqe {
	__aligned_u64 wr_id;
	__u8 opcode;
	__u8 flags;
	__u16 num_sge;
	__be32 imm_be;
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 inline_bytes;
	union {
		struct {
			__aligned_u64 compare_add;
			__aligned_u64 swap;
		} atomic;
		struct {
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 ah_num;
			__u32 reserved;
		} ud;
		struct {
			__u32 mw_handle;
			__u32 mr_lkey;
			__u32 access;
			__u32 reserved;
		} bind;
	};
	__u32 reserved[4];
	struct mroce_sge sge[];
};

/* struct mroce_rqe - a receive work request as the user posts it */
struct mroce_rqe {
	__aligned_u64 wr_id;
	__u16 num_sge;
	__u16 flags;
	__u32 reserved;
	struct mroce_sge sge[];
};

/*
 * struct mroce_cqe - a completion as the kernel writes it
 * @wr_id: of the work request
 * @status: enum ibv_wc_status
 * @opcode: enum ibv_wc_opcode
 * @vendor_err: a number from the kernel that tells refusals apart
 * @byte_len: bytes received (receive side), read, or 8 for an atomic
 * @imm_be: immediate in network order, or the invalidated key
 * @qp_num: local QP
 * @src_qp: UD: sender's QPN
 * @wc_flags: enum ibv_wc_flags
 * @pkey_index: UD
 * @sl: UD
 * @timestamp_ns: CLOCK_MONOTONIC when the completion was written, 0 if off
 * @network_type, @vlan_id, @kernel_qp: 0; for users in the kernel
 */
struct mroce_cqe {
	__aligned_u64 wr_id;
	__u32 status;
	__u32 opcode;
	__u32 vendor_err;
	__u32 byte_len;
	__be32 imm_be;
	__u32 qp_num;
	__u32 src_qp;
	__u32 wc_flags;
	__u16 pkey_index;
	__u8 sl;
	__u8 network_type;
	__u16 vlan_id;
	__u16 reserved;
	__aligned_u64 timestamp_ns;
	__aligned_u64 kernel_qp;
};

/*
 * struct mroce_ring_info - how to map a ring
 * @offset: mmap offset on the uverbs file
 * @size_bytes: mmap length
 * @entries: slots, a power of two; the application may use as many as the
 *	returned capability says, which may be fewer
 * @stride: bytes per slot
 */
struct mroce_ring_info {
	__aligned_u64 offset;
	__u32 size_bytes;
	__u32 entries;
	__u32 stride;
	__u32 reserved;
};

/* Driver parts of the uverbs responses. comp_mask is 0 in version 1. */
struct mroce_alloc_ucontext_resp {
	__u32 abi_version;
	__u32 comp_mask;
	__u32 max_inline_bytes;
	__u32 reserved[5];
};

/*
 * enum mroce_ordering - when WRITEs of the peer become visible
 * @MROCE_ORDERING_DEFAULT: as the device says (module parameter "ordering")
 * @MROCE_ORDERING_AUTO: in order, except in regions with relaxed ordering
 * @MROCE_ORDERING_STRICT: in order
 * @MROCE_ORDERING_RELAXED: when they arrive
 */
enum mroce_ordering {
	MROCE_ORDERING_DEFAULT	= 0,
	MROCE_ORDERING_AUTO	= 1,
	MROCE_ORDERING_STRICT	= 2,
	MROCE_ORDERING_RELAXED	= 3,
};

/*
 * struct mroce_create_qp_req - driver part of the create QP command; optional:
 * a command without it is one with all fields 0
 * @flags: none yet
 * @paths: of how many paths of its connection the QP makes use, at most 32; 0 = all
 * @ordering: enum mroce_ordering
 * @plane_mask: which planes it uses: bit n = the plane with label n, of which those from 64 on
 *	have no bit; 0 = all. Neither is a promise: where none of these works others are used
 */
struct mroce_create_qp_req {
	__u32 comp_mask;
	__u32 flags;
	__u16 paths;
	__u16 ordering;
	__u32 reserved;
	__aligned_u64 plane_mask;
};

/* @rq.size_bytes is 0 for a QP with an SRQ. */
struct mroce_create_qp_resp {
	__u32 comp_mask;
	__u32 flags;
	struct mroce_ring_info sq;
	struct mroce_ring_info rq;
	__u32 reserved[4];
};

struct mroce_create_cq_resp {
	__u32 comp_mask;
	__u32 flags;
	struct mroce_ring_info cq;
	__u32 reserved[4];
};

/* @ah_num: what mroce_sqe.ud calls the address handle */
struct mroce_create_ah_resp {
	__u32 comp_mask;
	__u32 ah_num;
	__u32 reserved[2];
};

/* @srq_num: tells those of a device apart */
struct mroce_create_srq_resp {
	__u32 comp_mask;
	__u32 srq_num;
	struct mroce_ring_info rq;
	__u32 reserved[4];
};

#endif /* _UAPI_RDMA_MROCE_ABI_H */
