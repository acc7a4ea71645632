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
