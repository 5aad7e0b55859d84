"""What a person, a link or a file may bring that wants to run, to be loaded or to be taken for something else."""

ELSEWHERE = "elsewhere.example"
RAN = "window.__ran"

NAMES = (
    f"<script>{RAN}=1</script>",
    f"<img src=x onerror={RAN}=2>",
    f'"><svg onload={RAN}=3>',
    f"' onmouseover='{RAN}=4",
    f"[x](javascript:{RAN}=5)",
    f"![x](//{ELSEWHERE}/p.png)",
    f'<a href="javascript:{RAN}=6">x</a>',
    f"</script><script>{RAN}=7//",
    f"{{{{{RAN}=8}}}}{{% raw %}}${{{RAN}=8}}",
    '"""); raise SystemExit(9) #',
    "\u202egnp.exe\u2066 \u200ehid\u200fden",
    "bell\x07 escape\x1b[31m nul-less",
    f'=HYPERLINK("//{ELSEWHERE}","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "`code` $\\alpha$ :red[x] :material/home: ~~x~~",
    "<style>*{display:none}</style>",
    f"<iframe src=//{ELSEWHERE}></iframe>",
    "long " * 2_000,
)
"""Names of columns, files, populations and notes."""


def table(names=NAMES, records=40):
    """A CSV file with these names over its columns."""
    header = ",".join('"{}"'.format(name.replace('"', '""')) for name in names)
    rows = (",".join(str((i * (k + 3)) % (7 + k)) for k in range(len(names))) for i in range(records))
    return "\n".join([header, *rows, ""]).encode()
