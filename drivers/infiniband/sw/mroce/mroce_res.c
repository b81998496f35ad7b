// SPDX-License-Identifier: GPL-2.0
/*
 * Details of queue pairs, their queues and regions for 'rdma -d resource show'.
 *
 * The core holds the object while it asks, but older kernels may ask while, and
 * after, destroy runs: a ring that is gone has no header. The names are interface:
 * Documentation/observability.rst.
 */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include <net/netlink.h>

#include "mroce.h"

/** struct detail - one number; @hex: how it is shown */
struct detail {
	const char *name;
	u32 value;
	bool hex;
};

/* @ordering, if there is one, then @n numbers. Return: 0 or -EMSGSIZE, as the core wants it. */
static int put(struct sk_buff *msg, const char *ordering, const struct detail *d, unsigned int n)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	unsigned int i;

	if (!table)
		return -EMSGSIZE;
	if (ordering && rdma_nl_put_driver_string(msg, "ordering", ordering))
		goto cancel;
	for (i = 0; i < n; i++) {
		if (d[i].hex ? rdma_nl_put_driver_u32_hex(msg, d[i].name, d[i].value) :
			       rdma_nl_put_driver_u32(msg, d[i].name, d[i].value))
			goto cancel;
	}
	nla_nest_end(msg, table);
	return 0;
cancel:
	nla_nest_cancel(msg, table);
	return -EMSGSIZE;
}

enum qp_detail {
	QP_CONN, QP_PATHS, QP_PATHS_ACTIVE, QP_CWND, QP_INFLIGHT, QP_INCARNATION,
	QP_SQ_PROD, QP_SQ_TAKEN, QP_SQ_CONS, QP_UNA_PSN, QP_NXT_PSN, QP_RETRANS, QP_DEFERRED,
	QP_RNR_WAIT, QP_RETRIES_LEFT, QP_RNR_RETRIES_LEFT, QP_FETCHES_OUT,
	QP_RQ_PROD, QP_RQ_BOUND, QP_RQ_CONS, QP_RX_PSN, QP_HELD_PKTS, QP_HELD_BYTES,
	QP_RESP_UNA_PSN, QP_RESP_NXT_PSN,
	QP_DETAILS
};

static const char *const qp_detail_name[QP_DETAILS] = {
	[QP_CONN]		= "conn",
	[QP_PATHS]		= "paths",
	[QP_PATHS_ACTIVE]	= "paths_active",
	[QP_CWND]		= "cwnd_bytes",
	[QP_INFLIGHT]		= "inflight_bytes",
	[QP_INCARNATION]	= "incarnation",
	[QP_SQ_PROD]		= "sq_prod",
	[QP_SQ_TAKEN]		= "sq_taken",
	[QP_SQ_CONS]		= "sq_cons",
	[QP_UNA_PSN]		= "una_psn",
	[QP_NXT_PSN]		= "nxt_psn",
	[QP_RETRANS]		= "retrans_pkts",
	[QP_DEFERRED]		= "refused_pkts",
	[QP_RNR_WAIT]		= "rnr_wait",
	[QP_RETRIES_LEFT]	= "retries_left",
	[QP_RNR_RETRIES_LEFT]	= "rnr_retries_left",
	[QP_FETCHES_OUT]	= "fetches_out",
	[QP_RQ_PROD]		= "rq_prod",
	[QP_RQ_BOUND]		= "rq_bound",
	[QP_RQ_CONS]		= "rq_cons",
	[QP_RX_PSN]		= "rx_psn",
	[QP_HELD_PKTS]		= "held_pkts",
	[QP_HELD_BYTES]		= "held_bytes",
	[QP_RESP_UNA_PSN]	= "resp_una_psn",
	[QP_RESP_NXT_PSN]	= "resp_nxt_psn",
};

static void get_conn(struct mroce_conn *conn, struct detail *d)
{
	int i;

	spin_lock_bh(&conn->tx_lock);
	d[QP_CONN].value = conn->no;
	if (conn->ready) {
		d[QP_PATHS].value = conn->ps.cfg.n_paths;
		for (i = 0; i < conn->ps.cfg.n_paths; i++)
			d[QP_PATHS_ACTIVE].value += conn->path[i].state == MROCE_PATH_ACTIVE;
		d[QP_CWND].value = conn->ps.cc.cwnd_bytes;
		d[QP_INFLIGHT].value = conn->ps.inflight_bytes;
	}
	spin_unlock_bh(&conn->tx_lock);
}

/* Under sq.q.lock */
static void get_sq(const struct mroce_sq *sq, struct detail *d)
{
	const struct mroce_txs *txs = &sq->q.txs;

	d[QP_SQ_PROD].value = READ_ONCE(sq->ring.hdr->prod);
	d[QP_SQ_TAKEN].value = sq->q.head;
	d[QP_SQ_CONS].value = sq->q.una;
	d[QP_UNA_PSN].value = txs->una;
	d[QP_NXT_PSN].value = txs->nxt;
	d[QP_RETRANS].value = txs->n_rtx;
	d[QP_DEFERRED].value = txs->n_deferred;
	d[QP_RNR_WAIT].value = txs->rnr_wait;
	d[QP_RETRIES_LEFT].value = txs->retry_left;
	d[QP_RNR_RETRIES_LEFT].value = txs->rnr_left;
	d[QP_FETCHES_OUT].value = mroce_rdreq_out(&sq->rd);
}

/* Under rq.lock */
static void get_rq(const struct mroce_rq *rq, struct detail *d)
{
	if (!rq->srq)
		d[QP_RQ_PROD].value = READ_ONCE(rq->ring.hdr->prod);
	d[QP_RQ_BOUND].value = rq->bound;
	d[QP_RQ_CONS].value = rq->cons;
	d[QP_RX_PSN].value = rq->rx.rxs.cum;
	d[QP_HELD_PKTS].value = rq->hold.pkts;
	d[QP_HELD_BYTES].value = rq->hold.bytes;
}

/**
 * mroce_res_fill_qp() - ib_device_ops.fill_res_qp_entry
 * @msg: to append to
 * @ibqp: queue pair
 *
 * Context: task.
 * Return: 0, -EMSGSIZE.
 */
int mroce_res_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct mroce_qp *qp = to_mqp(ibqp);
	struct detail d[QP_DETAILS];
	int i;

	for (i = 0; i < QP_DETAILS; i++)
		d[i] = (struct detail){ .name = qp_detail_name[i] };
	mutex_lock(&qp->mutex);
	if (!qp->sq.ring.hdr) {
		mutex_unlock(&qp->mutex);
		return 0;
	}
	if (qp->conn)
		get_conn(qp->conn, d);
	mroce_qp_lock(qp);
	get_sq(&qp->sq, d);
	get_rq(&qp->rq, d);
	d[QP_INCARNATION].value = qp->incarnation;
	d[QP_RESP_UNA_PSN].value = qp->rdq.q.txs.una;
	d[QP_RESP_NXT_PSN].value = qp->rdq.q.txs.nxt;
	mroce_qp_unlock(qp);
	mutex_unlock(&qp->mutex);
	return put(msg, mroce_hold_mode_name[qp->ordering], d, QP_DETAILS);
}

/**
 * mroce_res_fill_cq() - ib_device_ops.fill_res_cq_entry
 * @msg: to append to
 * @ibcq: completion queue
 *
 * Return: 0, -EMSGSIZE.
 */
int mroce_res_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct mroce_cq *cq = to_mcq(ibcq);
	struct detail d[] = {
		{ .name = "used" }, { .name = "prod" }, { .name = "armed" }, { .name = "overflow" },
	};
	struct mroce_ring_hdr *hdr;

	spin_lock_irq(&cq->lock);
	hdr = cq->ring.hdr;
	if (hdr) {
		/* The user's index may be anything. */
		d[0].value = min(cq->prod - READ_ONCE(hdr->cons), cq->ring.entries);
		d[1].value = cq->prod;
		d[2].value = READ_ONCE(hdr->state) & MROCE_RING_ARM_NEXT ? 1 : 0;
		d[3].value = cq->overflow;
	}
	spin_unlock_irq(&cq->lock);
	return hdr ? put(msg, NULL, d, ARRAY_SIZE(d)) : 0;
}

/**
 * mroce_res_fill_mr() - ib_device_ops.fill_res_mr_entry
 * @msg: to append to
 * @ibmr: region
 *
 * Return: 0, -EMSGSIZE.
 */
int mroce_res_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct mroce_mr *mr = to_mmr(ibmr);
	struct detail d[] = {
		/* All memory has no number of them. */
		{ "pages", mr->pages ?
		  DIV_ROUND_UP_ULL(mr->page_offset + mr->length, PAGE_SIZE) : 0 },
		{ "access", READ_ONCE(mr->access), true },
	};

	return put(msg, NULL, d, ARRAY_SIZE(d));
}

/**
 * mroce_res_fill_srq() - ib_device_ops.fill_res_srq_entry, where the kernel has it
 * @msg: to append to
 * @ibsrq: shared receive queue
 *
 * Return: 0, -EMSGSIZE.
 */
int mroce_res_fill_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct mroce_srq *srq = to_msrq(ibsrq);
	struct detail d[] = {
		{ .name = "prod" }, { .name = "bound" }, { .name = "cons" }, { .name = "limit" },
	};
	struct mroce_ring_hdr *hdr;

	spin_lock_bh(&srq->lock);
	hdr = srq->ring.hdr;
	if (hdr) {
		d[0].value = READ_ONCE(hdr->prod);
		d[1].value = srq->share.bound;
		d[2].value = srq->share.done;
		d[3].value = srq->share.limit;
	}
	spin_unlock_bh(&srq->lock);
	return hdr ? put(msg, NULL, d, ARRAY_SIZE(d)) : 0;
}
