"""The recipes of docs/cluster.md, as far as they can be held against what is installed.

That they work was seen with Slurm, ssh and pods; here their flags, names and files stay those that
there are. The lines that make certificates are run by the tests of events on a cluster.
"""

import ast
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from distributed.cli.dask_scheduler import main as dask_scheduler
from distributed.cli.dask_worker import main as dask_worker

from arena.cli import commands

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "cluster.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
SHELL = [text for kind, text in BLOCKS if kind == "sh"]
PODS = ("kubernetes.yaml", "daskcluster.yaml")
KNOWN = {
    "dask scheduler": dask_scheduler,
    "dask worker": dask_worker,
    **{f"arena {name}": command for name, command in commands.commands.items()},
}
CALL = re.compile(r"\b((?:arena|dask) [a-z]+)\b([^\n\"&>|#;]*)")


def calls():
    """(command, its flags) of all blocks; variables and continued lines as a shell has them."""
    for text in SHELL:
        line = text.replace("\\\n", " ")
        for name, value in re.findall(r'^(\w+)="(.*)"$', line, re.MULTILINE):
            line = line.replace(f"${name}", value)
        for command, words in CALL.findall(line):
            yield command, set(re.findall(r"(--[a-z-]+)", words))


def test_commands_have_the_flags_that_are_printed():
    """Of the arena, and of the Dask that is installed."""
    seen = set()
    for command, flags in calls():
        there = {
            name for each in KNOWN[command].params for name in (*each.opts, *each.secondary_opts)
        }
        assert not flags - there, command
        seen |= {(command, flag) for flag in flags}
    assert seen >= {("arena run", "--on"), ("arena run", "--shard"), ("dask worker", "--tls-key")}


def test_blocks_are_bash_and_python():
    """As far as they say without running them."""
    for text in SHELL:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    (script,) = (text for kind, text in BLOCKS if kind == "python")
    assert "--tls-ca" in ast.unparse(ast.parse(script))


def workloads(name):
    """(labels, specification of the pod) of scheduler and workers, and what a service offers."""
    found = list(yaml.safe_load_all((DOCS / name).read_text()))
    if name == "daskcluster.yaml":
        (cluster,) = found
        service = cluster["spec"]["scheduler"]["service"]
        return [(None, cluster["spec"][part]["spec"]) for part in ("scheduler", "worker")], service
    service, *deployments = found
    templates = [each["spec"]["template"] for each in deployments]
    for each, template in zip(deployments, templates, strict=True):
        assert each["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    assert service["spec"]["selector"] == templates[0]["metadata"]["labels"]
    return [(each["metadata"]["labels"], each["spec"]) for each in templates], service["spec"]


@pytest.mark.parametrize("name", PODS)
def test_pods_are_told_what_dask_takes(name, tmp_path):
    """Their whole command lines, with the certificates where the secret is mounted."""
    for file in re.findall(r"--from-file=(\S+)", TEXT):
        (tmp_path / file).touch()
    pods, service = workloads(name)
    for (labels, pod), command in zip(pods, (dask_scheduler, dask_worker), strict=True):
        (container,) = pod["containers"]
        (volume,), (mount,) = pod["volumes"], container["volumeMounts"]
        assert volume["name"] == mount["name"]
        assert f"secret generic {volume['secret']['secretName']} " in TEXT
        words = [each.replace(mount["mountPath"], str(tmp_path)) for each in container["args"]]
        given = command.make_context("dask", words).params
        assert given["protocol"] == "tls"
        assert given["tls_key"] == str(tmp_path / "node.key")
        ports = {each["name"] for each in container.get("ports", ())}
        if command is dask_scheduler:
            assert ports >= {each["targetPort"] for each in service["ports"]}
            continue
        assert container["resources"]["requests"] == container["resources"]["limits"]
        assert str(given["n_workers"]) == container["resources"]["limits"]["cpu"]
        assert given["nthreads"] == 1
        assert given["scheduler"] == "tls://arena-scheduler:8786"
        apart = pod["affinity"]["podAntiAffinity"]
        ((term,),) = apart.values()
        assert labels in (None, term["labelSelector"]["matchLabels"])


def test_both_files_start_the_same_workers():
    """But for the name by which the operator knows them."""
    plain, operated = (
        workloads(name)[0][1][1]["containers"][0]
        for name in ("kubernetes.yaml", "daskcluster.yaml")
    )
    plain["args"].insert(4, "--name=$(DASK_WORKER_NAME)")
    assert plain == operated


def test_the_lines_for_bwrap_make_a_specification_of_their_comments():
    """Those that are to lose their marks are YAML then, in their places."""
    text = (DOCS / "kubernetes.yaml").read_text()
    bare = re.sub(r"^( +)# (?=hostUsers|securityContext| )", r"\1", text, flags=re.MULTILINE)
    worker = list(yaml.safe_load_all(bare))[2]["spec"]["template"]["spec"]
    assert worker["hostUsers"] is False
    assert worker["containers"][0]["securityContext"] == {
        "procMount": "Unmasked",
        "seccompProfile": {"type": "Unconfined"},
        "appArmorProfile": {"type": "Unconfined"},
    }
