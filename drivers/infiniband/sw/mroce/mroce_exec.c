// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of READs and atomics: executes them in order, when everything before
 * them is complete, and puts the responses on their stream.
 *
 * A READ's response is read from memory whenever one of its packets is sent; an
 * atomic's is a value, kept until the requester has it. So an atomic is executed
 * once, however often its request or response is repeated.
 */
#include <linux/highmem.h>
#include <linux/log2.h>

#include "mroce.h"

/* Memory for @n fetches, a power of two. Both or none. */
static int alloc_slots(const struct mroce_txq *q, u32 n, struct mroce_rdslot **slot, void **wqe)
{
	*slot = kvcalloc(n, sizeof(**slot), GFP_KERNEL_ACCOUNT);
	*wqe = kvcalloc(n, q->wqe_stride, GFP_KERNEL_ACCOUNT);
	if (*slot && *wqe)
		return 0;
	kvfree(*slot);
	kvfree(*wqe);
	return -ENOMEM;
}

/**
 * mroce_exec_start() - the QP goes to RTR: room for the fetches the peer may have out
 * @qp: the queue pair
 * @depth: so many
 * @psn: first one of its requests
 *
 * Context: task, qp->mutex held, the state not yet changed.
 * Return: 0, -ENOMEM.
 */
int mroce_exec_start(struct mroce_qp *qp, u8 depth, u32 psn)
{
	u32 n = depth ? roundup_pow_of_two(depth) : 0;
	struct mroce_txq *q = &qp->rdq.q;
	struct mroce_rdslot *slot = NULL;
	void *wqe = NULL;

	q->wqe_stride = ALIGN(sizeof(struct mroce_swqe) + sizeof(struct mroce_place_sge), 8);
	if (n && alloc_slots(q, n, &slot, &wqe))
		return -ENOMEM;
	spin_lock_bh(&q->lock);
	mroce_rdslots_init(&qp->rdq.slots, slot, n - 1, depth, psn);
	q->wqe = wqe;
	q->entries = n;
	q->head = 0;
	q->send = 0;
	q->una = 0;
	qp->rdq.broken = false;
	spin_unlock_bh(&q->lock);
	return 0;
}

/**
 * mroce_exec_resize() - the peer may have another number of fetches out
 * @qp: the queue pair, in SQD or on its way there
 * @depth: how many
 *
 * Context: task, qp->mutex held.
 * Return: 0, -ENOMEM.
 */
int mroce_exec_resize(struct mroce_qp *qp, u8 depth)
{
	struct mroce_rdslots *s = &qp->rdq.slots;
	struct mroce_txq *q = &qp->rdq.q;
	struct mroce_rdslot *slot;
	u32 i, n = depth ? roundup_pow_of_two(depth) : 0;
	void *wqe;

	/* Only the mutex's holder changes the memory. */
	if (n <= q->entries) {
		spin_lock_bh(&q->lock);
		s->depth = depth;
		spin_unlock_bh(&q->lock);
		return 0;
	}
	if (alloc_slots(q, n, &slot, &wqe))
		return -ENOMEM;
	spin_lock_bh(&q->lock);
	for (i = s->una_sn; i != s->una_sn + q->entries; i++) {
		slot[i & (n - 1)] = s->slot[i & s->mask];
		memcpy(wqe + (size_t)(i & (n - 1)) * q->wqe_stride, mroce_txq_wqe(q, i),
		       q->wqe_stride);
	}
	swap(s->slot, slot);
	swap(q->wqe, wqe);
	s->mask = n - 1;
	s->depth = depth;
	q->entries = n;
	spin_unlock_bh(&q->lock);
	kvfree(slot);
	kvfree(wqe);
	return 0;
}

/**
 * mroce_exec_stop() - the QP goes, or to RESET: no response will be sent any more
 * @qp: the queue pair
 *
 * Context: task, qp->mutex held, mroce_send_stop() has been called.
 */
void mroce_exec_stop(struct mroce_qp *qp)
{
	struct mroce_txq *q = &qp->rdq.q;
	struct mroce_rdslot *slot = qp->rdq.slots.slot;
	void *wqe = q->wqe;

	spin_lock_bh(&q->lock);
	mroce_rdslots_init(&qp->rdq.slots, NULL, 0, 0, 0);
	q->wqe = NULL;
	q->entries = 0;
	q->head = 0;
	q->send = 0;
	q->una = 0;
	spin_unlock_bh(&q->lock);
	kvfree(slot);
	kvfree(wqe);
}

/**
 * mroce_exec_check() - may the peer fetch what it asks for?
 * @qp: the queue pair
 * @p: READ or atomic request
 *
 * Context: softirq, no lock held.
 * Return: enum mroce_syndrome.
 */
u8 mroce_exec_check(struct mroce_qp *qp, const struct mroce_pkt_data *p)
{
	bool read = p->opcode == MROCE_OP_READ_REQ;
	int access = read ? IB_ACCESS_REMOTE_READ : IB_ACCESS_REMOTE_ATOMIC;
	struct mroce_mr *mr;

	if (!read && p->addr % MROCE_RESULT_LEN)
		return MROCE_SYN_INV_REQ;
	if (!p->msg_len)
		return MROCE_SYN_OK;
	/* The QP does not serve such requests at all. */
	if (!(qp->access & access))
		return MROCE_SYN_INV_REQ;
	mr = mroce_mr_get(to_mdev(qp->ibqp.device), qp->ibqp.pd, p->rkey, p->addr, p->msg_len,
			  access);
	if (!mr)
		return MROCE_SYN_ACCESS;
	mroce_mr_put(mr);
	return MROCE_SYN_OK;
}

/**
 * mroce_exec_oldest() - a request says which fetches its sender has complete
 * @qp: the queue pair
 * @oldest: number of the oldest that is not
 *
 * A record may be lost; and a program that tells its peer "I have read it" does so in
 * a request, after which the region may be gone.
 *
 * Context: softirq, qp->rq.lock held.
 * Return: as mroce_exec_settle().
 */
unsigned int mroce_exec_oldest(struct mroce_qp *qp, u32 oldest)
{
	struct mroce_rdq *rdq = &qp->rdq;
	struct mroce_txs *txs = &rdq->q.txs;
	unsigned int notify = 0;
	u32 psn;

	/* Most requests find nothing under way. */
	if (READ_ONCE(rdq->q.una) == READ_ONCE(rdq->q.head))
		return 0;
	spin_lock(&rdq->q.lock);
	psn = mroce_rdslots_oldest(&rdq->slots, oldest, txs->una, txs->nxt);
	if (mroce_txs_accept(txs, psn, ktime_get_ns()))
		notify = mroce_exec_settle(qp);
	spin_unlock(&rdq->q.lock);
	return notify;
}

/**
 * mroce_exec_put() - a READ or atomic request has arrived and may be executed in its turn
 * @qp: the queue pair
 * @p: the request
 * @op: its operands
 *
 * Context: softirq, qp->rq.lock held.
 * Return: false when the peer has more out than it may.
 */
bool mroce_exec_put(struct mroce_qp *qp, const struct mroce_pkt_data *p,
		    const struct mroce_atomic_op *op)
{
	struct mroce_rdq *rdq = &qp->rdq;
	bool ok;

	spin_lock(&rdq->q.lock);
	ok = mroce_rdslots_put(&rdq->slots, p, op);
	spin_unlock(&rdq->q.lock);
	return ok;
}

/* The word is in the user's memory: his own atomics see ours, and the other way round. */
static u64 run_atomic(u64 *word, const struct mroce_rdslot *slot)
{
	if (slot->opcode == MROCE_OP_ATOMIC_CS)
		return cmpxchg64(word, slot->compare_add, slot->swap);
	return atomic64_fetch_add(slot->compare_add, (atomic64_t *)word);
}

static bool execute_atomic(struct mroce_qp *qp, const struct mroce_rdslot *slot,
			   struct mroce_swqe *wqe)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);
	struct mroce_mr *mr = mroce_mr_get(dev, qp->ibqp.pd, slot->rkey, slot->addr,
					   MROCE_RESULT_LEN, IB_ACCESS_REMOTE_ATOMIC);
	u64 at, old;
	void *page;

	if (!mr)
		return false;
	at = slot->addr - mr->iova + mr->page_offset;
	/* Keys may address a region at another alignment than its memory has. */
	if (at % MROCE_RESULT_LEN) {
		mroce_mr_put(mr);
		return false;
	}
	page = kmap_local_page(mroce_mr_page(mr, at));
	old = run_atomic(page + offset_in_page(at), slot);
	kunmap_local(page);
	mroce_mr_put(mr);
	wqe->wire_op = MROCE_OP_ATOMIC_RESP;
	wqe->inl = true;
	mroce_wire_put_result((u8 *)wqe->sge, old);
	mroce_count(dev, MROCE_CNT_ATOMIC_REQS);
	return true;
}

static bool execute(struct mroce_qp *qp, const struct mroce_rdslot *slot)
{
	struct mroce_txq *q = &qp->rdq.q;
	struct mroce_swqe *wqe = mroce_txq_wqe(q, q->head);

	memset(wqe, 0, sizeof(*wqe));
	wqe->first_psn = slot->resp_psn;
	wqe->len = slot->len;
	wqe->unit_bytes = slot->unit_bytes;
	wqe->n_pkts = mroce_seg_count(slot->len, slot->unit_bytes);
	wqe->rsn = q->head;
	if (slot->opcode != MROCE_OP_READ_REQ)
		return execute_atomic(qp, slot, wqe);
	wqe->wire_op = MROCE_OP_READ_RESP;
	wqe->access = IB_ACCESS_REMOTE_READ;
	wqe->num_sge = 1;
	wqe->sge[0].addr = slot->addr;
	wqe->sge[0].length = slot->len;
	wqe->sge[0].lkey = slot->rkey;
	mroce_count(to_mdev(qp->ibqp.device), MROCE_CNT_READ_REQS);
	return true;
}

/**
 * mroce_exec_due() - execute the fetches whose turn it is
 * @qp: the queue pair
 *
 * Context: softirq, qp->rq.lock held.
 * Return: true when there are responses to send: mroce_send_run() after unlocking.
 */
bool mroce_exec_due(struct mroce_qp *qp)
{
	struct mroce_rdq *rdq = &qp->rdq;
	enum mroce_rdq_due due = MROCE_RDQ_WAIT;
	struct mroce_rdslot *slot;
	bool some = false;
	u8 syndrome = MROCE_SYN_OK;

	spin_lock(&rdq->q.lock);
	while (!rdq->broken && !syndrome) {
		due = mroce_rdslots_due(&rdq->slots, qp->rq.rx.rxs.cum, &slot);
		if (due == MROCE_RDQ_WAIT)
			break;
		if (due == MROCE_RDQ_BAD) {
			syndrome = MROCE_SYN_INV_REQ;
		} else if (!execute(qp, slot)) {
			/* The region has gone since the request was checked. */
			syndrome = MROCE_SYN_ACCESS;
		} else {
			mroce_rdslots_done(&rdq->slots);
			rdq->q.next_psn = rdq->slots.next_psn;
			rdq->q.head++;
			some = true;
		}
	}
	rdq->broken |= syndrome != MROCE_SYN_OK;
	spin_unlock(&rdq->q.lock);
	if (syndrome)
		mroce_rxs_fail(&qp->rq.rx.rxs, qp->rq.rx.rxs.cum, syndrome);
	return some;
}

/* A response cannot be sent any more: it, and what is behind it, never will be. */
static void give_up(struct mroce_rdq *rdq)
{
	struct mroce_txq *q = &rdq->q;
	u32 idx = q->una;

	while (idx != q->head && !mroce_txq_wqe(q, idx)->status)
		idx++;
	q->head = idx;
	if ((s32)(q->send - idx) > 0)
		q->send = idx;
	rdq->slots.exec_sn = idx;
	rdq->broken = true;
	q->stalled = false;
}

/**
 * mroce_exec_settle() - free what the peer has accepted, give up what cannot be sent
 * @qp: the queue pair
 *
 * Context: qp->rdq.q.lock held.
 * Return: MROCE_NOTIFY_SETTLED when an error of the request stream may have its turn now.
 */
unsigned int mroce_exec_settle(struct mroce_qp *qp)
{
	struct mroce_rdq *rdq = &qp->rdq;

	if (rdq->q.stalled)
		give_up(rdq);
	mroce_rdslots_accepted(&rdq->slots, rdq->q.txs.una);
	rdq->q.una = rdq->slots.una_sn;
	if (!mroce_rdslots_idle(&rdq->slots))
		return 0;
	return rdq->broken || READ_ONCE(qp->rq.rx.rxs.err) ? MROCE_NOTIFY_SETTLED : 0;
}

/**
 * mroce_exec_drop() - the peer does not want responses any more
 * @qp: the queue pair
 *
 * Context: qp->rdq.q.lock held.
 */
void mroce_exec_drop(struct mroce_qp *qp)
{
	struct mroce_txq *q = &qp->rdq.q;

	mroce_txs_drop(&q->txs, q->next_psn);
	q->send = q->head;
}

/**
 * mroce_exec_idle() - are all fetches executed so far answered, and the answers accepted?
 * @qp: the queue pair
 *
 * Context: qp->rq.lock held.
 */
bool mroce_exec_idle(struct mroce_qp *qp)
{
	bool idle;

	spin_lock(&qp->rdq.q.lock);
	idle = mroce_rdslots_idle(&qp->rdq.slots);
	spin_unlock(&qp->rdq.q.lock);
	return idle;
}
