import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastdecode.errors import UserError
from fastdecode.families import untrained_families
from fastdecode.families.lattice import scorer
from fastdecode.measure.benchmark import Plan, Words, benchmark, reference
from fastdecode.measure.timing import Entry
from fastdecode.report.benchmark import tables
from fastdecode.system import System
from fastdecode.transformer.linear import has_bf16
from fastdecode.translation import Translation

SMALL: dict[str, Any] = {"width": 16, "ffn": 32, "heads": 2, "vocabulary": 100, "length": 5}
PLAN = Plan(layers=["2-1"], lines=2, warmup=1, repeats=2, **SMALL)
MORE = replace(PLAN, lines=12)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("benchmark")
    return out, tables(*benchmark(PLAN, out))


def test_every_family_is_timed_with_nothing_trained(measured: tuple[Path, str]) -> None:
    out, text = measured
    document = json.loads((out / "benchmark.json").read_text())
    names = [row["name"] for row in document["rows"]]
    assert names == [entry.name for entry in PLAN.entries()]
    assert {row["family"] for row in document["rows"]} == set(untrained_families())
    assert all(row["median"] > 0 and row["stages"] for row in document["rows"])
    assert document["provenance"]["plan"]["vocabulary"] == 100
    assert document["provenance"]["not_recorded"] == []
    with (out / "benchmark.samples.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(names) * 2 * 2
    assert "Random weights, 5 tokens in" in text
    assert "| candidates | encode | score | search | finish |" in text
    assert "Batches" not in text
    assert "the decoders called prescribed is not measured but given, 6, 6," in text
    assert "graphs of 8 vertices a token" in text and "2 slots for every token" in text


def test_autoregressive_engines_write_the_forced_length(measured: tuple[Path, str]) -> None:
    document = json.loads((measured[0] / "benchmark.json").read_text())
    rows = [row for row in document["rows"] if row["family"] == "autoregressive"]
    assert len(rows) == 2 * 4
    assert all((row["tokens"], row["passes"]) == (5, 6) for row in rows)
    pairs = [row for row in document["rows"] if row["family"] == "bidirectional"]
    assert len(pairs) == 2 * 2
    assert all((row["tokens"], row["passes"]) == (5, 3) for row in pairs)


def test_batches_are_timed_beside_single_sentences(tmp_path: Path) -> None:
    plan = Plan(families=["lattice"], decoders=["fastdecode-candidates"], batches=[3], **SMALL)
    text = tables(*benchmark(plan, tmp_path))
    rows = json.loads((tmp_path / "benchmark.json").read_text())["rows"]
    assert [(row["batch"], row["n"]) for row in rows] == [(1, 4 * 5), (3, 2 * 5)]
    assert "over singles" in text
    assert sum("fastdecode-candidates" in line for line in text.splitlines()) == 1 + 1 + 2


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, System]:
    """The systems of PLAN by name."""
    made: dict[str, System] = {}
    for entry in PLAN.entries():
        if entry.system not in made:
            made[entry.system] = PLAN.system(entry, tmp_path_factory.mktemp(entry.system))
    return made


def decoded(entry: Entry, systems: dict[str, System], plan: Plan) -> list[Translation]:
    sources = [Words().source_tokens(line) for (line,) in plan.workload()[1]]
    text = Words().target_text
    return list(systems[entry.system].decoder(entry.family, entry.settings, text)(sources))


def written(entry: Entry, systems: dict[str, System], plan: Plan = PLAN) -> list[str]:
    return [translation.text for translation in decoded(entry, systems, plan)]


def test_engines_write_the_same_words_as_their_reference(systems: dict[str, System]) -> None:
    compared = 0
    for entry in PLAN.entries():
        over = reference(entry, PLAN.entries())
        if over is None or over == entry or entry.precision != "fp32":
            continue
        if "ctranslate2" in entry.decoder and entry.settings["beam"] > 1:
            continue  # its stopping rule is its own
        if entry.family == "dag":  # whose paths through tiny random graphs are all but empty
            found, expected = (
                [one.score for one in decoded(who, systems, MORE)] for who in (entry, over)
            )
            assert found == pytest.approx(expected, rel=1e-4)
        texts = written(over, systems, MORE)
        assert written(entry, systems, MORE) == texts
        assert any(texts) or "lookahead" in entry.decoder
        compared += 1
    assert compared == 2 + 1 + 2 + 2 + 2 + 2 + 1  # the last two: graphs, slots


def test_layers_in_turn_are_those_that_run(
    systems: dict[str, System], monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []  # by the lattice's layers, which are no modules
    layer_of_scorer = scorer._Layer.__call__

    def scoring(*arguments: Any) -> Any:
        scored.append(1)
        return layer_of_scorer(*arguments)

    monkeypatch.setattr(scorer._Layer, "__call__", scoring)
    compared = []
    for entry in PLAN.entries():
        if entry.tier != "reference":
            continue
        system = systems[entry.system]
        models = [*system.models, *(m for s in system.companions.values() for m in s.models)]
        layers = [layer for m in models for side in (m.encoder, m.decoder) for layer in side.layers]
        decoder = system.decoder(entry.family, entry.settings, Words().target_text)
        ran: list[int] = []
        scored.clear()
        hooks = [layer.register_forward_hook(lambda *_, ran=ran: ran.append(1)) for layer in layers]
        (line,) = PLAN.workload()[1][0]
        (translation,) = decoder([Words().source_tokens(line)])
        for hook in hooks:
            hook.remove()
        compared.append(entry.name)
        assert len(ran + scored) == decoder.serial_layers.of(translation.passes), entry.name
    assert len(compared) == 8 + 2 + 1


def test_forced_lengths(systems: dict[str, System]) -> None:
    for entry in PLAN.entries():
        if entry.family in ("dag", "parallel"):  # left to chance
            continue
        lengths = {len(text.split()) for text in written(entry, systems)}
        if entry.family in ("autoregressive", "bidirectional"):
            assert lengths == {PLAN.length}
        else:
            assert all(abs(length - PLAN.length) <= 3 for length in lengths)


def test_references_are_the_plain_decoders() -> None:
    entries = PLAN.entries()
    found = {entry.decoder: reference(entry, entries) for entry in entries}
    over = {name: other.decoder if other else None for name, other in found.items()}
    assert over["int8-beam5"] == over["fairseq-beam5"] == "fairseq-beam5"
    assert over["fastdecode-candidates"] == "eager-candidates"
    assert over.get("bf16-candidates") == ("eager-candidates" if has_bf16() else None)
    alone = [entry for entry in entries if entry.decoder == "int8-beam5"]
    assert reference(alone[0], alone) is None


def test_a_decoder_that_is_not_there_is_refused() -> None:
    with pytest.raises(UserError, match=r'"greedy" is none of these families: choose among \w+-'):
        Plan(decoders=["greedy"]).entries()


def test_models_differ_with_their_seed_and_nothing_else() -> None:
    from fastdecode.config.models import Architecture
    from fastdecode.measure.untrained import untrained_system

    shape = Architecture(16, 32, 2, 2, 1)
    first, again, other = (
        untrained_system(shape, 100, seed=seed).models[0].encoder.layers[0].fc1.weight.sum().item()
        for seed in (1, 1, 2)
    )
    assert first == again != other
