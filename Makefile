# What is done to this project, by name. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 10s
BENCHTIME ?= 1s
BASE ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
DIALECT ?= vllm
LISTEN ?= 127.0.0.1:8000
ASK ?= http://127.0.0.1:8001/v1
FROM ?= 0
TO ?= 100
CONFIG ?= deploy/config.yaml
PREFIX ?= /usr/local
DESTDIR ?=
TARGETS ?=
ONLY ?=

# Without the C library the program starts sooner; without DWARF and symbols, which only debuggers read, packages
# compile in three quarters of the time, and test binaries link in two thirds. Demo, build and tests share what is
# compiled.
export CGO_ENABLED ?= 0
lean := -gcflags=all=-dwarf=false -ldflags=-s
export GOFLAGS := $(strip $(filter-out $(lean),$(shell go env GOFLAGS 2>/dev/null)) $(lean))

bindir = $(DESTDIR)$(PREFIX)/bin
share = $(DESTDIR)$(PREFIX)/share
# What install lays down below share but the manual pages.
completions = bash-completion/completions/gpt-oss-executor zsh/site-functions/_gpt-oss-executor fish/vendor_completions.d/gpt-oss-executor.fish

# All packages but those that start a gateway or a browser.
packages = $$(go list ./... | grep -vE '/(e2e|browser)$$')
# The race detector has nothing to find in tests that compute one thing after the other, and take long under it:
# simulations, tables of damaged arguments, and what real servers make of replies; other tests ask scripted servers
# several things at once.
computing = TestFalseAlarms|TestPower|TestSplit|TestShares|TestTable|TestRowsStandAlone|TestFramesCompose|TestSlips|TestReal.*
# Those where several things run at once, in the code or in its tests.
concurrent = $$(grep -rlE --include='*.go' '^[[:space:]]*go [a-zA-Z]|\.Go\(|Parallel\(|AfterFunc\(|httptest\.' . | xargs dirname | sort -u | grep -vE '^\.(/(e2e|internal/testkit/.*|deploy/check|sidecar/part/console/browser|sidecar/cli))?$$') # the console has tests without a browser, too; what a command runs has tests of its own, and kits run in the tests that use them
.PHONY: help build install uninstall release run test whole computes compiles gateway needs skipped unit long browser deploy systems race e2e servers lint fuzz bench bench-gate load demo pictures model sessions schemas faults scenarios agents experiments reading compare-readers clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/gpt-oss-executor, and beside it what runs confined commands
	go build -o bin/ . ./cmd/gpt-oss-executor-confine

# Behind sudo it takes the program that is there: git tells root nothing of the clone of another user.
install: ## build it, and put the program, completion and manual pages below PREFIX (/usr/local), itself below DESTDIR
	@[ -n "$${SUDO_USER:-}" ] && [ -x bin/gpt-oss-executor-confine ] || $(MAKE) --no-print-directory build
	umask 022; mkdir -p "$(bindir)" $(foreach file,$(completions),"$(share)/$(dir $(file))") "$(share)/man/man1"
	install -m 755 bin/gpt-oss-executor bin/gpt-oss-executor-confine "$(bindir)/"
	umask 022; bin/gpt-oss-executor completion bash > "$(share)/$(word 1,$(completions))"
	umask 022; bin/gpt-oss-executor completion zsh > "$(share)/$(word 2,$(completions))"
	umask 022; bin/gpt-oss-executor completion fish > "$(share)/$(word 3,$(completions))"
	umask 022; bin/gpt-oss-executor man --dir "$(share)/man/man1"

uninstall: ## remove what install laid down, with the same PREFIX and DESTDIR
	rm -f "$(bindir)/gpt-oss-executor" "$(bindir)/gpt-oss-executor-confine" $(foreach file,$(completions),"$(share)/$(file)") "$(share)"/man/man1/gpt-oss-executor.1 "$(share)"/man/man1/gpt-oss-executor-*.1

release: ## archives, npm packages, SBOMs and checksums of a commit in dist/; TARGETS=linux/amd64,… only these, TRIAL=1 also of changes
	go run ./deploy/release -only '$(TARGETS)' $(if $(TRIAL),-trial)

run: build ## build it, and serve with CONFIG (deploy/config.yaml)
	bin/gpt-oss-executor serve --config $(CONFIG)

# A gateway waits much, so what only computes runs beside it, and leaves it the processor: a gateway that gets none
# for seconds gives up. Tests follow when it has ended, for theirs have patience of less than a second. All of it runs,
# whatever fails. All is compiled before, or two parts would do it at once. To collect garbage less often spares a fifth
# of the processor's time, in compilers and tests.
parts = @go list -export ./... >/dev/null; failed=; for part in $(1); do \
	  $(MAKE) --no-print-directory --jobs 2 --keep-going --output-sync=target $${part//+/ } || failed=1; \
	done; [ -z "$$failed" ] || { echo 'make $@: what failed is marked with *** above' >&2; exit 1; }

test: export GOGC = 400
test: needs ## the tests, and turns of a real gateway; 9 minutes on 2 cores
	$(call parts,gateway+computes unit)

computes: # nothing of which has a clock: what unit runs
	@nice -n 15 go list -test -export $(packages) >/dev/null

whole: export GOGC = 400
whole: export PASSED = TestGateway
whole: needs skipped ## what test leaves out: lint, all of e2e, the race detector, long tests, a browser, deploy, other systems
	$(call parts,e2e+compiles race long browser deploy)

compiles: # lint and the other systems, and what race runs
	@nice -n 15 $(MAKE) --no-print-directory --keep-going lint systems
	@CGO_ENABLED=1 nice -n 15 go list -race -test -export $(concurrent) >/dev/null

# What tests use besides Go, and root may install: a gateway comes from npm.
needs:
	@if ! command -v npm >/dev/null && [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends nodejs npm; } >/dev/null || echo 'apt-get cannot install nodejs and npm here' >&2; \
	fi
	@command -v npm >/dev/null || { echo 'make test starts a real OpenClaw gateway, which comes from npm, and npm is missing: install it (apt-get install nodejs npm, or nodejs.org), or run make unit, which needs nothing but Go' >&2; exit 1; }

skipped:
	@command -v chromium chromium-browser google-chrome >/dev/null || echo 'skipped: the console in a browser; there is no chromium here (apt-get install chromium)'
	@command -v valkey-server redis-server >/dev/null || echo 'skipped: replicas with a real Valkey or Redis; there is none here (apt-get install redis-server)'
	@cd internal/testkit/modelserver/ollama && GOFLAGS=-mod=mod go mod download github.com/ollama/ollama 2>/dev/null || echo 'skipped: a real Ollama; its Go module cannot be fetched'
	@compgen -G "$${XDG_CACHE_HOME:-$$HOME/.cache}/gpt-oss-executor/llama-server-*/say.so" >/dev/null || echo 'skipped: a real llama-server; make servers builds it'
	@[ "$$(id -u)" -eq 0 ] || echo 'skipped: real agents that run commands; they run as another user, which takes root and Linux'
	@[ -d ../shared/corpus ] || echo 'skipped: the tests that measure against labelled cases, which are not public; ../shared/corpus is not beside this clone'

unit: skipped ## the tests that need nothing but Go, the longest ones cut short
	go test -short -vet=off -timeout 15m $(packages) # lint vets it

long: ## the tests that unit cuts short: they ask for testing.Short, or have InResponses ask
	@files=$$(grep -rl --include='*_test.go' --exclude-dir=e2e --exclude-dir=check 'testing\.Short()\|provider\.InResponses(' .); \
	  names=$$(awk '/^func / { name = $$2; sub(/\(.*/, "", name) } /testing\.Short\(\)|provider\.InResponses\(/ { print name }' $$files | sort -u | paste -sd '|'); \
	  echo "go test -run $$names"; go test -vet=off -timeout 30m -run "^($$names)\$$" $$(xargs dirname <<<"$$files" | sort -u)

browser: ## the console in a browser; needs chromium
	go test -vet=off -timeout 15m ./sidecar/part/console/browser

deploy: ## what deploy/ holds: dashboard, alerts, manifests, container, units; a minute, the first time three
	@for tool in promtool prometheus; do command -v $$tool >/dev/null || echo "skipped: what $$tool checks of deploy/; it is not here (apt-get install prometheus)"; done
	@command -v systemd-analyze >/dev/null || echo 'skipped: the unit of systemd; systemd-analyze is not here'
	@[ "$$(id -u)" -eq 0 ] && unshare --mount true || echo 'skipped: the steps of the Dockerfile; they run in a root of their own, which takes root and Linux'
	cd deploy/check && go vet ./... && go run $(STATICCHECK) ./... && go test -vet=off -timeout 10m ./...

race: ## what runs at the same time as something else, under the race detector; 4 minutes
	CGO_ENABLED=1 go test -race -short -vet=off -timeout 30m -skip '^($(computing))$$' $(concurrent)

gateway: # a real OpenClaw gateway
	GPTOSS_E2E=1 go test -count=1 -vet=off -timeout 30m -run '^TestGateway$$' ./e2e

e2e: ## a real OpenClaw gateway, the OpenAI SDKs, Codex and pi; needs npm, about 1.5 GB in the user's cache
	GPTOSS_E2E=1 go test -tags sdk -count=1 -vet=off -timeout 40m -parallel 4 -skip '^($(PASSED))$$' ./e2e # each waits for a gateway

servers: ## build a real llama-server from sources in npm, and hold the imitation to it; 10 minutes, the first time; needs git, cmake and a C++ compiler
	BUILD_LLAMA_SERVER=1 go test -count=1 -timeout 3h -run LlamaServer ./internal/testkit/modelserver ./sidecar/script

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not gofmt'ed: $$unformatted" >&2; exit 1; }
	go vet -tags sdk ./...
	go run $(STATICCHECK) -tags sdk ./...

systems: ## go vet for macOS and arm64, a build for Windows; 3 minutes the first time
	GOOS=darwin GOARCH=arm64 go vet . $$(grep -rlE --include='*.go' --exclude-dir=check '^//go:build|unix\.|syscall\.' . | xargs dirname | sort -u) # the others are the same on each system
	GOOS=linux GOARCH=arm64 go vet $$(find . -name '*_arm64*.go' | xargs dirname | sort -u) # only there do files differ
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go build -o /dev/null . # its tests need Unix

fuzz: ## every fuzz target for FUZZTIME (10s), and the long form of tests that make up what they do
	BASH_SECONDS=60 go test -run BashRunsNothingElse -v ./sidecar/ruleset
	WORDS_SEED=$$RANDOM WORDS_COUNT=100000 go test -run WordsAreAsInBash -v ./policy/shell
	TEXTS=20000 go test -run AnyChunkingDeniesTheSame ./sidecar/parse
	EDITS=200 go test -run EditsUnderLoad ./sidecar/live
	ATTACKS=all go test -run StrangersConfined ./sidecar/part/confine/walls
	@for package in $(packages); do \
	  listed=$$(go test -list '^Fuzz' "$$package"); \
	  for target in $$(grep '^Fuzz' <<<"$$listed" || true); do \
	    echo "$$package $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
	  done; \
	done

bench: ## every benchmark for BENCHTIME (1s)
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(packages)

allocations = go test -vet=off -run '^$$' -bench 'Request/.*/sidecar' -benchtime 200x -benchmem ./sidecar

bench-gate: ## a report: what a request allocates more than at BASE (the last tag)
	@if [ -z "$(BASE)" ]; then echo 'skipped: bench-gate has no tag to compare with; set BASE'; exit; fi; \
	old=$$(mktemp -d); trap 'git worktree remove --force "$$old"' EXIT; \
	git worktree add -q --detach "$$old" "$(BASE)"; \
	{ (cd "$$old" && $(allocations)); $(allocations); } | awk '/^Benchmark/ { sub(/-[0-9]+$$/, "", $$1); \
	  if (!($$1 in n)) { b[$$1] = $$5; n[$$1] = $$7; next } \
	  grew = $$7 > n[$$1] * 1.01 || $$5 > b[$$1] * 1.02; all += grew; \
	  printf "%-38s %6d → %6d allocations  %8d → %8d bytes%s\n", $$1, n[$$1], $$7, b[$$1], $$5, grew ? "  grew" : "" } \
	  END { print all+0, "cells grew since $(BASE)" }'

load: build ## the table of docs/performance.md, against a proxy that does nothing; 10 minutes, QUICK=1 2
	@go run ./bench $(if $(QUICK),-quick)

demo: ## see it work: no model, no key; where npm is, with a real gateway, too
	@go run . demo
	@printf '\nThe same without an agent: the tools are those of a real OpenClaw gateway\n\n'
	@if ! command -v npm >/dev/null; then \
	  echo '  skipped: the gateway comes from npm, and npm is missing'; \
	else \
	  echo '  the gateway starts: 30 s; the first time it comes from npm first, about 900 MB'; log=$$(mktemp); \
	  GPTOSS_E2E=1 go test -count=1 -timeout 12m -run '^TestRuns$$/^news$$' -v ./e2e >"$$log" 2>&1 \
	    || { cat "$$log"; rm "$$log"; echo 'The gateway could not be shown; all above was.' >&2; exit 1; }; \
	  sed -n 's/^.*_test.go:[0-9]*: | /  /p' "$$log"; rm "$$log"; \
	fi

pictures: build ## draw the pictures of README anew from the demo: docs/demo.svg, docs/console.png; needs chromium and script
	docs/pictures.sh

model: ## a scripted gpt-oss server at 127.0.0.1:8000 to play with; DIALECT=ollama, llamacpp ...
	@go run ./sidecar/script/serve --dialect $(DIALECT) --listen $(LISTEN)

sessions: ## callers for the guide of experiments: sessions FROM=0 TO=100 ask a server at ASK, which stands before `make model`
	@go run ./sidecar/script/serve --ask $(ASK) --from $(FROM) --to $(TO)

schemas: ## rewrite schemas/, which editors check rules with, from the Go types
	go test ./sidecar/ruleset -run TestSchemasAreFresh -update

faults: ## rewrite the tables of docs/faults.md: what comes of a run in which something fails
	go test ./sidecar/part/run -run TestFaults -update

scenarios: ## rewrite the tables of docs/scenarios.md: a real gateway with damaged replies, alone and with the sidecar; 5 minutes
	GPTOSS_E2E=1 go test -count=1 -timeout 30m -run '^TestScenarios$$' ./e2e -update

agents: ## rewrite the tables of docs/agents.md: seven real agents, alone and with the sidecar; as root, 10 minutes, 1.4 GB from npm; ONLY=pi one of them
	GPTOSS_E2E=1 go test -count=1 -timeout 60m -run '^TestAgents$$/$(ONLY)' -v ./e2e -update | grep --line-buffered -vE '^ *(===|---) |used [0-9.]+m?s of the processor'

experiments: ## rewrite what docs/experiments.md shows of an experiment, with a scripted model; 10 s
	go test ./sidecar/cli -run TestExperimentsPage -update

compare-readers: ## what of the corpora and slips is read otherwise than at BASE (main)
	@dir=$$(mktemp -d) && git archive $(or $(BASE),main) | tar -x -C $$dir && cp tools/outcomes_test.go $$dir/tools/ && \
	ln -s $(abspath ../shared) $$(dirname $$dir)/shared 2>/dev/null; \
	(cd $$dir && OUTCOMES=$$dir/before go test ./tools -run TestOutcomes -v | grep right) && \
	OUTCOMES=$$dir/after go test ./tools -run TestOutcomes -v | grep right; \
	diff $$dir/before $$dir/after | head -n $(or $(LINES),100)

reading: ## measure how replies are read, and rewrite docs/reading.md; a minute
	go test ./sidecar/part/eval -run TestReadingPage -timeout 10m -update

clean: ## remove what was built, and what was fetched from npm
	rm -rf bin dist "$${XDG_CACHE_HOME:-$$HOME/.cache}/gpt-oss-executor"
