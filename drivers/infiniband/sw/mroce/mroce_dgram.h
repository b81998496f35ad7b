/* SPDX-License-Identifier: GPL-2.0 */
/* Unreliable datagrams: address handles (mroce_ah.c), sending and receiving (mroce_dgram.c). */
#ifndef MROCE_DGRAM_H
#define MROCE_DGRAM_H

#include "mroce.h"
#include "proto/dgram.h"

/**
 * struct mroce_av - where an address handle leads to; never changes
 * Apart from the handle, which the core frees while it may be in use.
 * @rcu: freed after a grace period
 * @pd: whose queue pairs may use it
 * @laddr, @raddr: local and remote GID
 * @ifindex: what routes are bound to, 0 = nothing
 * @tos: DSCP and ECN
 * @flow_label: entropy the user wants in the source port
 */
struct mroce_av {
	struct rcu_head rcu;
	struct ib_pd *pd;
	struct in6_addr laddr;
	struct in6_addr raddr;
	int ifindex;
	u8 tos;
	u32 flow_label;
};

/**
 * struct mroce_ah - address handle
 * @av: what it is made of
 * @num: what the user's work requests call it: index in mroce_dev.ahs; 0 = of the kernel
 */
struct mroce_ah {
	struct ib_ah ibah;
	struct mroce_av *av;
	u32 num;
};

/* mroce_ah.c */
int mroce_ah_ends(const struct rdma_ah_attr *ah, struct in6_addr *laddr, struct in6_addr *raddr,
		  int *ifindex);
int mroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int mroce_ah_destroy(struct ib_ah *ibah, u32 flags);

#define MROCE_NO_VLAN	0xffff

/* mroce_comp.c */
unsigned int mroce_comp_dgram_recv(struct mroce_qp *qp, const struct mroce_rwqe *wqe,
				   const struct mroce_pkt_dgram *p, const u8 *grh, u16 vlan_id);
unsigned int mroce_comp_dgram(struct mroce_qp *qp, const struct mroce_swqe *wqe);
void mroce_comp_unanswered(struct mroce_qp *qp);
unsigned int mroce_comp_answered(struct mroce_qp *qp, u64 wr_id, u8 status);

/* mroce_dgram.c */
void mroce_dgram_send(struct mroce_qp *qp);
bool mroce_dgram_send_batch(struct mroce_qp *qp);

/* Is it a queue pair without connection? */
static inline bool mroce_dgram_is(const struct mroce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_UD || qp->ibqp.qp_type == IB_QPT_GSI;
}

void mroce_dgram_rcv(struct mroce_net *mnet, const struct sk_buff *skb, u32 off,
		     const struct mroce_addrs *addrs);

void mroce_dgram_queue(struct sk_buff_head *list, struct sk_buff *skb,
		       const struct mroce_dgram_to *to);
void mroce_dgram_xmit(struct mroce_dev *dev, struct sk_buff_head *list);

/* mroce_gsi.c */
int mroce_gsi_create(struct mroce_qp *qp);
void mroce_gsi_start(struct mroce_qp *qp);
void mroce_gsi_stop(struct mroce_qp *qp);
u32 mroce_gsi_token(void);
bool mroce_gsi_send(struct mroce_qp *qp, const struct mroce_swqe *wqe, struct sk_buff *skb,
		    u32 token, const struct mroce_dgram_to *to, struct sk_buff_head *list);
void mroce_gsi_answer(struct mroce_qp *qp, const struct in6_addr *from, u32 token);
unsigned int mroce_gsi_flush(struct mroce_qp *qp);

#endif /* MROCE_DGRAM_H */
