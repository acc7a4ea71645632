"""The tenses and modal verbs of clauses, and the German verbs that make them."""

from enum import Enum

from fastdecode.corpus.toy.german import WERDEN, GermanVerb
from fastdecode.corpus.toy.verbs import g


class Tense(Enum):
    """The tenses and modal verbs a clause can have, named by their English."""

    PRESENT = "buys"
    PROGRESSIVE = "is buying"
    PAST = "bought"
    PAST_PROGRESSIVE = "was buying"
    PERFECT = "has bought"
    PLUPERFECT = "had bought"
    FUTURE = "will buy"
    WANTS = "wants to buy"
    WANTED = "wanted to buy"
    LIKES = "would like to buy"
    CAN = "can buy"
    COULD = "was able to buy"
    MUST = "must buy"
    HAD = "had to buy"
    SHOULD = "should buy"
    ALLOWED = "was allowed to buy"
    INFINITIVE = "to buy"
    ORDER = "buy!"


def _modal(forms: str, present: str) -> GermanVerb:
    return g(forms, plain=True, present=present)


_WOLLEN = _modal("wollen will wollte gewollt", "will willst will wollen wollen")
_KÖNNEN = _modal("können kann konnte gekonnt", "kann kannst kann können können")
_MÜSSEN = _modal("müssen muss musste gemusst", "muss musst muss müssen müssen")
_SOLLEN = _modal("sollen soll sollte gesollt", "soll sollst soll sollen sollen")
_DÜRFEN = _modal("dürfen darf durfte gedurft", "darf darfst darf dürfen dürfen")
_MÖCHTEN = _modal("mögen möchte mochte gemocht", "möchte möchtest möchte möchten möchten")

# The German verb that stands for the English auxiliary, and whether it is in the past.
AUXILIARIES: dict[Tense, tuple[GermanVerb, bool]] = {
    Tense.FUTURE: (WERDEN, False),
    Tense.WANTS: (_WOLLEN, False),
    Tense.WANTED: (_WOLLEN, True),
    Tense.LIKES: (_MÖCHTEN, False),
    Tense.CAN: (_KÖNNEN, False),
    Tense.COULD: (_KÖNNEN, True),
    Tense.MUST: (_MÜSSEN, False),
    Tense.HAD: (_MÜSSEN, True),
    Tense.SHOULD: (_SOLLEN, True),
    Tense.ALLOWED: (_DÜRFEN, True),
}
