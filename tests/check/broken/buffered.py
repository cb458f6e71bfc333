# mistake: buffered
# names: print(answer, flush=True)
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print('{"type":"ready"}')
    elif message["type"] == "act":
        print(json.dumps({"turn": message["turn"], "move": message["legal"][0]}))
