// SPDX-License-Identifier: GPL-2.0
/*
 * The module around the suites. Each mroce_*_kunit.c registers its own suite.
 *
 * A kernel without KUnit could link suites whose assertions are all constant,
 * and would then run nothing: refuse to build there.
 */
#include <linux/kconfig.h>
#include <linux/module.h>

#if !IS_ENABLED(CONFIG_KUNIT)
#error "the suites need a kernel with CONFIG_KUNIT"
#endif

MODULE_DESCRIPTION("KUnit tests of mroce's protocol core");
MODULE_LICENSE("GPL");
