"""What a link and a study hold."""

from mvgviz.scenario.scenario import Scenario


def link_words(scenario: Scenario) -> str:
    """What whoever follows a link will see."""
    if scenario.is_upload:
        return ("Opens with these choices and asks for your file, which is not in it, nor is how the file was read. A "
                "saved study holds that, too.")
    return "Opens this very screen. The link holds your choices, never your data."
