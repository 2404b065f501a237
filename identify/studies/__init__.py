"""Studies: estimators compared over logs, perturbations and noise seeds; resumable runs.

from identify.studies import compare, load_study, open_results, run_study, table

study = load_study("study.toml")
run_study(study, "reports/study")
results = open_results("reports/study")
print(table(results))
print(compare(results, "wls", "psd"))
"""

from identify.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
