"""What a run needs that is not here, and that no job of it will bring."""

from collections.abc import Iterator
from pathlib import Path

from fastdecode.config.corpora import DOWNLOADS
from fastdecode.config.read import Configuration
from fastdecode.corpus.download import by_hand, held
from fastdecode.corpus.tokenise import tokeniser
from fastdecode.errors import UserError
from fastdecode.provenance import cores, of_cores


def missing(config: Configuration) -> list[str]:
    """Return a line for each such thing: what the jobs end with that want it, be it days later.

    These are files that the user has to bring, tokenisers of languages, packages of decoders, and
    the cores that are timed. Files of the user's own are not among them: a run without them does
    not start.
    """
    return list(dict.fromkeys([*_files(config), *_packages(config), *_cores(config)]))


def _files(config: Configuration) -> Iterator[str]:
    mirror = Path(config.run.mirror).expanduser() if config.run.mirror else None
    if mirror and not mirror.is_dir():
        yield f"mirror: {mirror} is not a folder"
        mirror = None
    for corpus in config.corpora.values():
        keys = [key for split in corpus.splits for key in corpus.downloads(split)]
        for key in dict.fromkeys([*keys, *corpus.references.values()]):
            file = config.downloads[key]
            if file.url is not None or Path(DOWNLOADS, key).is_file():
                continue
            try:
                if not (mirror and held(mirror, key, file)):
                    yield by_hand(key, file, mirror)
            except OSError as error:
                yield f"mirror: {error.filename}: {error.strerror}"


def _packages(config: Configuration) -> Iterator[str]:
    for corpus in config.corpora.values():
        for language in (corpus.source, corpus.target):
            try:
                tokeniser(language, pretokenised=corpus.pretokenised)
            except UserError as error:
                yield str(error)
    for entry in config.run.systems:
        for name in config.decoders_of(entry):
            try:
                config.decoders[name].check_installed()
            except UserError as error:
                yield str(error)


def _cores(config: Configuration) -> Iterator[str]:
    here = cores()
    for threads in config.run.timed_threads:
        if threads != "all" and threads > here:
            yield f"latency.threads: {threads} is more than the {of_cores(here)} here"
