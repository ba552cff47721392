import type { TokenKeeper } from './token-keeper.ts';

type Fetch = (request: Request) => Promise<Response>;

/** A request, or a function that creates the request. The function allows a retry without keeping the body in
 *  memory. */
type Asked = Request | (() => Request);

/** Sends requests with the access token. After a 401, it renews the token and retries the request once. After the
 *  session has ended, the request is sent without a token, so that the server responds with 401. */
export function authorizedFetch(
  keeper: TokenKeeper,
  send: Fetch,
): (asked: Asked) => Promise<Response> {
  return async (asked) => {
    const make = typeof asked === 'function' ? asked : () => asked.clone();
    const token = keeper.current() ?? (await keeper.renew(null));
    if (!token) return send(make());
    const response = await send(withToken(make(), token));
    if (response.status !== 401) return response;
    const renewed = await keeper.renew(token);
    return renewed ? send(withToken(make(), renewed)) : response;
  };
}

function withToken(request: Request, token: string): Request {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${token}`);
  return new Request(request, { headers });
}
