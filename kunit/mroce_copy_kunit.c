// SPDX-License-Identifier: GPL-2.0
/*
 * Copying into polled memory: every alignment and small size, bytes around the
 * destination, and the order and size of the stores. The order
 * shows where source and destination overlap: a store that comes too early or
 * too late then changes what a later one copies.
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "copy.h"
#include "rnd.h"

#define ALIGNS		16
#define SMALL_MAX	200
#define GUARD		16
#define BIG_MAX		8300
#define BUF		(GUARD + ALIGNS + BIG_MAX + GUARD)

struct bufs {
	struct rnd rnd;
	u8 *src;
	u8 *dst;
	u8 *want;
};

static int copy_init(struct kunit *test)
{
	struct bufs *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	rnd_seed(&b->rnd, 1);
	b->src = kunit_kzalloc(test, BUF, GFP_KERNEL);
	b->dst = kunit_kzalloc(test, BUF, GFP_KERNEL);
	b->want = kunit_kzalloc(test, BUF, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->src);
	KUNIT_ASSERT_NOT_NULL(test, b->dst);
	KUNIT_ASSERT_NOT_NULL(test, b->want);
	rnd_fill(&b->rnd, b->src, BUF);
	test->priv = b;
	return 0;
}

/* One copy; the bytes before and after must stay. Return: all as it should be */
static bool copies(struct bufs *b, u32 dst_off, u32 src_off, u32 n)
{
	u32 size = GUARD + dst_off + n + GUARD;

	memset(b->dst, 0xa5, size);
	memset(b->want, 0xa5, size);
	memcpy(b->want + GUARD + dst_off, b->src + src_off, n);
	mroce_copy_ascending(b->dst + GUARD + dst_off, b->src + src_off, n);
	return !memcmp(b->dst, b->want, size);
}

static void copy_small(struct kunit *test)
{
	struct bufs *b = test->priv;
	u32 d, s, n;

	for (d = 0; d < ALIGNS; d++)
		for (s = 0; s < ALIGNS; s++)
			for (n = 0; n <= SMALL_MAX; n++)
				KUNIT_ASSERT_TRUE_MSG(test, copies(b, d, s, n),
						      "to +%u from +%u, %u bytes", d, s, n);
}

static void copy_big(struct kunit *test)
{
	static const u32 sizes[] = { 1024, 4095, 4096, 4097, 8191, 8192, 8193, BIG_MAX };
	struct bufs *b = test->priv;
	u32 d, i;

	for (d = 0; d < ALIGNS; d++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			KUNIT_ASSERT_TRUE_MSG(test, copies(b, d, (d * 5) % ALIGNS, sizes[i]),
					      "to +%u, %u bytes", d, sizes[i]);
}

/* What the contract says, store by store */
static void model(u8 *dst, const u8 *src, u32 n)
{
	u8 word[8];
	u32 size;

	while (n) {
		for (size = 8; size > n || (unsigned long)dst % size; size /= 2)
			;
		memcpy(word, src, size);
		memcpy(dst, word, size);
		dst += size;
		src += size;
		n -= size;
	}
}

/* The destination begins @shift bytes after the source and overlaps it. */
static void copy_order(struct kunit *test)
{
	struct bufs *b = test->priv;
	u32 d, shift, n;

	for (d = 0; d < 8; d++)
		for (shift = 1; shift <= 16; shift++)
			for (n = 0; n <= SMALL_MAX; n += 1 + n / 16) {
				memcpy(b->dst, b->src, BUF);
				memcpy(b->want, b->src, BUF);
				model(b->want + 16 + d, b->want + 16 + d - shift, n);
				mroce_copy_ascending(b->dst + 16 + d, b->dst + 16 + d - shift, n);
				KUNIT_ASSERT_TRUE_MSG(test, !memcmp(b->dst, b->want, BUF),
						      "+%u, shift %u, %u bytes", d, shift, n);
			}
}

static struct kunit_case copy_cases[] = {
	KUNIT_CASE(copy_small),
	KUNIT_CASE(copy_big),
	KUNIT_CASE(copy_order),
	{}
};

static struct kunit_suite copy_suite = {
	.name = "mroce_copy",
	.init = copy_init,
	.test_cases = copy_cases,
};

kunit_test_suite(copy_suite);
