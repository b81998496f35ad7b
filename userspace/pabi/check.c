// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Is verbs_pabi.h what the installed libibverbs really uses?
 *
 * Sizes are asserted at compile time. At run time every operation is installed
 * alone with verbs_set_ops(). Most of them are copied into the public part of
 * the context: exactly that one word must change. The others are kept in
 * private memory: the public function that uses it is called and must arrive.
 * The device is a made-up one without a file behind it, so no module is needed.
 */
#include "verbs_pabi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

#define OP_WORDS 76

_Static_assert(sizeof(struct verbs_match_ent) == 24, "PABI 34");
_Static_assert(sizeof(struct verbs_device_ops) == 72, "PABI 34");
_Static_assert(sizeof(struct verbs_device) == 712, "PABI 34");
_Static_assert(offsetof(struct verbs_device, ops) == 664, "PABI 34");
_Static_assert(offsetof(struct verbs_device, sysfs) == 696, "PABI 34");
_Static_assert(sizeof(struct verbs_context_ops) == OP_WORDS * 8, "PABI 34");
_Static_assert(sizeof(struct verbs_cq) == 288, "PABI 34");
_Static_assert(sizeof(struct verbs_mr) == 56, "PABI 34");
_Static_assert(sizeof(struct verbs_srq) == 160, "PABI 34");
/* ibv_qp_ex grows with verbs.h; the library's idea of it is the installed one */
_Static_assert(sizeof(struct verbs_qp) == sizeof(struct ibv_qp_ex) + 16,
	       "PABI 34");
_Static_assert(offsetof(struct verbs_qp, comp_mask) == sizeof(struct ibv_qp_ex),
	       "PABI 34");

static int marker_hits;

/* Stands for every operation; 0 and NULL look the same to the caller. */
static void *marker(void)
{
	marker_hits++;
	return NULL;
}

static struct verbs_context *alloc_context(struct ibv_device *device,
					   int cmd_fd, void *private_data)
{
	(void)private_data;
	return _verbs_init_and_alloc_context(device, cmd_fd,
					     sizeof(struct verbs_context), 0,
					     0x4d524f43);
}

static void uninit_device(struct verbs_device *device)
{
	(void)device;
}

static const struct verbs_device_ops device_ops = {
	.name = "check",
	.alloc_context = alloc_context,
	.uninit_device = uninit_device,
};

/* Without a sysfs device libibverbs opens no file. */
static struct ibv_context *open_fake(void)
{
	static struct verbs_device device;

	device = (struct verbs_device) { .ops = &device_ops, .refcount = 1 };
	return verbs_open_device(&device.device, NULL);
}

static struct verbs_context *to_vctx(struct ibv_context *ctx)
{
	return (struct verbs_context *)(void *)
	       ((char *)ctx - offsetof(struct verbs_context, context));
}

static void close_fake(struct ibv_context *ctx)
{
	verbs_uninit_context(to_vctx(ctx));
	free(to_vctx(ctx));
}

/* The private operations, called through the public interface. */
static void call_create_cq_ex(struct ibv_context *ctx)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 1 };

	ibv_create_cq_ex(ctx, &attr);
}

static void call_query_port(struct ibv_context *ctx)
{
	struct ibv_port_attr attr;

	ibv_query_port(ctx, 1, &attr);
}

static void call_query_ece(struct ibv_context *ctx)
{
	struct ibv_qp qp = { .context = ctx };
	struct ibv_ece ece = {};

	ibv_query_ece(&qp, &ece);
}

static void call_set_ece(struct ibv_context *ctx)
{
	struct ibv_qp qp = { .context = ctx };
	struct ibv_ece ece = { .vendor_id = 1 };

	ibv_set_ece(&qp, &ece);
}

static void call_query_data_in_order(struct ibv_context *ctx)
{
	struct ibv_qp qp = { .context = ctx };

	ibv_query_qp_data_in_order(&qp, IBV_WR_SEND, 0);
}

static void call_reg_dmabuf_mr(struct ibv_context *ctx)
{
	struct ibv_pd pd = { .context = ctx };

	ibv_reg_dmabuf_mr(&pd, 0, 1, 0, -1, 0);
}

static void call_import_dm(struct ibv_context *ctx)
{
	ibv_import_dm(ctx, 1);
}

static void call_import_mr(struct ibv_context *ctx)
{
	struct ibv_pd pd = { .context = ctx };

	ibv_import_mr(&pd, 1);
}

static void call_import_pd(struct ibv_context *ctx)
{
	ibv_import_pd(ctx, 1);
}

static void call_unimport_dm(struct ibv_context *ctx)
{
	struct ibv_dm dm = { .context = ctx };

	ibv_unimport_dm(&dm);
}

static void call_unimport_mr(struct ibv_context *ctx)
{
	struct ibv_mr mr = { .context = ctx };

	ibv_unimport_mr(&mr);
}

static void call_unimport_pd(struct ibv_context *ctx)
{
	struct ibv_pd pd = { .context = ctx };

	ibv_unimport_pd(&pd);
}

static void call_free_context(struct ibv_context *ctx)
{
	ibv_close_device(ctx);
}

/*
 * struct op_row - one operation
 * @word: its place in our struct verbs_context_ops
 * @target: byte offset in struct verbs_context where it must arrive, or
 * @call: function that must reach it
 */
struct op_row {
	const char *name;
	size_t word;
	size_t target;
	void (*call)(struct ibv_context *ctx);
};

#define WORD(op)	(offsetof(struct verbs_context_ops, op) / sizeof(void *))
#define TO(op, member)	\
	{ #op, WORD(op), offsetof(struct verbs_context, member), NULL }
#define CALL(op, fn)	{ #op, WORD(op), 0, fn }

static const struct op_row rows[] = {
	TO(advise_mr, advise_mr),
	TO(alloc_dm, alloc_dm),
	TO(alloc_mw, context.ops.alloc_mw),
	TO(alloc_null_mr, alloc_null_mr),
	TO(alloc_parent_domain, alloc_parent_domain),
	TO(alloc_pd, context.ops._compat_alloc_pd),
	TO(alloc_td, alloc_td),
	TO(async_event, context.ops._compat_async_event),
	TO(attach_counters_point_flow, attach_counters_point_flow),
	TO(attach_mcast, context.ops._compat_attach_mcast),
	TO(bind_mw, context.ops.bind_mw),
	TO(close_xrcd, close_xrcd),
	TO(cq_event, context.ops._compat_cq_event),
	TO(create_ah, context.ops._compat_create_ah),
	TO(create_counters, create_counters),
	TO(create_cq, context.ops._compat_create_cq),
	CALL(create_cq_ex, call_create_cq_ex),
	TO(create_flow, ibv_create_flow),
	TO(create_flow_action_esp, create_flow_action_esp),
	TO(create_qp, context.ops._compat_create_qp),
	TO(create_qp_ex, create_qp_ex),
	TO(create_rwq_ind_table, create_rwq_ind_table),
	TO(create_srq, context.ops._compat_create_srq),
	TO(create_srq_ex, create_srq_ex),
	TO(create_wq, create_wq),
	TO(dealloc_mw, context.ops.dealloc_mw),
	TO(dealloc_pd, context.ops._compat_dealloc_pd),
	TO(dealloc_td, dealloc_td),
	TO(dereg_mr, context.ops._compat_dereg_mr),
	TO(destroy_ah, context.ops._compat_destroy_ah),
	TO(destroy_counters, destroy_counters),
	TO(destroy_cq, context.ops._compat_destroy_cq),
	TO(destroy_flow, ibv_destroy_flow),
	TO(destroy_flow_action, destroy_flow_action),
	TO(destroy_qp, context.ops._compat_destroy_qp),
	TO(destroy_rwq_ind_table, destroy_rwq_ind_table),
	TO(destroy_srq, context.ops._compat_destroy_srq),
	TO(destroy_wq, destroy_wq),
	TO(detach_mcast, context.ops._compat_detach_mcast),
	CALL(free_context, call_free_context),
	TO(free_dm, free_dm),
	TO(get_srq_num, get_srq_num),
	CALL(import_dm, call_import_dm),
	CALL(import_mr, call_import_mr),
	CALL(import_pd, call_import_pd),
	TO(modify_cq, modify_cq),
	TO(modify_flow_action_esp, modify_flow_action_esp),
	TO(modify_qp, context.ops._compat_modify_qp),
	TO(modify_qp_rate_limit, modify_qp_rate_limit),
	TO(modify_srq, context.ops._compat_modify_srq),
	TO(modify_wq, modify_wq),
	TO(open_qp, open_qp),
	TO(open_xrcd, open_xrcd),
	TO(poll_cq, context.ops.poll_cq),
	TO(post_recv, context.ops.post_recv),
	TO(post_send, context.ops.post_send),
	TO(post_srq_ops, post_srq_ops),
	TO(post_srq_recv, context.ops.post_srq_recv),
	TO(query_device_ex, query_device_ex),
	CALL(query_ece, call_query_ece),
	CALL(query_port, call_query_port),
	TO(query_qp, context.ops._compat_query_qp),
	CALL(query_qp_data_in_order, call_query_data_in_order),
	TO(query_rt_values, query_rt_values),
	TO(query_srq, context.ops._compat_query_srq),
	TO(read_counters, read_counters),
	TO(reg_dm_mr, reg_dm_mr),
	CALL(reg_dmabuf_mr, call_reg_dmabuf_mr),
	TO(reg_mr, context.ops._compat_reg_mr),
	TO(req_notify_cq, context.ops.req_notify_cq),
	TO(rereg_mr, context.ops._compat_rereg_mr),
	TO(resize_cq, context.ops._compat_resize_cq),
	CALL(set_ece, call_set_ece),
	CALL(unimport_dm, call_unimport_dm),
	CALL(unimport_mr, call_unimport_mr),
	CALL(unimport_pd, call_unimport_pd),
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == OP_WORDS,
	       "one row for every operation");

static void set_one(struct ibv_context *ctx, size_t word)
{
	union {
		struct verbs_context_ops ops;
		void *(*words[OP_WORDS])(void);
	} set;

	memset(&set, 0, sizeof(set));
	set.words[word] = marker;
	verbs_set_ops(to_vctx(ctx), &set.ops);
}

/* Exactly the word at @target has become the marker; others are untouched. */
static bool only_target_changed(const void *before, const void *after,
				size_t target)
{
	void *(*expected)(void) = marker;
	size_t i;

	for (i = 0; i < sizeof(struct verbs_context); i += sizeof(void *)) {
		const char *want = i == target ? (const char *)&expected :
						 (const char *)before + i;

		if (memcmp((const char *)after + i, want, sizeof(void *)))
			return false;
	}
	return true;
}

static bool row_is_right(const struct op_row *row)
{
	struct ibv_context *ctx = open_fake();
	struct verbs_context before;
	bool ok;

	if (!ctx)
		return false;
	memcpy(&before, to_vctx(ctx), sizeof(before));
	marker_hits = 0;
	set_one(ctx, row->word);

	if (row->call) {
		/* No public word may change, and one call arrives once. */
		ok = !memcmp(&before, to_vctx(ctx), sizeof(before));
		row->call(ctx);
		ok = ok && marker_hits == 1;
	} else {
		ok = only_target_changed(&before, to_vctx(ctx), row->target);
	}
	close_fake(ctx);
	return ok;
}

static void every_op_arrives(void)
{
	size_t i;

	for (i = 0; i < OP_WORDS; i++)
		ktap_check(row_is_right(&rows[i]), __FILE__, __LINE__,
			   rows[i].name);
}

static void every_word_has_its_row(void)
{
	size_t i;

	for (i = 0; i < OP_WORDS; i++)
		CHECK_EQ(rows[i].word, i);
}

/* The library and we agree where a QP says that it is an extended one. */
static void qp_ex_is_found(void)
{
	struct verbs_qp qp = {};

	CHECK(!ibv_qp_to_qp_ex(&qp.qp));
	qp.comp_mask = VERBS_QP_EX;
	CHECK(ibv_qp_to_qp_ex(&qp.qp) == &qp.qp_ex);
}

static void context_knows_its_device(void)
{
	struct ibv_context *ctx = open_fake();

	if (!CHECK(ctx))
		return;
	CHECK(((struct verbs_device *)ctx->device)->ops == &device_ops);
	CHECK_EQ(((struct verbs_device *)ctx->device)->refcount, 2);
	close_fake(ctx);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(every_word_has_its_row),
	KTAP_TEST(every_op_arrives),
	KTAP_TEST(qp_ex_is_found),
	KTAP_TEST(context_knows_its_device),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
