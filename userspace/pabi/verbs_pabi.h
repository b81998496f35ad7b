/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of the private interface between libibverbs and its providers that
 * mroce uses, in our own words, for PABI 34 on x86-64 and arm64.
 *
 * Distributions ship no header for it. What is declared here was read off the
 * installed library: pabi/check.c asserts every size at compile time, and at
 * run time it installs each operation alone and looks where it arrives in the
 * public struct verbs_context. `make check` runs it; a library with another
 * layout fails there, not in an application.
 *
 * The objects embed public structures (struct ibv_qp_ex, struct ibv_cq_ex), so
 * a provider must be built against the verbs.h of the library it is loaded by:
 * two libraries with the same PABI number may differ in their size.
 */
#ifndef MROCE_VERBS_PABI_H
#define MROCE_VERBS_PABI_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MROCE_PABI_VERSION	34

struct verbs_device;
struct verbs_device_ops;
struct verbs_sysfs_dev;
struct verbs_xrcd;

/*
 * How a provider says which devices are its own. A table ends with an entry of
 * kind VERBS_MATCH_SENTINEL.
 */
enum verbs_match_kind {
	VERBS_MATCH_SENTINEL	= 0,
	VERBS_MATCH_MODALIAS	= 2,	/* u.modalias: fnmatch pattern */
	VERBS_MATCH_DRIVER_ID	= 3,	/* u.driver_id: as the kernel reports it */
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;			/* enum verbs_match_kind */
};

struct verbs_list_node {
	struct verbs_list_node *next;
	struct verbs_list_node *prev;
};

/* Allocated by the provider's alloc_device(); filled in by libibverbs. */
struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	int refcount;
	struct verbs_list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

/*
 * struct verbs_device_ops - what a provider registers
 * @match_min_abi_version: smallest uverbs ABI version of the device it takes
 * @match_max_abi_version: largest one
 * @match_device: optional, has the last word on a device
 * @alloc_context: opens a device; owns @cmd_fd from the call on
 * @import_context: optional
 */
struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs);
	struct verbs_context *(*alloc_context)(struct ibv_device *device,
					       int cmd_fd, void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device,
						int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs);
	void (*uninit_device)(struct verbs_device *device);
};

enum verbs_qp_mask {
	VERBS_QP_XRCD	= 1 << 0,
	VERBS_QP_EX	= 1 << 1,	/* ibv_qp_to_qp_ex() may return it */
};

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;		/* enum verbs_qp_mask */
	struct verbs_xrcd *xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct verbs_mr {
	struct ibv_mr ibv_mr;
	uint32_t mr_type;		/* 0: ordinary memory region */
	int access;
};

struct verbs_srq {
	struct ibv_srq srq;
	uint32_t srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

/*
 * struct verbs_context_ops - every operation a provider may implement
 *
 * verbs_set_ops() copies the members that are not NULL. The order is
 * alphabetical and is the ABI. Operations that mroce does not implement are
 * typed void (*)(void): only their place matters.
 */
struct verbs_context_ops {
	void (*advise_mr)(void);
	void (*alloc_dm)(void);
	void (*alloc_mw)(void);
	void (*alloc_null_mr)(void);
	struct ibv_pd *
	(*alloc_parent_domain)(struct ibv_context *ctx,
			       struct ibv_parent_domain_init_attr *attr);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *ctx);
	struct ibv_td *(*alloc_td)(struct ibv_context *ctx,
				   struct ibv_td_init_attr *attr);
	void (*async_event)(void);
	void (*attach_counters_point_flow)(void);
	void (*attach_mcast)(void);
	void (*bind_mw)(void);
	void (*close_xrcd)(void);
	void (*cq_event)(void);
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	void (*create_counters)(void);
	struct ibv_cq *(*create_cq)(struct ibv_context *ctx, int cqe,
				    struct ibv_comp_channel *channel,
				    int comp_vector);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *ctx,
					  struct ibv_cq_init_attr_ex *attr);
	void (*create_flow)(void);
	void (*create_flow_action_esp)(void);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd,
				    struct ibv_qp_init_attr *attr);
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *ctx,
				       struct ibv_qp_init_attr_ex *attr);
	void (*create_rwq_ind_table)(void);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd,
				      struct ibv_srq_init_attr *attr);
	void (*create_srq_ex)(void);
	void (*create_wq)(void);
	void (*dealloc_mw)(void);
	int (*dealloc_pd)(struct ibv_pd *pd);
	int (*dealloc_td)(struct ibv_td *td);
	int (*dereg_mr)(struct verbs_mr *vmr);
	int (*destroy_ah)(struct ibv_ah *ah);
	void (*destroy_counters)(void);
	int (*destroy_cq)(struct ibv_cq *cq);
	void (*destroy_flow)(void);
	void (*destroy_flow_action)(void);
	int (*destroy_qp)(struct ibv_qp *qp);
	void (*destroy_rwq_ind_table)(void);
	int (*destroy_srq)(struct ibv_srq *srq);
	void (*destroy_wq)(void);
	void (*detach_mcast)(void);
	void (*free_context)(struct ibv_context *ctx);
	void (*free_dm)(void);
	void (*get_srq_num)(void);
	void (*import_dm)(void);
	void (*import_mr)(void);
	void (*import_pd)(void);
	void (*modify_cq)(void);
	void (*modify_flow_action_esp)(void);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	void (*modify_qp_rate_limit)(void);
	int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr,
			  int mask);
	void (*modify_wq)(void);
	void (*open_qp)(void);
	void (*open_xrcd)(void);
	int (*poll_cq)(struct ibv_cq *cq, int num, struct ibv_wc *wc);
	int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad);
	int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad);
	void (*post_srq_ops)(void);
	int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad);
	int (*query_device_ex)(struct ibv_context *ctx,
			       const struct ibv_query_device_ex_input *input,
			       struct ibv_device_attr_ex *attr, size_t size);
	void (*query_ece)(void);
	int (*query_port)(struct ibv_context *ctx, uint8_t port,
			  struct ibv_port_attr *attr);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init_attr);
	void (*query_qp_data_in_order)(void);
	void (*query_rt_values)(void);
	int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
	void (*read_counters)(void);
	void (*reg_dm_mr)(void);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset,
					size_t length, uint64_t iova, int fd,
					int access);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length,
				 uint64_t iova, int access);
	int (*req_notify_cq)(struct ibv_cq *cq, int solicited_only);
	int (*rereg_mr)(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
			void *addr, size_t length, int access);
	void (*resize_cq)(void);
	void (*set_ece)(void);
	void (*unimport_dm)(void);
	void (*unimport_mr)(void);
	void (*unimport_pd)(void);
};

/*
 * Exported by libibverbs under the version IBVERBS_PRIVATE_34.
 *
 * A command buffer (@cmd) begins with struct ib_uverbs_cmd_hdr and the
 * command's core structure of <rdma/ib_user_verbs.h>; the driver's part
 * follows. A response is the core response followed by the driver's part. The
 * library fills in header and core parts and chooses between ioctl and write.
 * All return 0 or a positive errno.
 */
void verbs_register_driver_34(const struct verbs_device_ops *ops);

struct verbs_context *
_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
			      size_t alloc_size, size_t context_offset,
			      uint32_t driver_id);
void verbs_uninit_context(struct verbs_context *ctx);
void verbs_set_ops(struct verbs_context *ctx,
		   const struct verbs_context_ops *ops);
/* ibv_open_device() with an argument; used by the layout check only */
struct ibv_context *verbs_open_device(struct ibv_device *device,
				      void *private_data);

int ibv_cmd_get_context(struct verbs_context *ctx, void *cmd, size_t cmd_size,
			void *resp, size_t resp_size);
int ibv_cmd_query_device_any(struct ibv_context *ctx,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     void *resp, size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *ctx, uint8_t port,
		       struct ibv_port_attr *attr, void *cmd, size_t cmd_size);
int ibv_cmd_alloc_pd(struct ibv_context *ctx, struct ibv_pd *pd, void *cmd,
		     size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
		   int access, struct verbs_mr *vmr, void *cmd, size_t cmd_size,
		   void *resp, size_t resp_size);
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t iova, int access,
		     struct ibv_pd *pd, void *cmd, size_t cmd_size, void *resp,
		     size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_create_cq(struct ibv_context *ctx, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, void *cmd, size_t cmd_size, void *resp,
		      size_t resp_size);
int ibv_cmd_create_cq_ex(struct ibv_context *ctx,
			 const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq, void *cmd, size_t cmd_size,
			 void *resp, size_t resp_size, uint32_t cmd_flags);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_create_qp_ex(struct ibv_context *ctx, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, void *cmd,
			 size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      void *cmd, size_t cmd_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init_attr, void *cmd,
		     size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr, void *cmd,
		       size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       void *cmd, size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, void *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);

#endif /* MROCE_VERBS_PABI_H */
