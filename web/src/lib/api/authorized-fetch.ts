import type { TokenKeeper } from './token-keeper.ts';

type Fetch = (request: Request) => Promise<Response>;

/** Sends requests with the access token; a 401 renews it once and sends the request again.
 *  A session that is over answers the 401 itself. */
export function authorizedFetch(keeper: TokenKeeper, send: Fetch): Fetch {
  return async (request) => {
    const token = keeper.current() ?? (await keeper.renew(null));
    if (!token) return send(request);
    const spare = request.clone();
    const response = await send(withToken(request, token));
    if (response.status !== 401) return response;
    const renewed = await keeper.renew(token);
    return renewed ? send(withToken(spare, renewed)) : response;
  };
}

function withToken(request: Request, token: string): Request {
  const headers = new Headers(request.headers);
  headers.set('authorization', `Bearer ${token}`);
  return new Request(request, { headers });
}
