"""Tables as people and programs spoil them, each from a seed: a grammar of encodings, separators, quotes, numbers.

Each holds the secret of ``bad_files``, which no message may repeat.
"""

import io
import random
import zipfile

import numpy as np

from tests.unit.data import bad_files as bad

SEPARATORS = (",", ";", "\t", "|", " ", ", ", "::", "\x1f")
ENCODINGS = (*bad.ENCODINGS, "utf-7", "cp037", "shift_jis", "gb18030")
NEWLINES = ("\n", "\r\n", "\r", "\n\n", "\u2028", "\x0b")
NUMBERS = ("0", "-0", "1e999", "1e-999", "NaN", "inf", "-Infinity", "1,234.5", "1.234,5", "1 234", "1'234", "٣٫٥", "½",
           "0x1f", "1_000", "١٢", "+1", "--1", "1e", "1.2.3", "12%", "€ 5", "(5)", "=1+1", "#REF!", "TRUE",
           "2026-01-01", "12:30",
           "9" * 400, "." + "0" * 300 + "1", "-", "−5", "1\u00a0000")
GAPS = ("", " ", "NA", "n/a", "NULL", "?", ".", "-", "\u200b", '""', "#N/A", "missing")
NAMES = ("", "a", "a", "age", "größe", "col\numn", '"', "''", "=cmd()", "\u202ex", "1", "3.5", "#", "x" * 500, "\0")
STARTS = (b"", b"PK\x03\x04", b"PK\x05\x06", b"PAR1", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00", b"\xff\xfe",
          b"\xfe\xff", b"\xef\xbb\xbf", b"\x89PNG\r\n\x1a\n", b"%PDF-1.4\n", b"MZ\x90\0", b"a,b\n1,2\n")
LINES = ("", " ", "#", "# note", "sep=;", "total,1", ",,,,", '"', "\ufeff", "-----", "<table>", "{", "\\")


def hostile_file(seed):
    """The bytes of one file."""
    rng = random.Random(seed)
    content = _text(rng) if rng.random() < 0.6 else _binary(rng)
    for _ in range(rng.choice((0, 0, 0, 1, 2, 5))):
        content = _spoiled(rng, content)
    return content


def _mostly(rng, choices):
    """One of the first two, three times in four."""
    return rng.choice(choices[:2] if rng.random() < 0.75 else choices)


def _text(rng):
    separator, newline, encoding = _mostly(rng, SEPARATORS), _mostly(rng, NEWLINES), _mostly(rng, ENCODINGS)
    columns, rows = rng.choice((1, 2, 3, 5, 40, 3_000)), rng.choice((0, 1, 2, 3, 20, 20, 200))
    rows = min(rows, 20_000 // columns)
    odd, quoted = rng.choice((0, 0, 0.01, 0.3)), rng.random() < 0.1
    lines = [rng.choice(LINES) for _ in range(rng.choice((0, 0, 0, 1, 3)))]
    if rng.random() < 0.7:
        plain = rng.random() < 0.6
        lines.append(separator.join(f"f{k}" if plain else rng.choice(NAMES) for k in range(columns)))
    for _ in range(rows):
        width = columns if rng.random() > odd / 10 else rng.choice((0, 1, columns - 1, columns + 1, 2 * columns))
        cells = [f'"{cell}"' if quoted else cell for cell in (_cell(rng, odd) for _ in range(width))]
        if width:
            cells[rng.randrange(width)] = repr(bad.SECRET)
        lines.append(separator.join(cells))
        if rng.random() < odd / 20:
            lines.append(rng.choice(LINES))
    return (newline.join(lines) + rng.choice(("", newline, newline * 3, "\x1a"))).encode(encoding, "replace")


def _cell(rng, odd):
    kind = rng.random()
    text = (rng.choice(NUMBERS) if kind < odd else rng.choice(GAPS) if kind < 1.5 * odd else repr(rng.uniform(-99, 99)))
    quoting = rng.random()
    if quoting < odd / 4:
        return rng.choice(('"{}', '{}"', '""{}""', "'{}'", '"{}"x', '"a\n{}"')).format(text)
    return f'"{text}"' if quoting < odd else text


def _binary(rng):
    values = np.random.default_rng(rng.randrange(2**32)).normal(size=(rng.choice((1, 2, 9)), rng.choice((1, 3, 50))))
    values.ravel()[:: rng.choice((3, 7, 1_000))] = rng.choice((np.nan, np.inf, 1e30, 0.0))
    values.ravel()[rng.randrange(values.size)] = bad.SECRET
    kind = rng.choice(("npy", "npz", "xlsx", "parquet", "noise"))
    if kind == "npy":
        return bad.as_npy(rng.choice((values, values.astype("f4"), values.astype(complex), values[None], values[0])))
    if kind == "npz":
        return _inside(rng, bad.as_npz(rng.random() < 0.5, x=values, **{rng.choice(("y", "../y", "a/b")): values.T}))
    if kind == "parquet":
        return bad.as_parquet({f"c{k}": column for k, column in enumerate(values.T)})
    if kind == "xlsx":
        return _inside(rng, bad.as_xlsx([[rng.choice(NAMES).replace("\0", "") for _ in range(values.shape[1])],
                                         *[[float(one) for one in row] for row in np.nan_to_num(values)]]))
    return rng.choice(STARTS) + rng.randbytes(300)


def _inside(rng, archive):
    """An archive that is whole, now and then with a member that is not: what a check sum cannot tell."""
    if rng.random() < 0.5:
        return archive
    with zipfile.ZipFile(io.BytesIO(archive)) as held:
        member = rng.choice(held.namelist())
        return bad.repacked(archive, {member: _spoiled(rng, held.read(member))})


def _spoiled(rng, content):
    stream, place = io.BytesIO(content), rng.randrange(len(content) + 1)
    before, after = stream.read(place), stream.read()
    return rng.choice((
        before, after, before + bytes([rng.choice(after or b"x") ^ 1 << rng.randrange(8)]) + after[1:],
        before + rng.randbytes(3) + after, before + b"\0" + after, before + b'"' + after,
        before + after[rng.randrange(9):], before + after[:40] * 3 + after, content.replace(b"\n", b"\r\n"),
        content.replace(b"1", rng.choice((b"", b"\n", b"\xff", b"l", b","))), b"\xef\xbb\xbf" + content))
