// SPDX-License-Identifier: GPL-2.0
/* The way back of a path; see back.h. */
#include "back.h"
#include "path.h"

static u16 port_of(u32 rnd)
{
	return MROCE_SPORT_FIRST + rnd % MROCE_SPORT_COUNT;
}

void mroce_back_init(struct mroce_back *b, u32 rnd)
{
	b->sport = port_of(rnd);
	b->plane = 0;
	b->fwd_port = 0;
	b->probe_ns = 0;
}

bool mroce_back_seen(struct mroce_back *b, u8 plane, u16 fwd_port, bool probe, u32 rnd, u64 now)
{
	bool moved = b->plane != plane || (b->fwd_port && b->fwd_port != fwd_port);
	bool again = probe && b->probe_ns && now - b->probe_ns < MROCE_BACK_REPEAT_NS;

	b->plane = plane;
	b->fwd_port = fwd_port;
	b->probe_ns = probe ? now : 0;
	if (!moved && !again)
		return false;
	/* Never the same one again. */
	if (port_of(rnd) == b->sport)
		rnd++;
	b->sport = port_of(rnd);
	return true;
}
