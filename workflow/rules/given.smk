"""What a run was given, in place of the rules that would make it: see fastdecode.given."""

GIVEN = CONFIG.run.given

with clear_errors():
    check_untouched(GIVEN, Path(RESULTS))


wildcard_constraints:
    given_model=any_of(GIVEN.models),
    given_target=any_of(GIVEN.distilled),
    given_text=any_of(GIVEN.translations),


ruleorder: take_model > take_record > train_system
ruleorder: take_record > record_ensemble
ruleorder: take_curve > train_system
ruleorder: take_distilled > join_shards
ruleorder: take_translations > translate_split


def names_of(folder):
    """Return what names a model's result, for its provenance, from its folder."""
    return asdict(Model.of(folder))


def given_corpus(folder):
    """Return the corpus row of what is given."""
    return CONFIG.corpora[CONFIG.datasets[folder.split("/")[0]].corpus]


def given_translations(wildcards):
    """Return a given file of translations. Ends the run if there is none."""
    with clear_errors():
        return GIVEN.translation_file(
            wildcards.given_text, wildcards.split, wildcards.decoder
        )


def taken(model, name):
    """Return a given file of a model in a list, which is empty if there is none."""
    path = GIVEN.model_file(model, name)
    return [path] if path else []


def source_lines(dataset, split):
    """Return the raw source side of a split."""
    name = CONFIG.datasets[dataset].corpus
    return f"{RESULTS}/corpora/{name}/{split}.raw.{CONFIG.corpora[name].source}.gz"


def given_size(folder):
    """Return what the configuration says of a model's size."""
    model = Model.of(folder)
    return CONFIG.architecture(model.dataset, model.system)


def family_and_layers(folder):
    """Return what the configuration says of a model's shape."""
    family = CONFIG.family_of[Model.of(folder).system]
    return {"family": family, "layers": given_size(folder).layers}


rule take_model:
    input:
        checkpoint=lambda w: taken(w.given_model, "checkpoint.pt"),
        record=lambda w: taken(w.given_model, "train.json"),
        data=lambda w: f"{RESULTS}/{Model.of(w.given_model).dataset}/{RAW}/bin",
    output:
        checkpoint=f"{RESULTS}/{{given_model}}/checkpoint.pt",
        record=f"{RESULTS}/{{given_model}}/train.json",
    localrule: True
    params:
        seen=lambda w: seen(
            *taken(w.given_model, "checkpoint.pt"), *taken(w.given_model, "train.json")
        ),
        names=lambda w: names_of(w.given_model),
        shape=lambda w: family_and_layers(w.given_model),
        width=lambda w: given_size(w.given_model).width,
        device="cpu",  # which copies
    message:
        "Taking {wildcards.given_model} from {input.checkpoint}"
    script:
        "../scripts/take_model.py"


rule take_curve:
    input:
        lambda w: taken(w.given_model, "curve.csv"),
    output:
        f"{RESULTS}/{{given_model}}/curve.csv",
    localrule: True
    params:
        seen=lambda w: seen(*taken(w.given_model, "curve.csv")),
    message:
        "Taking the learning curve of {wildcards.given_model}"
    shell:
        "cp {input:q} {output:q}.part && mv {output:q}.part {output:q}"


rule take_distilled:
    input:
        text=lambda w: GIVEN.distilled[w.given_target],
        source=lambda w: f"{RESULTS}/{w.given_target.split('/')[0]}/bpe/train.source.gz",
        data=lambda w: f"{RESULTS}/{w.given_target.split('/')[0]}/{RAW}/bin",
    output:
        text=f"{RESULTS}/{{given_target}}/train.target.gz",
        provenance=f"{RESULTS}/{{given_target}}/provenance.json",
    localrule: True
    params:
        seen=lambda w: seen(GIVEN.distilled[w.given_target]),
        language=lambda w: given_corpus(w.given_target).target,
        device="cpu",  # which copies
    message:
        "Taking the targets of {wildcards.given_target} from {input.text}"
    script:
        "../scripts/take_distilled.py"


rule take_translations:
    input:
        given=given_translations,
        lines=lambda w: source_lines(Model.of(w.given_text).dataset, w.split),
    output:
        f"{RESULTS}/{{given_text}}/{{split}}.{{decoder}}.jsonl.gz",
    localrule: True
    params:
        seen=lambda w: seen(given_translations(w)),
        names=lambda w: names_of(w.given_text),
        language=lambda w: given_corpus(w.given_text).target,
        lowercase=lambda w: given_corpus(w.given_text).lowercase,
        pretokenised=lambda w: given_corpus(w.given_text).pretokenised,
        device="cpu",  # which copies
    message:
        "Taking {wildcards.split} by {wildcards.given_text}, {wildcards.decoder}, from {input.given}"
    script:
        "../scripts/take_translations.py"


rule take_record:
    output:
        f"{RESULTS}/{{given_text}}/train.json",
    localrule: True
    params:
        names=lambda w: names_of(w.given_text),
        shape=lambda w: family_and_layers(w.given_text),
        device="cpu",  # which copies
    message:
        "Noting that only translations of {wildcards.given_text} are given"
    script:
        "../scripts/take_record.py"
