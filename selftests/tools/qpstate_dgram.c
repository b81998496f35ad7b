// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams: what arrives, what stands before it, and what does not arrive. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>
#include "qpstate.h"

#define QKEY		0x11223344u
#define GRH_BYTES	40u
#define QUIET_MS	50

static int to_rts(struct mroce_test *test, struct mroce_side *side, uint32_t qkey)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey };
	int err;

	err = ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_QKEY);
	attr.qp_state = IBV_QPS_RTR;
	err = err ? err : ibv_modify_qp(side->qp, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_RTS;
	err = err ? err : ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
	return mroce_case_errno(test, "modify_qp", err, 0);
}

/* Two queue pairs that can talk */
static int open_pair(struct mroce_test *test)
{
	int i;

	test->qp_type = IBV_QPT_UD;
	if (mroce_pair_create(test, 16, 16))
		return 1;
	for (i = 0; i < 2; i++)
		if (to_rts(test, &test->side[i], QKEY))
			return 1;
	return 0;
}

/* From A to B; NULL with the reason noted */
static struct ibv_ah *make_ah(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = b->dev->gid, .sgid_index = a->dev->gid_index, .hop_limit = 64 },
	};
	struct ibv_ah *ah = ibv_create_ah(a->dev->pd, &attr);

	if (!ah)
		mroce_case_errno(test, "create_ah", errno, 0);
	return ah;
}

/* Two queue pairs that can talk, and from A to B; NULL with the reason noted */
static struct ibv_ah *open_pair_ah(struct mroce_test *test)
{
	return open_pair(test) ? NULL : make_ah(test);
}

/**
 * struct gram - a datagram to be sent
 * @opcode: SEND, also if 0, or SEND_WITH_IMM
 * @inl: inline
 * @pieces: how many scatter elements, 0 = 1
 */
struct gram {
	uint64_t id;
	enum ibv_wr_opcode opcode;
	uint32_t bytes;
	uint32_t qkey;
	uint32_t imm;
	unsigned int pieces;
	bool inl;
};

static int post(struct mroce_test *test, struct ibv_ah *ah, const struct gram *g)
{
	struct mroce_side *a = &test->side[MROCE_A];
	unsigned int n = g->pieces ? g->pieces : 1, i;
	uint32_t done = 0;
	struct ibv_sge sge[4];
	struct ibv_send_wr wr = {
		.wr_id = g->id, .sg_list = sge, .num_sge = n,
		.opcode = g->opcode ? g->opcode : IBV_WR_SEND, .imm_data = htonl(g->imm),
		.send_flags = IBV_SEND_SIGNALED | (g->inl ? IBV_SEND_INLINE : 0),
		.wr.ud = { .ah = ah, .remote_qpn = test->side[MROCE_B].qp->qp_num,
			   .remote_qkey = g->qkey ? g->qkey : QKEY },
	};
	struct ibv_send_wr *bad;

	for (i = 0; i < n; i++) {
		sge[i].addr = (uintptr_t)a->buf + done;
		sge[i].length = i == n - 1 ? g->bytes - done : g->bytes / n;
		sge[i].lkey = a->mr->lkey;
		done += sge[i].length;
	}
	return mroce_case_errno(test, "post_send", ibv_post_send(a->qp, &wr, &bad), 0);
}

static int post_recv(struct mroce_test *test, uint64_t id, uint32_t bytes)
{
	return mroce_case_errno(test, "post_recv",
				mroce_side_recv(&test->side[MROCE_B], id, bytes), 0);
}

/* Sent, done, and arrived as @recv_id, as it was */
static int arrives(struct mroce_test *test, struct ibv_ah *ah, const struct gram *g,
		   uint64_t recv_id)
{
	struct mroce_side *a = &test->side[MROCE_A], *b = &test->side[MROCE_B];
	const uint8_t *data = mroce_side_inbox(b) + GRH_BYTES;

	mroce_pattern_fill(a->buf, g->bytes, g->id, 0);
	memset(mroce_side_inbox(b), 0xaa, GRH_BYTES + g->bytes + 8);
	if (post(test, ah, g) ||
	    mroce_wc_wait(test, a->send_cq, g->id, IBV_WC_SUCCESS, MROCE_WAIT_MS) ||
	    mroce_wc_wait(test, b->recv_cq, recv_id, IBV_WC_SUCCESS, MROCE_WAIT_MS))
		return 1;
	if (test->wc.byte_len != GRH_BYTES + g->bytes)
		return mroce_case_fail(test, "%u bytes instead of 40 + %u", test->wc.byte_len,
				       g->bytes);
	if (mroce_pattern_check(data, g->bytes, g->id, 0) >= 0)
		return mroce_case_fail(test, "wrong data, %u bytes", g->bytes);
	if (data[g->bytes] != 0xaa)
		return mroce_case_fail(test, "written behind the end, %u bytes", g->bytes);
	return 0;
}

static uint16_t fold(const void *data, size_t bytes)
{
	const uint8_t *p = data;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < bytes; i += 2)
		sum += p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static bool is_mapped(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)gid->raw);
}

static int check_grh(struct mroce_test *test)
{
	const union ibv_gid *from = &test->side[MROCE_A].dev->gid;
	const union ibv_gid *to = &test->side[MROCE_B].dev->gid;
	const uint8_t *grh = mroce_side_inbox(&test->side[MROCE_B]);
	struct ip6_hdr six;
	struct iphdr four;

	memcpy(&six, grh, sizeof(six));
	memcpy(&four, grh + GRH_BYTES - sizeof(four), sizeof(four));
	if (!is_mapped(to)) {
		if (grh[0] >> 4 != 6 || memcmp(&six.ip6_src, from->raw, 16) ||
		    memcmp(&six.ip6_dst, to->raw, 16))
			return mroce_case_fail(test, "no IPv6 header with the two GIDs");
		return 0;
	}
	if (four.version != 4 || four.ihl != 5 || memcmp(&four.saddr, from->raw + 12, 4) ||
	    memcmp(&four.daddr, to->raw + 12, 4))
		return mroce_case_fail(test, "no IPv4 header with the two GIDs");
	/* Who wants to know whether it is one looks at the sum. */
	if (fold(&four, sizeof(four)) != 0xffff)
		return mroce_case_fail(test, "IPv4 header with a wrong checksum");
	return 0;
}

static int ud_grh(struct mroce_test *test)
{
	struct gram g = {
		.id = 1, .opcode = IBV_WR_SEND_WITH_IMM, .bytes = 100, .imm = 0x01020304,
	};
	struct ibv_ah *ah;
	int failed;

	ah = open_pair_ah(test);
	if (!ah)
		return 1;
	failed = post_recv(test, 2, 1000) || arrives(test, ah, &g, 2) || check_grh(test);
	if (!failed && (test->wc.src_qp != test->side[MROCE_A].qp->qp_num ||
			!(test->wc.wc_flags & IBV_WC_GRH) ||
			!(test->wc.wc_flags & IBV_WC_WITH_IMM) ||
			ntohl(test->wc.imm_data) != 0x01020304))
		failed = mroce_case_fail(test, "src_qp %u, flags %u, immediate %x",
					 test->wc.src_qp, test->wc.wc_flags,
					 ntohl(test->wc.imm_data));
	ibv_destroy_ah(ah);
	return failed;
}

static uint32_t mtu_bytes(const struct mroce_test *test)
{
	return 128u << test->side[MROCE_A].dev->port.active_mtu;
}

static int ud_sizes(struct mroce_test *test)
{
	uint32_t mtu = mtu_bytes(test);
	const uint32_t sizes[] = { 0, 1, 7, 64, 255, 256, 257, 1000, mtu - 1, mtu };
	struct ibv_ah *ah;
	unsigned int i;
	int failed = 0;

	ah = open_pair_ah(test);
	if (!ah)
		return 1;
	for (i = 0; i < 2 * ARRAY_SIZE(sizes) && !failed; i++) {
		struct gram g = { .id = 10 + i, .bytes = sizes[i / 2], .pieces = i % 2 ? 3 : 1 };

		failed = post_recv(test, 100 + i, GRH_BYTES + g.bytes) ||
			 arrives(test, ah, &g, 100 + i);
	}
	for (i = 0; i <= 32 && !failed; i += 8) {
		struct gram g = { .id = 50 + i, .bytes = i, .inl = true };

		failed = post_recv(test, 200 + i, 1000) || arrives(test, ah, &g, 200 + i);
	}
	ibv_destroy_ah(ah);
	return failed;
}

static int ud_too_long(struct mroce_test *test)
{
	struct gram g = { .id = 1, .bytes = mtu_bytes(test) + 1 };
	struct ibv_ah *ah;
	int failed;

	ah = open_pair_ah(test);
	if (!ah)
		return 1;
	failed = post_recv(test, 2, 10000) || post(test, ah, &g) ||
		 mroce_wc_wait(test, test->side[MROCE_A].send_cq, 1, IBV_WC_LOC_LEN_ERR,
			       MROCE_WAIT_MS) ||
		 mroce_pair_state(test, MROCE_A, IBV_QPS_ERR) ||
		 mroce_wc_none(test, test->side[MROCE_B].recv_cq, QUIET_MS);
	ibv_destroy_ah(ah);
	return failed;
}

/* One that is dropped, and the receive is there for the next */
static int dropped_then(struct mroce_test *test, const struct gram *lost, uint32_t recv_bytes,
			const struct gram *good)
{
	struct ibv_ah *ah;
	int failed;

	ah = open_pair_ah(test);
	if (!ah)
		return 1;
	failed = post_recv(test, 2, recv_bytes) || post(test, ah, lost) ||
		 mroce_wc_wait(test, test->side[MROCE_A].send_cq, lost->id, IBV_WC_SUCCESS,
			       MROCE_WAIT_MS) ||
		 mroce_wc_none(test, test->side[MROCE_B].recv_cq, QUIET_MS) ||
		 arrives(test, ah, good, 2);
	ibv_destroy_ah(ah);
	return failed;
}

static int ud_wrong_qkey(struct mroce_test *test)
{
	return dropped_then(test, &(struct gram){ .id = 3, .bytes = 8, .qkey = QKEY + 1 }, 1000,
			    &(struct gram){ .id = 4, .bytes = 8 });
}

/* With the highest bit it is the queue pair's own that goes. */
static int ud_own_qkey(struct mroce_test *test)
{
	return dropped_then(test, &(struct gram){ .id = 3, .bytes = 8, .qkey = 5 }, 1000,
			    &(struct gram){ .id = 4, .bytes = 8, .qkey = 0x80000001u });
}

static int ud_receive_too_small(struct mroce_test *test)
{
	return dropped_then(test, &(struct gram){ .id = 3, .bytes = 61 }, GRH_BYTES + 60,
			    &(struct gram){ .id = 4, .bytes = 60 });
}

static int ud_no_receive(struct mroce_test *test)
{
	struct gram g = { .id = 1, .bytes = 8 };
	struct ibv_ah *ah;
	int failed;

	ah = open_pair_ah(test);
	if (!ah)
		return 1;
	failed = post(test, ah, &g) ||
		 mroce_wc_wait(test, test->side[MROCE_A].send_cq, 1, IBV_WC_SUCCESS,
			       MROCE_WAIT_MS) ||
		 post_recv(test, 2, 1000) ||
		 mroce_wc_none(test, test->side[MROCE_B].recv_cq, QUIET_MS) ||
		 arrives(test, ah, &(struct gram){ .id = 5, .bytes = 9 }, 2);
	ibv_destroy_ah(ah);
	return failed;
}

/* A handle may go as soon as the request is done. */
static int ud_handle_goes(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	unsigned int i;

	if (open_pair(test))
		return 1;
	for (i = 0; i < 200; i++) {
		struct gram g = { .id = i, .bytes = 32 };
		struct ibv_ah *ah = make_ah(test);

		if (!ah || post_recv(test, 1000 + i, 1000) || post(test, ah, &g) ||
		    mroce_wc_wait(test, a->send_cq, i, IBV_WC_SUCCESS, MROCE_WAIT_MS))
			return 1;
		if (ibv_destroy_ah(ah))
			return mroce_case_fail(test, "destroy_ah");
		if (mroce_wc_wait(test, test->side[MROCE_B].recv_cq, 1000 + i, IBV_WC_SUCCESS,
				  MROCE_WAIT_MS))
			return 1;
	}
	return 0;
}

static int ud_bad_lkey(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_sge sge = { .addr = (uintptr_t)a->buf, .length = 8, .lkey = a->mr->lkey ^ 1 };
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	int failed;

	if (open_pair(test))
		return 1;
	wr.wr.ud.ah = make_ah(test);
	if (!wr.wr.ud.ah)
		return 1;
	wr.wr.ud.remote_qpn = test->side[MROCE_B].qp->qp_num;
	wr.wr.ud.remote_qkey = QKEY;
	failed = mroce_case_errno(test, "post_send", ibv_post_send(a->qp, &wr, &bad), 0) ||
		 mroce_wc_wait(test, a->send_cq, 1, IBV_WC_LOC_PROT_ERR, MROCE_WAIT_MS) ||
		 mroce_pair_state(test, MROCE_A, IBV_QPS_ERR);
	ibv_destroy_ah(wr.wr.ud.ah);
	return failed;
}

/* Receives of a queue pair in ERR are flushed; after RESET it works again. */
static int ud_flush_and_reset(struct mroce_test *test)
{
	struct mroce_side *b = &test->side[MROCE_B];
	struct ibv_ah *ah;
	int failed;

	ah = open_pair_ah(test);
	if (!ah)
		return 1;
	failed = post_recv(test, 1, 100) || post_recv(test, 2, 100) ||
		 mroce_pair_modify(test, MROCE_B, IBV_QPS_ERR) ||
		 mroce_wc_range(test, b->recv_cq, 1, 2, IBV_WC_WR_FLUSH_ERR) ||
		 post_recv(test, 3, 100) ||
		 mroce_wc_wait(test, b->recv_cq, 3, IBV_WC_WR_FLUSH_ERR, MROCE_WAIT_MS) ||
		 post(test, ah, &(struct gram){ .id = 9, .bytes = 8 }) ||
		 mroce_wc_wait(test, test->side[MROCE_A].send_cq, 9, IBV_WC_SUCCESS,
			       MROCE_WAIT_MS) ||
		 mroce_wc_none(test, b->recv_cq, QUIET_MS) ||
		 mroce_pair_modify(test, MROCE_B, IBV_QPS_RESET) || to_rts(test, b, QKEY) ||
		 post_recv(test, 4, 100) ||
		 arrives(test, ah, &(struct gram){ .id = 5, .bytes = 9 }, 4);
	ibv_destroy_ah(ah);
	return failed;
}

/* To whom nothing leads */
static int ud_bad_handles(struct mroce_test *test)
{
	struct mroce_side *a = &test->side[MROCE_A];
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .sgid_index = a->dev->gid_index, .hop_limit = 64 },
	};
	struct ibv_ah *ah = ibv_create_ah(a->dev->pd, &attr);

	if (ah) {
		ibv_destroy_ah(ah);
		return mroce_case_fail(test, "a handle to no address was made");
	}
	attr.grh.dgid = test->side[MROCE_B].dev->gid;
	attr.is_global = 0;
	ah = ibv_create_ah(a->dev->pd, &attr);
	if (!ah)
		return mroce_case_errno(test, "create_ah without GRH", errno, EINVAL);
	ibv_destroy_ah(ah);
	return mroce_case_fail(test, "a handle without GRH was made");
}

const struct mroce_case mroce_cases_dgram[] = {
	{ "ud_grh", ud_grh, MROCE_NEEDS_NOTHING },
	{ "ud_sizes", ud_sizes, MROCE_NEEDS_NOTHING },
	{ "ud_too_long", ud_too_long, MROCE_NEEDS_NOTHING },
	{ "ud_wrong_qkey", ud_wrong_qkey, MROCE_NEEDS_NOTHING },
	{ "ud_own_qkey", ud_own_qkey, MROCE_NEEDS_NOTHING },
	{ "ud_receive_too_small", ud_receive_too_small, MROCE_NEEDS_NOTHING },
	{ "ud_no_receive", ud_no_receive, MROCE_NEEDS_NOTHING },
	{ "ud_handle_goes", ud_handle_goes, MROCE_NEEDS_NOTHING },
	{ "ud_bad_lkey", ud_bad_lkey, MROCE_NEEDS_NOTHING },
	{ "ud_flush_and_reset", ud_flush_and_reset, MROCE_NEEDS_NOTHING },
	{ "ud_bad_handles", ud_bad_handles, MROCE_NEEDS_NOTHING },
	{}
};
