"""Which tables and figures of speed a run has: those of the tiers and scenarios that it times."""

from itertools import product

from tests.workflow.conftest import RUN, Workplace

LATENCY = ("latency_by_length", "speedup_distribution", "stages")


def pareto(tier: str, scenario: str) -> set[str]:
    return {f"pareto.micro.test.{tier}.{scenario}.{kind}" for kind in ("svg", "png", "pdf")}


def latency(tier: str, *names: str) -> set[str]:
    threads = map(str, RUN["latency"]["threads"])
    return {
        f"{name}.micro.test.{tier}.threads{count}.{kind}"
        for name, count, kind in product(names, threads, ("csv", "svg", "png", "pdf"))
    }


def speed(scenario: str) -> set[str]:
    return {f"speed.micro.test.{scenario}.{kind}" for kind in ("csv", "md", "tex")}


def about_speed(names: list[str]) -> set[str]:
    kinds = ("speed", "pareto", *LATENCY)
    return {name for name in names if name.split(".")[0] in kinds}


def asked_for(place: Workplace) -> set[str]:
    """Return the tables and figures of speed that a run makes, of files that it would have."""
    place.save()
    files = [line.split("\t")[0] for line in place.told("--summary").splitlines()]
    return about_speed([path.split("/")[-1] for path in files])


def test_what_a_run_leaves(finished: Workplace) -> None:
    folder = finished.path("report/micro")
    assert about_speed([path.name for path in folder.iterdir()]) == {
        *speed("S1"),
        *speed("Smax"),
        *pareto("reference", "S1"),
        *pareto("reference", "Smax"),
        *latency("reference", *LATENCY),
    }
    table = (folder / "speed.micro.test.S1.md").read_text(encoding="utf-8")
    for text in ("| reference | 1 | fp32 | transformer-big | raw | beam5 |", "×1.00", "Floor"):
        assert text in table


def test_a_tier_without_denominator_has_no_distribution(workplace: Workplace) -> None:
    workplace.run["decoders"] = ["beam5", "greedy", "greedy-optimised"]
    workplace.run["latency"] = {**workplace.run["latency"], "scenarios": ["S1"]}
    expected = {
        *speed("S1"),
        *pareto("reference", "S1"),
        *pareto("optimised", "S1"),
        *latency("reference", *LATENCY),
        *latency("optimised", "latency_by_length", "stages"),
    }
    assert asked_for(workplace) == expected
    over = {**workplace.run["speedup_over"], "optimised": "raw/transformer-big/greedy-optimised"}
    workplace.run["speedup_over"] = over
    assert asked_for(workplace) == expected | latency("optimised", "speedup_distribution")


def test_figures_of_single_sentences_need_them(workplace: Workplace) -> None:
    workplace.run["latency"] = {**workplace.run["latency"], "scenarios": ["Smax"]}
    assert asked_for(workplace) == speed("Smax") | pareto("reference", "Smax")
