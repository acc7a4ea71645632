"""`fastdecode compare`: is one translation better than another by more than chance?"""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

from fastdecode.corpus.characters import composed
from fastdecode.errors import UserError
from fastdecode.files import read_lines
from fastdecode.measure.significance import Comparison, compare
from fastdecode.translation import read_translations

LANGUAGE = "[a-z]{2,3}"  # a corpus's, too
# What a run calls the lines of a split, raw or tokenised.
LINES = re.compile(
    r"(?:.*?\.)??(?P<split>[^.]+)(?P<raw>\.raw)?"
    rf"\.(?!gz$)(?P<language>{LANGUAGE})(\.gz)?"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Compare the BLEU of two translations of one test set, whoever wrote them. For decoders\n"
        "with several seeds see differences.*.csv in the report of their run."
    )
    parser.epilog = (
        "example:\n"
        "  fastdecode compare \\\n"
        "      results/toy/transformer/lattice/seed1/test.lattice-k64-candidates.jsonl.gz \\\n"
        "      results/toy/transformer/transformer/seed1/test.greedy.jsonl.gz \\\n"
        "      --reference results/corpora/toy/test.raw.de.gz --language de"
    )
    parser.add_argument(
        "system",
        type=Path,
        metavar="A.jsonl.gz",
        help="translations, as a run writes them; any other name: text, a translation a line, as "
        "`fastdecode translate` writes it",
    )
    parser.add_argument(
        "baseline", type=Path, metavar="B.jsonl.gz", help="what they are compared with"
    )
    parser.add_argument(
        "--reference",
        type=Path,
        required=True,
        metavar="FILE",
        help="raw target lines, plain or .gz, such as a run's corpora/CORPUS/SPLIT.raw.LANGUAGE.gz",
    )
    parser.add_argument(
        "--language",
        type=_language,
        metavar="CODE",
        help="target language, for sacreBLEU's tokeniser (default: that in the reference's name, "
        "if a run wrote it, else en)",
    )
    parser.add_argument("--lowercase", action="store_true", help="ignore case")


def run(arguments: argparse.Namespace) -> None:
    """Print BLEU of both with their intervals, the difference, and how likely chance makes it.

    Raises UserError on files that are not of one test set.
    """
    system, baseline = (_read(path) for path in (arguments.system, arguments.baseline))
    for made in (system, baseline):
        _check_split(made, arguments.reference)
    reference = list(map(composed, read_lines(arguments.reference)))
    _check_counts(arguments.system, len(system.texts), arguments.baseline, len(baseline.texts))
    _check_counts(arguments.system, len(system.texts), arguments.reference, len(reference))
    _check_raw(arguments.reference)
    for made in (system, baseline):
        if made.sources and list(map(_words, made.sources)) == list(map(_words, reference)):
            raise UserError(
                f"--reference: {arguments.reference} holds the lines that {made.path} translates: "
                "name the raw target lines"
            )
    # Of text it is not known what it translates.
    pairs = zip(system.sources or (), baseline.sources or (), strict=False)
    for number, (source, other) in enumerate(pairs, 1):
        if source != other:
            raise UserError(
                f"{arguments.system} and {arguments.baseline} translate different texts: sentence "
                f"{number} is {source!r} here and {other!r} there: compare the same split"
            )
    compared = compare(
        system.texts,
        baseline.texts,
        reference,
        arguments.language or _language_of(arguments.reference),
        arguments.lowercase,
    )
    print(_describe(compared, arguments.system, arguments.baseline))


def _language(text: str) -> str:
    """Parse the code of a language, as a corpus has it."""
    if not re.fullmatch(LANGUAGE, text):
        raise argparse.ArgumentTypeError(f"{text!r} is no code of a language, such as de or zh")
    return text


def _language_of(reference: Path) -> str:
    """Return the language that a run's SPLIT.raw.LANGUAGE.gz is in; of other files, English."""
    found = LINES.fullmatch(reference.name)
    return found["language"] if found and found["raw"] else "en"


@dataclass(frozen=True)
class _Made:
    """Translations of a file."""

    path: Path
    texts: list[str]
    sources: list[str] | None = None  # None: not known
    split: str | None = None  # the same


def _read(path: Path) -> _Made:
    """Read translations as a run writes them, or, of another name, text."""
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        return _Made(path, list(map(composed, read_lines(path))))
    header, sources, translations = read_translations(path)
    split = (header.get("provenance") or {}).get("split")
    return _Made(path, [translation.text for translation in translations], sources, split)


def _check_split(made: _Made, reference: Path) -> None:
    """Raise UserError if a reference is by its name another split than was translated.

    Raw lines of a run have a name of their own; of others it counts if the split lies beside them.
    """
    found = LINES.fullmatch(reference.name)
    if made.split and found and found["split"] != made.split:
        before, after = reference.name[: found.start("split")], reference.name[found.end("split") :]
        if found["raw"] or reference.with_name(f"{before}{made.split}{after}").exists():
            raise UserError(
                f"--reference: {reference} is by its name of the split {found['split']}, but "
                f"{made.path} translates {made.split}: name the raw target lines of {made.split}"
            )


def _check_raw(reference: Path) -> None:
    """Raise UserError on what a run tokenised, beside which the raw lines lie."""
    found = LINES.fullmatch(reference.name)
    if found and not found["raw"]:
        end = found.end("split")
        raw = reference.with_name(f"{reference.name[:end]}.raw{reference.name[end:]}")
        if raw.exists():
            raise UserError(f"--reference: {reference} is tokenised: name the raw lines, {raw}")


def _words(line: str) -> list[str]:
    """Return a line without what depends on how its blanks were written."""
    return composed(line).split()


def _describe(found: Comparison, system: Path, baseline: Path) -> str:
    return f"""\
A  {system}
B  {baseline}

             BLEU   95% interval
A          {found.bleu:6.2f}   {found.low:.2f} to {found.high:.2f}
B          {found.baseline_bleu:6.2f}   {found.baseline_low:.2f} to {found.baseline_high:.2f}
A - B      {found.difference:+6.2f}   {found.changed:,} of {found.lines:,} lines score differently

approximate randomisation   p = {found.p_randomisation:.4f}   {found.shuffles:,} shuffles
paired bootstrap            p = {found.p_bootstrap:.4f}   {found.resamples:,} resamples

{found.signature_randomisation}
{found.signature_bootstrap}"""


def _check_counts(one: Path, lines: int, other: Path, others: int) -> None:
    if lines != others:
        raise UserError(f"{one} has {lines} sentences but {other} has {others}: take one test set")
