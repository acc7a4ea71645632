"""fairseq without scikit-learn and SciPy, which cost 2.6 of the 7 seconds that importing it takes.

Its tasks for speech and its criteria for classification are imported with everything else, and
they import metrics that no translation needs; every job is a process that would pay for them. While
fairseq is imported they are empty modules, which are taken away again, so that whoever needs the
real ones afterwards gets them. What one of those tasks says of a package that nobody here needs is
not said, nor are matplotlib's debug messages, which another one turns on.
"""

import importlib.util
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType

UNUSED = ("sklearn", "sklearn.metrics", "scipy", "scipy.stats")
TALKATIVE = ("fairseq.tasks.text_to_speech", "matplotlib")


class Empty(ModuleType):
    """A module from which every name can be imported, and none used."""

    def __getattr__(self, name: str) -> None:
        """Return None for every name that is asked for."""
        if name.startswith("__"):  # what Python asks every module for, such as its file
            raise AttributeError(name)


@contextmanager
def emptied(names: Sequence[str]) -> Iterator[None]:
    """Put empty modules in the place of those of `names` that are not imported yet."""
    empty = {name: Empty(name) for name in names if name not in sys.modules}
    sys.modules.update(empty)
    try:
        yield
    finally:
        for name in empty:
            sys.modules.pop(name, None)


class LeanLoader(SourceFileLoader):
    """Loads fairseq beside empty modules."""

    def exec_module(self, module: ModuleType) -> None:
        """Import fairseq, which imports all of its tasks."""
        for name in TALKATIVE:
            logging.getLogger(name).setLevel(logging.WARNING)
        with emptied(UNUSED):
            super().exec_module(module)


class LeanFinder(MetaPathFinder):
    """Finds fairseq, once, and has it loaded by LeanLoader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return how to load fairseq, and None for everything else."""
        if name != "fairseq":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and isinstance(spec.loader, SourceFileLoader):
            spec.loader = LeanLoader(spec.loader.name, spec.loader.path)
        return spec
