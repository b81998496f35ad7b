/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A stand-in for the netlink family "mroce", inside the test program.
 *
 * The fake replaces socket(), send() and recvfrom() of the process. What it answers to a dump is
 * what a test has put together, attribute by attribute; what it was asked is noted.
 *
 * Before each answer comes a message of another process, and one to another request: both say
 * that the answer is over.
 */
#ifndef MROCE_FAKE_NETLINK_H
#define MROCE_FAKE_NETLINK_H

#include <linux/mroce.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_DUMP_BYTES	4096

/* struct fake_dump - messages of a dump, one after the other */
struct fake_dump {
	char data[FAKE_DUMP_BYTES] __attribute__((aligned(8)));
	size_t used;
	size_t last;
};

/*
 * struct fake_netlink - what a test may set and look at
 * @socket_errno: fail socket() with this
 * @has_family: the module has the family
 * @refusal: errno that a dump is answered with
 * @end: errno at the end of a dump
 * @interrupts: so many receptions fail with EINTR
 * @is_mute: the kernel does not answer
 * @conns, @paths: answers
 * @sockets: that were opened
 * @dumps: that were asked for
 * @device_index: of the last request, -1 if there was none; likewise @device_name, @conn_id (0)
 */
struct fake_netlink {
	int socket_errno;
	bool has_family;
	int refusal;
	int end;
	int interrupts;
	bool is_mute;
	struct fake_dump conns;
	struct fake_dump paths;
	int sockets;
	int dumps;
	int64_t device_index;
	char device_name[64];
	uint32_t conn_id;
};

extern struct fake_netlink fake_netlink;

void fake_netlink_reset(void);
void fake_message(struct fake_dump *dump, uint8_t command);
void fake_attr(struct fake_dump *dump, uint16_t type, const void *data, size_t bytes);
void fake_u8(struct fake_dump *dump, uint16_t type, uint8_t value);
void fake_u16(struct fake_dump *dump, uint16_t type, uint16_t value);
void fake_u32(struct fake_dump *dump, uint16_t type, uint32_t value);
void fake_u64(struct fake_dump *dump, uint16_t type, uint64_t value);
struct nlattr *fake_last_attr(struct fake_dump *dump, uint16_t type);

#endif /* MROCE_FAKE_NETLINK_H */
