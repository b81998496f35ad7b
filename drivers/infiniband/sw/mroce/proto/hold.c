// SPDX-License-Identifier: GPL-2.0
/* Which packets of WRITEs wait, and how many may. */
#include "hold.h"
#include "seg.h"

const char *const mroce_hold_mode_name[MROCE_HOLD_MODES] = {
	[MROCE_HOLD_DEFAULT]	= "default",
	[MROCE_HOLD_AUTO]	= "auto",
	[MROCE_HOLD_STRICT]	= "strict",
	[MROCE_HOLD_RELAXED]	= "relaxed",
};

u32 mroce_hold_until(const struct mroce_pkt_data *p)
{
	u32 last = p->msg_psn + mroce_seg_count(p->msg_len, p->unit_bytes) - 1;

	return p->psn == last ? last : p->msg_psn;
}

bool mroce_hold_must(enum mroce_hold_mode mode, bool relaxed, const struct mroce_pkt_data *p,
		     u32 cum)
{
	u8 info = mroce_op_info(p->opcode);

	if (!(info & MROCE_OPF_ADDR) || !(info & MROCE_OPF_PAYLOAD) || !p->payload_len)
		return false;
	if (mode == MROCE_HOLD_RELAXED || (mode != MROCE_HOLD_STRICT && relaxed))
		return false;
	return mroce_seq_after(mroce_hold_until(p), cum);
}

bool mroce_hold_put(struct mroce_hold *h, u32 bytes, u64 dev_bytes)
{
	if (dev_bytes > MROCE_HOLD_DEV_BYTES || bytes > MROCE_HOLD_QP_BYTES - h->bytes)
		return false;
	h->bytes += bytes;
	h->pkts++;
	if (h->bytes > h->peak_bytes)
		h->peak_bytes = h->bytes;
	return true;
}

void mroce_hold_take(struct mroce_hold *h, u32 bytes)
{
	h->bytes -= bytes;
	h->pkts--;
}
