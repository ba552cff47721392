/** Another program's HTTP server on the dashboard's host, such as a script that serves a page. Browsers send the
 *  dashboard's cookies to this server, because cookies ignore the port. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The page that the server returns. The page makes several attacks and shows the result of each. */
const page = `<!doctype html><title>Report</title><script>
  const outcome = async (work) => { try { return String(await work()); } catch (error) { return error.name; } };
  const ask = (url, init) => outcome(async () =>
    (await fetch(url, { method: 'POST', credentials: 'include', ...init })).text());
  const post = (action) => {
    const form = Object.assign(document.createElement('form'), { method: 'post', enctype: 'text/plain', action });
    form.append(Object.assign(document.createElement('input'), { name: '{"x":"', value: '"}' }));
    document.body.append(form);
    form.submit();
  };
  const read = (opened) => outcome(() => opened.localStorage.getItem('orch-session-key'));
  const frame = (src) => new Promise((done) => {
    const made = Object.assign(document.createElement('iframe'), { src });
    made.addEventListener('load', () => done(read(made.contentWindow)));
    document.body.append(made);
  });
  let opened;
  const open = (url) => { opened = window.open(url); };
</script><body>`;

export class OtherPort {
  readonly url: string;
  /** The `Cookie` header of the most recent request. */
  cookie = '';
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    server.on('request', (request, response) => {
      this.cookie = request.headers.cookie ?? '';
      response.setHeader('Content-Type', 'text/html').end(page);
    });
  }

  static async open(): Promise<OtherPort> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OtherPort(server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }
}
