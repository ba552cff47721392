import { ApiError } from '#lib/api/api-error.ts';
import { keeper, onSessionEnded } from '#lib/api/tokens.ts';
import type { Me, PasskeySignature } from '#lib/api/types.ts';
import { logIn, logOut, me } from './api.ts';

/** Loads the query client on demand, because the sign-in page sends no queries. */
async function loadQueryClient() {
  return (await import('#lib/api/query-client.ts')).queryClient;
}

/** The signed-in user of this tab. */
class Session {
  user = $state.raw<Me | null>(null);
  /** The time at which `user` was read, in milliseconds. */
  readAtMs = 0;
  /** Whether the session expired while a page was open. `user` keeps its value, so that unsaved work is preserved while
   *  the user signs in again. */
  expired = $state(false);
  #resuming: Promise<Me | null> | null = null;
  /** Whether the server has reported that there is no session. Further attempts are then pointless. */
  #over = false;

  constructor() {
    onSessionEnded((end) => (end === 'expired' ? this.#expire() : this.#end()));
  }

  /** Restores the session of the refresh cookie. Returns its user, or null if the session has ended. Concurrent calls
   *  share one attempt.
   *  @throws if the server is unreachable */
  resume(): Promise<Me | null> {
    if (this.user) return Promise.resolve(this.user);
    if (this.#over && !keeper.current()) return Promise.resolve(null);
    this.#resuming ??= this.#load().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async logIn(
    email: string,
    password: string,
    factor?: { code?: string; passkey?: PasskeySignature },
  ): Promise<void> {
    await logIn(email, password, factor);
    const before = this.user;
    await this.reload();
    this.#over = false;
    if (!this.expired) return;
    this.expired = false;
    // Reloads the page if a different user has signed in, because this user must not see the previous user's pages.
    if (before?.id !== this.user?.id) location.reload();
    else await (await loadQueryClient()).invalidateQueries();
  }

  /** Reloads the account after its rights have changed. */
  async reload(): Promise<void> {
    const readAtMs = Date.now();
    this.user = await me();
    this.readAtMs = readAtMs;
  }

  async logOut(): Promise<void> {
    await logOut().catch(() => {});
    this.#end();
  }

  /** Whether the user has a right in any group. The dashboard only hides actions; the server enforces the rights. */
  may(right: string): boolean {
    return this.user?.rights.includes(right) ?? false;
  }

  async #load(): Promise<Me | null> {
    if (!(await keeper.renew(null))) return null;
    await this.reload().catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
    });
    return this.user;
  }

  #expire(): void {
    this.#over = true;
    this.expired = this.user !== null;
  }

  #end(): void {
    this.#over = true;
    this.user = null;
    this.expired = false;
    void loadQueryClient().then((queryClient) => queryClient.clear());
  }
}

export const session = new Session();
