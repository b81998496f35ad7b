// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests to the kernel and what comes back: answers, refusals with their texts, events. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/genetlink.h>
#include <libmnl/libmnl.h>

#include "tool.h"

/* As much as a kernel puts in one message of a dump, and more */
#define RECV_BYTES	65536

/* A kernel that does not answer at all is not waited for. */
#define ANSWER_S	30

/* Number of the only request; events have none. */
#define REQUEST_SEQ	1
#define EVENT_SEQ	0

static int complain(const char *text, int err)
{
	if (text && err)
		fprintf(stderr, "mroce: %s (%s)\n", text, strerror(err));
	else
		fprintf(stderr, "mroce: %s\n", text ? text : strerror(err));
	return EXIT_REFUSED;
}

/* nl_uint() - value of a number of any size */
uint64_t nl_uint(const struct nlattr *attr)
{
	switch (mnl_attr_get_payload_len(attr)) {
	case 1:
		return mnl_attr_get_u8(attr);
	case 2:
		return mnl_attr_get_u16(attr);
	case 4:
		return mnl_attr_get_u32(attr);
	case 8:
		return mnl_attr_get_u64(attr);
	}
	return 0;
}

static struct nlmsghdr *put_header(char *buf, uint16_t flags, uint8_t cmd, uint8_t version)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_flags = NLM_F_REQUEST | flags;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return msg;
}

/* nl_request() - begin a request; attributes follow, then nl_run() or nl_show() */
void nl_request(struct nl *nl, uint8_t cmd, bool dump)
{
	memset(nl, 0, sizeof(*nl));
	nl->request = put_header(nl->buf, dump ? NLM_F_DUMP : NLM_F_ACK, cmd,
				 MROCE_FAMILY_VERSION);
}

/* nl_put_str() - append an attribute, terminated */
void nl_put_str(struct nl *nl, uint16_t attr, const char *value)
{
	mnl_attr_put_strz(nl->request, attr, value);
}

/* nl_put_u32() - the same */
void nl_put_u32(struct nl *nl, uint16_t attr, uint32_t value)
{
	mnl_attr_put_u32(nl->request, attr, value);
}

/* nl_put_u8() - the same */
void nl_put_u8(struct nl *nl, uint16_t attr, uint8_t value)
{
	mnl_attr_put_u8(nl->request, attr, value);
}

static int find_text(const struct nlattr *attr, void *text)
{
	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG &&
	    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
		*(const char **)text = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

/* The end of an answer: an acknowledgment, a refusal, or the end of a dump. Return: status. */
static int take_end(const struct nlmsghdr *msg)
{
	const struct nlmsgerr *refusal = mnl_nlmsg_get_payload(msg);
	unsigned int at = sizeof(int);
	const char *text = NULL;
	int err;

	if (mnl_nlmsg_get_payload_len(msg) < sizeof(int))
		return complain("a short message from the kernel", 0);
	err = *(const int *)mnl_nlmsg_get_payload(msg);
	if (err >= 0)
		return EXIT_OK;
	if (msg->nlmsg_type == NLMSG_ERROR) {
		at = sizeof(*refusal);
		if (!(msg->nlmsg_flags & NLM_F_CAPPED))
			at += mnl_nlmsg_get_payload_len(&refusal->msg);
	}
	if (msg->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(msg, at, find_text, &text);
	return complain(text, -err);
}

struct attrs {
	const struct nlattr *attr[MAX_ATTR + 1];
	uint16_t max;
};

static int take_attr(const struct nlattr *attr, void *arg)
{
	struct attrs *attrs = arg;

	/* A newer kernel may tell more. */
	if (mnl_attr_get_type(attr) <= attrs->max)
		attrs->attr[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static void take_answer(const struct nlmsghdr *msg, nl_show_fn *show, void *arg)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(msg);
	struct attrs attrs = { .max = MAX_ATTR };

	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*genl))
		return;
	mnl_attr_parse(msg, sizeof(*genl), take_attr, &attrs);
	if (show)
		show(genl->cmd, attrs.attr, arg);
}

/*
 * Take what was received. Return: exit status when the answer is complete, -1 when there is
 * more of it to come.
 */
static int take(const char *buf, int len, uint32_t seq, nl_show_fn *show, void *arg)
{
	const struct nlmsghdr *msg;

	for (msg = (const struct nlmsghdr *)buf; mnl_nlmsg_ok(msg, len);
	     msg = mnl_nlmsg_next(msg, &len)) {
		if (msg->nlmsg_seq != seq)
			continue;
		if (msg->nlmsg_type == NLMSG_DONE || msg->nlmsg_type == NLMSG_ERROR)
			return take_end(msg);
		if (msg->nlmsg_type >= NLMSG_MIN_TYPE)
			take_answer(msg, show, arg);
	}
	return -1;
}

static int find_group(const struct nlattr *attr, void *arg)
{
	const struct nlattr *item;
	struct nl *nl = arg;
	const char *name = "";
	uint32_t id = 0;

	mnl_attr_for_each_nested(item, attr) {
		if (mnl_attr_get_type(item) == CTRL_ATTR_MCAST_GRP_NAME)
			name = mnl_attr_get_str(item);
		if (mnl_attr_get_type(item) == CTRL_ATTR_MCAST_GRP_ID)
			id = mnl_attr_get_u32(item);
	}
	if (!strcmp(name, MROCE_MCGRP_MONITOR))
		nl->group = id;
	return MNL_CB_OK;
}

static int take_family(const struct nlattr *attr, void *arg)
{
	struct nl *nl = arg;

	if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
		nl->family = mnl_attr_get_u16(attr);
	if (mnl_attr_get_type(attr) == CTRL_ATTR_MCAST_GROUPS)
		mnl_attr_parse_nested(attr, find_group, nl);
	return MNL_CB_OK;
}

/* The number of the family, which the kernel has chosen when the module was loaded */
static bool find_family(struct nl *nl)
{
	char buf[8192] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *msg = put_header(buf, 0, CTRL_CMD_GETFAMILY, 1);
	int len;

	msg->nlmsg_type = GENL_ID_CTRL;
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, MROCE_FAMILY_NAME);
	if (mnl_socket_sendto(nl->socket, msg, msg->nlmsg_len) < 0)
		return false;
	len = mnl_socket_recvfrom(nl->socket, buf, sizeof(buf));
	if (len > 0 && mnl_nlmsg_ok(msg, len) && msg->nlmsg_type == GENL_ID_CTRL)
		mnl_attr_parse(msg, sizeof(struct genlmsghdr), take_family, nl);
	return nl->family;
}

static void close_socket(struct nl *nl)
{
	if (nl->socket)
		mnl_socket_close(nl->socket);
	nl->socket = NULL;
}

/* Connect to the kernel's side. Return: false after a complaint. */
static bool open_socket(struct nl *nl)
{
	struct timeval patience = { .tv_sec = ANSWER_S };
	int one = 1;

	nl->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->socket || mnl_socket_bind(nl->socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		complain("cannot open a netlink socket", errno);
		close_socket(nl);
		return false;
	}
	/* Texts of refusals; a kernel without them gives numbers. */
	mnl_socket_setsockopt(nl->socket, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->socket, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(mnl_socket_get_fd(nl->socket), SOL_SOCKET, SO_RCVTIMEO, &patience,
		   sizeof(patience));
	if (find_family(nl))
		return true;
	complain("the module mroce is not loaded: modprobe mroce", 0);
	close_socket(nl);
	return false;
}

static int run(struct nl *nl, nl_show_fn *show, void *arg)
{
	static char buf[RECV_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	int status = -1;
	ssize_t len;

	nl->request->nlmsg_type = nl->family;
	nl->request->nlmsg_seq = REQUEST_SEQ;
	if (mnl_socket_sendto(nl->socket, nl->request, nl->request->nlmsg_len) < 0)
		return complain("cannot ask the kernel", errno);
	while (status < 0) {
		len = mnl_socket_recvfrom(nl->socket, buf, sizeof(buf));
		if (len < 0)
			return complain("no answer of the kernel", errno);
		status = take(buf, len, REQUEST_SEQ, show, arg);
	}
	return status;
}

/* nl_run() - ask the kernel. Return: exit status. */
int nl_run(struct nl *nl, nl_show_fn *show, void *arg)
{
	int status = EXIT_REFUSED;

	if (open_socket(nl))
		status = run(nl, show, arg);
	close_socket(nl);
	return status;
}

/* What nl_show() shows */
struct shown {
	const struct field *fields;
	unsigned int n;
};

static void show_object(uint8_t cmd, const struct nlattr *const *attrs, void *arg)
{
	const struct shown *shown = arg;

	(void)cmd;
	out_object(NULL, shown->fields, shown->n, attrs);
}

/* nl_show() - ask the kernel for objects and show them. Return: exit status. */
int nl_show(struct nl *nl, const struct field *fields, unsigned int n)
{
	struct shown shown = { fields, n };
	int status;

	out_begin();
	status = nl_run(nl, show_object, &shown);
	out_end();
	return status;
}

static int listen_to(struct nl *nl, nl_show_fn *show)
{
	static char buf[RECV_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct timeval forever = {};
	int len;

	if (mnl_socket_setsockopt(nl->socket, NETLINK_ADD_MEMBERSHIP, &nl->group,
				  sizeof(nl->group)) < 0)
		return complain("cannot listen", errno);
	setsockopt(mnl_socket_get_fd(nl->socket), SOL_SOCKET, SO_RCVTIMEO, &forever,
		   sizeof(forever));
	for (;;) {
		len = mnl_socket_recvfrom(nl->socket, buf, sizeof(buf));
		if (len >= 0)
			take(buf, len, EVENT_SEQ, show, NULL);
		else if (errno == EINTR)
			return EXIT_OK;
		else if (errno == ENOBUFS)
			complain("events were lost", 0);
		else
			return complain("cannot listen", errno);
		fflush(stdout);
	}
}

/* nl_listen() - show events until a signal comes. Return: exit status. */
int nl_listen(nl_show_fn *show)
{
	int status = EXIT_REFUSED;
	struct nl nl = {};

	if (open_socket(&nl))
		status = listen_to(&nl, show);
	close_socket(&nl);
	return status;
}
