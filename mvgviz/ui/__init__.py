"""The only part of the package that knows Streamlit: session, frame, controls, panels."""
