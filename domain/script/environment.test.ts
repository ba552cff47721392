import { describe, expect, test } from 'vitest';
import { environmentProblem } from './environment.ts';

describe('an environment variable of a script', () => {
  test.each(['TZ', 'a', '_X1', 'HTTP_PROXY', 'MY_PATH', 'PATHS'])('may be named %s', (name) => {
    expect(environmentProblem({ [name]: 'x=y é' })).toBeUndefined();
  });

  test.each(['', '1A', 'A-B', 'A=B', 'A B', 'É', 'A\n', 'X'.repeat(129)])(
    'may not be named %j',
    (name) => {
      expect(environmentProblem({ [name]: '' })).toMatch('is not a valid variable name');
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
  ])('may not be %s, which is reserved for the platform', (name) => {
    expect(environmentProblem({ [name]: 'x' })).toMatch('reserved for the platform');
  });

  test('may not exceed the size limit', () => {
    expect(environmentProblem({ A: 'é'.repeat(32 * 1024) })).toMatch('exceed');
    expect(environmentProblem({ A: 'x'.repeat(64 * 1024 - 1) })).toBeUndefined();
  });
});
