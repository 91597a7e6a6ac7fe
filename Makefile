# Winnow's front door: `make help` lists what there is.  Each target installs the packages it lacks, then calls Meson,
# Ninja or a script in tools/, where the work is done; this file only says in which order.
#
#     BUILD=DIR      build directory (build)             PREFIX=DIR       where `make install` puts things (/usr/local)
#     JOBS=N         processes at a time (all cores)     TESTS='OPTION..' given to tools/run-tests, as --filter asha
#     CI=true        warnings are errors                 FUZZ_SECONDS=N   for each target of `make fuzz` (60)

BUILD        ?= build
PREFIX       ?= /usr/local
JOBS         ?= $(shell nproc 2>/dev/null || echo 2)
TESTS        ?=
FUZZ_SECONDS ?= 60
PEERS        ?=

NINJA   := ninja -j $(JOBS)
OPTIONS  = -Dprefix=$(abspath $(PREFIX)) -Dwerror=$(if $(filter true,$(CI)),true,false)

# Sanitizers stop at the first finding, so that it fails the test it belongs to.
export ASAN_OPTIONS  ?= detect_leaks=1:halt_on_error=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS ?= halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS  ?= halt_on_error=1

SANITIZE = $(OPTIONS) --buildtype=debugoptimized
# Newer kernels scatter mappings wider than the thread sanitizer of older compilers expects; switch that off if we may.
SETARCH  = $(shell setarch -R true 2>/dev/null && echo setarch -R)

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build demo test check asan tsan fuzz bench bench-peers measure format install uninstall clean help

build:   ## the program (build/winnow) and the libraries, optimised
	@tools/install-deps build
	@tools/configure $(BUILD) $(OPTIONS)
	@$(NINJA) -C $(BUILD) product

demo: build   ## see it work, in a minute
	@BUILD_DIR=$(abspath $(BUILD)) tools/demo

test:   ## build and run all tests
	@tools/install-deps test
	@tools/configure $(BUILD) $(OPTIONS)
	@$(NINJA) -C $(BUILD) tests
	@tools/run-tests $(BUILD) --jobs $(JOBS) $(TESTS)

check:   ## formatting, static analysis, layers, headers
	@tools/install-deps check
	@tools/configure $(BUILD) $(OPTIONS)
	@tools/check $(BUILD)

asan:   ## all tests with address, undefined-behaviour and leak sanitizers
	@tools/install-deps test
	@tools/configure build-asan $(SANITIZE) -Db_sanitize=address,undefined
	@$(NINJA) -C build-asan tests
	@tools/run-tests build-asan --jobs $(JOBS) --timeout 900 $(TESTS)

tsan:   ## all tests with the thread sanitizer
	@tools/install-deps test
	@tools/configure build-tsan $(SANITIZE) -Db_sanitize=thread
	@$(NINJA) -C build-tsan tests
	@$(SETARCH) tools/run-tests build-tsan --jobs $(JOBS) --timeout 900 $(TESTS)

fuzz:   ## feed the parsers rubbish: each target of tests/fuzz for FUZZ_SECONDS
	@tools/install-deps check
	@CC=clang tools/configure build-fuzz --buildtype=debugoptimized -Dfuzz=true -Dtests=disabled \
	    -Dc_args=-fsanitize=fuzzer-no-link -Db_sanitize=address,undefined -Db_lundef=false
	@$(NINJA) -C build-fuzz fuzz
	@tools/fuzz build-fuzz $(FUZZ_SECONDS)

bench: build   ## speed and memory: are the promises kept?
	@BUILD_DIR=$(abspath $(BUILD)) tools/bench

bench-peers: build   ## speed next to other packages, in one run (downloads them; PEERS='--quick ...')
	@BUILD_DIR=$(abspath $(BUILD)) bench/peers/run $(PEERS)

measure:   ## lines of code and tests, function lengths
	@tools/measure

format:   ## put all C files into the style of .clang-format
	@tools/install-deps check
	@tools/check --fix-format

install: build   ## into PREFIX: program, libraries, header, pkg-config file, manual, completion, data
	@meson install -C $(BUILD) --no-rebuild --quiet
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig 2>/dev/null || true; fi
	@echo "installed into $(DESTDIR)$(abspath $(PREFIX))"
	@case "$(abspath $(PREFIX))" in /usr|/usr/local) ;; *) \
	    echo "to build against it: export PKG_CONFIG_PATH=$(abspath $(PREFIX))/lib/pkgconfig LD_LIBRARY_PATH=$(abspath $(PREFIX))/lib" ;; esac

uninstall:   ## take out of PREFIX what `make install` put there
	@tools/configure $(BUILD) $(OPTIONS)
	@tools/uninstall $(BUILD)

clean:   ## remove everything that was built
	@rm -rf $(BUILD) build-asan build-tsan build-fuzz

help:   ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-11s %s\n", $$1, $$2 }'
	@echo
	@sed -n 's/^#   \(  .*\)/\1/p' Makefile
