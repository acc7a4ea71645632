"""What is trained, on what, and how it is validated."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sacrebleu
import torch
from fairseq import checkpoint_utils

from fastdecode.decode import load_system
from fastdecode.families.bidirectional.folding import Order
from fastdecode.files import read_lines
from fastdecode.system import System
from fastdecode.train.job import Job
from fastdecode.train.run import train
from tests.families.bidirectional.conftest import ORDERS
from tests.train.trainings import appears, assert_same, kill_and_resume

PAD, EOS = 1, 2

SETTINGS: dict[str, Any] = {"max_epochs": 20, "lr": 1e-2}


@pytest.fixture(scope="module")
def trained_folded(
    folded_job: Callable[..., Job], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a training of this family."""
    out = tmp_path_factory.mktemp("folded")
    train(folded_job(**SETTINGS), out, {"system": "bidirectional"})
    return out


@pytest.fixture
def loaded(trained_folded: Path, binarised: Path) -> tuple[Any, Any, Any]:
    """The trained model, its task with the validation set, and its criterion."""
    (model,), config, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(trained_folded / "checkpoint.pt")], arg_overrides={"data": str(binarised)}
    )
    task.load_dataset("valid")
    return model.eval(), task, task.build_criterion(config.criterion)


def batch_of(task: Any, numbers: list[int]) -> dict[str, Any]:
    data = task.dataset("valid")
    sample: dict[str, Any] = data.collater([data[i] for i in numbers])
    return sample


@pytest.mark.parametrize("order", ORDERS)
def test_the_command_says_what_is_trained(folded_job: Callable[..., Job], order: Order) -> None:
    words = folded_job(order, "bos-bos", max_epochs=1).arguments()
    for option, value in {
        "--arch": "fastdecode_folded",
        "--fold": order,
        "--start": "bos-bos",
        "--task": "fastdecode",
        "--family": "bidirectional",
        "--criterion": "fastdecode_folded",
        "--label-smoothing": "0.1",
        "--eval-bleu-args": '{"beam": 1}',
    }.items():
        assert words[words.index(option) + 1] == value


@pytest.mark.parametrize("positions", ["learned", "sine"])
def test_positions_of_the_decoder_alone_are_learned(
    folded_job: Callable[..., Job], positions: str
) -> None:
    words = folded_job("r2l", positions=positions, max_epochs=1).arguments()
    assert ("--decoder-learned-pos" in words) == (positions == "learned")
    assert "--encoder-learned-pos" not in words


def test_a_training_learns_and_is_validated(
    trained_folded: Path, binarised: Path, loaded: tuple[Any, Any, Any]
) -> None:
    with (trained_folded / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    for column in ("valid_loss", "valid_nll_loss", "train_loss"):
        assert float(rows[-1][column]) < float(rows[0][column])
    assert float(rows[-1]["valid_bleu"]) > 0
    model, _, _ = loaded
    assert (model.fold.order, model.fold.start) == ("bidirectional", "bos-eos")
    assert type(model.decoder.embed_positions).__name__ == "LearnedPositionalEmbedding"
    system = load_system([trained_folded / "checkpoint.pt"], binarised, "cpu")
    (translation,) = system.decoder("bidirectional", {}, " ".join)([["one", "two", "three"]])
    assert translation.tokens


def test_a_killed_training_ends_like_an_undisturbed_one(
    folded_job: Callable[..., Job], trained_folded: Path, tmp_path: Path
) -> None:
    kill_and_resume(folded_job(**SETTINGS), tmp_path, appears("checkpoint9.pt"))
    assert_same(tmp_path, trained_folded)


def test_the_loss_is_that_of_the_folded_sentences(loaded: tuple[Any, Any, Any]) -> None:
    """A batch's loss is the sum over its sentences, each computed alone by the definition."""
    model, task, criterion = loaded
    sample = batch_of(task, list(range(12)))
    with torch.inference_mode():
        loss, size, log = criterion(model, sample)
    nll, smoothed, tokens = 0.0, 0.0, 0
    for number in range(12):
        item = task.dataset("valid")[number]
        source, words = item["source"][None], item["target"].tolist()[:-1]
        n = len(words)
        written: list[int] = []
        while words:
            written.append(words.pop(0))
            written += [words.pop()] if words else []
        written += [EOS] * (1 if n % 2 else 2)
        seen = torch.tensor([[0, EOS, *written[:-2]]])
        with torch.inference_mode():
            chances = model(source, torch.tensor([source.shape[1]]), seen)[0][0].log_softmax(-1)
        nll -= float(chances[range(len(written)), written].sum())
        smoothed -= float(chances.sum())
        tokens += len(written)
    share = 0.1 / (len(task.tgt_dict) - 1)
    assert (size, log["ntokens"]) == (tokens, tokens)  # EODs are tokens
    assert float(log["nll_loss"]) == pytest.approx(nll, rel=1e-5)
    assert float(loss) == pytest.approx((0.9 - share) * nll + share * smoothed, rel=1e-5)


def test_validation_bleu_is_that_of_our_decoder(
    loaded: tuple[Any, Any, Any], binarised: Path
) -> None:
    model, task, criterion = loaded
    batch = batch_of(task, list(range(12)))
    _, _, log = task.valid_step(batch, model, criterion)
    decode = System([model], task.src_dict, task.tgt_dict).decoder(
        "bidirectional", {"beam": 1}, " ".join
    )
    numbers = batch["id"].tolist()
    english, german = (
        list(read_lines(binarised.with_name(f"valid.{side}"))) for side in ("en", "de")
    )
    texts = [t.text for t in decode([english[i].split() for i in numbers])]
    bleu = sacrebleu.corpus_bleu(texts, [[german[i] for i in numbers]], tokenize="none")
    assert log["_bleu_sys_len"] == bleu.sys_len > 0
    assert log["_bleu_ref_len"] == bleu.ref_len
    assert [log[f"_bleu_counts_{n}"] for n in range(4)] == bleu.counts
    assert bleu.counts[0] > 0
