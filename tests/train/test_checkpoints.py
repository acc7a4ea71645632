import errno
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastdecode.errors import UserError, clear_errors
from fastdecode.files import read_json
from fastdecode.train import checkpoints
from fastdecode.train.checkpoints import (
    LAST,
    Candidates,
    average,
    epoch_files,
    is_whole,
    load,
    parameters,
    read_seen,
    repair,
    save,
    updates_of,
)
from tests.train.conftest import fairseq_state

Put = Callable[..., Path]
several = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def names(folder: Path, pattern: str = "*") -> list[str]:
    return sorted(file.name for file in folder.glob(pattern))


# Whole or damaged


def test_whole_checkpoints_are_told_from_others(put: Put, tmp_path: Path) -> None:
    path = put("x.pt", 3)
    assert is_whole(path)
    whole = path.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert not is_whole(path)
    assert not is_whole(tmp_path / "missing.pt")
    assert not is_whole(tmp_path)


@several
@given(st.data())
def test_a_flipped_byte_is_noticed_where_it_matters(put: Put, data: st.DataObject) -> None:
    path = put("x.pt", 3)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:  # the stored bytes of a record drawn at random
        record = data.draw(st.sampled_from([i for i in archive.infolist() if i.file_size]))
    sizes = [int.from_bytes(content[record.header_offset + at :][:2], "little") for at in (26, 28)]
    start = record.header_offset + 30 + sum(sizes)
    at = data.draw(st.integers(start, start + record.file_size - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    assert not is_whole(path)


@several
@given(at=st.integers(0, 10_000), value=st.integers(0, 255))
def test_no_byte_makes_it_stumble(put: Put, at: int, value: int) -> None:
    path = put("x.pt", 3)
    content = bytearray(path.read_bytes())
    content[at % len(content)] = value
    path.write_bytes(content)
    assert is_whole(path) in (True, False)


def test_loading_says_what_is_wrong(put: Put, tmp_path: Path) -> None:
    assert load(put("x.pt", 3))["cfg"]["model"].arch == "transformer"
    halve(tmp_path / "x.pt")
    with pytest.raises(UserError, match=r"x.pt: the checkpoint is truncated or damaged: delete"):
        load(tmp_path / "x.pt")
    with pytest.raises(UserError, match=r"y.pt: no such checkpoint"):
        load(tmp_path / "y.pt")


def test_equal_states_give_equal_bytes(put: Put) -> None:
    assert put("a.pt", 3).read_bytes() == put("another.pt", 3).read_bytes()
    assert put("a.pt", 3).read_bytes() != put("b.pt", 4).read_bytes()


def test_a_full_disk_leaves_nothing_and_is_said(small_disk: Path) -> None:
    with pytest.raises(SystemExit, match=r"the disk is full while writing .*x.pt"), clear_errors():
        save({"weight": torch.ones(100_000)}, small_disk / "x.pt")
    assert names(small_disk) == []


def test_a_full_disk_is_not_taken_for_a_fault_of_pytorch(tmp_path: Path) -> None:
    class Full:
        def __reduce__(self) -> Any:
            raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        save({"weight": Full()}, tmp_path / "x.pt")


# Going on after a kill


def test_numbered_checkpoints_are_in_the_order_of_training(put: Put, tmp_path: Path) -> None:
    order = ["checkpoint_1_8.pt", "checkpoint_1_16.pt", "checkpoint1.pt", "checkpoint_2_24.pt"]
    order += ["checkpoint2.pt", "checkpoint9.pt", "checkpoint_10_90.pt", "checkpoint10.pt"]
    for name in [*order[::-1], LAST, "checkpoint_best.pt", "checkpoint1.pt.tmp", "other.pt"]:
        put(name, 1)
    assert [file.name for file in epoch_files(tmp_path)] == order


def test_a_whole_last_checkpoint_stays(put: Put, tmp_path: Path) -> None:
    for name, updates in ((LAST, 3), ("checkpoint1.pt", 1), ("checkpoint2.pt", 2)):
        put(name, updates)
    before = (tmp_path / LAST).read_bytes()
    (tmp_path / "candidates").mkdir()
    written = [".seen.json.77.part", ".averaged.pt.77.part", "candidates/.00000010.pt.77.part"]
    for name in ("checkpoint_best.pt", "checkpoint3.pt.tmp", *written):
        (tmp_path / name).write_bytes(b"half")
    repair(tmp_path, "x")
    assert (tmp_path / LAST).read_bytes() == before
    assert names(tmp_path) == ["candidates", "checkpoint1.pt", "checkpoint2.pt", LAST]
    assert names(tmp_path / "candidates") == []


def test_half_of_a_last_checkpoint_is_replaced_by_the_newest_whole_one(
    put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for epoch in (1, 2, 3):
        put(f"checkpoint{epoch}.pt", 10 * epoch)
    halve(put(LAST, 40))
    halve(tmp_path / "checkpoint3.pt")
    repair(tmp_path, "x")
    assert updates_of(load(tmp_path / LAST)) == 20
    assert names(tmp_path) == ["checkpoint1.pt", "checkpoint2.pt", LAST]
    assert (
        "[x] checkpoint_last.pt is damaged: going on from checkpoint2.pt" in capsys.readouterr().err
    )


@pytest.mark.parametrize("left", ["nothing", "half"])
def test_a_missing_last_checkpoint_is_the_newest_whole_one(
    put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str], left: str
) -> None:
    """As after a kill before fairseq's first copy, or in `repair` itself."""
    for epoch in (1, 2):
        put(f"checkpoint{epoch}.pt", 10 * epoch)
    if left == "half":
        (tmp_path / f".{LAST}.77.part").write_bytes(b"half")
    repair(tmp_path, "x")
    assert updates_of(load(tmp_path / LAST)) == 20
    assert names(tmp_path) == ["checkpoint1.pt", "checkpoint2.pt", LAST]
    assert (
        "[x] checkpoint_last.pt is missing: going on from checkpoint2.pt" in capsys.readouterr().err
    )


def test_a_kill_while_it_repairs_leaves_one_of_the_two(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    put("checkpoint1.pt", 10)
    halve(put(LAST, 40))
    monkeypatch.setattr("shutil.copyfile", killed)
    with pytest.raises(KeyboardInterrupt):
        repair(tmp_path, "x")
    assert names(tmp_path) == ["checkpoint1.pt", LAST]


def test_half_of_the_only_checkpoint_means_starting_anew(
    put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    halve(put(LAST, 40))
    repair(tmp_path, "x")
    assert names(tmp_path) == []
    assert "going on from the start" in capsys.readouterr().err
    repair(tmp_path, "x")  # nothing there: nothing to do
    assert names(tmp_path) == []


# Candidates


def scores(put: Put, tmp_path: Path, select: Any, values: list[float], count: int = 2) -> list[int]:
    """Collect epochs with these validation scores, as they come; return the chosen ones."""
    candidates = Candidates(tmp_path, select, count)
    for epoch, valid in enumerate(values, 1):
        put(f"checkpoint{epoch}.pt", 10 * epoch, valid)
        candidates.collect()
        assert candidates.chosen() == Candidates(tmp_path, select, count).chosen()
    return candidates.chosen()


@pytest.mark.parametrize(
    ("select", "values", "chosen"),
    [
        ("last", [9, 1, 5, 2], [30, 40]),
        ("bleu", [9, 1, 5, 2], [10, 30]),
        ("loss", [9, 1, 5, 2], [20, 40]),
        ("bleu", [5, 7, 7, 7], [20, 30]),  # of equal ones the earlier
        ("loss", [7, 5, 5, 5], [20, 30]),
        ("bleu", [7, 7, 7, 7], [10, 20]),
        ("last", [7], [10]),
    ],
)
def test_the_best_are_kept(
    put: Put, tmp_path: Path, select: str, values: list[float], chosen: list[int]
) -> None:
    assert scores(put, tmp_path, select, values) == chosen
    candidates = Candidates(tmp_path, select, 2)  # type: ignore[arg-type]
    assert [path.name for path in candidates.paths()] == [f"{u:08d}.pt" for u in chosen]
    assert names(tmp_path / "candidates") == [f"{u:08d}.pt" for u in chosen]
    assert (
        names(tmp_path, "checkpoint*") == [f"checkpoint{i + 1}.pt" for i in range(len(values))][-2:]
    )


@several
@given(
    select=st.sampled_from(["last", "bleu", "loss"]),
    values=st.lists(st.integers(0, 3), min_size=1, max_size=5),
    count=st.integers(1, 4),
    batch=st.integers(1, 3),
)
def test_when_they_are_collected_does_not_matter(
    put: Put,
    tmp_path_factory: pytest.TempPathFactory,
    select: Any,
    values: list[int],
    count: int,
    batch: int,
) -> None:
    work = tmp_path_factory.mktemp("work")
    for epoch, valid in enumerate(values, 1):
        save(fairseq_state(10 * epoch, float(valid)), work / f"checkpoint{epoch}.pt")
        if epoch % batch == 0:
            Candidates(work, select, count).collect()
    candidates = Candidates(work, select, count)
    candidates.collect()
    candidates.collect()
    sign = {"last": 0, "bleu": -1, "loss": 1}[select]
    order = sorted(
        range(len(values)), key=lambda i: (sign * values[i], -i if select == "last" else i)
    )
    assert candidates.chosen() == sorted(10 * (i + 1) for i in order[:count])
    assert [updates_of(load(path)) for path in candidates.paths()] == candidates.chosen()


def test_the_newest_is_taken_once(put: Put, tmp_path: Path) -> None:
    put("checkpoint1.pt", 10)
    candidates = Candidates(tmp_path, "last", 3)
    candidates.collect(newest=put(LAST, 10))
    assert candidates.chosen() == [10]
    candidates.collect(newest=put(LAST, 14))
    before = [path.stat().st_mtime_ns for path in candidates.paths()]
    candidates.collect(newest=tmp_path / LAST)
    assert candidates.chosen() == [10, 14]
    assert [path.stat().st_mtime_ns for path in candidates.paths()] == before
    assert names(tmp_path, "checkpoint*") == ["checkpoint1.pt", LAST]


def test_a_numbered_checkpoint_is_read_once(
    put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def remember(path: Path) -> Any:
        read.append(path.name)
        return load(path)

    monkeypatch.setattr(checkpoints, "load", remember)
    candidates = Candidates(tmp_path, "last", 3)
    for epoch in (1, 2, 3):
        put(f"checkpoint{epoch}.pt", 10 * epoch)
        candidates.collect()
    assert read == ["checkpoint1.pt", "checkpoint2.pt", "checkpoint3.pt"]
    candidates.collect(newest=put(LAST, 30))
    candidates.collect(newest=put(LAST, 34))  # written anew
    assert read[3:] == [LAST, LAST]
    assert candidates.chosen() == [20, 30, 34]


def test_what_is_kept_and_remembered(put: Put, tmp_path: Path) -> None:
    put("checkpoint1.pt", 10, 2.5)
    candidates = Candidates(tmp_path, "bleu", 1)
    candidates.collect()
    kept = load(candidates.paths()[0])
    assert kept.keys() == {"args", "cfg", "model", "optimizer_history", "extra_state"}
    assert [step["num_updates"] for step in kept["optimizer_history"]] == [10]
    assert kept["extra_state"].keys() == {"train_iterator"}
    statistics = {
        "valid": 2.5,
        "seconds": 15.0,
        "train_loss": 30.0,
        "tokens_per_second": 50.0,
        "lr": 0.25,
        "train_infeasible": 3.0,
    }
    assert read_seen(tmp_path) == candidates.seen == {10: statistics}
    assert read_json(tmp_path / "seen.json") == {"10": statistics}


def test_how_often_a_training_was_resumed_leaves_no_trace(put: Put, tmp_path: Path) -> None:
    kept = []
    for history in ([], [{"num_updates": 5, "lr_scheduler_state": {"best": 1}}]):
        state = fairseq_state(10)
        last = {**state["optimizer_history"][-1], "lr_scheduler_state": {"best": len(history)}}
        save({**state, "optimizer_history": [*history, last]}, tmp_path / "checkpoint1.pt")
        (tmp_path / "seen.json").unlink(missing_ok=True)
        candidates = Candidates(tmp_path, "last", 1)
        candidates.collect()
        kept.append(candidates.paths()[0].read_bytes())
    assert kept[0] == kept[1]


def test_a_candidate_of_which_nothing_is_known_is_not_chosen(put: Put, tmp_path: Path) -> None:
    put("checkpoint1.pt", 10)
    Candidates(tmp_path, "last", 2).collect()
    save(fairseq_state(20), tmp_path / "candidates" / "00000020.pt")  # killed before seen.json
    assert Candidates(tmp_path, "last", 2).chosen() == [10]
    put("checkpoint2.pt", 20)
    candidates = Candidates(tmp_path, "last", 2)
    candidates.collect()
    assert candidates.chosen() == [10, 20]


@pytest.mark.parametrize(
    ("select", "values", "taken"),
    [
        ("bleu", [3, 5, 4, 5, 9, 9], 4),  # an equal score is no better one
        ("loss", [3, 2, 4, 1, 1, 2, 0], 6),
        ("last", [3, 5, 4, 5, 9, 9], 4),  # counts BLEU too
        ("bleu", [1, 2, 3, 4, 4, 5], 6),
        ("loss", [1, 1, 1, 1], 3),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_nothing_is_taken_once_patience_is_out(
    put: Put, tmp_path: Path, select: Any, values: list[float], taken: int, at_once: bool
) -> None:
    candidates = Candidates(tmp_path, select, 1, patience=2)
    assert not candidates.out_of_patience
    for epoch, valid in enumerate(values, 1):
        put(f"checkpoint{epoch}.pt", 10 * epoch, valid)
        if not at_once:
            candidates = Candidates(tmp_path, select, 1, patience=2)
            candidates.collect()
            assert candidates.out_of_patience == (epoch >= taken < len(values) or epoch > taken)
    candidates.collect(newest=put(LAST, 999, 99))
    assert list(candidates.seen)[-1] == 10 * taken or not candidates.out_of_patience
    assert not Candidates(tmp_path, select, 1, patience=None).out_of_patience


# Averages


@several
@given(
    st.lists(
        st.lists(st.floats(-1e6, 1e6, width=32), min_size=6, max_size=6), min_size=1, max_size=4
    )
)
def test_an_average_is_the_mean(tmp_path: Path, values: list[list[float]]) -> None:
    paths = []
    for number, weights in enumerate(values):
        state = fairseq_state(number)
        state["model"]["encoder.weight"][:] = torch.tensor(weights).view(2, 3)
        paths.append(tmp_path / f"{number}.pt")
        save(state, paths[-1])
    mean = average(paths)["model"]["encoder.weight"]
    assert mean.dtype == torch.float32
    for column, found in zip(zip(*values, strict=True), mean.flatten().tolist(), strict=True):
        exact = sum(map(Fraction, column)) / len(values)
        assert torch.tensor(float(exact), dtype=torch.float32).item() == pytest.approx(
            found, rel=2e-7
        )


def test_the_sum_is_in_double_precision(put: Put) -> None:
    paths = [
        put(f"{i}.pt", i, weight=w) for i, w in enumerate([2.0**25, 1.0, 1.0, 1.0, -(2.0**25)])
    ]
    assert average(paths)["model"]["bias"].tolist() == [pytest.approx(0.6)] * 2


def test_an_average_is_its_first_checkpoint_but_for_weights_and_paths(put: Put) -> None:
    first = put("1.pt", 10, weight=1.0)
    mean = average([first, put("2.pt", 20, weight=2.0)])
    assert mean["model"]["bias"].tolist() == [1.5, 1.5]
    assert mean["optimizer_history"] == load(first)["optimizer_history"]
    assert "/a/path" not in repr({**mean["cfg"], "model": vars(mean["cfg"]["model"])})
    assert mean["cfg"]["task"] == {"data": "", "source_lang": "en"}
    assert mean["cfg"]["model"].arch == "transformer"


@pytest.mark.parametrize("copied", [False, True])
def test_tied_weights_are_one_in_the_file(put: Put, tmp_path: Path, copied: bool) -> None:
    paths = [put("1.pt", 10, weight=1.0), put("2.pt", 20, weight=2.0)]
    if copied:  # as trained on a GPU
        for path in paths:
            state = load(path)
            weights = {name: weight.clone() for name, weight in state["model"].items()}
            save({**state, "model": weights}, path)
            assert load(path)["model"]["encoder.weight"].data_ptr() != (
                load(path)["model"]["decoder.weight"].data_ptr()
            )
    mean = average(paths)
    save(mean, tmp_path / "mean.pt")
    assert parameters(load(paths[0])["model"]) == 6 + 2  # before averaging, too
    weights = load(tmp_path / "mean.pt")["model"]
    assert weights["encoder.weight"].data_ptr() == weights["decoder.weight"].data_ptr()
    assert weights["decoder.weight"].tolist() == [[1.5] * 3] * 2
    assert list(weights) == list(load(paths[0])["model"])
    assert parameters(weights) == 6 + 2
    markers = {f"decoder.{name}": torch.ones(1) for name in ("version", "embed._float_tensor")}
    assert parameters(weights | markers) == 6 + 2


def test_equal_weights_that_are_not_tied_are_counted_each(put: Put) -> None:
    state = load(put("1.pt", 10))
    state["model"]["other.bias"] = torch.full((2,), 1.0)  # as biases that start at 0
    save(state, put("2.pt", 10))
    assert parameters(average([put("2.pt", 1)])["model"]) == 6 + 2
    save(state, path := put("3.pt", 10))
    assert parameters(average([path])["model"]) == 6 + 2 + 2
