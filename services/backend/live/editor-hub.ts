/** Tells the sockets of a file which users have the file open for editing. Nothing is stored. Each backend announces
 *  its own editors on the bus. If a backend stops renewing its announcement, the other backends forget its editors. */
import type { ScriptId } from '#domain/kernel/ids.ts';
import type { BusMessage, Editor } from '#domain/ports/bus.ts';
import { startLoop, type Loop } from '#services/shared/loop.ts';
import type { Services } from '../services.ts';

const renewEveryMs = 10_000;
/** How long an announcement from another backend is valid. */
const validForMs = 30_000;
/** The maximum number of users in an announcement, so that the message fits the bus's size limit. */
const maxEditors = 20;

export interface FileName {
  readonly scriptId: ScriptId;
  readonly path: string;
}

/** A socket that follows the editors of a file. */
export interface EditorSubscriber {
  readonly file: FileName;
  /** The socket's owner; undefined if the owner may not change the file. */
  editor: Editor | undefined;
  /** The group of the script; undefined once the script no longer exists. */
  groupId: string | undefined;
  /** Sends a frame. The frame may be dropped for a slow client, because the next frame replaces it. */
  readonly send: (frame: string) => void;
}

export interface EditorHubDeps extends Pick<Services, 'bus' | 'clock' | 'ids' | 'logger'> {
  readonly findGroups: (ids: readonly ScriptId[]) => Promise<ReadonlyMap<string, string>>;
}

type Announcement = Extract<BusMessage, { topic: 'editors' }>;

interface Watched {
  readonly file: FileName;
  readonly subscribers: Set<EditorSubscriber>;
  /** The editors on other backends, by backend. */
  readonly remote: Map<string, { readonly editors: readonly Editor[]; readonly validUntil: Date }>;
}

export class EditorHub {
  readonly #deps: EditorHubDeps;
  readonly #backend: string;
  readonly #watched = new Map<string, Watched>();
  readonly #unsubscribe: () => void;
  readonly #renewals: Loop;

  constructor(deps: EditorHubDeps) {
    this.#deps = deps;
    this.#backend = deps.ids.next();
    this.#unsubscribe = deps.bus.subscribe('editors', (message) => this.#receive(message));
    this.#renewals = startLoop({
      name: 'renew editors of files',
      everyMs: renewEveryMs,
      runOnce: () => this.renew(),
      logger: deps.logger,
    });
  }

  /** Adds a subscriber, and sends the file's editors to all of its subscribers. */
  add(subscriber: EditorSubscriber): void {
    const { file } = subscriber;
    const watched = this.#watched.get(keyOf(file)) ?? {
      file,
      subscribers: new Set(),
      remote: new Map(),
    };
    const isFirst = watched.subscribers.size === 0;
    this.#watched.set(keyOf(file), watched);
    watched.subscribers.add(subscriber);
    this.#announce(watched, isFirst);
    show(watched);
  }

  remove(subscriber: EditorSubscriber): void {
    const watched = this.#watched.get(keyOf(subscriber.file));
    if (watched?.subscribers.delete(subscriber) !== true) return;
    this.#announce(watched);
    if (watched.subscribers.size === 0) this.#watched.delete(keyOf(subscriber.file));
    else show(watched);
  }

  /** Repeats the announcements and the frames, without expired editors. Also rereads the scripts' groups. */
  async renew(): Promise<void> {
    const now = this.#deps.clock.now();
    for (const watched of this.#watched.values()) {
      for (const [backend, { validUntil }] of watched.remote) {
        if (validUntil <= now) watched.remote.delete(backend);
      }
      this.#announce(watched);
      show(watched);
    }
    const scriptIds = new Set([...this.#watched.values()].map(({ file }) => file.scriptId));
    if (scriptIds.size === 0) return;
    const groups = await this.#deps.findGroups([...scriptIds]);
    for (const { file, subscribers } of this.#watched.values()) {
      if (!scriptIds.has(file.scriptId)) continue;
      for (const one of subscribers) one.groupId = groups.get(file.scriptId);
    }
  }

  /** Stops the hub. Idempotent. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#renewals.stop();
  }

  /** Announces the editors of a file on the bus.
   *  @param asks whether other backends should respond with their editors */
  #announce({ file, subscribers }: Watched, asks = false): void {
    this.#deps.bus.publish({
      topic: 'editors',
      ...file,
      backend: this.#backend,
      editors: distinct([...subscribers].flatMap(({ editor }) => editor ?? [])),
      asks,
    });
  }

  #receive({ scriptId, path, backend, editors, asks }: Announcement): void {
    const watched = this.#watched.get(keyOf({ scriptId, path }));
    if (watched === undefined || backend === this.#backend) return;
    const validUntil = new Date(this.#deps.clock.now().getTime() + validForMs);
    if (editors.length === 0) watched.remote.delete(backend);
    else watched.remote.set(backend, { editors, validUntil });
    if (asks) this.#announce(watched);
    show(watched);
  }
}

function show({ subscribers, remote }: Watched): void {
  const local = [...subscribers].flatMap(({ editor }) => editor ?? []);
  const editors = distinct([...local, ...[...remote.values()].flatMap((one) => one.editors)]);
  const frame = JSON.stringify({
    type: 'editors',
    editors: editors.map(({ userId, name }) => ({ user_id: userId, name })),
  });
  for (const one of subscribers) one.send(frame);
}

/** Returns each user once, sorted by ID, up to the limit. */
function distinct(editors: readonly Editor[]): readonly Editor[] {
  const byId = new Map(editors.map((one) => [one.userId, one]));
  return [...byId.values()]
    .toSorted((one, other) => (one.userId < other.userId ? -1 : 1))
    .slice(0, maxEditors);
}

function keyOf({ scriptId, path }: Omit<FileName, 'scriptId'> & { readonly scriptId: string }) {
  return `${scriptId}/${path}`;
}
