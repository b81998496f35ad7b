// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles: the kernel keeps what they lead to and gives them a number. */
#include "mroce.h"

#include <errno.h>
#include <stdlib.h>

/* mroce_ah_create - ibv_create_ah() */
struct ibv_ah *mroce_ah_create(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct {
		struct ib_uverbs_create_ah_resp core;
		struct mroce_create_ah_resp drv;
	} resp = {};
	struct mroce_ah *ah = calloc(1, sizeof(*ah));
	int ret;

	if (!ah)
		return NULL;
	ret = ibv_cmd_create_ah(pd, &ah->ibah, attr, &resp.core, sizeof(resp));
	if (ret) {
		free(ah);
		errno = ret;
		return NULL;
	}
	ah->num = resp.drv.ah_num;
	mroce_pd_get(pd);
	return &ah->ibah;
}

/* mroce_ah_destroy - ibv_destroy_ah() */
int mroce_ah_destroy(struct ibv_ah *ibah)
{
	int ret = ibv_cmd_destroy_ah(ibah);

	if (ret)
		return ret;
	mroce_pd_put(ibah->pd);
	free(mroce_ah_from_ibv(ibah));
	return 0;
}
