"""What a study does to logs before they are used; by name in `perturbations.registry`."""
