"""Command line with one file per subcommand, which parses, calls one function and prints."""
