import type { Script } from '#lib/api/types.ts';

type Expectation = Script['expectations'][number];

/** The form values of an expectation. They include the fields of every kind, so that changing the kind keeps all
 *  input. */
export interface ExpectationDraft {
  kind: Expectation['kind'];
  cron: string;
  timezone: string;
  minutes: number | null;
  factor: number | null;
}

const usual = { cron: '0 7 * * *', timezone: 'UTC', minutes: 1440, factor: 2 };

export function expectationDraft(expectation: Expectation): ExpectationDraft {
  switch (expectation.kind) {
    case 'finish_by':
    case 'longer_than':
      return { ...usual, ...expectation };
    case 'success_within':
      return { ...usual, kind: expectation.kind, minutes: expectation.seconds / 60 };
  }
}

export function expectationOf(draft: ExpectationDraft): Expectation {
  const { kind, cron, timezone, minutes, factor } = draft;
  switch (kind) {
    case 'finish_by':
      return { kind, cron: cron.trim(), timezone: timezone.trim() };
    case 'success_within':
      return { kind, seconds: Math.round((minutes ?? 0) * 60) };
    case 'longer_than':
      return { kind, factor: factor ?? 0 };
  }
}
