"""The families: one room each, opened by its name.

A room holds at least `rows.py`, with the configuration rows `System` and `Decoder`; `training.py`,
whose `arguments` say to fairseq-train what is trained; and `decoders.py`, whose `build` makes a
decoder of a row and a loaded system. What registers with fairseq is imported by `plugin.py`, if the
room has one; what is measured of a system beside its translations is in `statistics.py`, if there
is any. A room whose training needs files besides (the lattice's tables) names them in
`rows.ASSETS`, and a decoder that needs others in its row. No room imports another.

A room may hold `untrained.py`, by which the benchmark times the family with nothing trained: its
`LAYERS` (such as 6-1), `decoders(length, device)`, which returns decoder rows by name, and
`build(plan)`, which returns a system of random weights; a `NOTE` of it stands below the tables. And
it may hold `drafting.py`, if it drafts for a verifier in another way than by translating the whole
sentence.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from fastdecode.config.base import nearest
from fastdecode.config.rows import Assets, DecoderRow, System
from fastdecode.errors import UserError

if TYPE_CHECKING:
    from fastdecode.measure.statistic import Statistic

FAMILIES = tuple(sorted(room.name for room in iter_modules(__path__) if room.ispkg))


def decoder_row(family: str) -> type[DecoderRow]:
    """Return the class of the family's decoder rows. Raises UserError if there is no family."""
    row: type[DecoderRow] = _rows(family).Decoder
    return row


def system_row(family: str) -> type[System]:
    """Return the class of the family's system rows. Raises UserError if there is no family."""
    row: type[System] = _rows(family).System
    return row


def check_family(family: str, where: str) -> None:
    """Raise UserError, beginning with `where`, if there is no such family."""
    if family not in FAMILIES:
        raise UserError(f'{where}: there is no family "{family}"{nearest(family, FAMILIES)}')


def _rows(family: str) -> Any:
    """Return the module of a family's rows. Raises UserError where it lacks what every one has."""
    check_family(family, f"systems/{family}.yaml")
    file = f"fastdecode/families/{family}/rows.py"
    if not find_spec(f"{__name__}.{family}.rows"):
        raise UserError(f"{file}: no such file: every family has one (docs/add-a-decoder.md)")
    rows = import_module(f"{__name__}.{family}.rows")
    for name, base in (("System", System), ("Decoder", DecoderRow)):
        row = getattr(rows, name, None)
        if not (isinstance(row, type) and issubclass(row, base)):
            raise UserError(
                f"{file}: it has no {name}, a class that begins as {base.__name__} of "
                "fastdecode/config/rows.py (docs/add-a-decoder.md)"
            )
    if "engine" not in rows.Decoder.model_fields:
        raise UserError(f"{file}: Decoder has no engine, which tells the tier of its rows")
    return rows


def assets(family: str) -> Assets | None:
    """Return what the family's systems need to be trained: a folder of the target, its files."""
    found: Assets | None = getattr(_rows(family), "ASSETS", None)
    return found


def register() -> None:
    """Import what the families register with fairseq."""
    for family in FAMILIES:
        if find_spec(f"{__name__}.{family}.plugin"):
            import_module(f"{__name__}.{family}.plugin")


def statistics(family: str) -> tuple[str, ...]:
    """Return the names of the family's statistics."""
    found: tuple[str, ...] = getattr(_rows(family), "STATISTICS", ())
    return found


def compares_with_teacher(family: str, name: str) -> bool:
    """Tell whether a statistic is measured against what the teacher wrote, too."""
    return name in getattr(_rows(family), "AGAINST_TEACHER", ())


def check_statistic(family: str, name: str, system: str) -> None:
    """Raise UserError if `name` is no statistic of `family`, which `system` belongs to."""
    known = statistics(family)
    if name not in known:
        raise UserError(
            f'{system}: family {family} has no statistic "{name}"{nearest(name, known)}'
        )


def statistic(family: str, name: str) -> "Statistic":
    """Return the function that measures one of the family's statistics; imports torch and fairseq.

    See fastdecode.measure.statistic.
    """
    found: Statistic = import_module(f"{__name__}.{family}.statistics").STATISTICS[name]
    return found


def training_arguments(family: str) -> Callable[..., list[str]]:
    """Return the family's `arguments(job)` for fairseq-train."""
    arguments: Callable[..., list[str]] = import_module(f"{__name__}.{family}.training").arguments
    return arguments


def decoder_builder(family: str) -> Callable[..., Any]:
    """Return the family's `build(system, row, finish, watch)`; imports torch and fairseq."""
    build: Callable[..., Any] = import_module(f"{__name__}.{family}.decoders").build
    return build


def drafter_builder(family: str) -> Callable[..., Any] | None:
    """Return the family's `build_drafter(system, settings)`; None: it has no way of its own."""
    if not find_spec(f"{__name__}.{family}.drafting"):
        return None
    build: Callable[..., Any] = import_module(f"{__name__}.{family}.drafting").build_drafter
    return build


def untrained_families() -> list[str]:
    """Return the families that the benchmark can time; imports neither torch nor fairseq."""
    return [family for family in FAMILIES if find_spec(f"{__name__}.{family}.untrained")]


def untrained(family: str) -> Any:
    """Return the family's module `untrained`: see above; imports torch and fairseq."""
    return import_module(f"{__name__}.{family}.untrained")
