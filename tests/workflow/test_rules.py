"""Rule files share one name space."""

import re
from collections import Counter
from types import SimpleNamespace

import pytest
from snakemake_interface_common.exceptions import WorkflowError

from tests.workflow.conftest import ROOT

EXTRA = re.compile(r"slurm_extra=(['\"])(.+?)\1")
NAME = re.compile(r"^(?:def (\w+)\(|([A-Z_]+) = )", re.MULTILINE)


RULES = [
    (file.name, body.partition(":")[0].strip() or body.split('"')[1], body)
    for file in (ROOT / "workflow/rules").glob("*.smk")
    for body in re.split(r"^ *rule\b", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
]


def test_what_a_cluster_runs_says_what_it_takes() -> None:
    """Else it gets what the partition gives, and no second attempt gets more."""
    assert len(RULES) > 40
    bare = [
        (file, name)
        for file, name, body in RULES
        if "localrule: True" not in body and not ("mem_mb=" in body and "runtime=" in body)
    ]
    assert bare == []


def test_the_executor_takes_what_jobs_ask_slurm_for() -> None:
    """It refuses options that it has names of its own for: no dry run says so."""
    slurm = pytest.importorskip("snakemake_executor_plugin_slurm")
    texts = [body for _, _, body in RULES]
    texts += [file.read_text(encoding="utf-8") for file in (ROOT / "docs").glob("*.md")]
    asked = {found for text in texts for _, found in EXTRA.findall(text)}
    assert "--exclusive" in asked
    for options in asked:
        slurm.validate_slurm_extra(SimpleNamespace(resources=SimpleNamespace(slurm_extra=options)))
    with pytest.raises(WorkflowError, match="constraint"):
        own = SimpleNamespace(slurm_extra="--exclusive --constraint=KIND")
        slurm.validate_slurm_extra(SimpleNamespace(resources=own))


def test_all_but_timings_can_share_a_gpu() -> None:
    on_gpus = {name: "gpu_sharers=" in body for _, name, body in RULES if "gpu=" in body}
    alone = {name for name, shares in on_gpus.items() if not shares}
    assert alone == {"measure_machine", "measure_latency", "measure_memory"}
    assert len(on_gpus) > len(alone)


def test_no_name_is_defined_twice() -> None:
    """The later one would win, and an input function that fails hides its rule without a word."""
    names = Counter(
        found[1] or found[2]
        for file in (ROOT / "workflow/rules").glob("*.smk")
        for found in NAME.finditer(file.read_text(encoding="utf-8"))
    )
    assert len(names) > 50
    assert [name for name, count in names.items() if count > 1] == []
