from fastdecode.report.captions import captions


def test_pictures_by_their_names() -> None:
    """Quality against speed is a chart on a page, and a paper's figures stand with the paper."""
    names = ["learning_curves.svg", "stages.toy.test.reference.threads1.svg", "dag.figure1.svg"]
    assert captions([*names, "pareto.toy.test.reference.S1.svg"]) == {
        "learning_curves.svg": "Learning curves",
        "stages.toy.test.reference.threads1.svg": (
            "Where the time goes: toy.test.reference.threads1"
        ),
    }
