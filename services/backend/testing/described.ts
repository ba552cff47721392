/** Compares responses with the API description. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { problemKinds, type ProblemCode } from '../http/problem.ts';
import { uuidFormat } from '../http/validation.ts';
import { securityHeaders } from '../http/wire/security-headers.ts';
import { apiDescription } from '../operations.ts';
import type { Answer } from './test-client.ts';

interface Media {
  readonly schema?: unknown;
}

interface DescribedAnswer {
  readonly content?: Readonly<Record<string, Media>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Described {
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly 'x-websockets': Description['paths'];
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

export const description = JSON.parse(apiDescription()) as Description;

const patterns = Object.entries(description.paths).map(([one, methods]) => ({
  one,
  methods,
  pattern: patternOf(one),
}));

const ajv = new Ajv2020({
  strict: false,
  formats: { uuid: uuidFormat, 'date-time': true, binary: true, int64: true },
});
ajv.addSchema({ $id: 'description', ...description });

/** Returns how an API response deviates from the API description; `undefined` if it conforms. */
export function answerFault(method: string, path: string, answer: Answer): string | undefined {
  const [plainPath = ''] = path.split('?');
  const template = patterns.find(
    ({ methods, pattern }) => method.toLowerCase() in methods && pattern.test(plainPath),
  )?.one;
  const isApi = plainPath.startsWith('/api/');
  if (answer.status >= 400 && isApi) {
    const fault = problemFault(answer);
    if (fault !== undefined) return fault;
  }
  const described = template && description.paths[template]?.[method.toLowerCase()];
  if (template === undefined || described === undefined || described === '') return undefined;
  const response = described.responses[String(answer.status)];
  if (response === undefined) return `the status ${answer.status} is not described`;
  const undescribed = headerFault(answer, response);
  if (undescribed !== undefined) return undescribed;
  const [mediaType = ''] = (answer.headers.get('content-type') ?? '').split(';');
  if (response.content === undefined)
    return answer.text === '' ? undefined : 'a body is not described';
  if (!(mediaType in response.content)) return `the content type "${mediaType}" is not described`;
  if (mediaType !== 'application/json') return undefined;
  const pointer = [template, method.toLowerCase(), 'responses', answer.status, 'content', mediaType]
    .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const validate = validatorAt(`description#/paths/${pointer}/schema`);
  return validate(answer.json) ? undefined : ajv.errorsText(validate.errors);
}

/** General HTTP headers, and headers that every response of this service has. */
const generalHeaders = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'strict-transport-security',
  'transfer-encoding',
  ...Object.keys(securityHeaders).map((name) => name.toLowerCase()),
]);

function headerFault(answer: Answer, { headers = {} }: DescribedAnswer): string | undefined {
  const described = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!answer.headers.has('x-request-id')) return 'the header x-request-id is missing';
  const other = [...answer.headers.keys()].find(
    (name) => !generalHeaders.has(name) && !described.has(name),
  );
  return other === undefined ? undefined : `the header ${other} is not described`;
}

function problemFault(answer: Answer): string | undefined {
  if (answer.headers.get('content-type') !== 'application/problem+json')
    return 'no problem document';
  const validate = validatorAt('description#/components/schemas/Problem');
  if (!validate(answer.json)) return ajv.errorsText(validate.errors);
  const { code, status } = answer.json as { code: string; status: number };
  if (!(code in problemKinds)) return `the code ${code} is unknown`;
  const isRight = problemKinds[code as ProblemCode].status === answer.status;
  return isRight && status === answer.status ? undefined : `${code} is not ${answer.status}`;
}

function validatorAt(pointer: string): ValidateFunction {
  const validate = ajv.getSchema(pointer);
  if (validate === undefined) throw new Error(`there is no schema at ${pointer}`);
  return validate;
}

function patternOf(template: string): RegExp {
  const source = template.replace('{path}', '.+').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${source}$`);
}
