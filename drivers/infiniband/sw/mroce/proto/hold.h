/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets of WRITEs wait for the messages before theirs.
 *
 * Verbs promise that the WRITEs of a queue pair become visible in order, unless
 * the region was registered with relaxed ordering. Packets of the oldest
 * incomplete message are placed when they arrive; those of later messages are
 * held back, by reference, until everything before their message is complete. The
 * last packet of a message waits for the others, too: programs poll the last byte
 * of a message, however long it is.
 * What is held is bounded; beyond the bound packets are refused, with a limit
 * that grows as the hold drains (mroce_rxs_drained()).
 *
 * Pure: the caller serialises all calls.
 */
#ifndef MROCE_PROTO_HOLD_H
#define MROCE_PROTO_HOLD_H

#include "seq.h"
#include "wire.h"

/** Held of one queue pair at most, true size of the packets */
#define MROCE_HOLD_QP_BYTES	0x200000u
/** Held of one device at most */
#define MROCE_HOLD_DEV_BYTES	0x2000000u

/** enum mroce_hold_mode - whether WRITEs are ordered; the values of the ABI */
enum mroce_hold_mode {
	MROCE_HOLD_DEFAULT,	/* as the device says */
	MROCE_HOLD_AUTO,	/* as the region says */
	MROCE_HOLD_STRICT,	/* always */
	MROCE_HOLD_RELAXED,	/* never */
	MROCE_HOLD_MODES
};

/** mroce_hold_mode_name - name array of enum mroce_hold_mode */
extern const char *const mroce_hold_mode_name[MROCE_HOLD_MODES];

/**
 * struct mroce_hold - what a queue pair holds back
 * @bytes: true size of it
 * @peak_bytes: the largest @bytes so far
 * @pkts: packets
 */
struct mroce_hold {
	u32 bytes;
	u32 peak_bytes;
	u32 pkts;
};

/**
 * mroce_hold_until() - up to which psn everything has to be complete before a packet
 * of a WRITE is placed in order
 */
u32 mroce_hold_until(const struct mroce_pkt_data *p);
/**
 * mroce_hold_must() - does @p have to wait?
 * @mode: of the queue pair; DEFAULT is AUTO
 * @relaxed: the region was registered with relaxed ordering
 * @cum: cumulative psn of the stream
 * Until mroce_hold_until() is not after @cum any more.
 */
bool mroce_hold_must(enum mroce_hold_mode mode, bool relaxed, const struct mroce_pkt_data *p,
		     u32 cum);
/**
 * mroce_hold_put() - one more packet of @bytes
 * @dev_bytes: what the device holds with it
 * Return: false, and nothing changes, when that is too much.
 */
bool mroce_hold_put(struct mroce_hold *h, u32 bytes, u64 dev_bytes);
/** mroce_hold_take() - a packet of @bytes is not held any more */
void mroce_hold_take(struct mroce_hold *h, u32 bytes);

#endif /* MROCE_PROTO_HOLD_H */
