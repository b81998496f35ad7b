// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reproducible bytes. The byte at position p of the stream named by a key is a
 * pure function of (key, p), so the receiver can compute what it must find and
 * needs nothing from the sender but the seed.
 */
#include <string.h>
#include "tool.h"

/**
 * mroce_mix - 64-bit finalizer, every input bit reaches every output bit
 * @x: any number, consecutive ones are fine
 *
 * Source of the constants: Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators" (OOPSLA 2014).
 */
uint64_t mroce_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t word(uint64_t key, size_t index)
{
	return mroce_mix(key + index);
}

static uint8_t byte(uint64_t key, size_t pos)
{
	return word(key, pos / 8) >> (8 * (pos % 8));
}

/**
 * mroce_pattern_fill - write bytes of a stream
 * @buf: destination
 * @bytes: how many
 * @key: which stream
 * @start: position of the first byte in it
 */
void mroce_pattern_fill(void *buf, size_t bytes, uint64_t key, size_t start)
{
	uint8_t *p = buf, *end = p + bytes;
	uint64_t w;

	while (p < end && start % 8)
		*p++ = byte(key, start++);
	for (; end - p >= 8; p += 8, start += 8) {
		w = word(key, start / 8);
		memcpy(p, &w, 8);
	}
	while (p < end)
		*p++ = byte(key, start++);
}

/**
 * mroce_pattern_check - compare bytes with a stream
 * @buf: what is there
 * @bytes: how many
 * @key: which stream is expected
 * @start: position of the first byte in it
 *
 * Return: offset of the first difference, -1 if there is none.
 */
ptrdiff_t mroce_pattern_check(const void *buf, size_t bytes, uint64_t key, size_t start)
{
	const uint8_t *p = buf;
	size_t i = 0;
	uint64_t w;

	while (i < bytes) {
		w = word(key, (start + i) / 8);
		if (!((start + i) % 8) && bytes - i >= 8 && !memcmp(p + i, &w, 8)) {
			i += 8;
			continue;
		}
		if (p[i] != byte(key, start + i))
			return i;
		i++;
	}
	return -1;
}
