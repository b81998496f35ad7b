// SPDX-License-Identifier: GPL-2.0
/* Datagrams: bytes, lengths, limits, Q_Keys. */
#include <kunit/test.h>
#include <linux/string.h>

#include "dgram.h"
#include "rnd.h"
#include "wire.h"
#include "wire_exercise.h"

static const struct mroce_pkt_dgram sample = {
	.opcode = MROCE_OP_SEND_IMM, .solicited = true, .payload_len = 0x0102,
	.dst_qpn = 0x212223, .src_qpn = 0x313233, .qkey = 0x41424344,
	.imm = cpu_to_be32(0x51525354), .token = 0x61626364,
};

static void bytes(struct kunit *test)
{
	static const u8 want[] = {
		0x17, 2, 0, 8, 0, 0, 0, 0, 0, 0x21, 0x22, 0x23, 0, 0x31, 0x32, 0x33,
		0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54, 1, 2, 0, 0, 0x61, 0x62, 0x63, 0x64,
	};
	u8 buf[MROCE_DGRAM_HLEN];
	struct mroce_pkt_dgram p;

	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, mroce_wire_put_dgram(buf, &sample), sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
	memset(&p, 0xff, sizeof(p));
	KUNIT_ASSERT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf) + 0x0102, &p),
			MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, p.opcode, MROCE_OP_SEND_IMM);
	KUNIT_EXPECT_TRUE(test, p.solicited);
	KUNIT_EXPECT_EQ(test, p.dst_qpn, 0x212223u);
	KUNIT_EXPECT_EQ(test, p.src_qpn, 0x313233u);
	KUNIT_EXPECT_EQ(test, p.qkey, 0x41424344u);
	KUNIT_EXPECT_EQ(test, p.token, 0x61626364u);
	KUNIT_EXPECT_EQ(test, mroce_wire_dgram_len(buf), MROCE_DGRAM_HLEN + 0x0102u);
	KUNIT_EXPECT_EQ(test, (__force u32)p.imm, (__force u32)cpu_to_be32(0x51525354));
}

/* Without an immediate there is none, whatever the field says. */
static void plain_send(struct kunit *test)
{
	struct mroce_pkt_dgram p = sample;
	u8 buf[MROCE_DGRAM_HLEN];

	p.opcode = MROCE_OP_SEND;
	p.solicited = false;
	mroce_wire_put_dgram(buf, &p);
	KUNIT_EXPECT_EQ(test, buf[3], 0);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf) + 0x0102, &p),
			MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, (__force u32)p.imm, 0u);
	KUNIT_EXPECT_FALSE(test, p.solicited);
}

static void opcodes(struct kunit *test)
{
	struct mroce_pkt_dgram p = sample;
	u8 buf[MROCE_DGRAM_HLEN];
	int op;

	for (op = 0; op < 256; op++) {
		enum mroce_drop want = MROCE_DROP_OPCODE;

		if (op == MROCE_OP_SEND || op == MROCE_OP_SEND_IMM)
			want = MROCE_DROP_NONE;
		else if (op == MROCE_OP_ANSWER)
			want = MROCE_DROP_FIELD;
		mroce_wire_put_dgram(buf, &sample);
		buf[1] = op;
		KUNIT_EXPECT_EQ(test,
				mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf) + 0x0102, &p),
				want);
	}
}

static void lengths(struct kunit *test)
{
	struct mroce_pkt_dgram p = sample, out;
	u8 buf[MROCE_DGRAM_HLEN];
	u32 n;

	mroce_wire_put_dgram(buf, &p);
	for (n = 0; n < sizeof(buf); n++)
		KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, n, n, &out), MROCE_DROP_SHORT);
	for (n = 0; n < 2 * MROCE_DGRAM_MAX_BYTES; n++)
		KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf) + n, &out),
				n == 0x0102 ? MROCE_DROP_NONE : MROCE_DROP_LENGTH);
	p.payload_len = 0;
	mroce_wire_put_dgram(buf, &p);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf), &out),
			MROCE_DROP_NONE);
	for (n = 0; n < 2; n++) {
		p.payload_len = MROCE_DGRAM_MAX_BYTES + n;
		mroce_wire_put_dgram(buf, &p);
		KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf),
							   sizeof(buf) + p.payload_len, &out),
				n ? MROCE_DROP_LENGTH : MROCE_DROP_NONE);
	}
}

static void fields(struct kunit *test)
{
	u8 buf[MROCE_DGRAM_HLEN];
	struct mroce_pkt_dgram p;
	int at;

	for (at = 8; at <= 12; at += 4) {
		mroce_wire_put_dgram(buf, &sample);
		buf[at] = 1;
		KUNIT_EXPECT_EQ(test,
				mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf) + 0x0102, &p),
				MROCE_DROP_FIELD);
	}
}

/* A token, and nothing else */
static void answers(struct kunit *test)
{
	struct mroce_pkt_dgram p = sample, out;
	u8 buf[MROCE_DGRAM_HLEN];

	p.opcode = MROCE_OP_ANSWER;
	p.payload_len = 0;
	mroce_wire_put_dgram(buf, &p);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf), &out),
			MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, out.token, 0x61626364u);
	p.token = 0;
	mroce_wire_put_dgram(buf, &p);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_dgram(buf, sizeof(buf), sizeof(buf), &out),
			MROCE_DROP_FIELD);
}

static void who_is_not_there_is_known_in_two_seconds(struct kunit *test)
{
	u64 waited_ns = 0, last_ns = 0, ns;
	u32 tries = 1;

	for (; (ns = mroce_dgram_retry_ns(tries)); tries++) {
		KUNIT_EXPECT_GT(test, ns, last_ns);
		last_ns = ns;
		waited_ns += ns;
	}
	KUNIT_EXPECT_EQ(test, tries, MROCE_DGRAM_TRIES + 1u);
	KUNIT_EXPECT_LT(test, waited_ns, 1800000000ull);
	KUNIT_EXPECT_GT(test, waited_ns, 1000000000ull);
}

static void any_bytes(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct rnd r;
	u8 buf[MROCE_DGRAM_HLEN];
	enum mroce_drop why;
	u32 i, k, taken = 0;

	KUNIT_ASSERT_NOT_NULL(test, s);
	rnd_seed(&r, 11);
	for (i = 0; i < 5000; i++) {
		mroce_wire_put_dgram(buf, &sample);
		for (k = rnd_below(&r, 4); k--;)
			buf[1 + rnd_below(&r, sizeof(buf) - 1)] = rnd_below(&r, 256);
		KUNIT_ASSERT_NULL(test, mroce_wire_exercise(buf, sizeof(buf),
							    sizeof(buf) + 0x0102, s, &why));
		taken += !why;
	}
	KUNIT_EXPECT_GT(test, taken, 1000u);
	KUNIT_EXPECT_LT(test, taken, 4900u);
}

static void privileged_keys_are_not_the_senders(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, mroce_dgram_qkey(0x11111111, 5), 0x11111111u);
	KUNIT_EXPECT_EQ(test, mroce_dgram_qkey(0x7fffffff, 5), 0x7fffffffu);
	KUNIT_EXPECT_EQ(test, mroce_dgram_qkey(0x80000000, 5), 5u);
	KUNIT_EXPECT_EQ(test, mroce_dgram_qkey(0x80010000, 0x80010000), 0x80010000u);
	KUNIT_EXPECT_EQ(test, mroce_dgram_qkey(0, 5), 0u);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(bytes),
	KUNIT_CASE(plain_send),
	KUNIT_CASE(opcodes),
	KUNIT_CASE(lengths),
	KUNIT_CASE(fields),
	KUNIT_CASE(answers),
	KUNIT_CASE(who_is_not_there_is_known_in_two_seconds),
	KUNIT_CASE(any_bytes),
	KUNIT_CASE(privileged_keys_are_not_the_senders),
	{}
};

static struct kunit_suite suite = { .name = "mroce_dgram", .test_cases = cases };
kunit_test_suite(suite);
