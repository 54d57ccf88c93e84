"""What a database or a disk that fails means to the person who meets it, and what to do."""

import errno

from django.db import DatabaseError, DataError, OperationalError

from memoryweb.core.errors import DomainError, Invalid, Unavailable

FULL = "the disk is full; nothing was changed. Free some space, then try again"
READ_ONLY = (
    "the home cannot be written: its files, its folder or its disk is read-only or belongs to "
    "another user. Nothing was changed"
)
DAMAGED = (
    "the database file is damaged; nothing was changed. Stop the server, keep a copy of the home "
    "as it is, then put back the last backup"
)
BROKEN = "the disk reported an error; nothing was changed. Look at the disk, then try again"
GONE = "the database file cannot be opened; look whether the home is there and may be read"

# SQLite says it in words; its codes are not with every build of the module.
_SAID_BY_SQLITE = {
    "disk is full": FULL,
    "No space left": FULL,
    "Disk quota": FULL,
    "readonly database": READ_ONLY,
    "Read-only file system": READ_ONLY,
    "Permission denied": READ_ONLY,
    "malformed": DAMAGED,
    "not a database": DAMAGED,
    "disk I/O error": BROKEN,
    "unable to open": GONE,
}
_SAID_BY_THE_SYSTEM = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EROFS: READ_ONLY,
    errno.EACCES: READ_ONLY,
    errno.EPERM: READ_ONLY,
    errno.EIO: BROKEN,
}


def explained(error: BaseException | None) -> DomainError | None:
    """The failure in the domain's words; None for what is no failure of database or disk.

    A value from outside that no column can hold, such as a number of 30 digits, is the sender's.
    """
    if isinstance(error, DataError):
        return Invalid("a value in it is larger than any that is stored; nothing was changed")
    if isinstance(error, OSError):
        said = _SAID_BY_THE_SYSTEM.get(error.errno or 0)
        return Unavailable(said) if said else None
    if not isinstance(error, DatabaseError):
        return None
    text = str(error)
    for words, meaning in _SAID_BY_SQLITE.items():
        if words in text:
            return Unavailable(meaning)
    if isinstance(error, OperationalError):
        return Unavailable(f"the database does not work now ({text}); nothing was changed")
    return None
