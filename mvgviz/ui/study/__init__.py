"""The study on every page: save, open, and what the browser's tab keeps."""
