# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# mroce: kernel module, user space provider, tests. 'make help' lists the targets.

TOP := $(CURDIR)
OUT ?= $(TOP)/out
RUNNING := /lib/modules/$(shell uname -r)/build
KDIR ?= $(firstword $(wildcard $(RUNNING)) $(lastword $(wildcard /lib/modules/*/build)))
LANE ?= style host uml uml-kasan qemu
ALL_LANES := style host uml uml-kasan uml-lockdep qemu qemu-6.12
export OUT

.PHONY: all setup modules userspace tools check check-all kunit-host coverage mutants style demo conformance targets multipath loss loss-docs bench bench-docs install uninstall package doctor clean help

all: modules userspace

setup: ## install the Debian packages that building and testing need
	@scripts/setup.sh

modules: ## build mroce.ko for the kernel of KDIR=
	@[ -n "$(KDIR)" ] || { echo "no kernel headers: install linux-headers-$$(uname -r), or KDIR=" >&2; exit 1; }
	@[ "$(origin KDIR)" != file ] || [ "$(KDIR)" = $(RUNNING) ] || \
	echo "no headers of the running kernel ($$(uname -r)): this builds for the kernel of $(KDIR)" >&2
	scripts/build-module.sh $(OUT)/build/module -C $(KDIR)

userspace: ## build the libibverbs provider
	$(MAKE) -C userspace O=$(OUT)/userspace

tools: ## build the test programs
	$(MAKE) -C selftests/tools O=$(OUT)/tools

check: ## run the tests; LANE="style host uml ...", TEST=name, V=1 to watch
	@QUICK=1 selftests/run.sh $(LANE)

check-all: ## run every test of every lane, in full; LANE=, TEST=, V=1
	@selftests/run.sh $(if $(filter file,$(origin LANE)),$(ALL_LANES),$(LANE))

kunit-host: ## run the unit tests as a user program
	@TEST=unit selftests/run.sh host

coverage: ## lines and branches of proto/ that the unit tests execute; writes out/coverage.txt
	@scripts/coverage.sh

mutants: ## break proto/ on purpose and see whether the unit tests notice; MUTANTS=300 SEED=1
	@scripts/mutate.py

style: ## run the source checks
	@selftests/run.sh style

demo: ## mroce beside rxe between two machines, clean and with loss; writes out/demo.json
	@V=1 TEST=demo selftests/run.sh qemu && scripts/table.py $(OUT)/demo.json

conformance: ## play the other side of the protocol against the module, row by row; CONFORM="6 9" SEED=N (else a random one)
	@V=1 TEST=conformance selftests/run.sh uml

targets: ## measure the performance targets against rxe; writes out/targets.json
	@V=1 TEST=targets selftests/run.sh uml; status=$$?; scripts/table.py $(OUT)/targets.json && exit $$status

multipath: ## measure the targets of paths, planes and loss, 45 minutes
	@TEST="loss planes multipath" selftests/run.sh uml

loss_json = $(OUT)/$(if $(QUICK),logs/)loss.json
loss: ## what is kept of the rate under loss, beside rxe and TCP; LOSS= SIZES= ROUNDS=5 QUICK=1; writes out/loss.json and plots
	@V=1 TEST=loss selftests/run.sh uml; status=$$?; \
	scripts/table.py $(loss_json) && scripts/plot.py $(loss_json) $(OUT) && exit $$status

loss-docs: ## 'make loss', copied to Documentation/multipath
	@$(MAKE) loss QUICK= LOSS= SIZES= ROUNDS=
	mkdir -p Documentation/multipath
	cp $(OUT)/loss.json $(OUT)/loss-curve.png Documentation/multipath/
	scripts/table.py $(OUT)/loss.json > Documentation/multipath/table.txt

# the rows of a short run stay with the logs
bench_lane = $(if $(filter file,$(origin LANE)),uml,$(LANE))
bench_json = $(OUT)/$(if $(QUICK),logs/)bench.json
bench: ## mroce beside rxe, siw, TCP; LANE=uml|qemu TEST= SIZES= LOSS= ROUNDS=3 QUICK=1; writes out/bench.json and plots
	@V=1 TEST=bench BENCH_TESTS="$(TEST)" ROUNDS=$${ROUNDS:-$(if $(QUICK),1,3)} selftests/run.sh $(bench_lane); status=$$?; \
	scripts/table.py $(bench_json) && scripts/plot.py $(bench_json) $(OUT) && exit $$status

bench-docs: ## 'make bench' with more sizes, copied to Documentation/benchmarks
	@$(MAKE) bench LANE=uml TEST= QUICK= LOSS= ROUNDS= SIZES="65536 256 4096 16384 1048576"
	mkdir -p Documentation/benchmarks
	cp $(OUT)/bench.json $(OUT)/bench-*.png Documentation/benchmarks/
	scripts/table.py $(OUT)/bench.json > Documentation/benchmarks/table.txt

install: all ## install module, provider and tools; DESTDIR=, PREFIX= (of the tools), LIBDIR=
	@scripts/install.sh install

uninstall: ## remove what 'make install' put there
	@scripts/install.sh uninstall

package: ## build Debian packages (module by DKMS, provider, tools) into out/packages
	@scripts/package.sh

doctor: ## say what is missing on this host to use mroce
	@scripts/doctor.sh

clean: ## remove everything that was built or measured; kernels stay in the cache
	rm -rf $(OUT)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14
