// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce dev */
#include <string.h>

#include "tool.h"

const char dev_usage[] =
	"Usage: mroce dev [ show [ DEV ] ]\n"
	"       mroce dev set DEV [ paths NUMBER ] [ max_window_kib KIB ] [ cc NAME ]\n"
	"                         [ ordering ORDERING ]\n"
	"NUMBER := { 1..32 | default }\n"
	"KIB := { 64..1048576 | default }\n"
	"NAME := { ecn | delay | default }\n"
	"ORDERING := { auto | strict | relaxed | default }\n";

#define A(name) MROCE_A_DEV_ ## name

static const struct field fields[] = {
	{ A(NAME), .kind = OUT_STRING, .json = "dev" },
	{ A(INDEX), .kind = OUT_UINT, .text = "index", .json = "index" },
	{ A(IFINDEX), .kind = OUT_NETDEV, .text = "netdev", .json = "netdev" },
	{ A(UP), .kind = OUT_BOOL, .text = "up", .json = "up" },
	{ A(MTU), .kind = OUT_UINT, .text = "mtu", .json = "mtu" },
	{ A(PATHS), .kind = OUT_UINT, .text = "paths", .json = "paths" },
	{ A(MAX_WINDOW_KIB), .kind = OUT_UINT, .text = "max_window_kib", .json = "max_window_kib" },
	{ A(CC), .kind = OUT_STRING, .text = "cc", .json = "cc" },
	{ A(ORDERING), .kind = OUT_NAME, .text = "ordering", .json = "ordering",
	  .names = &ordering_names },
	{ A(CONNS), .kind = OUT_UINT, .text = "conns", .json = "conns" },
	{ A(QPS), .kind = OUT_UINT, .text = "qps", .json = "qps" },
	{ A(PLANES), .kind = OUT_UINT, .text = "planes", .json = "planes" },
	{ A(MAX_CONNS), 0, true, OUT_UINT, "max_conns", "max_conns" },
	{ A(QP_BYTES), 0, true, OUT_UINT, "qp_bytes", "qp_bytes" },
	{ A(QPS_BYTES), 0, true, OUT_UINT, "qps_bytes", "qps_bytes" },
	{ A(CONNS_BYTES), 0, true, OUT_UINT, "conns_bytes", "conns_bytes" },
	{ A(HELD_BYTES), 0, true, OUT_UINT, "held_bytes", "held_bytes" },
};

static int show(struct args *args)
{
	const char *dev = NULL;
	struct nl nl;

	if ((*args->word && !args_dev(args, &dev)) || !args_end(args))
		return EXIT_USAGE;
	nl_request(&nl, MROCE_CMD_DEV_GET, !dev);
	if (dev)
		nl_put_str(&nl, A(NAME), dev);
	return nl_show(&nl, fields, ARRAY_SIZE(fields));
}

/* What is to be set, and whether */
struct settings {
	const char *cc;
	uint32_t paths;
	uint32_t window_kib;
	int ordering;
	bool has_paths;
	bool has_window;
};

/* A number, or the word for 0 */
static bool take_number(struct args *args, const char *what, uint32_t max, uint32_t *value)
{
	*value = 0;
	return args_take(args, "default") || args_u32(args, what, max, value);
}

static bool take_cc(struct args *args, struct settings *s)
{
	s->cc = args_word(args, "name of a congestion control");
	if (s->cc && !strcmp(s->cc, "default"))
		s->cc = "";
	return s->cc;
}

static bool take_ordering(struct args *args, struct settings *s)
{
	const char *word = args_word(args, "ordering");

	if (!word)
		return false;
	s->ordering = names_find(&ordering_names, word);
	if (s->ordering >= 0)
		return true;
	usage_error("ordering \"%s\": there are auto, strict, relaxed, default", word);
	return false;
}

static bool take_setting(struct args *args, struct settings *s)
{
	if (args_take(args, "paths")) {
		s->has_paths = true;
		return take_number(args, "paths", 32, &s->paths);
	}
	if (args_take(args, "max_window_kib")) {
		s->has_window = true;
		return take_number(args, "max_window_kib", 1048576, &s->window_kib);
	}
	if (args_take(args, "cc"))
		return take_cc(args, s);
	if (args_take(args, "ordering"))
		return take_ordering(args, s);
	return args_end(args);
}

static int change(struct args *args)
{
	struct settings s = { .ordering = -1 };
	const char *dev;
	struct nl nl;

	if (!args_dev(args, &dev))
		return EXIT_USAGE;
	if (!*args->word)
		return usage_error("nothing to set");
	while (*args->word)
		if (!take_setting(args, &s))
			return EXIT_USAGE;
	nl_request(&nl, MROCE_CMD_DEV_SET, false);
	nl_put_str(&nl, A(NAME), dev);
	if (s.has_paths)
		nl_put_u8(&nl, A(PATHS), s.paths);
	if (s.has_window)
		nl_put_u32(&nl, A(MAX_WINDOW_KIB), s.window_kib);
	if (s.cc)
		nl_put_str(&nl, A(CC), s.cc);
	if (s.ordering >= 0)
		nl_put_u8(&nl, A(ORDERING), s.ordering);
	return nl_run(&nl, NULL, NULL);
}

/* dev_main() - mroce dev. Return: exit status. */
int dev_main(struct args *args)
{
	static const struct command commands[] = {
		{ "show", show },
		{ "set", change },
	};

	return args_run(args, commands, ARRAY_SIZE(commands), dev_usage);
}
