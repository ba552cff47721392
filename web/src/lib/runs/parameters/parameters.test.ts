import { describe, expect, test } from 'vitest';
import type { Run } from '#lib/api/types.ts';
import { fieldsOf } from './fields.ts';
import { previousInputs } from './previous-inputs.ts';
import { paramsOf } from './values.ts';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to look.', examples: ['Bern'] },
    limit: { type: 'integer', default: 10 },
    dry: { type: 'boolean' },
    level: { enum: ['low', 'high', 3] },
    more: { type: 'array' },
  },
  required: ['city'],
};

describe('a form for a parameter schema', () => {
  test('has a field for each property, with its default or previous value', () => {
    const fields = fieldsOf(schema, null);
    expect(fields.map(({ name, kind, initial }) => [name, kind, initial])).toEqual([
      ['city', 'text', ''],
      ['limit', 'number', '10'],
      ['dry', 'flag', false],
      ['level', 'choice', ''],
      ['more', 'json', ''],
    ]);
    expect(fields[0]).toMatchObject({
      label: 'City',
      hint: 'Where to look.',
      placeholder: 'Bern',
      required: true,
    });
    expect(fields[3]?.choices).toEqual([
      { value: '"low"', label: 'low' },
      { value: '"high"', label: 'high' },
      { value: '3', label: '3' },
    ]);
    const given = fieldsOf(schema, { city: 'Bern', limit: 3, dry: true, more: [1], level: 'high' });
    expect(given.map(({ initial }) => initial)).toEqual(['Bern', '3', true, '"high"', '[1]']);
  });

  test('returns the values with their types, and omits empty fields', () => {
    const values = { city: ' Bern ', limit: '5', level: '3', more: '[1, 2]' };
    expect(paramsOf(fieldsOf(schema, null), values)).toEqual({
      params: { city: ' Bern ', limit: 5, dry: false, level: 3, more: [1, 2] },
    });
  });

  test('reports missing and invalid values', () => {
    const values = { limit: 'many', more: '[1' };
    expect(paramsOf(fieldsOf(schema, null), values)).toEqual({
      errors: {
        city: 'City is required.',
        limit: 'Enter a number.',
        more: 'Enter valid JSON.',
      },
    });
    expect(paramsOf(fieldsOf(schema, { city: 'Bern' }), { limit: '2.5' })).toEqual({
      errors: { limit: 'Enter a whole number.' },
    });
  });
});

test('fields are in the order of the schema’s order list, followed by the required fields', () => {
  const properties = { a: {}, b: {}, c: {}, d: {} };
  const names = (more: object) => fieldsOf({ properties, ...more }, null).map(({ name }) => name);
  expect(names({})).toEqual(['a', 'b', 'c', 'd']);
  expect(names({ required: ['c'] })).toEqual(['c', 'a', 'b', 'd']);
  expect(names({ order: ['d', 'a'], required: ['c'] })).toEqual(['d', 'a', 'c', 'b']);
});

describe('fields for rich formats', () => {
  const rich = {
    properties: {
      day: { type: 'string', format: 'date' },
      at: { type: 'string', format: 'date-time' },
      key: { type: 'string', format: 'password' },
      text: { type: 'string', format: 'multiline' },
      data: { type: 'string', contentEncoding: 'base64', contentMediaType: 'text/csv' },
      hosts: { type: 'array', items: { type: 'string' } },
      sizes: { type: 'array', items: { type: 'integer' } },
      tags: { type: 'array', items: { enum: ['a', 'b'] } },
      speed: { oneOf: [{ const: 1, title: 'Slow' }, { const: 2 }] },
    },
  };

  test('have separate controls for dates, secrets, files, lists and choices', () => {
    expect(fieldsOf(rich, null).map(({ name, kind }) => [name, kind])).toEqual([
      ['day', 'date'],
      ['at', 'date-time'],
      ['key', 'secret'],
      ['text', 'lines'],
      ['data', 'file'],
      ['hosts', 'list'],
      ['sizes', 'list'],
      ['tags', 'choices'],
      ['speed', 'choice'],
    ]);
    expect(fieldsOf(rich, null).at(-1)?.choices).toEqual([
      { value: '1', label: 'Slow' },
      { value: '2', label: '2' },
    ]);
  });

  test('convert their values to the types in the schema', () => {
    const values = { day: '2026-03-01', hosts: 'a\n\n b ', sizes: '1\n2', tags: ['"b"'] };
    expect(paramsOf(fieldsOf(rich, null), values)).toEqual({
      params: { day: '2026-03-01', hosts: ['a', 'b'], sizes: [1, 2], tags: ['b'] },
    });
    expect(paramsOf(fieldsOf(rich, null), { sizes: '1\nx' })).toEqual({
      errors: { sizes: 'Enter a number.' },
    });
  });

  test('show previous values, except secrets; a list whose items contain line breaks is shown as JSON', () => {
    const given = { key: 'k', hosts: ['a', 'b'], sizes: [1], tags: ['a'] };
    const initial = Object.fromEntries(fieldsOf(rich, given).map((one) => [one.name, one.initial]));
    expect(initial).toMatchObject({ key: '', hosts: 'a\nb', sizes: '1', tags: ['"a"'] });
    const [hosts] = fieldsOf(rich, { hosts: ['a\nb'] }).filter(({ name }) => name === 'hosts');
    expect(hosts).toMatchObject({ kind: 'json', initial: '["a\\nb"]' });
  });

  test('resolve references and nullable types', () => {
    const generated = {
      $defs: { Mode: { enum: ['fast', 'exact'] } },
      properties: {
        mode: { $ref: '#/$defs/Mode' },
        limit: { anyOf: [{ type: 'integer' }, { type: 'null' }], title: 'Limit' },
        note: { type: ['string', 'null'] },
        loop: { $ref: '#/$defs/Loop' },
      },
    };
    expect(fieldsOf(generated, null).map(({ label, kind }) => [label, kind])).toEqual([
      ['mode', 'choice'],
      ['Limit', 'number'],
      ['note', 'text'],
      ['loop', 'json'],
    ]);
  });
});

describe('a form without a schema, or for a schema without properties', () => {
  const fields = fieldsOf({ type: 'object' }, { a: 1 });

  test('edits all parameters as one object', () => {
    expect(fields).toHaveLength(1);
    expect(fields[0]).toMatchObject({ kind: 'json', initial: '{\n  "a": 1\n}' });
    expect(paramsOf(fields, {})).toEqual({ params: { a: 1 } });
    expect(paramsOf(fields, { '': '' })).toEqual({ params: {} });
  });

  test('refuses any value other than an object', () => {
    expect(paramsOf(fields, { '': '[1]' })).toEqual({
      errors: { '': 'Enter a JSON object.' },
    });
  });
});

test('previous inputs are the distinct parameters of earlier runs, without secrets', () => {
  const run = (run_id: string, params: Run['params']) => ({ run_id, params }) as Run;
  const fields = fieldsOf({ properties: { key: { type: 'string', format: 'password' } } }, null);
  const runs = [
    run('4', { city: 'Bern', key: 'new' }),
    run('3', null),
    run('2', { key: 'old', city: 'Bern' }),
    run('1', { city: 'Rome' }),
    run('0', { key: 'only' }),
  ];
  const found = previousInputs(runs, fields);
  expect(found.map(({ run: { run_id }, params, summary }) => [run_id, params, summary])).toEqual([
    ['4', { city: 'Bern' }, 'city: "Bern"'],
    ['1', { city: 'Rome' }, 'city: "Rome"'],
  ]);
});
