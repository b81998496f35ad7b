// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Mapping of the rings that the kernel made; nothing of the data path. */
#include "ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The geometry comes from the kernel, but a provider and a module that disagree
 * about the ABI must end in an error here and not in a stray store later.
 */
static bool info_is_sane(const struct mroce_ring_info *info,
			 uint32_t slot_bytes, uint32_t limit)
{
	uint64_t need_bytes = MROCE_RING_DATA_OFFSET +
			      (uint64_t)info->entries * info->stride;

	return info->entries && !(info->entries & (info->entries - 1)) &&
	       limit <= info->entries && info->stride >= slot_bytes &&
	       info->stride % sizeof(uint64_t) == 0 &&
	       need_bytes <= info->size_bytes;
}

/*
 * mroce_ring_map - map a ring
 * @ring: zeroed by the caller; unchanged on error
 * @cmd_fd: uverbs file
 * @info: what the kernel answered; size_bytes 0 means that there is no ring
 * @slot_bytes: smallest stride the caller can work with
 * @limit: slots the application may use
 *
 * Return: 0, EPROTO if the geometry makes no sense, or the errno of mmap.
 */
int mroce_ring_map(struct mroce_ring *ring, int cmd_fd,
		   const struct mroce_ring_info *info, uint32_t slot_bytes,
		   uint32_t limit)
{
	void *mem;

	if (!info->size_bytes)
		return limit ? EPROTO : 0;
	if (!info_is_sane(info, slot_bytes, limit))
		return EPROTO;

	mem = mmap(NULL, info->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   cmd_fd, (off_t)info->offset);
	if (mem == MAP_FAILED)
		return errno;

	ring->hdr = mem;
	ring->slots = (uint8_t *)mem + MROCE_RING_DATA_OFFSET;
	ring->mask = info->entries - 1;
	ring->stride_bytes = info->stride;
	ring->limit = limit;
	ring->size_bytes = info->size_bytes;
	ring->offset = info->offset;
	return 0;
}

/*
 * mroce_ring_withdraw - unmap a ring before it is destroyed
 *
 * A ring that is mapped when it is destroyed stays with the kernel, charged to
 * the program, until its next look. What remains here is empty (for a consumer)
 * and full (for a producer): its slots are not touched.
 */
void mroce_ring_withdraw(struct mroce_ring *ring)
{
	void *mem = ring->hdr;

	if (!mem)
		return;
	memset(&ring->stub, 0, sizeof(ring->stub));
	ring->stub.prod = ring->next;
	ring->stub.cons = ring->next;
	ring->peer = ring->next;
	ring->stub_limit = ring->limit;
	ring->limit = 0;
	ring->hdr = &ring->stub;
	munmap(mem, ring->size_bytes);
}

/*
 * mroce_ring_restore - undo mroce_ring_withdraw(): it was not destroyed
 * @cmd_fd: uverbs file
 *
 * A producer reloads it. If the device has been removed the ring stays withdrawn.
 */
void mroce_ring_restore(struct mroce_ring *ring, int cmd_fd)
{
	void *mem;

	if (!ring->hdr)
		return;
	mem = mmap(NULL, ring->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		   cmd_fd, (off_t)ring->offset);
	if (mem == MAP_FAILED)
		return;
	ring->hdr = mem;
	ring->slots = (uint8_t *)mem + MROCE_RING_DATA_OFFSET;
	ring->limit = ring->stub_limit;
}

/* mroce_ring_unmap - undo mroce_ring_map(); a ring never mapped is fine */
void mroce_ring_unmap(struct mroce_ring *ring)
{
	if (ring->hdr && ring->hdr != &ring->stub)
		munmap(ring->hdr, ring->size_bytes);
	memset(ring, 0, sizeof(*ring));
}
