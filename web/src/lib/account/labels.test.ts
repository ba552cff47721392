import { expect, test } from 'vitest';
import { effectiveRights } from './labels.ts';

const person = { role: 'operator', can_audit: false, disabled: false } as const;

test('effective rights name the groups to which they apply', () => {
  expect(effectiveRights(person, ['ETL', 'bots'])).toMatch(/Only in ETL and bots\.$/);
  expect(effectiveRights({ ...person, can_audit: true }, [])).toBe(
    'No script access: not in any group. Reads the audit trail of the entire platform.',
  );
  expect(effectiveRights({ ...person, role: 'administrator' }, [])).toContain('all groups');
  expect(effectiveRights({ ...person, disabled: true }, ['ETL'])).toContain('No access');
});
