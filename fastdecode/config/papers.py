"""What a paper published, and what of a run stands beside it: the rows of `config/papers`."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, PositiveInt, model_validator

from fastdecode.config.base import Row
from fastdecode.config.claims import Claim
from fastdecode.config.functions import traits
from fastdecode.config.rows import RAW, UNTRAINED, Name, Tier

DISTILLED = "distilled"  # stands for the run's target that a teacher wrote
NO_TEACHER = (RAW, UNTRAINED)
OVER = "over"  # the cell of a published row that says what its speed-up is over, if not the rest's
SD = "_sd"  # behind a published column: the deviation over seeds of its number
BESIDE = "ours"  # the cell of a published row that says what of a run stands beside it
Patterns = str | list[str]
Cell = str | int | float | bool | list[str] | dict[str, Patterns] | None
AT = "@"  # in the name of an entry, and of what a column measures: which of a row's several


class Artifact(Row):
    """One table or figure of a paper."""

    title: str = Field(description="what it shows, as the caption begins")
    kind: Literal["table", "figure"] = Field(description="what is drawn")
    function: str = Field(
        description="what makes it: a module of fastdecode/report, such as artifacts.rows"
    )
    setting: str = Field("", description="data, device and conditions of the published numbers")
    datasets: tuple[Name, ...] = Field(
        (),
        description="the paper's own rows of config/datasets: a run that has some of them shows "
        "these alone; any other shows all that it has",
    )
    split: Literal["test", "valid"] = Field(
        "test", description="where quality is measured: the first test split, or the validation set"
    )
    axes: dict[Literal["x", "y"], str] = Field({}, description="of a figure: what they are, units")
    labels: dict[str, str] = Field({}, description="column of words → heading")
    published: dict[str, str] = Field({}, description="column of published numbers → heading")
    measured: dict[str, str] = Field(
        {}, description="column of ours → what it holds, see fastdecode/config/metrics.py"
    )
    tiers: tuple[Tier, ...] = Field(
        ("reference",),
        description="tiers of our times; optimised: of the fast decoder with the same search",
    )
    over: Name | None = Field(
        None, description="the row that speed-ups of ours are over; a row may name another, `over`"
    )
    batch: PositiveInt | None = Field(
        None, description="sentences a batch of the speeds in Smax; null: the fastest measured"
    )
    against: tuple[str, ...] = Field(
        (),
        description="rows that the BLEU of every row is tested against, p < 0.05 is marked; "
        "row@name for columns that measure bleu@<name>",
    )
    tuned: dict[Name, tuple[Name, ...]] = Field(
        {},
        description="decoder → others: where a row names the one, its BLEU is that of whichever of "
        "all these is best on the validation set",
    )
    rows: dict[Name, dict[str, Cell]] = Field(
        {},
        description="row → published cells; `ours`: target/system/decoder of the run, or several, "
        "of which the first that was run counts (where lists of several rows differ alike, that of "
        "which the run has most), the target a teacher, raw or distilled; or names "
        "→ such patterns, for columns that measure bleu@<name>; in a table of parameters the key "
        "of the setting, <decoder>/<key> of a decoder's, several, or column → key; in what is made "
        "of traces the name of one",
    )
    systems: dict[Name, str | tuple[str, ...]] = Field(
        {}, description="for a table whose columns are systems: name → as `ours` of a row"
    )
    statistics: dict[Name, tuple[str | tuple[str, ...], ...]] = Field(
        {},
        description="statistic that it needs → target/system that it is of, each of them, or of "
        "several in a list the first that was run",
    )
    statistics_on: tuple[Literal["train", "valid", "test"], ...] = Field(
        (), description="where statistics are measured, by default on `split`; train: on a sample"
    )
    curves: tuple[str, ...] = Field(
        (), description="target/system whose learning curves it needs, as far as the run has them"
    )
    names: dict[Name, str] = Field(
        {},
        description="system → what it is called where the legend of a figure would say "
        "target/system; what learns from a teacher is named with it",
    )
    shows: str = Field("", description="what the published figure is said to show")
    notes: tuple[str, ...] = Field((), description="doubts about the published numbers")

    @model_validator(mode="after")
    def _cells(self) -> "Artifact":
        known = {*self.labels, *self.published, BESIDE, OVER}
        known |= {f"{column}{SD}" for column in self.published}
        for name, row in self.rows.items():
            if unknown := set(row) - known:
                raise ValueError(f"rows.{name}: no column is called {', '.join(sorted(unknown))}")
        if both := set(self.systems) & set(self.rows):
            raise ValueError(f"systems: {', '.join(sorted(both))} is a row, too")
        named: list[tuple[str, Cell]] = [("over", self.over)]
        named += [("against", base.partition(AT)[0]) for base in self.against]
        named += [(f"rows.{name}.over", row.get(OVER)) for name, row in self.rows.items()]
        for where, base in named:
            if base is not None and base not in self.rows:
                raise ValueError(f"{where}: there is no row {base}")
        for base in self.against:
            for pattern in self.patterns(base.partition(AT)[0]).get(base, []):
                # its BLEU would be that of another decoder than the one tested against
                if pattern.rpartition("/")[2] in self.tuned:
                    raise ValueError(
                        f"against: {base} is {pattern}, which is tuned: name a row that is not"
                    )
        return self

    @property
    def page(self) -> bool:
        """Whether a table is a page of HTML, too."""
        return traits(self.function).page

    def legend(self, series: str) -> str:
        """Return what a legend calls the target/system that a series is of."""
        target, _, system = series.partition("/")
        if system not in self.names:
            return series
        return self.names[system] + ("" if target == RAW else f", taught by {target}")

    def base(self, row: str) -> str | None:
        """Return the row that the speed-up of a row is over."""
        over = self.rows[row].get(OVER, self.over)
        return None if over is None else str(over)

    def wanted(self, row: str) -> list[str]:
        """Return the patterns of a row, whichever column they are for."""
        return [pattern for found in self.patterns(row).values() for pattern in found]

    def patterns(self, row: str) -> dict[str, list[str]]:
        """Return entry → patterns target/system/decoder, the best first, of a row or a system.

        The entry has the name of the row, or <row>@<name> for each of several.
        """
        ours = self.systems[row] if row in self.systems else self.rows[row].get(BESIDE)
        several = ours if isinstance(ours, dict) else {"": ours} if ours else {}
        return {
            entry_of(row, name): [found] if isinstance(found, str) else list(map(str, found))  # type: ignore[arg-type]
            for name, found in several.items()
        }


def entry_of(row: str, name: str) -> str:
    """Return the name of one of a row's entries; without a name it is the row's own."""
    return f"{row}{AT}{name}" if name else row


class Paper(Row):
    """One paper: its artifacts by the paper's numbers, and its claims."""

    title: str = Field(description="title of the paper")
    authors: tuple[str, ...] = Field(description="its authors")
    year: PositiveInt = Field(description="year of publication")
    artifacts: dict[Name, Artifact] = Field(
        description="table1, figure1, … → what is reproduced, in the order of the paper"
    )
    claims: dict[Name, Claim] = Field({}, description="name → a claim")

    @model_validator(mode="after")
    def _claims(self) -> "Paper":
        for name, claim in self.claims.items():
            if unknown := set(claim.artifacts) - set(self.artifacts):
                raise ValueError(f"claims.{name}: there is no {', '.join(sorted(unknown))}")
            for check in claim.check:
                for cell in check.cells():
                    self._known(cell, check.artifacts or claim.artifacts, f"claims.{name}.check")
        return self

    def _known(self, cell: str, artifacts: tuple[str, ...], where: str) -> None:
        """Raise ValueError unless these artifacts, or the one that the cell names, can have it."""
        first, _, rest = cell.partition(".")
        named, place = ((first,), rest) if first in self.artifacts else (artifacts, cell)
        if not named:
            raise ValueError(f"{where}: {cell} is a cell of which artifact? Name it in `artifacts`")
        for name in named:
            artifact = self.artifacts[name]
            if artifact.kind == "figure":
                continue  # its curves are named by what makes it
            row, _, column = place.partition(".")
            if row not in artifact.rows:
                raise ValueError(f"{where}: {name} has no row {row}")
            if artifact.measured and column not in artifact.measured:
                raise ValueError(f"{where}: {name} has no column {column}")


def choose(pattern: str, systems: list[str], decoders: dict[str, list[str]]) -> str | None:
    """Return target/system/decoder of the run for a pattern; None if the run has nothing like it.

    `systems` are the run's, as target/system, `decoders` those of every one of them. The target
    `distilled` is that of the first such system with a teacher's, whatever decodes it, so that all
    rows of a table are about one target. A pattern without a decoder gives target/system.
    """
    target, system, *decoder = pattern.split("/")
    for entry in systems:
        of, name = entry.split("/")
        if name == system and (of == target or (target == DISTILLED and of not in NO_TEACHER)):
            there = set(decoder) <= set(decoders.get(entry, []))
            return "/".join([entry, *decoder]) if there else None
    return None


def alternatives(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return patterns of which the first counts that was run: one, or several."""
    return (patterns,) if isinstance(patterns, str) else patterns


def trained(entry: str) -> bool:
    """Tell whether target/system/… is trained."""
    return not entry.startswith(f"{UNTRAINED}/")


def patterns(paper: Paper) -> Iterator[tuple[str, str, int]]:
    """Yield where a pattern of the artifacts stands, the pattern, and of how many names it is."""
    for name, artifact in paper.artifacts.items():
        for place, named in (("rows", artifact.rows), ("systems", artifact.systems)):
            for row in named if traits(artifact.function).metrics else ():
                for pattern in artifact.wanted(row):
                    yield f"{name}.{place}.{row}", pattern, 3
        for statistic, wanted in artifact.statistics.items():
            for one in wanted:
                for pattern in alternatives(one):
                    yield f"{name}.statistics.{statistic}", pattern, 2
        for pattern in artifact.curves:
            yield f"{name}.curves", pattern, 2


def references(paper: Paper) -> Iterator[tuple[str, str, str]]:
    """Yield every name that the artifacts refer to, what kind of name it is, and where it stands.

    Kinds: target, system, decoder, metric.
    """
    for where, pattern, _ in patterns(paper):
        for word, kind in zip(pattern.split("/"), ("target", "system", "decoder"), strict=False):
            yield word, kind, where
    for name, artifact in paper.artifacts.items():
        yield from ((system, "system", f"{name}.names") for system in artifact.names)
        for decoder, others in artifact.tuned.items():
            yield from ((word, "decoder", f"{name}.tuned") for word in (decoder, *others))
        if traits(artifact.function).metrics:
            for column, metric in artifact.measured.items():
                yield metric.partition(AT)[0], "metric", f"{name}.measured.{column}"
