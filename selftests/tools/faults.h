/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* mroce_faults: what its files share. */
#ifndef MROCE_FAULTS_H
#define MROCE_FAULTS_H

#include "tool.h"

/* What a failure was injected into; a mask, as a shortage may hit several */
enum mroce_fault {
	MROCE_FAULT_SLAB = 1,
	MROCE_FAULT_PAGE = 2,
	MROCE_FAULT_COPY = 4,
};

#define MROCE_FAULT_MEMORY (MROCE_FAULT_SLAB | MROCE_FAULT_PAGE)

int mroce_inject_init(void);
void mroce_inject_nth(unsigned int n);
void mroce_inject_shortage(unsigned int bytes);
unsigned int mroce_inject_end(void);

#define MROCE_RESOURCES 16

/**
 * struct mroce_resources - what the kernel says there is
 * @n: entries used
 * @name: such as "qp"
 * @count: of all devices
 * @devices: RDMA devices
 * @nodes: device files
 * @sockets: UDP sockets of the network namespace
 */
struct mroce_resources {
	int n;
	char name[MROCE_RESOURCES][16];
	uint64_t count[MROCE_RESOURCES];
	int devices;
	int nodes;
	int sockets;
};

int mroce_nl_open(void);
int mroce_nl_add(int fd, const char *name, const char *netdev);
int mroce_nl_delete(int fd, int index);
int mroce_nl_index(int fd, const char *name);
int mroce_nl_dump(int fd, int command, int index);
int mroce_genl_open(int *family);
int mroce_genl_plane(int fd, int family, int command, const char *dev, uint32_t ifindex);
int mroce_genl_planes(int fd, int family);
int mroce_genl_set_paths(int fd, int family, const char *dev, uint8_t paths);
int mroce_genl_paths(int fd, int family, const char *dev);
int mroce_resources_get(int fd, struct mroce_resources *r);
uint64_t mroce_resources_count(int fd, const char *name);

/**
 * struct mroce_faults - state of the program
 * @nl: RDMA netlink socket
 * @name: verbs devices A and B; or the link, or module, and the netdev
 * @round: counts calls, for what has to be new each time
 * @dev: A and B
 * @side_cq: completion queues of the pair and of @qp
 * @pair: connected queue pairs, for the whole walk
 * @side_mr: memory of the pair
 * @side_buf: of @side_mr, BUF_BYTES
 * @fd: object of a call, as are all below
 * @index: number of a device
 * @count: objects of the kind of the call, before it
 * @before: attributes of @qp before the call
 */
struct mroce_faults {
	int nl;
	const char *name[2];
	unsigned int round;
	struct mroce_dev dev[2];
	struct ibv_cq *side_cq[2];
	struct ibv_qp *pair[2];
	struct ibv_mr *side_mr[2];
	uint8_t *side_buf[2];

	int fd;
	int index;
	uint64_t count;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	void *map;
	size_t map_bytes;
	off_t map_offset;
	struct ibv_qp_attr before;
};

/* What is to be expected of an operation */
enum {
	/* it may do without allocations and copies */
	MROCE_OP_QUIET = 1,
	/* lack of memory must not be noticed */
	MROCE_OP_NEEDS_NO_MEMORY = 2,
	/* nor a failing copy */
	MROCE_OP_NEVER_FAILS = 4,
	/* no verbs: no device need be there */
	MROCE_OP_BARE = 8,
	/* the driver core needs memory to remove a device file, and leaves it if there is none */
	MROCE_OP_LEAVES_NODE = 16,
	/* it copies, but need not allocate */
	MROCE_OP_COPIES_ONLY = 32,
};

/**
 * struct mroce_op - an operation that is called with failures
 * @name: in the report, and on the command line
 * @prepare: before each call, without failures; may be NULL
 * @call: 0 or an errno; after that, nothing has happened
 * @check: after an error: is all as before? May be NULL
 * @undo: after a call that succeeded, without failures: is it right, and gone again?
 * @again: the call after an error, NULL: @call
 * @also: errnos other than ENOMEM and EFAULT that the kernel outside of mroce makes of it
 * @flags: see above
 * @stride: of its points beyond the first hundred only each so many-th is walked: most of
 *	them are not ours; 0 = all
 * @least_bytes: what the system call itself needs: a shortage leaves that much
 */
struct mroce_op {
	const char *name;
	int (*prepare)(struct mroce_faults *f);
	int (*call)(struct mroce_faults *f);
	int (*check)(struct mroce_faults *f);
	int (*undo)(struct mroce_faults *f);
	int (*again)(struct mroce_faults *f);
	int also[4];
	int flags;
	unsigned int stride;
	unsigned int least_bytes;
};

extern const struct mroce_op mroce_link_ops[], mroce_plane_ops[];
extern const struct mroce_op mroce_object_ops[], mroce_pair_ops[];

#define MROCE_FAULTS_BUF_BYTES (4 << 20)
#define MROCE_FAULTS_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

int mroce_side_open(struct mroce_faults *f);
void mroce_side_close(struct mroce_faults *f);
struct ibv_qp *mroce_side_qp(struct mroce_faults *f, int side);
int mroce_side_destroy_qp(struct mroce_faults *f);
int mroce_side_rts(struct mroce_faults *f, struct ibv_qp *qp, int side, uint32_t far_qpn);

int mroce_complain(const char *what, ...) __attribute__((format(printf, 1, 2)));

#endif
