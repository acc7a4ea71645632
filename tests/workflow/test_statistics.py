"""Statistics of a lattice through the workflow: of its target's teacher, tables and training."""

import json
from pathlib import Path

from tests.workflow.conftest import SIZES, Workplace

MODEL = "micro/transformer-big/lattice/seed1"


def test_both_statistics_of_a_lattice(finished: Workplace, tmp_path: Path) -> None:
    place = finished.copy(tmp_path / "copy")
    place.run = place.run | {
        "systems": [*place.run["systems"], "transformer-big/lattice"],
        "decoders": [*place.run["decoders"], "lattice-k1"],
    }
    # Nothing is decoded in validation: so small a dictionary has no 64 words.
    place.dataset = place.dataset | {"families": {"lattice": {"select": "last"}}}
    place.save()
    names = [f"{MODEL}/valid.{name}.statistic.json" for name in ("recall", "ranks")]
    done = place.snakemake(*(f"results/{name}" for name in names))
    assert done.returncode == 0, done.stdout

    recall, ranks = (json.loads(place.path(name).read_text()) for name in names)
    for found, name in ((recall, "recall"), (ranks, "ranks")):
        origin = found["provenance"]
        keys = ("dataset", "target", "system", "decoder", "seed", "split", "statistic")
        values = ("micro", "transformer-big", "lattice", None, 1, "valid", name)
        assert tuple(origin[key] for key in keys) == values
        assert origin["commit"] and origin["device"]
    assert recall["references"]["real"]["lines"] == SIZES["valid"]
    assert set(recall["references"]) == {"real", "teacher"}
    teacher = place.path("micro/raw/transformer-big/seed1/valid.beam5.jsonl.gz")
    assert teacher.exists()
    assert ranks["lines"] == SIZES["valid"]
    assert sum(ranks["readings"]["best_edge"]["counts"]) == ranks["tokens"] > SIZES["valid"]
