/** Tests the `orchestrator` Python package and its socket inside real runs. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product, until } from './testing/product.ts';
import { SdkRuns } from './testing/sdk-runs.ts';

let product: Product;
let runs: SdkRuns;
beforeAll(async () => {
  product = await Product.start();
  runs = new SdkRuns(product);
}, 120_000);
afterAll(async () => {
  const left = await product.stop();
  await product.remove();
  expect(left.filter(isAlive)).toEqual([]);
});

describe('a script that uses the package', { timeout: 120_000 }, () => {
  test('can read its own run and script', async () => {
    const id = await runs.scriptOf(
      `platform.output([platform.params, platform.script_id, platform.trigger_type,
  platform.attempt, platform.is_local, platform.run_id is not None])`,
    );
    const { output } = await runs.runOf(id, { params: { answer: 42 } });
    expect(output).toEqual([{ answer: 42 }, id, 'manual', 1, false, true]);
  });

  test.each(['cold', 'warm'])(
    'uses its own module with the same name as the package after a %s start',
    async (mode) => {
      const id = await product.script('Own', {
        'main.py': 'import orchestrator, sys\nprint(orchestrator.own, "sandbox" in sys.modules)\n',
        'orchestrator.py': 'own = "mine"\n',
      });
      await product.call('PATCH', `/scripts/${id}`, { start_mode: mode });
      for (let round = 0; round < 2; round += 1) {
        expect((await runs.runOf(id)).texts).toEqual(['mine False']);
      }
    },
  );

  test.each(['cold', 'warm'])('can import the package after a %s start', async (mode) => {
    const id = await runs.scriptOf(
      `import orchestrator, subprocess, sys
ask = "import orchestrator; print(orchestrator.Platform().is_local)"
print(subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout.strip())
try:
    open(orchestrator.__file__, "a")
except OSError as error:
    print(type(error).__name__)`,
    );
    await product.call('PATCH', `/scripts/${id}`, { start_mode: mode });
    for (let round = 0; round < 2; round += 1) {
      const { texts } = await runs.runOf(id);
      expect(texts[0]).toBe('False');
      expect(texts[1]).toMatch(/^(PermissionError|OSError)$/);
    }
  });
});

describe('platform.secrets', { timeout: 120_000 }, () => {
  test('returns a secret of the script, and masks the secret in the log', async () => {
    const id = await runs.scriptOf(
      `value = platform.secrets.get("TOKEN")
print(value, len(value))
platform.output({"told": value, value: 1})
print(platform.secrets.get("OTHER", None), platform.secrets.get("OTHER", "mine"))
try:
    platform.secrets.get("OTHER")
except NotFound as error:
    print(error)`,
    );
    await product.call('PUT', `/scripts/${id}/secrets/TOKEN`, { value: 'a secret by name' });
    const { texts, output } = await runs.runOf(id);
    expect(texts).toEqual([
      '*** 16',
      'None mine',
      'Neither the script nor its group has a secret named "OTHER".',
    ]);
    expect(output).toEqual({ told: '***', '***': 1 });
    const read = await until('the trail has it', async () => {
      const { items } = await product.call<{ items: Record<string, unknown>[] }>('GET', '/audit');
      return items.find((one) => one['action'] === 'secrets_read');
    });
    expect(read).toMatchObject({ resource: `secret-${id}`, detail: 'TOKEN', actor: 'runtime' });
  });

  test("does not return another script's secrets", async () => {
    const other = await runs.scriptOf('pass');
    await product.call('PUT', `/scripts/${other}/secrets/THEIRS`, { value: 'not for you' });
    expect(
      (
        await runs.runOf(
          await runs.scriptOf('platform.output(platform.secrets.get("THEIRS", "none"))'),
        )
      ).output,
    ).toBe('none');
  });
});

describe('platform.output and platform.progress', { timeout: 120_000 }, () => {
  test('record the latest values for the run', async () => {
    const id = await runs.scriptOf(
      `platform.progress(0.25, "a quarter")
platform.output("first")
platform.output({"nul": "\\0", "n": 1.5, "deep": [[None]]})
platform.progress(1)`,
    );
    const { output, progress } = await runs.runOf(id);
    expect(output).toEqual({ nul: '\0', n: 1.5, deep: [[null]] });
    expect(progress).toEqual({ fraction: 1, text: '', eta: null });
  });

  test('refuse an invalid value and state the reason', async () => {
    const id = await runs.scriptOf(
      `for value in (float("nan"), {1, 2}, "x" * 70_000, "x" * 2_000_000):
    try:
        platform.output(value)
    except OrchestratorError as error:
        print(f"{type(error).__module__}.{type(error).__name__} {error}")
for fraction, text in ((2, ""), (float("nan"), ""), (0, "x" * 501), (0, "a\\0")):
    try:
        platform.progress(fraction, text)
    except InvalidRequest as error:
        print(error)`,
    );
    const { texts, output } = await runs.runOf(id);
    expect(texts).toEqual([
      expect.stringMatching(/^orchestrator\.InvalidRequest the value cannot be encoded as JSON/),
      expect.stringMatching(/^orchestrator\.InvalidRequest the value cannot be encoded as JSON/),
      'orchestrator.LimitReached The value exceeds 65536 bytes as JSON.',
      'orchestrator.InvalidRequest the value is too large',
      'fraction: must be <= 1.',
      expect.stringMatching(/^the value cannot be encoded as JSON/),
      'text: must not have more than 500 characters.',
      'The text contains a NUL character or an unpaired surrogate.',
    ]);
    expect(output).toBeNull();
  });
});

describe('platform.state', { timeout: 120_000 }, () => {
  test('is available in the next run of the script, but not in other scripts', async () => {
    const code = `count = platform.state.get("count", 0) + 1
platform.state.set("count", count)
platform.state.set("gone", [1])
platform.state.delete("gone")
platform.output([count, platform.state.get("gone", "gone"), platform.state.get("never")])`;
    const [id, other] = [await runs.scriptOf(code), await runs.scriptOf(code)];
    expect((await runs.runOf(id)).output).toEqual([1, 'gone', null]);
    expect((await runs.runOf(id)).output).toEqual([2, 'gone', null]);
    expect((await runs.runOf(other)).output).toEqual([1, 'gone', null]);
  });
});

describe('the socket of a run', { timeout: 120_000 }, () => {
  test('refuses malformed input, and continues to serve calls', async () => {
    const id = await runs.scriptOf(
      `import json, os, socket
from orchestrator._channel import connect
def ask(data, end=True):
    with connect(os.environ["ORCH_SOCKET"]) as one:
        try:
            one.sendall(data)
            if end: one.shutdown(socket.SHUT_WR)
        except OSError: pass
        try: return json.loads(one.makefile("rb").readline() or b'{"code": "nothing"}')["code"]
        except OSError: return "nothing"
line = lambda value: json.dumps(value).encode() + b"\\n"
print(ask(b"no json\\n"), ask(b"[]\\n"), ask(line({"call": "toString"})), ask(line({"call": "__proto__"})))
print(ask(line({"call": "secrets.get"})), ask(line({"call": "secrets.get", "args": {"name": 7}})))
print(ask(line({"call": "output", "args": {"value": 1, "more": 2}})))
print(ask(line({"call": "output", "size": -1})), ask(line({"call": "output", "size": 9, "args": {"value": 1}})))
print(ask(b"x" * 3_000_000), ask(b""), ask(b"\\xff\\xfe\\n"))
print(ask(line({"call": "storage.upload", "args": {"path": "cut"}, "size": 1000}) + b"only this"))
print(len(platform.storage.list()))
deep = b'{"call": "output", "args": {"value": ' + b"[" * 5000 + b"]" * 5000 + b"}}\\n"
print(ask(deep))
many = [socket.socket(socket.AF_UNIX) for _ in range(150)]
for one in many: one.connect(os.environ["ORCH_SOCKET"])
platform.output("still there")`,
    );
    const { texts, output } = await runs.runOf(id);
    const invalid = 'invalid_request';
    expect(texts).toEqual([
      `${invalid} ${invalid} ${invalid} ${invalid}`,
      `${invalid} ${invalid}`,
      invalid,
      `${invalid} limit_reached`,
      `${invalid} nothing ${invalid}`,
      invalid,
      '0',
      invalid,
    ]);
    expect(output).toBe('still there');
  });

  test('refuses a response from a process other than the connected process', async () => {
    const id = await runs.scriptOf(
      `import json, os, socket, sys
from orchestrator._channel import connect
def ask(answers):
    with socket.socket(socket.AF_UNIX) as entry:
        entry.connect(os.environ["ORCH_SOCKET"])
        challenge = json.loads(entry.makefile("rb").readline())["challenge"].encode()
        answers(entry, challenge)
        try: return len(socket.recv_fds(entry, 1, 1)[1])
        except OSError: return 0
def by_child(entry, challenge):
    pid = os.fork()
    if pid == 0:
        entry.sendall(challenge)
        os._exit(0)
    os.waitpid(pid, 0)
print(ask(lambda entry, challenge: entry.sendall(challenge)))
print(ask(by_child), ask(lambda entry, challenge: entry.sendall(b"0" * len(challenge))))
connect(os.environ["ORCH_SOCKET"]).close()`,
    );
    expect((await runs.runOf(id)).texts).toEqual(['1', '0 0']);
  });

  test('refuses processes that do not belong to the run', async () => {
    const id = await runs.scriptOf(
      `import os, time
print(os.environ["ORCH_SOCKET"])
time.sleep(60)`,
    );
    const { run_id: runId } = await product.run(id);
    const path = await until('the run has said where', async () => {
      const lines = await product.log(runId);
      return lines.find(({ stream }) => stream === 'stdout')?.text;
    });
    const outsider = connect(path);
    const [chunks] = await Promise.all([outsider.toArray(), once(outsider, 'close')]);
    expect(chunks).toEqual([]);
    await product.call('POST', `/runs/${runId}/stop`);
    await product.untilFinished(runId);
  });

  test('handles concurrent calls from many threads and child processes', async () => {
    const id = await runs.scriptOf(
      `import concurrent.futures, multiprocessing
def one(number):
    platform.state.set(f"key {number}", number)
    return platform.state.get(f"key {number}")
if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        print(list(pool.map(one, range(40))) == list(range(40)))
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(pool.map(one, range(8)) == list(range(8)))`,
    );
    expect((await runs.runOf(id)).texts).toEqual(['True', 'True']);
  });
});
