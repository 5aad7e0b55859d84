"""The page that releases, and what a session released."""

from tests.pages.app import put
from tests.pages.shown import clean, keyed


def desk(app):
    return app.session_state["_release_desk"]


def box(app, start):
    """The tick box whose key starts so; the rest of the key is the ticket."""
    return keyed(app, "checkbox", start)[0]


def go(app):
    return app.button(key="release_go")


def released(app):
    box(app, "release_sure_").check().run()
    go(app).click().run()
    return clean(app)


def on_exports(app):
    return put(app, release_tab="Report, script, link")
