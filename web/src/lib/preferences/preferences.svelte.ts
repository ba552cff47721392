import { setTimeLook } from '#lib/ui/format.ts';

/** Display preferences, stored in the browser. */
interface Looks {
  /** The format of the time in front of log lines. */
  logTimes: 'off' | 'clock' | 'elapsed';
  /** Whether long log lines wrap. */
  logWraps: boolean;
  density: 'comfortable' | 'compact';
  /** IANA name; empty for the time zone of the machine. */
  timeZone: string;
  hours: '24' | '12';
  /** Whether the list of first steps is hidden. */
  hidesChecklist: boolean;
  /** The shown optional columns of each list; absent means the default columns. */
  columns: Readonly<Partial<Record<ListName, readonly string[]>>>;
  /** The saved filters of each list. */
  views: Readonly<Partial<Record<ListName, readonly SavedView[]>>>;
  /** IDs of scripts. */
  favorites: readonly string[];
}

export type ListName = 'scripts' | 'runs';

/** A list with its filters, by name. */
export interface SavedView {
  name: string;
  /** The query of the list's URL. */
  query: string;
}

const storageKey = 'orch-looks';
const initial: Looks = {
  logTimes: 'off',
  logWraps: false,
  density: 'comfortable',
  timeZone: '',
  hours: '24',
  hidesChecklist: false,
  columns: {},
  views: {},
  favorites: [],
};

class Preferences {
  #looks = $state.raw<Looks>({ ...initial, ...stored() });

  constructor() {
    this.#apply();
  }

  get looks(): Looks {
    return this.#looks;
  }

  change(part: Partial<Looks>): void {
    this.#looks = { ...this.#looks, ...part };
    globalThis.localStorage?.setItem(storageKey, JSON.stringify(this.#looks));
    this.#apply();
  }

  #apply(): void {
    const { timeZone, hours, density } = this.#looks;
    setTimeLook({ timeZone: timeZone || undefined, hour12: hours === '12' });
    globalThis.document?.documentElement.setAttribute('data-density', density);
  }
}

/** The stored preferences; empty if unreadable. */
function stored(): Partial<Looks> {
  try {
    return JSON.parse(globalThis.localStorage?.getItem(storageKey) ?? '{}') as Partial<Looks>;
  } catch {
    return {};
  }
}

export const preferences = new Preferences();
