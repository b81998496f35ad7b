// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* libFuzzer target: any bytes through every decoder (make -C kunit/host fuzz). */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../wire_exercise.c"

bool mroce_host_warn(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: warning: %s\n", file, line, what);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static struct wire_scratch s;
	const char *broken;
	enum mroce_drop why;
	u32 total;

	/* The first byte says how much padding of the datagram is not readable. */
	if (!len)
		return 0;
	total = len - 1 + *bytes * (*bytes >= 128);
	broken = mroce_wire_exercise(bytes + 1, len - 1, total, &s, &why);
	if (broken) {
		fprintf(stderr, "broken promise: %s\n", broken);
		abort();
	}
	return 0;
}
