// SPDX-License-Identifier: GPL-2.0
/*
 * The wire codec: exact bytes, round trips, every length and every opcode,
 * contradictions, and random bytes. Packets lie in buffers of exactly their
 * size, so that KASAN or ASan sees one byte too many.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "seg.h"
#include "wire.h"
#include "wire_exercise.h"

#define ROUNDS	500

static const u8 ops[] = {
	MROCE_OP_SEND, MROCE_OP_SEND_IMM, MROCE_OP_WRITE, MROCE_OP_WRITE_IMM,
	MROCE_OP_READ_REQ, MROCE_OP_ATOMIC_CS, MROCE_OP_ATOMIC_FA, MROCE_OP_READ_RESP,
	MROCE_OP_ATOMIC_RESP, MROCE_OP_SEND_INV,
};

/* A copy of exactly @len bytes, @off bytes away from alignment */
static u8 *exact_copy(struct kunit *test, const void *buf, u32 len)
{
	u8 *copy = kunit_kmalloc(test, len ? len : 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	memcpy(copy, buf, len);
	return copy;
}

/* What the only packet of a message with @opcode carries; 0 = cut into units */
static u32 fixed_bytes(u8 opcode)
{
	switch (opcode) {
	case MROCE_OP_READ_REQ:
	case MROCE_OP_ATOMIC_RESP:
		return 8;
	case MROCE_OP_ATOMIC_CS:
	case MROCE_OP_ATOMIC_FA:
		return 16;
	}
	return 0;
}

/* A packet of @opcode that must be accepted, everything else random or all ones */
static void make_data(struct rnd *r, u8 opcode, bool ones, struct mroce_pkt_data *p)
{
	u32 idx = 0, off = 0;

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
	p->addr = ones ? ~0ull - p->msg_len : rnd_u64(r) >> 1;
	p->rkey = ones ? ~0u : rnd_u32(r);
	p->imm = cpu_to_be32(ones ? ~0u : rnd_u32(r));
	p->oldest = ones ? ~0u : rnd_u32(r);
	if (fixed_bytes(opcode)) {
		p->payload_len = fixed_bytes(opcode);
		p->msg_len = p->payload_len;
	} else {
		idx = mroce_seg_count(p->msg_len, p->unit_bytes) - 1;
		idx = ones ? idx : rnd_below(r, idx + 1);
		p->payload_len = mroce_seg_at(p->msg_len, p->unit_bytes, idx, &off);
	}
	p->psn = p->msg_psn + idx;
	if (mroce_op_info(opcode) & MROCE_OPF_ADDR)
		p->addr += off;
	else if (mroce_op_info(opcode) & MROCE_OPF_RECV)
		p->addr = off;
}

static void opcode_table(struct kunit *test)
{
	static const u8 want[256] = {
		[MROCE_OP_SEND] = MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_PAYLOAD,
		[MROCE_OP_SEND_IMM] = MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_IMM |
			MROCE_OPF_PAYLOAD,
		[MROCE_OP_SEND_INV] = MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_PAYLOAD,
		[MROCE_OP_WRITE] = MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_PAYLOAD,
		[MROCE_OP_WRITE_IMM] = MROCE_OPF_VALID | MROCE_OPF_RECV | MROCE_OPF_IMM |
			MROCE_OPF_ADDR | MROCE_OPF_PAYLOAD,
		[MROCE_OP_READ_REQ] = MROCE_OPF_VALID | MROCE_OPF_ADDR,
		[MROCE_OP_ATOMIC_CS] = MROCE_OPF_VALID | MROCE_OPF_ADDR,
		[MROCE_OP_ATOMIC_FA] = MROCE_OPF_VALID | MROCE_OPF_ADDR,
		[MROCE_OP_READ_RESP] = MROCE_OPF_VALID | MROCE_OPF_RESP | MROCE_OPF_PAYLOAD,
		[MROCE_OP_ATOMIC_RESP] = MROCE_OPF_VALID | MROCE_OPF_RESP | MROCE_OPF_PAYLOAD,
	};
	struct mroce_pkt_data p;
	struct rnd r;
	u8 *buf = kunit_kzalloc(test, MROCE_DATA_HLEN + 128, GFP_KERNEL);
	int op;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	rnd_seed(&r, 1);
	for (op = 0; op < 256; op++) {
		KUNIT_EXPECT_EQ_MSG(test, mroce_op_info(op), want[op], "opcode %d", op);
		make_data(&r, want[op] ? op : MROCE_OP_WRITE, false, &p);
		p.opcode = op;
		mroce_wire_put_data(buf, &p);
		KUNIT_EXPECT_EQ_MSG(test,
				    mroce_wire_get_data(buf, MROCE_DATA_HLEN + p.payload_len, &p),
				    want[op] ? MROCE_DROP_NONE : MROCE_DROP_OPCODE,
				    "opcode %d", op);
	}
}

static void drop_names(struct kunit *test)
{
	int i, k;

	for (i = 0; i < MROCE_DROP_REASONS; i++) {
		KUNIT_ASSERT_NOT_NULL(test, mroce_drop_name[i]);
		for (k = 0; k < i; k++)
			KUNIT_EXPECT_STRNEQ(test, mroce_drop_name[i], mroce_drop_name[k]);
	}
}

/* The bytes themselves: a mistake made alike in both directions shows here */
static void data_bytes(struct kunit *test)
{
	static const struct mroce_pkt_data p = {
		.opcode = MROCE_OP_WRITE_IMM, .path = 0x11, .dscp = 0x2e, .stream = 0,
		.flags = MROCE_F_MORE | MROCE_F_SOLICITED, .incarnation = 0x1213,
		.payload_len = 0x80, .unit_bytes = 0x40 * 128, .dcid = 0x21222324,
		.path_seq = 0x31323334, .dst_qpn = 0x414243, .src_qpn = 0x515253,
		.psn = 0x61626364, .msg_psn = 0x61626363, .msg_len = 0x2080, .rsn = 0x71727374,
		.addr = 0x8182838485868788ull, .rkey = 0x91929394,
		.imm = (__force __be32)0, .oldest = 0xa1a2a3a4,
	};
	static const u8 want[MROCE_DATA_HLEN] = {
		0x13, 0x04, 0x00, 0x0a, 0x21, 0x22, 0x23, 0x24,
		0x11, 0x2e, 0x12, 0x13, 0x31, 0x32, 0x33, 0x34,
		0x00, 0x41, 0x42, 0x43, 0x40, 0x51, 0x52, 0x53,
		0x61, 0x62, 0x63, 0x64, 0x61, 0x62, 0x63, 0x63,
		0x00, 0x00, 0x20, 0x80, 0x71, 0x72, 0x73, 0x74,
		0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88,
		0x91, 0x92, 0x93, 0x94, 0xb1, 0xb2, 0xb3, 0xb4,
		0x00, 0x80, 0x00, 0x00, 0xa1, 0xa2, 0xa3, 0xa4,
	};
	struct mroce_pkt_data in = p;
	u8 buf[MROCE_DATA_HLEN];

	in.imm = cpu_to_be32(0xb1b2b3b4);
	memset(buf, 0xff, sizeof(buf));
	mroce_wire_put_data(buf, &in);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	/* a QPN never spills over into its neighbour */
	in.dst_qpn |= 0xff000000;
	in.src_qpn |= 0xff000000;
	mroce_wire_put_data(buf, &in);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static void ack_bytes(struct kunit *test)
{
	static const struct mroce_ack_hdr h = {
		.type = MROCE_WIRE_PROBE_ACK, .n_parts = 2, .n_recs = 3, .echo_path = 4,
		.dcid = 0x11121314, .share_mbps = 0x21222324, .echo_seq = 0x31323334,
	};
	static const struct mroce_ack_part part = {
		.path = 5, .has_refused = true, .ack_delay_us = 0x4142, .highest = 0x51525354,
		.ce_count = 0x61626364, .rcvd = { 0x7172737475767779ull, 0, 0, 2 },
		.refused = { 1, 0, 0, 2 },
	};
	static const struct mroce_rec rec = {
		.dst_qpn = 0x818283, .src_qpn = 0x919293, .stream = 1, .syndrome = 6,
		.rnr_timer = 31, .incarnation = 0xa1a2, .refusals = 0xb1b2, .recno = 0xc1c2c3c4,
		.cum_psn = 0xd1d2d3d4, .limit_psn = 0xe1e2e3e4,
	};
	static const u8 want[] = {
		0x16, 2, 0, 0, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
		3, 4, 0, 0, 0x31, 0x32, 0x33, 0x34, 0, 0, 0, 0,
		5, 1, 0x41, 0x42, 0x51, 0x52, 0x53, 0x54, 0x61, 0x62, 0x63, 0x64,
		0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x79, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
		0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
		1, 0x81, 0x82, 0x83, 0, 0x91, 0x92, 0x93, 0xa1, 0xa2, 6, 31,
		0xb1, 0xb2, 0, 0, 0xc1, 0xc2, 0xc3, 0xc4, 0xd1, 0xd2, 0xd3, 0xd4,
		0xe1, 0xe2, 0xe3, 0xe4,
	};
	u8 buf[sizeof(want)];
	u32 n;

	memset(buf, 0xff, sizeof(buf));
	n = mroce_wire_put_ack(buf, &h);
	KUNIT_EXPECT_EQ(test, n, MROCE_ACK_HLEN);
	n += mroce_wire_put_ack_part(buf + n, &part);
	n += mroce_wire_put_rec(buf + n, &rec);
	KUNIT_ASSERT_EQ(test, n, sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static void probe_unknown_bytes(struct kunit *test)
{
	static const struct mroce_probe_hdr h = {
		.path = 7, .dscp = 8, .n_asks = 1, .flags = MROCE_F_ACK_REQ, .dcid = 0x11121314,
		.path_seq = 0x21222324, .len_bytes = 36 + 0x0102,
	};
	static const struct mroce_ask ask = {
		.dst_qpn = 0x313233, .src_qpn = 0x414243, .stream = 1, .incarnation = 0x5152,
	};
	static const u8 want[] = {
		0x15, 1, 0, 1, 0x11, 0x12, 0x13, 0x14, 7, 8, 0, 0, 0x21, 0x22, 0x23, 0x24,
		0, 0, 1, 2, 0, 0, 0, 0,
		1, 0x31, 0x32, 0x33, 0, 0x41, 0x42, 0x43, 0x51, 0x52, 0, 0,
	};
	static const u8 want_unknown[] = {
		0x18, 0, 0, 0, 0, 0, 0, 0, 0x61, 0x62, 0x63, 0x64, 0, 0, 0, 0,
	};
	u8 buf[sizeof(want)];

	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, mroce_wire_put_probe(buf, &h, &ask), sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, mroce_wire_put_unknown(buf, 0x61626364), sizeof(want_unknown));
	KUNIT_EXPECT_MEMEQ(test, buf, want_unknown, sizeof(want_unknown));
}

static void hello_bytes(struct kunit *test)
{
	static const struct mroce_hello h = {
		.type = MROCE_WIRE_HELLO_ACK, .ver_min = 1, .ver_max = 2, .dscp = 3, .paths = 4,
		.n_planes = 1, .flags = MROCE_HELLO_COOKIE_ONLY, .payload_bytes = 0x1112,
		.dcid = 0x21222324, .scid = 0x31323334, .nonce = 0x4142434445464748ull,
		.peer_nonce = 0x5152535455565758ull, .cookie = 0x6162636465666768ull,
		.stream_window = 0x71727374, .features = 0x81828384, .len_bytes = 80 + 0x0304,
		.plane = { { .label = 9, .family = 6, .speed_mbps = 0x91929394,
			     .addr = { 0xfe, 0x80, [15] = 0x0a } } },
	};
	static const u8 want[] = {
		0x12, 1, 0, 1, 0x21, 0x22, 0x23, 0x24, 1, 2, 3, 4, 0x31, 0x32, 0x33, 0x34,
		0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
		0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
		0x11, 0x12, 0, 0, 0x71, 0x72, 0x73, 0x74, 0x81, 0x82, 0x83, 0x84, 0, 0, 3, 4,
		9, 6, 0, 0, 0x91, 0x92, 0x93, 0x94,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a,
	};
	u8 buf[sizeof(want)];

	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, mroce_wire_put_hello(buf, &h), sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

/* Every opcode, random and all ones: decode(encode(x)) is x */
static void data_round_trip(struct kunit *test)
{
	struct mroce_pkt_data in, out;
	u8 buf[MROCE_DATA_HLEN];
	struct rnd r;
	int i, k;

	rnd_seed(&r, 2);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (k = 0; k <= ROUNDS; k++) {
			make_data(&r, ops[i], k == ROUNDS, &in);
			memset(&out, 0, sizeof(out));
			mroce_wire_put_data(buf, &in);
			KUNIT_ASSERT_EQ_MSG(test,
					    mroce_wire_get_data(buf, sizeof(buf) + in.payload_len,
								&out),
					    MROCE_DROP_NONE, "opcode %u round %d", ops[i], k);
			KUNIT_ASSERT_TRUE_MSG(test, !memcmp(&in, &out, sizeof(in)),
					      "opcode %u round %d", ops[i], k);
		}
	}
}

/* Header and payload: every shorter length is refused, a longer one (next segment) is not */
static void data_lengths(struct kunit *test)
{
	struct mroce_pkt_data in, out;
	u8 buf[MROCE_DATA_HLEN];
	struct rnd r;
	u32 need, len;
	int i;

	rnd_seed(&r, 3);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		do {
			make_data(&r, ops[i], false, &in);
		} while (!in.payload_len);
		mroce_wire_put_data(buf, &in);
		need = MROCE_DATA_HLEN + in.payload_len;
		for (len = 0; len < MROCE_DATA_HLEN; len++)
			KUNIT_ASSERT_EQ_MSG(test,
					    mroce_wire_get_data(exact_copy(test, buf, len), len,
								&out),
					    MROCE_DROP_SHORT, "opcode %u length %u", ops[i], len);
		for (len = MROCE_DATA_HLEN; len < need; len++)
			KUNIT_ASSERT_EQ_MSG(test, mroce_wire_get_data(buf, len, &out),
					    MROCE_DROP_SHORT, "opcode %u length %u", ops[i], len);
		for (len = need; len < need + 100; len++)
			KUNIT_ASSERT_EQ(test, mroce_wire_get_data(buf, len, &out),
					MROCE_DROP_NONE);
	}
}

/* Every packet of a message is taken with its own payload length and no other */
static void data_segments(struct kunit *test)
{
	static const u32 lens[] = { 0, 1, 127, 128, 129, 1024, 1025, 8191, 8192, 8193, 20000 };
	static const u16 units[] = { 128, 1024, 1408, 4096, 8192 };
	struct mroce_pkt_data p = { .opcode = MROCE_OP_READ_RESP, .stream = MROCE_STREAM_RESP };
	u8 buf[MROCE_DATA_HLEN];
	u32 idx, n, want, left;
	int i, u;

	for (i = 0; i < ARRAY_SIZE(lens) * ARRAY_SIZE(units); i++) {
		p.msg_len = lens[i / ARRAY_SIZE(units)];
		p.unit_bytes = units[i % ARRAY_SIZE(units)];
		p.msg_psn = 0xfffffffeu;	/* psns wrap within the message */
		n = p.msg_len ? DIV_ROUND_UP(p.msg_len, p.unit_bytes) : 1;
		left = p.msg_len;
		for (idx = 0; idx < n; idx++) {
			want = min_t(u32, left, p.unit_bytes);
			left -= want;
			for (u = -1; u <= 1; u++) {
				struct mroce_pkt_data out;

				p.psn = p.msg_psn + idx;
				p.payload_len = want + u;
				mroce_wire_put_data(buf, &p);
				KUNIT_EXPECT_EQ_MSG(test, mroce_wire_get_data(buf, 1 << 20, &out),
						    u ? MROCE_DROP_LENGTH : MROCE_DROP_NONE,
						    "length %u unit %u idx %u %+d", p.msg_len,
						    p.unit_bytes, idx, u);
			}
		}
	}
}

/* How a good packet is spoilt, and what must be said of it */
struct spoil {
	const char *what;
	u8 opcode;
	void (*how)(struct mroce_pkt_data *p);
	enum mroce_drop want;
};

static void psn_past_end(struct mroce_pkt_data *p)
{
	p->psn = p->msg_psn + 3;
}

static void empty_packet_past_end(struct mroce_pkt_data *p)
{
	p->psn = p->msg_psn + 3;
	p->payload_len = 0;
	p->addr += 3 * 1024;
}

static void psn_before_start(struct mroce_pkt_data *p)
{
	p->psn = p->msg_psn - 1;
}

static void read_second_packet(struct mroce_pkt_data *p)
{
	p->psn = p->msg_psn + 1;
}

static void no_unit(struct mroce_pkt_data *p)
{
	p->unit_bytes = 0;
}

static void big_unit(struct mroce_pkt_data *p)
{
	p->unit_bytes = 65 * 128;
}

static void one_payload_byte_less(struct mroce_pkt_data *p)
{
	p->payload_len--;
}

static void one_payload_byte_more(struct mroce_pkt_data *p)
{
	p->payload_len++;
}

static void huge_message(struct mroce_pkt_data *p)
{
	p->msg_len = 0x80000001u;
}

static void shorter_message(struct mroce_pkt_data *p)
{
	p->msg_len = 1;
}

static void other_stream(struct mroce_pkt_data *p)
{
	p->stream ^= 1;
}

static void third_stream(struct mroce_pkt_data *p)
{
	p->stream = 2;
}

static void path_too_high(struct mroce_pkt_data *p)
{
	p->path = MROCE_WIRE_MAX_PATHS;
}

static void dscp_too_high(struct mroce_pkt_data *p)
{
	p->dscp = 64;
}

static void packet_wraps(struct mroce_pkt_data *p)
{
	p->addr = 0ull - 1;
}

static void message_wraps(struct mroce_pkt_data *p)
{
	p->addr = 0ull - 2048;		/* this packet would fit, not the last */
}

static void address_before_offset(struct mroce_pkt_data *p)
{
	p->psn = p->msg_psn + 1;
	p->addr = 1023;
}

static void wrong_offset(struct mroce_pkt_data *p)
{
	p->addr++;
}

static void offset_of_next(struct mroce_pkt_data *p)
{
	p->addr += 1024;
}

static const struct spoil spoils[] = {
	{ "psn past the end", MROCE_OP_WRITE, psn_past_end, MROCE_DROP_LENGTH },
	{ "empty packet past the end", MROCE_OP_SEND, empty_packet_past_end, MROCE_DROP_LENGTH },
	{ "psn before the start", MROCE_OP_SEND, psn_before_start, MROCE_DROP_LENGTH },
	{ "READ of two packets", MROCE_OP_READ_REQ, read_second_packet, MROCE_DROP_LENGTH },
	{ "atomic of two packets", MROCE_OP_ATOMIC_FA, read_second_packet, MROCE_DROP_LENGTH },
	{ "unit 0", MROCE_OP_WRITE, no_unit, MROCE_DROP_FIELD },
	{ "unit above 8192", MROCE_OP_WRITE, big_unit, MROCE_DROP_FIELD },
	{ "payload short", MROCE_OP_WRITE, one_payload_byte_less, MROCE_DROP_LENGTH },
	{ "payload long", MROCE_OP_SEND, one_payload_byte_more, MROCE_DROP_LENGTH },
	{ "READ request short", MROCE_OP_READ_REQ, one_payload_byte_less, MROCE_DROP_LENGTH },
	{ "READ request long", MROCE_OP_READ_REQ, one_payload_byte_more, MROCE_DROP_LENGTH },
	{ "compare and swap short", MROCE_OP_ATOMIC_CS, one_payload_byte_less, MROCE_DROP_LENGTH },
	{ "fetch and add long", MROCE_OP_ATOMIC_FA, one_payload_byte_more, MROCE_DROP_LENGTH },
	{ "atomic response short", MROCE_OP_ATOMIC_RESP, one_payload_byte_less, MROCE_DROP_LENGTH },
	{ "atomic response of 1 byte", MROCE_OP_ATOMIC_RESP, shorter_message, MROCE_DROP_LENGTH },
	{ "message above 2^31", MROCE_OP_WRITE, huge_message, MROCE_DROP_LENGTH },
	{ "message shorter than payload", MROCE_OP_READ_RESP, shorter_message, MROCE_DROP_LENGTH },
	{ "request as response", MROCE_OP_WRITE, other_stream, MROCE_DROP_FIELD },
	{ "response as request", MROCE_OP_READ_RESP, other_stream, MROCE_DROP_FIELD },
	{ "third stream", MROCE_OP_SEND, third_stream, MROCE_DROP_FIELD },
	{ "path", MROCE_OP_WRITE, path_too_high, MROCE_DROP_FIELD },
	{ "dscp", MROCE_OP_WRITE, dscp_too_high, MROCE_DROP_FIELD },
	{ "packet wraps", MROCE_OP_WRITE, packet_wraps, MROCE_DROP_LENGTH },
	{ "message wraps", MROCE_OP_WRITE_IMM, message_wraps, MROCE_DROP_LENGTH },
	{ "message starts below 0", MROCE_OP_WRITE, address_before_offset, MROCE_DROP_LENGTH },
	{ "SEND at another offset", MROCE_OP_SEND_IMM, wrong_offset, MROCE_DROP_LENGTH },
	{ "SEND a packet further", MROCE_OP_SEND_INV, offset_of_next, MROCE_DROP_LENGTH },
};

static void data_contradictions(struct kunit *test)
{
	u8 buf[MROCE_DATA_HLEN];
	int i;

	for (i = 0; i < ARRAY_SIZE(spoils); i++) {
		const struct spoil *s = &spoils[i];
		u8 info = mroce_op_info(s->opcode);
		u32 fixed = fixed_bytes(s->opcode);
		struct mroce_pkt_data p = {
			.opcode = s->opcode,
			.stream = info & MROCE_OPF_RESP ? MROCE_STREAM_RESP : MROCE_STREAM_REQ,
			.unit_bytes = 1024, .msg_len = fixed ? fixed : 3 * 1024,
			.payload_len = fixed ? fixed : 1024, .psn = 10, .msg_psn = 10,
			.addr = info & MROCE_OPF_ADDR ? 1 << 20 : 0,
		};
		struct mroce_pkt_data out;

		mroce_wire_put_data(buf, &p);
		KUNIT_EXPECT_EQ_MSG(test, mroce_wire_get_data(buf, 1 << 16, &out),
				    MROCE_DROP_NONE, "before: %s", s->what);
		s->how(&p);
		mroce_wire_put_data(buf, &p);
		KUNIT_EXPECT_EQ_MSG(test, mroce_wire_get_data(buf, 1 << 16, &out), s->want,
				    "%s", s->what);
	}
}

/* First byte and length: version, type, fixed header of every type */
static void first_byte(struct kunit *test)
{
	static const u8 need[16] = {
		[MROCE_WIRE_HELLO] = 56, [MROCE_WIRE_HELLO_ACK] = 56, [MROCE_WIRE_DATA] = 64,
		[MROCE_WIRE_ACK] = 24, [MROCE_WIRE_PROBE] = 24, [MROCE_WIRE_PROBE_ACK] = 24,
		[MROCE_WIRE_DGRAM] = 8, [MROCE_WIRE_UNKNOWN] = 16,
	};
	u8 buf[80] = {};
	int first, len;

	for (first = 0; first < 256; first++) {
		buf[0] = first;
		for (len = 0; len < sizeof(buf); len++) {
			enum mroce_drop want = MROCE_DROP_NONE;

			if (!len)
				want = MROCE_DROP_SHORT;
			else if (first >> 4 != 1)
				want = MROCE_DROP_VERSION;
			else if (!need[first & 15])
				want = MROCE_DROP_TYPE;
			else if (len < need[first & 15])
				want = MROCE_DROP_SHORT;
			KUNIT_EXPECT_EQ_MSG(test, mroce_wire_check(buf, len, sizeof(buf)), want,
					    "first byte 0x%02x, %d bytes", first, len);
		}
	}
	buf[0] = 0x13;
	KUNIT_EXPECT_EQ(test, mroce_wire_check(buf, 64, 63), MROCE_DROP_SHORT);
}

/* A decoder takes its own types only */
static void other_type(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	u8 buf[64] = {};
	u32 cid;
	int type;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (type = 1; type <= 8; type++) {
		buf[0] = 0x10 | type;
		if (type != MROCE_WIRE_DATA)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_data(buf, 64, &s->data[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_ACK && type != MROCE_WIRE_PROBE_ACK)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(buf, 64, &s->ack[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_PROBE)
			KUNIT_EXPECT_EQ(test,
					mroce_wire_get_probe(buf, 64, 64, &s->probe[0], s->ask[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_HELLO && type != MROCE_WIRE_HELLO_ACK)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(buf, 64, 64, &s->hello[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_UNKNOWN)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(buf, 64, &cid),
					MROCE_DROP_TYPE);
	}
}

static void make_part(struct rnd *r, bool ones, struct mroce_ack_part *part)
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

static void make_rec(struct rnd *r, bool ones, struct mroce_rec *rec)
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

/* A whole random ACK into @buf, its pieces into the arrays. Return: its length. */
static u32 make_ack(struct rnd *r, bool ones, u8 *buf, struct mroce_ack_hdr *h,
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
		make_part(r, ones, &parts[i]);
		n += mroce_wire_put_ack_part(buf + n, &parts[i]);
	}
	for (i = 0; i < h->n_recs; i++) {
		make_rec(r, ones, &recs[i]);
		n += mroce_wire_put_rec(buf + n, &recs[i]);
	}
	return n;
}

struct ack_room {
	struct mroce_ack_hdr in, out;
	struct mroce_ack_part parts[MROCE_ACK_MAX_PARTS], part;
	struct mroce_rec recs[MROCE_ACK_MAX_RECS], rec;
	u8 buf[MROCE_ACK_MAX_LEN];
};

static void ack_round_trip(struct kunit *test)
{
	struct ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd r;
	u32 n, off;
	int k, i;

	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 4);
	for (k = 0; k <= ROUNDS; k++) {
		n = make_ack(&r, k == ROUNDS, a->buf, &a->in, a->parts, a->recs);
		if (k == ROUNDS)
			KUNIT_EXPECT_EQ(test, n, MROCE_ACK_MAX_LEN);
		KUNIT_ASSERT_EQ(test, mroce_wire_get_ack(a->buf, n, &a->out), MROCE_DROP_NONE);
		KUNIT_ASSERT_MEMEQ(test, &a->in, &a->out, sizeof(a->in));
		off = MROCE_ACK_HLEN;
		for (i = 0; i < a->in.n_parts; i++) {
			KUNIT_ASSERT_EQ(test, mroce_wire_get_ack_part(a->buf, n, &off, &a->part),
					MROCE_DROP_NONE);
			KUNIT_ASSERT_MEMEQ(test, &a->part, &a->parts[i], sizeof(a->part));
		}
		for (i = 0; i < a->in.n_recs; i++) {
			KUNIT_ASSERT_EQ(test, mroce_wire_get_rec(a->buf, n, &off, &a->rec),
					MROCE_DROP_NONE);
			KUNIT_ASSERT_MEMEQ(test, &a->rec, &a->recs[i], sizeof(a->rec));
		}
		KUNIT_ASSERT_EQ(test, off, n);
	}
}

/* Every length but the right one is refused, and so are too many pieces */
static void ack_lengths(struct kunit *test)
{
	struct ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd r;
	u32 n, len, off;
	int k;

	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 5);
	for (k = 0; k < 8; k++) {
		n = make_ack(&r, k == 7, a->buf, &a->in, a->parts, a->recs);
		for (len = 0; len < n; len++)
			KUNIT_EXPECT_EQ(test,
					mroce_wire_get_ack(exact_copy(test, a->buf, len), len,
							   &a->out), MROCE_DROP_SHORT);
		if (n < sizeof(a->buf))
			KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(a->buf, n + 1, &a->out),
					MROCE_DROP_LENGTH);
	}

	/* the pieces check for themselves, at any offset, also a wild one */
	for (len = 0; len < 76; len++) {
		off = MROCE_ACK_HLEN;
		KUNIT_EXPECT_EQ(test,
				mroce_wire_get_ack_part(a->buf, MROCE_ACK_HLEN + len, &off,
							&a->part), MROCE_DROP_SHORT);
	}
	for (len = 0; len < MROCE_REC_LEN; len++) {
		off = n - len;
		KUNIT_EXPECT_EQ(test, mroce_wire_get_rec(a->buf, n, &off, &a->rec),
				MROCE_DROP_SHORT);
	}
	off = ~0u - 4;
	KUNIT_EXPECT_EQ(test, mroce_wire_get_ack_part(a->buf, n, &off, &a->part),
			MROCE_DROP_SHORT);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_rec(a->buf, n, &off, &a->rec), MROCE_DROP_SHORT);
}

/* One piece too many of either kind, all of them there and in order */
static void ack_limits(struct kunit *test)
{
	struct ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd r;
	u32 n;
	int i, k;

	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 9);
	make_part(&r, false, &a->part);
	make_rec(&r, false, &a->rec);
	for (i = 0; i < 2; i++) {
		a->in.type = MROCE_WIRE_ACK;
		a->in.n_parts = MROCE_ACK_MAX_PARTS + i;
		a->in.n_recs = 0;
		n = mroce_wire_put_ack(a->buf, &a->in);
		for (k = 0; k < a->in.n_parts; k++)
			n += mroce_wire_put_ack_part(a->buf + n, &a->part);
		KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(a->buf, n, &a->out),
				i ? MROCE_DROP_FIELD : MROCE_DROP_NONE);
		a->in.n_parts = 0;
		a->in.n_recs = MROCE_ACK_MAX_RECS + i;
		n = mroce_wire_put_ack(a->buf, &a->in);
		for (k = 0; k < a->in.n_recs; k++)
			n += mroce_wire_put_rec(a->buf + n, &a->rec);
		KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(a->buf, n, &a->out),
				i ? MROCE_DROP_FIELD : MROCE_DROP_NONE);
	}
	/* the path echoed: of a PROBE_ACK only */
	a->in.n_recs = 0;
	a->in.echo_path = MROCE_WIRE_MAX_PATHS;
	n = mroce_wire_put_ack(a->buf, &a->in);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(a->buf, n, &a->out), MROCE_DROP_NONE);
	a->in.type = MROCE_WIRE_PROBE_ACK;
	n = mroce_wire_put_ack(a->buf, &a->in);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(a->buf, n, &a->out), MROCE_DROP_FIELD);
}

static enum mroce_drop spoil_byte(const u8 *good, u32 len, u32 at, u8 value, bool rec)
{
	u8 buf[MROCE_ACK_PART_LEN + MROCE_ACK_REFUSED_LEN];
	struct mroce_ack_part p;
	struct mroce_rec c;
	u32 off = 0;

	memcpy(buf, good, len);
	buf[at] = value;
	return rec ? mroce_wire_get_rec(buf, len, &off, &c) :
		     mroce_wire_get_ack_part(buf, len, &off, &p);
}

static void ack_fields(struct kunit *test)
{
	struct mroce_ack_part part = { .has_refused = true, .rcvd = { 1 } };
	struct mroce_rec rec = {};
	u8 buf[MROCE_ACK_PART_LEN + MROCE_ACK_REFUSED_LEN];
	u32 n = mroce_wire_put_ack_part(buf, &part);

	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 0, 31, false), MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 0, 32, false), MROCE_DROP_FIELD);	/* path */
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 1, 3, false), MROCE_DROP_FIELD);	/* flags */
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 19, 0, false), MROCE_DROP_FIELD);	/* bit 0 */
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 51, 1, false), MROCE_DROP_NONE);
	/* refused what was not received */
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 51, 2, false), MROCE_DROP_FIELD);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 44 + 24, 0x80, false), MROCE_DROP_FIELD);

	n = mroce_wire_put_rec(buf, &rec);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 0, 1, true), MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 0, 2, true), MROCE_DROP_FIELD);	/* stream */
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 10, MROCE_SYN_NO_QP, true), MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 10, MROCE_SYN_NO_QP + 1, true), MROCE_DROP_FIELD);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 11, 31, true), MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, spoil_byte(buf, n, 11, 32, true), MROCE_DROP_FIELD); /* timer */
}

/* Round trip, every readable length, wrong totals, fields out of range */
static void probe(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct mroce_probe_hdr *in = &s->probe[0], *out = &s->probe[1];
	enum mroce_drop want;
	struct rnd r;
	u32 n, len;
	int k, i;

	KUNIT_ASSERT_NOT_NULL(test, s);
	rnd_seed(&r, 6);
	for (k = 0; k < 60; k++) {
		in->path = rnd_below(&r, 32);
		in->dscp = rnd_below(&r, 64);
		in->n_asks = k < 20 ? k % (MROCE_PROBE_MAX_ASKS + 1) : MROCE_PROBE_MAX_ASKS;
		in->flags = rnd_u32(&r);
		in->dcid = rnd_u32(&r);
		in->path_seq = rnd_u32(&r);
		for (i = 0; i < in->n_asks; i++) {
			s->ask[0][i].dst_qpn = rnd_u32(&r) >> 8;
			s->ask[0][i].src_qpn = rnd_u32(&r) >> 8;
			s->ask[0][i].stream = rnd_below(&r, 2);
			s->ask[0][i].incarnation = rnd_u32(&r);
		}
		in->len_bytes = 24 + 12 * in->n_asks + (k % 3 ? rnd_below(&r, 9000) : 0);
		n = mroce_wire_put_probe(s->again, in, s->ask[0]);
		for (len = 0; len <= n; len++) {
			want = len < n ? MROCE_DROP_SHORT : MROCE_DROP_NONE;
			KUNIT_ASSERT_EQ(test,
					mroce_wire_get_probe(exact_copy(test, s->again, len), len,
							     in->len_bytes, out, s->ask[1]), want);
		}
		KUNIT_ASSERT_MEMEQ(test, in, out, sizeof(*in));
		KUNIT_ASSERT_MEMEQ(test, s->ask[0], s->ask[1], in->n_asks * sizeof(s->ask[0][0]));
		KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, n, in->len_bytes + 1, out,
							   s->ask[1]), MROCE_DROP_LENGTH);
	}
	s->again[24] = 2;	/* stream of the first ask */
	KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, n, in->len_bytes, out, s->ask[1]),
			MROCE_DROP_FIELD);
	s->again[24] = 0;
	s->again[8] = 32;	/* path */
	KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, n, in->len_bytes, out, s->ask[1]),
			MROCE_DROP_FIELD);
	s->again[8] = 31;
	s->again[9] = 64;	/* dscp */
	KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, n, in->len_bytes, out, s->ask[1]),
			MROCE_DROP_FIELD);
	s->again[9] = 63;
	KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, n, in->len_bytes, out, s->ask[1]),
			MROCE_DROP_NONE);
	s->again[1] = MROCE_PROBE_MAX_ASKS + 1;
	KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, sizeof(s->again), sizeof(s->again),
						   out, s->ask[1]), MROCE_DROP_FIELD);
	/* padding so large that the sum wraps to the right total */
	s->again[1] = 0;
	memset(s->again + 16, 0xff, 4);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(s->again, 24, 24, out, s->ask[1]),
			MROCE_DROP_LENGTH);
}

static void make_hello(struct rnd *r, int n_planes, struct mroce_hello *h)
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
	h->dcid = rnd_u32(r);
	h->scid = rnd_u32(r);
	h->nonce = rnd_u64(r);
	h->peer_nonce = rnd_u64(r);
	h->cookie = rnd_u64(r);
	h->stream_window = rnd_u32(r);
	h->features = rnd_u32(r);
	h->len_bytes = 56 + 24 * n_planes + (rnd_below(r, 2) ? rnd_below(r, 9000) : 0);
	for (i = 0; i < n_planes; i++) {
		h->plane[i].label = rnd_u32(r);
		h->plane[i].family = rnd_below(r, 2) ? 4 : 6;
		h->plane[i].speed_mbps = rnd_u32(r);
		rnd_fill(r, h->plane[i].addr, 16);
	}
}

static void hello(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct mroce_hello *in = &s->hello[0], *out = &s->hello[1];
	enum mroce_drop want;
	struct rnd r;
	u32 n, len;
	int k;

	KUNIT_ASSERT_NOT_NULL(test, s);
	rnd_seed(&r, 7);
	for (k = 0; k < 54; k++) {
		make_hello(&r, k % (MROCE_MAX_PLANES + 1), in);
		n = mroce_wire_put_hello(s->again, in);
		for (len = 0; len <= n; len++) {
			want = len < n ? MROCE_DROP_SHORT : MROCE_DROP_NONE;
			KUNIT_ASSERT_EQ(test,
					mroce_wire_get_hello(exact_copy(test, s->again, len), len,
							     in->len_bytes, out), want);
		}
		KUNIT_ASSERT_MEMEQ(test, in, out, sizeof(*in));
		KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n, in->len_bytes + 1, out),
				MROCE_DROP_LENGTH);
		if (in->len_bytes > n)
			KUNIT_EXPECT_EQ(test,
					mroce_wire_get_hello(s->again, n, in->len_bytes - 1, out),
					MROCE_DROP_LENGTH);
	}
	/* the last one has all planes */
	s->again[57] = 5;
	KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n, in->len_bytes, out),
			MROCE_DROP_FIELD);
	s->again[57] = 4;
	s->again[8] = 2;
	s->again[9] = 2;
	s->again[10] = 63;
	KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n, in->len_bytes, out),
			MROCE_DROP_NONE);
	s->again[10] = 64;	/* dscp */
	KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n, in->len_bytes, out),
			MROCE_DROP_FIELD);
	s->again[10] = 0;
	s->again[9] = 1;	/* versions upside down */
	KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n, in->len_bytes, out),
			MROCE_DROP_FIELD);
	s->again[9] = 2;
	s->again[1] = MROCE_MAX_PLANES + 1;	/* the ninth is in order */
	memcpy(s->again + n, s->again + n - 24, 24);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n + 24, in->len_bytes + 24, out),
			MROCE_DROP_FIELD);
}

static void unknown(struct kunit *test)
{
	u8 buf[MROCE_UNKNOWN_LEN + 1];
	u32 len, cid;

	KUNIT_EXPECT_EQ(test, mroce_wire_put_unknown(buf, 0xdeadbeef), MROCE_UNKNOWN_LEN);
	for (len = 0; len < MROCE_UNKNOWN_LEN; len++)
		KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(exact_copy(test, buf, len), len, &cid),
				MROCE_DROP_SHORT);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(buf, len, &cid), MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, cid, 0xdeadbeefu);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(buf, len + 1, &cid), MROCE_DROP_LENGTH);
}

/* Flip bits of, cut, or stretch good packets, and throw dice for the rest */
static u32 fuzz_packet(struct rnd *r, struct ack_room *a, struct wire_scratch *s, u8 *buf, u32 max)
{
	u32 n = 0, i;

	switch (rnd_below(r, 5)) {
	case 0:
		make_data(r, ops[rnd_below(r, ARRAY_SIZE(ops))], false, &s->data[0]);
		mroce_wire_put_data(buf, &s->data[0]);
		n = MROCE_DATA_HLEN + min_t(u32, s->data[0].payload_len, max - MROCE_DATA_HLEN);
		break;
	case 1:
		n = make_ack(r, false, buf, &a->in, a->parts, a->recs);
		break;
	case 2:
		make_hello(r, rnd_below(r, MROCE_MAX_PLANES + 1), &s->hello[0]);
		s->hello[0].len_bytes = 0;
		n = mroce_wire_put_hello(buf, &s->hello[0]);
		break;
	case 3:
		memset(&s->probe[0], 0, sizeof(s->probe[0]));
		s->probe[0].n_asks = rnd_below(r, MROCE_PROBE_MAX_ASKS + 1);
		n = mroce_wire_put_probe(buf, &s->probe[0], s->ask[0]);
		break;
	default:
		n = rnd_below(r, max + 1);
		rnd_fill(r, buf, n);
		if (n && rnd_below(r, 8))
			buf[0] = 0x10 | (1 + rnd_below(r, 8));
	}
	for (i = rnd_below(r, 4); i && n; i--)
		buf[rnd_below(r, min(n, 64u))] ^= 1 << rnd_below(r, 8);
	if (!rnd_below(r, 4))
		n = rnd_below(r, n + 1);
	return n;
}

static void random_bytes(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	u32 taken = 0, refused = 0, n;
	enum mroce_drop why;
	const char *broken;
	struct rnd r;
	u8 *exact;
	int k;

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 8);
	for (k = 0; k < 100000; k++) {
		n = fuzz_packet(&r, a, s, a->buf, sizeof(a->buf));
		exact = exact_copy(test, a->buf, n);
		broken = mroce_wire_exercise(exact, n, n + (rnd_below(&r, 4) ? 0 : rnd_below(&r, 100)),
				       s, &why);
		KUNIT_ASSERT_TRUE_MSG(test, !broken, "round %d: %s", k, broken);
		why ? refused++ : taken++;
		kunit_kfree(test, exact);
	}
	/* both ways of the decoders were walked */
	KUNIT_EXPECT_GT(test, taken, 10000u);
	KUNIT_EXPECT_GT(test, refused, 10000u);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(opcode_table),
	KUNIT_CASE(drop_names),
	KUNIT_CASE(data_bytes),
	KUNIT_CASE(ack_bytes),
	KUNIT_CASE(probe_unknown_bytes),
	KUNIT_CASE(hello_bytes),
	KUNIT_CASE(data_round_trip),
	KUNIT_CASE(data_lengths),
	KUNIT_CASE(data_segments),
	KUNIT_CASE(data_contradictions),
	KUNIT_CASE(first_byte),
	KUNIT_CASE(other_type),
	KUNIT_CASE(ack_round_trip),
	KUNIT_CASE(ack_lengths),
	KUNIT_CASE(ack_limits),
	KUNIT_CASE(ack_fields),
	KUNIT_CASE(probe),
	KUNIT_CASE(hello),
	KUNIT_CASE(unknown),
	KUNIT_CASE(random_bytes),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "mroce_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
