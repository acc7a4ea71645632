from typing import Any

from fastdecode.report.benchmark import OPPONENTS, batches, ratios, stages


def row(name: str, median: float, batch: int = 1, **more: Any) -> dict[str, Any]:
    _, system, decoder = name.split("/")
    family, _, layers = system.partition("-")
    return {
        "name": name,
        "target": "random",
        "system": system,
        "decoder": decoder,
        "family": family,
        "layers": layers,
        "precision": "fp32",
        "median": median,
        "p90": median,
        "passes": 6.0,
        "bytes_per_pass": 4e6,
        "floor_fraction": 0.5,
        "serial_layers": 14,
        "disturbed": False,
        "over": None,
        "batch": batch,
        "stages": {},
        "tier": "reference" if decoder.startswith(("fairseq", "eager")) else "optimised",
        "sentences_per_second": 1000 * batch / median,
        **more,
    }


def test_ratios_stand_over_the_same_model_and_search() -> None:
    greedy, ours = "random/autoregressive-6-6/fairseq-beam1", "random/lattice-6-1/fastdecode-x"
    base = OPPONENTS["reference"]
    frame = ratios(
        [
            row(greedy, 30.0, over=greedy),
            row(base, 60.0, over=base),
            row(OPPONENTS["optimised"], 20.0, over=base),
            row("random/lattice-6-1/eager-x", 20.0),
            row(ours, 10.0, over="random/lattice-6-1/eager-x"),
        ]
    )
    assert frame["over reference"].tolist() == ["×1.00", "×1.00", "×3.00", "–", "×2.00"]
    assert frame["over CTranslate2 fp32"].tolist() == ["–", "×0.33", "×1.00", "–", "–"]
    assert frame["over 6-6 beam 5"].tolist() == [  # tiers do not mix
        "×2.00",
        "×1.00",
        "×1.00",
        "×3.00",
        "×2.00",
    ]


def test_stages_have_a_column_each() -> None:
    frame = stages(
        [row("r/a-1-1/x", 1, stages={"encode": 1.0}), row("r/a-1-1/y", 1, stages={"search": 2.0})]
    )
    assert frame[["encode", "search"]].to_numpy().tolist() == [["1.0", "–"], ["–", "2.0"]]


def test_batches_stand_over_single_sentences() -> None:
    rows = [row("r/a-1-1/x", 10), row("r/a-1-1/y", 20), row("r/a-1-1/x", 20, batch=4)]
    frame = batches(rows)
    assert frame["decoder"].tolist() == ["x", "x", "y"]
    assert frame["over singles"].tolist() == ["×1.00", "×2.00", "×1.00"]
    assert frame["ms"].tolist() == ["10.0", "5.0", "20.0"]
