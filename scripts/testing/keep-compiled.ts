/** Stores the compiled code of a test file for other processes as soon as the file is loaded. Vitest ends its processes
 *  with a signal, and Node.js then stores nothing. */
import { flushCompileCache } from 'node:module';
import { beforeAll } from 'vitest';

beforeAll(() => flushCompileCache());
