"""What we ask of DuckDB beyond queries."""

import subprocess
import sys


def test_no_progress_bar_is_drawn_where_duckdb_takes_the_process_for_interactive() -> None:
    script = (
        "from overdeck.telemetry import engine; "
        "print(engine.connect(config={}).execute(\"select current_setting('enable_progress_bar')\").fetchall())"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said == "[(False,)]\n"
