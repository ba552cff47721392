"""Runs a script with the Python client from openapi-generator. Arguments: the server's origin and a token."""

import sys

from orchestrator_client import ApiClient, Configuration, FileContent, RunRequest, ScriptInput
from orchestrator_client.api import FilesApi, RunsApi, ScriptsApi

origin, token = sys.argv[1:]
with ApiClient(Configuration(host=origin, access_token=token)) as client:
    script = ScriptsApi(client).create_script(ScriptInput(name="openapi-generator python"))
    content = FileContent(content='print("hello")\n')
    FilesApi(client).save_file(script.id, "main.py", content)
    runs = RunsApi(client)
    run = runs.run_script(script.id, prefer="wait=60", run_request=RunRequest())
    lines = runs.read_run_logs(run.run_id).items
    print(run.status.value, *(line.text for line in lines if line.stream.value == "stdout"))
