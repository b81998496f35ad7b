// SPDX-License-Identifier: GPL-2.0
/*
 * Sending end of a stream. Decides which psns may go (again), what a record of
 * the peer changes, and when the verbs' patience is over. Which packets were
 * lost, and on which path the next one goes, is the path level's business.
 */
#include <linux/limits.h>
#include <linux/string.h>

#include "txs.h"

#define VERBS_FOREVER	7	/* rnr_retry */

/* IBTA table 45 in units of 10 us: powers of two and the steps half-way. */
static const u32 rnr_10us[32] = {
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
};

u64 mroce_rnr_timer_ns(u8 code)
{
	return rnr_10us[code % 32] * 10000ull;
}

u64 mroce_timeout_ns(u8 code)
{
	return code % 32 ? 4096ull << (code % 32) : 0;
}

void mroce_txs_init(struct mroce_txs *s, u32 psn, const struct mroce_txs_cfg *cfg)
{
	memset(s, 0, sizeof(*s));
	s->cfg = *cfg;
	s->cfg.window = clamp_t(u32, cfg->window, 1, MROCE_STREAM_WINDOW);
	s->una = psn;
	s->nxt = psn;
	s->rnr_left = cfg->rnr_retry;
	s->retry_left = cfg->retry_cnt;
}

bool mroce_txs_busy(const struct mroce_txs *s)
{
	return s->una != s->nxt;
}

bool mroce_txs_engaged(const struct mroce_txs *s)
{
	return mroce_txs_busy(s) || s->owed;
}

u32 mroce_txs_room(const struct mroce_txs *s)
{
	u32 used = s->nxt - s->una;
	u32 max = s->cfg.window;

	if (s->rnr_wait || s->n_deferred)
		return 0;
	if (s->limited)
		max = min_t(u32, max, max_t(s32, mroce_seq_diff(s->limit, s->una), 0));
	return used < max ? max - used : 0;
}

void mroce_txs_sent(struct mroce_txs *s, u32 n, u64 now)
{
	if (!mroce_txs_engaged(s)) {
		s->progress_ns = now;
		s->alive_ns = now;
	}
	s->nxt += n;
}

/* May @psn, sent before, go again now? */
static bool may_go(const struct mroce_txs *s, u32 psn)
{
	return !s->rnr_wait &&
	       (!s->limited || psn == s->una || mroce_seq_before(psn, s->limit));
}

bool mroce_txs_next_rtx(const struct mroce_txs *s, u32 *psn)
{
	u32 at;

	if (!s->n_rtx)
		return false;
	at = s->una + mroce_psnset_first(s->rtx, s->una, s->nxt - s->una);
	if (!may_go(s, at))
		return false;
	*psn = at;
	return true;
}

void mroce_txs_resent(struct mroce_txs *s, u32 psn)
{
	if (mroce_seq_in(psn, s->una, s->nxt))
		s->n_rtx -= mroce_psnset_del(s->rtx, psn);
	s->rescues = min_t(u32, s->rescues + 1, MROCE_STREAM_WINDOW);
}

bool mroce_txs_lost(struct mroce_txs *s, u32 psn)
{
	if (!mroce_seq_in(psn, s->una, s->nxt))
		return false;
	/* Another copy of it was refused: it goes again when that one may. */
	if (mroce_psnset_test(s->deferred, psn))
		return false;
	s->n_rtx += mroce_psnset_add(s->rtx, psn);
	return may_go(s, psn);
}

void mroce_txs_refused(struct mroce_txs *s, u32 psn)
{
	if (!mroce_seq_in(psn, s->una, s->nxt))
		return;
	s->n_rtx -= mroce_psnset_del(s->rtx, psn);
	s->n_deferred += mroce_psnset_add(s->deferred, psn);
}

/* Deferred psns of [from, from + n) go again. Return: whether there were any. */
static bool undefer(struct mroce_txs *s, u32 from, u32 n)
{
	u32 moved = 0;

	if (s->n_deferred)
		moved = mroce_psnset_move(s->deferred, s->rtx, from, n);
	s->n_deferred -= moved;
	s->n_rtx += moved;
	return moved;
}

static void una_to_rtx(struct mroce_txs *s)
{
	/* Only responses are owed: whoever owes them sends them again. */
	if (!mroce_txs_busy(s))
		return;
	s->n_deferred -= mroce_psnset_del(s->deferred, s->una);
	s->n_rtx += mroce_psnset_add(s->rtx, s->una);
}

static void advance(struct mroce_txs *s, u32 cum, u64 now)
{
	u32 n = cum - s->una;

	if (s->n_rtx)
		s->n_rtx -= mroce_psnset_del_range(s->rtx, s->una, n);
	if (s->n_deferred)
		s->n_deferred -= mroce_psnset_del_range(s->deferred, s->una, n);
	s->una = cum;
	s->rescues = 0;
	s->progress_ns = now;
	s->rnr_left = s->cfg.rnr_retry;
	s->rnr_wait = false;
	s->ask_shift = 0;
	s->go_shift = 0;
	s->go_ns = 0;
}

void mroce_txs_heard(struct mroce_txs *s, u64 now)
{
	/* Old news does not end the silence since. */
	if (now < s->alive_ns)
		return;
	s->alive_ns = now;
	s->retry_left = s->cfg.retry_cnt;
}

/* A refusal not counted yet: begins the wait and burns a retry, once per wait. */
static u32 rnr_begin(struct mroce_txs *s, u8 code, u64 now)
{
	if (s->rnr_wait)
		return 0;
	if (s->cfg.rnr_retry != VERBS_FOREVER) {
		if (!s->rnr_left)
			return MROCE_TXS_RNR_EXCEEDED;
		s->rnr_left--;
	}
	s->rnr_wait = true;
	s->rnr_until = now + mroce_rnr_timer_ns(code);
	return MROCE_TXS_RNR;
}

/* The accepting or refusing part of a record whose cumulative psn is applied. */
static u32 refusal_apply(struct mroce_txs *s, const struct mroce_rec *rec, bool advanced,
			 u64 now)
{
	bool counted = (s16)(rec->refusals - s->refusals) > 0;
	bool moved = false;
	u32 res = 0;

	if (counted)
		s->refusals = rec->refusals;
	if (rec->syndrome == MROCE_SYN_OK || !mroce_txs_busy(s)) {
		if (advanced || s->limited)
			moved = undefer(s, s->una, s->nxt - s->una);
		s->limited = false;
	} else {
		s->limited = true;
		s->limit = mroce_seq_before(rec->limit_psn, s->una) ? s->una : rec->limit_psn;
		if (advanced)
			moved = undefer(s, s->una, clamp_t(u32, s->limit - s->una, 1,
							   s->nxt - s->una));
		if (counted && rec->syndrome == MROCE_SYN_RNR)
			res = rnr_begin(s, rec->rnr_timer, now);
	}
	return moved && !s->rnr_wait ? res | MROCE_TXS_RESUME : res;
}

u32 mroce_txs_record(struct mroce_txs *s, const struct mroce_rec *rec, u64 now)
{
	bool advanced = rec->cum_psn != s->una;
	bool had_room = mroce_txs_room(s);
	u32 res = 0;

	/* Whoever says this has never seen the stream: the rest means nothing. */
	if (rec->syndrome == MROCE_SYN_NO_QP)
		return mroce_txs_engaged(s) ? MROCE_TXS_FATAL : MROCE_TXS_STALE;
	if (s->rec_seen && !mroce_seq_after(rec->recno, s->recno))
		return MROCE_TXS_STALE;
	if (rec->cum_psn - s->una > s->nxt - s->una)
		return MROCE_TXS_STALE;
	s->rec_seen = true;
	s->recno = rec->recno;
	if (advanced) {
		advance(s, rec->cum_psn, now);
		res = MROCE_TXS_ADVANCED;
	}
	if (rec->syndrome > MROCE_SYN_BUSY)
		return mroce_txs_engaged(s) ? res | MROCE_TXS_FATAL : res;
	mroce_txs_heard(s, now);
	res |= refusal_apply(s, rec, advanced, now);
	if (!had_room && mroce_txs_room(s))
		res |= MROCE_TXS_RESUME;
	return res;
}

bool mroce_txs_accept(struct mroce_txs *s, u32 psn, u64 now)
{
	if (psn == s->una || psn - s->una > s->nxt - s->una)
		return false;
	advance(s, psn, now);
	/* With nothing out, no record need ever come to end a refusal. */
	if (!mroce_txs_busy(s))
		s->limited = false;
	mroce_txs_heard(s, now);
	return true;
}

bool mroce_txs_asked(const struct mroce_txs *s)
{
	return s->ask_shift > MROCE_TXS_ASK_TRUST;
}

void mroce_txs_progress(struct mroce_txs *s, u64 now)
{
	s->progress_ns = now;
	s->ask_shift = 0;
	mroce_txs_heard(s, now);
}

void mroce_txs_drop(struct mroce_txs *s, u32 psn)
{
	memset(s->rtx, 0, sizeof(s->rtx));
	memset(s->deferred, 0, sizeof(s->deferred));
	s->n_rtx = 0;
	s->n_deferred = 0;
	s->una = psn;
	s->nxt = psn;
	s->rnr_wait = false;
	s->limited = false;
	s->go_ns = 0;
}

static u64 backoff_ns(u64 rto_ns, u8 shift)
{
	return min_t(u64, rto_ns << shift, max_t(u64, rto_ns, MROCE_TXS_BACKOFF_MAX_NS));
}

/* One more doubling, as far as it can matter. */
static void backoff_grow(u8 *shift)
{
	if (*shift < 20)
		(*shift)++;
}

static u64 period_ns(const struct mroce_txs *s, u64 rto_ns)
{
	u64 timeout_ns = mroce_timeout_ns(s->cfg.timeout);

	if (!timeout_ns)
		timeout_ns = MROCE_TXS_FOREVER_NS;
	return max_t(u64, timeout_ns, MROCE_TXS_TIMEOUT_RTOS * rto_ns);
}

/* When the stream fails although the peer is heard. */
static u64 exceeded_ns(const struct mroce_txs *s, u64 rto_ns)
{
	if (!mroce_timeout_ns(s->cfg.timeout))
		return U64_MAX;
	return s->progress_ns +
	       MROCE_TXS_ALIVE_BUDGETS * (s->cfg.retry_cnt + 1) * period_ns(s, rto_ns);
}

static u64 ask_due_ns(const struct mroce_txs *s, u64 rto_ns)
{
	return max_t(u64, s->progress_ns, s->ask_ns) + backoff_ns(rto_ns, s->ask_shift);
}

/* Some refused packets go to see whether they are welcome now. */
static void try_refused(struct mroce_txs *s)
{
	u32 from = s->una + mroce_psnset_first(s->deferred, s->una, s->nxt - s->una);
	u32 limit = from + MROCE_TXS_GO_PKTS;

	undefer(s, from, min_t(u32, MROCE_TXS_GO_PKTS, s->nxt - from));
	if (!s->limited || mroce_seq_before(s->limit, limit))
		s->limit = limit;
	s->limited = true;
}

static enum mroce_txs_action rnr_over(struct mroce_txs *s, u64 now)
{
	s->rnr_wait = false;
	s->progress_ns = now;
	s->alive_ns = now;
	s->go_ns = 0;
	/* The count in the record says that una was refused, whatever we know of it. */
	s->n_deferred += mroce_psnset_add(s->deferred, s->una);
	s->n_rtx -= mroce_psnset_del(s->rtx, s->una);
	try_refused(s);
	return MROCE_TXS_GO;
}

static enum mroce_txs_action silence(struct mroce_txs *s, u64 now)
{
	if (mroce_timeout_ns(s->cfg.timeout)) {
		if (!s->retry_left)
			return MROCE_TXS_EXCEEDED;
		s->retry_left--;
	}
	s->alive_ns = now;
	s->ask_ns = now;
	una_to_rtx(s);
	return MROCE_TXS_RESEND;
}

static enum mroce_txs_action action_due(struct mroce_txs *s, u64 now, u64 rto_ns)
{
	if (s->rnr_wait)
		return now < s->rnr_until ? MROCE_TXS_IDLE : rnr_over(s, now);
	if (now >= exceeded_ns(s, rto_ns))
		return MROCE_TXS_EXCEEDED;
	if (now >= s->alive_ns + period_ns(s, rto_ns))
		return silence(s, now);
	if (s->n_deferred && now >= s->go_ns) {
		s->go_ns = 0;
		backoff_grow(&s->go_shift);
		try_refused(s);
		return MROCE_TXS_GO;
	}
	if (now >= ask_due_ns(s, rto_ns)) {
		s->ask_ns = now;
		backoff_grow(&s->ask_shift);
		/* Answers, but no progress: nobody is going to send una again but us. */
		if (mroce_txs_asked(s) && !s->n_deferred)
			una_to_rtx(s);
		return MROCE_TXS_ASK;
	}
	return MROCE_TXS_IDLE;
}

static u64 deadline_ns(const struct mroce_txs *s, u64 rto_ns)
{
	u64 at;

	if (!mroce_txs_engaged(s))
		return U64_MAX;
	if (s->rnr_wait)
		return s->rnr_until;
	at = min_t(u64, s->alive_ns + period_ns(s, rto_ns), exceeded_ns(s, rto_ns));
	if (s->n_deferred)
		at = min_t(u64, at, s->go_ns);
	return min_t(u64, at, ask_due_ns(s, rto_ns));
}

/* Refusals are reported without a time: their clock starts at the next look. */
static void go_arm(struct mroce_txs *s, u64 now, u64 rto_ns)
{
	if (s->n_deferred && !s->go_ns)
		s->go_ns = now + backoff_ns(rto_ns, s->go_shift);
}

enum mroce_txs_action mroce_txs_timer(struct mroce_txs *s, u64 now, u64 rto_ns, u64 *next_ns)
{
	enum mroce_txs_action act = MROCE_TXS_IDLE;

	rto_ns = max_t(u64, rto_ns, MROCE_TXS_RTO_MIN_NS);
	go_arm(s, now, rto_ns);
	if (mroce_txs_engaged(s))
		act = action_due(s, now, rto_ns);
	if (act == MROCE_TXS_EXCEEDED) {
		*next_ns = U64_MAX;
		return act;
	}
	go_arm(s, now, rto_ns);
	*next_ns = max_t(u64, deadline_ns(s, rto_ns), now + 1);
	return act;
}
