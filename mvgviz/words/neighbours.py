"""What neighbours are, in one wording for every page, the lesson and the report."""

from mvgviz.query.queries import REPLACED_RECORD


def neighbour_words(rule: str, record: str = "record") -> str:
    """A sentence on which two datasets the promise is about."""
    if rule != REPLACED_RECORD:
        return f"Neighbours differ by {rule}."
    return (f"Neighbours have the same number of {record}s and differ in one: it is replaced by any other that the "
            "ranges allow, not left out.")
