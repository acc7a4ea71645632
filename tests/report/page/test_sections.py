"""Tables of a page, and what was run for an artifact."""

import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.page.sections import grid, provenance

SLOW, QUICK = "raw/base/beam5", "big/small/beam5"
ARTIFACT = Artifact(title="speed", kind="table", function="artifacts.rows")


def test_all_that_names_a_row_is_its_head() -> None:
    frame = pd.DataFrame({"group": ["a", "a"], "model": ["b", "c"], "BLEU": ["1", "2"]})
    assert grid(frame, "x", 2).names == 2
    assert grid(frame, "x", 0).names == 1


def test_published_columns_are_those_of_which_that_is_said() -> None:
    frame = pd.DataFrame({"published by": ["a"], "published BLEU": ["1"], "BLEU": ["2"]})
    shown = grid(frame, "x", 1, ["published BLEU"])
    assert [kind for _, kind in shown.heads] == ["", "published", ""]


def test_what_was_run_stands_behind_our_numbers() -> None:
    frame = pd.DataFrame(
        {"model": ["a"], "published BLEU": ["1"], "run here": ["x"], "BLEU": ["2"]}
    )
    shown = grid(frame, "x", 1, ["published BLEU"])
    assert [head for head, _ in shown.heads] == ["model", "published BLEU", "BLEU", "run here"]
    assert shown.rows == (("a", "1", "2", "x"),)


def test_provenance_of_cells() -> None:
    cells = pd.DataFrame(
        {
            "source": ["published", "ours", "ours"],
            "what": ["", SLOW, QUICK],
            "commit": ["", "a" * 40, "a" * 40 + " " + "b" * 40 + "-dirty-1a2b3c4d"],
            "tier": ["", "", "reference"],
            **dict.fromkeys(("dataset", "split", "seeds", "threads", "device"), ""),
        }
    )
    found = dict(provenance(ARTIFACT, cells))
    assert found == {
        "systems": f"{SLOW}, {QUICK}",
        "tier": "reference",
        "commit": f"{'a' * 12}, {'b' * 12}-dirty-1a2b3c4d",
    }
    assert provenance(ARTIFACT, cells[:1]) == ()


def test_provenance_tells_the_seeds_of_times_from_those_of_scores() -> None:
    cells = pd.DataFrame(
        {
            "source": ["ours", "ours"],
            "seeds": ["2 1 10", "1"],
            "tier": ["", "reference"],
            **dict.fromkeys(("what", "commit", "dataset", "split", "threads", "device"), ""),
        }
    )
    assert dict(provenance(ARTIFACT, cells))["seeds"] == "1, 2, 10; times of 1"
    alike = cells.assign(seeds="2 1")
    assert dict(provenance(ARTIFACT, alike))["seeds"] == "1, 2"
