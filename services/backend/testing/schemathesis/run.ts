/** Runs Schemathesis, which generates requests from the API description and compares the responses with it. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OptionalService } from '../../../../scripts/testing/optional-service.ts';

const program = resolve('.toolchain/schemathesis/bin/schemathesis');
const config = fileURLToPath(new URL('schemathesis.toml', import.meta.url));

/** The Schemathesis installation that `.ci/run` creates. */
export const schemathesis: OptionalService = {
  service: 'schemathesis',
  found: existsSync(program) ? program : undefined,
  reason:
    'run uv venv .toolchain/schemathesis && uv pip install --python .toolchain/schemathesis/bin/python schemathesis==4.32.5',
};

/** The number of responses of each operation, by status; 0 means no response. */
export type Answers = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A line of the report. Only lines about requests have a `recorder`. */
interface Line {
  readonly recorder?: {
    readonly cases: Readonly<Record<string, { value: { method: string; path: string } }>>;
    readonly interactions: Readonly<Record<string, { response?: { status_code: number } }>>;
  };
}

export interface Conformance {
  readonly answers: Answers;
  /** The part of Schemathesis's report about responses that violate the description; empty if there are none. */
  readonly failures: string;
}

/** Sends requests to all operations of a backend, as one caller.
 *  @param description the API description, as JSON
 *  @param args the arguments of `schemathesis run`, such as the phases
 *  @param caller `TEST_TOKEN`, or `TEST_ACCOUNTS` as a JSON list of accounts to sign in with */
export async function conformance(
  origin: string,
  description: string,
  args: readonly string[],
  caller: Readonly<Record<string, string>>,
): Promise<Conformance> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-schemathesis-'));
  try {
    const report = join(folder, 'report.ndjson');
    const schema = join(folder, 'openapi.json');
    await writeFile(schema, description);
    const all = ['--config-file', config, 'run', schema, '--url', origin, '--no-color', ...args];
    all.push('--continue-on-failure', '--no-shrink');
    all.push('--report', 'ndjson', '--report-ndjson-path', report);
    const output = await new Promise<{ code: unknown; text: string }>((done) => {
      const env = {
        ...process.env,
        ...caller,
        TEST_ORIGIN: origin,
        PYTHONPATH: fileURLToPath(new URL('.', import.meta.url)),
        PYTHONDONTWRITEBYTECODE: '1',
      };
      const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 };
      execFile(program, all, options, (error, stdout, stderr) =>
        done({ code: error?.code ?? 0, text: `${stdout}${stderr}` }),
      );
    });
    const answers = await countAnswers(report);
    return { answers, failures: output.code === 0 ? '' : output.text };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Counts the response statuses of each operation, as `GET /path`. */
async function countAnswers(report: string): Promise<Answers> {
  const answers: Record<string, Record<string, number>> = {};
  for (const line of (await readFile(report, 'utf8')).split('\n')) {
    if (line === '') continue;
    const { recorder } = Object.values(JSON.parse(line) as Record<string, Line>)[0] ?? {};
    for (const [id, { response }] of Object.entries(recorder?.interactions ?? {})) {
      const { method, path } = recorder?.cases[id]?.value ?? {};
      if (method === undefined) continue;
      const counts = (answers[`${method} ${path}`] ??= {});
      const status = response?.status_code ?? 0;
      counts[status] = (counts[status] ?? 0) + 1;
    }
  }
  return answers;
}
