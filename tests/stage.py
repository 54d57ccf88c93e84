"""Loaded before the settings are: each test process has a home of its own, gone at its end."""

import atexit
import os
import shutil
import tempfile

HOME = tempfile.mkdtemp(prefix="memoryweb-test-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)

os.environ["MEMORYWEB_HOME"] = HOME
os.environ["MEMORYWEB_TIME_ZONE"] = "Asia/Shanghai"
os.environ["MEMORYWEB_SECRET_KEY"] = "only-for-tests-" + "x" * 40
os.environ.pop("MEMORYWEB_MEMORY_DIR", None)
