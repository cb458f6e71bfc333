"""`arena doctor`: try what confines bots on this machine."""

import click

from arena.cli.flags import Helped, json_option

WIDEST = 100
TROUBLE = 4  # as for every command when it is the machine's trouble


@click.command(cls=Helped, short_help="Try every sandbox here, and say how to mend what fails.")
@json_option
def doctor(*, as_json: bool) -> int:
    from arena.machine.doctor import examine
    from arena.terminal.doctor_report import checkup_lines
    from arena.terminal.screen import colour, columns, echo_json, show

    found = examine()
    if as_json:
        echo_json(found)
    else:
        show(checkup_lines(found, min(columns(), WIDEST), paint=colour()))
    return 0 if found.works else TROUBLE
