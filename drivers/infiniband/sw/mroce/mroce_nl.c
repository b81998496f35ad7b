// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink family "mroce": what there is to ask and to change, who may, and how dumps
 * go on. Meaning of the attributes: Documentation/netlink/specs/mroce.yaml.
 *
 * Whoever asks sees the devices whose netdev is in his network namespace.
 */
#include <net/net_namespace.h>
#include <net/sock.h>

#include "mroce_nl.h"

#define NAME_LEN	(IB_DEVICE_NAME_MAX - 1)

/* A policy itself holds small numbers only. */
static struct netlink_range_validation ifindex_range = { .min = 1, .max = S32_MAX };
static struct netlink_range_validation window_kib_range = { .max = 1024 * 1024 };

/* Of the sets dev, plane, conn and path alike */
#define A_DEV_INDEX	((int)MROCE_A_DEV_INDEX)
#define A_DEV_NAME	((int)MROCE_A_DEV_NAME)

#define IS_OF(index, name)	((int)(index) == A_DEV_INDEX && (int)(name) == A_DEV_NAME)
static_assert(IS_OF(MROCE_A_PLANE_DEV_INDEX, MROCE_A_PLANE_DEV_NAME));
static_assert(IS_OF(MROCE_A_CONN_DEV_INDEX, MROCE_A_CONN_DEV_NAME));
static_assert(IS_OF(MROCE_A_PATH_DEV_INDEX, MROCE_A_PATH_DEV_NAME));
static_assert(sizeof(struct mroce_nl_pos) <= sizeof_field(struct netlink_callback, ctx));

/* What is not in a policy is refused. */
static const struct nla_policy dev_get_policy[] = {
	[MROCE_A_DEV_INDEX]		= { .type = NLA_U32 },
	[MROCE_A_DEV_NAME]		= { .type = NLA_NUL_STRING, .len = NAME_LEN },
};

static const struct nla_policy dev_set_policy[] = {
	[MROCE_A_DEV_INDEX]		= { .type = NLA_U32 },
	[MROCE_A_DEV_NAME]		= { .type = NLA_NUL_STRING, .len = NAME_LEN },
	[MROCE_A_DEV_PATHS]		= NLA_POLICY_MAX(NLA_U8, MROCE_MAX_PATHS),
	[MROCE_A_DEV_MAX_WINDOW_KIB]	= NLA_POLICY_FULL_RANGE(NLA_U32, &window_kib_range),
	[MROCE_A_DEV_CC]		= { .type = NLA_NUL_STRING, .len = 15 },
	[MROCE_A_DEV_ORDERING]		= NLA_POLICY_MAX(NLA_U8, MROCE_ORDERING_RELAXED),
};

static const struct nla_policy plane_get_policy[] = {
	[MROCE_A_PLANE_DEV_INDEX]	= { .type = NLA_U32 },
	[MROCE_A_PLANE_DEV_NAME]	= { .type = NLA_NUL_STRING, .len = NAME_LEN },
};

static const struct nla_policy plane_new_policy[] = {
	[MROCE_A_PLANE_DEV_INDEX]	= { .type = NLA_U32 },
	[MROCE_A_PLANE_DEV_NAME]	= { .type = NLA_NUL_STRING, .len = NAME_LEN },
	[MROCE_A_PLANE_IFINDEX]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
	[MROCE_A_PLANE_LABEL]		= { .type = NLA_U8 },
};

static const struct nla_policy plane_set_policy[] = {
	[MROCE_A_PLANE_DEV_INDEX]	= { .type = NLA_U32 },
	[MROCE_A_PLANE_DEV_NAME]	= { .type = NLA_NUL_STRING, .len = NAME_LEN },
	[MROCE_A_PLANE_IFINDEX]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
	[MROCE_A_PLANE_SET_SPEED_MBPS]	= { .type = NLA_U32 },
};

static const struct nla_policy conn_policy[] = {
	[MROCE_A_CONN_DEV_INDEX]	= { .type = NLA_U32 },
	[MROCE_A_CONN_DEV_NAME]		= { .type = NLA_NUL_STRING, .len = NAME_LEN },
	[MROCE_A_CONN_ID]		= NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy path_policy[] = {
	[MROCE_A_PATH_DEV_INDEX]	= { .type = NLA_U32 },
	[MROCE_A_PATH_DEV_NAME]		= { .type = NLA_NUL_STRING, .len = NAME_LEN },
	[MROCE_A_PATH_CONN_ID]		= NLA_POLICY_MIN(NLA_U32, 1),
	[MROCE_A_PATH_ID]		= { .type = NLA_U8 },
};

static const struct nla_policy check_policy[] = {
	[MROCE_A_CHECK_IFINDEX]		= NLA_POLICY_FULL_RANGE(NLA_U32, &ifindex_range),
};

static const struct genl_ops ops[] = {
	{
		.cmd = MROCE_CMD_DEV_GET,
		.doit = mroce_nl_dev_doit,
		.dumpit = mroce_nl_dev_dumpit,
		.policy = dev_get_policy,
		.maxattr = ARRAY_SIZE(dev_get_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_DEV_SET,
		.flags = GENL_ADMIN_PERM,
		.doit = mroce_nl_dev_set,
		.policy = dev_set_policy,
		.maxattr = ARRAY_SIZE(dev_set_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_PLANE_GET,
		.dumpit = mroce_nl_plane_dumpit,
		.policy = plane_get_policy,
		.maxattr = ARRAY_SIZE(plane_get_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_PLANE_NEW,
		.flags = GENL_ADMIN_PERM,
		.doit = mroce_nl_plane_new,
		.policy = plane_new_policy,
		.maxattr = ARRAY_SIZE(plane_new_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_PLANE_DEL,
		.flags = GENL_ADMIN_PERM,
		.doit = mroce_nl_plane_del,
		.policy = plane_new_policy,
		/* without the label */
		.maxattr = MROCE_A_PLANE_IFINDEX,
	},
	{
		.cmd = MROCE_CMD_PLANE_SET,
		.flags = GENL_ADMIN_PERM,
		.doit = mroce_nl_plane_set,
		.policy = plane_set_policy,
		.maxattr = ARRAY_SIZE(plane_set_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_CONN_GET,
		.doit = mroce_nl_conn_doit,
		.dumpit = mroce_nl_conn_dumpit,
		.policy = conn_policy,
		.maxattr = ARRAY_SIZE(conn_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_PATH_GET,
		.doit = mroce_nl_path_doit,
		.dumpit = mroce_nl_path_dumpit,
		.policy = path_policy,
		.maxattr = ARRAY_SIZE(path_policy) - 1,
	},
	{
		.cmd = MROCE_CMD_LINK_CHECK,
		.flags = GENL_ADMIN_PERM,
		.doit = mroce_nl_link_check,
		.policy = check_policy,
		.maxattr = ARRAY_SIZE(check_policy) - 1,
	},
};

static const struct genl_multicast_group groups[] = {
	{ .name = MROCE_MCGRP_MONITOR },
};

struct genl_family mroce_nl_family __ro_after_init = {
	.name = MROCE_FAMILY_NAME,
	.version = MROCE_FAMILY_VERSION,
	.netnsok = true,
	/* Adding a plane takes RTNL and may sleep: not under the lock of all families. */
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

/*
 * The device of a namespace with the least index in [@first, @last], with a reference: while
 * it is held, the device is not unregistered.
 */
static struct mroce_dev *next_dev(struct net *net, u32 first, u32 last)
{
	struct mroce_net *mnet = mroce_net_of(net);
	struct mroce_dev *dev, *best;

	rcu_read_lock();
	do {
		best = NULL;
		list_for_each_entry_rcu(dev, &mnet->devs, net_node)
			if (dev->ibdev.index >= first && dev->ibdev.index <= last &&
			    (!best || dev->ibdev.index < best->ibdev.index))
				best = dev;
		if (best)
			first = best->ibdev.index + 1;
	} while (best && !ib_device_try_get(&best->ibdev));
	rcu_read_unlock();
	return best;
}

static struct mroce_dev *by_name(struct net *net, const char *name)
{
	struct mroce_dev *dev, *found = NULL;

	/* Not dev_name(): renaming frees that one. */
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &mroce_net_of(net)->devs, net_node)
		if (!strncmp(dev->ibdev.name, name, IB_DEVICE_NAME_MAX) &&
		    ib_device_try_get(&dev->ibdev)) {
			found = dev;
			break;
		}
	rcu_read_unlock();
	return found;
}

/**
 * mroce_nl_dev_get() - the device that a request names
 * @net: namespace of whoever asks
 * @attrs: of the request; index, name, or both if they agree
 * @extack: for the reason of a refusal
 *
 * Return: with a reference of the core (ib_device_put()); ERR_PTR(-EINVAL, -ENODEV).
 */
struct mroce_dev *mroce_nl_dev_get(struct net *net, struct nlattr **attrs,
				   struct netlink_ext_ack *extack)
{
	struct mroce_dev *dev;
	u32 index;

	if (attrs[A_DEV_INDEX]) {
		index = nla_get_u32(attrs[A_DEV_INDEX]);
		dev = next_dev(net, index, index);
	} else if (attrs[A_DEV_NAME]) {
		dev = by_name(net, nla_data(attrs[A_DEV_NAME]));
	} else {
		NL_SET_ERR_MSG(extack, "which device? Index or name is missing");
		return ERR_PTR(-EINVAL);
	}
	if (dev && attrs[A_DEV_NAME] && nla_strcmp(attrs[A_DEV_NAME], dev->ibdev.name)) {
		ib_device_put(&dev->ibdev);
		dev = NULL;
	}
	if (!dev) {
		NL_SET_ERR_MSG(extack, "no such mroce device in this network namespace");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

/** mroce_nl_put_dev() - append which device it is. Return: 0, -EMSGSIZE. */
int mroce_nl_put_dev(struct sk_buff *msg, const struct mroce_dev *dev)
{
	char name[IB_DEVICE_NAME_MAX];

	/* It may be renamed right now: whatever is read ends with a zero. */
	memcpy(name, dev->ibdev.name, sizeof(name));
	name[sizeof(name) - 1] = 0;
	return nla_put_u32(msg, A_DEV_INDEX, dev->ibdev.index) ?:
	       nla_put_string(msg, A_DEV_NAME, name);
}

/** mroce_nl_begin() - begin a message. Return: its header, NULL when there is no room. */
void *mroce_nl_begin(struct sk_buff *msg, const struct mroce_nl_to *to, u8 cmd)
{
	return genlmsg_put(msg, to->portid, to->seq, &mroce_nl_family, to->flags, cmd);
}

/**
 * mroce_nl_end() - end a message, or take it back
 * @msg: where
 * @hdr: from mroce_nl_begin()
 * @err: what putting attributes has returned
 *
 * Return: @err.
 */
int mroce_nl_end(struct sk_buff *msg, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(msg, hdr);
	else
		genlmsg_end(msg, hdr);
	return err;
}

/* Which devices does the request want? */
static int choose_devs(struct mroce_nl_pos *pos, struct netlink_callback *cb)
{
	struct nlattr **attrs = mroce_compat_dump_attrs(cb);
	struct mroce_dev *dev;

	pos->last = U32_MAX;
	if (!attrs[A_DEV_INDEX] && !attrs[A_DEV_NAME])
		return 0;
	dev = mroce_nl_dev_get(sock_net(cb->skb->sk), attrs, cb->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	pos->first = dev->ibdev.index;
	pos->last = dev->ibdev.index;
	ib_device_put(&dev->ibdev);
	return 0;
}

/**
 * mroce_nl_dump() - one call of a dump: from where the last one has stopped
 * @msg: to fill
 * @cb: of the dump
 * @begin: looks at what else is in the request; may be NULL
 * @show: shows a device from the position on; -EMSGSIZE when @msg is full
 *
 * Return: bytes in @msg, 0 at the end, or an error.
 */
int mroce_nl_dump(struct sk_buff *msg, struct netlink_callback *cb,
		  int (*begin)(struct mroce_nl_pos *pos, struct netlink_callback *cb),
		  int (*show)(struct mroce_nl_dumper *d, struct mroce_dev *dev))
{
	struct mroce_nl_pos *pos = (struct mroce_nl_pos *)cb->ctx;
	struct mroce_nl_dumper d = {
		.net = sock_net(cb->skb->sk),
		.msg = msg,
		.pos = pos,
		.to = { NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, NLM_F_MULTI },
	};
	struct mroce_dev *dev;
	int err = 0;

	if (!pos->begun) {
		err = choose_devs(pos, cb);
		if (!err && begin)
			err = begin(pos, cb);
		if (err)
			return err;
		pos->cur = pos->first;
		pos->begun = true;
	}
	while (!err && (dev = next_dev(d.net, pos->first, pos->last))) {
		/* The one that was under way may be gone. */
		if (dev->ibdev.index != pos->cur) {
			pos->cur = dev->ibdev.index;
			pos->conn = (struct mroce_conn_pos){};
			pos->sub = 0;
		}
		err = show(&d, dev);
		if (!err)
			pos->first = dev->ibdev.index + 1;
		ib_device_put(&dev->ibdev);
	}
	return err && (err != -EMSGSIZE || !msg->len) ? err : msg->len;
}

/**
 * mroce_nl_init() - register the family
 *
 * After the namespaces, before the first device. Return: 0 or a negative errno.
 */
int mroce_nl_init(void)
{
	mroce_nl_event_init();
	return genl_register_family(&mroce_nl_family);
}

/** mroce_nl_exit() - no device is left */
void mroce_nl_exit(void)
{
	mroce_nl_event_flush();
	genl_unregister_family(&mroce_nl_family);
}
