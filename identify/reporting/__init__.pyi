from identify.reporting import plot as plot
from identify.reporting.page import report as report, report_html as report_html
from identify.reporting.parameter_table import (
    GROUPS_ABOUT_COM as GROUPS_ABOUT_COM,
    GROUPS_ABOUT_ORIGIN as GROUPS_ABOUT_ORIGIN,
    ParameterRow as ParameterRow,
    parameter_rich_table as parameter_rich_table,
    parameter_rows as parameter_rows,
)
from identify.reporting.poinsot_animation import save_poinsot_animation as save_poinsot_animation
