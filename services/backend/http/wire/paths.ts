/** The paths of the API as requests are matched with them: by path first, then by method. */
import { formsOf, type Operation } from '../operation.ts';

export type Methods = ReadonlyMap<string, Operation>;

export interface ServedPath {
  /** With `{name}` for parameters. */
  readonly path: string;
  /** Its operations by method, in lower case. */
  readonly methods: Methods;
  /** Operations of a path that matches all that this one matches, such as `/files/{path}` of
   *  `/files/{path}/move`: a file may be called `move`. */
  readonly broader: Methods;
}

/** Every path once, the more specific ones first. */
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

/** Fixed text sorts before a parameter, and a parameter before one that takes slashes too. */
function orderOf(path: string): string {
  return `${path.replace('{path}', '\uffff').replaceAll(/\{\w+\}/g, '\ufffe')}\uffff`;
}

/** The path as express writes it: `/a/{id}/files/{path}` is `/a/:id/files/*path`. */
export function routeOf(path: string): string {
  return path.replace('{path}', '*path').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The method whose operation answers. HEAD is GET without the body (RFC 9110 §9.3.2). */
export function answeringMethod(method: string | undefined): string {
  return method === 'HEAD' ? 'get' : (method ?? '').toLowerCase();
}
