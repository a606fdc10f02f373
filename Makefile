# Each target makes .venv when it is missing. Python 3.11 or newer, make and a C compiler suffice.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: train play test test-slow bench lint

train: .venv/train.done
	$(BIN)/python -m train exp=quick

play: .venv/train.done
	$(BIN)/nardy play

test: lint
	$(BIN)/python -m pytest

test-slow: .venv/dev.done
	$(BIN)/python -m pytest -m slow

bench: .venv/train.done
	$(BIN)/python -m train.bench

lint: .venv/dev.done
	$(BIN)/ruff check nardy train tests
	$(BIN)/ruff format --check nardy train tests
	$(BIN)/mypy

.venv/%.done: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[$*$(EXTRA_$*)]"
	touch $@

EXTRA_train := ,peers
