/** The program of the separate process of `ParameterSchemas`. Ends when it has been idle for some time. */
import { Examination } from './examination.ts';
import type { Question } from './parameter-schemas.ts';

const examination = new Examination();

process.on('message', ({ schema, value }: Question) => {
  process.send?.(
    value === undefined ? examination.ofSchema(schema) : examination.ofValue(schema, value),
  );
});
process.once('disconnect', () => process.exit(0));
// The first schema takes the longest, because the meta-schema is compiled for it.
examination.ofSchema('{}');
process.send?.('ready');
