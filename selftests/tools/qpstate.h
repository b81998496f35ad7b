/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mroce_qpstate: what verbs promise about limits, states, errors and timers.
 *
 * One process holds both ends, so that a case controls the order of events. The
 * two devices are those of two network namespaces (the RDMA subsystem shares
 * devices between namespaces by default), or one and the same device.
 *
 * Every helper that can fail says why in mroce_test.why and returns 1, so a case
 * is a chain of calls.
 */
#ifndef MROCE_QPSTATE_H
#define MROCE_QPSTATE_H

#include "tool.h"

#define MROCE_HALF_BYTES (8u << 20)
#define MROCE_WAIT_MS 5000

enum { MROCE_A, MROCE_B };

/**
 * struct mroce_side - one end of the pair
 * @dev: its device; both sides may point to the same
 * @buf: MROCE_HALF_BYTES to send from, then as many to receive into
 * @mr: covers @buf, remote write allowed
 * @send_cq: of @qp
 * @recv_cq: of @qp
 * @qp: of the running case
 * @cap: granted limits of @qp
 * @psn: first packet sequence number it sends
 */
struct mroce_side {
	struct mroce_dev *dev;
	uint8_t *buf;
	struct ibv_mr *mr;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	struct ibv_qp *qp;
	struct ibv_qp_cap cap;
	uint32_t psn;
};

/**
 * struct mroce_test - state of the running case
 * @side: the two ends
 * @timing: for the next connection
 * @access: of the next QPs
 * @why: reason of the failure
 * @unsupported: the case failed because the device says it cannot do this
 * @wc: last completion waited for
 * @loop: both sides are one device
 * @cut: shell command that makes the link lose everything
 * @mend: shell command that repairs it
 */
struct mroce_test {
	struct mroce_side side[2];
	struct mroce_qp_timing timing;
	int access;
	char why[256];
	bool unsupported;
	struct ibv_wc wc;
	bool loop;
	const char *cut;
	const char *mend;
};

/* What a case cannot do without: a way to cut the link, or both ends on one device */
enum mroce_need { MROCE_NEEDS_NOTHING, MROCE_NEEDS_CUT, MROCE_NEEDS_LOOP };

/* struct mroce_case - a row of a case table, which ends with an empty one */
struct mroce_case {
	const char *name;
	int (*run)(struct mroce_test *test);
	enum mroce_need need;
};

/**
 * struct mroce_req - a send work request in short
 * @id: wr_id
 * @opcode: verb
 * @bytes: taken from the start of the side's buffer
 * @flags: besides IBV_SEND_SIGNALED
 * @lkey: 0 = the side's own
 * @remote_addr: RDMA and atomics
 * @rkey: RDMA and atomics
 * @imm: immediate, host order
 * @compare_add: atomics
 * @swap: atomics
 * @unsignaled: no completion unless it fails
 */
struct mroce_req {
	uint64_t id;
	enum ibv_wr_opcode opcode;
	uint32_t bytes;
	uint32_t flags;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t imm;
	uint64_t remote_addr;
	uint64_t compare_add;
	uint64_t swap;
	bool unsignaled;
};

extern const struct mroce_case mroce_cases_caps[];
extern const struct mroce_case mroce_cases_flush[];
extern const struct mroce_case mroce_cases_data[];
extern const struct mroce_case mroce_cases_remote[];
extern const struct mroce_case mroce_cases_retry[];

int mroce_case_fail(struct mroce_test *test, const char *fmt, ...);
int mroce_case_loopback(struct mroce_test *test, int err);
int mroce_case_errno(struct mroce_test *test, const char *what, int got, int expected);

int mroce_pair_create(struct mroce_test *test, uint32_t send_wr, uint32_t recv_wr);
int mroce_pair_init(struct mroce_test *test);
int mroce_pair_rtr(struct mroce_test *test, int which);
int mroce_pair_rts(struct mroce_test *test, int which);
int mroce_pair_connect(struct mroce_test *test);
int mroce_pair_open(struct mroce_test *test);
int mroce_pair_state(struct mroce_test *test, int which, enum ibv_qp_state state);
int mroce_pair_close(struct mroce_test *test);
int mroce_pair_ping(struct mroce_test *test);

uint8_t *mroce_side_inbox(struct mroce_side *side);
int mroce_side_send(struct mroce_side *side, const struct mroce_req *req);
int mroce_side_recv(struct mroce_side *side, uint64_t id, uint32_t bytes);
int mroce_side_sends(struct mroce_test *test, int which, uint64_t first_id, unsigned int count,
		     uint32_t bytes);
int mroce_side_recvs(struct mroce_test *test, int which, uint64_t first_id, unsigned int count,
		     uint32_t bytes);

int mroce_wc_wait(struct mroce_test *test, struct ibv_cq *cq, uint64_t id,
		  enum ibv_wc_status status, unsigned int wait_ms);
int mroce_wc_range(struct mroce_test *test, struct ibv_cq *cq, uint64_t first_id,
		   unsigned int count, enum ibv_wc_status status);
int mroce_wc_none(struct mroce_test *test, struct ibv_cq *cq, unsigned int wait_ms);

#endif
