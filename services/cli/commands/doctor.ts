/** What may keep the command line, or the platform behind it, from doing its work. */
import { stat } from 'node:fs/promises';
import { version } from '#services/shared/version.ts';
import type { Command, Use } from '../command.ts';
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
/** Of all connections. */
const highShare = 0.8;
const ok = (what: string, detail: string): Finding => ({ what, state: 'ok', detail });
const warning = (what: string, detail: string): Finding => ({ what, state: 'warning', detail });
const failed = (what: string, detail: string): Finding => ({ what, state: 'failed', detail });

export const doctor: Command = {
  name: 'doctor',
  arguments: '',
  summary: 'look for what is wrong here and on the server; ends with 1 where something is',
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
        { title: 'what', text: (row) => row.what },
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
  if (found === undefined) return ok('profiles', `${path} is not there yet`);
  if ((found.mode & 0o077) === 0) return ok('profiles', path);
  return failed('profiles', `${path} can be read by others: chmod 600 ${path}`);
}

async function serverFindings(session: Session): Promise<readonly Finding[]> {
  const answer = await fetch(`${session.url}/readyz`, {
    signal: AbortSignal.timeout(answerMs),
  }).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  if (answer instanceof Error) {
    const { cause } = answer;
    const reason = cause instanceof Error ? cause.message : answer.message;
    return [failed('server', `${session.url} does not answer (${reason}). Is it running?`)];
  }
  const body = await answer.json().then(
    (json) => json as { readonly checks?: Readonly<Record<string, string>> },
    () => ({ checks: undefined }),
  );
  return [
    ok('server', session.url),
    clockFinding(answer.headers.get('Date')),
    ...Object.entries(body.checks ?? {}).map(([name, text]) =>
      text === 'ok' ? ok(name, 'answers') : (text === 'degraded' ? warning : failed)(name, text),
    ),
    ...(await platformFindings(session)),
  ];
}

function clockFinding(date: string | null): Finding {
  const skewMs = date === null ? 0 : Date.now() - Date.parse(date);
  const seconds = Math.round(skewMs / 1000);
  if (Math.abs(skewMs) <= maxSkewMs) return ok('clock', 'as the server has it');
  return warning('clock', `this machine is ${seconds} s off the server: set one of them right`);
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
      : warning('version', `the server has ${info.version}, this is ${version}: use the same`),
    runtimes.length === 0
      ? failed('runtimes', 'none is there, so that runs stay queued: start one')
      : ok('runtimes', `${runtimes.length}, which execute ${slotsOf(runtimes)} runs at once`),
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
      ? warning('triggers', 'paused: nothing starts by itself')
      : ok('triggers', 'on'),
  ];
}

function connectionFinding({ open, limit, closed }: SystemInfo['connections']): Finding {
  const what = 'connections';
  const detail = `${open} of ${limit} are open`;
  const { limit: closedAtLimit = 0, address_limit: closedAtAddress = 0, refused = 0 } = closed;
  const lost = closedAtLimit + closedAtAddress + refused;
  if (lost > 0) {
    const advice = 'look for clients that hold connections, or raise ORCH_MAX_CONNECTIONS';
    return warning(what, `${detail}; ${lost} were closed or refused at a limit: ${advice}`);
  }
  return open > limit * highShare
    ? warning(what, `${detail}: raise ORCH_MAX_CONNECTIONS`)
    : ok(what, detail);
}

function queryFinding(gaps: number): Finding {
  if (gaps === 0) return ok('queries', 'may call listed functions only');
  const advice = 'run SELECT queries.confine() as a superuser of the database';
  return warning(
    'queries',
    `${gaps} functions and relations are open to queries of scripts: ${advice}`,
  );
}

function slotsOf(runtimes: SystemInfo['services']): number {
  return runtimes.reduce((sum, { slots = 0 }) => sum + slots, 0);
}

function layerFindings({ id, layers = [] }: SystemInfo['services'][number]): readonly Finding[] {
  const missing = layers.filter(({ available }) => !available).map(({ name }) => name);
  return missing.length === 0
    ? []
    : [warning(`sandbox of ${id}`, `does without ${missing.join(', ')}`)];
}
