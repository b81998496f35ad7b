// SPDX-License-Identifier: GPL-2.0
/*
 * Which netdev a device lives on: link creation, and what the netdev tells us
 * (carrier, MTU, its end).
 *
 * Devices are found by their netdev through the core's own association, which
 * the core drops before the netdev goes: no netdev pointer is kept here.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/mroce.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include "mroce.h"

/* Serialises link creation, so that two of them cannot share a netdev. */
static DEFINE_MUTEX(newlink_mutex);

/* Why a link is refused. 'rdma link add' can report a number only. */
enum refusal {
	REFUSE_LOOPBACK,
	REFUSE_VLAN,
	REFUSE_NOT_ETHERNET,
	REFUSE_IN_USE,
	REFUSE_NAME_TAKEN,
	REFUSE_PORT_TAKEN,
	REFUSE_NO_MEMORY,
	REFUSE_NETDEV_GONE,
	REFUSE_OTHER,
};

/*
 * One errno for each reason, so that scripts can tell them apart. REFUSE_OTHER
 * stands for what the core or the socket layer return.
 */
static const struct {
	int err;
	const char *why;
} refusals[] = {
	[REFUSE_LOOPBACK]	= { -EOPNOTSUPP, "a loopback netdev has no GIDs" },
	[REFUSE_VLAN]		= { -EPROTONOSUPPORT, "use the netdev below the VLAN" },
	[REFUSE_NOT_ETHERNET]	= { -EAFNOSUPPORT, "not an Ethernet netdev" },
	[REFUSE_IN_USE]		= { -EBUSY, "the netdev has an mroce device already" },
	[REFUSE_NAME_TAKEN]	= { -EEXIST, "an RDMA device of this name exists" },
	[REFUSE_PORT_TAKEN]	= { -EADDRINUSE, "the UDP port is in use in this namespace" },
	[REFUSE_NO_MEMORY]	= { -ENOMEM, "no memory" },
	[REFUSE_NETDEV_GONE]	= { -ENODEV, "the netdev is going away" },
	[REFUSE_OTHER]		= { 0, "error of the core" },
};

static int refuse(const char *name, const struct net_device *ndev, enum refusal r, int err)
{
	if (r != REFUSE_OTHER)
		err = refusals[r].err;
	pr_err_ratelimited("cannot add %s on %s: %s (%d)\n", name, ndev->name, refusals[r].why,
			   err);
	return err;
}

/* What an error of the registration means; the core's words are not unique. */
static enum refusal refusal_of(int err)
{
	switch (err) {
	case -ENFILE:
		return REFUSE_NAME_TAKEN;
	case -EADDRINUSE:
		return REFUSE_PORT_TAKEN;
	case -ENOMEM:
		return REFUSE_NO_MEMORY;
	}
	return REFUSE_OTHER;
}

/*
 * The device of a netdev with a reference, or NULL. The driver id is a number
 * we chose ourselves: somebody else's device may have the same one.
 */
static struct mroce_dev *find(struct net_device *ndev)
{
	struct ib_device *ibdev;

	ibdev = ib_device_get_by_netdev(ndev, (enum rdma_driver_id)MROCE_DRIVER_ID);
	if (!ibdev)
		return NULL;
	if (ibdev->ops.owner != THIS_MODULE) {
		ib_device_put(ibdev);
		return NULL;
	}
	return to_mdev(ibdev);
}

static int check_netdev(struct net_device *ndev)
{
	struct mroce_dev *dev;

	if (ndev->flags & IFF_LOOPBACK)
		return REFUSE_LOOPBACK;
	if (is_vlan_dev(ndev))
		return REFUSE_VLAN;
	if (ndev->type != ARPHRD_ETHER)
		return REFUSE_NOT_ETHERNET;
	dev = find(ndev);
	if (dev) {
		ib_device_put(&dev->ibdev);
		return REFUSE_IN_USE;
	}
	return -1;
}

/**
 * mroce_netdev_check() - would 'rdma link add' on a netdev work?
 * @ndev: netdev, held by the caller
 * @why: the reason if it would not
 *
 * Context: task, no RTNL.
 * Return: 0, or the error that it would fail with.
 */
int mroce_netdev_check(struct net_device *ndev, const char **why)
{
	int refusal, err = 0;

	mutex_lock(&newlink_mutex);
	refusal = check_netdev(ndev);
	if (refusal < 0 && READ_ONCE(ndev->reg_state) != NETREG_REGISTERED)
		refusal = REFUSE_NETDEV_GONE;
	if (refusal < 0) {
		err = mroce_net_check(dev_net(ndev));
		if (err)
			refusal = refusal_of(err);
	}
	mutex_unlock(&newlink_mutex);
	if (refusal < 0)
		return 0;
	*why = refusals[refusal].why;
	return refusals[refusal].err ?: err;
}

/*
 * A netdev that went, or changed, while its device was being registered has sent
 * its notifications to nobody. To move to another namespace is to go.
 * Return: whether it went; the device is on its way out then.
 */
static bool missed_unregister(struct net_device *ndev)
{
	struct mroce_dev *dev;
	bool gone;

	rtnl_lock();
	dev = find(ndev);
	gone = ndev->reg_state != NETREG_REGISTERED || (dev && !mroce_net_is(dev, dev_net(ndev)));
	if (dev && !gone) {
		mroce_plane_refresh(dev, ndev);
		dev->port_up = mroce_plane_any_up(dev);
		WRITE_ONCE(dev->ndev_mtu, ndev->mtu);
	}
	rtnl_unlock();
	if (dev && gone)
		ib_unregister_device_and_put(&dev->ibdev);
	else if (dev)
		ib_device_put(&dev->ibdev);
	return gone;
}

static int newlink(const char *name, struct net_device *ndev)
{
	int refusal;
	int err = 0;

	mutex_lock(&newlink_mutex);
	refusal = check_netdev(ndev);
	if (refusal < 0) {
		err = mroce_dev_add(name, ndev);
		if (err)
			refusal = refusal_of(err);
		else if (missed_unregister(ndev))
			refusal = REFUSE_NETDEV_GONE;
	}
	if (refusal >= 0)
		err = refuse(name, ndev, refusal, err);
	mutex_unlock(&newlink_mutex);
	return err;
}

static struct rdma_link_ops link_ops = {
	.type = "mroce",
	.newlink = newlink,
};

/**
 * mroce_netdev_port() - a plane has come up or gone down: has the port?
 * @dev: device
 *
 * Context: RTNL held.
 */
void mroce_netdev_port(struct mroce_dev *dev)
{
	struct ib_event ev = { .device = &dev->ibdev, .element.port_num = 1 };
	bool up = mroce_plane_any_up(dev);

	ASSERT_RTNL();
	if (up == dev->port_up)
		return;
	dev->port_up = up;
	/*
	 * Planes are found in the list of the namespace, which a device is in before it is
	 * registered, and after: then nobody waits for the work that tells of the event.
	 */
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ev.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&ev);
	ib_device_put(&dev->ibdev);
}

/* Any netdev may be a plane, also of several devices' connections. */
static void planes_changed(struct net_device *ndev, unsigned long event)
{
	switch (event) {
	case NETDEV_CHANGEMTU:
		mroce_net_measure(ndev);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_UNREGISTER:
		mroce_plane_event(ndev, event == NETDEV_UNREGISTER, true);
		break;
	}
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct mroce_dev *dev;

	planes_changed(ndev, event);
	dev = find(ndev);
	if (!dev)
		return NOTIFY_DONE;

	/* While a device moves with 'rdma dev set netns' its netdev's moves are not seen. */
	if (!mroce_net_is(dev, dev_net(ndev)))
		event = NETDEV_UNREGISTER;
	switch (event) {
	case NETDEV_CHANGEMTU:
		WRITE_ONCE(dev->ndev_mtu, ndev->mtu);
		break;
	case NETDEV_UNREGISTER:
		/* RTNL is held: the removal itself must wait. */
		ib_unregister_device_queued(&dev->ibdev);
		break;
	}
	ib_device_put(&dev->ibdev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = netdev_event,
};

/**
 * mroce_netdev_init() - watch netdevs, then let links be added
 *
 * Return: 0 or a negative errno.
 */
int mroce_netdev_init(void)
{
	int err;

	err = register_netdevice_notifier(&netdev_notifier);
	if (err)
		return err;
	rdma_link_register(&link_ops);
	return 0;
}

/**
 * mroce_netdev_exit() - no more links, remove all devices
 *
 * On return no device is left and no removal is queued.
 */
void mroce_netdev_exit(void)
{
	rdma_link_unregister(&link_ops);
	ib_unregister_driver((enum rdma_driver_id)MROCE_DRIVER_ID);
	unregister_netdevice_notifier(&netdev_notifier);
}
