// SPDX-License-Identifier: GPL-2.0
/*
 * READs and atomics of a queue pair. Decides how many may be out, when one is
 * executed and when its slot is free. Knows nothing of memory.
 */
#include <linux/string.h>

#include "rdq.h"
#include "seg.h"

void mroce_rdreq_init(struct mroce_rdreq *r, u8 max, u32 psn)
{
	memset(r, 0, sizeof(*r));
	r->max = max;
	r->next_psn = psn;
}

u32 mroce_rdreq_take(struct mroce_rdreq *r, u32 n_pkts, u32 *psn)
{
	*psn = r->next_psn;
	r->next_psn += n_pkts;
	return r->next_sn++;
}

u32 mroce_rdreq_out(const struct mroce_rdreq *r)
{
	return r->issued - r->done;
}

bool mroce_rdreq_may_go(const struct mroce_rdreq *r, bool fetch, bool fence)
{
	if (fence && mroce_rdreq_out(r))
		return false;
	return !fetch || mroce_rdreq_out(r) < r->max;
}

void mroce_rdslots_init(struct mroce_rdslots *s, struct mroce_rdslot *slot, u32 mask, u8 depth,
			u32 psn)
{
	memset(s, 0, sizeof(*s));
	s->slot = slot;
	s->mask = mask;
	s->depth = depth;
	s->next_psn = psn;
}

static struct mroce_rdslot *slot_of(const struct mroce_rdslots *s, u32 sn)
{
	return &s->slot[sn & s->mask];
}

static u32 end_psn(const struct mroce_rdslot *slot)
{
	return slot->resp_psn + mroce_seg_count(slot->len, slot->unit_bytes);
}

bool mroce_rdslots_put(struct mroce_rdslots *s, const struct mroce_pkt_data *p,
		       const struct mroce_atomic_op *op)
{
	struct mroce_rdslot *slot;

	if (p->rsn - s->una_sn >= s->depth)
		return false;
	slot = slot_of(s, p->rsn);
	if (slot->known)
		return false;
	*slot = (struct mroce_rdslot) {
		.known = true,
		.opcode = p->opcode,
		.unit_bytes = p->unit_bytes,
		.req_psn = p->psn,
		.resp_psn = mroce_wire_resp_psn(p),
		.len = p->msg_len,
		.rkey = p->rkey,
		.addr = p->addr,
		.compare_add = op->compare_add,
		.swap = op->swap,
	};
	return true;
}

enum mroce_rdq_due mroce_rdslots_due(const struct mroce_rdslots *s, u32 cum,
				     struct mroce_rdslot **slot)
{
	struct mroce_rdslot *next;

	/* By the memory, not by the depth: that may have been lowered since they came. */
	if (!s->slot || s->exec_sn - s->una_sn > s->mask)
		return MROCE_RDQ_WAIT;
	next = slot_of(s, s->exec_sn);
	if (!next->known || !mroce_seq_before(next->req_psn, cum))
		return MROCE_RDQ_WAIT;
	if (next->resp_psn != s->next_psn)
		return MROCE_RDQ_BAD;
	*slot = next;
	return MROCE_RDQ_RUN;
}

void mroce_rdslots_done(struct mroce_rdslots *s)
{
	s->next_psn = end_psn(slot_of(s, s->exec_sn));
	s->exec_sn++;
}

u32 mroce_rdslots_oldest(const struct mroce_rdslots *s, u32 oldest_sn, u32 una_psn, u32 sent_psn)
{
	u32 sn, end, accepted = una_psn;

	for (sn = s->una_sn; sn != s->exec_sn && mroce_seq_before(sn, oldest_sn); sn++) {
		end = end_psn(slot_of(s, sn));
		if (mroce_seq_after(end, sent_psn))
			break;
		accepted = end;
	}
	return accepted;
}

void mroce_rdslots_accepted(struct mroce_rdslots *s, u32 una_psn)
{
	struct mroce_rdslot *slot;

	for (; s->una_sn != s->exec_sn; s->una_sn++) {
		slot = slot_of(s, s->una_sn);
		if (mroce_seq_after(end_psn(slot), una_psn))
			return;
		slot->known = false;
	}
}

bool mroce_rdslots_idle(const struct mroce_rdslots *s)
{
	return s->una_sn == s->exec_sn;
}
