"""Separate fits of several logs side by side: a table, a page, and whether they agree."""
