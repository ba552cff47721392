/** Stores the compiled code of a test file for other processes, as soon as it is loaded: vitest ends its processes by a
 *  signal, after which Node would store nothing. */
import { flushCompileCache } from 'node:module';
import { beforeAll } from 'vitest';

beforeAll(() => flushCompileCache());
