// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_verify, command line. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "verify.h"

#define MROCE_OPS_UNKNOWN 0x80000000

static uint32_t parse_ops(const char *text)
{
	uint32_t mask = 0, i;
	char *copy = strdup(text), *name, *rest = copy;

	while ((name = strsep(&rest, ","))) {
		if (!strcmp(name, "mix"))
			mask |= (1u << mroce_ops_count) - 1;
		for (i = 0; i < mroce_ops_count && strcmp(name, mroce_ops[i].name); i++)
			;
		if (i < mroce_ops_count)
			mask |= 1u << i;
		else if (strcmp(name, "mix"))
			mask |= MROCE_OPS_UNKNOWN;
	}
	free(copy);
	return mask;
}

static void show_usage(void)
{
	fprintf(stderr,
		"usage: mroce_verify [options] [server]\n"
		"  -D, --device NAME     verbs device (first one)\n"
		"  -x, --gid-index N     address (a RoCE v2 IPv4 one)\n"
		"  -6                    choose an IPv6 address\n"
		"  -p, --port PORT       TCP port to meet on (18600)\n"
		"  -t, --deadline S      give up after this time (60)\n"
		"      --events yes|no|solicited   wait for completion events (no)\n"
		"client only, told to the server:\n"
		"  -q, --qps N           queue pairs (1)\n"
		"  -n, --messages N      per queue pair and direction (1000)\n"
		"      --seconds N       go on for this time instead, or until SIGUSR1\n"
		"  -s, --size BYTES      largest message (65536)\n"
		"  -d, --depth N         messages in flight per queue pair (16)\n"
		"  -S, --seed N          of sizes, places and bytes (1)\n"
		"  -o, --ops LIST        of send,send_imm,write,write_imm,read,fadd,cswap,count; mix: all\n"
		"      --sges N          pieces per message, at most (1)\n"
		"      --unsignaled K    every K-th work request is signaled (1)\n"
		"      --inline          send inline what fits\n"
		"      --relaxed         register memory with relaxed ordering\n"
		"      --bidir           both ends send\n"
		"      --rd-atomic N     READs and atomics in flight per queue pair (16)\n"
		"      --vary            sizes, depths and all that are limits, each queue pair has its own\n"
		"      --no-poll         WRITEs are visible by later completions only\n"
		"      --linger MS       wait for late duplicates at the end (200)\n"
		"      --timeout N       local ACK timeout code (18: about 1 s)\n"
		"      --tclass N        traffic class (0)\n"
		"      --retry N         retry count (7)\n");
	exit(2);
}

enum {
	OPT_SGES = 256,
	OPT_UNSIGNALED,
	OPT_INLINE,
	OPT_RELAXED,
	OPT_BIDIR,
	OPT_NO_POLL,
	OPT_LINGER,
	OPT_TIMEOUT,
	OPT_RETRY,
	OPT_TCLASS,
	OPT_EVENTS,
	OPT_SECONDS,
	OPT_RD_ATOMIC,
	OPT_VARY,
};

static const struct option long_options[] = {
	{ "device", 1, NULL, 'D' }, { "gid-index", 1, NULL, 'x' }, { "port", 1, NULL, 'p' },
	{ "deadline", 1, NULL, 't' }, { "qps", 1, NULL, 'q' }, { "messages", 1, NULL, 'n' },
	{ "size", 1, NULL, 's' }, { "depth", 1, NULL, 'd' }, { "seed", 1, NULL, 'S' },
	{ "ops", 1, NULL, 'o' }, { "sges", 1, NULL, OPT_SGES },
	{ "unsignaled", 1, NULL, OPT_UNSIGNALED }, { "inline", 0, NULL, OPT_INLINE },
	{ "relaxed", 0, NULL, OPT_RELAXED }, { "bidir", 0, NULL, OPT_BIDIR },
	{ "no-poll", 0, NULL, OPT_NO_POLL },
	{ "linger", 1, NULL, OPT_LINGER }, { "timeout", 1, NULL, OPT_TIMEOUT },
	{ "tclass", 1, NULL, OPT_TCLASS }, { "retry", 1, NULL, OPT_RETRY },
	{ "events", 1, NULL, OPT_EVENTS },
	{ "seconds", 1, NULL, OPT_SECONDS }, { "rd-atomic", 1, NULL, OPT_RD_ATOMIC },
	{ "vary", 0, NULL, OPT_VARY }, { }
};

static void parse_option(struct mroce_options *options, int opt, const char *arg)
{
	struct mroce_params *p = &options->params;
	uint64_t number = arg ? strtoull(arg, NULL, 0) : 1;

	switch (opt) {
	case 'D':
		options->device = arg;
		break;
	case 'x':
		options->gid_index = number;
		break;
	case '6':
		options->ipv6 = true;
		break;
	case 'p':
		options->port = arg;
		break;
	case 't':
		options->deadline_s = number;
		break;
	case 'q':
		p->qps = number;
		break;
	case 'n':
		p->messages = number;
		break;
	case 's':
		p->max_bytes = number;
		break;
	case 'd':
		p->depth = number;
		break;
	case 'S':
		p->seed = number;
		break;
	case 'o':
		p->ops = parse_ops(arg);
		break;
	case OPT_SGES:
		p->sges = number;
		break;
	case OPT_UNSIGNALED:
		p->unsignaled = number;
		break;
	case OPT_INLINE:
		p->use_inline = true;
		break;
	case OPT_RELAXED:
		p->relaxed = true;
		break;
	case OPT_BIDIR:
		p->bidir = true;
		break;
	case OPT_NO_POLL:
		p->poll = false;
		break;
	case OPT_LINGER:
		p->linger_ms = number;
		break;
	case OPT_TIMEOUT:
		p->timing.timeout = number;
		break;
	case OPT_TCLASS:
		p->timing.traffic_class = number;
		break;
	case OPT_RETRY:
		p->timing.retry_cnt = number;
		break;
	case OPT_EVENTS:
		options->events = !strcmp(arg, "yes") ? MROCE_EVENTS_ALL :
				  !strcmp(arg, "solicited") ? MROCE_EVENTS_SOLICITED :
				  MROCE_EVENTS_NONE;
		break;
	case OPT_SECONDS:
		p->seconds = number;
		p->messages = MROCE_ENDLESS;
		break;
	case OPT_RD_ATOMIC:
		p->timing.rd_atomic = number;
		break;
	case OPT_VARY:
		p->vary = true;
		break;
	default:
		show_usage();
	}
}

/**
 * mroce_options_parse - read the command line
 * @options: filled in
 * @argc: of main()
 * @argv: of main()
 */
void mroce_options_parse(struct mroce_options *options, int argc, char **argv)
{
	const struct mroce_params *p = &options->params;
	int opt;

	*options = (struct mroce_options){
		.port = "18600", .gid_index = -1, .deadline_s = 60,
		.params = {
			.magic = MROCE_VERIFY_MAGIC, .qps = 1, .max_bytes = 65536, .depth = 16,
			.sges = 1, .unsignaled = 1, .poll = 1, .linger_ms = 200, .messages = 1000,
			.seed = 1, .ops = parse_ops("mix"),
			.timing = {
				.timeout = 18, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12,
				.rd_atomic = 16,
			},
		},
	};
	while ((opt = getopt_long(argc, argv, "D:x:6p:t:q:n:s:d:S:o:", long_options, NULL)) != -1)
		parse_option(options, opt, optarg);
	options->host = argv[optind];
	if (!p->qps || p->qps > 4096 || !p->messages || !p->depth || !p->ops ||
	    p->ops & MROCE_OPS_UNKNOWN || !p->sges || p->sges > MROCE_SGES_MAX ||
	    !p->unsignaled || p->unsignaled > p->depth || p->max_bytes > 1u << 30 ||
	    !p->timing.rd_atomic || (!p->poll && !(p->ops & MROCE_OPS_RECV)))
		show_usage();
}
