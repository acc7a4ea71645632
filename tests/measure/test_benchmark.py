import csv
import json
from pathlib import Path
from typing import Any

import pytest

from fastdecode.measure.benchmark import Plan, Words, benchmark, ratios
from fastdecode.measure.untrained import untrained_system

SMALL: dict[str, Any] = {"width": 16, "ffn": 32, "heads": 2, "vocabulary": 100, "length": 5}
PLAN = Plan(layers=["2-1"], lines=2, warmup=1, repeats=2, **SMALL)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("benchmark")
    return out, benchmark(PLAN, out)


def test_every_engine_is_timed_at_the_forced_length(measured: tuple[Path, str]) -> None:
    out, table = measured
    document = json.loads((out / "benchmark.json").read_text())
    names = [row["name"] for row in document["rows"]]
    assert names == [entry.name for entry in PLAN.entries()] and len(names) == 2 * 4
    assert all((row["tokens"], row["passes"]) == (5, 6) for row in document["rows"])
    assert all(row["median"] > 0 and row["stages"] for row in document["rows"])
    assert document["provenance"]["plan"]["vocabulary"] == 100
    with (out / "benchmark.samples.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 8 * 2 * 2
    assert (out / "benchmark.md").read_text() == table
    assert "Random weights, 5 tokens in and out" in table


def test_engines_write_the_same_words() -> None:
    system = untrained_system(PLAN.architecture("2-1"), PLAN.vocabulary)
    sources = [Words().source_tokens(line) for line in PLAN.sources()]
    for beam in PLAN.beams:
        texts = []
        for entry in PLAN.entries():
            if entry.settings["beam"] == beam and entry.precision == "fp32":
                decoder = system.decoder(entry.family, entry.settings, Words().target_text)
                texts.append([translation.text for translation in decoder(sources)])
        assert len(texts) == 3
        assert all(len(text.split()) == PLAN.length for text in texts[0])
        assert texts[0] == texts[1]
        if beam == 1:
            assert texts[0] == texts[2]


def test_ratios_stand_over_the_same_model_and_beam() -> None:
    def row(decoder: str, system: str, median: float) -> dict[str, Any]:
        return {
            **{"name": f"random/{system}/{decoder}", "target": "random", "system": system},
            **{"decoder": decoder, "precision": "fp32", "median": median, "p90": median},
            **{"passes": 6.0, "bytes_per_pass": 4e6, "floor_fraction": 0.5, "disturbed": False},
        }

    frame = ratios(
        [
            row("fairseq-beam1", "transformer-6-6", 30.0),
            row("fairseq-beam5", "transformer-6-6", 60.0),
            row("fastdecode-beam1", "transformer-6-6", 20.0),
            row("fastdecode-beam5", "transformer-6-1", 10.0),
        ]
    )
    assert frame["over fairseq"].tolist() == ["×1.00", "×1.00", "×1.50", "–"]
    assert frame["over CTranslate2 fp32"].tolist() == ["–"] * 4
    assert frame["over 6-6 fairseq beam 5"].tolist() == ["×2.00", "×1.00", "×3.00", "×6.00"]


def test_models_differ_with_their_seed_and_nothing_else() -> None:
    shape = PLAN.architecture("2-1")
    first, again, other = (
        untrained_system(shape, 100, seed=seed).models[0].encoder.layers[0].fc1.weight.sum().item()
        for seed in (1, 1, 2)
    )
    assert first == again != other
