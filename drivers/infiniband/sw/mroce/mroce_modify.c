// SPDX-License-Identifier: GPL-2.0
/*
 * States of queue pairs: attributes, transitions, connecting and disconnecting.
 *
 * qp->mutex serialises the calls of the user. The state may go to ERR behind
 * its back (mroce_comp_error()), which is why every change says what it started
 * from.
 */
#include "mroce_dgram.h"
#include "mroce_kverbs.h"

/* Returns false when the state is not @from any more. */
static bool set_state(struct mroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to)
{
	bool ok;

	mroce_qp_lock(qp);
	ok = qp->state == from;
	if (ok)
		WRITE_ONCE(qp->state, to);
	mroce_qp_unlock(qp);
	return ok;
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

static int check_modify(const struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask,
			enum ib_qp_state cur, enum ib_qp_state next)
{
	if ((mask & ~IB_QP_ATTR_STANDARD_BITS) || (mask & IB_QP_ALT_PATH))
		return -EOPNOTSUPP;
	if ((mask & IB_QP_PATH_MIG_STATE) && attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	/* Where nobody answers, ib_mad takes the queue to have stopped, and starts it again. */
	if (qp->gsi && cur == IB_QPS_RTS && next == IB_QPS_RTS &&
	    (mask & IB_QP_CUR_STATE) && attr->cur_qp_state == IB_QPS_SQE)
		cur = IB_QPS_SQE;
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != cur)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(cur, next, qp->ibqp.qp_type, mask) || !attr_in_range(attr, mask))
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
	if (mask & IB_QP_QKEY)
		to->qkey = attr->qkey;
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
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		to->en_sqd_async_notify = attr->en_sqd_async_notify;
	mroce_qp_lock(qp);
	qp->access = to->qp_access_flags;
	qp->qkey = to->qkey;
	qp->min_rnr_timer = to->min_rnr_timer;
	qp->sq.q.txs.cfg.timeout = to->timeout;
	qp->sq.q.txs.cfg.retry_cnt = to->retry_cnt;
	qp->sq.q.txs.cfg.rnr_retry = to->rnr_retry;
	qp->sq.rd.max = to->max_rd_atomic;
	mroce_qp_unlock(qp);
}

static int to_rtr(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);
	struct in6_addr laddr, raddr;
	struct mroce_conn *conn;
	int err, ifindex;

	err = mroce_ah_ends(&attr->ah_attr, &laddr, &raddr, &ifindex) ?:
	      mroce_net_can_reach(dev, &raddr);
	if (err)
		return err;
	conn = mroce_conn_get(dev, &laddr, &raddr, grh->traffic_class >> 2,
			      ifindex ?: dev->ifindex);
	if (IS_ERR(conn))
		return PTR_ERR(conn);

	err = mroce_exec_start(qp, attr->max_dest_rd_atomic, attr->rq_psn & 0xffffff);
	if (err) {
		mroce_conn_leave(conn);
		return err;
	}
	store_attr(qp, attr, mask);
	mroce_qp_lock(qp);
	qp->conn = conn;
	qp->dest_qpn = attr->dest_qp_num;
	qp->incarnation++;
	mroce_qp_unlock(qp);
	mroce_resp_start(qp);
	mroce_send_start_responses(qp);
	/* Only now packets are accepted. Nothing else moves a QP out of INIT. */
	return set_state(qp, IB_QPS_INIT, IB_QPS_RTR) ? 0 : -EINVAL;
}

/**
 * mroce_qp_disconnect() - stop both directions and let go of the connection
 * @qp: queue pair
 * @cur: its state
 *
 * The connection keeps the last records of the streams: the peer may still ask what
 * became of its packets.
 *
 * Context: task, qp->mutex held.
 */
void mroce_qp_disconnect(struct mroce_qp *qp, enum ib_qp_state cur)
{
	struct mroce_conn *conn = qp->conn;

	while (!set_state(qp, cur, IB_QPS_RESET))
		cur = READ_ONCE(qp->state);
	mroce_send_stop(qp);
	if (qp->gsi)
		mroce_gsi_stop(qp);
	mroce_resp_stop(qp);
	mroce_sink_stop(qp);
	mroce_exec_stop(qp);
	mroce_qp_lock(qp);
	qp->conn = NULL;
	/* An error of this life that comes late finds another one. */
	qp->incarnation++;
	mroce_qp_unlock(qp);
	if (conn)
		mroce_conn_leave(conn);
}

static void to_reset(struct mroce_qp *qp, enum ib_qp_state cur)
{
	mroce_qp_disconnect(qp, cur);
	memset(&qp->attr, 0, sizeof(qp->attr));
	mroce_kverbs_settle(qp);
	mroce_qp_lock(qp);
	mroce_qp_reset_rings(qp);
	qp->access = 0;
	qp->min_rnr_timer = 0;
	qp->qkey = 0;
	mroce_qp_unlock(qp);
}

/* In SQD a QP may change more than elsewhere; what would need another connection is not done. */
static int check_sqd(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(&attr->ah_attr);
	struct in6_addr laddr, raddr;
	int err, ifindex;

	if (!(mask & IB_QP_AV))
		return 0;
	err = mroce_ah_ends(&attr->ah_attr, &laddr, &raddr, &ifindex);
	if (err)
		return err;
	if (!ipv6_addr_equal(&laddr, &qp->conn->laddr) ||
	    !ipv6_addr_equal(&raddr, &qp->conn->raddr) || grh->traffic_class >> 2 != qp->conn->dscp)
		return -EOPNOTSUPP;
	return 0;
}

static int to_sqd(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		  enum ib_qp_state cur)
{
	unsigned int notify;
	int err = check_sqd(qp, attr, mask);

	if (!err && (mask & IB_QP_MAX_DEST_RD_ATOMIC))
		err = mroce_exec_resize(qp, attr->max_dest_rd_atomic);
	if (err)
		return err;
	store_attr(qp, attr, mask);
	if (cur == IB_QPS_SQD)
		return 0;
	spin_lock_bh(&qp->sq.q.lock);
	qp->sq.drain_told = !(mask & IB_QP_EN_SQD_ASYNC_NOTIFY) || !attr->en_sqd_async_notify;
	spin_unlock_bh(&qp->sq.q.lock);
	if (!set_state(qp, cur, IB_QPS_SQD))
		return -EINVAL;
	/* It may be drained already. */
	spin_lock_bh(&qp->sq.q.lock);
	notify = mroce_comp_send(qp);
	spin_unlock_bh(&qp->sq.q.lock);
	local_bh_disable();
	mroce_comp_notify(qp, notify);
	local_bh_enable();
	return 0;
}

static int to_rts(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		  enum ib_qp_state cur)
{
	store_attr(qp, attr, mask);
	if (cur == IB_QPS_RTR) {
		mroce_send_start(qp);
		if (qp->gsi)
			mroce_gsi_start(qp);
		if (qp->conn)
			mroce_sink_start(qp);
	}
	if (!set_state(qp, cur, IB_QPS_RTS))
		return -EINVAL;
	/* What was posted while it was drained. */
	if (cur == IB_QPS_SQD)
		mroce_send_kick(qp);
	return 0;
}

static int apply(struct mroce_qp *qp, const struct ib_qp_attr *attr, int mask,
		 enum ib_qp_state cur, enum ib_qp_state next)
{
	switch (next) {
	case IB_QPS_RESET:
		to_reset(qp, cur);
		return 0;
	case IB_QPS_RTR:
		if (cur == IB_QPS_INIT && qp->ibqp.qp_type == IB_QPT_RC)
			return to_rtr(qp, attr, mask);
		break;
	case IB_QPS_RTS:
		return to_rts(qp, attr, mask, cur);
	case IB_QPS_SQD:
		return to_sqd(qp, attr, mask, cur);
	case IB_QPS_ERR:
		/* Errors that come late leave a QP in RESET alone, the user may not. */
		if (cur == IB_QPS_RESET)
			set_state(qp, cur, IB_QPS_INIT);
		mroce_comp_error(qp, qp->incarnation, MROCE_NO_EVENT);
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
 * Return: 0, -EINVAL, -EOPNOTSUPP (alternate path, rate limit, another peer in
 * SQD), -ENETDOWN, -ENOMEM, or what mroce_conn_get() says.
 */
int mroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct mroce_qp *qp = to_mqp(ibqp);
	enum ib_qp_state cur, next;
	int err;

	mutex_lock(&qp->mutex);
	cur = READ_ONCE(qp->state);
	next = mask & IB_QP_STATE ? attr->qp_state : cur;
	err = check_modify(qp, attr, mask, cur, next);
	if (!err)
		err = apply(qp, attr, mask, cur, next);
	mutex_unlock(&qp->mutex);
	return err;
}

