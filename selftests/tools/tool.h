/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the verbs test programs share: opening a device, moving an RC QP through
 * its states, a TCP socket between the two ends, reproducible bytes.
 *
 * Nothing here knows mroce: the programs run on any RoCE v2 device, so that a
 * failure can be compared with another driver.
 */
#ifndef MROCE_TOOL_H
#define MROCE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <infiniband/verbs.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct mroce_dev - an open verbs device with the address to use
 * @ctx: open device
 * @pd: one protection domain for everything
 * @attr: device attributes
 * @port: attributes of port 1
 * @gid: the chosen RoCE v2 address
 * @gid_index: its index
 */
struct mroce_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
};

/**
 * struct mroce_qp_addr - where a QP can be reached
 * @gid: RoCE v2 address
 * @qpn: QP number
 * @psn: first packet sequence number it sends
 * @mtu: enum ibv_mtu, active MTU of its port
 */
struct mroce_qp_addr {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t psn;
	uint32_t mtu;
};

/**
 * struct mroce_qp_timing - verbs timers and retry limits of a QP
 * @timeout: local ACK timeout, 4.096 us * 2^timeout, 0 = infinite
 * @retry_cnt: 0..7
 * @rnr_retry: 0..7, 7 = for ever
 * @min_rnr_timer: code of the delay this QP asks for when it has no receive
 * @rd_atomic: READs and atomics it may have outstanding, 0 is taken for 1
 * @dest_rd_atomic: those of the peer it serves at a time, 0 is taken for 1
 * @traffic_class: of its packets; the two lowest bits are ECN's
 */
struct mroce_qp_timing {
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t rd_atomic;
	uint8_t dest_rd_atomic;
	uint8_t traffic_class;
};

int mroce_dev_open(struct mroce_dev *dev, const char *name, int gid_index, bool ipv6);
void mroce_dev_close(struct mroce_dev *dev);
int mroce_qp_to_init(struct ibv_qp *qp, int access);
int mroce_qp_to_rtr(struct ibv_qp *qp, const struct mroce_dev *dev,
		    const struct mroce_qp_addr *remote, const struct mroce_qp_timing *timing);
int mroce_qp_to_rts(struct ibv_qp *qp, uint32_t psn, const struct mroce_qp_timing *timing);
int mroce_qp_to_state(struct ibv_qp *qp, enum ibv_qp_state state);

uint64_t mroce_clock_ns(void);

int mroce_heap_touch(size_t bytes);
noreturn void mroce_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

int mroce_peer_accept(const char *port, uint64_t deadline_ns);
int mroce_peer_connect(const char *host, const char *port, uint64_t deadline_ns);
int mroce_peer_send(int fd, const void *data, size_t bytes);
int mroce_peer_receive(int fd, void *data, size_t bytes, uint64_t deadline_ns);
int mroce_peer_exchange(int fd, const void *out, void *in, size_t bytes, uint64_t deadline_ns);
bool mroce_peer_is_gone(int fd);

uint64_t mroce_mix(uint64_t x);
void mroce_pattern_fill(void *buf, size_t bytes, uint64_t key, size_t start);
ptrdiff_t mroce_pattern_check(const void *buf, size_t bytes, uint64_t key, size_t start);

#endif
