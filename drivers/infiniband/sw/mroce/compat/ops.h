/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries of struct ib_device_ops whose type depends on the kernel. For the one
 * file that fills the struct, after mroce.h.
 */
#ifndef MROCE_COMPAT_OPS_H
#define MROCE_COMPAT_OPS_H

#include <rdma/uverbs_ioctl.h>

#ifdef MROCE_HAVE_CREATE_CQ_ATTRS
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	return mroce_cq_create(ibcq, attr, attrs ? &attrs->driver_udata : NULL);
}
#else
static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata)
{
	return mroce_cq_create(ibcq, attr, udata);
}
#endif

#ifdef MROCE_HAVE_REG_MR_DMAH
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				 struct ib_dmah *dmah, struct ib_udata *udata)
{
	/* Hints for hardware */
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return mroce_mr_reg_user(pd, start, length, iova, access, udata);
}
#else
static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				 struct ib_udata *udata)
{
	return mroce_mr_reg_user(pd, start, length, iova, access, udata);
}
#endif

#ifdef MROCE_HAVE_PORT_EVENTS
/* A port has several netdevs, of which the core knows the first: mroce_netdev_port() reports. */
static void report_port_event(struct ib_device *ibdev, struct net_device *ndev,
			      unsigned long event)
{
}

#define MROCE_COMPAT_PORT_OPS	.report_port_event = report_port_event,
#else
#define MROCE_COMPAT_PORT_OPS
#endif

#ifdef MROCE_HAVE_FILL_RES_SRQ
#define MROCE_COMPAT_SRQ_OPS	.fill_res_srq_entry = mroce_res_fill_srq,
#else
#define MROCE_COMPAT_SRQ_OPS
#endif

/* Initialisers of these entries */
#ifdef MROCE_HAVE_CREATE_USER_CQ
#define MROCE_COMPAT_OPS MROCE_COMPAT_PORT_OPS MROCE_COMPAT_SRQ_OPS .create_cq = create_cq, \
			 .create_user_cq = create_cq, .reg_user_mr = reg_user_mr
#else
#define MROCE_COMPAT_OPS MROCE_COMPAT_PORT_OPS MROCE_COMPAT_SRQ_OPS .create_cq = create_cq, \
			 .reg_user_mr = reg_user_mr
#endif

/*
 * Where the device belongs when namespaces are exclusive. Older kernels create
 * every device in the first namespace; in shared mode that makes no difference.
 */
#ifdef MROCE_HAVE_ALLOC_WITH_NET
#define mroce_compat_alloc_device(type, member, net)	ib_alloc_device_with_net(type, member, net)
#else
#define mroce_compat_alloc_device(type, member, net) \
	({ (void)(net); ib_alloc_device(type, member); })
#endif

#endif /* MROCE_COMPAT_OPS_H */
