"""What a file is, from its first bytes. The name never decides."""

from __future__ import annotations

from mvgviz.errors import InputError

_SAVE = "save the table as CSV, Excel (.xlsx), Parquet or .npy and choose that file."

# Signatures that no text begins with, and what they mean to the user.
_FOREIGN = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"%PDF-", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file (.xls, .doc)"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"BZh", "compressed with bzip2"),
    (b"\xfd7zXZ", "compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!\x1a", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"ARROW1\0", "an Arrow file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"MATLAB 5.0", "a MATLAB file"),
)
_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
_MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<svg")
_JSON = (b'{"', b"{\n", b"{\r", b"[{", b"[[")


def format_of(head: bytes, name: str) -> str:
    """``npy``, ``zip``, ``parquet`` or ``text``; anything else is refused by its own name."""
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    binary = b"\0" in head
    if head.startswith(b"PAR1") and (binary or not head.isascii()):
        return "parquet"
    what = _foreign(head, binary)
    if what:
        raise InputError(f"{name} is {what}, not a table: {_SAVE}")
    return "text"


def _foreign(head: bytes, binary: bool) -> str | None:
    for signature, what in _FOREIGN:
        if head.startswith(signature):
            return what
    if binary and head.startswith(b"MZ"):
        return "a program"
    if binary and head.startswith(b"BM"):
        return "a bitmap image"
    if head.startswith(_PICKLES) and not head.isascii():
        return "a Python pickle (these are never opened)"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:16].lower()
    if start.startswith(_MARKUP):
        return "a web page or an XML file"
    if start.startswith(_JSON):
        return "a JSON file"
    return None
