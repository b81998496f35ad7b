// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce: options, network namespace, and which object it is about */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

#define NETNS_DIR	"/run/netns"

struct options options;

static const struct {
	const char *name;
	int (*run)(struct args *args);
	const char *usage;
} objects[] = {
	{ "dev", dev_main, dev_usage },
	{ "plane", plane_main, plane_usage },
	{ "conn", conn_main, conn_usage },
	{ "path", path_main, path_usage },
	{ "link", link_main, link_usage },
	{ "monitor", monitor_main, monitor_usage },
};

static void print_usage(FILE *file)
{
	unsigned int i;

	fputs("Usage: mroce [ OPTIONS ] OBJECT { COMMAND | help }\n"
	      "OBJECT := { dev | plane | conn | path | link | monitor }\n"
	      "OPTIONS := { -j[son] | -p[retty] | -s[tatistics] | -n[etns] NAME | -V[ersion] |\n"
	      "             -h[elp] }\n", file);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		fputs(objects[i].usage, file);
}

/* enter_netns() - go on in the namespace of this name, or path. Return: exit status. */
static int enter_netns(const char *name)
{
	char path[PATH_MAX];
	int fd, len;

	len = snprintf(path, sizeof(path), strchr(name, '/') ? "%s%s" : "%s/%s",
		       strchr(name, '/') ? "" : NETNS_DIR, name);
	if (len >= (int)sizeof(path))
		return usage_error("the name of the network namespace is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		fprintf(stderr, "mroce: network namespace \"%s\": %s\n", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return EXIT_REFUSED;
	}
	close(fd);
	return EXIT_OK;
}

/* Options in front of the object. Return: -1 to go on, or the exit status. */
static int take_options(int argc, char **argv, const char **netns)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "statistics", no_argument, NULL, 's' },
		{ "netns", required_argument, NULL, 'n' },
		{ "Version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	int c;

	while ((c = getopt_long(argc, argv, "+jpsn:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			options.json = true;
			break;
		case 'p':
			options.pretty = true;
			break;
		case 's':
			options.statistics = true;
			break;
		case 'n':
			*netns = optarg;
			break;
		case 'V':
			printf("mroce utility, netlink family version %u\n", MROCE_FAMILY_VERSION);
			return EXIT_OK;
		case 'h':
			print_usage(stdout);
			return EXIT_OK;
		default:
			return EXIT_USAGE;
		}
	}
	return -1;
}

static int run_object(struct args *args)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(objects); i++)
		if (args_take(args, objects[i].name))
			return objects[i].run(args);
	if (args_take(args, "help")) {
		print_usage(stdout);
		return EXIT_OK;
	}
	return usage_error("there is no object \"%s\"; try \"mroce help\"", *args->word);
}

int main(int argc, char **argv)
{
	const char *netns = NULL;
	struct args args;
	int status;

	status = take_options(argc, argv, &netns);
	if (status >= 0)
		return status;
	args.word = argv + optind;
	if (!*args.word) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (netns) {
		status = enter_netns(netns);
		if (status)
			return status;
	}
	status = run_object(&args);
	/* Whoever reads the output should not take a part for the whole. */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "mroce: cannot write: %s\n", strerror(errno));
		return status ? status : EXIT_REFUSED;
	}
	return status;
}
