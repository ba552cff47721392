/** Checks the reverse proxy examples of docs/production-without-containers.md with the proxies' own validation. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { caddyService } from '#infra/testing/front.ts';
import { findProgram } from '#infra/testing/find-program.ts';
import { describeWith } from '../../scripts/testing/optional-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/production-without-containers.md'), 'utf8');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orch-proxies-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns the program's output and exit code */
function run(program: string, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

describeWith(caddyService, 'the documented Caddyfile', () => {
  test('can be generated with the documented command, and is accepted by Caddy', () => {
    const [command = ''] = /^sed [^]*?(?= > \/etc\/caddy\/Caddyfile)/m.exec(page) ?? [];
    const { status, said } = run('sh', ['-c', command]);
    expect(status, said).toBe(0);
    expect(said).toContain('to 127.0.0.1:8080 127.0.0.1:8081\n');
    expect(said).not.toMatch(/grafana|name backend|ORCH_SITE|\bmcp:/);
    const path = join(folder, 'Caddyfile');
    writeFileSync(path, said);
    const args = ['validate', '--adapter', 'caddyfile', '--config', path];
    expect(run(caddyService.found ?? '', args).said).toContain('Valid configuration');
  });
});

const nginx = {
  service: 'nginx',
  found: findProgram('nginx', ['/usr/sbin']),
  reason: 'no nginx on this machine (Debian: apt-get install nginx-light)',
};

describeWith(nginx, 'the nginx example', () => {
  const check = (change: (text: string) => string) => {
    const own = readFileSync(join(root, 'infra/deploy/nginx/orchestrator.conf'), 'utf8')
      // Removes the certificate, and the ports and folders that require root.
      .replace(/^ {2}ssl_certificate.*\n/gm, '')
      .replace('listen 443 ssl http2;', 'listen 127.0.0.1:18443;')
      .replace('listen 80;', 'listen 127.0.0.1:18080;')
      .replace('/var/log/nginx/', `${folder}/`);
    writeFileSync(join(folder, 'orchestrator.conf'), change(own));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join(' ');
    writeFileSync(
      join(folder, 'nginx.conf'),
      `pid ${folder}/pid; error_log ${folder}/error.log; events {} http { ${temporary} include ${folder}/orchestrator.conf; }\n`,
    );
    return run(nginx.found ?? '', ['-t', '-q', '-c', join(folder, 'nginx.conf')]);
  };

  test('is accepted by nginx', () => {
    expect(check((same) => same)).toEqual({ status: 0, said: '' });
  });

  test('is refused by nginx if it contains an unknown variable', () => {
    expect(check((text) => text.replace('$orchestrator_connection;', '$unknown;')).status).toBe(1);
  });
});
