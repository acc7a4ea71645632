"""Snakemake's settings: a profile of the workflow takes the place of profiles/default."""

from typing import Any

import yaml

from tests.workflow.conftest import ROOT


def settings(profile: str) -> dict[str, Any]:
    text = (ROOT / f"profiles/{profile}/config.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def test_a_cluster_makes_again_and_says_what_a_workstation_does() -> None:
    default = settings("default")
    assert default.pop("cores") == "all"
    assert default.items() <= {key: settings("slurm")[key] for key in default}.items()


def test_the_text_of_every_corpus_is_compared_where_it_is_newer() -> None:
    """Snakemake alone compares up to 1 MB; WMT17 Zh-En has 20 million pairs."""
    assert settings("default")["max-checksum-file-size"] >= 5_000_000_000
