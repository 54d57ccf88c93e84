"""Loaded before the settings are: each test process has a home of its own, gone at its end."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH = 4 << 30

# The tests commit some fifty thousand times, and each commit waits for its disk. What they show
# of killed processes holds in memory as well, and takes half the time.
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY)

HOME = tempfile.mkdtemp(prefix="memoryweb-test-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

os.environ["MEMORYWEB_HOME"] = HOME
os.environ["MEMORYWEB_TIME_ZONE"] = "Asia/Shanghai"
os.environ["MEMORYWEB_SECRET_KEY"] = "only-for-tests-" + "x" * 40
os.environ.pop("MEMORYWEB_MEMORY_DIR", None)
