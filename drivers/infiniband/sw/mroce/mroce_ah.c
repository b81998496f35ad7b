// SPDX-License-Identifier: GPL-2.0
/* Address handles, and what an address vector means. */
#include <rdma/ib_cache.h>

#include "mroce_dgram.h"

/* The netdev a GID belongs to; 0 when it is going. */
static int ifindex_of(const struct ib_gid_attr *sgid_attr)
{
	struct net_device *ndev;
	int ifindex = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid_attr);
	if (!IS_ERR(ndev))
		ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/**
 * mroce_ah_ends() - the two ends an address vector names
 * @ah: address vector
 * @laddr: local GID
 * @raddr: remote GID
 * @ifindex: netdev of the local one, 0 when it is going
 *
 * Return: 0; -EINVAL for what cannot be an address of a peer, -EOPNOTSUPP for other GIDs
 * than those of RoCE v2.
 */
int mroce_ah_ends(const struct rdma_ah_attr *ah, struct in6_addr *laddr, struct in6_addr *raddr,
		  int *ifindex)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);

	if (ah->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(ah) & IB_AH_GRH) ||
	    !grh->sgid_attr)
		return -EINVAL;
	if (grh->sgid_attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EOPNOTSUPP;
	memcpy(laddr, grh->sgid_attr->gid.raw, sizeof(*laddr));
	memcpy(raddr, grh->dgid.raw, sizeof(*raddr));
	if (ipv6_addr_any(raddr) || ipv6_addr_is_multicast(raddr) ||
	    ipv6_addr_v4mapped(laddr) != ipv6_addr_v4mapped(raddr))
		return -EINVAL;
	*ifindex = ifindex_of(grh->sgid_attr);
	return 0;
}

/* Publish under a number. The slot is reserved first, so that nothing fails after the response. */
static int publish(struct mroce_dev *dev, struct mroce_ah *ah, struct ib_udata *udata)
{
	struct mroce_create_ah_resp resp = {};
	int err;

	err = xa_alloc_cyclic(&dev->ahs, &ah->num, NULL, XA_LIMIT(1, MROCE_MAX_OBJECTS),
			      &dev->next_ah, GFP_KERNEL);
	if (err < 0)
		return -ENOMEM;
	resp.ah_num = ah->num;
	err = mroce_udata_respond(udata, &resp, sizeof(resp));
	if (!err)
		err = xa_err(xa_store(&dev->ahs, ah->num, ah->av, GFP_KERNEL));
	if (err)
		xa_erase(&dev->ahs, ah->num);
	return err;
}

/**
 * mroce_ah_create() - ib_device_ops.create_ah, create_user_ah
 * @ibah: to be set up, zeroed by the core
 * @init: address vector, and whether this may sleep
 * @udata: NULL for a kernel user
 *
 * Return: 0; as mroce_ah_ends(); -EOPNOTSUPP for a driver part, which there is none of; -ENOMEM;
 * -EINVAL, -EFAULT for the response.
 */
int mroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(init->ah_attr);
	bool may_sleep = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct mroce_dev *dev = to_mdev(ibah->device);
	struct mroce_ah *ah = container_of(ibah, struct mroce_ah, ibah);
	struct mroce_av *av;
	int err;

	if (udata && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	av = kzalloc_obj(*av, may_sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC);
	if (!av)
		return -ENOMEM;
	err = mroce_ah_ends(init->ah_attr, &av->laddr, &av->raddr, &av->ifindex);
	if (err)
		goto free;
	av->pd = ibah->pd;
	av->tos = grh->traffic_class;
	av->flow_label = grh->flow_label;
	av->ifindex = mroce_net_bound_to(dev, &av->raddr, av->ifindex ?: dev->ifindex);
	ah->av = av;
	if (udata)
		err = publish(dev, ah, udata);
	if (!err)
		return 0;
free:
	kfree(av);
	return err;
}

/**
 * mroce_ah_destroy() - ib_device_ops.destroy_ah
 * @ibah: address handle; freed by the core
 * @flags: whether this may sleep
 *
 * What was taken in goes on; requests that were not fail. Users in the kernel wait for their
 * completions first, as verbs want it.
 *
 * Return: 0.
 */
int mroce_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	struct mroce_ah *ah = container_of(ibah, struct mroce_ah, ibah);

	if (ah->num)
		xa_erase(&to_mdev(ibah->device)->ahs, ah->num);
	kfree_rcu(ah->av, rcu);
	return 0;
}
