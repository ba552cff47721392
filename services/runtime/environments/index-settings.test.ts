import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsPip, readIndexSettings, uvVariables } from './index-settings.ts';

describe('the package index settings', () => {
  test("are the only variables taken from the platform's environment", () => {
    const settings = readIndexSettings({
      PIP_INDEX_URL: 'https://user:word@packages.example.com/simple',
      PIP_TARGET: '/elsewhere',
      PIP_CACHE_DIR: '/shared',
      UV_INDEX_PRIVATE_PASSWORD: 'word',
      UV_CACHE_DIR: '/shared',
      HTTPS_PROXY: 'http://proxy:3128',
      SECRET_MASTER_KEY: 'secret',
      LD_PRELOAD: '/evil.so',
      PIP_NO_INDEX: '',
    });
    expect(settings.pip).toEqual({
      PIP_INDEX_URL: 'https://user:word@packages.example.com/simple',
    });
    expect(settings.uv).toEqual({ UV_INDEX_PRIVATE_PASSWORD: 'word' });
    expect(settings.common).toEqual({ HTTPS_PROXY: 'http://proxy:3128' });
  });

  test('are translated from pip to uv', () => {
    const settings = readIndexSettings({
      PIP_INDEX_URL: 'https://one.example.com/simple',
      PIP_EXTRA_INDEX_URL: 'https://two.example.com/simple',
      PIP_FIND_LINKS: `/no/such/folder ${tmpdir()} https://three.example.com/links`,
      PIP_TRUSTED_HOST: 'one.example.com',
      PIP_CERT: '/etc/ca.crt',
      SSL_CERT_FILE: '/etc/other.crt',
    });
    expect(uvVariables(settings)).toEqual({
      UV_DEFAULT_INDEX: 'https://one.example.com/simple',
      UV_INDEX: 'https://two.example.com/simple',
      UV_FIND_LINKS: `${tmpdir()},https://three.example.com/links`,
      UV_INSECURE_HOST: 'one.example.com',
      SSL_CERT_FILE: '/etc/ca.crt',
    });
  });

  test('take precedence if they are specific to uv', () => {
    const settings = readIndexSettings({
      PIP_INDEX_URL: 'https://one.example.com/simple',
      UV_INDEX: 'https://two.example.com/simple',
    });
    expect(uvVariables(settings)).toEqual({ UV_INDEX: 'https://two.example.com/simple' });
  });

  test("are read from the user's pip configuration and passed to uv", async () => {
    const home = await mkdtemp(join(tmpdir(), 'home-'));
    await mkdir(join(home, '.config', 'pip'), { recursive: true });
    const content = '[global]\nindex-url = https://one.example.com/simple\n';
    await writeFile(join(home, '.config', 'pip', 'pip.conf'), content);
    const settings = readIndexSettings({ HOME: home });
    expect(settings.pipConfig).toEqual({ path: join(home, '.config/pip/pip.conf'), content });
    expect(needsPip(settings)).toBe(true);
    expect(needsPip(readIndexSettings({ HOME: home, UV_INDEX: 'https://x.example.com' }))).toBe(
      false,
    );
    await rm(home, { recursive: true });
  });

  test('list the files and folders that a build must be able to read', () => {
    const settings = readIndexSettings({ PIP_FIND_LINKS: `file://${tmpdir()} /no/such/folder` });
    expect(settings.paths).toEqual([tmpdir()]);
  });
});
