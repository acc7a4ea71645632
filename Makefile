# make demo · make test · make lint · make figures · make help
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORES ?= all

.PHONY: demo figures plan benchmark family test test-cluster lint format generated api clean help
.DEFAULT_GOAL := help

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

# Two steps: fairseq compiles against the torch, numpy and Cython that the first one installs.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
$(READY): pyproject.toml
	@command -v $(PYTHON) > /dev/null || { echo "error: no $(PYTHON) here: install Python 3.11, or say where yours is: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): PyTorch and fairseq take a few minutes"
	$(PIP) -e '.[dev,slurm]'
	$(PIP) --no-build-isolation -e '.[dev,slurm,fairseq]'
	@touch $@

# Distilling and all students wait for the teacher.
TEACHER := results/toy/raw/transformer/seed1/checkpoint.pt
demo: $(READY)  ## install, run the default configuration, say where the results are
	$(BIN)/snakemake --cores $(CORES) --prioritize $(TEACHER)
	@echo && cat results/report/toy/systems.toy.test.md
	@echo && echo "Tables (.md, .tex, .csv), figures (.svg, .pdf, .png) and raw samples: results/report/toy/"
	@echo "All of it on one page: results/report/toy/index.html"

figures: $(READY)  ## papers' tables and figures: make figures RUN=config/runs/toy-lattice.yaml PAPERS=lattice.table1
	$(BIN)/snakemake figures --cores $(CORES) $(if $(RUN),--configfile $(RUN)) $(if $(PAPERS),--config 'papers=[$(PAPERS)]')

plan: $(READY)  ## jobs, hours and disk space of a run: make plan RUN=config/runs/multi30k.yaml (or RUN="one.yaml two.yaml")
	$(BIN)/fastdecode plan $(if $(RUN),--configfile $(RUN))

benchmark: $(READY)  ## decoders side by side on random weights at base size, nothing trained: make benchmark OUT=folder
	$(BIN)/fastdecode benchmark $(if $(OUT),--out $(OUT))

family: $(READY)  ## begin a family of your own: make family NAME=mine (docs/add-a-decoder.md)
	@$(BIN)/python -m fastdecode.template '$(NAME)'

# By file: what a file's tests share is made once. A test of the workflow runs two jobs at a time.
test: $(READY)  ## install and run the tests
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadfile --durations=25 -rs

test-cluster: $(READY)  ## kill jobs, nodes and snakemake on a SLURM cluster of this machine (docs/cluster.md)
	FAULTS=1 $(BIN)/python -m pytest -s tests/workflow/test_cluster.py

lint: $(READY)  ## ruff, snakefmt and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/python -m fastdecode.generated --check

format: $(READY)  ## lay out the code as lint wants it
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

generated: $(READY)  ## write workflow/schemas, config/keys.md, config/runs/README.md, docs/reproduced.md and docs/claims.md
	$(BIN)/python -m fastdecode.generated

api: $(READY)  ## write the API reference to docs/api/index.html
	@# Without the kernels, which need Triton to be imported; warnings are of pandas' types.
	$(BIN)/python -W ignore::UserWarning -m pdoc --docformat google --no-show-source \
		--output-directory docs/api fastdecode '!fastdecode.families.dag.kernel'

clean:  ## remove all that runs wrote, trained models, too (not the environment): make clean YES=1
	@[ "$(YES)" = 1 ] || { echo "error: this removes all of results/ ($$(du -sh results/ | cut -f1)), trained models, too: if that is meant, make clean YES=1" >&2; exit 1; }
	find results/ -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
	rm -rf .snakemake
