/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mroce_verify: reliable-connection traffic whose every byte is predictable.
 *
 * Both ends derive message i of a flow (operation, size, place, immediate,
 * bytes) from the seed, so the receiver knows what must arrive. It grants
 * credits, checks each message in a slot of its own, refills the slot with
 * poison at once and only then lets the sender use it again. A late duplicate
 * therefore hits poison and is found when the slot is checked the next time.
 * The sender treats its slots alike: they hold the source of a message, or take
 * what a READ or an atomic brings back.
 *
 * A READ fetches what the receiver has put into the slot of this message, or
 * reads back what the WRITE before it has put into its slot. The receiver reuses
 * such a slot once a later message with FENCE is there, as that one waits for
 * the READ.
 *
 * Atomics go to words that only one QP changes, so both ends know each value, or
 * (count) to a word all QPs of a process increment: every returned value must
 * come once, and the word must end at their number.
 */
#ifndef MROCE_VERIFY_H
#define MROCE_VERIFY_H

#include <stdio.h>
#include "tool.h"

#define MROCE_SGES_MAX 16
#define MROCE_WORDS 8
#define MROCE_VERIFY_MAGIC 0x6d727632

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
 * @vary: the values above are limits, every QP draws its own
 * @linger_ms: how long to wait for late duplicates at the end
 * @seconds: how long to go on posting, 0 = until @messages
 * @timing: verbs timers
 * @messages: per QP and direction, MROCE_ENDLESS with @seconds
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
	uint32_t vary;
	uint32_t linger_ms;
	uint32_t seconds;
	struct mroce_qp_timing timing;
	uint64_t messages;
	uint64_t seed;
};

#define MROCE_ENDLESS UINT64_MAX

/**
 * struct mroce_op - one row of the operation table
 * @name: on the command line
 * @opcode: of the work request
 * @send_opcode: expected in the sender's completion
 * @recv_opcode: expected in the receiver's completion
 * @is_remote: carries address and rkey, otherwise lands in a posted receive
 * @takes_recv: consumes a receive at the other end
 * @has_imm: carries an immediate
 * @fetches: brings data back (READ, atomics)
 * @is_atomic: works on a word of the control words
 * @is_shared: works on the word all QPs share
 */
struct mroce_op {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode send_opcode;
	enum ibv_wc_opcode recv_opcode;
	bool is_remote;
	bool takes_recv;
	bool has_imm;
	bool fetches;
	bool is_atomic;
	bool is_shared;
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
 * @fence: waits until earlier READs and atomics are complete
 * @solicited: raises an event at a receiver that waits for solicited ones only
 * @reads_back: a READ of what the message before it wrote
 * @hit: a compare-and-swap compares with the right value
 * @word: which word of the QP an atomic works on
 * @operand: what an atomic adds or swaps in
 * @src: where it lies in the sender's slot, or lands there when it fetches
 * @dst: where it may lie in the receiver's slot; a receive may be larger than the message
 */
struct mroce_msg {
	const struct mroce_op *op;
	uint64_t key;
	uint32_t bytes;
	uint32_t imm;
	bool flag_after;
	bool no_rkey;
	bool fence;
	bool solicited;
	bool reads_back;
	bool hit;
	uint32_t word;
	uint64_t operand;
	struct mroce_layout src;
	struct mroce_layout dst;
};

/**
 * struct mroce_end_info - what the peer must know to write to us
 * @addr: QP
 * @data_addr: first slot
 * @ctl_addr: struct mroce_ctl
 * @count_addr: the word all QPs share
 * @data_rkey: covers all slots
 * @ctl_rkey: covers the control words
 * @count_rkey: covers the shared word
 */
struct mroce_end_info {
	struct mroce_qp_addr addr;
	uint32_t data_rkey;
	uint32_t ctl_rkey;
	uint32_t count_rkey;
	uint64_t data_addr;
	uint64_t ctl_addr;
	uint64_t count_addr;
};

/**
 * struct mroce_ctl - words the peer writes, among guard bytes
 * @credit: messages we may send, counted from the start
 * @flag: messages the peer has sent, counted from the start
 * @final: messages the peer will have sent in all, 0 = it does not know yet
 * @word: targets of atomics
 */
struct mroce_ctl {
	uint8_t guard0[64];
	uint64_t credit;
	uint8_t guard1[120];
	uint64_t flag;
	uint8_t guard2[56];
	uint64_t final;
	uint8_t guard3[56];
	uint64_t word[MROCE_WORDS];
	uint8_t guard4[64];
};

/**
 * struct mroce_slots - memory for the messages in flight of one direction
 *
 * Every byte that no message occupies holds poison.
 *
 * @base: slot 0
 * @mr: covers all
 * @count: slots; message i uses slot i modulo this
 * @bytes: of each
 * @scan: where the next look at the far parts of a large slot begins
 * @key: names the poison
 */
struct mroce_slots {
	uint8_t *base;
	struct ibv_mr *mr;
	uint32_t count;
	uint32_t bytes;
	uint32_t scan;
	uint64_t key;
};

/**
 * struct mroce_tally - what a process has seen, all QPs together
 * @messages: sent messages that are complete
 * @bytes: their payload
 * @fetches: READs and atomics among them
 * @checked: received messages that were checked
 * @wrong: things that were not as predicted
 * @sends_due: signaled work requests posted
 * @sends_seen: completions of them
 * @recvs_due: checked messages that took a receive
 * @recvs_seen: receive completions
 * @count: the word the peer's QPs increment, among guard words
 * @count_mr: covers @count
 * @counted: increments of the peer's word whose result has come
 * @seen: bit map of these results
 * @seen_bits: its size
 */
struct mroce_tally {
	uint64_t messages;
	uint64_t bytes;
	uint64_t fetches;
	uint64_t checked;
	uint64_t wrong;
	uint64_t sends_due;
	uint64_t sends_seen;
	uint64_t recvs_due;
	uint64_t recvs_seen;
	uint64_t *count;
	struct ibv_mr *count_mr;
	uint64_t counted;
	uint8_t *seen;
	uint64_t seen_bits;
};

enum mroce_wr_kind { MROCE_WR_DATA, MROCE_WR_FLAG, MROCE_WR_CREDIT, MROCE_WR_FINAL };

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
 * @unfenced: a READ or atomic was posted and nothing with FENCE since
 * @final_posted: the peer is told @end
 * @slots: source slots, and sinks
 * @end: messages to send
 * @posted: messages posted
 * @retired: messages whose completion, or a later one's, was seen
 * @credit: last value of the control word
 * @count_floor: least value the next increment of the shared word may return
 * @word: what the peer's words hold when all posted atomics are done
 * @expect: what the atomic in each slot must return
 */
struct mroce_tx {
	bool active;
	bool unfenced;
	bool final_posted;
	struct mroce_slots slots;
	uint64_t end;
	uint64_t posted;
	uint64_t retired;
	uint64_t credit;
	uint64_t count_floor;
	uint64_t word[MROCE_WORDS];
	uint64_t *expect;
};

/**
 * struct mroce_rx - the receiving half of an end
 * @active: it receives
 * @slots: landing slots, and sources of READs
 * @msg: message each slot waits for
 * @end: messages to come, MROCE_ENDLESS while unknown
 * @prepared: messages slots are ready for
 * @verified: messages checked
 * @received: one past the newest message with a receive completion
 * @fenced: likewise, with FENCE: READs before it are complete
 * @flag: last value of the control word
 * @granted: last credit sent
 * @word: what our words hold after the checked messages
 * @credit_busy: a credit is on its way
 */
struct mroce_rx {
	bool active;
	struct mroce_slots slots;
	struct mroce_msg *msg;
	uint64_t end;
	uint64_t prepared;
	uint64_t verified;
	uint64_t received;
	uint64_t fenced;
	uint64_t flag;
	uint64_t granted;
	uint64_t word[MROCE_WORDS];
	bool credit_busy;
};

/* struct mroce_end - one QP of ours */
struct mroce_end {
	struct mroce_params params;
	struct mroce_tally *tally;
	uint32_t index;
	uint32_t max_inline;
	uint32_t tx_flow;
	uint32_t rx_flow;
	uint64_t stop_ns;
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

/* Something is not as predicted: counted, told for the first ones, and the run fails at its end. */
#define mroce_wrong(tally, ...)			\
	do {					\
		if ((tally)->wrong++ < 8) {	\
			printf("WRONG " __VA_ARGS__);	\
			putchar('\n');		\
			fflush(stdout);		\
		}				\
	} while (0)

enum mroce_events { MROCE_EVENTS_NONE, MROCE_EVENTS_ALL, MROCE_EVENTS_SOLICITED };

/**
 * struct mroce_options - the command line
 * @params: what the client decides
 * @device: verbs device, NULL = the first one
 * @host: server, NULL = be the server
 * @port: TCP port to meet on
 * @gid_index: address, -1 = choose one
 * @ipv6: choose an IPv6 one
 * @events: completions of which this end waits for
 * @deadline_s: give up after this time
 */
struct mroce_options {
	struct mroce_params params;
	const char *device;
	const char *host;
	const char *port;
	int gid_index;
	bool ipv6;
	enum mroce_events events;
	uint32_t deadline_s;
};

void mroce_options_parse(struct mroce_options *options, int argc, char **argv);

void *mroce_pages_map(size_t bytes);
struct ibv_mr *mroce_pages_register(struct ibv_pd *pd, void *p, size_t bytes, int access);

void mroce_params_vary(const struct mroce_params *run, uint32_t index, struct mroce_params *params);

void mroce_msg_describe(const struct mroce_params *params, uint32_t flow, uint64_t index,
			struct mroce_msg *msg);
uint32_t mroce_msg_slot_bytes(const struct mroce_params *params);
uint64_t mroce_msg_word(const struct mroce_params *params, uint32_t flow, uint32_t word);
uint64_t mroce_msg_apply(const struct mroce_msg *msg, uint64_t *word);

void mroce_slots_create(struct mroce_slots *slots, struct ibv_pd *pd,
			const struct mroce_params *params, uint64_t key, int access);
uint8_t *mroce_slots_at(const struct mroce_slots *slots, uint64_t index);
void mroce_slots_fill(struct mroce_slots *slots, uint64_t index, const struct mroce_layout *layout,
		      uint64_t key);
void mroce_slots_clear(struct mroce_slots *slots, uint64_t index,
		       const struct mroce_layout *layout);
ptrdiff_t mroce_slots_check(struct mroce_slots *slots, uint64_t index,
			    const struct mroce_layout *layout, uint32_t bytes, uint64_t key);
ptrdiff_t mroce_slots_check_all(const struct mroce_slots *slots, uint64_t index,
				const struct mroce_layout *layout, uint32_t bytes, uint64_t key);

void mroce_count_create(struct mroce_tally *tally, struct ibv_pd *pd);
void mroce_count_returned(struct mroce_end *end, uint64_t value);
void mroce_count_check(struct mroce_tally *tally, uint64_t peer_counted);

void mroce_sq_post(struct mroce_end *end, struct ibv_send_wr *wr, struct mroce_wr rec);
void mroce_sq_post_word(struct mroce_end *end, struct mroce_wr rec, size_t offset, int flags);
bool mroce_sq_has_room(const struct mroce_end *end, unsigned int wrs);
void mroce_tx_complete(struct mroce_end *end, const struct ibv_wc *wc);
bool mroce_tx_advance(struct mroce_end *end);
bool mroce_tx_is_finished(const struct mroce_end *end);
void mroce_tx_check_idle(struct mroce_end *end);

void mroce_rx_start(struct mroce_end *end);
void mroce_rx_complete(struct mroce_end *end, const struct ibv_wc *wc);
bool mroce_rx_advance(struct mroce_end *end);
void mroce_rx_check_idle(struct mroce_end *end);

#endif
