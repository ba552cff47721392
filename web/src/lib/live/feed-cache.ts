import type { QueryClient, QueryKey } from '@tanstack/svelte-query';
import type { FeedFrame, ListedScript, Run, Script } from '#lib/api/types.ts';
import type { RunFilter } from '#lib/runs/api.ts';
import type { VersionedScript } from '#lib/scripts/api.ts';
import {
  hasItem,
  matches,
  withChanged,
  withItem,
  withoutItem,
  withScript,
  type Pages,
} from './live-pages.ts';
import type { LivePorts } from './live-socket.ts';
import { concernsApproval, lastEnded, withRuns } from './recent-runs.ts';

/** Frames that arrive within this interval are applied together. */
const batchMs = 50;
/** The minimum time between reloads of a list that frames alone cannot keep up to date. */
const refreshEveryMs = 2000;
/** The delay before a resource is reloaded after an announcement. Further announcements during the delay cause no
 *  additional reload. */
const refreshSoonMs = 300;
/** The queries to reload for each kind of announced resource. */
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
  secrets: ({ id }) => [['secrets', id]],
  notification: () => [['notifications']],
  user: () => [['users']],
  system: () => [['system'], ['retention']],
};
const shownKeys: QueryKey[] = [
  'runs',
  'approvals',
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
  // Reloading the overview also updates the other parts of the first page.
  'dashboard overview',
].map((name) => name.split(' '));

type ProgressFrame = Extract<FeedFrame, { type: 'progress' }>;
type ChangedFrame = Extract<FeedFrame, { type: 'changed' }>;

const runId = (run: Run): string => run.run_id;

/** Applies `/ws` frames to the displayed data. Only data that the frames do not contain is requested again. */
export class FeedCache {
  readonly #client: QueryClient;
  readonly #clock: Pick<LivePorts, 'after'>;
  readonly #runs = new Map<string, Run>();
  readonly #scripts = new Map<string, Script | null>();
  readonly #refreshing = new Set<string>();
  #isBatching = false;
  /** The latest event position that the server has announced. */
  #position = 0;
  readonly #readAt: number | undefined;

  /** @param readAt all cached data includes the events up to this position, or undefined if the position is unknown */
  constructor(client: QueryClient, clock: Pick<LivePorts, 'after'>, readAt?: number) {
    this.#client = client;
    this.#clock = clock;
    this.#readAt = readAt;
  }

  /** Processes a frame. Its changes are displayed after a short delay. */
  take(frame: FeedFrame): void {
    // Nothing has changed since the data was read, and frames announce all later changes.
    if (frame.type === 'resync' && frame.position === this.#readAt) return;
    this.#refreshTrail(frame);
    switch (frame.type) {
      case 'resync':
        return this.#refreshAll();
      case 'status':
        this.#runs.set(frame.run.run_id, frame.run);
        return this.#collect();
      case 'progress':
        return this.#showProgress(frame);
      case 'script':
        this.#scripts.set(frame.script.id, frame.script);
        // A request or decision about a script change is recorded as an event of the script.
        this.#refresh({ queryKey: ['approvals'] }, refreshSoonMs);
        return this.#collect();
      case 'script_deleted':
        this.#scripts.set(frame.script_id, null);
        return this.#collect();
      case 'changed':
        return this.#refreshNamed(frame);
      case 'heartbeat':
        break;
    }
  }

  /** Every change adds an audit entry, so each frame reloads the newest page of the audit trail. The trail is not
   *  reloaded while older pages are also loaded. */
  #refreshTrail(frame: FeedFrame): void {
    if (frame.type === 'progress') return;
    if (frame.type === 'heartbeat' && frame.position <= this.#position) return;
    if ('position' in frame) this.#position = frame.position;
    for (const [queryKey, data] of this.#client.getQueriesData<Pages<unknown>>({
      queryKey: ['audit'],
    })) {
      if (data?.pages.length === 1) this.#refresh({ queryKey, exact: true }, refreshEveryMs);
    }
  }

  /** Updates the progress in the run lists, the only lists that show progress. */
  #showProgress({ run_id, progress }: ProgressFrame): void {
    for (const name of ['runs', 'script-runs']) {
      for (const [key, data] of this.#client.getQueriesData<Pages<Run>>({ queryKey: [name] })) {
        if (!data?.pages || !hasItem(data, run_id, runId)) continue;
        const pages = data.pages.map((page) => ({
          ...page,
          items: page.items.map((run) => (run.run_id === run_id ? { ...run, progress } : run)),
        }));
        this.#client.setQueryData<Pages<Run>>(key, { ...data, pages });
      }
    }
  }

  #refreshAll(): void {
    this.#runs.clear();
    this.#scripts.clear();
    for (const queryKey of shownKeys) void this.#client.invalidateQueries({ queryKey });
  }

  #collect(): void {
    if (this.#isBatching) return;
    this.#isBatching = true;
    this.#clock.after(batchMs, () => {
      this.#isBatching = false;
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
    if (runs.some((run) => concernsApproval(this.#client, run))) {
      this.#refresh({ queryKey: ['approvals'] }, refreshSoonMs);
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
    const filter = (key[1] ?? {}) as RunFilter;
    const isMatch = matches(run, filter);
    if (isMatch === false) return withoutItem(pages, run.run_id, runId);
    if (filter.sort) {
      // With any other sort order, only the server can determine the position of the item. Reloading several pages
      // would be too expensive.
      if (pages.pages.length === 1) this.#refresh({ queryKey: key, exact: true }, refreshEveryMs);
      return withChanged(pages, run, runId);
    }
    if (isMatch || hasItem(pages, run.run_id, runId)) return withItem(pages, run, runId);
    this.#refresh({ queryKey: key, exact: true }, refreshEveryMs);
    return pages;
  }

  #refreshNamed(frame: ChangedFrame): void {
    // A newer server may announce unknown resources.
    const keys = namedKeys[frame.resource]?.(frame) ?? [];
    for (const queryKey of keys) this.#refresh({ queryKey }, refreshSoonMs);
  }

  /** Reloads the trigger that started a run, because its run history has changed. */
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

  /** The keys of the paginated script lists. Other queries whose keys begin with `scripts` are not paginated. */
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
    // Reloads the script to get its new ETag, which frames do not contain.
    for (const [id] of scripts) void this.#client.invalidateQueries({ queryKey: ['script', id] });
  }

  /** Reloads filtered and sorted lists, because only the server can determine their scripts and order. */
  #refreshNarrowed(): void {
    for (const queryKey of this.#scriptLists().filter(isNarrowed)) {
      this.#refresh({ queryKey, exact: true }, refreshEveryMs);
    }
  }

  #change<Data>(key: QueryKey, change: (data: Data) => Data): void {
    this.#client.setQueryData<Data>(key, (data) => data && change(data));
    // A pending request may have read the data before the change, so the list is reloaded later.
    const filters = { queryKey: key, exact: true };
    if (this.#client.isFetching(filters) > 0) this.#refresh(filters, refreshEveryMs);
  }

  /** Reloads a list after a delay. Further changes during the delay cause no additional reload. */
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

/** Whether a script list is filtered or sorted. */
function isNarrowed(key: QueryKey): boolean {
  return Object.keys(key[1] ?? {}).length > 0;
}
