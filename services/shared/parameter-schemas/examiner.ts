/** The program of the separate process that `ParameterSchemas` starts. It exits after an idle period. */
import { Examination } from './examination.ts';
import type { Question } from './parameter-schemas.ts';

const examination = new Examination();

process.on('message', ({ schema, value }: Question) => {
  process.send?.(
    value === undefined ? examination.ofSchema(schema) : examination.ofValue(schema, value),
  );
});
process.once('disconnect', () => process.exit(0));
// Compiles the meta-schema in advance, because the first schema would otherwise take the longest.
examination.ofSchema('{}');
process.send?.('ready');
