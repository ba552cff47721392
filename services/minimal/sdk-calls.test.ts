/** Tests calls from the `orchestrator` package to the platform in real runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product } from './testing/product.ts';
import { prelude, SdkRuns } from './testing/sdk-runs.ts';

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

describe('platform.storage', { timeout: 120_000 }, () => {
  test('lists and reads stored files, including in later runs of the script', async () => {
    const id = await runs.scriptOf(
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
    const first = await runs.runOf(id);
    const listed = [
      ['a/report.txt', 5],
      ['big.bin', 2_097_152],
      ['file.bin', 11],
    ];
    expect(first.output).toEqual([listed, true, 1, null]);
    const second = await runs.runOf(id, { params: { earlier: first.run_id } });
    expect(second.output).toEqual([listed, true, 1, 'paper']);
  });

  test('reports missing files and files that cannot be stored', async () => {
    const other = await runs.runOf(await runs.scriptOf('platform.storage.upload("theirs", b"x")'));
    const id = await runs.scriptOf(
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
    const { texts } = await runs.runOf(id, { params: { other: other.run_id } });
    expect(texts).toEqual([
      'NotFound The run has no file "nothing".',
      'NotFound The script has no such run.',
      'NotFound The script has no such run.',
      expect.stringMatching(/^InvalidRequest The path is not valid/),
      expect.stringMatching(/^InvalidRequest The path is not valid/),
      'LimitReached The body may have at most 104857600 bytes.',
      '0',
    ]);
  });
});

describe('platform.http', { timeout: 120_000 }, () => {
  test('returns responses, retries temporary errors, and limits the response size', async () => {
    const id = await runs.scriptOf(
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
      { listen_ports: [0] },
    );
    expect((await runs.runOf(id)).texts).toEqual([
      "{'a': 1} 200 2",
      'HttpError the server returned 404',
      'LimitReached the body exceeds 1000 bytes',
      'not an HTTP or HTTPS URL: file:///etc/passwd',
    ]);
  });
});

describe('platform.notify', { timeout: 120_000 }, () => {
  test('records notifications up to a limit, and masks secrets', async () => {
    const id = await runs.scriptOf(
      `platform.notify("The token is " + platform.secrets.get("TOKEN"), "warning")
for number in range(99): platform.notify(f"Number {number}")
for message, level in (("one more", "info"), ("", "info"), ("x", "loud"), ("x" * 2001, "info")):
    try:
        platform.notify(message, level)
    except OrchestratorError as error:
        print(type(error).__name__)`,
    );
    await product.call('PUT', `/scripts/${id}/secrets/TOKEN`, { value: 'a secret to tell' });
    const run = await runs.runOf(id);
    const invalid = 'InvalidRequest';
    expect(run.texts).toEqual(['LimitReached', invalid, invalid, invalid]);
    const said = await product.script('Reads', {
      'main.py': `${prelude}platform.output(platform.db.query("SELECT count(*) AS n FROM runs WHERE id = '${run.run_id}'"))`,
    });
    expect((await runs.runOf(said)).output).toEqual([{ n: 1 }]);
    const audit = await product.call<{ items: Record<string, unknown>[] }>(
      'GET',
      '/audit?limit=200',
    );
    expect(audit.items.filter((one) => one['action'] === 'notice_posted').length).toBe(100);
  });
});

describe('platform.mqtt', { timeout: 120_000 }, () => {
  test('reports a missing broker and an invalid message', async () => {
    const id = await runs.scriptOf(
      `for topic, more in (("a/b", {}), ("a/#", {}), ("a", {"qos": 2})):
    try:
        platform.mqtt.publish(topic, "hello", **more)
    except OrchestratorError as error:
        print(type(error).__name__, error)`,
    );
    expect((await runs.runOf(id)).texts).toEqual([
      'Refused The platform has no MQTT broker: ORCH_MQTT_URL is not set.',
      'Refused The platform has no MQTT broker: ORCH_MQTT_URL is not set.',
      expect.stringMatching(/^InvalidRequest qos/),
    ]);
  });
});

describe('platform.run', { timeout: 120_000 }, () => {
  test('runs another script, and records the calling run as the trigger', async () => {
    const other = await runs.scriptOf('platform.output(platform.params["n"] + 1)');
    const id = await runs.scriptOf(
      `platform.output(platform.run(platform.params["other"], {"n": 41}))`,
    );
    const asked = await runs.runOf(id, { params: { other } });
    const runId = asked.output as string;
    expect(await runs.ended(runId)).toMatchObject({
      script_id: other,
      output: 42,
      trigger: { type: 'event', cause: 'script', run_id: asked.run_id },
    });
    const why = await product.call<{ items: { reason: string }[] }>('GET', `/runs/${runId}/why`);
    expect(why.items[0]?.reason).toBe(`Run ${asked.run_id} requested this run at version 2.`);
  });

  test('reports why a run is refused', async () => {
    const groups = await product.call<{ items: { id: string; name: string }[] }>('GET', '/groups');
    const foreign = await runs.scriptOf('pass');
    const bots = groups.items.find(({ name }) => name === 'bots')?.id;
    await product.call('PATCH', `/scripts/${foreign}`, { group_id: bots });
    const disabled = await runs.scriptOf('pass');
    await product.call('POST', `/scripts/${disabled}/disable`);
    const id = await runs.scriptOf(
      `for other in (platform.params["foreign"], "no id", platform.params["disabled"], platform.script_id):
    try:
        platform.run(other)
    except OrchestratorError as error:
        print(type(error).__name__, error)`,
    );
    expect((await runs.runOf(id, { params: { foreign, disabled } })).texts).toEqual([
      'NotFound The group does not contain this script.',
      'NotFound The group does not contain this script.',
      'Refused The script is disabled.',
      'Refused 1 of 1 concurrent runs are already queued or running.',
    ]);
  });

  test('reports every invalid parameter of the other script', async () => {
    const other = await runs.scriptOf('platform.output(platform.params["limit"])');
    const schema = {
      required: ['limit'],
      additionalProperties: false,
      properties: { limit: { type: 'integer', minimum: 1 } },
    };
    await product.call('PATCH', `/scripts/${other}`, { parameters_schema: schema });
    const id = await runs.scriptOf(
      `for params in (None, {"limit": 0, "more": 1}, {"limit": 2}):
    try:
        platform.output(platform.run(platform.params["other"], params))
    except InvalidRequest as error:
        print(error)`,
    );
    const asked = await runs.runOf(id, { params: { other } });
    expect(asked.texts).toEqual([
      'params/limit is required.',
      'params/more is unknown; params/limit must be >= 1.',
    ]);
    expect(await runs.ended(asked.output as string)).toMatchObject({ output: 2 });
  });

  test('limits the depth of runs that start other runs', async () => {
    const id = await runs.scriptOf(
      `try:
    platform.output(platform.run(platform.script_id, when_busy="queue"))
except Refused as error:
    print(error)`,
    );
    let run = await runs.runOf(id);
    for (let depth = 0; depth < 16; depth += 1) run = await runs.ended(run.output as string);
    expect(run.output).toBeNull();
    expect(run.texts).toEqual([
      'A series of runs that start one another may have at most 16 runs.',
    ]);
  });
});

describe('platform.db', { timeout: 120_000 }, () => {
  test("reads only data from the script's group", async () => {
    const id = await runs.scriptOf(
      `mine = platform.script_id
platform.output(platform.db.query(f"SELECT name, enabled FROM scripts WHERE id = '{mine}'"))
for sql in ("SELECT * FROM public.users", "DELETE FROM runs", "SELECT 1; SELECT 2", "SELECT pg_sleep(30)"):
    try:
        platform.db.query(sql)
    except QueryFailed as error:
        print(error)`,
    );
    const { texts, output } = await runs.runOf(id);
    expect(output).toEqual([{ name: 'SDK', enabled: true }]);
    expect(texts).toEqual([
      expect.stringMatching(/^line 1, column 15: the relation public.users is not allowed/),
      expect.stringMatching(/only SELECT, VALUES and WITH … SELECT are allowed/),
      expect.stringMatching(/only one statement is allowed/),
      expect.stringMatching(/^line 1, column 8: the function pg_sleep is not allowed/),
    ]);
  });
});
