"""What the page of a folder of kept results is made of: of its files, with no run at hand.

What a folder lacks, its page does not speak of.
"""

import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from fastdecode.config.base import check, read_yaml
from fastdecode.config.corpora import Corpus
from fastdecode.config.papers import Paper
from fastdecode.config.rows import Dataset
from fastdecode.errors import UserError
from fastdecode.report.captions import captions
from fastdecode.report.page.page import PaperOf, Report
from fastdecode.report.page.place import Place
from fastdecode.report.page.sections import words
from fastdecode.report.speed_numbers import SPEEDS
from fastdecode.report.tidy import TIDY

MEASUREMENTS = ("measurements.csv", "measurements.csv.gz")
LINKED = (".csv", ".md", ".tex", ".json")
VALID = Dataset.model_fields["valid"].default  # the validation set of datasets that nobody knows


def measurements(folder: Path) -> str | None:
    """Return the name of a folder's measurements; without them there is no page of it."""
    return next((name for name in MEASUREMENTS if (folder / name).is_file()), None)


def kept(
    folder: Path,
    out: Path,
    drawn: Mapping[str, Sequence[Path]],
    papers: Mapping[str, Paper],
    definitions: Path,
) -> Report:
    """Return what a page in `out` is made of that shows what is in `folder`.

    `drawn` are the files in `out` by the name of the CSV file in `folder` that each was drawn from;
    artifacts and tables of speed that are not among them are left out. `definitions` has the rows
    of datasets and corpora, of which the page takes languages.

    Raises UserError if there are no measurements, or a file cannot be used.
    """
    found = measurements(folder)
    if found is None:
        raise UserError(f"{folder}: no {' or '.join(MEASUREMENTS)}, which a page is made of")
    tidy = TIDY.read(folder / found)
    there = sorted(path.name for path in folder.iterdir() if path.is_file())
    beside = {path.name for files in drawn.values() for path in files}
    datasets = _datasets(tidy, definitions)
    shown = [_paper(key, paper, drawn) for key, paper in papers.items()]
    shown = [paper for paper in shown if paper.artifacts or f"claims.{paper.key}.csv" in there]
    speeds = [f"{name}.csv" for name in drawn if name.startswith("speed.")]
    return Report(
        name=words(tidy["run"]),
        place=Place(folder, out, beside),
        splits=_tested(tidy, datasets),
        speedup_over=_denominators([SPEEDS.read(folder / name) for name in speeds]),
        measurements=found,
        papers=shown,
        speeds=speeds,
        sentences=fnmatch.filter(there, "sentences.*.csv"),
        languages=_languages(datasets, definitions),
        figures=captions(fnmatch.filter(sorted({*there, *beside}), "*.svg")),
        files=[found, *_further(there, shown)],
    )


def _datasets(tidy: pd.DataFrame, definitions: Path) -> dict[str, Dataset]:
    """Return those datasets whose rows there are."""
    files = {str(name): definitions / f"datasets/{name}.yaml" for name in tidy["dataset"].unique()}
    return {
        name: check(Dataset, read_yaml(file), str(file))
        for name, file in files.items()
        if file.is_file()
    }


def _tested(tidy: pd.DataFrame, datasets: Mapping[str, Dataset]) -> list[tuple[str, str]]:
    """Return (dataset, split) of all that was measured, but on validation sets."""
    pairs = tidy[["dataset", "split"]].drop_duplicates().itertuples(index=False, name=None)
    valid = {name: row.valid for name, row in datasets.items()}
    return [(name, split) for name, split in pairs if split not in ("", valid.get(name, VALID))]


def _denominators(speeds: Sequence[pd.DataFrame]) -> dict[str, str | None]:
    """Return what the speed-ups of each tier are over: in all tables the same, or in none known."""
    found: dict[str, str | None] = {}
    for frame in speeds:
        for tier, over in frame[["tier", "over"]].itertuples(index=False, name=None):
            found[tier] = over or found.get(tier)
    return found


def _paper(key: str, paper: Paper, drawn: Mapping[str, Sequence[Path]]) -> PaperOf:
    artifacts = {
        name: artifact for name, artifact in paper.artifacts.items() if f"{key}.{name}" in drawn
    }
    return PaperOf(key, paper.title, paper.authors, paper.year, artifacts)


def _languages(datasets: Mapping[str, Dataset], definitions: Path) -> dict[str, tuple[str, str]]:
    """Return the languages of the source and of the target of every dataset that has a corpus."""
    languages = {}
    for name, row in datasets.items():
        file = definitions / f"corpora/{row.corpus}.yaml"
        if file.is_file():
            corpus = check(Corpus, read_yaml(file), str(file))
            languages[name] = (corpus.source, corpus.target)
    return languages


def _further(there: Sequence[str], shown: Sequence[PaperOf]) -> list[str]:
    """Return files of numbers and tables that stand nowhere else on the page."""
    elsewhere = [f"{paper.key}.{name}." for paper in shown for name in paper.artifacts]
    elsewhere += [f"claims.{paper.key}." for paper in shown]
    elsewhere += [*MEASUREMENTS, "README."]
    return [
        name for name in there if name.endswith(LINKED) and not name.startswith(tuple(elsewhere))
    ]
