"""What was deleted, taken out of the database's files, where SQLite leaves it in free space."""

import logging

from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)


def scrub() -> bool:
    """Whether nothing that was deleted is left in the database file or its log.

    The file is written anew, which takes time with its size and lets other writers wait, and the
    log is cut off. False within a transaction, when the disk is full, and while somebody reads
    what stood there before. On another database than SQLite that is the operator's affair.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            [busy, *_] = cursor.fetchone()
    except DatabaseError as error:
        logger.warning("what was deleted may still be in the database's files: %s", error)
        return False
    return not busy
