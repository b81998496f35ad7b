// SPDX-License-Identifier: GPL-2.0
/* What must hold after every step of the simulation, and the loop itself. */
#include <linux/bitops.h>
#include <linux/limits.h>
#include <linux/string.h>

#include "sim.h"

/* Sum of the records OUT is what the path says is in flight */
static void check_path(struct sim *sim, const struct sim_end *e, const struct mroce_path *p,
		       u32 *bytes, u32 *pkts)
{
	const struct mroce_sb *sb = &p->sb;
	u32 sum = 0, n = 0, i;
	u64 left;

	for (i = 0; i < MROCE_VEC_WORDS; i++) {
		for (left = sb->out[i]; left; left &= left - 1, n++)
			sum += sb->rec[64 * i + __ffs64(left)].bytes;
	}
	if (n)
		SIM_CHECK(sim, sb->out[~sb->una_seq % MROCE_SB_SPAN / 64] >> ~sb->una_seq % 64 & 1,
			  sb->una_seq, p->id);
	SIM_CHECK(sim, sb->next_seq - sb->una_seq <= MROCE_SB_SPAN, sb->next_seq, sb->una_seq);
	SIM_CHECK(sim, sum == sb->inflight_bytes, sum, sb->inflight_bytes);
	SIM_CHECK(sim, n == sb->inflight_pkts, n, sb->inflight_pkts);
	SIM_CHECK(sim, p->cc.cwnd_bytes >= e->ps.cfg.pkt_bytes, p->cc.cwnd_bytes, p->id);
	SIM_CHECK(sim, p->cc.cwnd_bytes <= e->ps.cfg.max_window_bytes, p->cc.cwnd_bytes, p->id);
	SIM_CHECK(sim, p->state < MROCE_PATH_STATES, p->state, p->id);
	*bytes += sum;
	*pkts += n;
}

static void check_qp(struct sim *sim, const struct sim_qp *qp)
{
	const struct mroce_txs *s = &qp->txs;
	u32 rtx = 0, deferred = 0;
	int i;

	SIM_CHECK(sim, s->nxt - s->una <= s->cfg.window, s->nxt, s->una);
	for (i = 0; i < MROCE_STREAM_WORDS; i++) {
		rtx += hweight64(s->rtx[i]);
		deferred += hweight64(s->deferred[i]);
		SIM_CHECK(sim, !(s->rtx[i] & s->deferred[i]), s->rtx[i], s->deferred[i]);
		SIM_CHECK(sim, !(qp->bits.committed[i] & ~qp->bits.claimed[i]),
			  qp->bits.committed[i], qp->bits.claimed[i]);
	}
	SIM_CHECK(sim, rtx == s->n_rtx && deferred == s->n_deferred, rtx, deferred);
	SIM_CHECK(sim, rtx + deferred <= s->nxt - s->una, rtx, deferred);
}

void mroce_sim_check(struct sim *sim)
{
	const struct sim_end *e;
	u32 bytes, pkts;
	int i, k;

	for (e = sim->end; e < sim->end + 2; e++) {
		bytes = 0;
		pkts = 0;
		for (i = 0; i < sim->cfg.n_paths; i++) {
			check_path(sim, e, &e->path[i], &bytes, &pkts);
			for (k = 0; k < i; k++)
				SIM_CHECK(sim, e->path[i].sport != e->path[k].sport, i, k);
		}
		SIM_CHECK(sim, bytes == e->ps.inflight_bytes, bytes, e->ps.inflight_bytes);
		SIM_CHECK(sim, pkts == e->ps.inflight_pkts, pkts, e->ps.inflight_pkts);
		for (i = 0; i < sim->cfg.n_qps && !(sim->steps & 3); i++)
			check_qp(sim, &e->qp[i]);
	}
}

/* When all is done and delivered nothing may be left over */
void mroce_sim_check_quiet(struct sim *sim)
{
	const struct sim_end *e;
	int i;

	for (e = sim->end; e < sim->end + 2; e++) {
		SIM_CHECK(sim, !e->ps.inflight_bytes, e->id, e->ps.inflight_bytes);
		for (i = 0; i < sim->cfg.n_qps; i++) {
			SIM_CHECK(sim, !mroce_txs_busy(&e->qp[i].txs), e->id, i);
			SIM_CHECK(sim, !e->qp[i].txs.n_rtx && !e->qp[i].txs.n_deferred, e->id, i);
			SIM_CHECK(sim, e->qp[i].rx_done == sim->end[!e->id].qp[i].n_msgs,
				  e->qp[i].rx_done, i);
		}
	}
}

/* From now on the ports of some paths lead nowhere */
static void kill_paths(struct sim *sim)
{
	struct sim_end *e;
	int i;

	sim->dying = true;
	for (e = sim->end; e < sim->end + 2; e++) {
		for (i = 0; i < sim->cfg.dead_path; i++) {
			e->dead_port[i] = e->path[i].sport;
			e->dead_back[i] = e->back[i].sport;
		}
	}
}

/* Return: false when there is nothing to wait for */
static bool step(struct sim *sim)
{
	u64 at = mroce_sim_next_ns(sim);
	struct sim_pkt *pkt;
	struct sim_end *e;

	for (e = sim->end; e < sim->end + 2; e++)
		at = min_t(u64, at, mroce_sim_end_deadline(sim, e));
	if (at == U64_MAX)
		return false;
	if (at > sim->now)
		sim->now = at;
	if (sim->cfg.dead_at && !sim->dying && sim->now >= sim->cfg.dead_at)
		kill_paths(sim);
	if (mroce_sim_next_ns(sim) <= sim->now) {
		pkt = mroce_sim_pop(sim);
		if (pkt->kind == SIM_COMMIT)
			mroce_sim_commit(sim, &sim->end[pkt->to], pkt->qp, pkt->psn);
		else
			mroce_sim_arrival(sim, pkt);
		mroce_sim_free(sim, pkt);
	}
	for (e = sim->end; e < sim->end + 2; e++) {
		mroce_sim_end_timers(sim, e);
		mroce_sim_ack_timers(sim, e);
		mroce_sim_end_send(sim, e);
	}
	sim->steps++;
	return true;
}

static bool all_done(const struct sim *sim)
{
	return mroce_sim_end_done(&sim->end[0]) && mroce_sim_end_done(&sim->end[1]);
}

void mroce_sim_run(struct sim *sim, const struct sim_cfg *cfg, u64 seed)
{
	u64 quiet_by;
	int i, q;

	memset(sim, 0, sizeof(*sim));
	sim->cfg = *cfg;
	sim->now = SIM_SEC;
	rnd_seed(&sim->rnd, seed);
	mroce_sim_net_init(sim);
	for (i = 0; i < 2; i++) {
		sim->end[i].id = i;
		mroce_sim_end_init(sim, &sim->end[i]);
	}
	for (i = 0; i < 2; i++) {
		for (q = 0; q < cfg->n_qps; q++) {
			mroce_rxs_init(&sim->end[i].qp[q].rxs, sim->end[!i].qp[q].first_psn);
			sim->end[i].qp[q].cum_seen = sim->end[!i].qp[q].first_psn;
		}
	}
	for (i = 0; i < 2; i++)
		mroce_sim_end_send(sim, &sim->end[i]);
	while (!sim->broken && !all_done(sim)) {
		SIM_CHECK(sim, step(sim), sim->steps, 0);
		SIM_CHECK(sim, sim->now < SIM_SEC + cfg->deadline_ns, sim->now, sim->steps);
		mroce_sim_check(sim);
	}
	sim->done_at = sim->now - SIM_SEC;
	quiet_by = sim->now + cfg->rest_ns;
	while (!sim->broken && step(sim) && sim->now < quiet_by)
		mroce_sim_check(sim);
	SIM_CHECK(sim, cfg->dead_at || sim->now < quiet_by, sim->now, quiet_by);
	mroce_sim_check_quiet(sim);
}
