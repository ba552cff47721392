"""Runs a script with the client from openapi-python-client. Arguments: the server's origin and a token."""

import sys

from generated import AuthenticatedClient
from generated.api.files import save_file
from generated.api.runs import read_run_logs, run_script
from generated.api.scripts import create_script
from generated.models import FileContent, RunRequest, ScriptInput

origin, token = sys.argv[1:]
client = AuthenticatedClient(base_url=origin, token=token, raise_on_unexpected_status=True)
script = create_script.sync(client=client, body=ScriptInput(name="openapi-python-client"))
content = FileContent(content='print("hello")\n')
save_file.sync(script.id, "main.py", client=client, body=content)
run = run_script.sync(script.id, client=client, body=RunRequest(), prefer="wait=60")
lines = read_run_logs.sync(run.run_id, client=client).items
print(run.status, *(line.text for line in lines if line.stream == "stdout"))
