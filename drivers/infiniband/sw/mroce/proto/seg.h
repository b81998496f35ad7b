/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Segmenter: a message of some length, cut into units of one packet's payload.
 */
#ifndef MROCE_PROTO_SEG_H
#define MROCE_PROTO_SEG_H

#include <linux/types.h>

/** mroce_seg_count() - packets of a message of @len bytes; an empty message has one */
u32 mroce_seg_count(u32 len, u32 unit_bytes);

/**
 * mroce_seg_at() - the bytes packet number @idx of a message carries
 * @len: message length
 * @unit_bytes: payload per packet
 * @idx: 0 .. mroce_seg_count() - 1
 * @off: offset of its first byte in the message
 *
 * Return: payload length; 0 for an empty message or an @idx past the end.
 */
u32 mroce_seg_at(u32 len, u32 unit_bytes, u32 idx, u32 *off);

/**
 * mroce_seg_unit() - payload per packet for a route
 * @mtu_bytes: MTU of the route
 * @ipv6: 40-byte IP header instead of 20
 *
 * 8192 or 4096 where they fit, else the largest multiple of 128 that does.
 * Return: the unit, 0 when not even 128 bytes fit.
 */
u32 mroce_seg_unit(u32 mtu_bytes, bool ipv6);

#endif /* MROCE_PROTO_SEG_H */
