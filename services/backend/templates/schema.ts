/** The wire format of script templates. */
import Type from 'typebox';
import { Exact, OneLine, Page } from '../http/schema.ts';
import { templateIds } from './templates.ts';

const templateFile = { path: Type.String(), size_bytes: Type.Integer({ minimum: 0 }) };
export const TemplatePage = Page(
  'TemplatePage',
  Exact(
    {
      id: Type.Enum([...templateIds]),
      name: OneLine(200),
      description: Type.String({ maxLength: 10_000 }),
      files: Type.Array(Exact(templateFile)),
    },
    {
      title: 'Template',
      examples: [
        {
          id: 'etl-job',
          name: 'ETL job',
          description: 'Reads a CSV file, aggregates it and writes the result.',
          files: [{ path: 'main.py', size_bytes: 2051 }],
        },
      ],
    },
  ),
);
