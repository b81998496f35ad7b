// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ibv_wr_*() interface: requests are built in the ring itself between
 * ibv_wr_start(), which takes the SQ lock, and ibv_wr_complete() or _abort(),
 * which release it. Nothing can fail in between, so the first error is kept
 * and makes the whole batch fail at its end.
 */
#include "mroce.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static void wr_fail(struct mroce_qp *qp, int err)
{
	if (!qp->wr_err)
		qp->wr_err = err;
	qp->wr_sqe = NULL;
}

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct mroce_qp *qp = mroce_qp_from_ex(ibqp);

	pthread_spin_lock(&qp->sq.lock);
	qp->wr_first = qp->sq.ring.next;
	qp->wr_sqe = NULL;
	qp->wr_err = ibqp->qp_base.state < IBV_QPS_RTS ? EINVAL : 0;
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	struct mroce_qp *qp = mroce_qp_from_ex(ibqp);

	qp->sq.ring.next = qp->wr_first;
	pthread_spin_unlock(&qp->sq.lock);
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct mroce_qp *qp = mroce_qp_from_ex(ibqp);
	int err = qp->wr_err;

	if (err || qp->sq.ring.next == qp->wr_first) {
		wr_abort(ibqp);
		return err;
	}
	return mroce_sq_finish(qp);
}

/* Begin a request; NULL if there is no room or an earlier one failed. */
static struct mroce_sqe *wr_begin(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode op)
{
	struct mroce_qp *qp = mroce_qp_from_ex(ibqp);
	struct mroce_ring *ring = &qp->sq.ring;

	if (qp->wr_err)
		return NULL;
	if (mroce_ring_is_full(ring)) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}

	qp->wr_sqe = mroce_ring_slot(ring, ring->next++);
	*qp->wr_sqe = (struct mroce_sqe) {
		.wr_id = ibqp->wr_id,
		.opcode = (uint8_t)op,
		.flags = (ibqp->wr_flags & MROCE_PUBLIC_SEND_FLAGS &
			  ~(uint32_t)IBV_SEND_INLINE) | qp->sq_sig_flags,
	};
	return qp->wr_sqe;
}

static void begin_remote(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode op,
			 uint32_t rkey, uint64_t remote_addr, __be32 imm)
{
	struct mroce_sqe *sqe = wr_begin(ibqp, op);

	if (!sqe)
		return;
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->imm_be = imm;
}

static void wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
			  uint64_t remote_addr)
{
	begin_remote(ibqp, IBV_WR_RDMA_WRITE, rkey, remote_addr, 0);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm)
{
	begin_remote(ibqp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr, imm);
}

static void wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey,
			 uint64_t remote_addr)
{
	begin_remote(ibqp, IBV_WR_RDMA_READ, rkey, remote_addr, 0);
}

static void begin_atomic(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode op,
			 uint32_t rkey, uint64_t remote_addr,
			 uint64_t compare_add, uint64_t swap)
{
	struct mroce_sqe *sqe = wr_begin(ibqp, op);

	if (!sqe)
		return;
	sqe->rkey = rkey;
	sqe->remote_addr = remote_addr;
	sqe->atomic.compare_add = compare_add;
	sqe->atomic.swap = swap;
}

static void wr_cmp_swp(struct ibv_qp_ex *ibqp, uint32_t rkey,
		       uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
	begin_atomic(ibqp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr,
		     compare, swap);
}

static void wr_fetch_add(struct ibv_qp_ex *ibqp, uint32_t rkey,
			 uint64_t remote_addr, uint64_t add)
{
	begin_atomic(ibqp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr,
		     add, 0);
}

static void wr_send(struct ibv_qp_ex *ibqp)
{
	wr_begin(ibqp, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm)
{
	struct mroce_sqe *sqe = wr_begin(ibqp, IBV_WR_SEND_WITH_IMM);

	if (sqe)
		sqe->imm_be = imm;
}

/* The key takes the place of the immediate, in the byte order of the host. */
static void begin_inv(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode op,
		      uint32_t rkey)
{
	struct mroce_sqe *sqe = wr_begin(ibqp, op);

	if (sqe)
		memcpy(&sqe->imm_be, &rkey, sizeof(rkey));
}

static void wr_send_inv(struct ibv_qp_ex *ibqp, uint32_t rkey)
{
	begin_inv(ibqp, IBV_WR_SEND_WITH_INV, rkey);
}

static void wr_local_inv(struct ibv_qp_ex *ibqp, uint32_t rkey)
{
	begin_inv(ibqp, IBV_WR_LOCAL_INV, rkey);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct mroce_sqe *sqe = mroce_qp_from_ex(ibqp)->wr_sqe;

	if (!sqe)
		return;
	sqe->ud.ah_num = mroce_ah_from_ibv(ah)->num;
	sqe->ud.remote_qpn = remote_qpn;
	sqe->ud.remote_qkey = remote_qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
			    const struct ibv_sge *sg_list)
{
	struct mroce_qp *qp = mroce_qp_from_ex(ibqp);
	struct mroce_sqe *sqe = qp->wr_sqe;
	size_t i;

	if (!sqe)
		return;
	if (num_sge > qp->sq.max_sge) {
		wr_fail(qp, EINVAL);
		return;
	}

	for (i = 0; i < num_sge; i++)
		sqe->sge[i] = (struct mroce_sge) {
			.addr = sg_list[i].addr,
			.length = sg_list[i].length,
			.lkey = sg_list[i].lkey,
		};
	sqe->num_sge = (uint16_t)num_sge;
}

static void wr_set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ibqp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num_buf,
				    const struct ibv_data_buf *bufs)
{
	struct mroce_qp *qp = mroce_qp_from_ex(ibqp);
	struct mroce_sqe *sqe = qp->wr_sqe;
	size_t i;

	if (!sqe)
		return;
	if (!mroce_send_op_takes_inline(sqe->opcode)) {
		wr_fail(qp, EINVAL);
		return;
	}
	sqe->flags |= IBV_SEND_INLINE;
	for (i = 0; i < num_buf; i++) {
		if (mroce_sqe_set_inline(&qp->sq, sqe, bufs[i].addr,
					 bufs[i].length)) {
			wr_fail(qp, EINVAL);
			return;
		}
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *ibqp, void *addr,
			       size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(ibqp, 1, &buf);
}

/* The bits of enum ibv_qp_create_send_ops_flags are 1 << opcode. */
static bool are_ops_usable(uint64_t send_ops, enum ibv_qp_type type)
{
	uint32_t op;

	for (op = 0; op < 64; op++)
		if (send_ops >> op & 1 && !mroce_send_op_is_usable(op, type))
			return false;
	return true;
}

/*
 * mroce_wr_setup - enable the ibv_wr_*() interface on a QP
 * @send_ops: enum ibv_qp_create_send_ops_flags, operations the caller needs
 *
 * Return: false if one of them is not available on this type of QP.
 */
bool mroce_wr_setup(struct mroce_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	static_assert(IBV_QP_EX_WITH_RDMA_WRITE == 1 << IBV_WR_RDMA_WRITE &&
		      IBV_QP_EX_WITH_SEND == 1 << IBV_WR_SEND &&
		      IBV_QP_EX_WITH_TSO == 1 << IBV_WR_TSO, "verbs.h");

	if (!are_ops_usable(send_ops, ex->qp_base.qp_type))
		return false;

	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;

	/* Only what was asked for: calling another one is the caller's bug. */
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (send_ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_cmp_swp;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_fetch_add;
	if (send_ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	return true;
}
