"""Rows of config/papers/dag.yaml, and a made run of it."""

from pathlib import Path

import pytest

from fastdecode.config.base import check, read_yaml
from fastdecode.config.papers import Paper

PAPER = Path(__file__).parents[3] / "config/papers/dag.yaml"


@pytest.fixture(scope="session")
def paper() -> Paper:
    return check(Paper, read_yaml(PAPER), PAPER.name)
