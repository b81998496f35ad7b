// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Print how many instances of the library the process has once libibverbs has looked for
 * devices, and which devices direct verbs take: as a program outside this tree would. For match.sh
 */
#include <infiniband/mrocedv.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static int count_instance(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libmroce"))
		++*(int *)count;
	return 0;
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i, instances = 0;

	dl_iterate_phdr(count_instance, &instances);
	printf("%d", instances);
	for (i = 0; list && list[i]; i++)
		if (mrocedv_is_supported(list[i]))
			printf(" %s", ibv_get_device_name(list[i]));
	puts("");
	if (list)
		ibv_free_device_list(list);
	return 0;
}
