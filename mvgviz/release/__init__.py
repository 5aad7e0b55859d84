"""What may leave the house: releases, their ledger, and the audit of the noise that makes them."""
