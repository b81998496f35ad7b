// SPDX-License-Identifier: GPL-2.0
/* Netlink: devices, and what their new connections and queue pairs shall be like. */
#include "mroce_nl.h"

#define LEAST_WINDOW_KIB	64

/** struct usage - what a device has; memory in bytes */
struct usage {
	u32 conns;
	u32 qps;
	u32 planes;
	u64 conns_bytes;
	u64 qps_bytes;
};

/* Beyond the rings and the copies of what is in them. */
static u32 idle_qp_bytes(void)
{
	return sizeof(struct mroce_qp) + sizeof(struct mroce_qp_ref);
}

/* Beyond the rings. Nothing is locked: numbers may change meanwhile. */
static u64 qp_bytes(const struct mroce_qp *qp)
{
	const struct mroce_txq *resp = &qp->rdq.q;
	u64 bytes = idle_qp_bytes();

	bytes += (u64)qp->sq.q.entries * qp->sq.q.wqe_stride;
	/* The copies in a shared queue are that one's. */
	bytes += (u64)qp->rq.entries *
		 (qp->rq.srq ? sizeof(*qp->rq.copy) : qp->rq.wqe_stride);
	bytes += (u64)READ_ONCE(resp->entries) *
		 (READ_ONCE(resp->wqe_stride) + sizeof(struct mroce_rdslot));
	bytes += READ_ONCE(qp->sq.q.cause) ? MROCE_STREAM_WINDOW / 2 : 0;
	bytes += READ_ONCE(resp->cause) ? MROCE_STREAM_WINDOW / 2 : 0;
	bytes += READ_ONCE(qp->rq.rx.bits) ? sizeof(struct mroce_rxs_bits) : 0;
	bytes += READ_ONCE(qp->sq.sink.bits) ? sizeof(struct mroce_rxs_bits) : 0;
	return bytes;
}

/* Those of programs: the general services' is always there. */
static void count_qps(struct mroce_dev *dev, struct usage *u)
{
	unsigned long qpn;
	struct mroce_qp *qp;
	void *ref;

	xa_for_each(&dev->qps, qpn, ref) {
		qp = mroce_qp_get(dev, qpn);
		if (!qp)
			continue;
		if (!mroce_qp_is_kernels(qp)) {
			u->qps++;
			u->qps_bytes += qp_bytes(qp);
		}
		mroce_qp_put(qp);
		cond_resched();
	}
}

static void count_conns(struct mroce_dev *dev, struct usage *u)
{
	struct mroce_conn *conn;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dev->peers); i++) {
		spin_lock_bh(&dev->conn_lock);
		hlist_for_each_entry(conn, &dev->peers[i], peer_node) {
			u->conns++;
			u->conns_bytes += mroce_nl_conn_bytes(conn);
		}
		spin_unlock_bh(&dev->conn_lock);
	}
}

static void count_planes(struct mroce_dev *dev, struct usage *u)
{
	struct mroce_nl_plane plane;

	while (!mroce_nl_plane_look(dev, u->planes, &plane))
		u->planes++;
}

static int put_conf(struct sk_buff *msg, const struct mroce_dev *dev)
{
	struct mroce_conf conf;

	mroce_conn_conf(dev, &conf);
	return nla_put_u8(msg, MROCE_A_DEV_PATHS, conf.paths) ?:
	       nla_put_u32(msg, MROCE_A_DEV_MAX_WINDOW_KIB, conf.max_window_kib) ?:
	       nla_put_string(msg, MROCE_A_DEV_CC, conf.cc->name) ?:
	       nla_put_u8(msg, MROCE_A_DEV_ORDERING, mroce_qp_ordering(dev)) ?:
	       nla_put_u32(msg, MROCE_A_DEV_MAX_CONNS, mroce_conn_limit());
}

static int put_usage(struct sk_buff *msg, const struct mroce_dev *dev, const struct usage *u)
{
	return nla_put_u32(msg, MROCE_A_DEV_CONNS, u->conns) ?:
	       nla_put_u32(msg, MROCE_A_DEV_QPS, u->qps) ?:
	       nla_put_u32(msg, MROCE_A_DEV_PLANES, u->planes) ?:
	       nla_put_u32(msg, MROCE_A_DEV_QP_BYTES, idle_qp_bytes()) ?:
	       nla_put_u64_64bit(msg, MROCE_A_DEV_QPS_BYTES, u->qps_bytes, MROCE_A_DEV_PAD) ?:
	       nla_put_u64_64bit(msg, MROCE_A_DEV_CONNS_BYTES, u->conns_bytes,
				 MROCE_A_DEV_PAD) ?:
	       nla_put_u64_64bit(msg, MROCE_A_DEV_HELD_BYTES, atomic64_read(&dev->hold_bytes),
				 MROCE_A_DEV_PAD);
}

/* Context: task. Return: 0, -EMSGSIZE. */
static int fill(struct sk_buff *msg, const struct mroce_nl_to *to, struct mroce_dev *dev)
{
	void *hdr = mroce_nl_begin(msg, to, MROCE_CMD_DEV_GET);
	struct usage u = {};
	int err;

	if (!hdr)
		return -EMSGSIZE;
	count_qps(dev, &u);
	count_conns(dev, &u);
	count_planes(dev, &u);
	err = mroce_nl_put_dev(msg, dev) ?:
	      nla_put_u32(msg, MROCE_A_DEV_IFINDEX, dev->ifindex) ?:
	      nla_put_u8(msg, MROCE_A_DEV_UP, READ_ONCE(dev->port_up)) ?:
	      nla_put_u32(msg, MROCE_A_DEV_MTU, READ_ONCE(dev->ndev_mtu)) ?:
	      put_conf(msg, dev) ?: put_usage(msg, dev, &u);
	return mroce_nl_end(msg, hdr, err);
}

/** mroce_nl_dev_doit() - dev-get of one device. Return: 0 or a negative errno. */
int mroce_nl_dev_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct mroce_nl_to to = { info->snd_portid, info->snd_seq };
	struct mroce_dev *dev;
	struct sk_buff *msg;
	int err;

	dev = mroce_nl_dev_get(genl_info_net(info), info->attrs, info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? fill(msg, &to, dev) : -ENOMEM;
	ib_device_put(&dev->ibdev);
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}

static int show(struct mroce_nl_dumper *d, struct mroce_dev *dev)
{
	return fill(d->msg, &d->to, dev);
}

/** mroce_nl_dev_dumpit() - dev-get of all devices. Return: as mroce_nl_dump(). */
int mroce_nl_dev_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mroce_nl_dump(skb, cb, NULL, show);
}

/* Return: 0 and @conf as the request wants it, or a refusal. */
static int take_conf(struct genl_info *info, struct mroce_conf *conf)
{
	struct nlattr **attrs = info->attrs;
	const char *cc;

	if (!attrs[MROCE_A_DEV_PATHS] && !attrs[MROCE_A_DEV_MAX_WINDOW_KIB] &&
	    !attrs[MROCE_A_DEV_CC] && !attrs[MROCE_A_DEV_ORDERING]) {
		GENL_SET_ERR_MSG(info, "nothing to set");
		return -EINVAL;
	}
	if (attrs[MROCE_A_DEV_PATHS])
		conf->paths = nla_get_u8(attrs[MROCE_A_DEV_PATHS]);
	if (attrs[MROCE_A_DEV_ORDERING])
		conf->ordering = nla_get_u8(attrs[MROCE_A_DEV_ORDERING]);
	if (attrs[MROCE_A_DEV_MAX_WINDOW_KIB]) {
		conf->max_window_kib = nla_get_u32(attrs[MROCE_A_DEV_MAX_WINDOW_KIB]);
		if (conf->max_window_kib && conf->max_window_kib < LEAST_WINDOW_KIB) {
			NL_SET_ERR_MSG_ATTR(info->extack, attrs[MROCE_A_DEV_MAX_WINDOW_KIB],
					    "a window has at least 64 KiB");
			return -ERANGE;
		}
	}
	if (!attrs[MROCE_A_DEV_CC])
		return 0;
	cc = nla_data(attrs[MROCE_A_DEV_CC]);
	conf->cc = mroce_cc_find(cc);
	if (*cc && !conf->cc) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[MROCE_A_DEV_CC],
				    "no such congestion control; there are: ecn, delay");
		return -ENOENT;
	}
	return 0;
}

/**
 * mroce_nl_dev_set() - dev-set: all of it, or nothing
 * @skb: request
 * @info: the same
 *
 * Return: 0 or a negative errno.
 */
int mroce_nl_dev_set(struct sk_buff *skb, struct genl_info *info)
{
	/* One at a time: two requests may not mix. */
	static DEFINE_MUTEX(mutex);
	struct mroce_conf conf;
	struct mroce_dev *dev;
	int err;

	dev = mroce_nl_dev_get(genl_info_net(info), info->attrs, info->extack);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	mutex_lock(&mutex);
	conf = dev->conf;
	err = take_conf(info, &conf);
	if (!err) {
		WRITE_ONCE(dev->conf.paths, conf.paths);
		WRITE_ONCE(dev->conf.ordering, conf.ordering);
		WRITE_ONCE(dev->conf.max_window_kib, conf.max_window_kib);
		WRITE_ONCE(dev->conf.cc, conf.cc);
	}
	mutex_unlock(&mutex);
	ib_device_put(&dev->ibdev);
	return err;
}
