// SPDX-License-Identifier: GPL-2.0
/* Counters of a device, as 'rdma statistic' and sysfs show them. */
#include "mroce.h"

#define DROP(reason)	(MROCE_CNT_DROP + MROCE_DROP_ ## reason - 1)
#define RETRANS(cause)	(MROCE_CNT_RETRANS_CAUSE + MROCE_PS_ ## cause)

/* The names are interface: scripts read them. Add at the end of a group only. */
const struct rdma_stat_desc mroce_stat_descs[MROCE_CNT_MAX] = {
	[MROCE_CNT_TX_PKTS].name = "tx_pkts",
	[MROCE_CNT_TX_BYTES].name = "tx_bytes",
	[MROCE_CNT_RX_PKTS].name = "rx_pkts",
	[MROCE_CNT_RX_BYTES].name = "rx_bytes",
	[MROCE_CNT_TX_DATA_PKTS].name = "tx_data_pkts",
	[MROCE_CNT_TX_DATA_BYTES].name = "tx_data_bytes",
	[MROCE_CNT_RX_DATA_PKTS].name = "rx_data_pkts",
	[MROCE_CNT_RX_DATA_BYTES].name = "rx_data_bytes",
	[MROCE_CNT_TX_ACKS].name = "tx_acks",
	[MROCE_CNT_RX_ACKS].name = "rx_acks",
	[MROCE_CNT_TX_PROBES].name = "tx_probes",
	[MROCE_CNT_RX_PROBES].name = "rx_probes",
	[MROCE_CNT_RETRANS].name = "retrans_pkts",
	[RETRANS(GAP)].name = "retrans_gap",
	[RETRANS(TIME)].name = "retrans_time",
	[RETRANS(FLUSHED)].name = "retrans_path",
	[RETRANS(LOCAL)].name = "retrans_local",
	[RETRANS(UNWANTED)].name = "retrans_refused",
	[RETRANS(TIMEOUT)].name = "retrans_timeout",
	[MROCE_CNT_LOST].name = "lost_pkts",
	[MROCE_CNT_SPURIOUS].name = "spurious_pkts",
	[MROCE_CNT_LOCAL_DROP].name = "local_drop_pkts",
	[MROCE_CNT_REFUSED].name = "refused_pkts",
	[MROCE_CNT_MARKED].name = "marked_pkts",
	[MROCE_CNT_RX_DUP].name = "rx_dup_pkts",
	[MROCE_CNT_RX_CE].name = "rx_ce_pkts",
	[MROCE_CNT_RX_REFUSED].name = "rx_refused_pkts",
	[MROCE_CNT_RX_REFUSED_BUSY].name = "rx_refused_busy",
	[MROCE_CNT_RX_REFUSED_STATE].name = "rx_refused_not_ready",
	[MROCE_CNT_RNR_TX].name = "rnr_tx",
	[MROCE_CNT_RNR_RX].name = "rnr_rx",
	[MROCE_CNT_TIMEOUTS].name = "timeouts",
	[MROCE_CNT_PATH_FAIL].name = "path_fail",
	[MROCE_CNT_PATH_REROLL].name = "path_reroll",
	[MROCE_CNT_DOORBELLS].name = "doorbells",
	[MROCE_CNT_CONN_OPEN].name = "conn_open",
	[MROCE_CNT_CONN_RESTART].name = "conn_restart",
	[MROCE_CNT_UNKNOWN_TX].name = "unknown_tx",
	[MROCE_CNT_UNKNOWN_RX].name = "unknown_rx",
	[MROCE_CNT_CQ_OVERFLOW].name = "cq_overflow",
	[MROCE_CNT_READ_REQS].name = "rx_read_reqs",
	[MROCE_CNT_ATOMIC_REQS].name = "rx_atomic_reqs",
	[MROCE_CNT_RX_HELD].name = "rx_held",
	[MROCE_CNT_HOLD_REFUSED].name = "rx_hold_refused",
	[MROCE_CNT_HOLD_PEAK].name = "rx_hold_peak_bytes",
	[MROCE_CNT_HOLD_BYTES].name = "rx_hold_bytes",
	[DROP(SHORT)].name = "drop_short",
	[DROP(VERSION)].name = "drop_version",
	[DROP(TYPE)].name = "drop_type",
	[DROP(OPCODE)].name = "drop_opcode",
	[DROP(LENGTH)].name = "drop_length",
	[DROP(FIELD)].name = "drop_field",
	[DROP(CONN)].name = "drop_conn",
	[DROP(QP)].name = "drop_qp",
	[DROP(WINDOW)].name = "drop_window",
	[DROP(COOKIE)].name = "drop_cookie",
	[DROP(NOMEM)].name = "drop_nomem",
	[DROP(QKEY)].name = "drop_qkey",
	[DROP(RECV)].name = "drop_recv",
};

/* A new counter needs a name above: the core would follow a NULL pointer. */
static_assert(MROCE_CNT_DROP == 46 && MROCE_DROP_REASONS == 14 && MROCE_PS_CAUSES == 6);

/**
 * mroce_stats_alloc() - ib_device_ops.alloc_hw_port_stats
 * @ibdev: device
 * @port: its only port
 *
 * Return: what the core frees with the device, or NULL.
 */
struct rdma_hw_stats *mroce_stats_alloc(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(mroce_stat_descs, ARRAY_SIZE(mroce_stat_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * mroce_stats_get() - ib_device_ops.get_hw_stats
 * @ibdev: device
 * @stats: to fill
 * @port: its only port
 * @index: which one is wanted; all are filled
 *
 * Return: number of counters filled.
 */
int mroce_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct mroce_dev *dev = to_mdev(ibdev);
	unsigned int i;

	for (i = 0; i < MROCE_CNT_MAX; i++)
		stats->value[i] = atomic64_read(&dev->count[i]);
	/* Data packets are counted once, as such. */
	for (i = MROCE_CNT_TX_PKTS; i <= MROCE_CNT_RX_BYTES; i++)
		stats->value[i] += stats->value[i + MROCE_CNT_TX_DATA_PKTS - MROCE_CNT_TX_PKTS];
	stats->value[MROCE_CNT_HOLD_BYTES] = atomic64_read(&dev->hold_bytes);
	return MROCE_CNT_MAX;
}

/**
 * mroce_stats_cause() - a packet has to go again: remember why until it does
 * @q: its queue
 * @psn: which; nothing happens when it is not in flight
 * @cause: why
 *
 * Context: q->lock held.
 */
void mroce_stats_cause(struct mroce_txq *q, u32 psn, enum mroce_ps_cause cause)
{
	int shift = psn % 2 * 4;
	u8 *at;

	lockdep_assert_held(&q->lock);
	if (!mroce_seq_in(psn, q->txs.una, q->txs.nxt))
		return;
	/* Most queues never need it; without memory all are counted as the first cause. */
	if (!q->cause)
		q->cause = kzalloc(MROCE_STREAM_WINDOW / 2, GFP_ATOMIC | __GFP_NOWARN);
	if (!q->cause)
		return;
	at = &q->cause[psn % MROCE_STREAM_WINDOW / 2];
	*at = (*at & ~(15 << shift)) | cause << shift;
}

/**
 * mroce_stats_settled() - nothing has to go again: an idle queue keeps no causes
 * @q: the queue
 *
 * Context: q->lock held.
 */
void mroce_stats_settled(struct mroce_txq *q)
{
	if (!q->cause || q->txs.una != q->txs.nxt)
		return;
	kfree(q->cause);
	WRITE_ONCE(q->cause, NULL);
}

/**
 * mroce_stats_why() - why a packet goes again
 * @q: its queue
 * @psn: which
 *
 * Context: q->lock held.
 */
enum mroce_ps_cause mroce_stats_why(const struct mroce_txq *q, u32 psn)
{
	if (!q->cause)
		return 0;
	return q->cause[psn % MROCE_STREAM_WINDOW / 2] >> psn % 2 * 4 & 15;
}

/**
 * mroce_stats_retrans() - a packet went again: count it, by its cause too
 * @q: its queue
 * @psn: which
 *
 * Context: q->lock held.
 */
void mroce_stats_retrans(const struct mroce_txq *q, u32 psn)
{
	struct mroce_dev *dev = to_mdev(q->qp->ibqp.device);

	mroce_count(dev, MROCE_CNT_RETRANS);
	mroce_count(dev, MROCE_CNT_RETRANS_CAUSE + mroce_stats_why(q, psn));
}
