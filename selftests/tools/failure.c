// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The way out when going on makes no sense. */
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/**
 * mroce_die - end the program with one line that says what is wrong
 * @fmt: as for printf, no newline
 *
 * Without exit handlers: other threads may be anywhere.
 */
void mroce_die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("FAIL ");
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}
