// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One operation after the other is called with every failure there can be.
 *
 *   mroce_faults DEVICE-A DEVICE-B OPERATION       of verbs
 *   mroce_faults NAME NETDEV OPERATION             link_add, link_delete: no device may be there
 *   mroce_faults MODULE - OPERATION                insmod, rmmod
 *   mroce_faults DEVICE NETDEV OPERATION           plane_add, plane_del, dev_set: of the netdev
 *   mroce_faults list verbs|plane|link|module      names of operations
 *
 * The first allocation of the call fails, or the first copy from or to user space; then
 * the second; and so on, until a call succeeds because nothing was left to fail. Then
 * once more with a shortage: nothing is to be had from so many bytes on. After each
 * error: is it the right one, is everything as before, does the same call succeed now?
 *
 * A call may succeed although something failed, where it has another way. Line on
 * standard output: how many points were walked and what became of them. Exit code 0:
 * as it should be, 1: not so, 2: cannot run.
 *
 * STRIDE=N in the environment: only each N-th point, 1 = really all.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faults.h"

#define MOST_POINTS	20000
#define DENSE		100	/* points before op->stride counts */
#define ERRNOS		134
#define HEAP_BYTES	(16 << 20)

/**
 * struct walk - one walk over an operation
 * @points: calls with something injected
 * @went_on: of them, those that succeeded all the same
 * @errors: of the others, by errno
 * @memory: failures of memory
 * @copies: failures of copies
 */
struct walk {
	unsigned int points;
	unsigned int went_on;
	unsigned int errors[ERRNOS];
	unsigned int memory;
	unsigned int copies;
};

static const char *where = "";
static bool nodes_count;

/**
 * mroce_complain - say what is wrong, and at which point
 *
 * Return: -1
 */
int mroce_complain(const char *what, ...)
{
	va_list args;

	fprintf(stderr, "FAIL %s: ", where);
	va_start(args, what);
	vfprintf(stderr, what, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

static const char *fault_text(unsigned int mask)
{
	static const char *const text[] = {
		"nothing", "slab", "page", "slab and page", "copy",
	};

	return mask < ARRAY_SIZE(text) ? text[mask] : "several";
}

static bool is_fitting(const struct mroce_op *op, int err, unsigned int mask)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(op->also); i++)
		if (err == op->also[i])
			return true;
	if (mask & MROCE_FAULT_COPY)
		return err == EFAULT && !(op->flags & MROCE_OP_NEVER_FAILS);
	return err == ENOMEM && !(op->flags & (MROCE_OP_NEEDS_NO_MEMORY | MROCE_OP_NEVER_FAILS));
}

static int compare(const struct mroce_resources *was, const struct mroce_resources *is)
{
	int i, err = 0;

	for (i = 0; i < is->n; i++)
		if (was->count[i] != is->count[i])
			err = mroce_complain("%s: %lu before, %lu now", is->name[i],
					     was->count[i], is->count[i]);
	if (was->devices != is->devices || was->sockets != is->sockets ||
	    (nodes_count && was->nodes != is->nodes))
		err = mroce_complain("devices %d, nodes %d, sockets %d before, %d, %d, %d now",
				     was->devices, was->nodes, was->sockets, is->devices,
				     is->nodes, is->sockets);
	return err;
}

/* After an error: nothing has happened, and the next call is as any. */
static int recover(struct mroce_faults *f, const struct mroce_op *op,
		   const struct mroce_resources *before)
{
	struct mroce_resources now;
	int err;

	if (mroce_resources_get(f->nl, &now))
		return mroce_complain("cannot tell what there is");
	if (compare(before, &now))
		return -1;
	if (op->check && op->check(f))
		return -1;
	err = op->again ? op->again(f) : op->call(f);
	return err ? mroce_complain("the call after: %s", strerror(err)) : 0;
}

/* One call with a failure at @n. Return: 1 = something failed, 0 = nothing did, -1 */
static int call_once(struct mroce_faults *f, const struct mroce_op *op, struct walk *w,
		     void (*inject)(unsigned int n), unsigned int n)
{
	struct mroce_resources base, before, after;
	unsigned int mask;
	int err;

	f->round++;
	if (mroce_resources_get(f->nl, &base) || (op->prepare && op->prepare(f)) ||
	    mroce_resources_get(f->nl, &before))
		return mroce_complain("cannot prepare: %s", strerror(errno));
	inject(n);
	err = op->call(f);
	mask = mroce_inject_end();

	w->points += !!mask;
	w->memory += !!(mask & MROCE_FAULT_MEMORY);
	w->copies += !!(mask & MROCE_FAULT_COPY);
	w->went_on += mask && !err;
	if (err)
		w->errors[err < ERRNOS ? err : 0]++;
	if (err && (!mask || !is_fitting(op, err, mask)))
		mroce_complain("%s after a failure of %s", strerror(err), fault_text(mask));
	if (err && (recover(f, op, &before) || !mask || !is_fitting(op, err, mask)))
		return -1;
	if (op->undo && op->undo(f))
		return mroce_complain("the object is not as it should be (%s failed)",
				      fault_text(mask));
	if (mroce_resources_get(f->nl, &after) || compare(&base, &after))
		return mroce_complain("it remains (%s failed)", fault_text(mask));
	return !!mask;
}

static void report(const struct mroce_op *op, const char *how, unsigned int end,
		   const struct walk *w)
{
	int i;

	printf("%s, %s: ends before %u, %u points (memory %u, copies %u), %u went on", op->name,
	       how, end, w->points, w->memory, w->copies, w->went_on);
	for (i = 0; i < ERRNOS; i++)
		if (w->errors[i])
			printf(", %u %s", w->errors[i], strerrorname_np(i));
	putchar('\n');
	fflush(stdout);
}

/* A walk that met nothing says nothing. */
static int has_met(const struct mroce_op *op, const struct walk *w)
{
	bool any = op->flags & (MROCE_OP_NEEDS_NO_MEMORY | MROCE_OP_COPIES_ONLY);

	if (op->flags & MROCE_OP_QUIET || (any ? w->points : w->memory))
		return 0;
	return mroce_complain("nothing was injected");
}

static int walk_points(struct mroce_faults *f, const struct mroce_op *op)
{
	const char *text = getenv("STRIDE");
	unsigned int n, stride = text ? atoi(text) : 0;
	struct walk w = {};
	char at[64];
	int ret = 1;

	where = at;
	nodes_count = !(op->flags & MROCE_OP_LEAVES_NODE);
	for (n = 1; ret > 0 && n < MOST_POINTS; n += stride ?: n > DENSE ? op->stride ?: 1 : 1) {
		snprintf(at, sizeof(at), "%s, point %u", op->name, n);
		ret = call_once(f, op, &w, mroce_inject_nth, n);
	}
	report(op, "one failure", n, &w);
	if (ret > 0)
		return mroce_complain("that never ends");
	return ret ?: stride ? 0 : has_met(op, &w);
}

static int walk_shortage(struct mroce_faults *f, const struct mroce_op *op)
{
	unsigned int bytes;
	struct walk w = {};
	char at[64];
	int ret = 1;

	where = at;
	/* The error of an add deletes again, with no memory at all. */
	nodes_count = !(op->flags & MROCE_OP_BARE);
	for (bytes = op->least_bytes; ret > 0 && bytes < 1u << 30; bytes += 64 + bytes / 8) {
		snprintf(at, sizeof(at), "%s, %u bytes to be had", op->name, bytes);
		ret = call_once(f, op, &w, mroce_inject_shortage, bytes);
	}
	report(op, "shortage", bytes, &w);
	return ret > 0 ? mroce_complain("that never ends") : ret;
}

static int begin(struct mroce_faults *f, const struct mroce_op *op)
{
	int i;

	if (op->flags & MROCE_OP_BARE)
		return 0;
	for (i = 0; i < 2; i++)
		if (mroce_dev_open(&f->dev[i], f->name[i], -1, false))
			return -1;
	return mroce_side_open(f);
}

static void end(struct mroce_faults *f, const struct mroce_op *op)
{
	int i;

	if (op->flags & MROCE_OP_BARE)
		return;
	mroce_side_close(f);
	for (i = 0; i < 2; i++)
		mroce_dev_close(&f->dev[i]);
}

static const struct mroce_op *find(const char *name)
{
	const struct mroce_op *const all[] = {
		mroce_link_ops, mroce_plane_ops, mroce_object_ops, mroce_pair_ops
	};
	const struct mroce_op *op;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		for (op = all[i]; op->name; op++)
			if (!strcmp(op->name, name))
				return op;
	return NULL;
}

static int list(const char *what)
{
	const struct mroce_op *op = mroce_link_ops;
	bool verbs = !strcmp(what, "verbs"), link = !strcmp(what, "link");

	if (!strcmp(what, "plane")) {
		for (op = mroce_plane_ops; op->name; op++)
			puts(op->name);
		return 0;
	}
	if (verbs) {
		for (op = mroce_object_ops; op->name; op++)
			puts(op->name);
		op = mroce_pair_ops;
	}
	for (; op->name; op++)
		if (verbs || link == !strncmp(op->name, "link", 4))
			puts(op->name);
	return 0;
}

int main(int argc, char **argv)
{
	struct mroce_faults f = { .fd = -1 };
	const struct mroce_op *op;

	if (argc == 3 && !strcmp(argv[1], "list"))
		return list(argv[2]);
	op = argc == 4 ? find(argv[3]) : NULL;
	if (!op) {
		fprintf(stderr, "usage: mroce_faults A B OPERATION |\n"
			"       mroce_faults list verbs|plane|link|module\n");
		return 2;
	}
	f.name[0] = argv[1];
	f.name[1] = argv[2];
	f.nl = mroce_nl_open();
	if (f.nl < 0 || mroce_inject_init() || begin(&f, op) ||
	    mroce_heap_touch(HEAP_BYTES) || mlockall(MCL_CURRENT))
		return 2;
	if (walk_points(&f, op) || (!getenv("NO_SHORTAGE") && walk_shortage(&f, op)))
		return 1;
	end(&f, op);
	return 0;
}
