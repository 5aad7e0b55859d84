"""Releases: what may be published, the ledger that counts it, and the audit of its noise."""
