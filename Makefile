# Each line of a recipe is one a person could type. The virtual environment is made on first use.
PYTHON ?= python3
VENV := .venv/bin
export NO_MKDOCS_2_WARNING := 1

.PHONY: serve build test test-calculator test-pages test-site test-browser test-lab bench lint notebook clean

serve: .venv/site.done node_modules/.done  ## both languages on http://127.0.0.1:8000/, reloading on every edit
	$(VENV)/python -m mkdocs serve --strict

build: .venv/site.done node_modules/.done  ## both languages into site/
	$(VENV)/python -m mkdocs build --strict

test: .venv/test.done node_modules/.done lint  ## every test; without a browser it says which did not run
	$(VENV)/python tests/helpers/browsers.py
	$(VENV)/python -m pytest -n 2

test-calculator: .venv/test.done  ## the calculator's tests and the examples in its docstrings, in seconds
	$(VENV)/python -m pytest -n 2 tests/calculator roofline_calc

test-pages test-site test-lab: .venv/test.done node_modules/.done  ## the tests of one folder
	$(VENV)/python -m pytest -n 2 tests/$(@:test-%=%)

test-browser: .venv/test.done node_modules/.done
	$(VENV)/python tests/helpers/browsers.py
	$(VENV)/python -m pytest -n 2 tests/browser

bench: .venv/test.done node_modules/.done  ## published figures against their bound; calculator's and site's speed; wants Chromium
	$(VENV)/python bench/calculator.py
	$(VENV)/python bench/published.py
	$(VENV)/python bench/site.py
	$(VENV)/python bench/explorer.py
	$(VENV)/python bench/tests.py

lint: .venv/test.done node_modules/.done
	$(VENV)/ruff check .
	$(VENV)/mypy
	PATH="$$PATH:$(CURDIR)/$(VENV)" npm run --silent lint

notebook: .venv/test.done  ## bring the code of the lab's notebook up to date, run it here, and store it with its outputs
	$(VENV)/python docs/notebook/lab_notebook.py

clean:
	rm -rf site .cache .venv node_modules

.venv/site.done: requirements/site.txt requirements/constraints.txt
	$(PYTHON) -m venv .venv
	$(VENV)/python -m pip install --quiet -r requirements/site.txt
	touch $@

.venv/test.done: .venv/site.done requirements/test.txt requirements/constraints.txt
	$(VENV)/python -m pip install --quiet -r requirements/test.txt
	touch $@

# Python for the browser comes from npm; where there is no npm, it comes from PyPI into the virtual environment first.
node_modules/.done: package.json package-lock.json .venv/site.done requirements/npm.txt
	command -v npm >/dev/null || $(VENV)/python -m pip install --quiet -r requirements/npm.txt
	PATH="$$PATH:$(CURDIR)/$(VENV)" npm ci --ignore-scripts --no-audit --no-fund
	touch $@
