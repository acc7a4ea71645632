import sys
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastdecode.corpus.tokenise import tokeniser
from fastdecode.errors import UserError

LETTERS = {"en": "abcdefghijklmnopqrstuvwxyz", "de": "abcdefghijklmnopqrstuvwxyzäöüß"}
SENTENCES = {language: tokeniser(language) for language in LETTERS}


def sentences(language: str) -> st.SearchStrategy[str]:
    """Ordinary sentences in normalised punctuation: those that Moses can restore.

    Left out is what it cannot: see the module's description.
    """
    word = st.text(LETTERS[language], min_size=2, max_size=8)
    number = st.from_regex(r"[1-9][0-9]{0,2}([.,][0-9]{1,3})?", fullmatch=True)
    compound = st.tuples(word, word).map("-".join)
    plain = st.one_of(word, word.map(str.capitalize), number, compound)
    quoted = st.lists(plain, min_size=1, max_size=3).map(lambda words: f'"{" ".join(words)}"')
    aside = st.lists(plain, min_size=1, max_size=3).map(lambda words: f"({' '.join(words)})")
    units = [plain, plain, quoted, aside, plain.map(lambda unit: f"{unit},")]
    if language == "en":
        units.append(st.sampled_from(["don't", "she's", "we'll", "I'm"]))
    body = st.lists(st.one_of(units), min_size=1, max_size=10)
    return st.tuples(body, plain, st.sampled_from(".?!")).map(
        lambda parts: " ".join([*parts[0], parts[1]]) + parts[2]
    )


@pytest.mark.parametrize("language", sorted(LETTERS))
@given(data=st.data())
def test_detokenising_restores_an_ordinary_sentence(language: str, data: st.DataObject) -> None:
    sentence = data.draw(sentences(language))
    mill = SENTENCES[language]
    assert mill.detokenise(mill.tokenise(sentence)) == sentence


@pytest.mark.parametrize("mill", [*SENTENCES.values(), tokeniser("de", pretokenised=True)])
@given(line=st.text())
def test_tokens_stand_between_single_spaces(mill, line: str) -> None:
    tokens = mill.tokenise(line)
    assert tokens == " ".join(tokens.split())
    assert not any(character < " " for character in tokens)


def test_moses_conventions() -> None:
    line = "It’s a low-carbon „test“, isn't it (3.5 % of 1,000)?"
    tokens = "It 's a low @-@ carbon \" test , \" isn 't it ( 3.5 % of 1,000 ) ?"
    assert tokeniser("en").tokenise(line) == tokens
    assert tokeniser("en").detokenise("a low @-@ carbon test & one , two .") == (
        "a low-carbon test & one, two."
    )


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u3000", " \u2009"])
def test_any_space_is_a_space_as_in_a_corpus(space: str) -> None:
    for language in ("en", "de", "fr"):
        plain = tokeniser(language).tokenise("« 10 000 » ?")
        assert tokeniser(language).tokenise(f"«{space}10{space}000{space}»{space}?") == plain


def test_nothing_is_escaped_or_unescaped() -> None:
    assert tokeniser("en").tokenise("a & b [c] <d>") == "a & b [ c ] < d >"
    assert tokeniser("en").detokenise("&amp;") == "&amp;"


@pytest.mark.parametrize("pretokenised", [False, True])
def test_control_and_invisible_characters_go(pretokenised: bool) -> None:
    mill = tokeniser("en", pretokenised=pretokenised)
    assert mill.tokenise("a\tb\u2028c\x00d\re\u200bf so\xadft") == "a b c d ef soft"


@pytest.mark.parametrize("pretokenised", [False, True])
def test_a_letter_is_not_parted_from_its_accent(pretokenised: bool) -> None:
    mill = tokeniser("de", pretokenised=pretokenised)
    composed, apart = "Die Tür ist schön .", "Die Tu\u0308r ist scho\u0308n ."
    assert mill.tokenise(apart) == mill.tokenise(composed) == composed


def test_lowercase() -> None:
    assert tokeniser("de", lowercase=True).tokenise("Die ÄPFEL.") == "die äpfel ."
    assert tokeniser("de", lowercase=True, pretokenised=True).tokenise("Die ÄPFEL.") == "die äpfel."


def test_pretokenised_text_is_left_alone() -> None:
    mill = tokeniser("ro", pretokenised=True)
    assert mill.tokenise(" a low-carbon test , &quot; ") == "a low-carbon test , &quot;"
    assert mill.detokenise("a test .") == "a test ."


def test_unknown_language() -> None:
    with pytest.raises(UserError, match=r"no tokeniser for the language 'xx'.*known: .*de, .*zh"):
        tokeniser("xx")


@pytest.mark.parametrize(("language", "module"), [("zh", "jieba"), ("ja", "MeCab")])
def test_missing_segmenter(language: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipadic", SimpleNamespace(MECAB_ARGS=""))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=rf"pip install -e .*\[{language}\]"):
        tokeniser(language)


def test_chinese_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    jieba = SimpleNamespace(
        cut=lambda line: ["我们", "用", "GPU", " ", "cluster", "，", "3.5", "倍", "。"],
        initialize=lambda: None,
        setLogLevel=lambda level: None,
    )
    monkeypatch.setitem(sys.modules, "jieba", jieba)
    mill = tokeniser("zh")
    assert mill.tokenise("") == "我们 用 GPU cluster ， 3.5 倍 。"
    assert mill.detokenise(mill.tokenise("")) == "我们用GPU cluster，3.5倍。"


@pytest.mark.parametrize(
    ("language", "module", "sentence", "tokens"),
    [
        ("zh", "jieba", "我们喜欢机器翻译。", "我们 喜欢 机器翻译 。"),
        ("ja", "MeCab", "これは本です。", "これ は 本 です 。"),
    ],
)
def test_real_segmenters(language: str, module: str, sentence: str, tokens: str) -> None:
    pytest.importorskip(module)
    mill = tokeniser(language)
    assert mill.tokenise(sentence) == tokens
    assert mill.detokenise(tokens) == sentence
