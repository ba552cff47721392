/** The files of a new empty script, which runs unchanged. */

export const newMainPy = `"""What this script does, in one sentence.

Everything printed here is the run's log. An exit code other than 0 fails the run.
"""
import json
import os


def main() -> None:
    # What the run was started with: {"name": "Ada"}
    params = json.loads(os.environ.get("ORCH_PARAMS") or "{}") or {}
    print(f"Hello, {params.get('name', 'world')}!")


if __name__ == "__main__":
    main()
`;
