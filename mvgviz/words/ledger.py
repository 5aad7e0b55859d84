"""The ledger in sentences: where it is kept, whom it counts for, what was never finished."""

from mvgviz.release.entries import Entry
from mvgviz.release.ledger import Ledger
from mvgviz.text import in_markdown

POPULATION_HELP = ("The people (or households, firms, …) behind the records. All files about them share one budget, in "
                   "every session: give them one name, and always the same. The name is written into the ledger; put "
                   "nothing secret in it.")
JOIN_HELP = "What was and will be released about either then counts for both, for good. Of two caps the lower holds."
IMPORT_HELP = ("Releases of a session that was not yet counted here. What counts for these people already is not "
               "counted twice, unless its file is too old to tell; no cap keeps out what was released.")
SESSION_ONLY = (":material/warning: The ledger lives in this session alone, never on a disk: reloading or closing the "
                "browser tab loses it. Download it after the last release. It cannot know what was released elsewhere.")
LASTS = (":material/save: A lasting ledger on this computer: it is still there after a reload, a restart or a crash. "
         "What a release spends is written before its noise is drawn. It counts by the names it is given, and cannot "
         "know what was released elsewhere or under another name.")


def totals_words(ledger: Ledger) -> str:
    """What the releases about the last people spent together, and in a session those of all data."""
    entries = ledger.entries
    last, names = entries[-1], {entry.population for entry in entries}
    text = (f"Releases of {in_markdown(last.population)} together: "
            f"{ledger.total(last.population, delta=last.delta).words}.")
    if not ledger.lasts and len(names) > len(ledger.same_people(last.population)):
        text += (f" All {len(names)} data together, as if about the same people: "
                 f"{ledger.total(delta=last.delta).words}.")
    return text.replace("epsilon", "ε =").replace("delta", "δ =")


def imported_words(new: int, population: str) -> str:
    """What a downloaded ledger brought."""
    return (f"{'One release now counts' if new == 1 else f'{new:,} releases now count'} for {in_markdown(population)}.")


def unfinished_words(entries: tuple[Entry, ...]) -> str:
    """What was reserved and never called released; nothing where all were."""
    count = sum(not entry.is_finished for entry in entries)
    if not count:
        return ""
    which = "One release was" if count == 1 else f"{count:,} releases were"
    return (f":material/hourglass_disabled: {which} reserved and never finished: a crash or a full disk came between, "
            "or it is being drawn in another window. Nobody knows whether its noise was seen, so it counts as spent.")
