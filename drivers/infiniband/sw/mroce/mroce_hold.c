// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of WRITEs held back until those before them are complete.
 *
 * A held packet is a clone of the skb that brought it, without a reference to the
 * network device or to a route, in a tree by psn. Its psn is claimed, so a copy of
 * it is a duplicate; it is acknowledged on its path; it is not accepted yet.
 */
#include <linux/netfilter.h>

#include "mroce.h"

/**
 * struct hold_cb - control block of a held packet
 * @psn: which
 * @until: everything before it has to be complete
 * @off: start of its payload
 * @rsn: number of its receive
 * @opcode: enum mroce_wire_opcode
 */
struct hold_cb {
	u32 psn;
	u32 until;
	u32 off;
	u32 rsn;
	u8 opcode;
};

static struct hold_cb *hold_cb(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct hold_cb) > sizeof(skb->cb));
	return (struct hold_cb *)skb->cb;
}

/**
 * mroce_hold_wanted() - does a packet have to wait for those before it?
 * @qp: the queue pair
 * @p: its header
 *
 * Context: softirq, qp->rq.lock held.
 */
bool mroce_hold_wanted(struct mroce_qp *qp, const struct mroce_pkt_data *p)
{
	struct mroce_mr *mr;
	bool relaxed;

	/* Most packets need no look at their region. */
	if (!mroce_hold_must(qp->ordering, false, p, qp->rq.rx.rxs.cum))
		return false;
	mr = mroce_mr_get(to_mdev(qp->ibqp.device), qp->ibqp.pd, p->rkey, p->addr,
			  p->payload_len, IB_ACCESS_REMOTE_WRITE);
	/* That is an error, which waits for its turn without its packet. */
	if (!mr)
		return false;
	relaxed = mr->access & IB_ACCESS_RELAXED_ORDERING;
	mroce_mr_put(mr);
	return mroce_hold_must(qp->ordering, relaxed, p, qp->rq.rx.rxs.cum);
}

static void insert(struct mroce_rq *rq, struct sk_buff *skb)
{
	struct rb_node **link = &rq->held.rb_node, *parent = NULL;

	while (*link) {
		parent = *link;
		if (mroce_seq_before(hold_cb(skb)->psn, hold_cb(rb_to_skb(parent))->psn))
			link = &parent->rb_left;
		else
			link = &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &rq->held);
}

/* A gauge: two at once may leave the smaller one. */
static void note_peak(struct mroce_dev *dev, u32 bytes)
{
	atomic64_t *peak = &dev->count[MROCE_CNT_HOLD_PEAK];

	if (atomic64_read(peak) < bytes)
		atomic64_set(peak, bytes);
}

/**
 * mroce_hold_add() - hold a packet back
 * @qp: the queue pair
 * @skb: brought it; may bring others
 * @off: start of its payload
 * @p: its header
 *
 * Context: softirq, qp->rq.lock held.
 * Return: false when there is no room for it, or no memory.
 */
bool mroce_hold_add(struct mroce_qp *qp, const struct sk_buff *skb, u32 off,
		    const struct mroce_pkt_data *p)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);
	struct sk_buff *held = skb_clone((struct sk_buff *)skb, GFP_ATOMIC | __GFP_NOWARN);
	struct mroce_rq *rq = &qp->rq;
	u32 bytes = skb->truesize;

	if (!held)
		return false;
	if (!mroce_hold_put(&rq->hold, bytes, atomic64_add_return(bytes, &dev->hold_bytes))) {
		atomic64_sub(bytes, &dev->hold_bytes);
		mroce_count(dev, MROCE_CNT_HOLD_REFUSED);
		kfree_skb(held);
		return false;
	}
	skb_dst_drop(held);
	nf_reset_ct(held);
	skb_orphan(held);
	/* The tree's node lies over it. */
	held->dev = NULL;
	hold_cb(held)->psn = p->psn;
	hold_cb(held)->until = mroce_hold_until(p);
	hold_cb(held)->off = off;
	hold_cb(held)->rsn = p->rsn;
	hold_cb(held)->opcode = p->opcode;
	insert(rq, held);
	mroce_count(dev, MROCE_CNT_RX_HELD);
	note_peak(dev, rq->hold.peak_bytes);
	return true;
}

static void take_out(struct mroce_qp *qp, struct sk_buff *skb)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);

	rb_erase(&skb->rbnode, &qp->rq.held);
	RB_CLEAR_NODE(&skb->rbnode);
	/* Under the node were these. */
	skb->next = NULL;
	skb->prev = NULL;
	skb->dev = NULL;
	mroce_hold_take(&qp->rq.hold, skb->truesize);
	atomic64_sub(skb->truesize, &dev->hold_bytes);
}

/**
 * mroce_hold_next() - a held packet that may be placed now
 * @qp: the queue pair
 * @off: out: start of its payload
 * @p: out: its header
 *
 * Context: softirq, qp->rq.lock held.
 * Return: the packet, now the caller's; NULL: there is none.
 */
struct sk_buff *mroce_hold_next(struct mroce_qp *qp, u32 *off, struct mroce_pkt_data *p)
{
	struct rb_node *first = rb_first(&qp->rq.held);
	u8 buf[MROCE_DATA_HLEN];
	struct sk_buff *skb;
	const u8 *hdr;

	if (!first)
		return NULL;
	skb = rb_to_skb(first);
	if (mroce_seq_after(hold_cb(skb)->until, qp->rq.rx.rxs.cum))
		return NULL;
	take_out(qp, skb);
	mroce_rxs_drained(&qp->rq.rx.rxs, 1);
	*off = hold_cb(skb)->off;
	hdr = skb_header_pointer(skb, *off - MROCE_DATA_HLEN, sizeof(buf), buf);
	/* It was decoded before; its sender may have changed it since, to his own harm. */
	if (hdr && !mroce_wire_get_data(hdr, skb->len - *off + MROCE_DATA_HLEN, p) &&
	    p->psn == hold_cb(skb)->psn && p->rsn == hold_cb(skb)->rsn &&
	    p->opcode == hold_cb(skb)->opcode)
		return skb;
	mroce_rxs_fail(&qp->rq.rx.rxs, hold_cb(skb)->psn, MROCE_SYN_OP_ERR);
	kfree_skb(skb);
	return NULL;
}

/**
 * mroce_hold_purge() - the stream ends: drop what is held
 * @qp: the queue pair
 *
 * Context: qp->rq.lock held, bottom halves off.
 */
void mroce_hold_purge(struct mroce_qp *qp)
{
	struct rb_node *node;
	struct sk_buff *skb;

	while ((node = rb_first(&qp->rq.held))) {
		skb = rb_to_skb(node);
		take_out(qp, skb);
		kfree_skb(skb);
	}
}
