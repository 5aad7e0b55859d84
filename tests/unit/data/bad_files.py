"""Files for the tests of reading: a table written in every format, and ways to spoil it.

Every table carries ``SECRET`` somewhere: no message may ever repeat it.
"""

import io
import struct
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet

SECRET = 987654321.125
SECRET_DIGITS = "987654321"

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1")
_NO_DATES = b'<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
_MAIN = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SEPARATORS = (",", ";", "\t", "|", " ")


def as_text(values, names=None, *, separator=",", decimal=".", encoding="utf-8", newline="\n", quoted=False):
    """A delimited text; NaN is written as nothing, or as NA where blanks part the fields."""
    def cell(value):
        text = ("NA" if separator == " " else "") if np.isnan(value) else repr(float(value)).replace(".", decimal)
        return f'"{text}"' if quoted or decimal == separator else text

    lines = [separator.join(names)] if names is not None else []
    lines += [separator.join(cell(value) for value in row) for row in values]
    return (newline.join(lines) + newline).encode(encoding)


def as_npy(values):
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=True)
    return stream.getvalue()


def as_npz(compressed=True, **arrays):
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def as_xlsx(rows, *more_sheets):
    """A workbook of plain rows of cells; NaN becomes an empty cell."""
    book = openpyxl.Workbook()
    for number, cells in enumerate((rows, *more_sheets)):
        sheet = book.active if number == 0 else book.create_sheet()
        for row in cells:
            sheet.append([None if isinstance(cell, float) and np.isnan(cell) else cell for cell in row])
    return saved(book)


def saved(book):
    """A workbook's bytes, always the same: openpyxl would write the time of day."""
    stream = io.BytesIO()
    book.save(stream)
    return repacked(stream.getvalue(), {"docProps/core.xml": _NO_DATES})


def as_parquet(columns, **options):
    """A Parquet file of a mapping from names to arrays."""
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(columns), stream, **options)
    return stream.getvalue()


def as_zip(members, packing=zipfile.ZIP_DEFLATED):
    """A ZIP archive of a mapping from names to bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, packing)
    return stream.getvalue()


def repacked(archive, changes):
    """A ZIP archive with the content of some members replaced or added."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        return as_zip({name: old.read(name) for name in old.namelist()} | changes)


def with_texts(sheet, texts):
    """A workbook whose sheet and whose shared texts are these bytes of XML."""
    book = as_xlsx([["x"], [1], [2]])
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        types = archive.read("[Content_Types].xml")
    kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    said = b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>' % kind
    return repacked(book, {"[Content_Types].xml": types.replace(b"</Types>", said), "xl/sharedStrings.xml":
                           b'<sst xmlns="%s">%s' % (_MAIN, texts), "xl/worksheets/sheet1.xml":
                           b'<worksheet xmlns="%s"><sheetData>%s</sheetData></worksheet>' % (_MAIN, sheet)})


def npz_bomb(size):
    """An .npz of a few kilobytes whose one array takes ``size`` bytes, all of them true."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as member:
        np.lib.format.write_array_header_1_0(
            member, {"descr": "<f8", "fortran_order": False, "shape": (size // 80, 10)})
        for _ in range(size // 2**16):
            member.write(bytes(2**16))
    return stream.getvalue()


def xlsx_bomb(size):
    """A workbook of a few kilobytes with ``size`` bytes of blanks in its sheet."""
    sheet = b"<worksheet>" + b" " * size + b"</worksheet>"
    return repacked(as_xlsx([["x", "y"], [1, 2], [3, 4]]), {"xl/worksheets/sheet1.xml": sheet})


def lying(archive, declared=100):
    """The same archive, every member declared to expand to ``declared`` bytes only."""
    content = bytearray(archive)
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = content.find(signature)
        while start >= 0:
            struct.pack_into("<I", content, start + offset, declared)
            start = content.find(signature, start + 4)
    return bytes(content)
