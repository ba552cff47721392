/** Records when alarms are raised and cleared, so that each causes one notification. */
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { alarmsNow, type AlarmDeps } from '#services/shared/alarms.ts';

export interface AlarmWatchDeps extends AlarmDeps {
  readonly commands: Commands;
  readonly ids: Ids;
}

export class AlarmWatch {
  readonly #deps: AlarmWatchDeps;
  /** The last reported state, so that only changes are reported. */
  #said: string | undefined;
  #wasBehind = false;

  constructor(deps: AlarmWatchDeps) {
    this.#deps = deps;
  }

  /** Runs one check. Facts that another scheduler has recorded change nothing. A reader that lags in a single check
   *  only is ignored, because it may be catching up after a start. */
  async runOnce(): Promise<void> {
    const { commands, ids } = this.#deps;
    const alarms = await alarmsNow(this.#deps);
    const isBehind = alarms.some(({ name }) => name === 'projection_lag');
    const isNews = isBehind && !this.#wasBehind;
    this.#wasBehind = isBehind;
    if (isNews) return;
    const names = alarms.map(({ name }) => name).join(' ');
    if (names === this.#said) return;
    const outcome = await commands.execute(
      { type: 'NoteAlarms', alarms },
      systemContext('scheduler', ids.next()),
    );
    if (outcome.kind === 'accepted') this.#said = names;
  }
}
