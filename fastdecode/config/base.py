"""The base class of every configuration row, and one-line messages for rows that do not fit."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from fastdecode.errors import UserError
from fastdecode.files import read_lines


class Row(BaseModel):
    """A row of configuration: immutable, without infinities; a key that nobody reads is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _no_word_for_a_number(cls, values: Any) -> Any:
        """Refuse yes and no where numbers are wanted: pydantic would take them for 1 and 0."""
        for key, value in values.items() if isinstance(values, Mapping) else ():
            listed = value if isinstance(value, list | tuple) else [value]
            words = [one for one in listed if isinstance(one, bool)]
            kinds = _leaves(cls.model_fields[key].annotation) if key in cls.model_fields else set()
            if words and bool not in kinds and kinds & {int, float}:
                word = str(words[0]).lower()
                said = READ_AS[words[0]][1]
                raise ValueError(f"{key}: expected a number, found {word}, as YAML reads {said}")
        return values


FORM = "form"  # the type of faults that a Form tells
TEXTS = ("string_type", "path_type", "invalid_key", FORM)  # of faults where text is wanted
KEY = "[key]"  # how pydantic ends the place of a fault that is in a key itself
# What YAML reads so: the words, the first of them as an example.
READ_AS = {False: ("no", "no, off or false"), True: ("yes", "yes, on or true")}

FEW, MANY = 5, 20  # names that one line proposes, and lists, at most
SHOWN = "`fastdecode show` and config/keys.md"  # where most names are listed

RowT = TypeVar("RowT", bound=BaseModel)


@dataclass(frozen=True)
class Form:
    """Behind the pattern of a text: what it has to be, in the words that a fault is told in."""

    words: str

    def __get_pydantic_core_schema__(self, kind: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the text, which tells all its faults so."""
        return core_schema.custom_error_schema(
            handler(kind), FORM, custom_error_message=f"expected {self.words}"
        )


def _leaves(kind: Any) -> set[Any]:
    """Return the types that a type is put together from."""
    inner = get_args(kind)
    return (
        set().union(*map(_leaves, inner)) if inner else {kind} if isinstance(kind, type) else set()
    )


def default(row: BaseModel, key: str) -> Any:
    """Return what a key of a row is where nothing is said."""
    return type(row).model_fields[key].default


def each_once(key: str, chosen: Sequence[object]) -> None:
    """Raise ValueError on what stands twice in the list of a key."""
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"{key}: {name} stands twice: once is enough")


def nearest(word: str, known: Iterable[str], listed: str = SHOWN) -> str:
    """Return `; did you mean "…"?` for the known words nearest to `word`, else the known words.

    Where none is like it, a few have it in their names, as `ctc` is in those of its decoders. Where
    they are many it says where they are `listed`.
    """
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1)
    if not near and len(word) >= 3:
        near = [one for one in words if word in one]
    if 0 < len(near) <= FEW:
        quoted = [f'"{one}"' for one in near]
        return f"; did you mean {' or '.join(quoted)}?"
    if len(words) > MANY:
        return f" ({len(words)} are known, listed by {listed})"
    return f" (known: {', '.join(words) or 'none'})"


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
        first, *others = faults
        place = _place(first, values)
        more = len({_place(fault, values) for fault in others} - {place})
        rest = f" (and {more} more)" if more else ""
        words = [  # that would do as well, where it may be a number or one of these
            f" or {fault['ctx']['expected']}"
            for fault in others
            if fault["type"] == "literal_error" and _place(fault, values) == place
        ]
        raise UserError(f"{where}: {_describe(model, values, first, words)}{rest}") from None


def _own(error: ValidationError) -> list[Any]:
    """Return the faults, without lists that are too short since what stands in them is at fault."""
    faults = error.errors()
    above = {fault["loc"][:end] for fault in faults for end in range(len(fault["loc"]))}
    return [fault for fault in faults if fault["type"] != "too_short" or fault["loc"] not in above]


def _place(fault: Any, values: Any) -> tuple[str, ...]:
    """Return the keys and numbers in `values` that lead to a fault.

    Whatever else pydantic has there, such as which member of a union it is, the user did not write.
    """
    place = []
    for part in fault["loc"]:
        if isinstance(values, Mapping):
            found = [key for key in values if part in (key, str(key))]
        else:
            listed = isinstance(values, list | tuple) and isinstance(part, int)
            found = [part] if listed and part < len(values) else []  # what is missing is beyond
        if found:
            place.append(str(found[0]))
            values = values[found[0]]
    if fault["type"] == "missing":
        place.append(str(fault["loc"][-1]))
    return tuple(place)


def _describe(
    model: type[BaseModel], values: object, fault: Any, otherwise: Sequence[str] = ()
) -> str:
    """Say in words what pydantic found at one place of `values`, `otherwise` what else may be."""
    place = _place(fault, values)
    key = ".".join(place)
    path = list(map(str, fault["loc"]))
    of_key = path[-1:] == [KEY]
    if fault["type"] == "extra_forbidden" or (of_key and fault["type"] == "literal_error"):
        known = _keys_at(model, path[: -2 if of_key else -1])
        return f'unknown key "{key}"{nearest(place[-1], known)}'
    if fault["type"] == "missing":
        if isinstance(fault["loc"][-1], int):  # an item
            return f'"{".".join(place[:-1])}": too few items, found {fault["input"]!r}'
        return f'the key "{key}" is missing'
    if fault["type"] == "union_tag_not_found":
        name = str(fault["ctx"]["discriminator"]).replace("'", "")
        known = _tags(_type_at(model, path))
        return f'the key "{key}.{name}" is missing (known: {", ".join(sorted(known))})'
    message = str(fault["msg"]).removeprefix("Value error, ")
    if not key:  # a check over several keys says itself which
        return message
    if fault["type"] in TEXTS and isinstance(fault["input"], bool):
        example, words = READ_AS[fault["input"]]
        message = f"expected text, found {str(fault['input']).lower()}, as YAML reads {words}"
        return f'"{key}": {message}: put it in quotes, such as "{example}"'
    if fault["type"] in ("model_type", "model_attributes_type", "dict_type"):
        message = "expected keys and values"
    if fault["type"] == "path_type":
        message = "expected a path"
    if fault["type"] == "union_tag_invalid":
        said = {name: str(word).replace("'", "") for name, word in fault["ctx"].items()}
        near = nearest(said["tag"], said["expected_tags"].split(", "))
        return f'"{key}": unknown {said["discriminator"]} "{said["tag"]}"{near}'
    message = re.sub(
        r" after validation, not \d+$|, unable to parse string as an? \w+$", "", message
    )
    message += "".join(otherwise)
    message = f"{message[:1].lower()}{message[1:]}".replace("tuple", "list")
    message = message.replace("dictionary", "mapping")  # YAML's words
    if isinstance(fault["input"], Mapping):  # all that stands below the key
        return f'"{key}": {message}'
    return f'"{key}": {message}, found {fault["input"]!r}'


def _keys_at(model: type[BaseModel], path: list[str]) -> set[str]:
    """Return the keys known at `path` of a row, as pydantic writes the path."""
    kind = _type_at(model, path)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return set(kind.model_fields)
    key = get_args(kind)[0] if get_origin(kind) is dict else None
    return set(get_args(key)) if get_origin(key) is Literal else set()


def _type_at(kind: Any, path: list[str]) -> Any:
    """Return the type at `path` in values of the type `kind`; None where it is not known."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _type_at(inner[0], path)
    if not path:
        return kind
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _type_at(kind.model_fields[path[0]].annotation, path[1:])
    if origin is dict:
        return _type_at(inner[1], path[1:])
    if origin is tuple:
        return _type_at(inner[0], path[1:])
    for one in inner:  # a union of rows that differ in `kind`, which the path names
        if path[0] in _tags(one):
            return _type_at(one, path[1:])
    return None


def _tags(kind: Any) -> set[str]:
    """Return what `kind` can be in a row, or in the rows of a union."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return set(get_args(kind.model_fields["kind"].annotation))
    return {tag for one in get_args(kind) for tag in _tags(one)}


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
