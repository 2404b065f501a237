"""One file a figure: what it shows, as columns of panels, and the figure itself."""
