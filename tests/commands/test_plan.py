"""`fastdecode plan`: which machine it counts with, and in which folder."""

import argparse
from pathlib import Path

import pytest

from fastdecode.commands.plan import _measured, _stated, add_arguments, run
from fastdecode.commands.selection import DEFINITIONS
from fastdecode.config.definitions import Definitions
from fastdecode.errors import UserError

DEVICES = Definitions([DEFINITIONS]).devices


def test_a_stated_device_is_a_row() -> None:
    a100, h100 = (_stated(name, "cuda", DEVICES) for name in ("a100", "h100"))
    assert a100 and h100
    assert a100.name == "a100"
    assert a100.throughput < h100.throughput


def test_a_folder_that_is_not_there() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    two = ["config/runs/toy-dag.yaml", "config/runs/toy.yaml"]
    arguments = parser.parse_args(["--folder", "/no/such", "--configfile", *two])
    assert [str(file) for file in arguments.configfile] == two
    arguments.configfile = []
    with pytest.raises(UserError, match="--folder: /no/such is no folder"):
        run(arguments)


def test_an_unknown_device() -> None:
    with pytest.raises(UserError, match=r'--device: there is no "h10".*h100'):
        _stated("h10", "cuda", DEVICES)


def test_a_run_for_a_gpu_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UserError, match=r"there is none here: say which with --device"):
        _stated(None, "cuda", DEVICES)


def test_this_machine_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"1": 25.0}
    monkeypatch.setattr(
        "fastdecode.measure.machine.measure_machine",
        lambda device, threads: {"throughput": {"fp32": found}},
    )
    assert _stated(None, "cpu", DEVICES) is None
    monkeypatch.setattr("os.getloadavg", lambda: (0.4, 9.0, 9.0))
    machine = _measured("cpu", DEVICES)
    assert machine.throughput == 25e9
    assert "25 GFLOP/s" in machine.name
    assert not capsys.readouterr().err
    monkeypatch.setattr("os.getloadavg", lambda: (1.9, 0.0, 0.0))
    _measured("cpu", DEVICES)
    assert "other programs keep 1.9 of the" in capsys.readouterr().err


def test_a_run_on_cores_is_not_counted_for_a_gpu_nor_the_other_way() -> None:
    with pytest.raises(
        UserError, match="is a GPU, and the run's device is cpu: add --config device=cuda"
    ):
        _stated("h100", "cpu", DEVICES)
    with pytest.raises(UserError, match="cpu is a core, and the run's device is cuda"):
        _stated("cpu", "cuda", DEVICES)
    stated = _stated("cpu", "cpu", DEVICES)
    assert stated and stated.device.kind == "cpu"


def test_faults_are_said_before_this_machine_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fault(*_: object) -> None:
        raise UserError("a fault of a rule")

    monkeypatch.setattr("fastdecode.plan.jobs.list_jobs", fault)
    monkeypatch.setattr("fastdecode.measure.machine.measure_machine", lambda *_: pytest.fail())
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    with pytest.raises(UserError, match="a fault of a rule"):
        run(parser.parse_args([]))


def test_settings_count_over_the_files_as_behind_snakemakes_config(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[object] = []

    def fault(*arguments: object) -> None:
        asked.append(arguments[-1])
        raise UserError("that will do")

    monkeypatch.setattr("fastdecode.plan.jobs.list_jobs", fault)
    monkeypatch.chdir(tmp_path)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    with pytest.raises(UserError, match="that will do"):
        run(parser.parse_args(["--config", "seeds=[2]", "latency={lines: 3}", "device=cpu"]))
    assert asked == [{"seeds": ["2"], "latency": {"lines": "3"}, "device": "cpu"}]  # as it has them
    with pytest.raises(UserError, match="seeds"):
        run(parser.parse_args(["--config", "seeds=[]"]))  # it is read, too
    for wrong in ("seeds", "=1"):
        with pytest.raises(UserError, match=f"^--config {wrong}: give each as KEY=VALUE"):
            run(parser.parse_args(["--config", wrong]))
