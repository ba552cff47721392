import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import type { Objection } from '../faults.ts';
import { ParameterSchemas } from './parameter-schemas.ts';

const schemas = new ParameterSchemas(10_000);
const impatient = new ParameterSchemas(300);
afterAll(async () => {
  await Promise.all([schemas.close(), impatient.close()]);
});

const ofSchema = (schema: object) => schemas.schemaProblem(schema, 'parameters_schema');
const ofValue = (schema: object, value: unknown, by = schemas) =>
  by.valueProblem(schema, value, 'params');
const faults = (problem: Objection | undefined) =>
  problem?.errors?.map(({ pointer, detail }) => [pointer, detail]);

/** Returns a schema in which each level refers to the next level twice, so that validation takes exponential time. */
function doubling(levels: number): object {
  const $defs = Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/$defs/l${level + 1}` };
      return [`l${level}`, { allOf: [next, { $ref: `#/$defs/l${level + 1}` }] }];
    }),
  );
  return { $ref: '#/$defs/l0', $defs: { ...$defs, [`l${levels}`]: { type: 'object' } } };
}

const evilPattern = { properties: { a: { pattern: '^(a+)+$' } } };
const evilText = { a: `${'a'.repeat(40)}!` };

describe('a script’s parameter schema', () => {
  test('is accepted in either supported draft of JSON Schema', async () => {
    for (const schema of [
      {},
      { type: 'object', required: ['a'], properties: { a: { type: 'integer', default: 1 } } },
      { $schema: 'https://json-schema.org/draft/2020-12/schema', prefixItems: [{}] },
      { properties: { child: { $ref: '#' } } },
      { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} } },
      { 'x-ui': { widget: 'slider' }, format: 'of my own' },
      { $id: 'https://example.com/a', $defs: { b: { type: 'null' } }, $ref: '#/$defs/b' },
    ]) {
      expect(await ofSchema(schema), JSON.stringify(schema)).toBeUndefined();
    }
  });

  test.each([
    [{ type: 'objekt' }, '/parameters_schema/type'],
    [{ properties: { a: { minimum: 'one' } } }, '/parameters_schema/properties/a/minimum'],
    [{ properties: { a: { pattern: '(' } } }, '/parameters_schema'],
    [{ $ref: '#/$defs/none' }, '/parameters_schema'],
    [{ $schema: 'https://example.com/mine' }, '/parameters_schema/$schema'],
    [{ $async: true }, '/parameters_schema/$async'],
  ])('is refused with the location of the error: %j', async (schema, pointer) => {
    const problem = await ofSchema(schema);
    expect(problem?.code).toBe('validation_failed');
    expect(problem?.errors?.[0]?.pointer).toBe(pointer);
  });

  test('cannot load parts from other URLs', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/schema.json`;
    for (const schema of [{ $ref: address }, { $id: address, $ref: 'other.json' }]) {
      expect(faults(await ofSchema(schema))?.[0]?.[0]).toBe('/parameters_schema');
    }
    expect(await ofSchema({ $schema: address })).toBeDefined();
    server.close();
    await once(server, 'close');
    expect(asked).toBe(0);
  });

  test('cannot refer to parts of other schemas', async () => {
    const $id = 'https://example.com/shared';
    expect(await ofSchema({ $id, type: 'integer' })).toBeUndefined();
    expect(await ofSchema({ $ref: $id })).toBeDefined();
    expect(await ofSchema({ $id, type: 'string' })).toBeUndefined();
    const standard = 'https://json-schema.org/draft/2020-12/schema';
    expect(await ofSchema({ $id: standard, properties: { type: false } })).toBeUndefined();
    expect(await ofSchema({ type: 'objekt' })).toBeDefined();
    expect(await ofSchema({ type: 'object' })).toBeUndefined();
  });

  test('is refused if it is too large', async () => {
    const problem = await ofSchema({ description: 'x'.repeat(70_000) });
    expect(faults(problem)).toEqual([['/parameters_schema', 'exceeds 65536 bytes']]);
  });
});

describe('parameters', () => {
  const schema = {
    type: 'object',
    required: ['limit'],
    additionalProperties: false,
    properties: { limit: { type: 'integer', minimum: 1 }, tags: { items: { type: 'string' } } },
  };

  test('are accepted unchanged if they match the schema', async () => {
    const value = { limit: 3, tags: ['a'] };
    expect(await ofValue(schema, value)).toBeUndefined();
    expect(value).toEqual({ limit: 3, tags: ['a'] });
  });

  test('are refused with the location of every mismatch', async () => {
    expect(faults(await ofValue(schema, { limit: 0, tags: ['a', 1], more: 1 }))).toEqual([
      ['/params/more', 'is unknown'],
      ['/params/limit', 'must be >= 1'],
      ['/params/tags/1', 'must be string'],
    ]);
    expect(faults(await ofValue(schema, {}))).toEqual([['/params/limit', 'is required']]);
  });

  test('are refused with a limited number of errors', async () => {
    const value = { list: Array.from({ length: 5000 }, () => 1) };
    const strings = { properties: { list: { items: { type: 'string' } } } };
    expect(faults(await ofValue(strings, value))).toHaveLength(20);
  });

  test('are validated against their own schema among many schemas', async () => {
    const checks = Array.from({ length: 90 }, (_, number) =>
      ofValue({ properties: { a: { const: number } } }, { a: number }),
    );
    expect(new Set(await Promise.all(checks))).toEqual(new Set([undefined]));
    for (let number = 0; number < 120; number += 1) {
      const own = { properties: { b: { const: number } } };
      expect(faults(await ofValue(own, { b: -1 }))).toHaveLength(1);
    }
  });
});

describe('parameter validation', () => {
  test.each([
    ['a slow pattern', evilPattern, evilText],
    ['exponentially growing references', doubling(40), {}],
  ])('stops at the time limit for a schema with %s', async (_, schema, value) => {
    const tooMuch = [['/params', 'cannot be checked: the schema is too complex']];
    expect(faults(await ofValue(schema, value, impatient))).toEqual(tooMuch);
    const startedMs = performance.now();
    expect(faults(await ofValue(schema, value, impatient))).toEqual(tooMuch);
    expect(performance.now() - startedMs).toBeLessThan(300);
    expect(await ofValue({ type: 'object' }, {}, schemas)).toBeUndefined();
  });

  test('fails if the references in the schema are infinitely recursive', async () => {
    const itself = { allOf: [{ $ref: '#/$defs/a' }] };
    expect(faults(await ofValue({ ...itself, $defs: { a: itself } }, {}))).toEqual([
      ['/params', 'cannot be checked: the schema references itself endlessly'],
    ]);
  });

  test('fails if it would use too much memory', async () => {
    const wide = { allOf: Array.from({ length: 400 }, () => ({ items: { type: 'string' } })) };
    const value = Array.from({ length: 15_000 }, () => 1);
    const problem = await ofValue(wide, value, new ParameterSchemas(30_000));
    expect(faults(problem)).toEqual([['/params', 'cannot be checked: the schema is too complex']]);
  });

  test('is refused as unavailable when too many validations are pending', async () => {
    const answers = Array.from({ length: 101 }, () => ofValue({}, {}));
    expect((await Promise.all(answers)).map((one) => one?.code)).toEqual([
      ...Array.from({ length: 100 }, () => undefined),
      'unavailable',
    ]);
  });
});
