"""Every sentence that is computed from numbers; no streamlit."""
