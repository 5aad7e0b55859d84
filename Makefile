# make app    set up and open the app
# make check  set up and run lint and the fast tests of the engine: under a minute
# make test   set up and run lint and every test
# make bench  set up and print the benchmarks
# make lint   ruff, mypy and the order of the rooms

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: app check test bench lint clean

app: .venv/app.done
	$(BIN)/streamlit run app.py

check: lint
	$(BIN)/python -m pytest -m "not slow" tests/unit

test: lint .venv/browser.done
	$(BIN)/python -m pytest

bench: .venv/browser.done
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/needs.py
	$(BIN)/python benchmarks/levers.py
	$(BIN)/python benchmarks/trials.py
	$(BIN)/python benchmarks/advisor.py
	$(BIN)/python benchmarks/app.py

lint: .venv/test.done
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf .venv

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/app.done: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e ".[app]"
	touch $@

.venv/test.done: pyproject.toml constraints.txt | .venv/bin/python
	$(INSTALL) -e ".[test]"
	touch $@ .venv/app.done

.venv/browser.done: .venv/test.done tests/browser/install.sh
	sh tests/browser/install.sh $(BIN)/python
	touch $@
