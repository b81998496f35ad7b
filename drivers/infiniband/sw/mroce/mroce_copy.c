// SPDX-License-Identifier: GPL-2.0
/* Packet bytes into memory regions. */
#include <linux/highmem.h>
#include <linux/skbuff.h>

#include "mroce.h"
#include "proto/copy.h"

/* @pos: byte of the region */
static void copy_in(struct mroce_mr *mr, u64 pos, const u8 *src, u32 len)
{
	u32 off, n;
	u8 *page;

	pos += mr->page_offset;
	while (len) {
		off = offset_in_page(pos);
		n = min_t(u32, len, PAGE_SIZE - off);
		page = kmap_local_page(mr->pages[pos >> PAGE_SHIFT]);
		mroce_copy_ascending(page + off, src, n);
		kunmap_local(page);
		pos += n;
		src += n;
		len -= n;
	}
}

/**
 * mroce_copy_to_mr() - copy bytes of a packet into a region
 * @mr: region, with a reference
 * @addr: first byte, as keys address the region
 * @skb: packet; linear, with fragments, or with a list of packets
 * @off: first byte in @skb, from skb->data
 * @len: bytes
 *
 * Ascending: whoever polls the last byte, or the last aligned word, finds
 * everything before it in place.
 *
 * Context: any, no lock needed.
 * Return: 0; -EINVAL when the range is not inside the region, -EFAULT when the
 * packet is shorter or not readable (part may have been copied then).
 */
int mroce_copy_to_mr(struct mroce_mr *mr, u64 addr, const struct sk_buff *skb, u32 off, u32 len)
{
	struct skb_seq_state st;
	unsigned int n, done = 0;
	const u8 *data;

	if (!mroce_place_within(mr->iova, mr->length, addr, len))
		return -EINVAL;
	if (off > skb->len || len > skb->len - off)
		return -EFAULT;

	/* Only const for us: it maps fragments and counts. */
	skb_prepare_seq_read((struct sk_buff *)skb, off, off + len, &st);
	while (done < len) {
		n = skb_seq_read(done, &data, &st);
		if (!n)
			break;
		n = min(n, len - done);
		copy_in(mr, addr - mr->iova + done, data, n);
		done += n;
	}
	skb_abort_seq_read(&st);
	return done == len ? 0 : -EFAULT;
}
