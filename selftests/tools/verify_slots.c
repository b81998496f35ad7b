// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_verify, memory: slots that hold messages among poison. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "verify.h"

#define NEAR_BYTES 4096u
#define SCAN_BYTES 65536u

/**
 * mroce_pages_map - zeroed pages
 * @bytes: how many bytes
 */
void *mroce_pages_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		mroce_die("no memory for %zu bytes", bytes);
	return p;
}

/**
 * mroce_pages_register - a memory region or the end of the program
 * @pd: protection domain
 * @p: first byte
 * @bytes: how many
 * @access: enum ibv_access_flags
 */
struct ibv_mr *mroce_pages_register(struct ibv_pd *pd, void *p, size_t bytes, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, p, bytes, access);

	if (!mr)
		mroce_die("reg_mr of %zu bytes: %s", bytes, strerror(errno));
	return mr;
}

static uint64_t poison(const struct mroce_slots *slots, uint64_t index)
{
	return mroce_mix(slots->key + index % slots->count);
}

/**
 * mroce_slots_at - memory of a message
 * @slots: of its direction
 * @index: number of the message
 */
uint8_t *mroce_slots_at(const struct mroce_slots *slots, uint64_t index)
{
	return slots->base + index % slots->count * slots->bytes;
}

static void poison_slot(struct mroce_slots *slots, uint64_t index)
{
	mroce_pattern_fill(mroce_slots_at(slots, index), slots->bytes, poison(slots, index), 0);
}

/**
 * mroce_slots_create - slots full of poison
 * @slots: filled in
 * @pd: protection domain
 * @params: of the QP: how many, how large
 * @key: names the poison
 * @access: of the memory region
 */
void mroce_slots_create(struct mroce_slots *slots, struct ibv_pd *pd,
			const struct mroce_params *params, uint64_t key, int access)
{
	size_t bytes;
	uint32_t i;

	slots->count = params->depth;
	slots->bytes = mroce_msg_slot_bytes(params);
	slots->key = mroce_mix(key);
	bytes = (size_t)slots->bytes * slots->count;
	slots->base = mroce_pages_map(bytes);
	for (i = 0; i < slots->count; i++)
		poison_slot(slots, i);
	slots->mr = mroce_pages_register(pd, slots->base, bytes, access);
}

/**
 * mroce_slots_fill - put the bytes of a message into its slot
 * @slots: of its direction
 * @index: number of the message
 * @layout: where
 * @key: names the bytes
 */
void mroce_slots_fill(struct mroce_slots *slots, uint64_t index, const struct mroce_layout *layout,
		      uint64_t key)
{
	uint8_t *slot = mroce_slots_at(slots, index);
	uint32_t i, done = 0;

	for (i = 0; i < layout->n; i++) {
		mroce_pattern_fill(slot + layout->piece[i].offset, layout->piece[i].bytes, key,
				   done);
		done += layout->piece[i].bytes;
	}
}

/**
 * mroce_slots_clear - poison where a message was
 * @slots: of its direction
 * @index: number of the message
 * @layout: where it was
 */
void mroce_slots_clear(struct mroce_slots *slots, uint64_t index, const struct mroce_layout *layout)
{
	uint8_t *slot = mroce_slots_at(slots, index);
	uint32_t i;

	for (i = 0; i < layout->n; i++)
		mroce_pattern_fill(slot + layout->piece[i].offset, layout->piece[i].bytes,
				   poison(slots, index), layout->piece[i].offset);
}

/* struct span - the part of a slot to look at, and where its first wrong byte is */
struct span {
	const uint8_t *slot;
	uint32_t from;
	uint32_t to;
	ptrdiff_t bad;
};

/* Compare [@from, @to) within the span; byte @from is number @start of the stream. */
static void compare(struct span *span, uint32_t from, uint32_t to, uint64_t key, uint32_t start)
{
	uint32_t first = from > span->from ? from : span->from;
	uint32_t end = to < span->to ? to : span->to;
	ptrdiff_t bad;

	if (first >= end || span->bad >= 0)
		return;
	bad = mroce_pattern_check(span->slot + first, end - first, key, start + first - from);
	if (bad >= 0)
		span->bad = first + bad;
}

static ptrdiff_t check_span(const struct mroce_slots *slots, uint64_t index, struct span span,
			    const struct mroce_layout *layout, uint32_t bytes, uint64_t key)
{
	uint64_t clear = poison(slots, index);
	uint32_t i, offset, len, at = 0, done = 0;

	span.slot = mroce_slots_at(slots, index);
	span.bad = -1;
	for (i = 0; layout && i < layout->n; i++) {
		offset = layout->piece[i].offset;
		len = layout->piece[i].bytes;
		if (len > bytes - done)
			len = bytes - done;
		compare(&span, at, offset, clear, at);
		compare(&span, offset, offset + len, key, done);
		done += len;
		at = offset + len;
	}
	compare(&span, at, slots->bytes, clear, at);
	return span.bad;
}

/**
 * mroce_slots_check_all - compare every byte of a slot
 * @slots: of the direction
 * @index: number of the message
 * @layout: where it is, NULL = there must be poison only
 * @bytes: its size; what @layout has beyond it must be poison
 * @key: names its bytes
 *
 * Return: offset of the first wrong byte in the slot, -1 if there is none.
 */
ptrdiff_t mroce_slots_check_all(const struct mroce_slots *slots, uint64_t index,
				const struct mroce_layout *layout, uint32_t bytes, uint64_t key)
{
	return check_span(slots, index, (struct span){ .to = slots->bytes }, layout, bytes, key);
}

/**
 * mroce_slots_check - compare a message and what is around it
 * @slots: of the direction
 * @index: number of the message
 * @layout: where it is, NULL = there must be poison only
 * @bytes: its size; what @layout has beyond it must be poison
 * @key: names its bytes
 *
 * Of a large slot the far parts are looked at in turn, a part each time: nothing
 * rewrites them meanwhile, so what lands there by mistake is found later.
 *
 * What is wrong is reported once: the slot is all poison then.
 *
 * Return: offset of the first wrong byte in the slot, -1 if there is none.
 */
ptrdiff_t mroce_slots_check(struct mroce_slots *slots, uint64_t index,
			    const struct mroce_layout *layout, uint32_t bytes, uint64_t key)
{
	struct span near = { .from = 0, .to = slots->bytes }, far = { };
	uint32_t last;
	ptrdiff_t bad;

	if (slots->bytes > 2 * SCAN_BYTES) {
		near.to = 0;
		far.from = slots->scan;
		far.to = far.from + SCAN_BYTES;
		slots->scan = far.to < slots->bytes ? far.to : 0;
	}
	if (!near.to && layout && layout->n) {
		last = layout->n - 1;
		near.from = layout->piece[0].offset;
		near.from -= near.from < NEAR_BYTES ? near.from : NEAR_BYTES;
		near.to = layout->piece[last].offset + layout->piece[last].bytes + NEAR_BYTES;
	}
	bad = check_span(slots, index, near, layout, bytes, key);
	if (bad < 0)
		bad = check_span(slots, index, far, layout, bytes, key);
	if (bad >= 0)
		poison_slot(slots, index);
	return bad;
}
