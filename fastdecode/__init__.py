"""fastdecode: four ways to faster translation decoding, measured under one protocol.

This package is also the fairseq plug-in: `fairseq-train --user-dir <this folder>` registers what
`fastdecode.plugin` holds. Without fairseq already loaded, importing it costs nothing, and
fairseq will be imported as `lean` does it.
"""

import sys

__version__ = "0.1.0"

if "fairseq" in sys.modules:
    from fastdecode import plugin as plugin
else:
    from fastdecode.lean import LeanFinder

    sys.meta_path.insert(0, LeanFinder())
