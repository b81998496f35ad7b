// SPDX-License-Identifier: GPL-2.0
/*
 * Segmenter: which bytes of a message travel in which packet, and how large a
 * packet a route takes. It never looks at data or memory.
 */
#include <linux/minmax.h>

#include <mroce/wire.h>

#include "seg.h"

#define IPV4_HLEN	20
#define IPV6_HLEN	40
#define UDP_HLEN	8
#define UNIT_STEP	128	/* the wire carries unit / 128 in one byte */

u32 mroce_seg_count(u32 len, u32 unit_bytes)
{
	return len ? (len - 1) / unit_bytes + 1 : 1;
}

u32 mroce_seg_at(u32 len, u32 unit_bytes, u32 idx, u32 *off)
{
	u64 at = (u64)idx * unit_bytes;

	if (at >= len) {
		*off = len;
		return 0;
	}
	*off = at;
	return min_t(u32, unit_bytes, len - *off);
}

u32 mroce_seg_unit(u32 mtu_bytes, bool ipv6)
{
	u32 head = (ipv6 ? IPV6_HLEN : IPV4_HLEN) + UDP_HLEN + MROCE_DATA_HLEN;
	u32 room = mtu_bytes > head ? mtu_bytes - head : 0;

	if (room >= 8192)
		return 8192;
	if (room >= 4096)
		return 4096;
	return room / UNIT_STEP * UNIT_STEP;
}
