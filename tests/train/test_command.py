import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from torch.distributed.run import get_args_parser

import fastdecode
from fastdecode.config.models import Architecture
from fastdecode.config.rows import Training
from fastdecode.errors import UserError
from fastdecode.train.command import (
    environment,
    fairseq_train,
    launcher,
)
from fastdecode.train.job import Job

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # hydra's, of old fairseq
SIZE = Architecture(width=32, ffn=48, heads=4, encoder_layers=3, decoder_layers=2)


def understood(
    size: Architecture = SIZE, joint: bool = True, device: str = "cpu", **settings: Any
) -> Any:
    """What fairseq-train makes of our command line, by its own parser."""
    training = Training.model_validate({"max_epochs": 7} | settings)
    data = Path("/data/bin")
    job = Job("x", "autoregressive", data, "de", "en", joint, size, training, 3, device)
    launch = launcher(1)
    command = fairseq_train(launch, job.arguments(), data, "de", "en", Path("/out/work"))
    assert all(isinstance(word, str) for word in command)
    python, *program = launch
    assert Path(python).is_file() and program == ["-m", "fastdecode.programs", "train"]
    words = command[len(launch) :]
    parser = options.get_training_parser()
    return convert_namespace_to_omegaconf(options.parse_args_and_arch(parser, words))


def test_the_architecture_arrives() -> None:
    model = understood().model
    for side, layers in (("encoder", 3), ("decoder", 2)):
        values = [
            getattr(model, f"{side}_{name}")
            for name in ("embed_dim", "ffn_embed_dim", "attention_heads", "layers")
        ]
        assert values == [32, 48, 4, layers]
        assert getattr(model, f"{side}_normalize_before") is False
    assert model.share_all_embeddings is True
    apart = understood(joint=False).model
    assert (apart.share_all_embeddings, apart.share_decoder_input_output_embed) == (False, True)


def test_every_training_setting_arrives() -> None:
    cfg = understood(
        **{"max_updates": 9, "batch_tokens": 77, "batch_sentences": 6, "accumulate": 5},
        **{"lr": 0.125, "warmup_updates": 11, "adam_betas": (0.5, 0.75), "adam_eps": 1e-5},
        **{"weight_decay": 0.25, "clip_norm": 2.5, "dropout": 0.35, "attention_dropout": 0.45},
        **{"label_smoothing": 0.15, "save_every_updates": 13},
    )
    assert (cfg.optimization.max_epoch, cfg.optimization.max_update) == (7, 9)
    assert (cfg.dataset.max_tokens, cfg.dataset.batch_size) == (77, 6)
    assert (list(cfg.optimization.update_freq), list(cfg.optimization.lr)) == ([5], [0.125])
    assert (cfg.lr_scheduler._name, cfg.lr_scheduler.warmup_updates) == ("inverse_sqrt", 11)
    adam = cfg.optimizer
    assert (adam._name, adam.adam_betas, adam.adam_eps) == ("adam", "(0.5, 0.75)", 1e-5)
    assert (adam.weight_decay, cfg.optimization.clip_norm) == (0.25, 2.5)
    assert (cfg.model.dropout, cfg.model.attention_dropout) == (0.35, 0.45)
    assert cfg.criterion._name == "label_smoothed_cross_entropy"
    assert cfg.criterion.label_smoothing == 0.15
    assert cfg.checkpoint.save_interval_updates == 13
    assert cfg.common.seed == 3
    assert cfg.dataset.required_batch_size_multiple == 1  # or sentences are left out


def test_what_is_not_set_is_no_limit() -> None:
    cfg = understood(max_epochs=None, max_updates=5)
    assert (cfg.optimization.max_epoch, cfg.optimization.max_update) == (0, 5)
    assert (cfg.dataset.batch_size, cfg.checkpoint.save_interval_updates) == (None, 0)
    assert understood().optimization.max_update == 0


@pytest.mark.parametrize("precision", ["fp32", "fp16", "bf16"])
def test_the_device_and_its_arithmetic_arrive(precision: str) -> None:
    cfg = understood(device="cuda", precision=precision, gpus=3)
    assert cfg.distributed_training.distributed_world_size == 3
    common = cfg.common
    assert (common.cpu, common.fp16, common.bf16) == (
        *(False, precision == "fp16", precision == "bf16"),
    )
    assert understood().common.cpu is True


def test_several_processes_are_started_by_torchrun(monkeypatch: pytest.MonkeyPatch) -> None:
    for device, backend in (("cpu", "gloo"), ("cuda", "nccl")):
        several = understood(device=device, gpus=4).distributed_training
        assert several.distributed_world_size == 4
        assert several.distributed_backend == backend

    parse = get_args_parser().parse_args
    here = parse(launcher(4)[3:])
    assert (here.nproc_per_node, here.nnodes, here.standalone) == ("4", "1:1", True)
    assert here.module and here.training_script == "fastdecode.train.worker"

    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(UserError, match="nodes: 2 are only to be had within a job of SLURM"):
        launcher(8, nodes=2)
    monkeypatch.setenv("SLURM_JOB_ID", "70123")
    srun = launcher(8, nodes=2, threads=3)
    python = srun.index(sys.executable)
    words = {"srun", "--overlap", "--nodes=2", "--ntasks=2", "--cpus-per-task=12"}
    assert words <= set(srun[:python])
    each = parse(srun[python + 3 :])
    assert (each.nproc_per_node, each.nnodes, each.rdzv_id) == ("4", "2", "70123")
    assert each.rdzv_endpoint == f"{socket.gethostname()}:30123"


def test_paths_languages_and_the_plug_in_arrive() -> None:
    cfg = understood()
    assert (cfg.task.data, cfg.checkpoint.save_dir) == ("/data/bin", "/out/work")
    assert (cfg.task.source_lang, cfg.task.target_lang) == ("de", "en")
    assert cfg.common.user_dir == str(Path(fastdecode.__file__).parent)
    assert cfg.dataset.update_epoch_batch_itr is True  # or resuming changes the order


@pytest.mark.parametrize(
    ("select", "metric"), [("last", "bleu"), ("bleu", "bleu"), ("loss", "loss")]
)
def test_the_score_that_selects_is_what_fairseq_validates(select: str, metric: str) -> None:
    cfg = understood(select=select)
    assert cfg.checkpoint.best_checkpoint_metric == metric
    assert cfg.checkpoint.maximize_best_checkpoint_metric == (metric == "bleu")
    assert cfg.task.eval_bleu and cfg.task.eval_tokenized_bleu
    assert cfg.task.eval_bleu_remove_bpe == "@@ "
    assert json.loads(cfg.task.eval_bleu_args)["beam"] == 1


def test_threads_are_those_of_the_configuration() -> None:
    variables = environment(3)
    assert variables["OMP_NUM_THREADS"] == variables["MKL_NUM_THREADS"] == "3"
    assert all(isinstance(value, str) for value in variables.values())
