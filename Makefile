# The commands of this project; CI uses the same ones.
.PHONY: help demo test e2e lint bench fuzz

help: ## Show what there is
	@sed -n 's/^\([a-z0-9-]*\):.*## /  make \1\t/p' Makefile | expand -t 16

demo: ## The gate before an embedded stand-in API server; ARGS=--once ends after the walk
	cargo run --bin scopegate -- demo $(ARGS)

test: ## Every test, those against a real kube-apiserver included
	e2e/run cargo test

e2e: ## Only the end-to-end tests
	e2e/run cargo test --test e2e

lint: ## Formatting, clippy, docs, dependencies: no warning is let pass
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items --quiet
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	cargo check --quiet --manifest-path fuzz/Cargo.toml
	@command -v cargo-deny >/dev/null || { echo "lint needs cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	cargo deny --offline check bans licenses sources

bench: ## Decisions, the graph beside upstream's own authorizer where there is Go, and what nodes write; docs/performance.md explains
	e2e/run cargo bench --bench authorize --bench graph --bench writes

fuzz: ## Every fuzz target for SECONDS_EACH (10)
	@command -v cargo-fuzz >/dev/null || { echo "fuzz needs cargo-fuzz: cargo install --locked cargo-fuzz" >&2; exit 1; }
	@for target in $$(cargo fuzz list); do echo "fuzz $$target for $${SECONDS_EACH:-10} s"; \
	  cargo fuzz run --sanitizer none $${CARGO_TARGET_DIR:+--target-dir "$$CARGO_TARGET_DIR/fuzz"} $$target -- \
	    -verbosity=0 -max_total_time=$${SECONDS_EACH:-10} -dict=$(CURDIR)/fuzz/tokens.dict || exit 1; done
