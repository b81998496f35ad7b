// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving end of a path. The vector is anchored at the highest sequence
 * received, because holes never fill: a retransmission has a number of its own.
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "rxwin.h"
#include "vec.h"

void mroce_rxwin_init(struct mroce_rxwin *w)
{
	memset(w, 0, sizeof(*w));
}

enum mroce_rxwin_verdict mroce_rxwin_check(const struct mroce_rxwin *w, u32 seq)
{
	u32 behind = w->highest - seq;

	if (!w->started)
		return MROCE_RXWIN_NEW;
	if (mroce_seq_after(seq, w->highest))
		return seq - w->highest > MROCE_RXWIN_MAX_JUMP ? MROCE_RXWIN_JUMP :
								 MROCE_RXWIN_NEW;
	if (behind >= MROCE_VEC_BITS)
		return MROCE_RXWIN_OLD;
	return mroce_vec_test(w->rcvd, behind) ? MROCE_RXWIN_DUP : MROCE_RXWIN_NEW;
}

/* Move the anchor to @seq. Return: the packet does not follow the previous highest. */
static bool advance(struct mroce_rxwin *w, u32 seq, u64 now)
{
	u32 d = seq - w->highest;
	bool gap = w->started && d > 1;

	mroce_vec_shl(w->rcvd, d);
	mroce_vec_shl(w->refused, d);
	w->highest = seq;
	w->highest_ns = now;
	w->started = true;
	return gap;
}

bool mroce_rxwin_mark(struct mroce_rxwin *w, u32 seq, bool refused, bool ce, bool ack_req,
		      const struct mroce_ack_policy *policy, u64 now)
{
	enum mroce_rxwin_verdict verdict = mroce_rxwin_check(w, seq);
	bool urgent = ack_req || refused;

	if (verdict == MROCE_RXWIN_OLD || verdict == MROCE_RXWIN_JUMP)
		return w->ack_now;
	w->strays = 0;
	if (!w->unacked)
		w->first_unacked_ns = now;
	w->unacked = min_t(u32, w->unacked + 1, U16_MAX);
	if (verdict == MROCE_RXWIN_DUP) {
		w->ack_now = true;
		return true;
	}
	if (!w->started || mroce_seq_after(seq, w->highest))
		urgent |= advance(w, seq, now);
	else
		urgent = true;
	mroce_vec_set(w->rcvd, w->highest - seq);
	if (refused)
		mroce_vec_set(w->refused, w->highest - seq);
	w->ce_count += ce;
	urgent |= ce != w->last_ce;
	w->last_ce = ce;
	w->ack_now |= urgent || w->unacked >= policy->every_pkts;
	return w->ack_now;
}

bool mroce_rxwin_stray(struct mroce_rxwin *w, u32 seq)
{
	bool follows = w->strays && seq - w->stray_seq - 1 < MROCE_VEC_BITS;
	u32 ce_count = w->ce_count;

	w->strays = follows ? w->strays + 1 : 1;
	w->stray_seq = seq;
	if (w->strays < MROCE_RXWIN_STRAYS)
		return false;
	mroce_rxwin_init(w);
	w->ce_count = ce_count;
	return true;
}

u64 mroce_rxwin_deadline(const struct mroce_rxwin *w, const struct mroce_ack_policy *policy)
{
	if (!w->unacked)
		return U64_MAX;
	return w->ack_now ? w->first_unacked_ns : w->first_unacked_ns + policy->delay_ns;
}

void mroce_rxwin_part(struct mroce_rxwin *w, struct mroce_ack_part *part, u64 now)
{
	u64 delay_us = now > w->highest_ns ? div_u64(now - w->highest_ns, 1000) : 0;
	u64 any = 0;
	int i;

	part->ack_delay_us = min_t(u64, delay_us, U16_MAX);
	part->highest = w->highest;
	part->ce_count = w->ce_count;
	for (i = 0; i < MROCE_VEC_WORDS; i++) {
		part->rcvd[i] = w->rcvd[i];
		part->refused[i] = w->refused[i];
		any |= w->refused[i];
	}
	part->has_refused = any != 0;
	w->unacked = 0;
	w->ack_now = false;
}
