/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One side of a ring shared with the kernel (layout: rdma/mroce-abi.h).
 *
 * A struct mroce_ring is this process's view: it owns one index and only reads
 * the other. Producer of work (SQ, RQ, SRQ): owns prod, reads cons. Consumer of
 * completions (CQ): owns cons, reads prod. Every function here must be called
 * with the lock of the queue held, except where it says otherwise.
 *
 * Memory order, the same as io_uring's:
 *
 *	user				kernel
 *	fill slot			load-acquire prod
 *	store-release prod		copy slot
 *	full barrier			store-release cons
 *	load state			...
 *					state |= KICK, full barrier,
 *					load prod again, sleep if unchanged
 *
 * The full barriers pair: either the user sees KICK or the kernel sees the new
 * prod. A release store alone would let the load of state go first.
 */
#ifndef MROCE_RING_H
#define MROCE_RING_H

#include <rdma/mroce-abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * struct mroce_ring - local view of a mapped ring
 * @hdr: shared header, NULL if the queue does not exist
 * @slots: first slot
 * @mask: slots - 1
 * @stride_bytes: distance of two slots
 * @limit: slots in use at most; what the application was promised, which may
 *	be fewer than the ring has
 * @next: own index, running free; published by mroce_ring_publish() (producer)
 *	or mroce_ring_release() (consumer)
 * @peer: the other side's index when it was last looked at. Kept so that the
 *	shared cache line is touched once per turn and not once per entry
 * @size_bytes: length of the mapping
 * @offset: what mmap() knows it by
 * @stub: stands in for the header of a ring that is being destroyed
 * @stub_limit: @limit of then
 */
struct mroce_ring {
	struct mroce_ring_hdr *hdr;
	uint8_t *slots;
	uint32_t mask;
	uint32_t stride_bytes;
	uint32_t limit;
	uint32_t next;
	uint32_t peer;
	uint32_t size_bytes;
	uint32_t stub_limit;
	uint64_t offset;
	struct mroce_ring_hdr stub;
};

int mroce_ring_map(struct mroce_ring *ring, int cmd_fd,
		   const struct mroce_ring_info *info, uint32_t slot_bytes,
		   uint32_t limit);
void mroce_ring_unmap(struct mroce_ring *ring);
void mroce_ring_withdraw(struct mroce_ring *ring);
void mroce_ring_restore(struct mroce_ring *ring, int cmd_fd);

/* mroce_ring_slot - the slot of free-running index @index */
static inline void *mroce_ring_slot(const struct mroce_ring *ring,
				    uint32_t index)
{
	return ring->slots + (size_t)(index & ring->mask) * ring->stride_bytes;
}

/*
 * mroce_ring_is_full - producer: is the slot of index @next not free?
 *
 * The acquire pairs with the kernel's release store of cons: the kernel has
 * finished reading a slot before this side fills it again. A cons that makes
 * no sense yields a distance beyond the limit, that is, full.
 */
static inline bool mroce_ring_is_full(struct mroce_ring *ring)
{
	if (ring->next - ring->peer < ring->limit)
		return false;
	if (!ring->hdr)
		return true;
	ring->peer = __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
	return ring->next - ring->peer >= ring->limit;
}

/* mroce_ring_publish - producer: hand all slots before @next to the kernel */
static inline void mroce_ring_publish(struct mroce_ring *ring)
{
	__atomic_store_n(&ring->hdr->prod, ring->next, __ATOMIC_RELEASE);
}

/*
 * mroce_ring_needs_kick - producer: must the doorbell be rung?
 *
 * To be called after mroce_ring_publish(); needs no lock.
 */
static inline bool mroce_ring_needs_kick(const struct mroce_ring *ring)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&ring->hdr->state, __ATOMIC_RELAXED) &
	       MROCE_RING_KICK;
}

/*
 * mroce_ring_reload - producer: take over the indices as the kernel reset them
 *
 * A modify to RESET empties the queue and the kernel sets both indices to 0.
 * They are read back, not assumed, so that both sides always agree.
 */
static inline void mroce_ring_reload(struct mroce_ring *ring)
{
	if (!ring->hdr)
		return;
	ring->next = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);
	ring->peer = __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
}

/*
 * mroce_ring_is_empty - consumer: is there no entry at index @next?
 *
 * The acquire pairs with the kernel's release store of prod: an entry is
 * complete before it can be seen.
 */
static inline bool mroce_ring_is_empty(struct mroce_ring *ring)
{
	if (ring->next != ring->peer)
		return false;
	ring->peer = __atomic_load_n(&ring->hdr->prod, __ATOMIC_ACQUIRE);
	return ring->next == ring->peer;
}

/*
 * mroce_ring_release - consumer: give all slots before @next back
 *
 * The release keeps the reads of the entries ahead of the store, after which
 * the kernel may overwrite them.
 */
static inline void mroce_ring_release(struct mroce_ring *ring)
{
	__atomic_store_n(&ring->hdr->cons, ring->next, __ATOMIC_RELEASE);
}

/*
 * mroce_ring_arm - consumer: ask for an event; needs no lock
 * @bits: MROCE_RING_ARM_NEXT or MROCE_RING_ARM_SOLICITED
 *
 * An atomic OR, because the kernel clears the bits at the same time, and
 * because a weaker request must not take back a stronger one. It is a full
 * barrier as well: the poll that a careful application does next cannot be
 * moved ahead of it, so a completion is either polled there or raises the
 * event.
 */
static inline void mroce_ring_arm(const struct mroce_ring *ring, uint32_t bits)
{
	__atomic_fetch_or(&ring->hdr->state, bits, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif /* MROCE_RING_H */
