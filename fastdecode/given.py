"""Takes what a run was given instead of making it, checked so that what follows can trust it.

Every record says `"trained": "elsewhere"` and has the checksum of what was given. Its provenance is
that of what was given; where and by which code it was taken stands there under `given`.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairseq.data import Dictionary

from fastdecode.config.given import ELSEWHERE
from fastdecode.corpus.characters import composed
from fastdecode.corpus.tokenise import Tokeniser
from fastdecode.decode import load_system
from fastdecode.errors import UserError
from fastdecode.files import (
    count_lines,
    read_json,
    read_lines,
    sha256,
    write_aside,
    write_json,
    write_lines,
)
from fastdecode.provenance import MADE, made
from fastdecode.train import checkpoints
from fastdecode.translation import Translation, read_translations, write_translations

MOST_UNKNOWN = 0.01  # of distilled subwords; more than that is another segmentation


def take_model(
    checkpoint: Path,
    record: Path | None,
    data: Path,
    out: Path,
    shape: dict[str, str],
    width: int,
    provenance: dict[str, Any],
) -> None:
    """Copy a model that was trained elsewhere into the folder `out`, with a `train.json`.

    `data` is the folder of fairseq-preprocess, `shape` the family and the layers that the model
    has to have, `width` its dimension. A `record` of the training is kept but for the names of
    dataset, target, system and seed.

    Raises UserError if the checkpoint is damaged, does not fit the vocabulary of `data`, or is of
    another family or size.
    """
    if checkpoint.is_file() and not checkpoints.is_whole(checkpoint):
        raise UserError(
            f"{checkpoint}: no whole checkpoint in the form of PyTorch 1.6 or later: give a whole "
            "one; what an older PyTorch wrote, load with torch.load and save again"
        )
    try:
        system = load_system([checkpoint], data, "cpu")
    except UserError:
        raise
    except Exception as error:  # fairseq raises what it likes
        reason = str(error).strip().splitlines()
        raise UserError(
            f"{checkpoint}: no model for the vocabulary of {data} "
            f"({reason[-1].strip() if reason else type(error).__name__}): give the one that was "
            "trained with these BPE codes"
        ) from None
    _check_shape(checkpoint, system.models[0], shape, width)
    state = checkpoints.load(checkpoint)
    known = read_json(record) if record else {}
    write_record(
        out / "train.json",
        shape,
        provenance,
        {
            "parameters": checkpoints.parameters(state["model"]),
            "updates": _updates(state),
            **known,
            "checkpoint": {"path": str(checkpoint), "sha256": sha256(checkpoint)},
        },
    )
    with write_aside(out / "checkpoint.pt") as part:
        shutil.copyfile(checkpoint, part)


def _updates(state: dict[str, Any]) -> int | None:
    """Return after how many updates a checkpoint was saved, None where it does not say."""
    if "averaged_updates" in state:
        return int(max(state["averaged_updates"]))
    return checkpoints.updates_of(state) if state.get("optimizer_history") else None


def _check_shape(checkpoint: Path, model: Any, shape: dict[str, str], width: int) -> None:
    """Raise UserError unless a model is of the family and of the size that the configuration says.

    Its class says whose it is, but for a plain Transformer, which any family may build on.
    """
    module = type(model).__module__.split(".")
    own = module[:2] == ["fastdecode", "families"]
    family = module[2] if own else "parallel" if "nat" in module else ""
    if family not in ("", shape["family"]):
        raise UserError(
            f"{checkpoint}: a model of family {family}, but {shape['family']} is wanted: give "
            "another, or name it as a system of its family"
        )
    layers = f"{len(model.encoder.layers)}-{len(model.decoder.layers)}"
    found = layers, int(model.encoder.embed_tokens.embedding_dim)
    if found != (shape["layers"], width):
        raise UserError(
            f"{checkpoint}: a model of {found[0]} layers, {found[1]} wide, but the configuration "
            f"says {shape['layers']} and {width}: give another, or set roles: of the dataset, or "
            "preset: and layers: of the system"
        )


def write_record(
    out: Path, shape: dict[str, str], provenance: dict[str, Any], known: dict[str, Any]
) -> None:
    """Write the `train.json` of a model that was not trained here; what is not known is null.

    `known` is what was given of its record, `provenance` that of its taking.
    """
    nothing = dict.fromkeys(("parameters", "updates", "epochs", "seconds"))
    origin = _origin(known.get("provenance", {}), provenance)
    here = {"provenance": origin, "trained": ELSEWHERE}
    write_json(out, {**shape, **nothing, **known, **here})


def _origin(known: dict[str, Any], taking: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Return the provenance of what was given: its own, under the names that it has here.

    `known` is its own, as far as there is one, `taking` that of its taking, `given` what else goes
    beside that.
    """
    unknown = {"device": "unknown", "commit": "unknown"}
    names = {key: value for key, value in taking.items() if key not in MADE}
    return {**unknown, **known, **names, "given": {**given, **made(taking)}}


def take_distilled(
    text: Path, source: Path, words: Path, out: Path, record: Path, provenance: dict[str, Any]
) -> None:
    """Copy what a teacher wrote elsewhere, and write `record`.

    `words` is the target dictionary of fairseq-preprocess.

    Raises UserError unless there is a line for each line of `source`, in subwords of `words`.
    """
    lines, wanted = count_lines(text), count_lines(source)
    if lines != wanted:
        raise UserError(
            f"{text} has {lines} lines but {source}, which it translates, has {wanted}: give what "
            "was distilled from this very corpus"
        )
    unknown = _unknown_share(text, Dictionary.load(str(words)))
    if unknown > MOST_UNKNOWN:
        raise UserError(
            f"{text}: {unknown:.0%} of its words are not in {words}: give lines of subwords, split "
            "with the codes of this dataset"
        )
    write_lines(out, read_lines(text))
    given = {"path": str(text), "sha256": sha256(text)}
    write_json(record, {"provenance": _origin({}, provenance), "lines": wanted, "given": given})


def _unknown_share(text: Path, dictionary: Dictionary) -> float:
    unknown = total = 0
    for line in read_lines(text):  # of which there are millions
        words = line.split()
        unknown += sum(dictionary.index(word) == dictionary.unk() for word in words)
        total += len(words)
    return unknown / max(total, 1)


def take_translations(
    given: Path, source: Path, out: Path, provenance: dict[str, Any], target: Tokeniser
) -> None:
    """Write translations made elsewhere as fastdecode.translation does.

    They are a file of that form, or text with a line for each raw line of `source`; of text the
    words, as `target` parts them, stand for the tokens, and the number of passes is not known: 0.

    Raises UserError if they are not of these lines.
    """
    lines = list(read_lines(source))
    known: dict[str, Any] = {}
    if given.name.endswith(".jsonl.gz"):
        header, sources, translations = read_translations(given)
        known = header.get("provenance", {})
        if sources != lines:
            raise UserError(
                f"{given}: its sources are not the lines of {source}: give translations of this "
                "split"
            )
    else:
        translations = list(_from_text(given, target))
        if len(translations) != len(lines):
            raise UserError(
                f"{given} has {len(translations)} lines but {source} has {len(lines)}: give a "
                "line for each"
            )
    origin = _origin(known, provenance, path=str(given), sha256=sha256(given))
    write_translations(out, {"provenance": origin}, lines, translations)


def _from_text(path: Path, target: Tokeniser) -> Iterator[Translation]:
    for line in map(composed, read_lines(path)):
        yield Translation(text=line, tokens=target.tokenise(line).split(), score=None, passes=0)
