import { setTimeLook } from '#lib/ui/format.ts';

/** How a reader wants things to look, kept in their browser. */
interface Looks {
  /** What stands before the lines of a log. */
  logTimes: 'off' | 'clock' | 'elapsed';
  /** Whether long lines of a log go on in the next row. */
  logWraps: boolean;
  density: 'comfortable' | 'compact';
  /** IANA; empty for that of the machine. */
  timeZone: string;
  hours: '24' | '12';
}

const storageKey = 'orch-looks';
const initial: Looks = {
  logTimes: 'off',
  logWraps: false,
  density: 'comfortable',
  timeZone: '',
  hours: '24',
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

/** What was kept; nothing where that cannot be read. */
function stored(): Partial<Looks> {
  try {
    return JSON.parse(globalThis.localStorage?.getItem(storageKey) ?? '{}') as Partial<Looks>;
  } catch {
    return {};
  }
}

export const preferences = new Preferences();
