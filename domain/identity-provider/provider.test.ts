import { groupId } from '#domain/testing/ids.ts';
import { describe, expect, test } from 'vitest';
import { claimedAddress, grantedAccess, isAllowedAddress, type ClaimRule } from './provider.ts';

const rule = (changes: Partial<ClaimRule>): ClaimRule => ({
  claim: 'groups',
  value: 'ops',
  role: null,
  groupIds: [],
  canAudit: false,
  ...changes,
});

describe('claims', () => {
  test('grant the highest role and all groups of the matching rules', () => {
    const rules = [
      rule({ role: 'operator', groupIds: [groupId(1)] }),
      rule({ value: 'dev', role: 'developer', groupIds: [groupId(2), groupId(1)] }),
      rule({ value: 'root', role: 'administrator', canAudit: true }),
    ];
    expect(grantedAccess({ rules, defaultRole: null }, { groups: ['dev', 'ops'] })).toEqual({
      matched: [0, 1],
      role: 'developer',
      groupIds: [groupId(1), groupId(2)],
      canAudit: false,
    });
  });

  test.each([
    ['a string', 'team', 'ops', { team: 'ops' }],
    ['a number', 'level', '3', { level: 3 }],
    ['a field of an object', 'realm_access.roles', 'ops', { realm_access: { roles: ['ops'] } }],
    [
      'a name with dots',
      'https://acme.example/team',
      'ops',
      { 'https://acme.example/team': 'ops' },
    ],
    ['any value', 'team', '*', { team: 'x' }],
  ])('match a rule with %s', (_name, claim, value, claims) => {
    const rules = [rule({ claim, value, role: 'viewer' })];
    expect(grantedAccess({ rules, defaultRole: null }, claims).role).toBe('viewer');
  });

  test.each([
    ['part of a string', 'team', 'ops', { team: 'devops' }],
    ['a missing claim', 'team', '*', {}],
    ['an inherited field', 'constructor.name', 'Object', {}],
    ['an object', 'team', '[object Object]', { team: {} }],
  ])('do not match a rule with %s', (_name, claim, value, claims) => {
    const rules = [rule({ claim, value, role: 'viewer' })];
    expect(grantedAccess({ rules, defaultRole: null }, claims)).toMatchObject({
      matched: [],
      role: null,
    });
  });

  test('grant the default role if no rule matches', () => {
    expect(grantedAccess({ rules: [], defaultRole: 'viewer' }, {}).role).toBe('viewer');
  });
});

describe('an email domain filter', () => {
  const emailDomains = ['acme.example'];
  const isAllowed = (claims: object) =>
    isAllowedAddress({ emailDomains }, claimedAddress({ trustEmails: false }, { ...claims }));

  test('accepts only verified addresses', () => {
    const email = 'Ada@Acme.example';
    expect(isAllowed({ email, email_verified: true })).toBe(true);
    expect(isAllowed({ email, email_verified: 'true' })).toBe(true);
    expect(isAllowed({ email, email_verified: false })).toBe(false);
    expect(isAllowed({ email })).toBe(false);
  });

  test('accepts addresses from a trusted provider unless the provider marks them as unverified', () => {
    const email = 'ada@acme.example';
    const trusted = (claims: object) => claimedAddress({ trustEmails: true }, { ...claims });
    expect(trusted({ email }).isVerified).toBe(true);
    expect(trusted({ email, email_verified: false }).isVerified).toBe(false);
  });

  test('refuses addresses in other domains, and missing addresses', () => {
    expect(isAllowed({ email: 'ada@acme.example.org', email_verified: true })).toBe(false);
    expect(isAllowed({ email: 'ada@sub.acme.example', email_verified: true })).toBe(false);
    expect(isAllowed({})).toBe(false);
  });
});
