"""The fairseq-train command line of one model."""

import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fastdecode
from fastdecode.config.models import Architecture
from fastdecode.config.rows import Training
from fastdecode.errors import UserError

USER_DIR = Path(fastdecode.__file__).parent

# glibc gives large blocks back to the system at every free, and the next tensor pays for fresh
# pages: keeping them made training 1.5 times as fast on a CPU (docs/measurements/training.md).
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": str(2**33),
    "MALLOC_TRIM_THRESHOLD_": str(2**34),
    "MALLOC_TOP_PAD_": str(2**28),
}

# Weights that begin as BERT's are as small at any width: narrow models pass next to nothing on, and
# learn late or nothing (width 64, validation BLEU after 12 epochs: cmlm 0.3; ctc-glat 15.7, and
# 20.4 if it begins as fairseq's Transformer).
NARROW = 256


def environment(threads: int) -> dict[str, str]:
    """Return the environment variables under which a training runs and repeats exactly."""
    count = str(threads)
    return {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count, "PYTHONUNBUFFERED": "1"} | MALLOC


def is_narrow(architecture: Architecture) -> bool:
    """Tell whether a model had better not begin as BERT."""
    return architecture.width < NARROW


def initial_weights(architecture: Architecture) -> tuple[str, ...]:
    """Return the option by which weights begin as BERT's, if the model is wide enough for that."""
    return () if is_narrow(architecture) else ("--apply-bert-init",)


def model_arguments(
    architecture: Architecture, joint: bool, arch: str = "transformer"
) -> list[str]:
    """Return the options that describe a Transformer (Vaswani et al., 2017) or its kin `arch`."""
    options = ["--arch", arch]
    for side, layers in (
        ("encoder", architecture.encoder_layers),
        ("decoder", architecture.decoder_layers),
    ):
        options += [
            f"--{side}-embed-dim",
            str(architecture.width),
            f"--{side}-ffn-embed-dim",
            str(architecture.ffn),
            f"--{side}-attention-heads",
            str(architecture.heads),
            f"--{side}-layers",
            str(layers),
            *([f"--{side}-normalize-before"] if architecture.prenorm else []),
        ]
    shared = "--share-all-embeddings" if joint else "--share-decoder-input-output-embed"
    return [*options, shared]


def training_arguments(settings: Training, device: str, seed: int) -> list[str]:
    """Return the options that describe how to train."""
    options = {
        "--optimizer": "adam",
        "--adam-betas": str(tuple(settings.adam_betas)),
        "--adam-eps": settings.adam_eps,
        "--lr": settings.lr,
        "--lr-scheduler": "inverse_sqrt",
        "--warmup-updates": settings.warmup_updates,
        "--warmup-init-lr": 1e-7,
        "--weight-decay": settings.weight_decay,
        "--clip-norm": settings.clip_norm,
        "--dropout": settings.dropout,
        "--attention-dropout": settings.attention_dropout,
        "--max-tokens": settings.batch_tokens,
        "--update-freq": settings.accumulate,
        # At its default of 8, fairseq leaves out the last batch, that of the longest sentences, if
        # its size is no multiple of 8: in validation too.
        "--required-batch-size-multiple": 1,
        "--seed": seed,
    }
    if settings.batch_sentences:
        options["--batch-size"] = settings.batch_sentences
    if settings.max_updates:
        options["--max-update"] = settings.max_updates
    if settings.max_epochs:
        options["--max-epoch"] = settings.max_epochs
    if settings.save_every_updates:
        options["--save-interval-updates"] = settings.save_every_updates
    if device == "cuda" or settings.gpus > 1:
        options["--distributed-world-size"] = settings.gpus
    if settings.gpus > 1:
        options["--distributed-backend"] = "nccl" if device == "cuda" else "gloo"
        options["--ddp-backend"] = "legacy_ddp"  # PyTorch's wants every parameter used, and a GPU
    words = [str(word) for pair in options.items() for word in pair]
    if device == "cpu":
        words.append("--cpu")
    if settings.precision != "fp32":
        words.append(f"--{settings.precision}")
    return words


def validation_arguments(settings: Training, decoding: Mapping[str, Any]) -> list[str]:
    """Return the options of validation: loss and tokenised BLEU after every epoch.

    `decoding` says how the validation set is translated.
    """
    metric = "loss" if settings.select == "loss" else "bleu"
    return [
        "--eval-bleu",
        "--eval-bleu-remove-bpe",
        "--eval-tokenized-bleu",
        "--eval-bleu-args",
        json.dumps(decoding),
        "--best-checkpoint-metric",
        metric,
        *(["--maximize-best-checkpoint-metric"] if metric == "bleu" else []),
    ]


def launcher(processes: int, nodes: int = 1, threads: int = 1) -> list[str]:
    """Return what starts fairseq-train: itself, or torchrun for several processes.

    On several nodes of a SLURM job, srun starts a torchrun on each; they meet on this one. There
    every process is given CPUs for its `threads`.

    Raises UserError where several nodes are asked for outside of such a job.
    """
    if processes == 1:
        return [sys.executable, "-m", "fastdecode.programs", "train"]
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        str(processes // nodes),
    ]
    worker = ["-m", "fastdecode.train.worker"]
    if nodes == 1:
        return [*torchrun, "--standalone", *worker]
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        raise UserError(
            f"nodes: {nodes} are only to be had within a job of SLURM: take one, or run with "
            "--profile profiles/slurm"
        )
    return [
        "srun",
        "--overlap",
        "--kill-on-bad-exit=1",
        f"--nodes={nodes}",
        f"--ntasks={nodes}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={processes // nodes * threads}",
        *torchrun,
        "--nnodes",
        str(nodes),
        "--rdzv-id",
        job,
        "--rdzv-backend",
        "c10d",
        "--rdzv-endpoint",
        f"{socket.gethostname()}:{20_000 + int(job) % 20_000}",
        *worker,
    ]


def fairseq_train(
    launch: list[str], arguments: list[str], data: Path, source: str, target: str, work: Path
) -> list[str]:
    """Return the whole command that trains on `data` and saves below `work`; see `launcher`."""
    return [
        *launch,
        str(data),
        "--user-dir",
        str(USER_DIR),
        "--source-lang",
        source,
        "--target-lang",
        target,
        *arguments,
        "--save-dir",
        str(work),
        # Without this, the order of equally long sentences depends on the epoch at which the
        # process started, and a resumed training differs from an undisturbed one.
        "--update-epoch-batch-itr",
        "True",
        "--log-format",
        "json",
        "--log-interval",
        "50",
        "--num-workers",
        "0",
        "--skip-invalid-size-inputs-valid-test",
    ]
