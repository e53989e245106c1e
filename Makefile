# demo and test are all that a user needs; check is the gate before a commit lands.
# Everything works offline once the modules are in the module cache.
# A slow machine is no failure: packages have 20 minutes, not go test's 10.

GO       ?= go
VERSION  ?= $(shell git describe --always --dirty 2>/dev/null)
LDFLAGS   = -s -w -X main.linked=$(VERSION)

# What benchmarks and fuzz work on: make benchmarks PKGS=./pt BENCH=Lexer; make fuzz FUZZ=Lexer FUZZTIME=1m
PKGS     ?= ./...
BENCH    ?= .
FUZZ     ?= .
FUZZTIME ?= 10m

# Which rows of the table bench measures, and how often.
ROWS     ?= .
TURNS    ?= 5

# How many runs of the simulated machine are judged, and the first: make truth SEEDS=20000 FIRST=0
SEEDS    ?= 2000
FIRST    ?= 0

# How many recordings of each kind are made whose inputs say what was not so: make lies CASES=1000
CASES    ?= 200

# Where make install puts things; DESTDIR is in front of all of it, for packages.
PREFIX     ?= /usr/local
DESTDIR    ?=
BIN        ?= bin/ptdecode
SHARE       = $(DESTDIR)$(PREFIX)/share
BASH_FILE   = $(SHARE)/bash-completion/completions/ptdecode
ZSH_FILE    = $(SHARE)/zsh/site-functions/_ptdecode
FISH_FILE   = $(SHARE)/fish/vendor_completions.d/ptdecode.fish

# Where make release leaves its files.
DIST     ?= bin/release

# With linux/amd64, on which the tests run, each system once and each architecture twice.
PLATFORMS = darwin/arm64 windows/amd64

.PHONY: demo build install uninstall release test test-full check bench benchmarks fuzz truth lies mutate generate fmt vet floors fresh race cross clean-tree
.NOTPARALLEL:

demo: build
	bin/ptdecode demo

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/ptdecode ./cmd/ptdecode

# The command, its manual pages, completion for bash, zsh and fish. It builds only where the
# binary is missing or older than the code: make, then sudo make install, needs no Go for root.
install:
	@[ -x $(BIN) ] && [ -z "$$(find go.mod go.sum cmd coresight decoder kcore pt -newer $(BIN) | head -n 1)" ] || $(MAKE) build
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(dir $(BASH_FILE) $(ZSH_FILE) $(FISH_FILE))
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/ptdecode
	install -m 644 docs/man/*.1 $(SHARE)/man/man1
	$(BIN) completion bash >$(BASH_FILE)
	$(BIN) completion zsh >$(ZSH_FILE)
	$(BIN) completion fish >$(FISH_FILE)
	chmod 644 $(BASH_FILE) $(ZSH_FILE) $(FISH_FILE)

# What install put there; folders stay.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/ptdecode $(SHARE)/man/man1/ptdecode.1 $(SHARE)/man/man1/ptdecode-*.1
	rm -f $(BASH_FILE) $(ZSH_FILE) $(FISH_FILE)

# Tarballs, packages, a bill of materials and checksums in DIST. The same commit and the same
# Go give the same bytes.
release:
	GO="$(GO)" .ci/release "$(DIST)"

# Tests in their small form, and a word on what did not run. make check does the vetting. The
# collector runs seldom, for less CPU time.
test:
	@GOGC=400 $(GO) test -vet=off -json -timeout 20m ./... | $(GO) run ./cmd/internal/testreport

# The same with all seeds, and all that tests can compare.
test-full:
	@GOGC=400 PTDECODE_FULL=1 $(GO) test -vet=off -json -timeout 20m ./... | $(GO) run ./cmd/internal/testreport

check: fmt vet floors fresh race cross clean-tree

# The table of docs/performance.md, with ratios to peers where the environment names them
# (cmd/internal/bench says how): make bench ROWS=ranges TURNS=3.
bench:
	@$(GO) run ./cmd/internal/bench -turns $(TURNS) -rows '$(ROWS)'

benchmarks:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PKGS)

# Each fuzz target in turn, FUZZTIME each. One finding does not hide the others.
fuzz:
	@list=$$($(GO) test -list '^Fuzz' $(PKGS)) || { echo "$$list"; exit 1; }; \
	targets=$$(echo "$$list" | awk '/^Fuzz/ {name[++n] = $$1} \
		/^ok/ {for (i = 1; i <= n; i++) print $$2 "," name[i]; n = 0}' | grep -E ',.*($(FUZZ))'); \
	[ -n "$$targets" ] || { echo "fuzz: no target matches $(FUZZ) in $(PKGS)"; exit 1; }; \
	failed=; \
	for t in $$targets; do \
		echo "fuzz: $${t#*,} in $${t%,*} for $(FUZZTIME)"; \
		$(GO) test -run '^$$' -fuzz "^$${t#*,}\$$" -fuzztime $(FUZZTIME) "$${t%,*}" || failed="$$failed $${t#*,}"; \
	done; \
	[ -z "$$failed" ] || { echo "fuzz: findings in:$$failed"; exit 1; }

# The decoder against a machine that knows the truth. Fails if a claim is wrong; the table's last line is the verdict.
truth:
	@dir=$$(mktemp -d) || exit 1; code=0; \
	SEEDS=$(SEEDS) FIRST=$(FIRST) TRUTH_TABLE=$$dir/table TRUTH_SHORT_TABLE=$$dir/short \
		$(GO) test -count=1 -timeout 0 -run '^TestTruth(Short)?$$' ./decoder >$$dir/log 2>&1 || { code=1; cat $$dir/log; }; \
	for t in short table; do [ ! -f $$dir/$$t ] || cat $$dir/$$t; done; \
	rm -r $$dir; exit $$code

# The decoder where inputs say what was not so: claims that never ran, by kind of lie, and what ends them.
lies:
	@dir=$$(mktemp -d) || exit 1; code=0; \
	LIES=$(CASES) LIES_TABLE=$$dir/table $(GO) test -count=1 -timeout 0 -run '^TestLies$$' ./decoder >$$dir/log 2>&1 || { code=1; cat $$dir/log; }; \
	[ ! -f $$dir/table ] || cat $$dir/table; \
	rm -r $$dir; exit $$code

# Mistakes put into a copy of the source, one by one: the tests must fail of each.
mutate:
	MUTATE=1 $(GO) test -count=1 -timeout 0 -run '^TestMutations$$' -v ./decoder

# Whatever is made from the code (manual pages, docs/cli.md, format tables) is made by go generate.
generate:
	$(GO) generate ./...

fmt:
	@bad=$$(gofmt -l $(wildcard cmd decoder internal kcore pt coresight)) || exit 1; \
	[ -z "$$bad" ] || { echo "fmt: gofmt would change:"; echo "$$bad"; exit 1; }

vet:
	$(GO) vet ./...

# Imports, layout, file and function lengths, doc comments.
floors:
	$(GO) test -run '^TestHouse$$' ./decoder

fresh:
	@state() { git status --porcelain; git diff HEAD | git hash-object --stdin; }; \
	before=$$(state) && $(GO) generate ./... && after=$$(state) || exit 1; \
	[ "$$before" = "$$after" ] || { \
		echo "fresh: generated files did not match the code; run make generate and commit:"; \
		git status --short; exit 1; }

# The packages that start goroutines, or whose values several of them use; of the walker, the
# tests that do so. Tests of ALONE decode with one worker, or run the command whole. Without
# recordings: under the race detector they take longer than all else.
ALONE = ^Test(Truth|GuestTruth|Brute|Trap|Cuts|Random|House|Mutation|Damaged|Docs|Scripts|GoInstall|MakeInstall|Schemas|Examples|UnreadableVerbs)
RACE = ./cmd/... ./decoder ./decoder/bundle ./decoder/report ./decoder/rows ./decoder/internal/boot ./decoder/internal/bundle \
	./decoder/internal/guests ./decoder/internal/learn ./decoder/internal/process ./decoder/internal/recording \
	./decoder/internal/stream ./kcore ./kcore/symbols ./coresight/etmv4

race:
	GOGC=200 PTDECODE_DATA= CGO_ENABLED=1 $(GO) test -race -short -vet=off -timeout 20m -skip '$(ALONE)' $(RACE)
	GOGC=200 PTDECODE_DATA= CGO_ENABLED=1 $(GO) test -race -short -vet=off -run Hammer ./decoder/internal/flow

cross:
	@for p in $(PLATFORMS); do \
		echo "build $$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -o /dev/null ./... || exit 1; \
	done

clean-tree:
	@git diff --stat --exit-code HEAD || { echo "clean-tree: the files above differ from HEAD"; exit 1; }
	@new=$$(git ls-files --others --exclude-standard) && [ -z "$$new" ] || { \
		echo "clean-tree: not committed and not ignored:"; echo "$$new"; exit 1; }
