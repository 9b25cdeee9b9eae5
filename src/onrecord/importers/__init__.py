"""Records made from what a project has written down elsewhere. No text makes an importer raise or slow."""
