"""Rule files share one name space."""

import re
from collections import Counter

from tests.workflow.conftest import ROOT

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
