"""The database backend: SQLite from a fixed library, every writer queued.

The SQLite that Debian 12 and many Pythons link (3.7.0 to 3.51.2) can corrupt a database in WAL
mode (the "WAL-reset" race). `pysqlite3` bundles a fixed one and stands in for the standard
module before Django's backend, in `base`, imports it. A system check says so where it does not.
"""

import sys

import pysqlite3
import pysqlite3.dbapi2

sys.modules["sqlite3"] = pysqlite3
sys.modules["sqlite3.dbapi2"] = pysqlite3.dbapi2
