import { setTimeLook } from '#lib/ui/format.ts';

/** Display preferences, stored in the browser. */
interface Looks {
  /** The time in front of log lines. */
  logTimes: 'off' | 'clock' | 'elapsed';
  /** Whether long log lines wrap. */
  logWraps: boolean;
  density: 'comfortable' | 'compact';
  /** IANA name; empty for the time zone of the machine. */
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

/** The stored preferences; empty if unreadable. */
function stored(): Partial<Looks> {
  try {
    return JSON.parse(globalThis.localStorage?.getItem(storageKey) ?? '{}') as Partial<Looks>;
  } catch {
    return {};
  }
}

export const preferences = new Preferences();
