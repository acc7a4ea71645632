"""What is said about a table: what every caption says, around what one alone says of ours."""

from collections.abc import Iterable

from fastdecode.config.papers import Artifact

NOTHING = "Nothing of it was run here."


def captioned(name: str, artifact: Artifact, said: Iterable[str], run: bool = True) -> list[str]:
    """Return the sentences of a caption: title, what was published how, what is said, notes.

    Where nothing of the artifact was `run`, this stands in place of what is said of ours.
    """
    return [
        f"{name}: {artifact.title}.",
        *([f"Published: {artifact.setting}."] if artifact.setting else []),
        *(said if run else [NOTHING]),
        *(f"Note: {note}." for note in artifact.notes),
    ]
