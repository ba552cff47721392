import { describe, expect, test } from 'vitest';
import { safeImportsOf, shadowsLibrary } from './imports.ts';

describe('the imports of a script', () => {
  test.for([
    ['import json', ['json']],
    [
      'import json, logging as log, urllib.request  # and more',
      ['json', 'logging', 'urllib.request'],
    ],
    ['import os; import re', ['re']],
    ['from urllib.parse import (quote,\n    unquote)', ['urllib.parse']],
    ['from concurrent import futures', ['concurrent.futures']],
    ['from . import json', []],
    ['def f():\n\timport csv', ['csv']],
    ['import pandas, requests', []],
    ['import multiprocessing, tkinter, sysconfig', []],
    ['important = 1\nfromage = 2', []],
  ] as const)('are found in %j', ([text, found]) => {
    expect(safeImportsOf([text])).toEqual(found);
  });

  test('include the imports of all files, without duplicates', () => {
    expect(safeImportsOf(['import re', 'import json, re'])).toEqual(['json', 're']);
  });
});

describe('the files of a script', () => {
  test.for([
    ['json.py'],
    ['random/__init__.py'],
    ['logging/handlers.py'],
    ['lib/queue.py'],
    ['lib/email/x.txt'],
    ['select.cpython-312-x86_64-linux-gnu.so'],
    ['sitecustomize.py'],
  ])('may shadow a library module: %s', ([path = '']) => {
    expect(shadowsLibrary(['main.py', path])).toBe(true);
  });

  test.for([
    ['helpers.py'],
    ['bot/__init__.py', 'bot/json.py', 'bot/logging/x.py'],
    ['data/a.txt'],
  ])('do not shadow a library module: %s', (paths) => {
    expect(shadowsLibrary(['main.py', ...paths])).toBe(false);
  });
});
