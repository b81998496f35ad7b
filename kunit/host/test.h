/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The part of the KUnit interface that the suites use, for a user space
 * program; installed as <kunit/test.h> by the Makefile. Same names and meaning
 * as in the kernel; the runner is main.c.
 */
#ifndef MROCE_HOST_TEST_H
#define MROCE_HOST_TEST_H

#include "kernel.h"

#define KUNIT_PARAM_DESC_SIZE	128

/**
 * struct kunit - the running case
 * @name: its name
 * @priv: for the suite's init function
 * @param_value: current parameter of a KUNIT_CASE_PARAM case
 * The rest belongs to main.c.
 */
struct kunit {
	const char *name;
	void *priv;
	const void *param_value;
	int n_failures;
	bool skipped;
	char note[256];
	struct kunit_host_mem *mem;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
	struct kunit_suite *next;
};

#define KUNIT_CASE(fn)		{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_SLOW(fn)	KUNIT_CASE(fn)
#define KUNIT_CASE_PARAM(fn, gen)					\
	{ .run_case = fn, .name = #fn, .generate_params = gen }
#define KUNIT_ARRAY_PARAM(id, array, get_desc)				\
	static const void *id##_gen_params(const void *prev, char *desc) \
	{								\
		const __typeof__((array)[0]) *p =			\
			prev ? (const __typeof__((array)[0]) *)prev + 1 : (array); \
		void (*describe)(const __typeof__((array)[0]) *p, char *desc) = get_desc; \
									\
		if (p >= (array) + ARRAY_SIZE(array))			\
			return NULL;					\
		if (describe)						\
			describe(p, desc);				\
		return p;						\
	}

void kunit_host_register(struct kunit_suite *suite);
#define kunit_test_suite(suite)						\
	static void __attribute__((constructor)) register_##suite(void)	\
	{								\
		kunit_host_register(&(suite));				\
	}
#define kunit_test_suites(...)						\
	static void __attribute__((constructor)) register_suites(void)	\
	{								\
		struct kunit_suite *const list_[] = { __VA_ARGS__ };	\
									\
		for (size_t i_ = 0; i_ < ARRAY_SIZE(list_); i_++)	\
			kunit_host_register(list_[i_]);			\
	}

/* Memory is freed at the end of the case; an allocation never fails. */
void *kunit_host_alloc(struct kunit *test, size_t n, size_t size);
void kunit_kfree(struct kunit *test, const void *p);
#define GFP_KERNEL	0
#define kunit_kzalloc(test, size, gfp)		kunit_host_alloc(test, 1, size)
#define kunit_kmalloc(test, size, gfp)		kunit_host_alloc(test, 1, size)
#define kunit_kcalloc(test, n, size, gfp)	kunit_host_alloc(test, n, size)
#define kunit_kmalloc_array(test, n, size, gfp)	kunit_host_alloc(test, n, size)

void kunit_host_log(struct kunit *test, const char *fmt, ...) __printf(2, 3);
#define kunit_info(test, fmt, ...)	kunit_host_log(test, fmt, ##__VA_ARGS__)
#define kunit_warn(test, fmt, ...)	kunit_host_log(test, fmt, ##__VA_ARGS__)
#define kunit_err(test, fmt, ...)	kunit_host_log(test, fmt, ##__VA_ARGS__)

void kunit_host_skip(struct kunit *test, bool leave, const char *fmt, ...) __printf(3, 4);
#define kunit_skip(test, fmt, ...)	kunit_host_skip(test, true, fmt, ##__VA_ARGS__)
#define kunit_mark_skipped(test, fmt, ...) kunit_host_skip(test, false, fmt, ##__VA_ARGS__)

/* Reports a failure and, with @leave, ends the case. */
void kunit_host_fail(struct kunit *test, bool leave, const char *file, int line, const char *what);
void kunit_host_note(struct kunit *test, const char *fmt, ...) __printf(2, 3);

/* fail_(test, leave, what, notes...): notes are printf-like calls of kunit_host_note */
#define fail_(test, leave, what, ...) do {				\
	kunit_host_note(test, "" __VA_ARGS__);				\
	kunit_host_fail(test, leave, __FILE__, __LINE__, what);		\
} while (0)

#define true_(test, leave, cond, want, ...) do {			\
	if ((!(cond)) == (want))						\
		fail_(test, leave, (want) ? #cond " is false" : #cond " is true", \
		      __VA_ARGS__);					\
} while (0)

#define binary_(test, leave, l, op, r, ...) do {			\
	const __typeof__(l) l_ = (l);					\
	const __typeof__(r) r_ = (r);					\
									\
	if (!(l_ op r_)) {						\
		kunit_host_log(test, "left is %lld (0x%llx), right is %lld (0x%llx)", \
			       (long long)l_, (long long)l_, (long long)r_, (long long)r_); \
		fail_(test, leave, #l " " #op " " #r, __VA_ARGS__);	\
	}								\
} while (0)

#define ptr_(test, leave, l, op, r, ...) do {				\
	const void *l_ = (const void *)(l);				\
	const void *r_ = (const void *)(r);				\
									\
	if (!(l_ op r_))						\
		fail_(test, leave, #l " " #op " " #r, __VA_ARGS__);	\
} while (0)

#define mem_(test, leave, l, op, r, size, ...) do {			\
	const void *l_ = (l);						\
	const void *r_ = (r);						\
	const size_t size_ = (size);					\
									\
	if (!(memcmp(l_, r_, size_) op 0))				\
		fail_(test, leave, #l " " #op " " #r " (memory)", __VA_ARGS__); \
} while (0)

#define str_(test, leave, l, op, r, ...) do {				\
	const char *l_ = (l);						\
	const char *r_ = (r);						\
									\
	if (!(strcmp(l_, r_) op 0)) {					\
		kunit_host_log(test, "left is \"%s\", right is \"%s\"", l_, r_); \
		fail_(test, leave, #l " " #op " " #r " (string)", __VA_ARGS__); \
	}								\
} while (0)

#define KUNIT_FAIL(test, ...)			fail_(test, false, "failed", __VA_ARGS__)
#define KUNIT_SUCCEED(test)			do {} while (0)

#define KUNIT_EXPECT_TRUE(t, c)			true_(t, false, c, true)
#define KUNIT_EXPECT_FALSE(t, c)		true_(t, false, c, false)
#define KUNIT_EXPECT_EQ(t, l, r)		binary_(t, false, l, ==, r)
#define KUNIT_EXPECT_NE(t, l, r)		binary_(t, false, l, !=, r)
#define KUNIT_EXPECT_LT(t, l, r)		binary_(t, false, l, <, r)
#define KUNIT_EXPECT_LE(t, l, r)		binary_(t, false, l, <=, r)
#define KUNIT_EXPECT_GT(t, l, r)		binary_(t, false, l, >, r)
#define KUNIT_EXPECT_GE(t, l, r)		binary_(t, false, l, >=, r)
#define KUNIT_EXPECT_PTR_EQ(t, l, r)		ptr_(t, false, l, ==, r)
#define KUNIT_EXPECT_PTR_NE(t, l, r)		ptr_(t, false, l, !=, r)
#define KUNIT_EXPECT_NULL(t, p)			ptr_(t, false, p, ==, NULL)
#define KUNIT_EXPECT_NOT_NULL(t, p)		ptr_(t, false, p, !=, NULL)
#define KUNIT_EXPECT_NOT_ERR_OR_NULL(t, p)	ptr_(t, false, p, !=, NULL)
#define KUNIT_EXPECT_MEMEQ(t, l, r, n)		mem_(t, false, l, ==, r, n)
#define KUNIT_EXPECT_MEMNEQ(t, l, r, n)		mem_(t, false, l, !=, r, n)
#define KUNIT_EXPECT_STREQ(t, l, r)		str_(t, false, l, ==, r)
#define KUNIT_EXPECT_STRNEQ(t, l, r)		str_(t, false, l, !=, r)

#define KUNIT_EXPECT_TRUE_MSG(t, c, ...)	true_(t, false, c, true, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, c, ...)	true_(t, false, c, false, __VA_ARGS__)
#define KUNIT_EXPECT_EQ_MSG(t, l, r, ...)	binary_(t, false, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, l, r, ...)	binary_(t, false, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(t, l, r, ...)	binary_(t, false, l, <, r, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(t, l, r, ...)	binary_(t, false, l, <=, r, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(t, l, r, ...)	binary_(t, false, l, >, r, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, l, r, ...)	binary_(t, false, l, >=, r, __VA_ARGS__)
#define KUNIT_EXPECT_MEMEQ_MSG(t, l, r, n, ...)	mem_(t, false, l, ==, r, n, __VA_ARGS__)
#define KUNIT_EXPECT_STREQ_MSG(t, l, r, ...)	str_(t, false, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_NULL_MSG(t, p, ...)	ptr_(t, false, p, ==, NULL, __VA_ARGS__)
#define KUNIT_EXPECT_NOT_NULL_MSG(t, p, ...)	ptr_(t, false, p, !=, NULL, __VA_ARGS__)

#define KUNIT_ASSERT_TRUE(t, c)			true_(t, true, c, true)
#define KUNIT_ASSERT_FALSE(t, c)		true_(t, true, c, false)
#define KUNIT_ASSERT_EQ(t, l, r)		binary_(t, true, l, ==, r)
#define KUNIT_ASSERT_NE(t, l, r)		binary_(t, true, l, !=, r)
#define KUNIT_ASSERT_LT(t, l, r)		binary_(t, true, l, <, r)
#define KUNIT_ASSERT_LE(t, l, r)		binary_(t, true, l, <=, r)
#define KUNIT_ASSERT_GT(t, l, r)		binary_(t, true, l, >, r)
#define KUNIT_ASSERT_GE(t, l, r)		binary_(t, true, l, >=, r)
#define KUNIT_ASSERT_PTR_EQ(t, l, r)		ptr_(t, true, l, ==, r)
#define KUNIT_ASSERT_PTR_NE(t, l, r)		ptr_(t, true, l, !=, r)
#define KUNIT_ASSERT_NULL(t, p)			ptr_(t, true, p, ==, NULL)
#define KUNIT_ASSERT_NOT_NULL(t, p)		ptr_(t, true, p, !=, NULL)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(t, p)	ptr_(t, true, p, !=, NULL)
#define KUNIT_ASSERT_MEMEQ(t, l, r, n)		mem_(t, true, l, ==, r, n)
#define KUNIT_ASSERT_STREQ(t, l, r)		str_(t, true, l, ==, r)

#define KUNIT_ASSERT_TRUE_MSG(t, c, ...)	true_(t, true, c, true, __VA_ARGS__)
#define KUNIT_ASSERT_FALSE_MSG(t, c, ...)	true_(t, true, c, false, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, l, r, ...)	binary_(t, true, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_NE_MSG(t, l, r, ...)	binary_(t, true, l, !=, r, __VA_ARGS__)
#define KUNIT_ASSERT_LT_MSG(t, l, r, ...)	binary_(t, true, l, <, r, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(t, l, r, ...)	binary_(t, true, l, <=, r, __VA_ARGS__)
#define KUNIT_ASSERT_GT_MSG(t, l, r, ...)	binary_(t, true, l, >, r, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(t, l, r, ...)	binary_(t, true, l, >=, r, __VA_ARGS__)
#define KUNIT_ASSERT_NOT_NULL_MSG(t, p, ...)	ptr_(t, true, p, !=, NULL, __VA_ARGS__)

#endif /* MROCE_HOST_TEST_H */
