/**
 * A task that several callers can wait for. The task starts with the first caller, and stops when the last caller has
 * left. All callers receive its output lines. A caller that joins later first receives the earlier lines.
 */

type Listener = (line: string) => void | Promise<void>;

interface Work<Result> {
  (say: Listener, signal: AbortSignal): Promise<Result>;
}

// The maximum number of lines that are kept for later callers. A build usually prints dozens of lines, but a compiler
// may print thousands.
const MAX_REMEMBERED_LINES = 1_000;

class Flight<Result> {
  readonly #abort = new AbortController();
  readonly #listeners = new Set<Listener>();
  readonly #said: string[] = [];
  readonly #result: Promise<Result>;

  constructor(work: Work<Result>) {
    this.#result = work((line) => this.#say(line), this.#abort.signal);
    // Prevents an unhandled rejection if there are no callers. Each caller receives the failure.
    this.#result.catch(() => undefined);
  }

  get isAbandoned(): boolean {
    return this.#abort.signal.aborted;
  }

  get settled(): Promise<unknown> {
    return this.#result.catch(() => undefined);
  }

  async #say(line: string): Promise<void> {
    this.#said.push(line);
    if (this.#said.length > MAX_REMEMBERED_LINES) this.#said.shift();
    await Promise.all(Array.from(this.#listeners, async (listener) => listener(line)));
  }

  async join(listener: Listener, signal: AbortSignal): Promise<Result> {
    for (const line of this.#said) void listener(line);
    // Wraps the listener, because two callers may pass the same function, and a set would keep it only once.
    const own: Listener = (line) => listener(line);
    this.#listeners.add(own);
    const gone = Promise.withResolvers<never>();
    const leave = () => gone.reject(signal.reason);
    signal.addEventListener('abort', leave);
    try {
      return await Promise.race([this.#result, gone.promise]);
    } finally {
      signal.removeEventListener('abort', leave);
      this.#listeners.delete(own);
      if (this.#listeners.size === 0)
        this.#abort.abort(new Error('no run is waiting for the environment'));
    }
  }
}

/** Running tasks, by key. */
export class Flights<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  /** Joins a key's task, or starts the task.
   *  @throws the task's error, or the reason of `signal`, which aborts only this caller's wait */
  async join(
    key: string,
    work: Work<Result>,
    listener: Listener,
    signal: AbortSignal,
  ): Promise<Result> {
    signal.throwIfAborted();
    let flight = this.#flights.get(key);
    // Waits for an abandoned task to finish before starting the next task.
    while (flight?.isAbandoned === true) {
      await flight.settled;
      flight = this.#flights.get(key);
    }
    signal.throwIfAborted();
    flight ??= this.#begin(key, work);
    return flight.join(listener, signal);
  }

  #begin(key: string, work: Work<Result>): Flight<Result> {
    const flight = new Flight(work);
    this.#flights.set(key, flight);
    void flight.settled.then(() => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    return flight;
  }

  /** Resolves when all tasks have finished. */
  async settle(): Promise<void> {
    await Promise.all(Array.from(this.#flights.values(), (flight) => flight.settled));
  }
}
