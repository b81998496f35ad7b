/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the netlink family share.
 *
 *	mroce_nl.c		family, policies, finding devices, how a dump goes on
 *	mroce_nl_dev.c		devices
 *	mroce_nl_link.c		planes, link-check
 *	mroce_nl_conn.c		connections and paths
 *	mroce_nl_event.c	the group "monitor"
 *
 * A dump holds nothing between two calls, neither lock nor reference: its position is
 * made of numbers. Whoever stops reading keeps nothing but his own socket (and the module,
 * as with every dump of the kernel).
 */
#ifndef MROCE_NL_H
#define MROCE_NL_H

#include <linux/mroce.h>
#include <net/genetlink.h>

#include "mroce.h"
#include "mroce_nl_plane.h"

extern struct genl_family mroce_nl_family;

/**
 * struct mroce_nl_to - whom a message is for
 * @portid, @seq: of the request; both 0 for the group
 * @flags: NLM_F_MULTI in a dump
 */
struct mroce_nl_to {
	u32 portid;
	u32 seq;
	int flags;
};

/**
 * struct mroce_nl_pos - how far a dump has come; lives in netlink_callback.ctx
 * @first, @last: indices of the devices still to show
 * @cur: index of the device that the rest is about
 * @only_conn: connection asked for, 0 = all
 * @conn: next connection; or the one whose paths are being shown
 * @sub: next path of that connection, or next plane of the device
 * @begun: the request has been looked at
 */
struct mroce_nl_pos {
	struct mroce_conn_pos conn;
	u32 first;
	u32 last;
	u32 cur;
	u32 only_conn;
	u16 sub;
	bool begun;
};

/** struct mroce_nl_dumper - a dump under way: namespace, message, position, whom for */
struct mroce_nl_dumper {
	struct net *net;
	struct sk_buff *msg;
	struct mroce_nl_pos *pos;
	struct mroce_nl_to to;
};

/* mroce_nl.c */
struct mroce_dev *mroce_nl_dev_get(struct net *net, struct nlattr **attrs,
				   struct netlink_ext_ack *extack);
int mroce_nl_put_dev(struct sk_buff *msg, const struct mroce_dev *dev);
void *mroce_nl_begin(struct sk_buff *msg, const struct mroce_nl_to *to, u8 cmd);
int mroce_nl_end(struct sk_buff *msg, void *hdr, int err);
int mroce_nl_dump(struct sk_buff *msg, struct netlink_callback *cb,
		  int (*begin)(struct mroce_nl_pos *pos, struct netlink_callback *cb),
		  int (*show)(struct mroce_nl_dumper *d, struct mroce_dev *dev));

/* mroce_nl_dev.c */
int mroce_nl_dev_doit(struct sk_buff *skb, struct genl_info *info);
int mroce_nl_dev_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int mroce_nl_dev_set(struct sk_buff *skb, struct genl_info *info);

/* mroce_nl_link.c */
int mroce_nl_plane_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int mroce_nl_plane_new(struct sk_buff *skb, struct genl_info *info);
int mroce_nl_plane_del(struct sk_buff *skb, struct genl_info *info);
int mroce_nl_plane_set(struct sk_buff *skb, struct genl_info *info);
int mroce_nl_link_check(struct sk_buff *skb, struct genl_info *info);

/* mroce_nl_conn.c */
struct mroce_conn *mroce_nl_conn_get(struct net *net, struct nlattr **attrs, struct nlattr *id,
				     struct netlink_ext_ack *extack);
u32 mroce_nl_conn_bytes(const struct mroce_conn *conn);
int mroce_nl_conn_walk(struct mroce_nl_dumper *d, struct mroce_dev *dev,
		       int (*show)(struct mroce_nl_dumper *d, struct mroce_conn *conn));
int mroce_nl_conn_doit(struct sk_buff *skb, struct genl_info *info);
int mroce_nl_conn_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

/* mroce_nl_path.c */
u8 mroce_nl_path_label(const struct mroce_conn *conn, const struct mroce_path *p);
int mroce_nl_path_doit(struct sk_buff *skb, struct genl_info *info);
int mroce_nl_path_dumpit(struct sk_buff *skb, struct netlink_callback *cb);

/* mroce_nl_event.c */
void mroce_nl_event_init(void);
void mroce_nl_event_flush(void);

#endif /* MROCE_NL_H */
