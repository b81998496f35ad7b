// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of the program itself, where the kernel is to have none left. */
#include "tool.h"

#include <malloc.h>
#include <stdlib.h>

#define PAGE_BYTES 4096

/**
 * mroce_heap_touch - have so much heap that no page of it is missing later
 * @bytes: what the program will allocate at most
 *
 * A page fault that finds no memory is repeated for ever, or at the limit of a cgroup
 * gets the program killed before it can tell what was refused.
 *
 * Return: 0 or -1.
 */
int mroce_heap_touch(size_t bytes)
{
	volatile char *heap;
	size_t i;

	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	heap = malloc(bytes);
	if (!heap)
		return -1;
	/* Not memset(): of memory that is given back the compiler leaves that out. */
	for (i = 0; i < bytes; i += PAGE_BYTES)
		heap[i] = 1;
	free((void *)heap);
	return 0;
}
