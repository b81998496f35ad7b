// SPDX-License-Identifier: GPL-2.0
/*
 * The wire codec, DATA and what is common to all packets: exact bytes, round
 * trips, every length and every opcode, contradictions, and random bytes.
 * Packets lie in buffers of exactly their size, so that KASAN or ASan sees one
 * byte too many. The other types: mroce_wire_ctl_kunit.c.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "seg.h"
#include "wire.h"
#include "wire_exercise.h"
#include "wire_make.h"

#define ROUNDS	500

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
		[MROCE_OP_READ_REQ] = MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_FETCH,
		[MROCE_OP_ATOMIC_CS] = MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_FETCH,
		[MROCE_OP_ATOMIC_FA] = MROCE_OPF_VALID | MROCE_OPF_ADDR | MROCE_OPF_FETCH,
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
		mroce_wire_make_data(&r, want[op] ? op : MROCE_OP_WRITE, false, &p);
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

/* What is read from, or written to, a header without decoding it */
static void header_shortcuts(struct kunit *test)
{
	struct mroce_pkt_data p = {
		.opcode = MROCE_OP_SEND, .flags = MROCE_F_MORE | MROCE_F_SOLICITED,
		.dcid = 0x81828384, .unit_bytes = 128, .dst_qpn = 0x414243,
	};
	u8 buf[MROCE_DATA_HLEN], want[MROCE_DATA_HLEN];

	mroce_wire_put_data(buf, &p);
	KUNIT_EXPECT_EQ(test, mroce_wire_dcid(buf), 0x81828384u);
	KUNIT_EXPECT_EQ(test, mroce_wire_type(buf[0]), MROCE_WIRE_DATA);
	/* More to send, but not now: an answer is wanted all the same. */
	p.flags |= MROCE_F_ACK_REQ;
	mroce_wire_put_data(want, &p);
	mroce_wire_data_last(buf, true);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	p.flags &= ~MROCE_F_MORE;
	mroce_wire_put_data(want, &p);
	mroce_wire_data_last(buf, false);
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

/* What READs and atomics carry, at every alignment */
static void fetch_bytes(struct kunit *test)
{
	static const u8 want[MROCE_ATOMIC_LEN] = {
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88,
	};
	static const struct mroce_atomic_op in = {
		.compare_add = 0x1112131415161718ull, .swap = 0x8182838485868788ull,
	};
	struct mroce_pkt_data p = { .opcode = MROCE_OP_READ_REQ };
	u8 buf[MROCE_DATA_HLEN], at;
	struct mroce_atomic_op out;

	for (at = 0; at < 8; at++) {
		memset(buf, 0xff, sizeof(buf));
		mroce_wire_put_atomic(buf + at, &in);
		KUNIT_EXPECT_MEMEQ(test, buf + at, want, sizeof(want));
		KUNIT_EXPECT_EQ(test, buf[at + 16], 0xff);
		mroce_wire_get_atomic(buf + at, &out);
		KUNIT_EXPECT_EQ(test, out.compare_add, in.compare_add);
		KUNIT_EXPECT_EQ(test, out.swap, in.swap);
		KUNIT_EXPECT_EQ(test, mroce_wire_get_result(buf + at), in.compare_add);
		mroce_wire_put_result(buf + at, in.swap);
		KUNIT_EXPECT_MEMEQ(test, buf + at, want + 8, 8);
		KUNIT_EXPECT_MEMEQ(test, buf + at + 8, want + 8, 8);
	}
	/* The psn of the first response goes where immediate data goes. */
	mroce_wire_set_resp_psn(&p, 0xb1b2b3b4);
	KUNIT_EXPECT_EQ(test, mroce_wire_resp_psn(&p), 0xb1b2b3b4);
	mroce_wire_put_data(buf, &p);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_result(buf + 48), 0xb1b2b3b4ull);
}

/* Every opcode, random and all ones: decode(encode(x)) is x */
static void data_round_trip(struct kunit *test)
{
	struct mroce_pkt_data in, out;
	u8 buf[MROCE_DATA_HLEN];
	struct rnd r;
	int i, k;

	rnd_seed(&r, 2);
	for (i = 0; i < WIRE_OPS; i++) {
		for (k = 0; k <= ROUNDS; k++) {
			mroce_wire_make_data(&r, mroce_wire_ops[i], k == ROUNDS, &in);
			memset(&out, 0, sizeof(out));
			mroce_wire_put_data(buf, &in);
			KUNIT_ASSERT_EQ_MSG(test,
					    mroce_wire_get_data(buf, sizeof(buf) + in.payload_len,
								&out),
					    MROCE_DROP_NONE, "opcode %u round %d", in.opcode, k);
			KUNIT_ASSERT_TRUE_MSG(test, !memcmp(&in, &out, sizeof(in)),
					      "opcode %u round %d", in.opcode, k);
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
	for (i = 0; i < WIRE_OPS; i++) {
		do {
			mroce_wire_make_data(&r, mroce_wire_ops[i], false, &in);
		} while (!in.payload_len && in.opcode != MROCE_OP_READ_REQ);
		mroce_wire_put_data(buf, &in);
		need = MROCE_DATA_HLEN + in.payload_len;
		for (len = 0; len < MROCE_DATA_HLEN; len++)
			KUNIT_ASSERT_EQ_MSG(test,
					    mroce_wire_get_data(mroce_wire_exact(test, buf, len),
								len, &out),
					    MROCE_DROP_SHORT, "opcode %u: %u", in.opcode, len);
		for (len = MROCE_DATA_HLEN; len < need; len++)
			KUNIT_ASSERT_EQ_MSG(test, mroce_wire_get_data(buf, len, &out),
					    MROCE_DROP_SHORT, "opcode %u: %u", in.opcode, len);
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

static void empty_message(struct mroce_pkt_data *p)
{
	p->msg_len = 0;
}

static void two_words(struct mroce_pkt_data *p)
{
	p->msg_len = 16;
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

static void word_wraps(struct mroce_pkt_data *p)
{
	p->addr = 0ull - 8;
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
	{ "READ before its start", MROCE_OP_READ_REQ, psn_before_start, MROCE_DROP_LENGTH },
	{ "READ request with payload", MROCE_OP_READ_REQ, one_payload_byte_more,
	  MROCE_DROP_LENGTH },
	{ "READ above 2^31", MROCE_OP_READ_REQ, huge_message, MROCE_DROP_LENGTH },
	{ "READ wraps", MROCE_OP_READ_REQ, message_wraps, MROCE_DROP_LENGTH },
	{ "fetch and add short", MROCE_OP_ATOMIC_FA, one_payload_byte_less, MROCE_DROP_LENGTH },
	{ "compare and swap long", MROCE_OP_ATOMIC_CS, one_payload_byte_more, MROCE_DROP_LENGTH },
	{ "compare and swap of 2 words", MROCE_OP_ATOMIC_CS, two_words, MROCE_DROP_LENGTH },
	{ "fetch and add of nothing", MROCE_OP_ATOMIC_FA, empty_message, MROCE_DROP_LENGTH },
	{ "fetch and add wraps", MROCE_OP_ATOMIC_FA, word_wraps, MROCE_DROP_LENGTH },
	{ "atomic response, 2nd packet", MROCE_OP_ATOMIC_RESP, read_second_packet,
	  MROCE_DROP_LENGTH },
	{ "atomic response of 2 words", MROCE_OP_ATOMIC_RESP, two_words, MROCE_DROP_LENGTH },
	{ "atomic response long", MROCE_OP_ATOMIC_RESP, one_payload_byte_more,
	  MROCE_DROP_LENGTH },
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
		u32 payload_len = 1024, msg_len = 3 * 1024;
		struct mroce_pkt_data p = {
			.opcode = s->opcode,
			.stream = info & MROCE_OPF_RESP ? MROCE_STREAM_RESP : MROCE_STREAM_REQ,
			.unit_bytes = 1024, .psn = 10, .msg_psn = 10,
			.addr = info & MROCE_OPF_ADDR ? 1 << 20 : 0,
		};
		struct mroce_pkt_data out;

		mroce_wire_is_single(s->opcode, &payload_len, &msg_len);
		p.payload_len = payload_len;
		p.msg_len = msg_len;
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
		[MROCE_WIRE_HELLO] = 88, [MROCE_WIRE_HELLO_ACK] = 88, [MROCE_WIRE_DATA] = 64,
		[MROCE_WIRE_ACK] = 24, [MROCE_WIRE_PROBE] = 24, [MROCE_WIRE_PROBE_ACK] = 24,
		[MROCE_WIRE_DGRAM] = 32, [MROCE_WIRE_UNKNOWN] = 16,
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
	u8 buf[MROCE_HELLO_HLEN] = {};
	u32 cid;
	int type;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (type = 1; type <= 8; type++) {
		buf[0] = 0x10 | type;
		if (type != MROCE_WIRE_DATA)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_data(buf, sizeof(buf), &s->data[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_ACK && type != MROCE_WIRE_PROBE_ACK)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_ack(buf, sizeof(buf), &s->ack[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_PROBE)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_probe(buf, sizeof(buf), sizeof(buf),
								   &s->probe[0], s->ask[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_HELLO && type != MROCE_WIRE_HELLO_ACK)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(buf, sizeof(buf), sizeof(buf),
								   &s->hello[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_DGRAM)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf),
								   &s->dgram[0]),
					MROCE_DROP_TYPE);
		if (type != MROCE_WIRE_UNKNOWN)
			KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(buf, sizeof(buf), &cid),
					MROCE_DROP_TYPE);
	}
}

/* Flip bits of, cut, or stretch good packets, and throw dice for the rest */
static u32 fuzz_packet(struct rnd *r, struct wire_ack_room *a, struct wire_scratch *s, u8 *buf,
		       u32 max)
{
	u32 n = 0, i;

	switch (rnd_below(r, 5)) {
	case 0:
		mroce_wire_make_data(r, mroce_wire_ops[rnd_below(r, WIRE_OPS)], false, &s->data[0]);
		mroce_wire_put_data(buf, &s->data[0]);
		n = MROCE_DATA_HLEN + min_t(u32, s->data[0].payload_len, max - MROCE_DATA_HLEN);
		break;
	case 1:
		n = mroce_wire_make_ack(r, false, buf, &a->in, a->parts, a->recs);
		break;
	case 2:
		mroce_wire_make_hello(r, rnd_below(r, MROCE_MAX_PLANES + 1), &s->hello[0]);
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
	struct wire_ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	u32 taken = 0, refused = 0, n, pad;
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
		exact = mroce_wire_exact(test, a->buf, n);
		pad = rnd_below(&r, 4) ? 0 : rnd_below(&r, 100);
		broken = mroce_wire_exercise(exact, n, n + pad, s, &why);
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
	KUNIT_CASE(header_shortcuts),
	KUNIT_CASE(fetch_bytes),
	KUNIT_CASE(data_round_trip),
	KUNIT_CASE(data_lengths),
	KUNIT_CASE(data_segments),
	KUNIT_CASE(data_contradictions),
	KUNIT_CASE(first_byte),
	KUNIT_CASE(other_type),
	KUNIT_CASE(random_bytes),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "mroce_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
