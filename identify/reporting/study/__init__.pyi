from identify.reporting.study.rows import (
    StudyRows as StudyRows,
    latest_rows as latest_rows,
    rows_of_study as rows_of_study,
)
from identify.reporting.study.summary import (
    comparison_text as comparison_text,
    scores_text as scores_text,
    write_summary as write_summary,
)
