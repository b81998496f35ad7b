// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Netlink, RDMA's and mroce's, without a library: the task that fails does one system call. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/mroce.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "faults.h"

#define BYTES	32768

/* One request, grown by put() */
struct request {
	struct nlmsghdr hdr;
	uint8_t attr[512];
};

static void start_type(struct request *r, int type, int flags)
{
	static unsigned int seq;

	memset(r, 0, sizeof(*r));
	r->hdr.nlmsg_len = NLMSG_HDRLEN;
	r->hdr.nlmsg_type = type;
	r->hdr.nlmsg_flags = NLM_F_REQUEST | flags;
	r->hdr.nlmsg_seq = ++seq;
}

static void start(struct request *r, int command, int flags)
{
	start_type(r, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags);
}

static void start_genl(struct request *r, int family, int command, int flags)
{
	struct genlmsghdr *hdr = (void *)r->attr;

	start_type(r, family, flags);
	hdr->cmd = command;
	hdr->version = 1;
	r->hdr.nlmsg_len += GENL_HDRLEN;
}

static void put(struct request *r, int type, const void *data, int len)
{
	struct nlattr *a = (void *)r + NLMSG_ALIGN(r->hdr.nlmsg_len);

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((void *)a + NLA_HDRLEN, data, len);
	r->hdr.nlmsg_len = NLMSG_ALIGN(r->hdr.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

static void put_text(struct request *r, int type, const char *text)
{
	put(r, type, text, strlen(text) + 1);
}

static const struct nlattr *next(const struct nlattr *a)
{
	return (void *)a + NLA_ALIGN(a->nla_len);
}

/* The attribute at @at, or NULL when there is none before @end */
static const struct nlattr *valid(const void *at, const void *end)
{
	const struct nlattr *a = at;

	return at + NLA_HDRLEN <= end && a->nla_len >= NLA_HDRLEN ? a : NULL;
}

static const struct nlattr *find(const void *start, const void *end, int type)
{
	const struct nlattr *a;

	for (a = valid(start, end); a; a = valid(next(a), end))
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static const void *value(const struct nlattr *a)
{
	return (void *)a + NLA_HDRLEN;
}

/**
 * mroce_nl_open - a socket for the functions below
 *
 * Return: file descriptor or -1.
 */
int mroce_nl_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
}

/*
 * Send, and receive to the end of the answer. Return: 0 or an errno; ENOBUFS: the
 * kernel had no memory for question or answer, and what it did is not known.
 */
static int talk(int fd, struct request *r,
		void (*each)(const struct nlmsghdr *h, void *arg), void *arg)
{
	static uint8_t answer[BYTES] __attribute__((aligned(8)));
	const struct nlmsghdr *h;
	ssize_t n;
	int len;

	if (send(fd, r, r->hdr.nlmsg_len, 0) < 0)
		return errno;
	for (;;) {
		n = recv(fd, answer, sizeof(answer), 0);
		if (n < 0)
			return errno;
		len = n;
		for (h = (void *)answer; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_seq != r->hdr.nlmsg_seq)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
				return -*(int *)NLMSG_DATA(h);
			if (each)
				each(h, arg);
			if (!(r->hdr.nlmsg_flags & (NLM_F_DUMP | NLM_F_ACK)))
				return 0;
		}
	}
}

static void get_family(const struct nlmsghdr *h, void *arg)
{
	const struct nlattr *id = find(NLMSG_DATA(h) + GENL_HDRLEN, (void *)h + h->nlmsg_len,
				       CTRL_ATTR_FAMILY_ID);

	if (id)
		*(int *)arg = *(uint16_t *)value(id);
}

/**
 * mroce_genl_open - a socket for the functions below
 * @family: set to the number of the family "mroce"
 *
 * Return: file descriptor or -1.
 */
int mroce_genl_open(int *family)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct request r;

	*family = -1;
	start_genl(&r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put_text(&r, CTRL_ATTR_FAMILY_NAME, "mroce");
	return fd < 0 || talk(fd, &r, get_family, family) || *family < 0 ? -1 : fd;
}

/**
 * mroce_genl_plane - mroce plane add, or del
 * @fd: socket
 * @family: number of the family
 * @command: MROCE_CMD_PLANE_NEW, MROCE_CMD_PLANE_DEL
 * @dev: device
 * @ifindex: netdev of the plane
 *
 * Return: 0 or an errno.
 */
int mroce_genl_plane(int fd, int family, int command, const char *dev, uint32_t ifindex)
{
	struct request r;

	start_genl(&r, family, command, NLM_F_ACK);
	put_text(&r, MROCE_A_PLANE_DEV_NAME, dev);
	put(&r, MROCE_A_PLANE_IFINDEX, &ifindex, sizeof(ifindex));
	return talk(fd, &r, NULL, NULL);
}

static void count_plane(const struct nlmsghdr *h, void *arg)
{
	(void)h;
	++*(int *)arg;
}

/**
 * mroce_genl_planes - how many planes are there?
 * @fd: socket
 * @family: number of the family
 *
 * Return: the number of all devices, or -1.
 */
int mroce_genl_planes(int fd, int family)
{
	struct request r;
	int n = 0;

	start_genl(&r, family, MROCE_CMD_PLANE_GET, NLM_F_DUMP);
	return talk(fd, &r, count_plane, &n) ? -1 : n;
}

/**
 * mroce_genl_set_paths - mroce dev set, with two values: all or none of them
 * @fd: socket
 * @family: number of the family
 * @dev: device
 * @paths: of each plane, and as many MiB of a window
 *
 * Return: 0 or an errno.
 */
int mroce_genl_set_paths(int fd, int family, const char *dev, uint8_t paths)
{
	uint32_t kib = paths * 1024u;
	struct request r;

	start_genl(&r, family, MROCE_CMD_DEV_SET, NLM_F_ACK);
	put_text(&r, MROCE_A_DEV_NAME, dev);
	put(&r, MROCE_A_DEV_PATHS, &paths, sizeof(paths));
	put(&r, MROCE_A_DEV_MAX_WINDOW_KIB, &kib, sizeof(kib));
	return talk(fd, &r, NULL, NULL);
}

static void get_paths(const struct nlmsghdr *h, void *arg)
{
	const void *start = NLMSG_DATA(h) + GENL_HDRLEN, *end = (void *)h + h->nlmsg_len;
	const struct nlattr *paths = find(start, end, MROCE_A_DEV_PATHS);
	const struct nlattr *kib = find(start, end, MROCE_A_DEV_MAX_WINDOW_KIB);

	if (paths && kib)
		*(int *)arg = *(uint8_t *)value(paths) * 1024 == *(uint32_t *)value(kib) ?
			      *(uint8_t *)value(paths) : -1;
}

/**
 * mroce_genl_paths - what mroce_genl_set_paths() has set
 * @fd: socket
 * @family: number of the family
 * @dev: device
 *
 * Return: the number, or -1, also when only one of the values is set.
 */
int mroce_genl_paths(int fd, int family, const char *dev)
{
	struct request r;
	int paths = -1;

	start_genl(&r, family, MROCE_CMD_DEV_GET, 0);
	put_text(&r, MROCE_A_DEV_NAME, dev);
	return talk(fd, &r, get_paths, &paths) ? -1 : paths;
}

struct wanted {
	const char *name;
	int index;
	int devices;
};

static void look_for(const struct nlmsghdr *h, void *arg)
{
	const void *start = NLMSG_DATA(h), *end = (void *)h + h->nlmsg_len;
	const struct nlattr *index = find(start, end, RDMA_NLDEV_ATTR_DEV_INDEX);
	const struct nlattr *name = find(start, end, RDMA_NLDEV_ATTR_DEV_NAME);
	struct wanted *w = arg;

	if (!index || !name)
		return;
	w->devices++;
	if (w->name && !strcmp(value(name), w->name))
		w->index = *(uint32_t *)value(index);
}

/**
 * mroce_nl_index - find a device
 * @fd: socket
 * @name: of the device
 *
 * Return: its number, or -1.
 */
int mroce_nl_index(int fd, const char *name)
{
	struct wanted w = { .name = name, .index = -1 };
	struct request r;

	start(&r, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	talk(fd, &r, look_for, &w);
	return w.index;
}

/**
 * mroce_nl_add - rdma link add
 * @fd: socket
 * @name: of the device
 * @netdev: below it
 *
 * Return: 0 or an errno.
 */
int mroce_nl_add(int fd, const char *name, const char *netdev)
{
	struct request r;

	start(&r, RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK);
	put_text(&r, RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_text(&r, RDMA_NLDEV_ATTR_LINK_TYPE, "mroce");
	put_text(&r, RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
	return talk(fd, &r, NULL, NULL);
}

/**
 * mroce_nl_delete - rdma link delete
 * @fd: socket
 * @index: of the device
 *
 * Return: 0 or an errno.
 */
int mroce_nl_delete(int fd, int index)
{
	uint32_t number = index;
	struct request r;

	start(&r, RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK);
	put(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &number, sizeof(number));
	return talk(fd, &r, NULL, NULL);
}

/**
 * mroce_nl_dump - have the kernel list something
 * @fd: socket; of no use after an error, as the kernel may not know how to go on
 * @command: RDMA_NLDEV_CMD_RES_QP_GET and the like, with the driver's details
 * @index: of the device
 *
 * Return: 0 or an errno.
 */
int mroce_nl_dump(int fd, int command, int index)
{
	uint32_t number = index, port = 1;
	uint8_t details = 1;
	struct request r;

	start(&r, command, NLM_F_DUMP);
	put(&r, RDMA_NLDEV_ATTR_DEV_INDEX, &number, sizeof(number));
	put(&r, RDMA_NLDEV_ATTR_PORT_INDEX, &port, sizeof(port));
	put(&r, RDMA_NLDEV_ATTR_DRIVER_DETAILS, &details, sizeof(details));
	return talk(fd, &r, NULL, NULL);
}

static void add_up(const struct nlmsghdr *h, void *arg)
{
	const void *start = NLMSG_DATA(h), *end = (void *)h + h->nlmsg_len;
	const struct nlattr *all = find(start, end, RDMA_NLDEV_ATTR_RES_SUMMARY);
	const struct nlattr *a, *name, *count;
	struct mroce_resources *r = arg;
	int i;

	if (!all)
		return;
	for (a = valid(value(all), next(all)); a; a = valid(next(a), next(all))) {
		name = find(value(a), next(a), RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME);
		count = find(value(a), next(a), RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
		if (!name || !count)
			continue;
		for (i = 0; i < r->n && strcmp(r->name[i], value(name)); i++)
			;
		if (i == MROCE_RESOURCES)
			continue;
		snprintf(r->name[i], sizeof(r->name[i]), "%s", (char *)value(name));
		r->count[i] += *(uint64_t *)value(count);
		r->n = i < r->n ? r->n : i + 1;
	}
}

/* What a lost answer has left */
static void drain(int fd)
{
	char c;

	while (recv(fd, &c, 1, MSG_DONTWAIT) >= 0 || errno == ENOBUFS)
		;
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static int lines(const char *path)
{
	FILE *file = fopen(path, "r");
	int c, n = 0;

	while (file && (c = getc(file)) != EOF)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

/**
 * mroce_resources_get - what is there
 * @fd: socket
 * @r: filled in
 *
 * Return: 0 or an errno.
 */
int mroce_resources_get(int fd, struct mroce_resources *r)
{
	struct wanted w = { .name = NULL };
	struct request req;
	int err;

	drain(fd);
	memset(r, 0, sizeof(*r));
	start(&req, RDMA_NLDEV_CMD_GET, NLM_F_DUMP);
	err = talk(fd, &req, look_for, &w);
	if (err)
		return err;
	start(&req, RDMA_NLDEV_CMD_RES_GET, NLM_F_DUMP);
	err = talk(fd, &req, add_up, r);
	r->devices = w.devices;
	r->nodes = entries("/dev/infiniband");
	r->sockets = lines("/proc/self/net/udp") + lines("/proc/self/net/udp6");
	return err;
}

/**
 * mroce_resources_count - how many there are of one kind
 * @fd: socket
 * @name: such as "qp"
 */
uint64_t mroce_resources_count(int fd, const char *name)
{
	struct mroce_resources r;
	int i;

	if (mroce_resources_get(fd, &r))
		return UINT64_MAX;
	for (i = 0; i < r.n; i++)
		if (!strcmp(r.name[i], name))
			return r.count[i];
	return 0;
}
