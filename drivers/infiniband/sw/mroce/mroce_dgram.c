// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs for unreliable datagrams.
 *
 * No connection, no path, no acknowledgement: a message is copied into one packet, which
 * is sent once, and the request is complete (but see mroce_gsi.c). The doorbell's caller does
 * it: there is nobody who would call him back. On the way in a datagram is copied under the
 * lock of the receive queue, which is short, and needs no second look at the state.
 */
#include <linux/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_user_verbs.h>

#include "mroce_dgram.h"

/* Datagrams taken in under one hold of the lock, before they are transmitted. */
#define BATCH_PKTS	16

/* What the packets of a batch need to be transmitted. */
struct dgram_cb {
	struct mroce_dgram_to to;
};

static struct dgram_cb *dgram_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct dgram_cb) > sizeof(skb->cb));
	return (struct dgram_cb *)skb->cb;
}

/* Different pairs of queue pairs, and flows of the user's, may take different routes. */
static u16 source_port(const struct mroce_qp *qp, u32 dst_qpn, const struct mroce_av *av)
{
	return MROCE_SPORT_FIRST +
	       jhash_3words(qp->qpn, dst_qpn, av->flow_label, 0) % MROCE_SPORT_COUNT;
}

/* Copy a work request and validate the copy. Return: enum ib_wc_status */
static u8 take(struct mroce_qp *qp, struct mroce_swqe *wqe, struct mroce_sqe *sqe, const u8 *slot)
{
	u8 status;

	memcpy(sqe, slot, sizeof(*sqe));
	/* The user may be writing: what was copied is what counts from here. */
	barrier();
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = sqe->wr_id;
	wqe->flags = sqe->flags;
	wqe->wr_op = IB_WC_SEND;
	switch (sqe->opcode) {
	case IB_UVERBS_WR_SEND:
		wqe->wire_op = MROCE_OP_SEND;
		break;
	case IB_UVERBS_WR_SEND_WITH_IMM:
		wqe->wire_op = MROCE_OP_SEND_IMM;
		wqe->imm = sqe->imm_be;
		break;
	default:
		return IB_WC_LOC_QP_OP_ERR;
	}
	status = mroce_build_payload(qp, wqe, sqe, slot);
	if (!status && wqe->len > mroce_port_mtu_bytes(to_mdev(qp->ibqp.device)))
		status = IB_WC_LOC_LEN_ERR;
	return status;
}

/* The packet of a request. Return: ERR_PTR(-ENOMEM), ERR_PTR(-EFAULT): region gone */
static struct sk_buff *build(struct mroce_qp *qp, const struct mroce_swqe *wqe,
			     const struct mroce_sqe *sqe, u32 token)
{
	struct mroce_pkt_dgram p = {
		.opcode = wqe->wire_op,
		.solicited = wqe->flags & IB_SEND_SOLICITED,
		.payload_len = wqe->len,
		.dst_qpn = sqe->ud.remote_qpn & 0xffffff,
		.src_qpn = qp->qpn,
		.qkey = mroce_dgram_qkey(sqe->ud.remote_qkey, qp->qkey),
		.imm = wqe->imm,
		.token = token,
	};
	struct sk_buff *skb = mroce_xmit_alloc(MROCE_DGRAM_HLEN + wqe->len);
	int err;

	if (!skb)
		return ERR_PTR(-ENOMEM);
	mroce_wire_put_dgram(skb_put(skb, MROCE_DGRAM_HLEN), &p);
	err = mroce_build_copy(qp, wqe, skb, 0, wqe->len);
	if (!err)
		return skb;
	kfree_skb(skb);
	return ERR_PTR(err);
}

/**
 * mroce_dgram_queue() - a datagram is to be transmitted
 * @list: where to put it
 * @skb: our header and payload
 * @to: where it goes
 */
void mroce_dgram_queue(struct sk_buff_head *list, struct sk_buff *skb,
		       const struct mroce_dgram_to *to)
{
	dgram_cb(skb)->to = *to;
	__skb_queue_tail(list, skb);
}

/**
 * mroce_dgram_xmit() - transmit datagrams
 * @dev: device
 * @list: emptied
 *
 * Context: bottom halves off, no lock of ours held.
 */
void mroce_dgram_xmit(struct mroce_dev *dev, struct sk_buff_head *list)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(list))) {
		struct mroce_dgram_to to = dgram_cb(skb)->to;

		if (mroce_xmit_dgram(dev, skb, &to))
			mroce_count(dev, MROCE_CNT_LOCAL_DROP);
	}
}

/* RCU read side. */
static const struct mroce_av *av_of(const struct mroce_qp *qp, const struct mroce_sqe *sqe)
{
	const struct mroce_av *av;

	if (mroce_qp_is_kernels(qp))
		memcpy(&av, sqe->reserved, sizeof(av));
	else
		av = xa_load(&to_mdev(qp->ibqp.device)->ahs, sqe->ud.ah_num);
	return av && av->pd == qp->ibqp.pd ? av : NULL;
}

/*
 * One request becomes a packet in @list, or a failed one. Return: enum ib_wc_status; @waits:
 * its time to be complete is when it was answered.
 */
static u8 send_one(struct mroce_qp *qp, struct mroce_swqe *wqe, const u8 *slot,
		   struct sk_buff_head *list, bool *waits)
{
	struct mroce_dgram_to to;
	const struct mroce_av *av;
	struct mroce_sqe sqe;
	struct sk_buff *skb;
	u32 token = 0;
	u8 status;

	status = take(qp, wqe, &sqe, slot);
	if (status)
		return status;
	rcu_read_lock();
	av = av_of(qp, &sqe);
	if (av)
		to = (struct mroce_dgram_to) {
			.laddr = av->laddr,
			.raddr = av->raddr,
			.ifindex = av->ifindex,
			.tos = av->tos,
			.sport = source_port(qp, sqe.ud.remote_qpn, av),
		};
	rcu_read_unlock();
	if (!av)
		return IB_WC_LOC_QP_OP_ERR;
	if (qp->gsi)
		token = mroce_gsi_token();
	skb = build(qp, wqe, &sqe, token);
	if (skb == ERR_PTR(-ENOMEM)) {
		/* For want of memory it is lost, as it may be anywhere. */
		mroce_count_drop(to_mdev(qp->ibqp.device), MROCE_DROP_NOMEM);
		return IB_WC_SUCCESS;
	}
	if (IS_ERR(skb))
		return IB_WC_LOC_PROT_ERR;
	if (qp->gsi)
		*waits = mroce_gsi_send(qp, wqe, skb, token, &to, list);
	else
		mroce_dgram_queue(list, skb, &to);
	return IB_WC_SUCCESS;
}

/* Under sq.q.lock. Return: 1 there may be more, 0 the ring is empty, -EINVAL it is broken */
static int take_batch(struct mroce_qp *qp, struct sk_buff_head *list, unsigned int *notify)
{
	struct mroce_sq *sq = &qp->sq;
	struct mroce_txq *q = &sq->q;
	unsigned int n;
	bool waits;
	u32 prod;

	for (n = 0; n < BATCH_PKTS && !(*notify & MROCE_NOTIFY_ERROR); n++) {
		struct mroce_swqe *wqe = mroce_txq_wqe(q, q->head);

		/* Pairs with the user's release: the slot is filled before prod moves. */
		prod = smp_load_acquire(&sq->ring.hdr->prod);
		if (prod - q->head > q->entries)
			return -EINVAL;
		if (prod == q->head) {
			if (mroce_send_fall_asleep(q))
				return 0;
			continue;
		}
		waits = false;
		wqe->status = send_one(qp, wqe, mroce_ring_slot(&sq->ring, q->head), list, &waits);
		q->head++;
		q->send = q->head;
		if (waits)
			mroce_comp_unanswered(qp);
		else
			*notify |= mroce_comp_dgram(qp, wqe);
	}
	return !(*notify & MROCE_NOTIFY_ERROR);
}

/**
 * mroce_dgram_send_batch() - send some of what is in the ring
 * @qp: queue pair for datagrams
 *
 * Context: task or softirq, no lock held.
 * Return: whether there may be more.
 */
bool mroce_dgram_send_batch(struct mroce_qp *qp)
{
	struct mroce_dev *dev = to_mdev(qp->ibqp.device);
	unsigned int notify = 0;
	struct sk_buff_head list;
	u16 incarnation;
	int more = 0;

	__skb_queue_head_init(&list);
	local_bh_disable();
	spin_lock(&qp->sq.q.lock);
	incarnation = qp->incarnation;
	if (qp->state == IB_QPS_RTS && !qp->sq.failed) {
		mroce_send_rouse(&qp->sq.q);
		more = take_batch(qp, &list, &notify);
	}
	spin_unlock(&qp->sq.q.lock);

	mroce_dgram_xmit(dev, &list);
	mroce_comp_notify(qp, notify);
	if (more < 0)
		mroce_comp_error(qp, incarnation, IB_EVENT_QP_FATAL);
	else if (notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(qp, incarnation, MROCE_NO_EVENT);
	local_bh_enable();
	return more > 0;
}

/**
 * mroce_dgram_send() - send what is in the ring
 * @qp: queue pair for datagrams
 *
 * As much as it holds: whoever goes on filling it, while another rings, shall not keep that
 * one in here for ever.
 *
 * Context: task, no lock held.
 */
void mroce_dgram_send(struct mroce_qp *qp)
{
	u32 left = qp->sq.q.entries;

	while (mroce_dgram_send_batch(qp)) {
		left -= min_t(u32, left, BATCH_PKTS);
		if (!left) {
			mroce_compat_bh_schedule(&qp->kick);
			break;
		}
		cond_resched();
	}
}

/* What stands before the data in the receive. Return: false: an IPv4 header with options. */
static bool put_grh(const struct sk_buff *skb, bool ipv6, u8 *grh)
{
	memset(grh, 0, MROCE_GRH_BYTES);
	if (ipv6)
		memcpy(grh, ipv6_hdr(skb), sizeof(struct ipv6hdr));
	else
		memcpy(grh + MROCE_GRH_IPV4_OFFSET, ip_hdr(skb), sizeof(struct iphdr));
	return ipv6 || ip_hdr(skb)->ihl == sizeof(struct iphdr) / 4;
}

/* Under rq.lock. Return: why not */
static enum mroce_drop may_take(const struct mroce_qp *qp, const struct mroce_pkt_dgram *p)
{
	switch (qp->state) {
	case IB_QPS_RTR:
	case IB_QPS_RTS:
	case IB_QPS_SQD:
	case IB_QPS_SQE:
		return p->qkey == qp->qkey ? MROCE_DROP_NONE : MROCE_DROP_QKEY;
	default:
		return MROCE_DROP_QP;
	}
}

/* Copy it all. Under rq.lock. Return: enum ib_wc_status */
static u8 place(const struct mroce_qp *qp, const struct mroce_rwqe *wqe, const struct sk_buff *skb,
		u32 off, const u8 *grh, const struct mroce_pkt_dgram *p)
{
	struct mroce_sgl sgl = {
		/* Keys of a shared receive are those of its queue's domain. */
		.pd = qp->rq.srq ? qp->rq.srq->ibsrq.pd : qp->ibqp.pd,
		.sge = wqe->sge,
		.num_sge = wqe->num_sge,
	};

	if (mroce_copy_value_to_sgl(&sgl, grh, MROCE_GRH_BYTES) ||
	    mroce_copy_to_sgl(&sgl, MROCE_GRH_BYTES, skb, off, p->payload_len))
		return IB_WC_LOC_PROT_ERR;
	return IB_WC_SUCCESS;
}

/*
 * Into the oldest receive. One that is too small stays bound, for the next datagram. Under
 * rq.lock. Return: why it was dropped
 */
static enum mroce_drop deliver(struct mroce_qp *qp, const struct sk_buff *skb, u32 off,
			       const u8 *grh, const struct mroce_pkt_dgram *p, u16 vlan_id,
			       unsigned int *notify, bool *low)
{
	enum mroce_drop why = may_take(qp, p);
	struct mroce_rwqe *wqe;

	if (why)
		return why;
	wqe = mroce_resp_bind(&qp->rq, qp->rq.cons, low);
	if (!wqe || (!wqe->status && wqe->total_bytes < MROCE_GRH_BYTES + p->payload_len))
		return MROCE_DROP_RECV;
	if (!wqe->status)
		wqe->status = place(qp, wqe, skb, off, grh, p);
	*notify = mroce_comp_dgram_recv(qp, wqe, p, grh, vlan_id);
	return MROCE_DROP_NONE;
}

/* Return: whether a queue pair is of the device that has the address, and for datagrams */
static bool is_meant(struct mroce_dev *dev, const struct mroce_qp *qp, const struct in6_addr *addr,
		     u16 *vlan_id)
{
	const struct ib_gid_attr *attr;

	*vlan_id = MROCE_NO_VLAN;
	if (!mroce_dgram_is(qp))
		return false;
	attr = rdma_find_gid_by_port(&dev->ibdev, (const union ib_gid *)addr,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, 1, NULL);
	if (IS_ERR(attr))
		return false;
	if (mroce_qp_is_kernels(qp) && rdma_read_gid_l2_fields(attr, vlan_id, NULL))
		*vlan_id = MROCE_NO_VLAN;
	rdma_put_gid_attr(attr);
	return true;
}

/*
 * With a reference. Several devices may have an address, a link-local one above all: that of
 * the receiving netdev first. RCU read side.
 */
static struct mroce_qp *find_qp(struct mroce_net *mnet, const struct sk_buff *skb,
				const struct in6_addr *addr, u32 qpn, u16 *vlan_id)
{
	struct mroce_dev *dev;
	struct mroce_qp *qp;
	int any;

	for (any = 0; any < 2; any++)
		list_for_each_entry_rcu(dev, &mnet->devs, net_node) {
			if (!any && !(skb->dev && mroce_plane_has(dev, skb->dev->ifindex)))
				continue;
			qp = mroce_qp_get(dev, qpn);
			if (!qp)
				continue;
			if (is_meant(dev, qp, addr, vlan_id))
				return qp;
			mroce_qp_put(qp);
		}
	return NULL;
}

/* The sender wants to know. Never larger than what it answers. */
static void answer(struct mroce_net *mnet, const struct sk_buff *in,
		   const struct mroce_pkt_dgram *p)
{
	struct mroce_pkt_dgram a = {
		.opcode = MROCE_OP_ANSWER,
		.dst_qpn = p->src_qpn,
		.src_qpn = p->dst_qpn,
		.qkey = p->qkey,
		.token = p->token,
	};
	struct sk_buff *skb = mroce_xmit_alloc(MROCE_DGRAM_HLEN);

	if (!skb)
		return;
	mroce_wire_put_dgram(skb_put(skb, MROCE_DGRAM_HLEN), &a);
	mroce_xmit_reply(mnet, in, NULL, skb);
}

/* A queue pair has been found. Return: why the datagram was dropped */
static enum mroce_drop take_in(struct mroce_net *mnet, struct mroce_qp *qp,
			       const struct sk_buff *skb, u32 off, const u8 *grh,
			       const struct mroce_addrs *addrs, const struct mroce_pkt_dgram *p,
			       u16 vlan_id)
{
	unsigned int notify = 0;
	enum mroce_drop why;
	bool low = false;
	u16 incarnation;

	if (p->opcode == MROCE_OP_ANSWER) {
		if (qp->gsi)
			mroce_gsi_answer(qp, &addrs->remote, p->token);
		return qp->gsi ? MROCE_DROP_NONE : MROCE_DROP_QP;
	}
	spin_lock(&qp->rq.lock);
	incarnation = qp->incarnation;
	why = deliver(qp, skb, off, grh, p, vlan_id, &notify, &low);
	spin_unlock(&qp->rq.lock);
	if (low)
		mroce_srq_tell_low(qp->rq.srq);
	mroce_comp_notify(qp, notify);
	if (notify & MROCE_NOTIFY_ERROR)
		mroce_comp_error(qp, incarnation, MROCE_NO_EVENT);
	if (!why && qp->gsi && p->token)
		answer(mnet, skb, p);
	return why;
}

/* One datagram of at most @len bytes at @off. Return: how many it takes, never none */
static u32 rcv_one(struct mroce_net *mnet, const struct sk_buff *skb, u32 off, u32 len,
		   const struct mroce_addrs *addrs)
{
	u8 buf[MROCE_DGRAM_HLEN], grh[MROCE_GRH_BYTES];
	struct mroce_dev *dev = mroce_net_dev(mnet, skb);
	struct mroce_pkt_dgram p = {};
	enum mroce_drop why = MROCE_DROP_SHORT;
	struct mroce_qp *qp = NULL;
	u16 vlan_id;

	if (len >= sizeof(buf) && !skb_copy_bits(skb, off, buf, sizeof(buf))) {
		/* Of several that were merged each says how long it is. */
		if (skb_is_gso(skb))
			len = min(len, mroce_wire_dgram_len(buf));
		why = mroce_wire_get_dgram(buf, sizeof(buf), len, &p);
	}
	if (!why && !put_grh(skb, addrs->ipv6, grh))
		why = MROCE_DROP_FIELD;
	if (!why) {
		qp = find_qp(mnet, skb, &addrs->local, p.dst_qpn, &vlan_id);
		why = qp ? MROCE_DROP_NONE : MROCE_DROP_QP;
	}
	if (qp) {
		dev = to_mdev(qp->ibqp.device);
		why = take_in(mnet, qp, skb, off + sizeof(buf), grh, addrs, &p, vlan_id);
		mroce_qp_put(qp);
	}
	if (why && dev)
		mroce_count_drop(dev, why);
	else if (!why)
		mroce_count_rx(dev, sizeof(buf) + p.payload_len);
	return len;
}

/**
 * mroce_dgram_rcv() - a DGRAM has arrived, or several in one
 * @mnet: namespace
 * @skb: packet, not consumed
 * @off: start of our first header
 * @addrs: both ends
 *
 * Context: softirq, RCU read side, no lock held.
 */
void mroce_dgram_rcv(struct mroce_net *mnet, const struct sk_buff *skb, u32 off,
		     const struct mroce_addrs *addrs)
{
	while (off < skb->len)
		off += rcv_one(mnet, skb, off, skb->len - off, addrs);
}
