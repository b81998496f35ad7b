// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce monitor: what changes, as it does, until a signal ends it */
#include <signal.h>
#include <stdio.h>

#include "tool.h"

const char monitor_usage[] =
	"Usage: mroce monitor\n";

static const struct field plane_fields[] = {
	{ MROCE_A_PLANE_DEV_NAME, .kind = OUT_STRING, .json = "dev" },
	{ MROCE_A_PLANE_IFINDEX, .kind = OUT_NETDEV, .text = "plane", .json = "netdev" },
	{ MROCE_A_PLANE_LABEL, .kind = OUT_UINT, .text = "label", .json = "label" },
	{ MROCE_A_PLANE_EVENT, .kind = OUT_NAME, .json = "event", .names = &plane_event_names },
};

static const struct field conn_fields[] = {
	{ MROCE_A_CONN_DEV_NAME, .kind = OUT_STRING, .json = "dev" },
	{ MROCE_A_CONN_ID, .kind = OUT_UINT, .text = "conn", .json = "conn" },
	{ MROCE_A_CONN_LOCAL, .kind = OUT_GID, .text = "local", .json = "local" },
	{ MROCE_A_CONN_REMOTE, .kind = OUT_GID, .text = "remote", .json = "remote" },
	{ MROCE_A_CONN_DSCP, .kind = OUT_UINT, .text = "dscp", .json = "dscp" },
	{ MROCE_A_CONN_EVENT, .kind = OUT_NAME, .json = "event", .names = &conn_event_names },
};

static const struct field path_fields[] = {
	{ MROCE_A_PATH_DEV_NAME, .kind = OUT_STRING, .json = "dev" },
	{ MROCE_A_PATH_CONN_ID, .kind = OUT_UINT, .text = "conn", .json = "conn" },
	{ MROCE_A_PATH_ID, .kind = OUT_UINT, .text = "path", .json = "path" },
	{ MROCE_A_PATH_PLANE, .kind = OUT_UINT, .text = "plane", .json = "plane" },
	{ MROCE_A_PATH_OLD_STATE, .kind = OUT_NAME, .text = "from", .json = "from",
	  .names = &path_status_names },
	{ MROCE_A_PATH_STATE, .kind = OUT_NAME, .text = "state", .json = "state",
	  .names = &path_status_names },
	{ MROCE_A_PATH_SOURCE_PORT, .kind = OUT_UINT, .text = "sport", .json = "source_port" },
};

static void show_one(uint8_t cmd, const struct nlattr *const *attrs, void *arg)
{
	(void)arg;
	switch (cmd) {
	case MROCE_CMD_PLANE_NTF:
		out_object("plane", plane_fields, ARRAY_SIZE(plane_fields), attrs);
		break;
	case MROCE_CMD_CONN_NTF:
		out_object("conn", conn_fields, ARRAY_SIZE(conn_fields), attrs);
		break;
	case MROCE_CMD_PATH_NTF:
		out_object("path", path_fields, ARRAY_SIZE(path_fields), attrs);
		break;
	}
}

/* Nothing to do: reading ends with EINTR. */
static void interrupt(int sig)
{
	(void)sig;
}

/* monitor_main() - mroce monitor. Return: exit status. */
int monitor_main(struct args *args)
{
	/* Without SA_RESTART */
	struct sigaction action = { .sa_handler = interrupt };
	int status;

	if (args_take(args, "help")) {
		fputs(monitor_usage, stdout);
		return EXIT_OK;
	}
	if (!args_end(args))
		return EXIT_USAGE;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	out_begin();
	status = nl_listen(show_one);
	out_end();
	return status;
}
