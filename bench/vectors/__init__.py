"""How the table of word vectors that ships with the package was trained: corpus, training, file."""
