// SPDX-License-Identifier: GPL-2.0
/*
 * Connection set-up: two ends over a network that loses, repeats and reorders.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "handshake.h"
#include "rnd.h"

#define T0	1000000000ull
#define MS	1000000ull

static const struct mroce_hs_params params = {
	.payload_bytes = 8192, .paths = 8, .stream_window = 4096, .features = 0x0f,
};

/* Two ends and the packets between them */

#define IN_FLIGHT	6

struct net {
	struct mroce_hs end[2];
	u16 way_bytes[2];	/* largest datagram towards end i */
	u32 opened[2];
	u32 restarted;
	u64 now;
	u32 n;
	struct {
		struct mroce_hello h;
		u8 to;
	} pkt[IN_FLIGHT];
	struct mroce_hello out;
};

static u64 cookie_of(const struct mroce_hello *h, int verifier)
{
	return h->nonce * 31 + verifier + 1;
}

static void net_send(struct net *net, int to, const struct mroce_hello *h)
{
	if (net->n == IN_FLIGHT || h->len_bytes > net->way_bytes[to])
		return;
	net->pkt[net->n].to = to;
	net->pkt[net->n++].h = *h;
}

static void net_hello(struct net *net, int from)
{
	mroce_hs_hello(&net->end[from], &net->out, net->now);
	net_send(net, !from, &net->out);
}

static void net_deliver(struct net *net, u32 i)
{
	const struct mroce_hello *h = &net->pkt[i].h;
	int to = net->pkt[i].to;
	struct mroce_hs *hs = &net->end[to];
	u64 cookie = cookie_of(h, to);
	enum mroce_hs_event ev;

	if (h->type == MROCE_WIRE_HELLO_ACK) {
		ev = mroce_hs_on_hello_ack(hs, h, net->now);
	} else if (h->cookie == cookie) {
		ev = mroce_hs_on_hello(hs, h, &net->out, net->now);
		net_send(net, !to, &net->out);
	} else {
		ev = MROCE_HS_NOTHING;
		mroce_hs_cookie_reply(h, cookie, hs->nonce, &net->out);
		net_send(net, !to, &net->out);
	}
	net->opened[to] += ev == MROCE_HS_OPENED;
	net->restarted += ev == MROCE_HS_RESTARTED;
	if (ev == MROCE_HS_SEND)
		net_hello(net, to);
}

static void net_drop(struct net *net, u32 i)
{
	net->pkt[i] = net->pkt[--net->n];
}

static void net_timer(struct net *net, int who)
{
	struct mroce_hs *hs = &net->end[who];

	if (!hs->asking)
		return;
	net->now = max(net->now, hs->next_ns);
	net_hello(net, who);
}

/* One of the 14 things that can happen next; what is impossible is nothing */
#define STEPS	14

static void net_step(struct net *net, u32 step)
{
	u32 i = step % 4;

	net->now += MS;
	if (step >= 12)
		net_timer(net, step - 12);
	else if (i >= net->n)
		return;
	else if (step < 8)
		net_deliver(net, i);
	/* 0-3: delivered, 4-7: delivered and still there, 8-11: lost */
	if (step < 4 || (step >= 8 && step < 12))
		net_drop(net, i);
}

static void net_init(struct net *net, u16 mine0, u16 mine1, bool both)
{
	struct mroce_hs_params p = params;

	memset(net, 0, sizeof(*net));
	net->now = T0;
	net->way_bytes[0] = U16_MAX;
	net->way_bytes[1] = U16_MAX;
	p.payload_bytes = mine0;
	mroce_hs_init(&net->end[0], &p, false, 0xa, 0xaaaa);
	mroce_hs_start(&net->end[0], T0);
	p.payload_bytes = mine1;
	p.paths = 3;
	p.features = 0x3c;
	mroce_hs_init(&net->end[1], &p, false, 0xb, 0xbbbb);
	if (both)
		mroce_hs_start(&net->end[1], T0);
}

/* From here on nothing is lost: everything must settle. */
static void net_settle(struct kunit *test, struct net *net)
{
	u32 n = 0;

	while (net->n || net->end[0].asking || net->end[1].asking) {
		KUNIT_ASSERT_LT(test, n++, 200);
		if (net->n) {
			net_deliver(net, 0);
			memmove(&net->pkt[0], &net->pkt[1], sizeof(net->pkt[0]) * --net->n);
		} else {
			net_timer(net, !net->end[0].asking);
		}
	}
}

static void net_check(struct kunit *test, struct net *net)
{
	struct mroce_hs *a = &net->end[0], *b = &net->end[1];

	KUNIT_ASSERT_EQ(test, a->state, MROCE_HS_OPEN);
	KUNIT_ASSERT_EQ(test, b->state, MROCE_HS_OPEN);
	KUNIT_ASSERT_EQ(test, net->opened[0] + net->opened[1], 2);
	KUNIT_ASSERT_EQ(test, net->restarted, 0);
	KUNIT_ASSERT_EQ(test, a->dcid, b->scid);
	KUNIT_ASSERT_EQ(test, b->dcid, a->scid);
	KUNIT_ASSERT_EQ(test, a->peer_nonce, b->nonce);
	KUNIT_ASSERT_EQ(test, b->peer_nonce, a->nonce);
	KUNIT_ASSERT_EQ(test, a->agreed.payload_bytes, b->agreed.payload_bytes);
	KUNIT_ASSERT_LE(test, 64 + a->agreed.payload_bytes, net->way_bytes[0]);
	KUNIT_ASSERT_LE(test, 64 + a->agreed.payload_bytes, net->way_bytes[1]);
	KUNIT_ASSERT_EQ(test, a->agreed.paths, 3);
	KUNIT_ASSERT_EQ(test, b->agreed.paths, 3);
	KUNIT_ASSERT_EQ(test, a->agreed.features, 0x0c);
	KUNIT_ASSERT_EQ(test, b->agreed.features, 0x0c);
}

static struct net *net_new(struct kunit *test)
{
	struct net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, net);
	return net;
}

static void one_side_asks(struct kunit *test)
{
	struct net *net = net_new(test);

	net_init(net, 8192, 4096, false);
	net_settle(test, net);
	net_check(test, net);
	KUNIT_EXPECT_EQ(test, net->end[0].agreed.payload_bytes, 4096);
	/* One round for the cookie, one to open, no waiting */
	KUNIT_EXPECT_EQ(test, net->now, T0);
	KUNIT_EXPECT_EQ(test, net->end[0].tries, 1);
	KUNIT_EXPECT_EQ(test, net->end[1].tries, 0);
}

static void narrow_ways_are_found(struct kunit *test)
{
	struct net *net = net_new(test);
	u32 i;

	for (i = 0; i < 8; i++) {
		net_init(net, 8192, 8192, i & 4);
		if (i & 3)
			net->way_bytes[i & 1] = 4500;
		if (i & 2)
			net->way_bytes[1] = 1480;
		net_settle(test, net);
		net_check(test, net);
		KUNIT_EXPECT_EQ(test, net->end[0].agreed.payload_bytes,
				i & 2 ? 1408 : i & 1 ? 4096 : 8192);
	}
}

/* All sequences of five steps, then a quiet network: always the same end. */
static void every_beginning_converges(struct kunit *test)
{
	struct net *net = net_new(test);
	u32 code, left, i;

	for (code = 0; code < STEPS * STEPS * STEPS * STEPS * STEPS; code++) {
		net_init(net, 8192, 4096, true);
		net_timer(net, 0);
		net_timer(net, 1);
		for (i = 0, left = code; i < 5; i++, left /= STEPS)
			net_step(net, left % STEPS);
		net_settle(test, net);
		net_check(test, net);
	}
}

/* Long bad weather, with payloads stepping down meanwhile */
static void bad_weather_converges(struct kunit *test)
{
	struct net *net = net_new(test);
	u32 seed, i, n;
	struct rnd r;

	for (seed = 0; seed < 5000; seed++) {
		rnd_seed(&r, seed);
		net_init(net, 8192, rnd_below(&r, 2) ? 8192 : 4096, rnd_below(&r, 4));
		net->way_bytes[rnd_below(&r, 2)] = rnd_below(&r, 2) ? 1480 : U16_MAX;
		n = rnd_below(&r, 80);
		for (i = 0; i < n; i++)
			net_step(net, rnd_below(&r, STEPS));
		net_settle(test, net);
		net_check(test, net);
	}
}

/* An answer of the peer to the newest HELLO of @hs, in full */
static void answer_of(const struct mroce_hs *hs, struct mroce_hello *in)
{
	memset(in, 0, sizeof(*in));
	in->type = MROCE_WIRE_HELLO_ACK;
	in->ver_min = MROCE_WIRE_VERSION;
	in->ver_max = MROCE_WIRE_VERSION;
	in->scid = 0xb;
	in->nonce = 0xbbbb;
	in->peer_nonce = hs->nonce;
	in->cookie = hs->cookie;
	in->paths = 8;
	in->stream_window = 4096;
	in->payload_bytes = hs->try_payload;
	in->len_bytes = MROCE_DATA_HLEN + in->payload_bytes;
}

/* News go out until they are answered; what comes up meanwhile goes out again. */
static void news_are_told_until_answered(struct kunit *test)
{
	struct mroce_hs_params mine = { .payload_bytes = 4096, .paths = 8, .stream_window = 4096 };
	struct mroce_hello in, out;
	struct mroce_hs hs;

	mroce_hs_init(&hs, &mine, false, 0xa, 0xaaaa);
	mroce_hs_tell(&hs, 1000);
	KUNIT_EXPECT_FALSE(test, hs.asking);
	mroce_hs_start(&hs, 1000);
	hs.cookie = 77;
	mroce_hs_hello(&hs, &out, 1000);
	answer_of(&hs, &in);
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
	KUNIT_EXPECT_EQ(test, mroce_hs_on_hello_ack(&hs, &in, 1000), MROCE_HS_OPENED);
	KUNIT_EXPECT_TRUE(test, mroce_hs_knows(&hs, &in));
	KUNIT_EXPECT_FALSE(test, hs.asking);

	mroce_hs_tell(&hs, 2000);
	KUNIT_EXPECT_TRUE(test, hs.asking && mroce_hs_due(&hs, 2000) && !hs.again);
	hs.cookie = 78;
	mroce_hs_hello(&hs, &out, 2000);
	mroce_hs_tell(&hs, 3000);
	KUNIT_EXPECT_TRUE(test, hs.again);
	answer_of(&hs, &in);
	mroce_hs_on_hello_ack(&hs, &in, 4000);
	KUNIT_EXPECT_TRUE(test, hs.asking && mroce_hs_due(&hs, 4000) && !hs.again);
	hs.cookie = 79;
	mroce_hs_hello(&hs, &out, 4000);
	answer_of(&hs, &in);
	mroce_hs_on_hello_ack(&hs, &in, 5000);
	KUNIT_EXPECT_FALSE(test, hs.asking);

	mroce_hs_tell(&hs, 6000);
	mroce_hs_tell(&hs, 6000);
	mroce_hs_stop(&hs);
	KUNIT_EXPECT_FALSE(test, hs.asking || hs.again);
}

/* Whose word counts: that of the peer, in full */
static void only_the_peer_is_known(struct kunit *test)
{
	struct mroce_hs hs = {
		.state = MROCE_HS_OPEN, .dcid = 0xb, .peer_nonce = 0xbbbb, .nonce = 0xaaaa,
		.try_payload = 4096,
	};
	struct mroce_hello in;

	answer_of(&hs, &in);
	KUNIT_EXPECT_TRUE(test, mroce_hs_knows(&hs, &in));
	in.flags = MROCE_HELLO_COOKIE_ONLY;
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
	answer_of(&hs, &in);
	in.nonce++;
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
	answer_of(&hs, &in);
	in.scid++;
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
	answer_of(&hs, &in);
	in.ver_min++;
	in.ver_max++;
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
	answer_of(&hs, &in);
	in.paths = 0;
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
	answer_of(&hs, &in);
	hs.state = MROCE_HS_COOKIE;
	KUNIT_EXPECT_FALSE(test, mroce_hs_knows(&hs, &in));
}

static struct kunit_case handshake_net_cases[] = {
	KUNIT_CASE(one_side_asks),
	KUNIT_CASE(narrow_ways_are_found),
	KUNIT_CASE_SLOW(every_beginning_converges),
	KUNIT_CASE(bad_weather_converges),
	KUNIT_CASE(news_are_told_until_answered),
	KUNIT_CASE(only_the_peer_is_known),
	{}
};

static struct kunit_suite handshake_net_suite = {
	.name = "mroce_handshake_net",
	.test_cases = handshake_net_cases,
};

kunit_test_suite(handshake_net_suite);
