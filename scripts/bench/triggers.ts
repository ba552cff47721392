/** Measures the triggers of runs: webhook calls and due schedules. */
import { performance } from 'node:perf_hooks';
import type { PlatformEvent, Recorded } from '#domain/aggregates.ts';
import type { StreamId } from '#domain/kernel/event.ts';
import { mustParse, parseScheduleId, parseScriptId } from '#domain/kernel/ids.ts';
import { groupId } from '#domain/testing/ids.ts';
import { createSchedule, hourly, scriptCreated } from '#domain/testing/samples.ts';
import { newEvent } from '#infra/conformance/event-store.ts';
import { inTransaction, queryBuilderOn } from '#infra/postgres/database.ts';
import { appendEvents } from '#infra/postgres/event-store/event-store.ts';
import { systemIds } from '#infra/system/ids.ts';
import { applyAll, type ReadModels } from '#projections/projection.ts';
import { nextDueAt } from '#projections/schedules/due.ts';
import { findSchedule } from '#projections/schedules/queries.ts';
import { schedulesProjection } from '#projections/schedules/apply.ts';
import { scriptsProjection } from '#projections/scripts/apply.ts';
import { Product } from '#services/minimal/testing/product.ts';
import { serveDueSchedules } from '#services/scheduler/schedules/due-schedules.ts';
import type pg from 'pg';
import { onDatabase, platformOn, type BenchDatabase } from './database.ts';
import { clients, postsPerSecond, withEcho } from './posts.ts';
import { median, row } from './report.ts';
import { busyScripts, stopAll } from './requests.ts';

const rounds = 5;
const idle = 100_000;
const due = 10_000;
const looks = 200;
const schedulesAtOnce = 500;
const hourMs = 3_600_000;

export async function benchTriggers(): Promise<void> {
  await benchWebhooks();
  await onDatabase(benchSchedules);
}

/** Measures webhook calls per second, compared with an echo through the same HTTP code. */
async function benchWebhooks(): Promise<void> {
  const product = await Product.start({ variables: { ORCH_RUNTIME_SLOTS: '0' } });
  try {
    const scripts = await busyScripts(product);
    const tokens = await Promise.all(
      scripts.map(async (id) => {
        const body = { script_id: id, rate_limit_per_minute: 6000 };
        return (await product.call<{ token: string }>('POST', '/webhooks', body)).token;
      }),
    );
    const hooks = (client: number) => `${product.baseUrl}/hooks/${tokens[client]}`;
    await withEcho(async (origin) => {
      const rates = { ours: [] as number[], same: [] as number[] };
      for (let round = 0; round <= rounds; round += 1) {
        rates.same.push(await postsPerSecond(() => `${origin}/api/v1/echo`, {}));
        rates.ours.push(await postsPerSecond(hooks, {}));
        await stopAll(product, scripts);
      }
      // The first round is a warm-up.
      const ratio = median(rates.ours.map((rate, at) => rate / (rates.same[at] ?? 1)).slice(1));
      row(
        `webhook calls per second, ${clients} clients / an echo on the same server`,
        `${ratio.toFixed(2)} (${median(rates.ours).toFixed(0)}/s / ${median(rates.same).toFixed(0)}/s)`,
        '–',
      );
    });
  } finally {
    await product.stop();
    await product.remove();
  }
}

/** Measures the cost of a check while no schedule is due. Also measures how long it takes to start the runs of all
 *  schedules that are due at the same time. */
async function benchSchedules(database: BenchDatabase): Promise<void> {
  const platform = await platformOn(database, 4);
  try {
    const pool = database.open(2);
    // A full hour, when hourly schedules are due.
    const dueAt = new Date(Math.ceil(Date.now() / hourMs + 1) * hourMs);
    await makeSchedules(pool, idle, new Date(dueAt.getTime() + 24 * hourMs));
    await makeSchedules(pool, due, dueAt);
    await pool.query('ANALYZE');
    const { reads, commands, ids } = platform;
    const look = async (now: Date) => {
      await serveDueSchedules({ reads, commands, ids }, now);
      await nextDueAt(reads, now);
    };
    const now = new Date();
    const ours = await medianMs(() => look(now));
    const theirs = await medianMs(() =>
      findSchedule(reads, mustParse(parseScheduleId, ids.next())),
    );
    row(
      `a look at ${idle.toLocaleString('en')} idle schedules / a lookup by key`,
      `${(ours / theirs).toFixed(1)} (${ours.toFixed(2)} ms / ${theirs.toFixed(2)} ms)`,
      '–',
    );
    const startedAt = performance.now();
    let roundsNeeded = 1;
    while (await serveDueSchedules({ reads, commands, ids }, dueAt)) roundsNeeded += 1;
    const seconds = (performance.now() - startedAt) / 1000;
    const { rows } = await pool.query<{ fired: number }>(
      `SELECT count(*) AS fired FROM schedule_occurrences WHERE outcome = 'fired'`,
    );
    row(
      `${due.toLocaleString('en')} schedules due in one second, until all have fired`,
      `${seconds.toFixed(1)} s (${rows[0]?.fired} in ${roundsNeeded} rounds)`,
      '≤ 5 s',
    );
  } finally {
    await platform.close();
  }
}

/**
 * Creates hourly schedules that start at a given time, each for a separate script. Writes the events directly to the
 * event store.
 */
async function makeSchedules(pool: pg.Pool, count: number, from: Date): Promise<void> {
  const definition = { ...hourly, startAt: from.toISOString() };
  for (let done = 0; done < count; done += schedulesAtOnce) {
    const appends = Array.from({ length: Math.min(schedulesAtOnce, count - done) }, () => {
      const scriptId = mustParse(parseScriptId, systemIds.next());
      const scheduleId = mustParse(parseScheduleId, systemIds.next());
      const { type: _, ...data } = createSchedule({ scheduleId, scriptId, definition });
      return [
        appendOf(`script-${scriptId}`, scriptCreated({ scriptId, groupId: groupId() })),
        appendOf(`schedule-${scheduleId}`, { type: 'ScheduleCreated', data }),
      ];
    }).flat();
    await inTransaction(pool, async (client) => {
      const events = (await appendEvents(client, appends, new Date())) as readonly Recorded[];
      const db = queryBuilderOn<never>(client) as unknown as ReadModels;
      await applyAll([scriptsProjection, schedulesProjection], db, events);
    });
  }
}

function appendOf(streamId: StreamId, { type, data }: PlatformEvent) {
  return { streamId, expectedVersion: 0, events: [newEvent(type, data)] };
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const timesMs: number[] = [];
  for (let turn = 0; turn < looks; turn += 1) {
    const startedAt = performance.now();
    await work();
    timesMs.push(performance.now() - startedAt);
  }
  return median(timesMs);
}
