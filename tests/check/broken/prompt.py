# mistake: broken-json
# names: json
import json

while True:
    message = json.loads(input())
    if message["type"] == "hello":
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "act":
        print('{"turn":"%s","move":%s}' % (message["turn"], message["legal"][0]), flush=True)
