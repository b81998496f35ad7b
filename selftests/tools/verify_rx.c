// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_verify, receiving half: slots, receives, checks, credits. */
#include <arpa/inet.h>
#include <string.h>
#include "verify.h"

static void post_receive(struct mroce_end *end, uint64_t index, const struct mroce_msg *msg)
{
	struct ibv_sge sge[MROCE_SGES_MAX];
	struct ibv_recv_wr wr = {
		.wr_id = (uint64_t)end->index << 48 | index, .sg_list = sge,
	}, *bad;
	int err;

	/* An immediate of a WRITE needs a receive, but no memory of it. */
	for (; !msg->op->is_remote && wr.num_sge < (int)msg->dst.n; wr.num_sge++) {
		sge[wr.num_sge].addr = (uintptr_t)mroce_slots_at(&end->rx.slots, index) +
				       msg->dst.piece[wr.num_sge].offset;
		sge[wr.num_sge].length = msg->dst.piece[wr.num_sge].bytes;
		sge[wr.num_sge].lkey = end->rx.slots.mr->lkey;
	}
	err = ibv_post_recv(end->qp, &wr, &bad);
	if (err)
		mroce_die("qp %u: post_recv for message %lu: %s", end->index, index, strerror(err));
}

/* What a slot holds before its message comes, or all the time if that only reads: NULL = poison. */
static const struct mroce_layout *offered(const struct mroce_msg *msg)
{
	bool reads = msg->op->opcode == IBV_WR_RDMA_READ && !msg->reads_back;

	return reads ? &msg->dst : NULL;
}

/* The slot is all poison. Unless the run ends before this message, await it. */
static void prepare(struct mroce_end *end, uint64_t index)
{
	struct mroce_msg *msg = &end->rx.msg[index % end->params.depth];

	if (index >= end->params.messages)
		return;
	mroce_msg_describe(&end->params, end->rx_flow, index, msg);
	if (offered(msg))
		mroce_slots_fill(&end->rx.slots, index, &msg->dst, msg->key);
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

	for (i = 0; end->rx.active && i < end->params.depth; i++)
		prepare(end, i);
}

static void check_message(struct mroce_end *end, uint64_t index)
{
	const struct mroce_msg *msg = &end->rx.msg[index % end->params.depth];
	struct mroce_slots *slots = &end->rx.slots;
	const struct mroce_layout *layout = msg->op->fetches ? offered(msg) : &msg->dst;
	ptrdiff_t bad;

	bad = mroce_slots_check(slots, index, layout, msg->bytes, msg->key);
	if (bad >= 0)
		mroce_wrong(end->tally, "receiver, qp %u: message %lu (%s, %u bytes): byte %ld",
			    end->index, index, msg->op->name, msg->bytes, bad);
	mroce_slots_clear(slots, index, &msg->dst);
	if (msg->op->is_atomic && !msg->op->is_shared)
		mroce_msg_apply(msg, end->rx.word);
	end->tally->checked++;
	end->tally->recvs_due += msg->op->takes_recv;
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

	end->tally->recvs_seen++;
	for (;; index++) {
		if (index >= end->rx.prepared || index >= end->rx.end)
			mroce_die("qp %u: receive completion without a message, wr_id %#lx",
				  end->index, wc->wr_id);
		msg = &end->rx.msg[index % end->params.depth];
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
	if (msg->fence)
		end->rx.fenced = index + 1;
}

static void grant(struct mroce_end *end)
{
	struct mroce_rx *rx = &end->rx;

	if (rx->credit_busy || rx->granted == rx->prepared || !mroce_sq_has_room(end, 1))
		return;
	rx->granted = rx->prepared;
	rx->credit_busy = true;
	mroce_sq_post_word(end, (struct mroce_wr){
		.kind = MROCE_WR_CREDIT, .msg = rx->granted, .signaled = true,
	}, offsetof(struct mroce_ctl, credit), 0);
}

/*
 * Can nobody need the slot of the oldest message any more? Not before its receive has
 * completed, nor while a READ of it may still be under way. @visible: messages that are
 * here; @fenced: messages whose READs are done as well.
 */
static bool is_done(const struct mroce_rx *rx, uint32_t depth, uint64_t visible, uint64_t fenced)
{
	const struct mroce_msg *msg = &rx->msg[rx->verified % depth];
	uint64_t next = rx->verified + 1;

	if (rx->verified >= visible || (msg->op->takes_recv && rx->verified >= rx->received))
		return false;
	if (next % depth && next < rx->prepared && rx->msg[next % depth].reads_back)
		return next < fenced;
	return !msg->op->fetches || rx->verified < fenced;
}

static void learn_end(struct mroce_end *end)
{
	uint64_t final = __atomic_load_n(&end->ctl->final, __ATOMIC_ACQUIRE);

	if (!end->params.seconds || !final)
		return;
	if (final < end->rx.verified || (final != end->rx.end && end->rx.end != MROCE_ENDLESS))
		mroce_die("qp %u: the peer says it sends %lu messages, not %lu, checked %lu",
			  end->index, final, end->rx.end, end->rx.verified);
	end->rx.end = final;
}

/**
 * mroce_rx_advance - check what has become visible, reuse its slots, grant credit
 * @end: QP
 *
 * A WRITE without immediate is visible once a later receive completed, or once
 * the progress word, written after it, passed it. The progress word waits for READs.
 *
 * Return: true if anything was checked.
 */
bool mroce_rx_advance(struct mroce_end *end)
{
	struct mroce_rx *rx = &end->rx;
	uint64_t verified = rx->verified, visible, fenced;
	uint64_t flag = __atomic_load_n(&end->ctl->flag, __ATOMIC_ACQUIRE);

	if (!rx->active)
		return false;
	if (flag < rx->flag || flag > rx->prepared)
		mroce_die("qp %u: progress word went from %lu to %lu: late duplicate or corruption",
			  end->index, rx->flag, flag);
	rx->flag = flag;
	visible = flag > rx->received ? flag : rx->received;
	fenced = flag > rx->fenced ? flag : rx->fenced;
	for (; is_done(rx, end->params.depth, visible, fenced); rx->verified++) {
		check_message(end, rx->verified);
		prepare(end, rx->verified + end->params.depth);
	}
	learn_end(end);
	grant(end);
	return rx->verified != verified;
}

/* Slots wait for messages that will not come: they look as prepared. */
static void check_slots(struct mroce_end *end)
{
	const struct mroce_msg *msg;
	const struct mroce_layout *layout;
	uint64_t index;
	ptrdiff_t bad;
	uint32_t i;

	for (i = 0; i < end->params.depth; i++) {
		index = end->rx.end + i;
		msg = &end->rx.msg[index % end->params.depth];
		layout = index < end->rx.prepared ? offered(msg) : NULL;
		bad = mroce_slots_check_all(&end->rx.slots, index, layout, msg->bytes, msg->key);
		if (bad >= 0)
			mroce_wrong(end->tally, "receiver, qp %u: after the end slot %lu, byte %ld",
				    end->index, index % end->params.depth, bad);
	}
}

static bool guards_are_intact(const struct mroce_end *end)
{
	const struct mroce_ctl *ctl = end->ctl;
	uint64_t key = end->index;

	return mroce_pattern_check(ctl->guard0, sizeof(ctl->guard0), key, 0) < 0 &&
	       mroce_pattern_check(ctl->guard1, sizeof(ctl->guard1), key, 0) < 0 &&
	       mroce_pattern_check(ctl->guard2, sizeof(ctl->guard2), key, 0) < 0 &&
	       mroce_pattern_check(ctl->guard3, sizeof(ctl->guard3), key, 0) < 0 &&
	       mroce_pattern_check(ctl->guard4, sizeof(ctl->guard4), key, 0) < 0;
}

/**
 * mroce_rx_check_idle - after the run slots, words and guards must be as they should
 * @end: QP
 */
void mroce_rx_check_idle(struct mroce_end *end)
{
	const struct mroce_ctl *ctl = end->ctl;
	uint32_t i;

	if (!guards_are_intact(end))
		mroce_wrong(end->tally, "qp %u: guard bytes of the control words", end->index);
	if ((end->rx.active && ctl->flag != (end->params.poll ? end->rx.end : 0)) ||
	    (end->tx.active && (ctl->credit < end->tx.end || ctl->credit > end->params.messages)))
		mroce_wrong(end->tally, "qp %u: control words changed after the end", end->index);
	if (!end->rx.active)
		return;
	check_slots(end);
	for (i = 0; i < MROCE_WORDS; i++) {
		if (ctl->word[i] != end->rx.word[i])
			mroce_wrong(end->tally, "qp %u: after the end word %u is %#lx, not %#lx",
				    end->index, i, ctl->word[i], end->rx.word[i]);
	}
}
