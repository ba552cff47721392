/** Records when alarms are raised and cleared, so that each causes one notification. */
import { mustParse, parseCommandId } from '#domain/kernel/ids.ts';
import type { Commands } from '#domain/ports/commands.ts';
import type { Ids } from '#domain/ports/ids.ts';
import { alarmsNow, type AlarmParts } from '#services/shared/alarms.ts';

export interface AlarmWatchParts extends AlarmParts {
  readonly commands: Commands;
  readonly ids: Ids;
}

export class AlarmWatch {
  readonly #parts: AlarmWatchParts;
  /** What was said last, so that nothing is said while nothing changes. */
  #said: string | undefined;
  #wasBehind = false;

  constructor(parts: AlarmWatchParts) {
    this.#parts = parts;
  }

  /** Runs one check. Facts that another scheduler has recorded change nothing. A reader that lags in a single check
   *  only is about to catch up, as after a start. */
  async runOnce(): Promise<void> {
    const { commands, ids } = this.#parts;
    const alarms = await alarmsNow(this.#parts);
    const isBehind = alarms.some(({ name }) => name === 'projection_lag');
    const isNews = isBehind && !this.#wasBehind;
    this.#wasBehind = isBehind;
    if (isNews) return;
    const names = alarms.map(({ name }) => name).join(' ');
    if (names === this.#said) return;
    const commandId = mustParse(parseCommandId, ids.next());
    const outcome = await commands.execute(
      { type: 'NoteAlarms', alarms },
      {
        commandId,
        actor: { kind: 'system', name: 'scheduler' },
        ip: null,
        correlationId: commandId,
        causationId: null,
      },
    );
    if (outcome.kind === 'accepted') this.#said = names;
  }
}
