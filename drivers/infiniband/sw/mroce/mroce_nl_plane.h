/* SPDX-License-Identifier: GPL-2.0 */
/* What the netlink family knows of planes, in its own terms. */
#ifndef MROCE_NL_PLANE_H
#define MROCE_NL_PLANE_H

#include "mroce.h"

/**
 * struct mroce_nl_plane - a plane as it is told
 * @ifindex: its netdev
 * @label: planes of two hosts with the same one are one network
 * @up: it can carry packets
 * @primary: it is the netdev of the link
 * @addr4, @addr6: its addresses as GIDs, zero if there is none
 * @speed_mbps: speed in use, 0 = not known
 * @set_speed_mbps: speed as set, 0 = not set
 */
struct mroce_nl_plane {
	int ifindex;
	u8 label;
	bool up;
	bool primary;
	struct in6_addr addr4;
	struct in6_addr addr6;
	u32 speed_mbps;
	u32 set_speed_mbps;
};

int mroce_nl_plane_look(struct mroce_dev *dev, unsigned int i, struct mroce_nl_plane *out);
int mroce_nl_plane_speed(struct mroce_dev *dev, int ifindex, u32 mbps,
			 struct netlink_ext_ack *extack);

#endif /* MROCE_NL_PLANE_H */
