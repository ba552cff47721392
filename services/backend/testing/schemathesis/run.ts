/** Schemathesis: generates requests from the API description and compares the answers with it. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OptionalService } from '../../../../scripts/testing/optional-service.ts';

const program = resolve('.toolchain/schemathesis/bin/schemathesis');
const config = fileURLToPath(new URL('schemathesis.toml', import.meta.url));

/** As `.ci/run` installs it. */
export const schemathesis: OptionalService = {
  service: 'schemathesis',
  found: existsSync(program) ? program : undefined,
  reason:
    'run uv venv .toolchain/schemathesis && uv pip install --python .toolchain/schemathesis/bin/python schemathesis==4.32.5',
};

export interface Conformance {
  /** Requests that were sent. */
  readonly requests: number;
  /** What schemathesis says of each answer that is not as described; empty where all are. */
  readonly failures: string;
}

/** Asks every operation of a backend, as one caller.
 *  @param args of `schemathesis run`, such as the phases
 *  @param caller `TEST_TOKEN`, or `TEST_ACCOUNTS` as a JSON list of accounts to sign in with */
export async function conformance(
  origin: string,
  args: readonly string[],
  caller: Readonly<Record<string, string>>,
): Promise<Conformance> {
  const folder = await mkdtemp(join(tmpdir(), 'orch-schemathesis-'));
  try {
    const report = join(folder, 'report.ndjson');
    const all = ['--config-file', config, 'run', `${origin}/openapi.json`, '--no-color', ...args];
    all.push('--generation-deterministic', '--continue-on-failure', '--no-shrink');
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
    const requests = await countRequests(report);
    return { requests, failures: output.code === 0 ? '' : output.text };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function countRequests(report: string): Promise<number> {
  let requests = 0;
  for (const line of (await readFile(report, 'utf8')).split('\n')) {
    if (!line.startsWith('{"ScenarioFinished"')) continue;
    const { ScenarioFinished: scenario } = JSON.parse(line) as {
      ScenarioFinished: { recorder: { interactions?: object } };
    };
    requests += Object.keys(scenario.recorder.interactions ?? {}).length;
  }
  return requests;
}
