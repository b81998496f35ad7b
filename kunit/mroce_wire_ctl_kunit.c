// SPDX-License-Identifier: GPL-2.0
/*
 * The wire codec, all packets but DATA: exact bytes, round trips, every length,
 * every limit. See mroce_wire_kunit.c.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "rnd.h"
#include "wire.h"
#include "wire_exercise.h"
#include "wire_make.h"

#define ROUNDS	500

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
		.planes_no = 0x1314,
		.dcid = 0x21222324, .scid = 0x31323334, .nonce = 0x4142434445464748ull,
		.peer_nonce = 0x5152535455565758ull, .cookie = 0x6162636465666768ull,
		.stream_window = 0x71727374, .features = 0x81828384, .len_bytes = 112 + 0x0304,
		.src_gid = { 0xa1, [15] = 0xa2 }, .dst_gid = { 0xb1, [15] = 0xb2 },
		.plane = { { .label = 9, .family = 6, .flags = 0xc1c2, .speed_mbps = 0x91929394,
			     .addr = { 0xfe, 0x80, [15] = 0x0a } } },
	};
	static const u8 want[] = {
		0x12, 1, 0, 1, 0x21, 0x22, 0x23, 0x24, 1, 2, 3, 4, 0x31, 0x32, 0x33, 0x34,
		0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
		0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
		0x11, 0x12, 0x13, 0x14, 0x71, 0x72, 0x73, 0x74, 0x81, 0x82, 0x83, 0x84, 0, 0, 3, 4,
		0xa1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xa2,
		0xb1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xb2,
		9, 6, 0xc1, 0xc2, 0x91, 0x92, 0x93, 0x94,
		0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a,
	};
	u8 buf[sizeof(want)];

	memset(buf, 0xff, sizeof(buf));
	KUNIT_EXPECT_EQ(test, mroce_wire_put_hello(buf, &h), sizeof(want));
	KUNIT_EXPECT_MEMEQ(test, buf, want, sizeof(want));
}

static void ack_round_trip(struct kunit *test)
{
	struct wire_ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd r;
	u32 n, off;
	int k, i;

	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 4);
	for (k = 0; k <= ROUNDS; k++) {
		n = mroce_wire_make_ack(&r, k == ROUNDS, a->buf, &a->in, a->parts, a->recs);
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
	struct wire_ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd r;
	u32 n, len, off;
	int k;

	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 5);
	for (k = 0; k < 8; k++) {
		n = mroce_wire_make_ack(&r, k == 7, a->buf, &a->in, a->parts, a->recs);
		for (len = 0; len < n; len++)
			KUNIT_EXPECT_EQ(test,
					mroce_wire_get_ack(mroce_wire_exact(test, a->buf, len), len,
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
	struct wire_ack_room *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	struct rnd r;
	u32 n;
	int i, k;

	KUNIT_ASSERT_NOT_NULL(test, a);
	rnd_seed(&r, 9);
	mroce_wire_make_part(&r, false, &a->part);
	mroce_wire_make_rec(&r, false, &a->rec);
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

/* Number @k of the PROBEs to try; up to the greatest number of asks, with padding or without */
static void make_probe(struct rnd *r, int k, struct mroce_probe_hdr *h, struct mroce_ask *ask)
{
	int i;

	h->path = rnd_below(r, 32);
	h->dscp = rnd_below(r, 64);
	h->n_asks = k < 20 ? k % (MROCE_PROBE_MAX_ASKS + 1) : MROCE_PROBE_MAX_ASKS;
	h->flags = rnd_u32(r);
	h->dcid = rnd_u32(r);
	h->path_seq = rnd_u32(r);
	for (i = 0; i < h->n_asks; i++) {
		ask[i].dst_qpn = rnd_u32(r) >> 8;
		ask[i].src_qpn = rnd_u32(r) >> 8;
		ask[i].stream = rnd_below(r, 2);
		ask[i].incarnation = rnd_u32(r);
	}
	h->len_bytes = 24 + 12 * h->n_asks + (k % 3 ? rnd_below(r, 9000) : 0);
}

/* Round trip, every readable length, wrong totals, fields out of range */
static void probe(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct mroce_probe_hdr *in = &s->probe[0], *out = &s->probe[1];
	enum mroce_drop want;
	struct rnd r;
	u32 n, len;
	u8 *buf;
	int k;

	KUNIT_ASSERT_NOT_NULL(test, s);
	rnd_seed(&r, 6);
	for (k = 0; k < 60; k++) {
		make_probe(&r, k, in, s->ask[0]);
		n = mroce_wire_put_probe(s->again, in, s->ask[0]);
		for (len = 0; len <= n; len++) {
			want = len < n ? MROCE_DROP_SHORT : MROCE_DROP_NONE;
			buf = mroce_wire_exact(test, s->again, len);
			KUNIT_ASSERT_EQ(test,
					mroce_wire_get_probe(buf, len, in->len_bytes, out,
							     s->ask[1]), want);
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

static void hello(struct kunit *test)
{
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct mroce_hello *in = &s->hello[0], *out = &s->hello[1];
	enum mroce_drop want;
	struct rnd r;
	u32 n, len;
	u8 *buf;
	int k;

	KUNIT_ASSERT_NOT_NULL(test, s);
	rnd_seed(&r, 7);
	for (k = 0; k < 54; k++) {
		mroce_wire_make_hello(&r, k % (MROCE_MAX_PLANES + 1), in);
		n = mroce_wire_put_hello(s->again, in);
		for (len = 0; len <= n; len++) {
			want = len < n ? MROCE_DROP_SHORT : MROCE_DROP_NONE;
			buf = mroce_wire_exact(test, s->again, len);
			KUNIT_ASSERT_EQ(test,
					mroce_wire_get_hello(buf, len, in->len_bytes, out), want);
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
	s->again[88 + 1] = 6;
	memset(s->again + 96, 0x20, 16);
	s->again[89] = 5;
	KUNIT_EXPECT_EQ(test, mroce_wire_get_hello(s->again, n, in->len_bytes, out),
			MROCE_DROP_FIELD);
	s->again[89] = 6;
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

/* A plane's address is that of one host, or the whole HELLO is wrong. */
static void hello_addresses(struct kunit *test)
{
	static const struct {
		u8 family;
		u8 addr[16];
		bool good;
	} row[] = {
		{ 4, { [10] = 0xff, 0xff, 10, 9, 0, 1 }, true },
		{ 4, { [10] = 0xff, 0xff, 223, 255, 255, 255 }, true },
		{ 4, { [10] = 0xff, 0xff, 224, 0, 0, 1 } },
		{ 4, { [10] = 0xff, 0xff, 255, 255, 255, 255 } },
		{ 4, { [10] = 0xff, 0xff, 127, 0, 0, 1 } },
		{ 4, { [10] = 0xff, 0xff, 0, 0, 0, 0 } },
		{ 4, { [12] = 10, 9, 0, 1 } },
		{ 4, { 0xfd, [15] = 1 } },
		{ 6, { 0xfd, [15] = 1 }, true },
		{ 6, { 0xfe, 0x80, [15] = 1 }, true },
		{ 6, { [15] = 2 }, true },
		{ 6, { [15] = 1 } },
		{ 6, { 0 } },
		{ 6, { 0xff, 2, [15] = 1 } },
		{ 6, { [10] = 0xff, 0xff, 10, 9, 0, 1 } },
		{ 5, { 0xfd, [15] = 1 } },
	};
	struct wire_scratch *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct mroce_hello *h;
	u32 i, n;

	KUNIT_ASSERT_NOT_NULL(test, s);
	h = &s->hello[0];
	h->type = MROCE_WIRE_HELLO;
	h->n_planes = 1;
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		h->plane[0].family = row[i].family;
		memcpy(h->plane[0].addr, row[i].addr, 16);
		n = mroce_wire_put_hello(s->again, h);
		KUNIT_EXPECT_EQ_MSG(test, mroce_wire_get_hello(s->again, n, n, &s->hello[1]),
				    row[i].good ? MROCE_DROP_NONE : MROCE_DROP_FIELD, "row %u", i);
	}
}

static void unknown(struct kunit *test)
{
	u8 buf[MROCE_UNKNOWN_LEN + 1];
	u32 len, cid;

	KUNIT_EXPECT_EQ(test, mroce_wire_put_unknown(buf, 0xdeadbeef), MROCE_UNKNOWN_LEN);
	for (len = 0; len < MROCE_UNKNOWN_LEN; len++)
		KUNIT_EXPECT_EQ(test,
				mroce_wire_get_unknown(mroce_wire_exact(test, buf, len), len, &cid),
				MROCE_DROP_SHORT);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(buf, len, &cid), MROCE_DROP_NONE);
	KUNIT_EXPECT_EQ(test, cid, 0xdeadbeefu);
	KUNIT_EXPECT_EQ(test, mroce_wire_get_unknown(buf, len + 1, &cid), MROCE_DROP_LENGTH);
}

static struct kunit_case wire_ctl_cases[] = {
	KUNIT_CASE(ack_bytes),
	KUNIT_CASE(probe_unknown_bytes),
	KUNIT_CASE(hello_bytes),
	KUNIT_CASE(ack_round_trip),
	KUNIT_CASE(ack_lengths),
	KUNIT_CASE(ack_limits),
	KUNIT_CASE(ack_fields),
	KUNIT_CASE(probe),
	KUNIT_CASE(hello),
	KUNIT_CASE(hello_addresses),
	KUNIT_CASE(unknown),
	{}
};

static struct kunit_suite wire_ctl_suite = {
	.name = "mroce_wire_ctl",
	.test_cases = wire_ctl_cases,
};

kunit_test_suite(wire_ctl_suite);
