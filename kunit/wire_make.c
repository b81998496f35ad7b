// SPDX-License-Identifier: GPL-2.0
/* Packets for the codec's suites, see wire_make.h. */
#include <kunit/test.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "seg.h"
#include "wire_make.h"

const u8 mroce_wire_ops[WIRE_OPS] = {
	MROCE_OP_SEND, MROCE_OP_SEND_IMM, MROCE_OP_WRITE, MROCE_OP_WRITE_IMM,
	MROCE_OP_READ_REQ, MROCE_OP_ATOMIC_CS, MROCE_OP_ATOMIC_FA, MROCE_OP_READ_RESP,
	MROCE_OP_ATOMIC_RESP, MROCE_OP_SEND_INV,
};

u8 *mroce_wire_exact(struct kunit *test, const void *buf, u32 len)
{
	u8 *copy = kunit_kmalloc(test, len ? len : 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, buf, len);
	return copy;
}

bool mroce_wire_is_single(u8 opcode, u32 *payload_len, u32 *msg_len)
{
	switch (opcode) {
	case MROCE_OP_READ_REQ:
		*payload_len = 0;
		return true;
	case MROCE_OP_ATOMIC_CS:
	case MROCE_OP_ATOMIC_FA:
		*payload_len = 16;
		*msg_len = 8;
		return true;
	case MROCE_OP_ATOMIC_RESP:
		*payload_len = 8;
		*msg_len = 8;
		return true;
	}
	return false;
}

void mroce_wire_make_data(struct rnd *r, u8 opcode, bool ones, struct mroce_pkt_data *p)
{
	u32 idx = 0, off = 0, payload_len;

	memset(p, 0, sizeof(*p));
	p->opcode = opcode;
	p->stream = mroce_op_info(opcode) & MROCE_OPF_RESP ? MROCE_STREAM_RESP : MROCE_STREAM_REQ;
	p->path = ones ? MROCE_WIRE_MAX_PATHS - 1 : rnd_below(r, MROCE_WIRE_MAX_PATHS);
	p->dscp = ones ? 63 : rnd_below(r, 64);
	p->unit_bytes = 128 * (ones ? 64 : 1 + rnd_below(r, 64));
	p->msg_len = ones ? 0x80000000u : rnd_u32(r) >> (1 + rnd_below(r, 31));
	p->flags = ones ? 0xffff : rnd_u32(r);
	p->incarnation = ones ? 0xffff : rnd_u32(r);
	p->dcid = ones ? ~0u : rnd_u32(r);
	p->path_seq = ones ? ~0u : rnd_u32(r);
	p->dst_qpn = ones ? 0xffffff : rnd_u32(r) >> 8;
	p->src_qpn = ones ? 0xffffff : rnd_u32(r) >> 8;
	p->msg_psn = ones ? ~0u : rnd_u32(r);
	p->rsn = ones ? ~0u : rnd_u32(r);
	p->rkey = ones ? ~0u : rnd_u32(r);
	p->imm = cpu_to_be32(ones ? ~0u : rnd_u32(r));
	p->oldest = ones ? ~0u : rnd_u32(r);
	if (!mroce_wire_is_single(opcode, &payload_len, &p->msg_len)) {
		idx = mroce_seg_count(p->msg_len, p->unit_bytes) - 1;
		idx = ones ? idx : rnd_below(r, idx + 1);
		payload_len = mroce_seg_at(p->msg_len, p->unit_bytes, idx, &off);
	}
	p->payload_len = payload_len;
	p->psn = p->msg_psn + idx;
	p->addr = ones ? ~0ull - p->msg_len : rnd_u64(r) >> 1;
	if (mroce_op_info(opcode) & MROCE_OPF_ADDR)
		p->addr += off;
	else if (mroce_op_info(opcode) & MROCE_OPF_RECV)
		p->addr = off;
}

void mroce_wire_make_part(struct rnd *r, bool ones, struct mroce_ack_part *part)
{
	int i;

	memset(part, 0, sizeof(*part));
	part->path = ones ? MROCE_WIRE_MAX_PATHS - 1 : rnd_below(r, MROCE_WIRE_MAX_PATHS);
	part->has_refused = ones || rnd_below(r, 2);
	part->ack_delay_us = ones ? ~0 : rnd_u32(r);
	part->highest = ones ? ~0u : rnd_u32(r);
	part->ce_count = ones ? ~0u : rnd_u32(r);
	for (i = 0; i < MROCE_VEC_WORDS; i++) {
		part->rcvd[i] = ones ? ~0ull : rnd_u64(r);
		if (part->has_refused)
			part->refused[i] = ones ? ~0ull : rnd_u64(r) & part->rcvd[i];
	}
	part->rcvd[0] |= 1;
}

void mroce_wire_make_rec(struct rnd *r, bool ones, struct mroce_rec *rec)
{
	memset(rec, 0, sizeof(*rec));
	rec->dst_qpn = ones ? 0xffffff : rnd_u32(r) >> 8;
	rec->src_qpn = ones ? 0xffffff : rnd_u32(r) >> 8;
	rec->stream = ones ? 1 : rnd_below(r, 2);
	rec->syndrome = ones ? MROCE_SYN_NO_QP : rnd_below(r, MROCE_SYN_NO_QP + 1);
	rec->rnr_timer = ones ? 31 : rnd_below(r, 32);
	rec->incarnation = ones ? ~0 : rnd_u32(r);
	rec->refusals = ones ? ~0 : rnd_u32(r);
	rec->recno = ones ? ~0u : rnd_u32(r);
	rec->cum_psn = ones ? ~0u : rnd_u32(r);
	rec->limit_psn = ones ? ~0u : rnd_u32(r);
}

u32 mroce_wire_make_ack(struct rnd *r, bool ones, u8 *buf, struct mroce_ack_hdr *h,
			struct mroce_ack_part *parts, struct mroce_rec *recs)
{
	u32 n;
	int i;

	memset(h, 0, sizeof(*h));
	h->type = rnd_below(r, 2) ? MROCE_WIRE_ACK : MROCE_WIRE_PROBE_ACK;
	h->n_parts = ones ? MROCE_ACK_MAX_PARTS : rnd_below(r, MROCE_ACK_MAX_PARTS + 1);
	h->n_recs = ones ? MROCE_ACK_MAX_RECS : rnd_below(r, MROCE_ACK_MAX_RECS + 1);
	h->echo_path = ones ? MROCE_WIRE_MAX_PATHS - 1 : rnd_below(r, MROCE_WIRE_MAX_PATHS);
	h->dcid = ones ? ~0u : rnd_u32(r);
	h->share_mbps = ones ? ~0u : rnd_u32(r);
	h->echo_seq = ones ? ~0u : rnd_u32(r);
	n = mroce_wire_put_ack(buf, h);
	for (i = 0; i < h->n_parts; i++) {
		mroce_wire_make_part(r, ones, &parts[i]);
		n += mroce_wire_put_ack_part(buf + n, &parts[i]);
	}
	for (i = 0; i < h->n_recs; i++) {
		mroce_wire_make_rec(r, ones, &recs[i]);
		n += mroce_wire_put_rec(buf + n, &recs[i]);
	}
	return n;
}

void mroce_wire_make_hello(struct rnd *r, int n_planes, struct mroce_hello *h)
{
	int i;

	memset(h, 0, sizeof(*h));
	h->type = rnd_below(r, 2) ? MROCE_WIRE_HELLO : MROCE_WIRE_HELLO_ACK;
	h->ver_min = rnd_below(r, 128);
	h->ver_max = h->ver_min + rnd_below(r, 128);
	h->dscp = rnd_below(r, 64);
	h->paths = rnd_u32(r);
	h->n_planes = n_planes;
	h->flags = rnd_u32(r);
	h->payload_bytes = rnd_u32(r);
	h->planes_no = rnd_u32(r);
	h->dcid = rnd_u32(r);
	h->scid = rnd_u32(r);
	h->nonce = rnd_u64(r);
	h->peer_nonce = rnd_u64(r);
	h->cookie = rnd_u64(r);
	h->stream_window = rnd_u32(r);
	h->features = rnd_u32(r);
	rnd_fill(r, h->src_gid, sizeof(h->src_gid));
	rnd_fill(r, h->dst_gid, sizeof(h->dst_gid));
	h->len_bytes = 88 + 24 * n_planes + (rnd_below(r, 2) ? rnd_below(r, 9000) : 0);
	for (i = 0; i < n_planes; i++) {
		h->plane[i].label = rnd_u32(r);
		h->plane[i].family = rnd_below(r, 2) ? 4 : 6;
		h->plane[i].flags = rnd_u32(r);
		h->plane[i].speed_mbps = rnd_u32(r);
		rnd_fill(r, h->plane[i].addr, 16);
		h->plane[i].addr[0] = 0xfd;
		if (h->plane[i].family == 4) {
			memset(h->plane[i].addr, 0, 10);
			memset(h->plane[i].addr + 10, 0xff, 2);
			h->plane[i].addr[12] = 10;
		}
	}
}
