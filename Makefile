# What is done to this project, by name. `make` alone lists it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 10s
BENCHTIME ?= 1s
DIALECT ?= vllm
LISTEN ?= 127.0.0.1:8000

# All packages but the one that starts a gateway.
packages = $$(go list ./... | grep -v '/e2e$$')

.PHONY: help build test unit race e2e lint fuzz bench demo model schemas clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/gpt-oss-executor
	go build -trimpath -o bin/gpt-oss-executor .

test: lint race e2e ## everything: lint, tests under the race detector, a real gateway and SDKs

unit: ## the tests that need nothing but Go
	go test $(packages)

race: ## the same under the race detector
	go test -race -timeout 8m $$(go list ./... | grep -v -e '/e2e$$' -e '/ruleset$$' -e '/cond$$')
	go test -race -short ./sidecar/ruleset ./sidecar/cond # their long tests have one goroutine,
	go test ./sidecar/ruleset ./sidecar/cond              # so they run without the detector
	go test -run Linear ./sidecar/parse # a cost that the detector would distort
	EDITS=200 go test -run EditsUnderLoad ./sidecar # so many that it would take minutes under the detector

e2e: ## a real OpenClaw gateway and the OpenAI SDKs; needs npm, about 900 MB in the user's cache
	GPTOSS_E2E=1 go test -count=1 -timeout 8m ./e2e

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not gofmt'ed: $$unformatted" >&2; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

fuzz: ## every fuzz target for FUZZTIME (10s)
	@for package in $(packages); do \
	  listed=$$(go test -list '^Fuzz' "$$package"); \
	  for target in $$(grep '^Fuzz' <<<"$$listed" || true); do \
	    echo "$$package $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package"; \
	  done; \
	done

bench: ## every benchmark for BENCHTIME (1s)
	go test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) $(packages)

demo: ## see it work: no model, no gateway, no key
	@go run . demo

model: ## a scripted gpt-oss server at 127.0.0.1:8000 to play with; DIALECT=ollama, llamacpp ...
	@go run ./sidecar/script/serve --dialect $(DIALECT) --listen $(LISTEN)

schemas: ## rewrite schemas/, which editors check rules with, from the Go types
	go test ./sidecar/ruleset -run TestSchemasAreFresh -update

clean: ## remove what was built, and what was fetched from npm
	rm -rf bin "$${XDG_CACHE_HOME:-$$HOME/.cache}/gpt-oss-executor"
