from typing import Any

import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.report.systems import Key, systems_table
from fastdecode.report.tables import NOT_RUN, Table, to_markdown
from fastdecode.report.tidy import COLUMNS

BASE: Key = ("raw", "base", "beam5")
FAST: Key = ("big", "parallel", "one pass")
QUICK: Key = ("raw", "base", "quick")  # the optimised tier
EIGHT: Key = ("raw", "base", "eight")  # and with eight bits
OVER = {"reference": "raw/base/beam5", "optimised": "raw/base/quick"}
SPEED = {
    "tier": "reference",
    "scenario": "S1",
    "device": "cpu: X",
    "threads": "1",
    "precision": "fp32",
    "batch": "1",
}
OPTIMISED = SPEED | {"tier": "optimised"}


def value(key: Key, metric: str, number: float, seed: int = 1, **more: str) -> dict[str, Any]:
    target, system, decoder = key
    row = {
        "run": "demo",
        "dataset": "toy",
        "target": target,
        "system": system,
        "seed": str(seed),
        "decoder": decoder,
        "split": "test",
        "metric": metric,
        "value": number,
        "family": "any",
        "layers": "3-3",
        "parameters": "1234567",
    }
    if metric.startswith("latency"):
        row |= SPEED
    else:
        row |= {"signature": f"{metric}|v1"}
    return dict.fromkeys(COLUMNS, "") | row | more


ROWS = [
    value(BASE, "bleu", 30.006),
    value(BASE, "chrf", 50.0),
    value(BASE, "tokenised_bleu", 31.0),
    value(BASE, "latency_median", 80.0),
    value(BASE, "latency_disturbed", 0.0),
    value(QUICK, "bleu", 30.0),
    value(QUICK, "latency_median", 40.0, **OPTIMISED),
    value(EIGHT, "bleu", 29.5),
    value(EIGHT, "latency_median", 10.0, **OPTIMISED | {"precision": "int8"}),
    value(BASE, "bleu", 99.0, split="valid"),
    value(BASE, "bleu", 99.0, dataset="other"),
    *(value(FAST, "bleu", number, seed) for seed, number in enumerate((28.0, 29.0, 30.0))),
    *(value(FAST, "latency_median", number, seed) for seed, number in enumerate((15.0, 25.0))),
]


def table(tidy: list[dict[str, Any]] = ROWS, rows: list[Key] | None = None) -> Table:
    return systems_table(pd.DataFrame(tidy, columns=COLUMNS), "toy", "test", OVER, rows)


def cells(shown: Table, system: str, decoder: str = "") -> dict[str, str]:
    frame = shown.frame[shown.frame["system"] == system]
    chosen = frame[frame["decoder"] == decoder] if decoder else frame
    return {str(k): str(v) for k, v in chosen.iloc[0].items()}


def test_cells() -> None:
    assert cells(table(), "base") == {
        "system": "base",
        "target": "raw",
        "decoder": "beam5",
        "layers": "3-3",
        "parameters": "1.23 M",
        "seeds": "1",
        "BLEU": "30.01",
        "chrF": "50.00",
        "tokenised BLEU": "31.00",
        "tier": "reference",
        "ms per sentence": "80.00",
        "speed-up": "×1.00",
    }


def test_a_speed_up_is_over_the_denominator_of_its_tier() -> None:
    timed = ("tier", "ms per sentence", "speed-up")
    quick, eight = (cells(table(), "base", name) for name in ("quick", "eight"))
    assert [quick[name] for name in timed] == ["optimised", "40.00", "×1.00"]
    assert [eight[name] for name in timed] == ["optimised, int8", "10.00", "×4.00"]


def test_seeds_are_averaged() -> None:
    row = cells(table(), "parallel")
    assert row["seeds"] == "3"
    assert row["BLEU"] == "29.00 ± 1.00"
    assert row["ms per sentence"] == "20.00"
    assert row["speed-up"] == "×4.00"
    assert row["chrF"] == "–"


def test_the_caption_says_what_was_compared() -> None:
    caption = table().caption
    assert caption.startswith(
        "toy, test: what was trained, its quality and its time. Median times: scenario S1, cpu: X, "
        "threads 1, fp32, seed 0, 1. "  # of 0 to 2
        "Speed-ups in the reference tier are over base (raw) with beam5. "
        "Speed-ups in the optimised tier are over base (raw) with quick. BLEU: bleu|v1. "
    )
    assert "±: " in caption and "–: not measured." in caption and "†" not in caption


def test_rows_that_were_not_run_say_so() -> None:
    shown = table(rows=[BASE, ("raw", "later", "beam5"), FAST])
    assert shown.frame["system"].tolist() == ["base", "later", "parallel"]
    missing = cells(shown, "later")
    assert missing["BLEU"] == NOT_RUN == "not run in this configuration"
    assert set(list(missing.values())[3:]) == {NOT_RUN, ""}
    assert NOT_RUN in to_markdown(shown.frame, shown.caption)


def test_systems_that_the_run_leaves_out_are_counted() -> None:
    tidy = pd.DataFrame(ROWS, columns=COLUMNS)
    shown = systems_table(tidy, "toy", "test", OVER, [BASE, FAST], others=7)
    assert shown.frame["system"].tolist() == ["base", "parallel"]
    assert f" Further systems of this project, {NOT_RUN}: 7. " in shown.caption
    assert NOT_RUN not in table().caption


def test_the_order_of_columns_is_always_the_same() -> None:
    columns = list(table().frame.columns)
    assert list(table(rows=[("raw", "later", "beam5"), BASE]).frame.columns) == columns
    assert list(table(rows=[("raw", "later", "beam5")]).frame.columns) == columns


def test_a_denominator_that_was_not_timed_gives_no_speed_up() -> None:
    kept = [row for row in ROWS if row["decoder"] != "beam5" or row["metric"] == "bleu"]
    shown = table(kept)
    assert cells(shown, "parallel")["speed-up"] == "–"
    assert cells(shown, "base", "eight")["speed-up"] == "×4.00"
    assert "In the reference tier nothing was timed that speed-ups could be over." in shown.caption


def test_quality_alone_makes_a_table() -> None:
    shown = table([row for row in ROWS if not row["metric"].startswith("latency")])
    assert set(shown.frame["ms per sentence"]) == {"–"}
    assert "tier" not in shown.caption and set(shown.frame["tier"]) == {"–"}


def test_a_size_that_is_not_known() -> None:
    rows = [row | {"parameters": ""} for row in ROWS if not row["metric"].startswith("latency")]
    assert cells(table(rows), "base")["parameters"] == "–"


def test_of_one_seed_translations_alone_are_given() -> None:
    """Its size is not known then; the other's is, which has the same."""
    second = value(BASE, "bleu", 32.006, seed=2)
    row = cells(table([*ROWS, second | {"parameters": ""}]), "base")
    assert (row["parameters"], row["seeds"], row["BLEU"]) == ("1.23 M", "2", "31.01 ± 1.41")
    with pytest.raises(UserError, match="cannot hold different values of parameters"):
        table([*ROWS, second | {"parameters": "7654321"}])


def test_a_disturbed_timing_is_marked() -> None:
    shown = table([*ROWS, value(FAST, "latency_disturbed", 1.0)])
    assert cells(shown, "parallel")["ms per sentence"] == "20.00†"
    assert "†: the machine was disturbed" in shown.caption


def test_who_writes_something_else_than_it_has_to_is_marked() -> None:
    shown = table([*ROWS, value(FAST, "differs", 1.0)])
    assert cells(shown, "parallel")["ms per sentence"] == "20.00≠"
    assert cells(shown, "parallel")["speed-up"].endswith("≠")
    assert "≠: on more than 1% of the lines" in shown.caption


def test_times_of_different_devices_or_precisions_are_not_compared() -> None:
    odd: Key = ("raw", "odd", "beam5")
    with pytest.raises(UserError, match=r"different values of device .cpu: X and cuda: Y"):
        table([*ROWS, value(odd, "latency_median", 1.0, device="cuda: Y")])
    with pytest.raises(UserError, match=r"was not timed as raw/odd/beam5 was .* fp16"):
        table([*ROWS, value(odd, "latency_median", 1.0, precision="fp16")])


def test_only_single_sentences_with_the_fewest_threads_count() -> None:
    more = [
        value(BASE, "latency_median", 2.0, scenario="Smax"),
        *(value(key, "latency_median", 3.0, threads="12") for key in (BASE, FAST)),
        value(BASE, "memory_peak", 5.0, **SPEED | {"device": "cpu: X, 1 cores"}),
    ]
    shown = table([*ROWS, *more])
    assert shown.frame.equals(table().frame) and shown.caption == table().caption
    several = [row | {"threads": "2"} if row["threads"] else row for row in ROWS]
    shown = table([*several, *more])
    assert cells(shown, "base")["ms per sentence"] == "80.00"
    assert "threads 2" in shown.caption


def test_quality_from_another_device_is_no_speed() -> None:
    shown = table([*ROWS, value(("raw", "odd", "beam5"), "bleu", 1.0, device="cuda: Y")])
    assert (cells(shown, "odd")["BLEU"], cells(shown, "odd")["speed-up"]) == ("1.00", "–")
    assert "Scores are of translations by cuda: Y." in shown.caption
    assert "Median times: scenario S1, cpu: X, threads" in shown.caption


def test_scores_of_different_signatures_are_not_compared() -> None:
    with pytest.raises(UserError, match="signature"):
        table([*ROWS, value(("raw", "odd", "beam5"), "bleu", 1.0, signature="bleu|v2")])


def test_a_value_that_stands_twice_is_refused() -> None:
    with pytest.raises(UserError, match="bleu of base stands twice"):
        table([*ROWS, value(BASE, "bleu", 30.0)])


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(UserError, match="nothing was measured"):
        systems_table(pd.DataFrame(ROWS, columns=COLUMNS), "toy", "train", OVER)
