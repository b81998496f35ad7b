// SPDX-License-Identifier: GPL-2.0
/* Round trip estimate of one path; see rtt.h. */
#include <linux/minmax.h>
#include <linux/string.h>
#include "rtt.h"

void mroce_rtt_init(struct mroce_rtt *r)
{
	memset(r, 0, sizeof(*r));
}

/* Minimum over two adjacent windows: it ages out without a list of samples. */
static void sample_min(struct mroce_rtt *r, u64 raw_ns, u64 now)
{
	if (!r->min_ns) {
		r->min_ns = raw_ns;
		r->next_min_ns = raw_ns;
		r->window_ns = now;
	} else if (now - r->window_ns >= MROCE_MIN_RTT_WINDOW_NS) {
		r->min_ns = min(r->next_min_ns, raw_ns);
		r->next_min_ns = raw_ns;
		r->window_ns = now;
	}
	r->min_ns = min(r->min_ns, raw_ns);
	r->next_min_ns = min(r->next_min_ns, raw_ns);
}

void mroce_rtt_sample(struct mroce_rtt *r, u64 raw_ns, u64 ack_delay_ns, u64 now)
{
	u64 rtt, dev;

	raw_ns = max(raw_ns, 1ull);
	sample_min(r, raw_ns, now);
	rtt = raw_ns - min(ack_delay_ns, raw_ns - r->min_ns);
	if (!r->srtt_ns) {
		r->srtt_ns = rtt;
		r->rttvar_ns = max(rtt / 2, MROCE_RTTVAR_MIN_NS);
		return;
	}
	/* RFC 6298 (2.3): the variation uses the old srtt, gains 1/4 and 1/8. */
	dev = rtt > r->srtt_ns ? rtt - r->srtt_ns : r->srtt_ns - rtt;
	r->rttvar_ns = max(r->rttvar_ns - r->rttvar_ns / 4 + dev / 4, MROCE_RTTVAR_MIN_NS);
	r->srtt_ns = max(r->srtt_ns - r->srtt_ns / 8 + rtt / 8, 1ull);
}

void mroce_rtt_new_path(struct mroce_rtt *r)
{
	r->min_ns = 0;
}

u64 mroce_rtt_rto_ns(const struct mroce_rtt *r, u64 ack_delay_ns)
{
	if (!r->srtt_ns)
		return MROCE_PTO_INITIAL_NS;
	return r->srtt_ns + 4 * r->rttvar_ns + ack_delay_ns;
}

u64 mroce_rtt_pto_ns(const struct mroce_rtt *r, u64 ack_delay_ns, u32 n)
{
	u64 pto = MROCE_PTO_INITIAL_NS;

	if (r->srtt_ns)
		pto = max(r->srtt_ns + mroce_rtt_rto_ns(r, ack_delay_ns), MROCE_PTO_MIN_NS);
	pto = min(pto, MROCE_PTO_MAX_NS);
	return min(pto << min(n, 20u), MROCE_PTO_MAX_NS);
}
