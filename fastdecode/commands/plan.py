"""`fastdecode plan`: what a run will cost, before it is launched."""

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastdecode.commands.selection import (
    DEFINITIONS,
    add_configfile,
    positive,
    read_run,
)
from fastdecode.config.arguments import stands_in
from fastdecode.config.base import merge
from fastdecode.config.checks import check_known
from fastdecode.config.devices import Device
from fastdecode.errors import UserError

if TYPE_CHECKING:
    from fastdecode.plan.costs import Machine

ROOT = DEFINITIONS.parent
BUSY = 0.5  # cores that others may use while this machine is measured


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to `parser`."""
    parser.description = (
        "Estimate a run before it is launched: jobs by rule and which are done, GPU and CPU\n"
        "hours, the longest chain of jobs that wait for each other, disk space. Times are\n"
        "estimates from this machine's speed in matrix multiplication, or a stated device's."
    )
    parser.epilog = (
        "examples:\n  fastdecode plan --configfile config/runs/multi30k.yaml\n"
        "  fastdecode plan --configfile config/runs/toy-dag.yaml --config 'seeds=[1]'\n"
        "  fastdecode plan --configfile config/runs/dag.yaml --device h100 --jobs 8"
    )
    add_configfile(parser, several=True)
    parser.add_argument(
        "--config",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="settings over those of the files, as Snakemake's: 'seeds=[1]'",
    )
    parser.add_argument(
        "--device",
        metavar="NAME",
        help="a row of config/devices.yaml (default: this machine, measured now)",
    )
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="jobs side by side (default: cores here)"
    )
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="where the run's results/ is or will be (default: here)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print the plan.

    Raises UserError if the configuration is wrong or there is no such device.
    """
    from fastdecode.config.artifacts import without_ours
    from fastdecode.config.read import Configuration
    from fastdecode.plan.costs import Costs
    from fastdecode.plan.estimate import estimate, printed
    from fastdecode.plan.jobs import list_jobs
    from fastdecode.plan.missing import missing
    from fastdecode.plan.sizes import Sizes
    from fastdecode.provenance import cores

    files = [path.resolve() for path in arguments.configfile]
    settings = _settings(arguments.config)
    values = merge(read_run(files), settings)
    if not arguments.folder.is_dir():
        raise UserError(f"--folder: {arguments.folder} is no folder")
    os.chdir(arguments.folder)  # paths in the configuration are from there
    config = Configuration(values, DEFINITIONS, stands_in(files, bool(settings)))
    device, rows, name = config.run.device, config.devices, arguments.device
    stated = _stated(name, device, rows)
    at_once = arguments.jobs or cores()
    jobs = list_jobs(ROOT / "Snakefile", files, Path.cwd(), at_once, settings)
    machine = stated or _measured(device, rows)  # takes a while: faults are said before
    sizes = Sizes(config, Path("results"))
    costs = Costs(config, sizes, machine)
    found = {job: costs.of(job) for job in jobs}
    print(printed(estimate(found, at_once), machine.name, sizes.assumed(), at_once))
    if names := config.idle_decoders():
        print(f"\nnothing of this run is decoded with {', '.join(names)}: no system fits them")
    if names := without_ours(config):
        print(f"\nnothing of this run goes into {', '.join(names)}: published numbers alone")
    if lines := missing(config):
        print("\nmissing here; the jobs that want it will end, others go on:")
        print("\n".join(f"  {line}" for line in lines))


def _settings(texts: Sequence[str]) -> dict[str, Any]:
    """Return settings KEY=VALUE as Snakemake reads them; raises UserError on others."""
    from snakemake.cli import parse_config

    try:
        settings: dict[str, Any] = parse_config(texts)
    except ValueError:
        raise UserError(
            f"--config {shlex.join(texts)}: give each as KEY=VALUE, such as 'seeds=[1]'"
        ) from None
    return settings


def _stated(name: str | None, device: str, rows: Mapping[str, Device]) -> "Machine | None":
    """Return the machine that is stated; None: this one, to be measured.

    Raises UserError if there is no such row, or no such device here.
    """
    from fastdecode.devices import check_device
    from fastdecode.plan.costs import Machine

    if name:
        check_known(name, rows, "--device")
        if rows[name].kind != device:
            raise UserError(
                f"--device: {name} is {'a core' if device == 'cuda' else 'a GPU'}, and the run's "
                f"device is {device}: add --config device={rows[name].kind}"
            )
        return Machine(name, rows[name])
    try:
        check_device(device)
    except UserError:
        raise UserError(
            "this run is for a GPU and there is none here: say which with --device, a row of "
            "config/devices.yaml"
        ) from None
    return None


def _measured(device: str, rows: Mapping[str, Device]) -> "Machine":
    """Return this machine, measured, with its kind's fixed costs."""
    from fastdecode.measure.machine import measure_machine
    from fastdecode.plan.costs import Machine
    from fastdecode.progress import say
    from fastdecode.provenance import cores, describe, of_cores

    busy = os.getloadavg()[0]
    throughputs = measure_machine(device, [1])["throughput"].values()
    best = max(found["1"] for found in throughputs)
    if device == "cpu" and busy > BUSY:
        say(
            "plan",
            f"other programs keep {busy:.1f} of the {of_cores(cores())} here busy, so that this "
            "machine counts as slow as it is now: ask again when they have ended, or take "
            "--device cpu",
        )
    found = rows["cpu" if device == "cpu" else "gpu"].model_copy(update={"throughput": best})
    return Machine(f"this machine ({describe(device)}), {best:,.0f} GFLOP/s", found)
