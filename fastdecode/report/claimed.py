"""The page of the papers' claims: of each, in which kept runs it holds and in which it does not."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from fastdecode.config.papers import Paper
from fastdecode.report.by_paper import NOTHING, by_paper, line, link
from fastdecode.report.claims.findings import FAILS, HOLDS, UNKNOWN
from fastdecode.report.claims.kept import Kept, kept_verdicts

MEASUREMENTS = "measurements"
SO_FAR = "holds as far as measured"
HEAD = """# Which claims hold

Written by `make generated` from `config/papers/` and the verdicts in `docs/measurements/`: every
claim of the four papers that numbers can tell, and the folders whose run says that it holds, does
not hold, or cannot be told though some of it was measured. A speed-up of a paper, such as "about
three times faster", is read as its direction. Other bounds are the paper's, or wider where it is
said below the claim.

A claim holds in a run if the whole 95% interval of every condition is within its bounds (or the
number itself where other lines or repeats would not change it, such as a count), and does not hold
if one is outside: the folder's table of verdicts, which is linked, has the numbers. All data are
small.

- *Holds as far as measured*: every condition that the run measured holds; others it did not
  measure, such as those on a big model. The numbers of claims leave such runs out.
- *Times* are of the reference tier where a run has it; where another tier stands below the claim,
  of that one alone. Of several data the worst verdict counts.
- *Seeds*: intervals of a run of one seed know nothing of other seeds, and such a run counts as
  others do. So one seed can refute what three cannot tell. Trainings with seeds 1, 2 and 3 differ
  in their first weights and in what is drawn; but batches are fairseq's, and those of an epoch are
  those of the epoch before with the next seed. Nothing is corrected for the number of claims.
- *†* behind a folder: times that decide it drifted between repeats; *‡*: they are of random
  weights. The verdict counts all the same.
- *–* in all columns: no run has the data that the claim is about, such as Chinese, or long lines.
- *λ* of the graph is 8 in `dag/` and `families/toy-gpu`, 4 in other folders of `families/` and in
  `dag/multi30k-seeds`.
- `families/` are runs of all papers, other folders of one. Some share trainings, as `dag/toy` and
  `dag/seeds` share seed 1, or even times: two folders are not always two trials. Some claims are
  parts of others, as *order-of-decoders* is of *decoding-order*.
- *Left out* are verdicts before a claim's present reading, by other conditions, in other tiers
  alone, or by a number without an interval that other lines would move; and the default run: its
  models are not done learning.
- Systems are as they were when a folder was written ([what has
  changed](measurements/README.md#before-you-compare-pages)).
"""


def wanted(root: Path) -> dict[Path, str]:
    """Return the page of the project in `root`, with what it should hold."""
    return {root / "docs/claims.md": by_paper(root, HEAD, _table)}


def _table(key: str, paper: Paper, docs: Path) -> Iterator[str]:
    """Yield the lines of a paper's table: a claim each."""
    files = sorted((docs / MEASUREMENTS).rglob(f"claims.{key}.csv"))
    kept = {csv: kept_verdicts(paper, csv) for csv in files}
    yield _summary(paper, kept.values()) + "\n"
    yield line("claim", HOLDS, FAILS, SO_FAR, UNKNOWN)
    yield "|---|---|---|---|---|"
    for name, claim in paper.claims.items():
        said = f"*{name}*: {claim.statement}"
        if claim.reading:
            said += f"<br>Read as: {claim.reading}"
        if claim.unchecked:
            yield line(said, NOTHING, NOTHING, NOTHING, claim.unchecked)
            continue
        told = [(csv, found[name]) for csv, found in kept.items() if name in found]
        each = (_folders(column, told, docs) for column in (HOLDS, FAILS, SO_FAR, UNKNOWN))
        yield line(said, *each)


def _summary(paper: Paper, runs: Iterable[Mapping[str, Kept]]) -> str:
    """Return how many claims hold in all runs that can tell, in none of them, and in some."""
    verdicts = [[found[name].verdict for found in runs if name in found] for name in paper.claims]
    told = [{*each} & {HOLDS, FAILS} for each in verdicts]
    only, never, both = (told.count(these) for these in ({HOLDS}, {FAILS}, {HOLDS, FAILS}))
    once = sum(each.count(HOLDS) == 1 and FAILS not in each for each in verdicts)
    return (
        f"{len(told)} claims: {only} hold in every run that can tell ({once} of them by one run "
        f"alone), {never} in none of them, {both} in some; of {told.count(set())} no run can tell."
    )


def _folders(column: str, told: list[tuple[Path, Kept]], docs: Path) -> str:
    """Return the folders of a column: links to the verdicts of runs that measured some of it."""
    links = [
        link(str(csv.parent.relative_to(docs / MEASUREMENTS)), csv.with_suffix(".md"), docs)
        + kept.marks
        for csv, kept in told
        if (kept.measured or kept.verdict != UNKNOWN)
        and column == (SO_FAR if kept.so_far else kept.verdict)
    ]
    return ", ".join(links) or NOTHING
