"""Build the tools that estimate language models: see fastdecode.families.dag.language_model."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.families.dag.language_model import build_tools

with clear_errors():
    build_tools(Path(snakemake.output[0]))
