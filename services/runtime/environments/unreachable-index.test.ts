import { expect, test } from 'vitest';
import { freePorts } from '#infra/testing/free-ports.ts';
import { startPackageIndex } from '../../../scripts/testing/package-index.ts';
import { givenEnvironments, packages } from './testing/fixture.ts';

async function failureAt(indexUrl: string): Promise<string> {
  const variables = { PATH: '/usr/bin:/bin', PIP_INDEX_URL: indexUrl, PIP_RETRIES: '1' };
  const given = await givenEnvironments({ variables });
  const result = await given.ensure({ requirements: 'no-such-package-here' });
  await given.close();
  return result.status === 'failed' ? result.detail : '';
}

test('the build error names the failed connection if the index is unreachable', async () => {
  const [port] = await freePorts(1);
  const failure = await failureAt(`http://127.0.0.1:${port}/simple`);
  expect(failure).toMatch(
    /^The package index could not be reached: .*Connection refused.*\.\n.*no-such-package-here/,
  );
  expect(failure).not.toMatch(/ at 0x/);
});

test('the build error names only the package if the index does not have the package', async () => {
  const index = await startPackageIndex(packages);
  expect(await failureAt(index.url)).toMatch(/^Could not find a version .*no-such-package-here/);
  await index.close();
});
