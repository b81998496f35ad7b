/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * KTAP output for small test programs.
 *
 * A test is a function without arguments. CHECK() notes a failure and goes on,
 * so that one run shows all of them; it returns the condition for a test that
 * cannot go on. A program whose table is empty, or a test that checked nothing,
 * fails.
 */
#ifndef MROCE_KTAP_H
#define MROCE_KTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ktap_test {
	const char *name;
	void (*run)(void);
};

#define KTAP_TEST(fn) { #fn, fn }

/* Counters of the running test; weak, so that every file may check. */
__attribute__((weak)) unsigned int ktap_checks;
__attribute__((weak)) unsigned int ktap_failures;

static inline bool ktap_check(bool ok, const char *file, int line,
			      const char *what)
{
	ktap_checks++;
	if (!ok) {
		ktap_failures++;
		printf("# %s:%d: not true: %s\n", file, line, what);
	}
	return ok;
}

static inline bool ktap_check_eq(long long a, long long b, const char *file,
				 int line, const char *what)
{
	bool ok = ktap_check(a == b, file, line, what);

	if (!ok)
		printf("#   %lld != %lld\n", a, b);
	return ok;
}

#define CHECK(cond) ktap_check(cond, __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b)							\
	ktap_check_eq((long long)(a), (long long)(b), __FILE__, __LINE__, \
		      #a " == " #b)

static inline int ktap_run(const struct ktap_test *tests, size_t num)
{
	unsigned int failed = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("KTAP version 1\n1..%zu\n", num);
	for (i = 0; i < num; i++) {
		bool ok;

		ktap_checks = 0;
		ktap_failures = 0;
		tests[i].run();
		ok = ktap_checks && !ktap_failures;
		failed += !ok;
		printf("%sok %zu %s\n", ok ? "" : "not ", i + 1, tests[i].name);
	}
	return failed || !num;
}

#endif /* MROCE_KTAP_H */
