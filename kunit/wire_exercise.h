/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Give any bytes to the decoders and check what they promise. Shared by the
 * codec suite and the fuzz target.
 */
#ifndef MROCE_KUNIT_WIRE_EXERCISE_H
#define MROCE_KUNIT_WIRE_EXERCISE_H

#include "wire.h"

/**
 * struct wire_scratch - room for results, too big for a kernel stack
 * @again: a packet encoded again from what was decoded
 */
struct wire_scratch {
	struct mroce_pkt_data data[2];
	struct mroce_ack_hdr ack[2];
	struct mroce_ack_part part[2];
	struct mroce_rec rec[2];
	struct mroce_probe_hdr probe[2];
	struct mroce_ask ask[2][MROCE_PROBE_MAX_ASKS];
	struct mroce_hello hello[2];
	struct mroce_pkt_dgram dgram[2];
	u8 again[MROCE_ACK_MAX_LEN];
};

/**
 * mroce_wire_exercise() - decode @buf as whatever it says it is
 * @len: readable bytes
 * @total: bytes of the datagram it is the beginning of
 *
 * What is accepted is encoded and decoded again, and must be the same.
 * Return: NULL, or the promise that was broken.
 */
const char *mroce_wire_exercise(const u8 *buf, u32 len, u32 total, struct wire_scratch *s,
				enum mroce_drop *why);

#endif /* MROCE_KUNIT_WIRE_EXERCISE_H */
