/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Both ends of a queue pair's two streams: WRITEs, READs and atomics as requests,
 * and the responses, over a network of their own. Its judge knows the work
 * requests only, and nothing of how mroce_rdq, mroce_txs and mroce_rxs do it.
 */
#ifndef MROCE_KUNIT_FETCH_SIM_H
#define MROCE_KUNIT_FETCH_SIM_H

#include "rdq.h"
#include "rnd.h"
#include "rxs.h"
#include "txs.h"

#define FETCH_OPS	300
#define FETCH_WRITE_MAX	8	/* packets */
#define FETCH_READ_MAX	12
#define FETCH_SLOTS	64
#define FETCH_FLIGHT	1024
/* All of them wrap in a run. */
#define FETCH_REQ	0xffffff00u	/* first psn of the requests */
#define FETCH_RESP	0xfffffe80u	/* of the responses */
#define FETCH_SN	0xffffffe0u	/* first number of a fetch */

/** enum fetch_fault - what an end does wrong, to see that the judge notices */
enum fetch_fault {
	FETCH_GOOD,
	FETCH_NO_LIMIT,		/* the requester ignores how many may be out */
	FETCH_NO_FENCE,		/* and the fences */
	FETCH_NO_OLDEST,	/* and never says what it has */
	FETCH_DONE_EARLY,	/* completes a READ when the request was accepted */
	FETCH_TAKE_AGAIN,	/* places a response it has again */
	FETCH_FREE_EARLY,	/* the responder frees a slot when the responses were sent */
	FETCH_AT_ARRIVAL,	/* executes when the request comes */
	FETCH_SERVE_AGAIN,	/* takes a copy of a request for a request */
	FETCH_REPLAY,		/* executes an atomic again to repeat its response */
	FETCH_FAULTS
};

/* What goes wrong how often, of a million */
struct fetch_weather {
	u8 max;			/* max_rd_atomic */
	u32 loss_ppm;
	u32 rec_loss_ppm;
	u32 spurious_ppm;	/* reported lost, but arrives */
	u32 whim_ppm;		/* refused without a word to the stream level */
	u32 fence_ppm;		/* of the work requests */
};

/* A work request, what it must do, and what has become of it */
struct fetch_op {
	u8 opcode;
	bool fence;
	u32 first_psn;		/* requests */
	u32 n_pkts;
	u32 sn;			/* fetches */
	u32 resp_psn;
	u32 n_resp;
	u64 add;
	u64 want;		/* the old value, had it all been done one after the other */
	u32 placed;		/* request packets, at the responder */
	u32 executed;
	u32 got;		/* response packets, at the requester */
};

enum fetch_kind { FETCH_NONE, FETCH_DATA, FETCH_LOST, FETCH_REFUSED, FETCH_RECORD };

struct fetch_flight {
	enum fetch_kind kind;
	u8 stream;
	u64 at;
	u32 psn;
	u32 sn;			/* requests: oldest one; responses: which one */
	u64 value;		/* responses: old value, or what was complete when READ */
	struct mroce_rec rec;
};

/** struct fetch_sim - zeroed by the caller, see mroce_fetch_sim_run() */
struct fetch_sim {
	const struct fetch_weather *w;
	enum fetch_fault fault;
	struct rnd rnd;
	u64 now;
	const char *broken;	/* the first rule that was broken */
	/* by stream, MROCE_STREAM_* */
	struct mroce_txs tx[2];
	struct mroce_rxs rx[2];
	struct mroce_rxs_bits bits[2];
	u64 timer_ns[2];
	u32 sends[2];
	/* requester */
	struct mroce_rdreq rd;
	u32 next_op;		/* to send */
	u32 una_op;		/* to complete */
	/* responder */
	struct mroce_rdslots slots;
	struct mroce_rdslot slot[FETCH_SLOTS];
	u64 result[FETCH_SLOTS];
	u64 word;
	u32 complete;		/* work requests before this one are */
	/* counted, so that a case can see that it was about something */
	u32 early;		/* fetches that came before their turn */
	u32 by_oldest;		/* responses accepted by a later request */
	u32 timeouts;
	struct fetch_op op[FETCH_OPS];
	u16 op_of_req[FETCH_OPS * FETCH_WRITE_MAX];
	u16 op_of_resp[FETCH_OPS * FETCH_READ_MAX];
	u16 op_of_sn[FETCH_OPS];
	u32 n_flying;
	struct fetch_flight flight[FETCH_FLIGHT];
};

/**
 * mroce_fetch_sim_run() - a random mix of work requests, from the first to the last
 * Return: NULL, or the rule that was broken.
 */
const char *mroce_fetch_sim_run(struct fetch_sim *sim, const struct fetch_weather *w,
				enum fetch_fault fault, u32 seed);

#endif /* MROCE_KUNIT_FETCH_SIM_H */
