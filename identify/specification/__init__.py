"""TOML files that specify a simulation: their tables, and a reader."""
