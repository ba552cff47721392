/** Groups the API's routes by path, so that an unsupported method of a known path gets 405. */
import { formsOf, type Operation } from '../operation.ts';

export type Methods = ReadonlyMap<string, Operation>;

export interface ServedPath {
  /** The path, with `{name}` for parameters. */
  readonly path: string;
  /** The operations of this path by method, in lower case. */
  readonly methods: Methods;
  /** Operations of a more general path that also matches this URL. Example: `/files/{path}/move` also matches
   *  `/files/{path}`, because a file may be called `move`. */
  readonly broader: Methods;
}

/** Returns each path once, the most specific ones first. */
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

/** Returns a sort key. Fixed text sorts before parameters; `{path}`, which matches slashes, sorts last. */
function orderOf(path: string): string {
  return `${path.replace('{path}', '\uffff').replaceAll(/\{\w+\}/g, '\ufffe')}\uffff`;
}

/** The path in Express syntax: `/a/{id}/files/{path}` is `/a/:id/files/*path`. */
export function routeOf(path: string): string {
  return path.replace('{path}', '*path').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The method that handles a request. HEAD is GET without the body (RFC 9110 §9.3.2). */
export function answeringMethod(method: string | undefined): string {
  return method === 'HEAD' ? 'get' : (method ?? '').toLowerCase();
}
