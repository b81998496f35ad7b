// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation, states, removal, and how packets find them.
 *
 * qp->mutex serialises the calls of the user. The state may go to ERR behind
 * its back (mroce_comp_error()), which is why every change says what it started
 * from. Packets reach a QP through its struct mroce_qp_ref only; it is published
 * last, taken back first, and the memory waits for the last reference.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>

#include "mroce.h"

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

static void lock_both(struct mroce_qp *qp)
	__acquires(&qp->sq.lock) __acquires(&qp->rq.lock)
{
	spin_lock_bh(&qp->sq.lock);
	spin_lock(&qp->rq.lock);
}

static void unlock_both(struct mroce_qp *qp)
	__releases(&qp->rq.lock) __releases(&qp->sq.lock)
{
	spin_unlock(&qp->rq.lock);
	spin_unlock_bh(&qp->sq.lock);
}

/* Both rings empty at index 0; the user reads the indices back. Locks held. */
static void reset_rings(struct mroce_qp *qp)
{
	struct mroce_ring_hdr *sq = qp->sq.ring.hdr, *rq = qp->rq.ring.hdr;

	qp->sq.head = 0;
	qp->sq.send = 0;
	qp->sq.una = 0;
	qp->rq.bound = 0;
	qp->rq.cons = 0;
	WRITE_ONCE(sq->prod, 0);
	WRITE_ONCE(sq->cons, 0);
	WRITE_ONCE(rq->prod, 0);
	WRITE_ONCE(rq->cons, 0);
	/* Nobody looks at a receive before a packet asks for it: no doorbell. */
	WRITE_ONCE(sq->state, MROCE_RING_KICK);
	WRITE_ONCE(rq->state, 0);
}

/* Returns false when the state is not @from any more. */
static bool set_state(struct mroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to)
{
	bool ok;

	lock_both(qp);
	ok = qp->state == from;
	if (ok)
		WRITE_ONCE(qp->state, to);
	unlock_both(qp);
	return ok;
}

/* Copes with a QP that was built up to any point, but is not published. */
static void free_queues(struct mroce_qp *qp)
{
	mroce_ring_destroy(&qp->sq.ring);
	mroce_ring_destroy(&qp->rq.ring);
	kvfree(qp->sq.wqe);
	kvfree(qp->rq.wqe);
	kfree(qp->rq.bits);
	if (qp->ref)
		kfree_rcu(qp->ref, rcu);
}

static int check_init(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type != IB_QPT_RC || init->create_flags || init->srq || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (!init->send_cq || !init->recv_cq)
		return -EINVAL;
	if (cap->max_send_wr > MROCE_MAX_QP_WR || cap->max_recv_wr > MROCE_MAX_QP_WR ||
	    cap->max_send_sge > MROCE_MAX_SGE || cap->max_recv_sge > MROCE_MAX_SGE ||
	    cap->max_inline_data > MROCE_MAX_INLINE)
		return -EINVAL;
	return 0;
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

	err = mroce_ring_create(&sq->ring, uc, roundup_pow_of_two(sq->max_wr), stride, info);
	if (err)
		return err;
	body = max_t(u32, sq->max_sge * sizeof(struct mroce_place_sge), sq->max_inline);
	sq->wqe_stride = ALIGN(sizeof(struct mroce_swqe) + body, 8);
	sq->wqe = kvcalloc(sq->ring.entries, sq->wqe_stride, GFP_KERNEL_ACCOUNT);
	return sq->wqe ? 0 : -ENOMEM;
}

static int create_rq(struct mroce_qp *qp, const struct ib_qp_cap *cap, struct ib_ucontext *uc,
		     struct mroce_ring_info *info)
{
	struct mroce_rq *rq = &qp->rq;
	int err;

	rq->max_wr = max(cap->max_recv_wr, 1u);
	rq->max_sge = max(cap->max_recv_sge, 1u);
	err = mroce_ring_create(&rq->ring, uc, roundup_pow_of_two(rq->max_wr),
				MROCE_RQE_SIZE + rq->max_sge * sizeof(struct mroce_sge), info);
	if (err)
		return err;
	rq->wqe_stride = ALIGN(sizeof(struct mroce_rwqe) +
			       rq->max_sge * sizeof(struct mroce_place_sge), 8);
	rq->wqe = kvcalloc(rq->ring.entries, rq->wqe_stride, GFP_KERNEL_ACCOUNT);
	return rq->wqe ? 0 : -ENOMEM;
}

static void init_qp(struct mroce_qp *qp, const struct ib_qp_init_attr *init)
{
	mutex_init(&qp->mutex);
	init_completion(&qp->released);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	INIT_LIST_HEAD(&qp->rq.recstate.node);
	qp->state = IB_QPS_RESET;
	qp->sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	mroce_send_init(qp);
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

	/* Numbers come back as late as possible: packets to the old QP may be under way. */
	err = xa_alloc_cyclic(&dev->qps, &qp->qpn, NULL, XA_LIMIT(MROCE_QPN_FIRST, MROCE_QPN_LAST),
			      &dev->next_qpn, GFP_KERNEL);
	if (err < 0)
		return -ENOMEM;
	qp->ibqp.qp_num = qp->qpn;
	return 0;
}

/**
 * mroce_qp_create() - ib_device_ops.create_qp
 * @ibqp: to be set up, zeroed by the core
 * @init: wishes; what was granted when this returns
 * @udata: NULL for a kernel user
 *
 * Return: 0, -EOPNOTSUPP for what there is not (also a driver part of the
 * request that asks for anything), -EINVAL above the advertised maxima,
 * -ENOMEM, -EFAULT.
 */
int mroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct mroce_ucontext *uc =
		rdma_udata_to_drv_context(udata, struct mroce_ucontext, ibuc);
	struct mroce_dev *dev = to_mdev(ibqp->device);
	struct mroce_create_qp_resp resp = {};
	struct mroce_qp *qp = to_mqp(ibqp);
	int err;

	if (!uc || (udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen)))
		return -EOPNOTSUPP;
	err = check_init(init);
	if (err)
		return err;

	init_qp(qp, init);
	err = create_sq(qp, &init->cap, &uc->ibuc, &resp.sq);
	if (!err)
		err = create_rq(qp, &init->cap, &uc->ibuc, &resp.rq);
	if (err)
		goto free;
	reset_rings(qp);

	err = -ENOMEM;
	qp->ref = kzalloc_obj(*qp->ref, GFP_KERNEL_ACCOUNT);
	if (!qp->ref)
		goto free;
	qp->ref->qp = qp;
	refcount_set(&qp->ref->refs, 1);

	err = reserve_qpn(dev, qp);
	if (err)
		goto free;
	err = mroce_udata_respond(udata, &resp, sizeof(resp));
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

static bool attr_in_range(const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_PORT) && attr->port_num != 1)
		return false;
	if ((mask & IB_QP_PKEY_INDEX) && attr->pkey_index)
		return false;
	if ((mask & IB_QP_PATH_MTU) &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096))
		return false;
	if ((mask & IB_QP_DEST_QPN) && attr->dest_qp_num > 0xffffff)
		return false;
	if ((mask & IB_QP_TIMEOUT) && attr->timeout > 31)
		return false;
	if ((mask & IB_QP_RETRY_CNT) && attr->retry_cnt > 7)
		return false;
	if ((mask & IB_QP_RNR_RETRY) && attr->rnr_retry > 7)
		return false;
	if ((mask & IB_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31)
		return false;
	if ((mask & IB_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > MROCE_MAX_RDATOM)
		return false;
	if ((mask & IB_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > MROCE_MAX_RDATOM)
		return false;
	return true;
}

/* The two ends named by an address vector */
static int ends_of_ah(const struct rdma_ah_attr *ah, struct in6_addr *laddr,
		      struct in6_addr *raddr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(ah) & IB_AH_GRH) ||
	    !grh->sgid_attr)
		return -EINVAL;
	if (grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EOPNOTSUPP;
	memcpy(laddr, grh->sgid_attr->gid.raw, sizeof(*laddr));
	memcpy(raddr, grh->dgid.raw, sizeof(*raddr));
	if (ipv6_addr_any(raddr) || ipv6_addr_is_multicast(raddr) ||
	    ipv6_addr_v4mapped(laddr) != ipv6_addr_v4mapped(raddr))
		return -EINVAL;
	/* A device talking to itself: not yet. */
	if (ipv6_addr_equal(laddr, raddr))
		return -EOPNOTSUPP;
	return 0;
}

static int check_modify(const struct ib_qp_attr *attr, int mask, enum ib_qp_state cur,
			enum ib_qp_state next)
{
	if ((mask & ~IB_QP_ATTR_STANDARD_BITS) || (mask & IB_QP_ALT_PATH))
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PATH_MIG_STATE) && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	if (cur == IB_QPS_SQD || next == IB_QPS_SQD)
		return -EOPNOTSUPP;
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, IB_QPT_RC, mask) || !attr_in_range(attr, mask))
		return -EINVAL;
	return 0;
}

/* Everything in @attr is valid. qp->mutex held. */
static void store_attr(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct ib_qp_attr *to = &qp->attr;

	if (mask & IB_QP_PORT)
		to->port_num = attr->port_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		to->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PATH_MTU)
		to->path_mtu = attr->path_mtu;
	if (mask & IB_QP_DEST_QPN)
		to->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		to->rq_psn = attr->rq_psn & 0xffffff;
	if (mask & IB_QP_SQ_PSN)
		to->sq_psn = attr->sq_psn & 0xffffff;
	if (mask & IB_QP_TIMEOUT)
		to->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		to->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		to->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MIN_RNR_TIMER)
		to->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_AV) {
		to->ah_attr = attr->ah_attr;
		/* The core holds the GID entry, we only need what was in it. */
		to->ah_attr.grh.sgid_attr = NULL;
	}
	lock_both(qp);
	qp->access = to->qp_access_flags;
	qp->min_rnr_timer = to->min_rnr_timer;
	unlock_both(qp);
}

/* The netdev a GID belongs to; 0 when it is going. */
static int ifindex_of(const struct ib_gid_attr *sgid_attr)
{
	struct net_device *ndev;
	int ifindex = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid_attr);
	if (!IS_ERR(ndev))
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

static int to_rtr(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);
	struct in6_addr laddr, raddr;
	struct mroce_conn *conn;
	int err;

	err = ends_of_ah(&attr->ah_attr, &laddr, &raddr);
	if (err)
		return err;
	conn = mroce_conn_get(dev, &laddr, &raddr, grh->traffic_class >> 2,
			      ifindex_of(grh->sgid_attr) ?: dev->ifindex);
	if (IS_ERR(conn))
		return PTR_ERR(conn);

	store_attr(qp, attr, mask);
	lock_both(qp);
	qp->conn = conn;
	qp->dest_qpn = attr->dest_qp_num;
	qp->incarnation = atomic_inc_return(&dev->incarnation);
	unlock_both(qp);
	mroce_resp_start(qp);
	/* Only now packets are accepted. Nothing else moves a QP out of INIT. */
	return set_state(qp, IB_QPS_INIT, IB_QPS_RTR) ? 0 : -EINVAL;
}

/*
 * Stop both directions and let go of the connection, which keeps the last record
 * of the stream: the peer may still ask what became of its packets. qp->mutex held.
 */
static void disconnect(struct mroce_qp *qp, enum ib_qp_state cur)
{
	struct mroce_conn *conn = qp->conn;

	while (!set_state(qp, cur, IB_QPS_RESET))
		cur = READ_ONCE(qp->state);
	mroce_send_stop(qp);
	mroce_resp_stop(qp);
	if (!conn)
		return;
	lock_both(qp);
	qp->conn = NULL;
	/* An error of this life that comes late finds another one. */
	qp->incarnation = atomic_inc_return(&to_mdev(qp->ibqp.device)->incarnation);
	unlock_both(qp);
	mroce_conn_leave(conn);
}

static void to_reset(struct mroce_qp *qp, enum ib_qp_state cur)
{
	disconnect(qp, cur);
	memset(&qp->attr, 0, sizeof(qp->attr));
	lock_both(qp);
	reset_rings(qp);
	qp->access = 0;
	qp->min_rnr_timer = 0;
	unlock_both(qp);
}

static int apply(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		 enum ib_qp_state cur, enum ib_qp_state next)
{
	switch (next) {
	case IB_QPS_RESET:
		to_reset(qp, cur);
		return 0;
	case IB_QPS_RTR:
		if (cur == IB_QPS_INIT)
			return to_rtr(qp, attr, mask);
		break;
	case IB_QPS_RTS:
		store_attr(qp, attr, mask);
		if (cur == IB_QPS_RTR)
			mroce_send_start(qp);
		return set_state(qp, cur, next) ? 0 : -EINVAL;
	case IB_QPS_ERR:
		/* Errors that come late leave a QP in RESET alone, the user may not. */
		if (cur == IB_QPS_RESET)
			set_state(qp, cur, IB_QPS_INIT);
		mroce_comp_error(qp, qp->incarnation);
		return 0;
	default:
		break;
	}
	store_attr(qp, attr, mask);
	return set_state(qp, cur, next) ? 0 : -EINVAL;
}

/**
 * mroce_qp_modify() - ib_device_ops.modify_qp
 * @ibqp: queue pair
 * @attr: new attributes; all are checked before any is applied
 * @mask: which
 * @udata: unused
 *
 * Return: 0, -EINVAL, -EOPNOTSUPP (SQD, alternate path, rate limit, loopback),
 * or what mroce_conn_get() says.
 */
int mroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct mroce_qp *qp = to_mqp(ibqp);
	enum ib_qp_state cur, next;
	int err;

	mutex_lock(&qp->mutex);
	cur = READ_ONCE(qp->state);
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	err = check_modify(attr, mask, cur, next);
	if (!err)
		err = apply(qp, attr, mask, cur, next);
	mutex_unlock(&qp->mutex);
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
	disconnect(qp, READ_ONCE(qp->state));
	mutex_unlock(&qp->mutex);

	xa_erase(&to_mdev(ibqp->device)->qps, qp->qpn);
	mroce_qp_put(qp);
	wait_for_completion(&qp->released);
	free_queues(qp);
	return 0;
}

/**
 * mroce_qp_post_send() - ib_device_ops.post_send: the doorbell of the send queue
 * @ibqp: queue pair of a user
 * @wr: must be NULL: the work requests are in the ring
 * @bad_wr: set on error
 *
 * Return: 0, -EOPNOTSUPP for work requests passed by the system call.
 */
int mroce_qp_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad_wr)
{
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
 * @ibqp: queue pair of a user
 * @wr: must be NULL: the work requests are in the ring
 * @bad_wr: set on error
 *
 * Return: 0, -EOPNOTSUPP for work requests passed by the system call.
 */
int mroce_qp_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct mroce_qp *qp = to_mqp(ibqp);

	if (wr) {
		*bad_wr = wr;
		return -EOPNOTSUPP;
	}
	mroce_count(to_mdev(ibqp->device), MROCE_CNT_DOORBELLS);
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		mroce_comp_flush(qp);
	return 0;
}
