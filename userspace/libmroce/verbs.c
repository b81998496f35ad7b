// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device, port and memory region: objects that live in the kernel only, so
 * everything here is a command.
 */
#include "mroce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* mroce_device_query - ibv_query_device(), ibv_query_device_ex() */
int mroce_device_query(struct ibv_context *ctx,
		       const struct ibv_query_device_ex_input *input,
		       struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t version;
	int ret;

	ret = ibv_cmd_query_device_any(ctx, input, attr, attr_size, &resp,
				       &resp_size);
	if (ret)
		return ret;

	version = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver),
		 "%u.%u.%u", (unsigned int)(version >> 32),
		 (unsigned int)(version >> 16) & 0xffff,
		 (unsigned int)version & 0xffff);
	return 0;
}

/* mroce_port_query - ibv_query_port() */
int mroce_port_query(struct ibv_context *ctx, uint8_t port,
		     struct ibv_port_attr *attr)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_query_port core;
	} cmd = {};

	return ibv_cmd_query_port(ctx, port, attr, &cmd, sizeof(cmd));
}

static struct ibv_mr *finish_reg(struct verbs_mr *vmr, struct ibv_pd *pd,
				 int ret)
{
	if (ret) {
		free(vmr);
		errno = ret;
		return NULL;
	}
	mroce_pd_get(pd);
	return &vmr->ibv_mr;
}

/*
 * mroce_mr_reg - ibv_reg_mr(), ibv_reg_mr_iova()
 *
 * Optional access flags, relaxed ordering among them, pass through: the kernel
 * knows which ones it has.
 */
struct ibv_mr *mroce_mr_reg(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t iova, int access)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_reg_mr core;
	} cmd = {};
	struct ib_uverbs_reg_mr_resp resp = {};
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	ret = ibv_cmd_reg_mr(pd, addr, length, iova, access, vmr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	return finish_reg(vmr, pd, ret);
}

/* mroce_mr_reg_dmabuf - ibv_reg_dmabuf_mr(); EOPNOTSUPP is the kernel's to say */
struct ibv_mr *mroce_mr_reg_dmabuf(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access)
{
	struct verbs_mr *vmr;
	int ret;

	vmr = calloc(1, sizeof(*vmr));
	if (!vmr)
		return NULL;

	ret = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr);
	return finish_reg(vmr, pd, ret);
}

/* mroce_mr_rereg - ibv_rereg_mr(); the library sets ibv_mr.pd afterwards */
int mroce_mr_rereg(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr core;
	} cmd = {};
	struct ib_uverbs_rereg_mr_resp resp = {};
	int ret;

	ret = ibv_cmd_rereg_mr(vmr, (uint32_t)flags, addr, length,
			       (uintptr_t)addr, access, pd, &cmd, sizeof(cmd),
			       &resp, sizeof(resp));
	if (!ret && (flags & IBV_REREG_MR_CHANGE_PD)) {
		mroce_pd_get(pd);
		mroce_pd_put(vmr->ibv_mr.pd);
	}
	return ret;
}

/* mroce_mr_dereg - ibv_dereg_mr() */
int mroce_mr_dereg(struct verbs_mr *vmr)
{
	int ret = ibv_cmd_dereg_mr(vmr);

	if (ret)
		return ret;
	mroce_pd_put(vmr->ibv_mr.pd);
	free(vmr);
	return 0;
}
