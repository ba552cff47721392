import { expect, test } from 'vitest';
import { actionLabel, resourcePage, shortResource, headIn } from './labels.ts';

const id = '019aa3f2-5b1c-7d2e-9f30-4a1b2c3d4e5f';

test('an audit entry shows a readable action, or the unchanged operation of a refused request', () => {
  expect(actionLabel('script_created')).toBe('Script created');
  expect(actionLabel('POST /api/v1/scripts')).toBe('POST /api/v1/scripts');
});

test('an audit entry shows a shortened resource ID, and links to the resource if it has a page', () => {
  expect(shortResource(`script-${id}`)).toBe('script …2c3d4e5f');
  expect(shortResource('system-triggers')).toBe('system-triggers');
  expect(shortResource(`secret_store-${id}`)).toBe('secret store …2c3d4e5f');
  expect(resourcePage(`run-${id}`)).toBe(`/runs/${id}`);
  expect(resourcePage(`user-${id}`)).toBeNull();
});

test('a saved head is accepted in the displayed format and in the server’s format', () => {
  const hash = '9f'.repeat(32);
  const shown = JSON.stringify({ audit_seq: 812, hash, key_id: '21fe31dfa154a261' });
  expect([headIn(shown), headIn(` 812:${hash} `)]).toEqual([`812:${hash}`, `812:${hash}`]);
  expect([headIn(''), headIn('812:9f'), headIn(hash), headIn(`812:${hash}00`)]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});
