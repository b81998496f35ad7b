/* SPDX-License-Identifier: GPL-2.0 */
/*
 * READs and atomics ("fetches") of a queue pair: how many may be out, and where
 * the responder keeps them.
 *
 * Fetches of a QP are numbered from 0 (sn). The requester gives each one the
 * psns of its responses beforehand, so both ends know where a response belongs.
 * The responder executes them in order, each when everything before it is
 * complete, and keeps an atomic's result as a value: a response sent again is
 * the same one. A slot is free when its responses are accepted, which a record
 * says, or the requester's oldest incomplete sn in a later request.
 *
 * Pure: memory comes from the caller, the caller serialises all calls.
 */
#ifndef MROCE_PROTO_RDQ_H
#define MROCE_PROTO_RDQ_H

#include "seq.h"
#include "wire.h"

/**
 * struct mroce_rdreq - requester's end
 * @max: may be out at once (verbs max_rd_atomic), 0 = none at all
 * @next_sn: number of the next one taken in
 * @issued: how many were sent; @done: how many are complete; both in order
 * @next_psn: response psn of the next one taken in
 */
struct mroce_rdreq {
	u8 max;
	u32 next_sn;
	u32 issued;
	u32 done;
	u32 next_psn;
};

/**
 * struct mroce_rdslot - a fetch at the responder
 * @known: it has arrived; the other fields are set
 * @opcode: enum mroce_wire_opcode of the request
 * @unit_bytes: payload per response packet
 * @req_psn: psn of the request
 * @resp_psn: psn of its first response
 * @len: bytes to be fetched
 * @rkey, @addr: from where
 * @compare_add, @swap: operands of an atomic
 */
struct mroce_rdslot {
	bool known;
	u8 opcode;
	u16 unit_bytes;
	u32 req_psn;
	u32 resp_psn;
	u32 len;
	u32 rkey;
	u64 addr;
	u64 compare_add;
	u64 swap;
};

/**
 * struct mroce_rdslots - responder's end
 * @slot: the caller's memory, a power of two of slots
 * @mask: that minus 1
 * @depth: of these in use (verbs max_dest_rd_atomic)
 * @una_sn: oldest one whose responses are not all accepted
 * @exec_sn: next one to execute
 * @next_psn: response psn the next one to execute must have
 */
struct mroce_rdslots {
	struct mroce_rdslot *slot;
	u32 mask;
	u8 depth;
	u32 una_sn;
	u32 exec_sn;
	u32 next_psn;
};

/**
 * enum mroce_rdq_due - may the next fetch be executed?
 * @MROCE_RDQ_WAIT: not arrived, or something before it is not complete
 * @MROCE_RDQ_RUN: yes
 * @MROCE_RDQ_BAD: its response psn contradicts those before it
 */
enum mroce_rdq_due {
	MROCE_RDQ_WAIT,
	MROCE_RDQ_RUN,
	MROCE_RDQ_BAD,
};

/** mroce_rdreq_init() - none out, responses are numbered from @psn */
void mroce_rdreq_init(struct mroce_rdreq *r, u8 max, u32 psn);
/**
 * mroce_rdreq_take() - number a fetch of @n_pkts response packets
 * @psn: out: psn of its first response
 * Return: its sn.
 */
u32 mroce_rdreq_take(struct mroce_rdreq *r, u32 n_pkts, u32 *psn);
/** mroce_rdreq_out() - how many are out */
u32 mroce_rdreq_out(const struct mroce_rdreq *r);
/**
 * mroce_rdreq_may_go() - may the next request be sent?
 * @fetch: it is a READ or an atomic
 * @fence: it waits for all fetches before it
 */
bool mroce_rdreq_may_go(const struct mroce_rdreq *r, bool fetch, bool fence);

/** mroce_rdslots_init() - empty; @slot has @mask + 1 zeroed slots, at least @depth */
void mroce_rdslots_init(struct mroce_rdslots *s, struct mroce_rdslot *slot, u32 mask, u8 depth,
			u32 psn);
/**
 * mroce_rdslots_put() - the request @p has arrived
 * @op: its operands; zero for a READ
 * Return: false when there is no slot for its sn: more are out than were agreed,
 * or the sn was used before.
 */
bool mroce_rdslots_put(struct mroce_rdslots *s, const struct mroce_pkt_data *p,
		       const struct mroce_atomic_op *op);
/**
 * mroce_rdslots_due() - may the next fetch be executed?
 * @cum: cumulative psn of the request stream
 * @slot: out: with MROCE_RDQ_RUN, which
 */
enum mroce_rdq_due mroce_rdslots_due(const struct mroce_rdslots *s, u32 cum,
				     struct mroce_rdslot **slot);
/** mroce_rdslots_done() - it was executed: its responses are being sent */
void mroce_rdslots_done(struct mroce_rdslots *s);
/**
 * mroce_rdslots_oldest() - the requester has complete all fetches before @oldest_sn
 * @sent_psn: no response at or after it was sent
 * Return: the response psn up to which that means acceptance; for mroce_txs_accept().
 */
u32 mroce_rdslots_oldest(const struct mroce_rdslots *s, u32 oldest_sn, u32 una_psn, u32 sent_psn);
/** mroce_rdslots_accepted() - all responses before @una_psn are accepted: free their slots */
void mroce_rdslots_accepted(struct mroce_rdslots *s, u32 una_psn);
/** mroce_rdslots_idle() - no fetch is executed whose responses are not accepted */
bool mroce_rdslots_idle(const struct mroce_rdslots *s);

#endif /* MROCE_PROTO_RDQ_H */
