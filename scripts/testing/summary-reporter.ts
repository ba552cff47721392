import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSuite } from 'vitest/node';
import { parseSkippedName } from './optional-service.ts';
import type { SkippedSuite } from './optional-service.ts';

/** The summary of one test run. */
export interface TestSummary {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One line per failed test, per file or suite that failed outside its tests, and per uncaught error. */
  readonly failures: readonly string[];
  /** Suites whose service is not installed on this machine. */
  readonly withoutService: readonly SkippedSuite[];
  /** The names of tests that were skipped for other reasons than a missing service. */
  readonly skippedForNoService: readonly string[];
  readonly interrupted: boolean;
}

/** Counts the results of a vitest run. `summary` is available once the run has ended. */
export class SummaryReporter implements Reporter {
  summary: TestSummary | undefined;

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    this.summary = summarize(modules, unhandled, reason);
  }
}

/** Counts the results of `modules`. A failure outside a test counts as a failed test, so that a failed run never
 *  reports `0 failed`. */
export function summarize(
  modules: readonly TestModule[],
  unhandled: readonly SerializedError[],
  reason: TestRunEndReason,
): TestSummary {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const skipped = tests.filter((test) => isSkipped(test.result().state));
  const failures = [
    ...modules.flatMap((module) =>
      [module, ...module.children.allSuites(), ...module.children.allTests('failed')].flatMap(
        failureOf,
      ),
    ),
    ...unhandled.map((error) => `unhandled error: ${error.message}`),
  ];
  const withoutService = modules.flatMap((module) =>
    [...module.children.allSuites()].flatMap((suite) => parseSkippedName(suite.name) ?? []),
  );
  return {
    passed: tests.filter((test) => test.result().state === 'passed').length,
    failed: failures.length,
    skipped: skipped.length,
    failures,
    withoutService,
    skippedForNoService: skipped
      .filter((test) => !hasAbsentService(test.parent))
      .map((test) => `${test.module.relativeModuleId} > ${test.fullName}`),
    interrupted: reason === 'interrupted',
  };
}

// A test that did not run, because its file crashed or the run was interrupted, stays `pending`.
function isSkipped(state: string): boolean {
  return state === 'skipped' || state === 'pending';
}

function failureOf(unit: TestModule | TestSuite | TestCase): string[] {
  const errors = unit.type === 'test' ? (unit.result().errors ?? []) : unit.errors();
  if (errors.length === 0 && unit.type !== 'test') return [];
  const module = unit.type === 'module' ? unit : unit.module;
  const name = unit.type === 'module' ? '' : ` > ${unit.fullName}`;
  return [`${module.relativeModuleId}${name}: ${errors[0]?.message ?? ''}`];
}

function hasAbsentService(parent: TestSuite | TestModule): boolean {
  if (parent.type === 'module') return false;
  return parseSkippedName(parent.name) !== undefined || hasAbsentService(parent.parent);
}
