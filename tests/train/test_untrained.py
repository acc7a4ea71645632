"""A model that is saved before its training begins."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fastdecode.decode import load_system
from fastdecode.train import checkpoints
from fastdecode.train.job import Job
from fastdecode.train.untrained import save_untrained


@pytest.mark.parametrize("family", ["autoregressive", "bidirectional"])
def test_it_loads_and_decodes(
    family: str, tiny_job: Callable[..., Job], binarised: Path, tmp_path: Path
) -> None:
    pairs = {"fold": "bidirectional", "start": "bos-eos", "positions": "learned"}
    options = pairs if family == "bidirectional" else {}
    job = replace(tiny_job(max_epochs=1), family=family, options=options)
    save_untrained(job, tmp_path, {"system": "tiny"})
    record = json.loads((tmp_path / "train.json").read_text())
    assert (record["trained"], record["updates"], record["family"]) == (False, 0, family)
    assert record["provenance"] == {"system": "tiny"}
    system = load_system([tmp_path / "checkpoint.pt"], binarised, "cpu")
    (model,) = system.models
    assert sum(weight.numel() for weight in model.parameters()) == record["parameters"]
    (translation,) = system.decoder(family, {"beam": 2}, " ".join)([["one", "two"]])
    assert translation.score is not None and translation.score < 0


def test_the_seed_decides_the_weights(tiny_job: Callable[..., Job], tmp_path: Path) -> None:
    saved = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        save_untrained(tiny_job(seed=seed, max_epochs=1), tmp_path / name, {})
        saved.append(tmp_path / name / "checkpoint.pt")
    assert saved[0].read_bytes() == saved[1].read_bytes()
    # the seed stands in the settings, too: the files would differ in any case
    one, other = (checkpoints.load(path)["model"] for path in saved[1:])
    name = "encoder.layers.0.fc1.weight"
    assert not torch.equal(one[name], other[name])
