/** Labels of runtimes, such as `gpu` or `zone-b` (docs/placement.md). */

/** Matches 1 to 63 letters, digits, dots, dashes and underscores. The first character is a letter or a digit. */
export const labelPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
export const maxLabels = 16;

/** Describes the problem with required labels. Returns `undefined` if they are valid. */
export function labelsProblem(labels: readonly string[]): string | undefined {
  if (labels.length > maxLabels) return `at most ${maxLabels} labels are allowed`;
  if (new Set(labels).size < labels.length) return 'a label is listed twice';
  const wrong = labels.find((label) => !labelPattern.test(label));
  return wrong === undefined
    ? undefined
    : `"${wrong}" is not a label; use up to 63 letters, digits, dots, dashes and underscores`;
}
