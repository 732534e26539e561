# `make` alone does what CI does. Only Go, make and a POSIX shell are taken for granted: tools/ensure finds the rest
# (a browser, ffmpeg, a C compiler) or says what to install. No recipe reads standard input.

LIBS    := core visual temporal browser storage mcp
MODULES := $(LIBS) cmd tools
# Everything but storage and what stands above it builds without cgo.
PURE    := core visual temporal browser mcp
ALL     := $(MODULES:%=./%/...)
CROSS   := darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

BIN  := $(CURDIR)/.bin
GO   ?= go
# Test binaries that may run at once: several of them drive a browser.
P    ?= 2
# Arguments for `make run`, for example ARGS="--url http://localhost:3000 --keep".
ARGS ?=
FUZZTIME  ?= 30s
BENCHTIME ?= 1s
BENCHFLAGS ?=

GOTEST := $(GO) test -p $(P) -timeout 10m
BENCH  := $(GO) test -p 1 -timeout 60m -run '^$$' -benchtime $(BENCHTIME) -benchmem $(BENCHFLAGS)

GOLANGCI_VERSION := v2.15.0
GOLANGCI := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)

.DEFAULT_GOAL := check
.DELETE_ON_ERROR:

.PHONY: check
check: fmt-check vet build arch test standalone pure cross tidy-check ## what CI does

.PHONY: ensure
ensure: ## find or install the browser, ffmpeg and C compiler of a development checkout
	@./tools/ensure </dev/null

.PHONY: build
build: ## compile everything and leave the program in .bin
	$(GO) build $(ALL)
	$(GO) build -o $(BIN)/ ./cmd/krometrail

.PHONY: run
run: ensure ## record the built-in page: `krometrail demo $(ARGS)`
	$(GO) build -o $(BIN)/ ./cmd/krometrail
	$(BIN)/krometrail demo $(ARGS) </dev/null

.PHONY: vet
vet:
	$(GO) vet $(ALL)

.PHONY: test
test: ensure ## all tests, those that need a browser too
	$(GOTEST) $(ALL) </dev/null

.PHONY: race
race: ensure
	$(GOTEST) -race $(ALL) </dev/null

# go.work hides a missing require, so each library also stands on its own.
.PHONY: standalone $(LIBS:%=standalone/%)
standalone: $(LIBS:%=standalone/%) ## vet, test and tidy each library without the workspace
$(LIBS:%=standalone/%): standalone/%: ensure
	cd $* && GOWORK=off $(GO) vet ./...
	cd $* && GOWORK=off $(GOTEST) ./... </dev/null
	cd $* && GOWORK=off $(GO) mod tidy -diff

.PHONY: pure
pure: ## the modules that must build without cgo
	CGO_ENABLED=0 $(GO) build $(PURE:%=./%/...)

.PHONY: cross $(CROSS:%=cross/%)
cross: $(CROSS:%=cross/%) ## every module, without cgo, for macOS and Windows
$(CROSS:%=cross/%): cross/%:
	CGO_ENABLED=0 GOOS=$(word 1,$(subst /, ,$*)) GOARCH=$(word 2,$(subst /, ,$*)) $(GO) build $(ALL)

# cmd is installed by path@version and so carries no replace: its tidying borrows them (tools/release tidy-cmd).
.PHONY: tidy tidy-check
tidy:
	for m in $(LIBS) tools; do (cd $$m && GOWORK=off $(GO) mod tidy) || exit 1; done
	$(GO) run ./tools/release tidy-cmd
tidy-check:
	for m in $(LIBS) tools; do (cd $$m && GOWORK=off $(GO) mod tidy -diff) || exit 1; done
	$(GO) run ./tools/release tidy-cmd -diff

.PHONY: arch
arch: ## import rules, module files, hard limits of the source
	$(GO) test -count=1 ./tools/arch/...

.PHONY: golden
golden: ensure ## rewrite golden files; then read the diff
	./tools/golden $(MODULES) </dev/null

.PHONY: fuzz
fuzz: ## every fuzz target, one at a time, FUZZTIME each
	./tools/fuzz $(FUZZTIME) $(MODULES) </dev/null

.PHONY: fuzz-wire
fuzz-wire: ensure ## ten thousand mutated lines to the built program, which must answer after each
	$(GO) test -count=1 -timeout 30m -run 'TheBuiltProgram/mutated' ./cmd/krometrail -lines 10000 </dev/null

.PHONY: fmt fmt-check
fmt: $(GOLANGCI)
	$(GOLANGCI) fmt $(MODULES:%=./%)
fmt-check:
	@out=$$(gofmt -l $(MODULES)); if [ -n "$$out" ]; then echo "not gofmt-clean:"; echo "$$out"; exit 1; fi

.PHONY: lint lint-config lint-tool
lint-tool: $(GOLANGCI)
lint: $(GOLANGCI) lint-config
	$(GOLANGCI) run $(ALL)
lint-config: $(GOLANGCI)
	$(GOLANGCI) config verify
# The linter is in no go.mod. A cold build takes seven minutes or more on two cores.
$(GOLANGCI):
	GOBIN=$(BIN)/tmp GOFLAGS= GOWORK=off $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(BIN)/tmp/golangci-lint $@ && rmdir $(BIN)/tmp

.PHONY: crash-storage
crash-storage: ## kill a recording store at each of its steps; some minutes
	$(GO) test -count=1 -timeout 30m -run Killed ./storage -every-step

.PHONY: crash-program
crash-program: ensure ## kill the recording program 150 times beside two that live; about ten minutes
	$(GO) test -count=1 -timeout 60m -v -run KilledProgram ./cmd/internal/crashtest -kills 150 </dev/null

# A benchmark lives beside what it measures; these names group them by what they are read for. BENCHTIME=1x BENCHFLAGS=-short
# is the quick look.
.PHONY: bench bench-visual bench-capture bench-control bench-mcp bench-storage bench-temporal bench-events
bench: bench-visual bench-storage bench-mcp bench-events bench-control bench-temporal bench-capture
bench-visual: ## drawing, recall and precision of the pictures
	$(BENCH) -bench . ./visual/...
bench-storage: ## appending, reading and evicting
	$(BENCH) -bench . ./storage/...
bench-mcp: ensure ## start, tool list and calls of the stdio server
	$(BENCH) -bench . ./mcp/... </dev/null
bench-events: ensure ## browser events and their redaction
	$(BENCH) -bench . ./browser/events ./core/redact </dev/null
bench-control: ensure ## snapshots and actions in a real browser
	$(BENCH) -bench . ./browser/snapshot ./browser/input </dev/null
bench-temporal: ensure ## bundles, ranges, video encoding, and all of it while recording
	$(BENCH) -bench . ./temporal/... </dev/null
	$(BENCH) -bench Temporal ./cmd/... </dev/null
bench-capture: ensure ## how many brief states are in a frame, and what recording costs the page; half an hour
	$(BENCH) -bench . ./browser/capture </dev/null

.PHONY: release-verify release-tags release-rehearsal
release-verify: ## versions, requires, tags and changelogs agree
	$(GO) run ./tools/release verify
release-tags: ## print the tag commands; a person runs them
	$(GO) run ./tools/release tags
release-rehearsal: ## tag a temporary clone and install from it as a user would
	./tools/release/rehearse.sh </dev/null

.PHONY: corpus
corpus: build ensure ## play the cases of tools/corpus against the built program; ARGS="-run flash" picks some
	$(GO) run ./tools/corpus $(ARGS) $(BIN)/krometrail </dev/null

.PHONY: interop
interop: build ensure ## foreign MCP clients against the built program (needs Node.js and npm)
	./tools/interop/run $(BIN)/krometrail </dev/null

.PHONY: help
help:
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | while IFS='	' read -r t d; do printf '%-18s %s\n' "$$t" "$$d"; done

.PHONY: clean
clean:
	rm -rf $(BIN) out
