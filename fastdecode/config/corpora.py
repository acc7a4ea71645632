"""What a corpus is: its languages, the files it is made from, its splits and how it is cleaned.

A row of `config/corpora/` is a `Corpus`, a row of `config/downloads.yaml` a `Download`. A split is
the concatenation of pieces; the `kind` of a piece says where its text lies, `format` how it is
written there.
"""

from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PositiveFloat, PositiveInt, model_validator

from fastdecode.config.base import Form, Row
from fastdecode.errors import UserError

DOWNLOADS = "results/downloads"  # no parameter of a rule: it decides nothing of what is extracted
ARCHIVES = (".tgz", ".tar.gz", ".zip")
GENERATED_SPLITS = ("train", "valid", "test")


def _stays_below(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or str(PurePosixPath(path)) != path:
        raise ValueError("expected a plain relative path, such as wmt19/dev.tgz")
    return path


Key = Annotated[str, AfterValidator(_stays_below)]
Language = Annotated[
    str, Field(pattern=r"^[a-z]{2,3}$"), Form("two or three small letters, such as de")
]
SplitName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$"),
    Form("a name of letters, digits, _ and -, the first a letter or digit"),
]
Address = Annotated[
    str, Field(pattern=r"^https?://"), Form("an address that begins with https:// or http://")
]
Checksum = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$"), Form("64 digits and letters a to f")]
Format = Annotated[
    Literal["plain", "subwords", "sgm", "ted"],
    Field(
        description="plain: a sentence a line; subwords: the same after BPE, whose @@ marks are "
        "taken out; sgm: <seg> elements (WMT's .sgm, TED's .xml); ted: TED's train.tags"
    ),
]


class Download(Row):
    """A file that corpora are made from; its key is its path below the mirror folder."""

    url: Address | None = Field(
        None, description="where it is fetched from, unless the mirror folder has it"
    )
    bytes: PositiveInt | None = Field(None, description="its size, where known")
    sha256: Checksum | None = Field(
        None, description="its checksum; where unknown, the first fetch records it"
    )
    by_hand: str | None = Field(
        None, description="for a file without url: where it comes from, said to the user"
    )

    @model_validator(mode="after")
    def _has_an_origin(self) -> "Download":
        if self.url is None and self.by_hand is None:
            raise ValueError("give url, or by_hand: where a file without url comes from")
        return self


class Piece(Row):
    """A parallel text; each kind adds where it lies."""

    @property
    def downloads(self) -> tuple[str, ...]:
        """Keys of the downloads it is read from."""
        return ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """The user's own files it is read from."""
        return ()


class Pair(Piece):
    """Two downloads, one a language."""

    kind: Literal["pair"]
    format: Format = "plain"
    source: Key = Field(description="key of a download, plain or .gz")
    target: Key = Field(description="key of a download, plain or .gz")

    @property
    def downloads(self) -> tuple[str, ...]:
        """Keys of the downloads it is read from."""
        return self.source, self.target


class Members(Piece):
    """Two members of one downloaded archive, of ARCHIVES."""

    kind: Literal["members"]
    format: Format = "plain"
    archive: Key = Field(description="key of a download")
    source: str = Field(description="path inside the archive")
    target: str = Field(description="path inside the archive")

    @model_validator(mode="after")
    def _opens(self) -> "Members":
        if not self.archive.endswith(ARCHIVES):
            kinds = ", ".join(ARCHIVES)
            raise ValueError(f"archive: {self.archive} is none of {kinds}: pack it as one of these")
        return self

    @property
    def downloads(self) -> tuple[str, ...]:
        """Keys of the downloads it is read from."""
        return (self.archive,)


class Files(Piece):
    """Two files of the user's own, plain or .gz."""

    kind: Literal["files"]
    format: Format = "plain"
    source: Path = Field(description="path, relative to where snakemake runs")
    target: Path = Field(description="path, relative to where snakemake runs")

    @property
    def paths(self) -> tuple[Path, ...]:
        """The user's own files it is read from."""
        return self.source, self.target

    @model_validator(mode="after")
    def _two_files(self) -> "Files":
        if self.source == self.target:
            raise ValueError(f"source and target are both {self.source}")
        return self


class Bilingual(Piece):
    """One download with both languages in it."""

    kind: Literal["tmx", "aspec"] = Field(
        description="tmx: a translation memory; aspec: fields between |||, Japanese, English last"
    )
    download: Key = Field(description="key of a download, plain or .gz")

    @property
    def downloads(self) -> tuple[str, ...]:
        """Keys of the downloads it is read from."""
        return (self.download,)


AnyPiece = Annotated[Pair | Members | Files | Bilingual, Field(discriminator="kind")]


class Clean(Row):
    """Which training pairs are dropped; null switches a limit off."""

    max_tokens: PositiveInt | None = Field(250, description="longest side, in tokens")
    max_ratio: PositiveFloat | None = Field(1.5, ge=1, description="longer side / shorter side")
    deduplicate: bool = Field(True, description="keep the first of equal pairs")


class Corpus(Row):
    """A parallel corpus of one language pair and direction."""

    source: Language = Field(description="source language")
    target: Language = Field(description="target language")
    lowercase: bool = Field(False, description="lowercase all text")
    pretokenised: bool = Field(False, description="tokens already stand between spaces")
    generate: Literal["toy"] | None = Field(
        None, description="written by the project's grammar instead of read from files"
    )
    seed: PositiveInt | None = Field(None, description="seed of a generated corpus")
    pairs: PositiveInt | None = Field(
        None, description="training pairs, about: for `fastdecode plan`, until they are counted"
    )
    words: PositiveInt = Field(25, description="words of a line, about: the same")
    clean: Clean = Field(Clean(), description="cleaning of train")
    holdout: dict[SplitName, Annotated[int, Field(ge=2)]] = Field(
        {}, max_length=1, description="split: n — every nth training pair, after cleaning"
    )
    splits: dict[SplitName, Annotated[tuple[AnyPiece, ...], Field(min_length=1)]] = Field(
        {}, description="split → pieces, read one after another"
    )
    references: dict[SplitName, Key] = Field(
        {},
        description="split → a download with more right translations of some of its lines, marked "
        "as those of newstest2014 by Ott et al. (2018) are",
    )

    @property
    def split_names(self) -> tuple[str, ...]:
        """Every split, those held out of train last."""
        return (*(GENERATED_SPLITS if self.generate else self.splits), *self.holdout)

    def has_several_references(self, split: str) -> bool:
        """Tell whether several right translations of lines of a split are known."""
        return bool(self.generate and split != "train") or split in self.references

    def downloads(self, split: str) -> tuple[str, ...]:
        """Keys of the downloads a split of files is read from, each once."""
        return tuple(dict.fromkeys(key for p in self.splits[split] for key in p.downloads))

    def paths(self, split: str) -> tuple[Path, ...]:
        """The user's own files a split of files is read from, each once."""
        return tuple(dict.fromkeys(path for p in self.splits[split] for path in p.paths))

    def check_files(self, where: str) -> None:
        """Raise UserError, which begins with `where`, if a file of the user's own is missing."""
        for split in self.splits:
            for path in self.paths(split):
                if path.is_dir():
                    raise UserError(f"{where}: splits.{split}: {path} is a folder: name a file")
                if not path.is_file():
                    raise UserError(
                        f"{where}: splits.{split}: no file {path} (a path without / at "
                        f"its beginning is from the folder of the run, {Path.cwd()})"
                    )

    @property
    def text(self) -> dict[str, Any]:
        """What its raw lines are turned into tokens by, beside the BPE codes: see text.Text."""
        return self.model_dump(include={"source", "target", "lowercase", "pretokenised"})

    @model_validator(mode="after")
    def _is_sound(self) -> "Corpus":
        if self.source == self.target:
            raise ValueError(f"source and target are both {self.source}")
        if bool(self.generate) == bool(self.splits):
            raise ValueError("give either splits or generate")
        if bool(self.generate) != bool(self.seed):
            raise ValueError("generate and seed go together")
        if self.generate and (self.source, self.target) != ("en", "de"):
            raise ValueError("what is generated is English and German: source en, target de")
        if self.generate and (self.holdout or self.lowercase or self.pretokenised):
            raise ValueError(
                "what is generated has splits, case and punctuation of its own: "
                "leave holdout, lowercase and pretokenised out"
            )
        for split in self.holdout:
            if self.split_names.count(split) > 1:
                raise ValueError(f"the split {split} is both held out and given")
        for split in ("train", "valid", *self.references):
            if split not in self.split_names:
                raise ValueError(f"there is no split {split}")
        for one, other in combinations(self.splits, 2):
            if self.paths(one) and self.paths(one) == self.paths(other):
                raise ValueError(f"splits: {one} and {other} are the same files: name others")
        kinds = {piece.kind for pieces in self.splits.values() for piece in pieces}
        if "aspec" in kinds and {self.source, self.target} != {"ja", "en"}:
            raise ValueError("pieces of kind aspec are Japanese and English: ja and en")
        return self
