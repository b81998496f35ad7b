// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, thread domains, and parent domains that join one of each.
 *
 * The kernel knows protection domains only. A parent domain carries the handle
 * of its protection domain, so that it stands for it in every command.
 */
#include "mroce.h"

#include <errno.h>
#include <stdlib.h>

static void get_ref(unsigned int *refs)
{
	__atomic_fetch_add(refs, 1, __ATOMIC_RELAXED);
}

/* The release pairs with is_used(): who frees has seen all use end. */
static void put_ref(unsigned int *refs)
{
	__atomic_fetch_sub(refs, 1, __ATOMIC_RELEASE);
}

static bool is_used(const unsigned int *refs)
{
	return __atomic_load_n(refs, __ATOMIC_ACQUIRE);
}

/*
 * mroce_pd_get - count an object that was created on @ibpd
 *
 * The kernel counts, too, but cannot tell a parent domain from the protection
 * domain below it.
 */
void mroce_pd_get(struct ibv_pd *ibpd)
{
	get_ref(&mroce_pd_from_ibv(ibpd)->refs);
}

/* mroce_pd_put - an object of @ibpd is gone */
void mroce_pd_put(struct ibv_pd *ibpd)
{
	put_ref(&mroce_pd_from_ibv(ibpd)->refs);
}

/* mroce_pd_alloc - ibv_alloc_pd() */
struct ibv_pd *mroce_pd_alloc(struct ibv_context *ctx)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_alloc_pd core;
	} cmd = {};
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct mroce_pd *pd;
	int ret;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	ret = ibv_cmd_alloc_pd(ctx, &pd->ibpd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->ibpd;
}

static int check_domain_attr(const struct ibv_context *ctx,
			     const struct ibv_parent_domain_init_attr *attr)
{
	/*
	 * An allocator would have nothing to allocate: rings are the kernel's
	 * memory. Its context alone asks for nothing.
	 */
	if (attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		return EOPNOTSUPP;
	/* A handle means another object, or none, in another context. */
	if (!attr->pd || attr->pd->context != ctx)
		return EINVAL;
	if (attr->td && attr->td->context != ctx)
		return EINVAL;
	return 0;
}

/*
 * mroce_pd_alloc_parent - ibv_alloc_parent_domain()
 *
 * The protection domain may be a parent domain itself: the two are
 * interchangeable.
 *
 * Return: NULL and errno EOPNOTSUPP for allocators or an unknown extension,
 * EINVAL without a protection domain, or if a domain is of another context.
 */
struct ibv_pd *
mroce_pd_alloc_parent(struct ibv_context *ctx,
		      struct ibv_parent_domain_init_attr *attr)
{
	struct mroce_pd *pd;
	int ret;

	ret = check_domain_attr(ctx, attr);
	if (ret) {
		errno = ret;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;

	pd->ibpd.context = ctx;
	pd->ibpd.handle = attr->pd->handle;
	pd->base = attr->pd;
	mroce_pd_get(pd->base);
	if (attr->td) {
		pd->td = mroce_td_from_ibv(attr->td);
		get_ref(&pd->td->refs);
	}
	return &pd->ibpd;
}

/*
 * mroce_pd_dealloc - ibv_dealloc_pd(), for protection and parent domains
 *
 * Return: EBUSY while an object or a parent domain is on it, or what the
 * kernel says.
 */
int mroce_pd_dealloc(struct ibv_pd *ibpd)
{
	struct mroce_pd *pd = mroce_pd_from_ibv(ibpd);
	int ret;

	if (is_used(&pd->refs))
		return EBUSY;

	if (pd->base) {
		mroce_pd_put(pd->base);
		if (pd->td)
			put_ref(&pd->td->refs);
	} else {
		ret = ibv_cmd_dealloc_pd(ibpd);
		if (ret)
			return ret;
	}
	free(pd);
	return 0;
}

/*
 * mroce_td_alloc - ibv_alloc_td()
 *
 * A thread domain is the promise of one thread only; it permits to leave out
 * locks and does not demand it. They stay.
 */
struct ibv_td *mroce_td_alloc(struct ibv_context *ctx,
			      struct ibv_td_init_attr *attr)
{
	struct mroce_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibtd.context = ctx;
	return &td->ibtd;
}

/* mroce_td_dealloc - ibv_dealloc_td(); EBUSY while a parent domain has it */
int mroce_td_dealloc(struct ibv_td *ibtd)
{
	struct mroce_td *td = mroce_td_from_ibv(ibtd);

	if (is_used(&td->refs))
		return EBUSY;
	free(td);
	return 0;
}
