// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which message comes as number i of a flow: a pure function of the seed. */
#include "verify.h"

#define GAP_BYTES 64
#define SPARE_BYTES 256
#define IMM_BITS 0xffffffff

/* READ and atomics need rows with a direction of their own: the requester checks. */
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

/* Empty, tiny, at a packet boundary, the largest, or of any magnitude. */
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
		size = (1 + draw_below(state, 1 + max / 1024)) * 1024 + draw_below(state, 3) - 1;
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

/**
 * mroce_msg_poison - name of the bytes that fill a slot before a message
 * @params: of the run
 * @flow: direction and QP
 * @index: the message
 */
uint64_t mroce_msg_poison(const struct mroce_params *params, uint32_t flow, uint64_t index)
{
	return mroce_mix(params->seed ^ mroce_mix(~index) ^ ((uint64_t)flow << 32));
}

/**
 * mroce_msg_describe - derive a message from its number
 * @params: of the run
 * @flow: direction and QP
 * @index: number in the flow
 * @msg: filled in
 */
void mroce_msg_describe(const struct mroce_params *params, uint32_t flow, uint64_t index,
			struct mroce_msg *msg)
{
	uint64_t state = mroce_mix(params->seed ^ mroce_mix(index) ^ ((uint64_t)flow << 32));
	uint32_t slot_bytes = mroce_msg_slot_bytes(params);
	uint32_t room;
	uint32_t ops = params->ops;

	/* Every window ends with a receive, or nobody could tell that it is complete. */
	if (!params->poll && (!((index + 1) % params->depth) || index + 1 == params->messages))
		ops &= MROCE_OPS_RECV;
	msg->op = draw_op(&state, ops);
	msg->bytes = draw_size(&state, params->max_bytes);
	msg->key = draw(&state);
	msg->imm = msg->op->has_imm ? draw(&state) & IMM_BITS : 0;
	msg->flag_after = params->poll && !msg->op->takes_recv && draw(&state) & 1;
	msg->no_rkey = !msg->bytes && draw(&state) & 1;
	room = msg->bytes;
	if (!msg->op->is_remote && draw(&state) & 1)
		room += draw_below(&state, SPARE_BYTES);
	draw_layout(&state, msg->bytes, params->sges, slot_bytes, &msg->src);
	draw_layout(&state, room, msg->op->is_remote ? 1 : params->sges, slot_bytes, &msg->dst);
}
