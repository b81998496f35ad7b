/* SPDX-License-Identifier: GPL-2.0 */
/* Work requests of users in the kernel. */
#ifndef MROCE_KVERBS_H
#define MROCE_KVERBS_H

#include "mroce.h"

/* The number of the general services queue pair, on the wire too */
#define MROCE_QPN_GSI	1

void mroce_kverbs_init(struct mroce_qp *qp);
void mroce_kverbs_settle(struct mroce_qp *qp);
void mroce_kverbs_stop(struct mroce_qp *qp);
int mroce_kverbs_post_send(struct mroce_qp *qp, const struct ib_send_wr *wr,
			   const struct ib_send_wr **bad_wr);
int mroce_kverbs_post_recv(struct mroce_qp *qp, const struct ib_recv_wr *wr,
			   const struct ib_recv_wr **bad_wr);

#endif /* MROCE_KVERBS_H */
