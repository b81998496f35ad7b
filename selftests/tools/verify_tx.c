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

	if (++sq->quiet >= end->params->unsignaled)
		rec.signaled = true;
	if (rec.signaled) {
		sq->quiet = 0;
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
 * @kind: flag or credit
 * @value: what
 * @remote_addr: where
 * @signaled: ask for a completion
 */
void mroce_sq_post_word(struct mroce_end *end, enum mroce_wr_kind kind, uint64_t value,
			uint64_t remote_addr, bool signaled)
{
	struct mroce_sq *sq = &end->sq;
	uint64_t *word = &sq->word[sq->head % sq->entries];
	struct ibv_sge sge = {
		.addr = (uintptr_t)word, .length = sizeof(*word), .lkey = sq->word_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = remote_addr, .rkey = end->remote.ctl_rkey },
	};

	*word = value;
	if (end->params->use_inline && end->max_inline >= sizeof(*word))
		wr.send_flags = IBV_SEND_INLINE;
	mroce_sq_post(end, &wr, (struct mroce_wr){
		.kind = kind, .signaled = signaled, .opcode = IBV_WC_RDMA_WRITE, .msg = value,
	});
}

/* Once a buffer is ours again anything may be in it: make sure nobody reads it late. */
static void spoil(const struct mroce_msg *msg, uint8_t *slot)
{
	uint32_t i;

	for (i = 0; i < msg->src.n; i++)
		memset(slot + msg->src.piece[i].offset, 0xee, msg->src.piece[i].bytes);
}

static void post_message(struct mroce_end *end, uint64_t index, bool last)
{
	uint8_t *slot = end->tx.slots + index % end->params->depth * end->slot_bytes;
	uint64_t remote_slot = end->remote.data_addr + index % end->params->depth * end->slot_bytes;
	struct ibv_sge sge[MROCE_SGES_MAX];
	struct ibv_send_wr wr = { .sg_list = sge };
	struct mroce_msg msg;
	uint32_t i, done = 0;

	mroce_msg_describe(end->params, end->tx_flow, index, &msg);
	for (i = 0; i < msg.src.n; i++) {
		mroce_pattern_fill(slot + msg.src.piece[i].offset, msg.src.piece[i].bytes,
				   msg.key, done);
		done += msg.src.piece[i].bytes;
		sge[i].addr = (uintptr_t)slot + msg.src.piece[i].offset;
		sge[i].length = msg.src.piece[i].bytes;
		sge[i].lkey = end->tx.mr->lkey;
	}
	wr.num_sge = msg.src.n;
	wr.opcode = msg.op->opcode;
	wr.imm_data = htonl(msg.imm);
	if (msg.op->is_remote && !msg.no_rkey) {
		wr.wr.rdma.remote_addr = remote_slot + (msg.dst.n ? msg.dst.piece[0].offset : 0);
		wr.wr.rdma.rkey = end->remote.data_rkey;
	}
	if (end->params->use_inline && msg.bytes <= end->max_inline)
		wr.send_flags = IBV_SEND_INLINE;
	mroce_sq_post(end, &wr, (struct mroce_wr){
		.kind = MROCE_WR_DATA, .opcode = msg.op->send_opcode, .msg = index,
		.signaled = last,
	});
	if (wr.send_flags & IBV_SEND_INLINE)
		spoil(&msg, slot);
	if (end->params->poll &&
	    (last || msg.flag_after || (!msg.op->takes_recv && index + 1 == end->tx.credit)))
		mroce_sq_post_word(end, MROCE_WR_FLAG, index + 1, end->remote.ctl_addr +
				   offsetof(struct mroce_ctl, flag), last);
}

static void retire_message(struct mroce_end *end, uint64_t index)
{
	uint8_t *slot = end->tx.slots + index % end->params->depth * end->slot_bytes;
	struct mroce_msg msg;

	mroce_msg_describe(end->params, end->tx_flow, index, &msg);
	spoil(&msg, slot);
	end->tx.retired = index + 1;
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

	for (;; sq->tail++) {
		if (sq->tail == sq->head)
			mroce_die("qp %u: completion of nothing, wr_id %#lx", end->index,
				  wc->wr_id);
		rec = &sq->wr[sq->tail % sq->entries];
		if (rec->kind == MROCE_WR_DATA)
			retire_message(end, rec->msg);
		if (rec->kind == MROCE_WR_CREDIT)
			end->rx.credit_busy = false;
		if (rec->signaled)
			break;
	}
	if (wc->wr_id != WR_ID(end, sq->tail))
		mroce_die("qp %u: send completion out of order: wr_id %#lx, expected %#lx",
			  end->index, wc->wr_id, (unsigned long)WR_ID(end, sq->tail));
	if (wc->opcode != rec->opcode)
		mroce_die("qp %u: message %lu: completion opcode %d, expected %d", end->index,
			  rec->msg, wc->opcode, rec->opcode);
	sq->tail++;
}

/**
 * mroce_tx_advance - post what credit, slots and queue allow
 * @end: QP
 *
 * Return: true if anything was posted.
 */
bool mroce_tx_advance(struct mroce_end *end)
{
	uint64_t n = end->params->messages, posted = end->tx.posted;
	uint64_t credit = __atomic_load_n(&end->ctl->credit, __ATOMIC_ACQUIRE);

	if (!end->tx.active)
		return false;
	if (credit < end->tx.credit || credit > n)
		mroce_die("qp %u: credit went from %lu to %lu: late duplicate or corruption",
			  end->index, end->tx.credit, credit);
	end->tx.credit = credit;
	while (end->tx.posted < credit && mroce_sq_has_room(end, 2) &&
	       end->tx.posted - end->tx.retired < end->params->depth) {
		post_message(end, end->tx.posted, end->tx.posted + 1 == n);
		end->tx.posted++;
	}
	return end->tx.posted != posted;
}
