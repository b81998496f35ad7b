// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce link: what 'rdma link add' cannot tell */
#include <string.h>

#include "tool.h"

const char link_usage[] =
	"Usage: mroce link check NETDEV\n";

#define A(name) MROCE_A_CHECK_ ## name

static const struct field fields[] = {
	{ A(IFINDEX), .kind = OUT_NETDEV, .json = "netdev" },
	{ A(ERROR), .kind = OUT_UINT, .text = "error", .json = "error" },
	{ A(REASON), .kind = OUT_STRING, .text = "reason", .json = "reason" },
};

/* @arg: exit status */
static void show_one(uint8_t cmd, const struct nlattr *const *attrs, void *arg)
{
	int *status = arg;

	(void)cmd;
	out_object(NULL, fields, ARRAY_SIZE(fields), attrs);
	if (attrs[A(ERROR)] && nl_uint(attrs[A(ERROR)]))
		*status = EXIT_REFUSED;
}

static int check(struct args *args)
{
	int status, would = EXIT_OK;
	uint32_t ifindex;
	struct nl nl;

	if (!args_netdev(args, &ifindex) || !args_end(args))
		return EXIT_USAGE;
	nl_request(&nl, MROCE_CMD_LINK_CHECK, false);
	nl_put_u32(&nl, A(IFINDEX), ifindex);
	out_begin();
	status = nl_run(&nl, show_one, &would);
	out_end();
	return status ? status : would;
}

/* link_main() - mroce link. Return: exit status. */
int link_main(struct args *args)
{
	static const struct command commands[] = {
		{ "check", check },
	};

	return args_run(args, commands, ARRAY_SIZE(commands), link_usage);
}
