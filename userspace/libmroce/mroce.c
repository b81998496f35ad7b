// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device and its contexts: what libibverbs sees first. */
#include "mroce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void free_context(struct ibv_context *ibctx)
{
	struct mroce_context *ctx =
		mroce_container_of(ibctx, struct mroce_context, vctx.context);

	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops context_ops = {
	.alloc_parent_domain = mroce_pd_alloc_parent,
	.alloc_pd = mroce_pd_alloc,
	.alloc_td = mroce_td_alloc,
	.create_ah = mroce_ah_create,
	.create_cq = mroce_cq_create,
	.create_cq_ex = mroce_cq_create_ex,
	.create_qp = mroce_qp_create,
	.create_qp_ex = mroce_qp_create_ex,
	.create_srq = mroce_srq_create,
	.dealloc_pd = mroce_pd_dealloc,
	.dealloc_td = mroce_td_dealloc,
	.dereg_mr = mroce_mr_dereg,
	.destroy_ah = mroce_ah_destroy,
	.destroy_cq = mroce_cq_destroy,
	.destroy_qp = mroce_qp_destroy,
	.destroy_srq = mroce_srq_destroy,
	.free_context = free_context,
	.modify_qp = mroce_qp_modify,
	.modify_srq = mroce_srq_modify,
	.poll_cq = mroce_cq_poll,
	.post_recv = mroce_qp_post_recv,
	.post_send = mroce_qp_post_send,
	.post_srq_recv = mroce_srq_post_recv,
	.query_device_ex = mroce_device_query,
	.query_port = mroce_port_query,
	.query_qp = mroce_qp_query,
	.query_srq = mroce_srq_query,
	.reg_dmabuf_mr = mroce_mr_reg_dmabuf,
	.reg_mr = mroce_mr_reg,
	.req_notify_cq = mroce_cq_arm,
	.rereg_mr = mroce_mr_rereg,
};

static struct verbs_context *alloc_context(struct ibv_device *ibdev,
					   int cmd_fd, void *private_data)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context core;
	} cmd = {};
	struct {
		struct ib_uverbs_get_context_resp core;
		struct mroce_alloc_ucontext_resp drv;
	} resp = {};
	struct verbs_context *vctx;
	int ret;

	(void)private_data;
	vctx = _verbs_init_and_alloc_context(ibdev, cmd_fd,
					     sizeof(struct mroce_context),
					     offsetof(struct mroce_context, vctx),
					     MROCE_DRIVER_ID);
	if (!vctx)
		return NULL;

	ret = ibv_cmd_get_context(vctx, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (ret)
		goto err;

	if (resp.drv.abi_version != MROCE_ABI_VERSION) {
		fprintf(stderr,
			"mroce: the kernel module of %s speaks ABI version %u, this library version %u: use the two of one release.\n",
			ibdev->name, resp.drv.abi_version, MROCE_ABI_VERSION);
		ret = EPROTONOSUPPORT;
		goto err;
	}

	verbs_set_ops(vctx, &context_ops);
	return vctx;

err:
	verbs_uninit_context(vctx);
	free(mroce_container_of(vctx, struct mroce_context, vctx));
	errno = ret;
	return NULL;
}

static struct verbs_device *alloc_device(struct verbs_sysfs_dev *sysfs)
{
	struct mroce_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs;
	return dev ? &dev->vdev : NULL;
}

static void uninit_device(struct verbs_device *vdev)
{
	free(mroce_container_of(vdev, struct mroce_device, vdev));
}

/*
 * The driver id decides. The name is for places that have sysfs but not the
 * RDMA netlink that reports the id, such as some containers.
 */
static const struct verbs_match_ent match_table[] = {
	{ .u.driver_id = MROCE_DRIVER_ID, .kind = VERBS_MATCH_DRIVER_ID },
	{ .u.modalias = "rdma_device:*Nmroce*", .kind = VERBS_MATCH_MODALIAS },
	{ .kind = VERBS_MATCH_SENTINEL },
};

static const struct verbs_device_ops device_ops = {
	.name = "mroce",
	.match_min_abi_version = MROCE_ABI_VERSION,
	.match_max_abi_version = MROCE_ABI_VERSION,
	.match_table = match_table,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
	.alloc_context = alloc_context,
};

/* mroce_device_is_ours - does libibverbs have it from this library? */
bool mroce_device_is_ours(const struct ibv_device *ibdev)
{
	return mroce_container_of(ibdev, struct verbs_device, device)->ops == &device_ops;
}

static __attribute__((constructor)) void register_driver(void)
{
	verbs_register_driver_34(&device_ops);
}
