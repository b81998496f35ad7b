// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The TCP connection by which two test programs find each other. Both ends run
 * the same program on the same byte order, so structures travel as they are.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "tool.h"

static int left_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = mroce_clock_ns();

	return now_ns < deadline_ns ? (deadline_ns - now_ns) / 1000000 + 1 : 0;
}

static int listen_on(const char *port)
{
	struct addrinfo hints = { .ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *ai;
	int fd = -1, one = 1, zero = 0;

	/* One IPv6 socket serves both families; IPv4 alone where there is no IPv6. */
	if (getaddrinfo(NULL, port, &hints, &list))
		return -1;
	for (hints.ai_family = AF_INET6; fd < 0; hints.ai_family = AF_INET) {
		for (ai = list; ai && ai->ai_family != hints.ai_family; ai = ai->ai_next)
			;
		if (ai)
			fd = socket(ai->ai_family, SOCK_STREAM, 0);
		if (fd >= 0) {
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
			if (!bind(fd, ai->ai_addr, ai->ai_addrlen) && !listen(fd, 1))
				break;
			close(fd);
			fd = -1;
		}
		if (hints.ai_family == AF_INET)
			break;
	}
	freeaddrinfo(list);
	return fd;
}

/**
 * mroce_peer_accept - wait for the client
 * @port: TCP port
 * @deadline_ns: on mroce_clock_ns()
 *
 * Return: a connected socket or -1.
 */
int mroce_peer_accept(const char *port, uint64_t deadline_ns)
{
	struct pollfd pfd = { .events = POLLIN };
	int fd = -1;

	pfd.fd = listen_on(port);
	if (pfd.fd < 0)
		return -1;
	if (poll(&pfd, 1, left_ms(deadline_ns)) > 0)
		fd = accept(pfd.fd, NULL, NULL);
	close(pfd.fd);
	return fd;
}

/**
 * mroce_peer_connect - reach the server, which may still be starting
 * @host: name or address
 * @port: TCP port
 * @deadline_ns: on mroce_clock_ns()
 *
 * Return: a connected socket or -1.
 */
int mroce_peer_connect(const char *host, const char *port, uint64_t deadline_ns)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct timespec pause = { .tv_nsec = 20000000 };
	struct addrinfo *ai;
	int fd;

	if (getaddrinfo(host, port, &hints, &ai))
		return -1;
	for (;;) {
		fd = socket(ai->ai_family, SOCK_STREAM, 0);
		if (fd < 0 || !connect(fd, ai->ai_addr, ai->ai_addrlen))
			break;
		close(fd);
		fd = -1;
		if (mroce_clock_ns() > deadline_ns)
			break;
		nanosleep(&pause, NULL);
	}
	freeaddrinfo(ai);
	return fd;
}

/**
 * mroce_peer_send - write all of it
 * @fd: connected socket
 * @data: what
 * @bytes: how much; small enough for the socket buffer
 *
 * Return: 0 or -1.
 */
int mroce_peer_send(int fd, const void *data, size_t bytes)
{
	const char *p = data;
	ssize_t n;

	while (bytes) {
		n = send(fd, p, bytes, MSG_NOSIGNAL);
		if (n <= 0)
			return -1;
		p += n;
		bytes -= n;
	}
	return 0;
}

/**
 * mroce_peer_receive - read all of it
 * @fd: connected socket
 * @data: where to
 * @bytes: how much
 * @deadline_ns: on mroce_clock_ns()
 *
 * Return: 0, or -1 when the peer is gone or the time is up.
 */
int mroce_peer_receive(int fd, void *data, size_t bytes, uint64_t deadline_ns)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char *p = data;
	ssize_t n;

	while (bytes) {
		if (poll(&pfd, 1, left_ms(deadline_ns)) <= 0)
			return -1;
		n = recv(fd, p, bytes, 0);
		if (n <= 0)
			return -1;
		p += n;
		bytes -= n;
	}
	return 0;
}

/**
 * mroce_peer_exchange - both ends tell each other the same structure
 * @fd: connected socket
 * @out: mine
 * @in: the peer's
 * @bytes: size of each
 * @deadline_ns: on mroce_clock_ns()
 *
 * Return: 0 or -1.
 */
int mroce_peer_exchange(int fd, const void *out, void *in, size_t bytes, uint64_t deadline_ns)
{
	if (mroce_peer_send(fd, out, bytes))
		return -1;
	return mroce_peer_receive(fd, in, bytes, deadline_ns);
}

/**
 * mroce_peer_is_gone - has the peer closed the connection or died?
 * @fd: connected socket
 */
bool mroce_peer_is_gone(int fd)
{
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	return !n || (n < 0 && errno != EAGAIN && errno != EINTR);
}
