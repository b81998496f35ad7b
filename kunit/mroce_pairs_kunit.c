// SPDX-License-Identifier: GPL-2.0
/* Which planes of two ends belong together. */
#include <kunit/test.h>
#include "pairs.h"

/* A plane 10.9.SUBNET.HOST/24 */
static struct mroce_plane_end plane(u8 label, u8 subnet, u8 host)
{
	struct mroce_plane_end end = {
		.label = label, .up = true, .prefix_bits = 120, .tag = 100 + label,
		.addr = { [10] = 0xff, 0xff, 10, 9, subnet, host },
	};

	return end;
}

static void expect_pair(struct kunit *test, const struct mroce_pairs *pairs,
			const struct mroce_plane_end *mine, const struct mroce_plane_end *theirs,
			bool up)
{
	int at = mroce_pairs_find(pairs, mine->addr, theirs->addr);

	KUNIT_ASSERT_GE(test, at, 0);
	KUNIT_EXPECT_EQ(test, pairs->pair[at].up, up);
	KUNIT_EXPECT_EQ(test, pairs->pair[at].label, mine->label);
	KUNIT_EXPECT_EQ(test, pairs->pair[at].tag, mine->tag);
}

static u32 count(const struct mroce_pairs *pairs)
{
	u32 n = 0;
	u32 i;

	for (i = 0; i < MROCE_MAX_PAIRS; i++)
		n += pairs->pair[i].used;
	return n;
}

static void by_label(struct kunit *test)
{
	/* The labels win, also against the subnets. */
	struct mroce_plane_end a[] = { plane(0, 0, 1), plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end b[] = { plane(0, 0, 2), plane(1, 2, 2), plane(2, 1, 2) };
	struct mroce_pairs pairs = {};
	u32 i;

	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 3, b, 3), 7u);
	KUNIT_EXPECT_EQ(test, count(&pairs), 3u);
	for (i = 0; i < 3; i++)
		expect_pair(test, &pairs, &a[i], &b[i], true);
	KUNIT_EXPECT_EQ(test, mroce_pairs_find(&pairs, a[0].addr, b[1].addr), -1);
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 3, b, 3), 0u);
}

static void by_subnet(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(0, 0, 1), plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end b[] = { plane(0, 0, 2), plane(7, 2, 2), plane(8, 1, 2) };
	struct mroce_pairs pairs = {};

	mroce_pairs_update(&pairs, a, 3, b, 3);
	KUNIT_EXPECT_EQ(test, count(&pairs), 3u);
	expect_pair(test, &pairs, &a[0], &b[0], true);
	expect_pair(test, &pairs, &a[1], &b[2], true);
	expect_pair(test, &pairs, &a[2], &b[1], true);
}

/* The first of ours is not the first of theirs: it has its own, and not what is in front. */
static void the_first_is_not_another_ones_first(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(3, 0, 1), plane(5, 1, 1) };
	struct mroce_plane_end b[] = { plane(1, 8, 2), plane(3, 9, 2) };
	struct mroce_pairs pairs = {};

	mroce_pairs_update(&pairs, a, 2, b, 2);
	KUNIT_EXPECT_EQ(test, count(&pairs), 2u);
	expect_pair(test, &pairs, &a[0], &b[1], true);
	expect_pair(test, &pairs, &a[1], &b[0], true);
}

/* One has a label in common with the peer's, the one before it only the subnet. */
static void labels_leave_the_rest_to_subnets(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end b[] = { plane(2, 7, 2), plane(7, 8, 2), plane(8, 1, 2) };
	struct mroce_pairs pairs = {};

	mroce_pairs_update(&pairs, a, 2, b, 3);
	KUNIT_EXPECT_EQ(test, count(&pairs), 3u);
	expect_pair(test, &pairs, &a[0], &b[2], true);
	expect_pair(test, &pairs, &a[1], &b[0], true);
	/* What is left goes around. */
	expect_pair(test, &pairs, &a[0], &b[1], true);
}

/* Several of one end in a subnet, and one of the other: it is taken once. */
static void subnets_pair_one_with_one(struct kunit *test)
{
	static const u8 subnet[][4] = { { 1, 2, 1, 1 }, { 1, 2, 2, 2 }, { 1, 1, 1, 9 } };
	/* Theirs that our first one has */
	static const u32 first[] = { 0, 1, 0 };
	u32 k;

	for (k = 0; k < 3; k++) {
		const u8 *net = subnet[k];
		struct mroce_plane_end a[] = { plane(1, net[0], 1), plane(2, net[1], 2) };
		struct mroce_plane_end b[] = { plane(7, net[2], 3), plane(8, net[3], 4) };
		struct mroce_pairs pairs = {};

		mroce_pairs_update(&pairs, a, 2, b, 2);
		KUNIT_EXPECT_EQ(test, count(&pairs), 2u);
		expect_pair(test, &pairs, &a[0], &b[first[k]], true);
		expect_pair(test, &pairs, &a[1], &b[!first[k]], true);
	}
}

/* An address that differs in one bit is in the subnet if that bit is not of the prefix. */
static void every_bit_of_a_prefix_counts(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end b[] = { plane(7, 7, 7), plane(8, 1, 1) };
	u32 bits, bit;

	/* The first of theirs has no bit in common with ours: it is what is left. */
	for (bit = 0; bit < 16; bit++)
		b[0].addr[bit] = ~a[0].addr[bit];
	a[1].prefix_bits = 0;
	for (bits = 1; bits <= 128; bits++) {
		for (bit = bits - 1; bit <= bits && bit < 128; bit++) {
			struct mroce_pairs pairs = {};
			int at;

			a[0].prefix_bits = bits;
			memcpy(b[1].addr, a[0].addr, 16);
			b[1].addr[bit / 8] ^= 0x80 >> bit % 8;
			mroce_pairs_update(&pairs, a, 2, b, 2);
			at = mroce_pairs_find(&pairs, a[0].addr, b[1].addr);
			KUNIT_EXPECT_EQ_MSG(test, at >= 0, bit >= bits, "bit %u of %u", bit, bits);
		}
	}
}

static void subnets_end_within_a_byte(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(1, 0x10, 1), plane(2, 0x20, 1) };
	struct mroce_plane_end b[] = { plane(8, 0x2f, 2), plane(9, 0x1f, 2) };
	struct mroce_pairs pairs = {};

	a[0].prefix_bits = 116;
	a[1].prefix_bits = 116;
	mroce_pairs_update(&pairs, a, 2, b, 2);
	expect_pair(test, &pairs, &a[0], &b[1], true);
	expect_pair(test, &pairs, &a[1], &b[0], true);
	/* Without a prefix nothing is in the subnet: in turn then. */
	a[0].prefix_bits = 0;
	a[1].prefix_bits = 0;
	mroce_pairs_update(&pairs, a, 2, b, 2);
	expect_pair(test, &pairs, &a[0], &b[0], true);
}

/* No label, no subnet in common: still each of the one has one of the other. */
static void what_both_have_left(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(0, 0, 1), plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end b[] = { plane(0, 9, 2), plane(5, 8, 2), plane(6, 7, 2) };
	struct mroce_pairs pairs = {};

	mroce_pairs_update(&pairs, a, 3, b, 3);
	KUNIT_EXPECT_EQ(test, count(&pairs), 3u);
	expect_pair(test, &pairs, &a[0], &b[0], true);
	expect_pair(test, &pairs, &a[1], &b[1], true);
	expect_pair(test, &pairs, &a[2], &b[2], true);
	/* One end has one more. */
	memset(&pairs, 0, sizeof(pairs));
	mroce_pairs_update(&pairs, a, 3, b, 2);
	expect_pair(test, &pairs, &a[1], &b[1], true);
	expect_pair(test, &pairs, &a[2], &b[0], true);
}

/* Both ends find the same pairs, whoever has more planes. */
static void unequal_numbers(struct kunit *test)
{
	struct mroce_plane_end a[8], b[8];
	u32 n_a, n_b, i;

	for (i = 0; i < 8; i++) {
		a[i] = plane(i, i, 1);
		b[i] = plane(i, 100 + i, 2);
	}
	for (n_a = 1; n_a <= 8; n_a++) {
		for (n_b = 1; n_b <= 8; n_b++) {
			struct mroce_pairs ab = {}, ba = {};

			mroce_pairs_update(&ab, a, n_a, b, n_b);
			mroce_pairs_update(&ba, b, n_b, a, n_a);
			KUNIT_EXPECT_EQ(test, count(&ab), max(n_a, n_b));
			for (i = 0; i < n_a * n_b; i++) {
				const u8 *here = a[i / n_b].addr, *there = b[i % n_b].addr;

				KUNIT_EXPECT_EQ(test, mroce_pairs_find(&ab, here, there) >= 0,
						mroce_pairs_find(&ba, there, here) >= 0);
			}
		}
	}
}

static void none_without_planes(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(0, 0, 1) };
	struct mroce_pairs pairs = {};

	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 1, a, 0), 0u);
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 0, a, 1), 0u);
	KUNIT_EXPECT_EQ(test, count(&pairs), 0u);
}

static void places_are_kept(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(0, 0, 1), plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end b[] = { plane(0, 0, 2), plane(1, 1, 2), plane(2, 2, 2) };
	struct mroce_pairs pairs = {};
	int at[3];
	u32 changed, i;

	mroce_pairs_update(&pairs, a, 3, b, 3);
	for (i = 0; i < 3; i++)
		at[i] = mroce_pairs_find(&pairs, a[i].addr, b[i].addr);

	/* The one in the middle goes, at both ends. */
	a[1] = a[2];
	b[1] = b[2];
	changed = mroce_pairs_update(&pairs, a, 2, b, 2);
	KUNIT_EXPECT_EQ(test, changed, 1u << at[1]);
	KUNIT_EXPECT_EQ(test, count(&pairs), 2u);
	KUNIT_EXPECT_EQ(test, mroce_pairs_find(&pairs, a[1].addr, b[1].addr), at[2]);

	/* One with other addresses does not get a place that is changing hands just now. */
	a[1] = plane(2, 5, 1);
	b[1] = plane(2, 5, 2);
	mroce_pairs_update(&pairs, a, 2, b, 2);
	KUNIT_EXPECT_EQ(test, count(&pairs), 2u);
	KUNIT_EXPECT_NE(test, mroce_pairs_find(&pairs, a[1].addr, b[1].addr), at[2]);
}

/* Packets under way still mean the old pair: its successor gets a place nobody had. */
static void a_successor_gets_a_fresh_place(struct kunit *test)
{
	u32 k;

	for (k = 0; k < 3; k++) {
		struct mroce_plane_end a[] = { plane(0, 0, 1), plane(1, 1, 1), plane(2, 2, 1) };
		struct mroce_plane_end b[] = { plane(0, 0, 2), plane(1, 1, 2), plane(2, 2, 2) };
		struct mroce_pairs pairs = {};
		u32 changed;
		int old;

		mroce_pairs_update(&pairs, a, 3, b, 3);
		old = mroce_pairs_find(&pairs, a[k].addr, b[k].addr);
		KUNIT_ASSERT_GE(test, old, 0);
		b[k] = plane(k, k, 3);
		changed = mroce_pairs_update(&pairs, a, 3, b, 3);
		KUNIT_EXPECT_FALSE(test, pairs.pair[old].used);
		KUNIT_EXPECT_EQ(test, mroce_pairs_find(&pairs, a[k].addr, b[k].addr), 3);
		KUNIT_EXPECT_EQ(test, changed, 1u << old | 1u << 3);
	}
}

static void addresses_of_the_peer(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(0, 0, 1) };
	struct mroce_plane_end b[] = { plane(0, 0, 2), plane(1, 1, 2) };
	struct mroce_pairs pairs = {};

	mroce_pairs_update(&pairs, a, 1, b, 2);
	KUNIT_EXPECT_TRUE(test, mroce_pairs_remote(&pairs, b[0].addr));
	KUNIT_EXPECT_TRUE(test, mroce_pairs_remote(&pairs, b[1].addr));
	KUNIT_EXPECT_FALSE(test, mroce_pairs_remote(&pairs, a[0].addr));
	mroce_pairs_update(&pairs, a, 1, b, 1);
	KUNIT_EXPECT_FALSE(test, mroce_pairs_remote(&pairs, b[1].addr));
}

static void a_full_table_changes(struct kunit *test)
{
	struct mroce_plane_end a[8], b[8];
	struct mroce_pairs pairs = {};
	u32 i;

	for (i = 0; i < 8; i++) {
		a[i] = plane(i, i, 1);
		b[i] = plane(i, i, 2);
	}
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 8, b, 8), 0xffu);
	for (i = 0; i < 8; i++)
		b[i] = plane(i, i, 3);
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 8, b, 8), 0xffu);
	KUNIT_EXPECT_EQ(test, count(&pairs), 8u);
	for (i = 0; i < 8; i++)
		expect_pair(test, &pairs, &a[i], &b[i], true);
}

static void up_and_down(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(0, 0, 1), plane(1, 1, 1) };
	struct mroce_plane_end b[] = { plane(0, 0, 2), plane(1, 1, 2) };
	struct mroce_pairs pairs = {};
	int second;

	mroce_pairs_update(&pairs, a, 2, b, 2);
	second = mroce_pairs_find(&pairs, a[1].addr, b[1].addr);
	b[1].up = false;
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 2, b, 2), 1u << second);
	expect_pair(test, &pairs, &a[0], &b[0], true);
	expect_pair(test, &pairs, &a[1], &b[1], false);
	/* When nothing works anything may. */
	a[0].up = false;
	mroce_pairs_update(&pairs, a, 2, b, 2);
	expect_pair(test, &pairs, &a[0], &b[0], true);
	expect_pair(test, &pairs, &a[1], &b[1], true);
	b[1].up = true;
	mroce_pairs_update(&pairs, a, 2, b, 2);
	expect_pair(test, &pairs, &a[0], &b[0], false);
	expect_pair(test, &pairs, &a[1], &b[1], true);
}

/* However many there are; what else was up before does not matter. */
static void all_are_the_last_resort(struct kunit *test)
{
	struct mroce_plane_end a[8], b[8];
	struct mroce_pairs pairs = {};
	u32 n, i;

	for (i = 0; i < 8; i++) {
		a[i] = plane(i, i, 1);
		b[i] = plane(i, i, 2);
	}
	mroce_pairs_update(&pairs, a, 8, b, 8);
	for (i = 0; i < 8; i++)
		b[i].up = false;
	for (n = 8; n > 0; n--) {
		mroce_pairs_update(&pairs, a, n, b, n);
		for (i = 0; i < n; i++)
			expect_pair(test, &pairs, &a[i], &b[i], true);
	}
}

/* What a HELLO says of planes, seen by a connection of one kind */
static void told_by_hello(struct kunit *test)
{
	struct mroce_hello *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct mroce_plane_end a = plane(3, 0, 1), b = plane(4, 1, 1), got[MROCE_MAX_PLANES];

	KUNIT_ASSERT_NOT_NULL(test, h);
	h->n_planes = 4;
	h->plane[0] = (struct mroce_plane_info){ .label = 3, .family = 4 };
	h->plane[1] = (struct mroce_plane_info){ .label = 5, .family = 6 };
	h->plane[2] = (struct mroce_plane_info){ .label = 4, .family = 4,
						 .flags = MROCE_PLANE_DOWN | MROCE_PLANE_LEAVING };
	h->plane[3] = (struct mroce_plane_info){ .label = 9, .family = 4 };
	memcpy(h->plane[0].addr, a.addr, 16);
	memcpy(h->plane[2].addr, b.addr, 16);
	/* Once more the first one's */
	memcpy(h->plane[3].addr, a.addr, 16);
	KUNIT_ASSERT_EQ(test, mroce_planes_told(h, 4, b.addr, got), 2u);
	KUNIT_EXPECT_EQ(test, got[0].label, 3u);
	KUNIT_EXPECT_TRUE(test, got[0].up && !got[0].leaving);
	KUNIT_EXPECT_MEMEQ(test, got[0].addr, a.addr, 16);
	KUNIT_EXPECT_EQ(test, got[1].label, 4u);
	KUNIT_EXPECT_TRUE(test, !got[1].up && got[1].leaving);
	KUNIT_EXPECT_MEMEQ(test, got[1].addr, b.addr, 16);
	KUNIT_EXPECT_EQ(test, mroce_planes_told(h, 6, b.addr, got), 1u);
	KUNIT_EXPECT_EQ(test, got[0].label, 5u);
	/* Without a word of planes there is the one of the GID. */
	h->n_planes = 0;
	KUNIT_ASSERT_EQ(test, mroce_planes_told(h, 4, b.addr, got), 1u);
	KUNIT_EXPECT_TRUE(test, got[0].up && !got[0].leaving && !got[0].label);
	KUNIT_EXPECT_MEMEQ(test, got[0].addr, b.addr, 16);
}

/* By its whole address, among those there are so far */
static void planes_are_known_by_address(struct kunit *test)
{
	struct mroce_plane_end ends[] = { plane(0, 0, 1), plane(1, 1, 1), plane(2, 2, 1) };
	struct mroce_plane_end other;
	u32 i;

	KUNIT_EXPECT_FALSE(test, mroce_planes_have(ends, 0, ends[0].addr));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE(test, mroce_planes_have(ends, 3, ends[i].addr));
	KUNIT_EXPECT_TRUE(test, mroce_planes_have(ends, 2, ends[1].addr));
	KUNIT_EXPECT_FALSE(test, mroce_planes_have(ends, 2, ends[2].addr));
	for (i = 0; i < sizeof(other.addr); i++) {
		other = ends[1];
		other.addr[i] ^= 0x80;
		KUNIT_EXPECT_FALSE(test, mroce_planes_have(ends, 3, other.addr));
	}
}

/* The memory may still hold a list: that of the last HELLO, of which nothing is to be left. */
static void a_list_replaces_the_last_one(struct kunit *test)
{
	struct mroce_hello *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct mroce_plane_end b = plane(3, 0, 2), got[MROCE_MAX_PLANES];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, h);
	for (i = 0; i < MROCE_MAX_PLANES; i++)
		got[i] = b;
	h->n_planes = 1;
	h->plane[0] = (struct mroce_plane_info){ .label = 5, .family = 4 };
	memcpy(h->plane[0].addr, b.addr, 16);
	KUNIT_ASSERT_EQ(test, mroce_planes_told(h, 4, b.addr, got), 1u);
	KUNIT_EXPECT_EQ(test, got[0].label, 5u);
	KUNIT_EXPECT_EQ(test, got[0].tag, 0u);
	KUNIT_EXPECT_EQ(test, got[0].prefix_bits, 0u);
}

static void old_lists_are_known(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, mroce_planes_are_old(7, 7));
	KUNIT_EXPECT_FALSE(test, mroce_planes_are_old(8, 7));
	KUNIT_EXPECT_TRUE(test, mroce_planes_are_old(6, 7));
	KUNIT_EXPECT_FALSE(test, mroce_planes_are_old(2, 0xfffe));
	KUNIT_EXPECT_TRUE(test, mroce_planes_are_old(0xfffe, 2));
}

static void properties_follow(struct kunit *test)
{
	struct mroce_plane_end a[] = { plane(3, 0, 1) }, b[] = { plane(3, 0, 2) };
	struct mroce_pairs pairs = {};

	mroce_pairs_update(&pairs, a, 1, b, 1);
	a[0].tag = 7;
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 1, b, 1), 1u);
	expect_pair(test, &pairs, &a[0], &b[0], true);
	b[0].leaving = true;
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 1, b, 1), 1u);
	KUNIT_EXPECT_TRUE(test, pairs.pair[0].leaving);
	KUNIT_EXPECT_TRUE(test, pairs.pair[0].up);
	a[0].leaving = true;
	b[0].leaving = false;
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 1, b, 1), 0u);
	a[0].label = 4;
	KUNIT_EXPECT_EQ(test, mroce_pairs_update(&pairs, a, 1, b, 1), 1u);
	expect_pair(test, &pairs, &a[0], &b[0], true);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(by_label),
	KUNIT_CASE(by_subnet),
	KUNIT_CASE(the_first_is_not_another_ones_first),
	KUNIT_CASE(labels_leave_the_rest_to_subnets),
	KUNIT_CASE(subnets_pair_one_with_one),
	KUNIT_CASE(every_bit_of_a_prefix_counts),
	KUNIT_CASE(subnets_end_within_a_byte),
	KUNIT_CASE(what_both_have_left),
	KUNIT_CASE(unequal_numbers),
	KUNIT_CASE(none_without_planes),
	KUNIT_CASE(places_are_kept),
	KUNIT_CASE(a_successor_gets_a_fresh_place),
	KUNIT_CASE(addresses_of_the_peer),
	KUNIT_CASE(a_full_table_changes),
	KUNIT_CASE(up_and_down),
	KUNIT_CASE(all_are_the_last_resort),
	KUNIT_CASE(properties_follow),
	KUNIT_CASE(told_by_hello),
	KUNIT_CASE(planes_are_known_by_address),
	KUNIT_CASE(a_list_replaces_the_last_one),
	KUNIT_CASE(old_lists_are_known),
	{}
};

static struct kunit_suite suite = { .name = "mroce_pairs", .test_cases = cases };
kunit_test_suite(suite);
