// SPDX-License-Identifier: GPL-2.0
/*
 * All paths of a connection; see pathset.h.
 *
 * Whose fault is a silence? A path is silent when it has packets in flight and
 * nothing came back for a probe timeout.
 *  - It was heard a moment ago: only its newest packets are missing. A PROBE
 *    follows them; its answer shows the gap (tail loss).
 *  - Other paths were heard after the answer was due: the path. SUSPECT with a
 *    PROBE on the old port; its packets go elsewhere, unless it is known to lose some.
 *    When it stays silent, FAILED: it gets a new port and has to prove it.
 *  - Nothing was heard at all: perhaps only this path was busy, perhaps the peer
 *    is gone. A PROBE on this path and one on an idle path as a witness: if the
 *    witness answers, it was the path. If not, one PROBE a timeout with back-off,
 *    one path after the other; from the third PROBE on the path also gets a new
 *    port and its packets go again, so nothing is stuck for ever.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "pathset.h"
#include "plane.h"
#include "sched.h"

/* Loss rate above which one unanswered probe proves nothing: 1 %. */
#define LOSSY_Q16	655
/* Timeouts with everything silent before paths are re-rolled. */
#define SILENT_REROLL	3
/* So many of them come in quick succession. */
#define SILENT_EAGER	16
/* Packets between two requests for an acknowledgement. */
#define ASK_MAX_PKTS	16u

/*
 * Round trips of @p, as far as timeouts go. Paths of a plane share its queues: when one of them
 * finds these full, the others' packets are late as well, though they have not told so yet.
 */
static struct mroce_rtt path_rtt(const struct mroce_pathset *ps, const struct mroce_path *p)
{
	struct mroce_rtt rtt = p->rtt;

	if (rtt.srtt_ns)
		rtt.srtt_ns = max(rtt.srtt_ns, ps->plane[p->plane].rtt_ns);
	return rtt;
}

/* What was measured before a silence longer than itself tells nothing about the queue now. */
static void plane_rtt_sample(struct mroce_pathset *ps, u8 plane, u64 rtt_ns, u64 now)
{
	struct mroce_ps_plane *pl = &ps->plane[plane];

	if (rtt_ns > pl->rtt_ns || now - pl->sampled_ns > pl->rtt_ns)
		pl->rtt_ns = rtt_ns;
	else
		pl->rtt_ns -= (pl->rtt_ns - rtt_ns) / 8;
	pl->sampled_ns = now;
}

static u64 path_pto_ns(const struct mroce_pathset *ps, const struct mroce_path *p, u32 n)
{
	struct mroce_rtt rtt = path_rtt(ps, p);
	u32 i;

	if (rtt.srtt_ns)
		return mroce_rtt_pto_ns(&rtt, ps->cfg.ack_delay_ns, n);
	/* Never heard: a sibling's round trip is a better guess than the initial value. */
	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].rtt.srtt_ns)
			return 2 * mroce_rtt_pto_ns(&ps->path[i].rtt, ps->cfg.ack_delay_ns, n);
	return mroce_rtt_pto_ns(&p->rtt, ps->cfg.ack_delay_ns, n);
}

static void act_add(struct mroce_path *p, enum mroce_ps_act act)
{
	p->acts |= 1u << act;
}

void mroce_pathset_init(struct mroce_pathset *ps, const struct mroce_pathset_cfg *cfg,
			struct mroce_path *path, const u32 *rnd, u64 now)
{
	memset(ps, 0, sizeof(*ps));
	ps->cfg = *cfg;
	ps->cfg.max_paths = max(cfg->max_paths, cfg->n_paths);
	ps->cfg.n_paths = 0;
	ps->path = path;
	ps->last_heard_ns = now;
	if (!ps->cfg.cc)
		ps->cfg.cc = MROCE_CC_DEFAULT;
	mroce_cc_start(ps->cfg.cc, &ps->cc, cfg->init_window_bytes, cfg->max_window_bytes,
		       cfg->pkt_bytes);
	mroce_plane_open(ps, 0, cfg->n_paths, true, rnd, now);
}

int mroce_pathset_pick(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer, u64 now)
{
	return mroce_pathset_pick_for(ps, cpu, bytes, prefer, NULL, now);
}

int mroce_pathset_pick_for(struct mroce_pathset *ps, int cpu, u32 bytes, int prefer,
			   const struct mroce_want *want, u64 now)
{
	if (prefer >= 0)
		return mroce_sched_pick_rtx(ps, cpu, bytes, prefer, want, now);
	return mroce_sched_pick(ps, cpu, bytes, want, now);
}

u32 mroce_pathset_sent(struct mroce_pathset *ps, int idx, int cpu, u32 stream, u16 gen,
		       u32 psn, u32 bytes, u64 now)
{
	struct mroce_path *p = &ps->path[idx];
	struct mroce_sb_rec rec = {
		.sent_ns = now,
		.stream = stream,
		.psn = psn,
		.bytes = bytes,
		.gen = gen,
	};

	p->owner_cpu = cpu;
	p->tx_pkts++;
	p->tx_bytes += bytes;
	ps->inflight_bytes += bytes;
	ps->inflight_pkts++;
	ps->plane[p->plane].inflight_bytes += bytes;
	ps->plane[p->plane].inflight_pkts++;
	mroce_sched_sent(ps, idx, bytes);
	return mroce_sb_sent(&p->sb, &rec);
}

static bool ask_after(struct mroce_pathset *ps, u32 pkts)
{
	if (ps->unasked_pkts < pkts)
		return false;
	ps->unasked_pkts = 0;
	return true;
}

bool mroce_pathset_ask(struct mroce_pathset *ps)
{
	ps->unasked_pkts++;
	return ask_after(ps, ASK_MAX_PKTS);
}

bool mroce_pathset_ask_end(struct mroce_pathset *ps, bool blocked)
{
	return ask_after(ps, blocked ? clamp(ps->inflight_pkts / 4, 1u, ASK_MAX_PKTS) : 0);
}

/* The path's flight has changed from @bytes, @pkts: so has the connection's. */
static void sync_inflight(struct mroce_pathset *ps, const struct mroce_path *p, u32 bytes,
			  u32 pkts)
{
	struct mroce_ps_plane *plane = &ps->plane[p->plane];

	bytes = p->sb.inflight_bytes - bytes;
	pkts = p->sb.inflight_pkts - pkts;
	ps->inflight_bytes += bytes;
	ps->inflight_pkts += pkts;
	plane->inflight_bytes += bytes;
	plane->inflight_pkts += pkts;
}

void mroce_pathset_forget_probes(struct mroce_pathset *ps, struct mroce_path *p)
{
	u32 pkts = p->sb.inflight_pkts;

	mroce_sb_forget_probes(&p->sb);
	sync_inflight(ps, p, p->sb.inflight_bytes, pkts);
}

bool mroce_pathset_probe_room(struct mroce_pathset *ps, int idx)
{
	struct mroce_path *p = &ps->path[idx];

	if (!mroce_sb_can_send(&p->sb))
		mroce_pathset_forget_probes(ps, p);
	if (mroce_sb_can_send(&p->sb))
		return true;
	p->acts &= ~(1u << MROCE_PS_PROBE);
	act_add(p, MROCE_PS_FLUSH);
	return false;
}

bool mroce_pathset_probe_full(const struct mroce_pathset *ps, int idx)
{
	const struct mroce_path *p = &ps->path[idx];

	return p->state == MROCE_PATH_PROBING && p->good_probes &&
	       !ps->plane[p->plane].proved && mroce_plane_another(ps, p->plane);
}

u32 mroce_pathset_probe_sent(struct mroce_pathset *ps, int idx, int cpu, u64 now)
{
	struct mroce_path *p = &ps->path[idx];
	struct mroce_sb_rec rec = { .sent_ns = now, .probe = true };

	if (!p->sb.inflight_pkts)
		p->owner_cpu = cpu;
	p->acts &= ~(1u << MROCE_PS_PROBE);
	ps->inflight_pkts++;
	ps->plane[p->plane].inflight_pkts++;
	mroce_sched_probed(ps, idx);
	return mroce_sb_sent(&p->sb, &rec);
}

/*
 * How long the answer to the first PROBE of a tail is waited for. The path may have died
 * since it was heard, so not for another probe timeout: that is when it was heard last.
 */
static u64 answer_ns(const struct mroce_pathset *ps, const struct mroce_path *p)
{
	struct mroce_rtt rtt = path_rtt(ps, p);
	u64 pto = path_pto_ns(ps, p, 0);

	return rtt.srtt_ns ? min(rtt.srtt_ns + rtt.rttvar_ns + ps->cfg.ack_delay_ns, pto) : pto;
}

/*
 * The network works again: nobody waits for back-offs that belong to the silence,
 * and what was not answered during a long one is not held against a path. After a
 * short one, in which paths were asked, those that do not answer as well are at fault.
 */
static void end_silence(struct mroce_pathset *ps, u64 now)
{
	bool was_long = ps->n_silent > 1;
	u32 i;

	ps->silent = false;
	ps->n_silent = 0;
	ps->silent_next_ns = 0;
	for (i = 0; i < ps->cfg.n_paths; i++) {
		struct mroce_path *p = &ps->path[i];

		p->timer_ns = min(p->timer_ns, now + path_pto_ns(ps, p, 0));
		if (!was_long) {
			if (p->n_pto)
				p->timer_ns = min(p->timer_ns, ps->asked_ns + answer_ns(ps, p));
			continue;
		}
		p->n_pto = 0;
		p->backoff = 0;
		if (p->state == MROCE_PATH_SUSPECT)
			act_add(p, MROCE_PS_PROBE);
	}
}

/* @proof: the answer to a PROBE of this port, by way of its plane */
static void path_heard(struct mroce_pathset *ps, struct mroce_path *p, bool proof, u64 now)
{
	if (ps->silent)
		end_silence(ps, now);
	ps->last_heard_ns = now;
	ps->doubted &= ~(1u << p->plane);
	p->last_ack_ns = now;
	p->n_refused = 0;
	p->n_pto = 0;
	p->grace = false;
	if (p->state == MROCE_PATH_PROBING) {
		if (!proof)
			return;
		p->backoff = 0;
		p->timer_ns = now;
		if (++p->good_probes < MROCE_PATH_GOOD_PROBES)
			return;
		mroce_path_event(p, MROCE_PATH_EV_PROVED);
		ps->cfg.cc->path_init(&ps->cc, &p->cc, MROCE_PATH_FRESH_PKTS * ps->cfg.pkt_bytes);
		mroce_plane_proved(ps, p, now);
	} else if (mroce_path_event(p, MROCE_PATH_EV_ACKED)) {
		p->acts &= ~(1u << MROCE_PS_PROBE);
	}
	/* timer_ns stays: what is missing has been asked for, not again with every arrival. */
}

static void account_loss(struct mroce_pathset *ps, struct mroce_path *p, u32 n, u32 lost)
{
	mroce_path_rate(&p->loss_q16, MROCE_PATH_RATE_PKTS, n, lost);
	mroce_plane_loss(ps, p->plane, n, lost);
}

static void account_rates(struct mroce_pathset *ps, struct mroce_path *p,
			  const struct mroce_ps_ack_result *res)
{
	account_loss(ps, p, res->acked_pkts + res->lost_pkts, res->lost_pkts);
	mroce_path_rate(&p->mark_q16, MROCE_PATH_RATE_PKTS, res->acked_pkts, res->marked_pkts);
	p->rate_pkts += res->acked_pkts + res->lost_pkts;
}

/* A new source port: a new epoch. */
static void change_port(struct mroce_pathset *ps, struct mroce_path *p, u32 rnd)
{
	p->sport = mroce_plane_sport(ps, rnd + p->id * 0x9e3779b1u);
	p->rerolls++;
	p->rate_pkts = 0;
	mroce_sb_new_epoch(&p->sb);
	mroce_rtt_new_path(&p->rtt);
	act_add(p, MROCE_PS_REROLL);
}

/* Another port may lead another way; what is in flight arrives or is lost by the time rule. */
static void leave_bad_route(struct mroce_pathset *ps, struct mroce_path *p, u32 rnd)
{
	if (p->rate_pkts < MROCE_PATH_RATE_PKTS || p->state != MROCE_PATH_ACTIVE)
		return;
	p->rate_pkts = 0;
	if (!mroce_plane_bad_route(ps, p))
		return;
	change_port(ps, p, rnd);
	p->loss_q16 = 0;
	p->mark_q16 = 0;
}

/*
 * How much older than an acknowledged packet one may be before the time rule
 * takes it for lost: a round trip, and on a path that reorders also what round
 * trips have been seen to vary.
 */
static u64 reorder_ns(const struct mroce_path *p)
{
	return p->rtt.srtt_ns + (p->sb.reo_tol ? 4 * p->rtt.rttvar_ns : 0);
}

/* The last call for a part: totals are in @res. */
static void ack_done(struct mroce_pathset *ps, struct mroce_path *p,
		     const struct mroce_ack_part *part, struct mroce_ps_ack_result *res, u64 now)
{
	struct mroce_cc_sample s = {
		.now_ns = now,
		.acked_bytes = res->acked_bytes,
		.lost_bytes = res->lost_bytes,
		.rtt_ns = res->rtt_ns,
		.path_prior_bytes = p->sb.inflight_bytes + res->acked_bytes + res->lost_bytes,
		.conn_prior_bytes = ps->inflight_bytes + res->acked_bytes + res->lost_bytes,
	};
	u32 marks = mroce_path_marks(p, part->ce_count);
	bool new_epoch = res->advanced && !mroce_seq_before(part->highest, p->sb.epoch_seq);

	res->marked_pkts = min(marks, res->acked_pkts);
	if (marks)
		mroce_sched_marked(ps, p->id);
	if (res->acked_pkts)
		s.marked_bytes = (u64)res->acked_bytes * res->marked_pkts / res->acked_pkts;
	/*
	 * The newest packet is always one that was not held up: only those that
	 * arrive after they were given up tell how long the path can take.
	 */
	if (res->late_ns)
		mroce_rtt_sample(&p->rtt, res->late_ns, 0, now);
	if (res->rtt_ns) {
		mroce_rtt_sample(&p->rtt, res->rtt_ns, part->ack_delay_us * 1000ull, now);
		plane_rtt_sample(ps, p->plane, res->rtt_ns, now);
	}
	account_rates(ps, p, res);
	p->acked_pkts += res->acked_pkts;
	mroce_path_acked(p, res->acked_bytes, now);
	p->lost_pkts += res->lost_pkts;
	p->spurious_pkts += res->spurious_pkts;
	p->marked_pkts += res->marked_pkts;
	s.srtt_ns = p->rtt.srtt_ns;
	s.min_rtt_ns = p->rtt.min_ns;
	s.loss_q16 = p->loss_q16;
	if (res->acked_bytes || res->lost_bytes)
		ps->cfg.cc->on_ack(&ps->cc, &p->cc, &s);
	/*
	 * The peer can guess numbers, not receive at an address that is not its own: an answer
	 * that comes another way does not show that the plane leads to it.
	 */
	path_heard(ps, p, new_epoch && part->by == p->plane, now);
	leave_bad_route(ps, p, part->highest);
}

int mroce_pathset_ack(struct mroce_pathset *ps, const struct mroce_ack_part *part, u64 now,
		      struct mroce_ps_ack_result *res, struct mroce_ps_event *ev, int max)
{
	struct mroce_path *p;
	u32 bytes, pkts;
	int n;

	res->more = false;
	if (part->path >= ps->cfg.n_paths)
		return 0;
	p = &ps->path[part->path];
	bytes = p->sb.inflight_bytes;
	pkts = p->sb.inflight_pkts;
	n = mroce_sb_ack(&p->sb, part, reorder_ns(p), now, res, ev, max);
	sync_inflight(ps, p, bytes, pkts);
	if (!res->more && res->heard)
		ack_done(ps, p, part, res, now);
	return n;
}

int mroce_pathset_flush(struct mroce_pathset *ps, int idx, struct mroce_ps_event *ev, int max)
{
	struct mroce_ps_ack_result res = { 0 };
	struct mroce_path *p = &ps->path[idx];
	u32 bytes = p->sb.inflight_bytes;
	u32 pkts = p->sb.inflight_pkts;
	int n = mroce_sb_flush(&p->sb, &res, ev, max);

	p->lost_pkts += res.lost_pkts;
	sync_inflight(ps, p, bytes, pkts);
	return n;
}

/* Packets of one batch are refused together: that is one refusal. */
static void rest(struct mroce_path *p, u64 now)
{
	if (p->rest_ns > now)
		return;
	p->rest_ns = now + (MROCE_REFUSED_MIN_NS << p->n_refused);
	/* Perhaps it is this source port that is refused: then the probe is, too. */
	if (p->n_refused > 1)
		act_add(p, MROCE_PS_PROBE);
	p->n_refused = min(p->n_refused + 1, MROCE_REFUSED_DOUBLINGS);
}

bool mroce_pathset_local_drop(struct mroce_pathset *ps, int idx, u32 seq, u64 now,
			      struct mroce_ps_event *ev)
{
	struct mroce_path *p = &ps->path[idx];
	u32 bytes = p->sb.inflight_bytes;
	u32 pkts = p->sb.inflight_pkts;
	bool data = mroce_sb_drop(&p->sb, seq, ev);

	sync_inflight(ps, p, bytes, pkts);
	if (data)
		rest(p, now);
	return data;
}

int mroce_pathset_time_loss(struct mroce_pathset *ps, int idx, u64 now,
			    struct mroce_ps_event *ev, int max)
{
	struct mroce_ps_ack_result res = { 0 };
	struct mroce_path *p = &ps->path[idx];
	u32 bytes = p->sb.inflight_bytes;
	u32 pkts = p->sb.inflight_pkts;
	int n = mroce_sb_time_loss(&p->sb, reorder_ns(p), &res, ev, max);

	p->lost_pkts += res.lost_pkts;
	account_loss(ps, p, res.lost_pkts, res.lost_pkts);
	sync_inflight(ps, p, bytes, pkts);
	return n;
}

/* When @p's timer is due; U64_MAX = not needed. */
static u64 path_deadline(const struct mroce_pathset *ps, const struct mroce_path *p)
{
	if (p->acts)
		return 0;
	if (p->state == MROCE_PATH_OFF)
		return U64_MAX;
	if (p->state == MROCE_PATH_PROBING)
		return p->timer_ns;
	if (p->sb.inflight_pkts)
		return max(p->timer_ns, mroce_sb_oldest_ns(&p->sb) + path_pto_ns(ps, p, 0));
	return p->state == MROCE_PATH_SUSPECT ? p->timer_ns : U64_MAX;
}

u64 mroce_pathset_deadline(const struct mroce_pathset *ps)
{
	u64 due = U64_MAX;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++) {
		due = min(due, path_deadline(ps, &ps->path[i]));
		if (ps->path[i].rest_ns)
			due = min(due, ps->path[i].rest_ns);
	}
	return due;
}

/* The port leads nowhere: its packets go elsewhere, the next one has to prove itself. */
static void reroll(struct mroce_pathset *ps, struct mroce_path *p, u32 rnd)
{
	change_port(ps, p, rnd);
	mroce_path_event(p, MROCE_PATH_EV_REROLL);
	p->good_probes = 0;
	if (p->sb.inflight_data)
		act_add(p, MROCE_PS_FLUSH);
	else
		mroce_pathset_forget_probes(ps, p);
	act_add(p, MROCE_PS_PROBE);
	mroce_plane_doubt(ps, p->plane);
}

/*
 * A path of this plane is silent: it may be the plane. Until something is heard there others
 * are taken; its idle paths would not notice by themselves, so they ask.
 */
static void doubt_plane(struct mroce_pathset *ps, u8 plane)
{
	u32 i;

	if (ps->doubted & 1u << plane)
		return;
	ps->doubted |= 1u << plane;
	for (i = 0; i < ps->cfg.n_paths; i++) {
		struct mroce_path *p = &ps->path[i];

		if (p->plane == plane && p->state == MROCE_PATH_ACTIVE && !p->sb.inflight_pkts)
			act_add(p, MROCE_PS_PROBE);
	}
}

/* Only this path is silent. */
static void pto_alone(struct mroce_pathset *ps, struct mroce_path *p, u64 now, u32 rnd)
{
	if (mroce_plane_another(ps, p->plane))
		doubt_plane(ps, p->plane);
	mroce_path_event(p, MROCE_PATH_EV_PTO);
	/* Probed already while all was silent: no second chance, unless the path is lossy. */
	if (p->state == MROCE_PATH_SUSPECT && p->n_pto > 1 && p->loss_q16 < LOSSY_Q16)
		mroce_path_event(p, MROCE_PATH_EV_PTO);
	if (p->sb.inflight_data)
		ps->cfg.cc->on_pto(&ps->cc, &p->cc);
	p->timer_ns = now + max(path_pto_ns(ps, p, 0), MROCE_PROBE_MIN_NS);
	if (p->state != MROCE_PATH_FAILED) {
		/* Streams wait for it. But on a lossy path it is rather the answer that is lost. */
		if (p->sb.inflight_data && p->loss_q16 < LOSSY_Q16)
			act_add(p, MROCE_PS_FLUSH);
		act_add(p, MROCE_PS_PROBE);
		return;
	}
	reroll(ps, p, rnd);
	p->backoff = 0;
}

/* Ask on a path that has nothing to do whether the peer lives. */
static void call_witness(struct mroce_pathset *ps, const struct mroce_path *silent)
{
	u32 i;

	for (i = 1; i < ps->cfg.n_paths; i++) {
		struct mroce_path *p = &ps->path[(silent->id + i) % ps->cfg.n_paths];

		if (p->state == MROCE_PATH_ACTIVE && !p->sb.inflight_pkts) {
			act_add(p, MROCE_PS_PROBE);
			return;
		}
	}
}

/*
 * Back-off of the probes in silence. Bounded at first: verbs give up after half a
 * second by default, and until then a way that works again has to be found.
 */
static u64 silent_wait_ns(const struct mroce_pathset *ps, const struct mroce_path *p)
{
	u64 wait = path_pto_ns(ps, p, ps->n_silent - 1);

	if (ps->n_silent <= SILENT_EAGER)
		wait = min(wait, MROCE_PROBE_MAX_NS);
	return max(wait, path_pto_ns(ps, p, 0));
}

void mroce_pathset_wake(struct mroce_pathset *ps, u64 now)
{
	u32 i;

	if (!ps->silent || ps->n_silent <= SILENT_REROLL)
		return;
	ps->n_silent = SILENT_REROLL;
	ps->silent_next_ns = now;
	for (i = 0; i < ps->cfg.n_paths; i++) {
		ps->path[i].backoff = 0;
		ps->path[i].timer_ns = min(ps->path[i].timer_ns, now);
	}
}

/* Everything is silent. One path acts for all, the others wait with it. */
static void pto_silent(struct mroce_pathset *ps, struct mroce_path *p, u64 now, u32 rnd)
{
	if (now < ps->silent_next_ns) {
		p->timer_ns = ps->silent_next_ns;
		return;
	}
	ps->silent = true;
	ps->n_silent = min_t(u32, ps->n_silent + 1, U8_MAX);
	ps->turn = p->id + 1;
	ps->asked_ns = now;
	ps->silent_next_ns = now + silent_wait_ns(ps, p);
	p->timer_ns = ps->silent_next_ns;
	if (ps->n_silent == 1)
		call_witness(ps, p);
	if (ps->n_silent < SILENT_REROLL) {
		act_add(p, MROCE_PS_PROBE);
		return;
	}
	mroce_path_event(p, MROCE_PATH_EV_MUTE);
	ps->cfg.cc->on_pto(&ps->cc, &p->cc);
	reroll(ps, p, rnd);
}

static void busy_timeout(struct mroce_pathset *ps, struct mroce_path *p, u64 now, u32 rnd)
{
	struct mroce_rtt rtt = path_rtt(ps, p);
	u64 since = p->last_ack_ns;
	bool tail = now - since < path_pto_ns(ps, p, 0);
	bool alone;

	if (p->sb.inflight_pkts)
		since = max(since, mroce_sb_oldest_ns(&p->sb));
	alone = ps->last_heard_ns > since + mroce_rtt_rto_ns(&rtt, ps->cfg.ack_delay_ns);
	if (p->state == MROCE_PATH_ACTIVE && !p->sb.inflight_data && !alone) {
		/* Only PROBEs out: their streams ask again, elsewhere if possible. */
		mroce_pathset_forget_probes(ps, p);
		mroce_sched_marked(ps, p->id);
		p->timer_ns = 0;
		return;
	}
	p->ptos++;
	p->n_pto = min_t(u32, p->n_pto + 1, U8_MAX);
	if (tail) {
		act_add(p, MROCE_PS_PROBE);
		p->timer_ns = now + (p->n_pto > 1 ? path_pto_ns(ps, p, p->n_pto - 1) :
				     answer_ns(ps, p));
	} else if (alone) {
		pto_alone(ps, p, now, rnd);
	} else {
		pto_silent(ps, p, now, rnd);
	}
}

bool mroce_pathset_may_ask(const struct mroce_pathset *ps, int idx, u64 now)
{
	const struct mroce_path *p = &ps->path[idx];

	return !ps->cfg.strangers || p->good_probes || ps->plane[p->plane].proved ||
	       mroce_gate_pass(ps->cfg.strangers, now, MROCE_STRANGER_NS, MROCE_STRANGER_BURST);
}

/* A probe of the new port is overdue. Two unanswered: the port is no better than the last. */
static void probing_timeout(struct mroce_pathset *ps, struct mroce_path *p, u64 now, u32 rnd)
{
	u64 cap = ps->silent || !ps->inflight_bytes ? MROCE_PROBE_IDLE_NS : MROCE_PROBE_MAX_NS;
	u64 wait = min(MROCE_PROBE_MIN_NS << min_t(u32, p->backoff, 20), cap);

	/* As long as a plane says nothing one of its paths asks for all. */
	if (!mroce_plane_asks(ps, p)) {
		p->timer_ns = now + MROCE_PROBE_IDLE_NS;
		return;
	}
	if (!mroce_pathset_may_ask(ps, p->id, now)) {
		p->timer_ns = now + MROCE_STRANGER_NS;
		return;
	}
	/* An answer that comes later still counts, by its sequence. */
	mroce_pathset_forget_probes(ps, p);
	if (p->sb.inflight_data)
		act_add(p, MROCE_PS_FLUSH);
	act_add(p, MROCE_PS_PROBE);
	if (p->backoff % 2 && !ps->silent)
		reroll(ps, p, rnd);
	p->timer_ns = now + max(wait, path_pto_ns(ps, p, 0));
	p->backoff = min_t(u32, p->backoff + 1, U8_MAX);
}

/* Hand out what @p wants done, in the order it must be done. */
static int drain_acts(struct mroce_path *p, struct mroce_ps_action *act, int max)
{
	static const u8 order[] = { MROCE_PS_FLUSH, MROCE_PS_REROLL, MROCE_PS_PROBE };
	int n = 0;
	u32 i;

	for (i = 0; i < sizeof(order) && n < max; i++) {
		if (!(p->acts & 1u << order[i]))
			continue;
		p->acts &= ~(1u << order[i]);
		act[n].act = order[i];
		act[n++].path = p->id;
	}
	return n;
}

/*
 * Is it the path that is late, or is it we? A host that did not get to look at its timer
 * has not looked at what came in either: it gets the time to do that, once.
 */
static bool on_time(const struct mroce_pathset *ps, struct mroce_path *p, u64 now)
{
	if (p->state != MROCE_PATH_ACTIVE || p->grace ||
	    now - path_deadline(ps, p) < MROCE_PTO_MIN_NS)
		return true;
	p->grace = true;
	p->timer_ns = now + MROCE_PTO_MIN_NS;
	return false;
}

int mroce_pathset_timer(struct mroce_pathset *ps, u64 now, u32 rnd,
			struct mroce_ps_action *act, int max)
{
	u32 first = ps->turn;
	int n = 0;
	u32 i;

	for (i = 0; i < ps->cfg.n_paths; i++) {
		struct mroce_path *p = &ps->path[(first + i) % ps->cfg.n_paths];

		if (p->rest_ns <= now)
			p->rest_ns = 0;
		if (p->acts || path_deadline(ps, p) > now || !on_time(ps, p, now))
			continue;
		if (p->state == MROCE_PATH_PROBING)
			probing_timeout(ps, p, now, rnd);
		else
			busy_timeout(ps, p, now, rnd);
	}
	for (i = 0; i < ps->cfg.n_paths && n < max; i++)
		n += drain_acts(&ps->path[i], act + n, max - n);
	return n;
}

/* Of two paths, is the answer to a PROBE on @p to be expected rather than one on @than? */
static bool better_to_ask(const struct mroce_path *p, const struct mroce_path *than, int cpu)
{
	static const u8 rank[MROCE_PATH_STATES] = {
		[MROCE_PATH_ACTIVE] = 2, [MROCE_PATH_SUSPECT] = 1, [MROCE_PATH_PROBING] = 1,
	};

	if (rank[p->state] != rank[than->state])
		return rank[p->state] > rank[than->state];
	/* What another CPU has numbered may not have left yet. */
	if (mroce_path_owned(p, cpu) != mroce_path_owned(than, cpu))
		return mroce_path_owned(p, cpu);
	return p->last_ack_ns > than->last_ack_ns;
}

int mroce_pathset_any(struct mroce_pathset *ps, int cpu)
{
	int best = 0;
	u32 i;

	/* In silence no path is known to be better, and one of them may work. */
	for (i = 0; ps->silent && i < ps->cfg.n_paths; i++) {
		best = ps->any++ % ps->cfg.n_paths;
		if (ps->path[best].state != MROCE_PATH_OFF)
			return best;
	}

	for (i = 1; i < ps->cfg.n_paths; i++)
		if (better_to_ask(&ps->path[i], &ps->path[best], cpu))
			best = i;
	return best;
}

void mroce_pathset_share(struct mroce_pathset *ps, u32 share_mbps, u64 now)
{
	u64 rtt_ns = U64_MAX;
	u32 i;

	if (!share_mbps)
		return;
	for (i = 0; i < ps->cfg.n_paths; i++)
		if (ps->path[i].rtt.min_ns)
			rtt_ns = min(rtt_ns, ps->path[i].rtt.min_ns);
	if (rtt_ns != U64_MAX)
		mroce_cc_share(&ps->cc, share_mbps, rtt_ns, now);
}

u64 mroce_pathset_rto_ns(const struct mroce_pathset *ps)
{
	/* The path set may be in the middle of mroce_pathset_init(). */
	const struct mroce_path *path = READ_ONCE(ps->path);
	u32 n = READ_ONCE(ps->cfg.n_paths);
	u64 rto = 0;
	u32 i;

	for (i = 0; path && i < n; i++) {
		const struct mroce_path *p = &path[i];

		if (p->rtt.srtt_ns && p->state != MROCE_PATH_FAILED && p->state != MROCE_PATH_OFF)
			rto = max(rto, mroce_rtt_rto_ns(&p->rtt, ps->cfg.ack_delay_ns));
	}
	return rto ? rto : MROCE_PTO_INITIAL_NS;
}
