/** Records when alarms are raised and cleared. Each change triggers one notification. */
import { systemContext, type Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { alarmsNow, type AlarmDeps } from '#services/shared/alarms.ts';

export interface AlarmWatchDeps extends AlarmDeps {
  readonly commands: Commands;
  readonly ids: Ids;
}

export class AlarmWatch {
  readonly #deps: AlarmWatchDeps;
  /** The names of the alarms in the last report. Only changes are reported. */
  #said: string | undefined;
  #wasBehind = false;

  constructor(deps: AlarmWatchDeps) {
    this.#deps = deps;
  }

  /** Runs one check. A change that another scheduler has already recorded is not recorded again. A reader must lag in
   *  two consecutive checks before its alarm is raised, because it may be catching up after a start. */
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
