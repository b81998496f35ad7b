// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation, query, removal, doorbells, and how packets find them.
 *
 * qp->mutex serialises the calls of the user. Packets reach a QP through its struct
 * mroce_qp_ref only; it is published last, taken back first, and the memory waits
 * for the last reference.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <rdma/uverbs_ioctl.h>

#include "mroce_dgram.h"
#include "mroce_kverbs.h"

/**
 * mroce_qp_get() - find a queue pair by its number
 * @dev: device
 * @qpn: number, from the wire
 *
 * Return: with a reference, or NULL.
 */
struct mroce_qp *mroce_qp_get(struct mroce_dev *dev, u32 qpn)
{
	struct mroce_qp_ref *ref;
	struct mroce_qp *qp = NULL;

	rcu_read_lock();
	ref = xa_load(&dev->qps, qpn);
	if (ref && refcount_inc_not_zero(&ref->refs))
		qp = ref->qp;
	rcu_read_unlock();
	return qp;
}

/**
 * mroce_qp_hold() - one more reference
 * @qp: queue pair the caller has a reference to
 */
void mroce_qp_hold(struct mroce_qp *qp)
{
	refcount_inc(&qp->ref->refs);
}

/**
 * mroce_qp_put() - drop a reference
 * @qp: queue pair, gone for the caller
 *
 * Context: any; never sleeps and frees nothing.
 */
void mroce_qp_put(struct mroce_qp *qp)
{
	if (refcount_dec_and_test(&qp->ref->refs))
		complete(&qp->released);
}

/**
 * mroce_qp_lock() - keep all queues still, to change the state
 * @qp: queue pair
 */
void mroce_qp_lock(struct mroce_qp *qp)
	__acquires(&qp->sq.q.lock) __acquires(&qp->rq.lock) __acquires(&qp->rdq.q.lock)
{
	spin_lock_bh(&qp->sq.q.lock);
	spin_lock(&qp->rq.lock);
	spin_lock(&qp->rdq.q.lock);
}

/**
 * mroce_qp_unlock() - undo mroce_qp_lock()
 * @qp: queue pair
 */
void mroce_qp_unlock(struct mroce_qp *qp)
	__releases(&qp->rdq.q.lock) __releases(&qp->rq.lock) __releases(&qp->sq.q.lock)
{
	spin_unlock(&qp->rdq.q.lock);
	spin_unlock(&qp->rq.lock);
	spin_unlock_bh(&qp->sq.q.lock);
}

/**
 * mroce_qp_reset_rings() - its rings empty at index 0; the user reads the indices back
 * @qp: queue pair; a shared receive queue is left alone
 *
 * Context: mroce_qp_lock() held, or nobody knows the QP yet.
 */
void mroce_qp_reset_rings(struct mroce_qp *qp)
{
	struct mroce_ring_hdr *sq = qp->sq.ring.hdr, *rq = qp->rq.ring.hdr;

	qp->sq.q.head = 0;
	qp->sq.q.send = 0;
	qp->sq.q.una = 0;
	qp->rq.bound = 0;
	qp->rq.cons = 0;
	qp->rq.last_told = false;
	WRITE_ONCE(sq->prod, 0);
	WRITE_ONCE(sq->cons, 0);
	WRITE_ONCE(sq->state, MROCE_RING_KICK);
	if (qp->rq.srq)
		return;
	WRITE_ONCE(rq->prod, 0);
	WRITE_ONCE(rq->cons, 0);
	/* Nobody looks at a receive before a packet asks for it: no doorbell. */
	WRITE_ONCE(rq->state, 0);
}

/* Copes with a QP that was built up to any point, but is not published. */
static void free_queues(struct mroce_qp *qp)
{
	mroce_ring_destroy(&qp->sq.ring);
	mroce_ring_destroy(&qp->rq.ring);
	kfree(qp->sq.q.cause);
	kfree(qp->rdq.q.cause);
	kfree(qp->gsi);
	kvfree(qp->sq.q.wqe);
	if (!qp->rq.srq)
		kvfree(qp->rq.wqe);
	kvfree(qp->rq.copy);
	if (qp->ref)
		kfree_rcu(qp->ref, rcu);
}

static int check_init(const struct ib_qp_init_attr *init, bool of_kernel)
{
	const struct ib_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (of_kernel)
			break;
		return -EOPNOTSUPP;
	case IB_QPT_RC:
		if (!of_kernel)
			break;
		fallthrough;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > MROCE_MAX_QP_WR || cap->max_send_sge > MROCE_MAX_SGE ||
	    cap->max_inline_data > MROCE_MAX_INLINE)
		return -EINVAL;
	/* With a shared receive queue these mean nothing. */
	if (!init->srq &&
	    (cap->max_recv_wr > MROCE_MAX_QP_WR || cap->max_recv_sge > MROCE_MAX_SGE))
		return -EINVAL;
	return 0;
}

static int create_ring(struct mroce_ring *ring, struct ib_ucontext *uc, u32 entries, u32 stride,
		       struct mroce_ring_info *info)
{
	if (!uc)
		return mroce_ring_create_kernel(ring, entries, stride);
	return mroce_ring_create(ring, uc, entries, stride, info);
}

static int create_sq(struct mroce_qp *qp, const struct ib_qp_cap *cap, struct ib_ucontext *uc,
		     struct mroce_ring_info *info)
{
	struct mroce_sq *sq = &qp->sq;
	u32 body, stride;
	int err;

	sq->max_wr = max(cap->max_send_wr, 1u);
	sq->max_sge = max(cap->max_send_sge, 1u);
	body = max_t(u32, sq->max_sge * sizeof(struct mroce_sge), cap->max_inline_data);
	stride = ALIGN(MROCE_SQE_SIZE + body, 64);
	/* What fits anyway is granted. */
	sq->max_inline = min_t(u32, stride - MROCE_SQE_SIZE, MROCE_MAX_INLINE);

	err = create_ring(&sq->ring, uc, roundup_pow_of_two(sq->max_wr), stride, info);
	if (err)
		return err;
	body = max_t(u32, sq->max_sge * sizeof(struct mroce_place_sge), sq->max_inline);
	sq->q.entries = sq->ring.entries;
	sq->q.wqe_stride = ALIGN(sizeof(struct mroce_swqe) + body, 8);
	sq->q.wqe = kvcalloc(sq->q.entries, sq->q.wqe_stride, MROCE_GFP_USER);
	return sq->q.wqe ? 0 : -ENOMEM;
}

static int attach_srq(struct mroce_rq *rq, struct mroce_srq *srq)
{
	rq->srq = srq;
	rq->wqe = srq->wqe;
	rq->wqe_stride = srq->wqe_stride;
	/* The oldest message is not complete, and each takes a psn of the window. */
	rq->entries = min_t(u32, srq->ring.entries, MROCE_STREAM_WINDOW);
	rq->copy = kvcalloc(rq->entries, sizeof(*rq->copy), MROCE_GFP_USER);
	return rq->copy ? 0 : -ENOMEM;
}

static int create_rq(struct mroce_qp *qp, const struct ib_qp_init_attr *init,
		     struct ib_ucontext *uc, struct mroce_ring_info *info)
{
	const struct ib_qp_cap *cap = &init->cap;
	struct mroce_rq *rq = &qp->rq;
	int err;

	if (init->srq)
		return attach_srq(rq, to_msrq(init->srq));
	rq->max_wr = max(cap->max_recv_wr, 1u);
	rq->max_sge = max(cap->max_recv_sge, 1u);
	err = create_ring(&rq->ring, uc, roundup_pow_of_two(rq->max_wr),
			  MROCE_RQE_SIZE + rq->max_sge * sizeof(struct mroce_sge), info);
	if (err)
		return err;
	rq->entries = rq->ring.entries;
	rq->wqe_stride = mroce_resp_rwqe_stride(rq->max_sge);
	rq->wqe = kvcalloc(rq->entries, rq->wqe_stride, MROCE_GFP_USER);
	return rq->wqe ? 0 : -ENOMEM;
}

static void init_qp(struct mroce_qp *qp, const struct ib_qp_init_attr *init)
{
	mutex_init(&qp->mutex);
	init_completion(&qp->released);
	spin_lock_init(&qp->rq.lock);
	INIT_LIST_HEAD(&qp->rq.rx.recstate.node);
	INIT_LIST_HEAD(&qp->sq.sink.recstate.node);
	qp->sq.sink.stream = MROCE_STREAM_RESP;
	qp->rq.held = RB_ROOT;
	qp->state = IB_QPS_RESET;
	/* Counted per QP, so that lives of others do not make it wrap. */
	qp->incarnation = atomic_inc_return(&to_mdev(qp->ibqp.device)->incarnation);
	qp->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	mroce_send_init(qp);
	mroce_kverbs_init(qp);
}

static void grant_caps(const struct mroce_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.max_wr;
	cap->max_recv_wr = qp->rq.max_wr;
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_recv_sge = qp->rq.max_sge;
	cap->max_inline_data = qp->sq.max_inline;
}

/* Reserve a number; nobody finds the QP under it until publish() */
static int reserve_qpn(struct mroce_dev *dev, struct mroce_qp *qp)
{
	int err;

	if (qp->ibqp.qp_type == IB_QPT_GSI) {
		qp->qpn = MROCE_QPN_GSI;
		qp->ibqp.qp_num = qp->qpn;
		return xa_insert(&dev->qps, qp->qpn, NULL, GFP_KERNEL);
	}
	/* Numbers come back as late as possible: packets to the old QP may be under way. */
	err = xa_alloc_cyclic(&dev->qps, &qp->qpn, NULL, XA_LIMIT(MROCE_QPN_FIRST, MROCE_QPN_LAST),
			      &dev->next_qpn, GFP_KERNEL);
	if (err < 0)
		return -ENOMEM;
	qp->ibqp.qp_num = qp->qpn;
	return 0;
}

/* How WRITEs are ordered where the user does not say; auto leaves it to his regions */
static int ordering = MROCE_HOLD_AUTO;

static int set_ordering(const char *val, const struct kernel_param *kp)
{
	int mode = __sysfs_match_string(mroce_hold_mode_name, MROCE_HOLD_MODES, val);

	if (mode <= MROCE_HOLD_DEFAULT)
		return -EINVAL;
	WRITE_ONCE(ordering, mode);
	return 0;
}

static int get_ordering(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", mroce_hold_mode_name[READ_ONCE(ordering)]);
}

static const struct kernel_param_ops ordering_ops = {
	.set = set_ordering,
	.get = get_ordering,
};

module_param_cb(ordering, &ordering_ops, NULL, 0644);
MODULE_PARM_DESC(ordering, "WRITEs of new QPs: auto (by region, default), strict, relaxed");

/** mroce_qp_ordering() - enum mroce_hold_mode of new QPs of a device that do not say it */
u8 mroce_qp_ordering(const struct mroce_dev *dev)
{
	return READ_ONCE(dev->conf.ordering) ?: READ_ONCE(ordering);
}

/* The driver part of the request; a shorter one, or none, is one that ends in zeros. */
static int take_request(struct mroce_qp *qp, struct ib_udata *udata)
{
	struct mroce_create_qp_req req = {};
	size_t n = min(sizeof(req), udata->inlen);

	if (ib_copy_from_udata(&req, udata, n))
		return -EFAULT;
	if (udata->inlen > n && !ib_is_udata_cleared(udata, n, udata->inlen - n))
		return -EOPNOTSUPP;
	if (req.comp_mask || req.flags || req.reserved)
		return -EOPNOTSUPP;
	if (req.ordering >= MROCE_HOLD_MODES || req.paths > MROCE_MAX_PATHS)
		return -EINVAL;
	qp->paths = req.paths;
	qp->plane_mask = req.plane_mask;
	qp->ordering = req.ordering ?: mroce_qp_ordering(to_mdev(qp->ibqp.device));
	return 0;
}

/**
 * mroce_qp_create() - ib_device_ops.create_qp
 * @ibqp: to be set up, zeroed by the core
 * @init: wishes; what was granted when this returns
 * @udata: NULL for a kernel user
 *
 * Return: 0, -EOPNOTSUPP for what there is not (also in the driver part of the
 * request), -EINVAL above the advertised maxima, -ENOMEM, -EFAULT.
 */
int mroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct mroce_ucontext *uc =
		rdma_udata_to_drv_context(udata, struct mroce_ucontext, ibuc);
	struct mroce_dev *dev = to_mdev(ibqp->device);
	struct ib_ucontext *ibuc = uc ? &uc->ibuc : NULL;
	struct mroce_create_qp_resp resp = {};
	struct mroce_qp *qp = to_mqp(ibqp);
	int err;

	err = check_init(init, !uc);
	if (!err)
		err = uc ? take_request(qp, udata) : 0;
	if (err)
		return err;

	init_qp(qp, init);
	qp->user = uc ? uc->number : 0;
	err = create_sq(qp, &init->cap, ibuc, &resp.sq);
	if (!err)
		err = create_rq(qp, init, ibuc, &resp.rq);
	if (err)
		goto free;
	mroce_qp_reset_rings(qp);

	err = init->qp_type == IB_QPT_GSI ? mroce_gsi_create(qp) : 0;
	if (err)
		goto free;
	err = -ENOMEM;
	qp->ref = kzalloc_obj(*qp->ref, GFP_KERNEL_ACCOUNT);
	if (!qp->ref)
		goto free;
	qp->ref->qp = qp;
	refcount_set(&qp->ref->refs, 1);

	err = reserve_qpn(dev, qp);
	if (err)
		goto free;
	err = uc ? mroce_udata_respond(udata, &resp, sizeof(resp)) : 0;
	if (err)
		goto release_qpn;
	grant_caps(qp, &init->cap);
	err = xa_err(xa_store(&dev->qps, qp->qpn, qp->ref, GFP_KERNEL));
	if (err)
		goto release_qpn;
	return 0;

release_qpn:
	xa_erase(&dev->qps, qp->qpn);
free:
	free_queues(qp);
	return err;
}

/**
 * mroce_qp_query() - ib_device_ops.query_qp
 * @ibqp: queue pair
 * @attr: to fill, all of it
 * @mask: what is wanted; ignored
 * @init: to fill
 *
 * Return: 0.
 */
int mroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct mroce_qp *qp = to_mqp(ibqp);

	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	attr->qp_state = READ_ONCE(qp->state);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mig_state = IB_MIG_MIGRATED;
	spin_lock_bh(&qp->sq.q.lock);
	attr->sq_draining = qp->state == IB_QPS_SQD && !mroce_comp_drained(qp);
	spin_unlock_bh(&qp->sq.q.lock);
	grant_caps(qp, &attr->cap);
	mutex_unlock(&qp->mutex);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq_sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	init->port_num = attr->port_num;
	return 0;
}

/**
 * mroce_qp_destroy() - ib_device_ops.destroy_qp
 * @ibqp: queue pair; freed by the core
 * @udata: unused
 *
 * Waits for packets that are being handled right now, never for the network.
 *
 * Return: 0.
 */
int mroce_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct mroce_qp *qp = to_mqp(ibqp);

	mutex_lock(&qp->mutex);
	/*
	 * Buried before the number is given back: there is no moment at which
	 * a packet sent again would find neither the QP nor its last record.
	 */
	mroce_qp_disconnect(qp, READ_ONCE(qp->state));
	mutex_unlock(&qp->mutex);

	xa_erase(&to_mdev(ibqp->device)->qps, qp->qpn);
	mroce_kverbs_stop(qp);
	mroce_qp_put(qp);
	wait_for_completion(&qp->released);
	/* Older kernels may ask for its details even now. */
	mutex_lock(&qp->mutex);
	free_queues(qp);
	mutex_unlock(&qp->mutex);
	return 0;
}

/**
 * mroce_qp_post_send() - ib_device_ops.post_send: the doorbell of the send queue
 * @ibqp: queue pair
 * @wr: of a program NULL: the work requests are in the ring
 * @bad_wr: set on error
 *
 * Return: 0, -EOPNOTSUPP for work requests passed by the system call; of a kernel user as
 * mroce_kverbs.c says.
 */
int mroce_qp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
	if (mroce_qp_is_kernels(to_mqp(ibqp)))
		return mroce_kverbs_post_send(to_mqp(ibqp), wr, bad_wr);
	if (wr) {
		*bad_wr = wr;
		return -EOPNOTSUPP;
	}
	mroce_count(to_mdev(ibqp->device), MROCE_CNT_DOORBELLS);
	mroce_send_kick(to_mqp(ibqp));
	return 0;
}

/**
 * mroce_qp_post_recv() - ib_device_ops.post_recv: the doorbell of the receive queue
 * @ibqp: queue pair
 * @wr: of a program NULL: the work requests are in the ring
 * @bad_wr: set on error
 *
 * Return: 0, -EOPNOTSUPP for work requests passed by the system call; of a kernel user as
 * mroce_kverbs.c says.
 */
int mroce_qp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct mroce_qp *qp = to_mqp(ibqp);

	if (mroce_qp_is_kernels(qp))
		return mroce_kverbs_post_recv(qp, wr, bad_wr);
	if (wr) {
		*bad_wr = wr;
		return -EOPNOTSUPP;
	}
	mroce_count(to_mdev(ibqp->device), MROCE_CNT_DOORBELLS);
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mroce_comp_flush(qp);
	return 0;
}
