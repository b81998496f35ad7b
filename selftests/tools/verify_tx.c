// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_verify, sending half: posting within the credit, completions in order. */
#include <arpa/inet.h>
#include <string.h>
#include "verify.h"

#define WR_ID(end, seq) ((uint64_t)(end)->index << 48 | ((seq) & 0xffffffffffffull))

/**
 * mroce_sq_has_room - can this many work requests be posted?
 * @end: QP
 * @wrs: how many
 */
bool mroce_sq_has_room(const struct mroce_end *end, unsigned int wrs)
{
	return end->sq.head - end->sq.tail + wrs <= end->sq.capacity;
}

/**
 * mroce_sq_post - post one work request and remember it
 * @end: QP; mroce_sq_has_room()
 * @wr: without wr_id and signal
 * @rec: with @rec.signaled when it must be signaled; otherwise every n-th is
 */
void mroce_sq_post(struct mroce_end *end, struct ibv_send_wr *wr, struct mroce_wr rec)
{
	struct mroce_sq *sq = &end->sq;
	struct ibv_send_wr *bad;
	int err;

	if (++sq->quiet >= end->params.unsignaled)
		rec.signaled = true;
	if (rec.signaled) {
		sq->quiet = 0;
		end->tally->sends_due++;
		wr->send_flags |= IBV_SEND_SIGNALED;
	}
	wr->wr_id = WR_ID(end, sq->head);
	sq->wr[sq->head % sq->entries] = rec;
	sq->head++;
	err = ibv_post_send(end->qp, wr, &bad);
	if (err)
		mroce_die("qp %u: post_send of message %lu: %s", end->index, rec.msg,
			  strerror(err));
}

/**
 * mroce_sq_post_word - write 8 bytes into the peer's control words
 * @end: QP; mroce_sq_has_room()
 * @rec: as for mroce_sq_post(); its @msg is what is written
 * @offset: where in struct mroce_ctl
 * @flags: enum ibv_send_flags
 */
void mroce_sq_post_word(struct mroce_end *end, struct mroce_wr rec, size_t offset, int flags)
{
	struct mroce_sq *sq = &end->sq;
	uint64_t *word = &sq->word[sq->head % sq->entries];
	struct ibv_sge sge = {
		.addr = (uintptr_t)word, .length = sizeof(*word), .lkey = sq->word_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1, .send_flags = flags,
		.wr.rdma = {
			.remote_addr = end->remote.ctl_addr + offset, .rkey = end->remote.ctl_rkey,
		},
	};

	*word = rec.msg;
	rec.opcode = IBV_WC_RDMA_WRITE;
	if (end->params.use_inline && end->max_inline >= sizeof(*word))
		wr.send_flags |= IBV_SEND_INLINE;
	mroce_sq_post(end, &wr, rec);
}

static bool is_inline(const struct mroce_end *end, const struct mroce_msg *msg)
{
	return end->params.use_inline && !msg->op->fetches && msg->bytes <= end->max_inline;
}

static void aim_atomic(struct mroce_end *end, const struct mroce_msg *msg, uint64_t index,
		       struct ibv_send_wr *wr)
{
	uint64_t old;

	if (msg->op->is_shared) {
		wr->wr.atomic.remote_addr = end->remote.count_addr;
		wr->wr.atomic.rkey = end->remote.count_rkey;
		wr->wr.atomic.compare_add = 1;
		return;
	}
	old = mroce_msg_apply(msg, end->tx.word);
	end->tx.expect[index % end->params.depth] = old;
	wr->wr.atomic.remote_addr = end->remote.ctl_addr + offsetof(struct mroce_ctl, word) +
				    msg->word * sizeof(uint64_t);
	wr->wr.atomic.rkey = end->remote.ctl_rkey;
	wr->wr.atomic.compare_add = msg->operand;
	if (msg->op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr->wr.atomic.compare_add = msg->hit ? old : ~old;
		wr->wr.atomic.swap = msg->operand;
	}
}

static void aim(struct mroce_end *end, const struct mroce_msg *msg, uint64_t index,
		struct ibv_send_wr *wr)
{
	uint64_t slot = (index - msg->reads_back) % end->params.depth;

	if (msg->op->is_atomic)
		aim_atomic(end, msg, index, wr);
	if (!msg->op->is_remote || msg->no_rkey)
		return;
	wr->wr.rdma.remote_addr = end->remote.data_addr + slot * end->tx.slots.bytes +
				  (msg->dst.n ? msg->dst.piece[0].offset : 0);
	wr->wr.rdma.rkey = end->remote.data_rkey;
}

static void post_flag(struct mroce_end *end, uint64_t count, bool last)
{
	mroce_sq_post_word(end, (struct mroce_wr){
		.kind = MROCE_WR_FLAG, .msg = count, .signaled = last,
	}, offsetof(struct mroce_ctl, flag), end->tx.unfenced ? IBV_SEND_FENCE : 0);
	end->tx.unfenced = false;
}

static void post_message(struct mroce_end *end, uint64_t index, bool last)
{
	uint8_t *slot = mroce_slots_at(&end->tx.slots, index);
	struct ibv_sge sge[MROCE_SGES_MAX];
	struct ibv_send_wr wr = { .sg_list = sge };
	struct mroce_msg msg;
	bool stuck;
	uint32_t i;

	mroce_msg_describe(&end->params, end->tx_flow, index, &msg);
	if (!msg.op->fetches)
		mroce_slots_fill(&end->tx.slots, index, &msg.src, msg.key);
	for (i = 0; i < msg.src.n; i++) {
		sge[i].addr = (uintptr_t)slot + msg.src.piece[i].offset;
		sge[i].length = msg.src.piece[i].bytes;
		sge[i].lkey = end->tx.slots.mr->lkey;
	}
	wr.num_sge = msg.src.n;
	wr.opcode = msg.op->opcode;
	wr.imm_data = htonl(msg.imm);
	aim(end, &msg, index, &wr);
	wr.send_flags = (is_inline(end, &msg) ? IBV_SEND_INLINE : 0) |
			(msg.fence ? IBV_SEND_FENCE : 0) |
			(msg.solicited ? IBV_SEND_SOLICITED : 0);
	end->tx.unfenced = msg.op->fetches || (end->tx.unfenced && !msg.fence);
	mroce_sq_post(end, &wr, (struct mroce_wr){
		.kind = MROCE_WR_DATA, .opcode = msg.op->send_opcode, .msg = index,
		.signaled = last,
	});
	/* An inline buffer is ours again at once: make sure nobody reads it late. */
	if (wr.send_flags & IBV_SEND_INLINE)
		mroce_slots_clear(&end->tx.slots, index, &msg.src);
	stuck = index + 1 == end->tx.credit && (!msg.op->takes_recv || end->tx.unfenced);
	if (end->params.poll && (last || msg.flag_after || stuck))
		post_flag(end, index + 1, last);
}

static void check_atomic(struct mroce_end *end, const struct mroce_msg *msg, uint64_t index)
{
	const uint8_t *slot = mroce_slots_at(&end->tx.slots, index);
	uint64_t value, expect = end->tx.expect[index % end->params.depth];

	memcpy(&value, slot + msg->src.piece[0].offset, sizeof(value));
	if (msg->op->is_shared)
		mroce_count_returned(end, value);
	else if (value != expect)
		mroce_wrong(end->tally, "qp %u: message %lu (%s): word %u was %#lx, expected %#lx",
			    end->index, index, msg->op->name, msg->word, value, expect);
}

/* The slot holds what was sent or fetched and is poison all around; then it is reused. */
static void retire_message(struct mroce_end *end, uint64_t index)
{
	struct mroce_slots *slots = &end->tx.slots;
	const struct mroce_layout *layout;
	struct mroce_msg msg;
	ptrdiff_t bad;

	mroce_msg_describe(&end->params, end->tx_flow, index, &msg);
	layout = &msg.src;
	if (msg.op->is_atomic) {
		check_atomic(end, &msg, index);
		mroce_slots_clear(slots, index, layout);
	}
	if (msg.op->is_atomic || is_inline(end, &msg))
		layout = NULL;
	bad = mroce_slots_check(slots, index, layout, msg.bytes, msg.key);
	if (bad >= 0)
		mroce_wrong(end->tally, "sender, qp %u: message %lu (%s%s, %u bytes): byte %ld",
			    end->index, index, msg.op->name, msg.reads_back ? " back" : "",
			    msg.bytes, bad);
	mroce_slots_clear(slots, index, &msg.src);
	end->tx.retired = index + 1;
	end->tally->messages++;
	end->tally->fetches += msg.op->fetches;
	end->tally->bytes += msg.bytes;
}

static void check_completion(const struct mroce_end *end, const struct mroce_wr *rec,
			     const struct ibv_wc *wc)
{
	struct mroce_msg msg;

	if (wc->opcode != rec->opcode)
		mroce_die("qp %u: message %lu: completion opcode %d, expected %d", end->index,
			  rec->msg, wc->opcode, rec->opcode);
	if (rec->kind != MROCE_WR_DATA)
		return;
	mroce_msg_describe(&end->params, end->tx_flow, rec->msg, &msg);
	if (msg.op->fetches && wc->byte_len != msg.bytes)
		mroce_die("qp %u: message %lu (%s, %u bytes): completion of %u bytes", end->index,
			  rec->msg, msg.op->name, msg.bytes, wc->byte_len);
}

/**
 * mroce_tx_complete - account a completion of the send queue
 * @end: QP
 * @wc: successful completion; must be the oldest signaled work request
 */
void mroce_tx_complete(struct mroce_end *end, const struct ibv_wc *wc)
{
	struct mroce_sq *sq = &end->sq;
	struct mroce_wr *rec;

	end->tally->sends_seen++;
	for (;; sq->tail++) {
		if (sq->tail == sq->head)
			mroce_die("qp %u: completion of nothing, wr_id %#lx", end->index,
				  wc->wr_id);
		rec = &sq->wr[sq->tail % sq->entries];
		if (rec->signaled && wc->wr_id != WR_ID(end, sq->tail))
			mroce_die("qp %u: send completion out of order: wr_id %#lx, expected %#lx",
				  end->index, wc->wr_id, (unsigned long)WR_ID(end, sq->tail));
		if (rec->kind == MROCE_WR_DATA)
			retire_message(end, rec->msg);
		if (rec->kind == MROCE_WR_CREDIT)
			end->rx.credit_busy = false;
		if (rec->signaled)
			break;
	}
	check_completion(end, rec, wc);
	sq->tail++;
}

/* The time is up: the window that has begun is the last one. */
static void set_end(struct mroce_end *end)
{
	uint64_t depth = end->params.depth;

	if (end->tx.end == MROCE_ENDLESS && mroce_clock_ns() >= end->stop_ns)
		end->tx.end = (end->tx.posted / depth + 1) * depth;
	if (!end->params.seconds || end->tx.posted != end->tx.end || end->tx.final_posted ||
	    !mroce_sq_has_room(end, 1))
		return;
	mroce_sq_post_word(end, (struct mroce_wr){
		.kind = MROCE_WR_FINAL, .msg = end->tx.end, .signaled = true,
	}, offsetof(struct mroce_ctl, final), 0);
	end->tx.final_posted = true;
}

/**
 * mroce_tx_advance - post what credit, slots and queue allow
 * @end: QP
 *
 * Return: true if anything was posted.
 */
bool mroce_tx_advance(struct mroce_end *end)
{
	uint64_t posted = end->tx.posted;
	uint64_t credit = __atomic_load_n(&end->ctl->credit, __ATOMIC_ACQUIRE);

	if (!end->tx.active)
		return false;
	if (credit < end->tx.credit || credit > end->params.messages)
		mroce_die("qp %u: credit went from %lu to %lu: late duplicate or corruption",
			  end->index, end->tx.credit, credit);
	end->tx.credit = credit;
	set_end(end);
	while (end->tx.posted < credit && end->tx.posted < end->tx.end &&
	       mroce_sq_has_room(end, 2) &&
	       end->tx.posted - end->tx.retired < end->params.depth) {
		post_message(end, end->tx.posted, end->tx.posted + 1 == end->tx.end);
		end->tx.posted++;
	}
	return end->tx.posted != posted;
}

/**
 * mroce_tx_is_finished - is everything posted, completed, and told to the peer?
 * @end: QP
 */
bool mroce_tx_is_finished(const struct mroce_end *end)
{
	if (end->sq.head != end->sq.tail)
		return false;
	return !end->tx.active || (end->tx.posted == end->tx.end &&
				   (end->tx.final_posted || !end->params.seconds));
}

/**
 * mroce_tx_check_idle - after the run every slot must still be poison
 * @end: QP
 */
void mroce_tx_check_idle(struct mroce_end *end)
{
	ptrdiff_t bad;
	uint32_t i;

	for (i = 0; end->tx.active && i < end->tx.slots.count; i++) {
		bad = mroce_slots_check_all(&end->tx.slots, i, NULL, 0, 0);
		if (bad >= 0)
			mroce_wrong(end->tally, "sender, qp %u: after the end slot %u, byte %ld",
				    end->index, i, bad);
	}
}
