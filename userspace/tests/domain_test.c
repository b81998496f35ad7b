// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Parent and thread domains: what they stand for, and what holds them. */
#include <errno.h>

#include "ktap.h"
#include "rig.h"

#define NO_PD		0xffffffffu
#define ALLOCATORS	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS
#define PD_CONTEXT	IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT

/*
 * struct scene - a parent domain of a PD and a TD
 * @pd: not the rig's, whose handle is the 0 of forgotten fields
 */
struct scene {
	struct rig rig;
	struct ibv_pd *pd;
	struct ibv_td *td;
	struct ibv_pd *domain;
};

static struct ibv_pd *new_domain(struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = pd, .td = td };

	return ibv_alloc_parent_domain(pd->context, &attr);
}

static bool scene_open(struct scene *scene)
{
	struct ibv_td_init_attr td = {};

	if (!CHECK(rig_open_base(&scene->rig)))
		return false;
	scene->pd = ibv_alloc_pd(scene->rig.ctx);
	scene->td = ibv_alloc_td(scene->rig.ctx, &td);
	if (!CHECK(scene->pd) || !CHECK(scene->td))
		return false;
	scene->domain = new_domain(scene->pd, scene->td);
	return CHECK(scene->domain);
}

/* Fails if anything still holds a domain. */
static void scene_close(struct scene *scene)
{
	CHECK_EQ(ibv_dealloc_pd(scene->domain), 0);
	CHECK_EQ(ibv_dealloc_td(scene->td), 0);
	CHECK_EQ(ibv_dealloc_pd(scene->pd), 0);
	rig_close(&scene->rig);
}

/* An object was made on the domain: whose it is, and that it is in the way. */
static void check_object(const struct scene *scene, const struct ibv_pd *pd)
{
	CHECK(pd == scene->domain);
	CHECK_EQ(fake_kernel.last_pd, scene->pd->handle);
	CHECK_EQ(ibv_dealloc_pd(scene->domain), EBUSY);
	fake_kernel.last_pd = NO_PD;
}

/* It is gone; then another domain of the PD shows that the PD is held. */
static void check_gone(struct scene *scene)
{
	CHECK_EQ(ibv_dealloc_pd(scene->domain), 0);
	scene->domain = new_domain(scene->pd, scene->td);
	CHECK(scene->domain);
	CHECK_EQ(ibv_dealloc_pd(scene->pd), EBUSY);
}

static void a_domain_is_no_object_of_the_kernel(void)
{
	struct scene scene;
	unsigned int calls;

	if (!scene_open(&scene))
		return;
	CHECK(scene.domain != scene.pd);
	CHECK(scene.domain->context == scene.rig.ctx);
	CHECK(scene.td->context == scene.rig.ctx);
	CHECK(scene.pd->handle != scene.rig.pd->handle);
	CHECK_EQ(scene.domain->handle, scene.pd->handle);
	calls = fake_kernel.calls;
	check_gone(&scene);
	CHECK_EQ(fake_kernel.calls, calls);
	CHECK_EQ(fake_kernel.live_pds, 2);
	CHECK_EQ(ibv_dealloc_pd(scene.rig.pd), 0);
	CHECK_EQ(fake_kernel.live_pds, 1);
	scene.rig.pd = ibv_alloc_pd(scene.rig.ctx);
	scene_close(&scene);
}

static void qps_are_made_on_a_domain(void)
{
	struct ibv_qp_init_attr_ex ex;
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct scene scene;
	struct ibv_qp *qp;

	if (!scene_open(&scene))
		return;
	ex = rig_qp_attr(&scene.rig);
	attr.send_cq = ex.send_cq;
	attr.recv_cq = ex.recv_cq;
	attr.cap = ex.cap;
	fake_kernel.last_pd = NO_PD;
	qp = ibv_create_qp(scene.domain, &attr);
	if (!CHECK(qp))
		return;
	check_object(&scene, qp->pd);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	check_gone(&scene);

	ex.pd = scene.domain;
	ex.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	ex.send_ops_flags = IBV_QP_EX_WITH_SEND;
	qp = ibv_create_qp_ex(scene.rig.ctx, &ex);
	if (!CHECK(qp))
		return;
	check_object(&scene, qp->pd);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	check_gone(&scene);
	scene_close(&scene);
}

static void srqs_are_made_on_a_domain(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct scene scene;
	struct ibv_srq *srq;

	if (!scene_open(&scene))
		return;
	fake_kernel.last_pd = NO_PD;
	srq = ibv_create_srq(scene.domain, &attr);
	if (!CHECK(srq))
		return;
	check_object(&scene, srq->pd);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	check_gone(&scene);
	scene_close(&scene);
}

static void regions_are_made_on_a_domain(void)
{
	struct scene scene;
	struct ibv_mr *mr;
	char bytes[64];

	if (!scene_open(&scene))
		return;
	fake_kernel.last_pd = NO_PD;
	mr = ibv_reg_mr(scene.domain, bytes, sizeof(bytes), 0);
	if (!CHECK(mr))
		return;
	check_object(&scene, mr->pd);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	check_gone(&scene);
	scene_close(&scene);
}

/* A region can be moved; the domain it comes from is free, the other is not. */
static void a_region_moves_to_a_domain(void)
{
	struct scene scene;
	struct ibv_mr *mr;
	char bytes[64];

	if (!scene_open(&scene))
		return;
	mr = ibv_reg_mr(scene.rig.pd, bytes, sizeof(bytes), 0);
	if (!CHECK(mr))
		return;
	/* Refused: it stays where it is. */
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, scene.domain, NULL, 0, 0));
	CHECK_EQ(ibv_dealloc_pd(scene.rig.pd), EBUSY);
	check_gone(&scene);

	fake_kernel.can_rereg = 1;
	/* A domain that is there but not asked for does not count. */
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, scene.domain, NULL,
			      0, 0), 0);
	CHECK_EQ(ibv_dealloc_pd(scene.rig.pd), EBUSY);
	check_gone(&scene);
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, scene.domain, NULL, 0,
			      0), 0);
	check_object(&scene, mr->pd);
	CHECK_EQ(ibv_dealloc_pd(scene.rig.pd), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	scene.rig.pd = ibv_alloc_pd(scene.rig.ctx);
	scene_close(&scene);
}

static struct ibv_cq *new_cq(const struct scene *scene, struct ibv_pd *pd)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = pd,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(scene->rig.ctx, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static void cqs_are_made_on_a_domain(void)
{
	struct scene scene;
	struct ibv_cq *cq;

	if (!scene_open(&scene))
		return;
	cq = new_cq(&scene, scene.domain);
	if (!CHECK(cq))
		return;
	CHECK_EQ(ibv_dealloc_pd(scene.domain), EBUSY);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	check_gone(&scene);

	errno = 0;
	CHECK(!new_cq(&scene, scene.pd));
	CHECK_EQ(errno, EINVAL);
	errno = 0;
	CHECK(!new_cq(&scene, NULL));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(fake_kernel.live_cqs, 1);
	scene_close(&scene);
}

/* Parts outlive what is made of them, each until the last one is gone. */
static void parts_of_a_domain_are_busy(void)
{
	struct ibv_pd *plain, *upper;
	struct scene scene;
	unsigned int calls;

	if (!scene_open(&scene))
		return;
	plain = new_domain(scene.pd, NULL);
	upper = new_domain(scene.domain, NULL);
	if (!CHECK(plain) || !CHECK(upper))
		return;
	CHECK_EQ(upper->handle, scene.pd->handle);
	calls = fake_kernel.calls;
	CHECK_EQ(ibv_dealloc_pd(scene.domain), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(upper), 0);
	CHECK_EQ(ibv_dealloc_td(scene.td), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(scene.domain), 0);
	CHECK_EQ(ibv_dealloc_td(scene.td), 0);
	CHECK_EQ(ibv_dealloc_pd(scene.pd), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(plain), 0);
	CHECK_EQ(fake_kernel.calls, calls);
	CHECK_EQ(ibv_dealloc_pd(scene.pd), 0);
	CHECK_EQ(fake_kernel.live_pds, 1);
	rig_close(&scene.rig);
}

/* What could not be made holds nothing. */
static void failures_hold_nothing(void)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr_ex qp;
	struct scene scene;

	if (!scene_open(&scene))
		return;
	qp = rig_qp_attr(&scene.rig);
	qp.pd = scene.domain;
	fake_kernel.corrupt_entries = 1;
	CHECK(!ibv_create_qp_ex(scene.rig.ctx, &qp));
	CHECK(!ibv_create_srq(scene.domain, &srq));
	CHECK(!new_cq(&scene, scene.domain));
	CHECK(!ibv_reg_dmabuf_mr(scene.domain, 0, 64, 0, -1, 0));
	scene_close(&scene);
}

static void a_refused_dealloc_leaves_the_pd(void)
{
	struct rig rig;

	if (!CHECK(rig_open_base(&rig)))
		return;
	fake_kernel.dealloc_pd_errno = EBUSY;
	CHECK_EQ(ibv_dealloc_pd(rig.pd), EBUSY);
	fake_kernel.dealloc_pd_errno = 0;
	CHECK_EQ(rig.pd->handle, 0);
	rig_close(&rig);
}

/* @err: of the attempt, 0 if it is to succeed */
static void try_domain(const struct scene *scene, struct ibv_pd *pd,
		       struct ibv_td *td, uint32_t comp_mask, int err)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd, .td = td, .comp_mask = comp_mask, .pd_context = &attr,
	};
	struct ibv_pd *domain;

	errno = 0;
	domain = ibv_alloc_parent_domain(scene->rig.ctx, &attr);
	CHECK_EQ(errno, err);
	CHECK_EQ(!domain, !!err);
	if (domain)
		CHECK_EQ(ibv_dealloc_pd(domain), 0);
}

static void unusual_domains_are_refused(void)
{
	struct ibv_td_init_attr unknown = { .comp_mask = 1 };
	struct ibv_context other = {};
	struct ibv_pd foreign_pd = { .context = &other };
	struct ibv_td foreign_td = { .context = &other };
	struct scene scene;

	if (!scene_open(&scene))
		return;
	try_domain(&scene, NULL, scene.td, 0, EINVAL);
	try_domain(&scene, &foreign_pd, scene.td, 0, EINVAL);
	try_domain(&scene, scene.pd, &foreign_td, 0, EINVAL);
	try_domain(&scene, scene.pd, NULL, ALLOCATORS, EOPNOTSUPP);
	try_domain(&scene, scene.pd, NULL, ALLOCATORS | PD_CONTEXT, EOPNOTSUPP);
	try_domain(&scene, scene.pd, NULL, 1u << 30, EOPNOTSUPP);
	try_domain(&scene, scene.pd, NULL, PD_CONTEXT, 0);
	try_domain(&scene, scene.pd, scene.td, PD_CONTEXT, 0);
	errno = 0;
	CHECK(!ibv_alloc_td(scene.rig.ctx, &unknown));
	CHECK_EQ(errno, EOPNOTSUPP);
	scene_close(&scene);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(a_domain_is_no_object_of_the_kernel),
	KTAP_TEST(qps_are_made_on_a_domain),
	KTAP_TEST(srqs_are_made_on_a_domain),
	KTAP_TEST(regions_are_made_on_a_domain),
	KTAP_TEST(a_region_moves_to_a_domain),
	KTAP_TEST(cqs_are_made_on_a_domain),
	KTAP_TEST(parts_of_a_domain_are_busy),
	KTAP_TEST(failures_hold_nothing),
	KTAP_TEST(a_refused_dealloc_leaves_the_pd),
	KTAP_TEST(unusual_domains_are_refused),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
