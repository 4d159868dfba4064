# make demo   questions answered in the terminal: a simulated cinema and a shop, a local and a recorded model
# make test   lint, types, tests
# make docs   the documentation site in site/, its links and anchors checked; make links checks the external ones
# make newest  the check of programs by the newest ty, and whatever came out since constraints.txt: weekly, by hand
# make peers  the frameworks that docs/comparison.md and docs/integrations.md are run with
# They make the environment .venv first, and need make and Python 3.11 or newer: PYTHON=python3.12 names another one.

PYTHON ?= python3
BIN := .venv/bin
MODEL := local:qwen2.5-coder-1.5b
RECORDED := replay:docs/examples/answers.jsonl
ASK := $(BIN)/atc solve --api protocols/samples/cinema.yaml --simulate
HEADQUARTERS := "Where is the headquarters of the studio that made the top rated film?"
# The recorded answers were given on that day.
SHOP := $(BIN)/python -m tests.shop .venv/shop $(BIN)/atc solve --api .venv/shop/openapi.yaml \
	--auth bearer:env:SHOP_TOKEN --now 2026-04-02T09:00:00Z

.PHONY: newest env model demo test lint types unit peers docs links

# A step of the demo says what it does, and how long it took.
define step
	@echo "== $(1)"; from=$$(date +%s); $(2) && echo "== done in $$(($$(date +%s) - from)) s"
endef

env: .venv/ready

.venv/ready: .venv/demo pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local,dev]'
	@touch $@

# What a question to a local model needs, and no more: no linters, no test services.
.venv/demo: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "atc needs Python 3.11 or newer; name one with: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv .venv || \
		{ echo "no virtual environment could be made (on Debian: apt-get install python3-venv)" >&2; exit 2; }
	$(call step,installing atc into .venv (some 55 packages),$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local]')
	@touch $@

# Without the model `make test` leaves out the tests that need it, and says so.
model: .venv/demo
	@$(BIN)/atc model pull $(MODEL) || true

demo: model
	@echo "== The cinema is made up: a server on this machine answers from protocols/samples/cinema.yaml alone."
	$(call step,three calls in one program of the local model,$(ASK) --model $(MODEL) $(HEADQUARTERS))
	$(call step,the same question to a frontier model (its recorded answer),$(ASK) --model $(RECORDED) $(HEADQUARTERS))
	@echo "== The shop is a service on this machine, with the document docs/examples/shop.yaml."
	$(call step,the local model makes a mistake: it is found and put right before a call is made,\
		$(SHOP) --model $(MODEL) "Which orders of March are not paid?")
	$(call step,a call of the frontier model (recorded) fails: its tool is named and the program repaired; and a write is \
		asked about,$(SHOP) --model $(RECORDED) \
		"Refund what Ewa Nowak paid in March for orders that were not shipped: out of stock." || [ $$? = 3 ])
	@echo "== Next, with your own document: $(BIN)/atc init YOUR_OPENAPI.yaml"
	@echo "== For the command atc in every folder: uv tool install '.[local]'"

test: lint types unit

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: env
	$(BIN)/mypy

# On every core; the tests that need the model run one after another.
unit: env model
	$(BIN)/pytest -n auto --dist loadgroup

# No scheduler comes with the repository: whoever runs it weekly learns early what an unpinned installation would get.
newest:
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/python -m pip install --quiet --disable-pip-version-check -e '.[local,dev]'
	build/newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade ty # beyond our bound, too
	build/newest/bin/ty --version
	build/newest/bin/pytest tests/atc/assist/check tests/front_door/test_core_weight.py

# ADK wants another google-genai than the extra `providers`, and so an environment of its own.
peers: env
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[peers]'
	$(PYTHON) -m venv .venv-adk
	.venv-adk/bin/python -m pip install --quiet --disable-pip-version-check 'google-adk[mcp]==2.13.0'

docs: env
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "== site/index.html"

# Needs the network; an address that cannot be reached is named, with the page that has it.
links: docs
	$(BIN)/linkchecker --no-status --check-extern --ignore-url '^file:' site/index.html
