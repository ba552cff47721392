const storageKey = 'orch-single-keys';

/** Whether single-key shortcuts are active. Users of speech input can turn them off (WCAG 2.1.4). */
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
