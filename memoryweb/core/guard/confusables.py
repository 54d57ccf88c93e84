"""Characters that look like a Latin letter, after the idea of the skeleton in Unicode TS 39.

A small table of what is used to disguise English words, not the consortium's file: compatibility
forms (fullwidth, mathematical, circled) are NFKC's business, accents fall with the combining marks.
"""

_LOOK_ALIKES = {
    "a": "аɑαᴀ⍺ꭺª",
    "b": "ЬƄʙвβᏏᖯ",
    "c": "сϲᴄⅽᏟƈ",
    "d": "ԁᴅɗđðᏧ",
    "e": "еєҽεᴇ℮ɘəɛ",
    "f": "ғƒꜰꞙẝϝ",
    "g": "ɡցɢǥԍ",
    "h": "һհʜнħի",
    "i": "іɪıιӏɩӀⅠӏ",
    "j": "јʝᴊϳ",
    "k": "кκᴋƙ",
    "l": "ʟłɭⅼǀ∣",
    "m": "мᴍⅿ",
    "n": "ոпηɴиռ",
    "o": "оοօᴏσøөо०০٥ο",
    "p": "рρᴘթƿ",
    "q": "ԛգզ",
    "r": "гʀᴦяɾꭇ",
    "s": "ѕꜱʂՏȿ",
    "t": "тτᴛŧ",
    "u": "υսᴜʋц",
    "v": "νѵᴠⅴ",
    "w": "ԝѡᴡωшա",
    "x": "хχ×ⅹ",
    "y": "уүγʏყ",
    "z": "ᴢƶʐ",
}

# Enclosed letters that NFKC leaves alone, by the code point of their A.
_ENCLOSED = (0x1F150, 0x1F170, 0x1F1E6)


def _table() -> dict[int, str]:
    table = {ord(like): letter for letter, likes in _LOOK_ALIKES.items() for like in likes}
    capitals = {
        ord(chr(code).upper()): letter
        for code, letter in table.items()
        if len(chr(code).upper()) == 1 and ord(chr(code).upper()) > 127
    }
    enclosed = {first + n: chr(ord("a") + n) for first in _ENCLOSED for n in range(26)}
    return {**capitals, **enclosed, **table}


#: Code point -> the Latin letter it can be taken for.
CONFUSABLES = _table()
