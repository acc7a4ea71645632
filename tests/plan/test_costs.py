"""What jobs cost: laws that hold whatever the constants are."""

from pathlib import Path

import pytest

from fastdecode.config.base import merge, read_yaml
from fastdecode.config.devices import Device
from fastdecode.config.read import Configuration
from fastdecode.plan.costs import IMPORT, Cost, Costs, Machine
from fastdecode.plan.estimate import estimate, printed
from fastdecode.plan.jobs import Job
from fastdecode.plan.sizes import Size, Sizes

CONFIG = Path(__file__).parents[2] / "config"
MACHINE = Machine("test", Device(kind="cpu", throughput=50, overhead=0.0075, step=0.001))


def costs(run: str, results: Path, machine: Machine = MACHINE, **changes: object) -> Costs:
    values = merge(read_yaml(CONFIG / "config.yaml"), read_yaml(CONFIG / f"runs/{run}.yaml"))
    config = Configuration(values | changes, CONFIG)
    return Costs(config, Sizes(config, results), machine)


def job(rule: str, **wildcards: str) -> Job:
    return Job(rule, ("results/it",), (), False, wildcards=wildcards)


def of_model(rule: str, folder: str, **more: str) -> Job:
    """Return a job about the model of dataset/target/system."""
    names = dict(zip(("dataset", "target", "system"), folder.split("/"), strict=True))
    return job(rule, **names, seed="1", **more)


def training(folder: str) -> Job:
    return of_model("train_system", folder)


def timing(scenario: str = "S1", tier: str = "reference") -> Job:
    names = {"dataset": "toy.long", "split": "test", "tier": tier}
    return job("measure_latency", **names, scenario=scenario)


def test_more_to_compute_takes_longer(tmp_path: Path) -> None:
    toy = costs("toy-dag", tmp_path)
    for systems in (
        ("nat", "ctc", "ctc-glat", "ctc-glat-upsample8"),
        ("transformer", "dag-lambda4", "dag-no-glancing", "dag", "dag-lambda16"),
    ):
        seconds = [toy.of(training(f"toy.long/raw/{name}")).seconds for name in systems]
        assert seconds == sorted(set(seconds)) and seconds[0] > 10
    fast = costs(
        "toy-dag",
        tmp_path,
        Machine("fast", Device(kind="cpu", throughput=500, overhead=0.00075, step=0.001)),
    )
    assert fast.of(training("toy.long/raw/dag")).seconds < seconds[3] / 5


def test_vertices_attend_to_all_others(tmp_path: Path) -> None:
    toy = costs("toy-dag", tmp_path)
    two, four, eight, sixteen = (
        toy.of(training(f"toy.long/raw/{name}")).seconds
        for name in ("dag-lambda2", "dag-lambda4", "dag", "dag-lambda16")
    )
    # what grows with the number of vertices would double; with its square, four times
    growth = [eight - four, sixteen - eight]
    assert 2 * (four - two) < growth[0] and 2 * growth[0] < growth[1] < 4 * growth[0]


def test_updates_and_epochs_end_a_training(tmp_path: Path) -> None:
    few, many = (
        costs("multi30k", tmp_path, training={"max_epochs": epochs}).of(
            training("multi30k.de-en/raw/transformer-big")
        )
        for epochs in (5, 10)
    )
    assert many.seconds == pytest.approx(2 * few.seconds, rel=0.05)
    paper = costs("aggressive", tmp_path)
    one = paper.of(training("wmt14.en-de.aggressive/raw/transformer-big"))
    assert one.gpus == 1 and one.seconds > 3600
    assert one.kept > 4 * 150e6  # a big Transformer


def test_more_gpus_take_larger_batches(tmp_path: Path) -> None:
    def of(run: str, entry: str, **settings: int) -> Cost:
        return costs(run, tmp_path, training=settings, device="cuda").of(training(entry))

    paper = ("aggressive", "wmt14.en-de.aggressive/raw/transformer-big")
    one, four = (of(*paper, gpus=gpus) for gpus in (1, 4))
    assert (one.seconds, one.gpus, four.gpus) == (four.seconds, 1, 4)  # as many updates
    epochs = ("multi30k", "multi30k.de-en/raw/transformer-big")
    one, four = (of(*epochs, gpus=gpus) for gpus in (1, 4))
    assert four.seconds - 2 * IMPORT == pytest.approx((one.seconds - 2 * IMPORT) / 4)
    jobs = {Job("train_system", (name,), (), False): four for name in "ab"}
    found = estimate(jobs, 2)
    assert found.gpu_seconds == pytest.approx(8 * four.seconds)
    assert "4 GPUs" in printed(found, "test", [], 2)


def test_distilling_is_shared_by_its_parts(tmp_path: Path) -> None:
    plan = costs("multi30k", tmp_path)
    whole, part = (
        plan.of(
            job("distill_shard", dataset="multi30k.de-en", target="transformer-big", shards=shards)
        )
        for shards in ("1", "4")
    )
    assert whole.seconds > 3 * part.seconds


def test_an_ensemble_translates_with_all_of_its_models(tmp_path: Path) -> None:
    toy = costs("toy-aggressive", tmp_path)
    how = {"split": "test", "decoder": "beam5"}
    one, three = (
        toy.of(of_model("translate_split", f"toy.long/raw/{name}", **how))
        for name in ("transformer-big", "transformer-big-x3")
    )
    assert three.seconds - IMPORT == pytest.approx(3 * (one.seconds - IMPORT))


def test_every_rule_has_a_cost(tmp_path: Path) -> None:
    plan = costs("toy-lattice", tmp_path)
    model, where = "toy.long/raw/transformer", {"dataset": "toy.long", "split": "test"}
    for one in (
        of_model("translate_split", model, split="test", decoder="beam5"),
        of_model("measure_quality", model, split="test", decoder="beam5"),
        of_model("measure_statistic", model, split="test", statistic="ranks"),
        timing(),
        job("measure_memory", **where),
        job("compare_quality", **where),
        job("compare_decoders", **where),
        job("resample_quality", paper="lattice", metric="bleu", **where),
        job("learn_bpe", dataset="toy.long"),
        job("apply_bpe", dataset="toy.long", part="train", side="source"),
        job("align_words", dataset="toy.long", target="raw"),
        job("draw_artifact", artifact="lattice.figure1"),
    ):
        cost = plan.of(one)
        assert 0 < cost.seconds < 3600 and cost.kept > 0, one.rule


def test_a_download_takes_what_is_known_of_its_size(tmp_path: Path) -> None:
    plan = costs("multi30k", tmp_path)
    known = {key: row.bytes for key, row in plan._config.downloads.items()}
    kept = {key: plan.of(job("fetch_download", key=key)).kept for key in known}
    assert None in known.values() and len(set(known.values())) > 40
    assert kept == {key: size or 29_000 * 45 for key, size in known.items()}


def test_slots_and_candidates_are_computed_too(tmp_path: Path) -> None:
    """A graph has a row a vertex, a lattice one a candidate."""
    toy = costs("toy-dag", tmp_path)

    def seconds(system: str, decoder: str) -> float:
        where = of_model("translate_split", f"toy.long/raw/{system}", split="test", decoder=decoder)
        return toy.of(where).seconds

    graphs = ("dag-lambda2", "dag-lambda4", "dag", "dag-lambda16")
    found = [seconds(name, "dag-lookahead") for name in graphs]
    assert found[3] - found[2] == pytest.approx(8 / 2 * (found[1] - found[0]))
    systems, drafted = toy._config.systems, toy._config.decoders["gad-strict"]
    # whoever drafts, the verifier takes most
    assert drafted.passes(9, systems["dag"]) == drafted.passes(9, systems["gad"])
    assert seconds("cmlm", "mask-predict-10-3-lengths") < seconds("cmlm", "mask-predict-10")
    decoders, lattice = costs("toy-lattice", tmp_path)._config.decoders, systems["lattice"]
    (_, many), (_, few) = (decoders[f"lattice-k{k}"].passes(9, lattice) for k in (64, 32))
    assert many == 2 * few > 9


def test_the_vocabulary_counts_where_rows_are_scored_over_it(tmp_path: Path) -> None:
    toy = costs("toy-lattice", tmp_path)
    whole, candidates = (
        toy.of(
            of_model(
                "translate_split", "toy.long/transformer-big/lattice", split="test", decoder=name
            )
        )
        for name in ("lattice-k64", "lattice-k64-candidates")
    )
    _, decoder, words = toy.weights("toy.long", "lattice")
    assert words > decoder  # so that most of the work is not done
    assert candidates.seconds - IMPORT < 0.5 * (whole.seconds - IMPORT)


def test_pairs_take_half_of_the_passes(tmp_path: Path) -> None:
    config = costs("toy-bidirectional", tmp_path)._config
    row = config.decoders["pairs-beam10"]
    assert row.passes(20, config.systems["bidirectional"]) == (11, 20)
    assert row.passes(20, config.systems["r2l"]) == (21, 10)


def test_memory_is_measured_of_trained_models_alone(tmp_path: Path) -> None:
    where = {"dataset": "toy.long", "split": "test"}
    alone, beside = (
        costs(
            "toy-lattice",
            tmp_path,
            systems=["raw/transformer", *more],
            decoders=["beam5"],
            papers=[],
            speedup_over={"reference": "raw/transformer/beam5"},
        ).of(job("measure_memory", **where))
        for more in ([], ["untrained/transformer"])
    )
    assert alone.seconds == beside.seconds


def test_jobs_of_a_corpus_go_over_its_text(tmp_path: Path) -> None:
    """Also of splits that the first dataset made of it does not test on."""
    plan = costs("multi30k", tmp_path)
    folder = "results/corpora/multi30k.de-en/raw"
    rule = "extract_multi30k.de-en"
    whole, *few = (
        plan.of(Job(rule, (f"{folder}/{split}.de.gz",), (), False, wildcards={"split": split}))
        for split in ("train", "valid", "another")
    )
    assert few[0] == few[1] and whole.seconds > 2 * few[0].seconds


def test_a_statistic_of_the_training_set_is_of_some_of_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = costs("toy-lattice", tmp_path)
    seconds = {}
    for split in ("test", "train"):
        measuring = of_model("measure_statistic", "toy.long/raw/transformer", split=split)
        for lines in (1_000, 100_000, 20_000_000):
            size = Size(lines, 20.0, known=True)
            monkeypatch.setattr(plan._sizes, "of", lambda *_, size=size: size)
            seconds[split, lines] = plan.of(measuring).seconds
    assert seconds["train", 1_000] == seconds["test", 1_000]
    assert seconds["train", 1_000] < seconds["train", 100_000] == seconds["train", 20_000_000]
    assert seconds["test", 100_000] < seconds["test", 20_000_000]


def test_no_more_lines_are_timed_than_there_are(tmp_path: Path) -> None:
    few, more, most = (
        costs("toy-lattice", tmp_path, latency={"lines": lines, "warmup": 20}).of(timing()).seconds
        for lines in (20, 1_000_000, 2_000_000)
    )
    assert few < more == most


@pytest.mark.parametrize(("scenario", "five", "ten"), [("S1", 12, 22), ("Smax", 8, 13)])
def test_on_a_gpu_stages_are_timed_apart(
    tmp_path: Path, scenario: str, five: int, ten: int
) -> None:
    few, many = (
        costs("toy-lattice", tmp_path, latency={"repeats": repeats}, device="cuda")
        .of(timing(scenario))
        .seconds
        - IMPORT
        for repeats in (5, 10)
    )
    assert many / few == pytest.approx(ten / five)  # passes over the lines


def test_the_optimised_tier_gains_more_on_a_gpu(tmp_path: Path) -> None:
    gpu = Machine("gpu", MACHINE.device.model_copy(update={"kind": "cuda"}))
    cpu, cuda = (costs("toy-dag", tmp_path, machine) for machine in (MACHINE, gpu))
    assert cuda.of(timing()) == cpu.of(timing())
    assert cuda.of(timing(tier="optimised")).seconds < cpu.of(timing(tier="optimised")).seconds


def test_an_empty_test_set_takes_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = costs("toy-lattice", tmp_path)
    monkeypatch.setattr(plan._sizes, "of", lambda *_: Size(0, 0.0, known=True))
    assert plan.of(timing()).seconds == IMPORT


def test_what_is_done_costs_space_but_no_time() -> None:
    done = Job("train_system", ("a",), (), True, taken=7200.0)
    left = [Job("translate_split", (name,), ("a",), False) for name in "bc"]
    found = estimate(
        {done: Cost(3600.0, 1, 1e9, 2e9)} | dict.fromkeys(left, Cost(1800.0, 0, 1e9, 0.0)), 2
    )
    assert (found.jobs, found.done) == (3, 1)
    assert (found.cpu_seconds, found.gpu_seconds) == (3600.0, 0.0)
    assert (found.chain_seconds, found.chain) == (1800.0, ["translate_split"])
    assert (found.kept, found.peak) == (3e9, 5e9)
    text = printed(found, "test", ["x: 5 lines"], 2)
    for said in (
        "3 jobs, 1 of them done",
        "1.0 CPU hours",
        "5.00 GB at most",
        "x: 5 lines",
        "(×0.50)",
    ):
        assert said in text


def test_shards_are_there_at_once_and_counted_once() -> None:
    shards = [Job("distill_shard", (name,), (), False) for name in "abc"]
    training = Job("train_system", ("d",), (), False)
    found = estimate(
        dict.fromkeys(shards, Cost(1.0, scratch=2e9)) | {training: Cost(1.0, scratch=1e9)}, 2
    )
    assert found.peak == 7e9


def test_nothing_is_done_yet() -> None:
    left = Job("train_system", ("a",), (), False)
    text = printed(estimate({left: Cost(3600.0)}, 1), "test", [], 1)
    assert "1 jobs, 0 of them done" in text and "done in " not in text.partition("\n\n")[2]


def test_sizes_are_counted_where_the_corpus_is_prepared(tmp_path: Path) -> None:
    assumed = costs("multi30k", tmp_path)._sizes
    assert assumed.of("multi30k.de-en", "train").lines == 29_000
    assert "its corpus is not prepared yet" in assumed.assumed()[0]
    report = tmp_path / "corpora/multi30k.de-en/report.json"
    report.parent.mkdir(parents=True)
    report.write_text(
        '{"splits": {"train": {"kept": 10, "sides": {"de": {"tokens": 100}, "en": {"tokens": 100}}'
        "}}}"
    )
    size = costs("multi30k", tmp_path)._sizes.of("multi30k.de-en", "train")
    assert (size.lines, size.known) == (10, True)
    assert size.pieces == pytest.approx(13.0)


def test_own_files_are_counted_before_they_are_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for split, lines in (("train", 30), ("valid", 5)):
        for language in ("en", "de"):
            (tmp_path / f"{split}.{language}").write_text("three words each\n" * lines)
    own = tmp_path / "own"
    (own / "corpora").mkdir(parents=True)
    (own / "datasets").mkdir()
    splits = [
        f"  {split}: [{{kind: files, source: {split}.en, target: {split}.de}}]"
        for split in ("train", "valid", "test")
    ]
    (own / "corpora/own.yaml").write_text(
        "\n".join(["source: en", "target: de", "splits:", *splits])
    )
    (own / "datasets/own.yaml").write_text(
        "corpus: own\nbpe: {merges: 9}\ntraining: {max_epochs: 1}\n"
    )
    sizes = costs("multi30k", tmp_path, definitions=str(own), datasets=["own"], mirror=None)._sizes
    assert sizes.of("own", "train").lines == 30
    assert sizes.of("own", "train").pieces == pytest.approx(3 * 1.2 + 1)
    assert sizes.of("own", "test").lines == 1_000  # not there
    assert sizes.assumed() == ["own: 30 training lines of 5 pieces; its corpus is not prepared yet"]
    chinese = (own / "corpora/own.yaml").read_text().replace("target: de", "target: zh\nwords: 30")
    (own / "corpora/own.yaml").write_text(chinese)  # which writes no spaces
    (tmp_path / "train.de").write_text("三个词\n" * 30)
    sizes = costs("multi30k", tmp_path, definitions=str(own), datasets=["own"], mirror=None)._sizes
    assert sizes.of("own", "train").pieces == pytest.approx(3 * 1.2 + 1)
    (tmp_path / "train.de").unlink()
    sizes = costs("multi30k", tmp_path, definitions=str(own), datasets=["own"], mirror=None)._sizes
    assert "give its corpus `pairs:`" in sizes.assumed()[0]
