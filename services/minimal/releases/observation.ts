/** Decides whether a started release is healthy. This code belongs to the previous release, and relies on its own
 *  measurements: service health, restarts, and the output of a run. */
import { setTimeout as wait } from 'node:timers/promises';
import { answerTo, type Releases, type SelfCheck, type Switch } from '#services/shared/releases.ts';
import { isHealthy } from '../health.ts';

/** A long-running service whose health is observed after an update. */
export interface Watched {
  readonly name: string;
  /** The URL that returns 200 while the service is healthy. */
  readonly url: string;
}

export interface Observation {
  /** How long a release may take to report that it is up. */
  readonly startTimeoutMs: number;
  /** How long the services are observed. */
  readonly settleMs: number;
  /** The maximum continuous time that a service may be unhealthy. */
  readonly unhealthyMs: number;
  /** How long the self-check may continue after the observation of the services. */
  readonly selfCheckTimeoutMs: number;
  /** The pause between two rounds of health checks. */
  readonly everyMs: number;
}

export const defaultObservation: Observation = {
  startTimeoutMs: 180_000,
  settleMs: 60_000,
  unhealthyMs: 10_000,
  selfCheckTimeoutMs: 120_000,
  everyMs: 500,
};

/** A release that was started. */
export interface Observed {
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  /** Resolves when all services of the release are up. */
  readonly ready: Promise<void>;
  /** Resolves with a message when a service has exited on its own. */
  readonly restarted: Promise<string>;
}

export interface ObservationDeps {
  readonly services: readonly Watched[];
  readonly releases: Releases;
  readonly observation: Observation;
}

/**
 * A release is unhealthy if all its runs, and at least this many, fail with a sandbox error. Fewer failures could be
 * caused by a single script.
 */
const minSandboxErrors = 3;

/** Observes a release.
 *  @param wanted the switch. If it has a challenge, the release must execute a run
 *  @param signal aborts the observation, which counts as a problem
 *  @returns why the release is unhealthy, as a sentence, or `undefined` if it is healthy */
export async function problemOf(
  { exited, ready, restarted }: Observed,
  wanted: Switch,
  deps: ObservationDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { startTimeoutMs } = deps.observation;
  const over = new AbortController();
  const ended = exited.then((code) => `it exited with code ${code}; see the logs`);
  const aborted = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve('it was asked to stop'), { once: true }),
  );
  const late = wait(startTimeoutMs, 'it did not become ready in time', { signal: over.signal });
  try {
    const up = ready.then(() => undefined);
    const problem = await Promise.race([up, ended, late.catch(() => undefined), aborted]);
    if (problem !== undefined) return problem;
    return await Promise.race([restarted, ended, aborted, settle(wanted, deps, over.signal)]);
  } finally {
    over.abort();
  }
}

/** Watches the services and the self-check.
 *  @returns the first problem, if any */
async function settle(
  wanted: Switch,
  { services, releases, observation }: ObservationDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { settleMs, unhealthyMs, selfCheckTimeoutMs, everyMs } = observation;
  const startedMs = performance.now();
  const healthyMs = new Map(services.map(({ name }) => [name, startedMs]));
  while (!signal.aborted) {
    const states = await Promise.all(services.map(({ url }) => isHealthy(url)));
    const nowMs = performance.now();
    for (const [index, { name }] of services.entries()) {
      if (states[index] === true) healthyMs.set(name, nowMs);
      else if (nowMs - (healthyMs.get(name) ?? startedMs) >= unhealthyMs)
        return `the ${name} failed its health check for ${unhealthyMs / 1000} s; see its log`;
    }
    const isOver = nowMs - startedMs >= settleMs;
    const check = selfCheckState(wanted, releases.read('self-check'), isOver);
    if (typeof check === 'object') return check.problem;
    if (isOver && check === 'passed' && states.every(Boolean)) return undefined;
    if (check === 'pending' && nowMs - startedMs >= settleMs + selfCheckTimeoutMs)
      return 'its self-check run did not finish; see the log of the backend';
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** Returns the state of the self-check.
 *  @param isOver whether the observation of the services is over. A self-check that is still waiting for other runs
 *  then counts as passed */
function selfCheckState(
  { updateId, challenge }: Switch,
  found: SelfCheck | undefined,
  isOver: boolean,
): 'passed' | 'pending' | { readonly problem: string } {
  if (challenge === undefined) return 'passed';
  if (found?.updateId !== updateId) return 'pending';
  const { status, answer, failure, others } = found;
  if (others.sandboxErrors >= minSandboxErrors && others.sandboxErrors === others.ended)
    return { problem: `all ${others.ended} runs failed with sandbox_error` };
  switch (status) {
    case 'queued':
      return isOver && others.started > others.sandboxErrors ? 'passed' : 'pending';
    case 'running':
      return 'pending';
    case 'success':
      if (answer === answerTo(challenge)) return 'passed';
      return { problem: 'its self-check run returned the wrong output' };
    case 'failed':
    case 'stopped':
      return { problem: `its self-check run ended with ${failure ?? status}` };
  }
}
