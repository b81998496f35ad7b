// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_faults: creating, destroying and asking about objects of device A. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/rdma_netlink.h>

#include "faults.h"

#define A 0

/* ---- context, protection domain ---------------------------------------------------------- */
static int open_device(struct mroce_faults *f)
{
	f->ctx = ibv_open_device(f->dev[A].ctx->device);
	return f->ctx ? 0 : errno;
}

static int close_device(struct mroce_faults *f)
{
	return ibv_close_device(f->ctx) ? errno : 0;
}

static int alloc_pd(struct mroce_faults *f)
{
	f->pd = ibv_alloc_pd(f->dev[A].ctx);
	return f->pd ? 0 : errno;
}

static int dealloc_pd(struct mroce_faults *f)
{
	return ibv_dealloc_pd(f->pd);
}

/* ---- completion queues ------------------------------------------------------------------- */
static int create_channel(struct mroce_faults *f)
{
	f->channel = ibv_create_comp_channel(f->dev[A].ctx);
	return f->channel ? 0 : errno;
}

static int destroy_channel(struct mroce_faults *f)
{
	return ibv_destroy_comp_channel(f->channel);
}

static int create_cq_of(struct mroce_faults *f, struct ibv_comp_channel *channel)
{
	f->cq = ibv_create_cq(f->dev[A].ctx, 500, NULL, channel, 0);
	return f->cq ? 0 : errno;
}

static int create_cq(struct mroce_faults *f)
{
	return create_cq_of(f, NULL);
}

static int destroy_cq(struct mroce_faults *f)
{
	return ibv_destroy_cq(f->cq);
}

static int have_cq(struct mroce_faults *f)
{
	int err = create_cq(f);

	f->count = mroce_resources_count(f->nl, "cq");
	return err;
}

/* The answer comes after the deed, and may be what cannot be copied. */
static int destroy_only_cq(struct mroce_faults *f)
{
	int err = destroy_cq(f);

	mroce_inject_end();
	return err == EFAULT && mroce_resources_count(f->nl, "cq") < f->count ? 0 : err;
}

static int create_cq_events(struct mroce_faults *f)
{
	return create_cq_of(f, f->channel);
}

static int destroy_cq_and_channel(struct mroce_faults *f)
{
	return destroy_cq(f) ?: destroy_channel(f);
}

static int create_cq_ex(struct mroce_faults *f)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 500, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->dev[A].ctx, &attr);

	f->cq = cq ? ibv_cq_ex_to_cq(cq) : NULL;
	return cq ? 0 : errno;
}

/* ---- memory ------------------------------------------------------------------------------ */
static int reg_mr_of(struct mroce_faults *f, size_t bytes)
{
	f->mr = ibv_reg_mr(f->dev[A].pd, f->side_buf[A], bytes, MROCE_FAULTS_ACCESS);
	return f->mr ? 0 : errno;
}

static int reg_mr_small(struct mroce_faults *f)
{
	return reg_mr_of(f, 100);
}

/* Pinned in several pieces, and its list of pages is more than one */
static int reg_mr_large(struct mroce_faults *f)
{
	return reg_mr_of(f, MROCE_FAULTS_BUF_BYTES);
}

static int dereg_mr(struct mroce_faults *f)
{
	return ibv_dereg_mr(f->mr);
}

static int rereg_memory(struct mroce_faults *f)
{
	return ibv_rereg_mr(f->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, f->side_buf[A] + 5000,
			    MROCE_FAULTS_BUF_BYTES / 2, 0) ? errno : 0;
}

static int rereg_access(struct mroce_faults *f)
{
	return ibv_rereg_mr(f->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			    IBV_ACCESS_LOCAL_WRITE) ? errno : 0;
}

/* ---- queue pairs ------------------------------------------------------------------------- */
static int create_qp_of(struct mroce_faults *f, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.send_cq = f->side_cq[A], .recv_cq = f->side_cq[A], .cap = cap,
		.qp_type = IBV_QPT_RC,
	};

	f->qp = ibv_create_qp(f->dev[A].pd, &init);
	return f->qp ? 0 : errno;
}

static int create_qp(struct mroce_faults *f)
{
	f->qp = mroce_side_qp(f, A);
	return f->qp ? 0 : errno;
}

static int create_qp_inline(struct mroce_faults *f)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = 64, .max_send_sge = 1, .max_inline_data = 200,
	};

	return create_qp_of(f, cap);
}

static int create_qp_large(struct mroce_faults *f)
{
	struct ibv_qp_cap cap = {
		.max_send_wr = 1024, .max_recv_wr = 1024,
		.max_send_sge = f->dev[A].attr.max_sge, .max_recv_sge = f->dev[A].attr.max_sge,
	};

	return create_qp_of(f, cap);
}

static int create_qp_ex(struct mroce_faults *f)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = f->side_cq[A], .recv_cq = f->side_cq[A],
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 2,
			 .max_recv_sge = 2 },
		.qp_type = IBV_QPT_RC, .pd = f->dev[A].pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
	};

	f->qp = ibv_create_qp_ex(f->dev[A].ctx, &init);
	return f->qp ? 0 : errno;
}

static int destroy_qp(struct mroce_faults *f)
{
	return ibv_destroy_qp(f->qp);
}

static int have_qp(struct mroce_faults *f)
{
	int err = create_qp(f);

	f->count = mroce_resources_count(f->nl, "qp");
	return err;
}

/* ---- shared receive queues --------------------------------------------------------------- */
static int create_srq_of(struct mroce_faults *f, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	f->srq = ibv_create_srq(f->dev[A].pd, &init);
	return f->srq ? 0 : errno;
}

static int create_srq(struct mroce_faults *f)
{
	return create_srq_of(f, 16, 2);
}

/* Its ring and its copies are several pages each. */
static int create_srq_large(struct mroce_faults *f)
{
	return create_srq_of(f, 2048, f->dev[A].attr.max_srq_sge);
}

static int destroy_srq(struct mroce_faults *f)
{
	return ibv_destroy_srq(f->srq);
}

static int have_srq(struct mroce_faults *f)
{
	int err = create_srq(f);

	f->count = mroce_resources_count(f->nl, "srq");
	return err;
}

/* As of completion queues */
static int destroy_only_srq(struct mroce_faults *f)
{
	int err = destroy_srq(f);

	mroce_inject_end();
	return err == EFAULT && mroce_resources_count(f->nl, "srq") < f->count ? 0 : err;
}

static int limit_of(struct mroce_faults *f, uint32_t *limit)
{
	struct ibv_srq_attr attr = { };
	int err = ibv_query_srq(f->srq, &attr);

	*limit = attr.srq_limit;
	return err;
}

/* Receives in it, or the limit is reached at once. */
static int have_posted_srq(struct mroce_faults *f)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	int i, err = create_srq(f);

	for (i = 0; i < 4 && !err; i++)
		err = ibv_post_srq_recv(f->srq, &wr, &bad);
	return err;
}

static int modify_srq(struct mroce_faults *f)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };

	return ibv_modify_srq(f->srq, &attr, IBV_SRQ_LIMIT);
}

static int is_not_armed(struct mroce_faults *f)
{
	uint32_t limit = 99;

	return limit_of(f, &limit) || limit ? mroce_complain("the limit is %u", limit) : 0;
}

static int destroy_armed_srq(struct mroce_faults *f)
{
	uint32_t limit = 99;

	if (limit_of(f, &limit) || limit != 3)
		return mroce_complain("the limit is %u", limit);
	return destroy_srq(f);
}

static int query_srq(struct mroce_faults *f)
{
	uint32_t limit;

	return limit_of(f, &limit);
}

static int create_qp_srq(struct mroce_faults *f)
{
	struct ibv_qp_init_attr init = {
		.send_cq = f->side_cq[A], .recv_cq = f->side_cq[A], .srq = f->srq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 }, .qp_type = IBV_QPT_RC,
	};

	f->qp = ibv_create_qp(f->dev[A].pd, &init);
	return f->qp ? 0 : errno;
}

static int destroy_qp_and_srq(struct mroce_faults *f)
{
	return destroy_qp(f) ?: destroy_srq(f);
}

static int have_qp_srq(struct mroce_faults *f)
{
	int err = create_srq_large(f) ?: create_qp_srq(f);

	f->count = mroce_resources_count(f->nl, "qp");
	return err;
}

/* The provider has mapped the rings: find where, to map one more often. */
static int find_ring(struct mroce_faults *f)
{
	unsigned long start, stop, offset;
	char line[256], path[128];
	FILE *maps;

	if (create_qp_large(f))
		return -1;
	maps = fopen("/proc/self/maps", "r");
	f->map_bytes = 0;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %127s", &start, &stop, &offset,
			   path) == 4 && strstr(path, f->dev[A].ctx->device->dev_name) &&
		    stop - start > f->map_bytes) {
			f->map_bytes = stop - start;
			f->map_offset = offset;
		}
	}
	if (maps)
		fclose(maps);
	return f->map_bytes ? 0 : -1;
}

static int map_ring(struct mroce_faults *f)
{
	f->map = mmap(NULL, f->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		      f->dev[A].ctx->cmd_fd, f->map_offset);
	return f->map == MAP_FAILED ? errno : 0;
}

static int unmap_ring(struct mroce_faults *f)
{
	/* All of it is there */
	memset(f->map + f->map_bytes - 64, 0, 64);
	return munmap(f->map, f->map_bytes) ?: destroy_qp(f);
}

/* ---- questions --------------------------------------------------------------------------- */
static int query_device(struct mroce_faults *f)
{
	struct ibv_device_attr_ex attr;

	return ibv_query_device_ex(f->dev[A].ctx, NULL, &attr);
}

static int query_port(struct mroce_faults *f)
{
	struct ibv_port_attr attr;

	return ibv_query_port(f->dev[A].ctx, 1, &attr);
}

static int query_qp(struct mroce_faults *f)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(f->pair[A], &attr, IBV_QP_STATE, &init);
}

static int prepare_show(struct mroce_faults *f)
{
	f->index = mroce_nl_index(f->nl, f->name[A]);
	f->fd = mroce_nl_open();
	return f->index < 0 || f->fd < 0 ? -1 : 0;
}

static int show(struct mroce_faults *f, int command)
{
	return mroce_nl_dump(f->fd, command, f->index);
}

static int end_show(struct mroce_faults *f)
{
	return close(f->fd);
}

static int reopen_show(struct mroce_faults *f)
{
	return end_show(f) ?: prepare_show(f);
}

static int show_qps(struct mroce_faults *f)
{
	return show(f, RDMA_NLDEV_CMD_RES_QP_GET);
}

static int show_cqs(struct mroce_faults *f)
{
	return show(f, RDMA_NLDEV_CMD_RES_CQ_GET);
}

static int show_mrs(struct mroce_faults *f)
{
	return show(f, RDMA_NLDEV_CMD_RES_MR_GET);
}

static int prepare_show_srqs(struct mroce_faults *f)
{
	return create_srq(f) || create_qp_srq(f) || prepare_show(f);
}

static int show_srqs(struct mroce_faults *f)
{
	return show(f, RDMA_NLDEV_CMD_RES_SRQ_GET);
}

static int end_show_srqs(struct mroce_faults *f)
{
	return end_show(f) ?: destroy_qp_and_srq(f);
}

/*
 * ENOENT: libibverbs does not say why it cannot open the device file, but that there is
 * no other. ENOBUFS: netlink has no memory for the question, or for the answer.
 */
#define SHOW(n) { .name = #n, .prepare = prepare_show, .call = n, .check = reopen_show, \
	.undo = end_show, .also = { ENOBUFS } }

const struct mroce_op mroce_object_ops[] = {
	{ .name = "open_device", .call = open_device, .undo = close_device,
	  .also = { ENOENT } },
	{ .name = "close_device", .prepare = open_device, .call = close_device,
	  .flags = MROCE_OP_NEVER_FAILS | MROCE_OP_QUIET },
	{ .name = "alloc_pd", .call = alloc_pd, .undo = dealloc_pd },
	{ .name = "dealloc_pd", .prepare = alloc_pd, .call = dealloc_pd,
	  .flags = MROCE_OP_NEEDS_NO_MEMORY },
	{ .name = "create_channel", .call = create_channel, .undo = destroy_channel },
	{ .name = "destroy_channel", .prepare = create_channel, .call = destroy_channel,
	  .flags = MROCE_OP_NEVER_FAILS | MROCE_OP_QUIET },
	{ .name = "create_cq", .call = create_cq, .undo = destroy_cq },
	{ .name = "create_cq_events", .prepare = create_channel, .call = create_cq_events,
	  .undo = destroy_cq_and_channel },
	{ .name = "create_cq_ex", .call = create_cq_ex, .undo = destroy_cq },
	{ .name = "destroy_cq", .prepare = have_cq, .call = destroy_only_cq,
	  .flags = MROCE_OP_NEEDS_NO_MEMORY },
	{ .name = "reg_mr_small", .call = reg_mr_small, .undo = dereg_mr },
	{ .name = "reg_mr_large", .call = reg_mr_large, .undo = dereg_mr },
	{ .name = "rereg_memory", .prepare = reg_mr_small, .call = rereg_memory,
	  .undo = dereg_mr },
	{ .name = "rereg_access", .prepare = reg_mr_small, .call = rereg_access,
	  .undo = dereg_mr },
	{ .name = "dereg_mr", .prepare = reg_mr_large, .call = dereg_mr,
	  .flags = MROCE_OP_NEEDS_NO_MEMORY },
	{ .name = "create_qp", .call = create_qp, .undo = destroy_qp },
	{ .name = "create_qp_inline", .call = create_qp_inline, .undo = destroy_qp },
	{ .name = "create_qp_large", .call = create_qp_large, .undo = destroy_qp },
	{ .name = "create_qp_ex", .call = create_qp_ex, .undo = destroy_qp },
	{ .name = "destroy_qp", .prepare = have_qp, .call = mroce_side_destroy_qp,
	  .flags = MROCE_OP_NEEDS_NO_MEMORY },
	{ .name = "create_srq", .call = create_srq, .undo = destroy_srq },
	{ .name = "create_srq_large", .call = create_srq_large, .undo = destroy_srq },
	{ .name = "destroy_srq", .prepare = have_srq, .call = destroy_only_srq,
	  .flags = MROCE_OP_NEEDS_NO_MEMORY },
	{ .name = "modify_srq", .prepare = have_posted_srq, .call = modify_srq,
	  .check = is_not_armed, .undo = destroy_armed_srq, .flags = MROCE_OP_COPIES_ONLY },
	{ .name = "query_srq", .prepare = create_srq, .call = query_srq, .undo = destroy_srq,
	  .flags = MROCE_OP_COPIES_ONLY },
	{ .name = "create_qp_srq", .prepare = create_srq_large, .call = create_qp_srq,
	  .undo = destroy_qp_and_srq },
	{ .name = "destroy_qp_srq", .prepare = have_qp_srq, .call = mroce_side_destroy_qp,
	  .undo = destroy_srq, .flags = MROCE_OP_NEEDS_NO_MEMORY },
	{ .name = "map_ring", .prepare = find_ring, .call = map_ring, .undo = unmap_ring },
	{ .name = "query_device", .call = query_device, .flags = MROCE_OP_COPIES_ONLY },
	{ .name = "query_port", .call = query_port, .flags = MROCE_OP_COPIES_ONLY },
	{ .name = "query_qp", .call = query_qp },
	SHOW(show_qps),
	SHOW(show_cqs),
	SHOW(show_mrs),
	{ .name = "show_srqs", .prepare = prepare_show_srqs, .call = show_srqs,
	  .check = reopen_show, .undo = end_show_srqs, .also = { ENOBUFS } },
	{ }
};
