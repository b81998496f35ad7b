/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A stand-in for the kernel side, inside the test program.
 *
 * The fake replaces ioctl() and write() of the process, answers the commands
 * the provider uses, and keeps the rings in a memory file that serves as the
 * uverbs file, so that the provider maps them with a real mmap().
 *
 * It is not a second implementation of mroce: it never moves work by itself. A
 * test reads the rings and plays the kernel's part step by step.
 */
#ifndef MROCE_FAKE_UVERBS_H
#define MROCE_FAKE_UVERBS_H

#include <infiniband/verbs.h>
#include <rdma/mroce-abi.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * struct fake_ring - the kernel's view of a ring
 * @hdr: NULL if there is none
 */
struct fake_ring {
	struct mroce_ring_hdr *hdr;
	uint8_t *slots;
	uint32_t entries;
	uint32_t stride_bytes;
};

/*
 * struct fake_doorbell - one post command as it came in
 * @command: IB_USER_VERBS_CMD_POST_SEND, _POST_RECV or _POST_SRQ_RECV
 * @handle: QP or SRQ
 */
struct fake_doorbell {
	uint32_t command;
	uint32_t handle;
	uint32_t wr_count;
	uint32_t sge_count;
	uint32_t wqe_size;
	uint32_t in_bytes;
	uint32_t out_words;
};

/*
 * struct fake_kernel - what a test may set and look at
 * @abi_version: answered to GET_CONTEXT
 * @corrupt_entries: answer rings whose size is not a power of two
 * @doorbell_errno: fail doorbells with this
 * @doorbell_failures: so many of them, 0 = all
 * @dealloc_pd_errno: fail the next PD deallocations with this
 * @can_rereg: has re-registration of memory
 * @live_qps: created and not yet destroyed; likewise @live_srqs, @live_cqs,
 *	@live_pds, @live_ahs and @live_mrs
 * @next_ah: number the next address handle gets; @create_ah_errno: fail them with this
 * @srq_modifies: number of SRQ modify commands; @srq_limit: of the last one
 * @srq_max_wr: of the last SRQ creation
 * @no_srq_ring: answer SRQ creations without a ring
 * @destroy_srq_errno: fail SRQ destructions with this
 * @calls: number of system calls on the uverbs file
 * @doorbells: number of post commands; @doorbell is the last one
 * @last_access: access flags of the last memory registration
 * @last_pd: PD handle of the last command that has one
 * @last_state: QP state of the last modify command
 * @dgid, @sgid_index, @traffic_class: where every QP is connected to
 * @create_qp_errno: fail QP creations with this
 * @gid: the answer for every index of the GID table
 * @device_index: number of the device, -1 = not known
 * @qp_req: driver part of the last QP creation; @qp_req_bytes as it came in
 */
struct fake_kernel {
	uint32_t abi_version;
	int corrupt_entries;
	int doorbell_errno;
	int doorbell_failures;
	int dealloc_pd_errno;
	int can_rereg;
	int live_qps;
	int live_srqs;
	int live_cqs;
	int live_pds;
	int live_mrs;
	int live_ahs;
	uint32_t next_ah;
	int create_ah_errno;
	unsigned int srq_modifies;
	uint32_t srq_limit;
	uint32_t srq_max_wr;
	int no_srq_ring;
	int destroy_srq_errno;
	unsigned int calls;
	unsigned int doorbells;
	struct fake_doorbell doorbell;
	uint32_t last_access;
	uint32_t last_pd;
	uint32_t last_state;
	union ibv_gid dgid;
	uint8_t sgid_index;
	uint8_t traffic_class;
	union ibv_gid gid;
	int device_index;
	int create_qp_errno;
	struct mroce_create_qp_req qp_req;
	uint32_t qp_req_bytes;
};

extern struct fake_kernel fake_kernel;

struct ibv_context *fake_open(void);
void fake_set_foreign(struct ibv_context *ctx, bool is_foreign);
struct fake_ring *fake_sq(const struct ibv_qp *qp);
struct fake_ring *fake_rq(const struct ibv_qp *qp);
struct fake_ring *fake_srq(const struct ibv_srq *srq);
struct fake_ring *fake_cq(const struct ibv_cq *cq);
void *fake_slot(const struct fake_ring *ring, uint32_t index);
void fake_complete(struct fake_ring *cq, const struct mroce_cqe *cqe);

#endif /* MROCE_FAKE_UVERBS_H */
