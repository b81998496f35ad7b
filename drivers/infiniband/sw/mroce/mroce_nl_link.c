// SPDX-License-Identifier: GPL-2.0
/* Netlink: planes of a device, and whether a netdev could get a device. */
#include <linux/netdevice.h>

#include "mroce_nl.h"

static int fill_plane(struct mroce_nl_dumper *d, const struct mroce_dev *dev,
		      const struct mroce_nl_plane *p)
{
	void *hdr = mroce_nl_begin(d->msg, &d->to, MROCE_CMD_PLANE_GET);
	struct sk_buff *msg = d->msg;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = mroce_nl_put_dev(msg, dev) ?:
	      nla_put_u32(msg, MROCE_A_PLANE_IFINDEX, p->ifindex) ?:
	      nla_put_u8(msg, MROCE_A_PLANE_LABEL, p->label) ?:
	      nla_put_u8(msg, MROCE_A_PLANE_UP, p->up) ?:
	      nla_put_u8(msg, MROCE_A_PLANE_PRIMARY, p->primary) ?:
	      nla_put_in6_addr(msg, MROCE_A_PLANE_ADDR4, &p->addr4) ?:
	      nla_put_in6_addr(msg, MROCE_A_PLANE_ADDR6, &p->addr6) ?:
	      nla_put_u32(msg, MROCE_A_PLANE_SPEED_MBPS, p->speed_mbps) ?:
	      nla_put_u32(msg, MROCE_A_PLANE_SET_SPEED_MBPS, p->set_speed_mbps);
	return mroce_nl_end(msg, hdr, err);
}

static int show_planes(struct mroce_nl_dumper *d, struct mroce_dev *dev)
{
	struct mroce_nl_plane plane;
	int err = 0;

	while (!err && !mroce_nl_plane_look(dev, d->pos->sub, &plane)) {
		err = fill_plane(d, dev, &plane);
		if (!err)
			d->pos->sub++;
	}
	return err;
}

/** mroce_nl_plane_dumpit() - plane-get. Return: as mroce_nl_dump(). */
int mroce_nl_plane_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mroce_nl_dump(skb, cb, NULL, show_planes);
}

static int want_netdev(struct genl_info *info, struct nlattr *ifindex)
{
	if (ifindex)
		return 0;
	GENL_SET_ERR_MSG(info, "which netdev? Its index is missing");
	return -EINVAL;
}

/* The netdev that a request names, held by its reference. */
static struct net_device *get_netdev(struct genl_info *info, struct nlattr *ifindex)
{
	struct net_device *ndev;
	int err = want_netdev(info, ifindex);

	if (err)
		return ERR_PTR(err);
	ndev = dev_get_by_index(genl_info_net(info), nla_get_u32(ifindex));
	if (!ndev) {
		NL_SET_ERR_MSG_ATTR(info->extack, ifindex,
				    "no such netdev in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	return ndev;
}

/** mroce_nl_plane_new() - plane-new. Return: 0 or a negative errno. */
int mroce_nl_plane_new(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *label = info->attrs[MROCE_A_PLANE_LABEL];
	struct net_device *ndev;
	struct mroce_dev *dev;
	int err;

	dev = mroce_nl_dev_get(genl_info_net(info), info->attrs, info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	ndev = get_netdev(info, info->attrs[MROCE_A_PLANE_IFINDEX]);
	err = PTR_ERR_OR_ZERO(ndev);
	if (!err) {
		err = mroce_plane_add(dev, ndev, label ? nla_get_u8(label) : -1, info->extack);
		dev_put(ndev);
	}
	ib_device_put(&dev->ibdev);
	return err;
}

/** mroce_nl_plane_del() - plane-del; by number: the netdev may be gone. Return: as above. */
int mroce_nl_plane_del(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *ifindex = info->attrs[MROCE_A_PLANE_IFINDEX];
	struct mroce_dev *dev;
	int err;

	dev = mroce_nl_dev_get(genl_info_net(info), info->attrs, info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = want_netdev(info, ifindex);
	if (!err)
		err = mroce_plane_del(dev, nla_get_u32(ifindex), info->extack);
	ib_device_put(&dev->ibdev);
	return err;
}

/** mroce_nl_plane_set() - plane-set. Return: 0 or a negative errno. */
int mroce_nl_plane_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *ifindex = info->attrs[MROCE_A_PLANE_IFINDEX];
	struct nlattr *speed = info->attrs[MROCE_A_PLANE_SET_SPEED_MBPS];
	struct mroce_dev *dev;
	int err;

	dev = mroce_nl_dev_get(genl_info_net(info), info->attrs, info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = want_netdev(info, ifindex);
	if (!err && !speed) {
		GENL_SET_ERR_MSG(info, "nothing to set");
		err = -EINVAL;
	}
	if (!err)
		err = mroce_nl_plane_speed(dev, nla_get_u32(ifindex), nla_get_u32(speed),
					   info->extack);
	ib_device_put(&dev->ibdev);
	return err;
}

static int fill_check(struct sk_buff *msg, const struct genl_info *info, u32 ifindex, int error,
		      const char *why)
{
	struct mroce_nl_to to = { info->snd_portid, info->snd_seq };
	void *hdr = mroce_nl_begin(msg, &to, MROCE_CMD_LINK_CHECK);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = nla_put_u32(msg, MROCE_A_CHECK_IFINDEX, ifindex) ?:
	      nla_put_u32(msg, MROCE_A_CHECK_ERROR, -error);
	if (!err && error)
		err = nla_put_string(msg, MROCE_A_CHECK_REASON, why);
	return mroce_nl_end(msg, hdr, err);
}

/**
 * mroce_nl_link_check() - link-check: what 'rdma link add' on a netdev would answer
 * @skb: request
 * @info: the same
 *
 * Return: 0 or a negative errno.
 */
int mroce_nl_link_check(struct sk_buff *skb, struct genl_info *info)
{
	const char *why = NULL;
	struct net_device *ndev;
	struct sk_buff *msg;
	int err, error;

	ndev = get_netdev(info, info->attrs[MROCE_A_CHECK_IFINDEX]);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	error = mroce_netdev_check(ndev, &why);
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? fill_check(msg, info, ndev->ifindex, error, why) : -ENOMEM;
	dev_put(ndev);
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}
