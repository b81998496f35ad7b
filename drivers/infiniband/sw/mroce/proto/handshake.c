// SPDX-License-Identifier: GPL-2.0
/*
 * Connection set-up. Decides when to ask, with which payload size, and whom to
 * believe. Cookies are made and verified by the caller; routes, planes and
 * timers are the caller's too.
 *
 * Both sides end with the same parameters because
 *  - for one instance of the peer the agreed payload only ever falls: to what a
 *    HELLO of the peer proposes, or to what its answer says, which is what the
 *    peer has agreed to itself;
 *  - a side that asks goes on asking, even when the peer's HELLO has opened the
 *    connection, until an answer not above its newest proposal has come.
 * So a side that fell because of a HELLO makes its sender fall too, and one that
 * fell because of an answer only follows.
 */
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "handshake.h"

#define RETRY_MIN_NS	20000000ull
#define RETRY_MAX_NS	1000000000ull
#define TRIES_MAX	16	/* counting further would change nothing */
#define TRIES_PER_STEP	3

const char *const mroce_hs_state_name[MROCE_HS_STATES] = {
	[MROCE_HS_IDLE]		= "idle",
	[MROCE_HS_HELLO]	= "hello",
	[MROCE_HS_COOKIE]	= "cookie",
	[MROCE_HS_OPEN]		= "open",
};

void mroce_hs_init(struct mroce_hs *hs, const struct mroce_hs_params *mine, bool ipv6,
		   u32 scid, u64 nonce)
{
	memset(hs, 0, sizeof(*hs));
	hs->mine = *mine;
	hs->ipv6 = ipv6;
	hs->scid = scid;
	hs->nonce = nonce;
	hs->try_payload = mine->payload_bytes;
	hs->next_ns = U64_MAX;
}

void mroce_hs_self(struct mroce_hs *hs)
{
	hs->agreed = hs->mine;
	hs->dcid = hs->scid;
	hs->peer_nonce = hs->nonce;
	hs->state = MROCE_HS_OPEN;
}

/* The next HELLO is due at @now and proposes all that the route allows. */
static void ladder_top(struct mroce_hs *hs, u64 now)
{
	hs->tries = 0;
	hs->unheard = 0;
	hs->try_payload = hs->mine.payload_bytes;
	hs->next_ns = now;
}

void mroce_hs_start(struct mroce_hs *hs, u64 now)
{
	/* Whoever provokes starts must not provoke a flood of HELLOs. */
	if (hs->asking)
		return;
	hs->asking = true;
	hs->cookie = 0;
	ladder_top(hs, now);
	if (hs->state != MROCE_HS_OPEN)
		hs->state = MROCE_HS_HELLO;
}

void mroce_hs_resize(struct mroce_hs *hs, u16 payload_bytes, u64 now)
{
	hs->mine.payload_bytes = payload_bytes;
	if (hs->state == MROCE_HS_OPEN && payload_bytes < hs->agreed.payload_bytes)
		mroce_hs_start(hs, now);
	/* What was proposed before may never get there now. */
	if (hs->asking)
		ladder_top(hs, now);
}

void mroce_hs_tell(struct mroce_hs *hs, u64 now)
{
	if (hs->state != MROCE_HS_OPEN)
		return;
	hs->again = hs->asking;
	mroce_hs_start(hs, now);
}

void mroce_hs_stop(struct mroce_hs *hs)
{
	hs->asking = false;
	hs->again = false;
	hs->next_ns = U64_MAX;
	if (hs->state != MROCE_HS_OPEN)
		hs->state = MROCE_HS_IDLE;
}

bool mroce_hs_due(const struct mroce_hs *hs, u64 now)
{
	return now >= hs->next_ns;
}

/* The next smaller payload: jumbo, the MTU of Ethernet, and a tunnel's. */
static u16 payload_below(u16 payload_bytes, bool ipv6)
{
	const u16 ethernet_bytes = ipv6 ? 1280 : 1408;

	if (payload_bytes > 4096)
		return 4096;
	if (payload_bytes > ethernet_bytes)
		return ethernet_bytes;
	return min_t(u16, payload_bytes, 1024);
}

/* After too many HELLOs of one size without an answer the next is smaller. */
static void ladder_step(struct mroce_hs *hs)
{
	u16 below = payload_below(hs->try_payload, hs->ipv6);

	if (hs->unheard < TRIES_PER_STEP || below == hs->try_payload)
		return;
	hs->try_payload = below;
	hs->tries = 0;
	hs->unheard = 0;
}

/* Identity and versions: the part of every HELLO and HELLO_ACK. */
static void hello_init(struct mroce_hello *h, u8 type, u64 nonce)
{
	memset(h, 0, sizeof(*h));
	h->type = type;
	h->ver_min = MROCE_WIRE_VERSION;
	h->ver_max = MROCE_WIRE_VERSION;
	h->nonce = nonce;
}

/* What @p offers or settles, in a packet as large as a full one with data. */
static void hello_params(struct mroce_hello *h, const struct mroce_hs_params *p)
{
	h->paths = p->paths;
	h->payload_bytes = p->payload_bytes;
	h->stream_window = p->stream_window;
	h->features = p->features;
	h->len_bytes = MROCE_DATA_HLEN + p->payload_bytes;
}

void mroce_hs_hello(struct mroce_hs *hs, struct mroce_hello *h, u64 now)
{
	struct mroce_hs_params offer = hs->mine;

	ladder_step(hs);
	offer.payload_bytes = hs->try_payload;
	hello_init(h, MROCE_WIRE_HELLO, hs->nonce);
	hello_params(h, &offer);
	h->scid = hs->scid;
	h->peer_nonce = hs->peer_nonce;
	h->cookie = hs->cookie;

	hs->next_ns = now + min_t(u64, RETRY_MIN_NS << hs->tries, RETRY_MAX_NS);
	hs->tries = min_t(u32, hs->tries + 1, TRIES_MAX);
	hs->unheard = min_t(u32, hs->unheard + 1, TRIES_MAX);
}

bool mroce_hs_from_peer(const struct mroce_hs *hs, const struct mroce_hello *in, bool by_gid,
			bool told)
{
	return by_gid || told || in->peer_nonce == hs->nonce;
}

void mroce_hs_cookie_reply(const struct mroce_hello *in, u64 cookie, u64 my_nonce,
			   struct mroce_hello *out)
{
	hello_init(out, MROCE_WIRE_HELLO_ACK, my_nonce);
	out->flags = MROCE_HELLO_COOKIE_ONLY;
	out->dscp = in->dscp;
	out->paths = in->paths;
	out->payload_bytes = in->payload_bytes;
	out->stream_window = in->stream_window;
	out->dcid = in->scid;
	out->peer_nonce = in->nonce;
	out->cookie = cookie;
	out->len_bytes = MROCE_HELLO_HLEN;
}

static bool version_common(const struct mroce_hello *in)
{
	return in->ver_min <= MROCE_WIRE_VERSION && in->ver_max >= MROCE_WIRE_VERSION;
}

/* What is shorter than it proposes proves nothing, and would be answered with more. */
static bool padded(const struct mroce_hello *in)
{
	return in->len_bytes >= MROCE_DATA_HLEN + in->payload_bytes;
}

static bool params_possible(const struct mroce_hello *in)
{
	return in->scid && in->nonce && in->paths && in->stream_window &&
	       in->payload_bytes && in->payload_bytes % 128 == 0 && padded(in);
}

static bool peer_is(const struct mroce_hs *hs, const struct mroce_hello *in)
{
	return in->nonce == hs->peer_nonce && in->scid == hs->dcid;
}

bool mroce_hs_knows(const struct mroce_hs *hs, const struct mroce_hello *in)
{
	return hs->state == MROCE_HS_OPEN && peer_is(hs, in) && version_common(in) &&
	       !(in->flags & MROCE_HELLO_COOKIE_ONLY) && params_possible(in);
}

/* An instance that another has replaced speaks only through late packets. */
static bool peer_was(const struct mroce_hs *hs, const struct mroce_hello *in, u64 now)
{
	return hs->old_nonce && in->nonce == hs->old_nonce && now < hs->old_until_ns;
}

/*
 * A peer that says it is another one now costs two small packets, and us all there is of the
 * connection, from the paths to what is in flight.
 */
static bool may_restart(struct mroce_hs *hs, const struct mroce_hello *in, u64 now)
{
	return hs->state != MROCE_HS_OPEN || peer_is(hs, in) ||
	       mroce_gate_pass(&hs->restarts, now, MROCE_HS_RESTART_NS, MROCE_HS_RESTARTS);
}

/* The peer of @in is the peer now. */
static enum mroce_hs_event peer_adopt(struct mroce_hs *hs, const struct mroce_hello *in, u64 now)
{
	enum mroce_hs_event ev = MROCE_HS_OPENED;

	if (hs->state == MROCE_HS_OPEN) {
		if (hs->peer_nonce != in->nonce) {
			hs->old_nonce = hs->peer_nonce;
			hs->old_until_ns = now + MROCE_HS_LATE_NS;
		}
		ev = MROCE_HS_RESTARTED;
	}
	hs->state = MROCE_HS_OPEN;
	hs->dcid = in->scid;
	hs->peer_nonce = in->nonce;
	hs->agreed = hs->mine;
	return ev;
}

/* Takes over what the peer says; a peer not known yet is adopted. */
static enum mroce_hs_event peer_merge(struct mroce_hs *hs, const struct mroce_hello *in, u64 now)
{
	enum mroce_hs_event ev = MROCE_HS_NOTHING;

	if (hs->state != MROCE_HS_OPEN || !peer_is(hs, in))
		ev = peer_adopt(hs, in, now);
	hs->agreed.payload_bytes = min(hs->agreed.payload_bytes, in->payload_bytes);
	hs->agreed.paths = min(hs->agreed.paths, in->paths);
	hs->agreed.stream_window = min(hs->agreed.stream_window, in->stream_window);
	hs->agreed.features &= in->features;
	return ev;
}

enum mroce_hs_event mroce_hs_on_hello(struct mroce_hs *hs, const struct mroce_hello *in,
				      struct mroce_hello *out, u64 now)
{
	enum mroce_hs_event ev = MROCE_HS_NOTHING;

	hello_init(out, MROCE_WIRE_HELLO_ACK, hs->nonce);
	if (!version_common(in) || !params_possible(in))
		return MROCE_HS_REFUSED;
	if (!peer_was(hs, in, now)) {
		if (!may_restart(hs, in, now))
			return MROCE_HS_REFUSED;
		ev = peer_merge(hs, in, now);
	}
	hello_params(out, &hs->agreed);
	out->len_bytes = min(out->len_bytes, in->len_bytes);
	out->dscp = in->dscp;
	out->scid = hs->scid;
	out->dcid = hs->dcid;
	out->peer_nonce = hs->peer_nonce;
	out->cookie = in->cookie;
	return ev;
}

static enum mroce_hs_event on_cookie(struct mroce_hs *hs, const struct mroce_hello *in, u64 now)
{
	bool first = !hs->cookie;

	if (!hs->asking || !in->cookie)
		return MROCE_HS_NOTHING;
	hs->cookie = in->cookie;
	/*
	 * It answers a HELLO of the size tried: the size is not the trouble.
	 * Perhaps nobody over there wants us yet.
	 */
	hs->unheard = 0;
	/* A second cookie is used at the next try: no exchange at full speed. */
	if (!first)
		return MROCE_HS_NOTHING;
	/*
	 * Now it is known that the peer is there. The tries before may have
	 * been lost because it was not, so the payload starts again at the top.
	 */
	ladder_top(hs, now);
	if (hs->state == MROCE_HS_HELLO)
		hs->state = MROCE_HS_COOKIE;
	return MROCE_HS_SEND;
}

enum mroce_hs_event mroce_hs_on_hello_ack(struct mroce_hs *hs, const struct mroce_hello *in,
					  u64 now)
{
	if (in->peer_nonce != hs->nonce || peer_was(hs, in, now))
		return MROCE_HS_NOTHING;
	if (!version_common(in))
		return MROCE_HS_REFUSED;
	if (in->flags & MROCE_HELLO_COOKIE_ONLY)
		return on_cookie(hs, in, now);
	if (!params_possible(in))
		return MROCE_HS_REFUSED;
	if (!hs->asking || !hs->cookie || in->cookie != hs->cookie)
		return MROCE_HS_NOTHING;
	/* Larger than the newest proposal: the answer to an older one. */
	if (in->payload_bytes > hs->try_payload || !may_restart(hs, in, now))
		return MROCE_HS_NOTHING;
	hs->asking = false;
	hs->next_ns = U64_MAX;
	if (hs->again)
		mroce_hs_start(hs, now);
	hs->again = false;
	return peer_merge(hs, in, now);
}
