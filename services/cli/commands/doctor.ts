/** Finds problems with the command line and the platform. */
import { stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { foreignServer, isOfPlatform } from '#services/shared/api-client.ts';
import { sendRequest } from '#services/shared/http-request.ts';
import { version } from '#services/shared/version.ts';
import type { Command, Use } from '../command.ts';
import { explainNoResponse } from '../no-response.ts';
import { CommandProblem, exitCodes } from '../problem.ts';
import { profilesPath } from '../profiles.ts';
import type { Session } from '../session.ts';
import { printTable } from '../table.ts';

interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly detail: string;
}

const answerMs = 10_000;
const maxSkewMs = 30_000;
const maxLag = 1_000;
/** The share of used connections at which a warning is shown. */
const highShare = 0.8;
const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
const warning = (what: string, detail: string): Finding => ({ what, state: 'warning', detail });
const failed = (what: string, detail: string): Finding => ({ what, state: 'failed', detail });

export const doctor: Command = {
  name: 'doctor',
  arguments: '',
  summary: 'diagnose this machine and the server; exits with 1 if it finds a problem',
  examples: [
    ['doctor', 'look'],
    ['doctor -o json', 'for a program'],
  ],
  run: async (use) => {
    const findings = [await ownFile(use)];
    const session = await use.session().catch((error: unknown) => {
      if (!(error instanceof CommandProblem)) throw error;
      findings.push(failed('sign-in', error.message));
    });
    if (session !== undefined) findings.push(...(await serverFindings(session)));
    if (use.options.json) use.terminal.line(JSON.stringify(findings));
    printTable(
      use.options.json ? [] : findings,
      [
        { title: 'state', text: (row) => row.state },
        { title: 'check', text: (row) => row.what },
        { title: 'detail', text: (row) => row.detail },
      ],
      use.terminal,
    );
    return findings.some(({ state }) => state === 'failed') ? exitCodes.failed : exitCodes.done;
  },
};

async function ownFile({ environment }: Use): Promise<Finding> {
  const path = profilesPath(environment);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return ok('profiles', `${path} does not exist yet`);
  if ((found.mode & 0o077) === 0) return ok('profiles', path);
  return failed('profiles', `other users can read ${path}; run: chmod 600 ${path}`);
}

async function serverFindings(session: Session): Promise<readonly Finding[]> {
  const answer = await sendRequest(new URL('/readyz', session.url), {
    method: 'GET',
    headers: {},
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (answer instanceof Error) {
    return [failed('server', explainNoResponse(session.url, answer))];
  }
  if (!isOfPlatform(answer)) {
    answer.destroy();
    return [failed('server', foreignServer(session.url))];
  }
  const body = await text(answer)
    .then((json) => JSON.parse(json) as { readonly checks?: Readonly<Record<string, string>> })
    .catch(() => ({ checks: undefined }));
  return [
    ok('server', session.url),
    clockFinding(answer.headers.date),
    ...Object.entries(body.checks ?? {}).map(([name, text]) =>
      text === 'ok' ? ok(name, 'answers') : (text === 'degraded' ? warning : failed)(name, text),
    ),
    ...(await platformFindings(session)),
  ];
}

function clockFinding(date: string | undefined): Finding {
  const skewMs = date === undefined ? 0 : Date.now() - Date.parse(date);
  const seconds = Math.round(skewMs / 1000);
  if (Math.abs(skewMs) <= maxSkewMs) return ok('clock', 'in sync with the server');
  return warning(
    'clock',
    `the clock of this machine differs by ${seconds} s from the server's; synchronize it`,
  );
}

interface SystemInfo {
  readonly version: string;
  readonly edition: string;
  readonly services: readonly {
    readonly name: string;
    readonly id: string;
    readonly slots?: number;
    readonly layers?: readonly { readonly name: string; readonly available: boolean }[];
  }[];
  readonly triggers: { readonly paused: boolean };
  readonly projections: readonly { readonly name: string; readonly lag: number }[];
  readonly connections: {
    readonly open: number;
    readonly limit: number;
    readonly closed: Readonly<Record<string, number>>;
  };
  readonly query_gaps: number;
}

async function platformFindings({ api }: Session): Promise<readonly Finding[]> {
  const me = await api.call<{ email: string; role: string }>('GET', '/auth/me').then(
    ({ body }) => ok('sign-in', `${body.email}, ${body.role}`),
    (error: unknown) => failed('sign-in', error instanceof Error ? error.message : String(error)),
  );
  if (me.state === 'failed') return [me];
  const { body: info } = await api.call<SystemInfo>('GET', '/system/info');
  const behind = info.projections.filter(({ lag }) => lag > maxLag);
  const runtimes = info.services.filter(({ name }) => name === 'runtime');
  return [
    me,
    info.version === version
      ? ok('version', `${version}, ${info.edition} edition`)
      : warning(
          'version',
          `the server runs ${info.version} and this command is ${version}; use the same version`,
        ),
    runtimes.length === 0
      ? failed('runtimes', 'no runtime is connected, so runs stay queued; start one')
      : ok('runtimes', `${runtimes.length} connected, with ${slotsOf(runtimes)} slots in total`),
    ...runtimes.flatMap(layerFindings),
    behind.length === 0
      ? ok('read models', 'up to date')
      : warning(
          'read models',
          behind.map(({ name, lag }) => `${name} is ${lag} events behind`).join(', '),
        ),
    connectionFinding(info.connections),
    queryFinding(info.query_gaps),
    info.triggers.paused
      ? warning('triggers', 'triggers are paused: no automatic runs start')
      : ok('triggers', 'on'),
  ];
}

function connectionFinding({ open, limit, closed }: SystemInfo['connections']): Finding {
  const what = 'connections';
  const detail = `${open} of ${limit} are open`;
  const { limit: closedAtLimit = 0, address_limit: closedAtAddress = 0, refused = 0 } = closed;
  const lost = closedAtLimit + closedAtAddress + refused;
  if (lost > 0) {
    const advice = 'look for clients that keep connections open, or raise ORCH_MAX_CONNECTIONS';
    return warning(what, `${detail}; ${lost} were closed or rejected at a limit: ${advice}`);
  }
  return open > limit * highShare
    ? warning(what, `${detail}: raise ORCH_MAX_CONNECTIONS`)
    : ok(what, detail);
}

function queryFinding(gaps: number): Finding {
  if (gaps === 0) return ok('queries', 'restricted to allowed functions');
  const advice = 'run SELECT queries.confine() as a superuser of the database';
  return warning(
    'queries',
    `script queries can use ${gaps} functions or relations that are not allowed: ${advice}`,
  );
}

function slotsOf(runtimes: SystemInfo['services']): number {
  return runtimes.reduce((sum, { slots = 0 }) => sum + slots, 0);
}

function layerFindings({ id, layers = [] }: SystemInfo['services'][number]): readonly Finding[] {
  const missing = layers.filter(({ available }) => !available).map(({ name }) => name);
  return missing.length === 0
    ? []
    : [warning(`sandbox of ${id}`, `inactive: ${missing.join(', ')}`)];
}
