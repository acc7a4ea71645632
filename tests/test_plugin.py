import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import pytest
import torch

import fastdecode.plugin
from fastdecode.train.command import USER_DIR


class Unknown:
    """Something that no checkpoint of ours holds."""


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code with the package in sight only where the code brings it in."""
    command = [sys.executable, "-c", f"import sys\n{code}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_user_dir_brings_the_plug_in(tmp_path: Path) -> None:
    done = run(
        "from argparse import Namespace; from fairseq.utils import import_user_module\n"
        "assert 'fastdecode' not in sys.modules\n"
        f"import_user_module(Namespace(user_dir={str(USER_DIR)!r}))\n"
        "assert 'fastdecode.plugin' in sys.modules",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_without_fairseq_the_package_costs_nothing(tmp_path: Path) -> None:
    done = run(
        f"sys.path.insert(0, {str(USER_DIR.parent)!r}); import fastdecode\n"
        "assert not {'torch', 'numpy', 'fairseq', 'fastdecode.plugin'} & set(sys.modules)",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_what_fairseq_saves_is_loaded_weights_only(tmp_path: Path) -> None:
    assert fastdecode.plugin
    state = {
        "args": Namespace(arch="transformer", lr=[0.5]),
        "scalars": [np.float64(0.5), np.int64(3)],
        "arrays": [np.array([1, 2]), np.array([0.5])],
        "model": {"weight": torch.ones(2)},
    }
    torch.save(state, tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt", weights_only=True)
    assert loaded["args"] == state["args"]
    assert loaded["scalars"] == [0.5, 3]
    assert [array.tolist() for array in loaded["arrays"]] == [[1, 2], [0.5]]


def test_other_classes_stay_refused(tmp_path: Path) -> None:
    torch.save({"x": Unknown()}, tmp_path / "x.pt")
    with pytest.raises(UnpicklingError, match="Unknown"):
        torch.load(tmp_path / "x.pt")
