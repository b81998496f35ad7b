// SPDX-License-Identifier: GPL-2.0
/* Scoreboard of one path; see scoreboard.h for states and the slot trick. */
#include <linux/minmax.h>
#include <linux/string.h>
#include "scoreboard.h"
#include "vec.h"

const char *const mroce_ps_cause_name[MROCE_PS_CAUSES] = {
	[MROCE_PS_GAP]		= "gap",
	[MROCE_PS_TIME]		= "time",
	[MROCE_PS_FLUSHED]	= "path",
	[MROCE_PS_LOCAL]	= "local",
	[MROCE_PS_UNWANTED]	= "refused",
	[MROCE_PS_TIMEOUT]	= "timeout",
};

static u32 slot_of(u32 seq)
{
	return ~seq % MROCE_SB_SPAN;
}

void mroce_sb_init(struct mroce_sb *sb, u8 path, u32 seq)
{
	struct mroce_sb_rec *rec = sb->rec;

	memset(sb, 0, sizeof(*sb));
	sb->rec = rec;
	sb->path = path;
	sb->next_seq = seq;
	sb->una_seq = seq;
	sb->epoch_seq = seq;
	sb->highest_acked = seq - 1;
}

u32 mroce_sb_sent(struct mroce_sb *sb, const struct mroce_sb_rec *rec)
{
	u32 seq = sb->next_seq++;
	u32 slot = slot_of(seq);

	sb->rec[slot] = *rec;
	mroce_vec_set(sb->out, slot);
	mroce_vec_clear(sb->lost, slot);
	sb->filled = min_t(u32, sb->filled + 1, MROCE_SB_SPAN);
	sb->inflight_bytes += rec->bytes;
	sb->inflight_pkts++;
	sb->inflight_data += !rec->probe;
	return seq;
}

u64 mroce_sb_oldest_ns(const struct mroce_sb *sb)
{
	return sb->rec[slot_of(sb->una_seq)].sent_ns;
}

/* Find the oldest record OUT again, if the one known as such has ended. */
static void update_una(struct mroce_sb *sb)
{
	u32 base = slot_of(sb->next_seq - 1);
	int w;

	if (sb->una_seq == sb->next_seq || mroce_vec_test(sb->out, slot_of(sb->una_seq)))
		return;
	for (w = MROCE_VEC_WORDS - 1; w >= 0; w--) {
		u64 word = mroce_vec_rot(sb->out, w, base);

		if (word) {
			sb->una_seq = sb->next_seq - 1 - (w * 64 + fls64(word) - 1);
			return;
		}
	}
	sb->una_seq = sb->next_seq;
}

/* A record leaves the flight. */
static void end_rec(struct mroce_sb *sb, u32 slot)
{
	const struct mroce_sb_rec *rec = &sb->rec[slot];

	mroce_vec_clear(sb->out, slot);
	sb->inflight_bytes -= rec->bytes;
	sb->inflight_pkts--;
	sb->inflight_data -= !rec->probe;
}

static void fill_event(const struct mroce_sb *sb, const struct mroce_sb_rec *rec,
		       enum mroce_ps_cause cause, struct mroce_ps_event *ev)
{
	ev->kind = cause == MROCE_PS_UNWANTED ? MROCE_PS_REFUSED : MROCE_PS_LOST;
	ev->cause = cause;
	ev->path = sb->path;
	ev->gen = rec->gen;
	ev->stream = rec->stream;
	ev->psn = rec->psn;
}

/*
 * End the record in @slot as lost. A probe needs no event.
 * Return: events used (0 or 1), -1 when there was no room and nothing changed.
 */
static int lose_rec(struct mroce_sb *sb, u32 slot, enum mroce_ps_cause cause,
		    struct mroce_ps_ack_result *d, struct mroce_ps_event *ev, int room)
{
	const struct mroce_sb_rec *rec = &sb->rec[slot];

	if (!rec->probe) {
		if (!room) {
			d->more = true;
			return -1;
		}
		fill_event(sb, rec, cause, ev);
		d->lost_pkts++;
		d->lost_bytes += rec->bytes;
	}
	end_rec(sb, slot);
	return !rec->probe;
}

static void ack_rec(struct mroce_sb *sb, u32 slot, struct mroce_ps_ack_result *d)
{
	const struct mroce_sb_rec *rec = &sb->rec[slot];

	end_rec(sb, slot);
	d->heard = true;
	d->acked_pkts += !rec->probe;
	d->acked_bytes += rec->bytes;
	sb->newest_acked_ns = max(sb->newest_acked_ns, rec->sent_ns);
}

/*
 * The vectors of one part, turned into the order of age: bit i is the packet
 * sent as part->highest - i.
 */
struct ack_view {
	const struct mroce_ack_part *part;
	u32 base;	/* slot of bit 0 */
	u32 known;	/* bits below this one have records */
	u32 gap_from;	/* the gap rule holds for bits [gap_from, gap_to) */
	u32 gap_to;
};

/* Return: false when the part is about nothing we know. */
static bool view_init(const struct mroce_sb *sb, const struct mroce_ack_part *part,
		      struct ack_view *v)
{
	u32 ahead = sb->next_seq - 1 - part->highest;
	s32 in_epoch = mroce_seq_diff(part->highest, sb->epoch_seq) + 1;

	if (ahead >= sb->filled || !(part->rcvd[0] & 1))
		return false;
	v->part = part;
	v->base = slot_of(part->highest);
	v->known = sb->filled - ahead;
	v->gap_from = 1 + sb->reo_tol;
	v->gap_to = max(in_epoch, 0);
	return true;
}

static void take_acked(struct mroce_sb *sb, const struct ack_view *v, struct mroce_ps_ack_result *d)
{
	int w;

	for (w = 0; w < MROCE_VEC_WORDS; w++) {
		u64 bits = mroce_vec_rot(sb->out, w, v->base) & v->part->rcvd[w] &
			   mroce_vec_below(w, v->known);

		if (v->part->has_refused)
			bits &= ~v->part->refused[w];
		for (; bits; bits &= bits - 1)
			ack_rec(sb, (v->base + w * 64 + __ffs64(bits)) % MROCE_SB_SPAN, d);
	}
}

/*
 * What take_acked() left arrived but was not accepted: out of flight, to the
 * stream's deferred set.
 */
static int take_refused(struct mroce_sb *sb, const struct ack_view *v,
			struct mroce_ps_ack_result *d, struct mroce_ps_event *ev, int max)
{
	int n = 0;
	int w;

	for (w = MROCE_VEC_WORDS - 1; w >= 0; w--) {
		u64 bits = mroce_vec_rot(sb->out, w, v->base) & v->part->rcvd[w] &
			   mroce_vec_below(w, v->known);

		while (bits) {
			u32 bit = fls64(bits) - 1;
			u32 slot = (v->base + w * 64 + bit) % MROCE_SB_SPAN;

			if (n == max) {
				d->more = true;
				return n;
			}
			if (!sb->rec[slot].probe)
				fill_event(sb, &sb->rec[slot], MROCE_PS_UNWANTED, &ev[n++]);
			ack_rec(sb, slot, d);
			bits &= ~(1ull << bit);
		}
	}
	return n;
}

/* Taken for lost, and here it is: the path reorders, so be more patient. */
static void take_spurious(struct mroce_sb *sb, const struct ack_view *v, u64 now,
			  struct mroce_ps_ack_result *d)
{
	u32 n = 0;
	int w;

	for (w = 0; w < MROCE_VEC_WORDS; w++) {
		u64 bits = mroce_vec_rot(sb->lost, w, v->base) & v->part->rcvd[w] &
			   mroce_vec_below(w, v->known);

		for (; bits; bits &= bits - 1) {
			u32 slot = (v->base + w * 64 + __ffs64(bits)) % MROCE_SB_SPAN;

			mroce_vec_clear(sb->lost, slot);
			d->late_ns = max(d->late_ns, now - sb->rec[slot].sent_ns);
			n++;
		}
	}
	if (!n)
		return;
	d->heard = true;
	d->spurious_pkts += n;
	sb->reo_tol = min(2 * sb->reo_tol + 1, MROCE_SB_MAX_TOL);
	sb->reo_run = 0;
}

static void decay_tol(struct mroce_sb *sb, u32 acked)
{
	if (!sb->reo_tol)
		return;
	sb->reo_run += acked;
	if (sb->reo_run < MROCE_SB_TOL_DECAY)
		return;
	sb->reo_run = 0;
	sb->reo_tol /= 2;
}

static int take_gaps(struct mroce_sb *sb, const struct ack_view *v, struct mroce_ps_ack_result *d,
		     struct mroce_ps_event *ev, int max)
{
	u32 to = min(v->known, v->gap_to);
	int n = 0;
	int w;

	for (w = MROCE_VEC_WORDS - 1; w >= 0; w--) {
		u64 bits = mroce_vec_rot(sb->out, w, v->base) & ~v->part->rcvd[w] &
			   mroce_vec_below(w, to) & ~mroce_vec_below(w, v->gap_from);

		while (bits) {
			u32 bit = fls64(bits) - 1;
			u32 slot = (v->base + w * 64 + bit) % MROCE_SB_SPAN;
			int used = lose_rec(sb, slot, MROCE_PS_GAP, d, &ev[n], max - n);

			if (used < 0)
				return n;
			n += used;
			mroce_vec_set(sb->lost, slot);
			bits &= ~(1ull << bit);
		}
	}
	return n;
}

int mroce_sb_ack(struct mroce_sb *sb, const struct mroce_ack_part *part, u64 reorder_ns, u64 now,
		 struct mroce_ps_ack_result *d, struct mroce_ps_event *ev, int max)
{
	u32 acked = d->acked_pkts;
	struct ack_view v;
	bool anchor;
	int n = 0;

	d->more = false;
	if (!view_init(sb, part, &v))
		return 0;
	anchor = mroce_vec_test(sb->out, v.base);
	take_spurious(sb, &v, now, d);
	take_acked(sb, &v, d);
	if (part->has_refused)
		n = take_refused(sb, &v, d, ev, max);
	if (anchor && !mroce_vec_test(sb->out, v.base))
		d->rtt_ns = max(now - sb->rec[v.base].sent_ns, 1ull);
	if (mroce_seq_after(part->highest, sb->highest_acked)) {
		sb->highest_acked = part->highest;
		d->advanced = true;
		d->heard = true;
	}
	if (!d->more)
		n += take_gaps(sb, &v, d, ev + n, max - n);
	update_una(sb);
	if (!d->more)
		n += mroce_sb_time_loss(sb, reorder_ns, d, ev + n, max - n);
	decay_tol(sb, d->acked_pkts - acked);
	return n;
}

int mroce_sb_time_loss(struct mroce_sb *sb, u64 reorder_ns, struct mroce_ps_ack_result *d,
		       struct mroce_ps_event *ev, int max)
{
	u64 wnd_ns = reorder_ns + max(reorder_ns / 4, MROCE_SB_REO_MIN_NS);
	int n = 0;

	d->more = false;
	while (sb->una_seq != sb->next_seq &&
	       mroce_sb_oldest_ns(sb) + wnd_ns < sb->newest_acked_ns) {
		u32 slot = slot_of(sb->una_seq);
		int used = lose_rec(sb, slot, MROCE_PS_TIME, d, &ev[n], max - n);

		if (used < 0)
			break;
		n += used;
		mroce_vec_set(sb->lost, slot);
		update_una(sb);
	}
	return n;
}

int mroce_sb_flush(struct mroce_sb *sb, struct mroce_ps_ack_result *d, struct mroce_ps_event *ev,
		   int max)
{
	int n = 0;

	d->more = false;
	while (sb->una_seq != sb->next_seq) {
		u32 slot = slot_of(sb->una_seq);
		int used = lose_rec(sb, slot, MROCE_PS_FLUSHED, d, &ev[n], max - n);

		if (used < 0)
			break;
		n += used;
		update_una(sb);
	}
	return n;
}

bool mroce_sb_drop(struct mroce_sb *sb, u32 seq, struct mroce_ps_event *ev)
{
	u32 slot = slot_of(seq);

	if (sb->next_seq - 1 - seq >= sb->filled || !mroce_vec_test(sb->out, slot))
		return false;
	end_rec(sb, slot);
	update_una(sb);
	if (sb->rec[slot].probe)
		return false;
	fill_event(sb, &sb->rec[slot], MROCE_PS_LOCAL, ev);
	return true;
}

void mroce_sb_forget_probes(struct mroce_sb *sb)
{
	int w;

	if (sb->inflight_pkts == sb->inflight_data)
		return;
	for (w = 0; w < MROCE_VEC_WORDS; w++) {
		u64 bits = sb->out[w];

		for (; bits; bits &= bits - 1) {
			u32 slot = w * 64 + __ffs64(bits);

			if (sb->rec[slot].probe)
				end_rec(sb, slot);
		}
	}
	update_una(sb);
}

void mroce_sb_new_epoch(struct mroce_sb *sb)
{
	sb->epoch_seq = sb->next_seq;
}
