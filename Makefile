# The project's commands. Each first prepares the folder by installing Node.js and packages if they are missing
# (scripts/bootstrap.sh).
.DEFAULT_GOAL := help
.PHONY: help install run test check format bench soak sbom pin-images clean

# `make test ARGS=domain` passes "domain" to the command as an argument.
ready := scripts/bootstrap.sh

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: ## install Node 24 and the packages, and build the dashboard, if they are missing
	@$(ready) --web

run: ## start the whole service on this machine, without Docker or root
	@$(ready) --run node services/minimal/main.ts $(ARGS)

test: ## run every test; ARGS selects files (make test ARGS=domain/run)
	@$(ready) --web node scripts/test.ts $(ARGS)

check: ## check format, lint, types, architecture and unused code
	@$(ready) node scripts/check.ts

format: ## format the source
	@$(ready) node_modules/.bin/oxfmt

bench: ## run the benchmarks and compare the results with their targets
	@$(ready) --web node scripts/bench/main.ts $(ARGS)

soak: ## run load and faults for HOURS=n and check the results; TOPOLOGY and FAULTS select the setup
	$(if $(filter-out minimal production,$(TOPOLOGY)),$(error TOPOLOGY must be minimal or production))
	@$(ready) --web node scripts/soak/$(if $(filter production,$(TOPOLOGY)),production/)main.ts

sbom: ## write the bill of materials to sbom.cdx.json
	@$(ready) npm --loglevel=error sbom --package-lock-only --sbom-format cyclonedx > sbom.cdx.json

pin-images: ## pin the images of the production edition to the current digests of their tags
	@$(ready) node scripts/pin-images.ts

clean: ## remove everything that these commands installed and built, but no data
	@rm -rf node_modules web/node_modules .toolchain web/build web/.svelte-kit .test sbom.cdx.json
