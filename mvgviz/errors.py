"""The one error a user of mvgviz can cause."""


class InputError(ValueError):
    """An argument breaks a rule; the message names the argument, the rule and the value.

    The message is written to be shown verbatim. It never contains data: only shapes, counts, positions, names and the
    values of scalar settings. ``members``: the sheets of a workbook, any of which may be read instead.
    """

    members: tuple[str, ...] = ()


def refuse(wrong: object, why: str) -> None:
    """Raise `InputError` with this sentence where something is wrong."""
    if wrong:
        raise InputError(why)
