import { cpuMsOf } from '#infra/testing/cpu-time.ts';
import { describe, expect, test } from 'vitest';
import { LogLevels, levelOf } from '#domain/run/log-level.ts';

const lines = {
  debug: [
    'DEBUG:asyncio:Using selector: EpollSelector',
    '2026-01-01 12:00:00.123 | TRACE    | __main__:load:7 - row 1',
    '{"level":20,"time":1767268800000,"pid":7,"hostname":"vm","msg":"cache miss"}',
    '{"level_number": 10, "event": "cache miss"}',
  ],
  info: [
    'INFO:     Started server process [7]',
    '[INFO] loading',
    'INFO  [alembic.runtime.migration] Running upgrade',
    'INFO     loading                      main.py:3',
    'INFO | loading',
    '12:00:00.123 | INFO    | prefect.engine - Created flow run',
    '2026-01-01 12:00:00,123 - distributed.worker - INFO - Start worker',
    '2026-01-01 12:00:00 [scrapy.core.engine] INFO: Spider opened',
    '2026-01-01 12:00:00 [info     ] started                        rows=3',
    '[2026-01-01 12:00:00 +0000] [7] [INFO] Starting gunicorn 23.0.0',
    '[2026-01-01 12:00:00,123: INFO/MainProcess] celery@vm ready.',
    '[2026-01-01T12:00:00.123+0000] {taskinstance.py:123} INFO - Executing',
    '2026-01-01T12:00:00.123456Z  INFO polars: read 3 files',
    '2026-01-01 12:00:00.123 | SUCCESS  | __main__:<module>:7 - saved',
    'I0101 12:00:00.123456 140 main.py:5] loading',
    'time=2026-01-01T12:00:00Z level=info msg="listening"',
    '{"timestamp": "2026-01-01T12:00:00Z", "levelname": "INFO", "message": "loading"}',
    '{"level":30,"time":1767268800000,"msg":"listening"}',
    '{"severity": "NOTICE", "message": "deployed"}',
  ],
  warning: [
    'WARNING:root:disk is almost full',
    'WARNING: Running pip as the root user can result in broken permissions',
    '[12:00:00] WARNING  disk is almost full                  main.py:3',
    '           WARNING  disk is almost full                  main.py:4',
    '\u001b[33m[warning  ]\u001b[0m disk is almost full',
    '[\u001b[33mwarning  \u001b[0m] disk is almost full',
    "event='disk is almost full' level='warning' rows=3",
    '/app/main.py:3: DeprecationWarning: datetime.utcnow() is deprecated',
    '2026-01-01 12:00:00,123 WARNING urllib3.connectionpool: Retrying',
    '{"event": "disk is almost full", "level": "warning", "timestamp": "2026-01-01T12:00:00Z"}',
    '{"text": "x", "record": {"level": {"icon": "!", "name": "WARNING", "no": 30}}}',
    '{"message": "disk is almost full", "levelno": 30}',
  ],
  error: [
    'ERROR:root:could not connect',
    'root - ERROR - could not connect',
    '2026-01-01 12:00:00,123 app.db ERROR could not connect',
    '2026-01-01 12:00:00,123 root ERROR    could not connect',
    'ERROR 2026-01-01 12:00:00,123 db could not connect',
    '[ERROR/Process-1] could not connect',
    'main.py: error: the following arguments are required: --city',
    '2026-01-01 12:00:00,123 - name - ERROR - could not connect',
    '[2026-01-01 12:00:00,123] ERROR in app: Exception on / [GET]',
    '2026/01/01 12:00:00 [error] 31#31: *1 open() failed',
    '2026-01-01 12:00:00,123 [MainThread] ERROR db - could not connect',
    '\u001b[31mERROR\u001b[0m:    Exception in ASGI application',
    'Traceback (most recent call last):',
    '{"level":50,"time":1767268800000,"pid":7,"hostname":"vm","msg":"could not connect"}',
    '{"@timestamp":"2026-01-01T12:00:00Z","log.level":"error","message":"could not connect"}',
  ],
  critical: [
    'CRITICAL:root:out of disk',
    '2026-01-01 12:00:00.123 | CRITICAL | __main__:<module>:7 - out of disk',
    '{"level":"fatal","ts":1767268800.1,"msg":"out of disk"}',
    'level=fatal msg="out of disk"',
    'ts=2026-01-01T12:00:00Z caller=main.py:3 msg="out of disk" level=fatal',
  ],
} as const;

const withoutLevel = [
  '',
  'hello',
  'no ERROR found',
  'ERROR RATE 0.1',
  'ERROR: 0',
  'CRITICAL Path: 5 days',
  'INFO desk opens at 8',
  'Error: Cannot find module',
  '2026-01-01 12:00:00 found ERROR in report.csv',
  '12:00:00 ERRORS 3',
  'level=5 boss=dragon',
  '[errors] 3',
  '{"level": 3, "message": "dragon"}',
  '{"level": "high", "message": "tide"}',
  '{"level": "error", "count": 3}',
  '{"message": "the level is \\"error\\""}',
  '{"level": "error"',
  '{not json "level": "error"}',
  `{"level": "error", "message": "${'x'.repeat(20_000)}"}`,
];

describe('levelOf', () => {
  for (const [level, texts] of Object.entries(lines)) {
    test.each(texts)(`returns ${level} for %s`, (text) => expect(levelOf(text, null)).toBe(level));
  }

  test.each(withoutLevel)('returns no level for %s', (text) =>
    expect(levelOf(text, null)).toBeNull(),
  );

  test('takes linear time for a line that resembles every format', () => {
    const line = `2026-01-01 12:00:00 ${'a - [b] '.repeat(8_000)}ERROR`;
    const cpuMs = cpuMsOf(() => {
      for (let count = 0; count < 100; count += 1) expect(levelOf(line, null)).toBeNull();
    });
    expect(cpuMs).toBeLessThan(1_000);
  });
});

describe('LogLevels', () => {
  test.each(['INFO:root:starting', 'WARNING:root:retrying', 'hello'])(
    'assigns the level of an error to a traceback after %s',
    (text) => {
      const levels = new LogLevels();
      levels.next('stderr', text);
      expect(levels.next('stdout', 'hello')).toBeNull();
      expect(levels.next('stderr', 'Traceback (most recent call last):')).toBe('error');
      expect(levels.next('stderr', 'ValueError: n/a')).toBe('error');
      expect(levels.next('stderr', 'of row 7')).toBe('error');
    },
  );

  test('assigns the level of a critical record to its traceback', () => {
    const levels = new LogLevels();
    expect(levels.next('stderr', 'CRITICAL:root:out of disk')).toBe('critical');
    expect(levels.next('stderr', 'Traceback (most recent call last):')).toBe('critical');
    expect(levels.next('stderr', 'OSError: n/a')).toBe('critical');
  });

  test('assigns the level of an error to all lines of chained tracebacks and syntax errors', () => {
    const texts = [
      'Traceback (most recent call last):',
      '  File "main.py", line 1, in <module>',
      '    work()',
      'KeyError: 1',
      'During handling of the above exception, another exception occurred:',
      'Traceback (most recent call last):',
      '  File "main.py", line 2, in <module>',
      'ValueError: n/a',
    ];
    const syntax = [
      '  File "main.py", line 1',
      '    if x',
      '        ^',
      "SyntaxError: expected ':'",
    ];
    for (const text of [...texts, ...syntax]) {
      const levels = new LogLevels();
      for (const before of texts.slice(0, texts.indexOf(text))) levels.next('stderr', before);
      for (const before of syntax.slice(0, syntax.indexOf(text))) levels.next('stderr', before);
      expect(levels.next('stderr', text), text).toBe('error');
    }
    const levels = new LogLevels();
    for (const text of texts) levels.next('stderr', text);
    expect(levels.next('stderr', '')).toBeNull();
    expect(levels.next('stderr', 'INFO:root:cleaning up')).toBe('info');
  });

  test('assigns the level of a record to its continuation lines', () => {
    const levels = new LogLevels();
    expect(levels.next('stderr', 'ERROR:root:not loaded:')).toBe('error');
    expect(levels.next('stderr', 'row 7')).toBe('error');
    expect(levels.next('stderr', '')).toBeNull();
    expect(levels.next('stderr', '  column 2')).toBe('error');
    expect(levels.next('stderr', 'INFO:root:closing')).toBe('info');
    expect(levels.next('stdout', 'row 8')).toBeNull();
    const rows = Array.from({ length: 60 }, () => levels.next('stderr', 'row 9'));
    expect([rows[0], rows[49], rows[50], rows[59]]).toEqual(['info', 'info', null, null]);
  });

  test('assigns no level to other output on stdout', () => {
    const levels = new LogLevels();
    expect(levels.next('stdout', 'INFO:root:rows:')).toBe('info');
    expect(levels.next('stdout', '    7')).toBe('info');
    expect(levels.next('stdout', 'total 7')).toBeNull();
    expect(levels.next('stdout', '    8')).toBeNull();
  });

  test('assigns no level to messages from the platform', () => {
    expect(new LogLevels().next('system', 'ERROR:root:text')).toBeNull();
  });
});
