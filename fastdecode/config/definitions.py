"""The rows that runs choose from: systems, decoders, presets, and files of one row each."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from fastdecode.config.base import Row, check, merge, nearest, read_yaml
from fastdecode.config.checks import FOLDERS
from fastdecode.config.corpora import Download
from fastdecode.config.devices import Device
from fastdecode.config.papers import DISTILLED
from fastdecode.config.rows import RAW, UNTRAINED, DecoderRow, Ensemble, Family, Preset, System
from fastdecode.errors import UserError
from fastdecode.families import check_family, decoder_row, system_row

RowT = TypeVar("RowT", bound=Row)
MISSING = object()  # no value of YAML, of which an empty one is None
KINDS = ("systems", "ensembles", "decoders")  # of rows in a family's file


class Definitions:
    """Every family's rows and all presets, validated; rows that have files of their own on demand.

    Raises UserError, while it is built, on the first row that is not sound, or whose name is taken.
    """

    def __init__(self, folders: Sequence[Path]):
        """Read the rows below `folders`; of two of one name the later folder's wins.

        That is key by key in files of many rows, and whole where a row is a file of its own.
        """
        self._folders = folders
        self._read: dict[str, dict[Path, Mapping[str, Any]]] = {}  # tables: file → what it holds
        self._read_families()
        self.recipes = tuple(self.systems)  # of what is trained
        self.systems |= {  # an ensemble is as its models are, in size and in who decodes it
            name: self.systems[ensemble.system]
            for name, ensemble in self.ensembles.items()
            if ensemble.system in self.recipes
        }
        for name, ensemble in self.ensembles.items():  # it may stand in another family's file
            self.family_of[name] = self.family_of.get(ensemble.system, self.family_of[name])
        self.presets = self._rows("presets.yaml", Preset)

    def _table(self, name: str) -> dict[str, Any]:
        """Read one YAML table from every folder of definitions, later folders first in rank."""
        files = [folder / name for folder in self._folders if (folder / name).is_file()]
        tables = {file: read_yaml(file) or {} for file in files}
        for file, table in tables.items():
            if not isinstance(table, Mapping):
                raise UserError(f"{file}: expected keys and values, found {table!r}")
        self._read[name] = tables
        return merge(*tables.values())

    def where_of(self, name: str, *keys: str) -> str:
        """Return the file of a table that has `keys`, one within the other, for an error message.

        Of the project's own it is the name alone; of several the file that wins.
        """
        for file, table in reversed(self._read[name].items()):
            found: Any = table
            for key in keys:
                found = found[key] if isinstance(found, Mapping) and key in found else MISSING
            if found is not MISSING:
                return self._called(file, name)
        return name

    def file_of(self, folder: str, name: str) -> str:
        """Return how messages call the file of the row `name` in a folder of rows."""
        named = f"{folder}/{name}.yaml"
        found = (base / named for base in reversed(self._folders) if (base / named).is_file())
        return self._called(next(found, self._folders[0] / named), named)

    def files(self, folder: str) -> dict[str, Path]:
        """Return name → file of all rows in a folder of rows, such as datasets."""
        named = (f for base in self._folders for f in sorted((base / folder).glob("*.yaml")))
        return {file.stem: file for file in named}

    def row_of(self, kind: str, name: str) -> str:
        """Return how messages call a row of a family, of a kind such as systems, with its file."""
        file = f"systems/{self.family_of[name]}.yaml"
        return f"{self.where_of(file, kind, name)}: {kind}.{name}"

    def _called(self, file: Path, name: str) -> str:
        """Return how messages call a file: the project's own by `name`, others by their path."""
        return name if self._folders[0] in file.parents else str(file)

    def _rows(self, file: str, model: type[RowT]) -> dict[str, RowT]:
        """Read a table of rows of one kind."""
        return {
            key: check(model, row, f"{self.where_of(file, key)}, {key}")
            for key, row in self._table(file).items()
        }

    def _one(self, folder: str, name: str, model: type[RowT], asked_by: str) -> RowT:
        """Read the row `name`, a file of its own."""
        files = self.files(folder)
        if name not in files:
            raise UserError(f'{asked_by}: there is no "{name}"{nearest(name, files)}')
        file = files[name]
        return check(model, read_yaml(file), self._called(file, f"{folder}/{name}.yaml"))

    def _read_families(self) -> None:
        """Read every family's systems, ensembles and decoders; no name may stand twice."""
        self.families: dict[str, Family] = {}
        self.systems: dict[str, System] = {}
        self.ensembles: dict[str, Ensemble] = {}
        self.decoders: dict[str, DecoderRow] = {}
        self.family_of: dict[str, str] = {}
        names = {f.name for base in self._folders for f in (base / "systems").glob("*.yaml")}
        for name in sorted(names):
            file = f"systems/{name}"
            stem = name.removesuffix(".yaml")
            table, where = self._table(file), self.where_of(file)
            check_family(stem, where)
            family = check(Family, table, where)
            self.families[stem] = family
            for kind in KINDS:
                for row in getattr(family, kind):
                    if row in {*self.family_of, *FOLDERS, RAW, UNTRAINED, DISTILLED}:
                        where = self.where_of(file, kind, row)
                        raise UserError(f'{where}: the name "{row}" is taken: choose another')
                    self.family_of[row] = stem
            if family.systems:
                row_class = system_row(stem)
                self.systems |= {
                    key: check(row_class, row, self.row_of("systems", key))
                    for key, row in family.systems.items()
                }
            self.ensembles |= family.ensembles
            if family.decoders:
                decoder_class = decoder_row(stem)
                self.decoders |= {
                    key: check(decoder_class, row, self.row_of("decoders", key))
                    for key, row in family.decoders.items()
                }

    @cached_property
    def devices(self) -> dict[str, Device]:
        """Machines that a run may be estimated for."""
        return self._rows("devices.yaml", Device)

    @cached_property
    def downloads(self) -> dict[str, Download]:
        """Every file that a corpus may be made from."""
        return self._rows("downloads.yaml", Download)
