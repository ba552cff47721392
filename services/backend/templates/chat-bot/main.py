"""A bot that replies to messages: on Telegram with a token, in the console without one."""
from __future__ import annotations

import json
import os
import sys
import urllib.request
from datetime import datetime, timezone
from typing import Iterator

API = "https://api.telegram.org"
POLL_SECONDS = 50


def answer(text: str) -> str:
    """Returns the bot's reply to a message. Change this function."""
    command, _, rest = text.strip().partition(" ")
    if command in ("/start", "/help"):
        return "I know /time, /echo <text>, /sum <numbers> and /help."
    if command == "/time":
        return datetime.now(timezone.utc).strftime("It is %H:%M UTC.")
    if command == "/echo":
        return rest or "There is nothing to repeat."
    if command == "/sum":
        try:
            return f"{sum(map(float, rest.split())):g}"
        except ValueError:
            return "I can only add numbers."
    return f"You said: {text.strip()}"


def call(token: str, method: str, **arguments: object) -> list | dict:
    request = urllib.request.Request(
        f"{API}/bot{token}/{method}",
        json.dumps(arguments).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=POLL_SECONDS + 10) as response:
        return json.load(response)["result"]


def serve_telegram(token: str) -> None:
    """Answers messages until it is stopped. A script that is kept alive restarts when this fails."""
    print("Listening on Telegram.")
    offset = 0
    while True:
        for update in call(token, "getUpdates", offset=offset, timeout=POLL_SECONDS):
            offset = update["update_id"] + 1
            message = update.get("message", {})
            if text := message.get("text"):
                call(token, "sendMessage", chat_id=message["chat"]["id"], text=answer(text))
                print("Answered a message.")


def console() -> Iterator[str]:
    """Reads typed lines; without a terminal, it runs a demonstration."""
    if not sys.stdin.isatty():
        yield from ("/help", "/sum 1 2 3.5", "/echo hello", "Are you there?")
        return
    print("Type a message; Ctrl-D ends.")
    yield from sys.stdin


def main() -> None:
    token = os.environ.get("BOT_TOKEN", "")
    if token:
        serve_telegram(token)
        return
    print("BOT_TOKEN is not set, so the bot talks to the console.")
    for text in console():
        print(f"you: {text.strip()}\nbot: {answer(text)}", flush=True)


if __name__ == "__main__":
    main()
