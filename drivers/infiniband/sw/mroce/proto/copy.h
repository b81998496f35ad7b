/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Copying into memory that somebody polls.
 *
 * Applications wait for the last byte of a message in memory, or for aligned
 * words that carry data and a flag together. memcpy() may copy backwards and may
 * store a word in parts, so this is our own.
 */
#ifndef MROCE_PROTO_COPY_H
#define MROCE_PROTO_COPY_H

#include <linux/types.h>

/**
 * mroce_copy_ascending() - copy so that the end becomes visible last
 * @dst: destination, any alignment
 * @src: source, any alignment; must not overlap
 * @n: bytes
 *
 * Stores near the end are in ascending order, each as large as its alignment
 * allows up to 8 bytes; the last one is ordered after everything before it. The
 * bulk before the last MROCE_COPY_TAIL_BYTES is stored in any order, but before
 * them. What is copied before a call is visible before the call's last store.
 */
void mroce_copy_ascending(void *dst, const void *src, size_t n);

#define MROCE_COPY_TAIL_BYTES	64

#endif /* MROCE_PROTO_COPY_H */
