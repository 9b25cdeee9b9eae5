"""Finding memories: the words, the index over them, the ranking and the relevance model."""
