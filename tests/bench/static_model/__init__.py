"""The script that makes the bundled model of code: pairs of question and answer, vocabulary, training, files."""
