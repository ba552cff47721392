/** Saves the data folder of a release as a fixture for upgrade tests (services/minimal/upgrade.test.ts). Starts the
 *  release, creates data of every kind, stops the release, and writes its data folder to one small file.
 *
 *     node scripts/keep-data.ts RELEASE_FOLDER FILE
 *
 *  Run this script once per release, with the release's folder, after installing the packages of that release. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepData, writeKept, type KnownHistory } from '#services/minimal/testing/kept-data.ts';
import { Product, productPassword, until } from '#services/minimal/testing/product.ts';

const report = `import hashlib, os
from orchestrator import *
platform = Platform()
print("The report of", platform.params)
platform.storage.upload("report.txt", "all is well")
platform.state.set("runs", 1)
platform.output(hashlib.sha256(os.environ["TOKEN"].encode()).hexdigest())
`;

const [folder, file] = process.argv.slice(2);
if (folder === undefined || file === undefined) {
  process.stderr.write('Use: keep-data.ts RELEASE_FOLDER FILE\n');
  process.exit(1);
}
const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
  version: string;
};
const dataDir = await mkdtemp(join(tmpdir(), 'orch-kept-'));
const product = await Product.start({ folder, dataDir, variables: { ORCH_EXAMPLES: undefined } });
let history: KnownHistory;
try {
  history = await makeHistory();
} finally {
  await product.stop();
}
const kept = await keepData(dataDir, { version, history });
await writeKept(file, kept);
await rm(dataDir, { recursive: true });
const types = new Set(
  kept.tables['events']?.map((line) => (JSON.parse(line) as { type: string }).type),
);
process.stdout.write(
  `${kept.tables['events']?.length} events of ${types.size} types, ${kept.migrations.length} migrations, ` +
    `${(await stat(file)).size} bytes\n`,
);

async function makeHistory(): Promise<KnownHistory> {
  const email = 'developer@example.com';
  const { id: group } = await product.call<{ id: string }>('POST', '/groups', { name: 'Finance' });
  await product.call('POST', '/users', {
    email,
    name: 'Developer',
    role: 'developer',
    password: productPassword,
    group_ids: [group],
  });
  const { id: scriptId } = await product.call<{ id: string }>('POST', '/scripts', {
    name: 'Report',
    group_id: group,
  });
  const write = (id: string, path: string, content: string) =>
    product.call('PUT', `/scripts/${id}/files/${path}`, { content, encoding: 'utf-8' });
  await write(scriptId, 'main.py', 'print("the first version")\n');
  await write(scriptId, 'main.py', report);
  await write(scriptId, 'notes/read me.txt', 'kept\n');
  const value = 'a value that is never read';
  await product.call('PUT', `/scripts/${scriptId}/secrets/TOKEN`, { value, as_environment: true });
  const other = await product.script('Fails', { 'main.py': 'raise SystemExit(3)\n' });
  await product.call('PATCH', `/scripts/${other}`, {
    retry: { max_attempts: 2, backoff_seconds: 0.1 },
  });
  const target = await product.script('Follows', { 'main.py': 'print("after it")\n' });
  await product.call('POST', '/chains', { source_script_id: scriptId, target_script_id: target });
  await product.call('POST', '/schedules', { script_id: target, kind: 'cron', cron: '0 0 1 1 *' });
  const { url } = await product.call<{ url: string }>('POST', '/webhooks', {
    script_id: scriptId,
    name: 'hook',
  });
  const webhookPath = new URL(url, product.baseUrl).pathname;
  const { id: channel } = await product.call<{ id: string }>('POST', '/notifications/channels', {
    name: 'inbox',
    kind: 'in_app',
    config: { group_id: group },
  });
  const rule = { name: 'failures', on: ['failed', 'recovered'], channel_ids: [channel] };
  await product.call('POST', '/notifications/rules', rule);
  await product.call('POST', '/auth/tokens', { name: 'kept', scopes: ['runs:read'] });
  const runIds: string[] = [];
  const runToTheEnd = async (id: string) => {
    const { run_id: runId } = await product.run(id, { params: { number: runIds.length } });
    runIds.push(runId);
    await product.untilFinished(runId);
    return await product.call<{ output: unknown }>('GET', `/runs/${runId}`);
  };
  const { output } = await runToTheEnd(scriptId);
  await runToTheEnd(other);
  await stopOne(runIds);
  await fetch(`${product.baseUrl}${webhookPath}`, { method: 'POST', body: '{"called": true}' });
  await removeOne();
  await untilQuiet();
  return { password: productPassword, email, scriptId, output, webhookPath, runIds };
}

async function stopOne(runIds: string[]): Promise<void> {
  const endless = await product.script('Endless', { 'main.py': 'import time\ntime.sleep(600)\n' });
  const { run_id: runId } = await product.run(endless);
  runIds.push(runId);
  await product.call('POST', `/runs/${runId}/stop`);
  await product.untilFinished(runId);
}

async function removeOne(): Promise<void> {
  const gone = await product.script('Gone', { 'main.py': 'print("gone")\n' });
  await product.call('DELETE', `/scripts/${gone}`);
}

/** Waits until all runs have finished and the read models are up to date. */
async function untilQuiet(): Promise<void> {
  await until('everything has ended and is counted', async () => {
    const { items } = await product.call<{ items: { status: string }[] }>('GET', '/runs');
    const info = await product.call<{ projections: { lag: number }[] }>('GET', '/system/info');
    const isOver = items.every(({ status }) => !['queued', 'running'].includes(status));
    // Three runs were requested. They cause four more: one retry, the webhook's run, and two chained runs.
    const all = items.length >= 7 && isOver && info.projections.every(({ lag }) => lag === 0);
    return all ? true : undefined;
  });
}
