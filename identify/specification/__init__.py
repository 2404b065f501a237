"""The file that specifies a simulation (TOML), and the simulation it specifies."""
