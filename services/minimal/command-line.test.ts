/** Runs the commands in docs/cli.md against the running product, and checks its traces, metrics and logs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Collector } from '#services/shared/tracing/testing/collector.ts';
import { Product, productPassword, until } from './testing/product.ts';

const program = fileURLToPath(new URL('../cli/main.ts', import.meta.url));
let collector: Collector;
let product: Product;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'orch-session-'));
  collector = await Collector.start();
  product = await Product.start({
    variables: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ORCH_LOG_RUNS: 'true' },
  });
});
afterAll(async () => {
  await product.stop();
  collector.stop();
  await product.remove();
  await rm(home, { recursive: true });
});

/** Runs one `orchestrator` command. */
async function orchestrator(args: readonly string[], { from = home, input = '' } = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [program, ...args], {
    cwd: from,
    env: { PATH, NODE_COMPILE_CACHE, XDG_CONFIG_HOME: home },
  });
  child.stdin.end(input);
  const ended = once(child, 'close');
  const [out, problem] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [number];
  return { code, out, problem };
}

const done = { code: 0, problem: '' };

test('the command line can sign in, pull, change and run a script, and verify the audit log', async () => {
  const id = await product.script('Nightly report', { 'main.py': 'print("old")\n' });
  await product.call('PUT', `/scripts/${id}/secrets/KEY`, { value: 'kept to itself' });

  const signedIn = await orchestrator(
    ['login', product.baseUrl, '--email', 'admin@example.com', '--password-stdin'],
    { input: `${productPassword}\n` },
  );
  expect(signedIn).toEqual({ ...done, out: expect.stringContaining('as admin@example.com') });
  const pulled = await orchestrator(['sync', 'pull', 'Nightly report', 'report']);
  expect([pulled.code, pulled.out]).toEqual([0, 'wrote main.py\n']);

  const from = join(home, 'report');
  const source = `import os, sys, greeting
print(greeting.WORD, os.environ["ORCH_PARAMS"])
print("to stderr", file=sys.stderr)
sys.exit(7)
`;
  await writeFile(join(from, 'main.py'), source);
  await writeFile(join(from, 'greeting.py'), 'WORD = "hello"\n');
  await writeFile(join(from, '.env'), 'KEY=1\n');
  const differs = await orchestrator(['sync', 'diff', '--names'], { from });
  expect(differs).toEqual({
    code: 1,
    out: 'greeting.py: new here\nmain.py: changed here\n',
    problem: '',
  });
  const pushed = await orchestrator(['sync', 'push'], { from });
  expect([pushed.code, pushed.out]).toEqual([0, 'saved greeting.py\nsaved main.py\n']);
  expect(await orchestrator(['sync', 'diff'], { from })).toEqual({ ...done, out: '' });

  const ran = await orchestrator(['run', 'Nightly report', '--follow', '-p', 'day=1']);
  expect(ran.code).toBe(7);
  expect(ran.out).toBe('hello {"day":1}\n');
  expect(ran.problem).toMatch(/^Run .* of Nightly report\nto stderr\nRun .* failed \(exit_code\)/);
  const listed = await orchestrator(['runs', 'Nightly report', '-o', 'json']);
  const [run] = JSON.parse(listed.out) as [{ run_id: string; exit_code: number }];
  expect(run.exit_code).toBe(7);
  const log = await orchestrator(['logs', run.run_id, '--stream', 'stdout', '-o', 'json']);
  expect(JSON.parse(log.out)).toMatchObject({ stream: 'stdout', text: 'hello {"day":1}' });

  const verified = await orchestrator(['audit', 'verify']);
  expect(verified).toEqual({
    ...done,
    out: expect.stringMatching(/^valid: \d+ entries; head \d+:/),
  });
  const made = await orchestrator(['backup', 'create']);
  expect(made).toEqual({ ...done, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
  const saved = await orchestrator(['backup', 'download', made.out.trim(), 'saved.tar']);
  expect(saved).toEqual({ ...done, out: `${join(home, 'saved.tar')}\n` });
  expect((await orchestrator(['backup', 'list'])).out).toMatch(/complete +manual/);
  const healthy = await orchestrator(['doctor']);
  expect(healthy.out).toMatch(/ok +runtimes +1 connected/);
  expect(healthy.code).toBe(0);
  const { items } = await product.call<{ items: object[] }>('GET', `/scripts/${id}/secrets`);
  expect(items).toMatchObject([{ name: 'KEY', version: 1 }]);
});

test('`sync` reports changes on both sides as a conflict, and deletes scripts only on request', async () => {
  const from = join(home, 'shared');
  const id = await product.script('Shared', { 'main.py': '1\n', 'old.py': '1\n' });
  await orchestrator(['sync', 'pull', id, 'shared']);
  const save = (path: string, content: string) =>
    product.call('PUT', `/scripts/${id}/files/${path}`, { content, encoding: 'utf-8' });
  await save('main.py', 'theirs\n');
  await writeFile(join(from, 'main.py'), 'mine\n');
  await rm(join(from, 'old.py'));

  const [pushed, pulled] = [
    await orchestrator(['sync', 'push'], { from }),
    await orchestrator(['sync', 'pull'], { from }),
  ];
  for (const { code, out, problem } of [pushed, pulled]) {
    expect([code, out]).toEqual([65, '']);
    expect(problem).toMatch(/These files differ on both sides:\n {2}main.py\n/);
  }
  const { out } = await orchestrator(['sync', 'diff'], { from });
  expect(out).toMatch(/^-theirs\n\+mine$/m);
  const taken = await orchestrator(['sync', 'pull', '--theirs'], { from });
  expect([taken.code, await readFile(join(from, 'main.py'), 'utf8')]).toEqual([0, 'theirs\n']);

  const kept = await orchestrator(['sync', 'push'], { from });
  expect([kept.code, kept.problem]).toEqual([
    0,
    expect.stringContaining(
      'old.py was deleted here and still exists on the server; --prune deletes it.',
    ),
  ]);
  const pruned = await orchestrator(['sync', 'push', '--prune'], { from });
  expect([pruned.code, pruned.out]).toEqual([0, 'deleted old.py\n']);
  const made = await orchestrator(['new', 'From template', '--template', 'etl-job']);
  expect(made).toEqual({ ...done, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/) });
  const scheduled = await orchestrator([
    'schedule',
    'create',
    'From template',
    '--cron',
    '0 9 * * *',
  ]);
  expect(scheduled.code).toBe(0);
  const due = await orchestrator(['schedule', 'preview', scheduled.out.trim(), '--count', '2']);
  expect(due.out.split('\n')).toHaveLength(4);
  const twice = ['schedule', 'preview', '--cron', '0 9 * * *', '--count', '1'];
  const { out: met } = await orchestrator([...twice, '--script', 'From template']);
  expect(met).toContain('overlaps with other schedules of the script: 1');
  expect((await orchestrator(twice)).out).not.toContain('other schedules');
  const signedOut = await orchestrator(['logout']);
  expect(signedOut).toEqual({ ...done, out: `Signed out of ${product.baseUrl}.\n` });
  expect((await orchestrator(['runs'])).code).toBe(77);
});

test('a trace covers a request up to the end of its run, and matches the metrics and logs', async () => {
  const id = await product.script('Traced', { 'main.py': 'print("told")\nraise SystemExit(3)\n' });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const caller = '00f067aa0ba902b7';
  const answer = await fetch(`${product.baseUrl}/api/v1/runs/scripts/${id}/run`, {
    method: 'POST',
    headers: {
      ...product.authorization,
      traceparent: `00-${traceId}-${caller}-01`,
      'content-type': 'application/json',
    },
    body: '{}',
  });
  const { run_id: runId } = (await answer.json()) as { run_id: string };
  const spans = await until('the run was traced', async () => {
    const found = collector.spans.filter((span) => span.traceId === traceId);
    return found.length === 5 ? found : undefined;
  });

  const of = (name: string) => spans.find((span) => span.name === name)!;
  const [request, run] = [of('POST /api/v1/runs/scripts/{id}/run'), of('RUN Traced')];
  expect([request.service, request.parentSpanId]).toEqual(['orchestrator-backend', caller]);
  expect([run.service, run.parentSpanId]).toEqual(['orchestrator-runtime', request.spanId]);
  expect(run.attributes).toEqual(
    expect.arrayContaining([
      { key: 'cicd.pipeline.name', value: { stringValue: 'Traced' } },
      { key: 'cicd.pipeline.run.id', value: { stringValue: runId } },
      { key: 'cicd.pipeline.result', value: { stringValue: 'failure' } },
      { key: 'process.exit.code', value: { intValue: '3' } },
    ]),
  );
  for (const name of ['queue', 'prepare', 'execute']) {
    expect(of(name).parentSpanId).toBe(run.spanId);
    expect(BigInt(of(name).endTimeUnixNano)).toBeLessThanOrEqual(BigInt(run.endTimeUnixNano));
  }

  const page = await (await fetch(product.metricsUrl)).text();
  expect(page).toMatch(
    /orchestrator_runs_finished_total\{outcome="exit_code",trigger="manual"\} [1-9]/,
  );
  expect(page).not.toContain(runId);
  const forwarded = await until('the log was forwarded', async () => {
    const written = await readFile(join(product.dataDir, 'logs', 'runtime.log'), 'utf8');
    return written.split('\n').find((line) => line.includes('run log') && line.includes(runId));
  });
  expect(JSON.parse(forwarded)).toMatchObject({
    trace_id: traceId,
    run_id: runId,
    script_name: 'Traced',
    seq: 1,
    text: 'told',
  });
});
