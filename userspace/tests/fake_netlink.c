// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_netlink.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FAMILY_ID	31
#define OTHER_PROCESS	4711

struct fake_netlink fake_netlink;

/* What comes next by the socket */
enum turn { TURN_STRANGER, TURN_STALE, TURN_OBJECTS, TURN_NOTHING };

static enum turn turn = TURN_NOTHING;
static int netlink_fd = -1;
static uint32_t request_seq;
static struct fake_dump *objects;
static size_t objects_at;
static struct fake_dump family;
static int end_type;
static int end_error;

void fake_netlink_reset(void)
{
	memset(&fake_netlink, 0, sizeof(fake_netlink));
	fake_netlink.has_family = true;
	turn = TURN_NOTHING;
}

static void *extend(struct fake_dump *dump, size_t bytes)
{
	void *end = dump->data + dump->used;

	if (dump->used + NLMSG_ALIGN(bytes) > sizeof(dump->data))
		abort();
	memset(end, 0, NLMSG_ALIGN(bytes));
	dump->used += NLMSG_ALIGN(bytes);
	return end;
}

static struct nlmsghdr *last_message(struct fake_dump *dump)
{
	return (struct nlmsghdr *)(void *)(dump->data + dump->last);
}

/* fake_message - begin the next message of an answer */
void fake_message(struct fake_dump *dump, uint8_t command)
{
	struct nlmsghdr *hdr;
	struct genlmsghdr *genl;

	dump->last = dump->used;
	hdr = extend(dump, NLMSG_HDRLEN);
	genl = extend(dump, GENL_HDRLEN);
	hdr->nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	hdr->nlmsg_type = FAMILY_ID;
	hdr->nlmsg_flags = NLM_F_MULTI;
	genl->cmd = command;
	genl->version = MROCE_FAMILY_VERSION;
}

/* fake_attr - append an attribute to the last message */
void fake_attr(struct fake_dump *dump, uint16_t type, const void *data, size_t bytes)
{
	struct nlattr *attr = extend(dump, NLA_HDRLEN + bytes);

	attr->nla_type = type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + bytes);
	memcpy(attr + 1, data, bytes);
	last_message(dump)->nlmsg_len += NLA_HDRLEN + NLA_ALIGN(bytes);
}

void fake_u8(struct fake_dump *dump, uint16_t type, uint8_t value)
{
	fake_attr(dump, type, &value, sizeof(value));
}

void fake_u16(struct fake_dump *dump, uint16_t type, uint16_t value)
{
	fake_attr(dump, type, &value, sizeof(value));
}

void fake_u32(struct fake_dump *dump, uint16_t type, uint32_t value)
{
	fake_attr(dump, type, &value, sizeof(value));
}

void fake_u64(struct fake_dump *dump, uint16_t type, uint64_t value)
{
	fake_attr(dump, type, &value, sizeof(value));
}

static struct nlattr *find_attr(struct nlmsghdr *hdr, uint16_t type)
{
	size_t at = NLMSG_LENGTH(GENL_HDRLEN);
	struct nlattr *attr;

	for (; at < hdr->nlmsg_len; at += NLA_ALIGN(attr->nla_len)) {
		attr = (struct nlattr *)(void *)((char *)hdr + at);
		if (attr->nla_type == type)
			return attr;
	}
	return NULL;
}

/* fake_last_attr - an attribute of the last message, to be spoiled */
struct nlattr *fake_last_attr(struct fake_dump *dump, uint16_t type)
{
	return find_attr(last_message(dump), type);
}

int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK || protocol != NETLINK_GENERIC)
		return (int)syscall(SYS_socket, domain, type, protocol);
	if (fake_netlink.socket_errno) {
		errno = fake_netlink.socket_errno;
		return -1;
	}
	fake_netlink.sockets++;
	netlink_fd = memfd_create("netlink", 0);
	return netlink_fd;
}

static void answer_family(void)
{
	memset(&family, 0, sizeof(family));
	fake_message(&family, CTRL_CMD_NEWFAMILY);
	fake_attr(&family, CTRL_ATTR_FAMILY_NAME, MROCE_FAMILY_NAME, sizeof(MROCE_FAMILY_NAME));
	fake_u16(&family, CTRL_ATTR_FAMILY_ID, FAMILY_ID);
	objects = &family;
	end_type = NLMSG_ERROR;
	end_error = 0;
	if (!fake_netlink.has_family) {
		objects = NULL;
		end_error = ENOENT;
	}
}

static void note_request(struct nlmsghdr *hdr)
{
	struct nlattr *attr;

	fake_netlink.dumps++;
	attr = find_attr(hdr, MROCE_A_PATH_DEV_INDEX);
	fake_netlink.device_index = attr ? (int64_t)*(uint32_t *)(void *)(attr + 1) : -1;
	attr = find_attr(hdr, MROCE_A_PATH_DEV_NAME);
	memset(fake_netlink.device_name, 0, sizeof(fake_netlink.device_name));
	if (attr && attr->nla_len - NLA_HDRLEN <= (int)sizeof(fake_netlink.device_name))
		memcpy(fake_netlink.device_name, attr + 1, attr->nla_len - NLA_HDRLEN);
	attr = find_attr(hdr, MROCE_A_PATH_CONN_ID);
	fake_netlink.conn_id = attr ? *(uint32_t *)(void *)(attr + 1) : 0;
}

static void answer_dump(struct nlmsghdr *hdr, uint8_t command)
{
	note_request(hdr);
	objects = command == MROCE_CMD_PATH_GET ? &fake_netlink.paths :
		  command == MROCE_CMD_CONN_GET ? &fake_netlink.conns : NULL;
	end_type = fake_netlink.refusal ? NLMSG_ERROR : NLMSG_DONE;
	end_error = fake_netlink.refusal ? fake_netlink.refusal : fake_netlink.end;
	if (fake_netlink.refusal)
		objects = NULL;
}

ssize_t send(int fd, const void *buf, size_t bytes, int flags)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)(uintptr_t)buf;
	const struct genlmsghdr *genl = NLMSG_DATA(hdr);

	if (fd != netlink_fd)
		return syscall(SYS_sendto, fd, buf, bytes, flags, NULL, 0);
	/* An answer that was not read to its end is in the way of the next one. */
	if (turn != TURN_NOTHING || hdr->nlmsg_len != bytes) {
		errno = EBUSY;
		return -1;
	}
	request_seq = hdr->nlmsg_seq;
	objects_at = 0;
	turn = fake_netlink.is_mute ? TURN_NOTHING : TURN_STRANGER;
	if (hdr->nlmsg_type == GENL_ID_CTRL && (hdr->nlmsg_flags & NLM_F_ACK))
		answer_family();
	else if (hdr->nlmsg_type == FAMILY_ID && (hdr->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP)
		answer_dump(hdr, genl->cmd);
	else
		turn = TURN_NOTHING;
	return (ssize_t)bytes;
}

static size_t put_end(void *buf, int type, int error, uint32_t seq)
{
	struct nlmsghdr *hdr = buf;
	int err = -error;

	*hdr = (struct nlmsghdr) {
		.nlmsg_len = NLMSG_LENGTH(sizeof(err)), .nlmsg_type = (uint16_t)type,
		.nlmsg_seq = seq,
	};
	memcpy(NLMSG_DATA(hdr), &err, sizeof(err));
	return hdr->nlmsg_len;
}

/* Two messages at a time, as far as there are */
static size_t put_objects(char *buf)
{
	size_t used = 0;
	int i;

	for (i = 0; i < 2 && objects && objects_at < objects->used; i++) {
		struct nlmsghdr *hdr = (void *)(objects->data + objects_at);

		hdr->nlmsg_seq = request_seq;
		memcpy(buf + used, hdr, NLMSG_ALIGN(hdr->nlmsg_len));
		used += NLMSG_ALIGN(hdr->nlmsg_len);
		objects_at += NLMSG_ALIGN(hdr->nlmsg_len);
	}
	return used;
}

static size_t put_next(char *buf)
{
	size_t bytes;

	switch (turn) {
	case TURN_STRANGER:
		turn = TURN_STALE;
		return put_end(buf, NLMSG_DONE, 0, request_seq);
	case TURN_STALE:
		turn = TURN_OBJECTS;
		return put_end(buf, NLMSG_DONE, 0, request_seq - 1);
	case TURN_OBJECTS:
		bytes = put_objects(buf);
		if (bytes)
			return bytes;
		turn = TURN_NOTHING;
		return put_end(buf, end_type, end_error, request_seq);
	default:
		return 0;
	}
}

ssize_t recvfrom(int fd, void *buf, size_t bytes, int flags, struct sockaddr *from,
		 socklen_t *from_bytes)
{
	struct sockaddr_nl sender = { .nl_family = AF_NETLINK };
	char message[FAKE_DUMP_BYTES] __attribute__((aligned(8)));
	size_t len;

	if (fd != netlink_fd)
		return syscall(SYS_recvfrom, fd, buf, bytes, flags, from, from_bytes);
	if (fake_netlink.interrupts) {
		fake_netlink.interrupts--;
		errno = EINTR;
		return -1;
	}
	if (turn == TURN_STRANGER)
		sender.nl_pid = OTHER_PROCESS;
	len = put_next(message);
	if (!len) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, message, len < bytes ? len : bytes);
	if (from)
		memcpy(from, &sender, sizeof(sender) < *from_bytes ? sizeof(sender) : *from_bytes);
	return (ssize_t)len;
}
