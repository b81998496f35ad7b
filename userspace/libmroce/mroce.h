/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Objects of the mroce provider.
 *
 * Locks: one spinlock per send queue, receive queue and completion queue. None
 * is ever taken while another one is held, and none is held across a system
 * call.
 */
#ifndef MROCE_H
#define MROCE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mroce-abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef MROCE_IN_RDMA_CORE
#include <infiniband/driver.h>
#else
#include "verbs_pabi.h"
#endif

#include "ring.h"

#define MROCE_PUBLIC_SEND_FLAGS						\
	(IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED |	\
	 IBV_SEND_INLINE)

#define mroce_container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

struct mroce_device {
	struct verbs_device vdev;
};

struct mroce_context {
	struct verbs_context vctx;
};

/*
 * struct mroce_td - thread domain
 * @refs: parent domains that have it; atomic
 */
struct mroce_td {
	struct ibv_td ibtd;
	unsigned int refs;
};

/*
 * struct mroce_pd - protection domain or parent domain
 * @ibpd: a parent domain has the handle of the protection domain below it
 * @base: what a parent domain was made of; NULL: a protection domain
 * @td: of a parent domain, or NULL
 * @refs: objects and parent domains on it; atomic
 */
struct mroce_pd {
	struct ibv_pd ibpd;
	struct ibv_pd *base;
	struct mroce_td *td;
	unsigned int refs;
};

/*
 * struct mroce_wq - a queue of work requests: SQ, RQ or SRQ
 * @lock: protects @ring
 * @ring: the shared ring; not mapped if the QP has no such queue
 * @max_sge: entries that fit into a slot
 * @max_inline_bytes: SQ only
 */
struct mroce_wq {
	pthread_spinlock_t lock;
	struct mroce_ring ring;
	uint32_t max_sge;
	uint32_t max_inline_bytes;
};

/*
 * struct mroce_cq
 * @lock: protects @ring; held from start_poll to end_poll by the extended API
 * @cqe: private copy of the entry that the read_*() calls talk about; written
 *	and read under @lock
 * @domain: parent domain it was created with, or NULL
 * @is_single_threaded: the application promised not to poll in parallel
 */
struct mroce_cq {
	struct verbs_cq vcq;
	pthread_spinlock_t lock;
	struct mroce_ring ring;
	struct mroce_cqe cqe;
	struct ibv_pd *domain;
	bool is_single_threaded;
};

/*
 * struct mroce_qp
 * @sq_sig_flags: IBV_SEND_SIGNALED if every work request is to be signaled
 * @wr_sqe: ibv_wr_*() only, under the SQ lock: the request being built; NULL
 *	before the first one and after an error
 * @wr_first: ditto: ring index to go back to
 * @wr_err: ditto: first error since ibv_wr_start()
 */
struct mroce_qp {
	struct verbs_qp vqp;
	struct mroce_wq sq;
	struct mroce_wq rq;
	uint8_t sq_sig_flags;
	struct mroce_sqe *wr_sqe;
	uint32_t wr_first;
	int wr_err;
};

/*
 * struct mroce_ah
 * @num: what the kernel calls it in send requests
 */
struct mroce_ah {
	struct ibv_ah ibah;
	uint32_t num;
};

struct mroce_srq {
	struct verbs_srq vsrq;
	struct mroce_wq rq;
};

static inline struct mroce_td *mroce_td_from_ibv(struct ibv_td *ibtd)
{
	return mroce_container_of(ibtd, struct mroce_td, ibtd);
}

static inline struct mroce_pd *mroce_pd_from_ibv(struct ibv_pd *ibpd)
{
	return mroce_container_of(ibpd, struct mroce_pd, ibpd);
}

static inline struct mroce_cq *mroce_cq_from_ibv(struct ibv_cq *ibcq)
{
	return mroce_container_of(ibcq, struct mroce_cq, vcq.cq);
}

static inline struct mroce_cq *mroce_cq_from_ex(struct ibv_cq_ex *ibcq)
{
	return mroce_container_of(ibcq, struct mroce_cq, vcq.cq_ex);
}

static inline struct mroce_qp *mroce_qp_from_ibv(struct ibv_qp *ibqp)
{
	return mroce_container_of(ibqp, struct mroce_qp, vqp.qp);
}

static inline struct mroce_qp *mroce_qp_from_ex(struct ibv_qp_ex *ibqp)
{
	return mroce_container_of(ibqp, struct mroce_qp, vqp.qp_ex);
}

static inline struct mroce_ah *mroce_ah_from_ibv(struct ibv_ah *ibah)
{
	return mroce_container_of(ibah, struct mroce_ah, ibah);
}

static inline struct mroce_srq *mroce_srq_from_ibv(struct ibv_srq *ibsrq)
{
	return mroce_container_of(ibsrq, struct mroce_srq, vsrq.srq);
}

/* mroce.c */
bool mroce_device_is_ours(const struct ibv_device *ibdev);

/* verbs.c: device, port, memory region */
int mroce_device_query(struct ibv_context *ctx,
		       const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t attr_size);
int mroce_port_query(struct ibv_context *ctx, uint8_t port,
		     struct ibv_port_attr *attr);
struct ibv_mr *mroce_mr_reg(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access);
struct ibv_mr *mroce_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access);
int mroce_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access);
int mroce_mr_dereg(struct verbs_mr *vmr);

/* pd.c: protection, parent and thread domains */
struct ibv_pd *mroce_pd_alloc(struct ibv_context *ctx);
struct ibv_pd *
mroce_pd_alloc_parent(struct ibv_context *ctx,
		      struct ibv_parent_domain_init_attr *attr);
int mroce_pd_dealloc(struct ibv_pd *ibpd);
void mroce_pd_get(struct ibv_pd *ibpd);
void mroce_pd_put(struct ibv_pd *ibpd);
struct ibv_td *mroce_td_alloc(struct ibv_context *ctx,
			      struct ibv_td_init_attr *attr);
int mroce_td_dealloc(struct ibv_td *ibtd);

/* qp.c */
struct ibv_qp *mroce_qp_create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *mroce_qp_create_ex(struct ibv_context *ctx,
				  struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *mroce_qp_create_req(struct ibv_context *ctx,
				   struct ibv_qp_init_attr_ex *attr,
				   struct mroce_create_qp_req *req);
int mroce_qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask);
int mroce_qp_query(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init_attr);
int mroce_qp_destroy(struct ibv_qp *ibqp);

uint32_t mroce_rqe_bytes(uint32_t max_sge);

/* ah.c */
struct ibv_ah *mroce_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int mroce_ah_destroy(struct ibv_ah *ibah);

/* srq.c */
struct ibv_srq *mroce_srq_create(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
int mroce_srq_modify(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int mask);
int mroce_srq_query(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int mroce_srq_destroy(struct ibv_srq *ibsrq);
int mroce_srq_post_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad);

/* post.c */
int mroce_qp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad);
int mroce_qp_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad);
int mroce_rq_post(struct mroce_wq *rq, const struct ibv_context *ctx,
		  uint32_t command, uint32_t handle, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad);
bool mroce_send_op_is_usable(uint32_t opcode, enum ibv_qp_type type);
bool mroce_send_op_takes_inline(uint32_t opcode);
int mroce_sqe_set_inline(const struct mroce_wq *sq, struct mroce_sqe *sqe,
			 const void *data, size_t length);
int mroce_sq_finish(struct mroce_qp *qp);

/* wr.c */
bool mroce_wr_setup(struct mroce_qp *qp, uint64_t send_ops);

/* cq.c */
struct ibv_cq *mroce_cq_create(struct ibv_context *ctx, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector);
struct ibv_cq_ex *mroce_cq_create_ex(struct ibv_context *ctx,
				     struct ibv_cq_init_attr_ex *attr);
int mroce_cq_destroy(struct ibv_cq *ibcq);
void mroce_cq_clean(struct ibv_cq *ibcq, uint32_t qpn);
int mroce_cq_poll(struct ibv_cq *ibcq, int num, struct ibv_wc *wc);
int mroce_cq_arm(struct ibv_cq *ibcq, int solicited_only);

#endif /* MROCE_H */
