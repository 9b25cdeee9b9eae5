"""The files of a store: records, drafts, and the changes made to them."""
