// SPDX-License-Identifier: GPL-2.0
/* Loading and unloading. */
#include <linux/module.h>
#include <rdma/rdma_netlink.h>

#include "mroce.h"

static int __init mroce_init(void)
{
	int err;

	err = mroce_net_init();
	if (err)
		return err;

	err = mroce_nl_init();
	if (err)
		goto exit_net;
	err = mroce_plane_notifier_init();
	if (err)
		goto exit_nl;

	/* Devices can appear as soon as this has succeeded: always last. */
	err = mroce_netdev_init();
	if (err)
		goto exit_plane;
	return 0;

exit_plane:
	mroce_plane_notifier_exit();
exit_nl:
	mroce_nl_exit();
exit_net:
	mroce_net_exit();
	return err;
}

static void __exit mroce_exit(void)
{
	/* Returns with all devices gone, so that nobody uses a namespace. */
	mroce_netdev_exit();
	mroce_plane_notifier_exit();
	/* Its last events are those of the devices' end. */
	mroce_nl_exit();
	mroce_net_exit();
	/* Connections, regions and QP references are freed by RCU callbacks. */
	rcu_barrier();
}

module_init(mroce_init);
module_exit(mroce_exit);

MODULE_ALIAS_RDMA_LINK("mroce");
MODULE_SOFTDEP("pre: ib_uverbs");
MODULE_DESCRIPTION("Multipath soft RDMA device over UDP");
MODULE_LICENSE("GPL");
