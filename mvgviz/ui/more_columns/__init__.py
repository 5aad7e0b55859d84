"""The picture on Home and at the end of the lesson: one needed column among more and more."""
