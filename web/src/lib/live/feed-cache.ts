import type { QueryClient, QueryKey } from '@tanstack/svelte-query';
import type { FeedFrame, ListedScript, Run, Script } from '#lib/api/types.ts';
import type { RunFilter } from '#lib/runs/api.ts';
import type { VersionedScript } from '#lib/scripts/api.ts';
import { hasItem, matches, withItem, withoutItem, type Pages } from './live-pages.ts';
import type { LivePorts } from './live-socket.ts';
import { withRuns } from './recent-runs.ts';

/** Frames that follow closely are one change of what is shown. */
const gatherMs = 50;
/** A list that cannot be kept up by frames is asked for again no more often than this. */
const refreshEveryMs = 2000;
/** What is told by name alone is asked for this soon, once for all that is told until then. */
const askSoonMs = 300;
/** The lists of what is told by name alone. */
const namedKeys: Record<ChangedFrame['resource'], (frame: ChangedFrame) => QueryKey[]> = {
  schedule: ({ id }) => [
    ['schedules'],
    ['schedule', id],
    ['occurrences', id],
    ['scripts'],
    ['dashboard', 'now'],
    ['dashboard', 'fires'],
  ],
  webhook: ({ id, script_id }) => [
    ['webhooks', script_id],
    ['deliveries', id],
  ],
  chain: ({ id }) => [['chains'], ['chain-answers', id]],
  secrets: ({ script_id }) => [['secrets', script_id]],
  notification: () => [['notifications']],
  user: () => [['users']],
  system: () => [['system'], ['retention']],
};
const shownKeys: QueryKey[] = [
  'runs',
  'error-groups',
  'script-runs',
  'scripts',
  'script',
  'schedules',
  'schedule',
  'occurrences',
  'webhooks',
  'deliveries',
  'chains',
  'chain-answers',
  'secrets',
  'notifications',
  'users',
  'groups',
  'system',
  'retention',
  'audit',
  'dashboard',
].map((name) => [name]);

type ChangedFrame = Extract<FeedFrame, { type: 'changed' }>;

const runId = (run: Run): string => run.run_id;
const scriptId = (script: Script): string => script.id;

/** Keeps what the pages show up to date by the frames of `/ws`, without asking the server. */
export class FeedCache {
  readonly #client: QueryClient;
  readonly #clock: Pick<LivePorts, 'after'>;
  readonly #runs = new Map<string, Run>();
  readonly #scripts = new Map<string, Script | null>();
  readonly #refreshing = new Set<string>();
  #gathering = false;
  /** Up to where the server has told. */
  #position = 0;

  constructor(client: QueryClient, clock: Pick<LivePorts, 'after'>) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Takes a frame; what it changes is shown a moment later. */
  take(frame: FeedFrame): void {
    this.#refreshTrail(frame);
    switch (frame.type) {
      case 'resync':
        return this.#refreshAll();
      case 'status':
        this.#runs.set(frame.run.run_id, frame.run);
        return this.#gather();
      case 'script':
        this.#scripts.set(frame.script.id, frame.script);
        return this.#gather();
      case 'script_deleted':
        this.#scripts.set(frame.script_id, null);
        return this.#gather();
      case 'changed':
        return this.#refreshNamed(frame);
      case 'heartbeat':
        break;
    }
  }

  /** Whatever happens is in the audit trail: what a frame tells, and what only moves the position of the signs of
   *  life. Who has gone back in it is not made to read all its pages again. */
  #refreshTrail(frame: FeedFrame): void {
    if (frame.type === 'heartbeat' && frame.position <= this.#position) return;
    if ('position' in frame) this.#position = frame.position;
    for (const [queryKey, data] of this.#client.getQueriesData<Pages<unknown>>({
      queryKey: ['audit'],
    })) {
      if (data?.pages.length === 1) this.#refresh({ queryKey, exact: true }, refreshEveryMs);
    }
  }

  #refreshAll(): void {
    this.#runs.clear();
    this.#scripts.clear();
    for (const queryKey of shownKeys) void this.#client.invalidateQueries({ queryKey });
  }

  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    this.#clock.after(gatherMs, () => {
      this.#gathering = false;
      const [runs, scripts] = [[...this.#runs.values()], [...this.#scripts]];
      this.#runs.clear();
      this.#scripts.clear();
      if (runs.length > 0) this.#showRuns(runs);
      if (scripts.length > 0) this.#showScripts(scripts);
    });
  }

  #showRuns(runs: readonly Run[]): void {
    const present = ['dashboard', 'now'];
    if (this.#client.getQueryData(present) !== undefined) {
      this.#refresh({ queryKey: present }, refreshEveryMs);
    }
    if (runs.some((run) => run.error_group_id)) {
      this.#refresh({ queryKey: ['error-groups'] }, refreshEveryMs);
    }
    for (const [key] of this.#client.getQueriesData<Pages<Run>>({ queryKey: ['runs'] })) {
      this.#change<Pages<Run>>(key, (data) =>
        runs.reduce((pages, run) => this.#withRun(pages, run, key), data),
      );
    }
    for (const [id, ofScript] of Map.groupBy(runs, (run) => run.script_id)) {
      this.#change<Pages<Run>>(['script-runs', id], (data) =>
        ofScript.reduce((pages, run) => withItem(pages, run, runId), data),
      );
      for (const run of ofScript) this.#refreshTriggerOf(run);
      this.#showActivity(id, ofScript);
      const last = lastEnded(ofScript);
      if (last !== undefined) this.#showLastRun(id, last);
    }
  }

  #withRun(pages: Pages<Run>, run: Run, key: QueryKey): Pages<Run> {
    const isMatch = matches(run, (key[1] ?? {}) as RunFilter);
    if (isMatch === false) return withoutItem(pages, run.run_id, runId);
    if (isMatch || hasItem(pages, run.run_id, runId)) return withItem(pages, run, runId);
    this.#refresh({ queryKey: key, exact: true }, refreshEveryMs);
    return pages;
  }

  #refreshNamed(frame: ChangedFrame): void {
    // A server newer than this page may name more.
    const keys = namedKeys[frame.resource]?.(frame) ?? [];
    for (const queryKey of keys) this.#refresh({ queryKey }, askSoonMs);
  }

  /** A run that a trigger caused is news of the trigger, too. */
  #refreshTriggerOf({ trigger, script_id }: Run): void {
    const { schedule_id: schedule, webhook_id: webhook, chain_id: chain } = trigger;
    const keys = [
      ...(schedule
        ? [['schedules'], ['schedule', schedule], ['occurrences', schedule], ['scripts']]
        : []),
      ...(webhook
        ? [
            ['webhooks', script_id],
            ['deliveries', webhook],
          ]
        : []),
      ...(chain ? [['chain-answers', chain]] : []),
    ];
    for (const queryKey of keys) this.#refresh({ queryKey }, refreshEveryMs);
  }

  #showLastRun(id: string, run: Run): void {
    const shown = <Shown extends Script>(script: Shown): Shown => {
      const { last_run: before } = script;
      if (run.finished_at === null || (before && before.run_id > run.run_id)) return script;
      const status = run.status as NonNullable<Script['last_run']>['status'];
      const last = { run_id: run.run_id, status, finished_at: run.finished_at };
      return { ...script, last_run: last };
    };
    this.#changeListed(id, shown);
    this.#refreshNarrowed();
    this.#change<VersionedScript>(['script', id], (data) => ({
      ...data,
      script: shown(data.script),
    }));
  }

  #showActivity(id: string, runs: readonly Run[]): void {
    this.#changeListed(id, (script) =>
      script.activity === undefined
        ? script
        : { ...script, activity: withRuns(script.activity, runs) },
    );
  }

  #changeListed(id: string, change: (script: ListedScript) => ListedScript): void {
    for (const key of this.#scriptLists()) {
      this.#change<Pages<ListedScript>>(key, (data) => ({
        ...data,
        pages: data.pages.map((page) => ({
          ...page,
          items: page.items.map((one) => (one.id === id ? change(one) : one)),
        })),
      }));
    }
  }

  /** Lists of scripts in pages; others with such a key are no pages. */
  #scriptLists(): readonly QueryKey[] {
    return this.#client
      .getQueriesData<Partial<Pages<ListedScript>>>({ queryKey: ['scripts'] })
      .flatMap(([key, data]) => (data?.pages ? [key] : []));
  }

  #showScripts(scripts: readonly (readonly [string, Script | null])[]): void {
    for (const key of this.#scriptLists()) {
      this.#change<Pages<ListedScript>>(key, (data) =>
        scripts.reduce(
          (pages, [id, script]) => withScript(pages, id, script, isNarrowed(key)),
          data,
        ),
      );
    }
    this.#refreshNarrowed();
    // With its ETag, which only an answer has.
    for (const [id] of scripts) void this.#client.invalidateQueries({ queryKey: ['script', id] });
  }

  /** Which scripts belong there, and at which place, only the server knows. */
  #refreshNarrowed(): void {
    for (const queryKey of this.#scriptLists().filter(isNarrowed)) {
      this.#refresh({ queryKey, exact: true }, refreshEveryMs);
    }
  }

  #change<Data>(key: QueryKey, change: (data: Data) => Data): void {
    this.#client.setQueryData<Data>(key, (data) => data && change(data));
    // What is being fetched may have been read before the change.
    const filters = { queryKey: key, exact: true };
    if (this.#client.isFetching(filters) > 0) this.#refresh(filters, refreshEveryMs);
  }

  /** Has a list asked for again after a while, once for all that changes until then. */
  #refresh(filters: { queryKey: QueryKey; exact?: boolean }, afterMs: number): void {
    const name = JSON.stringify(filters);
    if (this.#refreshing.has(name)) return;
    this.#refreshing.add(name);
    this.#clock.after(afterMs, () => {
      this.#refreshing.delete(name);
      void this.#client.invalidateQueries(filters);
    });
  }
}

/** Whether a list of scripts has not all of them, newest first. */
function isNarrowed(key: QueryKey): boolean {
  return Object.keys(key[1] ?? {}).length > 0;
}

/** The pages with a script as it is now; `null` for one that is gone. */
function withScript(
  pages: Pages<ListedScript>,
  id: string,
  script: Script | null,
  narrowed: boolean,
): Pages<ListedScript> {
  if (script === null) return withoutItem(pages, id, scriptId);
  const known = pages.pages.flatMap((page) => page.items).find((one) => one.id === id);
  const shown = { ...script, ...(known?.activity && { activity: known.activity }) };
  if (!narrowed) return withItem(pages, shown, scriptId);
  return {
    ...pages,
    pages: pages.pages.map((page) => ({
      ...page,
      items: page.items.map((one) => (one.id === id ? shown : one)),
    })),
  };
}

function lastEnded(runs: readonly Run[]): Run | undefined {
  return runs
    .filter((run) => run.finished_at !== null)
    .toSorted((one, other) => (one.run_id < other.run_id ? -1 : 1))
    .at(-1);
}
