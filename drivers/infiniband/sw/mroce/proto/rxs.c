// SPDX-License-Identifier: GPL-2.0
/*
 * Receiving end of a stream. Decides what becomes of an arriving psn, when the
 * cumulative psn moves, and what a record says. Knows nothing of paths, of
 * memory regions and of receive work requests.
 */
#include <linux/limits.h>
#include <linux/string.h>

#include "rxs.h"
#include "seg.h"

static bool in_window(const struct mroce_rxs *s, u32 psn)
{
	return psn - s->cum < MROCE_STREAM_WINDOW;
}

static bool is_claimed(const struct mroce_rxs *s, u32 psn)
{
	if (s->bits)
		return mroce_psnset_test(s->bits->claimed, psn);
	return s->cum_claimed && psn == s->cum;
}

void mroce_rxs_init(struct mroce_rxs *s, u32 psn)
{
	u32 recno = s->recno;

	memset(s, 0, sizeof(*s));
	s->cum = psn;
	s->recno = recno;
}

void mroce_rxs_set_bits(struct mroce_rxs *s, struct mroce_rxs_bits *bits)
{
	s->bits = bits;
	if (bits && s->cum_claimed)
		mroce_psnset_add(bits->claimed, s->cum);
	s->cum_claimed = false;
}

enum mroce_rxs_verdict mroce_rxs_classify(const struct mroce_rxs *s, u32 psn)
{
	if (mroce_seq_before(psn, s->cum))
		return MROCE_RXS_DUP;
	if (!in_window(s, psn))
		return MROCE_RXS_BEYOND;
	if (s->err && !mroce_seq_before(psn, s->err_psn))
		return MROCE_RXS_AFTER_ERR;
	if (!s->bits && psn != s->cum)
		return MROCE_RXS_NEED_BITS;
	return is_claimed(s, psn) ? MROCE_RXS_DUP : MROCE_RXS_NEW;
}

void mroce_rxs_claim(struct mroce_rxs *s, u32 psn)
{
	if (s->bits)
		mroce_psnset_add(s->bits->claimed, psn);
	else
		s->cum_claimed = true;
}

void mroce_rxs_unclaim(struct mroce_rxs *s, u32 psn)
{
	if (!in_window(s, psn) || !is_claimed(s, psn))
		return;
	/* What is committed is accepted: it cannot be given back. */
	if (!s->bits)
		s->cum_claimed = false;
	else if (!mroce_psnset_test(s->bits->committed, psn))
		mroce_psnset_del(s->bits->claimed, psn);
}

/* Moves cum over committed psns, up to a pending error. */
static bool cum_advance(struct mroce_rxs *s)
{
	u32 max = s->err ? s->err_psn - s->cum : MROCE_STREAM_WINDOW;
	u32 run = mroce_psnset_run(s->bits->committed, s->cum, max);

	mroce_psnset_del_range(s->bits->claimed, s->cum, run);
	mroce_psnset_del_range(s->bits->committed, s->cum, run);
	s->cum += run;
	return run;
}

/*
 * A packet refused for want of receives waits for its own turn. One refused as
 * busy was ahead of the others: with everything before it in, it is welcome.
 */
static bool refusal_over(const struct mroce_rxs *s, u32 committed, bool moved)
{
	if (committed == s->limit || mroce_seq_after(s->cum, s->limit))
		return true;
	return moved && s->syndrome == MROCE_SYN_BUSY && s->cum == s->limit;
}

bool mroce_rxs_commit(struct mroce_rxs *s, u32 psn)
{
	bool moved;

	if (!in_window(s, psn) || !is_claimed(s, psn))
		return false;
	if (s->bits) {
		mroce_psnset_add(s->bits->committed, psn);
		moved = cum_advance(s);
	} else {
		s->cum_claimed = false;
		s->cum++;
		moved = true;
	}
	if (s->refused && refusal_over(s, psn, moved))
		s->refused = false;
	return moved;
}

void mroce_rxs_fail(struct mroce_rxs *s, u32 psn, u8 syndrome)
{
	if (!in_window(s, psn))
		return;
	mroce_rxs_unclaim(s, psn);
	if (s->err && !mroce_seq_before(psn, s->err_psn))
		return;
	s->err = true;
	s->err_psn = psn;
	s->err_syndrome = syndrome;
}

bool mroce_rxs_error_due(const struct mroce_rxs *s)
{
	return s->err && s->cum == s->err_psn;
}

void mroce_rxs_refuse(struct mroce_rxs *s, u32 psn, u32 msg_psn, u8 syndrome, u8 rnr_timer)
{
	if (!in_window(s, psn))
		return;
	if (!s->refused || !mroce_seq_after(psn, s->limit)) {
		s->limit = psn;
		s->syndrome = syndrome;
		s->rnr_timer = rnr_timer;
	}
	s->refused = true;
	/*
	 * Of all packets of the message only the one cum waits for counts, so
	 * that one try of a long message is one refusal.
	 */
	if (syndrome == MROCE_SYN_RNR && psn == s->cum && !mroce_seq_after(msg_psn, s->cum))
		s->refusals++;
}

bool mroce_rxs_drained(struct mroce_rxs *s, u32 n_pkts)
{
	if (!s->refused || s->syndrome != MROCE_SYN_BUSY || !n_pkts)
		return false;
	s->limit += n_pkts;
	return true;
}

static u32 end_psn(const struct mroce_pkt_data *p)
{
	return p->msg_psn + mroce_seg_count(p->msg_len, p->unit_bytes);
}

bool mroce_rxs_msg_fits(const struct mroce_rxs_msg *m, const struct mroce_pkt_data *p)
{
	return !m->known || (m->opcode == p->opcode && m->msg_len == p->msg_len &&
			     m->end_psn == end_psn(p));
}

void mroce_rxs_msg_set(struct mroce_rxs_msg *m, const struct mroce_pkt_data *p)
{
	m->known = true;
	m->opcode = p->opcode;
	m->solicited |= !!(p->flags & MROCE_F_SOLICITED);
	m->end_psn = end_psn(p);
	m->msg_len = p->msg_len;
	m->imm = p->imm;
}

bool mroce_rxs_msg_done(const struct mroce_rxs *s, const struct mroce_rxs_msg *m)
{
	return m->known && !mroce_seq_before(s->cum, m->end_psn);
}

void mroce_rxs_record(struct mroce_rxs *s, struct mroce_rec *rec)
{
	rec->recno = ++s->recno;
	rec->cum_psn = s->cum;
	rec->refusals = s->refusals;
	rec->rnr_timer = 0;
	rec->limit_psn = s->cum + MROCE_STREAM_WINDOW;
	rec->syndrome = MROCE_SYN_OK;
	if (s->refused) {
		rec->syndrome = s->syndrome;
		rec->rnr_timer = s->rnr_timer;
		rec->limit_psn = s->limit;
	}
	if (mroce_rxs_error_due(s))
		rec->syndrome = s->err_syndrome;
}
