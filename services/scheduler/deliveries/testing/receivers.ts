/** Receivers of notifications on loopback, for tests. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts an HTTP server that responds with `answer`. */
export async function httpReceiver() {
  const received: Received[] = [];
  const receiver = {
    received,
    origin: '',
    answer: { status: 200, headers: {} as Record<string, string> },
    close: () => undefined as void,
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(receiver.answer.status, receiver.answer.headers).end('said');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  receiver.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  receiver.close = () => void server.close();
  return receiver;
}

/** Starts an SMTP server (RFC 5321) that accepts every mail, and every password except `wrong`. It does not respond
 *  while `silent` is true. */
export async function mailServer() {
  const sockets = new Set<Socket>();
  const server = {
    mails: [] as string[],
    logins: [] as string[],
    silent: false,
    port: 0,
    close: () => {
      for (const socket of sockets) socket.destroy();
      tcp.close();
    },
  };
  const tcp = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (server.silent) return;
    let isMail = false;
    let pending = '';
    socket.write('220 here\r\n');
    socket.on('data', (data) => {
      pending += data.toString('utf8');
      for (let end = endOf(pending, isMail); end > 0; end = endOf(pending, isMail)) {
        const part = pending.slice(0, end);
        pending = pending.slice(end);
        if (isMail) server.mails.push(part);
        isMail = !isMail && part.startsWith('DATA');
        socket.write(answerTo(part, isMail));
      }
    });
  });
  const answerTo = (part: string, isMail: boolean): string => {
    if (part.startsWith('EHLO')) return '250-here\r\n250 AUTH PLAIN\r\n';
    if (part.startsWith('STARTTLS')) return '502 not here\r\n';
    if (part.startsWith('AUTH PLAIN')) {
      const login = Buffer.from(part.slice('AUTH PLAIN '.length), 'base64').toString('utf8');
      server.logins.push(login);
      const password = login.split('\0')[2] ?? '';
      return password.startsWith('wrong') ? `535 no, not with ${password}\r\n` : '235 come in\r\n';
    }
    return isMail ? '354 start mail input\r\n' : '250 ok\r\n';
  };
  tcp.listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  server.port = (tcp.address() as AddressInfo).port;
  return server;
}

function endOf(text: string, isMail: boolean): number {
  const mark = isMail ? '\r\n.\r\n' : '\r\n';
  const at = text.indexOf(mark);
  return at === -1 ? 0 : at + mark.length;
}
