import { setTimeLook } from '#lib/ui/format.ts';

/** Display preferences, stored in the browser. */
interface Looks {
  /** The format of the time shown before each log line. */
  logTimes: 'off' | 'clock' | 'elapsed';
  /** Whether long log lines wrap. */
  logWraps: boolean;
  density: 'comfortable' | 'compact';
  /** An IANA time zone name; empty for the computer's time zone. */
  timeZone: string;
  hours: '24' | '12';
  /** Whether the checklist of first steps is hidden. */
  hidesChecklist: boolean;
  /** The optional columns shown in each list. A list without an entry shows its default columns. */
  columns: Readonly<Partial<Record<ListName, readonly string[]>>>;
  /** The saved filters of each list. */
  views: Readonly<Partial<Record<ListName, readonly SavedView[]>>>;
  /** The IDs of favorite scripts. */
  favorites: readonly string[];
}

export type ListName = 'scripts' | 'runs';

/** A named set of filters for a list. */
export interface SavedView {
  name: string;
  /** The query part of the list's URL. */
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

/** Reads the stored preferences; returns an empty object if they are missing or invalid. */
function stored(): Partial<Looks> {
  try {
    return JSON.parse(globalThis.localStorage?.getItem(storageKey) ?? '{}') as Partial<Looks>;
  } catch {
    return {};
  }
}

export const preferences = new Preferences();
