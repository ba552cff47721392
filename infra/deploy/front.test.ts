/** The front of the production edition, where its backends are away: then it logs what it was asked. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findProgram } from '#infra/testing/find-program.ts';
import { freePorts } from '#infra/testing/free-ports.ts';
import { expect, test } from 'vitest';
import { describeWith } from '../../scripts/testing/optional-service.ts';

const caddy = {
  service: 'Caddy',
  found: findProgram('caddy', []),
  reason: 'no caddy on this machine (Debian: apt-get install caddy)',
};
const token = 'a-token-that-nobody-is-to-see';

describeWith(caddy, 'Caddy', () => {
  test('when a backend does not answer, then no token is in the log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'orch-caddy-'));
    const [port] = await freePorts(1);
    const site = `http://127.0.0.1:${port}`;
    const config = readFileSync(fileURLToPath(new URL('caddy/Caddyfile', import.meta.url)), 'utf8')
      .replace('admin 127.0.0.1:2019', 'admin off')
      .replace('lb_try_duration 5s', 'lb_try_duration 0s');
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, config);
    const front = spawn(caddy.found ?? '', ['run', '--config', file, '--adapter', 'caddyfile'], {
      env: { ...process.env, ORCH_SITE: site, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const log: string[] = [];
    const lines = createInterface({ input: front.stderr });
    const serves = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        log.push(line);
        if (line.includes('serving initial configuration')) resolve();
      });
    });
    const ended = once(lines, 'close');
    await Promise.race([serves, ended]);
    const headers = { Authorization: `Bearer ${token}`, Cookie: `orch_refresh=${token}` };
    const asked = [
      await fetch(`${site}/hooks/${token}`, { method: 'POST', headers }),
      await fetch(`${site}/api/v1/hooks/${token}?x=1`, { method: 'POST' }),
      await fetch(`${site}/ws?token=${token}`),
      await fetch(`${site}/ws`, {
        headers: { 'Sec-WebSocket-Protocol': `orch.v1, orch.bearer.${token}` },
      }),
    ];
    front.kill();
    await ended;
    rmSync(folder, { recursive: true });
    expect(asked.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    expect(log.filter((line) => line.includes('"uri"'))).toHaveLength(asked.length);
    expect(log.filter((line) => line.includes(token))).toEqual([]);
  });
});
