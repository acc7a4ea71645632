import pandas as pd

from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.evidence import Evidence, Part
from fastdecode.report.artifacts.settings import cells, printed

ARTIFACT = Artifact(
    title="settings",
    kind="table",
    function="artifacts.settings",
    labels={"data": "data"},
    published={"lr": "learning rate", "steps": "updates"},
    measured={"lr": "lr", "steps": "max_updates"},
    rows={"wmt": {"data": "WMT14", "lr": 7.0e-4, "steps": 240000}},
)


def test_our_settings_stand_below_the_published() -> None:
    ours = {"raw/lattice": {"lr": 5.0e-3, "max_updates": None, "dropout": 0.1}}
    parts = {"toy": Part("test", "test", {}, settings=ours)}
    table = printed("x.table8", ARTIFACT, cells(Evidence(ARTIFACT, pd.DataFrame(), parts)))
    assert table.frame.to_dict("records") == [
        {"whose": "published", "data": "WMT14", "learning rate": "0.0007", "updates": "240000"},
        {"whose": "ours: toy/raw/lattice", "data": "", "learning rate": "0.005", "updates": ""},
    ]
    assert table.caption.startswith("x.table8: settings.")
