/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sending stream and the records of its imaginary peer, for the suites
 * mroce_txs and mroce_txs_timer.
 */
#ifndef MROCE_KUNIT_TXS_STREAM_H
#define MROCE_KUNIT_TXS_STREAM_H

#include <kunit/test.h>

#include "txs.h"

#define FIRST		0xfffffff0u	/* psn 16 from here is 0 */
#define WINDOW		MROCE_STREAM_WINDOW
#define T0		5000000000ull	/* when the cases begin, ns */
#define RTO		1000000ull	/* round trip estimate, ns */
#define RNR_CODE	14		/* 1.28 ms */

static inline struct mroce_txs *stream_new(struct kunit *test, u8 timeout, u8 retry_cnt,
					   u8 rnr_retry)
{
	struct mroce_txs_cfg cfg = {
		.window = WINDOW, .timeout = timeout, .retry_cnt = retry_cnt,
		.rnr_retry = rnr_retry,
	};
	struct mroce_txs *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	mroce_txs_init(s, FIRST, &cfg);
	return s;
}

/* The next record of the peer */
static inline u32 peer_record(struct mroce_txs *s, u8 syndrome, u32 cum, u32 limit, u16 refusals,
			      u64 now)
{
	struct mroce_rec rec = {
		.syndrome = syndrome, .rnr_timer = RNR_CODE, .recno = s->recno + 1,
		.cum_psn = cum, .limit_psn = limit, .refusals = refusals,
	};

	return mroce_txs_record(s, &rec, now);
}

static inline u32 ok_record(struct mroce_txs *s, u32 cum)
{
	return peer_record(s, MROCE_SYN_OK, cum, cum + WINDOW, s->refusals, T0);
}

static inline u32 busy_record(struct mroce_txs *s, u32 cum, u32 limit)
{
	return peer_record(s, MROCE_SYN_BUSY, cum, limit, s->refusals, T0);
}

static inline u32 rnr_record(struct mroce_txs *s, u32 cum, u32 limit, u16 refusals, u64 now)
{
	return peer_record(s, MROCE_SYN_RNR, cum, limit, refusals, now);
}

#endif /* MROCE_KUNIT_TXS_STREAM_H */
