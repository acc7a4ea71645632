from typing import Any

from fastdecode.report.benchmark import batches, ratios, stages


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
    ours, theirs = "random/lattice-6-1/fastdecode-x", "random/lattice-6-1/eager-x"
    greedy, base, peer, own = (
        f"random/autoregressive-6-6/{name}"
        for name in ("fairseq-beam1", "fairseq-beam5", "ctranslate2-beam5", "fastdecode-beam5")
    )
    rows = [
        row(greedy, 30.0, over=greedy),
        row(base, 60.0, over=base),
        row(peer, 20.0, over=base),
        row(own, 40.0, over=base),
        row(theirs, 20.0),
        row(ours, 10.0, over=theirs),
    ]
    frame = ratios(rows)
    over = {"reference": ["×1.00", "×1.00", "×3.00", "×1.50", "–", "×2.00"]}
    over["CTranslate2 fp32"] = ["–", "×0.33", "×1.00", "×0.50", "–", "–"]
    # tiers do not mix
    over["6-6 beam 5"] = ["×2.00", "×1.00", "×1.00", "×0.50", "×3.00", "×2.00"]
    assert {name: frame[f"over {name}"].tolist() for name in over} == over
    del rows[2]  # then ours is the one that was timed
    assert ratios(rows)["over 6-6 beam 5"].tolist()[2:] == ["×1.00", "×3.00", "×4.00"]
    assert ratios(rows[3:])["over 6-6 beam 5"].tolist() == ["–", "–"]
    assert ratios(rows[3:], {ours: 19.62})["published"].tolist() == ["–", "×19.62"]


def test_a_ratio_of_a_disturbed_time_is_marked_whichever_it_is() -> None:
    ours, base = "random/lattice-6-1/eager-x", "random/autoregressive-6-6/fairseq-beam5"
    rows = [row(base, 60.0, disturbed=True), row(ours, 20.0)]
    assert ratios(rows)["over 6-6 beam 5"].tolist() == ["×1.00†", "×3.00†"]
    assert ratios(rows)["ms"].tolist() == ["60.0†", "20.0"]
    rows = [row(base, 60.0), row(ours, 20.0, disturbed=True)]
    assert ratios(rows)["over 6-6 beam 5"].tolist() == ["×1.00", "×3.00†"]
    many = [row(base, 60.0, disturbed=True), row(base, 60.0, batch=4)]
    assert batches(many)["over singles"].tolist() == ["×1.00†", "×4.00†"]


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
