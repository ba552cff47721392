/** Tests that data leaving the platform contains no secrets: exported traces, channel messages, and command-line
 *  output. secrets.test.ts tests the stored data. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Collector } from '#services/shared/tracing/testing/collector.ts';
import { Product, productPassword, until } from './testing/product.ts';
import { prelude } from './testing/sdk-runs.ts';

const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
const canary = 'canary/7c2e+5da81f%3b90';
const forms = [
  canary,
  Buffer.from(canary).toString('base64'),
  Buffer.from(canary).toString('base64url'),
  encodeURIComponent(canary),
];
/** A script that leaks the secret in every possible way. */
const tells = `import base64, os, urllib.parse
value = os.environ["CANARY"]
for told in (value, base64.b64encode(value.encode()).decode(), urllib.parse.quote(value, safe="")):
    print(told, flush=True)
    platform.notify("it is " + told)
    platform.progress(0.5, "it is " + told)
    with platform.span("it is " + told, value=told):
        pass
    for sends in (lambda: platform.storage.upload(f"of/{told}/report.txt", b"x"),
                  lambda: platform.run(platform.script_id, {"key": told})):
        try:
            sends()
        except InvalidRequest as error:
            print("refused:", error)
platform.storage.upload("of/report.txt", b"x")
platform.output({"told": value})
raise RuntimeError(value)
`;

let collector: Collector;
let product: Product;
let receiver: Server;
let home: string;
const received: string[] = [];
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'orch-leaks-'));
  collector = await Collector.start();
  receiver = createServer((request, response) => {
    void text(request).then((body) => {
      received.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
      response.end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  product = await Product.start({
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      ORCH_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    },
  });
}, 120_000);
afterAll(async () => {
  await product.stop();
  collector.stop();
  receiver.close();
  await product.remove();
  await rm(home, { recursive: true });
});

describe('a run that leaks its secret everywhere', { timeout: 120_000 }, () => {
  let id: string;
  let runId: string;
  beforeAll(async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const hook = { name: 'hook', kind: 'webhook', config: { url } };
    const channel = await product.call<{ id: string }>('POST', '/notifications/channels', hook);
    const rule = { name: 'all', on: ['failed', 'message'], channel_ids: [channel.id] };
    await product.call('POST', '/notifications/rules', rule);
    id = await product.script('Teller', { 'main.py': `${prelude}${tells}` });
    await product.call('PUT', `/scripts/${id}/secrets/CANARY`, {
      value: canary,
      as_environment: true,
    });
    ({ run_id: runId } = await product.run(id));
    expect((await product.untilFinished(runId)).failure_reason).toBe('exit_code');
  });

  test('leaves no secret in exported traces', async () => {
    await until('the run was traced', async () =>
      collector.spans.find(({ name }) => name === 'RUN Teller'),
    );
    expect(withForms(JSON.stringify(collector.spans))).toEqual([]);
  });

  test('masks the secret in messages and deliveries', async () => {
    await until('all was sent', async () => {
      const path = '/notifications/deliveries?status=sent';
      const { items } = await product.call<{ items: readonly object[] }>('GET', path);
      return items.length === 4 ? true : undefined;
    });
    expect(received.filter((one) => one.includes('it is ***'))).toHaveLength(3);
    expect(withForms(received.join('\n'))).toEqual([]);
    const kept = await product.fetch('GET', '/notifications/deliveries');
    expect(withForms(await kept.text())).toEqual([]);
  });

  test('cannot use the secret in paths or parameters, and no list shows the secret', async () => {
    const refused = (await product.log(runId)).map(({ text: line }) => line.split(',')[0]);
    expect(refused.filter((line) => line === 'refused: The path contains a secret')).toHaveLength(
      3,
    );
    expect(
      refused.filter((line) => line === 'refused: The parameters contain a secret'),
    ).toHaveLength(3);
    const paths = [
      `/runs/${runId}`,
      `/runs/${runId}/artifacts`,
      `/runs?script_id=${id}`,
      '/notifications',
    ];
    const answers = await Promise.all(paths.map((path) => product.fetch('GET', path)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const [run, artifacts, runs, inbox] = await Promise.all(answers.map((answer) => answer.text()));
    expect(run).toContain('"text":"it is ***"');
    expect(run).toContain('"output":{"told":"***"}');
    expect(artifacts).toContain('of/report.txt');
    expect(withForms([run, artifacts, runs, inbox].join('\n'))).toEqual([]);
  });

  test('shows no secret in the output of any command', async () => {
    const login = ['login', product.baseUrl, '--email', 'admin@example.com', '--password-stdin'];
    await orchestrator(login, `${productPassword}\n`);
    const lines = [
      ['runs', '-o', 'json'],
      ['scripts', '-o', 'json'],
      ['logs', runId],
      ['logs', runId, '-o', 'json'],
      ['run', 'Teller', '--follow'],
      ['sync', 'pull', 'Teller', 'teller'],
      ['audit', 'verify'],
      ['doctor'],
    ];
    const told: string[] = [];
    for (const line of lines) told.push(await orchestrator(line));
    expect(told.join('\n').split('***').length).toBeGreaterThan(6);
    expect(withForms(told.join('\n'))).toEqual([]);
  });
});

/** Lists the encoded forms of the secret that a text contains. */
function withForms(written: string): readonly string[] {
  return forms.filter((form) => written.includes(form));
}

/** Runs a command.
 *  @returns its output on both streams */
async function orchestrator(args: readonly string[], input = ''): Promise<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    env: { PATH, NODE_COMPILE_CACHE, XDG_CONFIG_HOME: home },
  });
  child.stdin.end(input);
  const ended = once(child, 'close');
  const [out, problem] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  return out + problem;
}
