"""The base class of every configuration row, and one-line messages for rows that do not fit."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from fastdecode.errors import UserError
from fastdecode.files import read_lines


class Row(BaseModel):
    """A row of configuration: immutable, without infinities; a key that nobody reads is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


MEMBER = re.compile(r"(constrained-)?(int|float|str)$|literal\[")  # as pydantic names types

RowT = TypeVar("RowT", bound=BaseModel)


def default(row: BaseModel, key: str) -> Any:
    """Return what a key of a row is where nothing is said."""
    return type(row).model_fields[key].default


def each_once(key: str, chosen: Sequence[object]) -> None:
    """Raise ValueError on what stands twice in the list of a key."""
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"{key}: {name} stands twice: once is enough")


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
        # A required key that is mistyped is missing too: its own fault says more.
        faults = sorted(_own(error), key=lambda fault: fault["type"] != "extra_forbidden")
        more = len({_place(fault) for fault in faults}) - 1
        rest = f" (and {more} more)" if more else ""
        raise UserError(f"{where}: {_describe(model, faults[0])}{rest}") from None


def _own(error: ValidationError) -> list[Any]:
    """Return the faults, without lists that are too short since what stands in them is at fault."""
    faults = error.errors()
    above = {fault["loc"][:end] for fault in faults for end in range(len(fault["loc"]))}
    return [fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in above]


def _place(fault: Any) -> tuple[str, ...]:
    """Return the keys and numbers that lead to a fault, without the types of a union's members."""
    return tuple(part for part in map(str, fault["loc"]) if not MEMBER.match(part))


def _describe(model: type[BaseModel], fault: Any) -> str:
    """Say in words what pydantic found at one place."""
    path = list(_place(fault))
    key = ".".join(path)
    if fault["type"] == "extra_forbidden":
        return f'unknown key "{key}"{nearest(path[-1], _keys_at(model, path[:-1]))}'
    if fault["type"] == "missing":
        return f'the key "{key}" is missing'
    message = str(fault["msg"]).removeprefix("Value error, ")
    if not key:  # a check over several keys says itself which
        return message
    if fault["type"] in ("model_type", "dict_type"):
        message = "expected keys and values"
    if fault["type"] == "union_tag_invalid":
        said = {name: str(word).replace("'", "") for name, word in fault["ctx"].items()}
        known = said["expected_tags"].split(", ")
        return (
            f'"{key}": unknown {said["discriminator"]} "{said["tag"]}"{nearest(said["tag"], known)}'
        )
    message = re.sub(r" after validation, not \d+$", "", message)
    message = f"{message[:1].lower()}{message[1:]}".replace("tuple", "list")
    message = message.replace("dictionary", "mapping")  # YAML's words
    if isinstance(fault["input"], Mapping):  # all that stands below the key
        return f'"{key}": {message}'
    return f'"{key}": {message}, found {fault["input"]!r}'


def _keys_at(kind: Any, path: list[str]) -> set[str]:
    """Return the keys known at `path` in values of the type `kind`, as pydantic writes the path."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not path:
            return set(kind.model_fields)
        return _keys_at(kind.model_fields[path[0]].annotation, path[1:])
    origin, inner = get_origin(kind), get_args(kind)
    if origin is dict:
        return _keys_at(inner[1], path[1:])
    if origin is tuple:
        return _keys_at(inner[0], path[1:])
    if origin is Annotated:
        return _keys_at(inner[0], path)
    for one in inner:  # a union of rows that differ in `kind`, which the path names
        if path[0] in get_args(one.model_fields["kind"].annotation):
            return _keys_at(one, path[1:])
    return set()


class _Loader(yaml.SafeLoader):
    """Reads YAML, but refuses a key that stands twice, of which the first would be lost."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Return a mapping as it is written; raise YAMLError where a key stands twice."""
        node = super().compose_mapping_node(anchor)
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        names = [(key.tag, key.value) for key in keys]
        for place, key in enumerate(keys):
            if names[place] in names[:place]:
                problem = f'the key "{key.value}" stands twice'
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
        return node


def read_yaml(path: Path) -> Any:
    """Read one YAML file.

    Raises UserError if it is missing, not UTF-8 or not YAML, with the line.
    """
    try:
        return yaml.load("\n".join(read_lines(path)), _Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise UserError(f"{path}{line}: not valid YAML: {problem}") from None


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
