/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mroce_verify: reliable-connection traffic whose every byte is predictable.
 *
 * Both ends derive message i of a flow (operation, size, place, immediate,
 * bytes) from the seed, so the receiver knows what must arrive. It grants
 * credits, checks each message in a slot of its own, refills the slot with
 * poison at once and only then lets the sender use it again. A late duplicate
 * therefore hits poison and is found when the slot is checked the next time.
 */
#ifndef MROCE_VERIFY_H
#define MROCE_VERIFY_H

#include <stdio.h>
#include <stdnoreturn.h>
#include "tool.h"

#define MROCE_SGES_MAX 16
#define MROCE_VERIFY_MAGIC 0x6d727631

/**
 * struct mroce_params - what both ends must agree on; the client decides
 * @magic: MROCE_VERIFY_MAGIC
 * @qps: QPs
 * @max_bytes: largest message
 * @depth: messages in flight per QP, also the number of slots
 * @sges: most pieces of a message at either end
 * @unsignaled: ask for every this-many-th send completion
 * @ops: bit mask over the operation table
 * @use_inline: send inline what fits
 * @relaxed: register the data with relaxed ordering
 * @bidir: traffic both ways on every QP
 * @poll: the receiver also learns of a WRITE by polling a word that is written
 *	after it; otherwise only by the completion of a later receive
 * @linger_ms: how long to wait for late duplicates at the end
 * @timing: verbs timers
 * @messages: per QP and direction
 * @seed: of everything
 */
struct mroce_params {
	uint32_t magic;
	uint32_t qps;
	uint32_t max_bytes;
	uint32_t depth;
	uint32_t sges;
	uint32_t unsignaled;
	uint32_t ops;
	uint32_t use_inline;
	uint32_t relaxed;
	uint32_t bidir;
	uint32_t poll;
	uint32_t linger_ms;
	struct mroce_qp_timing timing;
	uint64_t messages;
	uint64_t seed;
};

/**
 * struct mroce_op - one row of the operation table
 * @name: on the command line
 * @opcode: of the work request
 * @send_opcode: expected in the sender's completion
 * @recv_opcode: expected in the receiver's completion
 * @is_remote: carries address and rkey, otherwise lands in a posted receive
 * @takes_recv: consumes a receive at the other end
 * @has_imm: carries an immediate
 */
struct mroce_op {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode send_opcode;
	enum ibv_wc_opcode recv_opcode;
	bool is_remote;
	bool takes_recv;
	bool has_imm;
};

/* struct mroce_layout - pieces of a slot, ascending, with gaps between them */
struct mroce_layout {
	uint32_t n;
	struct {
		uint32_t offset;
		uint32_t bytes;
	} piece[MROCE_SGES_MAX];
};

/**
 * struct mroce_msg - everything about one message
 * @op: operation
 * @key: names its bytes for mroce_pattern_fill()
 * @bytes: payload
 * @imm: immediate, host order
 * @flag_after: a WRITE is followed by a WRITE of the progress word
 * @no_rkey: zero bytes sent with address and rkey 0
 * @src: where it lies in the sender's slot
 * @dst: where it may lie in the receiver's slot; a receive may be larger than the message
 */
struct mroce_msg {
	const struct mroce_op *op;
	uint64_t key;
	uint32_t bytes;
	uint32_t imm;
	bool flag_after;
	bool no_rkey;
	struct mroce_layout src;
	struct mroce_layout dst;
};

/**
 * struct mroce_end_info - what the peer must know to write to us
 * @addr: QP
 * @data_addr: first slot
 * @ctl_addr: struct mroce_ctl
 * @data_rkey: covers all slots
 * @ctl_rkey: covers the control words
 */
struct mroce_end_info {
	struct mroce_qp_addr addr;
	uint32_t data_rkey;
	uint32_t ctl_rkey;
	uint64_t data_addr;
	uint64_t ctl_addr;
};

/**
 * struct mroce_ctl - words the peer writes, among guard bytes
 * @credit: messages we may send, counted from the start
 * @flag: messages the peer has sent, counted from the start
 */
struct mroce_ctl {
	uint8_t guard0[64];
	uint64_t credit;
	uint8_t guard1[120];
	uint64_t flag;
	uint8_t guard2[56];
};

enum mroce_wr_kind { MROCE_WR_DATA, MROCE_WR_FLAG, MROCE_WR_CREDIT };

/* struct mroce_wr - a posted work request: its kind, its message, its signal */
struct mroce_wr {
	enum mroce_wr_kind kind;
	bool signaled;
	enum ibv_wc_opcode opcode;
	uint64_t msg;
};

/**
 * struct mroce_sq - the send queue of an end
 * @wr: ring of @entries posted work requests
 * @word: ring of the 8-byte values they carry (flags and credits)
 * @word_mr: covers @word
 * @entries: power of two
 * @capacity: most outstanding
 * @head: next to post
 * @tail: oldest not retired
 * @quiet: work requests since the last signaled one
 */
struct mroce_sq {
	struct mroce_wr *wr;
	uint64_t *word;
	struct ibv_mr *word_mr;
	uint32_t entries;
	uint32_t capacity;
	uint64_t head;
	uint64_t tail;
	uint32_t quiet;
};

/**
 * struct mroce_tx - the sending half of an end
 * @active: it sends
 * @slots: source slots
 * @mr: of @slots
 * @posted: messages posted
 * @retired: messages whose completion, or a later one's, was seen
 * @credit: last value of the control word
 */
struct mroce_tx {
	bool active;
	uint8_t *slots;
	struct ibv_mr *mr;
	uint64_t posted;
	uint64_t retired;
	uint64_t credit;
};

/**
 * struct mroce_rx - the receiving half of an end
 * @active: it receives
 * @slots: landing slots
 * @mr: of @slots
 * @msg: message each slot waits for
 * @prepared: messages slots are ready for
 * @verified: messages checked
 * @received: one past the newest message with a receive completion
 * @flag: last value of the control word
 * @granted: last credit sent
 * @credit_busy: a credit is on its way
 */
struct mroce_rx {
	bool active;
	uint8_t *slots;
	struct ibv_mr *mr;
	struct mroce_msg *msg;
	uint64_t prepared;
	uint64_t verified;
	uint64_t received;
	uint64_t flag;
	uint64_t granted;
	bool credit_busy;
};

/* struct mroce_end - one QP of ours */
struct mroce_end {
	const struct mroce_params *params;
	uint32_t index;
	uint32_t slot_bytes;
	uint32_t max_inline;
	uint32_t tx_flow;
	uint32_t rx_flow;
	struct ibv_qp *qp;
	struct mroce_end_info local;
	struct mroce_end_info remote;
	struct mroce_ctl *ctl;
	struct ibv_mr *ctl_mr;
	struct mroce_sq sq;
	struct mroce_tx tx;
	struct mroce_rx rx;
};

/* Rows of the operation table that take a receive */
#define MROCE_OPS_RECV 0xb

extern const struct mroce_op mroce_ops[];
extern const unsigned int mroce_ops_count;

noreturn void mroce_verify_exit(void);

/* The one way out on failure: one line that says what is wrong. */
#define mroce_die(...)				\
	do {					\
		printf("FAIL " __VA_ARGS__);	\
		mroce_verify_exit();		\
	} while (0)

void mroce_msg_describe(const struct mroce_params *params, uint32_t flow, uint64_t index,
			struct mroce_msg *msg);
uint32_t mroce_msg_slot_bytes(const struct mroce_params *params);
uint64_t mroce_msg_poison(const struct mroce_params *params, uint32_t flow, uint64_t index);

void mroce_sq_post(struct mroce_end *end, struct ibv_send_wr *wr, struct mroce_wr rec);
void mroce_sq_post_word(struct mroce_end *end, enum mroce_wr_kind kind, uint64_t value,
			uint64_t remote_addr, bool signaled);
bool mroce_sq_has_room(const struct mroce_end *end, unsigned int wrs);
void mroce_tx_complete(struct mroce_end *end, const struct ibv_wc *wc);
bool mroce_tx_advance(struct mroce_end *end);

void mroce_rx_start(struct mroce_end *end);
void mroce_rx_complete(struct mroce_end *end, const struct ibv_wc *wc);
bool mroce_rx_advance(struct mroce_end *end);
void mroce_rx_check_idle(const struct mroce_end *end);

#endif
