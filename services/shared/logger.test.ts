import { expect, test } from 'vitest';
import { createLogger } from './logger.ts';

test('the logger writes JSON lines with the service name, without secrets', () => {
  const lines: string[] = [];
  const logger = createLogger('backend', 'info', { write: (line) => void lines.push(line) });
  logger.debug('not written');
  logger.warn({ runId: 'r1', password: 'hunter2', user: { token: 'hunter2' } }, 'login refused');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
      service: 'backend',
      message: 'login refused',
      runId: 'r1',
      password: '***',
      user: { token: '***' },
    },
  ]);
});
