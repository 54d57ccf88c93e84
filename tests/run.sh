#!/usr/bin/env bash
# Installs what the tests need, then passes its arguments to pytest: bash tests/run.sh -k search
set -euo pipefail
cd "$(dirname "$0")/.."

# The browser tests drive Debian's Chromium, with a font that has Chinese characters.
# Where it cannot be installed they are skipped, and say so.
if ! command -v chromium >/dev/null && command -v apt-get >/dev/null; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    { $as_root apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends \
          chromium fonts-wqy-microhei; } >/dev/null || echo "chromium could not be installed" >&2
fi

[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/python -m pip install -q -c requirements.lock -e '.[test]'
exec .venv/bin/python -m pytest "$@"
