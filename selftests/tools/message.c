// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which message comes as number i of a flow: a pure function of the seed. */
#include "verify.h"

#define GAP_BYTES 64
#define SPARE_BYTES 256
#define IMM_BITS 0xffffffff
#define NEAR_BYTES 262144
#define MEMORY_BYTES (96u << 20)	/* of all slots of one direction at one end */

const struct mroce_op mroce_ops[] = {
	{
		.name = "send", .opcode = IBV_WR_SEND, .send_opcode = IBV_WC_SEND,
		.recv_opcode = IBV_WC_RECV, .takes_recv = true,
	}, {
		.name = "send_imm", .opcode = IBV_WR_SEND_WITH_IMM, .send_opcode = IBV_WC_SEND,
		.recv_opcode = IBV_WC_RECV, .takes_recv = true, .has_imm = true,
	}, {
		.name = "write", .opcode = IBV_WR_RDMA_WRITE, .send_opcode = IBV_WC_RDMA_WRITE,
		.is_remote = true,
	}, {
		.name = "write_imm", .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_opcode = IBV_WC_RDMA_WRITE, .recv_opcode = IBV_WC_RECV_RDMA_WITH_IMM,
		.is_remote = true, .takes_recv = true, .has_imm = true,
	}, {
		.name = "read", .opcode = IBV_WR_RDMA_READ, .send_opcode = IBV_WC_RDMA_READ,
		.is_remote = true, .fetches = true,
	}, {
		.name = "fadd", .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_opcode = IBV_WC_FETCH_ADD, .is_atomic = true, .fetches = true,
	}, {
		.name = "cswap", .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.send_opcode = IBV_WC_COMP_SWAP, .is_atomic = true, .fetches = true,
	}, {
		.name = "count", .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_opcode = IBV_WC_FETCH_ADD, .is_atomic = true, .fetches = true,
		.is_shared = true,
	},
};

const unsigned int mroce_ops_count = ARRAY_SIZE(mroce_ops);

static uint64_t draw(uint64_t *state)
{
	return mroce_mix((*state)++);
}

static uint32_t draw_below(uint64_t *state, uint32_t limit)
{
	return (draw(state) >> 32) % limit;
}

static const struct mroce_op *draw_op(uint64_t *state, uint32_t mask)
{
	uint32_t pick = draw_below(state, __builtin_popcount(mask));
	uint32_t i;

	for (i = 0; i < mroce_ops_count; i++) {
		if (mask & (1u << i) && !pick--)
			break;
	}
	return &mroce_ops[i];
}

/* Empty, tiny, at a packet boundary, the largest, or of any magnitude: large ones are rare. */
static uint32_t draw_size(uint64_t *state, uint32_t max)
{
	uint32_t kind = draw_below(state, 16), bits, size;

	if (!kind)
		return 0;
	if (kind == 1)
		return max;
	if (kind < 5) {
		size = draw_below(state, 65);
	} else if (kind < 8) {
		size = max < NEAR_BYTES ? max : NEAR_BYTES;
		size = (1 + draw_below(state, 1 + size / 1024)) * 1024 + draw_below(state, 3) - 1;
	} else {
		bits = max ? 32 - __builtin_clz(max) : 0;
		size = draw(state) & ((1ull << draw_below(state, bits + 1)) - 1);
	}
	return size < max ? size : max;
}

/* Cut @bytes into at most @most pieces that fit a slot. */
static void draw_layout(uint64_t *state, uint32_t bytes, uint32_t most, uint32_t slot_bytes,
			struct mroce_layout *layout)
{
	uint32_t pieces = 1 + draw_below(state, most);
	uint32_t slack = slot_bytes - bytes - pieces * GAP_BYTES;
	uint32_t at = draw_below(state, slack);
	uint32_t len;

	layout->n = 0;
	for (; bytes; pieces--) {
		len = pieces > 1 ? draw_below(state, bytes + 1) : bytes;
		if (!len)
			continue;
		layout->piece[layout->n].offset = at;
		layout->piece[layout->n].bytes = len;
		layout->n++;
		bytes -= len;
		at += len + draw_below(state, GAP_BYTES);
	}
}

/**
 * mroce_msg_slot_bytes - room for any message, its gaps and guard bytes
 * @params: of the run
 */
uint32_t mroce_msg_slot_bytes(const struct mroce_params *params)
{
	uint32_t bytes = params->max_bytes + SPARE_BYTES + GAP_BYTES * (params->sges + 2);

	return (bytes + 63) / 64 * 64;
}

/* Without the limit a wide window of large messages would need more memory than a guest has. */
static void limit_memory(struct mroce_params *params, uint32_t bytes)
{
	uint32_t most = bytes / mroce_msg_slot_bytes(params);

	if (params->depth > most)
		params->depth = most ? most : 1;
	if (params->unsignaled > params->depth)
		params->unsignaled = params->depth;
}

/**
 * mroce_params_vary - what one QP does
 * @run: of the run
 * @index: QP
 * @params: filled in
 *
 * With @run->vary the first QP has the largest messages, the others draw everything.
 */
void mroce_params_vary(const struct mroce_params *run, uint32_t index, struct mroce_params *params)
{
	uint64_t state = mroce_mix(~run->seed) ^ ((uint64_t)index << 32);
	uint32_t share = MEMORY_BYTES / run->qps;

	*params = *run;
	if (run->vary) {
		params->depth = 1 + draw_below(&state, run->depth);
		params->sges = 1 + draw_below(&state, run->sges);
		params->unsignaled = 1 + draw_below(&state, run->unsignaled);
		params->use_inline = run->use_inline && draw(&state) & 1;
		params->relaxed = run->relaxed && draw(&state) & 1;
		params->poll = run->poll && (draw(&state) & 1 || !(run->ops & MROCE_OPS_RECV));
		params->timing.rd_atomic = 1 + draw_below(&state, run->timing.rd_atomic);
		if (index)
			params->max_bytes >>= draw_below(&state, 16);
		if (run->qps > 1)
			share = MEMORY_BYTES / 2 / (index ? run->qps - 1 : 1);
		while (index && mroce_msg_slot_bytes(params) > share)
			params->max_bytes /= 2;
	}
	limit_memory(params, share);
}

/**
 * mroce_msg_word - what a target of atomics holds at first
 * @params: of the run
 * @flow: direction and QP
 * @word: which of its words
 */
uint64_t mroce_msg_word(const struct mroce_params *params, uint32_t flow, uint32_t word)
{
	return mroce_mix(params->seed ^ ((uint64_t)flow << 32) ^ ~(uint64_t)word);
}

/**
 * mroce_msg_apply - do an atomic in the books
 * @msg: atomic on a word of the QP
 * @words: its words
 *
 * Return: what it must return.
 */
uint64_t mroce_msg_apply(const struct mroce_msg *msg, uint64_t *words)
{
	uint64_t old = words[msg->word];

	if (msg->op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		words[msg->word] += msg->operand;
	else if (msg->hit)
		words[msg->word] = msg->operand;
	return old;
}

static bool ends_window(const struct mroce_params *params, uint64_t index)
{
	return !((index + 1) % params->depth) || index + 1 == params->messages;
}

static void describe(const struct mroce_params *params, uint32_t flow, uint64_t index,
		     struct mroce_msg *msg)
{
	uint64_t state = mroce_mix(params->seed ^ mroce_mix(index) ^ ((uint64_t)flow << 32));
	uint32_t slot_bytes = mroce_msg_slot_bytes(params);
	bool last = ends_window(params, index);
	uint32_t room, ops = params->ops;

	/*
	 * Every window ends with a receive and FENCE, or nobody could tell that its WRITEs
	 * are complete and its READs done.
	 */
	if (last && ops & MROCE_OPS_RECV)
		ops &= MROCE_OPS_RECV;
	msg->op = draw_op(&state, ops);
	msg->bytes = msg->op->is_atomic ? sizeof(uint64_t) : draw_size(&state, params->max_bytes);
	msg->key = draw(&state);
	msg->imm = msg->op->has_imm ? draw(&state) & IMM_BITS : 0;
	msg->flag_after = params->poll && !msg->op->takes_recv && draw(&state) & 1;
	msg->no_rkey = !msg->bytes && draw(&state) & 1;
	msg->fence = last || !draw_below(&state, 8);
	msg->solicited = msg->op->takes_recv && (last || draw(&state) & 1);
	msg->reads_back = false;
	msg->hit = draw(&state) & 1;
	msg->word = draw_below(&state, MROCE_WORDS);
	msg->operand = draw(&state);
	room = msg->bytes;
	if (!msg->op->is_remote && !msg->op->is_atomic && draw(&state) & 1)
		room += draw_below(&state, SPARE_BYTES);
	draw_layout(&state, msg->bytes, msg->op->is_atomic ? 1 : params->sges, slot_bytes,
		    &msg->src);
	draw_layout(&state, msg->op->is_atomic ? 0 : room,
		    msg->op->is_remote ? 1 : params->sges, slot_bytes, &msg->dst);
}

/* A READ that follows a WRITE of its window may read back what that one wrote. */
static void try_read_back(const struct mroce_params *params, uint32_t flow, uint64_t index,
			  struct mroce_msg *msg)
{
	uint64_t state = ~msg->key;
	struct mroce_msg written;

	if (!(index % params->depth) || draw(&state) & 1)
		return;
	describe(params, flow, index - 1, &written);
	if (!written.op->is_remote || written.op->fetches || !written.bytes)
		return;
	msg->reads_back = true;
	msg->no_rkey = false;
	msg->key = written.key;
	msg->bytes = written.bytes;
	msg->dst = written.dst;
	draw_layout(&state, msg->bytes, params->sges, mroce_msg_slot_bytes(params), &msg->src);
}

/**
 * mroce_msg_describe - derive a message from its number
 * @params: of the QP
 * @flow: direction and QP
 * @index: number in the flow
 * @msg: filled in
 */
void mroce_msg_describe(const struct mroce_params *params, uint32_t flow, uint64_t index,
			struct mroce_msg *msg)
{
	describe(params, flow, index, msg);
	if (msg->op->opcode == IBV_WR_RDMA_READ)
		try_read_back(params, flow, index, msg);
}
