"""Drawing whole sentences: statements, questions and orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastdecode.corpus.toy.clauses import Clause
from fastdecode.corpus.toy.draw import Draw
from fastdecode.corpus.toy.expressions import CONNECTORS, WHEN, WHY, Group
from fastdecode.corpus.toy.maker import Maker
from fastdecode.corpus.toy.phrases import (
    NOTHING,
    Adverbial,
    Context,
    Fixed,
    NounPhrase,
    Phrase,
    Pronoun,
    adverbial,
    tokens,
)
from fastdecode.corpus.toy.simple import ACTS, HUMAN, VERBS, Kind
from fastdecode.corpus.toy.tenses import Tense
from fastdecode.corpus.toy.tree import Style, Token, Tree, Word, either, shows_style, then
from fastdecode.corpus.toy.verbs import MOTION

_ASKED_WHAT = ("goods", "read", "food", "drink", "small", "fix")
_ASKED_WHERE = ("go", "walk", "drive", "run")


@dataclass(eq=False, slots=True)
class Sentence:
    """An English sentence, its words, and the tree of its right German translations."""

    english: list[Token]
    german: Tree


def draw_sentence(draw: Draw) -> Sentence:
    """Draw one sentence with all its right translations."""
    form = draw.weighted([(86, _statement), (9, _question), (5, _order)])
    return form(draw)


def _statement(draw: Draw) -> Sentence:
    """Draw a statement: a clause, or two joined by and, but or so."""
    group: Group = draw.weighted([(64, "past"), (26, "present"), (10, "future")])
    budget = draw.weighted([(40, 1), (32, 2), (16, 3), (8, 4), (4, 5)])
    maker = Maker(draw, to_you=draw.chance(0.08), short=budget == 1)
    if budget == 1 or draw.chance(0.76):
        clause = maker.clause(group, budget)
        return _finish(maker, clause.english(), clause.main, ".")
    first = maker.clause(group, budget // 2)
    row = maker.connective(CONNECTORS)
    connector = adverbial(row.english, row.german)
    second = maker.clause(group, budget - budget // 2, main=not row.first)

    def build(context: Context) -> Tree:
        return then(
            first.main(context),
            connector.german(context),
            second.main(context, free=not row.first),
        )

    return _finish(maker, [*first.english(), *connector.english, *second.english()], build, ".")


def _question(draw: Draw) -> Sentence:
    """Draw a question: whether, why, when, where, who or what."""
    maker = Maker(draw, to_you=True)
    group: Group = draw.weighted([(60, "past"), (25, "present"), (15, "future")])
    kind = draw.weighted(
        [(52, "whether"), (12, "why"), (10, "when"), (10, "where"), (8, "who"), (8, "what")]
    )
    if kind == "who":
        who = Fixed("who", "wer")
        clause = maker.simple(group, subject=who, kind=draw.weighted(ACTS), bare=True)
        return _finish(maker, clause.english(), clause.main, "?")
    act: Kind
    subject = maker.mention(Pronoun("2")) if draw.chance(0.5) else None
    if kind in ("where", "what"):
        return _question_for(maker, kind, group, subject or maker.subject("person"))
    if kind == "when":
        act = draw.pick(("motion", "intransitive"))
        clause = maker.simple(group, subject=subject, kind=act, bare=True)
        return _ask(maker, adverbial(*WHEN), clause)
    act = draw.weighted([*ACTS, (15, "be")])
    clause = maker.simple(group, subject=subject, kind=act, alone=True, relative=draw.chance(0.15))
    if draw.chance(0.25):
        maker.add_adverbial(clause, group, 1, main=False)
    return _ask(maker, adverbial(*WHY) if kind == "why" else NOTHING, clause)


def _question_for(maker: Maker, kind: str, group: Group, subject: Phrase) -> Sentence:
    """Draw a question for the place or the object of a verb."""
    to = maker.draw.chance(0.6)
    if kind == "what":
        verbs = [verb for verb in HUMAN if verb.objects and verb.objects[-1] in _ASKED_WHAT]
        verbs = [verb for verb in verbs if not (verb.particle or verb.where or verb.objects[1:])]
    elif to:
        verbs = [verb for verb in MOTION if verb.base in _ASKED_WHERE and "to-far" in verb.where]
        verbs = [verb for verb in verbs if not verb.means]
    else:
        verbs = [verb for verb in VERBS["intransitive"] if verb.where and not verb.stative]
    verb = maker.draw.early(verbs)
    clause = Clause(subject, verb, maker.tense(group, verb, subject))
    if kind == "what":
        what = Fixed("what", "was")
        clause.objects, clause.gap = [what], True
        opener = Adverbial(what.english, lambda context: what.german("acc", context))
    else:
        opener = adverbial("where", "wohin/1" if to else "wo/1")
    return _ask(maker, opener, clause)


def _ask(maker: Maker, opener: Adverbial, clause: Clause) -> Sentence:
    """Turn a clause into a question behind its question word."""
    clause.inverted = True
    return _finish(
        maker,
        [*opener.english, *clause.english()],
        lambda context: then(opener.german(context), clause.main(context, free=False)),
        "?",
    )


def _order(draw: Draw) -> Sentence:
    """Draw an order, polite or not."""
    maker = Maker(draw, to_you=True)
    you = maker.mention(Pronoun("2"))
    kind = draw.weighted(ACTS)
    clause = maker.simple("present", subject=you, tense=Tense.ORDER, kind=kind)
    if draw.chance(0.3):
        maker.add_adverbial(clause, "present", 1, main=False)
    please = tokens("please" if draw.chance(0.6) else "")
    return _finish(
        maker,
        [*please, *clause.english()],
        lambda context: clause.order(context, please),
        "." if please else "!",
    )


def _finish(
    maker: Maker, words: list[Token], build: Callable[[Context], Tree], mark: str
) -> Sentence:
    """Close a sentence and put it into German: in both styles if that makes a difference."""
    end = Token(mark)
    spoken = mark != "." or any(token.text in ("you", "your", "please") for token in words)

    def whole(context: Context, taken_up: Sequence[NounPhrase]) -> Tree:
        if taken_up:
            return context.bind(taken_up[0], lambda bound: whole(bound, taken_up[1:]))
        return then(build(context), Word(mark, (end,)))

    formal = whole(Context(Style.FORMAL, spoken), maker.taken_up)
    if shows_style(formal):
        casual = whole(Context(Style.CASUAL, spoken), maker.taken_up)
        return Sentence([*words, end], either([(60, formal), (40, casual)]))
    return Sentence([*words, end], whole(Context(None, spoken), maker.taken_up))
