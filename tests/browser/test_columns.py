"""The form of columns: nothing typed is lost, whatever the speed."""

from tests.browser.chromium import at_rest, bring, eventually

NAMES = ("age", "dose", "pressure", "weight", "height", "pulse")
ROWS = "".join(f"{20 + i % 60},{i % 7}.5,{100 + i % 70},{50 + i % 40},{150 + i % 45},{60 + i % 50}\n"
               for i in range(80))
VALUES = (("18", "95"), ("1", "9"), ("80", "200"), ("30", "150"), ("120", "220"), ("40", "190"))


def test_twelve_values_typed_at_fifty_milliseconds_a_cell_arrive(visit):
    tab = visit("data")
    bring(tab, f"{','.join(NAMES)}\n{ROWS}")
    first = tab.get_by_label("Lowest value of age")
    first.click()
    for low, high in VALUES:
        for text, stops in ((low, 1), (high, 4)):  # to the next row: unit, Use, kind, lowest
            tab.keyboard.type(text, delay=10)
            for _ in range(stops):
                tab.keyboard.press("Tab")
            tab.wait_for_timeout(20)
    for name, (low, high) in zip(NAMES, VALUES, strict=True):
        assert tab.get_by_label(f"Lowest value of {name}").input_value() == low
        assert tab.get_by_label(f"Highest value of {name}").input_value() == high
    eventually(tab, lambda: tab.get_by_text("proposed from the data: not private").count() == 0)  # the server has all
    at_rest(tab)
    assert tab.get_by_text("read from the data: not private").count() == 0


def test_a_range_typed_as_it_was_proposed_or_accepted_is_the_persons(visit):
    tab = visit("data")
    bring(tab, f"{','.join(NAMES)}\n{ROWS}")
    low, high = (tab.get_by_label(f"{end} value of age") for end in ("Lowest", "Highest"))
    proposed = [cell.get_attribute("placeholder") for cell in (low, high)]
    tab.get_by_role("row").filter(has=low).get_by_role("button", name="Use").click()
    eventually(tab, lambda: [cell.input_value() for cell in (low, high)] == proposed)
    accepted = tab.get_by_text("Proposed from the data, accepted")
    eventually(tab, lambda: accepted.count() == 1)
    for cell, text in zip((low, high), proposed, strict=True):
        assert accepted.count() == 1  # also where one end is typed
        cell.fill("")
        cell.press_sequentially(text)
        cell.press("Tab")
        at_rest(tab)
    eventually(tab, lambda: accepted.count() == 0)
    assert tab.get_by_text("proposed from the data: not private (5 of 6)").count() == 1
