"""The reference of all configuration keys, from the models that check them.

It is `workflow/schemas/*.json`, for editors, and the tables of `config/keys.md`. The runs that are
ready are listed in `config/runs/README.md`. `python -m fastdecode.generated` writes them.
"""

import json
import re
from itertools import takewhile
from pathlib import Path
from types import NoneType
from typing import Literal, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from fastdecode.config import claims, corpora, devices, given, papers, rows, run
from fastdecode.families import FAMILIES, decoder_row, system_row

KEYS = """\
# Every key

Written by `make generated`. [README.md](README.md) explains what a run may say.

`config.yaml` lies below every run of `config/runs` and of yours: what a run leaves out has its
value there, and only where that file is silent, too, the default of these tables.
"""
RUNS = """\
# Runs that are ready

Written by `make generated`, of the comments that the files begin with.

"""
WHERE: dict[type[BaseModel], str] = {
    run.Run: "`config/config.yaml` and `config/runs/*.yaml`: a run",
    run.SpeedupOver: "`speedup_over:` of a run",
    run.Latency: "`latency:` of a run",
    given.Given: "`given:` of a run",
    rows.Dataset: "`config/datasets/*.yaml`: a dataset",
    rows.Bpe: "`bpe:` of a dataset",
    rows.Roles: "`roles:` of a dataset",
    rows.Family: "`config/systems/*.yaml`: a family",
    **{system_row(family): f"a row of `systems:` of the family `{family}`" for family in FAMILIES},
    rows.Ensemble: "a row of `ensembles:` of a family",
    **{
        decoder_row(family): f"a row of `decoders:` of the family `{family}`" for family in FAMILIES
    },
    rows.Training: "`training:` anywhere",
    rows.Preset: "a row of `config/presets.yaml`",
    corpora.Corpus: "`config/corpora/*.yaml`: a corpus",
    corpora.Clean: "`clean:` of a corpus",
    corpora.Pair: "a piece of a split, `kind: pair`",
    corpora.Members: "a piece of a split, `kind: members`",
    corpora.Files: "a piece of a split, `kind: files`",
    corpora.Bilingual: "a piece of a split, `kind: tmx` or `aspec`",
    corpora.Download: "a row of `config/downloads.yaml`",
    devices.Device: "a row of `config/devices.yaml`",
    papers.Paper: "`config/papers/*.yaml`: a paper",
    papers.Artifact: "`artifacts:` of a paper",
    claims.Claim: "`claims:` of a paper",
    claims.Check: "`check:` of a claim",
}


def _default(value: object) -> str:
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, BaseModel):
        return "see below"
    return f"`{json.dumps(value)}`"


def _choices(annotation: object, meaning: str) -> str:
    """Return what a key can be, if these are a few words or numbers and `meaning` lacks one."""
    inner = [one for one in get_args(annotation) if one not in (NoneType, ...)]
    if get_origin(annotation) is not Literal:
        return _choices(inner[0], meaning) if len(inner) == 1 else ""
    if all(re.search(rf"\b{re.escape(str(one))}\b", meaning) for one in inner):
        return ""
    *others, last = (f"`{one}`" for one in inner)
    return " or ".join((", ".join(others), last)) if others else last


def table(model: type[BaseModel]) -> str:
    """Return the keys of one kind of row as a Markdown table: key, default, meaning."""
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for name, field in model.model_fields.items():
        meaning = (field.description or "").replace("|", "\\|")
        meaning = "; ".join(filter(None, (meaning, _choices(field.annotation, meaning))))
        lines.append(f"| `{name}` | {_default(field.default)} | {meaning} |")
    return "\n".join(lines) + "\n"


def runs(folder: Path) -> str:
    """Return the runs in `folder` as a Markdown table, with what their first lines say of them."""
    lines = ["| run | datasets | device | what |", "|---|---|---|---|"]
    for path in sorted(folder.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        values = yaml.safe_load(text)
        datasets = ", ".join(f"`{name}`" for name in values.get("datasets", ()))
        device = values.get("device", "cpu")
        what = about(text).replace("|", "\\|")
        lines.append(f"| [{path.stem}]({path.name}) | {datasets} | {device} | {what} |")
    return "\n".join(lines) + "\n"


def about(text: str) -> str:
    """Return the comment that a file begins with, but for the command that it ends with."""
    comment = takewhile(lambda line: line.startswith("#"), text.splitlines())
    words = " ".join(line.lstrip("# ") for line in comment)
    return words.partition("snakemake --")[0].rstrip(" :")


def wanted(root: Path) -> dict[Path, str]:
    """Return every generated file of the project in `root` with what it should hold."""
    files = {}
    for model in (run.Run, rows.Dataset, rows.Family, rows.Preset, corpora.Corpus, papers.Paper):
        schema = json.dumps(model.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
        files[root / f"workflow/schemas/{model.__name__.lower()}.schema.json"] = schema
    tables = "\n".join(f"## {title}\n\n{table(model)}" for model, title in WHERE.items())
    files[root / "config/keys.md"] = f"{KEYS}\n{tables}"
    files[root / "config/runs/README.md"] = RUNS + runs(root / "config/runs")
    return files
