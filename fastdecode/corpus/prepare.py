"""From the raw splits of a corpus to tokenised ones, with a training set that is clean.

A training pair is removed for the first of these reasons that holds: a side is `empty`; a side is
`too_long`; the `ratio` of their lengths is too large; it is a `duplicate` of an earlier pair; its
source stands in another split too, so it is `held_out`. Other splits are never filtered. All tests
are made on tokenised text, lengths are in words.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fastdecode.config.corpora import Clean, Corpus
from fastdecode.corpus.aside import build_aside
from fastdecode.corpus.pool import map_ordered
from fastdecode.corpus.tokenise import tokeniser
from fastdecode.errors import UserError
from fastdecode.files import open_to_write, read_lines, read_pairs, write_json
from fastdecode.progress import say, track

TRAIN = "train"
# Why a pair is removed, and what a message says of those that are.
REASONS = {
    "empty": "with an empty side",
    "too_long": "too long",
    "ratio": "of too unequal lengths",
    "duplicate": "that stood there before",
    "held_out": "whose source is in another split, too",
}

Pair = tuple[str, str]
Read = tuple[int, Pair, Pair]  # a raw pair's number, its text, the same tokenised


def prepare(raw: Path, out: Path, corpus: Corpus, processes: int = 1) -> None:
    """Tokenise and clean `raw/<split>.<language>.gz` into the folder `out`, which gets

    - `<split>.<language>.gz`: tokenised text;
    - `<split>.raw.<language>.gz`, for all splits but train: the same lines as they were read;
    - `train.kept.gz`: the raw line, counted from 0, of every training pair;
    - `report.json`: for every split how many pairs were `read`, `removed` for which reason, `taken`
      to be held out, and `kept`; and the lengths of each side.

    A split of `corpus.holdout` is every nth pair of the clean training set; the pairs that share a
    source with it leave the training set too. The files appear together, when all are complete.
    Finding duplicates takes about 100 bytes of memory a pair.

    Raises UserError on sides of unequal length, on a split whose sides are the same, and if a
    split is empty or becomes so.
    """
    languages = corpus.source, corpus.target
    tokenise = _pair_tokeniser(corpus)
    given = [split for split in corpus.split_names if split not in (TRAIN, *corpus.holdout)]
    counts = {split: Counter[str]() for split in (TRAIN, *given, *corpus.holdout)}

    def pairs(split: str) -> Iterator[Read]:
        """Yield every pair of a raw split."""
        source, target = (raw / f"{split}.{language}.gz" for language in languages)
        read = track(read_pairs(source, target), "prepare", f"pairs of {split}")
        for number, (pair, tokens) in enumerate(map_ordered(tokenise, read, processes)):
            counts[split]["read"] += 1
            counts[split]["copied"] += pair[0] == pair[1] != ""
            yield number, pair, tokens
        if counts[split]["copied"] == counts[split]["read"] > 0:
            raise UserError(
                f"{raw}: source and target of the split {split} are the same in all "
                f"{counts[split]['read']:,} lines: give the other language's file for one of them"
            )

    with build_aside(out) as part:
        held: set[bytes] = set()
        for split in given:
            held |= _write_all(part, split, languages, pairs(split))
        taken = _write_clean(part, corpus, pairs(TRAIN), held, counts)
        if taken:  # a pair that shares a source may have come before: look again
            counts[TRAIN]["held_out"] += _refuse(part, languages, taken)

        report = {split: _report(part, split, languages, counts[split]) for split in counts}
        _check(report, raw)
        write_json(part / "report.json", {"splits": report})
    train = report[TRAIN]
    say("prepare", f"kept {train['kept']:,} of {train['read']:,} training pairs{_without(train)}")


def _write_all(
    folder: Path, split: str, languages: Sequence[str], pairs: Iterable[Read]
) -> set[bytes]:
    """Write a split as it is; return the digests of its sources."""
    held: set[bytes] = set()
    with _writer(folder, split, languages) as write:
        for number, pair, tokens in pairs:
            write(number, pair, tokens)
            held.add(_digest(tokens[0]))
    return held


def _write_clean(
    folder: Path,
    corpus: Corpus,
    pairs: Iterable[Read],
    held: set[bytes],
    counts: Mapping[str, Counter[str]],
) -> set[bytes]:
    """Write the clean training pairs and what is held out of them; count both in `counts`.

    Returns the digests of the sources that are held out; `held` are those of given splits.
    """
    fault = _fault_finder(corpus.clean, held)
    taken: set[bytes] = set()
    clean = 0
    with ExitStack() as stack:
        writers = {
            split: stack.enter_context(_writer(folder, split, (corpus.source, corpus.target)))
            for split in (TRAIN, *corpus.holdout)
        }
        for number, pair, tokens in pairs:
            if reason := fault(*tokens):
                counts[TRAIN][reason] += 1
                continue
            clean += 1
            split = next((s for s, n in corpus.holdout.items() if clean % n == 0), TRAIN)
            if split != TRAIN:
                counts[TRAIN]["taken"] += 1
                counts[split]["read"] += 1
                taken.add(_digest(tokens[0]))
            writers[split](number, pair, tokens)
    return taken


def _check(report: Mapping[str, Any], raw: Path) -> None:
    """Raise UserError if a split has no pair, or no word of a language."""
    for split, entry in report.items():
        if not entry["kept"]:
            raise UserError(
                f"{raw}: the split {split} has no pair left of {entry['read']:,} read"
                f"{_without(entry)}: check the corpus and its cleaning"
            )
        for language, side in entry["sides"].items():
            if not side["tokens"]:
                raise UserError(
                    f"{raw}: the split {split} has no word of {language} in {entry['kept']:,} "
                    "lines: put its text in place"
                )


def _without(entry: Mapping[str, Any]) -> str:
    """Say how many pairs of a split were removed, the most frequent reason first."""
    removed = sorted(entry["removed"].items(), key=lambda item: -item[1])
    told = [f"{count:,} {REASONS[reason]}" for reason, count in removed if count]
    return f", without {', '.join(told)}" if told else ""


def _pair_tokeniser(corpus: Corpus) -> Callable[[Pair], Pair]:
    source, target = (
        tokeniser(language, lowercase=corpus.lowercase, pretokenised=corpus.pretokenised)
        for language in (corpus.source, corpus.target)
    )
    return lambda pair: (source.tokenise(pair[0]), target.tokenise(pair[1]))


def _fault_finder(clean: Clean, held: set[bytes]) -> Callable[[str, str], str | None]:
    """Return what says why a tokenised training pair is to be removed, if it is."""
    seen: set[bytes] = set()

    def fault(source: str, target: str) -> str | None:
        shorter, longer = sorted((len(source.split()), len(target.split())))
        if shorter == 0:
            return "empty"
        if clean.max_tokens and longer > clean.max_tokens:
            return "too_long"
        if clean.max_ratio and longer > clean.max_ratio * shorter:
            return "ratio"
        if clean.deduplicate:
            pair = _digest(f"{source}\n{target}")
            if pair in seen:
                return "duplicate"
            seen.add(pair)
        return "held_out" if _digest(source) in held else None

    return fault


def _digest(text: str) -> bytes:
    """Return 16 bytes that stand for a text: among 20 million, equal ones by chance: 1e-24."""
    return blake2b(text.encode(), digest_size=16).digest()


@contextmanager
def _writer(
    folder: Path, split: str, languages: Sequence[str]
) -> Iterator[Callable[[int, Pair, Pair], None]]:
    """Yield what writes number, raw and tokenised text of a pair to the files of a split."""
    names = [f"{split}.{language}" for language in languages]
    names += ["train.kept"] if split == TRAIN else [f"{split}.raw.{lang}" for lang in languages]
    with ExitStack() as stack:
        files = [stack.enter_context(open_to_write(folder / f"{name}.gz")) for name in names]

        def write(number: int, pair: Pair, tokens: Pair) -> None:
            more = (str(number),) if split == TRAIN else pair
            for file, text in zip(files, (*tokens, *more), strict=True):
                file.write(text + "\n")

        yield write


def _refuse(folder: Path, languages: Sequence[str], held: set[bytes]) -> int:
    """Write the training set again without the pairs whose source is in `held`; count those."""
    source, target = (folder / f"{TRAIN}.{language}.gz" for language in languages)
    numbers = read_lines(folder / "train.kept.gz")
    refused = 0
    with _writer(folder, TRAIN, languages) as write:
        for number, tokens in zip(numbers, read_pairs(source, target), strict=True):
            if _digest(tokens[0]) in held:
                refused += 1
            else:
                write(int(number), tokens, tokens)
    return refused


def _report(
    folder: Path, split: str, languages: Sequence[str], counts: Counter[str]
) -> dict[str, Any]:
    """Return the entry of a split in report.json."""
    lengths = {lang: _lengths(folder / f"{split}.{lang}.gz") for lang in languages}
    return {
        "read": counts["read"],
        "removed": {reason: counts[reason] for reason in REASONS} if split == TRAIN else {},
        "taken": counts["taken"],
        "kept": lengths[languages[0]].total(),
        "sides": {language: _summary(lengths[language]) for language in languages},
    }


def _lengths(path: Path) -> Counter[int]:
    """Count the lines of each length in tokens."""
    return Counter(len(line.split()) for line in read_lines(path))


def _summary(lengths: Counter[int]) -> dict[str, float]:
    """Return tokens, and mean, median (the lower of two) and longest length."""
    lines, tokens = lengths.total(), sum(length * n for length, n in lengths.items())
    if not lines:
        return {"tokens": 0}
    below = 0
    for median in sorted(lengths):
        below += lengths[median]
        if 2 * below >= lines:
            break
    return {
        "tokens": tokens,
        "mean": round(tokens / lines, 2),
        "median": median,
        "max": max(lengths),
    }
