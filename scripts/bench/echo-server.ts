/** What the HTTP stack alone costs: the same server library, parsing and answering JSON. */
import type { AddressInfo } from 'node:net';
import express from 'express';

const app = express();
app.disable('x-powered-by');
app.use(express.json());
app.post('/echo', (request, response) => {
  response.status(202).json(request.body);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
