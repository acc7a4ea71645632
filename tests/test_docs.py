"""What the documents say: links lead somewhere, rows and files that they show are valid."""

import argparse
import re
from pathlib import Path

import pytest
import yaml

from fastdecode.commands import export, main, translate
from fastdecode.config.base import merge, read_yaml
from fastdecode.config.read import Configuration
from fastdecode.families import FAMILIES

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "config"
BY_HAND = [
    *(ROOT / folder / "README.md" for folder in ("", "config", "results")),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "fastdecode").rglob("README.md"),
]
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")  # a file, a heading, or both
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"fastdecode (?:translate|export) (.*--system.*)")
PATH = re.compile(r"\b(?:config|docs|workflow|tests|profiles|fastdecode)/[\w./-]+\w")


@pytest.mark.parametrize("page", BY_HAND, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for file, heading in LINK.findall(page.read_text(encoding="utf-8")):
        to = page.parent / file if file else page
        assert to.exists(), file
        assert not heading or heading in anchors(to.read_text(encoding="utf-8")), (file, heading)


def anchors(text: str) -> set[str]:
    """What a page is linked at: its headings, without punctuation, numbered where alike."""
    found: set[str] = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        alike = sum(re.fullmatch(rf"{re.escape(plain)}(-\d+)?", one) is not None for one in found)
        found.add(f"{plain}-{alike}" if alike else plain)
    return found


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_files_that_a_how_to_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = {name for name in PATH.findall(text) if "<" not in name}
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_own_corpus_of_the_how_to_is_a_valid_run(tmp_path: Path) -> None:
    text = (ROOT / "docs/own-corpus.md").read_text(encoding="utf-8")
    corpus, dataset, run = BLOCK.findall(text)
    for name, row in (("corpora/mine.yaml", corpus), ("datasets/mine.yaml", dataset)):
        assert f"`mine/{name}`" in text
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(row)
    values = merge(read_yaml(CONFIG / "config.yaml"), yaml.safe_load(run))
    config = Configuration(values | {"definitions": str(tmp_path)}, CONFIG)
    assert config.corpora["mine"].target == "en"
    assert "lattice-k64-optimised" in config.decoders_of("transformer-big/lattice")


def test_the_own_decoders_of_the_how_to_are_a_valid_run(tmp_path: Path) -> None:
    blocks = BLOCK.findall((ROOT / "docs/add-a-decoder.md").read_text(encoding="utf-8"))
    _, _, rows, run = blocks
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems/parallel.yaml").write_text(rows)
    values = merge(read_yaml(CONFIG / "config.yaml"), yaml.safe_load(run))
    config = Configuration(values | {"definitions": str(tmp_path)}, CONFIG)
    fast = "nat-9-lengths-optimised"
    assert config.decoders_of("raw/nat") == ["nat-9-lengths", fast]
    assert config.twin(fast, "raw/nat") == "nat-9-lengths"


def test_the_given_translations_of_the_how_to_are_a_valid_run(tmp_path: Path) -> None:
    blocks = BLOCK.findall((ROOT / "docs/add-a-decoder.md").read_text(encoding="utf-8"))
    rows, run, _, _ = blocks
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems/autoregressive.yaml").write_text(rows)
    (tmp_path / "test.theirs-output.txt").write_text("a line\n")
    values = merge(read_yaml(CONFIG / "config.yaml"), yaml.safe_load(run))
    values["given"] = yaml.safe_load(str(values["given"]).replace("FOLDER", str(tmp_path)))
    config = Configuration(values | {"definitions": str(tmp_path)}, CONFIG)
    assert config.decoders_of("raw/theirs") == ["theirs-output"]
    assert config.decoders_of("raw/transformer") == ["beam5"]


@pytest.mark.parametrize("page", ["README.md", "docs/reproduce-a-figure.md"])
def test_a_narrow_run_has_as_many_trainings_as_is_said(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (command,) = re.findall(r"fastdecode (narrow .*?) --out (\S+)", text)
    words = [str(ROOT / word) if "/" in word else word for word in command[0].split()]
    main([*words, "--out", str(tmp_path / command[1])])
    found = re.search(r"(\d+) trainings of the (\d+) of", capsys.readouterr().err)
    assert found
    few, all_of_them = found.groups()
    assert f"{few} of {all_of_them}" in text or f"{few} trainings" in text
    assert int(few) < int(all_of_them)
    assert f"snakemake figures --configfile {command[1]}" in text


def test_systems_of_examples_are_trained_by_their_runs() -> None:
    texts = [(ROOT / "README.md").read_text(encoding="utf-8")]
    for command in (translate, export):
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        texts.append(str(parser.epilog))
    examples = EXAMPLE.findall("\n".join(texts).replace("\\\n", " "))
    assert len(examples) > 5
    for example in examples:
        options = dict(re.findall(r"--(system|decoder|configfile) +(\S+)", example))
        files = ["config/config.yaml", *filter(None, [options.get("configfile")])]
        config = Configuration(merge(*(read_yaml(ROOT / file) for file in files)), CONFIG)
        assert options["system"] in {model.entry for model in config.models()}, example
        if "decoder" in options:
            assert config.fits(options["decoder"], options["system"].split("/")[1]), example


def test_the_run_of_the_template_needs_nothing_that_the_default_run_does_not_train() -> None:
    run = read_yaml(ROOT / "docs/template/run.yaml")
    default = Configuration(read_yaml(CONFIG / "config.yaml"), CONFIG)
    for target, system in (entry.split("/") for entry in run["systems"]):
        assert target in {model.target for model in default.models()}
        assert system == "template" or f"{target}/{system}" in default.run.systems


@pytest.mark.parametrize("family", FAMILIES)
def test_the_readme_of_a_family_names_its_files(family: str) -> None:
    room = ROOT / "fastdecode/families" / family
    text = (room / "README.md").read_text()
    files = {file.name for file in room.glob("*.py")} - {"__init__.py"}
    assert files == {name for name in files if f"`{name}`" in text}


def test_the_first_page_counts_the_claims_as_their_page_does() -> None:
    counted = r"(\d+) claims: (\d+) hold in every .*, (\d+) in none .*, (\d+) in some; of (\d+) no"
    page = (ROOT / "docs/claims.md").read_text(encoding="utf-8")
    papers = [[int(count) for count in found] for found in re.findall(counted, page)]
    assert len(papers) == 4
    every, holding, failing, both, untold = map(sum, zip(*papers, strict=True))
    said = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"Of the papers' {every} claims that numbers can tell, {holding} hold in every" in said
    assert f"{failing} in none of them, {both} in some; of {untold} no run can tell" in said
