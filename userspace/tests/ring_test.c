// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The ring accessors alone: full, empty, wrap, limits, order between threads. */
#include "ring.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ktap.h"

#define ENTRIES	8
#define STRIDE	64
#define BYTES	(MROCE_RING_DATA_OFFSET + ENTRIES * STRIDE)

_Static_assert(sizeof(struct mroce_ring_hdr) == MROCE_RING_DATA_OFFSET, "ABI");
_Static_assert(sizeof(struct mroce_sqe) == MROCE_SQE_SIZE, "ABI");
_Static_assert(sizeof(struct mroce_rqe) == MROCE_RQE_SIZE, "ABI");
_Static_assert(sizeof(struct mroce_cqe) == MROCE_CQE_SIZE, "ABI");

static int make_file(void)
{
	int fd = memfd_create("ring", 0);

	if (fd >= 0 && ftruncate(fd, 2 * BYTES)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int map(struct mroce_ring *ring, int fd, uint32_t limit)
{
	struct mroce_ring_info info = {
		.size_bytes = BYTES, .entries = ENTRIES, .stride = STRIDE,
	};

	memset(ring, 0, sizeof(*ring));
	return mroce_ring_map(ring, fd, &info, STRIDE, limit);
}

static void full_at_limit(void)
{
	struct mroce_ring ring;
	int fd = make_file();
	uint32_t i;

	if (!CHECK(!map(&ring, fd, 5)))
		return;
	for (i = 0; i < 5; i++) {
		CHECK(!mroce_ring_is_full(&ring));
		ring.next++;
	}
	CHECK(mroce_ring_is_full(&ring));
	ring.hdr->cons = 1;
	CHECK(!mroce_ring_is_full(&ring));
	ring.next++;
	CHECK(mroce_ring_is_full(&ring));
	mroce_ring_unmap(&ring);
	close(fd);
}

static void full_across_index_wrap(void)
{
	struct mroce_ring ring;
	int fd = make_file();
	uint32_t start = UINT32_MAX - 2;
	uint32_t i;

	if (!CHECK(!map(&ring, fd, ENTRIES)))
		return;
	ring.hdr->prod = start;
	ring.hdr->cons = start;
	mroce_ring_reload(&ring);
	for (i = 0; i < ENTRIES; i++) {
		CHECK(!mroce_ring_is_full(&ring));
		*(uint32_t *)mroce_ring_slot(&ring, ring.next) = i;
		ring.next++;
	}
	CHECK(mroce_ring_is_full(&ring));
	mroce_ring_publish(&ring);
	CHECK_EQ(ring.hdr->prod, start + ENTRIES);
	for (i = 0; i < ENTRIES; i++)
		CHECK_EQ(*(uint32_t *)mroce_ring_slot(&ring, start + i), i);
	mroce_ring_unmap(&ring);
	close(fd);
}

static void nonsense_cons_is_full(void)
{
	struct mroce_ring ring;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, ENTRIES)))
		return;
	ring.next = ENTRIES;
	ring.hdr->cons = 1000;
	CHECK(mroce_ring_is_full(&ring));
	mroce_ring_unmap(&ring);
	close(fd);
}

static void absent_ring_is_full(void)
{
	struct mroce_ring ring = {};
	struct mroce_ring_info none = {};

	CHECK_EQ(mroce_ring_map(&ring, -1, &none, STRIDE, 0), 0);
	CHECK(mroce_ring_is_full(&ring));
	CHECK_EQ(mroce_ring_map(&ring, -1, &none, STRIDE, 1), EPROTO);
	mroce_ring_reload(&ring);
	mroce_ring_unmap(&ring);
}

static void consumer_sees_what_is_published(void)
{
	struct mroce_ring ring;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, ENTRIES)))
		return;
	CHECK(mroce_ring_is_empty(&ring));
	ring.hdr->prod = 2;
	CHECK(!mroce_ring_is_empty(&ring));
	ring.next++;
	CHECK(!mroce_ring_is_empty(&ring));
	ring.next++;
	CHECK(mroce_ring_is_empty(&ring));
	CHECK_EQ(ring.hdr->cons, 0);
	mroce_ring_release(&ring);
	CHECK_EQ(ring.hdr->cons, 2);
	mroce_ring_unmap(&ring);
	close(fd);
}

static void state_bits(void)
{
	struct mroce_ring ring;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, ENTRIES)))
		return;
	CHECK(!mroce_ring_needs_kick(&ring));
	ring.hdr->state = MROCE_RING_KICK;
	CHECK(mroce_ring_needs_kick(&ring));
	ring.hdr->state = MROCE_RING_ARM_NEXT;
	CHECK(!mroce_ring_needs_kick(&ring));
	/* A weaker request leaves a stronger one in force. */
	mroce_ring_arm(&ring, MROCE_RING_ARM_SOLICITED);
	CHECK_EQ(ring.hdr->state,
		 MROCE_RING_ARM_NEXT | MROCE_RING_ARM_SOLICITED);
	mroce_ring_unmap(&ring);
	close(fd);
}

static void bad_geometry_is_refused(void)
{
	static const struct {
		const char *what;
		struct mroce_ring_info info;
		uint32_t limit;
	} rows[] = {
		{ "no entries", { 0, BYTES, 0, STRIDE, 0 }, 0 },
		{ "not a power of two", { 0, BYTES, 7, STRIDE, 0 }, 7 },
		{ "limit above entries", { 0, BYTES, 8, STRIDE, 0 }, 9 },
		{ "stride too small", { 0, BYTES, 8, STRIDE - 8, 0 }, 8 },
		{ "stride unaligned", { 0, 2 * BYTES, 8, STRIDE + 4, 0 }, 8 },
		{ "mapping too short", { 0, BYTES - 1, 8, STRIDE, 0 }, 8 },
		{ "size overflows", { 0, BYTES, 1u << 31, STRIDE, 0 }, 8 },
	};
	struct mroce_ring ring = {};
	int fd = make_file();
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ktap_check(mroce_ring_map(&ring, fd, &rows[i].info, STRIDE,
					  rows[i].limit) == EPROTO,
			   __FILE__, __LINE__, rows[i].what);
	CHECK(!ring.hdr);
	close(fd);
}

/*
 * A producer that rings only on KICK against a consumer that sleeps as the
 * kernel does. There is room for one item only: an item that is published
 * unseen is not followed by another one that would wake the consumer, both
 * wait for ever, and the deadline finds it.
 */
#define ITEMS	20000

struct pair {
	struct mroce_ring *ring;
	pthread_mutex_t lock;
	pthread_cond_t bell;
	unsigned int rings;
	unsigned int served;
	uint32_t bad_items;
	bool timed_out;
};

static bool sleep_until_rung(struct pair *pair)
{
	struct timespec deadline;
	bool ok = true;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 10;
	pthread_mutex_lock(&pair->lock);
	while (ok && pair->served == pair->rings)
		ok = !pthread_cond_timedwait(&pair->bell, &pair->lock,
					     &deadline);
	pair->served = pair->rings;
	pthread_mutex_unlock(&pair->lock);
	return ok;
}

static void *consume(void *arg)
{
	struct pair *pair = arg;
	struct mroce_ring_hdr *hdr = pair->ring->hdr;
	uint32_t cons = 0;

	while (cons < ITEMS) {
		if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) != cons) {
			if (*(uint32_t *)mroce_ring_slot(pair->ring, cons) != cons)
				pair->bad_items++;
			__atomic_store_n(&hdr->cons, ++cons, __ATOMIC_RELEASE);
			continue;
		}
		__atomic_store_n(&hdr->state, MROCE_RING_KICK,
				 __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&hdr->prod, __ATOMIC_ACQUIRE) == cons &&
		    !sleep_until_rung(pair)) {
			pair->timed_out = true;
			return NULL;
		}
		__atomic_store_n(&hdr->state, 0, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static bool wait_for_room(struct mroce_ring *ring)
{
	time_t deadline = time(NULL) + 10;

	while (mroce_ring_is_full(ring))
		if (time(NULL) > deadline)
			return false;
	return true;
}

static bool produce(struct pair *pair)
{
	struct mroce_ring *ring = pair->ring;
	uint32_t i;

	for (i = 0; i < ITEMS; i++) {
		if (!wait_for_room(ring))
			return false;
		*(uint32_t *)mroce_ring_slot(ring, ring->next++) = i;
		mroce_ring_publish(ring);
		if (!mroce_ring_needs_kick(ring))
			continue;
		pthread_mutex_lock(&pair->lock);
		pair->rings++;
		pthread_cond_signal(&pair->bell);
		pthread_mutex_unlock(&pair->lock);
	}
	return true;
}

static void no_wakeup_is_lost(void)
{
	struct mroce_ring ring;
	struct pair pair = {
		.ring = &ring,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.bell = PTHREAD_COND_INITIALIZER,
	};
	pthread_t consumer;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, 1)))
		return;
	if (!CHECK(!pthread_create(&consumer, NULL, consume, &pair)))
		return;
	CHECK(produce(&pair));
	pthread_join(consumer, NULL);
	CHECK(!pair.timed_out);
	CHECK_EQ(pair.bad_items, 0);
	CHECK_EQ(ring.hdr->cons, ITEMS);
	CHECK(pair.rings > 0 && pair.rings <= ITEMS);
	mroce_ring_unmap(&ring);
	close(fd);
}

/*
 * The same question put directly, for one store and one load on either side,
 * very often: may both sides miss each other? Without the full barrier in
 * mroce_ring_needs_kick() an x86 processor lets it happen about once in ten
 * thousand rounds, provided that both sides run at once; the run ends after two
 * seconds on a slow machine.
 */
#define ROUNDS	100000

/*
 * struct meeting - rounds that the test begins and the kernel's side answers
 * @seen: what the kernel's side read in this round
 */
struct meeting {
	struct mroce_ring_hdr *hdr;
	uint32_t pad0[16];	/* a cache line for each writer */
	uint32_t round;
	uint32_t pad1[16];
	uint32_t answered;
	uint32_t seen;
};

static void begin_round(struct meeting *meet, uint32_t round)
{
	volatile uint32_t delay;

	__atomic_store_n(&meet->round, round, __ATOMIC_RELEASE);
	for (delay = round % 97; delay; delay--)
		;
}

static void end_round(struct meeting *meet, uint32_t round)
{
	while (__atomic_load_n(&meet->answered, __ATOMIC_ACQUIRE) != round)
		;
}

/* Count the rounds in which both sides missed each other. */
static void meet_often(void *(*peer_side)(void *arg),
		       bool (*meet_once)(struct meeting *meet,
					 struct mroce_ring *ring,
					 uint32_t round))
{
	static struct meeting meet;
	time_t end = time(NULL) + 2;
	struct mroce_ring ring;
	unsigned int missed = 0;
	uint32_t round;
	pthread_t peer;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, ENTRIES)))
		return;
	meet = (struct meeting) { .hdr = ring.hdr };
	if (!CHECK(!pthread_create(&peer, NULL, peer_side, &meet)))
		return;
	for (round = 1; round < ROUNDS && time(NULL) < end; round++)
		missed += meet_once(&meet, &ring, round);
	missed += meet_once(&meet, &ring, ROUNDS);	/* the peer ends */
	CHECK_EQ(missed, 0);
	pthread_join(peer, NULL);
	mroce_ring_unmap(&ring);
	close(fd);
}

static void *fall_asleep(void *arg)
{
	struct meeting *meet = arg;
	uint32_t done = 0;
	uint32_t round;

	while (done != ROUNDS) {
		round = __atomic_load_n(&meet->round, __ATOMIC_ACQUIRE);
		if (round == done)
			continue;
		__atomic_store_n(&meet->hdr->state, MROCE_RING_KICK,
				 __ATOMIC_SEQ_CST);
		meet->seen = __atomic_load_n(&meet->hdr->prod,
					     __ATOMIC_ACQUIRE);
		done = round;
		__atomic_store_n(&meet->answered, done, __ATOMIC_RELEASE);
	}
	return NULL;
}

static bool publish_and_look(struct meeting *meet, struct mroce_ring *ring,
			     uint32_t round)
{
	bool kick;

	__atomic_store_n(&meet->hdr->state, 0, __ATOMIC_SEQ_CST);
	begin_round(meet, round);
	ring->next++;
	mroce_ring_publish(ring);
	kick = mroce_ring_needs_kick(ring);
	end_round(meet, round);
	return !kick && meet->seen != ring->next;
}

static void publish_is_ordered_before_state(void)
{
	meet_often(fall_asleep, publish_and_look);
}

static uint32_t complete_and_look(struct mroce_ring_hdr *hdr)
{
	__atomic_store_n(&hdr->prod, hdr->prod + 1, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&hdr->state, __ATOMIC_RELAXED);
}

/*
 * The same for completions: an application that arms and then polls once more
 * finds the completion, or the kernel finds the queue armed. A round has two
 * turns. In the first one the kernel's side disarms, so that the cache line of
 * the state is with it: the store that arms then takes long, which is when a
 * poll that does not wait for it goes wrong.
 */
static void *complete(void *arg)
{
	struct meeting *meet = arg;
	uint32_t done = 0;
	uint32_t turn;

	while (done != 2 * ROUNDS) {
		turn = __atomic_load_n(&meet->round, __ATOMIC_ACQUIRE);
		if (turn == done)
			continue;
		if (turn & 1)
			__atomic_store_n(&meet->hdr->state, 0,
					 __ATOMIC_SEQ_CST);
		else
			meet->seen = complete_and_look(meet->hdr);
		done = turn;
		__atomic_store_n(&meet->answered, done, __ATOMIC_RELEASE);
	}
	return NULL;
}

static bool arm_and_poll(struct meeting *meet, struct mroce_ring *ring,
			 uint32_t round)
{
	bool empty;

	begin_round(meet, 2 * round - 1);
	end_round(meet, 2 * round - 1);
	CHECK(mroce_ring_is_empty(ring));
	begin_round(meet, 2 * round);
	mroce_ring_arm(ring, MROCE_RING_ARM_NEXT);
	empty = mroce_ring_is_empty(ring);
	end_round(meet, 2 * round);
	/* What came in this round is consumed, polled or not. */
	ring->next++;
	ring->peer = ring->next;
	return empty && !(meet->seen & MROCE_RING_ARM_NEXT);
}

static void arm_is_ordered_before_poll(void)
{
	meet_often(complete, arm_and_poll);
}

/* What a program that acts against the rules meets while its ring is destroyed */
static void withdrawn_producer_is_full(void)
{
	struct mroce_ring ring;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, 5)))
		return;
	ring.next = 3;
	mroce_ring_publish(&ring);
	ring.hdr->cons = 1;
	mroce_ring_withdraw(&ring);
	CHECK(mroce_ring_is_full(&ring));
	/* It was not destroyed after all. */
	mroce_ring_restore(&ring, fd);
	mroce_ring_reload(&ring);
	CHECK_EQ(ring.next, 3);
	CHECK_EQ(ring.peer, 1);
	CHECK(!mroce_ring_is_full(&ring));
	memset(mroce_ring_slot(&ring, 3), 0, STRIDE);
	mroce_ring_unmap(&ring);
	close(fd);
}

static void withdrawn_consumer_is_empty(void)
{
	struct mroce_ring ring;
	int fd = make_file();

	if (!CHECK(!map(&ring, fd, ENTRIES)))
		return;
	ring.next = 2;
	ring.hdr->prod = 5;
	CHECK(!mroce_ring_is_empty(&ring));
	mroce_ring_withdraw(&ring);
	CHECK(mroce_ring_is_empty(&ring));
	mroce_ring_restore(&ring, fd);
	CHECK(!mroce_ring_is_empty(&ring));
	CHECK_EQ(ring.next, 2);
	CHECK_EQ(ring.peer, 5);
	/* Of a device that is gone nothing can be mapped again. */
	mroce_ring_withdraw(&ring);
	mroce_ring_restore(&ring, -1);
	CHECK(mroce_ring_is_empty(&ring));
	mroce_ring_release(&ring);
	mroce_ring_unmap(&ring);
	CHECK(!ring.hdr);
	close(fd);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(full_at_limit),
	KTAP_TEST(full_across_index_wrap),
	KTAP_TEST(nonsense_cons_is_full),
	KTAP_TEST(absent_ring_is_full),
	KTAP_TEST(consumer_sees_what_is_published),
	KTAP_TEST(state_bits),
	KTAP_TEST(bad_geometry_is_refused),
	KTAP_TEST(withdrawn_producer_is_full),
	KTAP_TEST(withdrawn_consumer_is_empty),
	KTAP_TEST(no_wakeup_is_lost),
	KTAP_TEST(publish_is_ordered_before_state),
	KTAP_TEST(arm_is_ordered_before_poll),
};

int main(void)
{
	return ktap_run(tests, sizeof(tests) / sizeof(tests[0]));
}
