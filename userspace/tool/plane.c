// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce plane */
#include <stddef.h>

#include "tool.h"

const char plane_usage[] =
	"Usage: mroce plane [ show [ DEV ] ]\n"
	"       mroce plane add DEV dev NETDEV [ label NUMBER ]\n"
	"       mroce plane del DEV dev NETDEV\n"
	"NUMBER := 0..255\n";

#define A(name) MROCE_A_PLANE_ ## name

static const struct field fields[] = {
	{ A(DEV_NAME), .kind = OUT_STRING, .json = "dev" },
	{ A(IFINDEX), .kind = OUT_NETDEV, .text = "plane", .json = "netdev" },
	{ A(LABEL), .kind = OUT_UINT, .text = "label", .json = "label" },
	{ A(UP), .kind = OUT_BOOL, .text = "up", .json = "up" },
	{ A(PRIMARY), .kind = OUT_BOOL, .text = "primary", .json = "primary" },
	{ A(ADDR4), .kind = OUT_GID, .text = "addr", .json = "addr4" },
	{ A(ADDR6), .kind = OUT_GID, .text = "addr", .json = "addr6" },
	{ A(SPEED_MBPS), .kind = OUT_UINT, .text = "speed_mbps", .json = "speed_mbps" },
	{ A(SET_SPEED_MBPS), .kind = OUT_UINT, .text = "set_speed_mbps",
	  .json = "set_speed_mbps" },
};

static int show(struct args *args)
{
	const char *dev = NULL;
	struct nl nl;

	if ((*args->word && !args_dev(args, &dev)) || !args_end(args))
		return EXIT_USAGE;
	nl_request(&nl, MROCE_CMD_PLANE_GET, true);
	if (dev)
		nl_put_str(&nl, A(DEV_NAME), dev);
	return nl_show(&nl, fields, ARRAY_SIZE(fields));
}

/* A plane as the command line names it; -1 and 0: not said */
struct plane {
	const char *dev;
	uint32_t ifindex;
	int label;
	uint32_t mbps;
	bool has_speed;
};

static bool take_plane(struct args *args, struct plane *p)
{
	*p = (struct plane){ .label = -1 };
	if (!args_dev(args, &p->dev))
		return false;
	if (args_take(args, "dev"))
		return args_netdev(args, &p->ifindex);
	usage_error("\"dev NETDEV\" is missing");
	return false;
}

static bool take_label(struct args *args, struct plane *p)
{
	uint32_t label;

	if (!args_take(args, "label"))
		return true;
	if (!args_u32(args, "label", 255, &label))
		return false;
	p->label = label;
	return true;
}

static bool take_speed(struct args *args, struct plane *p)
{
	if (!args_take(args, "speed")) {
		usage_error("nothing to set: \"speed MBPS\" is missing");
		return false;
	}
	p->has_speed = true;
	return args_take(args, "default") || args_u32(args, "speed", UINT32_MAX, &p->mbps);
}

static int change(uint8_t cmd, const struct plane *p)
{
	struct nl nl;

	nl_request(&nl, cmd, false);
	nl_put_str(&nl, A(DEV_NAME), p->dev);
	nl_put_u32(&nl, A(IFINDEX), p->ifindex);
	if (p->label >= 0)
		nl_put_u8(&nl, A(LABEL), p->label);
	if (p->has_speed)
		nl_put_u32(&nl, A(SET_SPEED_MBPS), p->mbps);
	return nl_run(&nl, NULL, NULL);
}

static int add(struct args *args)
{
	struct plane p;

	if (!take_plane(args, &p) || !take_label(args, &p) || !args_end(args))
		return EXIT_USAGE;
	return change(MROCE_CMD_PLANE_NEW, &p);
}

static int del(struct args *args)
{
	struct plane p;

	if (!take_plane(args, &p) || !args_end(args))
		return EXIT_USAGE;
	return change(MROCE_CMD_PLANE_DEL, &p);
}

/* Not in the usage: the kernel refuses it as long as planes have no speed. */
static int set(struct args *args)
{
	struct plane p;

	if (!take_plane(args, &p) || !take_speed(args, &p) || !args_end(args))
		return EXIT_USAGE;
	return change(MROCE_CMD_PLANE_SET, &p);
}

/* plane_main() - mroce plane. Return: exit status. */
int plane_main(struct args *args)
{
	static const struct command commands[] = {
		{ "show", show },
		{ "add", add },
		{ "delete", del },
		{ "set", set },
	};

	return args_run(args, commands, ARRAY_SIZE(commands), plane_usage);
}
