from fastdecode.report.agreement import agreement_table


def test_it_counts_and_gives_the_largest_gap() -> None:
    model = {"target": "raw", "system": "big", "seed": 1, "twin": "greedy"}
    rows = [
        {**model, "decoder": "fast", "lines": 8, "identical": 8, "largest_gap": None},
        {**model, "decoder": "int8", "lines": 8, "identical": 6, "largest_gap": 0.0123},
        {**model, "decoder": "other", "lines": 8, "identical": 7, "largest_gap": None},
    ]
    table = agreement_table(rows, "toy", "test")
    assert table.frame["identical"].tolist() == ["100.00%", "75.00%", "87.50%"]
    assert table.frame["differing"].tolist() == ["0", "2", "1"]
    assert table.frame["largest gap"].tolist() == ["–", "1.2e-02", "unknown"]
    assert table.caption.startswith("toy, test: lines")
