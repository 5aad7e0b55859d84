"""What a file is, from its first bytes or the names in its archive. The file's name never decides."""

from collections.abc import Sequence

from mvgviz.errors import InputError

_PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
_MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<svg")
_JSON = (b'{"', b"{\n", b"{\r", b"[{", b"[[")

# Beginnings that no text has, and what they mean to the user.
_FOREIGN = {
    "a PNG image": (b"\x89PNG",),
    "a JPEG image": (b"\xff\xd8\xff",),
    "a GIF image": (b"GIF87a", b"GIF89a"),
    "a TIFF image": (b"II*\0", b"MM\0*"),
    "a PDF document": (b"%PDF-",),
    "an RTF document": (b"{\\rtf",),
    "an old Excel or Word file (.xls, .doc)": (b"\xd0\xcf\x11\xe0",),
    "compressed with gzip": (b"\x1f\x8b",),
    "compressed with bzip2": (b"BZh",),
    "compressed with xz": (b"\xfd7zXZ",),
    "compressed with zstd": (b"\x28\xb5\x2f\xfd",),
    "a 7z archive": (b"7z\xbc\xaf",),
    "a RAR archive": (b"Rar!\x1a",),
    "a program": (b"\x7fELF",),
    "an SQLite database": (b"SQLite format 3\0",),
    "an HDF5 file": (b"\x89HDF",),
    "an Arrow file": (b"ARROW1\0",),
    "an encrypted Parquet file": (b"PARE",),
    "a MATLAB file": (b"MATLAB 5.0",),
}
_IN_ARCHIVES = {
    "a binary Excel workbook (.xlsb)": "xl/workbook.bin",
    "a Word document": "word/",
    "a PowerPoint document": "ppt/",
    "an OpenDocument file (.ods, .odt)": "content.xml",
}


def format_of(head: bytes, name: str) -> str:
    """``npy``, ``zip``, ``parquet`` or ``text``; anything else is refused by its own name."""
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if head.startswith(b"PAR1") and (b"\0" in head or not head.isascii()):
        return "parquet"
    if what := _foreign(head):
        raise InputError(f"{name} is {what}, not a table: "
                         "save the table as CSV, Excel (.xlsx), Parquet or .npy and choose that file.")
    return "text"


def format_of_archive(members: Sequence[str], name: str) -> str:
    """``xlsx`` or ``npz``; any other archive is refused."""
    if any(member.startswith(("xl/workbook.xml", "xl/worksheets/")) for member in members):
        return "xlsx"
    if any(member.endswith(".npy") for member in members):
        return "npz"
    for what, start in _IN_ARCHIVES.items():
        if any(member.startswith(start) for member in members):
            raise InputError(f"{name} is {what}, not a table: save the table as CSV or .xlsx and choose that file.")
    raise InputError(f"{name} is a ZIP archive, not a table: unpack it and choose the file inside.")


def _foreign(head: bytes) -> str | None:
    for what, signatures in _FOREIGN.items():
        if head.startswith(signatures):
            return what
    if b"\0" in head and head.startswith((b"MZ", b"BM")):
        return "a program" if head.startswith(b"MZ") else "a bitmap image"
    if head.startswith(_PICKLES) and not head.isascii():
        return "a Python pickle (these are never opened)"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:16].lower()
    if start.startswith(_MARKUP):
        return "a web page or an XML file"
    return "a JSON file" if start.startswith(_JSON) else None
