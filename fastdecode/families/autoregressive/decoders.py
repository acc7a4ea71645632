"""The decoders of this family, by engine."""

from fastdecode.errors import UserError
from fastdecode.families.autoregressive.reference import ReferenceDecoder
from fastdecode.families.autoregressive.rows import Decoder as Row
from fastdecode.stages import Stopwatch
from fastdecode.system import Decoder, System
from fastdecode.translation import Finish


def build(system: System, row: Row, finish: Finish, watch: Stopwatch) -> Decoder:
    """Return the decoder that `row` describes. Raises UserError if it does not fit the system."""
    if row.engine == "fairseq":
        return ReferenceDecoder(system, row, finish, watch)
    if len(system.models) > 1:
        raise UserError(
            f"engine {row.engine} decodes one model, and these are {len(system.models)}: "
            "decode an ensemble with engine: fairseq"
        )
    if row.engine == "ctranslate2":
        from fastdecode.families.autoregressive.ctranslate2 import CTranslate2Decoder

        return CTranslate2Decoder(system, row, finish, watch)
    from fastdecode.families.autoregressive.optimised import optimised

    return optimised(system, row, finish, watch)
