// SPDX-License-Identifier: GPL-2.0
/* Netlink's view of planes. */
#include "mroce_nl_plane.h"

/**
 * mroce_nl_plane_look() - the i-th plane of a device
 * @dev: device
 * @i: which
 * @out: what it is like now
 *
 * Return: 0, -ENOENT beyond the last.
 */
int mroce_nl_plane_look(struct mroce_dev *dev, unsigned int i, struct mroce_nl_plane *out)
{
	struct mroce_plane plane;
	int err = mroce_plane_get(dev, i, &plane);

	if (err)
		return err;
	*out = (struct mroce_nl_plane){
		.ifindex = plane.ifindex,
		.label = plane.label,
		.up = plane.up,
		.primary = !i,
		.addr4 = plane.addr[MROCE_PLANE_V4],
		.addr6 = plane.addr[plane.has & 1u << MROCE_PLANE_V6 ? MROCE_PLANE_V6 :
				    MROCE_PLANE_LL6],
	};
	return 0;
}

/**
 * mroce_nl_plane_speed() - set the speed of a plane
 * @dev: device
 * @ifindex: of the netdev
 * @mbps: speed
 * @extack: why not
 *
 * Return: -EOPNOTSUPP: nothing looks at it yet.
 */
int mroce_nl_plane_speed(struct mroce_dev *dev, int ifindex, u32 mbps,
			 struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "planes have no speed yet");
	return -EOPNOTSUPP;
}
