# make app    set up and open the app
# make check  set up and run lint and the fast tests of the engine: under a minute
# make test   set up and run lint and every test
# make bench  set up and print the benchmarks
# make peers  set up an environment of its own and print errors beside other packages'
# make load   set up and let thirty sessions move sliders at once
# make faults set up and kill servers, cut lines and take memory away under a browser
# make debian set up and run make app and make test in an empty Debian (needs root and debootstrap)
# make soak   set up and run the long versions: hostile files, a monkey over all pages
# make mutate set up and put small mistakes into the mathematics, one at a time: do tests notice?
# make lowest set up the lowest versions that pyproject.toml promises and run the fast tests of the engine with them
# make lint   ruff, mypy and the order of the rooms
# make docs   the pages, the reference from the docstrings and a gallery, as HTML in docs/_build
# make lesson the lesson and its game as one HTML page that needs no server, in docs/_build
# make locks  write down the versions and hashes of everything that is installed (needs uv)
# make audit  ask whether a locked version has a known vulnerability
# make dist   build sdist and wheel, and check both (CONTRIBUTING.md)

PYTHON ?= python3
BIN := .venv/bin
# First the files of the lock, each held against its hash; then mvgviz itself, for which nothing may be missing.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALL_LOCKED := $(PIP) --require-hashes -r
INSTALL_THIS := $(PIP) --no-index --no-build-isolation -e
BUILD_WITH := printf '%s\n' 'hatchling>=1.27' editables
LOCK := uv pip compile --quiet --universal --python-version 3.11.5 --generate-hashes --no-header --no-annotate

# Bytecode is kept, whatever the environment says: every worker starts seconds sooner.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app check test every-test lowest look faults debian soak mutate bench peers load lint lesson docs locks audit dist clean

app: .venv/app.done
	$(BIN)/mvgviz

check: lint
	$(BIN)/python -m pytest -m "not slow and not soak" tests/unit

test: .venv/browser.done
	$(MAKE) --no-print-directory --jobs=2 lint every-test

# One worker more than there are cores: a test in the browser waits most of its time.
every-test: .venv/browser.done
	$(BIN)/python -m pytest --numprocesses=$$(($$(getconf _NPROCESSORS_ONLN) + 1)) -m "not look and not soak and not faults and not dist and not debian"

# An environment of its own, from the index: what the locks hold is not the lowest. Pages are left out: before 1.67
# Streamlit's own tests forget our components from one session to the next.
lowest: .venv-lowest/done
	.venv-lowest/bin/python -m pytest -p no:cacheprovider -m "not slow and not soak" tests/unit

# Every page and tab on a phone and a projector in both themes, every control by keyboard: minutes, so not in every run.
look: .venv/browser.done
	$(BIN)/python -m pytest --numprocesses=2 -m look tests/browser

# Servers are really killed, lines cut, memory taken away: minutes.
faults: .venv/browser.done
	$(BIN)/python -m pytest --numprocesses=1 -m faults tests/browser

# Needs root and debootstrap: nothing but Python and make is there.
debian: .venv/test.done
	$(BIN)/python -m pytest --numprocesses=0 -m debian -s tests/browser

# The same attacks as in every run, many times over: an hour or so.
soak: .venv/browser.done
	$(BIN)/python -m pytest --numprocesses=1 -m soak -s tests

# Goes on where it stopped; an hour or two for all. One module: make mutate MUTATE="accounting --sample 40".
mutate: .venv/test.done
	$(BIN)/python tools/mutate.py $(MUTATE)

bench: .venv/browser.done
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/needs.py
	$(BIN)/python benchmarks/pure.py
	$(BIN)/python benchmarks/coverage.py
	$(BIN)/python benchmarks/families.py
	$(BIN)/python benchmarks/levers.py
	$(BIN)/python benchmarks/regression.py
	$(BIN)/python benchmarks/trials.py
	$(BIN)/python benchmarks/advisor.py
	$(BIN)/python benchmarks/pieces.py
	$(BIN)/python benchmarks/pieces.py --records 10000000
	$(BIN)/python benchmarks/app.py

# Other packages want older versions than ours, so they have an environment of their own, from the index.
peers: .venv-peers/done
	.venv-peers/bin/python -W ignore benchmarks/peers.py

load: .venv/test.done
	$(BIN)/python benchmarks/load.py

lint: .venv/test.done
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lesson: .venv/app.done
	mkdir -p docs/_build
	$(BIN)/mvgviz lesson --out docs/_build/lesson.html

# Without a network, but for the tools themselves; a warning is an error.
docs: .venv/test.done
	$(BIN)/python -m sphinx --builder html --fail-on-warning --fresh-env --quiet docs docs/_build
	@echo docs/_build/index.html

# Versions stay as they are, where they fit; newer ones: make locks UV=--upgrade, or UV="--upgrade-package numpy".
locks:
	$(BUILD_WITH) | $(LOCK) $(UV) pyproject.toml - --extra test --extra docs --extra dist -o locks/develop.txt
	$(BUILD_WITH) | $(LOCK) pyproject.toml - --extra app -c locks/develop.txt -o locks/app.txt

# Fails when the database cannot be reached, unless AUDIT=--if-reachable.
audit:
	$(PYTHON) tools/audit.py $(AUDIT)

# A wheel that was installed in an empty environment and opened, and a description that a registry can show.
dist: .venv/browser.done
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m pytest --numprocesses=0 -m dist

clean:
	rm -rf .venv .venv-lowest .venv-peers

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/app.done: pyproject.toml locks/app.txt | .venv/bin/python
	$(INSTALL_LOCKED) locks/app.txt
	$(INSTALL_THIS) ".[app]"
	touch $@

.venv/test.done: pyproject.toml locks/develop.txt | .venv/bin/python
	$(INSTALL_LOCKED) locks/develop.txt
	$(INSTALL_THIS) ".[test,docs,dist]"
	touch $@ .venv/app.done

.venv/browser.done: .venv/test.done tests/browser/install.sh
	sh tests/browser/install.sh $(BIN)/python
	touch $@

.venv-lowest/done: pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct -e ".[test]"
	touch $@

.venv-peers/done: pyproject.toml benchmarks/peers.txt
	$(PYTHON) -m venv --clear .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers.txt -e .
	touch $@
