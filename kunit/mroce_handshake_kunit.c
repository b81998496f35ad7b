// SPDX-License-Identifier: GPL-2.0
/*
 * Connection set-up: the messages one by one, whom to believe, the payload
 * ladder. Two ends: mroce_handshake_net_kunit.c
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "handshake.h"

#define T0	1000000000ull
#define MS	1000000ull

static const struct mroce_hs_params params = {
	.payload_bytes = 8192, .paths = 8, .stream_window = 4096, .features = 0x0f,
};

/* A hostile or real peer, as seen in its packets */
static void packet(struct mroce_hello *h, u8 type, u32 scid, u64 nonce)
{
	memset(h, 0, sizeof(*h));
	h->type = type;
	h->ver_min = MROCE_WIRE_VERSION;
	h->ver_max = MROCE_WIRE_VERSION;
	h->scid = scid;
	h->nonce = nonce;
	h->payload_bytes = 4096;
	h->len_bytes = 64 + 8192;
	h->paths = 4;
	h->stream_window = 1024;
	h->features = 0x35;
}

static void asking(struct mroce_hs *hs, u16 payload_bytes, bool ipv6)
{
	struct mroce_hs_params mine = params;

	mine.payload_bytes = payload_bytes;
	mroce_hs_init(hs, &mine, ipv6, 0xa, 0xaaaa);
	mroce_hs_start(hs, T0);
}

/* A HELLO goes out at @now, and is answered with a @cookie (two packets: a frame of its own) */
static noinline enum mroce_hs_event get_cookie(struct mroce_hs *hs, u64 cookie, u64 now)
{
	struct mroce_hello h, reply;

	mroce_hs_hello(hs, &h, now);
	mroce_hs_cookie_reply(&h, cookie, 0xbbbb, &reply);
	return mroce_hs_on_hello_ack(hs, &reply, now);
}

/* Asked, and in possession of the cookie 77 */
static void with_cookie(struct mroce_hs *hs)
{
	asking(hs, 8192, false);
	get_cookie(hs, 77, T0);
}

/* The answer of peer 0xb to a HELLO with that cookie */
static void answer(const struct mroce_hs *hs, struct mroce_hello *h)
{
	packet(h, MROCE_WIRE_HELLO_ACK, 0xb, 0xbbbb);
	h->peer_nonce = hs->nonce;
	h->cookie = 77;
}

static void new_one_is_silent(struct kunit *test)
{
	struct mroce_hs hs;

	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "idle");
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
	mroce_hs_start(&hs, T0);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "hello");
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, T0 - 1));
	KUNIT_EXPECT_TRUE(test, mroce_hs_due(&hs, T0));
}

/* A device that talks to itself knows all it could ask. */
static void self_is_open_and_silent(struct kunit *test)
{
	struct mroce_hello h;
	struct mroce_hs hs;

	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	mroce_hs_self(&hs);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "open");
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xa);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xaaaa);
	KUNIT_EXPECT_MEMEQ(test, &hs.agreed, &params, sizeof(params));
	/* It asked nothing: no answer means anything to it. */
	answer(&hs, &h);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &h, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xa);
	mroce_hs_stop(&hs);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "open");
}

static void hello_says_who_and_what(struct kunit *test)
{
	struct mroce_hello h;
	struct mroce_hs hs;

	asking(&hs, 8192, false);
	mroce_hs_hello(&hs, &h, T0);
	KUNIT_EXPECT_EQ(test, h.type, MROCE_WIRE_HELLO);
	KUNIT_EXPECT_EQ(test, h.flags, 0);
	KUNIT_EXPECT_EQ(test, h.ver_min, MROCE_WIRE_VERSION);
	KUNIT_EXPECT_EQ(test, h.ver_max, MROCE_WIRE_VERSION);
	KUNIT_EXPECT_EQ(test, h.scid, 0xa);
	KUNIT_EXPECT_EQ(test, h.nonce, 0xaaaa);
	KUNIT_EXPECT_EQ(test, h.dcid, 0);
	KUNIT_EXPECT_EQ(test, h.peer_nonce | h.cookie, 0);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 8192);
	KUNIT_EXPECT_EQ(test, h.len_bytes, 64 + 8192);
	KUNIT_EXPECT_EQ(test, h.paths, 8);
	KUNIT_EXPECT_EQ(test, h.stream_window, 4096);
	KUNIT_EXPECT_EQ(test, h.features, 0x0f);
}

static void cookie_reply_is_small_and_stateless(struct kunit *test)
{
	struct mroce_hello in, out;

	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	in.dscp = 13;
	in.n_planes = 2;
	in.len_bytes = 64 + 4096;
	memset(&out, 0xff, sizeof(out));
	mroce_hs_cookie_reply(&in, 99, 0xaaaa, &out);
	KUNIT_EXPECT_EQ(test, out.type, MROCE_WIRE_HELLO_ACK);
	KUNIT_EXPECT_EQ(test, out.flags, MROCE_HELLO_COOKIE_ONLY);
	KUNIT_EXPECT_EQ(test, out.len_bytes, MROCE_HELLO_HLEN);
	KUNIT_EXPECT_EQ(test, out.n_planes, 0);
	KUNIT_EXPECT_EQ(test, out.dscp, 13);
	KUNIT_EXPECT_EQ(test, out.dcid, 0xb);
	KUNIT_EXPECT_EQ(test, out.scid, 0);
	KUNIT_EXPECT_EQ(test, out.nonce, 0xaaaa);
	KUNIT_EXPECT_EQ(test, out.peer_nonce, 0xbbbb);
	KUNIT_EXPECT_EQ(test, out.cookie, 99);
	KUNIT_EXPECT_EQ(test, out.ver_min, MROCE_WIRE_VERSION);
}

static void back_off_doubles_to_a_second(struct kunit *test)
{
	u64 now = T0, gap = 20 * MS;
	struct mroce_hello h;
	struct mroce_hs hs;
	u32 i;

	asking(&hs, 512, false);
	for (i = 0; i < 70000; i++) {	/* tries must not come round */
		KUNIT_ASSERT_TRUE(test, mroce_hs_due(&hs, now));
		mroce_hs_hello(&hs, &h, now);
		KUNIT_ASSERT_FALSE(test, mroce_hs_due(&hs, now + gap - 1));
		now += gap;
		gap = min_t(u64, 2 * gap, 1000 * MS);
	}
}

/* Three tries each: from what the route allows down to what fits everywhere. */
static void ladder(struct kunit *test, u16 mine, bool ipv6, const u16 *want)
{
	struct mroce_hello h;
	struct mroce_hs hs;
	u32 i;

	asking(&hs, mine, ipv6);
	for (i = 0; i < 15; i++) {
		mroce_hs_hello(&hs, &h, T0);
		KUNIT_EXPECT_EQ(test, h.payload_bytes, want[i / 3]);
		KUNIT_EXPECT_EQ(test, h.len_bytes, 64u + want[i / 3]);
		/* A step begins a new back-off: finding the size is a matter of ms. */
		if (i % 3 == 0 && want[i / 3] > 1024)
			KUNIT_EXPECT_EQ(test, hs.next_ns, T0 + 20 * MS);
	}
}

static void payload_steps_down(struct kunit *test)
{
	static const u16 v4[] = { 8192, 4096, 1408, 1024, 1024 };
	static const u16 v6[] = { 8192, 4096, 1280, 1024, 1024 };
	static const u16 odd[] = { 3968, 1408, 1024, 1024, 1024 };
	static const u16 mtu1500[] = { 1408, 1024, 1024, 1024, 1024 };
	static const u16 small[] = { 512, 512, 512, 512, 512 };

	ladder(test, 8192, false, v4);
	ladder(test, 8192, true, v6);
	ladder(test, 3968, false, odd);
	ladder(test, 1408, false, mtu1500);
	ladder(test, 512, true, small);
}

/* Tries without any answer may mean that the peer is not up yet: start at the top. */
static void cookie_restarts_the_ladder_at_once(struct kunit *test)
{
	struct mroce_hello h, reply;
	struct mroce_hs hs;
	u32 i;

	asking(&hs, 8192, false);
	for (i = 0; i < 10; i++)
		mroce_hs_hello(&hs, &h, T0);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 1024);
	mroce_hs_cookie_reply(&h, 77, 0xbbbb, &reply);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &reply, T0 + 5), MROCE_HS_SEND);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "cookie");
	KUNIT_EXPECT_TRUE(test, mroce_hs_due(&hs, T0 + 5));
	mroce_hs_hello(&hs, &h, T0 + 5);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 8192);
	KUNIT_EXPECT_EQ(test, h.cookie, 77);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, T0 + 5 + 20 * MS - 1));
	KUNIT_EXPECT_TRUE(test, mroce_hs_due(&hs, T0 + 5 + 20 * MS));
}

/* A peer that answers, but has no use for us yet, gets the same size offered again. */
static void late_peer_keeps_the_payload(struct kunit *test)
{
	struct mroce_hello h;
	struct mroce_hs hs;
	u64 next;
	u32 i;

	with_cookie(&hs);
	for (i = 0; i < 12; i++) {
		next = hs.next_ns;
		KUNIT_EXPECT_EQ(test, get_cookie(&hs, 78, next), MROCE_HS_NOTHING);
		KUNIT_EXPECT_EQ(test, hs.try_payload, 8192);
	}
	/* The back-off goes on nevertheless. */
	KUNIT_EXPECT_EQ(test, hs.next_ns - next, 1000 * MS);
	/* From now on it is silent: three lost tries are a step. */
	for (i = 0; i < 3; i++)
		mroce_hs_hello(&hs, &h, hs.next_ns);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 8192);
	mroce_hs_hello(&hs, &h, hs.next_ns);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 4096);
}

/* However often it is started, it goes on where it was; until it is stopped. */
static void start_while_asking_changes_nothing(struct kunit *test)
{
	struct mroce_hello h;
	struct mroce_hs hs;
	u64 next;

	with_cookie(&hs);
	mroce_hs_hello(&hs, &h, T0);
	next = hs.next_ns;
	mroce_hs_start(&hs, T0 + 1);
	KUNIT_EXPECT_EQ(test, hs.next_ns, next);
	KUNIT_EXPECT_EQ(test, hs.cookie, 77);
	mroce_hs_stop(&hs);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "idle");
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
}

/* No exchange at full speed with somebody who takes no cookie. */
static void second_cookie_waits_for_the_timer(struct kunit *test)
{
	struct mroce_hello h;
	struct mroce_hs hs;

	with_cookie(&hs);
	KUNIT_EXPECT_EQ(test, get_cookie(&hs, 78, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, T0));
	mroce_hs_hello(&hs, &h, T0);
	KUNIT_EXPECT_EQ(test, h.cookie, 78);
	/* No cookie at all is no answer. */
	asking(&hs, 8192, false);
	KUNIT_EXPECT_EQ(test, get_cookie(&hs, 0, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.state, MROCE_HS_HELLO);
}

static void answer_opens_with_the_smaller_values(struct kunit *test)
{
	struct mroce_hello in;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &in);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_OPENED);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "open");
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xb);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xbbbb);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 4096);
	KUNIT_EXPECT_EQ(test, hs.agreed.paths, 4);
	KUNIT_EXPECT_EQ(test, hs.agreed.stream_window, 1024);
	KUNIT_EXPECT_EQ(test, hs.agreed.features, 0x05);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
	/* The same again is nothing new. */
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
}

static void hello_opens_and_is_answered(struct kunit *test)
{
	struct mroce_hello in, out;
	struct mroce_hs hs;

	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	in.dscp = 13;
	in.cookie = 55;
	in.paths = 9;
	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	memset(&out, 0xff, sizeof(out));
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_OPENED);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xb);
	KUNIT_EXPECT_EQ(test, out.type, MROCE_WIRE_HELLO_ACK);
	KUNIT_EXPECT_EQ(test, out.flags, 0);
	KUNIT_EXPECT_EQ(test, out.dscp, 13);
	KUNIT_EXPECT_EQ(test, out.dcid, 0xb);
	KUNIT_EXPECT_EQ(test, out.scid, 0xa);
	KUNIT_EXPECT_EQ(test, out.nonce, 0xaaaa);
	KUNIT_EXPECT_EQ(test, out.peer_nonce, 0xbbbb);
	KUNIT_EXPECT_EQ(test, out.cookie, 55);
	KUNIT_EXPECT_EQ(test, out.payload_bytes, 4096);
	KUNIT_EXPECT_EQ(test, out.len_bytes, 64 + 4096);
	KUNIT_EXPECT_EQ(test, out.paths, 8);
	/* Whoever only answers does not ask. */
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
	/* Again, smaller: the peer's first answer was too large for the way back. */
	in.payload_bytes = 1408;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 1408);
	KUNIT_EXPECT_EQ(test, out.len_bytes, 64 + 1408);
	/* A late first one does not raise it. */
	in.payload_bytes = 4096;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, out.payload_bytes, 1408);
}

static void forged_answers_are_ignored(struct kunit *test)
{
	struct mroce_hello in;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &in);
	in.peer_nonce++;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	answer(&hs, &in);
	in.cookie++;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "cookie");

	/* No cookie has been used: a full answer answers nothing. */
	asking(&hs, 8192, false);
	answer(&hs, &in);
	in.cookie = 0;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	/* Nobody has asked. */
	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	answer(&hs, &in);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	in.flags = MROCE_HELLO_COOKIE_ONLY;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.cookie, 0);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "idle");
}

static void answer_to_an_older_proposal_is_ignored(struct kunit *test)
{
	struct mroce_hello in, h;
	struct mroce_hs hs;
	u32 i;

	with_cookie(&hs);
	for (i = 0; i < 7; i++)
		mroce_hs_hello(&hs, &h, T0);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 1408);
	answer(&hs, &in);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	in.payload_bytes = 1408;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_OPENED);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 1408);
	/* Asked anew: the route is tried anew. */
	mroce_hs_start(&hs, T0 + 5000 * MS);
	for (i = 0; i < 3; i++) {
		mroce_hs_hello(&hs, &h, T0 + 5000 * MS);
		KUNIT_EXPECT_EQ(test, h.payload_bytes, 8192);
		KUNIT_EXPECT_EQ(test, hs.next_ns, T0 + (5000 + (20 << i)) * MS);
	}
}

static void version_ranges_must_meet(struct kunit *test)
{
	static const struct {
		u8 min, max;
		enum mroce_hs_event ev;
	} row[] = {
		{ 1, 1, MROCE_HS_OPENED }, { 0, 9, MROCE_HS_OPENED }, { 1, 255, MROCE_HS_OPENED },
		{ 2, 3, MROCE_HS_REFUSED }, { 0, 0, MROCE_HS_REFUSED },
	};
	struct mroce_hello in, out;
	struct mroce_hs hs;
	u32 i;

	for (i = 0; i < 5; i++) {
		with_cookie(&hs);
		answer(&hs, &in);
		in.ver_min = row[i].min;
		in.ver_max = row[i].max;
		KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), row[i].ev);
		mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
		KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), row[i].ev);
		asking(&hs, 8192, false);
		in.flags = MROCE_HELLO_COOKIE_ONLY;
		KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0),
				row[i].ev == MROCE_HS_OPENED ? MROCE_HS_SEND : MROCE_HS_REFUSED);
	}
}

static void impossible_parameters_are_refused(struct kunit *test)
{
	struct mroce_hello in, out;
	struct mroce_hs hs;
	u32 i;

	for (i = 0; i < 6; i++) {
		with_cookie(&hs);
		answer(&hs, &in);
		in.paths *= i != 0;
		in.payload_bytes *= i != 1;
		in.stream_window *= i != 2;
		in.scid *= i != 3;
		in.nonce *= i != 4;
		in.payload_bytes += i == 5;
		KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_REFUSED);
		mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
		KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_REFUSED);
		KUNIT_EXPECT_EQ(test, hs.state, MROCE_HS_IDLE);
	}
}

/* A HELLO shorter than a packet of what it proposes: no proof, and no answer. */
static void unpadded_proves_nothing(struct kunit *test)
{
	struct mroce_hello in, out;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &in);
	in.len_bytes = 64 + 4096 - 1;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_REFUSED);
	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	in.len_bytes = 64 + 4096 - 1;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_REFUSED);
	KUNIT_EXPECT_STREQ(test, mroce_hs_state_name[hs.state], "cookie");
	in.len_bytes = 64 + 4096;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_OPENED);
	KUNIT_EXPECT_EQ(test, out.len_bytes, in.len_bytes);
}

/* UNKNOWN has come: asked again, the connection stays open until there is proof. */
static void open_asks_again_and_finds_the_same_peer(struct kunit *test)
{
	struct mroce_hello in, h;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &in);
	mroce_hs_on_hello_ack(&hs, &in, T0);
	mroce_hs_start(&hs, T0 + MS);
	KUNIT_EXPECT_EQ(test, hs.state, MROCE_HS_OPEN);
	KUNIT_EXPECT_TRUE(test, mroce_hs_due(&hs, T0 + MS));
	mroce_hs_hello(&hs, &h, T0 + MS);
	KUNIT_EXPECT_EQ(test, h.cookie, 0);
	/* More of the kind do not make it ask faster. */
	mroce_hs_start(&hs, T0 + 2 * MS);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, T0 + 2 * MS));
	KUNIT_EXPECT_EQ(test, get_cookie(&hs, 77, T0 + 2 * MS), MROCE_HS_SEND);
	KUNIT_EXPECT_EQ(test, hs.state, MROCE_HS_OPEN);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xbbbb);
	mroce_hs_hello(&hs, &h, T0 + 2 * MS);
	KUNIT_EXPECT_EQ(test, h.peer_nonce, 0xbbbb);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0 + 3 * MS), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 4096);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
}

/* Another instance answers with our cookie: the new ids hold, from scratch. */
static void restart_is_believed_with_our_cookie_only(struct kunit *test)
{
	struct mroce_hello old, in;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &old);
	mroce_hs_on_hello_ack(&hs, &old, T0);
	in = old;
	in.nonce = 0xcccc;
	in.scid = 0xc;
	in.payload_bytes = 8192;
	in.features = 0x0f;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	mroce_hs_start(&hs, T0);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_NOTHING);
	get_cookie(&hs, 77, T0);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xbbbb);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_RESTARTED);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xc);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xcccc);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 8192);
	KUNIT_EXPECT_EQ(test, hs.agreed.features, 0x0f);
}

/* A verified HELLO of another instance restarts too; late ones of the old do not. */
static void replaced_instance_does_not_come_back(struct kunit *test)
{
	struct mroce_hello old, in, out;
	struct mroce_hs hs;

	packet(&old, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	packet(&in, MROCE_WIRE_HELLO, 0xc, 0xcccc);
	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	mroce_hs_on_hello(&hs, &old, &out, T0);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_RESTARTED);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xc);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &old, &out, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xc);
	/* What is answered goes to the instance there is. */
	KUNIT_EXPECT_EQ(test, out.dcid, 0xc);
	KUNIT_EXPECT_EQ(test, out.peer_nonce, 0xcccc);
	/* The late answer of the old one, to a question of ours */
	mroce_hs_start(&hs, T0);
	hs.cookie = 77;
	answer(&hs, &old);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &old, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xc);
}

/* To one of the old instance, which had agreed to less, no more is said than it said. */
static void late_hello_is_not_answered_with_more(struct kunit *test)
{
	struct mroce_hello old, in, out;
	struct mroce_hs hs;

	packet(&old, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	old.payload_bytes = 1024;
	old.len_bytes = 64 + 1024;
	packet(&in, MROCE_WIRE_HELLO, 0xc, 0xcccc);
	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	mroce_hs_on_hello(&hs, &old, &out, T0);
	mroce_hs_on_hello(&hs, &in, &out, T0);
	KUNIT_EXPECT_EQ(test, out.len_bytes, 64 + 4096);
	mroce_hs_on_hello(&hs, &old, &out, T0);
	KUNIT_EXPECT_EQ(test, out.payload_bytes, 4096);
	KUNIT_EXPECT_EQ(test, out.len_bytes, 64 + 1024);
}

/* The MTU falls while open: the peer hears of it. When it grows, nothing is asked. */
static void smaller_route_is_told(struct kunit *test)
{
	struct mroce_hello in, h;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &in);
	mroce_hs_on_hello_ack(&hs, &in, T0);
	mroce_hs_resize(&hs, 4096, T0 + MS);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
	mroce_hs_resize(&hs, 1408, T0 + MS);
	KUNIT_EXPECT_EQ(test, hs.state, MROCE_HS_OPEN);
	KUNIT_EXPECT_TRUE(test, mroce_hs_due(&hs, T0 + MS));
	mroce_hs_hello(&hs, &h, T0 + MS);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 1408);
	/* Again, before the answer: what was proposed is too large already. */
	mroce_hs_resize(&hs, 1152, T0 + 2 * MS);
	KUNIT_EXPECT_TRUE(test, mroce_hs_due(&hs, T0 + 2 * MS));
	KUNIT_EXPECT_EQ(test, get_cookie(&hs, 78, T0 + 2 * MS), MROCE_HS_SEND);
	mroce_hs_hello(&hs, &h, T0 + 2 * MS);
	KUNIT_EXPECT_EQ(test, h.payload_bytes, 1152);
	in.payload_bytes = 1152;
	in.cookie = 78;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0 + 3 * MS), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 1152);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xbbbb);
	mroce_hs_resize(&hs, 8192, T0 + 4 * MS);
	KUNIT_EXPECT_FALSE(test, mroce_hs_due(&hs, U64_MAX - 1));
	KUNIT_EXPECT_EQ(test, hs.mine.payload_bytes, 8192);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 1152);
}

/* Somebody who sees the packets has forged a restart: the true peer is heard again. */
static void forged_restart_heals(struct kunit *test)
{
	struct mroce_hello in, out;
	struct mroce_hs hs;

	with_cookie(&hs);
	answer(&hs, &in);
	mroce_hs_on_hello_ack(&hs, &in, T0);
	mroce_hs_start(&hs, T0);
	get_cookie(&hs, 77, T0);
	in.nonce ^= 4;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, T0), MROCE_HS_RESTARTED);
	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0 + MROCE_HS_LATE_NS - 1),
			MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0 + MROCE_HS_LATE_NS),
			MROCE_HS_RESTARTED);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xbbbb);
}

/* A peer that is another one with each HELLO is believed now and then only. */
static void restarts_are_bounded(struct kunit *test)
{
	struct mroce_hello in, out;
	u32 restarted = 0, i;
	struct mroce_hs hs;
	u64 now = T0;

	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	for (i = 0; i < 1000; i++, now += MS) {
		packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb + i);
		restarted += mroce_hs_on_hello(&hs, &in, &out, now) == MROCE_HS_RESTARTED;
	}
	KUNIT_EXPECT_GE(test, restarted, 1000 * MS / MROCE_HS_RESTART_NS);
	KUNIT_EXPECT_LE(test, restarted, 1000 * MS / MROCE_HS_RESTART_NS + MROCE_HS_RESTARTS);
	/* The instance there is goes on. */
	packet(&in, MROCE_WIRE_HELLO, hs.dcid, hs.peer_nonce);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, now), MROCE_HS_NOTHING);
	now += MROCE_HS_RESTART_NS;
	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xcccc);
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, now), MROCE_HS_RESTARTED);
}

/* The pair of id and nonce is the instance. */
static void either_id_or_nonce_makes_another_instance(struct kunit *test)
{
	struct mroce_hello in, out;
	struct mroce_hs hs;

	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	mroce_hs_on_hello(&hs, &in, &out, T0);
	in.nonce = 0xcccc;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_RESTARTED);
	KUNIT_EXPECT_EQ(test, hs.peer_nonce, 0xcccc);
	in.scid = 0xc;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_RESTARTED);
	KUNIT_EXPECT_EQ(test, hs.dcid, 0xc);
	/* It stays the peer: its nonce is not the replaced one. */
	in.payload_bytes = 1024;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_NOTHING);
	KUNIT_EXPECT_EQ(test, hs.agreed.payload_bytes, 1024);
}

/* Anybody may name the GIDs of others: who sent a HELLO has to be known by something else. */
static void who_speaks_for_a_gid(struct kunit *test)
{
	struct mroce_hello in, out;
	struct mroce_hs hs;

	mroce_hs_init(&hs, &params, false, 0xa, 0xaaaa);
	packet(&in, MROCE_WIRE_HELLO, 0xb, 0xbbbb);
	KUNIT_EXPECT_FALSE(test, mroce_hs_from_peer(&hs, &in, false, false));
	KUNIT_EXPECT_TRUE(test, mroce_hs_from_peer(&hs, &in, true, false));
	KUNIT_EXPECT_TRUE(test, mroce_hs_from_peer(&hs, &in, false, true));
	/* Our nonce, in full */
	in.peer_nonce = 0xaaaa;
	KUNIT_EXPECT_TRUE(test, mroce_hs_from_peer(&hs, &in, false, false));
	in.peer_nonce |= 1ull << 63;
	KUNIT_EXPECT_FALSE(test, mroce_hs_from_peer(&hs, &in, false, false));
	/* Once the peer is known: what it has sent itself is no secret of ours. */
	in.peer_nonce = 0;
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello(&hs, &in, &out, T0), MROCE_HS_OPENED);
	KUNIT_EXPECT_FALSE(test, mroce_hs_from_peer(&hs, &in, false, false));
	in.peer_nonce = hs.peer_nonce;
	KUNIT_EXPECT_FALSE(test, mroce_hs_from_peer(&hs, &in, false, false));
	in.cookie = 77;
	hs.cookie = 77;
	KUNIT_EXPECT_FALSE(test, mroce_hs_from_peer(&hs, &in, false, false));
}

static struct kunit_case handshake_cases[] = {
	KUNIT_CASE(new_one_is_silent),
	KUNIT_CASE(self_is_open_and_silent),
	KUNIT_CASE(hello_says_who_and_what),
	KUNIT_CASE(cookie_reply_is_small_and_stateless),
	KUNIT_CASE(back_off_doubles_to_a_second),
	KUNIT_CASE(payload_steps_down),
	KUNIT_CASE(cookie_restarts_the_ladder_at_once),
	KUNIT_CASE(late_peer_keeps_the_payload),
	KUNIT_CASE(start_while_asking_changes_nothing),
	KUNIT_CASE(second_cookie_waits_for_the_timer),
	KUNIT_CASE(answer_opens_with_the_smaller_values),
	KUNIT_CASE(hello_opens_and_is_answered),
	KUNIT_CASE(forged_answers_are_ignored),
	KUNIT_CASE(answer_to_an_older_proposal_is_ignored),
	KUNIT_CASE(version_ranges_must_meet),
	KUNIT_CASE(impossible_parameters_are_refused),
	KUNIT_CASE(unpadded_proves_nothing),
	KUNIT_CASE(open_asks_again_and_finds_the_same_peer),
	KUNIT_CASE(restart_is_believed_with_our_cookie_only),
	KUNIT_CASE(replaced_instance_does_not_come_back),
	KUNIT_CASE(late_hello_is_not_answered_with_more),
	KUNIT_CASE(who_speaks_for_a_gid),
	KUNIT_CASE(smaller_route_is_told),
	KUNIT_CASE(forged_restart_heals),
	KUNIT_CASE(restarts_are_bounded),
	KUNIT_CASE(either_id_or_nonce_makes_another_instance),
	{}
};

static struct kunit_suite handshake_suite = {
	.name = "mroce_handshake",
	.test_cases = handshake_cases,
};

kunit_test_suite(handshake_suite);
