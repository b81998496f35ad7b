// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs the KUnit suites as an ordinary program, under the sanitizers of the
 * compiler, and reports in KTAP: one line per case, numbered over all suites.
 *
 *   kunit-host [-l | -x] [SUITE-PATTERN [CASE-PATTERN]]     shell patterns
 *
 * -l lists the cases; -x leaves at the first failure.
 * Exit code 0: something ran and nothing failed.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

struct kunit_host_mem {
	struct kunit_host_mem *next;
	void *p;
};

static struct kunit_suite *suites;
static struct kunit *current_test;
static jmp_buf leave_case;
static unsigned int passed, failed, skipped;
static bool leave_at_failure;

/* In the order of their names, whatever the order of the linker */
void kunit_host_register(struct kunit_suite *suite)
{
	struct kunit_suite **p = &suites;

	while (*p && strcmp((*p)->name, suite->name) < 0)
		p = &(*p)->next;
	suite->next = *p;
	*p = suite;
}

void *kunit_host_alloc(struct kunit *test, size_t n, size_t size)
{
	struct kunit_host_mem *m = malloc(sizeof(*m));

	if (!m)
		abort();
	m->p = calloc(n, size);
	if (!m->p)
		abort();
	m->next = test->mem;
	test->mem = m;
	return m->p;
}

void kunit_kfree(struct kunit *test, const void *p)
{
	struct kunit_host_mem **pos = &test->mem, *m;

	while (*pos && (*pos)->p != p)
		pos = &(*pos)->next;
	m = *pos;
	if (!m)
		return;
	*pos = m->next;
	free(m->p);
	free(m);
}

void kunit_host_log(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	printf("# %s: ", test->name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void kunit_host_note(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(test->note, sizeof(test->note), fmt, ap);
	va_end(ap);
}

void kunit_host_fail(struct kunit *test, bool leave, const char *file, int line, const char *what)
{
	test->n_failures++;
	kunit_host_log(test, "%s:%d: %s%s%s", file, line, what, *test->note ? ": " : "",
		       test->note);
	if (leave_at_failure)
		exit(1);
	if (leave)
		longjmp(leave_case, 1);
}

void kunit_host_skip(struct kunit *test, bool leave, const char *fmt, ...)
{
	va_list ap;

	test->skipped = true;
	va_start(ap, fmt);
	vsnprintf(test->note, sizeof(test->note), fmt, ap);
	va_end(ap);
	if (leave)
		longjmp(leave_case, 1);
}

bool mroce_host_warn(const char *file, int line, const char *what)
{
	if (!current_test)
		abort();
	current_test->note[0] = 0;
	kunit_host_fail(current_test, false, file, line, what);
	return true;
}

static void run_once(struct kunit_suite *suite, struct kunit_case *c, struct kunit *test)
{
	current_test = test;
	if (!setjmp(leave_case)) {
		if (suite->init && suite->init(test))
			kunit_host_fail(test, true, suite->name, 0, "init of the suite");
		c->run_case(test);
	}
	if (suite->exit && !setjmp(leave_case))
		suite->exit(test);
	current_test = NULL;
	while (test->mem)
		kunit_kfree(test, test->mem->p);
}

static void run_params(struct kunit_suite *suite, struct kunit_case *c, struct kunit *test)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = c->generate_params(NULL, desc);
	int before;

	if (!param)
		kunit_host_fail(test, false, suite->name, 0, "no parameters");
	while (param) {
		test->param_value = param;
		before = test->n_failures;
		run_once(suite, c, test);
		if (test->n_failures != before)
			kunit_host_log(test, "failed with parameter \"%s\"", desc);
		desc[0] = 0;
		param = c->generate_params(param, desc);
	}
}

static void run_case(struct kunit_suite *suite, struct kunit_case *c)
{
	static unsigned int number;
	struct kunit test = { .name = c->name };

	if (c->generate_params)
		run_params(suite, c, &test);
	else
		run_once(suite, c, &test);
	printf("%sok %u %s.%s", test.n_failures ? "not " : "", ++number, suite->name, c->name);
	if (test.n_failures)
		failed++;
	else if (test.skipped)
		skipped++;
	else
		passed++;
	printf(!test.n_failures && test.skipped ? " # SKIP %s\n" : "\n", test.note);
	fflush(stdout);
}

/* Suites may be named without their prefix */
static bool matches(const char *pattern, const char *name)
{
	return !pattern || !*pattern || !fnmatch(pattern, name, 0) ||
	       (!strncmp(name, "mroce_", 6) && !fnmatch(pattern, name + 6, 0));
}

enum what { COUNT, LIST, RUN };

/* Does @what to every selected case and returns their number */
static unsigned int each_case(enum what what, const char *suite_pattern, const char *case_pattern)
{
	struct kunit_suite *suite;
	struct kunit_case *c;
	unsigned int n = 0;

	for (suite = suites; suite; suite = suite->next) {
		if (!matches(suite_pattern, suite->name))
			continue;
		if (what == RUN && suite->suite_init && suite->suite_init(suite)) {
			printf("# %s: suite_init failed\n", suite->name);
			failed++;
			continue;
		}
		for (c = suite->test_cases; c->run_case; c++) {
			if (!matches(case_pattern, c->name))
				continue;
			n++;
			if (what == LIST)
				printf("%s.%s\n", suite->name, c->name);
			else if (what == RUN)
				run_case(suite, c);
		}
		if (what == RUN && suite->suite_exit)
			suite->suite_exit(suite);
	}
	return n;
}

int main(int argc, char **argv)
{
	bool list = argc > 1 && !strcmp(argv[1], "-l");
	int first = list ? 2 : 1;
	const char *s, *c;

	leave_at_failure = argc > 1 && !strcmp(argv[1], "-x");
	first += leave_at_failure;
	s = argc > first ? argv[first] : NULL;
	c = argc > first + 1 ? argv[first + 1] : NULL;
	if (list)
		return !each_case(LIST, s, c);
	printf("KTAP version 1\n1..%u\n", each_case(COUNT, s, c));
	each_case(RUN, s, c);
	printf("# %u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed || !(passed + skipped);
}
