// SPDX-License-Identifier: GPL-2.0
/*
 * From the send ring to packets: take a work request in (copied once, then
 * validated), and make the packet of any psn of it, first time or again.
 */
#include <linux/highmem.h>
#include <rdma/ib_user_verbs.h>

#include "mroce.h"
#include "mroce_trace.h"

/* Up to here copying into the packet beats handing over pages. */
#define BUILD_COPY_BYTES	256

/**
 * struct wr_op - how a posted opcode goes out
 * @wire: opcode on the wire, 0 = not supported
 * @wc: enum ib_wc_opcode of its completion
 * @access: right its local regions must give
 */
struct wr_op {
	u8 wire;
	u8 wc;
	int access;
};

static const struct wr_op wr_ops[] = {
	[IB_UVERBS_WR_RDMA_WRITE]		= { MROCE_OP_WRITE, IB_WC_RDMA_WRITE },
	[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM]	= { MROCE_OP_WRITE_IMM, IB_WC_RDMA_WRITE },
	[IB_UVERBS_WR_SEND]			= { MROCE_OP_SEND, IB_WC_SEND },
	[IB_UVERBS_WR_SEND_WITH_IMM]		= { MROCE_OP_SEND_IMM, IB_WC_SEND },
	[IB_UVERBS_WR_RDMA_READ]		= { MROCE_OP_READ_REQ, IB_WC_RDMA_READ,
						    IB_ACCESS_LOCAL_WRITE },
	[IB_UVERBS_WR_ATOMIC_CMP_AND_SWP]	= { MROCE_OP_ATOMIC_CS, IB_WC_COMP_SWAP,
						    IB_ACCESS_LOCAL_WRITE },
	[IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD]	= { MROCE_OP_ATOMIC_FA, IB_WC_FETCH_ADD,
						    IB_ACCESS_LOCAL_WRITE },
};

/* The work request is bad: it completes with @status when its turn comes. */
static void refuse(struct mroce_sq *sq, struct mroce_swqe *wqe, u8 status)
{
	wqe->status = status;
	wqe->n_pkts = 0;
	sq->q.stalled = true;
}

static u8 check_sges(struct mroce_qp *qp, const struct mroce_swqe *wqe)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);
	struct mroce_mr *mr;
	int i;

	for (i = 0; i < wqe->num_sge; i++) {
		if (!wqe->sge[i].length)
			continue;
		mr = mroce_mr_get(dev, qp->ibqp.pd, wqe->sge[i].lkey, wqe->sge[i].addr,
				  wqe->sge[i].length, wqe->access);
		if (!mr)
			return IB_WC_LOC_PROT_ERR;
		mroce_mr_put(mr);
	}
	return IB_WC_SUCCESS;
}

/**
 * mroce_build_payload() - copy the variable part of a slot, and check it
 * @qp: queue pair
 * @wqe: work request; its operation is known
 * @sqe: private copy of the fixed part
 * @slot: the slot
 *
 * Context: qp->sq.q.lock held.
 * Return: enum ib_wc_status.
 */
u8 mroce_build_payload(struct mroce_qp *qp, struct mroce_swqe *wqe, const struct mroce_sqe *sqe,
		       const u8 *slot)
{
	u64 total;

	if (sqe->flags & IB_SEND_INLINE) {
		if (mroce_op_info(wqe->wire_op) & MROCE_OPF_FETCH)
			return IB_WC_LOC_QP_OP_ERR;
		if (sqe->inline_bytes > qp->sq.max_inline)
			return IB_WC_LOC_LEN_ERR;
		wqe->inl = true;
		wqe->len = sqe->inline_bytes;
		memcpy(wqe->sge, slot + MROCE_SQE_SIZE, wqe->len);
		return IB_WC_SUCCESS;
	}
	if (sqe->num_sge > qp->sq.max_sge)
		return IB_WC_LOC_QP_OP_ERR;
	wqe->num_sge = sqe->num_sge;
	memcpy(wqe->sge, slot + MROCE_SQE_SIZE, wqe->num_sge * sizeof(struct mroce_sge));
	total = mroce_place_total(wqe->sge, wqe->num_sge);
	if (total > MROCE_MAX_MSG_BYTES)
		return IB_WC_LOC_LEN_ERR;
	wqe->len = total;
	return check_sges(qp, wqe);
}

/* What the opcode asks of the rest of the work request. Return: enum ib_wc_status */
static u8 check_wr(const struct mroce_sq *sq, const struct mroce_swqe *wqe)
{
	u8 info = mroce_op_info(wqe->wire_op);

	if (wqe->len && (info & MROCE_OPF_ADDR) && wqe->raddr + wqe->len < wqe->raddr)
		return IB_WC_REM_ACCESS_ERR;
	if (!(info & MROCE_OPF_FETCH))
		return IB_WC_SUCCESS;
	if (!sq->rd.max)
		return IB_WC_LOC_QP_OP_ERR;
	if (wqe->wire_op != MROCE_OP_READ_REQ && wqe->len != MROCE_RESULT_LEN)
		return IB_WC_LOC_LEN_ERR;
	return IB_WC_SUCCESS;
}

/* A good work request gets its numbers. */
static void take_numbers(struct mroce_sq *sq, struct mroce_swqe *wqe)
{
	u8 info = mroce_op_info(wqe->wire_op);

	wqe->n_pkts = 1;
	if (info & MROCE_OPF_FETCH) {
		wqe->n_resp = mroce_seg_count(wqe->len, wqe->unit_bytes);
		wqe->rsn = mroce_rdreq_take(&sq->rd, wqe->n_resp, &wqe->resp_psn);
	} else {
		wqe->n_pkts = mroce_seg_count(wqe->len, wqe->unit_bytes);
	}
	sq->q.next_psn += wqe->n_pkts;
	if (info & MROCE_OPF_RECV)
		wqe->rsn = sq->next_rsn++;
}

static void take(struct mroce_qp *qp, struct mroce_swqe *wqe, const u8 *slot)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_sqe sqe;
	u8 status;

	BUILD_BUG_ON(sizeof(struct mroce_place_sge) != sizeof(struct mroce_sge));
	memcpy(&sqe, slot, sizeof(sqe));
	/* The user may be writing: what was copied is what counts from here. */
	barrier();

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = sqe.wr_id;
	wqe->flags = sqe.flags;
	wqe->raddr = sqe.remote_addr;
	wqe->rkey = sqe.rkey;
	wqe->imm = sqe.imm_be;
	wqe->op.compare_add = sqe.atomic.compare_add;
	wqe->op.swap = sqe.atomic.swap;
	wqe->first_psn = sq->q.next_psn;
	/* Also of those that fetch nothing: responses are looked up by it. */
	wqe->resp_psn = sq->rd.next_psn;
	/* Not agreed yet only for a request that is taken in to fail. */
	wqe->unit_bytes = qp->conn->unit_bytes ?: 4096;
	if (sqe.opcode >= ARRAY_SIZE(wr_ops) || !wr_ops[sqe.opcode].wire) {
		refuse(sq, wqe, IB_WC_LOC_QP_OP_ERR);
		return;
	}
	wqe->wire_op = wr_ops[sqe.opcode].wire;
	wqe->wr_op = wr_ops[sqe.opcode].wc;
	wqe->access = wr_ops[sqe.opcode].access;
	status = mroce_build_payload(qp, wqe, &sqe, slot) ?: check_wr(sq, wqe);
	if (status)
		refuse(sq, wqe, status);
	else
		take_numbers(sq, wqe);
}

/**
 * mroce_build_take() - take the next work request in from the ring
 * @qp: in RTS, its connection open
 *
 * Context: qp->sq.q.lock held.
 * Return: 1 taken (good or bad: see its status), 0 the ring is empty, -EINVAL
 * the user broke the ring's indices.
 */
int mroce_build_take(struct mroce_qp *qp)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_txq *q = &sq->q;
	u32 prod;

	/* Pairs with the user's release: the slot is filled before prod moves. */
	prod = smp_load_acquire(&sq->ring.hdr->prod);
	if (prod == q->head)
		return 0;
	if (prod - q->una > q->entries || prod - q->head > q->entries)
		return -EINVAL;
	take(qp, mroce_txq_wqe(q, q->head), mroce_ring_slot(&sq->ring, q->head));
	trace_mroce_post(qp, mroce_txq_wqe(q, q->head));
	q->head++;
	return 1;
}

static void frag_put(struct sk_buff *skb, struct page *page, u32 off, u32 len)
{
	get_page(page);
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, off, len);
	skb->len += len;
	skb->data_len += len;
	skb->truesize += PAGE_SIZE;
}

/* Hand over the pages of a piece. Return: false when there are too many. */
static bool piece_by_page(struct sk_buff *skb, struct mroce_mr *mr, u64 addr, u32 len)
{
	u64 at = addr - mr->iova + mr->page_offset;

	while (len) {
		u32 off = offset_in_page(at);
		u32 n = min_t(u32, len, PAGE_SIZE - off);

		if (skb_shinfo(skb)->nr_frags >= MAX_SKB_FRAGS)
			return false;
		frag_put(skb, mroce_mr_page(mr, at), off, n);
		at += n;
		len -= n;
	}
	return true;
}

static void piece_by_copy(struct sk_buff *skb, struct mroce_mr *mr, u64 addr, u32 len)
{
	u64 at = addr - mr->iova + mr->page_offset;

	while (len) {
		u32 off = offset_in_page(at);
		u32 n = min_t(u32, len, PAGE_SIZE - off);
		void *page = kmap_local_page(mroce_mr_page(mr, at));

		skb_put_data(skb, page + off, n);
		kunmap_local(page);
		at += n;
		len -= n;
	}
}

static int put_sges(struct mroce_qp *qp, const struct mroce_swqe *wqe, struct sk_buff *skb,
		    u32 off, u32 len, bool copy)
{
	struct mroce_place_iter it;
	struct mroce_mr *mr;
	bool fits = true;

	if (!mroce_place_first(&it, wqe->sge, wqe->num_sge, off, len))
		return len ? -EFAULT : 0;
	do {
		/* Again at every packet: the region may be gone since. */
		mr = mroce_mr_get(to_mdev(qp->ibqp.device), qp->ibqp.pd, it.lkey, it.addr,
				  it.len, wqe->access);
		if (!mr)
			return -EFAULT;
		if (copy)
			piece_by_copy(skb, mr, it.addr, it.len);
		else
			fits = piece_by_page(skb, mr, it.addr, it.len);
		mroce_mr_put(mr);
		if (!fits)
			return -E2BIG;
	} while (mroce_place_next(&it));
	return 0;
}

/**
 * mroce_build_copy() - append bytes of a message to a packet
 * @qp: queue pair
 * @wqe: the message
 * @skb: packet with room for them
 * @off: first byte
 * @len: bytes
 *
 * Context: qp->sq.q.lock held.
 * Return: 0; -EFAULT when a region is gone.
 */
int mroce_build_copy(struct mroce_qp *qp, const struct mroce_swqe *wqe, struct sk_buff *skb,
		     u32 off, u32 len)
{
	if (!wqe->inl)
		return put_sges(qp, wqe, skb, off, len, true);
	skb_put_data(skb, (const u8 *)wqe->sge + off, len);
	return 0;
}

static struct sk_buff *build(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 off, u32 len,
			     bool copy)
{
	struct sk_buff *skb = mroce_xmit_alloc(MROCE_DATA_HLEN + (copy ? len : 0));
	int err = 0;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	skb_put(skb, MROCE_DATA_HLEN);
	if (copy)
		err = mroce_build_copy(qp, wqe, skb, off, len);
	else
		err = put_sges(qp, wqe, skb, off, len, false);
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	/* The pages are the user's: nobody may write into them on the way. */
	if (skb_shinfo(skb)->nr_frags)
		skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return skb;
}

/* A request to fetch: operands or nothing behind the header */
static struct sk_buff *build_fetch(const struct mroce_swqe *wqe)
{
	struct sk_buff *skb = mroce_xmit_alloc(MROCE_DATA_HLEN + MROCE_ATOMIC_LEN);

	if (!skb)
		return ERR_PTR(-ENOMEM);
	skb_put(skb, MROCE_DATA_HLEN);
	if (wqe->wire_op != MROCE_OP_READ_REQ)
		mroce_wire_put_atomic(skb_put(skb, MROCE_ATOMIC_LEN), &wqe->op);
	return skb;
}

/**
 * mroce_build() - the packet of a psn, all but its header
 * @q: whose
 * @wqe: message @psn belongs to
 * @psn: which packet
 *
 * Context: q->lock held.
 * Return: ERR_PTR(-ENOMEM); ERR_PTR(-EFAULT) when a region is gone.
 */
struct sk_buff *mroce_build(struct mroce_txq *q, const struct mroce_swqe *wqe, u32 psn)
{
	struct sk_buff *skb;
	u32 off, len;

	if (wqe->n_resp)
		return build_fetch(wqe);
	len = mroce_seg_at(wqe->len, wqe->unit_bytes, psn - wqe->first_psn, &off);
	skb = build(q->qp, wqe, off, len, wqe->inl || len <= BUILD_COPY_BYTES);
	if (skb == ERR_PTR(-E2BIG))
		skb = build(q->qp, wqe, off, len, true);
	return skb;
}

/**
 * mroce_build_header() - fill in the header once path and path_seq are known
 * @q: the queue
 * @wqe: the message
 * @psn: which of its packets
 * @skb: the packet
 * @path: path the packet takes
 * @path_seq: its number there
 * @flags: MROCE_F_*
 */
void mroce_build_header(struct mroce_txq *q, const struct mroce_swqe *wqe, u32 psn,
			struct sk_buff *skb, int path, u32 path_seq, u16 flags)
{
	const struct mroce_qp *qp = q->qp;
	u8 info = mroce_op_info(wqe->wire_op);
	struct mroce_pkt_data p = {
		.opcode = wqe->wire_op,
		.path = path,
		.dscp = qp->conn->dscp,
		.stream = q->stream,
		.flags = flags | (wqe->flags & IB_SEND_SOLICITED ? MROCE_F_SOLICITED : 0),
		.incarnation = qp->incarnation,
		.payload_len = skb->len - MROCE_DATA_HLEN,
		.unit_bytes = wqe->unit_bytes,
		.dcid = READ_ONCE(qp->conn->dcid),
		.path_seq = path_seq,
		.dst_qpn = qp->dest_qpn,
		.src_qpn = qp->qpn,
		.psn = psn,
		.msg_psn = wqe->first_psn,
		.msg_len = wqe->len,
		.rsn = wqe->rsn,
		.imm = info & MROCE_OPF_IMM ? wqe->imm : 0,
	};

	p.addr = (psn - wqe->first_psn) * (u64)wqe->unit_bytes;
	if (info & MROCE_OPF_ADDR) {
		p.addr += wqe->raddr;
		p.rkey = wqe->rkey;
	}
	if (info & MROCE_OPF_FETCH)
		mroce_wire_set_resp_psn(&p, wqe->resp_psn);
	if (q->stream == MROCE_STREAM_RESP)
		p.rkey = READ_ONCE(qp->rq.life.inc);
	else
		p.oldest = qp->sq.rd.done;
	mroce_wire_put_data(skb->data, &p);
}
