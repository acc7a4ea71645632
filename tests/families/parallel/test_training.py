"""What is trained, on what, and how it is validated."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sacrebleu
import torch
from fairseq import checkpoint_utils, options
from fairseq.criterions.nat_loss import LabelSmoothedDualImitationCriterion
from fairseq.data import Dictionary
from fairseq.logging import metrics
from fairseq.models import ARCH_MODEL_REGISTRY

from fastdecode.decode import load_system
from fastdecode.families.parallel.rows import SEARCHES
from fastdecode.families.parallel.rows import System as Row
from fastdecode.families.parallel.task import ParallelConfig, ParallelTask
from fastdecode.families.parallel.training import RECIPES, VALIDATION
from fastdecode.files import read_lines
from fastdecode.framing import blank_slots, frame_sources
from fastdecode.system import System
from fastdecode.train.command import fairseq_train, launcher
from fastdecode.train.job import Job
from tests.families.parallel.conftest import untrained
from tests.largest import Largest
from tests.train.trainings import appears, assert_same, kill_and_resume

COPY = "--src-embedding-copy"

TrainedAs = Callable[[str], Path]


@pytest.fixture(scope="module")
def task(binarised: Path) -> ParallelTask:
    config = ParallelConfig(data=str(binarised), source_lang="en", target_lang="de")
    config.dataset_impl = None
    found = ParallelTask.setup_task(config)
    found.load_dataset("valid")
    return found


def batch_of(task: ParallelTask, numbers: list[int]) -> dict[str, Any]:
    data = task.dataset("valid")
    sample: dict[str, Any] = data.collater([data[i] for i in numbers])
    sample["prev_target"] = task.inject_noise(sample["target"])
    return sample


def test_the_command_says_what_is_trained(job_of: Callable[..., Job]) -> None:
    words = job_of("nat", max_epochs=1).arguments()
    for option, value in {
        "--arch": "nonautoregressive_transformer",
        "--task": "fastdecode_parallel",
        "--family": "parallel",
        "--noise": "full_mask",
        "--criterion": "nat_loss",
        "--label-smoothing": "0.1",
        "--eval-bleu-args": '{"length_beam": 1}',
    }.items():
        assert words[words.index(option) + 1] == value
    assert {"--src-embedding-copy", "--pred-length-offset", "--share-all-embeddings"} <= set(words)


def test_validation_of_ctc_never_holds_the_logits_of_a_batch() -> None:
    system = untrained("ctc")
    decode = system.decoder("parallel", VALIDATION["ctc"], " ".join)
    with Largest() as made:
        decode([["w1", "w2"]] * 400)  # with their frame 4 tokens each, and so 8 slots
    assert made.elements < 400 * 8 * len(system.target)


def built(job: Job, folder: Path) -> Any:
    """The model that a job's command builds, of vocabularies of four tokens and of five."""
    launch = launcher(1)
    words = fairseq_train(launch, job.arguments(), job.data, "de", "en", folder)[len(launch) :]
    args = options.parse_args_and_arch(options.get_training_parser(), words)
    sides = {f"{side}_dictionary": Dictionary() for side in ("source", "target")}
    if not job.joint:
        sides["target_dictionary"].add_symbol("word")
    return ARCH_MODEL_REGISTRY[args.arch].build_model(args, SimpleNamespace(**sides))


@pytest.mark.filterwarnings("ignore::UserWarning")  # hydra's, of old fairseq
@pytest.mark.parametrize("kind", sorted(RECIPES))
def test_vocabularies_of_both_languages_may_be_apart(
    job_of: Callable[..., Job], kind: str, tmp_path: Path
) -> None:
    model = built(replace(job_of(kind, max_epochs=1), joint=False), tmp_path)
    sizes = [len(side.embed_tokens.weight) for side in (model.encoder, model.decoder)]
    assert sizes == [4, 5]


@pytest.mark.filterwarnings("ignore::UserWarning")  # hydra's, of old fairseq
@pytest.mark.parametrize("kind", ["nat", "cmlm", "glat", "ctc", "ctc-glat"])
@pytest.mark.parametrize(("width", "small"), [(128, False), (512, True)])
def test_wide_models_begin_as_bert(
    job_of: Callable[..., Job], kind: str, width: int, small: bool, tmp_path: Path
) -> None:
    job = job_of(kind, max_epochs=1)
    job = replace(job, architecture=replace(job.architecture, width=width))
    assert ("--apply-bert-init" in job.arguments()) == small
    decoder = built(job, tmp_path).decoder
    linear = [decoder.layers[0].fc1, decoder.layers[0].self_attn.q_proj]
    linear += [decoder.copy.query] if getattr(decoder, "copy", None) else []
    for module in linear:
        assert (float(module.weight.std()) == pytest.approx(0.02, rel=0.1)) == small


def test_a_training_learns_and_is_validated(trained_as: TrainedAs, binarised: Path) -> None:
    trained_nat = trained_as("nat")
    with (trained_nat / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    for column in ("valid_loss", "valid_nll_loss", "train_loss"):
        assert float(rows[-1][column]) < float(rows[0][column])
    assert float(rows[-1]["valid_bleu"]) > 0
    system = load_system([trained_nat / "checkpoint.pt"], binarised, "cpu")
    (translation,) = system.decoder("parallel", {}, " ".join)([["one", "two", "three"]])
    assert translation.tokens


@pytest.mark.parametrize("kind", ["cmlm", "ctc-glat"])
def test_other_kinds_learn_and_are_validated(
    kind: str, trained_as: TrainedAs, binarised: Path
) -> None:
    out = trained_as(kind)
    with (out / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert float(rows[-1]["train_loss"]) < 0.8 * float(rows[0]["train_loss"])
    (log,) = out.glob("work-*/train.log")
    assert ("valid_infeasible" in log.read_text()) == (kind == "ctc-glat")
    assert all((row["train_infeasible"] != "") == (kind == "ctc-glat") for row in rows)
    system = load_system([out / "checkpoint.pt"], binarised, "cpu")
    for engine in ("eager", "fastdecode"):
        decode = system.decoder(
            "parallel", VALIDATION[SEARCHES[kind]] | {"engine": engine}, "".join
        )
        (translation,) = decode([["one", "two", "three"]])
        assert translation.passes == (4 if kind == "cmlm" else 1)


@pytest.mark.parametrize("kind", ["cmlm", "ctc-glat"])
def test_a_killed_training_ends_like_an_undisturbed_one(
    kind: str, job_of: Callable[..., Job], trained_as: TrainedAs, tmp_path: Path
) -> None:
    undisturbed = trained_as(kind)
    kill_and_resume(job_of(kind, max_epochs=8, lr=1e-2), tmp_path, appears("checkpoint4.pt"))
    assert_same(tmp_path, undisturbed)


@pytest.mark.parametrize("kind", ["nat", "glat", "cmlm", "ctc", "ctc-glat"])
def test_what_a_loss_does_not_read_is_said(kind: str, job_of: Callable[..., Job]) -> None:
    row = Row.model_validate({"kind": kind})
    keys = {job_of(kind, max_epochs=1, label_smoothing=share).key() for share in (0.1, 0.3)}
    assert (len(keys) == 1) == ("label_smoothing" in row.unread)


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("cmlm", {}, {"--arch": "fastdecode_cmlm", "--noise": "random_mask"}),
        ("glat", {}, {"--criterion": "nat_loss", "--glance-from": "0.5", "--glance-to": "0.3"}),
        ("glat", {"glance": [0.4, 0.1]}, {"--glance-from": "0.4", "--glance-to": "0.1"}),
        ("ctc", {}, {"--upsample": "2", "--criterion": "fastdecode_ctc"}),
        ("ctc", {}, {"--max-source-positions": "1024", "--max-target-positions": "2050"}),
        ("ctc-glat", {"upsample": 3}, {"--upsample": "3", "--glance-from": "0.5"}),
    ],
)
def test_the_command_says_what_other_kinds_learn(
    job_of: Callable[..., Job], kind: str, options: dict[str, Any], words: dict[str, str]
) -> None:
    found = job_of(kind, options, max_epochs=1).arguments()
    for option, value in words.items():
        assert found[found.index(option) + 1] == value
    assert ("--glance-from" in found) == ("glat" in kind)
    assert ("--upsample" in found) == ("ctc" in kind)
    assert (COPY in found) == (kind != "cmlm")
    assert not {"--soft-copy", "--activation-fn"} & set(found)


@pytest.mark.parametrize(
    ("source_copy", "said"),
    [("even", {COPY}), ("soft", {COPY, "--soft-copy"}), ("none", set())],
)
def test_the_command_says_what_blank_slots_begin_with(
    source_copy: str, said: set[str], job_of: Callable[..., Job]
) -> None:
    options = {"source_copy": source_copy, "activation": "gelu"}
    for kind in ("glat", "ctc", "ctc-glat"):
        found = job_of(kind, options, max_epochs=1).arguments()
        assert set(found) & {COPY, "--soft-copy"} == said
        assert found[found.index("--activation-fn") + 1] == "gelu"


def test_training_and_decoding_frame_alike(task: ParallelTask) -> None:
    numbers = list(range(12))
    batch = batch_of(task, numbers)
    lines = [line.split() for line in read_lines(Path(task.cfg.data).with_name("valid.en"))]
    sources = [lines[i] for i in batch["id"].tolist()]
    assert len({len(source) for source in sources}) > 2
    assert torch.equal(batch["net_input"]["src_tokens"], frame_sources(sources, task.src_dict))
    lengths = (batch["target"] != task.tgt_dict.pad()).sum(1)
    assert torch.equal(batch["prev_target"], blank_slots(lengths, task.tgt_dict))


def test_padding_changes_nothing_that_is_learned(task: ParallelTask) -> None:
    system = untrained("nat")
    assert len(system.target) > len(task.tgt_dict)
    (model,) = system.models

    def outputs(batch: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
        inputs = batch["net_input"]
        found = model(
            inputs["src_tokens"], inputs["src_lengths"], batch["prev_target"], batch["target"]
        )
        return found["word_ins"]["out"], found["length"]["out"]

    together = batch_of(task, list(range(12)))
    with torch.inference_mode():
        words, lengths = outputs(together)
        for row, number in enumerate(together["id"].tolist()):
            words_alone, lengths_alone = outputs(batch_of(task, [number]))
            slots = words_alone.shape[1]
            assert torch.allclose(words[row, :slots], words_alone[0], atol=1e-5)
            assert torch.allclose(lengths[row], lengths_alone[0], atol=1e-5)


def test_nothing_is_drawn(task: ParallelTask) -> None:
    before = torch.get_rng_state()
    first, second = batch_of(task, [3, 1, 2]), batch_of(task, [3, 1, 2])
    assert torch.equal(first["prev_target"], second["prev_target"])
    assert torch.equal(torch.get_rng_state(), before)


def reduced(task: ParallelTask, *batches: tuple[list[int], int, int]) -> dict[str, Any]:
    """Let the task add up batches of matching n-grams, words and reference words."""
    with metrics.aggregate() as total:
        for counts, words, reference_words in batches:
            log = {"loss": 1.0, "nll_loss": 1.0, "ntokens": 1, "nsentences": 1, "sample_size": 1}
            log |= {"_bleu_sys_len": words, "_bleu_ref_len": reference_words}
            for n in range(4):
                log |= {f"_bleu_counts_{n}": counts[n], f"_bleu_totals_{n}": max(words - n, 0)}
            task.reduce_metrics([log], LabelSmoothedDualImitationCriterion(task, 0.1))
        found: dict[str, Any] = total.get_smoothed_values()
        return found


def test_a_model_that_writes_nothing_has_a_bleu_of_0(
    task: ParallelTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task.cfg, "eval_bleu", True)
    nothing, right, half = ([0] * 4, 0, 10), ([10, 9, 8, 7], 10, 10), ([8, 7, 6, 5], 10, 10)
    assert reduced(task, nothing)["bleu"] == 0
    assert reduced(task, right)["bleu"] == 100
    for batches in ((nothing, half), (half, nothing)):  # as one of 20 reference words
        expected = sacrebleu.BLEU.compute_bleu([8, 7, 6, 5], [10, 9, 8, 7], 10, 20).score
        assert reduced(task, *batches)["bleu"] == pytest.approx(expected, abs=0.01)


def test_validation_bleu_is_that_of_our_decoder(trained_as: TrainedAs, binarised: Path) -> None:
    trained_nat = trained_as("nat")
    (model,), config, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(trained_nat / "checkpoint.pt")], arg_overrides={"data": str(binarised)}
    )
    task.load_dataset("valid")
    batch = batch_of(task, list(range(12)))
    criterion = task.build_criterion(config.criterion)
    _, _, log = task.valid_step(batch, model, criterion)

    decode = System([model], task.src_dict, task.tgt_dict).decoder("parallel", {}, " ".join)
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
