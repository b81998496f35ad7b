// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects as text or as JSON. Text: one line an object, words and values; statistics in a
 * second line. JSON: one array of everything, numbers as numbers.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <libmnl/libmnl.h>

#include "tool.h"

#define NAMES(...) { \
	.name = (const char *const[]){ __VA_ARGS__ }, \
	.n = ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ })), \
}

/* In the order of their values: linux/mroce.h, rdma/mroce-abi.h */
const struct names ordering_names = NAMES("default", "auto", "strict", "relaxed");
const struct names conn_status_names = NAMES("idle", "hello", "cookie", "open");
const struct names path_status_names = NAMES("probing", "active", "suspect", "failed", "off");
const struct names plane_event_names = NAMES("added", "removed", "up", "down");
const struct names conn_event_names = NAMES("opened", "restarted", "gone");

static unsigned int n_objects;

/* names_find() - value of a name, which may not be shortened. Return: -1 when there is none. */
int names_find(const struct names *names, const char *name)
{
	unsigned int i;

	for (i = 0; i < names->n; i++)
		if (!strcmp(names->name[i], name))
			return i;
	return -1;
}

/* out_begin() - before the first object */
void out_begin(void)
{
	n_objects = 0;
	if (options.json)
		putchar('[');
}

/* out_end() - after the last one */
void out_end(void)
{
	if (options.json)
		fputs(options.pretty && n_objects ? "\n]\n" : "]\n", stdout);
	fflush(stdout);
}

/* A name may hold anything but a zero. */
static void put_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void put_string(const char *s)
{
	if (options.json)
		put_json_string(s);
	else
		fputs(s, stdout);
}

static void put_netdev(uint32_t ifindex)
{
	char name[IF_NAMESIZE];

	/* It may have gone since. */
	if (!if_indextoname(ifindex, name))
		snprintf(name, sizeof(name), "if%u", ifindex);
	put_string(name);
}

static bool is_zero(const struct nlattr *attr)
{
	static const struct in6_addr zero;

	return mnl_attr_get_payload_len(attr) != sizeof(zero) ||
	       !memcmp(mnl_attr_get_payload(attr), &zero, sizeof(zero));
}

static void put_gid(const struct nlattr *attr)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct in6_addr gid = {};

	if (!is_zero(attr))
		memcpy(&gid, mnl_attr_get_payload(attr), sizeof(gid));
	if (!options.json && IN6_IS_ADDR_V4MAPPED(&gid))
		inet_ntop(AF_INET, &gid.s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, &gid, text, sizeof(text));
	put_string(text);
}

static void put_name(const struct names *names, uint64_t value)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, value);
	/* A newer kernel may have more of them. */
	put_string(value < names->n ? names->name[value] : number);
}

static void put_fraction(double fraction)
{
	if (options.json)
		printf("%.6f", fraction);
	else
		printf("%.4g%%", fraction * 100);
}

static void put_ratio(const struct field *f, const struct nlattr *const *attrs)
{
	uint64_t whole = nl_uint(attrs[f->of]);

	put_fraction(whole ? (double)nl_uint(attrs[f->attr]) / whole : 0);
}

static void put_value(const struct field *f, const struct nlattr *const *attrs)
{
	const struct nlattr *attr = attrs[f->attr];

	switch (f->kind) {
	case OUT_UINT:
		printf("%" PRIu64, nl_uint(attr));
		break;
	case OUT_STRING:
		put_string(mnl_attr_get_str(attr));
		break;
	case OUT_NETDEV:
		put_netdev(nl_uint(attr));
		break;
	case OUT_GID:
		put_gid(attr);
		break;
	case OUT_NAME:
		put_name(f->names, nl_uint(attr));
		break;
	case OUT_BOOL:
		if (options.json)
			fputs(nl_uint(attr) ? "true" : "false", stdout);
		else
			fputs(nl_uint(attr) ? "yes" : "no", stdout);
		break;
	case OUT_NS:
		if (options.json)
			printf("%" PRIu64, nl_uint(attr));
		else
			printf("%.1fus", nl_uint(attr) / 1000.0);
		break;
	case OUT_PPM:
		put_fraction(nl_uint(attr) / 1e6);
		break;
	case OUT_RATIO:
		put_ratio(f, attrs);
		break;
	}
}

static bool is_shown(const struct field *f, const struct nlattr *const *attrs)
{
	if (!attrs[f->attr] || (f->statistic && !options.statistics))
		return false;
	if (f->kind == OUT_RATIO && !attrs[f->of])
		return false;
	return f->kind != OUT_GID || options.json || !is_zero(attrs[f->attr]);
}

static void put_object_json(const char *type, const struct field *fields, unsigned int n,
			    const struct nlattr *const *attrs)
{
	const char *indent = options.pretty ? "\n        " : " ";
	unsigned int i, shown = 0;

	fputs(n_objects ? "," : "", stdout);
	fputs(options.pretty ? "\n    {" : "{", stdout);
	if (type) {
		printf("%s\"type\": ", indent);
		put_json_string(type);
		shown++;
	}
	for (i = 0; i < n; i++) {
		if (!is_shown(&fields[i], attrs))
			continue;
		printf("%s%s\"%s\": ", shown++ ? "," : "", indent, fields[i].json);
		put_value(&fields[i], attrs);
	}
	fputs(options.pretty ? "\n    }" : " }", stdout);
}

static void put_object_text(const char *type, const struct field *fields, unsigned int n,
			    const struct nlattr *const *attrs)
{
	bool statistic = false;
	unsigned int i;

	fputs(type ? type : "", stdout);
	for (i = 0; i < n; i++) {
		if (!is_shown(&fields[i], attrs))
			continue;
		if (i || type)
			fputs(fields[i].statistic && !statistic ? "\n    " : " ", stdout);
		statistic = fields[i].statistic;
		if (fields[i].text)
			printf("%s ", fields[i].text);
		put_value(&fields[i], attrs);
	}
	putchar('\n');
}

/* out_object() - one more object; @type: what it is, where there are several kinds, or NULL */
void out_object(const char *type, const struct field *fields, unsigned int n,
		const struct nlattr *const *attrs)
{
	if (options.json)
		put_object_json(type, fields, n, attrs);
	else
		put_object_text(type, fields, n, attrs);
	n_objects++;
}
