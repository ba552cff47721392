/** Records which alarms are raised, and when they are over, so that people are told once of each. */
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

  /** One look. What another scheduler has recorded changes nothing. Whoever is behind at one look alone is about
   *  to catch up, as after a start. */
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
