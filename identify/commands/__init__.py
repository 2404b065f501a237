"""The command line: one file a subcommand; it parses, calls one function and prints."""
