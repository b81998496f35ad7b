// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: pinned user memory and the keys it is known by.
 *
 * A key is an index into mroce_dev.mrs and 8 random bits, so that the holder of
 * an old key does not hit the next region. lkey and rkey are the same number.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "mroce.h"

#define KEY_INDEX_MAX	0xffffff

#define ACCESS_KNOWN	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
			 IB_ACCESS_OPTIONAL)

static int map_pages(struct mroce_mr *mr)
{
	struct sg_table *sgt = &mr->umem->sgt_append.sgt;
	size_t n_pages = ib_umem_num_pages(mr->umem), n = 0;
	struct sg_page_iter iter;

	mr->pages = kvmalloc_array(n_pages, sizeof(*mr->pages), MROCE_GFP_USER);
	if (!mr->pages)
		return -ENOMEM;
	for_each_sg_page(sgt->sgl, &iter, sgt->orig_nents, 0) {
		if (n < n_pages)
			mr->pages[n] = sg_page_iter_page(&iter);
		n++;
	}
	return WARN_ON_ONCE(n != n_pages) ? -EINVAL : 0;
}

/* Publish under a new key. The slot is reserved first: the key is part of the region. */
static int publish(struct mroce_dev *dev, struct mroce_mr *mr)
{
	u32 idx;
	int err;

	err = xa_alloc_cyclic(&dev->mrs, &idx, NULL, XA_LIMIT(1, KEY_INDEX_MAX), &dev->next_key,
			      GFP_KERNEL);
	if (err < 0)
		return -ENOMEM;
	mr->ibmr.lkey = idx << 8 | (get_random_u32() & 0xff);
	mr->ibmr.rkey = mr->ibmr.lkey;
	err = xa_err(xa_store(&dev->mrs, idx, mr, GFP_KERNEL));
	if (err)
		xa_erase(&dev->mrs, idx);
	return err;
}

/* Copes with a region that was built up to any point, but is not published. */
static void free_mr(struct mroce_mr *mr)
{
	kvfree(mr->pages);
	if (mr->umem)
		ib_umem_release(mr->umem);
	/* Whoever looked the key up may still be looking at @refs. */
	kfree_rcu(mr, rcu);
}

/**
 * mroce_mr_reg_user() - ib_device_ops.reg_user_mr
 * @pd: protection domain
 * @start: first byte in the caller's address space, any alignment
 * @length: bytes
 * @iova: how the keys address the first byte, any value
 * @access: IB_ACCESS_*; the optional ones are accepted, known or not
 * @udata: unused
 *
 * The pages stay pinned; the core charges them to the memlock limit.
 *
 * Return: the region or an ERR_PTR: -EINVAL for a range that is empty or wraps,
 * -EOPNOTSUPP for access rights there are not, -ENOMEM, -EFAULT.
 */
struct ib_mr *mroce_mr_reg_user(struct ib_pd *pd, u64 start, u64 length, u64 iova, int access,
				struct ib_udata *udata)
{
	struct mroce_mr *mr;
	u64 end;
	int err;

	if (access & ~ACCESS_KNOWN)
		return ERR_PTR(-EOPNOTSUPP);
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (!length || check_add_overflow(iova, length - 1, &end))
		return ERR_PTR(-EINVAL);

	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	refcount_set(&mr->refs, 1);
	init_completion(&mr->done);
	mr->iova = iova;
	mr->length = length;
	mr->access = access;
	/* The core sets this when we return, which is after others can see it. */
	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;

	mr->umem = mroce_compat_umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		mr->umem = NULL;
		goto free;
	}
	mr->page_offset = ib_umem_offset(mr->umem);
	err = map_pages(mr);
	if (!err)
		err = publish(to_mdev(pd->device), mr);
	if (!err)
		return &mr->ibmr;
free:
	free_mr(mr);
	return ERR_PTR(err);
}

/**
 * mroce_mr_get_dma() - ib_device_ops.get_dma_mr: all memory of the kernel
 * @pd: protection domain of a kernel user
 * @access: IB_ACCESS_*
 *
 * No DMA device stands behind ours: the addresses that users are given to map their
 * memory are the kernel's own.
 *
 * Return: the region or an ERR_PTR.
 */
struct ib_mr *mroce_mr_get_dma(struct ib_pd *pd, int access)
{
	struct mroce_mr *mr;
	int err;

	/* A peer with a key to all memory is not wanted, whoever asks for it. */
	if (access & ~(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	refcount_set(&mr->refs, 1);
	init_completion(&mr->done);
	mr->length = U64_MAX;
	mr->access = access;
	mr->ibmr.device = pd->device;
	mr->ibmr.pd = pd;
	err = publish(to_mdev(pd->device), mr);
	if (!err)
		return &mr->ibmr;
	free_mr(mr);
	return ERR_PTR(err);
}

/**
 * mroce_mr_page() - the page of a byte of a region
 * @mr: region, with a reference
 * @at: byte, counted from the beginning of the region's first page
 */
struct page *mroce_mr_page(const struct mroce_mr *mr, u64 at)
{
	void *addr = (void *)(uintptr_t)at;

	if (mr->pages)
		return mr->pages[at >> PAGE_SHIFT];
	return is_vmalloc_addr(addr) ? vmalloc_to_page(addr) : virt_to_page(addr);
}

/* Nobody finds the region any more, and nobody is using it. Its key stays taken. */
static void withdraw(struct mroce_dev *dev, struct mroce_mr *mr)
{
	xa_store(&dev->mrs, mr->ibmr.lkey >> 8, XA_ZERO_ENTRY, GFP_KERNEL);
	mroce_mr_put(mr);
	wait_for_completion(&mr->done);
}

/* Undo withdraw(). The slot is there, so nothing can fail. */
static void restore(struct mroce_dev *dev, struct mroce_mr *mr)
{
	reinit_completion(&mr->done);
	refcount_set(&mr->refs, 1);
	xa_store(&dev->mrs, mr->ibmr.lkey >> 8, mr, GFP_KERNEL);
}

/**
 * mroce_mr_rereg_user() - ib_device_ops.rereg_user_mr
 * @ibmr: region
 * @flags: what changes: IB_MR_REREG_*
 * @start: new first byte, with TRANS
 * @length: new bytes, with TRANS
 * @iova: new address for keys, with TRANS
 * @access: new rights, with ACCESS
 * @pd: new protection domain, with PD; else the present one
 * @udata: unused
 *
 * Other memory means another region with another key; the core puts it into the
 * old one's place. Rights and protection domain change in place, while no packet
 * uses the region.
 *
 * Return: the new region, NULL when the old one stays, or an ERR_PTR: as
 * mroce_mr_reg_user(), -EACCES when the memory is pinned for reading only.
 */
struct ib_mr *mroce_mr_rereg_user(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 iova,
				  int access, struct ib_pd *pd, struct ib_udata *udata)
{
	struct mroce_dev *dev = to_mdev(ibmr->device);
	struct mroce_mr *mr = to_mmr(ibmr);

	if (flags & ~(IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS))
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	if (flags & IB_MR_REREG_TRANS)
		return mroce_mr_reg_user(pd, start, length, iova, access, udata);
	if (access & ~ACCESS_KNOWN)
		return ERR_PTR(-EOPNOTSUPP);
	if (ib_access_writable(access) && !mr->umem->writable)
		return ERR_PTR(-EACCES);
	withdraw(dev, mr);
	mr->access = access;
	mr->ibmr.pd = pd;
	restore(dev, mr);
	return NULL;
}

/**
 * mroce_mr_dereg() - ib_device_ops.dereg_mr
 * @ibmr: region, gone on return
 * @udata: unused
 *
 * Waits for copies under way. Packets that carry pages of it hold these.
 *
 * Return: 0.
 */
int mroce_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mroce_mr *mr = to_mmr(ibmr);

	xa_erase(&to_mdev(ibmr->device)->mrs, ibmr->lkey >> 8);
	mroce_mr_put(mr);
	wait_for_completion(&mr->done);
	free_mr(mr);
	return 0;
}

/**
 * mroce_mr_get() - find the region of a key, if it allows an access
 * @dev: device
 * @pd: protection domain of the QP
 * @key: key, from the wire or from the user
 * @addr: first byte, as keys address the region
 * @len: bytes
 * @access: IB_ACCESS_* the region must have, all of them; 0 = local read
 *
 * Context: any.
 * Return: with a reference, or NULL for every kind of refusal.
 */
struct mroce_mr *mroce_mr_get(struct mroce_dev *dev, struct ib_pd *pd, u32 key, u64 addr,
			      u64 len, int access)
{
	struct mroce_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, key >> 8);
	if (mr && (mr->ibmr.lkey != key || !refcount_inc_not_zero(&mr->refs)))
		mr = NULL;
	rcu_read_unlock();
	if (!mr)
		return NULL;
	if (mr->ibmr.pd == pd && (mr->access & access) == access &&
	    mroce_place_within(mr->iova, mr->length, addr, len))
		return mr;
	mroce_mr_put(mr);
	return NULL;
}

/**
 * mroce_mr_put() - drop a reference
 * @mr: region, gone for the caller
 *
 * Context: any; never sleeps and frees nothing.
 */
void mroce_mr_put(struct mroce_mr *mr)
{
	if (refcount_dec_and_test(&mr->refs))
		complete(&mr->done);
}
