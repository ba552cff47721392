"""Keeps the caller signed in, even after requests that end the session or change the account."""

import json
import os
import urllib.error
import urllib.request

import schemathesis

ORIGIN = os.environ["TEST_ORIGIN"]
# An API token, or accounts to sign in with. If a request disables or demotes an account, the next one is used.
TOKEN = os.environ.get("TEST_TOKEN", "")
ACCOUNTS = json.loads(os.environ.get("TEST_ACCOUNTS", "[]"))

access_token = TOKEN


def ask(path, token="", body=None):
    request = urllib.request.Request(
        ORIGIN + "/api/v1/auth/" + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": "Bearer " + token},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def sign_in():
    while ACCOUNTS:
        try:
            token = ask("login", body=ACCOUNTS[0])["access_token"]
            if ask("me", token)["role"] == "administrator":
                return token
        except urllib.error.HTTPError:
            pass
        ACCOUNTS.pop(0)
    raise RuntimeError("no account is left: each was disabled, demoted or got another password")


@schemathesis.auth(refresh_interval=None)
class Caller:
    def get(self, case, context):
        global access_token
        access_token = access_token or sign_in()
        return access_token

    def set(self, case, data, context):
        case.headers["Authorization"] = "Bearer " + data


@schemathesis.hook
def after_call(context, case, response):
    """Discards the access token if its session or account may have changed."""
    global access_token
    changes_people = case.method != "GET" and ("/auth/" in case.path or "/users" in case.path)
    if changes_people or response.status_code in (401, 403):
        access_token = TOKEN
