import { describe, expect, test } from 'vitest';
import { changeOf, draftOf, emptyRule } from './draft.ts';

describe('the identity provider form', () => {
  test('sends space-separated words as lists, and omits an empty client secret', () => {
    const draft = { ...draftOf(null), scopes: ' profile,  groups ', emailDomains: 'Acme.example' };
    const change = changeOf(draft);
    expect(change).toMatchObject({
      scopes: ['profile', 'groups'],
      email_domains: ['acme.example'],
    });
    expect(change).not.toHaveProperty('client_secret');
  });

  test('sends a rule that grants no role', () => {
    const rules = [{ ...emptyRule, value: ' ops ', canAudit: true }];
    expect(changeOf({ ...draftOf(null), rules }).rules).toEqual([
      { claim: 'groups', value: 'ops', role: null, group_ids: [], can_audit: true },
    ]);
  });
});
