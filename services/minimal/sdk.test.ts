/** The Python package `orchestrator`, from inside real runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product, type RunAnswer } from './testing/product.ts';

interface ShownRun extends RunAnswer {
  readonly output: unknown;
  readonly progress: { readonly fraction: number; readonly text: string } | null;
}

let product: Product;
beforeAll(async () => {
  product = await Product.start();
}, 120_000);
afterAll(async () => {
  const left = await product.stop();
  await product.remove();
  expect(left.filter(isAlive)).toEqual([]);
});

const prelude = `from orchestrator import *
platform = Platform()
`;

/** Runs a script of these lines. @returns what the run is shown as */
async function runOf(id: string, body: object = {}): Promise<ShownRun & { texts: string[] }> {
  const { run_id: runId } = await product.run(id, body);
  const texts = async () => (await product.log(runId)).map(({ text }) => text);
  const { status } = await product.untilFinished(runId);
  if (status !== 'success') throw new Error((await texts()).join('\n'));
  return { ...((await product.runState(runId)) as ShownRun), texts: await texts() };
}

async function scriptOf(code: string, files: Readonly<Record<string, string>> = {}) {
  return await product.script('SDK', { 'main.py': `${prelude}${code}\n`, ...files });
}

/** What a script of these lines gives as its output. */
async function outputOf(code: string): Promise<unknown> {
  return (await runOf(await scriptOf(code))).output;
}

describe('a script that uses the package', { timeout: 120_000 }, () => {
  test('when it asks what it is, then it is told', async () => {
    const id = await scriptOf(
      `platform.output([platform.params, platform.script_id, platform.trigger_type,
  platform.attempt, platform.is_local, platform.run_id is not None])`,
    );
    const { output } = await runOf(id, { params: { answer: 42 } });
    expect(output).toEqual([{ answer: 42 }, id, 'manual', 1, false, true]);
  });

  test.each(['cold', 'warm'])(
    'when it starts %s and has a module of the same name, then its own counts',
    async (mode) => {
      const id = await product.script('Own', {
        'main.py': 'import orchestrator, sys\nprint(orchestrator.own, "sandbox" in sys.modules)\n',
        'orchestrator.py': 'own = "mine"\n',
      });
      await product.call('PATCH', `/scripts/${id}`, { start_mode: mode });
      for (let round = 0; round < 2; round += 1) {
        expect((await runOf(id)).texts).toEqual(['mine False']);
      }
    },
  );

  test.each(['cold', 'warm'])('when it starts %s, then the package is there', async (mode) => {
    const id = await scriptOf(
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
      const { texts } = await runOf(id);
      expect(texts[0]).toBe('False');
      expect(texts[1]).toMatch(/^(PermissionError|OSError)$/);
    }
  });
});

describe('platform.secrets', { timeout: 120_000 }, () => {
  test('when a script asks for a secret of its own, then it has it, and its log does not', async () => {
    const id = await scriptOf(
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
    const { texts, output } = await runOf(id);
    expect(texts).toEqual(['*** 16', 'None mine', 'The script has no secret of the name "OTHER".']);
    expect(output).toEqual({ told: '***', '***': 1 });
    const audit = await product.call<{ items: Record<string, unknown>[] }>('GET', '/audit');
    const read = audit.items.find((one) => one['action'] === 'secrets_read');
    expect(read).toMatchObject({ resource: `secret-${id}`, detail: 'TOKEN', actor: 'runtime' });
  });

  test('when a script asks for one of another script, then there is none', async () => {
    const other = await scriptOf('pass');
    await product.call('PUT', `/scripts/${other}/secrets/THEIRS`, { value: 'not for you' });
    expect(await outputOf('platform.output(platform.secrets.get("THEIRS", "none"))')).toBe('none');
  });
});

describe('platform.output and platform.progress', { timeout: 120_000 }, () => {
  test('then the run is shown with the last of each', async () => {
    const id = await scriptOf(
      `platform.progress(0.25, "a quarter")
platform.output("first")
platform.output({"nul": "\\0", "n": 1.5, "deep": [[None]]})
platform.progress(1)`,
    );
    const { output, progress } = await runOf(id);
    expect(output).toEqual({ nul: '\0', n: 1.5, deep: [[null]] });
    expect(progress).toEqual({ fraction: 1, text: '' });
  });

  test('when a value cannot be taken, then it is said which and why', async () => {
    const id = await scriptOf(
      `for value in (float("nan"), {1, 2}, "x" * 70_000, "x" * 2_000_000):
    try:
        platform.output(value)
    except OrchestratorError as error:
        print(type(error).__name__, error)
for fraction, text in ((2, ""), (float("nan"), ""), (0, "x" * 501), (0, "a\\0")):
    try:
        platform.progress(fraction, text)
    except InvalidRequest as error:
        print(error)`,
    );
    const { texts, output } = await runOf(id);
    expect(texts).toEqual([
      expect.stringMatching(/^InvalidRequest the value is no JSON/),
      expect.stringMatching(/^InvalidRequest the value is no JSON/),
      'LimitReached The value has more than 65536 bytes as JSON.',
      'InvalidRequest the value is too large',
      'fraction: must be <= 1.',
      expect.stringMatching(/^the value is no JSON/),
      'text: must not have more than 500 characters.',
      'The text holds a NUL character.',
    ]);
    expect(output).toBeNull();
  });
});

describe('platform.storage', { timeout: 120_000 }, () => {
  test('then what a run stores can be listed and read, also by later runs of the script', async () => {
    const id = await scriptOf(
      `import io, os
platform.storage.upload("a/report.txt", "päper")
platform.storage.upload("big.bin", bytes(range(256)) * 8192)
platform.storage.upload("file.bin", io.BytesIO(b"from a file"))
platform.storage.upload("a/report.txt", "paper")
big = platform.storage.download("big.bin")
earlier = platform.params.get("earlier")
seen = platform.storage.download("a/report.txt", earlier).decode() if earlier else None
platform.output([[list(one) for one in platform.storage.list()], big == bytes(range(256)) * 8192,
  len(platform.storage.list("a/")), seen])`,
    );
    const first = await runOf(id);
    const listed = [
      ['a/report.txt', 5],
      ['big.bin', 2_097_152],
      ['file.bin', 11],
    ];
    expect(first.output).toEqual([listed, true, 1, null]);
    const second = await runOf(id, { params: { earlier: first.run_id } });
    expect(second.output).toEqual([listed, true, 1, 'paper']);
  });

  test('when there is nothing, or it may not be stored, then that is said', async () => {
    const other = await runOf(await scriptOf('platform.storage.upload("theirs", b"x")'));
    const id = await scriptOf(
      `def says(work):
    try:
        work()
    except OrchestratorError as error:
        print(type(error).__name__, error)
storage = platform.storage
says(lambda: storage.download("nothing"))
says(lambda: storage.download("theirs", platform.params["other"]))
says(lambda: storage.download("theirs", "no id"))
says(lambda: storage.upload("../../secrets", b"x"))
says(lambda: storage.upload("/etc/passwd", b"x"))
class Endless:
    def seekable(self): return True
    def tell(self): return 0
    def seek(self, *_): return 200 * 1024 * 1024
    def read(self, size): return bytes(size)
says(lambda: storage.upload("much", Endless()))
print(len(storage.list()))`,
    );
    const { texts } = await runOf(id, { params: { other: other.run_id } });
    expect(texts).toEqual([
      'NotFound The run has no file "nothing".',
      'NotFound The script has no such run.',
      'NotFound The script has no such run.',
      expect.stringMatching(/^InvalidRequest The path cannot be used/),
      expect.stringMatching(/^InvalidRequest The path cannot be used/),
      'LimitReached At most 104857600 bytes are taken.',
      '0',
    ]);
  });
});

describe('platform.state', { timeout: 120_000 }, () => {
  test('then it is there in the next run of the script, and in no other script', async () => {
    const code = `count = platform.state.get("count", 0) + 1
platform.state.set("count", count)
platform.state.set("gone", [1])
platform.state.delete("gone")
platform.output([count, platform.state.get("gone", "gone"), platform.state.get("never")])`;
    const [id, other] = [await scriptOf(code), await scriptOf(code)];
    expect((await runOf(id)).output).toEqual([1, 'gone', null]);
    expect((await runOf(id)).output).toEqual([2, 'gone', null]);
    expect((await runOf(other)).output).toEqual([1, 'gone', null]);
  });
});

describe('platform.http', { timeout: 120_000 }, () => {
  test('then it gets answers, tries again what may go well, and takes no more than it is to', async () => {
    const id = await scriptOf(
      `import http.server, threading
asked = []
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked.append(self.path)
        status = 503 if self.path == "/later" and asked.count("/later") == 1 else 200
        status = 404 if self.path == "/nothing" else status
        body = b"x" * 2000 if self.path == "/big" else b'{"a": 1}'
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
get = platform.http.get
print(get(base + "/").json(), get(base + "/later").status, asked.count("/later"))
for path, more in (("/nothing", {}), ("/big", {"max_bytes": 1000})):
    try:
        get(base + path, **more)
    except OrchestratorError as error:
        print(type(error).__name__, error)
try:
    get("file:///etc/passwd")
except InvalidRequest as error:
    print(error)
server.shutdown()`,
    );
    expect((await runOf(id)).texts).toEqual([
      "{'a': 1} 200 2",
      'HttpError the server answered 404',
      'LimitReached the body has more than 1000 bytes',
      'not an address of http or https: file:///etc/passwd',
    ]);
  });
});

describe('the socket of a run', { timeout: 120_000 }, () => {
  test('when something else is sent than the package would, then it is refused and nothing breaks', async () => {
    const id = await scriptOf(
      `import json, os, socket
def ask(data, end=True):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(os.environ["ORCH_SOCKET"])
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
    const { texts, output } = await runOf(id);
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

  test('when many threads and children call at once, then each has its answer', async () => {
    const id = await scriptOf(
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
    expect((await runOf(id)).texts).toEqual(['True', 'True']);
  });
});
