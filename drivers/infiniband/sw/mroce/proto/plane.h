/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Planes of a connection, sending side: which paths they have, and whether they
 * have proved that they lead to the peer.
 *
 * The place of a plane here is that of its pair of addresses (pairs.h). A plane that
 * was not proved by the handshake is not believed: one of its paths asks for all, and
 * when its probes have come back, full-sized ones too, the others ask as well. The
 * same when all paths of a plane have failed while other planes work.
 *
 * Pure: the caller serialises all calls.
 */
#ifndef MROCE_PROTO_PLANE_H
#define MROCE_PROTO_PLANE_H

#include "pathset.h"

/** Loss rate above which a route may be left, or a plane gets less: 2 %, beyond noise. */
#define MROCE_BAD_LOSS_Q16	1311
/** Packets that the loss rate of a plane is smoothed over. */
#define MROCE_PLANE_RATE_PKTS	512
/** So many times counts what is in flight on a plane that is lossy. */
#define MROCE_PLANE_LOSSY	2

/** mroce_plane_paths() - how many paths a plane gets: @set, or by itself; of @n_planes */
u32 mroce_plane_paths(u32 set, u32 n_planes);

/**
 * mroce_plane_open() - a plane works: give it paths
 * @plane: its place; it has none now
 * @n: how many, at most; there may be less for want of numbers or records
 * @proved: the handshake came this way: its paths are ACTIVE at once
 * @rnd: random words, 2 per path
 *
 * Where there are not enough numbers, planes with more than @n paths give some of them back.
 * The deadline changes. Return: paths it has got.
 */
u32 mroce_plane_open(struct mroce_pathset *ps, u8 plane, u32 n, bool proved, const u32 *rnd,
		     u64 now);

/**
 * mroce_plane_close() - a plane does not work any more, or is gone
 * What is in flight on it goes elsewhere: the timer hands it out, the deadline changes.
 */
void mroce_plane_close(struct mroce_pathset *ps, u8 plane);

/** mroce_plane_drain() - @leaving: no new data on a plane, if any other works; else it may again */
void mroce_plane_drain(struct mroce_pathset *ps, u8 plane, bool leaving);

/** mroce_plane_proved() - @p has become ACTIVE: its plane works */
void mroce_plane_proved(struct mroce_pathset *ps, struct mroce_path *p, u64 now);

/** mroce_plane_doubt() - a path has failed: if all of the plane have, it has to prove itself */
void mroce_plane_doubt(struct mroce_pathset *ps, u8 plane);

/**
 * mroce_plane_loss() - of @n packets sent on a plane @lost got lost
 * A plane is lossy when it loses more than 2 % and more than four times what another one
 * loses, whatever ports its paths took: leaving a route did not help.
 */
void mroce_plane_loss(struct mroce_pathset *ps, u8 plane, u32 n, u32 lost);

/**
 * mroce_plane_bad_route() - is the route of @p far worse than most of its plane?
 * It loses more than 2 % and more than four times what most paths do, or more than half of
 * its packets are marked while on most paths less than a quarter are.
 */
bool mroce_plane_bad_route(const struct mroce_pathset *ps, const struct mroce_path *p);

/** mroce_plane_another() - does any plane work but this one? */
bool mroce_plane_another(const struct mroce_pathset *ps, u8 plane);

/** mroce_plane_asks() - may @p, which is PROBING, send PROBEs now? */
bool mroce_plane_asks(const struct mroce_pathset *ps, const struct mroce_path *p);

/**
 * mroce_plane_hello() - which path the next HELLO takes
 * @unheard: HELLOs sent since the last answer
 * @cpu: the sending CPU
 *
 * It is as large as a packet can be, so only where a peer has answered. While all paths are
 * silent none takes one, and of those sent again every other one: the paths may be the trouble.
 *
 * Return: path index; -1: none, to the GID by one of our planes.
 */
int mroce_plane_hello(struct mroce_pathset *ps, u8 unheard, int cpu);

/** mroce_plane_sport() - a source port no path has, by the random word @rnd */
u16 mroce_plane_sport(const struct mroce_pathset *ps, u32 rnd);

#endif /* MROCE_PROTO_PLANE_H */
