"""What of our cells a claim of a paper stands or falls with: `claims:` in `config/papers`.

A cell is named `row.column` in a table and `curve@x` in a figure, where it is the point's y; both
coordinates of a point with a label are `curve@label.x` and `curve@label.y`. A whole curve is named
by its name alone; what is checked of it is checked at every x. The name of an artifact may stand
before a cell, `table2b.row.column`; without one it is looked for in all artifacts of the claim.
"""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from fastdecode.config.base import Row
from fastdecode.config.rows import Name

Operation = Literal["sum", "mean", "minus", "ratio"]
PAIRS = ("minus", "ratio")  # operations on two numbers
# A cell, or numbers made of cells, such as {minus: [a.bleu, b.bleu]}; these may be nested once.
Inner = str | dict[Operation, tuple[str, ...]]
Term = str | dict[Operation, tuple[Inner, ...]]


class Check(Row):
    """One condition: an order of numbers, equal numbers, or a number within bounds."""

    rising: tuple[Term, ...] = Field(
        (), description="numbers of which each is above the one before"
    )
    equal: tuple[Term, ...] = Field((), description="numbers that are the same, to the last digit")
    value: Term | None = Field(None, description="a number that is `above` or `below` another")
    above: float | None = Field(None, description="what `value` has to be greater than")
    below: float | None = Field(None, description="what `value` has to be less than")
    interpolated: bool = Field(
        False,
        description="whether curves are compared between their points, too, on straight lines: at "
        "the x of every point that lies where all of them reach",
    )
    share: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="of whole curves, whose points count lines: the least share of these that an x "
        "stands for, to be checked",
    )
    artifacts: tuple[Name, ...] = Field(
        (), description="artifacts in which the cells are looked for, by default all of the claim"
    )
    panel: str = Field(
        "", description="panel of figures in which curves are looked for, by default each"
    )

    @model_validator(mode="after")
    def _is_sound(self) -> "Check":
        if sum(map(bool, (self.rising, self.equal, self.value))) != 1:
            raise ValueError("a check is one of rising, equal and value")
        if len(self.rising) == 1 or len(self.equal) == 1:
            raise ValueError("one number alone is in no order: name two")
        bounded = self.above is not None or self.below is not None
        if bounded != (self.value is not None):
            raise ValueError(
                "above and below are bounds of a value, which has one of them at least"
            )
        if self.interpolated and any("@" in cell for cell in self.cells()):
            raise ValueError("interpolated is of whole curves: name them without @")
        if self.share and (self.interpolated or any("@" in cell for cell in self.cells())):
            raise ValueError("share is of whole curves, point by point: name them without @")
        for term in self.terms():
            for part in (term, *inner(term)):
                if isinstance(part, dict):
                    _sound(part)
        return self

    def terms(self) -> tuple[Term, ...]:
        """Return all numbers of the condition."""
        return (*self.rising, *self.equal, *([self.value] if self.value is not None else []))

    def cells(self) -> Iterator[str]:
        """Yield the name of every cell of the condition."""
        for term in self.terms():
            yield from cells(term)

    def renamed(self, name: Callable[[str], str]) -> "Check":
        """Return the condition on the cells that `name` gives for its own."""

        def moved(term: Any) -> Any:
            if isinstance(term, str):
                return name(term)
            return {operation: tuple(map(moved, parts)) for operation, parts in term.items()}

        terms = {"rising": tuple(map(moved, self.rising)), "equal": tuple(map(moved, self.equal))}
        value = None if self.value is None else moved(self.value)
        return self.model_copy(update={**terms, "value": value})


class Claim(Row):
    """A statement of a paper that numbers confirm or not."""

    statement: str = Field(description="what is claimed")
    artifacts: tuple[Name, ...] = Field((), description="where its numbers are")
    formula: str | None = Field(
        None, description="the claim over the published cells, as table[row].column; never run"
    )
    published_holds: bool | None = Field(
        None, description="whether the formula holds of the published cells; null: there is none"
    )
    check: tuple[Check, ...] = Field(
        (), description="conditions on our cells, all of which hold if the claim does"
    )
    otherwise: dict[str, str] = Field(
        {},
        description="curve → one that is checked in its place, where of these alone some were "
        "measured",
    )
    reading: str = Field(
        "", description="how the statement is read on our numbers, where that is not plain"
    )
    unchecked: str = Field("", description="why no condition on our cells tells whether it holds")
    datasets: tuple[Name, ...] = Field(
        (), description="rows of config/datasets that it is about; by default it is about all"
    )
    tier: Literal["reference", "optimised"] = Field(
        "reference",
        description="the tier whose times are nearer to what the paper timed: where a run has "
        "both, its verdict counts in docs/claims.md; one that is named counts alone",
    )

    @model_validator(mode="after")
    def _is_sound(self) -> "Claim":
        if bool(self.check) == bool(self.unchecked):
            raise ValueError("a claim has a check, or says in unchecked why it has none")
        for check in self.check:
            if unknown := set(check.artifacts) - set(self.artifacts):
                raise ValueError(f"check: {', '.join(sorted(unknown))} is not among its artifacts")
        named = {_curve(cell) for check in self.check for cell in check.cells()}
        if unknown := self.otherwise.keys() - named:
            raise ValueError(f"otherwise: {', '.join(sorted(unknown))} is in no condition")
        return self

    def of_curves(self, measured: Collection[str]) -> "Claim":
        """Return the claim on what stands in for its curves, where that alone was measured."""
        found = set(measured)
        if found & self.otherwise.keys() or not found & {*self.otherwise.values()}:
            return self

        def name(cell: str) -> str:
            curve = _curve(cell)
            return self.otherwise.get(curve, curve) + cell[len(curve) :]

        return self.model_copy(update={"check": tuple(one.renamed(name) for one in self.check)})


def inner(term: Term | Inner) -> tuple[Inner, ...]:
    """Return what a number is made of; nothing for a cell."""
    return () if isinstance(term, str) else next(iter(term.values()))


def cells(term: Term | Inner) -> Iterator[str]:
    """Yield the name of every cell of a number."""
    if isinstance(term, str):
        yield term
    for part in inner(term):
        yield from cells(part)


def _curve(cell: str) -> str:
    """Return the curve of the name of a point, or what it is the name of."""
    return cell.partition("@")[0]


def _sound(made: dict[Operation, tuple[Inner, ...]] | dict[Operation, tuple[str, ...]]) -> None:
    if len(made) != 1:
        raise ValueError(f"one operation at a time, not {', '.join(made) or 'none'}")
    ((operation, parts),) = made.items()
    if not parts or (operation in PAIRS and len(parts) != 2):
        raise ValueError(f"{operation} is of {'two numbers' if operation in PAIRS else 'numbers'}")
