/** Queries the properties of a Python interpreter. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface Interpreter {
  /** The absolute path of the interpreter, with links resolved. */
  readonly executable: string;
  /** The version, such as `3.12.1`. */
  readonly version: string;
  /** The name of the interpreter's library folder in `lib`, such as `python3.12`. */
  readonly libraryName: string;
  readonly platform: string;
  /** Folders that the interpreter must be able to read. */
  readonly prefixes: readonly string[];
}

const QUESTION = `
import json, os, sys
executable = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
threads = "t" if "t" in getattr(sys, "abiflags", "") else ""
print(json.dumps({
    "executable": executable,
    "version": "%d.%d.%d" % sys.version_info[:3],
    "libraryName": "python%d.%d%s" % (sys.version_info[0], sys.version_info[1], threads),
    "platform": "-".join([os.uname().sysname, os.uname().machine, sys.implementation.cache_tag]),
    "prefixes": sorted({sys.base_prefix, sys.base_exec_prefix}),
}))`;

const ANSWER_TIMEOUT_MS = 20_000;

/** Queries an interpreter. @throws if the interpreter does not respond */
export async function askInterpreter(pythonPath: string): Promise<Interpreter> {
  const options = { timeout: ANSWER_TIMEOUT_MS, cwd: '/' };
  const { stdout } = await promisify(execFile)(pythonPath, ['-I', '-S', '-c', QUESTION], options);
  return JSON.parse(stdout) as Interpreter;
}
