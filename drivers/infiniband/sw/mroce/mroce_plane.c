// SPDX-License-Identifier: GPL-2.0
/*
 * Planes: the netdevs a device sends and receives by. The first is the link's own;
 * more are added and removed at run time. What happens to netdevs and addresses
 * arrives here by notifiers and goes on to the connections (mroce_replan.c).
 */
#include <linux/delay.h>
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ipv6.h>
#include <net/netns/generic.h>

#include <linux/mroce.h>

#include "mroce.h"

#define V4_PREFIX_BITS	96	/* of ::ffff:0:0 */

static bool is_up(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev);
}

static void add_addr(struct mroce_plane *plane, enum mroce_plane_family family,
		     const struct in6_addr *addr, u8 prefix_bits)
{
	if (plane->has & 1u << family)
		return;
	plane->has |= 1u << family;
	plane->addr[family] = *addr;
	plane->prefix_bits[family] = prefix_bits;
}

static void read_addr4(struct mroce_plane *plane, const struct net_device *ndev)
{
	struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;
	struct in6_addr addr;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		if (ifa->ifa_flags & IFA_F_SECONDARY || ifa->ifa_scope > RT_SCOPE_LINK)
			continue;
		ipv6_addr_set_v4mapped(ifa->ifa_local, &addr);
		add_addr(plane, MROCE_PLANE_V4, &addr, V4_PREFIX_BITS + ifa->ifa_prefixlen);
	}
}

static void read_addr6(struct mroce_plane *plane, const struct net_device *ndev)
{
	struct inet6_dev *in6_dev = __in6_dev_get(ndev);
	const struct inet6_ifaddr *ifp;

	if (!in6_dev)
		return;
	read_lock_bh(&in6_dev->lock);
	list_for_each_entry(ifp, &in6_dev->addr_list, if_list) {
		if (ifp->flags & (IFA_F_DADFAILED | IFA_F_TEMPORARY))
			continue;
		add_addr(plane, ipv6_addr_type(&ifp->addr) & IPV6_ADDR_LINKLOCAL ?
			 MROCE_PLANE_LL6 : MROCE_PLANE_V6, &ifp->addr, ifp->prefix_len);
	}
	read_unlock_bh(&in6_dev->lock);
}

/* What a netdev is like now. */
static void read_netdev(struct mroce_plane *plane, const struct net_device *ndev)
{
	memset(plane, 0, sizeof(*plane));
	plane->ifindex = ndev->ifindex;
	plane->up = is_up(ndev);
	rcu_read_lock();
	read_addr4(plane, ndev);
	read_addr6(plane, ndev);
	rcu_read_unlock();
}

/**
 * mroce_plane_init() - the plane of a new device
 * @dev: device
 * @ndev: the link's netdev
 */
void mroce_plane_init(struct mroce_dev *dev, const struct net_device *ndev)
{
	spin_lock_init(&dev->plane_lock);
	read_netdev(&dev->plane[0], ndev);
	dev->n_planes = 1;
	dev->planes_no = get_random_u32();
}

static int find(const struct mroce_dev *dev, int ifindex)
{
	int i;

	for (i = 0; i < dev->n_planes; i++)
		if (dev->plane[i].ifindex == ifindex)
			return i;
	return -1;
}

/**
 * mroce_plane_has() - is a netdev one of a device's planes?
 * @dev: device
 * @ifindex: of the netdev
 *
 * Without the lock: a hint, for counting.
 */
bool mroce_plane_has(const struct mroce_dev *dev, int ifindex)
{
	return find(dev, ifindex) >= 0;
}

/**
 * mroce_plane_any_up() - does any plane work?
 * @dev: device
 */
bool mroce_plane_any_up(struct mroce_dev *dev)
{
	bool up = false;
	unsigned int i;

	spin_lock_bh(&dev->plane_lock);
	for (i = 0; i < dev->n_planes; i++)
		up |= dev->plane[i].up;
	spin_unlock_bh(&dev->plane_lock);
	return up;
}

/**
 * mroce_plane_refresh() - a netdev has changed: take over what concerns the plane
 * @dev: device
 * @ndev: the netdev
 *
 * Context: any; the connections are told.
 */
void mroce_plane_refresh(struct mroce_dev *dev, const struct net_device *ndev)
{
	bool changed = false, turned = false;
	struct mroce_plane now;
	int i;

	spin_lock_bh(&dev->plane_lock);
	i = find(dev, ndev->ifindex);
	if (i >= 0) {
		/* Under the lock: of two notifiers the later one knows better. */
		read_netdev(&now, ndev);
		now.label = dev->plane[i].label;
		now.leaving = dev->plane[i].leaving;
		changed = memcmp(&dev->plane[i], &now, sizeof(now));
		turned = dev->plane[i].up != now.up;
		dev->plane[i] = now;
		dev->planes_no += changed;
	}
	spin_unlock_bh(&dev->plane_lock);
	if (turned)
		mroce_nl_plane_event(dev, now.ifindex, now.label,
				     now.up ? MROCE_PLANE_EVENT_UP : MROCE_PLANE_EVENT_DOWN);
	if (changed)
		mroce_conn_planes(dev);
}

/* Takes plane @i out. Under plane_lock. */
static void take_out(struct mroce_dev *dev, int i)
{
	dev->n_planes--;
	memmove(&dev->plane[i], &dev->plane[i + 1], (dev->n_planes - i) * sizeof(dev->plane[0]));
	dev->planes_no++;
}

/* The first plane goes with its device. @left: only if it is one that is leaving */
static bool forget(struct mroce_dev *dev, int ifindex, bool left)
{
	u8 label = 0;
	int i;

	spin_lock_bh(&dev->plane_lock);
	i = find(dev, ifindex);
	if (i > 0 && left && !dev->plane[i].leaving)
		i = -1;
	if (i > 0) {
		label = dev->plane[i].label;
		take_out(dev, i);
	}
	spin_unlock_bh(&dev->plane_lock);
	if (i <= 0)
		return false;
	mroce_nl_plane_event(dev, ifindex, label, MROCE_PLANE_EVENT_REMOVED);
	mroce_conn_planes(dev);
	return true;
}

/**
 * mroce_plane_event() - something has happened to a netdev or its addresses
 * @ndev: any netdev
 * @gone: it is going away, or to another namespace
 * @port: not just an address: the port's state may be another; RTNL is held
 *
 * Context: any.
 */
void mroce_plane_event(const struct net_device *ndev, bool gone, bool port)
{
	struct mroce_net *mnet = mroce_net_of(dev_net(ndev));
	struct mroce_dev *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &mnet->devs, net_node) {
		if (gone)
			forget(dev, ndev->ifindex, false);
		else
			mroce_plane_refresh(dev, ndev);
		/* Also when an address, whose notifier may lack RTNL, was first with the news. */
		if (port)
			mroce_netdev_port(dev);
	}
	rcu_read_unlock();
}

static int addr4_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct in_ifaddr *ifa = ptr;

	mroce_plane_event(ifa->ifa_dev->dev, false, false);
	return NOTIFY_DONE;
}

static int addr6_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct inet6_ifaddr *ifp = ptr;

	mroce_plane_event(ifp->idev->dev, false, false);
	return NOTIFY_DONE;
}

static struct notifier_block addr4_notifier = { .notifier_call = addr4_event };
static struct notifier_block addr6_notifier = { .notifier_call = addr6_event };

/** mroce_plane_notifier_init() - watch addresses */
int mroce_plane_notifier_init(void)
{
	int err = register_inetaddr_notifier(&addr4_notifier);

	if (err)
		return err;
	err = register_inet6addr_notifier(&addr6_notifier);
	if (err)
		unregister_inetaddr_notifier(&addr4_notifier);
	return err;
}

/** mroce_plane_notifier_exit() - no more */
void mroce_plane_notifier_exit(void)
{
	unregister_inet6addr_notifier(&addr6_notifier);
	unregister_inetaddr_notifier(&addr4_notifier);
}

/* ---- adding and removing ---------------------------------------------------------------- */

/* Why @ndev cannot be a plane; under RTNL. */
static int check(struct mroce_dev *dev, const struct net_device *ndev,
		 struct netlink_ext_ack *extack)
{
	struct mroce_net *mnet = mroce_net_of(dev_net(ndev));
	struct mroce_dev *other;
	int err = 0;

	if (ndev->reg_state != NETREG_REGISTERED || !mroce_net_is(dev, dev_net(ndev))) {
		NL_SET_ERR_MSG(extack, "the netdev is not in the device's namespace");
		return -ENODEV;
	}
	if (ndev->flags & IFF_LOOPBACK || ndev->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "not an Ethernet netdev");
		return -EAFNOSUPPORT;
	}
	if (!mroce_seg_unit(ndev->mtu, true)) {
		NL_SET_ERR_MSG(extack, "the netdev's MTU leaves no room for payload");
		return -EMSGSIZE;
	}
	rcu_read_lock();
	list_for_each_entry_rcu(other, &mnet->devs, net_node)
		if (mroce_plane_has(other, ndev->ifindex))
			err = -EBUSY;
	rcu_read_unlock();
	if (err)
		NL_SET_ERR_MSG(extack, "the netdev is a plane already");
	return err;
}

static bool label_taken(const struct mroce_dev *dev, int label)
{
	unsigned int i;

	for (i = 0; i < dev->n_planes; i++)
		if (dev->plane[i].label == label)
			return true;
	return false;
}

/* Under plane_lock. */
static int insert(struct mroce_dev *dev, struct mroce_plane *plane, int label,
		  struct netlink_ext_ack *extack)
{
	unsigned int at = dev->n_planes;

	if (at == MROCE_MAX_PLANES) {
		NL_SET_ERR_MSG(extack, "the device has as many planes as it may");
		return -ENOSPC;
	}
	if (label < 0)
		for (label = 0; label_taken(dev, label);)
			label++;
	if (label_taken(dev, label)) {
		NL_SET_ERR_MSG(extack, "the device has a plane of this label");
		return -EEXIST;
	}
	plane->label = label;
	/* Both ends go through their planes in the order of the labels. */
	while (at > 1 && dev->plane[at - 1].label > label) {
		dev->plane[at] = dev->plane[at - 1];
		at--;
	}
	dev->plane[at] = *plane;
	dev->n_planes++;
	dev->planes_no++;
	return 0;
}

/**
 * mroce_plane_add() - one more plane for a device
 * @dev: device, held by the caller
 * @ndev: its netdev, held by the caller
 * @label: 0 to 255; negative: the first that is free
 * @extack: why not
 *
 * Context: task; takes RTNL.
 * Return: 0; -ENODEV, -EAFNOSUPPORT, -EMSGSIZE or -EBUSY: not this netdev; -EEXIST: not this
 * label; -ENOSPC: no more planes.
 */
int mroce_plane_add(struct mroce_dev *dev, struct net_device *ndev, int label,
		    struct netlink_ext_ack *extack)
{
	struct mroce_plane plane;
	int err;

	/* Its end, and every change, comes by notifiers under RTNL: none is missed. */
	rtnl_lock();
	err = check(dev, ndev, extack);
	if (!err) {
		read_netdev(&plane, ndev);
		spin_lock_bh(&dev->plane_lock);
		err = insert(dev, &plane, label, extack);
		spin_unlock_bh(&dev->plane_lock);
	}
	if (!err) {
		mroce_nl_plane_event(dev, plane.ifindex, plane.label, MROCE_PLANE_EVENT_ADDED);
		mroce_conn_planes(dev);
		mroce_netdev_port(dev);
	}
	rtnl_unlock();
	return err;
}

/* How long a plane that is removed may take to deliver what is on it. */
#define DRAIN_MS	500
/* And what the peer has sent there before it knew. */
#define LINGER_MS	100

/**
 * mroce_plane_del() - remove a plane, when what is in flight on it has arrived
 * @dev: device, held by the caller
 * @ifindex: of the netdev
 * @extack: why not
 *
 * The peers are told to send nothing new there. What has not arrived in half a second is
 * sent again on other planes.
 *
 * Context: task; takes RTNL.
 * Return: 0; -ENOENT: no plane of this netdev; -EBUSY: it is the link's own.
 */
int mroce_plane_del(struct mroce_dev *dev, int ifindex, struct netlink_ext_ack *extack)
{
	unsigned int ms;
	int i;

	spin_lock_bh(&dev->plane_lock);
	i = find(dev, ifindex);
	if (i > 0) {
		dev->plane[i].leaving = true;
		dev->planes_no++;
	}
	spin_unlock_bh(&dev->plane_lock);
	if (i > 0)
		mroce_conn_planes(dev);
	if (i < 0) {
		NL_SET_ERR_MSG(extack, "the netdev is no plane of this device");
		return -ENOENT;
	}
	if (!i) {
		NL_SET_ERR_MSG(extack, "the first plane is the link's own: 'rdma link delete'");
		return -EBUSY;
	}
	for (ms = 0; ms < DRAIN_MS && mroce_conn_drains(dev, ifindex); ms++)
		usleep_range(1000, 1500);
	if (ms)
		msleep(LINGER_MS);
	rtnl_lock();
	/* It may have gone, or been removed by somebody else, and be there again. */
	if (!forget(dev, ifindex, true)) {
		rtnl_unlock();
		NL_SET_ERR_MSG(extack, "the netdev has just gone");
		return -ENOENT;
	}
	mroce_netdev_port(dev);
	rtnl_unlock();
	return 0;
}

/**
 * mroce_plane_get() - the i-th plane
 * @dev: device
 * @i: which
 * @plane: copy of it
 *
 * Return: 0, -ENOENT beyond the last.
 */
int mroce_plane_get(struct mroce_dev *dev, unsigned int i, struct mroce_plane *plane)
{
	int err = -ENOENT;

	spin_lock_bh(&dev->plane_lock);
	if (i < dev->n_planes) {
		*plane = dev->plane[i];
		err = 0;
	}
	spin_unlock_bh(&dev->plane_lock);
	return err;
}

/* ---- what connections see --------------------------------------------------------------- */

static enum mroce_plane_family family_of(const struct mroce_conn *conn)
{
	if (!conn->ipv6)
		return MROCE_PLANE_V4;
	return ipv6_addr_type(&conn->laddr) & IPV6_ADDR_LINKLOCAL ? MROCE_PLANE_LL6 :
								    MROCE_PLANE_V6;
}

static void put_end(struct mroce_plane_end *end, const struct mroce_plane *plane,
		    const struct in6_addr *addr, u8 prefix_bits, int tag)
{
	memset(end, 0, sizeof(*end));
	memcpy(end->addr, addr, sizeof(end->addr));
	end->tag = tag;
	end->label = plane->label;
	end->up = plane->up;
	end->leaving = plane->leaving;
	end->prefix_bits = prefix_bits;
}

/**
 * mroce_plane_list() - planes of a device, as a connection may use them
 * @conn: connection: its own address stands for the first plane. To this host there is
 *	that one only
 * @mine: MROCE_MAX_PLANES entries, filled
 * @no: mroce_dev.planes_no, or NULL
 *
 * Return: how many.
 */
u32 mroce_plane_list(struct mroce_conn *conn, struct mroce_plane_end *mine, u32 *no)
{
	enum mroce_plane_family family = family_of(conn);
	struct mroce_dev *dev = conn->dev;
	int ifindex = READ_ONCE(conn->ifindex);
	u32 n = 0;
	int i;

	spin_lock_bh(&dev->plane_lock);
	put_end(&mine[n++], &dev->plane[0], &conn->laddr, dev->plane[0].prefix_bits[family],
		ifindex);
	/* Netdevs may have the same address. */
	for (i = 1; ifindex && i < dev->n_planes; i++)
		if (dev->plane[i].has & 1u << family &&
		    !mroce_planes_have(mine, n, dev->plane[i].addr[family].s6_addr))
			put_end(&mine[n++], &dev->plane[i], &dev->plane[i].addr[family],
				dev->plane[i].prefix_bits[family], dev->plane[i].ifindex);
	if (no)
		*no = dev->planes_no;
	spin_unlock_bh(&dev->plane_lock);
	return n;
}
