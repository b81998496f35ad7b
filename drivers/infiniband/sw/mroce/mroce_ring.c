// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: memory shared with the user, mapped through the uverbs file.
 *
 * The memory is charged to the memory cgroup of whoever creates the object, and to
 * his memlock limit, as rings of hardware are, which are pinned user memory.
 * vmalloc_user() cannot do the former, so the pages are mapped one by one here. Each
 * mapping holds its pages: a ring may go while it is mapped, and the removal of
 * the device leaves the user with plain memory instead of a signal. What is still
 * mapped stays charged: its pages are looked at whenever the program makes or
 * gives up another ring. (Functions of the mapping would tell, but they are of a
 * module that may go before.)
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "mroce.h"

/* No queue of legal attributes comes near it; it bounds a mistake. */
#define RING_MAX_BYTES	(256u << 20)

/**
 * struct ring_mem - kernel side of a mapping; outlives the ring while an mmap() is under way
 * @entry: the core's part
 * @node: in mroce_ucontext.orphans
 * @addr: the memory
 * @mm: whose memlock limit it is charged to
 * @n_pages: how much
 */
struct ring_mem {
	struct rdma_user_mmap_entry entry;
	struct list_head node;
	void *addr;
	struct mm_struct *mm;
	unsigned long n_pages;
};

static struct ring_mem *to_mem(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ring_mem, entry);
}

static void uncharge(struct ring_mem *mem)
{
	atomic64_sub(mem->n_pages, &mem->mm->pinned_vm);
	mmdrop(mem->mm);
}

/* Counted where the core counts the pages of regions. */
static int charge(struct ring_mem *mem, size_t size)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	mem->mm = current->mm;
	mem->n_pages = size >> PAGE_SHIFT;
	mmgrab(mem->mm);
	if (atomic64_add_return(mem->n_pages, &mem->mm->pinned_vm) <= limit ||
	    capable(CAP_IPC_LOCK))
		return 0;
	uncharge(mem);
	return -ENOMEM;
}

static bool is_mapped(const struct ring_mem *mem)
{
	unsigned long i;

	for (i = 0; i < mem->n_pages; i++)
		if (page_count(vmalloc_to_page(mem->addr + (i << PAGE_SHIFT))) > 1)
			return true;
	return false;
}

static void release(struct ring_mem *mem)
{
	vfree(mem->addr);
	uncharge(mem);
	kfree(mem);
}

/**
 * mroce_ring_free_orphans() - free rings that were given up and are not mapped any more
 * @uc: user context
 * @all: mapped or not; whoever maps them keeps the pages
 *
 * Context: task.
 */
void mroce_ring_free_orphans(struct mroce_ucontext *uc, bool all)
{
	struct ring_mem *mem, *tmp;
	LIST_HEAD(unused);

	/* A mutex: how many pages there are to look at is up to the program. */
	mutex_lock(&uc->lock);
	list_for_each_entry_safe(mem, tmp, &uc->orphans, node) {
		if (all || !is_mapped(mem))
			list_move(&mem->node, &unused);
		cond_resched();
	}
	mutex_unlock(&uc->lock);
	list_for_each_entry_safe(mem, tmp, &unused, node)
		release(mem);
}

/**
 * mroce_ring_create() - allocate a ring and offer it for mapping
 * @ring: to be filled in; untouched on error
 * @ibuc: user context that may map it
 * @entries: slots, a power of two
 * @stride: bytes per slot
 * @info: what the user needs to know
 *
 * Context: task.
 * Return: 0, -EINVAL for a size beyond reason, -ENOMEM, also at the memlock limit.
 */
int mroce_ring_create(struct mroce_ring *ring, struct ib_ucontext *ibuc, u32 entries, u32 stride,
		      struct mroce_ring_info *info)
{
	struct ring_mem *mem;
	size_t size;
	int err;

	if (WARN_ON_ONCE(!is_power_of_2(entries)) ||
	    check_mul_overflow((size_t)entries, (size_t)stride, &size) ||
	    size > RING_MAX_BYTES - MROCE_RING_DATA_OFFSET)
		return -EINVAL;
	size = PAGE_ALIGN(size + MROCE_RING_DATA_OFFSET);

	mroce_ring_free_orphans(to_muc(ibuc), false);
	mem = kzalloc_obj(*mem, GFP_KERNEL_ACCOUNT);
	if (!mem)
		return -ENOMEM;
	err = charge(mem, size);
	if (err)
		goto free_mem;
	err = -ENOMEM;
	mem->addr = __vmalloc(size, MROCE_GFP_USER | __GFP_ZERO);
	if (!mem->addr)
		goto free;
	err = rdma_user_mmap_entry_insert(ibuc, &mem->entry, size);
	if (err)
		goto free;

	ring->hdr = mem->addr;
	ring->entries = entries;
	ring->stride = stride;
	ring->size_bytes = size;
	ring->entry = &mem->entry;
	*info = (struct mroce_ring_info) {
		.offset = rdma_user_mmap_get_offset(&mem->entry),
		.size_bytes = size,
		.entries = entries,
		.stride = stride,
	};
	return 0;
free:
	vfree(mem->addr);
	uncharge(mem);
free_mem:
	kfree(mem);
	return err;
}

/**
 * mroce_ring_create_kernel() - a ring that nobody maps, for a user in the kernel
 * @ring: to be filled in; untouched on error
 * @entries: slots, a power of two
 * @stride: bytes per slot
 *
 * Context: task.
 * Return: 0, -EINVAL for a size beyond reason, -ENOMEM.
 */
int mroce_ring_create_kernel(struct mroce_ring *ring, u32 entries, u32 stride)
{
	size_t size;
	void *addr;

	if (check_mul_overflow((size_t)entries, (size_t)stride, &size) ||
	    size > RING_MAX_BYTES - MROCE_RING_DATA_OFFSET)
		return -EINVAL;
	addr = vzalloc(size + MROCE_RING_DATA_OFFSET);
	if (!addr)
		return -ENOMEM;
	ring->hdr = addr;
	ring->entries = entries;
	ring->stride = stride;
	ring->size_bytes = size + MROCE_RING_DATA_OFFSET;
	return 0;
}

/**
 * mroce_ring_destroy() - give a ring up
 * @ring: may be one that was never created
 *
 * Nobody may use @ring->hdr any more. Mappings stay valid.
 */
void mroce_ring_destroy(struct mroce_ring *ring)
{
	if (ring->entry)
		rdma_user_mmap_entry_remove(ring->entry);
	else
		vfree(ring->hdr);
	memset(ring, 0, sizeof(*ring));
}

/**
 * mroce_ring_slot() - where the slot of an index is
 * @ring: ring
 * @idx: free-running index, also one the user wrote
 */
void *mroce_ring_slot(const struct mroce_ring *ring, u32 idx)
{
	return (void *)ring->hdr + MROCE_RING_DATA_OFFSET +
	       (size_t)(idx & (ring->entries - 1)) * ring->stride;
}

/**
 * mroce_mmap() - ib_device_ops.mmap
 * @ibuc: user context
 * @vma: what to map; must be all of one ring, shared
 *
 * Return: 0, -EINVAL when offset, length or flags name no ring.
 */
int mroce_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(ibuc, vma);
	unsigned long off, size = vma->vm_end - vma->vm_start;
	struct ring_mem *mem;
	int err = 0;

	if (!entry)
		return -EINVAL;
	mem = to_mem(entry);

	/* A ring has a fixed size and means nothing in a core dump. */
	mroce_compat_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (off = 0; off < size && !err; off += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + off, vmalloc_to_page(mem->addr + off));
	rdma_user_mmap_entry_put(entry);
	return err;
}

/**
 * mroce_mmap_free() - ib_device_ops.mmap_free: the last reference is gone
 * @entry: mmap entry of a ring
 */
void mroce_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct mroce_ucontext *uc = to_muc(entry->ucontext);

	mutex_lock(&uc->lock);
	list_add_tail(&to_mem(entry)->node, &uc->orphans);
	mutex_unlock(&uc->lock);
	mroce_ring_free_orphans(uc, false);
}
