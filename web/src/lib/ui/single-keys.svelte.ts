const storageKey = 'orch-single-keys';

/** Whether keys without Ctrl or Command do anything. Whoever dictates, or hits keys by chance, turns that
 *  off (WCAG 2.1.4). */
class SingleKeys {
  #on = $state(globalThis.localStorage?.getItem(storageKey) !== 'off');

  get on(): boolean {
    return this.#on;
  }

  set on(on: boolean) {
    this.#on = on;
    localStorage.setItem(storageKey, on ? 'on' : 'off');
  }
}

export const singleKeys = new SingleKeys();
