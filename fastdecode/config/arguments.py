"""Arguments and settings of Snakemake that it would pass over in silence."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fastdecode.config.base import nearest
from fastdecode.errors import UserError


def check_arguments(arguments: Sequence[str], folders: Sequence[Path] = ()) -> None:
    """Raise UserError on a second --configfile, and on a workflow profile that is not there.

    `arguments` begin with the program, of which others, such as `fastdecode plan`, merge all files.
    `folders` are where profiles are named from, or lie under profiles/: since Snakemake has gone
    to --directory by now, those of the call and of the workflow, too.
    """
    program = Path(arguments[0])  # of `python -m snakemake` it is snakemake/__main__.py
    if "snakemake" not in (program.stem, program.parent.name):
        return
    flags = [one.partition("=")[0] for one in arguments]
    for profile in _values("--workflow-profile", arguments):
        profiles = [folder / "profiles" for folder in folders]
        places = [place / profile for place in (*folders, *profiles)]
        if profile != "none" and not any(place.exists() for place in places):
            found = {
                path.name for folder in profiles if folder.is_dir() for path in folder.iterdir()
            }
            raise UserError(
                f'--workflow-profile: there is no "{profile}", which Snakemake would pass over'
                f"{nearest(Path(profile).name, found)}"
            )
    if sum(flag in ("--configfile", "--configfiles") for flag in flags) > 1:
        raise UserError(
            "--configfile stands twice, and Snakemake takes the last alone: name all files behind "
            "one, as in --configfile run.yaml more.yaml"
        )


def changed_beside(arguments: Sequence[str]) -> bool:
    """Tell whether --config changes values of a run beside its files."""
    return any(one.partition("=")[0] in ("--config", "-C") for one in arguments)


def stands_in(files: Iterable[str | Path], others: bool = False) -> str:
    """Return what messages call the values of a run: its `files`, and --config if `others` do."""
    here = Path.cwd()
    paths = [Path(file) for file in files]
    names = [str(path.relative_to(here) if here in path.parents else path) for path in paths]
    return ", ".join([*names, *(["--config"] if others else [])]) or "config/config.yaml"


def omitted(arguments: Sequence[str]) -> list[str]:
    """Return the rules that --omit-from names: what has a slash or a dot is a file."""
    found: list[str] = []
    listed = False
    for one in arguments:
        flag, _, value = one.partition("=")
        if one.startswith("-"):
            listed = flag in ("--omit-from", "-O")
        word = value if flag == "--omit-from" else one
        if listed and word and not {"/", "."} & {*word} and not word.startswith("-"):
            found.append(word)
    return found


def check_rules(given: Mapping[str, Iterable[str]], rules: Collection[str]) -> None:
    """Raise UserError on a name behind a flag, or in a profile's key of its name, that no rule has.

    `given` are the names by flag.
    """
    for flag, names in given.items():
        for name in names:
            if name not in rules:
                raise UserError(
                    f'{flag}: there is no rule "{name}", which Snakemake would pass over'
                    f"{nearest(name, rules, 'snakemake --list-rules')}"
                )


def _values(flag: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield what stands behind a flag, each time that it is given."""
    for one, following in zip(arguments, [*arguments[1:], ""], strict=True):
        name, equals, value = one.partition("=")
        if name == flag:
            yield value if equals else following
