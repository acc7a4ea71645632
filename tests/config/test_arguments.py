"""What Snakemake is called with."""

from pathlib import Path

import pytest

from fastdecode.config.arguments import (
    changed_beside,
    check_arguments,
    check_rules,
    omitted,
    stands_in,
)
from fastdecode.errors import UserError


def test_one_configfile_flag_has_all_files() -> None:
    check_arguments(["snakemake", "--configfile", "a.yaml", "b.yaml", "--config", "seeds=[1]"])
    for program in ("snakemake", "lib/snakemake/__main__.py"):  # the second: python -m snakemake
        for twice in (["--configfile", "--configfile=b"], ["--configfiles", "a", "--configfile"]):
            with pytest.raises(UserError, match="twice, and Snakemake takes the last alone"):
                check_arguments([program, *twice])
    check_arguments(["fastdecode/__main__.py", "--configfile", "a", "--configfile", "b"])


def test_a_profile_that_is_not_there_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "profiles/slurm").mkdir(parents=True)
    for profile in ("slurm", "profiles/slurm", "none", str(tmp_path)):
        check_arguments(["snakemake", "--workflow-profile", profile, "-n"], [tmp_path])
    for given in (["--workflow-profile", "slrum"], ["--workflow-profile=profiles/slrum"]):
        with pytest.raises(UserError, match=r'slrum", which .* pass over; did you mean "slurm"'):
            check_arguments(["snakemake", *given], [tmp_path])


def test_what_no_rule_is_called_is_not_passed_over() -> None:
    rules = ["train_system", "translate_split"]
    check_rules({"--set-threads": ["train_system"]}, rules)
    with pytest.raises(
        UserError,
        match=r'^--set-resources: there is no rule "train_sytem", .*; did you mean "train_syst',
    ):
        check_rules({"--set-threads": rules, "--set-resources": ["train_sytem"]}, rules)


@pytest.mark.parametrize(
    ("arguments", "rules"),
    [
        ("snakemake all -n --omit-from a_rule other --cores 2 figures", ["a_rule", "other"]),
        ("snakemake --omit-from=a_rule -- figures", ["a_rule"]),
        ("snakemake -O a_rule results/a.csv a.csv", ["a_rule"]),
        ("snakemake --until a_rule", []),
    ],
)
def test_rules_that_are_omitted(arguments: str, rules: list[str]) -> None:
    assert omitted(arguments.split()) == rules


def test_values_of_a_run_stand_in_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert stands_in([]) == "config/config.yaml"
    assert changed_beside(["snakemake", "--config", "a=1"]) and changed_beside(["-C", "a=1"])
    assert not changed_beside(["snakemake", "--configfile", "a.yaml"])
    assert stands_in([tmp_path / "runs/a.yaml", "b.yaml"]) == "runs/a.yaml, b.yaml"
    assert stands_in(["/elsewhere/a.yaml"], others=True) == "/elsewhere/a.yaml, --config"
