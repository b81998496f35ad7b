// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* modify_qp and query_qp: every state, every attribute mask, legal or not. */
#include <errno.h>
#include <string.h>
#include "qpstate.h"

#define STATES (IBV_QPS_ERR + 1)
#define INIT_MASK (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK (IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
		  IBV_QP_MAX_QP_RD_ATOMIC)
/* Where a device may know no alternate paths and say so */
#define MIGRATION (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)

static const char * const state_name[STATES] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"
};

/**
 * struct transition - what IBTA 11.2.5.2 (and the kernel's table) wants of an RC QP
 * @from: state
 * @to: state; the same as @from with IBV_QP_STATE in the mask
 * @need: attributes that must be given
 * @may: attributes that may be given
 */
struct transition {
	enum ibv_qp_state from;
	enum ibv_qp_state to;
	int need;
	int may;
};

static const struct transition legal[] = {
	{ IBV_QPS_RESET, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_RESET, IBV_QPS_INIT, INIT_MASK, 0 },
	{ IBV_QPS_INIT, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_INIT, IBV_QPS_ERR, 0, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, INIT_MASK },
	{ IBV_QPS_INIT, IBV_QPS_RTR, RTR_MASK,
	  IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX },
	{ IBV_QPS_RTR, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_RTR, IBV_QPS_ERR, 0, 0 },
	{ IBV_QPS_RTR, IBV_QPS_RTS, RTS_MASK,
	  IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | MIGRATION },
	{ IBV_QPS_RTS, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_RTS, IBV_QPS_ERR, 0, 0 },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0,
	  IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | MIGRATION },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_SQD, IBV_QPS_ERR, 0, 0 },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0,
	  IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | MIGRATION },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	  IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS |
	  IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | MIGRATION },
	{ IBV_QPS_ERR, IBV_QPS_RESET, 0, 0 },
	{ IBV_QPS_ERR, IBV_QPS_ERR, 0, 0 },
};

/* A new address vector in SQD is a matter of the device; all others are tried. */
static const int single[] = {
	IBV_QP_CUR_STATE, IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_ACCESS_FLAGS, IBV_QP_PKEY_INDEX,
	IBV_QP_PORT, IBV_QP_QKEY, IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT,
	IBV_QP_RNR_RETRY, IBV_QP_RQ_PSN, IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_ALT_PATH,
	IBV_QP_MIN_RNR_TIMER, IBV_QP_SQ_PSN, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_PATH_MIG_STATE,
	IBV_QP_DEST_QPN,
};

/* Values that differ from each other and from every default */
static struct ibv_qp_attr all_attributes(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];

	return (struct ibv_qp_attr){
		.port_num = 1, .alt_port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
		.path_mtu = IBV_MTU_512, .dest_qp_num = b->qp->qp_num, .rq_psn = 0x123456,
		.max_dest_rd_atomic = 3, .min_rnr_timer = 17, .timeout = 15, .retry_cnt = 3,
		.rnr_retry = 5, .sq_psn = 0xabcdef, .max_rd_atomic = 6,
		.path_mig_state = IBV_MIG_MIGRATED, .en_sqd_async_notify = 1,
		.ah_attr = {
			.is_global = 1, .port_num = 1, .grh = {
				.dgid = b->dev->gid, .sgid_index = a->dev->gid_index,
				.hop_limit = 61, .traffic_class = 0x20, .flow_label = 0x12345,
			},
		},
		.alt_ah_attr = { .is_global = 1, .port_num = 1 },
	};
}

static int modify(struct mroce_test *test, enum ibv_qp_state cur, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr = all_attributes(test);

	attr.cur_qp_state = cur;
	attr.qp_state = to;
	return ibv_modify_qp(test->side[MROCE_A].qp, &attr, mask);
}

static enum ibv_qp_state state_of(struct mroce_test *test)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { };

	ibv_query_qp(test->side[MROCE_A].qp, &attr, IBV_QP_STATE, &init);
	return attr.qp_state;
}

/* The send queue is empty, so it is drained at once; some devices say so a little later. */
static int wait_drained(struct mroce_test *test)
{
	uint64_t deadline_ns = mroce_clock_ns() + MROCE_WAIT_MS * 1000000ull;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { };

	do {
		if (ibv_query_qp(test->side[MROCE_A].qp, &attr, IBV_QP_STATE, &init))
			return mroce_case_fail(test, "query_qp failed");
		if (!attr.sq_draining)
			return 0;
	} while (mroce_clock_ns() < deadline_ns);
	return mroce_case_fail(test, "an empty send queue never gets drained");
}

/* From wherever it is through RESET to @state */
static int bring_to(struct mroce_test *test, enum ibv_qp_state state)
{
	static const int mask[STATES] = {
		[IBV_QPS_INIT] = INIT_MASK, [IBV_QPS_RTR] = RTR_MASK, [IBV_QPS_RTS] = RTS_MASK,
	};
	int step, err = modify(test, 0, IBV_QPS_RESET, IBV_QP_STATE);

	for (step = IBV_QPS_INIT; step <= (int)state && step <= IBV_QPS_SQD && !err; step++)
		err = modify(test, 0, step, IBV_QP_STATE | mask[step]);
	if (state == IBV_QPS_ERR && !err)
		err = modify(test, 0, IBV_QPS_ERR, IBV_QP_STATE);
	if (err)
		return mroce_case_fail(test, "cannot bring the QP to %s: %s", state_name[state],
				       strerrorname_np(err));
	return state == IBV_QPS_SQD && wait_drained(test);
}

/* One call; a refused one must leave the state alone. @either: EOPNOTSUPP will do as well */
static int expect(struct mroce_test *test, const struct transition *row, int mask, int expected,
		  bool either)
{
	int err;

	if (bring_to(test, row->from))
		return 1;
	err = modify(test, row->from, row->to, IBV_QP_STATE | mask);
	if (err != expected && !(either && (err == EOPNOTSUPP || err == EINVAL)))
		return mroce_case_fail(test, "%s to %s with %#x: %s, expected %s",
				       state_name[row->from], state_name[row->to], mask,
				       err ? strerrorname_np(err) : "success",
				       expected ? strerrorname_np(expected) : "success");
	if (state_of(test) != (err ? row->from : row->to))
		return mroce_case_fail(test, "%s to %s with %#x: now in %s", state_name[row->from],
				       state_name[row->to], mask, state_name[state_of(test)]);
	return 0;
}

/* A row of the table: what it wants, one less, one too many, each that may be, all of them */
static int try_row(struct mroce_test *test, const struct transition *row)
{
	size_t i;

	if (expect(test, row, row->need, 0, false) ||
	    expect(test, row, row->need | (row->may & ~MIGRATION), 0, false))
		return 1;
	for (i = 0; i < ARRAY_SIZE(single); i++) {
		if (single[i] == IBV_QP_AV && row->from == IBV_QPS_SQD && row->to == IBV_QPS_SQD)
			continue;
		/* the port belongs to it */
		if (single[i] == IBV_QP_PORT && row->from == IBV_QPS_SQD && row->to == IBV_QPS_SQD)
			continue;
		if (single[i] & row->need) {
			if (expect(test, row, row->need & ~single[i], EINVAL, false))
				return 1;
		} else if (expect(test, row, row->need | single[i],
				  single[i] & row->may ? 0 : EINVAL, single[i] & MIGRATION)) {
			return 1;
		}
	}
	return 0;
}

static int modify_legal(struct mroce_test *test)
{
	size_t i;

	if (mroce_pair_create(test, 16, 16))
		return 1;
	for (i = 0; i < ARRAY_SIZE(legal); i++) {
		if (try_row(test, &legal[i]))
			return 1;
	}
	return 0;
}

static bool is_legal(enum ibv_qp_state from, enum ibv_qp_state to)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(legal); i++) {
		if (legal[i].from == from && legal[i].to == to)
			return true;
	}
	return false;
}

/* Every pair of states that is not in the table, whatever attributes are given */
static int modify_illegal(struct mroce_test *test)
{
	static const int mask[] = { 0, INIT_MASK, RTR_MASK, RTS_MASK };
	struct transition row;
	int from, to;
	size_t i;

	if (mroce_pair_create(test, 16, 16))
		return 1;
	for (from = 0; from < STATES; from++) {
		for (to = 0; to < STATES; to++) {
			/* nothing brings a connected QP to SQE */
			if (from == IBV_QPS_SQE || is_legal(from, to))
				continue;
			row = (struct transition){ .from = from, .to = to };
			for (i = 0; i < ARRAY_SIZE(mask); i++) {
				if (expect(test, &row, mask[i], EINVAL, false))
					return 1;
			}
		}
	}
	return 0;
}

/* Attributes without a state: legal where staying in the state is. */
static int modify_without_state(struct mroce_test *test)
{
	if (mroce_pair_create(test, 16, 16) || bring_to(test, IBV_QPS_INIT))
		return 1;
	if (mroce_case_errno(test, "access flags in INIT",
			     modify(test, 0, 0, IBV_QP_ACCESS_FLAGS), 0) ||
	    mroce_case_errno(test, "timeout in INIT", modify(test, 0, 0, IBV_QP_TIMEOUT), EINVAL) ||
	    bring_to(test, IBV_QPS_RTR) ||
	    mroce_case_errno(test, "RNR timer in RTR", modify(test, 0, 0, IBV_QP_MIN_RNR_TIMER),
			     EINVAL) || bring_to(test, IBV_QPS_RTS) ||
	    mroce_case_errno(test, "RNR timer in RTS", modify(test, 0, 0, IBV_QP_MIN_RNR_TIMER),
			     0) ||
	    mroce_case_errno(test, "path MTU in RTS", modify(test, 0, 0, IBV_QP_PATH_MTU), EINVAL))
		return 1;
	return state_of(test) == IBV_QPS_RTS ? 0 : mroce_case_fail(test, "the state changed");
}

/* The state the caller believes in is not the one it is. */
static int modify_wrong_current(struct mroce_test *test)
{
	const int mask = IBV_QP_STATE | IBV_QP_CUR_STATE;

	return mroce_pair_create(test, 16, 16) || bring_to(test, IBV_QPS_RTR) ||
	       mroce_case_errno(test, "RTR taken for RTS", modify(test, IBV_QPS_RTS, IBV_QPS_RTS,
								  mask | RTS_MASK), EINVAL) ||
	       bring_to(test, IBV_QPS_RTS) ||
	       mroce_case_errno(test, "RTS taken for RTR",
				modify(test, IBV_QPS_RTR, IBV_QPS_RTS, mask), EINVAL);
}

/* Values out of range, in the transition that takes them */
static int modify_bad_values(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_qp_attr attr, bad[8];
	static const int mask[8] = {
		RTR_MASK, RTR_MASK, RTR_MASK, RTS_MASK, RTS_MASK, RTS_MASK, RTS_MASK, INIT_MASK
	};
	static const enum ibv_qp_state from[STATES] = {
		[IBV_QPS_INIT] = IBV_QPS_RESET, [IBV_QPS_RTR] = IBV_QPS_INIT,
		[IBV_QPS_RTS] = IBV_QPS_RTR,
	};
	size_t i;

	if (mroce_pair_create(test, 16, 16))
		return 1;
	attr = all_attributes(test);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = attr;
	bad[0].path_mtu = IBV_MTU_4096 + 1;
	bad[1].max_dest_rd_atomic = a->dev->attr.max_qp_rd_atom + 1;
	bad[2].min_rnr_timer = 32;
	bad[3].timeout = 32;
	bad[4].retry_cnt = 8;
	bad[5].rnr_retry = 8;
	bad[6].max_rd_atomic = a->dev->attr.max_qp_init_rd_atom + 1;
	bad[7].port_num = 2;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		bad[i].qp_state = mask[i] == INIT_MASK ? IBV_QPS_INIT :
				  mask[i] == RTR_MASK ? IBV_QPS_RTR : IBV_QPS_RTS;
		if (bring_to(test, from[bad[i].qp_state]))
			return 1;
		if (ibv_modify_qp(a->qp, &bad[i], IBV_QP_STATE | mask[i]) != EINVAL)
			return mroce_case_fail(test, "bad value %zu was taken", i);
	}
	return 0;
}

/* What was set by the time a QP is in @state must be what a query tells. */
static int compare(struct mroce_test *test, enum ibv_qp_state state, int set)
{
	const struct ibv_qp_attr want = all_attributes(test);
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_qp_init_attr init = { };
	struct ibv_qp_attr got = { };
	const struct ibv_global_route *route = &got.ah_attr.grh, *wish = &want.ah_attr.grh;

	if (ibv_query_qp(a->qp, &got, 2 * IBV_QP_DEST_QPN - 1, &init))
		return mroce_case_fail(test, "query_qp failed in %s", state_name[state]);
	if (got.qp_state != state || got.cur_qp_state != state || a->qp->state != state)
		return mroce_case_fail(test, "states %d, %d, %d instead of %s", got.qp_state,
				       got.cur_qp_state, a->qp->state, state_name[state]);
	if (init.qp_type != IBV_QPT_RC || init.send_cq != a->send_cq ||
	    init.recv_cq != a->recv_cq || memcmp(&init.cap, &a->cap, sizeof(a->cap)) ||
	    memcmp(&got.cap, &a->cap, sizeof(a->cap)))
		return mroce_case_fail(test, "wrong limits in %s", state_name[state]);
	if ((set & IBV_QP_ACCESS_FLAGS) && (got.qp_access_flags != want.qp_access_flags ||
					    got.port_num != 1 || got.pkey_index))
		return mroce_case_fail(test, "access flags %#x, port %d in %s",
				       got.qp_access_flags, got.port_num, state_name[state]);
	if ((set & IBV_QP_AV) && (got.path_mtu != want.path_mtu || got.rq_psn != want.rq_psn ||
				  got.dest_qp_num != want.dest_qp_num ||
				  got.max_dest_rd_atomic != want.max_dest_rd_atomic ||
				  got.min_rnr_timer != want.min_rnr_timer))
		return mroce_case_fail(test, "MTU %d, rq_psn %#x, QPN %u, %u, RNR %u in %s",
				       got.path_mtu, got.rq_psn, got.dest_qp_num,
				       got.max_dest_rd_atomic, got.min_rnr_timer,
				       state_name[state]);
	/* the hop limit is the route's: the RDMA core sees to that */
	if ((set & IBV_QP_AV) && (!got.ah_attr.is_global || got.ah_attr.port_num != 1 ||
				  memcmp(&route->dgid, &wish->dgid, 16) ||
				  route->sgid_index != wish->sgid_index ||
				  route->traffic_class != wish->traffic_class ||
				  route->flow_label != wish->flow_label))
		return mroce_case_fail(test, "class %#x, label %#x, index %u in %s",
				       route->traffic_class, route->flow_label, route->sgid_index,
				       state_name[state]);
	if ((set & IBV_QP_SQ_PSN) && (got.timeout != want.timeout || got.sq_psn != want.sq_psn ||
				      got.retry_cnt != want.retry_cnt ||
				      got.rnr_retry != want.rnr_retry ||
				      got.max_rd_atomic != want.max_rd_atomic))
		return mroce_case_fail(test, "timeout %u, sq_psn %#x, retries %u, %u, %u in %s",
				       got.timeout, got.sq_psn, got.retry_cnt, got.rnr_retry,
				       got.max_rd_atomic, state_name[state]);
	return 0;
}

static int query(struct mroce_test *test)
{
	static const int set[STATES] = {
		0, INIT_MASK, INIT_MASK | RTR_MASK, INIT_MASK | RTR_MASK | RTS_MASK,
		INIT_MASK | RTR_MASK | RTS_MASK, 0, INIT_MASK | RTR_MASK | RTS_MASK
	};
	int state;

	if (mroce_pair_create(test, 16, 16))
		return 1;
	for (state = 0; state < STATES; state++) {
		if (state == IBV_QPS_SQE)
			continue;
		if (bring_to(test, state) || compare(test, state, set[state]))
			return 1;
	}
	return 0;
}

const struct mroce_case mroce_cases_modify[] = {
	{ "modify_legal", modify_legal, MROCE_NEEDS_NOTHING },
	{ "modify_illegal", modify_illegal, MROCE_NEEDS_NOTHING },
	{ "modify_without_state", modify_without_state, MROCE_NEEDS_NOTHING },
	{ "modify_wrong_current", modify_wrong_current, MROCE_NEEDS_NOTHING },
	{ "modify_bad_values", modify_bad_values, MROCE_NEEDS_NOTHING },
	{ "query", query, MROCE_NEEDS_NOTHING },
	{ }
};
