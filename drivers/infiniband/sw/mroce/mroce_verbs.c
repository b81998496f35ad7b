// SPDX-License-Identifier: GPL-2.0
/* The device: what it says about itself, and the small objects. */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_verbs.h>

#include "mroce_dgram.h"
#include "compat/ops.h"

/* Not a registered OUI; "MRC". No tool knows it, so none takes us for another device. */
#define VENDOR_ID	0x4d5243
#define VENDOR_PART_ID	0x4d52

#define GID_TBL_LEN	128

/* Bytes of an Ethernet payload that are not ours to fill: IPv6, UDP, DATA header */
#define HEADER_BYTES	(40 + 8 + 64)

/**
 * mroce_udata_respond() - hand a driver response to the user
 * @udata: of the call
 * @resp: response
 * @size: its size
 *
 * Return: 0, -EINVAL when the user has no room for it, -EFAULT.
 */
int mroce_udata_respond(struct ib_udata *udata, void *resp, size_t size)
{
	if (udata->outlen < size)
		return -EINVAL;
	return ib_copy_to_udata(udata, resp, size);
}

static int query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	*attr = (struct ib_device_attr) {
		.fw_ver = (u64)MROCE_WIRE_VERSION << 32 | MROCE_ABI_VERSION << 16,
		.sys_image_guid = ibdev->node_guid,
		.max_mr_size = ~0ull,
		.page_size_cap = 0xfffff000,
		.vendor_id = VENDOR_ID,
		.vendor_part_id = VENDOR_PART_ID,
		.hw_ver = 1,
		.max_qp = MROCE_MAX_OBJECTS,
		.max_qp_wr = MROCE_MAX_QP_WR,
		.device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_SYS_IMAGE_GUID |
				    IB_DEVICE_PORT_ACTIVE_EVENT,
		.kernel_cap_flags = IBK_ALLOW_USER_UNREG,
		.max_send_sge = MROCE_MAX_SGE,
		.max_recv_sge = MROCE_MAX_SGE,
		.max_sge_rd = MROCE_MAX_SGE,
		.max_cq = MROCE_MAX_OBJECTS,
		.max_cqe = MROCE_MAX_CQE,
		.max_mr = MROCE_MAX_OBJECTS,
		.max_pd = MROCE_MAX_OBJECTS,
		.max_ah = MROCE_MAX_OBJECTS,
		.max_srq = MROCE_MAX_SRQ,
		.max_srq_wr = MROCE_MAX_SRQ_WR,
		.max_srq_sge = MROCE_MAX_SGE,
		.max_qp_rd_atom = MROCE_MAX_RDATOM,
		.max_qp_init_rd_atom = MROCE_MAX_RDATOM,
		.max_res_rd_atom = MROCE_MAX_RDATOM * MROCE_MAX_OBJECTS,
		.atomic_cap = IB_ATOMIC_HCA,
		.masked_atomic_cap = IB_ATOMIC_NONE,
		.max_pkeys = 1,
		.local_ca_ack_delay = 15,
	};
	return 0;
}

static enum ib_mtu active_mtu(unsigned int ndev_mtu)
{
	enum ib_mtu mtu = IB_MTU_256;

	while (mtu < IB_MTU_4096 && ib_mtu_enum_to_int(mtu + 1) + HEADER_BYTES <= ndev_mtu)
		mtu++;
	return mtu;
}

/**
 * mroce_port_mtu_bytes() - the port's MTU as verbs know it: the longest datagram
 * @dev: device
 */
unsigned int mroce_port_mtu_bytes(const struct mroce_dev *dev)
{
	return ib_mtu_enum_to_int(active_mtu(READ_ONCE(dev->ndev_mtu)));
}

/* By number, not by a pointer kept: the netdev may be going. */
static void query_netdev(struct mroce_dev *dev, struct ib_port_attr *attr)
{
	struct net_device *ndev;
	struct mroce_net *mnet;

	attr->state = IB_PORT_DOWN;
	attr->active_mtu = IB_MTU_256;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	rcu_read_lock();
	mnet = rcu_dereference(dev->mnet);
	ndev = mnet ? dev_get_by_index_rcu(mnet->net, dev->ifindex) : NULL;
	if (ndev)
		attr->active_mtu = active_mtu(READ_ONCE(ndev->mtu));
	if (ndev && netif_running(ndev))
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	rcu_read_unlock();
	/* While any plane works. */
	if (ndev && mroce_plane_any_up(dev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	}
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct mroce_dev *dev = to_mdev(ibdev);

	/* The core has zeroed it. */
	query_netdev(dev, attr);
	attr->max_mtu = IB_MTU_4096;
	attr->gid_tbl_len = GID_TBL_LEN;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->ip_gids = true;
	attr->max_msg_sz = MROCE_MAX_MSG_BYTES;
	attr->pkey_tbl_len = 1;
	attr->max_vl_num = 1;
	/* Fails without a netdev only: any speed will do. */
	if (ib_get_eth_speed(ibdev, port, &attr->active_speed, &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *immutable)
{
	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = GID_TBL_LEN;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static void get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "wire %u abi %u", MROCE_WIRE_VERSION,
		 MROCE_ABI_VERSION);
}

static int alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct mroce_ucontext *uc = to_muc(ibuc);
	struct mroce_alloc_ucontext_resp resp = {
		.abi_version = MROCE_ABI_VERSION,
		.max_inline_bytes = MROCE_MAX_INLINE,
	};

	uc->number = 1 + atomic_fetch_inc(&to_mdev(ibuc->device)->next_user);
	mutex_init(&uc->lock);
	INIT_LIST_HEAD(&uc->orphans);
	return mroce_udata_respond(udata, &resp, sizeof(resp));
}

/* A mapping holds the file: only when the device has been taken away is there one now. */
static void dealloc_ucontext(struct ib_ucontext *ibuc)
{
	mroce_ring_free_orphans(to_muc(ibuc), true);
}

/*
 * Its presence tells the core that a device can go, or move to another network
 * namespace, while users have it open. There is nothing to do: the rings are
 * plain memory, which each mapping keeps alive, and no register is mapped.
 */
static void disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/*
 * The core's last call, after all users have gone, also when registration has
 * failed half-way: every step copes with not having been taken.
 */
static void dealloc_driver(struct ib_device *ibdev)
{
	struct mroce_dev *dev = to_mdev(ibdev);

	/* Only QPs make connections, and they are gone. The hash they are in is the namespace's. */
	mroce_conn_kill_all(dev);
	mroce_net_detach(dev);
	WARN_ON(!xa_empty(&dev->qps));
	WARN_ON(!xa_empty(&dev->mrs));
	WARN_ON(!xa_empty(&dev->ahs));
	xa_destroy(&dev->qps);
	WARN_ON(!ida_is_empty(&dev->srq_nums));
	xa_destroy(&dev->mrs);
	xa_destroy(&dev->ahs);
	ida_destroy(&dev->srq_nums);
}

static const struct ib_device_ops dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)MROCE_DRIVER_ID,
	.uverbs_abi_ver = MROCE_ABI_VERSION,

	.alloc_hw_port_stats = mroce_stats_alloc,
	.alloc_pd = alloc_pd,
	.alloc_ucontext = alloc_ucontext,
	.create_ah = mroce_ah_create,
	.create_qp = mroce_qp_create,
	.create_srq = mroce_srq_create,
	.create_user_ah = mroce_ah_create,
	.dealloc_driver = dealloc_driver,
	.dealloc_pd = dealloc_pd,
	.dealloc_ucontext = dealloc_ucontext,
	.dereg_mr = mroce_mr_dereg,
	.destroy_ah = mroce_ah_destroy,
	.destroy_cq = mroce_cq_destroy,
	.destroy_qp = mroce_qp_destroy,
	.destroy_srq = mroce_srq_destroy,
	.disassociate_ucontext = disassociate_ucontext,
	.fill_res_cq_entry = mroce_res_fill_cq,
	.fill_res_mr_entry = mroce_res_fill_mr,
	.fill_res_qp_entry = mroce_res_fill_qp,
	.get_dev_fw_str = get_dev_fw_str,
	.get_dma_mr = mroce_mr_get_dma,
	.get_hw_stats = mroce_stats_get,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.mmap = mroce_mmap,
	.mmap_free = mroce_mmap_free,
	.modify_qp = mroce_qp_modify,
	.modify_srq = mroce_srq_modify,
	.poll_cq = mroce_cq_poll,
	.post_recv = mroce_qp_post_recv,
	.post_send = mroce_qp_post_send,
	.post_srq_recv = mroce_srq_post_recv,
	.query_device = query_device,
	.query_pkey = query_pkey,
	.query_port = query_port,
	.query_qp = mroce_qp_query,
	.query_srq = mroce_srq_query,
	.req_notify_cq = mroce_cq_req_notify,
	.rereg_user_mr = mroce_mr_rereg_user,
	MROCE_COMPAT_OPS,

	INIT_RDMA_OBJ_SIZE(ib_ah, mroce_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mroce_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, mroce_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, mroce_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, mroce_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, mroce_ucontext, ibuc),
};

/*
 * From the MAC, so that it is the same after every boot, but not what others
 * make of the MAC: one bit of the filler of EUI-64 is flipped.
 */
static __be64 guid_of(const struct net_device *ndev)
{
	u8 eui[8];
	__be64 guid;

	addrconf_addr_eui48(eui, ndev->dev_addr);
	eui[4] ^= 1;
	memcpy(&guid, eui, sizeof(guid));
	return guid;
}

static void init_dev(struct mroce_dev *dev, struct net_device *ndev)
{
	struct ib_device *ibdev = &dev->ibdev;

	INIT_LIST_HEAD(&dev->net_node);
	INIT_LIST_HEAD(&dev->conns);
	spin_lock_init(&dev->conn_lock);
	dev->peer_seed = get_random_u32();
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC);
	ida_init(&dev->srq_nums);
	atomic_set(&dev->incarnation, get_random_u32());
	dev->ifindex = ndev->ifindex;
	dev->ndev_mtu = ndev->mtu;
	mroce_plane_init(dev, ndev);
	dev->port_up = mroce_plane_any_up(dev);

	strscpy(ibdev->node_desc, "mroce", sizeof(ibdev->node_desc));
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->node_guid = guid_of(ndev);
	/* What our provider traps with; the core presets the rest. */
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ib_set_device_ops(ibdev, &dev_ops);
}

/**
 * mroce_dev_add() - make a device on a netdev
 * @name: of the device
 * @ndev: netdev; the core holds it until the device goes
 *
 * Context: task, no RTNL.
 * Return: 0; -EADDRINUSE when the UDP port is taken, -ENFILE when the name is,
 * -ENOMEM, or what the core says.
 */
int mroce_dev_add(const char *name, struct net_device *ndev)
{
	struct mroce_dev *dev = mroce_compat_alloc_device(mroce_dev, ibdev, dev_net(ndev));
	int err;

	if (!dev)
		return -ENOMEM;
	init_dev(dev, ndev);
	err = ib_device_set_netdev(&dev->ibdev, ndev, 1);
	if (!err)
		err = mroce_net_attach(dev, dev_net(ndev));
	if (!err)
		err = ib_register_device(&dev->ibdev, name, NULL);
	/* Calls dealloc_driver. */
	if (err)
		ib_dealloc_device(&dev->ibdev);
	return err;
}
