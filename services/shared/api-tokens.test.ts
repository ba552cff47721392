import { describe, expect, test } from 'vitest';
import { apiTokenForm, apiTokenHash, newApiToken } from './api-tokens.ts';

describe('the text of a token', () => {
  test.each(['A', 'z', '0', '_', '-'])(
    'is recognized if its random part begins with %s',
    (first) => {
      const text = `orch_${first}${'0'.repeat(42)}`;
      expect(text).toMatch(apiTokenForm);
      expect(apiTokenHash(text)).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  test('has the hash under which the token is stored', () => {
    const { text, hash } = newApiToken();
    expect(text).toMatch(apiTokenForm);
    expect(apiTokenHash(text)).toBe(hash);
  });

  test.each(['orch_…', 'orch_', `orch_${'A'.repeat(42)}`, `Bearer orch_${'A'.repeat(43)}`])(
    'is not recognized if it is %s',
    (text) => {
      expect(text).not.toMatch(apiTokenForm);
      expect(apiTokenHash(text)).toBeUndefined();
    },
  );
});
