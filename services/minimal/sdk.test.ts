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

describe('platform.notify', { timeout: 120_000 }, () => {
  test('then what it says is recorded, without secrets, and not without end', async () => {
    const id = await scriptOf(
      `platform.notify("The token is " + platform.secrets.get("TOKEN"), "warning")
for number in range(99): platform.notify(f"Number {number}")
for message, level in (("one more", "info"), ("", "info"), ("x", "loud"), ("x" * 2001, "info")):
    try:
        platform.notify(message, level)
    except OrchestratorError as error:
        print(type(error).__name__)`,
    );
    await product.call('PUT', `/scripts/${id}/secrets/TOKEN`, { value: 'a secret to tell' });
    const run = await runOf(id);
    const invalid = 'InvalidRequest';
    expect(run.texts).toEqual(['LimitReached', invalid, invalid, invalid]);
    const said = await product.script('Reads', {
      'main.py': `${prelude}platform.output(platform.db.query("SELECT count(*) AS n FROM runs WHERE id = '${run.run_id}'"))`,
    });
    expect((await runOf(said)).output).toEqual([{ n: 1 }]);
    const audit = await product.call<{ items: Record<string, unknown>[] }>(
      'GET',
      '/audit?limit=200',
    );
    expect(audit.items.filter((one) => one['action'] === 'notice_posted').length).toBe(100);
  });
});

describe('platform.run', { timeout: 120_000 }, () => {
  test('then the other script runs, and says who asked', async () => {
    const other = await scriptOf('platform.output(platform.params["n"] + 1)');
    const id = await scriptOf(`platform.output(platform.run(platform.params["other"], {"n": 41}))`);
    const asked = await runOf(id, { params: { other } });
    const runId = asked.output as string;
    await product.untilFinished(runId);
    const started = await product.call<Record<string, unknown>>('GET', `/runs/${runId}`);
    expect(started).toMatchObject({
      script_id: other,
      output: 42,
      trigger: { type: 'event', cause: 'script', run_id: asked.run_id },
    });
    const why = await product.call<{ items: { reason: string }[] }>('GET', `/runs/${runId}/why`);
    expect(why.items[0]?.reason).toBe(`Run ${asked.run_id} asked for it, at version 2.`);
  });

  test('when it may not, then it is said why', async () => {
    const groups = await product.call<{ items: { id: string; name: string }[] }>('GET', '/groups');
    const foreign = await scriptOf('pass');
    const bots = groups.items.find(({ name }) => name === 'bots')?.id;
    await product.call('PATCH', `/scripts/${foreign}`, { group_id: bots });
    const disabled = await scriptOf('pass');
    await product.call('POST', `/scripts/${disabled}/disable`);
    const id = await scriptOf(
      `for other in (platform.params["foreign"], "no id", platform.params["disabled"], platform.script_id):
    try:
        platform.run(other)
    except OrchestratorError as error:
        print(type(error).__name__, error)`,
    );
    expect((await runOf(id, { params: { foreign, disabled } })).texts).toEqual([
      'NotFound There is no such script in the group.',
      'NotFound There is no such script in the group.',
      'Refused The script is disabled.',
      'Refused 1 of 1 runs are queued or running already.',
    ]);
  });

  test('when runs ask for runs without end, then there is one', async () => {
    const id = await scriptOf(
      `try:
    platform.output(platform.run(platform.script_id, when_busy="queue"))
except Refused as error:
    print(error)`,
    );
    let run = await runOf(id);
    for (let depth = 0; depth < 16; depth += 1) {
      const next = run.output as string;
      await product.untilFinished(next);
      run = { ...run, ...((await product.runState(next)) as ShownRun) };
    }
    expect(run.output).toBeNull();
    const texts = (await product.log(run.run_id)).map(({ text }) => text);
    expect(texts).toEqual(['Runs that ask for runs end after 16.']);
  });
});

describe('platform.db', { timeout: 120_000 }, () => {
  test('then it reads the records of the group, and nothing else', async () => {
    const id = await scriptOf(
      `mine = platform.script_id
platform.output(platform.db.query(f"SELECT name, enabled FROM scripts WHERE id = '{mine}'"))
for sql in ("SELECT * FROM public.users", "DELETE FROM runs", "SELECT 1; SELECT 2", "SELECT pg_sleep(30)"):
    try:
        platform.db.query(sql)
    except QueryFailed as error:
        print(error)`,
    );
    const { texts, output } = await runOf(id);
    expect(output).toEqual([{ name: 'SDK', enabled: true }]);
    expect(texts).toEqual([
      'permission denied for table users.',
      expect.stringMatching(/^syntax error/),
      expect.stringMatching(/^syntax error/),
      'canceling statement due to statement timeout.',
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
