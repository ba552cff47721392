/** Records which alarms are raised, and when they are over, so that people are told once of each. */
import { known, parseCommandId } from '#domain/kernel/ids.ts';
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

  constructor(parts: AlarmWatchParts) {
    this.#parts = parts;
  }

  /** One look. What another scheduler has recorded changes nothing. */
  async runOnce(): Promise<void> {
    const { commands, ids } = this.#parts;
    const alarms = await alarmsNow(this.#parts);
    const names = alarms.map(({ name }) => name).join(' ');
    if (names === this.#said) return;
    const commandId = known(parseCommandId, ids.next());
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
