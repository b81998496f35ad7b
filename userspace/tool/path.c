// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce path */
#include <stddef.h>

#include "tool.h"

const char path_usage[] =
	"Usage: mroce path [ show [ DEV [ conn NUMBER [ path NUMBER ] ] ] ]\n";

#define A(name) MROCE_A_PATH_ ## name

static const struct field fields[] = {
	{ A(DEV_NAME), .kind = OUT_STRING, .json = "dev" },
	{ A(CONN_ID), .kind = OUT_UINT, .text = "conn", .json = "conn" },
	{ A(ID), .kind = OUT_UINT, .text = "path", .json = "path" },
	{ A(PLANE), .kind = OUT_UINT, .text = "plane", .json = "plane" },
	{ A(STATE), .kind = OUT_NAME, .text = "state", .json = "state",
	  .names = &path_status_names },
	{ A(SOURCE_PORT), .kind = OUT_UINT, .text = "sport", .json = "source_port" },
	{ A(SRTT_NS), .kind = OUT_NS, .text = "srtt", .json = "srtt_ns" },
	{ A(WINDOW_BYTES), .kind = OUT_UINT, .text = "window_bytes", .json = "window_bytes" },
	{ A(INFLIGHT_BYTES), .kind = OUT_UINT, .text = "inflight_bytes",
	  .json = "inflight_bytes" },
	{ A(LOSS_PPM), .kind = OUT_PPM, .text = "loss", .json = "loss" },
	{ A(MARKED_PPM), .kind = OUT_PPM, .text = "marked", .json = "marked" },
	{ A(RATE_BYTES), .kind = OUT_UINT, .text = "rate_bytes", .json = "rate_bytes" },
	{ A(INFLIGHT_BYTES), A(WINDOW_BYTES), true, OUT_RATIO, "used", "utilisation" },
	{ A(MIN_RTT_NS), 0, true, OUT_NS, "min_rtt", "min_rtt_ns" },
	{ A(RTTVAR_NS), 0, true, OUT_NS, "rttvar", "rttvar_ns" },
	{ A(INFLIGHT_PKTS), 0, true, OUT_UINT, "inflight_pkts", "inflight_pkts" },
	{ A(CPU), 0, true, OUT_UINT, "cpu", "cpu" },
	{ A(HEARD_MS), 0, true, OUT_UINT, "heard_ms", "heard_ms" },
	{ A(SENT_PKTS), 0, true, OUT_UINT, "sent_pkts", "sent_pkts" },
	{ A(SENT_BYTES), 0, true, OUT_UINT, "sent_bytes", "sent_bytes" },
	{ A(ACKED_PKTS), 0, true, OUT_UINT, "acked_pkts", "acked_pkts" },
	{ A(ACKED_BYTES), 0, true, OUT_UINT, "acked_bytes", "acked_bytes" },
	{ A(LOST_PKTS), 0, true, OUT_UINT, "lost_pkts", "lost_pkts" },
	{ A(SPURIOUS_PKTS), 0, true, OUT_UINT, "spurious_pkts", "spurious_pkts" },
	{ A(RETRANS_PKTS), 0, true, OUT_UINT, "retrans_pkts", "retrans_pkts" },
	{ A(MARKED_PKTS), 0, true, OUT_UINT, "marked_pkts", "marked_pkts" },
	{ A(PROBE_TIMEOUTS), 0, true, OUT_UINT, "probe_timeouts", "probe_timeouts" },
	{ A(REROLLS), 0, true, OUT_UINT, "rerolls", "rerolls" },
};

/* Which paths; 0, NULL, -1: all */
struct choice {
	const char *dev;
	uint32_t conn;
	int path;
};

static bool take_choice(struct args *args, struct choice *c)
{
	uint32_t path;

	*c = (struct choice){ .path = -1 };
	if (*args->word && !args_dev(args, &c->dev))
		return false;
	if (args_take(args, "conn") && !args_conn(args, &c->conn))
		return false;
	if (c->conn && args_take(args, "path")) {
		if (!args_u32(args, "path", 255, &path))
			return false;
		c->path = path;
	}
	return args_end(args);
}

static int show(struct args *args)
{
	struct choice c;
	struct nl nl;

	if (!take_choice(args, &c))
		return EXIT_USAGE;
	nl_request(&nl, MROCE_CMD_PATH_GET, c.path < 0);
	if (c.dev)
		nl_put_str(&nl, A(DEV_NAME), c.dev);
	if (c.conn)
		nl_put_u32(&nl, A(CONN_ID), c.conn);
	if (c.path >= 0)
		nl_put_u8(&nl, A(ID), c.path);
	return nl_show(&nl, fields, ARRAY_SIZE(fields));
}

/* path_main() - mroce path. Return: exit status. */
int path_main(struct args *args)
{
	static const struct command commands[] = {
		{ "show", show },
	};

	return args_run(args, commands, ARRAY_SIZE(commands), path_usage);
}
