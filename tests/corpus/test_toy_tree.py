from hypothesis import given
from hypothesis import strategies as st

from fastdecode.corpus.toy.draw import Draw
from fastdecode.corpus.toy.tree import (
    Either,
    Style,
    Then,
    Tree,
    Word,
    accepts,
    either,
    finish,
    nth,
    sample,
    shows_style,
    then,
)


def trees(alphabet: str = "abcdefgh") -> st.SearchStrategy[Tree]:
    """Trees whose ways all differ: every choice starts with a word of its own."""
    word = st.sampled_from(alphabet).map(Word)

    def grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        choice = st.lists(inner, min_size=2, max_size=3).map(
            lambda options: Either(
                tuple((i + 1, Then((Word(f"{i}"), option))) for i, option in enumerate(options))
            )
        )
        return choice | st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: Then(tuple(parts))
        )

    return st.recursive(word, grow, max_leaves=8)


def texts(tree: Tree, number: int) -> tuple[str, ...]:
    return tuple(word.text for word in finish(nth(tree, number)))


@given(trees())
def test_every_number_is_another_translation_and_is_accepted(tree: Tree) -> None:
    every = {texts(tree, number) for number in range(tree.count)}
    assert len(every) == tree.count
    assert all(accepts(tree, words) for words in every)


@given(trees(), st.lists(st.sampled_from("abc012A"), max_size=6))
def test_nothing_else_is_accepted(tree: Tree, words: list[str]) -> None:
    every = {texts(tree, number) for number in range(tree.count)}
    assert accepts(tree, words) == (tuple(words) in every)


@given(trees(), st.integers())
def test_a_sample_is_one_of_the_translations(tree: Tree, seed: int) -> None:
    drawn = tuple(word.text for word in finish(sample(tree, Draw(seed))))
    assert drawn in {texts(tree, number) for number in range(tree.count)}


def test_choices_are_drawn_by_their_weights() -> None:
    tree = either([(70, Word("often")), (30, Word("rarely"))])
    drawn = [sample(tree, Draw("weights", i))[0].text for i in range(2000)]
    assert 0.66 < drawn.count("often") / len(drawn) < 0.74


def test_a_closing_comma_gives_way_to_another_mark() -> None:
    closing = Word(",", closing=True)
    tree = then(
        Word("a"), closing, either([(1, Word(".")), (1, then(Word("b"), closing, Word(",")))])
    )
    assert [texts(tree, i) for i in range(2)] == [("A", "."), ("A", ",", "b", ",")]
    assert accepts(tree, ["A", "."])
    assert accepts(tree, ["A", ",", "b", ","])
    for wrong in (["A", ",", "."], ["A", "b", ","], ["A", ",", "b", ",", ","], ["A", ",", "b"]):
        assert not accepts(tree, wrong)


def test_a_tree_shows_its_style_only_if_every_translation_does() -> None:
    formal, plain = Word("Sie", style=Style.FORMAL), Word("wir")
    assert shows_style(then(plain, formal))
    assert not shows_style(either([(1, formal), (1, plain)]))
    assert shows_style(either([(1, formal), (1, then(plain, formal))]))
