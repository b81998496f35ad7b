// SPDX-License-Identifier: GPL-2.0
/* The network of the simulation: a heap of packets by time, links that spoil them. */
#include <linux/limits.h>
#include <linux/minmax.h>

#include "sim.h"

static bool earlier(const struct sim *sim, u16 x, u16 y)
{
	const struct sim_pkt *a = &sim->pkt[x], *b = &sim->pkt[y];

	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void swap_slots(struct sim *sim, u32 x, u32 y)
{
	u16 t = sim->heap[x];

	sim->heap[x] = sim->heap[y];
	sim->heap[y] = t;
}

void mroce_sim_net_init(struct sim *sim)
{
	while (sim->n_idle < SIM_PKTS) {
		sim->idle[sim->n_idle] = sim->n_idle;
		sim->n_idle++;
	}
}

struct sim_pkt *mroce_sim_alloc(struct sim *sim)
{
	struct sim_pkt *pkt;

	/* More packets than windows allow: a rule is broken, but keep going to the check */
	SIM_CHECK(sim, sim->n_idle > 1, sim->n_heap, 0);
	pkt = &sim->pkt[sim->idle[sim->n_idle > 1 ? --sim->n_idle : 0]];
	pkt->kind = SIM_ARRIVAL;
	pkt->ce = false;
	return pkt;
}

void mroce_sim_free(struct sim *sim, struct sim_pkt *pkt)
{
	sim->idle[sim->n_idle++] = pkt - sim->pkt;
}

void mroce_sim_push(struct sim *sim, struct sim_pkt *pkt)
{
	u32 i = sim->n_heap++;

	pkt->order = sim->order++;
	sim->heap[i] = pkt - sim->pkt;
	for (; i && earlier(sim, sim->heap[i], sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap_slots(sim, i, (i - 1) / 2);
}

struct sim_pkt *mroce_sim_pop(struct sim *sim)
{
	struct sim_pkt *pkt = &sim->pkt[sim->heap[0]];
	u32 i = 0, child;

	sim->heap[0] = sim->heap[--sim->n_heap];
	while ((child = 2 * i + 1) < sim->n_heap) {
		if (child + 1 < sim->n_heap &&
		    earlier(sim, sim->heap[child + 1], sim->heap[child]))
			child++;
		if (!earlier(sim, sim->heap[child], sim->heap[i]))
			break;
		swap_slots(sim, i, child);
		i = child;
	}
	return pkt;
}

u64 mroce_sim_next_ns(const struct sim *sim)
{
	return sim->n_heap ? sim->pkt[sim->heap[0]].at : U64_MAX;
}

/* Half of the network is gone: which half a port leads to is a matter of hashing */
static bool in_dead_half(u16 port)
{
	return (port * 0x9e3779b1u) >> 31;
}

/* A link is dead for the source port it had when it died. */
static bool swallowed(const struct sim *sim, int from, int path, u16 port, bool is_ack)
{
	const struct sim_end *e = &sim->end[from];
	const struct sim_cfg *c = &sim->cfg;

	if (c->silent_ns && sim->now >= c->silent_at && sim->now < c->silent_at + c->silent_ns)
		return true;
	if (!sim->dying)
		return false;
	if (c->dead_half && in_dead_half(port))
		return true;
	return path < c->dead_path &&
	       port == (is_ack ? e->dead_back[path] : e->dead_port[path]);
}

static void duplicate(struct sim *sim, const struct sim_pkt *pkt)
{
	struct sim_pkt *copy;

	if (!rnd_ppm(&sim->rnd, sim->cfg.dup_ppm) || sim->n_idle < SIM_PKTS / 8)
		return;
	copy = mroce_sim_alloc(sim);
	*copy = *pkt;
	copy->at += rnd_below(&sim->rnd, 4 * sim->cfg.delay_ns);
	mroce_sim_push(sim, copy);
}

/* When the last byte has left the link; 0 = the queue is full */
static u64 departure(struct sim *sim, struct sim_link *link, struct sim_pkt *pkt)
{
	u64 wait = link->free_at > sim->now ? link->free_at - sim->now : 0;

	if (sim->cfg.queue_ns && wait > sim->cfg.queue_ns)
		return 0;
	if (sim->cfg.mark_ns && wait > sim->cfg.mark_ns) {
		pkt->ce = true;
		sim->n_marked++;
	}
	link->free_at = sim->now + wait + ((u64)pkt->total * sim->cfg.ns_per_byte_q8 >> 8);
	return link->free_at;
}

void mroce_sim_xmit(struct sim *sim, int from, int path, struct sim_pkt *pkt)
{
	const struct sim_cfg *c = &sim->cfg;
	struct sim_link *link = &sim->link[from][path];
	u8 type = mroce_wire_type(pkt->buf[0]);
	bool is_ack = type == MROCE_WIRE_ACK || type == MROCE_WIRE_PROBE_ACK;
	u64 left = departure(sim, link, pkt);

	pkt->to = !from;
	pkt->path = path;
	pkt->port = is_ack ? sim->end[from].back[path].sport : sim->end[from].path[path].sport;
	if (!left || swallowed(sim, from, path, pkt->port, is_ack) ||
	    rnd_ppm(&sim->rnd, is_ack ? c->ack_loss_ppm : c->loss_ppm)) {
		mroce_sim_free(sim, pkt);
		return;
	}
	pkt->at = left + c->delay_ns + path * c->skew_ns;
	if (rnd_ppm(&sim->rnd, c->reorder_ppm)) {
		pkt->at += rnd_below(&sim->rnd, c->delay_ns);
	} else {
		if (pkt->at <= link->last_arrival)
			pkt->at = link->last_arrival + 1;
		link->last_arrival = pkt->at;
	}
	mroce_sim_push(sim, pkt);
	duplicate(sim, pkt);
}
