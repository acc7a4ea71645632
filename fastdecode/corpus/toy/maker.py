"""Drawing the clauses of a sentence: how they hang together.

As in `mentions`, some rules keep the meaning of a sentence single: nothing stands behind a clause
that could belong to another.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastdecode.corpus.toy.clauses import CLOSING, COMMA, Clause, Tail
from fastdecode.corpus.toy.draw import Draw
from fastdecode.corpus.toy.expressions import (
    CONJUNCTIONS,
    WHEN,
    WHETHER,
    WHY,
    Connective,
    Expression,
    Group,
)
from fastdecode.corpus.toy.mentions import kind_of
from fastdecode.corpus.toy.phrases import Context, Phrase, adverbial, tokens
from fastdecode.corpus.toy.simple import ACTS, Kind, Simple
from fastdecode.corpus.toy.tenses import Tense
from fastdecode.corpus.toy.tree import EMPTY, Style, Tree, Word, either, then
from fastdecode.corpus.toy.verbs import Verb

_LOOSE = ("say", "think", "hope")
_NOT_DENIED = ("before", "until", "while")  # bevor … nicht would mean unless


class Maker(Simple):
    """Draws the clauses of one sentence."""

    def __init__(self, draw: Draw, to_you: bool = False, short: bool = False) -> None:
        """Start a sentence; `to_you`: it may address somebody; `short`: it has one verb."""
        super().__init__(draw, to_you, short)
        self._conjunctions: set[str] = set()  # not repeated while there are others

    def clause(
        self, group: Group, budget: int, *, tense: Tense | None = None, main: bool = True
    ) -> Clause:
        """Draw a clause with up to `budget` verbs, those of the clauses in it included.

        `main`: its first place in German is free, so that other parts than the subject may take it.
        """
        relative = budget > 1 and self.draw.chance(0.28)
        left = budget - 1 - relative
        if left == 0:
            return self.simple(group, tense=tense, relative=relative, time_first=main, alone=True)
        if main and self.draw.chance(0.2):
            return self._with_clause_ahead(group, left, relative)
        forms = [(36, "adverbial"), (20, "second")]
        if group != "future" and tense is not Tense.PAST_PROGRESSIVE:
            forms.append((30, "clausal"))
        if tense in (None, Tense.PAST):
            forms.append((14, "purpose"))
        form = self.draw.weighted(forms)
        if form == "clausal":
            return self._clausal(group, left, tense, main)
        kind: Kind | None = "motion" if form == "purpose" else None
        clause = self.simple(group, tense=tense, kind=kind, relative=relative, time_first=main)
        if form == "purpose":
            clause.tails.append(self._infinitive(clause.subject, um=True))
            left -= 1
        elif form == "second" and self._add_second(clause, group):
            left -= 1
        if left:
            self.add_adverbial(clause, group, left, main)
        return clause

    def _add_second(self, clause: Clause, group: Group) -> bool:
        """Add a second verb with the same subject, if the clause is one that can have it."""
        plain = clause.tense in (Tense.PAST, Tense.PRESENT)
        human = kind_of(clause.subject) == "person" and clause.subject.who != "n"
        if not plain or not human or clause.negated or clause.passive or clause.heavy:
            return False
        clause.second = self.simple(group, subject=clause.subject, tense=clause.tense, bare=True)
        return True

    def _with_clause_ahead(self, group: Group, budget: int, relative: bool) -> Clause:
        """Draw a clause behind a subordinate one."""
        ahead = self._adverbial(group, budget, ahead=True)
        before = self.references
        clause = self.simple(group, relative=relative)
        clause.ahead, clause.ahead_movable = ahead, self.references == before
        return clause

    def add_adverbial(self, clause: Clause, group: Group, budget: int, main: bool) -> None:
        """Add a subordinate clause; it may move ahead in German if nothing in it refers back."""
        before = self.references
        tail = self._adverbial(group, budget)
        if not main or self.references > before or clause.tails or clause.second:
            tail.first = None
        clause.tails.append(tail)

    def _adverbial(self, group: Group, budget: int, ahead: bool = False) -> Tail:
        """Draw a subordinate clause with its conjunction."""
        rows = [row for row in CONJUNCTIONS[group] if row.first or not ahead]
        unused = [row for row in rows if row.english not in self._conjunctions]
        conjunction = self.connective(unused or rows)
        self._conjunctions.add(conjunction.english)
        self._denies = conjunction.english not in _NOT_DENIED
        plain = Tense.PAST if group == "past" else Tense.PRESENT
        tense: Tense | None = {
            "after": Tense.PLUPERFECT,
            "while": Tense.PAST_PROGRESSIVE,
            "when": plain,
            "before": plain,
            "until": plain,
            "if": plain,
        }.get(conjunction.english)
        inner: Group = "present" if group == "future" else group
        clause = self.clause(inner, budget, tense=tense, main=False)
        return self._tail((conjunction.english, conjunction.german), clause)

    def connective(self, rows: Sequence[Connective]) -> Connective:
        """Draw a conjunction by its weight."""
        return self.draw.weighted([(row.weight, row) for row in rows])

    def _tail(self, conjunction: Expression, clause: Clause) -> Tail:
        """Return a clause behind its conjunction."""
        word = adverbial(*conjunction)

        def first(context: Context) -> Tree:
            return clause.final(context, word.german(context))

        return Tail(
            [*word.english, *clause.english()],
            lambda context: then(COMMA, first(context), CLOSING),
            first,
        )

    def _clausal(self, group: Group, budget: int, tense: Tense | None, main: bool) -> Clause:
        """Draw somebody who says, asks, tries …, and what."""
        clause = self.simple(group, tense=tense, kind="clausal", time_first=main)
        verb = clause.verb
        self._thing_next = False
        if verb.complement == "to":
            doer = clause.objects[0] if clause.objects else clause.subject
            clause.tails.append(self._infinitive(doer, um=False))
            if budget > 1:
                self.add_adverbial(clause, group, budget - 1, main)
            return clause
        asked = None
        if verb.complement == "whether":
            asked = self.draw.weighted([(50, WHETHER), (25, WHY), (25, WHEN)])
        elif verb.base == "know" and self.draw.chance(0.25):
            asked = WHY
        told: Group = self.draw.weighted([(80, group), (20, "past")])
        plain = Tense.PAST if told == "past" else Tense.PRESENT
        inner = self.clause(told, budget, tense=plain if asked is WHEN else None, main=False)
        tail = self._tail(asked, inner) if asked else self._that(verb, inner)
        tail.first = None
        clause.tails.append(tail)
        return clause

    def _that(self, verb: Verb, clause: Clause) -> Tail:
        """Return a that-clause; casual German can leave dass out and keep the verb second."""
        that = tokens("that")

        def build(context: Context) -> Tree:
            dass = then(COMMA, clause.final(context, Word("dass", tuple(that))), CLOSING)
            if context.style is not Style.CASUAL or verb.objects or verb.base not in _LOOSE:
                return dass
            second = then(Word(",", tuple(that), Style.CASUAL), clause.main(context), CLOSING)
            return either([(65, dass), (35, second)])

        return Tail([*that, *clause.english()], build)

    def _infinitive(self, doer: Phrase, um: bool) -> Tail:
        """Return what `doer` would do, with zu, or with um … zu."""
        kind = self.draw.weighted([row for row in ACTS if row[1] != "motion" or not um])
        clause = self.simple("present", subject=doer, tense=Tense.INFINITIVE, bare=True, kind=kind)
        words = clause.english()

        def build(context: Context) -> Tree:
            return clause.infinitive(context, Word("um", (words[0],)) if um else EMPTY)

        return Tail(words, build)
