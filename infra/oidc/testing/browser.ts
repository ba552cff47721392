/** Navigates like a browser, but does not execute pages. */

/** Keeps cookies by host, and follows redirects. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async visit(url: string, init: RequestInit = {}): Promise<Response> {
    const jar = this.#jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as Record<string, string> | undefined), cookie },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects while `isPassing` accepts the next URL. @returns the next URL and the last response */
  async follow(url: string, isPassing: (next: URL) => boolean) {
    let [current, response] = [new URL(url), await this.visit(url)];
    for (let hops = 0; response.status >= 300 && response.status < 400 && hops < 10; hops += 1) {
      const next = new URL(response.headers.get('location') ?? '', current);
      if (!isPassing(next)) return { url: next, response };
      [current, response] = [next, await this.visit(next.href)];
    }
    return { url: current, response };
  }

  #jarOf(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }
}
