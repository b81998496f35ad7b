// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink group "monitor": planes, connections and paths that change.
 *
 * Events come from softirq, with locks held. There the message is made and queued, and only
 * when somebody listens; a work item sends it, in order. It holds the namespace that the
 * message is for, and never waits for a reader: who does not keep up loses messages, and
 * learns of it (ENOBUFS).
 */
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include "mroce_nl.h"

/* Only one group: its offset in the family */
#define MONITOR		0

/* Events that wait to be sent; more are dropped. */
#define EVENTS_MAX	1024

/** struct event_cb - what is kept in an event's skb until it is sent */
struct event_cb {
	struct net *net;
};

static void send_events(struct work_struct *work);

static struct sk_buff_head events;
static DECLARE_WORK(events_work, send_events);

static void send_events(struct work_struct *work)
{
	struct sk_buff *skb;
	struct net *net;

	while ((skb = skb_dequeue(&events))) {
		net = ((struct event_cb *)skb->cb)->net;
		/* netlink keeps its own there. */
		memset(skb->cb, 0, sizeof(skb->cb));
		genlmsg_multicast_netns(&mroce_nl_family, net, skb, 0, MONITOR, GFP_KERNEL);
		put_net(net);
		cond_resched();
	}
}

/** mroce_nl_event_init() - before anybody makes events */
void mroce_nl_event_init(void)
{
	skb_queue_head_init(&events);
}

/** mroce_nl_event_flush() - the module goes: send what is left. Nobody makes events any more. */
void mroce_nl_event_flush(void)
{
	flush_work(&events_work);
}

/**
 * mroce_nl_listened() - does anybody want events of a device?
 * @dev: device
 *
 * Context: any.
 */
bool mroce_nl_listened(const struct mroce_dev *dev)
{
	struct mroce_net *mnet;
	bool listened;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	listened = mnet && genl_has_listeners(&mroce_nl_family, mnet->net, MONITOR);
	rcu_read_unlock();
	return listened;
}

/* The namespace of a device, with a reference, unless it is ending. */
static struct net *hold_net(const struct mroce_dev *dev)
{
	struct mroce_net *mnet;
	struct net *net = NULL;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	if (mnet)
		net = maybe_get_net(mnet->net);
	rcu_read_unlock();
	return net;
}

/* A message about @dev, begun. Return: NULL when nobody wants it, or there is no memory. */
static struct sk_buff *begin(const struct mroce_dev *dev, u8 cmd, void **hdr)
{
	static const struct mroce_nl_to group;
	struct sk_buff *msg;

	if (!mroce_nl_listened(dev) || skb_queue_len_lockless(&events) >= EVENTS_MAX)
		return NULL;
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC | __GFP_NOWARN);
	if (!msg)
		return NULL;
	*hdr = mroce_nl_begin(msg, &group, cmd);
	if (*hdr && !mroce_nl_put_dev(msg, dev))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

static void end(const struct mroce_dev *dev, struct sk_buff *msg, void *hdr, int err)
{
	struct net *net = mroce_nl_end(msg, hdr, err) ? NULL : hold_net(dev);

	if (!net) {
		nlmsg_free(msg);
		return;
	}
	BUILD_BUG_ON(sizeof(struct event_cb) > sizeof_field(struct sk_buff, cb));
	((struct event_cb *)msg->cb)->net = net;
	skb_queue_tail(&events, msg);
	schedule_work(&events_work);
}

/**
 * mroce_nl_plane_event() - a plane was added, removed, went up or down
 * @dev: device
 * @ifindex: netdev of the plane
 * @label: its label
 * @what: enum mroce_plane_event
 *
 * Context: any; never sleeps.
 */
void mroce_nl_plane_event(const struct mroce_dev *dev, int ifindex, u8 label, u8 what)
{
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = begin(dev, MROCE_CMD_PLANE_NTF, &hdr);
	if (!msg)
		return;
	err = nla_put_u32(msg, MROCE_A_PLANE_IFINDEX, ifindex) ?:
	      nla_put_u8(msg, MROCE_A_PLANE_LABEL, label) ?:
	      nla_put_u8(msg, MROCE_A_PLANE_EVENT, what);
	end(dev, msg, hdr, err);
}

/**
 * mroce_nl_conn_event() - a connection opened, began anew, or goes
 * @conn: connection
 * @what: enum mroce_conn_event
 *
 * Context: any; never sleeps.
 */
void mroce_nl_conn_event(const struct mroce_conn *conn, u8 what)
{
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = begin(conn->dev, MROCE_CMD_CONN_NTF, &hdr);
	if (!msg)
		return;
	err = nla_put_u32(msg, MROCE_A_CONN_ID, conn->no) ?:
	      nla_put_in6_addr(msg, MROCE_A_CONN_LOCAL, &conn->laddr) ?:
	      nla_put_in6_addr(msg, MROCE_A_CONN_REMOTE, &conn->raddr) ?:
	      nla_put_u8(msg, MROCE_A_CONN_DSCP, conn->dscp) ?:
	      nla_put_u8(msg, MROCE_A_CONN_EVENT, what);
	end(conn->dev, msg, hdr, err);
}

/**
 * mroce_nl_path_event() - a path has another state or another source port
 * @conn: its connection
 * @p: the path, as it is now
 * @old_state: what it was before
 *
 * Context: conn->tx_lock held; never sleeps.
 */
void mroce_nl_path_event(const struct mroce_conn *conn, const struct mroce_path *p, u8 old_state)
{
	struct sk_buff *msg;
	void *hdr;
	int err;

	msg = begin(conn->dev, MROCE_CMD_PATH_NTF, &hdr);
	if (!msg)
		return;
	err = nla_put_u32(msg, MROCE_A_PATH_CONN_ID, conn->no) ?:
	      nla_put_u8(msg, MROCE_A_PATH_ID, p->id) ?:
	      nla_put_u8(msg, MROCE_A_PATH_STATE, p->state) ?:
	      nla_put_u8(msg, MROCE_A_PATH_OLD_STATE, old_state) ?:
	      nla_put_u8(msg, MROCE_A_PATH_PLANE, mroce_nl_path_label(conn, p)) ?:
	      nla_put_u16(msg, MROCE_A_PATH_SOURCE_PORT, p->sport);
	end(conn->dev, msg, hdr, err);
}
