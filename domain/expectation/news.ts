/** The texts of notifications about expectations. */
import type { ExpectationEvent } from './events.ts';
import type { MissedKind } from './expectation.ts';

const met: Readonly<Record<MissedKind, string>> = {
  run_late: 'A run succeeded after its deadline.',
  script_stale: 'A run succeeded again.',
  run_too_long: 'The run ended.',
};

export function expectationNews({ type, data }: ExpectationEvent) {
  switch (type) {
    case 'ExpectationMissed':
      return { on: data.on, level: 'warning', message: data.detail } as const;
    case 'ExpectationCleared': {
      const message =
        data.reason === 'met' ? met[data.on] : 'The expectation is no longer checked.';
      return { on: data.on, level: 'info', message } as const;
    }
  }
}
