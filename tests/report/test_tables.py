from typing import Any

import pandas as pd
import pytest

from fastdecode.errors import UserError
from fastdecode.report.tables import (
    NOT_RUN,
    Key,
    Table,
    plainest_speeds,
    systems_table,
    to_latex,
    to_markdown,
)
from fastdecode.report.tidy import COLUMNS

BASE: Key = ("raw", "base", "beam5")
FAST: Key = ("big", "parallel", "one pass")
SPEED = {
    **{"tier": "reference", "scenario": "S1", "device": "cpu: X"},
    **{"threads": "1", "precision": "fp32"},
}


def value(key: Key, metric: str, number: float, seed: int = 1, **more: str) -> dict[str, Any]:
    target, system, decoder = key
    row = {
        **{"run": "demo", "dataset": "toy", "target": target, "system": system, "seed": str(seed)},
        **{"decoder": decoder, "split": "test", "metric": metric, "value": number},
        **{"family": "any", "layers": "3-3", "parameters": "1234567"},
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
    value(BASE, "bleu", 99.0, split="valid"),
    value(BASE, "bleu", 99.0, dataset="other"),
    *(value(FAST, "bleu", number, seed) for seed, number in enumerate((28.0, 29.0, 30.0))),
    *(value(FAST, "latency_median", number, seed) for seed, number in enumerate((15.0, 25.0))),
]


def table(tidy: list[dict[str, Any]] = ROWS, rows: list[Key] | None = None) -> Table:
    return systems_table(pd.DataFrame(tidy, columns=COLUMNS), "toy", "test", BASE, rows)


def cells(shown: Table, system: str) -> dict[str, str]:
    frame = shown.frame
    return {str(k): str(v) for k, v in frame[frame["system"] == system].iloc[0].items()}


def test_cells() -> None:
    assert cells(table(), "base") == {
        **{"system": "base", "target": "raw", "decoder": "beam5"},
        **{"layers": "3-3", "parameters": "1.23 M", "seeds": "1"},
        **{"BLEU": "30.01", "chrF": "50.00", "tokenised BLEU": "31.00"},
        **{"ms per sentence": "80.00", "speed-up": "×1.00"},
    }


def test_seeds_are_averaged() -> None:
    row = cells(table(), "parallel")
    assert row["seeds"] == "3"
    assert row["BLEU"] == "29.00 ± 1.00"
    assert row["ms per sentence"] == "20.00 ± 7.07"
    assert row["speed-up"] == "×4.00"
    assert row["chrF"] == "–"


def test_the_caption_says_what_was_compared() -> None:
    caption = table().caption
    assert caption.startswith("toy, test. Speed-up over base (raw) with beam5. ")
    assert "reference tier, scenario S1, cpu: X, threads 1, fp32, seed 0, 1." in caption  # of 0–2
    assert "BLEU: bleu|v1." in caption
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
    shown = systems_table(tidy, "toy", "test", BASE, [BASE, FAST], others=7)
    assert shown.frame["system"].tolist() == ["base", "parallel"]
    assert f" Systems of config/systems that are {NOT_RUN}: 7. " in shown.caption
    assert NOT_RUN not in table().caption


def test_the_order_of_columns_is_always_the_same() -> None:
    columns = list(table().frame.columns)
    assert list(table(rows=[("raw", "later", "beam5"), BASE]).frame.columns) == columns
    assert list(table(rows=[("raw", "later", "beam5")]).frame.columns) == columns


def test_a_denominator_that_was_not_timed_gives_no_speed_up() -> None:
    shown = table([row for row in ROWS if row["system"] != "base" or row["metric"] == "bleu"])
    assert set(shown.frame["speed-up"]) == {"–"}
    assert "base (raw) with beam5, which was not timed here." in shown.caption


def test_quality_alone_makes_a_table() -> None:
    shown = table([row for row in ROWS if not row["metric"].startswith("latency")])
    assert set(shown.frame["ms per sentence"]) == {"–"}
    assert "tier" not in shown.caption


def test_a_size_that_is_not_known() -> None:
    rows = [row | {"parameters": ""} for row in ROWS if not row["metric"].startswith("latency")]
    assert cells(table(rows), "base")["parameters"] == "–"


def test_a_disturbed_timing_is_marked() -> None:
    shown = table([*ROWS, value(FAST, "latency_disturbed", 1.0)])
    assert cells(shown, "parallel")["ms per sentence"] == "20.00 ± 7.07†"
    assert "†: the machine was disturbed" in shown.caption


@pytest.mark.parametrize(
    ("column", "other"),
    [
        ("device", "cuda: Y"),
        ("tier", "optimised"),
        ("scenario", "Smax"),
        ("threads", "2"),
        ("precision", "int8"),
    ],
)
def test_speeds_of_different_settings_are_not_compared(column: str, other: str) -> None:
    odd = value(("raw", "odd", "beam5"), "latency_median", 1.0, **{column: other})
    with pytest.raises(UserError, match=rf"different values of {column} \({other}|and {other}\)"):
        table([*ROWS, odd])


def test_memory_may_be_measured_with_fewer_cores() -> None:
    memory = value(BASE, "memory_peak", 5.0, **SPEED | {"device": "cpu: X, 1 cores"})
    assert table([*ROWS, memory]).caption == table().caption


def test_the_plainest_speeds_can_be_compared() -> None:
    more = [
        value(BASE, "latency_median", 1.0, tier="optimised"),
        value(BASE, "latency_median", 2.0, scenario="Smax"),
        value(BASE, "latency_median", 3.0, threads="12"),
        value(BASE, "latency_median", 4.0, threads="2"),
        value(BASE, "memory_peak", 5.0, **SPEED),  # with one thread, whatever was timed
    ]
    timed = [row for row in ROWS if row["metric"] != "latency_median"] + more
    tidy = pd.DataFrame(ROWS + more, columns=COLUMNS)
    assert (
        cells(table(plainest_speeds(tidy).to_dict("records")), "base")["ms per sentence"] == "80.00"
    )
    tidy = pd.DataFrame(timed, columns=COLUMNS)
    assert (
        cells(table(plainest_speeds(tidy).to_dict("records")), "base")["ms per sentence"] == "4.00"
    )
    untimed = tidy[tidy["tier"] != "reference"]
    assert set(table(plainest_speeds(untimed).to_dict("records")).frame["speed-up"]) == {"–"}


def test_quality_from_another_device_is_no_speed() -> None:
    shown = table([*ROWS, value(("raw", "odd", "beam5"), "bleu", 1.0, device="cuda: Y")])
    assert (cells(shown, "odd")["BLEU"], cells(shown, "odd")["speed-up"]) == ("1.00", "–")
    assert "cuda" not in shown.caption


def test_scores_of_different_signatures_are_not_compared() -> None:
    with pytest.raises(UserError, match="signature"):
        table([*ROWS, value(("raw", "odd", "beam5"), "bleu", 1.0, signature="bleu|v2")])


def test_a_value_that_stands_twice_is_refused() -> None:
    with pytest.raises(UserError, match="bleu of base stands twice"):
        table([*ROWS, value(BASE, "bleu", 30.0)])


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(UserError, match="nothing was measured"):
        systems_table(pd.DataFrame(ROWS, columns=COLUMNS), "toy", "train", BASE)


FRAME = pd.DataFrame({"system": ["a|b_c", "d"], "BLEU & co": ["1.5 ± 0.1†", "–"], "up": ["×2", ""]})


def test_markdown() -> None:
    assert to_markdown(FRAME, "A caption.").splitlines() == [
        "A caption.",
        "",
        "| system | BLEU & co | up |",
        "| --- | ---: | ---: |",
        r"| a\|b_c | 1.5 ± 0.1† | ×2 |",
        "| d | – |  |",
    ]


def test_latex() -> None:
    assert to_latex(FRAME, r"50% of \this|that", "tab:x").splitlines() == [
        r"\begin{table}",
        r"  \centering",
        r"  \caption{50\% of \textbackslash{}this\textbar{}that}",
        r"  \label{tab:x}",
        r"  \begin{tabular}{lrr}",
        r"    \toprule",
        r"    system & BLEU \& co & up \\",
        r"    \midrule",
        r"    a\textbar{}b\_c & 1.5 $\pm$ 0.1$^\dagger$ & $\times$2 \\",
        r"    d & -- &  \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
