"""How the kinds of this family are trained."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastdecode.errors import UserError
from fastdecode.train.command import is_narrow, model_arguments, validation_arguments

if TYPE_CHECKING:
    from fastdecode.train.job import Job

DRAFTER, BLOCKWISE = "fastdecode_drafter", "fastdecode_blockwise"
GLANCE = (0.5, 0.3)  # part of the wrong tokens that is shown, from the begin to the end (Qian 2021)


def arguments(job: "Job") -> list[str]:
    """Return fairseq-train's options that say what is trained; the rest is the same for all.

    Raises UserError if the verifier's encoder cannot be the drafter's.
    """
    smoothing = ("--label-smoothing", str(job.settings.label_smoothing))
    if job.options["kind"] == "blockwise":
        return [
            *model_arguments(job.architecture, job.joint, BLOCKWISE),
            *("--block", str(job.options["k"])),
            *("--task", "fastdecode", "--family", "aggressive"),
            *("--criterion", BLOCKWISE, *smoothing),
            *validation_arguments(job.settings, {"mode": "blockwise", "engine": "fastdecode"}),
        ]
    check_encoder(job)
    learned = job.options["positions"] == "learned"
    return [
        *model_arguments(job.architecture, job.joint, DRAFTER),
        *(["--no-bert-init"] if is_narrow(job.architecture) else []),
        *("--block", str(job.options["k"]), "--encoder-start", job.options["encoder"]),
        *("--verifier", job.options["verifier"], "--activation-fn", job.options["activation"]),
        *(["--encoder-learned-pos", "--decoder-learned-pos"] if learned else []),
        *([] if job.options["scale_embeddings"] else ["--no-scale-embedding"]),
        *("--task", DRAFTER, "--family", "aggressive"),
        *("--glance-from", str(GLANCE[0]), "--glance-to", str(GLANCE[1])),
        *("--criterion", DRAFTER, *smoothing),
        *validation_arguments(job.settings, {"mode": "draft", "engine": "fastdecode"}),
    ]


def check_encoder(job: "Job") -> None:
    """Raise UserError if the drafter's encoder cannot begin as that of its verifier."""
    if job.options["encoder"] == "random":
        return
    name = job.options["verifier"]
    size, options = job.architecture, job.options
    wanted = {
        "activation_fn": options["activation"],
        "encoder_learned_pos": options["positions"] == "learned",
        "no_scale_embedding": not options["scale_embeddings"],
        "encoder_embed_dim": size.width,
        "encoder_ffn_embed_dim": size.ffn,
        "encoder_attention_heads": size.heads,
        "encoder_layers": size.encoder_layers,
        "encoder_normalize_before": size.prenorm,
        "share_all_embeddings": job.joint,
    }
    if name not in job.companions:
        raise UserError(f"{job.label}: its encoder begins as that of {name}: give its checkpoint")
    found = _settings(job.companions[name])
    for key, value in wanted.items():
        if found[key] != value:
            raise UserError(
                f"{job.label}: its encoder begins as that of {name}, but {key} is {value} here and "
                f"{found[key]} there: make them equal, or set encoder: random"
            )


@cache
def _settings(checkpoint: Path) -> Mapping[str, Any]:
    """Return the settings of a trained model. Raises UserError if there is none."""
    from fastdecode.train import checkpoints

    if not checkpoint.exists():
        raise UserError(f"{checkpoint}: no such checkpoint: train it first")
    settings: dict[str, Any] = vars(checkpoints.load(checkpoint)["cfg"]["model"])
    return settings
