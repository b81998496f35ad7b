// SPDX-License-Identifier: GPL-2.0
/*
 * The general services queue pair asks for answers.
 *
 * Its users repeat what gets no reply after seconds, a minute in all: one lost packet delays
 * a connection by four seconds, and a peer that is not there is known late. So each of its
 * datagrams has a token, which the driver of the peer sends back when it has delivered it.
 * Until then it is sent again, and only then its request is complete; without an answer
 * after 1.55 s the request fails. What comes twice is no matter to them: they repeat, too.
 *
 * Everything here is under sq.q.lock of the queue pair.
 */
#include <linux/random.h>
#include <linux/slab.h>

#include "mroce_dgram.h"

/**
 * struct gsi_pkt - a datagram without an answer yet
 * @node: in mroce_gsi.waiting
 * @skb: our header and payload, to be copied
 * @to: where it goes
 * @wr_id: of the request
 * @signaled: the user wants a completion also of success
 * @token: see above; never 0
 * @tries: how often it was sent
 * @next_ns: when it goes again
 */
struct gsi_pkt {
	struct list_head node;
	struct sk_buff *skb;
	struct mroce_dgram_to to;
	u64 wr_id;
	bool signaled;
	u32 token;
	u32 tries;
	u64 next_ns;
};

/**
 * struct mroce_gsi - what a general services queue pair has besides
 * @qp: the queue pair
 * @waiting: struct gsi_pkt
 * @n: how many
 * @timer: for the earliest of them
 * @stopped: the queue pair is in RESET, or going: the timer is not armed any more
 */
struct mroce_gsi {
	struct mroce_qp *qp;
	struct list_head waiting;
	unsigned int n;
	struct hrtimer timer;
	bool stopped;
};

static void forget(struct mroce_gsi *gsi, struct gsi_pkt *pkt)
{
	list_del(&pkt->node);
	gsi->n--;
	kfree_skb(pkt->skb);
	kfree(pkt);
}

/* Done, one way or the other. Return: MROCE_NOTIFY_* */
static unsigned int complete_pkt(struct mroce_gsi *gsi, struct gsi_pkt *pkt, u8 status)
{
	unsigned int notify = 0;

	if (status || pkt->signaled)
		notify = mroce_comp_answered(gsi->qp, pkt->wr_id, status);
	forget(gsi, pkt);
	return notify;
}

static void arm(struct mroce_gsi *gsi, u64 now)
{
	struct gsi_pkt *pkt;
	u64 next = U64_MAX;

	list_for_each_entry(pkt, &gsi->waiting, node)
		next = min(next, pkt->next_ns);
	if (next != U64_MAX && !gsi->stopped)
		hrtimer_start(&gsi->timer, ns_to_ktime(max(next, now)), HRTIMER_MODE_ABS_SOFT);
}

/* One more copy for the wire; without memory it is as if that had been lost. */
static void send_again(struct gsi_pkt *pkt, struct sk_buff_head *list, u64 now)
{
	struct sk_buff *skb = skb_copy(pkt->skb, GFP_ATOMIC | __GFP_NOWARN);

	pkt->tries++;
	pkt->next_ns = now + mroce_dgram_retry_ns(pkt->tries);
	if (skb)
		mroce_dgram_queue(list, skb, &pkt->to);
}

/**
 * mroce_gsi_send() - a datagram goes out, until it is answered
 * @qp: general services queue pair
 * @wqe: the request; its slot may be given back
 * @skb: our header and payload; consumed
 * @token: in the header
 * @to: where it goes
 * @list: to be transmitted
 *
 * Context: qp->sq.q.lock held.
 * Return: false when nobody will wait for an answer (too many, no memory): the request is
 * complete.
 */
bool mroce_gsi_send(struct mroce_qp *qp, const struct mroce_swqe *wqe, struct sk_buff *skb,
		    u32 token, const struct mroce_dgram_to *to, struct sk_buff_head *list)
{
	struct mroce_gsi *gsi = qp->gsi;
	struct gsi_pkt *pkt = NULL;
	u64 now = ktime_get_ns();

	if (gsi->n < qp->sq.max_wr)
		pkt = kzalloc_obj(*pkt, GFP_ATOMIC | __GFP_NOWARN);
	if (!pkt) {
		mroce_dgram_queue(list, skb, to);
		return false;
	}
	pkt->skb = skb;
	pkt->to = *to;
	pkt->wr_id = wqe->wr_id;
	pkt->signaled = qp->sq_sig_all || (wqe->flags & IB_SEND_SIGNALED);
	pkt->token = token;
	list_add_tail(&pkt->node, &gsi->waiting);
	gsi->n++;
	send_again(pkt, list, now);
	arm(gsi, now);
	return true;
}

/** mroce_gsi_token() - for the next datagram */
u32 mroce_gsi_token(void)
{
	return get_random_u32() ?: 1;
}

/**
 * mroce_gsi_answer() - a peer has said that a datagram has arrived
 * @qp: general services queue pair
 * @from: the peer
 * @token: what it says
 *
 * Context: softirq, no lock held.
 */
void mroce_gsi_answer(struct mroce_qp *qp, const struct in6_addr *from, u32 token)
{
	struct gsi_pkt *pkt, *tmp;
	unsigned int notify = 0;

	spin_lock(&qp->sq.q.lock);
	list_for_each_entry_safe(pkt, tmp, &qp->gsi->waiting, node)
		if (pkt->token == token && ipv6_addr_equal(&pkt->to.raddr, from)) {
			notify = complete_pkt(qp->gsi, pkt, IB_WC_SUCCESS);
			break;
		}
	spin_unlock(&qp->sq.q.lock);
	mroce_comp_notify(qp, notify);
}

static enum hrtimer_restart overdue(struct hrtimer *t)
{
	struct mroce_gsi *gsi = container_of(t, struct mroce_gsi, timer);
	struct mroce_qp *qp = gsi->qp;
	u64 now = ktime_get_ns();
	struct sk_buff_head list;
	struct gsi_pkt *pkt, *tmp;
	unsigned int notify = 0;

	__skb_queue_head_init(&list);
	spin_lock(&qp->sq.q.lock);
	list_for_each_entry_safe(pkt, tmp, &gsi->waiting, node) {
		if (pkt->next_ns > now)
			continue;
		if (mroce_dgram_retry_ns(pkt->tries + 1))
			send_again(pkt, &list, now);
		else
			notify |= complete_pkt(gsi, pkt, IB_WC_RETRY_EXC_ERR);
	}
	arm(gsi, now);
	spin_unlock(&qp->sq.q.lock);
	mroce_dgram_xmit(to_mdev(qp->ibqp.device), &list);
	mroce_comp_notify(qp, notify);
	return HRTIMER_NORESTART;
}

/**
 * mroce_gsi_flush() - the queue pair is in ERR: nobody is waited for
 * @qp: general services queue pair
 *
 * Context: qp->sq.q.lock held.
 * Return: MROCE_NOTIFY_*
 */
unsigned int mroce_gsi_flush(struct mroce_qp *qp)
{
	struct gsi_pkt *pkt, *tmp;
	unsigned int notify = 0;

	list_for_each_entry_safe(pkt, tmp, &qp->gsi->waiting, node)
		notify |= complete_pkt(qp->gsi, pkt, IB_WC_WR_FLUSH_ERR);
	return notify;
}

/**
 * mroce_gsi_start() - the queue pair goes to RTS
 * @qp: general services queue pair
 */
void mroce_gsi_start(struct mroce_qp *qp)
{
	spin_lock_bh(&qp->sq.q.lock);
	qp->gsi->stopped = false;
	spin_unlock_bh(&qp->sq.q.lock);
}

/**
 * mroce_gsi_stop() - the queue pair is in RESET, or going
 * @qp: general services queue pair
 *
 * Context: task.
 */
void mroce_gsi_stop(struct mroce_qp *qp)
{
	struct mroce_gsi *gsi = qp->gsi;
	struct gsi_pkt *pkt, *tmp;

	spin_lock_bh(&qp->sq.q.lock);
	gsi->stopped = true;
	list_for_each_entry_safe(pkt, tmp, &gsi->waiting, node)
		forget(gsi, pkt);
	spin_unlock_bh(&qp->sq.q.lock);
	hrtimer_cancel(&gsi->timer);
}

/**
 * mroce_gsi_create() - what a general services queue pair has besides
 * @qp: queue pair that is being made
 *
 * Return: 0 or -ENOMEM.
 */
int mroce_gsi_create(struct mroce_qp *qp)
{
	struct mroce_gsi *gsi = kzalloc_obj(*gsi, GFP_KERNEL);

	if (!gsi)
		return -ENOMEM;
	gsi->qp = qp;
	gsi->stopped = true;
	INIT_LIST_HEAD(&gsi->waiting);
	mroce_compat_hrtimer_setup(&gsi->timer, overdue, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	qp->gsi = gsi;
	return 0;
}
