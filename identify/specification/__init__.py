"""Specification of a simulation in a TOML file: tables and reader."""
