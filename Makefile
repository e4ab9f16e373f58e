# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Everything is built under $(O). `make help` lists the targets; V=1 shows the commands.

# What a packager may set
O ?= build
PREFIX ?= /usr/local
SBINDIR ?= $(PREFIX)/sbin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
UNITDIR ?= $(PREFIX)/lib/systemd/system
DESTDIR ?=
export O DESTDIR PREFIX SBINDIR DATADIR MANDIR UNITDIR
CFLAGS ?= -O2 -g
WERROR ?= -Werror
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
FUZZ_SECONDS ?= 60
ARGS ?=
V ?= 0
LIBS := libbpf yaml-0.1 libevent jansson libsystemd libmnl libseccomp libpcap
WARN := -Wall -Wextra -Wshadow $(WERROR)
HOST := -std=gnu11 -D_GNU_SOURCE $(WARN) -MMD -MP -Iinclude -iquote $(O) \
	$(shell $(PKG_CONFIG) --cflags $(LIBS))
LDLIBS := -Wl,--as-needed $(shell $(PKG_CONFIG) --libs $(LIBS) ncursesw)
CUNIT := $(shell $(PKG_CONFIG) --libs cunit 2>/dev/null)
SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
BPFFLAGS := -target bpf -mcpu=v3 -O2 -g $(WARN) -MMD -MP -Iinclude \
	-idirafter /usr/include/$(shell gcc -print-multiarch 2>/dev/null)

# Sources by folder. A unit test links what it needs of LIB: the kernel is reached through loader.c.
LIB := $(filter-out user/main.c user/loader.c,$(wildcard user/*.c))
ADMIT_OBJS := $(O)/bpf/maps.bpf.o $(O)/bpf/admit.bpf.o
BPF_OBJS := $(filter-out $(O)/bpf/admit.bpf.o,$(patsubst %.c,$(O)/%.o,$(wildcard bpf/*.bpf.c)))
KINDS := $(foreach kind,unit prog live,$(if $(wildcard tests/$(kind)/test_*.c),$(kind)))
FUZZERS := $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(wildcard tests/fuzz/*.c))
TOOLS := $(patsubst tests/tools/%.c,$(O)/tools/%,$(wildcard tests/tools/*.c))
BENCHES := $(patsubst tests/bench/%.c,$(O)/bench/%,$(wildcard tests/bench/bench_*.c))
BENCH_SKELS := $(patsubst tests/bench/%.bpf.c,$(O)/bench/%.skel.h,$(wildcard tests/bench/*.bpf.c))
TESTS := $(if $(filter unit,$(KINDS)),$(O)/test-unit $(O)/test-unit-clang) \
	$(if $(filter prog,$(KINDS)),$(O)/test-prog) $(if $(filter live,$(KINDS)),$(O)/test-live)
say = $(if $(filter 1,$(V)),,@printf '  %-8s%s\n' '$(1)' '$(patsubst $(O)/%,%,$@)';)
objs = $(patsubst %.c,$(O)/$(1)/%.o,$(2))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all run demo check tests fuzz bench lint install uninstall deb clean help
all: $(O)/stile		## build the program

# The host's code, three times: to be used, and under gcc's and under clang's sanitizers
define build =
$(O)/$(1)/%.o: %.c
	@mkdir -p $$(@D)
	$$(call say,$(2))$(3) $$(HOST) $$(if $$(filter tests/%,$$<),-iquote bpf -iquote user -iquote tests) \
		$(4) -c $$< -o $$@
$(call objs,$(1),$(wildcard user/loader*.c tests/prog/*.c)): | $(O)/stile.skel.h $(O)/admit.skel.h
$(O)/$(1)/lib.a: $(call objs,$(1),$(LIB))
$(O)/$(1)/tests.a: $(call objs,$(1),$(wildcard tests/*.c tests/traffic/*.c))
$(O)/$(1)/bench.a: $(call objs,$(1),$(filter-out tests/bench/bench_% %.bpf.c,$(wildcard tests/bench/*.c)))
$(call objs,$(1),$(wildcard tests/bench/*.c)): | $(BENCH_SKELS)
$(O)/$(1)/%.a:
	@mkdir -p $$(@D); rm -f $$@
	$$(call say,AR)ar rcs $$@ $$^
endef
$(eval $(call build,plain,CC,$$(CC),$$(CPPFLAGS) $$(CFLAGS)))
$(eval $(call build,asan,ASAN,$$(CC),$$(SANITIZE)))
$(eval $(call build,clang,CLANG,$$(CLANG),$$(SANITIZE) -fsanitize=fuzzer-no-link))

$(O)/stile: $(call objs,plain,user/main.c user/loader.c) $(O)/plain/lib.a
	$(call say,LINK)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@
$(O)/asan/stile: $(call objs,asan,user/main.c user/loader.c) $(O)/asan/lib.a
	$(call say,LINK)$(CC) $(SANITIZE) $^ $(LDLIBS) -o $@
$(O)/test-unit: $(call objs,asan,$(wildcard tests/unit/*.c)) $(O)/asan/tests.a $(O)/asan/lib.a
	$(call say,LINK)$(CC) $(SANITIZE) $^ $(LDLIBS) $(CUNIT) -o $@
$(O)/test-unit-clang: $(call objs,clang,$(wildcard tests/unit/*.c)) $(O)/clang/tests.a $(O)/clang/lib.a
	$(call say,LINK)$(CLANG) $(SANITIZE) $^ $(LDLIBS) $(CUNIT) -o $@
$(O)/test-prog: $(call objs,asan,$(wildcard tests/prog/*.c) user/loader.c) $(O)/asan/tests.a $(O)/asan/lib.a
	$(call say,LINK)$(CC) $(SANITIZE) $^ $(LDLIBS) $(CUNIT) -o $@
$(O)/test-live: $(call objs,plain,$(wildcard tests/live/*.c) user/sandbox.c user/cgroup.c) \
		$(O)/plain/tests.a
	$(call say,LINK)$(CC) $(CFLAGS) $^ $(LDLIBS) $(CUNIT) -o $@
$(O)/fuzz/%: $(O)/clang/tests/fuzz/%.o $(O)/clang/lib.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CLANG) $(SANITIZE) -fsanitize=fuzzer $^ $(LDLIBS) -o $@
$(O)/bench/%: $(O)/plain/tests/bench/%.o $(O)/plain/bench.a $(O)/plain/user/loader.o $(O)/plain/tests.a \
		$(O)/plain/lib.a
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $^ $(LDLIBS) -lm -o $@
$(O)/tools/%: $(O)/plain/tests/tools/%.o $(call objs,plain,$(wildcard tests/traffic/*.c))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(CFLAGS) $^ -lm -lpthread -o $@

# The kernel's code: one object, one skeleton (admit's is another: it loads on newer kernels only);
# and those of the benchmarks
$(O)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPFFLAGS) -c $< -o $@
$(O)/bench/%.bpf.o: tests/bench/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF)$(CLANG) $(BPFFLAGS) -c $< -o $@
$(O)/stile.bpf.o: $(BPF_OBJS)
$(O)/admit.bpf.o: $(ADMIT_OBJS) # the maps first: libbpf 1.1 loses them otherwise
$(O)/stile.bpf.o $(O)/admit.bpf.o:
	$(call say,BPFLINK)$(BPFTOOL) gen object $@ $^
$(O)/%.skel.h: $(O)/%.bpf.o
	$(call say,SKEL)$(BPFTOOL) gen skeleton $< > $@

# Checks
tests: $(TESTS) $(FUZZERS) $(TOOLS) $(O)/asan/stile $(call objs,clang,user/main.c user/loader.c)
check: all tests $(BENCHES)	## every test and lint; as root, otherwise what needs no root
	+@O='$(O)' FUZZ_SECONDS='$(FUZZ_SECONDS)' MAKE='$(MAKE)' sh tests/run.sh
fuzz: $(FUZZERS)	## each fuzzer for FUZZ_SECONDS (60)
	@for fuzzer in $^; do FUZZ_SECONDS='$(FUZZ_SECONDS)' sh tests/fuzz.sh $$fuzzer || exit 1; done
bench: all $(BENCHES) $(TOOLS)	## the measurements of docs/benchmarks.md; as root
	@sh tests/bench/run.sh

SOURCES := $(wildcard include/stile/*.h $(foreach dir,bpf user tests tests/*,$(dir)/*.[ch]))
$(O)/lint/bpf/%.ok $(O)/lint/%.bpf.ok: FLAGS = $(BPFFLAGS)
$(O)/lint/%.ok: FLAGS = $(HOST) -iquote bpf -iquote user -iquote tests
$(O)/lint/%.ok: %.c $(filter %.h,$(SOURCES)) .clang-tidy | $(O)/stile.skel.h $(O)/admit.skel.h $(BENCH_SKELS)
	@mkdir -p $(@D)
	$(call say,TIDY)clang-tidy --quiet $< -- $(filter-out -M%,$(FLAGS)) 2>$@.log || { cat $@.log; exit 1; }
	@touch $@
lint: $(patsubst %.c,$(O)/lint/%.ok,$(filter %.c,$(SOURCES)))	## formatter, clang-tidy, layer rules, budgets
	@clang-format --dry-run -Werror $(SOURCES)
	@code=0; for rules in layers style docs texts; do sh scripts/check-$$rules.sh || code=1; done; exit $$code
	@for script in $(filter-out scripts/packages,$(wildcard scripts/* tests/*.sh tests/*/*.sh .ci/run)); do \
		sh -n $$script || exit 1; done
	$(if $(wildcard docs/*.[58]),@mandoc -T lint -W warning $(wildcard docs/*.[58]))

# To use it
run: all		## the daemon in the foreground, in a playground unless ARGS has -i IFACE
	@exec sh scripts/playground $(ARGS)
demo: all $(TOOLS)		## a service under a storm, without Stile and with it
	@sh scripts/demo $(ARGS)
install: all		## into $(DESTDIR)$(PREFIX)
	@sh packaging/install.sh
uninstall:		## what install put there
	@sh packaging/install.sh --remove
deb:			## a Debian package of what is committed, in $(O)/deb
	@sh packaging/deb.sh
clean:			## remove $(O)
	rm -rf $(O)
help:			## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST)

-include $(shell find $(O) -path '$(O)/debootstrap-*' -prune -o -name '*.d' -print 2>/dev/null)
