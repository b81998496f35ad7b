// SPDX-License-Identifier: GPL-2.0
/*
 * From the send ring to packets: take a work request in (copied once, then
 * validated), and make the packet of any psn of it, first time or again.
 */
#include <linux/highmem.h>
#include <rdma/ib_user_verbs.h>

#include "mroce.h"

/* Up to here copying into the packet beats handing over pages. */
#define BUILD_COPY_BYTES	256

/**
 * struct wr_op - how a posted opcode goes out
 * @wire: opcode on the wire, 0 = not supported
 * @wc: enum ib_wc_opcode of its completion
 */
struct wr_op {
	u8 wire;
	u8 wc;
};

static const struct wr_op wr_ops[] = {
	[IB_UVERBS_WR_RDMA_WRITE]		= { MROCE_OP_WRITE, IB_WC_RDMA_WRITE },
	[IB_UVERBS_WR_RDMA_WRITE_WITH_IMM]	= { MROCE_OP_WRITE_IMM, IB_WC_RDMA_WRITE },
	[IB_UVERBS_WR_SEND]			= { MROCE_OP_SEND, IB_WC_SEND },
	[IB_UVERBS_WR_SEND_WITH_IMM]		= { MROCE_OP_SEND_IMM, IB_WC_SEND },
};

/* The work request is bad: it completes with @status when its turn comes. */
static void refuse(struct mroce_sq *sq, struct mroce_swqe *wqe, u8 status)
{
	wqe->status = status;
	wqe->n_pkts = 0;
	sq->stalled = true;
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
				  wqe->sge[i].length, 0);
		if (!mr)
			return IB_WC_LOC_PROT_ERR;
		mroce_mr_put(mr);
	}
	return IB_WC_SUCCESS;
}

/* Copy the variable part of a slot. @sqe is the private copy of the fixed one. */
static u8 take_payload(struct mroce_qp *qp, struct mroce_swqe *wqe, const struct mroce_sqe *sqe,
		       const u8 *slot)
{
	u64 total;

	if (sqe->flags & IB_SEND_INLINE) {
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
	wqe->first_psn = sq->next_psn;
	/* Not agreed yet only for a request that is taken in to fail. */
	wqe->unit_bytes = qp->conn->unit_bytes ?: 4096;
	if (sqe.opcode >= ARRAY_SIZE(wr_ops) || !wr_ops[sqe.opcode].wire) {
		refuse(sq, wqe, IB_WC_LOC_QP_OP_ERR);
		return;
	}
	wqe->wire_op = wr_ops[sqe.opcode].wire;
	wqe->wr_op = wr_ops[sqe.opcode].wc;
	status = take_payload(qp, wqe, &sqe, slot);
	if (!status && wqe->len && (mroce_op_info(wqe->wire_op) & MROCE_OPF_ADDR) &&
	    wqe->raddr + wqe->len < wqe->raddr)
		status = IB_WC_REM_ACCESS_ERR;
	if (status) {
		refuse(sq, wqe, status);
		return;
	}
	wqe->n_pkts = mroce_seg_count(wqe->len, wqe->unit_bytes);
	sq->next_psn += wqe->n_pkts;
	if (mroce_op_info(wqe->wire_op) & MROCE_OPF_RECV)
		wqe->rsn = sq->next_rsn++;
}

/**
 * mroce_build_take() - take the next work request in from the ring
 * @qp: in RTS, its connection open
 *
 * Context: qp->sq.lock held.
 * Return: 1 taken (good or bad: see its status), 0 the ring is empty, -EINVAL
 * the user broke the ring's indices.
 */
int mroce_build_take(struct mroce_qp *qp)
{
	struct mroce_sq *sq = &qp->sq;
	u32 prod;

	/* Pairs with the user's release: the slot is filled before prod moves. */
	prod = smp_load_acquire(&sq->ring.hdr->prod);
	if (prod == sq->head)
		return 0;
	if (prod - sq->una > sq->ring.entries || prod - sq->head > sq->ring.entries)
		return -EINVAL;
	take(qp, mroce_sq_wqe(sq, sq->head), mroce_ring_slot(&sq->ring, sq->head));
	sq->head++;
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
		frag_put(skb, mr->pages[at >> PAGE_SHIFT], off, n);
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
		void *page = kmap_local_page(mr->pages[at >> PAGE_SHIFT]);

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
				  it.len, 0);
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

static struct sk_buff *build(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 off, u32 len,
			     bool copy)
{
	struct sk_buff *skb = mroce_xmit_alloc(MROCE_DATA_HLEN + (copy ? len : 0));
	int err = 0;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	skb_put(skb, MROCE_DATA_HLEN);
	if (wqe->inl)
		skb_put_data(skb, (const u8 *)wqe->sge + off, len);
	else
		err = put_sges(qp, wqe, skb, off, len, copy);
	if (err) {
		kfree_skb(skb);
		return ERR_PTR(err);
	}
	/* The pages are the user's: nobody may write into them on the way. */
	if (skb_shinfo(skb)->nr_frags)
		skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return skb;
}

/**
 * mroce_build() - the packet of a psn, all but its header
 * @qp: whose
 * @wqe: work request @psn belongs to
 * @psn: which packet
 *
 * Context: qp->sq.lock held.
 * Return: ERR_PTR(-ENOMEM); ERR_PTR(-EFAULT) when a region is gone.
 */
struct sk_buff *mroce_build(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 psn)
{
	struct sk_buff *skb;
	u32 off, len;

	len = mroce_seg_at(wqe->len, wqe->unit_bytes, psn - wqe->first_psn, &off);
	skb = build(qp, wqe, off, len, wqe->inl || len <= BUILD_COPY_BYTES);
	if (skb == ERR_PTR(-E2BIG))
		skb = build(qp, wqe, off, len, true);
	return skb;
}

/**
 * mroce_build_header() - fill in the header once path and path_seq are known
 * @flags: MROCE_F_*
 * @qp: the queue pair
 * @wqe: the work request
 * @psn: which of its packets
 * @skb: the packet
 * @path: path the packet takes
 * @path_seq: its number there
 */
void mroce_build_header(struct mroce_qp *qp, const struct mroce_swqe *wqe, u32 psn,
			struct sk_buff *skb, int path, u32 path_seq, u16 flags)
{
	u8 info = mroce_op_info(wqe->wire_op);
	struct mroce_pkt_data p = {
		.opcode = wqe->wire_op,
		.path = path,
		.dscp = qp->conn->dscp,
		.stream = MROCE_STREAM_REQ,
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
		.oldest = wqe->first_psn,
	};

	p.addr = (psn - wqe->first_psn) * (u64)wqe->unit_bytes;
	if (info & MROCE_OPF_ADDR) {
		p.addr += wqe->raddr;
		p.rkey = wqe->rkey;
	}
	mroce_wire_put_data(skb->data, &p);
}
