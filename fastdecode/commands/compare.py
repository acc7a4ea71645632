"""`fastdecode compare`: is one translation better than another by more than chance?"""

import argparse
import re
from pathlib import Path

from fastdecode.corpus.characters import composed
from fastdecode.errors import UserError
from fastdecode.files import read_lines
from fastdecode.measure.significance import Comparison, compare
from fastdecode.translation import read_translations

LANGUAGE = "[a-z]{2,3}"  # a corpus's, too


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Compare the BLEU of two translations of one test set that runs wrote. For decoders with "
        "several seeds see differences.*.csv in the report of their run."
    )
    parser.epilog = (
        "example:\n"
        "  fastdecode compare \\\n"
        "      results/toy/transformer/lattice/seed1/test.lattice-k64-candidates.jsonl.gz \\\n"
        "      results/toy/transformer/transformer/seed1/test.greedy.jsonl.gz \\\n"
        "      --reference results/corpora/toy/test.raw.de.gz --language de"
    )
    parser.add_argument(
        "system", type=Path, metavar="A.jsonl.gz", help="translations, as a run writes them"
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
    _, sources, system = read_translations(arguments.system)
    _, others, baseline = read_translations(arguments.baseline)
    reference = [composed(line) for line in read_lines(arguments.reference)]
    _check_counts(arguments.system, len(sources), arguments.baseline, len(others))
    _check_counts(arguments.system, len(sources), arguments.reference, len(reference))
    for number, (source, other) in enumerate(zip(sources, others, strict=True), 1):
        if source != other:
            raise UserError(
                f"{arguments.system} and {arguments.baseline} translate different texts: sentence "
                f"{number} is {source!r} here and {other!r} there: compare the same split"
            )
    compared = compare(
        [translation.text for translation in system],
        [translation.text for translation in baseline],
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
    found = re.fullmatch(rf".*\.raw\.(?!gz$)({LANGUAGE})(\.gz)?", reference.name)
    return found[1] if found else "en"


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
