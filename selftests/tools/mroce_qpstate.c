// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mroce_qpstate: runs the cases of the qpstate_*.c tables.
 *
 *   mroce_qpstate -A mrA [-B mrB] [--cut CMD --mend CMD] [--down CMD --up CMD --add CMD --del CMD]
 *                 [--delay CMD --prompt CMD] [-f] [-s SLACK_MS] [[!]CASE...]
 *
 * Prints "PASS name" or "FAIL name: reason" per case and exits with 1 if any
 * failed. Without -B the device talks to itself. Cases that need commands (enum
 * mroce_command) or a fast machine (-f) do not run without them: -l lists those that will run.
 * CASE may be a pattern, as of files; with '!' it names cases that do not run.
 */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "qpstate.h"

#define CASE_LIMIT_S 60

static const struct mroce_case * const tables[] = {
	mroce_cases_caps, mroce_cases_modify, mroce_cases_state, mroce_cases_flush,
	mroce_cases_data, mroce_cases_read, mroce_cases_order, mroce_cases_atomic,
	mroce_cases_loop, mroce_cases_remote, mroce_cases_event, mroce_cases_channel,
	mroce_cases_retry, mroce_cases_dgram, mroce_cases_srq, mroce_cases_srq_shared,
	mroce_cases_srq_load,
};

static const char *running = "";

static void on_alarm(int sig)
{
	static const char text[] = ": stuck for a minute\n";

	(void)sig;
	if (write(STDOUT_FILENO, "FAIL ", 5) < 0 ||
	    write(STDOUT_FILENO, running, strlen(running)) < 0 ||
	    write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

static int open_side(struct mroce_side *side)
{
	side->buf = mmap(NULL, 2 * MROCE_HALF_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (side->buf == MAP_FAILED)
		return -1;
	side->mr = ibv_reg_mr(side->dev->pd, side->buf, 2 * MROCE_HALF_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	return side->mr ? 0 : -1;
}

static int run_case(struct mroce_test *test, const struct mroce_case *row)
{
	int failed;

	test->why[0] = '\0';
	test->access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		       IBV_ACCESS_REMOTE_ATOMIC;
	test->timing = (struct mroce_qp_timing){
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12,
	};
	test->qp_type = IBV_QPT_RC;
	running = row->name;
	alarm(CASE_LIMIT_S);
	failed = row->run(test);
	/* A case that failed keeps its own reason. */
	if (failed) {
		char why[sizeof(test->why)];

		memcpy(why, test->why, sizeof(why));
		mroce_pair_close(test);
		memcpy(test->why, why, sizeof(why));
	} else {
		failed = mroce_pair_close(test);
	}
	alarm(0);
	if (row->need == MROCE_NEEDS_CUT && system(test->command[MROCE_MEND]))
		fprintf(stderr, "mending the link failed\n");
	if (row->need == MROCE_NEEDS_NETDEV && system(test->command[MROCE_UP]))
		fprintf(stderr, "restoring the netdev failed\n");
	if (row->need == MROCE_NEEDS_DELAY && system(test->command[MROCE_PROMPT]))
		fprintf(stderr, "ending the delay failed\n");
	if (failed)
		printf("FAIL %s: %s\n", row->name, test->why);
	else
		printf("PASS %s\n", row->name);
	fflush(stdout);
	return failed;
}

static bool has_commands(const struct mroce_test *test, enum mroce_command first,
			 enum mroce_command last)
{
	for (; first <= last; first++) {
		if (!test->command[first])
			return false;
	}
	return true;
}

static bool is_wanted(const struct mroce_test *test, const struct mroce_case *row, char **names)
{
	bool wanted;

	if (row->need == MROCE_NEEDS_CUT && !has_commands(test, MROCE_CUT, MROCE_MEND))
		return false;
	if (row->need == MROCE_NEEDS_NETDEV && !has_commands(test, MROCE_DOWN, MROCE_DEL))
		return false;
	if (row->need == MROCE_NEEDS_DELAY && !has_commands(test, MROCE_DELAY, MROCE_PROMPT))
		return false;
	if ((row->need == MROCE_NEEDS_LOOP && !test->loop) ||
	    (row->need == MROCE_NEEDS_FAST && !test->fast))
		return false;
	/* Nothing but exceptions: of all */
	wanted = !*names || **names == '!';
	for (; *names; names++) {
		if (**names == '!' && !fnmatch(*names + 1, row->name, 0))
			return false;
		wanted |= !fnmatch(*names, row->name, 0);
	}
	return wanted;
}

static int run_all(struct mroce_test *test, char **names, bool list)
{
	const struct mroce_case *row;
	int failed = 0, count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tables); i++) {
		for (row = tables[i]; row->name; row++) {
			if (!is_wanted(test, row, names))
				continue;
			count++;
			if (list)
				puts(row->name);
			else
				failed += run_case(test, row);
		}
	}
	if (!count)
		fprintf(stderr, "no such case\n");
	return failed || !count;
}

static int open_devices(struct mroce_test *test, struct mroce_dev *dev, const char *name_a,
			const char *name_b, bool ipv6)
{
	if (mroce_dev_open(&dev[MROCE_A], name_a, -1, ipv6) ||
	    (!test->loop && mroce_dev_open(&dev[MROCE_B], name_b, -1, ipv6)))
		return -1;
	test->side[MROCE_A].dev = &dev[MROCE_A];
	test->side[MROCE_B].dev = &dev[test->loop ? MROCE_A : MROCE_B];
	if (!open_side(&test->side[MROCE_A]) && !open_side(&test->side[MROCE_B]))
		return 0;
	fprintf(stderr, "cannot register memory: %s\n", strerror(errno));
	return -1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cut", 1, NULL, MROCE_CUT }, { "mend", 1, NULL, MROCE_MEND },
		{ "down", 1, NULL, MROCE_DOWN }, { "up", 1, NULL, MROCE_UP },
		{ "add", 1, NULL, MROCE_ADD }, { "del", 1, NULL, MROCE_DEL },
		{ "delay", 1, NULL, MROCE_DELAY }, { "prompt", 1, NULL, MROCE_PROMPT }, { }
	};
	static struct mroce_test test = { .slack_ms = 1000 };
	static struct mroce_dev dev[2];
	const char *name_a = NULL, *name_b = NULL;
	bool ipv6 = false, list = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "A:B:6fls:", options, NULL)) != -1) {
		switch (opt) {
		case 'A':
			name_a = optarg;
			break;
		case 'B':
			name_b = optarg;
			break;
		case '6':
			ipv6 = true;
			break;
		case 'f':
			test.fast = true;
			break;
		case 's':
			test.slack_ms = atoi(optarg);
			break;
		case 'l':
			list = true;
			break;
		case MROCE_CUT ... MROCE_PROMPT:
			test.command[opt] = optarg;
			break;
		default:
			return 2;
		}
	}
	test.loop = !name_b;
	if (list)
		return run_all(&test, argv + optind, true);
	signal(SIGALRM, on_alarm);
	if (open_devices(&test, dev, name_a, name_b, ipv6))
		return 2;
	return run_all(&test, argv + optind, false);
}
