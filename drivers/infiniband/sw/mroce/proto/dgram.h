/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unreliable datagrams: rules of Q_Keys (IBTA 1.7, 3.5.3 and 10.2.5).
 *
 * Pure.
 */
#ifndef MROCE_PROTO_DGRAM_H
#define MROCE_PROTO_DGRAM_H

#include <linux/types.h>

/** Bytes in front of a datagram in its receive: a GRH, or an IPv4 header at its end. */
#define MROCE_GRH_BYTES		40
#define MROCE_GRH_IPV4_OFFSET	20

/** Q_Keys with this bit are of privileged users. */
#define MROCE_QKEY_PRIVILEGED	0x80000000u

/**
 * mroce_dgram_qkey() - the Q_Key a datagram carries
 * @wr: what the work request says
 * @own: of the queue pair
 *
 * A program cannot send a privileged one: where it asks for one, its queue pair's goes,
 * which somebody privileged has set.
 */
static inline u32 mroce_dgram_qkey(u32 wr, u32 own)
{
	return wr & MROCE_QKEY_PRIVILEGED ? own : wr;
}

/** How often a datagram that wants an answer is sent, and when it goes again first. */
#define MROCE_DGRAM_TRIES	5
#define MROCE_DGRAM_RETRY_NS	50000000ull

/**
 * mroce_dgram_retry_ns() - how long the answer to a datagram is waited for
 * @tries: how often it was sent, at least once
 *
 * 50, 100, 200, 400, 800 ms: who is not there is known not to be after 1.55 s.
 *
 * Return: 0: no longer, nobody is there.
 */
static inline u64 mroce_dgram_retry_ns(u32 tries)
{
	return tries <= MROCE_DGRAM_TRIES ? MROCE_DGRAM_RETRY_NS << (tries - 1) : 0;
}

#endif /* MROCE_PROTO_DGRAM_H */
