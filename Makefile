# cl: GNU make, no configure.  O= places the build, SANITIZE= instruments it,
# WERROR=1 makes warnings errors, PREFIX and DESTDIR place an installation.
# `make demo` and `make check` first install what is missing: see .ci/deps.

VERSION	 = 0.1.0
O	?= build
PREFIX	?= /usr/local
MANDIR	?= $(PREFIX)/share/man
# At -O3 and instrumented, gcc 12 warns of what cannot be.
CFLAGS	?= $(if $(SANITIZE),-O2,-O3) -g
PKG_CONFIG ?= pkg-config
ZSTD_CFLAGS := $(shell $(PKG_CONFIG) --cflags libzstd 2>/dev/null)
ZSTD_LIBS := $(shell $(PKG_CONFIG) --libs libzstd 2>/dev/null || echo -lzstd)
ARCHIVE_CFLAGS := $(shell $(PKG_CONFIG) --cflags libarchive 2>/dev/null)
ARCHIVE_LIBS := $(shell $(PKG_CONFIG) --libs libarchive 2>/dev/null || echo -larchive)
SYSTEM	:= $(shell uname -s | tr A-Z a-z)
URING_LIBS := $(if $(filter linux,$(SYSTEM)),$(shell $(PKG_CONFIG) --libs liburing 2>/dev/null))

WARN	 = -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
	   -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wundef \
	   -Wformat=2 -Wvla -Wno-variadic-macros
CL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 \
	   -ffp-contract=off -pthread -Iinclude -MMD -MP $(WARN) \
	   $(ZSTD_CFLAGS) $(ARCHIVE_CFLAGS) -DCL_VERSION='"$(VERSION)"'
CL_LDFLAGS = -pthread -Wl,--as-needed
CL_LIBS	 = $(ARCHIVE_LIBS) $(ZSTD_LIBS) $(URING_LIBS) -lm -ldl
ifdef WERROR
CL_CFLAGS += -Werror
endif
ifdef SANITIZE
CL_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	   -fno-omit-frame-pointer
CL_LDFLAGS += -fsanitize=$(SANITIZE)
endif

COMMANDS = cl-trace cl-replay cl-report cl-diff
objects	 = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)))
programs = $(patsubst %.c,$(O)/%,$(wildcard $(1)))
# Forms of the kernel, by processor: see lib/compute/compute_int.h.
CPU	:= $(shell $(CC) -dumpmachine)
FORMS_x86 = x86 avx2 avx2_vnni avx512 avx512_vnni
FORMS_arm = arm neon neon_dot
FORMS	 = $(or $(if $(filter x86_64-%,$(CPU)),$(FORMS_x86)),\
	   $(if $(filter aarch64-% arm64-%,$(CPU)),$(FORMS_arm)),other)
forms	 = $(1:%=$(O)/lib/compute/compute_%.o)
# Forms of the reader, by system and library: see lib/io/io_int.h.
IO_FORMS = linux darwin other uring nouring
IO_FORM	 = $(or $(filter linux,$(SYSTEM)),$(filter darwin,$(SYSTEM)),other) \
	   $(if $(URING_LIBS),uring,nouring)
io_forms = $(1:%=$(O)/lib/io/io_%.o)
ROOMS	 = *
LIB_OBJ	 = $(filter-out $(call io_forms,$(filter-out $(IO_FORM),$(IO_FORMS))) \
	    $(call forms,$(filter-out $(FORMS),$(FORMS_x86) \
	   $(FORMS_arm) other)),$(call objects,$(ROOMS:%=lib/%/*.c)))
FE_OBJ	 = $(O)/cmd/fe.o $(O)/cmd/options.o
UNITS	 = $(call programs,tests/unit/test_*.c)
GENS	 = $(call programs,tests/gen/mk*.c)
CAPTURES = $(call programs,tests/capture/*.c)
BENCHES	 = $(call programs,tests/bench/*.c)
FUZZERS	 = $(call programs,tests/fuzz/fuzz_*.c)

all: $(COMMANDS:%=$(O)/%)

# Objects follow their flags: another compiler or another SANITIZE rebuilds.
FLAGS	 = $(CC) $(CL_CFLAGS) $(CFLAGS)
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo "$$FLAGS" | cmp -s - $@ || echo "$$FLAGS" > $@
$(O)/flags: export FLAGS := $(FLAGS)

$(O)/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(CC) $(CL_CFLAGS) $(CFLAGS) -c -o $@ $<

$(call forms,avx2): CL_CFLAGS += -mavx2
$(call forms,avx2_vnni): CL_CFLAGS += -mavx2 -mavxvnni
$(call forms,avx512): CL_CFLAGS += -mavx512f -mavx512bw
$(call forms,avx512_vnni): CL_CFLAGS += -mavx512f -mavx512bw -mavx512vnni
$(call forms,neon_dot): CL_CFLAGS += -march=armv8.2-a+dotprod

$(O)/libcl.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# libllama calls back into the executable: see lib/trace/tap.c.
$(O)/cl-trace $(O)/tests/unit/test_tap $(O)/tests/unit/test_record \
    $(CAPTURES) $(BENCHES): CL_LDFLAGS += -rdynamic
LINK	 = $(CC) $(CL_LDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(CL_LIBS)
$(O)/cl-%: $(O)/cmd/cl-%.o $(FE_OBJ) $(O)/libcl.a
	$(LINK)
$(O)/cl-trace: $(patsubst %.c,$(O)/%.o,$(wildcard cmd/trace_*.c))
$(foreach c,$(COMMANDS:cl-%=%),$(eval $(O)/cl-$(c): \
    $(call objects,cmd/$(c)_*.c)))

# What reads traces, from archives as well.
$(O)/cl-trace $(O)/cl-replay: $(O)/cmd/input.o $(O)/cmd/corpus_kind.o
$(O)/cl-replay: $(O)/cmd/feed.o
$(O)/cl-trace: $(O)/cmd/corpus.o $(O)/cmd/corpus_read.o

$(FUZZERS): $(O)/tests/fuzz/replay.o
$(O)/tests/%: $(O)/tests/%.o $(O)/libcl.a
	$(LINK)

# What tests/run needs in a build of its own.
units: $(UNITS) $(GENS) $(CAPTURES) $(BENCHES)
everything: all units $(FUZZERS)

deps:
	@.ci/deps
deps-releases:
	@.ci/deps releases

deps-bench:
	@.ci/deps bench

demo: deps
	+@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@bash -o pipefail -c '$(O)/cl-trace tests/models/cl-moe-8x64.gguf | \
	    $(O)/cl-replay --cache 25% | $(O)/cl-report'

# All of it, in builds of their own below $(O); the parts use $(O) as it is.
check: deps-releases
	+@O=$(O) tests/run check
check-unit: units
	+@O=$(O) tests/run unit
check-cli: everything
	+@O=$(O) tests/run cli
check-fuzz: $(FUZZERS)
	+@O=$(O) tests/run fuzz
check-layers: $(O)/libcl.a
	+@O=$(O) tests/run layers
check-hdr:
	+@O=$(O) tests/run hdr
check-man:
	+@O=$(O) tests/run man

# The corpus is where it starts: make O=build/fuzz CC=clang fuzz-gguf \
#     SANITIZE=fuzzer-no-link,address,undefined FUZZ=-max_total_time=600
fuzz-%: $(O)/tests/fuzz/fuzz_%.o $(O)/libcl.a
	@mkdir -p $(O)/found-$*
	$(CC) $(CL_LDFLAGS) -fsanitize=fuzzer $(LDFLAGS) \
	    -o $(O)/tests/fuzz/libfuzzer_$* $^ $(CL_LIBS)
	$(O)/tests/fuzz/libfuzzer_$* $(FUZZ) $(O)/found-$* tests/fuzz/corpus/$*

bench: deps-bench all $(BENCHES) $(GENS)
	@O=$(O) tests/bench/run

install: all
	install -d $(DESTDIR)$(PREFIX)/bin \
	    $(foreach s,1 5 7,$(DESTDIR)$(MANDIR)/man$(s))
	install $(COMMANDS:%=$(O)/%) $(DESTDIR)$(PREFIX)/bin
	set -e; for page in man/*.[157]; do \
	    install -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}; done

dist:
	mkdir -p $(O)
	git archive --format=tar.gz --prefix=cl-$(VERSION)/ \
	    -o $(O)/cl-$(VERSION).tar.gz HEAD

# What make deps has fetched outlives clean.
clean:
	find $(O) -mindepth 1 -maxdepth 1 ! -name 'deps*' -exec rm -rf {} +
distclean:
	rm -rf $(O) build

-include $(shell find $(O)/cmd $(O)/lib $(O)/tests -name '*.d' 2>/dev/null)

.PHONY: all units everything deps deps-releases deps-bench demo check check-unit check-cli check-fuzz \
	check-layers check-hdr check-man bench install dist clean distclean FORCE
.SECONDARY:
