"""Names, cities, times and connecting words of the toy corpus, English with the right German.

The German side is a list of templates: words with the numbers of the English words they translate
(`vor/3 zwei/1 Wochen/2`), and a weight behind each where there are several.
"""

from typing import Literal, NamedTuple

Group = Literal["past", "present", "future"]
Expression = tuple[str, str]

# Names are the same in both languages.
NAMES: tuple[tuple[str, Literal["m", "f"]], ...] = (
    ("Anna", "f"),
    ("Peter", "m"),
    ("Maria", "f"),
    ("Paul", "m"),
    ("Julia", "f"),
    ("Karl", "m"),
    ("Lena", "f"),
    ("Martin", "m"),
)

CITIES: tuple[tuple[str, str], ...] = (
    ("Berlin", "Berlin"),
    ("Munich", "München"),
    ("Vienna", "Wien"),
    ("Cologne", "Köln"),
    ("Rome", "Rom"),
)

_ON_SUNDAY = ("on Sunday", "am/1 Sonntag/2")
_IN_THE_MORNING = ("in the morning", "am/1,2 Morgen/3 60 | morgens/1,2,3 40")
_IN_THE_EVENING = ("in the evening", "am/1,2 Abend/3 60 | abends/1,2,3 40")
_AFTER_THE_CONCERT = ("after the concert", "nach/1 dem/2 Konzert/3")

TIMES: dict[Group, tuple[Expression, ...]] = {
    "past": (
        ("yesterday", "gestern/1"),
        ("last week", "letzte/1 Woche/2 65 | vorige/1 Woche/2 35"),
        _ON_SUNDAY,
        _IN_THE_EVENING,
        ("two years ago", "vor/3 zwei/1 Jahren/2"),
        ("last summer", "letzten/1 Sommer/2 60 | im/1 letzten/1 Sommer/2 40"),
        ("three days ago", "vor/3 drei/1 Tagen/2"),
        _AFTER_THE_CONCERT,
        ("last night", "gestern/1 Abend/2 55 | letzte/1 Nacht/2 45"),
        ("before dinner", "vor/1 dem/2 Abendessen/2"),
        _IN_THE_MORNING,
    ),
    "present": (
        ("every day", "jeden/1 Tag/2 60 | täglich/1,2 40"),
        _ON_SUNDAY,
        _IN_THE_EVENING,
        ("every week", "jede/1 Woche/2 60 | wöchentlich/1,2 40"),
        _IN_THE_MORNING,
        ("in summer", "im/1 Sommer/2"),
    ),
    "future": (
        ("tomorrow", "morgen/1"),
        ("next week", "nächste/1 Woche/2 65 | kommende/1 Woche/2 35"),
        ("soon", "bald/1"),
        _ON_SUNDAY,
        ("next summer", "nächsten/1 Sommer/2 60 | im/1 nächsten/1 Sommer/2 40"),
        ("today", "heute/1"),
        _AFTER_THE_CONCERT,
    ),
}

FREQUENCIES: tuple[Expression, ...] = (
    ("often", "oft/1 60 | häufig/1 40"),
    ("always", "immer/1"),
    ("never", "nie/1 65 | niemals/1 35"),
    ("sometimes", "manchmal/1 70 | gelegentlich/1 30"),
)

MEANS: dict[str, tuple[Expression, ...]] = {
    "wheels": (
        ("by train", "mit/1 dem/1 Zug/2 65 | mit/1 der/1 Bahn/2 35"),
        ("by car", "mit/1 dem/1 Auto/2 60 | mit/1 dem/1 Wagen/2 40"),
        ("by bus", "mit/1 dem/1 Bus/2"),
        ("by bicycle", "mit/1 dem/1 Fahrrad/2 65 | mit/1 dem/1 Rad/2 35"),
    ),
    "foot": (("on foot", "zu/1 Fuß/2"),),
    "plane": (("by plane", "mit/1 dem/1 Flugzeug/2"),),
}

DEGREES: tuple[Expression, ...] = (("very", "sehr"), ("too", "zu"), ("quite", "ziemlich"))

AT_HOME = ("at home", "zu/1 Hause/2 75 | daheim/1,2 25")
HOME = ("home", "nach/1 Hause/1")


class Connective(NamedTuple):
    """A word between two clauses.

    `first`: whether a clause with this conjunction may stand before the other one, or whether this
    adverb takes the first place of its own clause.
    """

    weight: int
    english: str
    german: str
    first: bool


_BECAUSE = "weil/1 70 | da/1 30"
_ALTHOUGH = "obwohl/1 75 | obgleich/1 25"
_BEFORE = "bevor/1 75 | ehe/1 25"
_IF = "wenn/1 65 | falls/1 35"

CONJUNCTIONS: dict[Group, tuple[Connective, ...]] = {
    "past": (
        Connective(30, "because", _BECAUSE, True),
        Connective(22, "when", "als/1", True),
        Connective(14, "although", _ALTHOUGH, True),
        Connective(10, "before", _BEFORE, True),
        Connective(10, "after", "nachdem/1", True),
        Connective(8, "while", "während/1", True),
        Connective(6, "until", "bis/1", False),
    ),
    "present": (
        Connective(34, "because", _BECAUSE, True),
        Connective(24, "when", "wenn/1", True),
        Connective(22, "if", _IF, True),
        Connective(20, "although", _ALTHOUGH, True),
    ),
    "future": (
        Connective(30, "because", _BECAUSE, True),
        Connective(25, "when", "wenn/1", True),
        Connective(30, "if", _IF, True),
        Connective(15, "before", _BEFORE, True),
    ),
}

# Behind a comma, which is English word 1.
CONNECTORS: tuple[Connective, ...] = (
    Connective(50, ", and", "und/2", False),
    Connective(30, ", but", ",/1 aber/2 70 | ,/1 doch/2 30", False),
    Connective(20, ", so", ",/1 deshalb/2 60 | ,/1 darum/2 40", True),
)

# Indirect questions; direct ones add where.
WHETHER = ("whether", "ob/1")
WHEN = ("when", "wann/1")
WHY = ("why", "warum/1 65 | weshalb/1 35")
