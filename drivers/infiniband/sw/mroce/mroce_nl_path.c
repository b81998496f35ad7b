// SPDX-License-Identifier: GPL-2.0
/* Netlink: paths of open connections. Each is copied under the connection's lock, then told. */
#include "mroce_nl.h"

static_assert(MROCE_PATH_STATUS_PROBING == (int)MROCE_PATH_PROBING &&
	      MROCE_PATH_STATUS_ACTIVE == (int)MROCE_PATH_ACTIVE &&
	      MROCE_PATH_STATUS_SUSPECT == (int)MROCE_PATH_SUSPECT &&
	      MROCE_PATH_STATUS_FAILED == (int)MROCE_PATH_FAILED &&
	      MROCE_PATH_STATUS_OFF == (int)MROCE_PATH_OFF);

/**
 * mroce_nl_path_label() - label of the plane a path is on
 * @conn: connection
 * @p: path of it
 *
 * Context: conn->tx_lock held.
 */
u8 mroce_nl_path_label(const struct mroce_conn *conn, const struct mroce_path *p)
{
	const struct mroce_ends *ends =
		rcu_dereference_protected(conn->ends, lockdep_is_held(&conn->tx_lock));

	return ends->pairs.pair[p->plane].label;
}

/* Copy path @i as it is now, its plane by the label. Return: false when there is none. */
static bool look(struct mroce_conn *conn, unsigned int i, struct mroce_path *p)
{
	bool there;

	spin_lock_bh(&conn->tx_lock);
	there = conn->ready && i < conn->ps.cfg.n_paths;
	if (there) {
		*p = conn->path[i];
		p->plane = mroce_nl_path_label(conn, p);
	}
	spin_unlock_bh(&conn->tx_lock);
	return there;
}

/* Smoothed rates of the core are in 1/65536. */
static u32 ppm(u32 q16)
{
	return (u64)q16 * 1000000 / 65536;
}

static u32 ms_since(u64 ns)
{
	u64 now = ktime_get_ns();

	return min_t(u64, (now - min(now, ns)) / NSEC_PER_MSEC, U32_MAX);
}

static int put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, MROCE_A_PATH_PAD);
}

static int put_owner(struct sk_buff *msg, const struct mroce_path *p)
{
	return p->owner_cpu < 0 ? 0 : nla_put_u32(msg, MROCE_A_PATH_CPU, p->owner_cpu);
}

static int put_state(struct sk_buff *msg, const struct mroce_path *p)
{
	return nla_put_u8(msg, MROCE_A_PATH_ID, p->id) ?:
	       nla_put_u8(msg, MROCE_A_PATH_STATE, p->state) ?:
	       nla_put_u8(msg, MROCE_A_PATH_PLANE, p->plane) ?:
	       nla_put_u16(msg, MROCE_A_PATH_SOURCE_PORT, p->sport) ?:
	       put_owner(msg, p) ?:
	       put_u64(msg, MROCE_A_PATH_MIN_RTT_NS, p->rtt.min_ns) ?:
	       put_u64(msg, MROCE_A_PATH_SRTT_NS, p->rtt.srtt_ns) ?:
	       put_u64(msg, MROCE_A_PATH_RTTVAR_NS, p->rtt.rttvar_ns) ?:
	       nla_put_u32(msg, MROCE_A_PATH_WINDOW_BYTES, p->cc.cwnd_bytes) ?:
	       nla_put_u32(msg, MROCE_A_PATH_INFLIGHT_BYTES, p->sb.inflight_bytes) ?:
	       nla_put_u32(msg, MROCE_A_PATH_INFLIGHT_PKTS, p->sb.inflight_pkts) ?:
	       nla_put_u32(msg, MROCE_A_PATH_LOSS_PPM, ppm(p->loss_q16)) ?:
	       nla_put_u32(msg, MROCE_A_PATH_MARKED_PPM, ppm(p->mark_q16)) ?:
	       nla_put_u32(msg, MROCE_A_PATH_HEARD_MS, ms_since(p->last_ack_ns)) ?:
	       put_u64(msg, MROCE_A_PATH_RATE_BYTES, mroce_path_speed(p, ktime_get_ns()));
}

static int put_counts(struct sk_buff *msg, const struct mroce_path *p)
{
	return put_u64(msg, MROCE_A_PATH_SENT_PKTS, p->tx_pkts) ?:
	       put_u64(msg, MROCE_A_PATH_SENT_BYTES, p->tx_bytes) ?:
	       put_u64(msg, MROCE_A_PATH_ACKED_PKTS, p->acked_pkts) ?:
	       put_u64(msg, MROCE_A_PATH_ACKED_BYTES, p->acked_bytes) ?:
	       put_u64(msg, MROCE_A_PATH_LOST_PKTS, p->lost_pkts) ?:
	       put_u64(msg, MROCE_A_PATH_SPURIOUS_PKTS, p->spurious_pkts) ?:
	       put_u64(msg, MROCE_A_PATH_RETRANS_PKTS, p->retrans_pkts) ?:
	       put_u64(msg, MROCE_A_PATH_MARKED_PKTS, p->marked_pkts) ?:
	       put_u64(msg, MROCE_A_PATH_PROBE_TIMEOUTS, p->ptos) ?:
	       put_u64(msg, MROCE_A_PATH_REROLLS, p->rerolls);
}

static int fill(struct sk_buff *msg, const struct mroce_nl_to *to, const struct mroce_conn *conn,
		const struct mroce_path *p)
{
	void *hdr = mroce_nl_begin(msg, to, MROCE_CMD_PATH_GET);
	int err;

	if (!hdr)
		return -EMSGSIZE;
	err = mroce_nl_put_dev(msg, conn->dev) ?:
	      nla_put_u32(msg, MROCE_A_PATH_CONN_ID, conn->no) ?: put_state(msg, p) ?:
	      put_counts(msg, p);
	return mroce_nl_end(msg, hdr, err);
}

static int reply(struct genl_info *info, const struct mroce_conn *conn,
		 const struct mroce_path *p)
{
	struct mroce_nl_to to = { info->snd_portid, info->snd_seq };
	struct sk_buff *msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int err = msg ? fill(msg, &to, conn, p) : -ENOMEM;

	if (!err)
		return genlmsg_reply(msg, info);
	nlmsg_free(msg);
	return err;
}

/** mroce_nl_path_doit() - path-get of one path. Return: 0 or a negative errno. */
int mroce_nl_path_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *id = info->attrs[MROCE_A_PATH_ID];
	struct mroce_conn *conn;
	struct mroce_path p;
	int err = 0;

	conn = mroce_nl_conn_get(genl_info_net(info), info->attrs,
				 info->attrs[MROCE_A_PATH_CONN_ID], info->extack);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	if (!id) {
		GENL_SET_ERR_MSG(info, "which path? Its number is missing");
		err = -EINVAL;
	} else if (!look(conn, nla_get_u8(id), &p)) {
		NL_SET_ERR_MSG_ATTR(info->extack, id, "no such path, or not open");
		err = -ENOENT;
	}
	if (!err)
		err = reply(info, conn, &p);
	mroce_conn_put(conn);
	return err;
}

static int begin(struct mroce_nl_pos *pos, struct netlink_callback *cb)
{
	struct nlattr **attrs = mroce_compat_dump_attrs(cb);
	struct mroce_conn *conn;

	if (attrs[MROCE_A_PATH_ID]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[MROCE_A_PATH_ID], "a dump is of all paths");
		return -EINVAL;
	}
	if (!attrs[MROCE_A_PATH_CONN_ID])
		return 0;
	conn = mroce_nl_conn_get(sock_net(cb->skb->sk), attrs, attrs[MROCE_A_PATH_CONN_ID],
				 cb->extack);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	pos->only_conn = conn->no;
	pos->first = conn->dev->ibdev.index;
	pos->last = conn->dev->ibdev.index;
	mroce_conn_put(conn);
	return 0;
}

/* The paths of @conn from the position on. */
static int show_conn(struct mroce_nl_dumper *d, struct mroce_conn *conn)
{
	struct mroce_nl_pos *pos = d->pos;
	struct mroce_path p;
	int err = 0;

	/* Another one than was under way */
	if (conn->no != pos->conn.no) {
		pos->conn.no = conn->no;
		pos->sub = 0;
	}
	while (!err && look(conn, pos->sub, &p)) {
		err = fill(d->msg, &d->to, conn, &p);
		if (!err)
			pos->sub++;
	}
	return err;
}

static int show_only(struct mroce_nl_dumper *d, struct mroce_dev *dev)
{
	struct mroce_conn *conn;
	int err = 0;

	conn = mroce_conn_by_no(mroce_net_of(d->net), d->pos->only_conn);
	if (conn && conn->dev == dev)
		err = show_conn(d, conn);
	mroce_conn_put(conn);
	return err;
}

static int show(struct mroce_nl_dumper *d, struct mroce_dev *dev)
{
	return d->pos->only_conn ? show_only(d, dev) : mroce_nl_conn_walk(d, dev, show_conn);
}

/** mroce_nl_path_dumpit() - path-get of many. Return: as mroce_nl_dump(). */
int mroce_nl_path_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mroce_nl_dump(skb, cb, begin, show);
}
