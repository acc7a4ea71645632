import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import sacrebleu

from fastdecode.files import read_json, write_lines
from fastdecode.provenance import (
    PACKAGES,
    circumstances,
    commit,
    cores,
    describe,
    describe_cpu,
    gpu_driver,
    of_cores,
    processor,
    provenance,
    short,
)

SCRIPTS = Path(__file__).parents[1] / "workflow/scripts"


class Outputs(NamedTuple):
    """What a rule writes: as Snakemake, by place and by name."""

    json: Path
    md: Path


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def repository(folder: Path, file: str = "code.py") -> str:
    git(folder, "init", "-q")
    (folder / file).write_text("1\n")
    git(folder, "add", file)
    git(folder, "commit", "-q", "-m", "one")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package of one file, committed in a repository around it."""
    folder = tmp_path / "package"
    folder.mkdir()
    repository(tmp_path, "package/code.py")
    return folder


def test_commit_of_a_package(package: Path) -> None:
    head = git(package, "rev-parse", "HEAD")
    git(package, "tag", "-a", "v1", "-m", "v1")
    assert commit(package) == head and short(head) == head[:12]
    (package.parent / "README.md").write_text("no code")
    git(package, "add", "../README.md")
    assert commit(package) == head


def test_every_state_of_changed_code_is_told_apart(package: Path) -> None:
    head = commit(package)
    code, new = package / "code.py", package / "nëw\n.py"
    seen = [head]
    for change in (
        lambda: code.write_text("2\n"),
        lambda: code.write_text("3\n"),
        lambda: new.write_text("4\n"),
        lambda: new.write_text("5\n"),
        lambda: new.rename(package / "other.py"),
        code.unlink,
    ):
        change()
        seen.append(commit(package))
        assert re.fullmatch(f"{head}-dirty-[0-9a-f]{{8}}", seen[-1])
    assert len(set(seen)) == len(seen)
    assert short(seen[-1]) == head[:12] + seen[-1][len(head) :]
    (package / "other.py").unlink()
    git(package, "checkout", "code.py")
    assert commit(package) == head


def test_the_state_of_code_is_its_text_not_what_git_knows_of_it(package: Path) -> None:
    new = package / "new.py"
    new.write_text("2\n")
    untracked = commit(package)
    git(package, "add", "new.py")
    assert commit(package) == untracked
    new.touch()
    assert commit(package) == untracked


@pytest.mark.parametrize("new", ["families/mine/rows.py", "../workflow/mine.smk", "../Snakefile"])
def test_code_that_is_not_tracked_is_of_no_commit(package: Path, new: str) -> None:
    head = commit(package)
    file = package / new
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    assert commit(package).startswith(f"{head}-dirty-")


def test_a_repository_around_an_installed_package_is_not_its_own(tmp_path: Path) -> None:
    repository(tmp_path)
    package = tmp_path / ".venv" / "fastdecode"
    package.mkdir(parents=True)
    assert commit(package) == "unknown"


def test_no_repository_no_commit(tmp_path: Path) -> None:
    assert commit(tmp_path) == "unknown"
    git(tmp_path, "init", "-q")
    assert commit(tmp_path) == "unknown"


def test_what_a_result_carries() -> None:
    origin = provenance("toy", "base", "beam5", 1, device="cuda: H200", target="raw", split="test")
    assert {key: origin[key] for key in ("dataset", "system", "decoder", "seed", "device")} == {
        "dataset": "toy",
        "system": "base",
        "decoder": "beam5",
        "seed": 1,
        "device": "cuda: H200",
    }
    assert (origin["target"], origin["split"]) == ("raw", "test")
    assert tuple(origin["packages"]) == PACKAGES
    assert origin["packages"]["sacrebleu"] == sacrebleu.__version__
    assert origin["commit"]
    json.dumps(origin, allow_nan=False)


def test_nothing_in_it_passes() -> None:
    first, second = (provenance("toy", "base", device="cpu") for _ in range(2))
    assert first == second
    assert first["device"] == describe_cpu()
    assert not circumstances().keys() & first.keys()
    assert len(circumstances()["load_average"]) == 3


def test_the_processor_has_a_name(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Fast: 9000\n\nmodel name\t: Other\n")
    assert describe_cpu(cpuinfo).startswith("cpu: Fast: 9000, ")
    assert describe_cpu(tmp_path / "none").endswith(f", {of_cores(cores())}")


@pytest.mark.parametrize("device", ["cpu: X, 1 core", "cpu: X, 1 cores", "cpu: X, 12 cores"])
def test_a_processor_is_one_however_many_cores_a_job_had(device: str) -> None:
    assert processor(device) == "cpu: X"


def test_one_core_is_no_cores() -> None:
    assert [of_cores(count) for count in (1, 2, 21)] == ["1 core", "2 cores", "21 cores"]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """What PyTorch says of a GPU that is none; this process has not started CUDA."""
    code = "class cuda:\n    is_available, get_device_name = (lambda: True), (lambda: 'Made X')\n"
    (tmp_path / "torch.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    cuda = SimpleNamespace(is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))  # type: ignore[misc]
    return cuda


def test_a_gpu_has_a_name(gpu: SimpleNamespace) -> None:
    assert provenance("toy", "base", seed=1, device="cuda")["device"] == "Made X"
    gpu.is_initialized, gpu.get_device_name = (lambda: True), (lambda: "Made Y")
    assert provenance("toy", "base", seed=1, device="cuda")["device"] == "Made Y"
    assert describe("Made Z") == "Made Z"


def test_without_a_gpu_its_name_is_not_known(gpu: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("class cuda:\n    is_available = lambda: False\n")
    assert describe("cuda") == "cuda"


@pytest.mark.parametrize("script", ["compare_twins", "measure_alignment"])
def test_what_the_processor_does_in_a_run_on_a_gpu_is_its(script: str, tmp_path: Path) -> None:
    for name in ("gold", "kept", "source", "target"):
        write_lines(tmp_path / name, [])
    json_file = tmp_path / "out.json"
    snakemake = SimpleNamespace(
        input=SimpleNamespace(
            **{name: tmp_path / name for name in ("gold", "kept", "source", "target")},
            **dict.fromkeys(("links", "translations", "twins"), ()),
        ),
        output=Outputs(json_file, tmp_path / "out.md"),
        params=SimpleNamespace(device="cuda"),
        wildcards=SimpleNamespace(dataset="toy", split="test"),
    )
    runpy.run_path(str(SCRIPTS / f"{script}.py"), {"snakemake": snakemake})
    assert read_json(json_file)["provenance"]["device"] == describe_cpu()


def test_versions_are_read_without_importing() -> None:
    code = (
        "import sys; from fastdecode.provenance import provenance; "
        "provenance('a', 'b', device='cpu'); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("script", "work"),
    [
        ("measure_latency", "time_decoders("),
        ("measure_memory", "measure_memory("),
        ("measure_statistic", "statistic(params"),
        ("translate_split", "decode_all("),
    ],
)
def test_the_commit_is_that_of_the_beginning(script: str, work: str) -> None:
    text = (SCRIPTS / f"{script}.py").read_text()
    assert text.count(work) == 1
    assert text.index("= provenance(") < text.index(work)


def test_the_driver_is_what_nvidia_smi_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_driver() is None
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\nprintf '570.86.15\\n570.86.15\\n'\n")
    program.chmod(0o755)
    assert gpu_driver() == "570.86.15"
    program.write_text("#!/bin/sh\nexit 9\n")
    assert gpu_driver() is None
