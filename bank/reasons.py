"""Why a file of the memory folder is not taken in, and what a person can do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Why(StrEnum):
    """The kinds of reasons; each has its advice."""

    NAME = "name"
    TWIN = "twin"
    NO_FILE = "no file"
    NO_TEXT = "no text"
    TOO_LARGE = "too large"
    UNREADABLE = "unreadable"
    NO_FOLDER = "no folder"
    MISSING = "missing"
    GONE = "gone"
    FOLDER = "folder"
    WAITING = "waiting"
    LEFTOVER = "leftover"
    BEYOND_US = "beyond us"

    @property
    def advice(self) -> str:
        return _ADVICE[self]


_ADVICE = {
    Why.NAME: "Rename the file. Letters, digits, “-” and “_” are fine in any script.",
    Why.TWIN: "Put what the file says into the other one, then move it away; or rename it.",
    Why.NO_FILE: "Move it out of the folder, or put the text itself in its place.",
    Why.NO_TEXT: "Save the file as UTF-8 text, or move it out of the folder.",
    Why.TOO_LARGE: "Divide the text into several files. The page stays as it was until then.",
    Why.UNREADABLE: "Let the user that memoryweb runs as read and write it; look at the disk.",
    Why.NO_FOLDER: "Put the folder back, or mount it, and let memoryweb's user read it.",
    Why.MISSING: "Put the files back, or mount their disk. If they are lost, write them again.",
    Why.GONE: "Nothing: it is written again in a moment. Archive the page to take it away.",
    Why.FOLDER: "Move what is in it up into the folder above, or the folder out of it.",
    Why.WAITING: "Nothing, if it goes away by itself; else look at the disk.",
    Why.LEFTOVER: "Put what you need of it into a page, then delete the file.",
    Why.BEYOND_US: "Please report this as a fault of memoryweb. The file is left as it is.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Why one file, or what is in a file's place, is left as it is; `reason` is a sentence."""

    why: Why
    reason: str

    def __str__(self) -> str:
        return self.reason
