"""What is shown of a bidirectional system beside its translations.

Imamura and Sumita (2020): `masks` is for figure 1, `steps` for figure 2.
"""

from typing import TYPE_CHECKING, Any

from fastdecode.errors import UserError
from fastdecode.families.bidirectional.folding import Fold
from fastdecode.families.bidirectional.model import FoldedModel, group_mask
from fastdecode.measure.statistic import Split, Statistic

if TYPE_CHECKING:
    from fastdecode.decode import System

SLOTS = 8  # of a mask: four pairs
SHORTEST, LONGEST = 5, 9  # words of the translation that is shown
TRIED = 100  # lines


def masks(system: "System", split: Split) -> dict[str, Any]:
    """Return what slots see of one another in training, of single tokens and of this model's."""
    size = _fold(system).size
    return {
        "definition": "row: a slot; column: a slot that it may look at, or may not",
        "masks": {str(group): group_mask(SLOTS, group).int().tolist() for group in (1, size)},
    }


def steps(system: "System", split: Split) -> dict[str, Any]:
    """Return a greedy translation in the groups in which it was written.

    It is the first of the split that is neither short nor long. Each step has its tokens with their
    places in the translation, from 0; an EOD has none.

    Raises UserError if there is none such among the first lines.
    """
    fold = _fold(system)
    decoder = system.decoder("bidirectional", {"beam": 1}, " ".join)
    for number in split.readable(system)[:TRIED]:
        (translation,) = decoder([split.sources[number]])
        if SHORTEST <= len(translation.tokens) <= LONGEST:
            break
    else:
        raise UserError(
            f"none of the first {TRIED} translations has {SHORTEST} to {LONGEST} tokens: nothing "
            "to show step by step"
        )
    return {
        "definition": "a greedy translation in the order of writing",
        "line": number,
        "source": split.sources[number],
        "translation": translation.tokens,
        "passes": translation.passes,
        "steps": written(fold, translation.tokens),
    }


def written(fold: Fold, tokens: list[str]) -> list[list[tuple[str, int | None]]]:
    """Return the groups of a translation: each token with its place in it; an EOD has None."""
    slots: list[tuple[str, int | None]] = [("</s>", None)] * fold.slots(len(tokens))
    for place, slot in enumerate(fold.restore(range(len(tokens)))):
        slots[slot] = (tokens[place], place)
    return [slots[start : start + fold.size] for start in range(0, len(slots), fold.size)]


def _fold(system: "System") -> Fold:
    (model,) = system.models
    assert isinstance(model, FoldedModel)  # the workflow asks no other for these
    return model.fold


STATISTICS: dict[str, Statistic] = {"masks": masks, "steps": steps}
