/** Starts the scheduler, which runs all background work. */
import type { EventType } from '#domain/aggregates.ts';
import type { ObjectStore } from '#domain/ports/objects.ts';
import { reactions } from '#domain/reactions/registry.ts';
import { HeadSigner } from '#infra/audit/head-signer.ts';
import { makeMarks, type Horizon } from '#infra/postgres/event-store/active-runs-at.ts';
import { openObjects } from '#services/shared/objects.ts';
import { purgeAnswers } from '#infra/postgres/commands/command-answers.ts';
import { Feeder, feederName, forgetFeeder } from '#infra/postgres/readers/feeder.ts';
import { storeChainedInput } from '#infra/postgres/event-store/chained-input.ts';
import { Projector } from '#infra/postgres/readers/projector.ts';
import { Reactor } from '#infra/postgres/readers/reactor.ts';
import { removeMissesOfDeleted } from '#infra/postgres/operations/webhook-misses.ts';
import { destroyUnusedDataKeys } from '#infra/secrets/data-keys.ts';
import { Vault } from '#infra/secrets/vault.ts';
import { Targets } from '#infra/outgoing/targets.ts';
import { removeOldDeliveries } from '#infra/postgres/queue/delivery-leases.ts';
import { removeOldNotices } from '#infra/postgres/operations/notice-removals.ts';
import { PostgresRunQueue } from '#infra/postgres/queue/run-queue.ts';
import { reactionReads } from '#projections/reaction-reads.ts';
import { asyncProjections } from '#projections/registry.ts';
import {
  objectStoreSettings,
  platformSettings,
  readConfig,
  masterKeys,
  type Settings,
} from '#services/shared/config.ts';
import { databaseProblem } from '#services/shared/database-health.ts';
import { whileClockIsRight } from '#services/shared/database-clock.ts';
import { startHealthServer } from '#services/shared/health-server.ts';
import { addRunEndMetric } from '#services/shared/process-metrics.ts';
import type { Running } from '#services/shared/lifecycle.ts';
import type { Logger } from '#services/shared/logger.ts';
import { startLoop, type Loop, type LoopOptions } from '#services/shared/loop.ts';
import { openPlatform, type Platform } from '#services/shared/platform.ts';
import { purgeScripts } from './housekeeping/purges.ts';
import { removeOutdated } from './housekeeping/retention.ts';
import { DeliverySender } from './deliveries/sender.ts';
import { expireApprovals } from './approvals.ts';
import { checkExpectations } from './expectations.ts';
import { checkRotations } from './rotations.ts';
import { AlarmWatch } from './alarm-watch.ts';
import { keepBotsAlive } from './keep-alive.ts';
import { startBackups } from './backups/start.ts';
import { signNewestEntry } from './audit-heads.ts';
import { endLostRuns } from './lost-runs.ts';
import { schedulerMetrics } from './metrics.ts';
import { lagProblem } from './reader-lag.ts';
import { serveDueSchedules } from './schedules/due-schedules.ts';
import { msUntilDue } from './schedules/ms-until-due.ts';
import { endExpiredRuns, releaseWaitingRuns } from './waiting-runs.ts';

const pollMs = 1_000;
/** The delay between a commit and the jobs that it wakes, because every commit wakes all jobs. Commits during the delay
 *  are processed together, and a run that the commit queued can start first. */
const gatherMs = 40;
/** The minimum time between two rounds of work that no caller waits for. Frequent events then share a round, while a
 *  single event is processed immediately. */
const apartMs = 200;
const housekeepingMs = 10 * 60_000;
const alarmsMs = 60_000;
const expectationsMs = 5_000;
const rotationsMs = 30_000;
const dataKeysPerRound = 1_000;
const purgeMs = 60_000;
const headsMs = 5 * 60_000;
const marksMs = 10_000;
const answersKeptMs = 24 * 60 * 60_000;
const deliveriesKeptMs = 30 * 24 * 60 * 60_000;
const noticesKeptMs = 90 * 24 * 60 * 60_000;
const noticesPerRound = 1_000;

/** Events that may permit waiting runs to be released. In addition, a check every second releases runs that are due. */
const mayRun: readonly EventType[] = ['ScriptEnabled', 'ScriptRestored', 'TriggersResumed'];
const saves: readonly EventType[] = [
  'ScriptCreated',
  'ScriptChanged',
  'FileSaved',
  'FileDeleted',
  'FileMoved',
  'FilesRestored',
];

/** Starts all background work. @param signal aborts waiting for an unavailable database */
export async function startScheduler(signal: AbortSignal, logger: Logger): Promise<Running> {
  const config = readConfig([
    ...platformSettings,
    'auditKey',
    'secretMasterKey',
    'secretMasterKeyOther',
    'allowPrivateTargets',
    'publicUrl',
    'backupKey',
    'dataDir',
    'edition',
    'bind',
    'schedulerHealthPort',
    ...objectStoreSettings,
  ]);
  const platform = await openPlatform({
    ...config,
    name: 'scheduler',
    connections: 6,
    logger,
    signal,
  });
  const signer = new HeadSigner(config.auditKey);
  const objects = await openObjects(config, logger);
  const folder = config.objectsUrl === undefined ? config.objectsDir : undefined;
  const duties = [
    ...startDuties(platform, objects, signer, logger),
    startAlarms(platform, folder, logger),
    startBackups(platform, objects, config, logger),
    startSending(platform, config, logger),
    ...(await startFeeding(platform, logger)),
  ];
  const { pool } = platform.database;
  const watched = {
    database: pool,
    reads: platform.reads,
    clock: platform.clock,
    folder,
  };
  const isBusUp = () => platform.bus.problem === undefined;
  const metrics = schedulerMetrics(watched, platform.clock, isBusUp);
  addRunEndMetric(metrics, platform.runEnds);
  platform.exportMetrics(metrics);
  const health = await startHealthServer({
    host: config.bind,
    port: config.schedulerHealthPort,
    name: 'scheduler',
    problem: async () =>
      platform.clock.problem ??
      (await databaseProblem(pool)) ??
      (await lagProblem(pool, process.uptime())),
    degraded: () => platform.bus.problem ?? platform.feed?.problem,
    metrics,
  });
  return {
    stop: async () => {
      await health.close();
      await Promise.all(duties.map((duty) => duty.stop()));
      await platform.close();
    },
  };
}

function startAlarms(
  { database, reads, clock, commands, ids }: Platform,
  folder: string | undefined,
  logger: Logger,
): Loop {
  const watch = new AlarmWatch({ database: database.pool, reads, clock, commands, ids, folder });
  const runOnce = () => watch.runOnce();
  return startLoop({ name: 'alarms', everyMs: alarmsMs, logger, runOnce });
}

function startDuties(platform: Platform, objects: ObjectStore, signer: HeadSigner, logger: Logger) {
  const { database, reads, bus, commands, ids, clock } = platform;
  const { pool } = database;
  let horizon: Horizon | undefined;
  const queue = new PostgresRunQueue(pool);
  const projector = new Projector(pool, asyncProjections);
  const reactor = new Reactor({
    pool,
    commands,
    ids,
    reactions,
    reads: reactionReads(reads, (runId) => storeChainedInput(pool, runId)),
  });
  const duty = (name: string, everyMs: number, runOnce: LoopOptions['runOnce']) =>
    startLoop({ name, everyMs, gatherMs, logger, runOnce: whileClockIsRight(clock, runOnce) });
  const unhurried = (name: string, runOnce: LoopOptions['runOnce']) =>
    startLoop({ name, everyMs: pollMs, gatherMs, apartMs, logger, runOnce });
  const projecting = unhurried('projector', async (signal) => {
    await projector.runOnce(signal);
  });
  const reacting = duty('reactor', pollMs, async (signal) => {
    await reactor.runOnce(signal);
  });
  const waiting = { reads, queue, commands, ids };
  const timed = { reads, commands, ids, clock };
  const removableSince = new Map<string, string>();
  const purging = duty('purges', purgeMs, (signal) =>
    purgeScripts({ database: pool, objects, commands, ids, removableSince }, signal),
  );
  const releasing = duty('waiting runs', pollMs, () => releaseWaitingRuns(waiting));
  const keeping = unhurried(
    'bots',
    whileClockIsRight(clock, () => keepBotsAlive(timed)),
  );
  const scheduling = duty('schedules', pollMs, async () => {
    const now = clock.now();
    const isMore = await serveDueSchedules({ reads, commands, ids }, now);
    return isMore || { inMs: await msUntilDue({ reads, clock }, now) };
  });
  const checking = (name: string, everyMs: number, runOnce: LoopOptions['runOnce']) =>
    startLoop({
      name,
      everyMs,
      gatherMs,
      apartMs,
      logger,
      runOnce: whileClockIsRight(clock, runOnce),
    });
  const expecting = checking('expectations', expectationsMs, () => checkExpectations(timed));
  const rotating = checking('rotations', rotationsMs, () => checkRotations(timed));
  const wakeOn = (types: readonly EventType[], loop: Loop) =>
    bus.subscribe('events', (recorded) => {
      if (recorded.types === undefined || types.some((type) => recorded.types?.includes(type))) {
        loop.wake();
      }
    });
  wakeOn(handledBy(asyncProjections), projecting);
  wakeOn(handledBy(reactions), reacting);
  wakeOn(
    [...mayRun, 'RunFinished', 'RunApproved', 'ScriptChanged', 'PoolChanged', 'PoolDeleted'],
    releasing,
  );
  wakeOn([...mayRun, ...saves, 'RunFinished'], keeping);
  wakeOn([...mayRun, 'ScheduleCreated', 'ScheduleChanged'], scheduling);
  wakeOn(['ScriptPurged'], purging);
  wakeOn(['ScriptChanged', 'ScriptDisabled', 'ScriptDeleted'], expecting);
  wakeOn(['SecretSet', 'SecretDeleted', 'GroupSecretSet', 'GroupSecretDeleted'], rotating);
  bus.subscribe('reload', () => scheduling.wake());
  return [
    projecting,
    reacting,
    releasing,
    keeping,
    scheduling,
    duty('expired runs', pollMs, () => endExpiredRuns(waiting)),
    duty('expired approvals', pollMs, () => expireApprovals(timed)),
    duty('lost runs', pollMs, () => endLostRuns({ queue, commands, ids, logger })),
    purging,
    expecting,
    rotating,
    duty('unused data keys', housekeepingMs, () => destroyUnusedDataKeys(pool, dataKeysPerRound)),
    duty('retention', housekeepingMs, (signal) =>
      removeOutdated({ database: pool, reads, objects, clock }, signal),
    ),
    duty('replay marks', marksMs, async (signal) => {
      horizon = await makeMarks(pool, horizon, signal);
    }),
    duty('audit heads', headsMs, () => signNewestEntry(pool, signer, clock.now())),
    duty('old notices', housekeepingMs, () =>
      removeOldNotices(pool, new Date(clock.now().getTime() - noticesKeptMs), noticesPerRound),
    ),
    duty('old deliveries', housekeepingMs, () =>
      removeOldDeliveries(
        pool,
        new Date(clock.now().getTime() - deliveriesKeptMs),
        noticesPerRound,
      ),
    ),
    duty('housekeeping', housekeepingMs, async () => {
      await purgeAnswers(pool, new Date(clock.now().getTime() - answersKeptMs));
      await removeMissesOfDeleted(pool);
    }),
  ];
}

/** Starts the sender of notification deliveries. */
function startSending(
  { database, reads, bus, commands, ids, clock }: Platform,
  config: Pick<
    Settings,
    'secretMasterKey' | 'secretMasterKeyOther' | 'allowPrivateTargets' | 'publicUrl'
  >,
  logger: Logger,
): Pick<Loop, 'stop'> {
  const { pool } = database;
  const sender = new DeliverySender({
    database: pool,
    reads,
    commands,
    ids,
    clock,
    vault: new Vault(pool, masterKeys(config), ids),
    targets: new Targets(config.allowPrivateTargets),
    publicUrl: config.publicUrl,
    logger,
  });
  const sending = startLoop({
    name: 'deliveries',
    everyMs: pollMs,
    gatherMs,
    logger,
    runOnce: whileClockIsRight(clock, () => sender.runOnce(() => sending.wake())),
  });
  bus.subscribe('events', ({ types }) => {
    if (types === undefined || types.includes('DeliveryQueued')) sending.wake();
  });
  return {
    stop: async () => {
      await sending.stop();
      await sender.stop();
    },
  };
}

function handledBy(readers: readonly { readonly handles: readonly EventType[] }[]) {
  return [...new Set(readers.flatMap(({ handles }) => handles))];
}

/** Feeds events to external programs, if an event feed is configured. */
async function startFeeding({ database, feed, bus }: Platform, logger: Logger) {
  if (feed === undefined) {
    await forgetFeeder(database.pool);
    return [];
  }
  const feeder = await Feeder.open(database.pool, feed);
  const runOnce = (signal: AbortSignal) => feeder.runOnce(signal);
  const feeding = startLoop({ name: feederName, everyMs: pollMs, gatherMs, logger, runOnce });
  bus.subscribe('events', () => feeding.wake());
  return [feeding];
}
