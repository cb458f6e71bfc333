"""How bots of tests read a line: a part of their programs.

To import json takes longer than all else of such a bot's start, and thousands are started.
"""

READ = '''
def read(line):
    """What these bots look at in a message."""
    def after(name):
        return line.partition('"' + name + '":')[2]

    message = {"type": line.split('"', 4)[3]}
    if message["type"] == "match":
        message["seed"] = int(after("seed").rstrip("}\\n").partition(",")[0])
    elif message["type"] == "act":
        message["turn"] = after("turn").split('"', 2)[1]
        message["legal"] = after("legal").partition("]")[0][2:-1].split('","')
    return message


def answer_to(message, move):
    return '{"turn": "%s", "move": "%s"}' % (message["turn"], move)

'''
