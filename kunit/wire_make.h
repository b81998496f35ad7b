/* SPDX-License-Identifier: GPL-2.0 */
/* Packets for the codec's suites: valid ones, with random or extreme contents. */
#ifndef MROCE_KUNIT_WIRE_MAKE_H
#define MROCE_KUNIT_WIRE_MAKE_H

#include "rnd.h"
#include "wire.h"

struct kunit;

#define WIRE_OPS	10

/** mroce_wire_ops - all valid opcodes */
extern const u8 mroce_wire_ops[WIRE_OPS];

/** struct wire_ack_room - an ACK, taken apart and encoded */
struct wire_ack_room {
	struct mroce_ack_hdr in, out;
	struct mroce_ack_part parts[MROCE_ACK_MAX_PARTS], part;
	struct mroce_rec recs[MROCE_ACK_MAX_RECS], rec;
	u8 buf[MROCE_ACK_MAX_LEN];
};

/** mroce_wire_exact() - a copy of @buf in memory of exactly @len bytes, freed with the case */
u8 *mroce_wire_exact(struct kunit *test, const void *buf, u32 len);

/**
 * mroce_wire_is_single() - is such a message one packet, whatever its length?
 * @payload_len: out: what that carries
 * @msg_len: out: the only length allowed; not touched where any is
 */
bool mroce_wire_is_single(u8 opcode, u32 *payload_len, u32 *msg_len);

/* The makers fill in everything that may be random; with @ones, as many bits as may be set. */

/** mroce_wire_make_data() - a packet of @opcode that must be accepted */
void mroce_wire_make_data(struct rnd *r, u8 opcode, bool ones, struct mroce_pkt_data *p);
/** mroce_wire_make_part() - a path part */
void mroce_wire_make_part(struct rnd *r, bool ones, struct mroce_ack_part *part);
/** mroce_wire_make_rec() - a stream record */
void mroce_wire_make_rec(struct rnd *r, bool ones, struct mroce_rec *rec);
/**
 * mroce_wire_make_ack() - a whole ACK or PROBE_ACK into @buf, its pieces into the arrays
 * Return: its length.
 */
u32 mroce_wire_make_ack(struct rnd *r, bool ones, u8 *buf, struct mroce_ack_hdr *h,
			struct mroce_ack_part *parts, struct mroce_rec *recs);
/** mroce_wire_make_hello() - a HELLO or HELLO_ACK with @n_planes */
void mroce_wire_make_hello(struct rnd *r, int n_planes, struct mroce_hello *h);

#endif /* MROCE_KUNIT_WIRE_MAKE_H */
