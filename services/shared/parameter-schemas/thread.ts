/** The thread of `ParameterSchemas`. */
import { parentPort } from 'node:worker_threads';
import { Examination } from './examination.ts';
import type { Question } from './parameter-schemas.ts';

const examination = new Examination();

parentPort?.on('message', ({ schema, value }: Question) => {
  parentPort?.postMessage(
    value === undefined ? examination.ofSchema(schema) : examination.ofValue(schema, value),
  );
});
// The first schema takes the longest: the standard's own is compiled for it.
examination.ofSchema('{}');
parentPort?.postMessage('ready');
