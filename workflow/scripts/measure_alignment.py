"""Compare alignments with the true links of a generated corpus: see fastdecode.corpus.links."""

from pathlib import Path

from fastdecode.config.rows import RAW
from fastdecode.corpus.links import alignment_error, parse_links, project_to_words
from fastdecode.corpus.toy.write import read_links
from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_json
from fastdecode.provenance import provenance

files = snakemake.input
with clear_errors():
    gold = list(read_links(Path(files.gold)))
    true = [gold[int(number)] for number in read_lines(Path(files.kept))]
    pairs = list(zip(read_lines(Path(files.source)), read_lines(Path(files.target)), strict=True))
    errors = {}
    for path in map(Path, files.links):
        predicted = [
            project_to_words(parse_links(line), *pair)
            for line, pair in zip(read_lines(path), pairs, strict=True)
        ]
        errors[path.name.removesuffix(".gz")] = alignment_error(predicted, true)
    origin = provenance(snakemake.wildcards.dataset, None, None, None, "cpu", target=RAW)
    write_json(Path(snakemake.output[0]), {"provenance": origin, "errors": errors})
