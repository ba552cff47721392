/** Stores the code that a test file has compiled for the next ones: vitest ends its processes by a signal, after which
 *  Node would store nothing. */
import { flushCompileCache } from 'node:module';
import { afterAll } from 'vitest';

afterAll(() => flushCompileCache());
