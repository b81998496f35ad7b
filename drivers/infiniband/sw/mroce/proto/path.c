// SPDX-License-Identifier: GPL-2.0
/* State machine of one path; see path.h. */
#include <linux/minmax.h>
#include <linux/string.h>
#include "path.h"

const char *const mroce_path_state_name[MROCE_PATH_STATES] = {
	[MROCE_PATH_PROBING]	= "probing",
	[MROCE_PATH_ACTIVE]	= "active",
	[MROCE_PATH_SUSPECT]	= "suspect",
	[MROCE_PATH_FAILED]	= "failed",
	[MROCE_PATH_OFF]	= "off",
};

static const u8 next_state[MROCE_PATH_STATES][MROCE_PATH_EVS] = {
	[MROCE_PATH_PROBING] = {
		[MROCE_PATH_EV_ACKED]	= MROCE_PATH_PROBING,
		[MROCE_PATH_EV_PROVED]	= MROCE_PATH_ACTIVE,
		[MROCE_PATH_EV_PTO]	= MROCE_PATH_PROBING,
		[MROCE_PATH_EV_MUTE]	= MROCE_PATH_PROBING,
		[MROCE_PATH_EV_REROLL]	= MROCE_PATH_PROBING,
		[MROCE_PATH_EV_OFF]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_ON]	= MROCE_PATH_PROBING,
	},
	[MROCE_PATH_ACTIVE] = {
		[MROCE_PATH_EV_ACKED]	= MROCE_PATH_ACTIVE,
		[MROCE_PATH_EV_PROVED]	= MROCE_PATH_ACTIVE,
		[MROCE_PATH_EV_PTO]	= MROCE_PATH_SUSPECT,
		[MROCE_PATH_EV_MUTE]	= MROCE_PATH_SUSPECT,
		[MROCE_PATH_EV_REROLL]	= MROCE_PATH_ACTIVE,
		[MROCE_PATH_EV_OFF]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_ON]	= MROCE_PATH_ACTIVE,
	},
	[MROCE_PATH_SUSPECT] = {
		[MROCE_PATH_EV_ACKED]	= MROCE_PATH_ACTIVE,
		[MROCE_PATH_EV_PROVED]	= MROCE_PATH_ACTIVE,
		[MROCE_PATH_EV_PTO]	= MROCE_PATH_FAILED,
		[MROCE_PATH_EV_MUTE]	= MROCE_PATH_SUSPECT,
		[MROCE_PATH_EV_REROLL]	= MROCE_PATH_SUSPECT,
		[MROCE_PATH_EV_OFF]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_ON]	= MROCE_PATH_SUSPECT,
	},
	[MROCE_PATH_FAILED] = {
		[MROCE_PATH_EV_ACKED]	= MROCE_PATH_FAILED,
		[MROCE_PATH_EV_PROVED]	= MROCE_PATH_FAILED,
		[MROCE_PATH_EV_PTO]	= MROCE_PATH_FAILED,
		[MROCE_PATH_EV_MUTE]	= MROCE_PATH_FAILED,
		[MROCE_PATH_EV_REROLL]	= MROCE_PATH_PROBING,
		[MROCE_PATH_EV_OFF]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_ON]	= MROCE_PATH_FAILED,
	},
	[MROCE_PATH_OFF] = {
		[MROCE_PATH_EV_ACKED]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_PROVED]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_PTO]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_MUTE]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_REROLL]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_OFF]	= MROCE_PATH_OFF,
		[MROCE_PATH_EV_ON]	= MROCE_PATH_PROBING,
	},
};

bool mroce_path_event(struct mroce_path *p, enum mroce_path_ev ev)
{
	u8 next = next_state[p->state][ev];
	bool changed = next != p->state;

	p->state = next;
	return changed;
}

void mroce_path_init(struct mroce_path *p, u8 id, u32 seq, u16 sport, u64 now)
{
	struct mroce_sb_rec *rec = p->sb.rec;

	memset(p, 0, sizeof(*p));
	p->sb.rec = rec;
	mroce_sb_init(&p->sb, id, seq);
	mroce_rtt_init(&p->rtt);
	p->state = MROCE_PATH_ACTIVE;
	p->id = id;
	p->sport = sport;
	p->owner_cpu = -1;
	p->last_ack_ns = now;
	p->speed_ns = now;
}

void mroce_path_rate(u32 *q16, u32 span_pkts, u32 n, u32 hits)
{
	u32 now_q16;

	if (!n)
		return;
	now_q16 = (hits << 16) / n;
	*q16 += ((s64)now_q16 - *q16) * min(n, span_pkts) / span_pkts;
}

void mroce_path_acked(struct mroce_path *p, u32 bytes, u64 now)
{
	u64 span_ns = now - p->speed_ns;

	p->acked_bytes += bytes;
	if (span_ns < MROCE_PATH_SPEED_NS)
		return;
	p->speed_bytes = (p->acked_bytes - p->speed_from_bytes) * 1000000000ull / span_ns;
	p->speed_from_bytes = p->acked_bytes;
	p->speed_ns = now;
}

u64 mroce_path_speed(const struct mroce_path *p, u64 now)
{
	return now - p->last_ack_ns < MROCE_PATH_STALE_NS ? p->speed_bytes : 0;
}

u32 mroce_path_marks(struct mroce_path *p, u32 ce_count)
{
	s32 d = mroce_seq_diff(ce_count, p->ce_seen);

	if (d <= 0)
		return 0;
	p->ce_seen = ce_count;
	return d;
}
