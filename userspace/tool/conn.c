// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce conn */
#include <stddef.h>

#include "tool.h"

const char conn_usage[] =
	"Usage: mroce conn [ show [ DEV [ conn NUMBER ] ] ]\n";

#define A(name) MROCE_A_CONN_ ## name

static const struct field fields[] = {
	{ A(DEV_NAME), .kind = OUT_STRING, .json = "dev" },
	{ A(ID), .kind = OUT_UINT, .text = "conn", .json = "conn" },
	{ A(LOCAL), .kind = OUT_GID, .text = "local", .json = "local" },
	{ A(REMOTE), .kind = OUT_GID, .text = "remote", .json = "remote" },
	{ A(DSCP), .kind = OUT_UINT, .text = "dscp", .json = "dscp" },
	{ A(STATE), .kind = OUT_NAME, .text = "state", .json = "state",
	  .names = &conn_status_names },
	{ A(QPS), .kind = OUT_UINT, .text = "qps", .json = "qps" },
	{ A(PATHS), .kind = OUT_UINT, .text = "paths", .json = "paths" },
	{ A(ACTIVE_PATHS), .kind = OUT_UINT, .text = "active", .json = "active_paths" },
	{ A(CC), .kind = OUT_STRING, .text = "cc", .json = "cc" },
	{ A(BYTES), 0, true, OUT_UINT, "bytes", "bytes" },
	{ A(PAYLOAD_BYTES), 0, true, OUT_UINT, "payload_bytes", "payload_bytes" },
	{ A(WINDOW_BYTES), 0, true, OUT_UINT, "window_bytes", "window_bytes" },
	{ A(MAX_WINDOW_BYTES), 0, true, OUT_UINT, "max_window_bytes", "max_window_bytes" },
	{ A(SHARE_BYTES), 0, true, OUT_UINT, "share_bytes", "share_bytes" },
	{ A(INFLIGHT_BYTES), 0, true, OUT_UINT, "inflight_bytes", "inflight_bytes" },
	{ A(INFLIGHT_PKTS), 0, true, OUT_UINT, "inflight_pkts", "inflight_pkts" },
	{ A(INFLIGHT_BYTES), A(WINDOW_BYTES), true, OUT_RATIO, "used", "utilisation" },
	{ A(HEARD_MS), 0, true, OUT_UINT, "heard_ms", "heard_ms" },
};

static int show(struct args *args)
{
	const char *dev = NULL;
	uint32_t id = 0;
	struct nl nl;

	if (*args->word && !args_dev(args, &dev))
		return EXIT_USAGE;
	if (args_take(args, "conn") && !args_conn(args, &id))
		return EXIT_USAGE;
	if (!args_end(args))
		return EXIT_USAGE;
	nl_request(&nl, MROCE_CMD_CONN_GET, !id);
	if (dev)
		nl_put_str(&nl, A(DEV_NAME), dev);
	if (id)
		nl_put_u32(&nl, A(ID), id);
	return nl_show(&nl, fields, ARRAY_SIZE(fields));
}

/* conn_main() - mroce conn. Return: exit status. */
int conn_main(struct args *args)
{
	static const struct command commands[] = {
		{ "show", show },
	};

	return args_run(args, commands, ARRAY_SIZE(commands), conn_usage);
}
