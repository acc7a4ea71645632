#!/usr/bin/env bash
# Compile fairseq against the torch of this environment, then install the package itself.
set -euo pipefail
pip install --no-build-isolation fairseq-fixed==0.12.3.1
pip install --no-build-isolation --no-deps -e "$(dirname "$0")/.."
