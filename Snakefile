"""fastdecode: four ways to faster translation decoding, from one corpus to one set of tables."""

import sys
from pathlib import Path

from snakemake.utils import min_version

from fastdecode.config.arguments import check_rules, omitted
from fastdecode.config.artifacts import for_nothing
from fastdecode.errors import clear_errors
from fastdecode.plan.missing import missing
from fastdecode.progress import say

min_version("9.14.8")


# For --sdm apptainer, once it is built.
IMAGE = Path(workflow.basedir, "envs/fastdecode.sif")
if IMAGE.exists():

    container: str(IMAGE)


configfile: Path(workflow.basedir, "config/config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/align.smk"
include: "workflow/rules/distill.smk"
include: "workflow/rules/language_model.smk"
include: "workflow/rules/lattice.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/translate.smk"
include: "workflow/rules/given.smk"
include: "workflow/rules/quality.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/speed.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/artifacts.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/page.smk"


onstart:
    for line in missing(CONFIG):
        say("missing", f"{line} (jobs that do not want it go on)")
    for what, names in (
        ("papers", for_nothing(CONFIG)),
        ("decoders", CONFIG.idle_decoders()),
    ):
        if names:
            say(what, f"nothing of this run goes with {', '.join(names)}")


# What tables are made of is asked for beside them: Snakemake does not miss what nobody asks for, such
# as a time that a killed `--forcerun` had begun to measure anew.
rule all:
    default_target: True
    input:
        made_of_files(),
        report_files(),
        artifact_files(),
        claim_files(),
        page_files(),
        alignment_errors(),
    message:
        "Everything of this run is there"


with clear_errors():
    check_rules(
        {
            "--omit-from": omitted(sys.argv),
            "--set-threads": workflow.resource_settings.overwrite_threads,
            "--set-resources": workflow.resource_settings.overwrite_resources,
        },
        [rule.name for rule in workflow.rules],
    )
