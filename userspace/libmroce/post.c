// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting work requests: check, write the slot, publish once per list, and
 * trap only if the kernel says that it is not looking.
 */
#include "mroce.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define QPT_RC	(1u << IBV_QPT_RC)
#define QPT_UC	(1u << IBV_QPT_UC)
#define QPT_UD	(1u << IBV_QPT_UD)

/* So often a doorbell is rung that finds no memory; then it is not going to. */
#define DOORBELL_TRIES	10000

/*
 * enum op_part - which fields of a work request an opcode uses
 * @OP_IMM: immediate data, or the key to invalidate
 * @OP_REMOTE: address and key at the peer
 * @OP_ATOMIC: operands, and address and key
 * @OP_NO_INLINE: its data is written, not read, or it has none
 */
enum op_part {
	OP_IMM		= 1 << 0,
	OP_REMOTE	= 1 << 1,
	OP_ATOMIC	= 1 << 2,
	OP_NO_INLINE	= 1 << 3,
};

/*
 * One row for every opcode of the ABI. A row without QP types is one that the
 * kernel module cannot carry out yet: posting it answers EOPNOTSUPP. The types
 * are all there is to add when it can.
 */
static const struct send_op {
	uint8_t parts;
	uint16_t qp_types;
} send_ops[] = {
	[IBV_WR_RDMA_WRITE] = { OP_REMOTE, QPT_RC | QPT_UC },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { OP_REMOTE | OP_IMM, QPT_RC | QPT_UC },
	[IBV_WR_SEND] = { 0, QPT_RC | QPT_UC | QPT_UD },
	[IBV_WR_SEND_WITH_IMM] = { OP_IMM, QPT_RC | QPT_UC | QPT_UD },
	[IBV_WR_RDMA_READ] = { OP_REMOTE | OP_NO_INLINE, QPT_RC },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { OP_ATOMIC | OP_NO_INLINE, QPT_RC },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { OP_ATOMIC | OP_NO_INLINE, QPT_RC },
	[IBV_WR_LOCAL_INV] = { OP_IMM | OP_NO_INLINE, 0 },
	[IBV_WR_BIND_MW] = { OP_NO_INLINE, 0 },
	[IBV_WR_SEND_WITH_INV] = { OP_IMM, 0 },
	[IBV_WR_TSO] = { OP_NO_INLINE, 0 },
};

/* mroce_send_op_is_usable - may @opcode be posted on a QP of this type? */
bool mroce_send_op_is_usable(uint32_t opcode, enum ibv_qp_type type)
{
	return opcode < sizeof(send_ops) / sizeof(send_ops[0]) &&
	       send_ops[opcode].qp_types & (1u << type);
}

/* mroce_send_op_takes_inline - may a usable @opcode carry its data in the slot? */
bool mroce_send_op_takes_inline(uint32_t opcode)
{
	return !(send_ops[opcode].parts & OP_NO_INLINE);
}

/*
 * ring_doorbell - tell the kernel that a queue has new entries
 * @command: IB_USER_VERBS_CMD_POST_SEND, _POST_RECV or _POST_SRQ_RECV
 * @handle: of the QP or SRQ
 *
 * A post command with no work request in it: uverbs finds the object and calls
 * the driver's post function, which looks at the ring.
 *
 * uverbs allocates for this, and may have to bring in a page of ours: lack of
 * memory shows as ENOMEM or EFAULT. The requests are in the ring by then and may be
 * under way, so they cannot be taken back; the caller, told of an error, would post
 * them twice. Memory comes back, so try again.
 *
 * Return: 0 or the errno of the write (EIO: the device is gone).
 */
static int ring_doorbell(const struct ibv_context *ctx, uint32_t command,
			 uint32_t handle)
{
	struct ib_uverbs_post_send_resp resp = {};
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send core;
	} cmd = {
		.hdr = {
			.command = command,
			.in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.core = {
			.response = (uintptr_t)&resp,
			.qp_handle = handle,
			/* uverbs insists on a full size even of none */
			.wqe_size = command == IB_USER_VERBS_CMD_POST_SEND ?
				    sizeof(struct ib_uverbs_send_wr) :
				    sizeof(struct ib_uverbs_recv_wr),
		},
	};
	int tries;

	/* The receive commands have the same structure. */
	static_assert(offsetof(struct ib_uverbs_post_recv, wqe_size) ==
		      offsetof(struct ib_uverbs_post_send, wqe_size) &&
		      offsetof(struct ib_uverbs_post_srq_recv, wqe_size) ==
		      offsetof(struct ib_uverbs_post_send, wqe_size) &&
		      sizeof(struct ib_uverbs_post_recv) ==
		      sizeof(struct ib_uverbs_post_send), "uverbs ABI");

	for (tries = 0; tries < DOORBELL_TRIES; tries++) {
		if (write(ctx->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd))
			return 0;
		if (errno != ENOMEM && errno != EFAULT)
			break;
		sched_yield();
	}
	return errno;
}

/*
 * mroce_sqe_set_inline - append data to a send entry
 *
 * Return: 0, or EINVAL if the slot cannot hold it.
 */
int mroce_sqe_set_inline(const struct mroce_wq *sq, struct mroce_sqe *sqe,
			 const void *data, size_t length)
{
	if (length > sq->max_inline_bytes - sqe->inline_bytes)
		return EINVAL;
	if (length)
		memcpy((uint8_t *)sqe->sge + sqe->inline_bytes, data, length);
	sqe->inline_bytes += (uint32_t)length;
	return 0;
}

static void copy_sges(struct mroce_sge *to, const struct ibv_sge *from, int num)
{
	int i;

	for (i = 0; i < num; i++) {
		to[i].addr = from[i].addr;
		to[i].length = from[i].length;
		to[i].lkey = from[i].lkey;
	}
}

static int fill_data(const struct mroce_wq *sq, struct mroce_sqe *sqe,
		     const struct ibv_send_wr *wr)
{
	int ret = 0;
	int i;

	if (!(wr->send_flags & IBV_SEND_INLINE)) {
		sqe->num_sge = (uint16_t)wr->num_sge;
		copy_sges(sqe->sge, wr->sg_list, wr->num_sge);
		return 0;
	}

	if (!mroce_send_op_takes_inline(wr->opcode))
		return EINVAL;
	for (i = 0; i < wr->num_sge && !ret; i++)
		ret = mroce_sqe_set_inline(sq, sqe,
					   (void *)(uintptr_t)wr->sg_list[i].addr,
					   wr->sg_list[i].length);
	return ret;
}

static void fill_header(const struct mroce_qp *qp, struct mroce_sqe *sqe,
			const struct ibv_send_wr *wr)
{
	const struct send_op *op = &send_ops[wr->opcode];

	/* As a whole, so that nothing of the slot's last use is left. */
	*sqe = (struct mroce_sqe) {
		.wr_id = wr->wr_id,
		.opcode = (uint8_t)wr->opcode,
		.flags = (wr->send_flags & MROCE_PUBLIC_SEND_FLAGS) |
			 qp->sq_sig_flags,
	};
	if (op->parts & OP_IMM)
		sqe->imm_be = wr->imm_data;
	if (op->parts & OP_REMOTE) {
		sqe->remote_addr = wr->wr.rdma.remote_addr;
		sqe->rkey = wr->wr.rdma.rkey;
	}
	if (op->parts & OP_ATOMIC) {
		sqe->remote_addr = wr->wr.atomic.remote_addr;
		sqe->rkey = wr->wr.atomic.rkey;
		sqe->atomic.compare_add = wr->wr.atomic.compare_add;
		sqe->atomic.swap = wr->wr.atomic.swap;
	}
	if (qp->vqp.qp.qp_type == IBV_QPT_UD) {
		sqe->ud.remote_qpn = wr->wr.ud.remote_qpn;
		sqe->ud.remote_qkey = wr->wr.ud.remote_qkey;
		sqe->ud.ah_num = mroce_ah_from_ibv(wr->wr.ud.ah)->num;
	}
}

static int post_one_send(struct mroce_qp *qp, const struct ibv_send_wr *wr)
{
	struct mroce_wq *sq = &qp->sq;
	struct mroce_sqe *sqe;
	int ret;

	if (!mroce_send_op_is_usable(wr->opcode, qp->vqp.qp.qp_type))
		return EOPNOTSUPP;
	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > sq->max_sge)
		return EINVAL;
	if (mroce_ring_is_full(&sq->ring))
		return ENOMEM;

	sqe = mroce_ring_slot(&sq->ring, sq->ring.next);
	fill_header(qp, sqe, wr);
	ret = fill_data(sq, sqe, wr);
	if (!ret)
		sq->ring.next++;
	return ret;
}

/*
 * mroce_sq_finish - publish what was written and wake the kernel if need be
 *
 * Takes the SQ lock held, releases it. The doorbell is rung without it: the
 * kernel may send in this thread's name, and others can post meanwhile. At
 * worst two threads ring.
 *
 * Return: 0 or the errno of the doorbell (EIO: the device is gone).
 */
int mroce_sq_finish(struct mroce_qp *qp)
{
	mroce_ring_publish(&qp->sq.ring);
	pthread_spin_unlock(&qp->sq.lock);

	if (!mroce_ring_needs_kick(&qp->sq.ring))
		return 0;
	return ring_doorbell(qp->vqp.qp.context, IB_USER_VERBS_CMD_POST_SEND,
			     qp->vqp.qp.handle);
}

/*
 * mroce_qp_post_send - ibv_post_send()
 *
 * Return: 0, or a positive errno with @bad at the first request not posted:
 * EINVAL for a QP that cannot send yet, too many SGEs, too much inline data or
 * any with an opcode that fetches data, ENOMEM for a full queue, EOPNOTSUPP for
 * an opcode that mroce does not have.
 *
 * In SQD a request is queued and waits for RTS; in ERR it is flushed.
 */
int mroce_qp_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		       struct ibv_send_wr **bad)
{
	struct mroce_qp *qp = mroce_qp_from_ibv(ibqp);
	struct ibv_send_wr *first = wr;
	int kick_ret;
	int ret = 0;

	if (ibqp->state < IBV_QPS_RTS) {
		*bad = wr;
		return EINVAL;
	}

	pthread_spin_lock(&qp->sq.lock);
	for (; wr; wr = wr->next) {
		ret = post_one_send(qp, wr);
		if (ret) {
			*bad = wr;
			break;
		}
	}
	if (wr == first) {
		pthread_spin_unlock(&qp->sq.lock);
		return ret;
	}

	kick_ret = mroce_sq_finish(qp);
	if (kick_ret && !ret) {
		*bad = first;
		ret = kick_ret;
	}
	return ret;
}

static int post_one_recv(struct mroce_wq *rq, const struct ibv_recv_wr *wr)
{
	struct mroce_rqe *rqe;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
		return EINVAL;
	if (mroce_ring_is_full(&rq->ring))
		return ENOMEM;

	rqe = mroce_ring_slot(&rq->ring, rq->ring.next);
	*rqe = (struct mroce_rqe) {
		.wr_id = wr->wr_id,
		.num_sge = (uint16_t)wr->num_sge,
	};
	copy_sges(rqe->sge, wr->sg_list, wr->num_sge);
	rq->ring.next++;
	return 0;
}

/*
 * mroce_rq_post - post a list of receive requests to an RQ or SRQ
 * @command: doorbell of this kind of queue
 * @handle: of the QP or SRQ
 *
 * Return: 0, or a positive errno with @bad at the first request not posted:
 * EINVAL for too many SGEs, ENOMEM for a full queue.
 */
int mroce_rq_post(struct mroce_wq *rq, const struct ibv_context *ctx,
		  uint32_t command, uint32_t handle, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad)
{
	struct ibv_recv_wr *first = wr;
	bool is_kicked = false;
	int kick_ret = 0;
	int ret = 0;

	pthread_spin_lock(&rq->lock);
	for (; wr; wr = wr->next) {
		ret = post_one_recv(rq, wr);
		if (ret) {
			*bad = wr;
			break;
		}
	}
	if (wr != first) {
		mroce_ring_publish(&rq->ring);
		/* Under the lock: an SRQ may be withdrawn, and come back. */
		is_kicked = mroce_ring_needs_kick(&rq->ring);
	}
	pthread_spin_unlock(&rq->lock);

	if (is_kicked)
		kick_ret = ring_doorbell(ctx, command, handle);
	if (kick_ret && !ret) {
		*bad = first;
		ret = kick_ret;
	}
	return ret;
}

/*
 * mroce_qp_post_recv - ibv_post_recv()
 *
 * Return: as mroce_rq_post(); EINVAL also in RESET and with an SRQ.
 */
int mroce_qp_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad)
{
	if (ibqp->state == IBV_QPS_RESET || ibqp->srq) {
		*bad = wr;
		return EINVAL;
	}
	return mroce_rq_post(&mroce_qp_from_ibv(ibqp)->rq, ibqp->context,
			     IB_USER_VERBS_CMD_POST_RECV, ibqp->handle, wr,
			     bad);
}
