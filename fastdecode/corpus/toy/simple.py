"""Drawing a clause with one verb: in which tense, with what, and when and where.

As in `mentions`, some rules keep the meaning of a sentence single: an English verb form that could
be present or past is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fastdecode.corpus.toy.clauses import CLOSING, COMMA, Clause, Presence
from fastdecode.corpus.toy.draw import Draw
from fastdecode.corpus.toy.expressions import FREQUENCIES, MEANS, TIMES, Group
from fastdecode.corpus.toy.mentions import Mentions
from fastdecode.corpus.toy.nouns import Noun
from fastdecode.corpus.toy.phrases import NounPhrase, Phrase, Pronoun, Relative, adverbial
from fastdecode.corpus.toy.tenses import Tense
from fastdecode.corpus.toy.tree import Token, then
from fastdecode.corpus.toy.verbs import (
    BE,
    BECOME,
    CLAUSAL,
    INTRANSITIVE,
    MOTION,
    PRESENCE,
    TRANSITIVE,
    WEATHER,
    Verb,
)

Kind = Literal[
    "transitive",
    "intransitive",
    "motion",
    "clausal",
    "be",
    "become",
    "passive",
    "presence",
    "weather",
    "other",
]
HUMAN = [verb for verb in TRANSITIVE if verb.subject == "person"]
VERBS: dict[Kind, Sequence[Verb]] = {
    "transitive": HUMAN,
    "intransitive": [verb for verb in INTRANSITIVE if verb.subject == "person"],
    "motion": MOTION,
    "clausal": CLAUSAL,
    "be": [BE],
    "become": [BECOME],
    "passive": [verb for verb in TRANSITIVE if verb.passive],
    "presence": PRESENCE,
    "weather": WEATHER,
    "other": [verb for verb in (*INTRANSITIVE, *TRANSITIVE) if verb.subject != "person"],
}
ACTS: tuple[tuple[int, Kind], ...] = ((60, "transitive"), (20, "motion"), (20, "intransitive"))
_VAGUE = ("two", "three", "four", "five", "some", "many", "every")
_PLANS = (Tense.MUST, Tense.WANTS, Tense.CAN, Tense.LIKES, Tense.SHOULD)
_TIMELESS = (
    Tense.PROGRESSIVE,
    Tense.PAST_PROGRESSIVE,
    Tense.PERFECT,
    Tense.PLUPERFECT,
    Tense.INFINITIVE,
    Tense.ORDER,
)


def _tells_tense(verb: Verb, subject: Phrase | None) -> bool:
    """Say whether the English form shows present or past: they put could be either."""
    return verb.base != verb.past or (subject is not None and subject.singular_verb)


def _fits(verb: Verb, tense: Tense | None, subject: Phrase | None) -> bool:
    """Say whether a verb can have that tense with that subject."""
    match tense:
        case Tense.PRESENT | Tense.PAST:
            return _tells_tense(verb, subject)
        case Tense.INFINITIVE | Tense.PAST_PROGRESSIVE:
            return not verb.stative
        case Tense.ORDER:
            return all(german.order for german in verb.german)
    return True


def _about(noun: Noun, tense: Tense | None, subject: Phrase | None) -> list[Verb]:
    """Return the verbs whose only object the noun can be."""
    return [
        verb
        for verb in HUMAN
        if len(verb.objects) == 1
        and verb.objects[0] in noun.tags
        and not verb.where
        and _fits(verb, tense, subject)
    ]


class Simple(Mentions):
    """Draws the clauses of one sentence that have one verb."""

    def __init__(self, draw: Draw, to_you: bool = False, short: bool = False) -> None:
        """Start a sentence; `to_you`: it may address somebody; `short`: it has one verb."""
        super().__init__(draw, to_you)
        self._short = short
        self._denies = True  # whether the next clause may be negated
        self._timed = False  # a second time could contradict the first
        self._thing_next = False  # whether the clause before ends with what it would mean

    def tense(self, group: Group, verb: Verb, subject: Phrase, perfect: bool = False) -> Tense:
        """Draw a tense; states, and subjects without a will, have fewer."""
        if group == "future":
            return Tense.FUTURE
        act = verb.subject == "person" and not verb.stative and verb not in (BECOME, *WEATHER)
        told = _tells_tense(verb, subject)
        if group == "past":
            return self.draw.weighted(
                [
                    (80 if told else 0, Tense.PAST),
                    (0 if verb.stative else 5, Tense.PAST_PROGRESSIVE),
                    (6 if act else 0, Tense.WANTED),
                    (4 if act else 0, Tense.HAD),
                    (3 if act else 0, Tense.COULD),
                    (2 if act else 0, Tense.ALLOWED),
                ]
            )
        return self.draw.weighted(
            [
                (40 if told else 0, Tense.PRESENT),
                (0 if verb.stative else 16, Tense.PROGRESSIVE),
                (20 if perfect and not verb.complement and not verb.state else 0, Tense.PERFECT),
                (10 if act else 0, Tense.CAN),
                (9 if act else 0, Tense.MUST),
                (10 if act else 0, Tense.WANTS),
                (6 if act else 0, Tense.SHOULD),
                (5 if act else 0, Tense.LIKES),
            ]
        )

    def _verb(self, verbs: Sequence[Verb]) -> Verb:
        return self.fresh(verbs, lambda verb: f"{verb.base} {verb.particle}")

    def simple(
        self,
        group: Group,
        *,
        subject: Phrase | None = None,
        tense: Tense | None = None,
        kind: Kind | None = None,
        bare: bool = False,
        relative: bool = False,
        time_first: bool = False,
        alone: bool = False,
    ) -> Clause:
        """Draw a clause with one verb; what is not given is drawn.

        `bare`: nothing but the verb and what it needs; `relative`: one of its nouns gets a relative
        clause, if there is one that can; `time_first`: its time may come first; `alone`: no
        clause will be added to it, so it may say what there is, or be in the present perfect.
        """
        if kind is None and self._thing_next and self.draw.chance(0.7):
            clause = self._about_thing(group, subject, tense)
            if clause is not None:
                return clause
        self._thing_next = False
        kind = kind or self._kind(group, subject, tense, bare, alone)
        verb = self._verb([verb for verb in VERBS[kind] if _fits(verb, tense, subject)])
        if kind == "presence":
            there = self.present(verb.objects[0])
            tense = tense or (Tense.PAST if group == "past" else Tense.PRESENT)
            return Presence(there, verb, tense, where=self.where(verb.where))
        if subject is None:
            subject = self._subject(kind, verb)
            if relative and self.draw.chance(0.5):
                relative = not self._add_relative(subject, group)
        tense = tense or self.tense(group, verb, subject, alone)
        clause = Clause(subject, verb, Tense.PAST if kind == "passive" else tense)
        if kind == "passive":
            clause.passive = True
            clause.agent = self.person() if self.draw.chance(0.5) else None
        else:
            clause.objects = [self.object(tag, subject) for tag in verb.objects]
        if relative and clause.objects and not verb.where:
            self._add_relative(clause.objects[-1], group)
        if verb is BE:
            clause.predicate = self.predicate(subject)
        elif verb is BECOME:
            clause.predicate = self.state()
        if verb.where:
            clause.where = self.where(verb.where)
        if verb.means:
            clause.means = adverbial(*self.draw.early(MEANS[verb.means]))
        if not bare:
            self._add_circumstances(clause, kind, group, time_first)
        return clause

    def _kind(
        self, group: Group, subject: Phrase | None, tense: Tense | None, bare: bool, alone: bool
    ) -> Kind:
        """Draw a kind of verb that can have that subject and tense."""
        kinds: list[tuple[int, Kind]] = [(52, "transitive"), (15, "motion"), (13, "intransitive")]
        steady = tense is not Tense.PAST_PROGRESSIVE
        if not bare and steady:
            kinds += [(10, "be"), (4, "become")]
        if subject is None and not bare:
            kinds += [(3, "weather")]
            kinds += [(4, "other")] if steady else []
            kinds += [(7, "passive")] if group == "past" and tense in (None, Tense.PAST) else []
            if alone and group != "future" and tense in (None, Tense.PAST, Tense.PRESENT):
                kinds += [(5, "presence")]
        return self.draw.weighted(kinds)

    def _subject(self, kind: Kind, verb: Verb) -> Phrase:
        if kind == "weather":
            return Pronoun("n")
        if kind == "passive":
            return self.object(verb.objects[0])
        if kind == "be" and self.draw.chance(0.45):
            return self.described()
        return self.subject(verb.subject)

    def _add_circumstances(
        self, clause: Clause, kind: Kind, group: Group, time_first: bool
    ) -> None:
        """Add a place, a time and a negation at times, where they have one reading."""
        verb = clause.verb
        nouns = [p.noun for p in (clause.subject, *clause.objects) if isinstance(p, NounPhrase)]
        at_place = clause.where is not None or any(noun.place for noun in nouns)
        light = not (at_place or verb.state or clause.heavy or verb.particle)
        done = kind in ("transitive", "passive") or (kind == "intransitive" and not verb.stative)
        if light and done and self.draw.chance(0.14):
            clause.where = self.where(["at-place", "at-place", "at-named"])
            clause.where_optional = True
        if not verb.state and clause.tense not in _TIMELESS and not self._timed:
            self._add_time(clause, group, time_first)
        self._deny(clause)
        last = clause.objects[0] if len(clause.objects) == 1 else None
        self._thing_next = self.things == [last]

    def _add_time(self, clause: Clause, group: Group, first: bool) -> None:
        # In the past, often would make a when-clause say wenn for als.
        steady = clause.tense is Tense.PRESENT or (clause.tense is Tense.PAST and self._short)
        if (
            steady
            and not clause.passive
            and clause.verb not in (BE, BECOME)
            and self.draw.chance(0.07)
        ):
            clause.time = adverbial(*self.draw.early(FREQUENCIES))
            clause.time_inside = self._timed = True
            return
        if clause.verb is BE and clause.tense is Tense.PRESENT:
            return
        if self.draw.chance(0.42 if first else 0.16):
            first = first and self.draw.chance(0.5)
            if first or not (clause.heavy or clause.verb.complement):
                times = TIMES["future" if clause.tense in _PLANS else group]
                clause.time = adverbial(*self.draw.early(times))
                clause.time_first, self._timed = first, True

    def _deny(self, clause: Clause) -> None:
        """Negate a clause at times, where that has one reading."""
        denies, self._denies = self._denies, True
        phrases = [clause.subject, *clause.objects]
        vague = any(isinstance(p, NounPhrase) and p.determiner in _VAGUE for p in phrases)
        degree = clause.predicate is not None and len(clause.predicate.english) > 1
        added = clause.heavy or clause.where_optional or clause.time_inside or clause.agent
        unsaid = (Tense.CAN, Tense.MUST, Tense.LIKES, Tense.PLUPERFECT, Tense.ORDER)
        if vague or degree or added or clause.tense in unsaid or len(clause.objects) > 1:
            return
        if denies and self.draw.chance(0.1):
            clause.negate()

    def _about_thing(
        self, group: Group, subject: Phrase | None, tense: Tense | None
    ) -> Clause | None:
        """Draw a clause in which it is what the clause before names, if that is possible."""
        self._thing_next = False
        kind = self.things[0].noun.kind if self.things else ""
        steady = tense is not Tense.PAST_PROGRESSIVE
        if subject is None and kind and steady and self.draw.chance(0.5):
            thing = self.take_up_thing()
            if thing is None:
                return None
            it = Pronoun("n", antecedent=thing)
            clause = Clause(it, BE, tense or self.tense(group, BE, it))
            clause.predicate = self.predicate(it, kind)
            return clause
        if not self.things:
            return None
        verbs = _about(self.things[0].noun, tense, subject)
        thing = self.take_up_thing() if verbs else None
        if thing is None:
            return None
        verb = self._verb(verbs)
        subject = subject or self.subject("person")
        if tense is None or not _fits(verb, tense, subject):
            tense = self.tense(group, verb, subject)
        it = Pronoun("n", as_object=True, antecedent=thing)
        return Clause(subject, verb, tense, [it])

    def _add_relative(self, phrase: Phrase, group: Group) -> bool:
        """Give a phrase a relative clause; return whether it is one that can have it."""
        if (
            not isinstance(phrase, NounPhrase)
            or phrase.determiner not in ("the", "a", "an", "two", "three", "some")
            or phrase.noun.mass
        ):
            return False
        past = group != "present"
        pronoun, words = Relative(phrase), list[Token]()
        tense = Tense.PAST if past else Tense.PRESENT
        verbs = _about(phrase.noun, tense, None)
        if phrase.noun.kind == "person" and self.draw.chance(0.7):
            kind = self.draw.weighted(ACTS)
            clause = self.simple(
                "past" if past else "present", subject=pronoun, bare=True, kind=kind
            )
        elif verbs and phrase.noun.kind != "person" and self.draw.chance(0.7):
            verb, subject = self._verb(verbs), self.subject("person")
            clause = Clause(subject, verb, tense, [pronoun], gap=True)
            words = pronoun.english
        else:
            clause = Clause(pronoun, BE, tense)
            clause.predicate = self.predicate(pronoun, phrase.noun.kind)
        phrase.english = [*phrase.english, *words, *clause.english()]
        phrase.relative = lambda context: then(COMMA, clause.final(context), CLOSING)
        return True
