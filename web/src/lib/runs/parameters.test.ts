import { describe, expect, test } from 'vitest';
import { fieldsOf, paramsOf } from './parameters.ts';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', title: 'City', description: 'Where to look.' },
    limit: { type: 'integer', default: 10 },
    dry: { type: 'boolean' },
    level: { enum: ['low', 'high', 3] },
    more: { type: 'array' },
  },
  required: ['city'],
};

describe('a form for the parameters of a schema', () => {
  test('has a field for each property, with its default or previous value', () => {
    const fields = fieldsOf(schema, null);
    expect(fields.map(({ name, kind, initial }) => [name, kind, initial])).toEqual([
      ['city', 'text', ''],
      ['limit', 'number', '10'],
      ['dry', 'flag', false],
      ['level', 'choice', ''],
      ['more', 'json', ''],
    ]);
    expect(fields[0]).toMatchObject({ label: 'City', hint: 'Where to look.', required: true });
    expect(fields[3]?.choices).toEqual(['"low"', '"high"', '3']);
    const given = fieldsOf(schema, { city: 'Bern', limit: 3, dry: true, more: [1] });
    expect(given.map(({ initial }) => initial)).toEqual(['Bern', '3', true, '', '[1]']);
  });

  test('returns the values in their types, and omits empty fields', () => {
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
  });
});

describe('without a schema, or with a schema without properties', () => {
  const fields = fieldsOf({ type: 'object' }, { a: 1 });

  test('edits all parameters as one object', () => {
    expect(fields).toHaveLength(1);
    expect(fields[0]).toMatchObject({ kind: 'json', initial: '{\n  "a": 1\n}' });
    expect(paramsOf(fields, {})).toEqual({ params: { a: 1 } });
    expect(paramsOf(fields, { '': '' })).toEqual({ params: {} });
  });

  test('refuses a value that is not an object', () => {
    expect(paramsOf(fields, { '': '[1]' })).toEqual({
      errors: { '': 'Enter a JSON object.' },
    });
  });
});
