/** Tests that real runs receive their secrets, and that the secrets are stored nowhere else. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { readTar } from '#infra/backup/tar.ts';
import { withClient } from '#infra/testing/client.ts';
import { tablesWith } from '#infra/testing/stored-text.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, Product, until } from './testing/product.ts';

const canary = 'canary/4f1d+9be07c%2a66';
const forms = [
  canary,
  Buffer.from(canary).toString('base64'),
  Buffer.from(canary).toString('base64url'),
  encodeURIComponent(canary),
];

interface Listed {
  readonly items: readonly Record<string, unknown>[];
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

const tells = `import base64, os, sys, textwrap, time, urllib.parse
value = os.environ["CANARY"]
print("plain", value, "end")
print("base64", base64.b64encode(value.encode()).decode())
print("basic", base64.b64encode(b"user:" + value.encode()).decode())
print("wrapped", *textwrap.wrap(base64.b64encode(value.encode()).decode(), 8), sep="\\n")
print("dump", value.encode().hex(" "))
print("url", urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value))
for stream in (sys.stdout, sys.stderr):
    for letter in value:
        stream.write(letter)
        stream.flush()
    stream.write("\\n")
sys.stdout.write(value[:8])
sys.stdout.flush()
time.sleep(0.3)
print(value[8:])
print(len(value), os.environ.get("HIDDEN"))
raise RuntimeError(value)
`;

describe('the secrets of a script', { timeout: 120_000 }, () => {
  let id: string;
  beforeAll(async () => {
    id = await product.script('Secretive', { 'main.py': tells });
    const path = `/scripts/${id}/secrets`;
    await product.call('PUT', `${path}/CANARY`, { value: canary, as_environment: true });
    await product.call('PUT', `${path}/HIDDEN`, { value: 'not a variable' });
  });

  test('are masked in the log, even when printed letter by letter', async () => {
    const { run_id: runId } = await product.run(id);
    const run = await product.untilFinished(runId);
    expect(run.failure_reason).toBe('exit_code');
    const lines = (await product.log(runId)).map(({ text }) => text);
    expect(lines).toContain('plain *** end');
    expect(lines).toContain('base64 ***');
    expect(lines).toContain('url *** ***');
    expect(lines.filter((line) => line === '***').length).toBe(7);
    expect(lines).toContain(`dump${' ***'.repeat(canary.length)}`);
    expect(lines).toContain(`${canary.length} None`);
    expect(lines).toContain('RuntimeError: ***');
    const basic = lines.find((line) => line.startsWith('basic'))?.slice(6) ?? '';
    expect(basic).toContain('***');
    expect(Buffer.from(basic.replace('***', ''), 'base64').toString()).not.toContain('canary');
  });

  test('have their uses listed, including in the audit log', async () => {
    await product.untilFinished((await product.run(id)).run_id);
    const read = await until('the trail has it', async () => {
      const { items } = await product.call<Listed>('GET', '/audit');
      return items.find(({ action }) => action === 'secrets_read');
    });
    expect(read).toMatchObject({ detail: 'CANARY', actor: 'runtime' });
    const uses = await until('its use is shown', async () => {
      const { items } = await product.call<Listed>('GET', `/scripts/${id}/secrets`);
      const shown = items.map(({ name, last_used_at: at }) => [name, at === null]);
      return shown.some(([, isUnused]) => isUnused === false) ? shown : undefined;
    });
    expect(uses).toEqual([
      ['CANARY', false],
      ['HIDDEN', true],
    ]);
  });

  test('appear in no table, file, log or metric of the platform', async () => {
    const answers = await Promise.all([
      product.fetch('GET', `/runs?limit=200`),
      product.fetch('GET', `/scripts/${id}/history`),
      product.fetch('GET', `/audit?limit=200`),
      fetch(`${product.baseUrl}/metrics`),
    ]);
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    for (const form of forms) expect(texts.join('\n')).not.toContain(form);
    expect(await inDatabase((client) => tablesWith(client, forms))).toEqual([]);
    expect(await filesWith(forms)).toEqual([]);
  });

  test('appear in no core file when a run crashes', async () => {
    const falls = `import os, resource
print(resource.getrlimit(resource.RLIMIT_CORE), flush=True)
os.abort()
`;
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content: falls });
    const { run_id: runId } = await product.run(id);
    expect((await product.untilFinished(runId)).failure_reason).toBe('exit_code');
    expect((await product.log(runId)).map(({ text }) => text)).toContain('(0, 0)');
    expect(await filesWith(forms)).toEqual([]);
    await product.call('PUT', `/scripts/${id}/files/main.py`, { content: tells });
  });

  test('appear in no backup', async () => {
    const { id: backupId } = await product.call<{ id: string }>('POST', '/backups');
    await until('the backup is complete', async () => {
      const { status } = await product.call<{ status: string }>('GET', `/backups/${backupId}`);
      return status === 'complete' ? true : undefined;
    });
    const answer = await product.fetch('GET', `/backups/${backupId}/download`);
    const bytes = Buffer.from(await answer.arrayBuffer());
    const parts = await partsOf(bytes);
    expect(parts.some((part) => part.includes('SecretSet'))).toBe(true);
    expect(parts.some((part) => part.includes(id))).toBe(true);
    for (const form of forms) expect(parts.filter((part) => part.includes(form))).toEqual([]);
  });

  test('cannot be read after their database rows are swapped, and the run fails with that reason', async () => {
    const swap = `UPDATE secrets a SET sealed = b.sealed FROM secrets b
      WHERE a.script_id = $1 AND b.script_id = $1 AND a.name <> b.name`;
    await inDatabase((client) => client.query(swap, [id]));
    const { run_id: runId } = await product.run(id);
    expect((await product.untilFinished(runId)).failure_reason).toBe('sandbox_error');
    const [line, ...others] = (await product.log(runId)).map(({ text }) => text);
    expect(line).toMatch(
      /^The secret "(CANARY|HIDDEN)" cannot be read: it was sealed with another key/,
    );
    expect(others).toEqual([]);
    await inDatabase((client) => client.query(swap, [id]));
  });

  test('cannot be read after their encryption key is destroyed, and the run fails with that reason', async () => {
    await inDatabase((client) => client.query(`DELETE FROM data_keys WHERE script_id = $1`, [id]));
    const { run_id: runId } = await product.run(id);
    expect((await product.untilFinished(runId)).failure_reason).toBe('sandbox_error');
    expect((await product.log(runId)).map(({ text }) => text)).toEqual([
      'The secret "CANARY" cannot be read: its data key was destroyed. Set it again.',
    ]);
  });
});

type Work<Result> = Parameters<typeof withClient<Result>>[1];

async function inDatabase<Result>(work: Work<Result>): Promise<Result> {
  const url = await readFile(join(product.dataDir, 'secrets', 'ORCH_DATABASE_URL'), 'utf8');
  return await withClient(url.trim(), work);
}

/** Returns the complete content of a backup, with all archives unpacked. */
async function partsOf(bytes: Buffer): Promise<readonly string[]> {
  const parts: string[] = [];
  for await (const { name, content } of readTar(Readable.from([bytes]))) {
    const part = await buffer(content);
    if (name.endsWith('.tar')) parts.push(...(await partsOf(part)));
    else parts.push((part[0] === 0x1f && part[1] === 0x8b ? gunzipSync(part) : part).toString());
  }
  return parts;
}

/** Lists the files in the data folder, including the PostgreSQL files, that contain any of the texts. */
async function filesWith(texts: readonly string[]): Promise<readonly string[]> {
  const patterns = texts.flatMap((text) => ['-e', text]);
  const grep = promisify(execFile)('grep', ['-rlaF', ...patterns, product.dataDir]);
  const { stdout } = await grep.catch((error: { code: number; stdout: string }) => {
    // grep exits with 1 if nothing matches.
    if (error.code !== 1) throw error;
    return error;
  });
  return stdout.split('\n').filter(Boolean);
}
