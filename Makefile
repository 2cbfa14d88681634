# The daily commands. `make demo` and `make test` are all a newcomer needs; each sets up what is missing first.
JOBS ?= $(shell nproc)
WERROR ?= OFF
PREFIX ?= /usr/local
SOAK ?= 50
RELEASE := build/release
SOURCES = $(shell git ls-files -co --exclude-standard '*.h' '*.cpp' '*.cu')

.PHONY: help demo test bench soak soak-files soak-kills soak-voxels soak-characters pictures figures format format-check lint asan tsan neon fuzz install clean build

help:
	@echo "make demo     build, make a character and its animation in demo/, say how to look at it"
	@echo "make test     build and run all tests"
	@echo "make build    build everything, benchmarks too"
	@echo "make bench    run all benchmarks"
	@echo "make soak     long runs: damaged files under sanitizers, kills and resumes, characters' whole clips"
	@echo "make pictures make every picture of the documentation anew"
	@echo "make figures  draw the plots of the documentation anew"
	@echo "make format   format the code        make lint   static checks"
	@echo "make asan     tests under AddressSanitizer and UBSan      make tsan   under ThreadSanitizer"
	@echo "make neon     tests of wide lanes and the lattice on 64-bit ARM, run by QEMU"
	@echo "make fuzz     run every libFuzzer target for a minute"
	@echo "make install  install program, library and headers (PREFIX=$(PREFIX))"

# --- set-up -------------------------------------------------------------------------------------

.PHONY: setup-build setup-test setup-lint setup-neon
setup-build:
	@scripts/setup build
setup-test:
	@scripts/setup build test
setup-lint:
	@scripts/setup build test lint
setup-neon:
	@scripts/setup build test neon
	@scripts/arm_root build/arm_root

# Node packages of the tests; again only when the lock file changes.
tests/node/node_modules/.stamp: tests/node/package-lock.json | setup-test
	@cd tests/node && npm ci --loglevel=error --no-audit --no-fund && touch node_modules/.stamp

# $(call configure,PRESET,OPTIONS): runs CMake when the tree has not been configured that way.
configure = @test -f build/$(1)/build.ninja && grep -qx 'SUPPLE_WERROR:BOOL=$(WERROR)' build/$(1)/CMakeCache.txt \
	|| cmake --preset $(1) -DSUPPLE_WERROR=$(WERROR) > build-$(1).log 2>&1 \
	&& rm -f build-$(1).log || { cat build-$(1).log; exit 1; }

# --- the two commands ---------------------------------------------------------------------------

demo: setup-build
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target supple_program
	@scripts/demo $(RELEASE)

test: setup-test tests/node/node_modules/.stamp
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS)
	@ctest --preset release -j $(JOBS)

build: setup-build
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target all benches soak_characters

# --- beside them --------------------------------------------------------------------------------

bench: setup-test
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target benches
	@for program in $(RELEASE)/bench/bench_*; do echo "== $$program"; $$program || exit 1; done

# Long runs, each of which may be had alone: damaged files, kills and resumes, voxels in knots, whole clips.
soak: soak-files soak-kills soak-voxels soak-characters

soak-files: setup-test
	$(call configure,asan)
	@cmake --build --preset asan -j $(JOBS)
	@SUPPLE_SOAK=$(SOAK) ctest --preset asan -j $(JOBS) -R 'amage|orrupt' -E '^lattice/' --timeout 36000

soak-kills: setup-test tests/node/node_modules/.stamp
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS)
	@SUPPLE_SOAK=$(SOAK) ctest --preset release -j $(JOBS) -R 'apps/|^lattice/.*Damaged' --timeout 36000

soak-voxels: setup-test
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target test_voxels
	@SUPPLE_SOAK=84 $(RELEASE)/test_voxels --gtest_filter='*ComeBackToRest*'

soak-characters: setup-test
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target soak_characters
	@SUPPLE_SOAK=$(SOAK) $(RELEASE)/soak_characters

pictures: setup-test
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target supple_program
	@scripts/pictures $(RELEASE)

figures: setup-test
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS) --target figures_lattice figures_surface
	@$(RELEASE)/bench/figures_lattice docs/pictures
	@cmake --build --preset release -j $(JOBS) --target supple_program
	@scripts/adjust_figures $(RELEASE)/supple docs/pictures
	@$(RELEASE)/bench/figures_surface docs/pictures

asan: setup-test tests/node/node_modules/.stamp
	$(call configure,asan)
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan -j $(JOBS)

tsan: setup-test tests/node/node_modules/.stamp
	$(call configure,tsan)
	@cmake --build --preset tsan -j $(JOBS)
	@ctest --preset tsan -j $(JOBS)

# Wide lanes and the lattice as 64-bit ARM has them: a long build, then some minutes of QEMU. Of the lattice's
# tests those that compare kernels with references, and a few of solves.
NEON_LONG = Refinement.*:*Damaged*:Determinism.*:Lattice/*:Methods/*:Cases/*:GaussBody.*:RestShape.*:*Dynamics.*:Extreme.*
NEON_TESTS ?= math material solve lattice
neon: setup-neon
	$(call configure,neon)
	@cmake --build --preset neon -j $(JOBS) --target $(addprefix test_,$(NEON_TESTS))
	@for area in $(NEON_TESTS); do qemu-aarch64 -L build/arm_root build/neon/test_$$area --gtest_brief=1 \
	  --gtest_filter='-$(NEON_LONG)' || exit 1; done

fuzz: setup-lint
	$(call configure,fuzz)
	@cmake --build --preset fuzz -j $(JOBS) --target fuzzers
	@for program in build/fuzz/fuzz/fuzz_*; do echo "== $$program"; mkdir -p build/fuzz/corpus/$$(basename $$program); \
	  $$program -max_total_time=60 -rss_limit_mb=4096 -artifact_prefix=build/fuzz/ build/fuzz/corpus/$$(basename $$program) || exit 1; done

format: setup-test
	@clang-format -i $(SOURCES)

format-check: setup-test
	@clang-format --dry-run --Werror $(SOURCES)

lint: setup-lint
	$(call configure,lint)
	@scripts/check_layers
	@git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P $(JOBS) -n 4 clang-tidy -p build/lint --quiet 2>/dev/null

install: setup-build
	$(call configure,release)
	@cmake --build --preset release -j $(JOBS)
	@cmake --install $(RELEASE) --prefix $(PREFIX)

clean:
	@rm -rf build demo tests/node/node_modules
