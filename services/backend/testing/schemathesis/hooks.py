"""Signs in anew for each request, so that one which ends sessions does not spoil those after it."""

import json
import os
import urllib.error
import urllib.request

import schemathesis

ORIGIN = os.environ["TEST_ORIGIN"]
TOKEN = os.environ.get("TEST_TOKEN", "")
# Requests may disable an account, or change its password: then the next one is taken.
ACCOUNTS = json.loads(os.environ.get("TEST_ACCOUNTS", "[]"))


def sign_in(account):
    request = urllib.request.Request(
        ORIGIN + "/api/v1/auth/login",
        data=json.dumps(account).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["access_token"]


@schemathesis.auth(refresh_interval=None)
class Caller:
    def get(self, case, context):
        while not TOKEN:
            try:
                return sign_in(ACCOUNTS[0])
            except urllib.error.HTTPError:
                ACCOUNTS.pop(0)
        return TOKEN

    def set(self, case, data, context):
        case.headers["Authorization"] = "Bearer " + data
