import { expect, test } from 'vitest';
import { effectiveRights } from './labels.ts';

const person = { role: 'operator', can_audit: false, disabled: false } as const;

test('rights are told with the groups that they are limited to', () => {
  expect(effectiveRights(person, ['ETL', 'bots'])).toMatch(/In ETL and bots alone\.$/);
  expect(effectiveRights({ ...person, can_audit: true }, [])).toBe(
    'Nothing of any script: they are in no group. Reads the audit trail of the whole platform.',
  );
  expect(effectiveRights({ ...person, role: 'administrator' }, [])).toContain('every group');
  expect(effectiveRights({ ...person, disabled: true }, ['ETL'])).toContain('Nothing');
});
