/** Tests a script that uses well-known packages from the real index, without a cache and under the default limits. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';
import { reachIndex } from '../runtime/environments/testing/reach-index.ts';
import { isAlive, Product } from './testing/product.ts';

const files = {
  'requirements.txt': 'numpy\nrequests\n',
  'main.py': `
import http.server, threading
import numpy, requests

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[3, 4]")
    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
answer = requests.get(f"http://127.0.0.1:{server.server_port}/").json()
print("length", numpy.linalg.norm(numpy.array(answer)), numpy.ones((500, 500)).dot(numpy.ones(500)).sum())
server.shutdown()
`,
};

describeWith(
  { service: 'package index', ...(await reachIndex()) },
  'a script with packages of the real index',
  () => {
    let product: Product;
    beforeAll(async () => {
      product = await Product.start();
    }, 120_000);
    afterAll(async () => {
      const left = await product.stop();
      await product.remove();
      expect(left.filter(isAlive)).toEqual([]);
    });

    /** Runs the script.
     *  @returns how long the caller waited for the result */
    async function run(scriptId: string) {
      const startedMs = performance.now();
      const { run_id: runId } = await product.run(scriptId);
      const { status } = await product.untilFinished(runId);
      const tookMs = Math.round(performance.now() - startedMs);
      const log = await product.log(runId);
      const texts = (stream: string) =>
        log.filter((line) => line.stream === stream).map((line) => line.text);
      return { status, tookMs, said: texts('stdout'), built: texts('system').join('\n') };
    }

    test('a script with packages runs under the default limits, and its second run starts much faster', async () => {
      const scriptId = await product.script('numbers', files, { listen_ports: [0] });
      const [first, second] = [await run(scriptId), await run(scriptId)];
      expect(first).toMatchObject({ status: 'success', said: ['length 5.0 250000.0'] });
      expect(first.built).toContain('numpy');
      expect(second).toMatchObject({ status: 'success', said: first.said, built: '' });
      process.stdout.write(`first run ${first.tookMs} ms, second ${second.tookMs} ms\n`);
      expect(second.tookMs).toBeLessThan(first.tookMs / 2);
    }, 300_000);
  },
);
