/** Runs load and faults for some time, observes the platform from outside, and then checks the results. */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '#services/minimal/testing/product.ts';
import { Edition } from './edition.ts';
import { faultsFor, type Fault } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Subject } from './subject.ts';
import { startObserver } from './observer.ts';

/** The lease is short, so that a run is retried soon after its runtime is lost. */
export const quickVariables = { ORCH_LEASE_SECONDS: '8', ORCH_RUNTIME_SLOTS: '4' };
const scriptCount = 4;
/** The pause between two faults. */
const pauseMs = 3_000;

export interface SoakOptions extends LoadOptions {
  readonly dataDir: string;
  /** Whether the data is on a separate small file system, which a fault may fill. */
  readonly isSmallDisk: boolean;
  readonly only?: (fault: Fault) => boolean;
}

export interface LoadOptions {
  readonly journal: Journal;
  /** How long to cause faults. Each fault is caused in turn, at least once. */
  readonly durationMs: number;
  /** Called after each fault. Receives the time from the end of the fault until runs ended again, and until every
   *  service was healthy. */
  readonly onRecovered: (fault: string, recoveryMs: number, healthyMs: number) => void;
}

/** Tests the minimal edition, and writes all observations to the journal. */
export async function soak(options: SoakOptions): Promise<void> {
  const { dataDir, isSmallDisk, only = () => true } = options;
  const faults = faultsFor(isSmallDisk ? dataDir : undefined).filter(only);
  await soakSubject(await Edition.start(dataDir, quickVariables), faults, options);
}

/** Runs load and faults against a platform, and writes all observations to the journal. Then stops the platform. */
export async function soakSubject<Platform extends Subject>(
  subject: Platform,
  faults: readonly Fault<Platform>[],
  options: LoadOptions,
): Promise<void> {
  const { journal } = options;
  const observer = await startObserver(journal);
  try {
    const scripts = await makeScripts(subject, observer.source);
    const over = new AbortController();
    const load = Promise.all(
      scripts.map((script) => keepBusy(subject, script, journal, over.signal)),
    );
    const striking = inflictAll(subject, faults, options);
    try {
      // If a client gives up, the session is aborted. The platform then stops, so the remaining faults fail.
      await Promise.race([striking, load]);
    } catch (error) {
      striking.catch(() => undefined);
      throw error;
    } finally {
      over.abort();
    }
    await load;
    await noteFinals(subject, journal);
    await noteKept(subject, scripts, journal);
  } finally {
    await subject.stop();
    observer.close();
  }
}

async function makeScripts(subject: Subject, source: string): Promise<readonly string[]> {
  const scripts: string[] = [];
  for (let number = 1; number <= scriptCount; number += 1) {
    const settings = { max_concurrent_runs: 1, retry: { max_attempts: 5, backoff_seconds: 0.1 } };
    const body = { name: `Witnessed ${number}`, ...settings };
    const { id } = await subject.requestReliably<{ id: string }>(
      'POST',
      '/scripts',
      body,
      randomUUID(),
    );
    const file = { content: source, encoding: 'utf-8' };
    await subject.requestReliably('PUT', `/scripts/${id}/files/main.py`, file);
    scripts.push(id);
  }
  return scripts;
}

/** Requests one run after another, and saves a file from time to time. */
async function keepBusy(
  subject: Subject,
  script: string,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  for (let number = 1; !signal.aborted; number += 1) {
    const { run_id: run } = await subject.requestReliably<{ run_id: string }>(
      'POST',
      `/runs/scripts/${script}/run`,
      { when_busy: 'queue' },
      randomUUID(),
    );
    journal.note({ what: 'accepted', run, script });
    if (number % 5 === 0) {
      const content = `version ${number}`;
      await subject.requestReliably('PUT', `/scripts/${script}/files/note.txt`, {
        content,
        encoding: 'utf-8',
      });
      journal.note({ what: 'saved', script, content });
    }
    await wait(700);
  }
}

async function inflictAll<Platform extends Subject>(
  subject: Platform,
  faults: readonly Fault<Platform>[],
  { durationMs, journal, onRecovered }: LoadOptions,
): Promise<void> {
  const endMs = performance.now() + durationMs;
  for (let number = 0; number < faults.length || performance.now() < endMs; number += 1) {
    const fault = faults[number % faults.length];
    if (fault === undefined) return;
    await wait(pauseMs);
    journal.note({ what: 'fault', fault: fault.name });
    await fault.inflict(subject);
    const startMs = performance.now();
    const before = endsIn(journal);
    await until(`runs end again after: ${fault.name}`, async () => {
      await wait(50);
      return endsIn(journal) > before ? true : undefined;
    });
    const recoveryMs = performance.now() - startMs;
    await subject.untilHealthy();
    journal.note({ what: 'recovered', fault: fault.name });
    onRecovered(fault.name, recoveryMs, performance.now() - startMs);
    await fault.repair?.(subject);
  }
}

function endsIn(journal: Journal): number {
  return journal.read().filter(({ what }) => what === 'ended').length;
}

interface RunPage {
  readonly items: readonly {
    readonly run_id: string;
    readonly script_id: string;
    readonly status: string;
    readonly failure_reason: string | null;
    readonly parent_run_id: string | null;
    readonly trigger_type: string;
  }[];
  readonly next_cursor: string | null;
}

/**
 * Waits until no run is active, or until the number of active runs stops decreasing. Then records the final state of
 * all runs.
 */
async function noteFinals(subject: Subject, journal: Journal): Promise<void> {
  for (let left = Infinity, attemptsLeft = 60; left > 0 && attemptsLeft > 0; attemptsLeft -= 1) {
    const pages = await Promise.all(
      ['queued', 'running'].map((status) =>
        subject.requestReliably<RunPage>('GET', `/runs?status=${status}&limit=200`),
      ),
    );
    const now = pages.reduce((sum, { items }) => sum + items.length, 0);
    if (now < left) attemptsLeft = 60;
    left = now;
    if (left > 0) await wait(500);
  }
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: RunPage = await subject.requestReliably('GET', `/runs?limit=200${after}`);
    for (const run of page.items) {
      journal.note({
        what: 'final',
        run: run.run_id,
        script: run.script_id,
        status: run.status,
        reason: run.failure_reason,
        retryOf: run.trigger_type === 'retry' ? run.parent_run_id : null,
      });
    }
    cursor = page.next_cursor;
  }
}

async function noteKept(
  subject: Subject,
  scripts: readonly string[],
  journal: Journal,
): Promise<void> {
  const saved = new Set(
    journal.read().flatMap((one) => (one.what === 'saved' ? [one.script] : [])),
  );
  for (const script of scripts.filter((one) => saved.has(one))) {
    const content = await subject.requestTextReliably('GET', `/scripts/${script}/files/note.txt`);
    journal.note({ what: 'kept', script, content });
  }
}
