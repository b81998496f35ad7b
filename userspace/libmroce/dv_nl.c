// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A netlink socket and what comes back by it. The kernel works on a request while it is sent,
 * so its answer is there; the time limit is for a kernel that breaks this.
 */
#include "dv_nl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/mroce.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define REQUEST_BYTES	256
/* As much as the kernel puts in one message for a reader with room for as much */
#define ANSWER_BYTES	16384
#define ANSWER_S	10

/*
 * struct mroce_nl
 * @family: number of the family, as the kernel chose it when the module was loaded
 * @seq: of the last request
 */
struct mroce_nl {
	int fd;
	uint16_t family;
	uint32_t seq;
	char request[REQUEST_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	char answer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* mroce_nl_uint() - an attribute that is a number, of whatever size */
uint64_t mroce_nl_uint(const struct nlattr *attr)
{
	const void *data = (const char *)attr + NLA_HDRLEN;
	uint64_t u64 = 0;
	uint32_t u32;
	uint16_t u16;

	switch (attr->nla_len - NLA_HDRLEN) {
	case 1:
		return *(const uint8_t *)data;
	case 2:
		memcpy(&u16, data, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, data, sizeof(u32));
		return u32;
	case 8:
		memcpy(&u64, data, sizeof(u64));
	}
	return u64;
}

/* mroce_nl_bytes() - copy an attribute, as far as there is room. Return: bytes copied. */
size_t mroce_nl_bytes(const struct nlattr *attr, void *data, size_t bytes)
{
	size_t there = attr->nla_len - NLA_HDRLEN;

	if (bytes > there)
		bytes = there;
	memcpy(data, (const char *)attr + NLA_HDRLEN, bytes);
	return bytes;
}

/* Build and send a request. Return: 0 or an errno. */
static int ask(struct mroce_nl *nl, uint16_t type, uint16_t flags, uint8_t command,
	       const struct mroce_nl_put *put, size_t n_put)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)nl->request;
	struct genlmsghdr *genl = NLMSG_DATA(hdr);
	struct nlattr *attr;

	memset(nl->request, 0, sizeof(nl->request));
	*hdr = (struct nlmsghdr) {
		.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN),
		.nlmsg_type = type,
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = ++nl->seq,
	};
	*genl = (struct genlmsghdr) { .cmd = command, .version = MROCE_FAMILY_VERSION };
	for (; n_put; n_put--, put++) {
		if (hdr->nlmsg_len + NLA_HDRLEN + NLA_ALIGN(put->bytes) > REQUEST_BYTES)
			return E2BIG;
		attr = (struct nlattr *)(nl->request + hdr->nlmsg_len);
		attr->nla_type = put->type;
		attr->nla_len = NLA_HDRLEN + put->bytes;
		memcpy((char *)attr + NLA_HDRLEN, put->data, put->bytes);
		hdr->nlmsg_len += NLA_HDRLEN + NLA_ALIGN(put->bytes);
	}
	if (send(nl->fd, hdr, hdr->nlmsg_len, 0) != (ssize_t)hdr->nlmsg_len)
		return errno;
	return 0;
}

/* Return: bytes of one message of the kernel, or a negative errno. */
static ssize_t receive(struct mroce_nl *nl)
{
	struct sockaddr_nl from;
	socklen_t from_bytes;
	ssize_t len;

	do {
		from = (struct sockaddr_nl) {};
		from_bytes = sizeof(from);
		len = recvfrom(nl->fd, nl->answer, sizeof(nl->answer), MSG_TRUNC,
			       (struct sockaddr *)&from, &from_bytes);
		/* nl_pid: another process than the kernel */
	} while (len < 0 ? errno == EINTR : from.nl_pid);
	if (len < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	return len > (ssize_t)sizeof(nl->answer) ? -EMSGSIZE : len;
}

static void sort_attrs(const struct nlmsghdr *hdr, struct mroce_nl_answer *answer)
{
	size_t at = NLMSG_LENGTH(GENL_HDRLEN);
	const struct nlattr *attr;
	uint16_t type;

	memset(answer, 0, sizeof(*answer));
	while (at + NLA_HDRLEN <= hdr->nlmsg_len) {
		attr = (const struct nlattr *)((const char *)hdr + at);
		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > hdr->nlmsg_len - at)
			return;
		type = attr->nla_type & NLA_TYPE_MASK;
		if (type <= MROCE_NL_MAX_ATTR)
			answer->attr[type] = attr;
		at += NLA_ALIGN(attr->nla_len);
	}
}

/* The end of an answer begins with an errno, negative. */
static int take_end(const struct nlmsghdr *hdr)
{
	int err;

	if (hdr->nlmsg_len < NLMSG_LENGTH(sizeof(err)))
		return EPROTO;
	memcpy(&err, NLMSG_DATA(hdr), sizeof(err));
	return err < 0 ? -err : 0;
}

/* Return: 0 or an errno when the answer is complete, -1 when there is more to come. */
static int take_answer(struct mroce_nl *nl, size_t len, mroce_nl_take_fn *take, void *arg)
{
	struct mroce_nl_answer answer;
	const struct nlmsghdr *hdr;
	size_t at = 0;

	while (len - at >= NLMSG_HDRLEN) {
		hdr = (const struct nlmsghdr *)(nl->answer + at);
		if (hdr->nlmsg_len < NLMSG_HDRLEN || hdr->nlmsg_len > len - at)
			return EPROTO;
		at += NLMSG_ALIGN(hdr->nlmsg_len) < len - at ? NLMSG_ALIGN(hdr->nlmsg_len) :
							       len - at;
		if (hdr->nlmsg_seq != nl->seq)
			continue;
		if (hdr->nlmsg_type == NLMSG_DONE || hdr->nlmsg_type == NLMSG_ERROR)
			return take_end(hdr);
		if (hdr->nlmsg_type < NLMSG_MIN_TYPE)
			continue;
		sort_attrs(hdr, &answer);
		take(&answer, arg);
	}
	return -1;
}

static int take_all(struct mroce_nl *nl, mroce_nl_take_fn *take, void *arg)
{
	ssize_t len;
	int ret;

	do {
		len = receive(nl);
		if (len < 0)
			return (int)-len;
		ret = take_answer(nl, (size_t)len, take, arg);
	} while (ret < 0);
	return ret;
}

/*
 * mroce_nl_dump() - ask for objects
 * @command: enum of linux/mroce.h
 * @put: which ones, @n_put attributes
 * @take: is given each of them
 *
 * Return: 0 or an errno.
 */
int mroce_nl_dump(struct mroce_nl *nl, uint8_t command, const struct mroce_nl_put *put,
		  size_t n_put, mroce_nl_take_fn *take, void *arg)
{
	int ret = ask(nl, nl->family, NLM_F_DUMP, command, put, n_put);

	return ret ? ret : take_all(nl, take, arg);
}

static void take_family(const struct mroce_nl_answer *answer, void *arg)
{
	struct mroce_nl *nl = arg;

	if (answer->attr[CTRL_ATTR_FAMILY_ID])
		nl->family = (uint16_t)mroce_nl_uint(answer->attr[CTRL_ATTR_FAMILY_ID]);
}

/* With an acknowledgment, so that the answer has an end as a dump has */
static int find_family(struct mroce_nl *nl)
{
	const struct mroce_nl_put name = {
		CTRL_ATTR_FAMILY_NAME, sizeof(MROCE_FAMILY_NAME), MROCE_FAMILY_NAME,
	};
	int ret = ask(nl, GENL_ID_CTRL, NLM_F_ACK, CTRL_CMD_GETFAMILY, &name, 1);

	if (!ret)
		ret = take_all(nl, take_family, nl);
	/* The module is of a time before there was the family. */
	return ret == ENOENT || (!ret && !nl->family) ? EOPNOTSUPP : ret;
}

/*
 * mroce_nl_open() - connect to the family
 *
 * Return: NULL and errno: EOPNOTSUPP when there is no such family, or what the socket answers.
 */
struct mroce_nl *mroce_nl_open(void)
{
	struct timeval patience = { .tv_sec = ANSWER_S };
	struct mroce_nl *nl = calloc(1, sizeof(*nl));
	int ret;

	if (!nl)
		return NULL;
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0) {
		ret = errno;
		goto err_free;
	}
	setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	ret = find_family(nl);
	if (!ret)
		return nl;
	close(nl->fd);
err_free:
	free(nl);
	errno = ret;
	return NULL;
}

/* mroce_nl_close() - undo mroce_nl_open() */
void mroce_nl_close(struct mroce_nl *nl)
{
	close(nl->fd);
	free(nl);
}
