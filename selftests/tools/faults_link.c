// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_faults: the module and links. */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.h"

#define MODULE "mroce"

/* ---- module ------------------------------------------------------------------------------ */
static int module_open(struct mroce_faults *f)
{
	if (f->fd < 0)
		f->fd = open(f->name[0], O_RDONLY | O_CLOEXEC);
	return f->fd < 0 ? -1 : 0;
}

static int module_insert(struct mroce_faults *f)
{
	return syscall(SYS_finit_module, f->fd, "", 0) ? errno : 0;
}

static int module_is_absent(struct mroce_faults *f)
{
	(void)f;
	return access("/sys/module/" MODULE, F_OK) ? 0 : mroce_complain("the module is there");
}

static int module_remove(struct mroce_faults *f)
{
	(void)f;
	return syscall(SYS_delete_module, MODULE, O_NONBLOCK) ? errno : 0;
}

static int module_prepare_removal(struct mroce_faults *f)
{
	return module_open(f) ?: module_insert(f);
}

/* ---- link -------------------------------------------------------------------------------- */
static bool link_is_there(struct mroce_faults *f)
{
	return mroce_nl_index(f->nl, f->name[0]) >= 0;
}

/* Failures of netlink itself: when the answer is lost, the deed may be done. */
static bool answer_is_lost(int err)
{
	return err == ENOBUFS || err == EFAULT;
}

static int link_add(struct mroce_faults *f)
{
	int err = mroce_nl_add(f->nl, f->name[0], f->name[1]);

	mroce_inject_end();
	return answer_is_lost(err) && link_is_there(f) ? 0 : err;
}

static int link_remove(struct mroce_faults *f)
{
	int index = mroce_nl_index(f->nl, f->name[0]);

	if (index < 0)
		return mroce_complain("there is no link");
	return mroce_nl_delete(f->nl, index);
}

static int link_prepare_removal(struct mroce_faults *f)
{
	int err = mroce_nl_add(f->nl, f->name[0], f->name[1]);

	f->index = mroce_nl_index(f->nl, f->name[0]);
	return err;
}

static int link_delete(struct mroce_faults *f)
{
	int err = mroce_nl_delete(f->nl, f->index);

	mroce_inject_end();
	return answer_is_lost(err) && !link_is_there(f) ? 0 : err;
}

static int link_is_gone(struct mroce_faults *f)
{
	return link_is_there(f) ? mroce_complain("the link is there") : 0;
}

/* ENOBUFS: netlink has no memory for the question */
const struct mroce_op mroce_link_ops[] = {
	{ .name = "insmod", .prepare = module_open, .call = module_insert,
	  .check = module_is_absent, .undo = module_remove, .flags = MROCE_OP_BARE, .stride = 11 },
	{ .name = "rmmod", .prepare = module_prepare_removal, .call = module_remove,
	  .undo = module_is_absent, .flags = MROCE_OP_BARE | MROCE_OP_QUIET },
	{ .name = "link_add", .call = link_add, .check = link_is_gone, .undo = link_remove,
	  .also = { ENOBUFS }, .flags = MROCE_OP_BARE, .stride = 37 },
	{ .name = "link_delete", .prepare = link_prepare_removal, .call = link_delete,
	  .undo = link_is_gone, .also = { ENOBUFS },
	  .flags = MROCE_OP_BARE | MROCE_OP_NEEDS_NO_MEMORY | MROCE_OP_LEAVES_NODE },
	{ }
};
