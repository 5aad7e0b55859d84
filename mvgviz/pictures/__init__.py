"""Pictures and what they say, one module a topic: numbers, a plotly figure, sentences; no streamlit."""
