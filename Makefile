# make demo   questions answered in the terminal, with a simulated cinema API and a local model
# make test   lint, types, tests
# Both make the environment .venv first. They need make and Python 3.11 or newer: PYTHON=python3.12 names another one.

PYTHON ?= python3
BIN := .venv/bin
MODEL := local:qwen2.5-coder-1.5b
ASK := $(BIN)/atc solve --model $(MODEL) --api protocols/samples/cinema.yaml --simulate

.PHONY: env model demo test lint types unit

env: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "atc needs Python 3.11 or newer; name one with: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv .venv || \
		{ echo "no virtual environment could be made (on Debian: apt-get install python3-venv)" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[local,dev,service]'
	@touch $@

# Without the model `make test` leaves out the tests that need it, and says so.
model: env
	@$(BIN)/atc model pull $(MODEL) || true

demo: model
	$(ASK) "Where is the headquarters of the studio that made the top rated film?"
	$(ASK) "When was Ana Bell born?"
	$(ASK) "What are the reviews of The Silent Harbor?"

test: lint types unit

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: env
	$(BIN)/mypy

# On every core; the tests that need the model run one after another.
unit: env model
	$(BIN)/pytest -n auto --dist loadgroup
