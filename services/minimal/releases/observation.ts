/** Decides whether a release that was started is well. The previous release does, by what it measures itself: the
 *  health of each service, restarts, and the output of a run. */
import { setTimeout as wait } from 'node:timers/promises';
import { answerTo, type Releases, type SelfCheck, type Switch } from '#services/shared/releases.ts';
import { isHealthy } from '../health.ts';

/** A service that is always up. */
export interface Watched {
  readonly name: string;
  /** Answers 200 while the service is healthy. */
  readonly url: string;
}

export interface Observation {
  /** Longest time until a release says that it is up. */
  readonly startPatienceMs: number;
  /** How long each service has to stay healthy. */
  readonly settleMs: number;
  /** Longest time that a service may be unhealthy for. */
  readonly unhealthyMs: number;
  /** How much longer than the window the self-check may take. */
  readonly selfCheckPatienceMs: number;
  /** Pause between two rounds of health checks. */
  readonly everyMs: number;
}

export const usualObservation: Observation = {
  startPatienceMs: 180_000,
  settleMs: 60_000,
  unhealthyMs: 10_000,
  selfCheckPatienceMs: 120_000,
  everyMs: 500,
};

/** A release that was started. */
export interface Observed {
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  /** Resolves when all its services are up. */
  readonly ready: Promise<void>;
  /** Resolves with a message when a service has exited on its own. */
  readonly restarted: Promise<string>;
}

export interface ObservationParts {
  readonly services: readonly Watched[];
  readonly releases: Releases;
  readonly observation: Observation;
}

/** Sandbox errors alone are a fault of the release from so many runs on: fewer may be of one script. */
const minSandboxErrors = 3;

/** Why a release is not well, a sentence; `undefined` where it is.
 *  @param wanted with a challenge where the release has to carry a run out
 *  @param signal ends the observation, which is a problem as well */
export async function problemOf(
  { exited, ready, restarted }: Observed,
  wanted: Switch,
  parts: ObservationParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { startPatienceMs } = parts.observation;
  const over = new AbortController();
  const ended = exited.then((code) => `it exited with code ${code}; see the logs`);
  const aborted = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve('it was asked to stop'), { once: true }),
  );
  const late = wait(startPatienceMs, 'it did not become ready in time', { signal: over.signal });
  try {
    const up = ready.then(() => undefined);
    const problem = await Promise.race([up, ended, late.catch(() => undefined), aborted]);
    if (problem !== undefined) return problem;
    return await Promise.race([restarted, ended, aborted, settle(wanted, parts, over.signal)]);
  } finally {
    over.abort();
  }
}

/** Watches the services for the window. @returns the first problem */
async function settle(
  wanted: Switch,
  { services, releases, observation }: ObservationParts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { settleMs, unhealthyMs, selfCheckPatienceMs, everyMs } = observation;
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
    if (check === 'pending' && nowMs - startedMs >= settleMs + selfCheckPatienceMs)
      return 'its self-check run did not finish; see the log of the backend';
    await wait(everyMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** @param isOver the window is: a self-check that waits behind other runs is then no obstacle, if those run */
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
