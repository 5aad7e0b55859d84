"""A text file of any encoding as a stream of UTF-8 that the CSV parser reads, in one pass.

On the way the bytes are counted, zero bytes refused, and a file that seemed to be ASCII and turns out not to be UTF-8
is read as Latin-1, or as cp1252 where it has what only that defines (€ and curly quotes).
"""

import codecs
import io
import re
import threading

from mvgviz.data.source import Source
from mvgviz.errors import InputError

_CHUNK = 1 << 20
_END = 4_096
_WINDOWS = re.compile("[\x80\x82-\x8c\x8e\x91-\x9c\x9e\x9f]")  # controls in Latin-1, signs in cp1252


class TextStream(io.RawIOBase):
    """Readable like a binary file, once :meth:`start` has said where the records begin.

    ``ended``: the file has been read to its end; ``quotes``: how many quotation marks the parser was given.
    """

    def __init__(self, source: Source, encoding: str, *, guessed: bool) -> None:
        super().__init__()
        self.encoding, self.ended, self.quotes = encoding, False, 0
        self._source, self._guessed = source, guessed
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._consumed = self._lines = 0
        self._ascii, self._collapse = True, False
        self._end = self._carry = ""
        self._ready = b""
        self._lock = threading.Lock()

    @property
    def share(self) -> float:
        """The part of the file read so far."""
        return self._consumed / self._source.size

    @property
    def is_over(self) -> bool:
        """Whether nothing is left for the parser."""
        return self.ended and not self._ready

    @property
    def empty_end(self) -> int:
        """How many lines at the end of what was read have nothing in them, not even a separator."""
        tail = self._end[len(self._end.rstrip()) :]
        return max(tail.count("\n"), tail.count("\r"), 1) - 1

    def text(self, count: int) -> str:
        """About ``count`` more bytes as text; empty at the end."""
        chunk = self._source.stream.read(count)
        self._consumed += len(chunk)
        self.ended = self._consumed >= self._source.size or not chunk  # it may become shorter while it is read
        decoded = self._decoded(chunk)
        before, zero, _ = decoded.partition("\0")
        if zero:
            line = self._lines + before.count("\n") + 1
            raise InputError(f"{self._source.name} holds a zero byte in line {line}: "
                             "it is a binary file or damaged; save it as CSV.")
        self._lines += decoded.count("\n")
        self._end = (self._end + decoded)[-_END:]
        return decoded

    def start(self, rest: str, *, collapse: bool) -> None:
        """Begin with ``rest``; with ``collapse`` any run of blanks is one space."""
        self._collapse = collapse
        self._ready = self._passed(rest)

    def read(self, count: int = -1) -> bytes:
        """The next UTF-8 bytes; the parser asks from a thread of its own."""
        with self._lock:
            while len(self._ready) < count and not self.ended and not self.closed:
                self._ready += self._passed(self.text(_CHUNK))
            found, self._ready = self._ready[:count], self._ready[count:]
        return found

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Touch the file no more; closing it is its owner's part."""
        with self._lock:
            super().close()

    def _decoded(self, chunk: bytes) -> str:
        try:
            decoded = self._decoder.decode(chunk, self.ended)
        except UnicodeError as error:  # not a UnicodeDecodeError where a byte-order mark is missing
            if not (self._guessed and self._ascii and self.encoding == "utf-8"):
                line = self._lines + chunk[: getattr(error, "start", 0)].count(b"\n") + 1
                raise InputError(f"{self._source.name} is not {self.encoding.upper()} text from about line {line} on: "
                                 "it is cut short, damaged or in another encoding (save it as UTF-8).") from None
            self.encoding = "latin-1"
            self._decoder = codecs.getincrementaldecoder("latin-1")()
            decoded = self._decoder.decode(chunk, self.ended)
        self._ascii = self._ascii and chunk.isascii()
        if self._guessed and self.encoding in ("latin-1", "cp1252"):
            decoded, signs = _WINDOWS.subn(lambda found: found[0].encode("latin-1").decode("cp1252"), decoded)
            self.encoding = "cp1252" if signs else self.encoding
        return decoded

    def _passed(self, text: str) -> bytes:
        if self._collapse:
            text = self._carry + text
            cut = len(text) if self.ended else text.rfind("\n") + 1  # a run of blanks may go on
            text, self._carry = text[:cut], text[cut:]
            text = re.sub(r"(?m)^ +| +(?=\r?$)", "", re.sub(r"[ \t]+", " ", text))
        self.quotes += text.count('"')
        return text.encode()
