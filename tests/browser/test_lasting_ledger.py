"""A ledger that lasts, in a browser: the name is typed, and a reload forgets nothing."""

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import assert_accessible, at_rest


@pytest.fixture
def address(address_with_ledger):
    return address_with_ledger


def test_a_name_is_typed_once_and_the_next_session_knows_what_was_spent(visit):
    tab = visit("release?data=liver")
    expect(tab.get_by_text("Name the people above to continue.")).to_be_visible()
    field = tab.locator(".st-key-population_liver input")
    field.fill("patients of 2024")
    field.press("Enter")
    expect(tab.get_by_text("It is the first release about these people in the ledger.")).to_be_visible()
    tab.get_by_text("I understand that this spends").click()
    button = tab.locator(".st-key-release_go button")
    expect(button).to_be_enabled()
    button.dblclick()  # counts once
    expect(tab.get_by_text("Counts for patients of 2024.")).to_be_visible()
    expect(tab.get_by_text("Released, and kept in the ledger")).to_be_visible()
    at_rest(tab)
    again = visit("release?data=liver", screen="phone", scheme="dark")
    expect(again.get_by_text("With earlier releases about these people (ε = 1.00)")).to_be_visible()
    assert again.locator(".st-key-population_liver input").input_value() == "patients of 2024"
    again.get_by_role("button", name="Show past releases of patients of 2024").click()
    expect(again.get_by_text("Released: 6 × 6 numbers, with noise.")).to_be_visible()  # after a reload
    assert_accessible(again)
