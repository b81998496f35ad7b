// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Words of the command line. Commands and keywords may be shortened to their first letters, as
 * in iproute2. Whoever does not understand a word says so at once; nothing is asked of the
 * kernel before all words are understood.
 */
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* usage_error() - complain. Return: EXIT_USAGE. */
int usage_error(const char *format, ...)
{
	va_list ap;

	fputs("mroce: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

static bool matches(const char *word, const char *full)
{
	size_t len = strlen(word);

	return len && !strncmp(word, full, len);
}

/* args_take() - is this keyword, or its beginning, next? Then take it. */
bool args_take(struct args *args, const char *keyword)
{
	if (!*args->word || !matches(*args->word, keyword))
		return false;
	args->word++;
	return true;
}

/* args_word() - the next word. Return: NULL, and a complaint, when there is none. */
const char *args_word(struct args *args, const char *what)
{
	if (*args->word)
		return *args->word++;
	usage_error("%s is missing", what);
	return NULL;
}

/* args_u32() - the next word is a number, decimal or 0x hexadecimal */
bool args_u32(struct args *args, const char *what, uint32_t max, uint32_t *value)
{
	const char *word = args_word(args, what);
	unsigned long long number;
	char *end;

	if (!word)
		return false;
	errno = 0;
	number = strtoull(word, &end, 0);
	/* strtoull() takes signs and blanks, too. */
	if (*word < '0' || *word > '9' || *end || errno || number > max) {
		usage_error("%s: \"%s\" is not a number from 0 to %u", what, word, max);
		return false;
	}
	*value = number;
	return true;
}

/* args_conn() - the next word is the number of a connection */
bool args_conn(struct args *args, uint32_t *number)
{
	if (!args_u32(args, "conn", UINT32_MAX, number))
		return false;
	if (*number)
		return true;
	usage_error("no connection has the number 0");
	return false;
}

/* args_dev() - the next word is the name of a device */
bool args_dev(struct args *args, const char **dev)
{
	*dev = args_word(args, "name of an mroce device");
	if (!*dev)
		return false;
	if (strlen(*dev) <= 63 && **dev)
		return true;
	usage_error("\"%s\" is not the name of a device", *dev);
	return false;
}

/* args_netdev() - the next word is the name of a netdev */
bool args_netdev(struct args *args, uint32_t *ifindex)
{
	const char *name = args_word(args, "name of a netdev");

	if (!name)
		return false;
	*ifindex = if_nametoindex(name);
	if (*ifindex)
		return true;
	usage_error("there is no netdev \"%s\"", name);
	return false;
}

/* args_end() - no more words, or a complaint */
bool args_end(const struct args *args)
{
	if (!*args->word)
		return true;
	usage_error("what is \"%s\"? Try \"help\"", *args->word);
	return false;
}

/* args_run() - the next word is a command; without one, the first. Return: exit status. */
int args_run(struct args *args, const struct command *commands, unsigned int n,
	     const char *usage)
{
	unsigned int i;

	if (!*args->word)
		return commands[0].run(args);
	for (i = 0; i < n; i++)
		if (args_take(args, commands[i].name))
			return commands[i].run(args);
	if (args_take(args, "list"))
		return commands[0].run(args);
	if (args_take(args, "help")) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	return usage_error("what is \"%s\"? Try \"help\"", *args->word);
}
