// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_verify, receiving half: slots, receives, checks, credits. */
#include <arpa/inet.h>
#include <string.h>
#include "verify.h"

static uint8_t *slot_of(const struct mroce_end *end, uint64_t index)
{
	return end->rx.slots + index % end->params->depth * end->slot_bytes;
}

static void post_receive(struct mroce_end *end, uint64_t index, const struct mroce_msg *msg)
{
	struct ibv_sge sge[MROCE_SGES_MAX];
	struct ibv_recv_wr wr = {
		.wr_id = (uint64_t)end->index << 48 | index, .sg_list = sge,
	}, *bad;
	int err;

	/* An immediate of a WRITE needs a receive, but no memory of it. */
	for (; !msg->op->is_remote && wr.num_sge < (int)msg->dst.n; wr.num_sge++) {
		sge[wr.num_sge].addr = (uintptr_t)slot_of(end, index) +
				       msg->dst.piece[wr.num_sge].offset;
		sge[wr.num_sge].length = msg->dst.piece[wr.num_sge].bytes;
		sge[wr.num_sge].lkey = end->rx.mr->lkey;
	}
	err = ibv_post_recv(end->qp, &wr, &bad);
	if (err)
		mroce_die("qp %u: post_recv for message %lu: %s", end->index, index, strerror(err));
}

/* Fill the slot with this message's poison and, unless the run ends before it, await it. */
static void prepare(struct mroce_end *end, uint64_t index)
{
	struct mroce_msg *msg = &end->rx.msg[index % end->params->depth];

	mroce_pattern_fill(slot_of(end, index), end->slot_bytes,
			   mroce_msg_poison(end->params, end->rx_flow, index), 0);
	if (index >= end->params->messages)
		return;
	mroce_msg_describe(end->params, end->rx_flow, index, msg);
	if (msg->op->takes_recv)
		post_receive(end, index, msg);
	end->rx.prepared = index + 1;
}

/**
 * mroce_rx_start - get all slots ready
 * @end: QP in INIT or later
 */
void mroce_rx_start(struct mroce_end *end)
{
	uint64_t i;

	for (i = 0; end->rx.active && i < end->params->depth; i++)
		prepare(end, i);
}

static void check_poison(const struct mroce_end *end, uint64_t index, uint32_t from, uint32_t to)
{
	uint64_t key = mroce_msg_poison(end->params, end->rx_flow, index);
	ptrdiff_t bad = mroce_pattern_check(slot_of(end, index) + from, to - from, key, from);

	if (bad >= 0)
		mroce_die("qp %u: slot of message %lu: byte %lu outside the target was overwritten",
			  end->index, index, (unsigned long)(from + bad));
}

static void check_message(const struct mroce_end *end, uint64_t index)
{
	const struct mroce_msg *msg = &end->rx.msg[index % end->params->depth];
	uint32_t i, at = 0, done = 0, offset, bytes;
	ptrdiff_t bad;

	for (i = 0; i < msg->dst.n; i++) {
		offset = msg->dst.piece[i].offset;
		bytes = msg->dst.piece[i].bytes;
		if (bytes > msg->bytes - done)
			bytes = msg->bytes - done;
		check_poison(end, index, at, offset);
		bad = mroce_pattern_check(slot_of(end, index) + offset, bytes, msg->key, done);
		if (bad >= 0)
			mroce_die("qp %u: message %lu (%s, %u bytes): wrong byte at %lu",
				  end->index, index, msg->op->name, msg->bytes,
				  (unsigned long)(done + bad));
		done += bytes;
		at = offset + bytes;
	}
	check_poison(end, index, at, end->slot_bytes);
}

/**
 * mroce_rx_complete - account a completion of the receive queue
 * @end: QP
 * @wc: successful completion; must be of the oldest message that takes a receive
 */
void mroce_rx_complete(struct mroce_end *end, const struct ibv_wc *wc)
{
	uint64_t index = end->rx.received > end->rx.verified ? end->rx.received : end->rx.verified;
	const struct mroce_msg *msg;

	for (;; index++) {
		if (index >= end->rx.prepared)
			mroce_die("qp %u: receive completion without a message, wr_id %#lx",
				  end->index, wc->wr_id);
		msg = &end->rx.msg[index % end->params->depth];
		if (msg->op->takes_recv)
			break;
	}
	if (wc->wr_id != ((uint64_t)end->index << 48 | index))
		mroce_die("qp %u: receive completion out of order: wr_id %#lx, expected %lu",
			  end->index, wc->wr_id, index);
	if (wc->opcode != msg->op->recv_opcode || wc->byte_len != msg->bytes)
		mroce_die("qp %u: message %lu (%s, %u bytes): completion opcode %d, %u bytes",
			  end->index, index, msg->op->name, msg->bytes, wc->opcode, wc->byte_len);
	if (!!(wc->wc_flags & IBV_WC_WITH_IMM) != msg->op->has_imm ||
	    (msg->op->has_imm && ntohl(wc->imm_data) != msg->imm))
		mroce_die("qp %u: message %lu: immediate %#x, flags %#x, expected %#x", end->index,
			  index, ntohl(wc->imm_data), wc->wc_flags, msg->imm);
	end->rx.received = index + 1;
}

static void grant(struct mroce_end *end)
{
	struct mroce_rx *rx = &end->rx;

	if (rx->credit_busy || rx->granted == rx->prepared || !mroce_sq_has_room(end, 1))
		return;
	rx->granted = rx->prepared;
	rx->credit_busy = true;
	mroce_sq_post_word(end, MROCE_WR_CREDIT, rx->granted, end->remote.ctl_addr +
			   offsetof(struct mroce_ctl, credit), true);
}

/**
 * mroce_rx_advance - check what has become visible, reuse its slots, grant credit
 * @end: QP
 *
 * A WRITE without immediate is visible once a later receive completed, or once
 * the progress word, written after it, passed it.
 *
 * Return: true if anything was checked.
 */
bool mroce_rx_advance(struct mroce_end *end)
{
	struct mroce_rx *rx = &end->rx;
	uint64_t verified = rx->verified, visible;
	uint64_t flag = __atomic_load_n(&end->ctl->flag, __ATOMIC_ACQUIRE);
	const struct mroce_msg *msg;

	if (!rx->active)
		return false;
	if (flag < rx->flag || flag > rx->prepared)
		mroce_die("qp %u: progress word went from %lu to %lu: late duplicate or corruption",
			  end->index, rx->flag, flag);
	rx->flag = flag;
	visible = flag > rx->received ? flag : rx->received;
	for (; rx->verified < visible; rx->verified++) {
		msg = &rx->msg[rx->verified % end->params->depth];
		if (msg->op->takes_recv && rx->verified >= rx->received)
			break;
		check_message(end, rx->verified);
		prepare(end, rx->verified + end->params->depth);
	}
	grant(end);
	return rx->verified != verified;
}

/**
 * mroce_rx_check_idle - after the run every slot and guard must still be poison
 * @end: QP
 */
void mroce_rx_check_idle(const struct mroce_end *end)
{
	const struct mroce_ctl *ctl = end->ctl;
	uint64_t i;

	for (i = 0; end->rx.active && i < end->params->depth; i++)
		check_poison(end, end->params->messages + i, 0, end->slot_bytes);
	if (mroce_pattern_check(ctl->guard0, sizeof(ctl->guard0), end->index, 0) >= 0 ||
	    mroce_pattern_check(ctl->guard1, sizeof(ctl->guard1), end->index, 0) >= 0 ||
	    mroce_pattern_check(ctl->guard2, sizeof(ctl->guard2), end->index, 0) >= 0)
		mroce_die("qp %u: guard bytes of the control words were overwritten", end->index);
	if ((end->rx.active && ctl->flag != (end->params->poll ? end->params->messages : 0)) ||
	    (end->tx.active && ctl->credit != end->params->messages))
		mroce_die("qp %u: control words changed after the end", end->index);
}
