"""The micro configuration on a real SLURM cluster of this machine, through profiles/slurm.

The short test runs everywhere where SLURM is installed; the fault matrix is `make test-cluster`.
"""

import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from fastdecode.train.worker import die_with_parent
from tests.workflow.cluster import Cluster, why_not
from tests.workflow.conftest import ROOT, Workplace
from tests.workflow.test_end_to_end import STUDENT, TEACHER, assert_same_results, weights

REASON = why_not()
pytestmark = pytest.mark.skipif(bool(REASON), reason=str(REASON))
faults = pytest.mark.skipif("FAULTS" not in os.environ, reason="slow: make test-cluster")
DECODERS = ("beam5", "greedy")
PROFILE = ROOT / "profiles/slurm"
TURNS = yaml.safe_load((PROFILE / "config.yaml").read_text())[
    "set-resources"
]  # or it replaces them


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="slurm") as folder, Cluster(Path(folder)) as running:
        yield running


def command(place: Workplace, *targets: str, training: Sequence[str] = ("gpu=1",)) -> list[str]:
    """The call of snakemake on the cluster: trainings ask for a GPU, which is a pretended one."""
    words = place.command(*targets)
    words[words.index("--cores") : words.index("--cores") + 2] = [
        *("--workflow-profile", str(PROFILE)),
        *("--default-resources", "slurm_account=root", "slurm_partition=tests"),
        *("--set-resources", *(f"train_system:{each}" for each in training), *TURNS),
        *("--slurm-init-seconds-before-status-checks", "3"),
    ]
    return words


def quality(*models: str) -> list[str]:
    return [f"results/{model}/test.{name}.quality.json" for model in models for name in DECODERS]


def rule_of(line: str) -> str:
    """Return the rule or group of a job, by the log that its sbatch names."""
    found = re.search(r"/slurm_logs/(?:rule|group)_([a-z_]+)/", line)
    assert found, line
    return found[1].removesuffix("_measure_quality")


def as_from_a_terminal() -> None:
    """Let Ctrl-C count, also where the tests run in the background; and end with the tests."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    die_with_parent()


class Run:
    """Snakemake beside the test, on the cluster, in a session of its own."""

    def __init__(self, place: Workplace, cluster: Cluster, *targets: str, **more: Sequence[str]):
        self.log = place.folder / "run.log"
        self._cluster = cluster
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command(place, *targets, **more),
                cwd=ROOT,
                env={**cluster.environment, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=as_from_a_terminal,
            )

    def wait_for(self, condition: Callable[[], object], seconds: float = 900) -> None:
        """Wait for something to happen while snakemake runs."""

        def happened() -> object:
            assert self.process.poll() is None, self.log.read_text()
            return condition()

        self._cluster.wait(happened, seconds, every=0.1)

    def finish(self) -> str:
        """Wait for the end, which is a good one, and return all that was said."""
        self.process.wait(1200)
        said = self.log.read_text()
        assert self.process.returncode == 0, said
        return said


def test_a_model_is_trained_and_measured_through_the_queue(
    finished: Workplace, cluster: Cluster, tmp_path: Path
) -> None:
    place = finished.copy(tmp_path / "copy")
    timed = "results/report/micro/machine.threads1.json"
    for name in ("checkpoint.pt", *(f"test.{d}.jsonl.gz" for d in DECODERS)):
        place.path(f"{TEACHER}/{name}").unlink()
    for file in (timed, *quality(TEACHER)):
        (place.folder / file).unlink()
    Run(place, cluster, timed, *quality(TEACHER)).finish()
    assert not cluster.queue()
    assert_same_results(finished, place)

    columns = "AllocTRES,ReqMem,TimelimitRaw,State,SubmitLine"
    rows = cluster.call("sacct", "-X", "-n", "-P", "-o", columns).splitlines()
    jobs = {rule_of(row): row.split("|") for row in rows}
    assert len(rows) == 5  # training, two translations, one group that scores them, one timing
    assert all(state == "COMPLETED" for _, _, _, state, _ in jobs.values())
    with_gpu = {rule for rule, job in jobs.items() if "gres/gpu=1" in job[0]}
    assert with_gpu == {"train_system", "measure_machine"}  # a timing has all of its node
    assert jobs["train_system"][1:3] == ["8000M", "1440"]
    assert jobs["quality"][1:3] == ["4000M", "60"]  # two of half an hour, one after another
    assert "--exclusive" in jobs["measure_machine"][-1]


@faults
def test_whatever_dies_nothing_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    """A job, a node and snakemake itself are killed in turn; then the results are as locally."""
    local = Workplace(tmp_path / "local")
    local.dataset["training"]["max_epochs"] = 30
    local.save()
    assert local.snakemake("results/micro/raw/bin").returncode == 0
    place = local.copy(tmp_path / "cluster")
    targets = quality(TEACHER, STUDENT)
    assert local.snakemake(*targets).returncode == 0
    start = time.monotonic()

    def note(event: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {event}")

    def running(rule: str) -> str | None:
        """Return the number of a job of this rule that runs."""
        for line in cluster.call("squeue", "-h", "-t", "running", "-o", "%i %k").splitlines():
            number, _, comment = line.partition(" ")
            if comment.startswith(f"rule_{rule}_"):
                return number
        return None

    def half_trained(model: str) -> bool:
        return any(place.path(model).glob("work-*/checkpoint_last.pt"))

    run = Run(place, cluster, *targets)
    run.wait_for(lambda: half_trained(TEACHER))
    job = running("train_system")
    cluster.call("scancel", job)
    note(f"the job of the teacher's training, {job}, is cancelled")
    run.wait_for(lambda: running("train_system") not in (None, job))
    note(f"it runs again as job {running('train_system')}")

    run.wait_for(lambda: running("distill_shard"))
    job = running("distill_shard")
    node = cluster.call("squeue", "-h", "-j", job, "-o", "%N")
    cluster.kill_node(node)
    note(f"node {node} dies, on which the teacher translates in job {job}")
    run.wait_for(lambda: cluster.call("squeue", "-h", "-j", job, "-o", "%N") not in ("", node))
    note(f"job {job} runs again on another node")
    cluster.start_node(node)
    note(f"node {node} is back")

    run.wait_for(lambda: half_trained(STUDENT))
    run.process.kill()
    run.process.wait()
    left = cluster.queue()
    note(f"snakemake is killed (-9) while the student is trained; left in the queue: {left}")
    assert left
    subprocess.run([PROFILE / "cancel"], cwd=place.folder, env=cluster.environment, check=True)
    assert not cluster.queue()
    note("profiles/slurm/cancel: the queue is empty")
    unlock = command(place, *targets)
    unlock.insert(unlock.index("--"), "--unlock")
    subprocess.run(unlock, cwd=ROOT, env=cluster.environment, check=True, capture_output=True)

    run = Run(place, cluster, *targets)
    run.wait_for(lambda: running("translate_split"))
    os.kill(run.process.pid, signal.SIGINT)
    note("Ctrl-C while test sets are translated")
    run.process.wait(60)
    cluster.wait(lambda: not cluster.queue(), 60)
    note("snakemake has ended and the queue is empty")

    Run(place, cluster, *targets).finish()
    note("the end")
    assert_same_results(local, place)
    for model in (TEACHER, STUDENT):
        (log,) = place.path(model).glob("work-*/train.log")
        epochs = [
            int(epoch)
            for epoch in re.findall(r'^.*\| \{"epoch": (\d+), "train_loss"', log.read_text(), re.M)
        ]
        note(f"{model}: epochs {epochs}")
    columns = "JobID,NodeList,Start,Elapsed,ReqMem,TimelimitRaw,State,SubmitLine"
    for row in cluster.call("sacct", "-X", "-D", "-n", "-P", "-o", columns).splitlines():
        print(*row.split("|")[:-1], rule_of(row), sep="\t")


@faults
def test_two_nodes_train_one_model(cluster: Cluster, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    place.dataset["training"]["gpus"] = 2
    place.save()
    assert place.snakemake("results/micro/raw/bin").returncode == 0
    training = ("nodes=2", "gpu=2", "mpi=srun", "tasks=2", "tasks_per_gpu=0")  # docs/cluster.md
    Run(place, cluster, f"results/{TEACHER}/checkpoint.pt", training=training).finish()
    (log,) = place.path(TEACHER).glob("work-*/train.log")
    assert "distributed init (rank 0)" in log.read_text()
    steps = cluster.call("sacct", "-n", "-P", "-o", "JobID,NNodes,State").splitlines()
    assert any(re.fullmatch(r"\d+\.\d+\|2\|COMPLETED", step) for step in steps)
    assert len(weights(place, TEACHER)) > 10
