# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# mroce: kernel module, user space provider, tests. 'make help' lists the targets.

TOP := $(CURDIR)
OUT ?= $(TOP)/out
KDIR ?= $(firstword $(wildcard /lib/modules/$(shell uname -r)/build) $(lastword $(wildcard /lib/modules/*/build)))
DESTDIR ?=
LIBDIR ?= /usr/lib/$(shell gcc -print-multiarch)
LANE ?= style host uml qemu
export OUT

MODULE := $(OUT)/build/module/drivers/infiniband/sw/mroce/mroce.ko

.PHONY: all setup modules userspace tools check kunit-host style demo bench install clean help

all: modules userspace

setup: ## install the Debian packages that building and testing need
	@scripts/setup.sh

modules: ## build mroce.ko for the kernel of KDIR=
	scripts/build-module.sh $(OUT)/build/module -C $(KDIR)

userspace: ## build the libibverbs provider
	$(MAKE) -C userspace O=$(OUT)/userspace

tools: ## build the test programs
	$(MAKE) -C selftests/tools O=$(OUT)/tools

check: ## run the tests; LANE="style host uml qemu", TEST=name, V=1 to watch
	@QUICK=1 selftests/run.sh $(LANE)

kunit-host: ## run the unit tests as a user program
	@TEST=unit selftests/run.sh host

style: ## run the source checks
	@selftests/run.sh style

demo: ## mroce beside rxe between two machines, clean and with loss; writes out/demo.json
	@V=1 TEST=demo selftests/run.sh qemu && scripts/table.py $(OUT)/demo.json

bench: ## measure the performance targets; writes out/bench.json
	@V=1 TEST=targets selftests/run.sh uml; status=$$?; scripts/table.py $(OUT)/bench.json && exit $$status

install: all ## install module, provider and its registration below DESTDIR=
	release=$$(modinfo -F vermagic $(MODULE)) && release=$${release%% *} && \
	install -D -m 644 $(MODULE) $(DESTDIR)/lib/modules/$$release/updates/mroce.ko && \
	if [ -z "$(DESTDIR)" ]; then depmod $$release; fi
	$(MAKE) -C userspace O=$(OUT)/userspace DESTDIR=$(DESTDIR) LIBDIR=$(LIBDIR) install

clean: ## remove everything that was built or measured; kernels stay in the cache
	rm -rf $(OUT)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14
