"""Write the answer of `arena compare` to GitHub: a check of the commit, a comment of its request.

    tell_github.py ANSWER CODE      a file of Markdown; the exit code of `arena compare`

For action.yml, whose step sets ARENA_TOKEN and the runner's GITHUB_… variables. The token of a pull
request from a fork can only read: what it may not write is left out with a notice, and the exit
code is 0. The answer is also in the job's summary, which needs no token. The comment of an earlier
run is changed, so that there is one for each comparison.
"""

import hashlib
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

CONCLUSIONS = {"0": "success", "6": "failure", "7": "neutral", "8": "success"}
MOST = 60_000  # characters: GitHub takes 65,535
PAGES = 10  # of a hundred comments, in which an earlier one is looked for
FORBIDDEN = frozenset({401, 403, 404})


def call(method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
    request = urllib.request.Request(  # noqa: S310 - the address is the runner's own
        f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}",
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ['ARENA_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - as above
        return json.load(answer)


def write_check(head: str, name: str, text: str, code: str) -> None:
    title = text.partition("\n")[0].lstrip("# ")
    output = {"title": title, "summary": text}
    conclusion = CONCLUSIONS.get(code, "failure")
    done = {"name": name, "head_sha": head, "status": "completed", "conclusion": conclusion}
    call("POST", "check-runs", {**done, "output": output})


def write_comment(number: int, mark: str, text: str) -> None:
    body = {"body": f"{mark}\n{text}"}
    for page in range(1, PAGES + 1):
        comments = call("GET", f"issues/{number}/comments?per_page=100&page={page}")
        for comment in comments:
            own = comment["user"]["type"] == "Bot"
            if own and comment["body"].startswith(mark):
                call("PATCH", f"issues/comments/{comment['id']}", body)
                return
        if len(comments) < 100:
            break
    call("POST", f"issues/{number}/comments", body)


def main() -> None:
    answer, code = sys.argv[1:]
    text = Path(answer).read_text(encoding="utf-8")
    if len(text) > MOST:  # the table alone can be so long
        text = text.partition("<details>")[0][:MOST]
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    pull = event.get("pull_request")
    head = pull["head"]["sha"] if pull else os.environ["GITHUB_SHA"]
    asked = [os.environ[f"ARENA_{name}"] for name in ("OLD", "BOTS", "GAME", "NO_WORSE")]
    mark = f"<!-- arena compare {hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]} -->"
    name = f"arena compare: {asked[1]}"[:100]
    tasks = {"check": lambda: write_check(head, name, text, code)}
    if pull:
        tasks["comment"] = lambda: write_comment(pull["number"], mark, text)
    for what, task in tasks.items():
        try:
            task()
        except urllib.error.HTTPError as error:
            kind = "notice" if error.code in FORBIDDEN else "warning"
            why = "the token may not write it" if error.code in FORBIDDEN else "GitHub refused it"
            print(f"::{kind}::no {what}: {why} (HTTP {error.code}); the summary has the answer")
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"::warning::no {what}: {type(error).__name__}; the summary has the answer")


if __name__ == "__main__":
    main()
