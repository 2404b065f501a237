"""TOML files that specify a simulation: their tables, and reading them."""
