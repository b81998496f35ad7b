// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mroce_faults: planes and settings of a device, by the family "mroce". */
#include <errno.h>
#include <net/if.h>
#include <linux/mroce.h>

#include "faults.h"

#define PATHS	4

static int genl = -1, family;
static int planes;

/* Before each call: the socket, and what there is */
static int prepare(struct mroce_faults *f)
{
	if (genl < 0)
		genl = mroce_genl_open(&family);
	f->index = if_nametoindex(f->name[1]);
	planes = mroce_genl_planes(genl, family);
	if (genl < 0 || !f->index || planes < 1)
		return mroce_complain("family %d, netdev %d, planes %d", family, f->index, planes);
	return 0;
}

/* When the answer is lost, the deed may be done. */
static bool is_lost(int err)
{
	mroce_inject_end();
	return err == ENOBUFS || err == EFAULT;
}

static bool has(int n)
{
	return mroce_genl_planes(genl, family) == n;
}

static int change(struct mroce_faults *f, int command)
{
	return mroce_genl_plane(genl, family, command, f->name[0], f->index);
}

/* ---- plane add ----------------------------------------------------------------------------- */
static int plane_add(struct mroce_faults *f)
{
	int err = change(f, MROCE_CMD_PLANE_NEW);

	return is_lost(err) && has(planes + 1) ? 0 : err;
}

static int plane_is_not_there(struct mroce_faults *f)
{
	(void)f;
	return has(planes) ? 0 : mroce_complain("the plane is there");
}

static int plane_remove(struct mroce_faults *f)
{
	if (!has(planes + 1))
		return mroce_complain("the plane is not there");
	return change(f, MROCE_CMD_PLANE_DEL);
}

/* ---- plane del ----------------------------------------------------------------------------- */
static int plane_prepare_removal(struct mroce_faults *f)
{
	return prepare(f) ?: change(f, MROCE_CMD_PLANE_NEW);
}

static int plane_del(struct mroce_faults *f)
{
	int err = change(f, MROCE_CMD_PLANE_DEL);

	return is_lost(err) && has(planes) ? 0 : err;
}

static int plane_is_there(struct mroce_faults *f)
{
	(void)f;
	return has(planes + 1) ? 0 : mroce_complain("the plane is not there");
}

/* ---- dev set ------------------------------------------------------------------------------- */
static int dev_prepare(struct mroce_faults *f)
{
	return prepare(f) ?: mroce_genl_set_paths(genl, family, f->name[0], PATHS);
}

static bool dev_is(struct mroce_faults *f, int paths)
{
	return mroce_genl_paths(genl, family, f->name[0]) == paths;
}

static int dev_set(struct mroce_faults *f)
{
	int err = mroce_genl_set_paths(genl, family, f->name[0], PATHS + 1);

	return is_lost(err) && dev_is(f, PATHS + 1) ? 0 : err;
}

static int dev_is_as_before(struct mroce_faults *f)
{
	return dev_is(f, PATHS) ? 0 : mroce_complain("something is set");
}

static int dev_unset(struct mroce_faults *f)
{
	if (!dev_is(f, PATHS + 1))
		return mroce_complain("not all is set");
	return mroce_genl_set_paths(genl, family, f->name[0], PATHS);
}

/* ENOBUFS: netlink has no memory for the question, or the answer */
const struct mroce_op mroce_plane_ops[] = {
	{ .name = "plane_add", .prepare = prepare, .call = plane_add,
	  .check = plane_is_not_there, .undo = plane_remove, .also = { ENOBUFS },
	  .flags = MROCE_OP_BARE },
	{ .name = "plane_del", .prepare = plane_prepare_removal, .call = plane_del,
	  .check = plane_is_there, .undo = plane_is_not_there, .also = { ENOBUFS },
	  .flags = MROCE_OP_BARE },
	{ .name = "dev_set", .prepare = dev_prepare, .call = dev_set,
	  .check = dev_is_as_before, .undo = dev_unset, .also = { ENOBUFS },
	  .flags = MROCE_OP_BARE },
	{ }
};
