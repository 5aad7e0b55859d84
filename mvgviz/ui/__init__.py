"""The only part of the package that knows Streamlit: state, frame, controls, words."""
