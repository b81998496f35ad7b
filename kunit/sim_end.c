// SPDX-License-Identifier: GPL-2.0
/* Sending side of an end: numbering, paths, timers; what the glue of the driver does. */
#include <linux/limits.h>
#include <linux/string.h>

#include "seg.h"
#include "sim.h"

static const u8 opcodes[] = {
	MROCE_OP_WRITE, MROCE_OP_WRITE, MROCE_OP_SEND, MROCE_OP_SEND_IMM,
	MROCE_OP_WRITE_IMM,
};

static u32 random_len(struct sim *sim)
{
	u32 max = sim->cfg.max_len;

	switch (rnd_below(&sim->rnd, 4)) {
	case 0:
		return rnd_below(&sim->rnd, 3);
	case 1:
		return rnd_below(&sim->rnd, max + 1);
	default:
		return rnd_below(&sim->rnd, max / 8 + 1);
	}
}

static void make_msgs(struct sim *sim, struct sim_qp *qp)
{
	u32 psn = qp->first_psn, rsn = 0, i;

	for (i = 0; i < qp->n_msgs; i++) {
		struct sim_msg *m = &qp->msgs[i];

		m->opcode = opcodes[rnd_below(&sim->rnd, ARRAY_SIZE(opcodes))];
		m->len = random_len(sim);
		m->n_pkts = mroce_seg_count(m->len, sim->cfg.unit);
		m->psn = psn;
		m->addr = rnd_u64(&sim->rnd) >> 8;
		m->rsn = rsn;
		if (mroce_op_info(m->opcode) & MROCE_OPF_RECV)
			rsn++;
		psn += m->n_pkts;
		SIM_CHECK(sim, psn - qp->first_psn <= SIM_PSNS, psn, i);
	}
}

static void init_qp(struct sim *sim, struct sim_end *e, struct sim_qp *qp)
{
	struct mroce_txs_cfg cfg = {
		.window = MROCE_STREAM_WINDOW, .timeout = sim->cfg.timeout, .retry_cnt = 7,
		.rnr_retry = 7,
	};

	/* half of all streams wrap soon */
	qp->first_psn = rnd_u32(&sim->rnd);
	if (qp->first_psn & 1)
		qp->first_psn = -rnd_below(&sim->rnd, 300);
	qp->n_msgs = e->id && sim->cfg.one_way ? 0 : sim->cfg.n_msgs;
	make_msgs(sim, qp);
	mroce_txs_init(&qp->txs, qp->first_psn, &cfg);
	qp->una_seen = qp->first_psn;
	qp->timer_ns = U64_MAX;
	qp->posted = sim->cfg.posted;
	qp->post_ns = qp->posted < SIM_MSGS ? sim->now : U64_MAX;
}

void mroce_sim_end_init(struct sim *sim, struct sim_end *e)
{
	struct mroce_pathset_cfg cfg = {
		.n_paths = sim->cfg.n_paths, .pkt_bytes = sim->cfg.unit + MROCE_DATA_HLEN,
		.ack_delay_ns = 100000, .max_window_bytes = 1 << 20, .init_window_bytes = 1 << 17,
		.cc = &mroce_cc_ecn,
	};
	u32 rnd[2 * SIM_PATHS];
	int i;

	for (i = 0; i < sim->cfg.n_paths; i++) {
		e->path[i].sb.rec = e->rec[i];
		rnd[2 * i] = rnd_u32(&sim->rnd);
		/* which of the two words is the sequence is not our business */
		rnd[2 * i + 1] = rnd_u32(&sim->rnd);
		if (rnd[2 * i] & 1)
			rnd[2 * i] = -rnd_below(&sim->rnd, 200);
		mroce_rxwin_init(&e->rxwin[i]);
		mroce_back_init(&e->back[i], rnd_u32(&sim->rnd));
	}
	mroce_pathset_init(&e->ps, &cfg, e->path, rnd, sim->now);
	for (i = 0; i < sim->cfg.n_qps; i++)
		init_qp(sim, e, &e->qp[i]);
	e->retry_ns = U64_MAX;
}

/* Stream ids as the glue makes them; the QPN is the index, plus one */
static u32 stream_id(int q)
{
	return MROCE_STREAM_REQ << 24 | (q + 1);
}

static u16 incarnation(const struct sim_end *e, int q)
{
	return 100 * e->id + q;
}

struct sim_msg *mroce_sim_msg_of(struct sim *sim, struct sim_qp *qp, u32 psn)
{
	u32 i;

	for (i = 0; i < qp->n_msgs; i++)
		if (psn - qp->msgs[i].psn < qp->msgs[i].n_pkts)
			return &qp->msgs[i];
	sim_break(sim, "psn belongs to a message", psn, qp->first_psn);
	return &qp->msgs[0];
}

static void build_data(struct sim *sim, struct sim_end *e, int q, u32 psn, int path, u32 seq,
		       struct sim_pkt *pkt)
{
	struct sim_msg *m = mroce_sim_msg_of(sim, &e->qp[q], psn);
	u32 off;
	struct mroce_pkt_data p = {
		.opcode = m->opcode, .path = path, .stream = MROCE_STREAM_REQ,
		.incarnation = incarnation(e, q), .unit_bytes = sim->cfg.unit, .path_seq = seq,
		.dst_qpn = q + 1, .src_qpn = q + 1, .psn = psn, .msg_psn = m->psn,
		.msg_len = m->len, .rkey = 1,
	};

	p.payload_len = mroce_seg_at(m->len, sim->cfg.unit, psn - m->psn, &off);
	p.addr = mroce_op_info(m->opcode) & MROCE_OPF_ADDR ? m->addr + off : off;
	if (mroce_op_info(m->opcode) & MROCE_OPF_RECV)
		p.rsn = m->rsn;
	if (psn - m->psn == m->n_pkts - 1)
		p.flags = MROCE_F_ACK_REQ | MROCE_F_SOLICITED;
	mroce_wire_put_data(pkt->buf, &p);
	pkt->len = MROCE_DATA_HLEN;
	pkt->total = MROCE_DATA_HLEN + p.payload_len;
}

static u32 pkt_bytes(struct sim *sim, struct sim_qp *qp, u32 psn)
{
	struct sim_msg *m = mroce_sim_msg_of(sim, qp, psn);
	u32 off;

	return MROCE_DATA_HLEN + mroce_seg_at(m->len, sim->cfg.unit, psn - m->psn, &off);
}

static void check_pick(struct sim *sim, struct sim_end *e, int path, int cpu, u32 bytes, bool again)
{
	struct mroce_path *p = &e->path[path];
	u32 conn_room = mroce_cc_window(&e->ps.cc, sim->now);
	u32 slack = again ? e->ps.cfg.pkt_bytes : 0;

	SIM_CHECK(sim, p->state == MROCE_PATH_ACTIVE, path, p->state);
	SIM_CHECK(sim, mroce_path_owned(p, cpu), path, cpu);
	SIM_CHECK(sim, p->sb.next_seq - p->sb.una_seq < MROCE_SB_SPAN, path, p->sb.una_seq);
	if (p->sb.inflight_pkts)
		SIM_CHECK(sim, p->sb.inflight_bytes + bytes <= p->cc.cwnd_bytes + slack,
			  p->sb.inflight_bytes, p->cc.cwnd_bytes);
	if (e->ps.inflight_pkts)
		SIM_CHECK(sim, e->ps.inflight_bytes + bytes <= conn_room + slack,
			  e->ps.inflight_bytes, conn_room);
}

/* One packet of @q goes out on @path */
static void send_data(struct sim *sim, struct sim_end *e, int q, u32 psn, int path, int cpu)
{
	struct sim_qp *qp = &e->qp[q];
	u32 bytes = pkt_bytes(sim, qp, psn), seq;
	struct sim_pkt *pkt = mroce_sim_alloc(sim);
	struct mroce_ps_event ev;

	seq = mroce_pathset_sent(&e->ps, path, cpu, stream_id(q), incarnation(e, q), psn, bytes,
				 sim->now);
	qp->last_path[psn - qp->first_psn] = path;
	sim->n_data++;
	if (rnd_ppm(&sim->rnd, sim->cfg.local_drop_ppm)) {
		mroce_sim_free(sim, pkt);
		SIM_CHECK(sim, mroce_pathset_local_drop(&e->ps, path, seq, sim->now, &ev),
			  path, seq);
		mroce_sim_events(sim, e, &ev, 1);
		e->retry_ns = sim->now + SIM_MS;
		return;
	}
	build_data(sim, e, q, psn, path, seq, pkt);
	mroce_sim_xmit(sim, e->id, path, pkt);
}

/* Return: false when nothing of @q can go now */
static bool send_one(struct sim *sim, struct sim_end *e, int q, int cpu)
{
	struct sim_qp *qp = &e->qp[q];
	bool again;
	int path;
	u32 psn;

	again = mroce_txs_next_rtx(&qp->txs, &psn);
	if (!again) {
		if (qp->next_msg == qp->n_msgs || !mroce_txs_room(&qp->txs))
			return false;
		psn = qp->txs.nxt;
	}
	SIM_CHECK(sim, psn - qp->txs.una < qp->txs.cfg.window, psn, qp->txs.una);
	path = mroce_pathset_pick(&e->ps, cpu, pkt_bytes(sim, qp, psn),
				  again ? qp->last_path[psn - qp->first_psn] : -1, sim->now);
	if (path < 0)
		return false;
	check_pick(sim, e, path, cpu, pkt_bytes(sim, qp, psn), again);
	if (again) {
		mroce_txs_resent(&qp->txs, psn);
		sim->n_resent++;
	} else {
		mroce_txs_sent(&qp->txs, 1, sim->now);
		if (++qp->next_idx == qp->msgs[qp->next_msg].n_pkts) {
			qp->next_idx = 0;
			qp->next_msg++;
		}
	}
	send_data(sim, e, q, psn, path, cpu);
	return true;
}

void mroce_sim_end_send(struct sim *sim, struct sim_end *e)
{
	int cpu = sim->cfg.strict_cpu ? 0 : rnd_below(&sim->rnd, 8) == 0;
	int idle = 0;

	if (e->retry_ns != U64_MAX)
		return;		/* the local queue is full: the timer tries again */
	while (idle < sim->cfg.n_qps && !sim->broken && e->retry_ns == U64_MAX) {
		idle = send_one(sim, e, e->turn, cpu) ? 0 : idle + 1;
		e->turn = (e->turn + 1) % sim->cfg.n_qps;
	}
}

/* Sends a PROBE on @path that asks about all busy streams */
void mroce_sim_probe(struct sim *sim, struct sim_end *e, int path)
{
	struct mroce_ask ask[SIM_QPS];
	struct mroce_probe_hdr h = { .path = path, .flags = MROCE_F_ACK_REQ };
	struct sim_pkt *pkt;
	int q;

	if (!mroce_sb_can_send(&e->path[path].sb))
		return;
	for (q = 0; q < sim->cfg.n_qps; q++) {
		if (!mroce_txs_busy(&e->qp[q].txs))
			continue;
		ask[h.n_asks].dst_qpn = q + 1;
		ask[h.n_asks].src_qpn = q + 1;
		ask[h.n_asks].stream = MROCE_STREAM_REQ;
		ask[h.n_asks++].incarnation = incarnation(e, q);
	}
	pkt = mroce_sim_alloc(sim);
	if (!mroce_pathset_probe_room(&e->ps, path))
		return;
	h.path_seq = mroce_pathset_probe_sent(&e->ps, path, e->path[path].owner_cpu, sim->now);
	h.len_bytes = MROCE_PROBE_HLEN + h.n_asks * MROCE_ASK_LEN + rnd_below(&sim->rnd, 100);
	pkt->len = mroce_wire_put_probe(pkt->buf, &h, ask);
	pkt->total = h.len_bytes;
	sim->n_probes++;
	mroce_sim_xmit(sim, e->id, path, pkt);
}

/* The path level says what became of packets */
void mroce_sim_events(struct sim *sim, struct sim_end *e, const struct mroce_ps_event *ev, int n)
{
	struct sim_qp *qp;
	int i, q;

	for (i = 0; i < n; i++) {
		q = (int)(ev[i].stream & 0xffffff) - 1;
		SIM_CHECK(sim, q >= 0 && q < sim->cfg.n_qps, q, ev[i].stream);
		SIM_CHECK(sim, ev[i].path < sim->cfg.n_paths, ev[i].path, 0);
		if (sim->broken)
			return;
		qp = &e->qp[q];
		SIM_CHECK(sim, ev[i].gen == incarnation(e, q), ev[i].gen, q);
		SIM_CHECK(sim, mroce_seq_in(ev[i].psn, qp->first_psn, qp->txs.nxt), ev[i].psn,
			  qp->txs.nxt);
		if (ev[i].kind == MROCE_PS_REFUSED) {
			mroce_txs_refused(&qp->txs, ev[i].psn);
			sim->n_refused++;
		} else {
			mroce_txs_lost(&qp->txs, ev[i].psn);
			sim->n_lost++;
		}
	}
}

/* Work requests below una are complete: the peer must have all of them */
void mroce_sim_complete(struct sim *sim, struct sim_end *e, struct sim_qp *qp)
{
	struct sim_qp *peer = &sim->end[!e->id].qp[qp - e->qp];
	struct sim_msg *m;

	SIM_CHECK(sim, !mroce_seq_before(qp->txs.una, qp->una_seen), qp->txs.una, qp->una_seen);
	SIM_CHECK(sim, !mroce_seq_after(qp->txs.una, peer->rxs.cum), qp->txs.una, peer->rxs.cum);
	qp->una_seen = qp->txs.una;
	while (qp->done < qp->n_msgs) {
		m = &qp->msgs[qp->done];
		if (mroce_seq_before(qp->txs.una, m->psn + m->n_pkts))
			break;
		SIM_CHECK(sim, m->received && m->committed_bytes == m->len, m->committed_bytes,
			  m->len);
		m->sent = true;
		qp->done++;
	}
}

static void flush_path(struct sim *sim, struct sim_end *e, int path)
{
	struct mroce_ps_event ev[SIM_EVENTS];
	int n;

	do {
		n = mroce_pathset_flush(&e->ps, path, ev, SIM_EVENTS);
		mroce_sim_events(sim, e, ev, n);
	} while (n == SIM_EVENTS && !sim->broken);
	SIM_CHECK(sim, !e->path[path].sb.inflight_bytes, path, e->path[path].sb.inflight_bytes);
}

static void path_timers(struct sim *sim, struct sim_end *e)
{
	struct mroce_ps_action act[2];
	struct mroce_ps_event ev[SIM_EVENTS];
	int n, i;

	do {
		n = mroce_pathset_timer(&e->ps, sim->now, rnd_u32(&sim->rnd), act, ARRAY_SIZE(act));
		for (i = 0; i < n; i++) {
			SIM_CHECK(sim, act[i].path < sim->cfg.n_paths, act[i].path, act[i].act);
			if (act[i].act == MROCE_PS_PROBE)
				mroce_sim_probe(sim, e, act[i].path);
			else if (act[i].act == MROCE_PS_FLUSH)
				flush_path(sim, e, act[i].path);
			else
				sim->n_rerolls++;
		}
	} while (n == ARRAY_SIZE(act) && !sim->broken);
	for (i = 0; i < sim->cfg.n_paths; i++) {
		do {
			n = mroce_pathset_time_loss(&e->ps, i, sim->now, ev, SIM_EVENTS);
			mroce_sim_events(sim, e, ev, n);
		} while (n == SIM_EVENTS && !sim->broken);
	}
}

static void stream_timer(struct sim *sim, struct sim_end *e, struct sim_qp *qp)
{
	enum mroce_txs_action act;
	int path;

	act = mroce_txs_timer(&qp->txs, sim->now, mroce_pathset_rto_ns(&e->ps), &qp->timer_ns);
	SIM_CHECK(sim, act != MROCE_TXS_EXCEEDED, qp->txs.una, qp->txs.nxt);
	SIM_CHECK(sim, qp->timer_ns > sim->now, qp->timer_ns, act);
	if (act != MROCE_TXS_ASK && act != MROCE_TXS_RESEND)
		return;
	path = e->ps.silent ? -1 :
	       mroce_pathset_pick(&e->ps, 0, MROCE_PROBE_HLEN, -1, sim->now);
	mroce_sim_probe(sim, e, path < 0 ? mroce_pathset_any(&e->ps, 0) : path);
}

void mroce_sim_end_timers(struct sim *sim, struct sim_end *e)
{
	struct sim_qp *qp;

	if (e->retry_ns <= sim->now)
		e->retry_ns = U64_MAX;
	if (mroce_pathset_deadline(&e->ps) <= sim->now)
		path_timers(sim, e);
	for (qp = e->qp; qp < e->qp + sim->cfg.n_qps; qp++) {
		stream_timer(sim, e, qp);
		if (qp->post_ns > sim->now)
			continue;
		qp->posted++;
		qp->post_ns = qp->posted < SIM_MSGS ?
			sim->now + rnd_below(&sim->rnd, 4 * SIM_MS) : U64_MAX;
	}
}

u64 mroce_sim_end_deadline(const struct sim *sim, const struct sim_end *e)
{
	u64 at = min_t(u64, mroce_pathset_deadline(&e->ps), e->retry_ns);
	const struct sim_qp *qp;

	for (qp = e->qp; qp < e->qp + sim->cfg.n_qps; qp++)
		at = min_t(u64, at, min_t(u64, qp->timer_ns, qp->post_ns));
	return min_t(u64, at, mroce_sim_ack_deadline(e));
}

bool mroce_sim_end_done(const struct sim_end *e)
{
	const struct sim_qp *qp;

	for (qp = e->qp; qp < e->qp + SIM_QPS; qp++)
		if (qp->done < qp->n_msgs)
			return false;
	return true;
}
