from fastdecode.config.papers import Artifact
from fastdecode.report.artifacts.caption import captioned

ARTIFACT = Artifact(title="speeds", kind="table", function="artifacts.rows")


def test_what_every_caption_says_stands_around_what_is_said_of_ours() -> None:
    artifact = ARTIFACT.model_copy(update={"setting": "WMT14", "notes": ("a doubt",)})
    assert captioned("x.table1", artifact, ["Ours: toy."]) == [
        "x.table1: speeds.",
        "Published: WMT14.",
        "Ours: toy.",
        "Note: a doubt.",
    ]
    assert captioned("x.table1", artifact, ["Ours: toy."], run=False)[2:] == [
        "Nothing of it was run here.",
        "Note: a doubt.",
    ]


def test_nothing_is_said_of_a_setting_that_is_not_known() -> None:
    assert captioned("x.table1", ARTIFACT, []) == ["x.table1: speeds."]
