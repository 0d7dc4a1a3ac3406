# `make run` builds the program and opens the chat; `make test` passes on any machine.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
GOLANGCI_VERSION := v2.15.0
# TAGS=nogpu makes a fully static program without support for GPUs.
TAGS    ?=

.PHONY: build cuda run versions test test-race test-cuda sanitize-cuda validate-cuda e2e torture hostile bench-tiers lint fuzz bench generate notices formats screenshots clean

build: bin/rookery

# Always run: the Go tool knows what is up to date.
.PHONY: bin/rookery
bin/rookery:
	CGO_ENABLED=0 $(GO) build -trimpath -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o $@ ./cmd/rookery

# Builds the library for NVIDIA GPUs and puts it beside the program. It needs nvcc of
# CUDA 12.4 or newer, and builds for the card in this machine; make -C cuda fat
# builds for all cards.
GPU_LIBRARY := librookery_cuda.so
cuda:
	$(MAKE) -C cuda
	mkdir -p bin
	cp cuda/build/$(GPU_LIBRARY) bin/

run: build
	./bin/rookery $(ARGS)

# Unit, golden, fuzz-seed and command-line tests under the race detector, the one
# test that cannot run under it, then the program itself in a terminal.
test: test-race e2e

test-race:
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...
	$(GO) test -run PoolStopsForTheRuntime ./infer/cpu/kernel

# Every version against the public rwkv package in the Python that PYTHON names (pip
# install rwkv torch numpy), on new random weights: SEED=N chooses others.
PYTHON ?= python3
SEED   ?= 1000
versions:
	mkdir -p bin
	$(PYTHON) infer/cpu/testdata/versions.py --seed $(SEED) >bin/versions.json
	VERSIONS_GOLDENS=$(CURDIR)/bin/versions.json $(GO) test -count=1 -v -run TestVersionsMatchTheReference ./infer/cpu

# The kernels' own tests, the Go tests that need a GPU, and one of the chat: how long
# a key takes to show while 32 tabs generate.
test-cuda: cuda build
	$(MAKE) -C cuda test
	ROOKERY_LIB=$(CURDIR)/bin/$(GPU_LIBRARY) $(GO) test -count=1 -v -run GPU ./infer/native
	ROOKERY_E2E=$(CURDIR)/bin/rookery ROOKERY_LATENCY='32 16ms --backend cuda' $(GO) test -count=1 -v -run TestLatency ./e2e

# The kernels under compute-sanitizer: memcheck, racecheck, initcheck.
sanitize-cuda: cuda
	cuda/test/sanitize.sh cuda/build

# Runs both of the above, the test of what NVML reads, and the measurements of
# docs/performance.md, each with a time limit. ARGS names parts of it.
validate-cuda:
	scripts/validate-cuda $(ARGS)

# Drives the program in tmux, as a person would.
e2e: build
	ROOKERY_E2E=$(CURDIR)/bin/rookery $(GO) test -count=1 -timeout 30m ./e2e

# Kills the program 1,000 times while it streams, saves, thins and deletes, and
# checks after each kill that nothing is lost. KILLS=100 make torture kills less
# often; make test kills two dozen times.
KILLS ?= 1000
torture:
	ROOKERY_TORTURE_KILLS=$(KILLS) $(GO) test -count=1 -timeout 60m -v -run '^TestTorture$$' ./sessions

# Gives the program about a thousand hostile files and checks that it refuses them in a
# line, in a second and in little memory. Takes about two minutes.
hostile: build
	ROOKERY_HOSTILE=$(CURDIR)/bin/rookery $(GO) test -count=1 -timeout 10m -v -run '^TestHostile$$' ./e2e/hostile

# Switches among 500 conversations with states of 6.5 MB on 64 slots. Takes some
# minutes, and some gigabytes in the temporary directory.
bench-tiers:
	ROOKERY_TIERS=full $(GO) test -count=1 -timeout 30m -v -run '^TestTiers$$' ./sessions
	$(GO) test -run '^$$' -bench SavingBesideSteps -benchtime 10s ./sessions

# Measures how the weight of a state changes the style of whole stories, at five
# weights of every state of the embedded model. Takes some minutes.
.PHONY: styles
styles:
	ROOKERY_STYLES=full $(GO) test -count=1 -timeout 60m -v -run TestWeightsMoveTheStyle ./infer/demo

# Draws the pictures of the README from the running program. It needs tmux and python3.
screenshots: build
	scripts/screenshots bin/rookery

lint:
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) run ./...

# Runs every fuzz target, each for FUZZTIME.
FUZZTIME ?= 20s
fuzz:
	scripts/fuzz $(FUZZTIME)

# Measures the kernels, the forward pass and the screen.
bench: build
	$(GO) test -run '^$$' -bench . -benchtime 1s ./infer/... ./ui/...
	./bin/rookery bench

# Generates the assembly from its sources.
generate:
	$(GO) generate ./...

# Prints the table of versions and formats in docs/formats.md.
formats:
	$(GO) test ./infer/cpu -run 'TestFormats$$' -v

notices:
	scripts/notices > THIRD_PARTY_NOTICES

clean:
	rm -rf bin
