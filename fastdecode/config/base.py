"""The base class of every configuration row, and one-line messages for rows that do not fit."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fastdecode.errors import UserError


class Row(BaseModel):
    """A row of configuration: immutable, and a key that nobody reads is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


RowT = TypeVar("RowT", bound=BaseModel)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean "…"?` for the known word nearest to `word`, else the known words."""
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1)
    return f'; did you mean "{near[0]}"?' if near else f" (known: {', '.join(words) or 'none'})"


def check(model: type[RowT], values: object, where: str) -> RowT:
    """Validate `values` against `model`.

    Raises UserError with one line that names the first fault, its place and the nearest known key.
    """
    if not isinstance(values, Mapping):
        raise UserError(f"{where}: expected keys and values, found {values!r}")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = error.errors()
        rest = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise UserError(f"{where}: {_describe(model, faults[0])}{rest}") from None


def _describe(model: type[BaseModel], fault: Any) -> str:
    """Say in words what pydantic found at one place."""
    path = [str(part) for part in fault["loc"]]
    key = ".".join(path)
    if fault["type"] == "extra_forbidden":
        return f'unknown key "{key}"{nearest(path[-1], _keys_at(model, path[:-1]))}'
    if fault["type"] == "missing":
        return f'the key "{key}" is missing'
    message = fault["msg"].removeprefix("Value error, ")
    if not key:  # a check over several keys says itself which
        return message
    return f'"{key}": {message[:1].lower()}{message[1:]}, found {fault["input"]!r}'


def _keys_at(model: type[BaseModel], path: list[str]) -> set[str]:
    """Return the keys known at `path`, following nested rows where their type is plain."""
    for part in path:
        field = model.model_fields.get(part)
        candidates = [field.annotation, *getattr(field.annotation, "__args__", ())] if field else []
        inner = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        if len(inner) != 1:
            return set()
        model = inner[0]
    return set(model.model_fields)


def read_yaml(path: Path) -> Any:
    """Read one YAML file.

    Raises UserError if it is missing or not YAML, with the line.
    """
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise UserError(
            f"{path}{line}: not valid YAML: {getattr(error, 'problem', error)}"
        ) from None


def merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings, later layers first in rank: mappings deeply, anything else replaced.

    The rule is that of Snakemake's `--configfile`.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
                merged[key] = merge(merged[key], value)
            else:
                merged[key] = value
    return merged
