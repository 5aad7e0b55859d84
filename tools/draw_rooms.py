"""Draws the rooms of mvgviz and who imports whom, from the code, into docs/rooms.svg.

    python tools/draw_rooms.py           write the picture
    python tools/draw_rooms.py --check   exit code 1 when the picture is not what the code says
"""

import ast
import pathlib
import sys
import textwrap
import tomllib
from html import escape

import grimp

ROOT = pathlib.Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "rooms.svg"
WIDTH, ROW, HEIGHT, GAP = 960, 100, 74, 14


def layers():
    """The rooms from the ground up, as the linter's contract has them; what all may use is one row."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    order = next(contract for contract in settings["contracts"] if contract["type"] == "layers")["layers"]
    rows = [[room.strip() for room in layer.split("|")] for layer in reversed(order)]
    first = next(level for level, rooms in enumerate(rows) if (ROOT / "mvgviz" / rooms[0]).is_dir())
    return [[room for row in rows[:first] for room in row], *rows[first:]]


def purpose(room):
    """The first sentence of a room's docstring."""
    path = ROOT / "mvgviz" / room
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")
    first = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ").replace("``", "")
    return first.split(" (")[0].split(";")[0].split(". ")[0].rstrip(".")


def arrows(rooms):
    """Pairs (room, what it imports), without those that follow from others."""
    graph = grimp.build_graph("mvgviz")
    direct = {room: {other for other in rooms if other != room and graph.direct_import_exists(
        importer=f"mvgviz.{room}", imported=f"mvgviz.{other}", as_packages=True)} for room in rooms}

    def reached(room):
        return direct[room].union(*(reached(other) for other in direct[room]))

    return [(room, other) for room in rooms for other in sorted(direct[room])
            if not any(other in reached(between) for between in direct[room])]


def places(rows):
    """The left end, the top and the width of each room's box; the ground is at the bottom."""
    found = {}
    for level, rooms in enumerate(reversed(rows)):
        width = (WIDTH - GAP) / max(len(rooms), 1) - GAP if len(rooms) > 1 else WIDTH * 0.56
        left = GAP if len(rooms) > 1 else (WIDTH - width) / 2
        for place, room in enumerate(rooms):
            found[room] = (left + place * (width + GAP), GAP + level * ROW, width)
    return found


def draw():
    """The picture as SVG."""
    rows = layers()
    boxes = places(rows)
    parts = []
    for room, other in arrows([room for row in rows[1:] for room in row]):
        (left, top, width), (to_left, to_top, to_width) = boxes[room], boxes[other]
        x, y, to_x, to_y = left + width / 2, top + HEIGHT, to_left + to_width / 2, to_top
        bend = (y + to_y) / 2
        parts.append(f'<path d="M{x:.0f} {y:.0f} C{x:.0f} {bend:.0f} {to_x:.0f} {bend:.0f} {to_x:.0f} {to_y:.0f}"/>')
    for room, (left, top, width) in boxes.items():
        lines = textwrap.wrap(purpose(room), int((width - 20) / 6.6), max_lines=3, placeholder=" …")
        parts.append(f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="6"/>')
        for place, (line, style) in enumerate([(room, "name"), *((line, "text") for line in lines)]):
            at = f'x="{left + 10:.0f}" y="{top + 19 + 16 * place:.0f}"'
            parts.append(f'<text class="{style}" {at}>{escape(line)}</text>')
    height = len(rows) * ROW
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="The rooms of mvgviz: each imports only rooms below it">',
        "<style>text{font-family:sans-serif;fill:#1a1a1a}.name{font-weight:bold;font-size:14px}.text{font-size:12px}"
        "rect{fill:#eef3fa;stroke:#3b6ea5}path{fill:none;stroke:#767676;stroke-width:1.5;marker-end:url(#tip)}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<polygon points="0,0 8,4 0,8" fill="#767676"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height}" style="fill:#fff;stroke:none"/>', *parts, "</svg>\n"])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    picture = draw()
    if "--check" in sys.argv:
        fresh = PICTURE.read_text(encoding="utf-8") == picture
        sys.exit(0 if fresh else "docs/rooms.svg is stale: run python tools/draw_rooms.py")
    PICTURE.write_text(picture, encoding="utf-8")
