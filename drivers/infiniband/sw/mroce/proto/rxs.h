/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Receiving end of a stream: which psns have been claimed, committed, refused;
 * the order in which messages complete; the record that reports all this.
 *
 * A packet is placed in three steps: claim (under the caller's lock), copy
 * (without), commit (under the lock). A psn is claimed at most once until it is
 * committed or given back, so nothing is ever placed twice, and a duplicate of
 * a committed psn is never placed again. The cumulative psn moves over
 * committed psns only; a message is complete when it has passed its last psn.
 * An error at psn e takes effect when the cumulative psn reaches e.
 *
 * Pure: memory comes from the caller, the caller serialises all calls.
 */
#ifndef MROCE_PROTO_RXS_H
#define MROCE_PROTO_RXS_H

#include "psnset.h"
#include "seq.h"
#include "wire.h"

/**
 * struct mroce_rxs_bits - the out-of-order memory of one stream, zeroed by the caller
 * @claimed: psns being placed or placed; a committed psn stays claimed
 * @committed: psns placed
 * Both hold psns of [cum, cum + MROCE_STREAM_WINDOW) only.
 */
struct mroce_rxs_bits {
	u64 claimed[MROCE_STREAM_WORDS];
	u64 committed[MROCE_STREAM_WORDS];
};

/**
 * struct mroce_rxs - receiving end of one stream
 * @cum: all psns before it are committed
 * @bits: out-of-order memory, NULL until mroce_rxs_set_bits()
 * @cum_claimed: @cum is claimed; stands for @bits as long as these are NULL
 * @err: an error is pending or in effect at @err_psn (the lowest one seen)
 * @err_psn: see @err
 * @err_syndrome: enum mroce_syndrome of it
 * @refusals: RNR refusals counted, reported in the record; counts once per
 *	refused arrival of the psn that the cumulative psn waits for
 * @refused: a refusal is in force: packets at or after @limit were refused
 * @limit: psn from which on packets were refused last
 * @rnr_timer: verbs min_rnr_timer code to report with an RNR refusal
 * @syndrome: syndrome of the refusal in force
 * @recno: number of the newest record
 */
struct mroce_rxs {
	u32 cum;
	struct mroce_rxs_bits *bits;
	bool cum_claimed;
	bool err;
	u8 err_syndrome;
	u32 err_psn;
	bool refused;
	u8 syndrome;
	u8 rnr_timer;
	u16 refusals;
	u32 limit;
	u32 recno;
};

/**
 * enum mroce_rxs_verdict - what to do with an arriving psn
 * @MROCE_RXS_NEW: claim and place it
 * @MROCE_RXS_DUP: claimed or committed already: acknowledge, do not place
 * @MROCE_RXS_BEYOND: outside the window: drop, do not acknowledge
 * @MROCE_RXS_AFTER_ERR: at or after a pending error: acknowledge, do not place
 * @MROCE_RXS_NEED_BITS: call mroce_rxs_set_bits() first, then ask again
 */
enum mroce_rxs_verdict {
	MROCE_RXS_NEW,
	MROCE_RXS_DUP,
	MROCE_RXS_BEYOND,
	MROCE_RXS_AFTER_ERR,
	MROCE_RXS_NEED_BITS,
};

/**
 * struct mroce_rxs_msg - what a receive work request keeps of the message bound
 * to it, so that it can complete in order
 * @known: a packet of the message has arrived, the other fields are set
 * @end_psn: psn one past the message
 */
struct mroce_rxs_msg {
	bool known;
	u8 opcode;
	bool solicited;
	u32 end_psn;
	u32 msg_len;
	__be32 imm;
};

/**
 * mroce_rxs_init() - start at @psn, no memory, no error
 * recno goes on counting if @s was used before; zero a new one first.
 */
void mroce_rxs_init(struct mroce_rxs *s, u32 psn);
/**
 * mroce_rxs_set_bits() - lend the (zeroed) out-of-order memory; the caller keeps the ownership
 * NULL takes it back, when no claim is open and the stream has ended.
 */
void mroce_rxs_set_bits(struct mroce_rxs *s, struct mroce_rxs_bits *bits);
/** mroce_rxs_classify() - verdict on @psn; changes nothing */
enum mroce_rxs_verdict mroce_rxs_classify(const struct mroce_rxs *s, u32 psn);
/** mroce_rxs_claim() - @psn (verdict NEW) is being placed now */
void mroce_rxs_claim(struct mroce_rxs *s, u32 psn);
/** mroce_rxs_unclaim() - the placement of @psn did not happen: it may come again */
void mroce_rxs_unclaim(struct mroce_rxs *s, u32 psn);
/**
 * mroce_rxs_commit() - @psn is placed
 * Moves @cum as far as possible (stopping at a pending error). Ends a refusal
 * in force once @cum has passed the refused psn.
 * Return: true when @cum moved.
 */
bool mroce_rxs_commit(struct mroce_rxs *s, u32 psn);
/**
 * mroce_rxs_fail() - @psn cannot be placed, for good; a claim on it ends
 * Only the lowest failing psn counts, and never one below @cum.
 */
void mroce_rxs_fail(struct mroce_rxs *s, u32 psn, u8 syndrome);
/** mroce_rxs_error_due() - the pending error has its turn: everything before it is complete */
bool mroce_rxs_error_due(const struct mroce_rxs *s);
/**
 * mroce_rxs_refuse() - @psn, first of the refused message at @msg_psn, is valid but not taken now
 * @syndrome: MROCE_SYN_RNR or MROCE_SYN_BUSY
 * Sets the refusal in force; counts an RNR refusal when @msg_psn <= cum.
 */
void mroce_rxs_refuse(struct mroce_rxs *s, u32 psn, u32 msg_psn, u8 syndrome, u8 rnr_timer);
/**
 * mroce_rxs_drained() - the hold has let @n_pkts packets go: as many more are welcome
 * Raises the limit of a BUSY refusal in force.
 * Return: true when it did: a record is due.
 */
bool mroce_rxs_drained(struct mroce_rxs *s, u32 n_pkts);
/** mroce_rxs_msg_fits() - does @p tell the same of its message as the packets before it? */
bool mroce_rxs_msg_fits(const struct mroce_rxs_msg *m, const struct mroce_pkt_data *p);
/** mroce_rxs_msg_set() - remember of message @p what its completion needs (idempotent) */
void mroce_rxs_msg_set(struct mroce_rxs_msg *m, const struct mroce_pkt_data *p);
/** mroce_rxs_msg_done() - may the work request with @m complete? */
bool mroce_rxs_msg_done(const struct mroce_rxs *s, const struct mroce_rxs_msg *m);
/**
 * mroce_rxs_record() - fill the state part of a record (not the QPNs and the
 * incarnation) and number it. Syndrome: the error when due, else the refusal in
 * force, else OK. limit_psn: @limit while a refusal is in force, else cum + window.
 */
void mroce_rxs_record(struct mroce_rxs *s, struct mroce_rec *rec);

#endif /* MROCE_PROTO_RXS_H */
