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
		page = kmap_local_page(mroce_mr_page(mr, pos));
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

/* A source of bytes: a packet from @off on, or memory. */
struct source {
	const struct sk_buff *skb;
	u32 off;
	const u8 *mem;
};

static int copy_piece(struct mroce_mr *mr, u64 addr, u32 len, struct source *from)
{
	int err = 0;

	if (from->skb) {
		err = mroce_copy_to_mr(mr, addr, from->skb, from->off, len);
		from->off += len;
	} else {
		copy_in(mr, addr - mr->iova, from->mem, len);
		from->mem += len;
	}
	return err;
}

static int copy_to_sgl(const struct mroce_sgl *sgl, u32 at, u32 len, struct source *from)
{
	struct mroce_place_iter it;
	struct mroce_mr *mr;
	int err;

	if (!mroce_place_first(&it, sgl->sge, sgl->num_sge, at, len))
		return len ? -EACCES : 0;
	do {
		mr = mroce_mr_get(to_mdev(sgl->pd->device), sgl->pd, it.lkey, it.addr, it.len,
				  IB_ACCESS_LOCAL_WRITE);
		if (!mr)
			return -EACCES;
		err = copy_piece(mr, it.addr, it.len, from);
		mroce_mr_put(mr);
		if (err)
			return err;
	} while (mroce_place_next(&it));
	return 0;
}

/**
 * mroce_copy_to_sgl() - copy bytes of a packet to where a scatter-gather list says
 * @sgl: the list
 * @at: first byte in the message the list describes
 * @skb: packet
 * @off: first byte in @skb
 * @len: bytes
 *
 * Context: any, no lock needed.
 * Return: 0; -EACCES when a region is gone, too small or not writable; -EFAULT
 * as mroce_copy_to_mr().
 */
int mroce_copy_to_sgl(const struct mroce_sgl *sgl, u32 at, const struct sk_buff *skb, u32 off,
		      u32 len)
{
	struct source from = { .skb = skb, .off = off };

	return copy_to_sgl(sgl, at, len, &from);
}

/**
 * mroce_copy_value_to_sgl() - copy a value to where a scatter-gather list says
 * @sgl: the list, from its beginning
 * @value: the value
 * @len: its size
 *
 * Context: any, no lock needed.
 * Return: 0 or -EACCES.
 */
int mroce_copy_value_to_sgl(const struct mroce_sgl *sgl, const void *value, u32 len)
{
	struct source from = { .mem = value };

	return copy_to_sgl(sgl, 0, len, &from);
}
