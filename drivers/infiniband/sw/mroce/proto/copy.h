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
 * mroce_copy_ascending() - copy so that what comes later becomes visible later
 * @dst: destination, any alignment
 * @src: source, any alignment; must not overlap
 * @n: bytes
 *
 * All stores are in ascending order, each as large as its alignment allows up to 8
 * bytes: a message may hold many records with a sign at the end of each. The last
 * store is ordered after everything before it, of this and of earlier calls.
 */
void mroce_copy_ascending(void *dst, const void *src, size_t n);

#endif /* MROCE_PROTO_COPY_H */
