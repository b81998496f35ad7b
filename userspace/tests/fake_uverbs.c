// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_uverbs.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_pabi.h"

#define FILE_BYTES	(8u << 20)
#define PAGE_BYTES	4096u
#define MAX_HANDLES	64
/* What a request for inline data is rounded up to, to see that caps arrive. */
#define INLINE_STEP	64u

struct fake_kernel fake_kernel;

static int file_fd = -1;
static uint8_t *file_mem;
static uint32_t file_used_bytes;
static uint32_t next_handle;
static struct fake_ring rings[MAX_HANDLES][2];
static const struct verbs_device_ops *provider_ops;

/* One command on its way: core request, and where the answer goes. */
struct call {
	const uint8_t *in;
	size_t in_bytes;
	uint8_t *out;
	size_t out_bytes;
};

/* The provider's constructor ends up here instead of in libibverbs. */
void verbs_register_driver_34(const struct verbs_device_ops *ops)
{
	provider_ops = ops;
}

static struct verbs_context *alloc_context(struct ibv_device *device,
					   int cmd_fd, void *private_data)
{
	(void)cmd_fd;
	return provider_ops->alloc_context(device, dup(file_fd), private_data);
}

static void uninit_device(struct verbs_device *device)
{
	(void)device;
}

static const struct verbs_device_ops device_ops = {
	.alloc_context = alloc_context,
	.uninit_device = uninit_device,
};

static bool make_file(void)
{
	file_fd = memfd_create("uverbs", 0);
	if (file_fd < 0 || ftruncate(file_fd, FILE_BYTES))
		return false;
	file_mem = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			file_fd, 0);
	return file_mem != MAP_FAILED;
}

/* fake_open - a fresh kernel and a context of the provider on it */
struct ibv_context *fake_open(void)
{
	static struct verbs_device device;
	struct ibv_context *ctx;

	if (file_fd < 0 && !make_file())
		return NULL;
	memset(file_mem, 0, file_used_bytes);
	memset(rings, 0, sizeof(rings));
	file_used_bytes = 0;
	next_handle = 0;

	device = (struct verbs_device) {
		.device.name = "mr0", .ops = &device_ops, .refcount = 1,
	};
	ctx = verbs_open_device(&device.device, NULL);
	if (ctx)
		fake_set_foreign(ctx, false);
	return ctx;
}

/* fake_set_foreign - is the device another provider's? An open one can be told this. */
void fake_set_foreign(struct ibv_context *ctx, bool is_foreign)
{
	((struct verbs_device *)(void *)ctx->device)->ops =
		is_foreign ? &device_ops : provider_ops;
}

/* libibverbs' looks into its own record of the device, which there is not. */
int ibv_get_device_index(struct ibv_device *device)
{
	(void)device;
	return fake_kernel.device_index;
}

struct fake_ring *fake_sq(const struct ibv_qp *qp)
{
	return &rings[qp->handle][0];
}

struct fake_ring *fake_rq(const struct ibv_qp *qp)
{
	return &rings[qp->handle][1];
}

struct fake_ring *fake_srq(const struct ibv_srq *srq)
{
	return &rings[srq->handle][0];
}

struct fake_ring *fake_cq(const struct ibv_cq *cq)
{
	return &rings[cq->handle][0];
}

void *fake_slot(const struct fake_ring *ring, uint32_t index)
{
	return ring->slots + (index & (ring->entries - 1)) * ring->stride_bytes;
}

/* fake_complete - append a completion as the kernel does */
void fake_complete(struct fake_ring *cq, const struct mroce_cqe *cqe)
{
	uint32_t prod = cq->hdr->prod;

	memcpy(fake_slot(cq, prod), cqe, sizeof(*cqe));
	__atomic_store_n(&cq->hdr->prod, prod + 1, __ATOMIC_RELEASE);
}

static uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

static struct mroce_ring_info make_ring(struct fake_ring *ring, uint32_t wanted,
					uint32_t stride)
{
	struct mroce_ring_info info = {
		.offset = file_used_bytes,
		.entries = round_up_pow2(wanted),
		.stride = (stride + 63) & ~63u,
	};

	info.size_bytes = MROCE_RING_DATA_OFFSET + info.entries * info.stride;
	info.size_bytes = (info.size_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	ring->hdr = (struct mroce_ring_hdr *)(void *)(file_mem + file_used_bytes);
	ring->slots = file_mem + file_used_bytes + MROCE_RING_DATA_OFFSET;
	ring->entries = info.entries;
	ring->stride_bytes = info.stride;
	file_used_bytes += info.size_bytes;
	if (fake_kernel.corrupt_entries)
		info.entries--;
	return info;
}

/* Core answer, then the driver's part behind it, as far as there is room. */
static void answer(struct call *call, const void *core, size_t core_bytes,
		   const void *drv, size_t drv_bytes)
{
	if (core_bytes > call->out_bytes)
		abort();
	memcpy(call->out, core, core_bytes);
	if (drv_bytes > call->out_bytes - core_bytes)
		drv_bytes = call->out_bytes - core_bytes;
	memcpy(call->out + core_bytes, drv, drv_bytes);
}

static int do_get_context(struct call *call)
{
	struct ib_uverbs_get_context_resp core = { .num_comp_vectors = 1 };
	struct mroce_alloc_ucontext_resp drv = {
		.abi_version = fake_kernel.abi_version,
		.max_inline_bytes = 512,
	};

	core.async_fd = (uint32_t)open("/dev/null", O_RDONLY);
	answer(call, &core, sizeof(core), &drv, sizeof(drv));
	return 0;
}

static int do_alloc_pd(struct call *call)
{
	struct ib_uverbs_alloc_pd_resp core = { .pd_handle = next_handle++ };

	fake_kernel.live_pds++;
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_reg_mr(struct call *call)
{
	const struct ib_uverbs_reg_mr *req = (const void *)call->in;
	struct ib_uverbs_reg_mr_resp core = {
		.mr_handle = next_handle, .lkey = 0x100 + next_handle,
		.rkey = 0x200 + next_handle,
	};

	next_handle++;
	fake_kernel.live_mrs++;
	fake_kernel.last_access = req->access_flags;
	fake_kernel.last_pd = req->pd_handle;
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_rereg_mr(struct call *call)
{
	const struct ib_uverbs_rereg_mr *req = (const void *)call->in;
	struct ib_uverbs_rereg_mr_resp core = { .lkey = 1, .rkey = 2 };

	if (!fake_kernel.can_rereg)
		return EOPNOTSUPP;
	fake_kernel.last_pd = req->pd_handle;
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int create_cq(struct call *call, uint32_t cqe, bool is_ex)
{
	struct ib_uverbs_ex_create_cq_resp core = {
		.base = { .cq_handle = next_handle++, .cqe = cqe },
		.response_length = sizeof(core),
	};
	struct mroce_create_cq_resp drv = {
		.cq = make_ring(&rings[core.base.cq_handle][0], cqe,
				MROCE_CQE_SIZE),
	};

	fake_kernel.live_cqs++;
	answer(call, &core, is_ex ? sizeof(core) : sizeof(core.base), &drv,
	       sizeof(drv));
	return 0;
}

static int do_create_cq(struct call *call)
{
	return create_cq(call, ((const struct ib_uverbs_create_cq *)
				(const void *)call->in)->cqe, false);
}

static int do_create_cq_ex(struct call *call)
{
	return create_cq(call, ((const struct ib_uverbs_ex_create_cq *)
				(const void *)call->in)->cqe, true);
}

static int do_modify_qp(struct call *call)
{
	const struct ib_uverbs_modify_qp *req = (const void *)call->in;
	int i;

	fake_kernel.last_state = req->qp_state;
	for (i = 0; req->qp_state == IBV_QPS_RESET && i < 2; i++) {
		struct mroce_ring_hdr *hdr = rings[req->qp_handle][i].hdr;

		if (!hdr)
			continue;
		hdr->prod = 0;
		hdr->cons = 0;
	}
	return 0;
}

static int do_query_qp(struct call *call)
{
	struct ib_uverbs_query_qp_resp core = {
		.qp_state = (uint8_t)fake_kernel.last_state,
		.dest = {
			.is_global = fake_kernel.last_state >= IBV_QPS_RTR,
			.port_num = 1,
			.sgid_index = fake_kernel.sgid_index,
			.traffic_class = fake_kernel.traffic_class,
		},
	};

	memcpy(core.dest.dgid, &fake_kernel.dgid, sizeof(core.dest.dgid));
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_dealloc_pd(struct call *call)
{
	const struct ib_uverbs_dealloc_pd *req = (const void *)call->in;

	if (fake_kernel.dealloc_pd_errno)
		return fake_kernel.dealloc_pd_errno;
	fake_kernel.last_pd = req->pd_handle;
	fake_kernel.live_pds--;
	return 0;
}

static int do_dereg_mr(struct call *call)
{
	(void)call;
	fake_kernel.live_mrs--;
	return 0;
}

static int do_destroy_cq(struct call *call)
{
	struct ib_uverbs_destroy_cq_resp core = {};

	fake_kernel.live_cqs--;
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_destroy_qp(struct call *call)
{
	struct ib_uverbs_destroy_qp_resp core = {};

	fake_kernel.live_qps--;
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_create_ah(struct call *call)
{
	const struct ib_uverbs_create_ah *req = (const void *)call->in;
	struct ib_uverbs_create_ah_resp core = { .ah_handle = ++next_handle };
	struct mroce_create_ah_resp drv = { .ah_num = fake_kernel.next_ah++ };

	if (fake_kernel.create_ah_errno)
		return fake_kernel.create_ah_errno;
	fake_kernel.last_pd = req->pd_handle;
	fake_kernel.live_ahs++;
	answer(call, &core, sizeof(core), &drv, sizeof(drv));
	return 0;
}

static int do_destroy_ah(struct call *call)
{
	(void)call;
	fake_kernel.live_ahs--;
	return 0;
}

static int do_modify_srq(struct call *call)
{
	const struct ib_uverbs_modify_srq *req = (const void *)call->in;

	fake_kernel.srq_modifies++;
	fake_kernel.srq_limit = req->srq_limit;
	return 0;
}

static int do_query_srq(struct call *call)
{
	struct ib_uverbs_query_srq_resp core = {
		.max_wr = fake_kernel.srq_max_wr,
		.max_sge = 1,
		.srq_limit = fake_kernel.srq_limit,
	};

	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_destroy_srq(struct call *call)
{
	struct ib_uverbs_destroy_srq_resp core = {};

	if (fake_kernel.destroy_srq_errno)
		return fake_kernel.destroy_srq_errno;
	fake_kernel.live_srqs--;
	answer(call, &core, sizeof(core), "", 0);
	return 0;
}

static int do_doorbell(struct call *call, const struct ib_uverbs_cmd_hdr *hdr)
{
	const struct ib_uverbs_post_send *req = (const void *)call->in;

	if (fake_kernel.doorbell_errno) {
		int err = fake_kernel.doorbell_errno;

		if (fake_kernel.doorbell_failures && !--fake_kernel.doorbell_failures)
			fake_kernel.doorbell_errno = 0;
		return err;
	}
	fake_kernel.doorbells++;
	fake_kernel.doorbell = (struct fake_doorbell) {
		.command = hdr->command,
		.handle = req->qp_handle,
		.wr_count = req->wr_count,
		.sge_count = req->sge_count,
		.wqe_size = req->wqe_size,
		.in_bytes = hdr->in_words * 4u,
		.out_words = hdr->out_words,
	};
	return 0;
}

/* The response pointer is the first word of every command used here. */
static int run_command(const uint8_t *buf)
{
	struct ib_uverbs_cmd_hdr hdr;
	struct call call;
	uint64_t response;

	memcpy(&hdr, buf, sizeof(hdr));
	memcpy(&response, buf + sizeof(hdr), sizeof(response));
	call.in = buf + sizeof(hdr);
	call.in_bytes = hdr.in_words * 4u - sizeof(hdr);
	call.out = (uint8_t *)(uintptr_t)response;
	call.out_bytes = hdr.out_words * 4u;

	switch (hdr.command) {
	case IB_USER_VERBS_CMD_GET_CONTEXT:
		return do_get_context(&call);
	case IB_USER_VERBS_CMD_ALLOC_PD:
		return do_alloc_pd(&call);
	case IB_USER_VERBS_CMD_DEALLOC_PD:
		return do_dealloc_pd(&call);
	case IB_USER_VERBS_CMD_REG_MR:
		return do_reg_mr(&call);
	case IB_USER_VERBS_CMD_REREG_MR:
		return do_rereg_mr(&call);
	case IB_USER_VERBS_CMD_DEREG_MR:
		return do_dereg_mr(&call);
	case IB_USER_VERBS_CMD_CREATE_CQ:
		return do_create_cq(&call);
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		return do_destroy_cq(&call);
	case IB_USER_VERBS_CMD_MODIFY_QP:
		return do_modify_qp(&call);
	case IB_USER_VERBS_CMD_QUERY_QP:
		return do_query_qp(&call);
	case IB_USER_VERBS_CMD_DESTROY_QP:
		return do_destroy_qp(&call);
	case IB_USER_VERBS_CMD_CREATE_AH:
		return do_create_ah(&call);
	case IB_USER_VERBS_CMD_DESTROY_AH:
		return do_destroy_ah(&call);
	case IB_USER_VERBS_CMD_MODIFY_SRQ:
		return do_modify_srq(&call);
	case IB_USER_VERBS_CMD_QUERY_SRQ:
		return do_query_srq(&call);
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		return do_destroy_srq(&call);
	case IB_USER_VERBS_CMD_POST_SEND:
	case IB_USER_VERBS_CMD_POST_RECV:
	case IB_USER_VERBS_CMD_POST_SRQ_RECV:
		return do_doorbell(&call, &hdr);
	default:
		return EOPNOTSUPP;
	}
}

/* Extended commands carry the response pointer in a header of their own. */
static int run_ex_command(const uint8_t *buf)
{
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex;
	struct call call;

	memcpy(&hdr, buf, sizeof(hdr));
	memcpy(&ex, buf + sizeof(hdr), sizeof(ex));
	call.in = buf + sizeof(hdr) + sizeof(ex);
	call.in_bytes = (hdr.in_words + ex.provider_in_words) * 8u;
	call.out = (uint8_t *)(uintptr_t)ex.response;
	call.out_bytes = (hdr.out_words + ex.provider_out_words) * 8u;

	if ((hdr.command & IB_USER_VERBS_CMD_COMMAND_MASK) ==
	    IB_USER_VERBS_EX_CMD_CREATE_CQ)
		return do_create_cq_ex(&call);
	return EOPNOTSUPP;
}

/* libibverbs' and the provider's write(); other files get the real one. */
ssize_t write(int fd, const void *buf, size_t bytes)
{
	char name[32] = "";
	char path[32];
	uint32_t command;
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, name, sizeof(name) - 1) < 0 ||
	    strncmp(name, "/memfd:uverbs", 13))
		return syscall(SYS_write, fd, buf, bytes);

	fake_kernel.calls++;
	memcpy(&command, buf, sizeof(command));
	ret = command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? run_ex_command(buf) :
							  run_command(buf);
	if (ret) {
		errno = ret;
		return -1;
	}
	return (ssize_t)bytes;
}

static struct ib_uverbs_attr *find_attr(struct ib_uverbs_ioctl_hdr *hdr,
					uint16_t id)
{
	uint16_t i;

	for (i = 0; i < hdr->num_attrs; i++)
		if (hdr->attrs[i].attr_id == id)
			return &hdr->attrs[i];
	return NULL;
}

static void put_attr(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id,
		     const void *data, uint16_t bytes)
{
	struct ib_uverbs_attr *attr = find_attr(hdr, id);

	if (!attr)
		return;
	if (bytes > attr->len)
		bytes = attr->len;
	memcpy((void *)(uintptr_t)attr->data, data, bytes);
}

static void note_pd(struct ib_uverbs_ioctl_hdr *hdr, uint16_t id)
{
	struct ib_uverbs_attr *attr = find_attr(hdr, id);

	if (attr)
		fake_kernel.last_pd = (uint32_t)attr->data;
}

static void note_qp_req(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *attr = find_attr(hdr, UVERBS_ATTR_UHW_IN);
	struct mroce_create_qp_req req = {};

	fake_kernel.qp_req_bytes = attr ? attr->len : 0;
	/* Of another size it is not what it should be; then no field is set. */
	if (attr && attr->len == sizeof(req))
		memcpy(&req, (void *)(uintptr_t)attr->data, sizeof(req));
	fake_kernel.qp_req = req;
}

static int create_qp(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_attr *in = find_attr(hdr, UVERBS_ATTR_CREATE_QP_CAP);
	struct ib_uverbs_qp_cap cap;
	struct mroce_create_qp_resp drv = {};
	uint32_t qpn = 100 + next_handle;
	uint32_t sge_bytes;

	note_qp_req(hdr);
	if (fake_kernel.create_qp_errno) {
		errno = fake_kernel.create_qp_errno;
		return -1;
	}
	note_pd(hdr, UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	memcpy(&cap, (void *)(uintptr_t)in->data, sizeof(cap));
	cap.max_inline_data = (cap.max_inline_data + INLINE_STEP - 1) &
			      ~(INLINE_STEP - 1);
	sge_bytes = cap.max_send_sge * (uint32_t)sizeof(struct mroce_sge);
	if (sge_bytes < cap.max_inline_data)
		sge_bytes = cap.max_inline_data;
	drv.sq = make_ring(&rings[next_handle][0], cap.max_send_wr,
			   MROCE_SQE_SIZE + sge_bytes);
	if (cap.max_recv_wr)
		drv.rq = make_ring(&rings[next_handle][1], cap.max_recv_wr,
				   MROCE_RQE_SIZE + cap.max_recv_sge *
				   (uint32_t)sizeof(struct mroce_sge));

	find_attr(hdr, UVERBS_ATTR_CREATE_QP_HANDLE)->data = next_handle++;
	put_attr(hdr, UVERBS_ATTR_CREATE_QP_RESP_CAP, &cap, sizeof(cap));
	put_attr(hdr, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	put_attr(hdr, UVERBS_ATTR_UHW_OUT, &drv, sizeof(drv));
	fake_kernel.live_qps++;
	return 0;
}

static int create_srq(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t max_wr =
		(uint32_t)find_attr(hdr, UVERBS_ATTR_CREATE_SRQ_MAX_WR)->data;
	uint32_t max_sge =
		(uint32_t)find_attr(hdr, UVERBS_ATTR_CREATE_SRQ_MAX_SGE)->data;
	struct mroce_create_srq_resp drv = {
		.rq = make_ring(&rings[next_handle][0], max_wr,
				MROCE_RQE_SIZE + max_sge *
				(uint32_t)sizeof(struct mroce_sge)),
	};

	if (fake_kernel.no_srq_ring)
		drv.rq.size_bytes = 0;
	fake_kernel.srq_max_wr = max_wr;
	note_pd(hdr, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
	find_attr(hdr, UVERBS_ATTR_CREATE_SRQ_HANDLE)->data = next_handle++;
	put_attr(hdr, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, &max_wr,
		 sizeof(max_wr));
	put_attr(hdr, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, &max_sge,
		 sizeof(max_sge));
	put_attr(hdr, UVERBS_ATTR_UHW_OUT, &drv, sizeof(drv));
	fake_kernel.live_srqs++;
	return 0;
}

static int query_gid(struct ib_uverbs_ioctl_hdr *hdr)
{
	struct ib_uverbs_gid_entry entry = {};

	memcpy(entry.gid, &fake_kernel.gid, sizeof(entry.gid));
	put_attr(hdr, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
	return 0;
}

/*
 * Only GIDs, and QP and SRQ creation: the write() form of them has no way to return the
 * capabilities in a process that has listed no devices. For everything else
 * this kernel has no ioctl method, so that libibverbs uses write().
 */
int ioctl(int fd, unsigned long request, ...)
{
	struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;

	(void)fd;
	fake_kernel.calls++;
	va_start(args, request);
	hdr = va_arg(args, struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	if (request != RDMA_VERBS_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	if (hdr->driver_id != MROCE_DRIVER_ID) {
		errno = EINVAL;
		return -1;
	}
	if (hdr->object_id == UVERBS_OBJECT_QP &&
	    hdr->method_id == UVERBS_METHOD_QP_CREATE)
		return create_qp(hdr);
	if (hdr->object_id == UVERBS_OBJECT_SRQ &&
	    hdr->method_id == UVERBS_METHOD_SRQ_CREATE)
		return create_srq(hdr);
	if (hdr->object_id == UVERBS_OBJECT_DEVICE &&
	    hdr->method_id == UVERBS_METHOD_QUERY_GID_ENTRY)
		return query_gid(hdr);
	errno = EPROTONOSUPPORT;
	return -1;
}
