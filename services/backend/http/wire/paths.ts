/** Routes of the API, grouped by path, so that a known path with another method gets 405. */
import { formsOf, type Operation } from '../operation.ts';

export type Methods = ReadonlyMap<string, Operation>;

export interface ServedPath {
  /** The path, with `{name}` for parameters. */
  readonly path: string;
  /** Its operations by method, in lower case. */
  readonly methods: Methods;
  /** Operations of a path that also matches this one, such as `/files/{path}` for `/files/{path}/move`:
   *  a file may be called `move`. */
  readonly broader: Methods;
}

/** Each path once, the more specific ones first. */
export function pathsOf(operations: readonly Operation[]): readonly ServedPath[] {
  const forms = operations.flatMap((one) => formsOf(one).map((form) => ({ one, ...form })));
  const byPath = new Map(
    [...Map.groupBy(forms, ({ path }) => path)].map(([path, own]) => [
      path,
      new Map<string, Operation>(own.map(({ method, one }) => [method, one])),
    ]),
  );
  return [...byPath]
    .toSorted(([one], [other]) => (orderOf(one) < orderOf(other) ? -1 : 1))
    .map(([path, methods]) => {
      const [head = ''] = path.split('{path}/');
      return { path, methods, broader: byPath.get(`${head}{path}`) ?? new Map() };
    });
}

/** Sorts fixed text before parameters, and those before parameters with slashes. */
function orderOf(path: string): string {
  return `${path.replace('{path}', '\uffff').replaceAll(/\{\w+\}/g, '\ufffe')}\uffff`;
}

/** The path in the syntax of express: `/a/{id}/files/{path}` is `/a/:id/files/*path`. */
export function routeOf(path: string): string {
  return path.replace('{path}', '*path').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The method that handles a request. HEAD is GET without the body (RFC 9110 §9.3.2). */
export function answeringMethod(method: string | undefined): string {
  return method === 'HEAD' ? 'get' : (method ?? '').toLowerCase();
}
