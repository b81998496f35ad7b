// SPDX-License-Identifier: GPL-2.0
/* Copying into memory that somebody polls, see copy.h. */
#include <linux/compiler.h>
#include <linux/string.h>

#include "copy.h"

/* All stores so far before all stores from here on. Free on x86. */
static inline void store_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* One store of @size bytes to where it is aligned; @src may be anywhere */
static inline void store(u8 *dst, const u8 *src, size_t size)
{
	u64 v8;
	u32 v4;
	u16 v2;

	switch (size) {
	case 8:
		memcpy(&v8, src, 8);
		WRITE_ONCE(*(u64 *)dst, v8);
		break;
	case 4:
		memcpy(&v4, src, 4);
		WRITE_ONCE(*(u32 *)dst, v4);
		break;
	case 2:
		memcpy(&v2, src, 2);
		WRITE_ONCE(*(u16 *)dst, v2);
		break;
	default:
		WRITE_ONCE(*dst, *src);
	}
}

#define BLOCK_BYTES	64

/* As many whole words at once as pay for the loop around them; @dst is aligned */
static inline void store_block(u8 *dst, const u8 *src)
{
	int i;

#pragma GCC unroll 8
	for (i = 0; i < BLOCK_BYTES; i += 8)
		store(dst + i, src + i, 8);
}

/* The largest power of two up to 8 that @dst is aligned to and @n has */
static inline size_t store_size(const u8 *dst, size_t n)
{
	size_t size = 8;

	while (size > n || ((unsigned long)dst & (size - 1)))
		size /= 2;
	return size;
}

void mroce_copy_ascending(void *dst, const void *src, size_t n)
{
	const u8 *s = src;
	size_t size;
	u8 *d = dst;

	while (n) {
		size = store_size(d, n);
		if (size == 8 && n > BLOCK_BYTES) {
			store_block(d, s);
			d += BLOCK_BYTES;
			s += BLOCK_BYTES;
			n -= BLOCK_BYTES;
			continue;
		}
		if (size == n)
			store_barrier();
		do {
			store(d, s, size);
			d += size;
			s += size;
			n -= size;
			/* Whole words go on without looking, but for the last one. */
		} while (size == 8 && n > 8);
	}
}
