"""What neighbours are, in one wording for every page, the lesson and the report."""

from mvgviz.query.queries import REPLACED_RECORD

EMPTY_PLACE = ("A place that is filled in one is empty in the other, and counts as the middle of every range there, in "
               "second moments as nothing; the number of places is public.")
HOW_MANY = "How many records each person has is not hidden."


def neighbour_words(rule: str, record: str = "record") -> str:
    """A sentence on which two datasets the promise is about."""
    if rule != REPLACED_RECORD:
        said = [f"Neighbours differ by {rule}.", EMPTY_PLACE * (rule.endswith("removed") and "record" in rule),
                HOW_MANY * (rule.endswith("replaced"))]
        return " ".join(filter(None, said))
    return (f"Neighbours have the same number of {record}s and differ in one: it is replaced by any other that the "
            "ranges allow, not left out.")
