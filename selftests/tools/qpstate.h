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
#define MROCE_SLOW_SLACK_MS 5000
/* Longest list of mroce_side_post_list() */
#define MROCE_LIST_MAX 64

enum { MROCE_A, MROCE_B };

/*
 * enum mroce_command - what only the script around can do
 * @MROCE_CUT: the link loses everything
 * @MROCE_MEND: and works again
 * @MROCE_DOWN: the netdev of side A goes down
 * @MROCE_UP: and comes back with its addresses
 * @MROCE_ADD: side A gets a further address
 * @MROCE_DEL: and loses it
 * @MROCE_DELAY: what side B sends takes a quarter of a second
 * @MROCE_PROMPT: and no longer
 */
enum mroce_command {
	MROCE_CUT, MROCE_MEND, MROCE_DOWN, MROCE_UP, MROCE_ADD, MROCE_DEL, MROCE_DELAY,
	MROCE_PROMPT, MROCE_COMMANDS
};

/**
 * struct mroce_side - one end of the pair
 * @dev: its device; both sides may point to the same
 * @buf: MROCE_HALF_BYTES to send from, then as many to receive into
 * @mr: covers @buf, remote write allowed
 * @send_cq: of @qp
 * @recv_cq: of @qp
 * @qp: of the running case
 * @srq: the next @qp takes its receives from it, NULL = it has its own; destroyed with it
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
	struct ibv_srq *srq;
	struct ibv_qp_cap cap;
	uint32_t psn;
};

/**
 * struct mroce_test - state of the running case
 * @side: the two ends
 * @timing: for the next connection
 * @access: of the next QPs
 * @qp_type: likewise
 * @why: reason of the failure
 * @wc: last completion waited for
 * @slack_ms: what a busy or emulated machine may add to a timer; above MROCE_SLOW_SLACK_MS
 *	the kernel is one for debugging
 * @loop: both sides are one device
 * @fast: the machine has the time for cases of many thousand calls
 * @command: shell commands by enum mroce_command, NULL = there is none
 */
struct mroce_test {
	struct mroce_side side[2];
	struct mroce_qp_timing timing;
	int access;
	enum ibv_qp_type qp_type;
	char why[256];
	struct ibv_wc wc;
	unsigned int slack_ms;
	bool loop;
	bool fast;
	const char *command[MROCE_COMMANDS];
};

/* What a case cannot do without: commands, both ends on one device, a fast machine */
enum mroce_need {
	MROCE_NEEDS_NOTHING, MROCE_NEEDS_CUT, MROCE_NEEDS_NETDEV, MROCE_NEEDS_DELAY,
	MROCE_NEEDS_LOOP, MROCE_NEEDS_FAST
};

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
 * @bytes: of the side's buffer
 * @offset: where they are, from the start of the buffer; may lie outside
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
	ptrdiff_t offset;
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
extern const struct mroce_case mroce_cases_read[];
extern const struct mroce_case mroce_cases_order[];
extern const struct mroce_case mroce_cases_atomic[];
extern const struct mroce_case mroce_cases_event[];
extern const struct mroce_case mroce_cases_channel[];
extern const struct mroce_case mroce_cases_state[];
extern const struct mroce_case mroce_cases_modify[];
extern const struct mroce_case mroce_cases_loop[];
extern const struct mroce_case mroce_cases_dgram[];
extern const struct mroce_case mroce_cases_retry[];
extern const struct mroce_case mroce_cases_srq[];
extern const struct mroce_case mroce_cases_srq_shared[];
extern const struct mroce_case mroce_cases_srq_load[];

int mroce_case_fail(struct mroce_test *test, const char *fmt, ...);
int mroce_case_errno(struct mroce_test *test, const char *what, int got, int expected);
int mroce_case_command(struct mroce_test *test, enum mroce_command which);
void mroce_case_pause(unsigned int ms);

int mroce_pair_create(struct mroce_test *test, uint32_t send_wr, uint32_t recv_wr);
int mroce_pair_create_side(struct mroce_test *test, int which, uint32_t send_wr,
			   uint32_t recv_wr);
int mroce_pair_init(struct mroce_test *test);
int mroce_pair_rtr(struct mroce_test *test, int which);
int mroce_pair_rts(struct mroce_test *test, int which);
int mroce_pair_connect(struct mroce_test *test);
int mroce_pair_open(struct mroce_test *test);
int mroce_pair_state(struct mroce_test *test, int which, enum ibv_qp_state state);
int mroce_pair_modify(struct mroce_test *test, int which, enum ibv_qp_state state);
int mroce_pair_close(struct mroce_test *test);
int mroce_pair_ping(struct mroce_test *test);

uint8_t *mroce_side_inbox(struct mroce_side *side);
int mroce_side_send(struct mroce_side *side, const struct mroce_req *req);
int mroce_side_recv(struct mroce_side *side, uint64_t id, uint32_t bytes);
int mroce_side_post(struct mroce_test *test, int which, const struct mroce_req *req);
int mroce_side_post_list(struct mroce_test *test, int which, const struct mroce_req *req,
			 unsigned int count);
int mroce_side_sends(struct mroce_test *test, int which, uint64_t first_id, unsigned int count,
		     uint32_t bytes);
int mroce_side_recvs(struct mroce_test *test, int which, uint64_t first_id, unsigned int count,
		     uint32_t bytes);

int mroce_srq_create(struct mroce_test *test, struct ibv_pd *pd, uint32_t max_wr,
		     uint32_t max_sge);
int mroce_srq_open(struct mroce_test *test, uint32_t max_wr);
int mroce_srq_recv(struct mroce_side *side, uint64_t id, size_t offset, uint32_t bytes);
int mroce_srq_recvs(struct mroce_test *test, uint64_t first_id, unsigned int count,
		    uint32_t bytes);
int mroce_srq_arm(struct mroce_test *test, uint32_t limit);
int mroce_srq_beside(struct mroce_test *test, struct mroce_test *other);
int mroce_srq_part(struct mroce_test *test, struct mroce_test *other, int failed);

int mroce_wc_wait(struct mroce_test *test, struct ibv_cq *cq, uint64_t id,
		  enum ibv_wc_status status, unsigned int wait_ms);
void mroce_event_drop(struct mroce_side *side);
int mroce_event_wait(struct mroce_test *test, struct mroce_side *side, enum ibv_event_type type,
		     const void *element);
int mroce_event_none(struct mroce_test *test, struct mroce_side *side, enum ibv_event_type type,
		     unsigned int wait_ms);

int mroce_wc_range(struct mroce_test *test, struct ibv_cq *cq, uint64_t first_id,
		   unsigned int count, enum ibv_wc_status status);
int mroce_wc_none(struct mroce_test *test, struct ibv_cq *cq, unsigned int wait_ms);

#endif
