/** The process of `ParameterSchemas`. It ends when it is idle. */
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
