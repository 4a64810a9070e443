# The commands of this project; CI uses the same ones.
.PHONY: help demo release training test e2e e2e-all e2e-deep conformance screenshots lint bench performance counts fuzz

help: ## Show what there is
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' Makefile | expand -t 16

demo: ## The gate before an embedded stand-in API server; ARGS=--once ends after the walk
	cargo run --bin scopegate -- demo $(ARGS)

# Where cargo puts what it builds.
TARGET = $(or $(CARGO_TARGET_DIR),target)

release: ## The gate as it is shipped, in target/shipped: built with what a first build has counted (twenty minutes on two cores)
	bench/release

training: ## What a release learns from, once, by an ordinary build: to see that it works
	cargo build --bin scopegate --example training
	$(TARGET)/debug/examples/training $(TARGET)/debug/scopegate 1

test: ## Every test, those against a real kube-apiserver included
	e2e/run cargo test

e2e: ## Only the end-to-end tests
	e2e/run cargo test --test e2e

# The oldest release that the gate has a preset for, and the newest one.
RELEASES ?= 1.32.13 1.36.3
# Areas that meet no kube-apiserver, so that no release makes a difference to them.
NO_RELEASE = audit browser cli limits operating requests stop streams upgrades upstreams
e2e-all: ## The end-to-end tests that meet a kube-apiserver, against every release in RELEASES, the oldest preset among them
	@test -z "$$KUBEBUILDER_ASSETS" || { echo "KUBEBUILDER_ASSETS has one release; unset it, and all of $(RELEASES) are built" >&2; exit 1; }
	@for release in $(RELEASES); do echo "end-to-end tests against Kubernetes $$release"; \
	  KUBERNETES_VERSION=$$release e2e/run cargo test --test e2e -- $(NO_RELEASE:%=--skip %::) || exit 1; done

e2e-deep: ## 100,000 generated requests (REQUESTS) compared with kube-apiserver's own answers, and which rules they met
	SCOPEGATE_REQUESTS=$(or $(REQUESTS),100000) e2e/run cargo test --test e2e conformance:: -- --nocapture

# The figures that docs/conformance.md is made of.
REPORT = $(CURDIR)/target/conformance
conformance: ## docs/conformance.md anew, from everything on every release and e2e-deep on the newest one (an hour and a half)
	rm -rf $(REPORT)
	SCOPEGATE_REPORT=$(REPORT) $(MAKE) e2e-all
	SCOPEGATE_REPORT=$(REPORT) $(MAKE) e2e-deep
	SCOPEGATE_REPORT=$(REPORT) cargo test --test e2e report::write_the_page -- --ignored --nocapture

screenshots: ## The pictures in docs/ anew, by a real browser
	e2e/run cargo test --test e2e browser::keep_screenshots -- --ignored

lint: ## Formatting, clippy, docs, dependencies: no warning is let pass
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items --quiet
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo check --quiet --manifest-path fuzz/Cargo.toml
	@command -v cargo-deny >/dev/null || { echo "lint needs cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	@# It looks at the crates of every platform, of which only this one's have been needed so far.
	cargo fetch --quiet --locked
	cargo deny --offline check bans licenses sources

bench: ## Decisions, the graphs beside upstream's and Gardener's own authorizers where there is Go, what nodes write, what reviews add, and the gate beside nginx and haproxy; docs/performance.md explains
	e2e/run cargo bench --bench authorize --bench graph --bench reviews --bench writes
	e2e/run cargo bench --bench proxies

performance: release ## The gate as it is shipped beside nginx and haproxy with more rounds, written into docs/performance.md (two hours, on a machine that does nothing else)
	cargo build --release --bin scopegate
	SCOPEGATE_BESIDE=plain=$(TARGET)/release/scopegate:gate=$(TARGET)/shipped/scopegate \
	  e2e/run cargo bench --bench proxies -- --write rounds=5 seconds=3

counts: ## How many instructions decisions and whole requests take, compared with what is stored; needs valgrind, ARGS=--store writes it anew
	cargo bench --bench instructions -- $(ARGS)

fuzz: ## Every fuzz target for SECONDS_EACH (10)
	@command -v cargo-fuzz >/dev/null || { echo "fuzz needs cargo-fuzz: cargo install --locked cargo-fuzz" >&2; exit 1; }
	@for target in $$(cargo fuzz list); do echo "fuzz $$target for $${SECONDS_EACH:-10} s"; \
	  cargo fuzz run --sanitizer none $${CARGO_TARGET_DIR:+--target-dir "$$CARGO_TARGET_DIR/fuzz"} $$target -- \
	    -verbosity=0 -max_total_time=$${SECONDS_EACH:-10} -dict=$(CURDIR)/fuzz/tokens.dict || exit 1; done
