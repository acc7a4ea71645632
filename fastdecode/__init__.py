"""fastdecode: four ways to faster translation decoding, measured under one protocol.

This package is also the fairseq plug-in: `fairseq-train --user-dir <this folder>` registers what
`fastdecode.plugin` holds. Without fairseq already loaded, importing it costs nothing.
"""

import sys

__version__ = "0.1.0"

if "fairseq" in sys.modules:
    from fastdecode import plugin as plugin
