/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Questions to the netlink family "mroce". */
#ifndef MROCE_DV_NL_H
#define MROCE_DV_NL_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes that are looked at; a newer kernel may tell more. */
#define MROCE_NL_MAX_ATTR	63

/* struct mroce_nl_put - an attribute of a request */
struct mroce_nl_put {
	uint16_t type;
	uint16_t bytes;
	const void *data;
};

/* struct mroce_nl_answer - attributes of one message, NULL where there is none */
struct mroce_nl_answer {
	const struct nlattr *attr[MROCE_NL_MAX_ATTR + 1];
};

typedef void mroce_nl_take_fn(const struct mroce_nl_answer *answer, void *arg);

struct mroce_nl *mroce_nl_open(void);
void mroce_nl_close(struct mroce_nl *nl);
int mroce_nl_dump(struct mroce_nl *nl, uint8_t command, const struct mroce_nl_put *put,
		  size_t n_put, mroce_nl_take_fn *take, void *arg);

uint64_t mroce_nl_uint(const struct nlattr *attr);
size_t mroce_nl_bytes(const struct nlattr *attr, void *data, size_t bytes);

#endif /* MROCE_DV_NL_H */
