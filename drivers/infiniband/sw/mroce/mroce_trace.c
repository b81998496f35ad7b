// SPDX-License-Identifier: GPL-2.0
/*
 * The tracepoints' code, and how windows and path states come to be traced: proto/ knows
 * nothing of tracing, so the glue looks before and after, as long as somebody listens.
 */
#include "mroce.h"

#define CREATE_TRACE_POINTS
#include "mroce_trace.h"

/**
 * mroce_trace_before() - remember windows and states of all paths
 * @conn: connection
 * @snap: where; nothing but @snap->on is set when nobody listens
 *
 * Context: conn->tx_lock held.
 */
void mroce_trace_before(const struct mroce_conn *conn, struct mroce_trace_snap *snap)
{
	int i;

	snap->on = trace_mroce_window_enabled() || trace_mroce_path_state_enabled() ||
		   mroce_nl_listened(conn->dev);
	snap->on &= conn->ready;
	if (likely(!snap->on))
		return;
	snap->n_paths = conn->ps.cfg.n_paths;
	snap->cwnd_bytes = conn->ps.cc.cwnd_bytes;
	for (i = 0; i < snap->n_paths; i++) {
		snap->path[i].cwnd_bytes = conn->path[i].cc.cwnd_bytes;
		snap->path[i].sport = conn->path[i].sport;
		snap->path[i].state = conn->path[i].state;
	}
}

/**
 * mroce_trace_after() - trace what has changed since
 * @conn: connection
 * @snap: from mroce_trace_before()
 *
 * Context: conn->tx_lock held since mroce_trace_before().
 */
void mroce_trace_after(const struct mroce_conn *conn, const struct mroce_trace_snap *snap)
{
	bool window;
	int i;

	if (likely(!snap->on))
		return;
	window = snap->cwnd_bytes != conn->ps.cc.cwnd_bytes;
	for (i = 0; i < snap->n_paths; i++) {
		const struct mroce_path *p = &conn->path[i];

		if (snap->path[i].state != p->state || snap->path[i].sport != p->sport) {
			trace_mroce_path_state(conn, i, snap->path[i].state);
			mroce_nl_path_event(conn, p, snap->path[i].state);
		}
		if (snap->path[i].cwnd_bytes != p->cc.cwnd_bytes) {
			trace_mroce_window(conn, i);
			window = false;
		}
	}
	/* The connection's alone */
	if (window)
		trace_mroce_window(conn, 0);
}
