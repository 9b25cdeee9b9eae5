"""The optional second opinion of a language model."""
