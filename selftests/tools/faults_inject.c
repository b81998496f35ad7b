// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Failures for this process, by the kernel's fault injection.
 *
 * One failure: /proc/thread-self/fail-nth counts every allocation and every copy
 * the task does, and lets one fail. A shortage: from so many bytes on every
 * allocation of the task fails, which finds what copes with one failure only.
 * "times" counts down with every failure, and so tells what failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

#define DEBUG		"/sys/kernel/debug/"
#define TIMES		1000000
#define PAGE_BYTES	4096

static const char *const attribute[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
static int left[ARRAY_SIZE(attribute)];
static int nth_fd = -1, filter_fd = -1;
static bool short_of_memory, under_way;
static unsigned int last_mask;

static int set_attribute(const char *dir, const char *file, unsigned int value)
{
	char path[128], text[16];
	int fd, n = snprintf(text, sizeof(text), "%u", value);

	snprintf(path, sizeof(path), DEBUG "%s/%s", dir, file);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, n) != n) {
		fprintf(stderr, "cannot set %s: %s\n", path, strerror(errno));
		return -1;
	}
	close(fd);
	return 0;
}

static int get_number(int fd)
{
	char text[32] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		return -errno;
	return atoi(text);
}

/* How many failures are left to an attribute */
static int get_times(unsigned int i)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), DEBUG "%s/times", attribute[i]);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0) {
		perror(path);
		exit(2);
	}
	close(fd);
	return atoi(text);
}

/* A write that a failure hits is done again. */
static void put_number(int fd, unsigned int value)
{
	char text[16];
	int i, n = snprintf(text, sizeof(text), "%u", value);

	for (i = 0; i < 100; i++)
		if (pwrite(fd, text, n, 0) == n)
			return;
	perror("cannot control failures");
	exit(2);
}

/**
 * mroce_inject_init - set up, with nothing failing yet
 *
 * VERBOSE=2 in the environment: a stack trace of each failure in the kernel log.
 *
 * Return: 0 or -1.
 */
int mroce_inject_init(void)
{
	const char *verbose = getenv("VERBOSE");
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(attribute); i++) {
		err |= set_attribute(attribute[i], "verbose", verbose ? atoi(verbose) : 0);
		err |= set_attribute(attribute[i], "times", TIMES);
		err |= set_attribute(attribute[i], "probability", 0);
		err |= set_attribute(attribute[i], "task-filter", 1);
	}
	err |= set_attribute("failslab", "ignore-gfp-wait", 0);
	err |= set_attribute("fail_page_alloc", "ignore-gfp-wait", 0);
	err |= set_attribute("fail_page_alloc", "ignore-gfp-highmem", 0);
	err |= set_attribute("fail_page_alloc", "min-order", 0);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	filter_fd = open("/proc/self/make-it-fail", O_RDWR);
	return err || nth_fd < 0 || filter_fd < 0 ? -1 : 0;
}

static void note_left(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attribute); i++)
		left[i] = get_times(i);
}

/**
 * mroce_inject_nth - from now on one failure
 * @n: where, 1 = at the next allocation or copy
 */
void mroce_inject_nth(unsigned int n)
{
	note_left();
	under_way = true;
	put_number(nth_fd, n);
}

/**
 * mroce_inject_shortage - from now on allocations fail
 * @bytes: that may still be had
 */
void mroce_inject_shortage(unsigned int bytes)
{
	note_left();
	under_way = true;
	short_of_memory = true;
	set_attribute("failslab", "space", bytes);
	set_attribute("fail_page_alloc", "space", bytes / PAGE_BYTES);
	set_attribute("failslab", "probability", 100);
	set_attribute("fail_page_alloc", "probability", 100);
	put_number(filter_fd, 1);
}

static bool was_reached(void)
{
	if (short_of_memory) {
		put_number(filter_fd, 0);
		set_attribute("failslab", "probability", 0);
		set_attribute("fail_page_alloc", "probability", 0);
		short_of_memory = false;
		return true;
	}
	if (!get_number(nth_fd))
		return true;
	/* Or by this very read, which is no business of the call. */
	put_number(nth_fd, 0);
	return false;
}

/**
 * mroce_inject_end - nothing fails any more
 *
 * May be called again: the answer remains.
 *
 * Return: mask of what failed, enum mroce_fault; 0 = nothing.
 */
unsigned int mroce_inject_end(void)
{
	unsigned int i;

	if (!under_way)
		return last_mask;
	under_way = false;
	last_mask = 0;
	if (was_reached())
		for (i = 0; i < ARRAY_SIZE(attribute); i++)
			if (get_times(i) != left[i])
				last_mask |= 1 << i;
	return last_mask;
}
