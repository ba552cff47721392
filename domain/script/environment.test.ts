import { describe, expect, test } from 'vitest';
import { environmentProblem } from './environment.ts';

describe('environment variables of a script', () => {
  test.each(['TZ', 'a', '_X1', 'HTTP_PROXY', 'MY_PATH', 'PATHS'])(
    'may have the name %s',
    (name) => {
      expect(environmentProblem({ [name]: 'x=y é' })).toBeUndefined();
    },
  );

  test.each(['', '1A', 'A-B', 'A=B', 'A B', 'É', 'A\n', 'X'.repeat(129)])(
    'may not have the name %j',
    (name) => {
      expect(environmentProblem({ [name]: '' })).toMatch('is no name');
    },
  );

  test.each([
    'PATH',
    'LD_PRELOAD',
    'LD_',
    'PYTHONPATH',
    'PYTHON',
    '_PYTHON_SYSCONFIGDATA_NAME',
    '__PYVENV_LAUNCHER__',
    'ORCH_RUN_ID',
  ])('may not set %s, which is reserved for the platform', (name) => {
    expect(environmentProblem({ [name]: 'x' })).toMatch('the platform alone');
  });

  test('have a maximum total size', () => {
    expect(environmentProblem({ A: 'é'.repeat(32 * 1024) })).toMatch('more than');
    expect(environmentProblem({ A: 'x'.repeat(64 * 1024 - 1) })).toBeUndefined();
  });
});
