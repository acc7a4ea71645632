"""Score one translations file: see fastdecode.measure.quality."""

from pathlib import Path

from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_json
from fastdecode.measure.quality import quality
from fastdecode.translation import read_translations

files, params = snakemake.input, snakemake.params
with clear_errors():
    header, _, translations = read_translations(Path(files.translations))
    right = None  # translations known to be right, where a generated corpus lists them
    if files.get("references"):
        from fastdecode.corpus.toy import read_references

        right = [line.references for line in read_references(Path(files.references))]
    metrics = quality(
        translations,
        reference=list(read_lines(Path(files.raw))),
        tokenised=list(read_lines(Path(files.tokenised))),
        references=right,
        language=params.language,
        lowercase=params.lowercase,
    )
    if right is not None:
        from fastdecode.corpus.toy import share_right

        texts = [translation.text for translation in translations]
        share = share_right(params.seed, snakemake.wildcards.split, texts)
        metrics["right"] = {"value": share, "unit": "share", "signature": None}
    record = {"provenance": header["provenance"], "metrics": metrics}
    write_json(Path(snakemake.output[0]), record)
