// SPDX-License-Identifier: GPL-2.0
/* Receiving side of an end: placement, acknowledgements, and what ACKs mean. */
#include <linux/limits.h>
#include <linux/string.h>

#include "seg.h"
#include "sim.h"

#define RNR_TIMER	14	/* 0.96 ms */

static const struct mroce_ack_policy policy = { .every_pkts = 8, .delay_ns = 100000 };

static struct sim_end *peer_of(struct sim *sim, const struct sim_end *e)
{
	return &sim->end[!e->id];
}

static void put_rec(struct sim *sim, struct sim_end *e, int q, struct sim_pkt *pkt)
{
	struct mroce_rec rec = {
		.dst_qpn = q + 1, .src_qpn = q + 1, .stream = MROCE_STREAM_REQ,
		.incarnation = 100 * !e->id + q,
	};

	mroce_rxs_record(&e->qp[q].rxs, &rec);
	pkt->len += mroce_wire_put_rec(pkt->buf + pkt->len, &rec);
	if (e->qp[q].rec_left)
		e->qp[q].rec_left--;
}

static void put_part(struct sim *sim, struct sim_end *e, int path, struct sim_pkt *pkt)
{
	struct mroce_ack_part part = { .path = path };

	mroce_rxwin_part(&e->rxwin[path], &part, sim->now);
	pkt->len += mroce_wire_put_ack_part(pkt->buf + pkt->len, &part);
}

/* Builds and sends an ACK, or the answer to @probe, on the reverse of @path */
void mroce_sim_ack(struct sim *sim, struct sim_end *e, int path,
		   const struct mroce_probe_hdr *probe)
{
	struct mroce_ack_hdr h = { .type = MROCE_WIRE_ACK };
	struct sim_pkt *pkt = mroce_sim_alloc(sim);
	int i;

	if (probe) {
		h.type = MROCE_WIRE_PROBE_ACK;
		h.echo_path = probe->path;
		h.echo_seq = probe->path_seq;
	}
	pkt->len = MROCE_ACK_HLEN;
	put_part(sim, e, path, pkt);
	h.n_parts = 1;
	for (i = 0; i < sim->cfg.n_paths && h.n_parts < SIM_PARTS; i++) {
		if (i == path || !e->rxwin[i].started || !e->rxwin[i].unacked)
			continue;
		put_part(sim, e, i, pkt);
		h.n_parts++;
	}
	for (i = 0; i < sim->cfg.n_qps && h.n_recs < SIM_RECS; i++) {
		if (!e->qp[i].rec_left)
			continue;
		put_rec(sim, e, i, pkt);
		h.n_recs++;
	}
	mroce_wire_put_ack(pkt->buf, &h);
	pkt->total = pkt->len;
	mroce_sim_xmit(sim, e->id, path, pkt);
}

/* Messages of the peer that are complete, in order */
static void complete_receives(struct sim *sim, struct sim_end *e, struct sim_qp *qp)
{
	struct sim_qp *tx = &peer_of(sim, e)->qp[qp - e->qp];
	struct mroce_rxs_msg *recv;
	struct sim_msg *m;
	bool passed;

	while (qp->rx_done < tx->n_msgs) {
		m = &tx->msgs[qp->rx_done];
		passed = !mroce_seq_before(qp->rxs.cum, m->psn + m->n_pkts);
		if (mroce_op_info(m->opcode) & MROCE_OPF_RECV) {
			recv = &qp->recv[m->rsn];
			SIM_CHECK(sim, mroce_rxs_msg_done(&qp->rxs, recv) == passed, m->rsn,
				  passed);
			SIM_CHECK(sim, !passed || recv->msg_len == m->len, recv->msg_len, m->len);
		}
		if (!passed)
			return;
		SIM_CHECK(sim, m->committed_bytes == m->len, m->committed_bytes, m->len);
		m->received = true;
		qp->rx_done++;
	}
}

void mroce_sim_commit(struct sim *sim, struct sim_end *e, int q, u32 psn)
{
	struct sim_qp *qp = &e->qp[q];
	struct sim_msg *m = mroce_sim_msg_of(sim, &peer_of(sim, e)->qp[q], psn);
	u32 off;

	m->committed_bytes += mroce_seg_at(m->len, sim->cfg.unit, psn - m->psn, &off);
	if (mroce_rxs_commit(&qp->rxs, psn))
		complete_receives(sim, e, qp);
	SIM_CHECK(sim, !mroce_seq_before(qp->rxs.cum, qp->cum_seen), qp->rxs.cum, qp->cum_seen);
	qp->cum_seen = qp->rxs.cum;
	qp->rec_left = 3;
}

static struct sim_msg *find_msg(struct sim_qp *tx, u32 msg_psn)
{
	u32 i;

	for (i = 0; i < tx->n_msgs; i++)
		if (tx->msgs[i].psn == msg_psn)
			return &tx->msgs[i];
	return NULL;
}

/* The bytes of @p go to their place, once and inside of it */
static void place(struct sim *sim, struct sim_end *e, int q, const struct mroce_pkt_data *p)
{
	struct sim_qp *qp = &e->qp[q], *tx = &peer_of(sim, e)->qp[q];
	struct sim_msg *m = find_msg(tx, p->msg_psn);
	u32 idx = p->psn - tx->first_psn;
	struct sim_pkt *later;
	u64 off = p->addr;

	SIM_CHECK(sim, m && idx < SIM_PSNS, p->msg_psn, p->psn);
	if (sim->broken)
		return;
	if (mroce_op_info(m->opcode) & MROCE_OPF_ADDR)
		off -= m->addr;
	SIM_CHECK(sim, off == (u64)(p->psn - m->psn) * sim->cfg.unit, off, p->psn);
	SIM_CHECK(sim, off + p->payload_len <= m->len, off, m->len);
	SIM_CHECK(sim, !m->received && !m->sent, p->psn, m->psn);
	SIM_CHECK(sim, !qp->placed[idx], p->psn, qp->placed[idx]);
	qp->placed[idx]++;
	if (mroce_op_info(p->opcode) & MROCE_OPF_RECV)
		mroce_rxs_msg_set(&qp->recv[p->rsn], p);
	if (!rnd_ppm(&sim->rnd, sim->cfg.late_copy_ppm)) {
		mroce_sim_commit(sim, e, q, p->psn);
		return;
	}
	later = mroce_sim_alloc(sim);
	later->kind = SIM_COMMIT;
	later->to = e->id;
	later->qp = q;
	later->psn = p->psn;
	later->at = sim->now + rnd_below(&sim->rnd, 3 * sim->cfg.delay_ns);
	mroce_sim_push(sim, later);
}

/* Return: true when @p is refused */
static bool stream_take(struct sim *sim, struct sim_end *e, int q, const struct mroce_pkt_data *p)
{
	struct sim_qp *qp = &e->qp[q];

	if (mroce_op_info(p->opcode) & MROCE_OPF_RECV && p->rsn >= qp->posted) {
		mroce_rxs_refuse(&qp->rxs, p->psn, p->msg_psn, MROCE_SYN_RNR, RNR_TIMER);
		qp->rec_left = 3;
		sim->n_rnr++;
		return true;
	}
	mroce_rxs_claim(&qp->rxs, p->psn);
	SIM_CHECK(sim, mroce_rxs_classify(&qp->rxs, p->psn) == MROCE_RXS_DUP, p->psn, 0);
	if (rnd_ppm(&sim->rnd, sim->cfg.busy_ppm)) {
		mroce_rxs_unclaim(&qp->rxs, p->psn);
		mroce_rxs_refuse(&qp->rxs, p->psn, p->msg_psn, MROCE_SYN_BUSY, 0);
		qp->rec_left = 3;
		return true;
	}
	place(sim, e, q, p);
	return false;
}

static void recv_data(struct sim *sim, struct sim_end *e, const struct sim_pkt *pkt)
{
	enum mroce_rxs_verdict verdict;
	enum mroce_rxwin_verdict seen;
	struct mroce_pkt_data p = {};
	bool refused = false;
	struct sim_qp *qp;
	int q;

	SIM_CHECK(sim, mroce_wire_get_data(pkt->buf, pkt->total, &p) == MROCE_DROP_NONE, 0, 0);
	q = (int)p.dst_qpn - 1;
	SIM_CHECK(sim, p.path == pkt->path && q >= 0 && q < sim->cfg.n_qps, p.path, q);
	if (sim->broken)
		return;
	seen = mroce_rxwin_check(&e->rxwin[p.path], p.path_seq);
	SIM_CHECK(sim, seen != MROCE_RXWIN_JUMP, p.path_seq, e->rxwin[p.path].highest);
	if (seen == MROCE_RXWIN_OLD || seen == MROCE_RXWIN_JUMP)
		return;
	mroce_back_seen(&e->back[p.path], 0, pkt->port, false, rnd_u32(&sim->rnd), sim->now);
	qp = &e->qp[q];
	verdict = mroce_rxs_classify(&qp->rxs, p.psn);
	if (verdict == MROCE_RXS_NEED_BITS) {
		mroce_rxs_set_bits(&qp->rxs, &qp->bits);
		verdict = mroce_rxs_classify(&qp->rxs, p.psn);
	}
	SIM_CHECK(sim, verdict == MROCE_RXS_NEW || verdict == MROCE_RXS_DUP, verdict, p.psn);
	if (verdict == MROCE_RXS_NEW)
		refused = stream_take(sim, e, q, &p);
	else
		sim->n_dups++;
	if (mroce_rxwin_mark(&e->rxwin[p.path], p.path_seq, refused, pkt->ce,
			     p.flags & MROCE_F_ACK_REQ, &policy, sim->now))
		mroce_sim_ack(sim, e, p.path, NULL);
}

static void recv_probe(struct sim *sim, struct sim_end *e, const struct sim_pkt *pkt)
{
	struct mroce_ask ask[MROCE_PROBE_MAX_ASKS];
	struct mroce_probe_hdr h;
	int i;

	SIM_CHECK(sim, mroce_wire_get_probe(pkt->buf, pkt->len, pkt->total, &h, ask) ==
		  MROCE_DROP_NONE, 0, 0);
	if (sim->broken || mroce_rxwin_check(&e->rxwin[h.path], h.path_seq) > MROCE_RXWIN_DUP)
		return;
	mroce_back_seen(&e->back[h.path], 0, pkt->port, true, rnd_u32(&sim->rnd), sim->now);
	mroce_rxwin_mark(&e->rxwin[h.path], h.path_seq, false, pkt->ce, true, &policy, sim->now);
	for (i = 0; i < h.n_asks; i++)
		if (!e->qp[ask[i].dst_qpn - 1].rec_left)
			e->qp[ask[i].dst_qpn - 1].rec_left = 1;
	mroce_sim_ack(sim, e, h.path, &h);
}

static void recv_part(struct sim *sim, struct sim_end *e, const struct mroce_ack_part *part)
{
	struct mroce_ps_ack_result res = {};
	struct mroce_ps_event ev[SIM_EVENTS];
	int n, q;

	do {
		res.more = false;
		n = mroce_pathset_ack(&e->ps, part, sim->now, &res, ev, SIM_EVENTS);
		SIM_CHECK(sim, n <= SIM_EVENTS, n, res.more);
		mroce_sim_events(sim, e, ev, n);
	} while (res.more && !sim->broken);
	sim->n_spurious += res.spurious_pkts;
	for (q = 0; q < sim->cfg.n_qps && res.acked_pkts; q++)
		mroce_txs_heard(&e->qp[q].txs, sim->now);
}

static void recv_rec(struct sim *sim, struct sim_end *e, const struct mroce_rec *rec)
{
	struct sim_qp *qp = &e->qp[rec->dst_qpn - 1];
	u32 did;

	did = mroce_txs_record(&qp->txs, rec, sim->now);
	SIM_CHECK(sim, !(did & (MROCE_TXS_RNR_EXCEEDED | MROCE_TXS_FATAL)), did, rec->syndrome);
	SIM_CHECK(sim, !!(did & MROCE_TXS_ADVANCED) == (qp->txs.una != qp->una_seen), did,
		  qp->txs.una);
	mroce_sim_complete(sim, e, qp);
}

static void recv_ack(struct sim *sim, struct sim_end *e, const struct sim_pkt *pkt)
{
	u32 off = MROCE_ACK_HLEN;
	struct mroce_ack_part part;
	struct mroce_ack_hdr h;
	struct mroce_rec rec;
	int i;

	SIM_CHECK(sim, mroce_wire_get_ack(pkt->buf, pkt->len, &h) == MROCE_DROP_NONE, 0, 0);
	for (i = 0; i < h.n_parts && !sim->broken; i++) {
		SIM_CHECK(sim, mroce_wire_get_ack_part(pkt->buf, pkt->len, &off, &part) ==
			  MROCE_DROP_NONE, i, off);
		recv_part(sim, e, &part);
	}
	for (i = 0; i < h.n_recs && !sim->broken; i++) {
		SIM_CHECK(sim, mroce_wire_get_rec(pkt->buf, pkt->len, &off, &rec) ==
			  MROCE_DROP_NONE, i, off);
		recv_rec(sim, e, &rec);
	}
}

void mroce_sim_arrival(struct sim *sim, struct sim_pkt *pkt)
{
	struct sim_end *e = &sim->end[pkt->to];

	switch (mroce_wire_type(pkt->buf[0])) {
	case MROCE_WIRE_DATA:
		return recv_data(sim, e, pkt);
	case MROCE_WIRE_PROBE:
		return recv_probe(sim, e, pkt);
	default:
		return recv_ack(sim, e, pkt);
	}
}

u64 mroce_sim_ack_deadline(const struct sim_end *e)
{
	u64 at = U64_MAX;
	int i;

	for (i = 0; i < SIM_PATHS; i++)
		at = min_t(u64, at, mroce_rxwin_deadline(&e->rxwin[i], &policy));
	return at;
}

void mroce_sim_ack_timers(struct sim *sim, struct sim_end *e)
{
	int i;

	for (i = 0; i < sim->cfg.n_paths; i++)
		if (mroce_rxwin_deadline(&e->rxwin[i], &policy) <= sim->now)
			mroce_sim_ack(sim, e, i, NULL);
}
