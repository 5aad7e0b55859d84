"""One choice of everything (scenario, study, plan), saved and read by one codec, and what it works out to."""
