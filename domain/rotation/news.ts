/** The texts of notifications about secret rotation. */
import type { RotationEvent } from './events.ts';

export function rotationNews({ type, data }: RotationEvent) {
  const { name, scriptId, ownerName, dueAt } = data;
  const secret = `secret "${name}" of ${scriptId === null ? 'group' : 'script'} "${ownerName}"`;
  const on = 'secret_rotation_due';
  switch (type) {
    case 'SecretRotationDue': {
      const message = `The ${secret} has been due for rotation since ${dueAt.slice(0, 10)}.`;
      return { on, level: 'warning', message } as const;
    }
    case 'SecretRotationCleared': {
      const message =
        data.reason === 'replaced'
          ? `The ${secret} has a new value.`
          : `The ${secret} was deleted.`;
      return { on, level: 'info', message } as const;
    }
  }
}
