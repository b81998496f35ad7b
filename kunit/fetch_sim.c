// SPDX-License-Identifier: GPL-2.0
/* Requests and responses over a bad network, see fetch_sim.h. */
#include <linux/string.h>

#include "fetch_sim.h"

#define REQ		MROCE_STREAM_REQ
#define RESP		MROCE_STREAM_RESP
#define US		1000ull
#define RTT		(100 * US)
#define STEP		(5 * US)
#define RTO		(3 * RTT)
#define PER_STEP	3	/* packets each end may send in one step */
#define UNIT		1024
#define MAX_STEPS	400000

static bool is_fetch(const struct fetch_op *op)
{
	return op->n_resp;
}

/* Judge: the first broken rule is the one that is told. */
static void must(struct fetch_sim *sim, bool ok, const char *rule)
{
	if (!ok && !sim->broken)
		sim->broken = rule;
}

static struct fetch_flight *fly(struct fetch_sim *sim, enum fetch_kind kind, u8 stream, u32 psn)
{
	struct fetch_flight *f = sim->flight;

	/* Senders leave room; should there be none, the last one is overwritten. */
	must(sim, sim->n_flying < FETCH_FLIGHT, "the simulation has room");
	while (f->kind != FETCH_NONE && f != sim->flight + FETCH_FLIGHT - 1)
		f++;
	sim->n_flying++;
	memset(f, 0, sizeof(*f));
	f->kind = kind;
	f->stream = stream;
	f->psn = psn;
	f->at = sim->now + RTT / 2 + rnd_below(&sim->rnd, RTT / 2);
	return f;
}

static void send_record(struct fetch_sim *sim, u8 stream)
{
	struct mroce_rec rec = {};

	mroce_rxs_record(&sim->rx[stream], &rec);
	if (!rnd_ppm(&sim->rnd, sim->w->rec_loss_ppm))
		fly(sim, FETCH_RECORD, stream, 0)->rec = rec;
}

/* A packet leaves: it arrives, or is lost, or is thought lost. */
static void send(struct fetch_sim *sim, u8 stream, u32 psn, u32 sn, u64 value)
{
	struct fetch_flight *f;

	sim->sends[stream]++;
	if (rnd_ppm(&sim->rnd, sim->w->loss_ppm)) {
		fly(sim, FETCH_LOST, stream, psn);
		return;
	}
	if (rnd_ppm(&sim->rnd, sim->w->spurious_ppm))
		fly(sim, FETCH_LOST, stream, psn);
	f = fly(sim, FETCH_DATA, stream, psn);
	f->sn = sn;
	f->value = value;
}

/* ---- requester ---- */

static bool may_begin(const struct fetch_sim *sim, const struct fetch_op *op)
{
	if (sim->fault == FETCH_NO_LIMIT)
		return mroce_rdreq_may_go(&sim->rd, false, op->fence);
	return mroce_rdreq_may_go(&sim->rd, is_fetch(op),
				  op->fence && sim->fault != FETCH_NO_FENCE);
}

/* What a work request promises when it begins */
static void judge_begin(struct fetch_sim *sim, const struct fetch_op *op)
{
	u32 i, out = 0;

	for (i = sim->una_op; i < sim->next_op; i++)
		out += is_fetch(&sim->op[i]);
	must(sim, !op->fence || !out, "a fence waits for all fetches before it");
	must(sim, out + is_fetch(op) <= sim->w->max, "no more fetches are out than agreed");
}

static bool send_request(struct fetch_sim *sim)
{
	struct mroce_txs *tx = &sim->tx[REQ];
	const struct fetch_op *op = &sim->op[sim->next_op];
	u32 psn, oldest = sim->fault == FETCH_NO_OLDEST ? FETCH_SN : sim->rd.done;

	if (mroce_txs_next_rtx(tx, &psn)) {
		mroce_txs_resent(tx, psn);
		send(sim, REQ, psn, oldest, 0);
		return true;
	}
	if (sim->next_op == FETCH_OPS || !mroce_txs_room(tx))
		return false;
	psn = tx->nxt;
	if (psn == op->first_psn) {
		if (!may_begin(sim, op))
			return false;
		judge_begin(sim, op);
	}
	mroce_txs_sent(tx, 1, sim->now);
	if (is_fetch(op)) {
		sim->rd.issued++;
		tx->owed = true;
	}
	if (tx->nxt == op->first_psn + op->n_pkts)
		sim->next_op++;
	send(sim, REQ, psn, oldest, 0);
	return true;
}

static bool is_done(const struct fetch_sim *sim, const struct fetch_op *op)
{
	if (mroce_seq_before(sim->tx[REQ].una, op->first_psn + op->n_pkts))
		return false;
	return !is_fetch(op) || sim->fault == FETCH_DONE_EARLY ||
	       !mroce_seq_before(sim->rx[RESP].cum, op->resp_psn + op->n_resp);
}

static void complete_ops(struct fetch_sim *sim)
{
	for (; sim->una_op < sim->next_op; sim->una_op++) {
		const struct fetch_op *op = &sim->op[sim->una_op];

		if (!is_done(sim, op))
			return;
		must(sim, op->placed == op->n_pkts, "what completes has arrived, once");
		must(sim, op->got == op->n_resp, "what completes has all responses, once");
		must(sim, op->executed == is_fetch(op), "what completes was executed, once");
		if (!is_fetch(op))
			continue;
		sim->rd.done++;
		sim->tx[REQ].owed = mroce_rdreq_out(&sim->rd);
	}
}

static void judge_response(struct fetch_sim *sim, const struct fetch_op *op,
			   const struct fetch_flight *f)
{
	u32 i = op - sim->op;

	must(sim, mroce_seq_before(op->first_psn, sim->tx[REQ].nxt), "asked before answered");
	must(sim, f->sn == op->sn, "a response is of its request");
	if (op->opcode == MROCE_OP_ATOMIC_FA)
		must(sim, f->value == op->want, "an atomic returns its old value");
	else
		must(sim, f->value >= i, "a READ sees all before it");
}

static void response_arrives(struct fetch_sim *sim, const struct fetch_flight *f)
{
	struct fetch_op *op = &sim->op[sim->op_of_resp[f->psn - FETCH_RESP]];
	enum mroce_rxs_verdict verdict = mroce_rxs_classify(&sim->rx[RESP], f->psn);

	if (verdict == MROCE_RXS_DUP && sim->fault == FETCH_TAKE_AGAIN)
		op->got++;
	if (verdict != MROCE_RXS_NEW) {
		send_record(sim, RESP);
		return;
	}
	if (rnd_ppm(&sim->rnd, sim->w->whim_ppm)) {
		fly(sim, FETCH_REFUSED, RESP, f->psn);
		return;
	}
	judge_response(sim, op, f);
	mroce_rxs_claim(&sim->rx[RESP], f->psn);
	op->got++;
	mroce_txs_accept(&sim->tx[REQ], op->first_psn + 1, sim->now);
	mroce_rxs_commit(&sim->rx[RESP], f->psn);
	mroce_txs_progress(&sim->tx[REQ], sim->now);
	complete_ops(sim);
	send_record(sim, RESP);
}

/* ---- responder ---- */

/* Whatever is complete in the order of the work requests */
static void count_complete(struct fetch_sim *sim)
{
	for (; sim->complete < FETCH_OPS; sim->complete++) {
		const struct fetch_op *op = &sim->op[sim->complete];

		if (op->placed < op->n_pkts || op->executed < is_fetch(op))
			return;
	}
}

static u64 run_atomic(struct fetch_sim *sim, struct fetch_op *op, const struct mroce_rdslot *slot)
{
	u64 old = sim->word;

	op->executed++;
	sim->word += slot->compare_add;
	return old;
}

static void execute(struct fetch_sim *sim, struct mroce_rdslot *slot)
{
	u32 sn = sim->slots.exec_sn;
	struct fetch_op *op = &sim->op[sim->op_of_sn[sn - FETCH_SN]];

	must(sim, slot->req_psn == op->first_psn, "a slot holds its fetch");
	must(sim, &sim->op[sim->complete] == op, "executed when all before it is complete");
	must(sim, !op->executed, "executed once");
	if (op->opcode == MROCE_OP_ATOMIC_FA)
		sim->result[sn % FETCH_SLOTS] = run_atomic(sim, op, slot);
	else
		op->executed++;
	mroce_rdslots_done(&sim->slots);
	count_complete(sim);
}

static void execute_due(struct fetch_sim *sim)
{
	u32 cum = sim->rx[REQ].cum;
	struct mroce_rdslot *slot;
	enum mroce_rdq_due due;

	if (sim->fault == FETCH_AT_ARRIVAL)
		cum += MROCE_STREAM_WINDOW;
	while ((due = mroce_rdslots_due(&sim->slots, cum, &slot)) == MROCE_RDQ_RUN)
		execute(sim, slot);
	must(sim, due != MROCE_RDQ_BAD, "both ends number the responses alike");
}

static void free_slots(struct fetch_sim *sim)
{
	struct mroce_txs *tx = &sim->tx[RESP];

	mroce_rdslots_accepted(&sim->slots,
			       sim->fault == FETCH_FREE_EARLY ? tx->nxt : tx->una);
}

static void fetch_arrives(struct fetch_sim *sim, const struct fetch_op *op, u32 oldest)
{
	struct mroce_atomic_op operands = { .compare_add = op->add };
	struct mroce_txs *tx = &sim->tx[RESP];
	struct mroce_pkt_data p = {
		.opcode = op->opcode, .psn = op->first_psn, .rsn = op->sn, .oldest = oldest,
		.unit_bytes = UNIT, .msg_len = (op->n_resp - 1) * UNIT + 8,
	};
	u32 i, psn, used = 0;

	mroce_wire_set_resp_psn(&p, op->resp_psn);
	psn = mroce_rdslots_oldest(&sim->slots, p.oldest, tx->una, tx->nxt);
	sim->by_oldest += mroce_txs_accept(tx, psn, sim->now);
	free_slots(sim);
	must(sim, mroce_rdslots_put(&sim->slots, &p, &operands), "there is a slot for each fetch");
	for (i = 0; i < FETCH_SLOTS; i++)
		used += sim->slot[i].known;
	must(sim, used <= sim->w->max, "no more slots are used than agreed");
	sim->early += &sim->op[sim->complete] != op;
}

static void request_arrives(struct fetch_sim *sim, const struct fetch_flight *f)
{
	struct fetch_op *op = &sim->op[sim->op_of_req[f->psn - FETCH_REQ]];
	enum mroce_rxs_verdict verdict = mroce_rxs_classify(&sim->rx[REQ], f->psn);

	if (verdict == MROCE_RXS_DUP && is_fetch(op) && sim->fault == FETCH_SERVE_AGAIN)
		fetch_arrives(sim, op, f->sn);
	if (verdict != MROCE_RXS_NEW) {
		send_record(sim, REQ);
		return;
	}
	if (rnd_ppm(&sim->rnd, sim->w->whim_ppm)) {
		fly(sim, FETCH_REFUSED, REQ, f->psn);
		return;
	}
	mroce_rxs_claim(&sim->rx[REQ], f->psn);
	if (is_fetch(op))
		fetch_arrives(sim, op, f->sn);
	op->placed++;
	count_complete(sim);
	mroce_rxs_commit(&sim->rx[REQ], f->psn);
	execute_due(sim);
	send_record(sim, REQ);
}

static bool send_response(struct fetch_sim *sim)
{
	struct mroce_txs *tx = &sim->tx[RESP];
	const struct mroce_rdslots *s = &sim->slots;
	const struct mroce_rdslot *slot = NULL;
	bool again;
	u64 value;
	u32 psn, sn;

	again = mroce_txs_next_rtx(tx, &psn);
	if (!again) {
		if (tx->nxt == s->next_psn || !mroce_txs_room(tx))
			return false;
		psn = tx->nxt;
	}
	for (sn = s->una_sn; sn != s->exec_sn; sn++) {
		slot = &s->slot[sn & s->mask];
		if (psn - slot->resp_psn < (slot->len - 1) / UNIT + 1)
			break;
	}
	must(sim, sn != s->exec_sn, "a response comes from its slot");
	if (sim->broken)
		return false;
	value = sim->complete;
	if (slot->opcode == MROCE_OP_ATOMIC_FA)
		value = sim->result[sn % FETCH_SLOTS];
	if (slot->opcode == MROCE_OP_ATOMIC_FA && again && sim->fault == FETCH_REPLAY)
		value = run_atomic(sim, &sim->op[sim->op_of_sn[sn - FETCH_SN]], slot);
	if (again)
		mroce_txs_resent(tx, psn);
	else
		mroce_txs_sent(tx, 1, sim->now);
	free_slots(sim);
	send(sim, RESP, psn, sn, value);
	return true;
}

/* ---- network and time ---- */

static void record_arrives(struct fetch_sim *sim, const struct fetch_flight *f)
{
	u32 res = mroce_txs_record(&sim->tx[f->stream], &f->rec, sim->now);

	must(sim, !(res & (MROCE_TXS_FATAL | MROCE_TXS_RNR_EXCEEDED)), "nobody gives up");
	if (f->stream == REQ)
		complete_ops(sim);
	else
		free_slots(sim);
	sim->timer_ns[f->stream] = sim->now;
}

static void land(struct fetch_sim *sim, const struct fetch_flight *f)
{
	switch (f->kind) {
	case FETCH_DATA:
		if (f->stream == REQ)
			request_arrives(sim, f);
		else
			response_arrives(sim, f);
		break;
	case FETCH_LOST:
		mroce_txs_lost(&sim->tx[f->stream], f->psn);
		break;
	case FETCH_REFUSED:
		mroce_txs_refused(&sim->tx[f->stream], f->psn);
		sim->timer_ns[f->stream] = sim->now;
		break;
	case FETCH_RECORD:
		record_arrives(sim, f);
		break;
	case FETCH_NONE:
		break;
	}
}

static void run_timer(struct fetch_sim *sim, u8 stream)
{
	struct mroce_txs *tx = &sim->tx[stream];
	enum mroce_txs_action act;

	if (sim->now < sim->timer_ns[stream])
		return;
	act = mroce_txs_timer(tx, sim->now, RTO, &sim->timer_ns[stream]);
	must(sim, act != MROCE_TXS_EXCEEDED, "nobody gives up");
	sim->timeouts += act == MROCE_TXS_RESEND;
	if (act == MROCE_TXS_ASK || act == MROCE_TXS_RESEND)
		send_record(sim, stream);
	if (!mroce_txs_engaged(tx))
		sim->timer_ns[stream] = sim->now;
}

static void step(struct fetch_sim *sim)
{
	struct fetch_flight f;
	u32 i;

	sim->now += STEP;
	for (i = 0; i < FETCH_FLIGHT; i++) {
		if (sim->flight[i].kind == FETCH_NONE || sim->flight[i].at > sim->now)
			continue;
		f = sim->flight[i];
		sim->flight[i].kind = FETCH_NONE;
		sim->n_flying--;
		land(sim, &f);
	}
	for (i = 0; i < PER_STEP && sim->n_flying < FETCH_FLIGHT - 64; i++) {
		send_request(sim);
		send_response(sim);
	}
	run_timer(sim, REQ);
	run_timer(sim, RESP);
}

static void make_op(struct fetch_sim *sim, struct fetch_op *op, u32 psn)
{
	op->fence = rnd_ppm(&sim->rnd, sim->w->fence_ppm);
	op->first_psn = psn;
	op->n_pkts = 1;
	switch (rnd_below(&sim->rnd, 3)) {
	case 0:
		op->opcode = MROCE_OP_WRITE;
		op->n_pkts = 1 + rnd_below(&sim->rnd, FETCH_WRITE_MAX);
		return;
	case 1:
		op->opcode = MROCE_OP_READ_REQ;
		op->n_resp = 1 + rnd_below(&sim->rnd, FETCH_READ_MAX);
		break;
	default:
		op->opcode = MROCE_OP_ATOMIC_FA;
		op->n_resp = 1;
		op->add = rnd_u64(&sim->rnd);
	}
	op->sn = mroce_rdreq_take(&sim->rd, op->n_resp, &op->resp_psn);
}

static void make_ops(struct fetch_sim *sim)
{
	u32 i, k, psn = FETCH_REQ;
	u64 sum = sim->word;

	for (i = 0; i < FETCH_OPS; i++) {
		struct fetch_op *op = &sim->op[i];

		make_op(sim, op, psn);
		op->want = sum;
		sum += op->add;
		for (k = 0; k < op->n_pkts; k++)
			sim->op_of_req[psn - FETCH_REQ + k] = i;
		for (k = 0; k < op->n_resp; k++)
			sim->op_of_resp[op->resp_psn - FETCH_RESP + k] = i;
		if (is_fetch(op))
			sim->op_of_sn[op->sn - FETCH_SN] = i;
		psn += op->n_pkts;
	}
}

static void init(struct fetch_sim *sim, const struct fetch_weather *w, enum fetch_fault fault,
		 u32 seed)
{
	static const struct mroce_txs_cfg cfg = {
		.window = 200, .timeout = 14, .retry_cnt = 2, .rnr_retry = 7,
	};
	u32 mask = 0, i;

	memset(sim, 0, sizeof(*sim));
	sim->w = w;
	sim->fault = fault;
	sim->now = RTT;
	rnd_seed(&sim->rnd, seed);
	sim->word = rnd_u64(&sim->rnd);
	for (i = 0; i < 2; i++) {
		mroce_txs_init(&sim->tx[i], i == REQ ? FETCH_REQ : FETCH_RESP, &cfg);
		mroce_rxs_init(&sim->rx[i], i == REQ ? FETCH_REQ : FETCH_RESP);
		mroce_rxs_set_bits(&sim->rx[i], &sim->bits[i]);
	}
	mroce_rdreq_init(&sim->rd, w->max, FETCH_RESP);
	sim->rd.next_sn = FETCH_SN;
	sim->rd.issued = FETCH_SN;
	sim->rd.done = FETCH_SN;
	while (mask + 1 < w->max)
		mask = mask * 2 + 1;
	mroce_rdslots_init(&sim->slots, sim->slot, mask, w->max, FETCH_RESP);
	sim->slots.una_sn = FETCH_SN;
	sim->slots.exec_sn = FETCH_SN;
	make_ops(sim);
}

const char *mroce_fetch_sim_run(struct fetch_sim *sim, const struct fetch_weather *w,
				enum fetch_fault fault, u32 seed)
{
	u32 n;

	init(sim, w, fault, seed);
	for (n = 0; !sim->broken && sim->una_op < FETCH_OPS; n++) {
		step(sim);
		must(sim, n < MAX_STEPS, "it ends");
	}
	/* The last records and copies are no harm, and free the last slots. */
	for (n = 0; !sim->broken && (sim->n_flying || mroce_txs_busy(&sim->tx[RESP])); n++) {
		step(sim);
		must(sim, n < MAX_STEPS, "it comes to rest");
	}
	must(sim, !mroce_rdreq_out(&sim->rd), "nothing is out in the end");
	must(sim, mroce_rdslots_idle(&sim->slots), "all slots are free in the end");
	for (n = 0; n < FETCH_OPS; n++) {
		must(sim, sim->op[n].got == sim->op[n].n_resp, "responses were taken once");
		must(sim, sim->op[n].executed == is_fetch(&sim->op[n]), "executed once in all");
	}
	return sim->broken;
}
