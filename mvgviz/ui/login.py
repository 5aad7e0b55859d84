"""Who may open the app: whoever logs in, where the server asks for that (``mvgviz --login``, docs/deployment.md)."""

import os

import streamlit as st

ENVIRONMENT = "MVGVIZ_LOGIN"


def ask_who() -> None:
    """The run of a page ends here, with a button, as long as nobody is logged in."""
    if not os.environ.get(ENVIRONMENT) or st.user.get("is_logged_in"):
        return
    st.subheader("Who are you?", anchor=False)
    st.markdown("This server opens its pages to people it knows.")
    st.button("Log in", key="login", type="primary", icon=":material/login:", on_click=st.login)
    st.stop()


def draw_logout() -> None:
    """A way out, where one had to log in."""
    if os.environ.get(ENVIRONMENT):
        st.button("Log out", key="logout", icon=":material/logout:", on_click=st.logout, width="stretch")
