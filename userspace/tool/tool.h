/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * mroce: looks at mroce devices and changes them, by the generic netlink family "mroce".
 *
 *	main.c		options, objects
 *	args.c		words of the command line
 *	nl.c		requests and answers
 *	out.c		text and JSON
 *	dev.c, plane.c, conn.c, path.c, link.c, monitor.c	one object each
 */
#ifndef MROCE_TOOL_H
#define MROCE_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/netlink.h>
#include <linux/mroce.h>

/* Exit status */
enum {
	EXIT_OK,
	EXIT_USAGE,	/* the command line makes no sense */
	EXIT_REFUSED,	/* the kernel does not want to, or cannot be asked */
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/** struct options - what precedes the object */
struct options {
	bool json;
	bool pretty;
	bool statistics;
};

extern struct options options;

/* ---- args.c ---------------------------------------------------------------------------- */

/** struct args - words not looked at yet; the array ends with NULL */
struct args {
	char **word;
};

/** struct command - a word and what it does; the first one is the default */
struct command {
	const char *name;
	int (*run)(struct args *args);
};

bool args_take(struct args *args, const char *keyword);
const char *args_word(struct args *args, const char *what);
bool args_u32(struct args *args, const char *what, uint32_t max, uint32_t *value);
bool args_conn(struct args *args, uint32_t *number);
bool args_dev(struct args *args, const char **dev);
bool args_netdev(struct args *args, uint32_t *ifindex);
bool args_end(const struct args *args);
int args_run(struct args *args, const struct command *commands, unsigned int n,
	     const char *usage);
int usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- out.c ----------------------------------------------------------------------------- */

/** enum kind - how an attribute is shown */
enum kind {
	OUT_UINT,	/* a number of any size */
	OUT_STRING,
	OUT_NETDEV,	/* an interface index, shown as its name */
	OUT_GID,	/* an address; IPv4 as such in text, none if it is zero */
	OUT_NAME,	/* a number with a name, from .names */
	OUT_BOOL,
	OUT_NS,		/* nanoseconds; microseconds in text */
	OUT_PPM,	/* millionths; a fraction in JSON, percent in text */
	OUT_RATIO,	/* .attr divided by .of, as a fraction or percent */
};

/** struct names - names of the values of an enum */
struct names {
	unsigned int n;
	const char *const *name;
};

/**
 * struct field - one attribute of an object
 * @attr: its number
 * @of: OUT_RATIO: the other one
 * @statistic: with -s only, in a line of its own
 * @kind: how
 * @text: its word in text; NULL: the value alone
 * @json: its name in JSON
 * @names: OUT_NAME
 */
struct field {
	uint16_t attr;
	uint16_t of;
	bool statistic;
	enum kind kind;
	const char *text;
	const char *json;
	const struct names *names;
};

extern const struct names ordering_names;
extern const struct names conn_status_names;
extern const struct names path_status_names;
extern const struct names plane_event_names;
extern const struct names conn_event_names;

void out_begin(void);
void out_end(void);
void out_object(const char *type, const struct field *fields, unsigned int n,
		const struct nlattr *const *attrs);
int names_find(const struct names *names, const char *name);

/* ---- nl.c ------------------------------------------------------------------------------ */

/** Attributes of a message by number; as many as the largest set has */
#define MAX_ATTR	MROCE_A_PATH_MAX

/** struct nl - a request, and the connection to the kernel while it is asked */
struct nl {
	struct mnl_socket *socket;
	struct nlmsghdr *request;
	uint16_t family;
	uint32_t group;
	/* whole pages of attributes are never needed */
	char buf[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
};

typedef void nl_show_fn(uint8_t cmd, const struct nlattr *const *attrs, void *arg);

void nl_request(struct nl *nl, uint8_t cmd, bool dump);
void nl_put_str(struct nl *nl, uint16_t attr, const char *value);
void nl_put_u32(struct nl *nl, uint16_t attr, uint32_t value);
void nl_put_u8(struct nl *nl, uint16_t attr, uint8_t value);
int nl_run(struct nl *nl, nl_show_fn *show, void *arg);
int nl_show(struct nl *nl, const struct field *fields, unsigned int n);
int nl_listen(nl_show_fn *show);
uint64_t nl_uint(const struct nlattr *attr);

/* ---- objects --------------------------------------------------------------------------- */

extern const char dev_usage[];
extern const char plane_usage[];
extern const char conn_usage[];
extern const char path_usage[];
extern const char link_usage[];
extern const char monitor_usage[];

int dev_main(struct args *args);
int plane_main(struct args *args);
int conn_main(struct args *args);
int path_main(struct args *args);
int link_main(struct args *args);
int monitor_main(struct args *args);

#endif /* MROCE_TOOL_H */
