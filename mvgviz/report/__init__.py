"""What a person takes along: report, slides, program, notebook."""
