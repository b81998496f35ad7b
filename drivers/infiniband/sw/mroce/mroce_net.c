// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: one UDP port, two sockets (IPv4, IPv6), the devices and
 * the connections that live there.
 *
 * The sockets exist while the namespace has a device. Three parties may end
 * them (link removal, netdev removal, the namespace's own end, in any order);
 * only the list of devices under net_mutex decides, so they are released exactly
 * once. Whoever transmits finds the sockets through mroce_dev.mnet under RCU and
 * copes with there being none.
 */
#include <linux/module.h>
#include <linux/inetdevice.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/route.h>
#include <net/sock.h>

#include "mroce.h"

static unsigned int mroce_net_id __read_mostly;
static DEFINE_MUTEX(net_mutex);

/** mroce_net_of() - what we keep for a namespace */
struct mroce_net *mroce_net_of(const struct net *net)
{
	return net_generic(net, mroce_net_id);
}

/**
 * mroce_net_of_sock() - the namespace a socket of ours belongs to
 * @sk: the socket a packet arrived on
 */
struct mroce_net *mroce_net_of_sock(const struct sock *sk)
{
	return mroce_net_of(sock_net(sk));
}

/**
 * mroce_net_dev() - the device a packet belongs to, for counting
 * @mnet: namespace
 * @skb: received packet
 *
 * Context: RCU read side.
 * Return: the device of the receiving netdev, else any, else NULL.
 */
struct mroce_dev *mroce_net_dev(struct mroce_net *mnet, const struct sk_buff *skb)
{
	struct mroce_dev *dev, *any = NULL;

	list_for_each_entry_rcu(dev, &mnet->devs, net_node) {
		if (skb->dev && mroce_plane_has(dev, skb->dev->ifindex))
			return dev;
		any = dev;
	}
	return any;
}

/**
 * mroce_net_measure() - the MTU of a netdev has changed
 * @ndev: any netdev: addresses of a device may be on one above its own
 *
 * Context: RTNL held.
 */
void mroce_net_measure(const struct net_device *ndev)
{
	struct mroce_net *mnet = mroce_net_of(dev_net(ndev));
	struct mroce_dev *dev;

	rcu_read_lock();
	list_for_each_entry_rcu(dev, &mnet->devs, net_node)
		mroce_conn_measure(dev, ndev->ifindex);
	rcu_read_unlock();
}

/**
 * mroce_net_is_local() - is it an address of this host?
 * @dev: device
 * @addr: address; packets to it take the loopback interface
 */
bool mroce_net_is_local(struct mroce_dev *dev, const struct in6_addr *addr)
{
	struct mroce_net *mnet;
	bool local = false;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	if (mnet && ipv6_addr_v4mapped(addr))
		local = inet_addr_type(mnet->net, addr->s6_addr32[3]) == RTN_LOCAL;
	else if (mnet && rcu_access_pointer(mnet->sk6))
		local = ipv6_chk_addr(mnet->net, addr, NULL, 0);
	rcu_read_unlock();
	return local;
}

/**
 * mroce_net_can_reach() - is the way to a peer there at all?
 * @dev: device
 * @raddr: remote GID
 *
 * Context: task.
 * Return: 0; -ENETDOWN when the peer is on this host and the loopback interface is down;
 * -EAFNOSUPPORT for IPv6 where there is none.
 */
int mroce_net_can_reach(struct mroce_dev *dev, const struct in6_addr *raddr)
{
	bool local = mroce_net_is_local(dev, raddr);
	struct mroce_net *mnet;
	int err = 0;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	if (mnet && local && !netif_running(mnet->net->loopback_dev))
		err = -ENETDOWN;
	if (mnet && !ipv6_addr_v4mapped(raddr) && !rcu_access_pointer(mnet->sk6))
		err = -EAFNOSUPPORT;
	rcu_read_unlock();
	return err;
}

/**
 * mroce_net_bound_to() - what routes to a peer are bound to
 * @dev: device
 * @raddr: remote GID
 * @ifindex: netdev of the local one
 *
 * Return: @ifindex, or 0 where packets take the loopback interface: to this host.
 */
int mroce_net_bound_to(struct mroce_dev *dev, const struct in6_addr *raddr, int ifindex)
{
	/* Link-local addresses mean nothing without their interface. */
	if (!mroce_net_is_local(dev, raddr) || ipv6_addr_type(raddr) & IPV6_ADDR_LINKLOCAL)
		return ifindex;
	return 0;
}

static int open_socket(struct mroce_net *mnet, bool ipv6, struct sock **sk)
{
	int err = mroce_compat_sock_create(mnet->net, ipv6, htons(MROCE_UDP_PORT),
					   mroce_recv_encap, mroce_xmit_err_lookup, sk);

	/* Words of the socket layer for lack of memory; the core has other uses for them. */
	return err == -ENFILE || err == -ENOBUFS ? -ENOMEM : err;
}

static int open_sockets(struct mroce_net *mnet)
{
	struct sock *sk4 = NULL, *sk6 = NULL;
	int err;

	err = open_socket(mnet, false, &sk4);
	if (err)
		return err;

	/* A host with IPv6 switched off is fine, a port in use is not. */
	err = open_socket(mnet, true, &sk6);
	if (err && err != -EAFNOSUPPORT && err != -EPFNOSUPPORT) {
		mroce_compat_sock_release(sk4);
		return err;
	}
	rcu_assign_pointer(mnet->sk4, sk4);
	rcu_assign_pointer(mnet->sk6, err ? NULL : sk6);
	return 0;
}

static void close_sockets(struct mroce_net *mnet)
{
	struct sock *sk4 = rcu_dereference_protected(mnet->sk4, lockdep_is_held(&net_mutex));
	struct sock *sk6 = rcu_dereference_protected(mnet->sk6, lockdep_is_held(&net_mutex));

	RCU_INIT_POINTER(mnet->sk4, NULL);
	RCU_INIT_POINTER(mnet->sk6, NULL);
	synchronize_net();
	if (sk4)
		mroce_compat_sock_release(sk4);
	if (sk6)
		mroce_compat_sock_release(sk6);
}

/**
 * mroce_net_check() - could a device use a namespace?
 * @net: namespace
 *
 * Context: task.
 * Return: 0, or what mroce_net_attach() would.
 */
int mroce_net_check(struct net *net)
{
	struct mroce_net *mnet = net_generic(net, mroce_net_id);
	int err = 0;

	mutex_lock(&net_mutex);
	if (list_empty(&mnet->devs)) {
		err = open_sockets(mnet);
		if (!err)
			close_sockets(mnet);
	}
	mutex_unlock(&net_mutex);
	return err;
}

/**
 * mroce_net_attach() - a device starts to use a namespace
 * @dev: new device, not yet registered
 * @net: its netdev's namespace
 *
 * Return: 0, -EADDRINUSE when the UDP port is taken, -ENOMEM, ...
 */
int mroce_net_attach(struct mroce_dev *dev, struct net *net)
{
	struct mroce_net *mnet = mroce_net_of(net);
	int err = 0;

	mutex_lock(&net_mutex);
	if (list_empty(&mnet->devs))
		err = open_sockets(mnet);
	if (!err) {
		list_add_tail_rcu(&dev->net_node, &mnet->devs);
		rcu_assign_pointer(dev->mnet, mnet);
	}
	mutex_unlock(&net_mutex);
	return err;
}

/**
 * mroce_net_detach() - a device stops using its namespace
 * @dev: device; may have been detached before, by the namespace's end
 *
 * On return nobody reaches the device from a packet any more.
 */
void mroce_net_detach(struct mroce_dev *dev)
{
	struct mroce_net *mnet;

	mutex_lock(&net_mutex);
	mnet = rcu_dereference_protected(dev->mnet, lockdep_is_held(&net_mutex));
	if (mnet) {
		list_del_rcu(&dev->net_node);
		RCU_INIT_POINTER(dev->mnet, NULL);
		if (list_empty(&mnet->devs))
			close_sockets(mnet);
		synchronize_net();
	}
	mutex_unlock(&net_mutex);
}

/**
 * mroce_net_is() - is it the namespace a device lives in?
 * @dev: device
 * @net: that of its netdev, which may have moved away
 */
bool mroce_net_is(struct mroce_dev *dev, const struct net *net)
{
	struct mroce_net *mnet;
	bool same;

	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	same = mnet && net_eq(mnet->net, net);
	rcu_read_unlock();
	return same;
}

static int __net_init net_start(struct net *net)
{
	struct mroce_net *mnet = mroce_net_of(net);
	unsigned int i;

	mnet->net = net;
	INIT_LIST_HEAD(&mnet->devs);
	spin_lock_init(&mnet->hash_lock);
	for (i = 0; i < ARRAY_SIZE(mnet->conns); i++) {
		INIT_HLIST_HEAD(&mnet->conns[i]);
		INIT_HLIST_HEAD(&mnet->peer_conns[i]);
	}
	mnet->hash_seed = get_random_u32();
	get_random_bytes(&mnet->cookie_key, sizeof(mnet->cookie_key));
	return 0;
}

/* The connections belong to the devices; the hash goes with the namespace. */
static void empty_hash(struct mroce_net *mnet)
{
	struct mroce_conn *conn;
	struct hlist_node *next;
	unsigned int i;

	spin_lock_bh(&mnet->hash_lock);
	for (i = 0; i < ARRAY_SIZE(mnet->conns); i++)
		hlist_for_each_entry_safe(conn, next, &mnet->conns[i], hash_node) {
			hlist_del_init_rcu(&conn->hash_node);
			hlist_del_init_rcu(&conn->dcid_node);
		}
	spin_unlock_bh(&mnet->hash_lock);
}

/*
 * The netdevs are gone, or have moved to the first namespace, but the
 * unregistration of their devices may still be queued: cut the devices off
 * here, they find mnet NULL when they come. They come no further than
 * mroce_net_detach() while net_mutex is held.
 */
static void __net_exit net_stop(struct net *net)
{
	struct mroce_net *mnet = mroce_net_of(net);
	struct mroce_dev *dev, *tmp;

	mutex_lock(&net_mutex);
	/* The last device that left has closed the sockets, and waited. */
	if (list_empty(&mnet->devs))
		goto unlock;

	/*
	 * Whoever finds mnet NULL frees a connection without taking it out of the
	 * hash, a grace period later: not before we have left this section.
	 */
	rcu_read_lock();
	list_for_each_entry(dev, &mnet->devs, net_node)
		RCU_INIT_POINTER(dev->mnet, NULL);
	empty_hash(mnet);
	rcu_read_unlock();
	close_sockets(mnet);

	/* Nobody transmits any more, but routes of IPv6 point into the namespace. */
	list_for_each_entry_safe(dev, tmp, &mnet->devs, net_node) {
		mroce_conn_drop_routes(dev);
		list_del_rcu(&dev->net_node);
	}
	synchronize_net();
unlock:
	mutex_unlock(&net_mutex);
}

static struct pernet_operations net_ops = {
	.init = net_start,
	.exit = net_stop,
	.id = &mroce_net_id,
	.size = sizeof(struct mroce_net),
};

/** mroce_net_init() - register with the namespaces */
int mroce_net_init(void)
{
	return register_pernet_subsys(&net_ops);
}

/** mroce_net_exit() - the module goes; no device is left */
void mroce_net_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
