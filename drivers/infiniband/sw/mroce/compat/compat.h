/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One interface for the kernels mroce is built for (6.1 to 7.3). What a kernel
 * has is found out by Kbuild.include in this directory.
 */
#ifndef MROCE_COMPAT_H
#define MROCE_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/flow.h>
#include <net/genetlink.h>
#include <net/inet_dscp.h>
#include <net/inet_sock.h>
#include <net/ipv6.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#ifdef MROCE_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>
#endif

/* Where the kernel has no typed allocation: of one object, with explicit flags */
#ifndef kzalloc_obj
#define kzalloc_obj(obj, gfp)	kzalloc(sizeof(obj), gfp)
#endif

/**
 * mroce_compat_sock_create() - open a UDP tunnel socket of the kernel
 * @net: network namespace; the socket holds no reference to it
 * @ipv6: IPv6 only, else IPv4
 * @port: local port, bound to the wildcard address
 * @encap_rcv: receive function, called in softirq context
 * @err_lookup: tells which ICMP errors are ours; may be NULL
 * @sk: the socket
 *
 * Checksum conversion is off: a checked super-packet must keep the state the
 * segments were checked with. Super-packets that the kernel does not cut are
 * taken whole.
 *
 * Return: 0, or the error of the socket layer (-EADDRINUSE: port is taken,
 * -EAFNOSUPPORT: no such family in this kernel).
 */
static inline int mroce_compat_sock_create(struct net *net, bool ipv6, __be16 port,
					   int (*encap_rcv)(struct sock *, struct sk_buff *),
					   int (*err_lookup)(struct sock *, struct sk_buff *),
					   struct sock **sk)
{
	struct udp_port_cfg port_cfg = {
		.family = ipv6 ? AF_INET6 : AF_INET,
		.local_udp_port = port,
		.use_udp_checksums = 1,
		.use_udp6_tx_checksums = 1,
		.use_udp6_rx_checksums = 1,
		.ipv6_v6only = 1,
	};
	struct udp_tunnel_sock_cfg cfg = {
		.encap_type = 1,
		.encap_rcv = encap_rcv,
		.encap_err_lookup = err_lookup,
	};
	struct socket *sock;
	int err;

	err = udp_sock_create(net, &port_cfg, &sock);
	if (err)
		return err;
#ifdef MROCE_HAVE_TUNNEL_SOCK
	setup_udp_tunnel_sock(net, sock->sk, &cfg);
#else
	setup_udp_tunnel_sock(net, sock, &cfg);
#endif
	inet_dec_convert_csum(sock->sk);
	udp_allow_gso(sock->sk);
	*sk = sock->sk;
	return 0;
}

/**
 * mroce_compat_sock_release() - close what mroce_compat_sock_create() opened
 * @sk: the socket
 *
 * The caller has made sure that no new user finds it; may sleep.
 */
static inline void mroce_compat_sock_release(struct sock *sk)
{
#ifdef MROCE_HAVE_TUNNEL_SOCK
	udp_tunnel_sock_release(sk);
#else
	udp_tunnel_sock_release(sk->sk_socket);
#endif
}

/**
 * mroce_compat_ip6_route() - find an IPv6 route
 * @net: network namespace
 * @sk: socket the packets will leave by
 * @fl6: flow; the lookup may fill in the source address
 *
 * Return: a route with a reference, or an error pointer.
 */
static inline struct dst_entry *mroce_compat_ip6_route(struct net *net, struct sock *sk,
						       struct flowi6 *fl6)
{
#ifdef MROCE_HAVE_IPV6_STUB
	return ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, NULL);
#else
	return ip6_dst_lookup_flow(net, sk, fl6, NULL);
#endif
}

/**
 * mroce_compat_fl4_dscp() - set the DSCP of an IPv4 flow
 * @fl4: flow
 * @dscp: 0 to 63
 */
static inline void mroce_compat_fl4_dscp(struct flowi4 *fl4, u8 dscp)
{
#ifdef MROCE_HAVE_FLOWI4_DSCP
	fl4->flowi4_dscp = inet_dsfield_to_dscp(dscp << 2);
#else
	fl4->flowi4_tos = dscp << 2;
#endif
}

/**
 * mroce_compat_hrtimer_setup() - initialise a high resolution timer
 * @t: timer
 * @fn: what it calls
 * @clock: clock base
 * @mode: HRTIMER_MODE_*
 */
static inline void mroce_compat_hrtimer_setup(struct hrtimer *t,
					      enum hrtimer_restart (*fn)(struct hrtimer *),
					      clockid_t clock, enum hrtimer_mode mode)
{
#ifdef MROCE_HAVE_HRTIMER_SETUP
	hrtimer_setup(t, fn, clock, mode);
#else
	hrtimer_init(t, clock, mode);
	t->function = fn;
#endif
}

/**
 * struct mroce_compat_bh - something to be done soon in softirq context, by whoever cannot do it
 * now: a work of the BH workqueue, on older kernels a tasklet
 */
struct mroce_compat_bh {
#ifdef MROCE_HAVE_BH_WORKQUEUE
	struct work_struct work;
#else
	struct tasklet_struct work;
#endif
};

#ifdef MROCE_HAVE_BH_WORKQUEUE
#define MROCE_COMPAT_BH_FN(name, bh) \
	static void name(struct work_struct *bh##_work)
#define mroce_compat_bh_entry(arg, type, member)	container_of(arg##_work, type, member.work)
#define mroce_compat_bh_init(bh, fn)			INIT_WORK(&(bh)->work, fn)
#else
#define MROCE_COMPAT_BH_FN(name, bh) \
	static void name(struct tasklet_struct *bh##_work)
#define mroce_compat_bh_entry(arg, type, member)	container_of(arg##_work, type, member.work)
#define mroce_compat_bh_init(bh, fn)			tasklet_setup(&(bh)->work, fn)
#endif

/** mroce_compat_bh_schedule() - have it done; any context, once if it waits already */
static inline void mroce_compat_bh_schedule(struct mroce_compat_bh *bh)
{
#ifdef MROCE_HAVE_BH_WORKQUEUE
	queue_work(system_bh_wq, &bh->work);
#else
	tasklet_schedule(&bh->work);
#endif
}

/** mroce_compat_bh_cancel() - it is not done any more, nor under way; may sleep */
static inline void mroce_compat_bh_cancel(struct mroce_compat_bh *bh)
{
#ifdef MROCE_HAVE_BH_WORKQUEUE
	cancel_work_sync(&bh->work);
#else
	tasklet_kill(&bh->work);
#endif
}

/**
 * mroce_compat_vm_flags_set() - add flags to a mapping that is being made
 * @vma: mapping, its mmap_lock held for writing
 * @flags: VM_*
 */
static inline void mroce_compat_vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
#ifdef MROCE_HAVE_VM_FLAGS_SET
	vm_flags_set(vma, flags);
#else
	vma->vm_flags |= flags;
#endif
}

/**
 * mroce_compat_umem_get() - pin memory of the calling process
 * @ibdev: device
 * @start: first byte
 * @length: bytes
 * @access: IB_ACCESS_*
 *
 * Return: the memory or an error pointer.
 */
static inline struct ib_umem *mroce_compat_umem_get(struct ib_device *ibdev, unsigned long start,
						    size_t length, int access)
{
#ifdef MROCE_HAVE_UMEM_GET_VA
	return ib_umem_get_va(ibdev, start, length, access);
#else
	return ib_umem_get(ibdev, start, length, access);
#endif
}

/**
 * mroce_compat_dump_attrs() - attributes of the request of a generic netlink dump
 * @cb: of the dump
 */
static inline struct nlattr **mroce_compat_dump_attrs(struct netlink_callback *cb)
{
#ifdef MROCE_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif /* MROCE_COMPAT_H */
