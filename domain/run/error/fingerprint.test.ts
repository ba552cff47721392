// Long because each grouping rule has examples.
import { describe, expect, test } from 'vitest';
import type { Frame, RaisedError } from './error.ts';
import { scriptId } from '#domain/testing/ids.ts';
import { fingerprintOf } from './fingerprint.ts';

const own: Frame = { file: 'main.py', line: 7, function: 'load', code: 'float(row[1])', own: true };
const other: Frame = { ...own, file: 'csv.py', function: 'read', code: 'next(rows)', own: false };

function error(change: Partial<RaisedError> = {}): RaisedError {
  return { type: 'ValueError', message: "bad: 'x1'", frames: [other, own], causes: [], ...change };
}

const fingerprint = (one: RaisedError, script = scriptId()) => fingerprintOf(one, script);

describe('two errors have the same fingerprint', () => {
  test.each([
    ['moved lines', { frames: [other, { ...own, line: 90 }] }],
    ['a different value in the message', { message: "bad: 'y2'" }],
    ['changed code in a package', { frames: [{ ...other, line: 1, code: 'rows()' }, own] }],
    ['a deeper recursion', { frames: [other, own, own, own] }],
    ['a deeper mutual recursion', { frames: [other, own, other, own, other, own] }],
    ['a comment', { frames: [other, { ...own, code: "float(row[1])  # isn't empty" }] }],
    ['different indentation', { frames: [{ ...own, code: 'float(row[1])  ' }] }],
  ])('despite %s', (_situation, change) => {
    expect(fingerprint(error(change))).toBe(fingerprint(error()));
  });

  test('if only the number of equal causes differs', () => {
    const cause = { type: 'OSError', message: 'a', frames: [own], relation: 'member' } as const;
    const [one, three] = [[cause], [cause, { ...cause, message: 'b' }, cause]];
    expect(fingerprint(error({ causes: three }))).toBe(fingerprint(error({ causes: one })));
  });

  test('if the members of an exception group are in a different order', () => {
    const member = (type: string) =>
      ({ type, message: '', frames: [own], relation: 'member' }) as const;
    const [one, another] = [
      [member('OSError'), member('KeyError')],
      [member('KeyError'), member('OSError')],
    ];
    expect(fingerprint(error({ causes: one }))).toBe(fingerprint(error({ causes: another })));
  });

  test.each([
    [
      'the text that the script inserts differs',
      'no customer Ada',
      'no customer Bob',
      "raise KeyError(f'no {name}')",
    ],
    ['the whole message is a name', 'Ada', 'Bob', 'raise UnknownCustomer(name)'],
    [
      'the exception class formats the message',
      'no user Ada here',
      'no user Bob here',
      'raise NoUser(name)',
    ],
    [
      'the script raises an exception from a variable',
      'no user Ada here',
      'no user Bob here',
      'raise error',
    ],
    [
      'a value differs after a condition',
      'no user Ada',
      'no user Bob',
      'if not found: raise E(f"no user {name}")',
    ],
    [
      'the arguments of a command differ',
      `Command '["sh", "it's"]' returned non-zero exit code 1.`,
      `Command '['sh', 'bob', '-c']' returned non-zero exit code 1.`,
      'subprocess.run(command, check=True)',
    ],
    [
      'values in the message of a library differ',
      '404 Client Error: Not Found for url: https://a.example/1',
      '404 Client Error: Not Found for url: https://b.example/2?x=y',
      'response.raise_for_status()',
    ],
    [
      'the file name differs',
      "[Errno 2] No such file: '/a'",
      "[Errno 2] No such file: '/b'",
      'open(path)',
    ],
  ])('if %s', (_difference, one, another, code) => {
    const frames = [{ ...own, code }];
    expect(fingerprint(error({ frames, message: one }))).toBe(
      fingerprint(error({ frames, message: another })),
    );
  });

  test('regardless of the function in which a mutual recursion ends', () => {
    const [a, b, leaf] = ['a', 'b', 'leaf'].map((name) => (code: string): Frame => ({
      ...own,
      function: name,
      code,
    }));
    if (!a || !b || !leaf) throw new Error('three functions are required');
    const round = [a('b(row)'), b('a(row)'), a('b(row)')];
    const inFirst = [...round, b('a(row)'), a('leaf(row)'), leaf('row.value')];
    const inSecond = [...round, b('leaf(row)'), leaf('row.value')];
    expect(fingerprint(error({ frames: inSecond }))).toBe(fingerprint(error({ frames: inFirst })));
    const other = [...round, b('leaf(row)'), leaf('row.amount')];
    expect(fingerprint(error({ frames: other }))).not.toBe(fingerprint(error({ frames: inFirst })));
  });

  test('regardless of the line at which a recursion exceeds the maximum depth', () => {
    const deep = (message: string, ...codes: readonly [name: string, code: string][]) =>
      fingerprint(
        error({
          type: 'RecursionError',
          message,
          frames: [own, ...codes.map(([name, code]) => ({ ...own, function: name, code }))],
        }),
      );
    const round = [
      ['a', 'b()'],
      ['b', 'a()'],
    ] as const satisfies readonly [string, string][];
    const exceeded = 'maximum recursion depth exceeded';
    const plain = deep(exceeded, ...round, ...round);
    expect(deep(exceeded, ...round, ...round, ['a', 'b()'])).toBe(plain);
    const inCall = `${exceeded} while calling a Python object`;
    expect(deep(inCall, ...round, ...round, ['a', 'len(rows)'])).toBe(plain);
    expect(deep(inCall, ...round, ...round, ['helper', 'len(rows)'])).toBe(plain);
  });

  test('if a value in a multi-line statement differs', () => {
    const text = 'raise ValueError( f"no rows of {name}" )';
    for (const code of ['raise ValueError(', text]) {
      const frames = [{ ...own, code }];
      const [ada, bob] = ['no rows of Ada', 'no rows of Bob'].map((message) =>
        fingerprint(error({ frames, message })),
      );
      expect(bob, code).toBe(ada);
    }
  });

  test('if a value in a multi-line assertion differs', () => {
    const frames = [{ ...own, code: 'a == b' }];
    const [ada, bob] = ['no rows of Ada', 'no rows of Bob'].map((message) =>
      fingerprint(error({ type: 'AssertionError', message, frames })),
    );
    expect(bob).toBe(ada);
  });

  test.each([
    ['users[name]', 'KeyError', "'ada'", "'bob'"],
    ['row["k1"], row["k2"]', 'KeyError', "'k1'", "'k2'"],
    ['plugins.user_7', 'AttributeError', "no attribute 'user_7'", "no attribute 'user_8'"],
    [
      'row.url',
      'AttributeError',
      "no attribute 'url'. Did you mean: 'uri'?",
      "no attribute 'url'. Did you mean: 'urn'?",
    ],
  ])('if a missing name can be a value: %s', (code, type, one, another) => {
    const frames = [{ ...own, code }];
    expect(fingerprint(error({ frames, type, message: one }))).toBe(
      fingerprint(error({ frames, type, message: another })),
    );
  });

  test('if different scripts contain the same code', () => {
    expect(fingerprint(error(), scriptId(2))).toBe(fingerprint(error()));
  });

  test.each([
    ['port 8080 is taken', 'port 9 is taken'],
    ["no file '/a/b'", "no file '/c'"],
    ['run 1f2e3d4c5b6a lost', 'run 99aa88bb77cc lost'],
  ])('if they have no frames and only values differ: %s', (one, another) => {
    const frames: Frame[] = [];
    const [first, second] = [one, another].map((message) => error({ frames, message }));
    expect(fingerprint(first ?? error())).toBe(fingerprint(second ?? error()));
  });
});

/** Returns values of one kind, without quotes. */
const values: Readonly<Record<string, readonly string[]>> = {
  UUIDs: ['0f8fad5b-d9cb-469f-a165-70867728950e', '7C9E6679-7425-40DE-944B-E07FC1F90AE7'],
  ULIDs: ['01A2Z3N4E5T6V7R8F9Q0G5F4V1', '01B2Z5ZK4K9C7T8V9W3V6E1M2R', '01h4v5b4p5x5v5k0n8k0s4n02q'],
  hashes: [
    'd41d8cd98f',
    '9e107d9d372bb6826bd81d3542a419d6',
    '0x7f3a2c',
    'E3B0C44298FC1C149AFBF4C8',
  ],
  'e-mail addresses': ['ada@example.com', 'grace.hopper+test@mail.example.co.uk'],
  'relative paths': [
    'data/customers.csv',
    './out',
    '../lib/données.txt',
    'in/2026/a',
    'orders.json',
    '~/x',
  ],
  'absolute paths': ['/var/data/a b', '/tmp/x.csv'],
  'Windows paths': [
    String.raw`C:\Users\ada\rows.csv`,
    'D:/data/x',
    String.raw`\\server\share\rows`,
    String.raw`data\rows`,
  ],
  'host names with ports': [
    'db1.example.com:5432',
    'localhost:8080',
    'redis:6379',
    'cache-2:11211',
  ],
  'IP addresses': [
    '10.0.0.7',
    '192.168.1.20:8080',
    '2001:db8::8a2e:370:7334',
    '[fe80::1%eth0]:443',
    '::1',
  ],
  'text in backticks': ['`customers`', '`the orders of 2026`'],
  URLs: ['https://a.example/1', 'postgresql://db:5432/x'],
};

/** @returns the fingerprints of an error from a library with this message, and of the same error without frames */
function ofMessage(message: string): readonly string[] {
  return [error({ message }), error({ message, frames: [] })].map((one) => fingerprint(one));
}

describe('errors from a library have the same fingerprint if they differ only in', () => {
  test.each(Object.entries(values))('%s', (_kind, [first = '', ...rest]) => {
    for (const sentence of [
      (value: string) => `could not load ${value} in time`,
      (value: string) => `(${value}) is not valid`,
      (value: string) => `no answer for id=${value}, closing`,
    ]) {
      for (const value of rest.map((one) => one.split(' ').join('_'))) {
        expect(ofMessage(sentence(value)), value).toEqual(
          ofMessage(sentence(first.split(' ').join('_'))),
        );
      }
    }
  });

  test('several values', () => {
    const of = (id: string, host: string) =>
      ofMessage(`task ${id} lost ${host}, ${host} and ${id}`);
    expect(of('0f8fad5b-d9cb-469f-a165-70867728950e', 'db1.example.com:5432')).toEqual(
      of('7c9e6679-7425-40de-944b-e07fc1f90ae7', '10.0.0.7'),
    );
  });
});

test('a comment in the code does not affect whether the fingerprint contains the message', () => {
  const of = (code: string, message: string) =>
    fingerprint(error({ message, frames: [{ ...own, code }] }));
  const line = "raise ValueError('# of rows is odd')";
  expect(of(`${line}  # never`, 'one here')).toBe(of(line, 'two here'));
  expect(of(line, 'one')).not.toBe(of("raise ValueError('# of rows is even')", 'one'));
  const call = "load(rows)  # don't raise";
  expect(of(call, 'one error')).not.toBe(of(call, 'another error'));
});

describe('errors from a library have different fingerprints', () => {
  test.each([
    ['Input/output error in the table', 'Read/write error in the table'],
    ['no decoder for application/json here', 'no decoder for text/html here'],
    ['module numpy.linalg has no data', 'module scipy.sparse has no data'],
    ['the facade was not found', 'the decade was not found'],
    ['unknown option errno:5 here', 'unknown option status:5 here'],
    ['certificate verify failed for the host', 'connection refused by the host'],
    ['column customer_name does not exist', 'column customer_city does not exist'],
    ['use of utf8mb4_general_ci is refused', 'use of utf8mb4_unicode_ci is refused'],
    ['permission denied for table a', 'permission denied for view a'],
    ['HTTP Error 404 at the server', 'HTTP Error 503 at the server'],
    ['internationalization is not available', 'incomprehensibilities is not available'],
  ])('if one says "%s" and the other "%s"', (one, another) => {
    for (const [index, each] of ofMessage(one).entries()) {
      expect(each).not.toBe(ofMessage(another)[index]);
    }
  });
});

describe('errors have different fingerprints', () => {
  test.each([
    ['connect(row["url"], row[\'password\'])', 'KeyError', "'url'", "'password'"],
    [
      'row.url or row.uri',
      'AttributeError',
      "'Row' object has no attribute 'url'",
      "'Row' object has no attribute 'uri'",
    ],
    [
      'from lib import a, b',
      'ImportError',
      "cannot import name 'a' from 'lib' (/x)",
      "cannot import name 'b' from 'lib' (/x)",
    ],
    ['load()', 'NameError', "name 'rows' is not defined", "name 'columns' is not defined"],
  ])('if the missing name differs: %s', (code, type, one, another) => {
    const frames = [{ ...own, code }];
    expect(fingerprint(error({ frames, type, message: one }))).not.toBe(
      fingerprint(error({ frames, type, message: another })),
    );
  });

  test('if multi-line statements raise exceptions with different messages', () => {
    const raised = (text: string) =>
      error({ message: text, frames: [{ ...own, code: `raise ValueError( "${text}" )` }] });
    expect(fingerprint(raised('no rows'))).not.toBe(fingerprint(raised('no columns')));
  });

  test.each<[string, Partial<RaisedError>]>([
    ['the type', { type: 'KeyError' }],
    ['the function that raises the error', { frames: [other, { ...own, function: 'save' }] }],
    ['the code that raises the error', { frames: [other, { ...own, code: 'int(row[1])' }] }],
    ['the message of a library', { message: 'the disk is full' }],
    ['the cause', { causes: [{ type: 'OSError', message: '', frames: [], relation: 'cause' }] }],
  ])('if %s differs', (_situation, change) => {
    expect(fingerprint(error(change))).not.toBe(fingerprint(error()));
  });

  test.each([
    ['the message text', 'the port is taken', 'the disk is full'],
    ['the exit code', 'The script exited with exit code 3.', 'The script exited with exit code 4.'],
    ['the last digit of the exit code', 'exit code 103', 'exit code 104'],
  ])('if they have no frames and %s differs', (_difference, one, another) => {
    const frames: Frame[] = [];
    expect(fingerprint(error({ frames, message: one }))).not.toBe(
      fingerprint(error({ frames, message: another })),
    );
  });

  test('if different log records precede a call to `sys.exit`', () => {
    const exit = { ...own, code: 'sys.exit(1)' };
    const after = (record: string) =>
      fingerprint(error({ type: 'SystemExit', frames: [exit], message: `exit code 1: ${record}` }));
    expect(after('ERROR:root:database unreachable')).not.toBe(after('ERROR:root:file is missing'));
    expect(after('ERROR: read 3 of 9 rows')).toBe(after('ERROR: read 4 of 8 rows'));
    expect(after('ERROR:app.jobs:no customer: ada')).toBe(after('ERROR:app.jobs:no customer: bob'));
  });

  test('if a script exits with different messages, unless only a value differs', () => {
    const exit = (code: string, message: string) =>
      fingerprint(error({ type: 'SystemExit', frames: [{ ...own, code }], message }));
    const code = 'sys.exit(f"no user {name}")';
    expect(exit(code, 'exit code 1: no user Ada')).toBe(exit(code, 'exit code 1: no user Bob'));
    expect(exit(code, 'a')).not.toBe(exit('sys.exit("no rows")', 'a'));
  });

  test('if a library raises different errors while the script constructs an exception', () => {
    const raised = (message: string) =>
      fingerprint(error({ message, frames: [{ ...own, code: 'raise Failed(rows)' }, other] }));
    expect(raised('the disk is full')).not.toBe(raised('the port is taken'));
  });

  test.each<[string, Partial<RaisedError>]>([
    ['an exit', { type: 'SystemExit', message: 'exit code 1' }],
    ['a signal', { frames: [], message: 'The script was killed by SIGKILL.' }],
    ['a failure in a package', { frames: [other] }],
  ])('if they occur in different scripts: %s', (_kind, change) => {
    expect(fingerprint(error(change), scriptId(2))).not.toBe(fingerprint(error(change)));
  });
});
