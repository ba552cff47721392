// Runs the tests: node scripts/test.ts [file filters…] [-t name] [--root folder].
// The last line of output is the number of passed, failed and skipped tests.
// With CI=true or ORCH_TEST_REQUIRE_ALL=true, the run fails if a test is skipped.
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { SummaryReporter } from './testing/summary-reporter.ts';
import type { TestSummary } from './testing/summary-reporter.ts';

function mayNotSkip(env: NodeJS.ProcessEnv): boolean {
  return env['CI'] === 'true' || env['ORCH_TEST_REQUIRE_ALL'] === 'true';
}

function report(summary: TestSummary, strict: boolean): void {
  const { passed, failed, skipped, failures, withoutService, skippedForNoService } = summary;
  for (const { suite, service, reason } of withoutService) {
    console.log(`skipped: ${suite} (no ${service}: ${reason})`);
  }
  for (const name of skippedForNoService) console.log(`skipped: ${name}`);
  for (const failure of failures) console.log(`failed: ${failure}`);
  if (strict && skipped > 0) console.log('skipped tests count as failure here');
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    testNamePattern: { type: 'string', short: 't' },
    root: { type: 'string', default: '.' },
  },
});
const reporter = new SummaryReporter();
const vitest = await startVitest(positionals, {
  root: values.root,
  run: true,
  watch: false,
  reporters: ['default', reporter],
  ...(values.testNamePattern === undefined ? {} : { testNamePattern: values.testNamePattern }),
});
await vitest.close();

const { summary } = reporter;
if (summary === undefined) {
  console.log('the tests did not run to their end');
  process.exit(1);
}
const strict = mayNotSkip(process.env);
report(summary, strict);
const counted = summary.passed + summary.failed + summary.skipped;
const failed = summary.failed > 0 || summary.interrupted || counted === 0;
process.exit(failed || (strict && summary.skipped > 0) || process.exitCode ? 1 : 0);
