import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as logs from '#domain/testing/library-logs.ts';
import { endOfRecord, plainLog } from './plain-log.ts';
import { isLogged, parseTraceback } from './traceback.ts';

const places = { root: '/srv/script/1' };
const parse = (text: string) => parseTraceback(plainLog(text), places);
const { group: groups, ...chains } = {
  'python-json-logger': logs.jsonLogger,
  structlog: logs.structlogJson,
  'structlog with structured tracebacks': logs.structlogStack,
  'the console of structlog': logs.structlogConsole,
  'structlog with rich': logs.structlogRich,
  loguru: logs.loguru,
  'loguru as JSON': logs.loguruJson,
  rich: logs.rich,
  'a handler of rich': logs.richHandler,
  group: [logs.structlogGroup, logs.loguruGroup],
};

describe('the converted log of a logging library', () => {
  test.each(Object.entries(chains))('contains the exception and its cause: %s', (name, text) => {
    const error = parse(`${text}\n`);
    expect(error).toMatchObject({ type: 'RuntimeError', message: 'no rows' });
    expect(error?.frames.at(-1)).toMatchObject({ file: 'lib/load.py', line: 5, function: 'rows' });
    expect(error?.causes).toMatchObject([
      {
        type: 'ValueError',
        message: "could not convert string to float: 'n/a'",
        frames: [{ file: 'lib/load.py', line: 3, function: 'rows', own: true }],
        relation: 'cause',
      },
    ]);
    expect(isLogged(plainLog(text))).toBe(name !== 'rich');
  });

  test.each(groups)('contains the members of an exception group', (text) => {
    expect(parse(text)).toMatchObject({
      type: 'ExceptionGroup',
      frames: [{ function: '<module>' }],
      causes: [
        { type: 'ValueError', message: 'one', relation: 'member' },
        { type: 'TypeError', message: 'two', relation: 'member' },
      ],
    });
  });

  test('contains the source lines from a decorated traceback', () => {
    for (const text of [logs.loguru, logs.rich])
      expect(parse(text)?.frames.at(-1)?.code).toBe('raise RuntimeError("no rows") from error');
  });

  test('joins lines that rich has wrapped', () => {
    const error = parse(logs.richWrapped);
    expect(error?.message).toMatch(/double quotes: line 1 column 2 \(char 1\)$/);
    expect(error?.frames.at(-1)?.function).toBe('raw_decode');
  });

  test('contains the level and message of a JSON record', () => {
    const record = '{"event": "disk is full", "level": "error"}';
    expect(plainLog(record)).toBe(`ERROR: disk is full\n${endOfRecord}`);
    for (const other of ['{"rows": 3}', '{"broken', '[1]', '{}', '{"exc_info": [1, {}]}']) {
      expect(plainLog(other)).toBe(other);
    }
  });

  test('contains the inner record if a JSON record wraps another record', () => {
    const inner = '{"level": "error", "message": "payment refused"}';
    const record = JSON.stringify({ severity: 'INFO', message: inner });
    expect(plainLog(record)).toBe(`ERROR: payment refused\n${endOfRecord}`);
    const other = JSON.stringify({ severity: 'INFO', message: '{"a": 1}' });
    expect(plainLog(other)).toBe(`INFO: {"a": 1}\n${endOfRecord}`);
  });

  test('omits the traceback of a record whose level is below warning', () => {
    const record = logs.structlogJson.replace('"error"', '"info"');
    expect(plainLog(record)).toBe(`INFO: not loaded\n${endOfRecord}`);
  });

  test('does not include the lines after a record in the message of its exception', () => {
    for (const text of [logs.jsonLogger, logs.richHandler])
      expect(parse(`${text}\nclosing`)?.message).toBe('no rows');
  });

  test('can be computed for any text', () => {
    const lines = Object.values(chains).flatMap((text) => text.split('\n'));
    const line = fc.oneof(fc.constantFrom(...lines), fc.string(), fc.json());
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (all) => {
        expect(() => parse(all.join('\n'))).not.toThrow();
      }),
    );
  });
});
