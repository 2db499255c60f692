# cl: GNU make, no configure.  O= places the build, SANITIZE= instruments it,
# WERROR=1 makes warnings errors, PREFIX and DESTDIR place an installation.

VERSION	 = 0.1.0
O	?= build
PREFIX	?= /usr/local
MANDIR	?= $(PREFIX)/share/man
CFLAGS	?= -O2 -g
PKG_CONFIG ?= pkg-config

WARN	 = -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
	   -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wundef \
	   -Wformat=2 -Wvla -Wno-variadic-macros
CL_CFLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 \
	   -ffp-contract=off -pthread -Iinclude -MMD -MP $(WARN) \
	   -DCL_VERSION='"$(VERSION)"'
CL_LIBS	 = -lzstd -lm -ldl -pthread
ifdef WERROR
CL_CFLAGS += -Werror
endif
ifdef SANITIZE
CL_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	   -fno-omit-frame-pointer
LDFLAGS	+= -fsanitize=$(SANITIZE)
endif

COMMANDS = cl-trace cl-replay cl-report cl-diff
LIB_OBJ	 = $(patsubst %.c,$(O)/%.o,$(wildcard lib/*/*.c))
FE_OBJ	 = $(O)/cmd/fe.o
UNITS	 = $(patsubst tests/unit/%.c,$(O)/tests/unit/%,\
	   $(wildcard tests/unit/test_*.c))
GENS	 = $(patsubst tests/gen/%.c,$(O)/tests/gen/%,$(wildcard tests/gen/*.c))

all: $(COMMANDS:%=$(O)/%)

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CL_CFLAGS) $(CFLAGS) -c -o $@ $<

$(O)/libcl.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

# libllama calls back into the executable: see lib/trace/tap.c.
$(O)/cl-trace: LDFLAGS += -rdynamic
$(O)/cl-%: $(O)/cmd/cl-%.o $(FE_OBJ) $(O)/libcl.a
	$(CC) $(LDFLAGS) -o $@ $^ $(CL_LIBS)

$(O)/tests/%: $(O)/tests/%.o $(O)/libcl.a
	$(CC) $(LDFLAGS) -o $@ $^ $(CL_LIBS)

units: $(UNITS)
gens: $(GENS)

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)

.PHONY: all units gens clean
.SECONDARY:
