import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.parameters import cells, printed

ARTIFACT = Artifact(
    title="settings",
    kind="table",
    function="artifacts.parameters",
    setting="two corpora",
    labels={"item": "item"},
    published={"one": "autoregressive", "two": "Mask-Predict"},
    measured={"one": "distilled/base", "two": "raw/absent"},
    rows={
        "layers": {"item": "layers", "one": 6, "two": 6, "ours": "decoder_layers"},
        "norm": {"item": "normalised before", "one": True, "ours": "prenorm"},
        "mood": {"item": "mood", "two": "good"},
    },
)


def test_our_value_stands_beside_the_published() -> None:
    settings = {"big/base": {"decoder_layers": 2, "prenorm": False}}
    part = Part("test", "test", {}, settings=settings)
    table = printed("x", ARTIFACT, cells(Evidence(ARTIFACT, pd.DataFrame(), {"toy": part})))
    assert table.frame.to_dict("list") == {
        "item": ["layers", "normalised before", "mood"],
        "published autoregressive": ["6", "True", ""],
        "published Mask-Predict": ["6", "", "good"],
        "toy big/base": ["2", "False", ""],
    }
    assert table.caption.startswith("x: settings. Published: two corpora.")


def test_the_first_of_several_systems_that_the_run_has() -> None:
    measured = {"one": "distilled/absent or raw/second or raw/base"}
    artifact = ARTIFACT.model_copy(update={"measured": measured})
    settings = {name: {"decoder_layers": n} for n, name in enumerate(("raw/base", "raw/second"))}
    part = Part("test", "test", {}, settings=settings)
    frame = printed("x", artifact, cells(Evidence(artifact, pd.DataFrame(), {"toy": part}))).frame
    assert frame["toy raw/second"].tolist() == ["1", "", ""]
    assert "toy raw/base" not in frame


def test_a_row_may_be_about_some_columns_alone_and_about_one_of_several_values() -> None:
    rows = {
        "base": {"item": "width", "ours": {"one": "width"}},
        "big": {"item": "width", "ours": {"more": "width"}},
        "second": {"item": "second rate", "ours": "rates.1"},
        "missing": {"item": "third rate", "ours": "others.2"},
        "all": {"item": "rates", "ours": "rates"},
        "tuned": {"item": "beams", "ours": ["narrow/beam", "wide/beam", "widest/beam"]},
    }
    measured = {"one": "raw/base", "more": "raw/big"}
    artifact = ARTIFACT.model_copy(update={"rows": rows, "measured": measured})
    settings = {
        "raw/base": {"width": 64, "rates": (0.9, 0.98), "narrow/beam": 2, "wide/beam": 5},
        "raw/big": {"width": 96, "rates": [0.9, 0.99], "others": None, "wide/beam": 5},
    }
    part = Part("test", "test", {}, settings=settings)
    frame = printed("x", artifact, cells(Evidence(artifact, pd.DataFrame(), {"toy": part}))).frame
    assert frame["toy raw/base"].tolist() == ["64", "", "0.98", "", "0.9, 0.98", "2, 5"]
    assert frame["toy raw/big"].tolist() == ["", "96", "0.99", "", "0.9, 0.99", "5"]
