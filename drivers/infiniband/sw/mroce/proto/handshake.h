/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connection set-up: the decisions of HELLO and HELLO_ACK.
 *
 * Initiator                         Responder
 *   HELLO (no cookie, padded)  ->
 *                              <-   HELLO_ACK COOKIE_ONLY (stateless)
 *   HELLO (cookie, padded)     ->   creates or refreshes the connection
 *                              <-   HELLO_ACK (padded)
 *   open                            open
 *
 * Both sides of a connection hold one id and one nonce each, so simultaneous
 * handshakes give both the same picture; of two sets of parameters the smaller
 * values win, whoever asked. Each attempt is padded to the full size of the
 * payload it proposes and goes with DF, so that an open connection has proved
 * its payload size in both directions; after three attempts without an answer
 * (two are often bad luck on a lossy network) the next smaller payload is
 * tried. A connection that was open starts again when a HELLO_ACK with a cookie
 * of ours shows another nonce.
 *
 * Pure: times are arguments, the caller serialises all calls.
 */
#ifndef MROCE_PROTO_HANDSHAKE_H
#define MROCE_PROTO_HANDSHAKE_H

#include "gate.h"
#include "wire.h"

/**
 * Packets of an instance that was replaced are late ones for so long. Not for ever:
 * whoever forges a restart must not lock the true peer out.
 */
#define MROCE_HS_LATE_NS	5000000000ull

/** A peer restarts so many times at once, and then once in so long. */
#define MROCE_HS_RESTARTS	16
#define MROCE_HS_RESTART_NS	10000000ull

/** enum mroce_hs_state - of a connection; names in mroce_hs_state_name[] */
enum mroce_hs_state {
	MROCE_HS_IDLE,		/* nothing asked of the peer yet */
	MROCE_HS_HELLO,		/* HELLO sent, no cookie yet */
	MROCE_HS_COOKIE,	/* HELLO with cookie sent */
	MROCE_HS_OPEN,		/* peer's id known */
	MROCE_HS_STATES
};

extern const char *const mroce_hs_state_name[MROCE_HS_STATES];

/**
 * struct mroce_hs_params - what is negotiated; the smaller of both sides
 */
struct mroce_hs_params {
	u16 payload_bytes;
	u8 paths;
	u32 stream_window;
	u32 features;
};

/**
 * struct mroce_hs - one connection's handshake
 * @state: enum mroce_hs_state
 * @mine: what this side offers (payload_bytes = largest the route allows)
 * @agreed: valid when OPEN
 * @scid, @nonce: this side's
 * @dcid, @peer_nonce: the peer's, valid when OPEN
 * @cookie: the peer's, to come back with; 0 = none yet
 * @ipv6: family of the route (payload ladder)
 * @asking: a HELLO of ours is not answered yet; the HELLO timer runs (in OPEN too)
 * @again: what is to be told has changed since: one more HELLO after the answer
 * @old_nonce: the instance that the peer's restart replaced, 0 = none
 * @old_until_ns: until then what comes from it is late; afterwards it is there again
 * @restarts: bound of the peer's
 * @tries: HELLOs sent in this round, for the back-off; the first cookie and
 *	each smaller payload begin a new one
 * @unheard: HELLOs of @try_payload since the last answer, for the payload ladder
 * @try_payload: payload proposed by the newest HELLO
 * @next_ns: when the next HELLO is due if nothing is heard; U64_MAX while not @asking
 */
struct mroce_hs {
	enum mroce_hs_state state;
	struct mroce_hs_params mine;
	struct mroce_hs_params agreed;
	u32 scid;
	u32 dcid;
	u64 nonce;
	u64 peer_nonce;
	u64 cookie;
	u64 old_nonce;
	u64 old_until_ns;
	struct mroce_gate restarts;
	bool ipv6;
	bool asking;
	bool again;
	u8 tries;
	u8 unheard;
	u16 try_payload;
	u64 next_ns;
};

/** enum mroce_hs_event - outcome of a received packet */
enum mroce_hs_event {
	MROCE_HS_NOTHING,
	MROCE_HS_SEND,		/* send a HELLO now (a cookie has come) */
	MROCE_HS_OPENED,	/* the connection has opened */
	/* the peer is another instance: all path state is void; open with the new ids */
	MROCE_HS_RESTARTED,
	MROCE_HS_REFUSED,	/* no common version or impossible parameters */
};

/** mroce_hs_init() - IDLE */
void mroce_hs_init(struct mroce_hs *hs, const struct mroce_hs_params *mine, bool ipv6,
		   u32 scid, u64 nonce);
/** mroce_hs_self() - the peer is this side itself: OPEN at once, nothing to ask */
void mroce_hs_self(struct mroce_hs *hs);
/**
 * mroce_hs_start() - (re)start: the next HELLO is due now
 * In OPEN (after UNKNOWN) the old ids stay in use meanwhile. While a HELLO of
 * ours is not answered yet, nothing changes: its timer goes on.
 */
void mroce_hs_start(struct mroce_hs *hs, u64 now);
/**
 * mroce_hs_resize() - the route allows another payload from now on
 * An open connection that has agreed on more asks again, so that the peer falls, too.
 * More than was agreed on is proposed when the connection opens anew.
 */
void mroce_hs_resize(struct mroce_hs *hs, u16 payload_bytes, u64 now);
/**
 * mroce_hs_tell() - something a HELLO carries besides the parameters has changed (planes)
 * An open connection says HELLO again until it is answered. Before, the next one will do.
 */
void mroce_hs_tell(struct mroce_hs *hs, u64 now);
/**
 * mroce_hs_knows() - is @in from the peer that an open connection is with?
 * After mroce_hs_on_hello() or _ack() has looked at it: what it says of planes may be taken.
 */
bool mroce_hs_knows(const struct mroce_hs *hs, const struct mroce_hello *in);
/** mroce_hs_stop() - nobody wants the peer any more: stop asking; an open connection stays open */
void mroce_hs_stop(struct mroce_hs *hs);
/** mroce_hs_due() - a HELLO must be sent now */
bool mroce_hs_due(const struct mroce_hs *hs, u64 now);
/**
 * mroce_hs_hello() - fill the HELLO to send now and count the attempt
 * Back-off 20 ms doubling to 1 s, anew with each smaller payload. After three
 * attempts without an answer the payload steps down.
 * The caller adds planes and dscp and sends h->len_bytes bytes.
 */
void mroce_hs_hello(struct mroce_hs *hs, struct mroce_hello *h, u64 now);
/**
 * mroce_hs_from_peer() - does a HELLO come from an address of the peer?
 * @hs: of the connection that the GIDs in it are about
 * @in: the HELLO
 * @by_gid: its source is the peer's GID
 * @told: its source is one that the peer has told us of
 *
 * The GIDs in it are what its sender claims. The source is the peer's if it is the GID, if the
 * peer has told us of it, or if the sender knows our nonce, which goes to nobody else.
 *
 * Return: false: only the holder of the GID can confirm it. It needs the cookie made for the
 * GID, which is sent there only, and shows nothing of where it came from.
 */
bool mroce_hs_from_peer(const struct mroce_hs *hs, const struct mroce_hello *in, bool by_gid,
			bool told);
/**
 * mroce_hs_cookie_reply() - stateless answer to a HELLO without a valid cookie
 * Not padded beyond, and never larger than, the HELLO. Good also for a HELLO with
 * a valid cookie from a peer that no QP here wants yet: it says that the HELLO
 * was not lost, so that the payload does not fall meanwhile.
 */
void mroce_hs_cookie_reply(const struct mroce_hello *in, u64 cookie, u64 my_nonce,
			   struct mroce_hello *out);
/**
 * mroce_hs_on_hello() - a HELLO whose cookie was verified; fills the HELLO_ACK to send
 * MROCE_HS_REFUSED: nothing is to be sent (a peer of another version has read
 * ours in the cookie reply), also for a HELLO shorter than what it proposes, or one restart
 * too many. The
 * answer is never longer than the HELLO. The peer's HELLO opens the connection, but
 * ends our own asking not: look at mroce_hs_due() until it is over.
 */
enum mroce_hs_event mroce_hs_on_hello(struct mroce_hs *hs, const struct mroce_hello *in,
				      struct mroce_hello *out, u64 now);
/**
 * mroce_hs_on_hello_ack() - a HELLO_ACK for this connection (dcid matched, source address right)
 * Ignored unless it echoes our nonce; a full one opens, or shows a restart,
 * only with the cookie of the HELLO it answers.
 */
enum mroce_hs_event mroce_hs_on_hello_ack(struct mroce_hs *hs, const struct mroce_hello *in,
					  u64 now);

#endif /* MROCE_PROTO_HANDSHAKE_H */
