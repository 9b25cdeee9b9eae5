"""Importers: records from decision records, notes of other tools and documents. No text makes them fail or slow."""
