// SPDX-License-Identifier: GPL-2.0
/* Netlink: connections. Each is copied under its own lock, then told. */
#include "mroce_nl.h"

static_assert(MROCE_CONN_STATUS_IDLE == (int)MROCE_HS_IDLE &&
	      MROCE_CONN_STATUS_HELLO == (int)MROCE_HS_HELLO &&
	      MROCE_CONN_STATUS_COOKIE == (int)MROCE_HS_COOKIE &&
	      MROCE_CONN_STATUS_OPEN == (int)MROCE_HS_OPEN);

/* A connection at one moment; what follows ready is of an open one. */
struct view {
	u8 state;
	bool ready;
	u32 paths;
	u32 active_paths;
	u32 payload_bytes;
	u32 window_bytes;
	u32 max_window_bytes;
	u32 inflight_bytes;
	u32 inflight_pkts;
	u32 share_bytes;
	u32 heard_ms;
	const char *cc;
};

/**
 * mroce_nl_conn_bytes() - what a connection takes, all its allocations
 * @conn: connection
 *
 * As asked for: the allocator may have rounded it up.
 */
u32 mroce_nl_conn_bytes(const struct mroce_conn *conn)
{
	u32 bytes = sizeof(*conn) + sizeof(struct mroce_ends);
	unsigned int i;

	/* Records come when a path needs them, and stay. */
	for (i = 0; i < MROCE_MAX_PATHS; i++) {
		bytes += sizeof(*conn->path);
		if (READ_ONCE(conn->path[i].sb.rec))
			bytes += MROCE_SB_SPAN * sizeof(struct mroce_sb_rec);
	}
	return bytes;
}

static void look(struct mroce_conn *conn, struct view *v)
{
	u64 now = ktime_get_ns();
	unsigned int i;

	*v = (struct view){};
	spin_lock_bh(&conn->tx_lock);
	v->state = conn->hs.state;
	v->ready = conn->ready;
	if (v->ready) {
		v->paths = conn->ps.cfg.n_paths;
		for (i = 0; i < conn->ps.cfg.n_paths; i++)
			v->active_paths += conn->path[i].state == MROCE_PATH_ACTIVE;
		v->payload_bytes = conn->unit_bytes;
		v->window_bytes = conn->ps.cc.cwnd_bytes;
		v->max_window_bytes = conn->ps.cc.max_bytes;
		v->inflight_bytes = conn->ps.inflight_bytes;
		v->inflight_pkts = conn->ps.inflight_pkts;
		if (now < conn->ps.cc.share_until_ns)
			v->share_bytes = conn->ps.cc.share_bytes;
		v->heard_ms = min_t(u64, (now - min(now, conn->ps.last_heard_ns)) / NSEC_PER_MSEC,
				    U32_MAX);
		/* A constant of the module */
		v->cc = conn->ps.cfg.cc->name;
	}
	spin_unlock_bh(&conn->tx_lock);
}

static int put_open(struct sk_buff *msg, const struct view *v)
{
	return nla_put_u32(msg, MROCE_A_CONN_PATHS, v->paths) ?:
	       nla_put_u32(msg, MROCE_A_CONN_ACTIVE_PATHS, v->active_paths) ?:
	       nla_put_u32(msg, MROCE_A_CONN_PAYLOAD_BYTES, v->payload_bytes) ?:
	       nla_put_u32(msg, MROCE_A_CONN_WINDOW_BYTES, v->window_bytes) ?:
	       nla_put_u32(msg, MROCE_A_CONN_MAX_WINDOW_BYTES, v->max_window_bytes) ?:
	       nla_put_u32(msg, MROCE_A_CONN_INFLIGHT_BYTES, v->inflight_bytes) ?:
	       nla_put_u32(msg, MROCE_A_CONN_INFLIGHT_PKTS, v->inflight_pkts) ?:
	       nla_put_u32(msg, MROCE_A_CONN_SHARE_BYTES, v->share_bytes) ?:
	       nla_put_string(msg, MROCE_A_CONN_CC, v->cc) ?:
	       nla_put_u32(msg, MROCE_A_CONN_HEARD_MS, v->heard_ms);
}

/* Context: task, a reference to the connection. Return: 0, -EMSGSIZE. */
static int fill(struct sk_buff *msg, const struct mroce_nl_to *to, struct mroce_conn *conn)
{
	void *hdr = mroce_nl_begin(msg, to, MROCE_CMD_CONN_GET);
	struct view v;
	int err;

	if (!hdr)
		return -EMSGSIZE;
	look(conn, &v);
	err = mroce_nl_put_dev(msg, conn->dev) ?:
	      nla_put_u32(msg, MROCE_A_CONN_ID, conn->no) ?:
	      nla_put_in6_addr(msg, MROCE_A_CONN_LOCAL, &conn->laddr) ?:
	      nla_put_in6_addr(msg, MROCE_A_CONN_REMOTE, &conn->raddr) ?:
	      nla_put_u8(msg, MROCE_A_CONN_DSCP, conn->dscp) ?:
	      nla_put_u8(msg, MROCE_A_CONN_STATE, v.state) ?:
	      nla_put_u32(msg, MROCE_A_CONN_QPS, READ_ONCE(conn->n_qps)) ?:
	      nla_put_u32(msg, MROCE_A_CONN_BYTES, mroce_nl_conn_bytes(conn));
	if (!err && v.ready)
		err = put_open(msg, &v);
	return mroce_nl_end(msg, hdr, err);
}

/**
 * mroce_nl_conn_get() - the connection that a request names
 * @net: namespace of whoever asks
 * @attrs: of the request; the device may be in it
 * @id: attribute with its id
 * @extack: for the reason of a refusal
 *
 * Return: with a reference; ERR_PTR(-EINVAL, -ENODEV, -ENOENT).
 */
struct mroce_conn *mroce_nl_conn_get(struct net *net, struct nlattr **attrs, struct nlattr *id,
				     struct netlink_ext_ack *extack)
{
	struct mroce_dev *dev = NULL;
	struct mroce_conn *conn;

	if (!id) {
		NL_SET_ERR_MSG(extack, "which connection? Its id is missing");
		return ERR_PTR(-EINVAL);
	}
	if (attrs[MROCE_A_CONN_DEV_INDEX] || attrs[MROCE_A_CONN_DEV_NAME]) {
		dev = mroce_nl_dev_get(net, attrs, extack);
		if (IS_ERR(dev))
			return ERR_CAST(dev);
	}
	conn = mroce_conn_by_no(mroce_net_of(net), nla_get_u32(id));
	if (conn && dev && conn->dev != dev) {
		mroce_conn_put(conn);
		conn = NULL;
	}
	if (dev)
		ib_device_put(&dev->ibdev);
	if (!conn) {
		NL_SET_ERR_MSG_ATTR(extack, id, "no such connection");
		return ERR_PTR(-ENOENT);
	}
	return conn;
}

/** mroce_nl_conn_doit() - conn-get of one connection. Return: 0 or a negative errno. */
int mroce_nl_conn_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct mroce_nl_to to = { info->snd_portid, info->snd_seq };
	struct mroce_conn *conn;
	struct sk_buff *msg;
	int err;

	conn = mroce_nl_conn_get(genl_info_net(info), info->attrs, info->attrs[MROCE_A_CONN_ID],
				 info->extack);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	err = msg ? fill(msg, &to, conn) : -ENOMEM;
	mroce_conn_put(conn);
	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}

static int begin(struct mroce_nl_pos *pos, struct netlink_callback *cb)
{
	struct nlattr *id = mroce_compat_dump_attrs(cb)[MROCE_A_CONN_ID];

	if (!id)
		return 0;
	NL_SET_ERR_MSG_ATTR(cb->extack, id, "a dump is of all connections");
	return -EINVAL;
}

/**
 * mroce_nl_conn_walk() - show the connections of a device, from the position on
 * @d: dump under way
 * @dev: device
 * @show: shows one, or what is left of it; -EMSGSIZE when the message is full. When it has
 *	succeeded the position moves on
 *
 * Return: 0, or what @show has returned.
 */
int mroce_nl_conn_walk(struct mroce_nl_dumper *d, struct mroce_dev *dev,
		       int (*show)(struct mroce_nl_dumper *d, struct mroce_conn *conn))
{
	struct mroce_conn_pos next = d->pos->conn;
	struct mroce_conn *conn;
	int err;

	while ((conn = mroce_conn_next(dev, &next))) {
		err = show(d, conn);
		if (!err) {
			d->pos->conn = next;
			d->pos->sub = 0;
		}
		mroce_conn_put(conn);
		if (err)
			return err;
		cond_resched();
	}
	d->pos->conn = next;
	return 0;
}

static int show_conn(struct mroce_nl_dumper *d, struct mroce_conn *conn)
{
	return fill(d->msg, &d->to, conn);
}

static int show(struct mroce_nl_dumper *d, struct mroce_dev *dev)
{
	return mroce_nl_conn_walk(d, dev, show_conn);
}

/** mroce_nl_conn_dumpit() - conn-get of many. Return: as mroce_nl_dump(). */
int mroce_nl_conn_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mroce_nl_dump(skb, cb, begin, show);
}
