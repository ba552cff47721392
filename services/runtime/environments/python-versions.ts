/** Matches Python versions against version specifiers (numeric PEP 440 versions only). Pure. */

const CLAUSE = /^(?<operator>~=|===?|!=|<=?|>=?)\s*(?<version>\d+(?:\.\d+)*)(?<any>\.\*)?$/;

/** Whether a version matches a specifier.
 *  @param wanted such as `>=3.9,<4`
 *  @param version such as `3.12.1`
 *  @returns `undefined` if `wanted` is invalid */
export function isWantedPython(wanted: string, version: string): boolean | undefined {
  const clauses = wanted
    .split(',')
    .map((clause) => clause.trim())
    .filter((clause) => clause !== '');
  let isWanted = true;
  for (const clause of clauses) {
    const groups = CLAUSE.exec(clause)?.groups;
    if (groups === undefined) return undefined;
    const { operator = '', version: other = '', any } = groups;
    const holds = compare(numbersOf(version), operator, numbersOf(other), any !== undefined);
    if (holds === undefined) return undefined;
    isWanted &&= holds;
  }
  return isWanted;
}

function numbersOf(version: string): readonly number[] {
  return version.split('.').map(Number);
}

function compare(
  version: readonly number[],
  operator: string,
  other: readonly number[],
  isPrefix: boolean,
): boolean | undefined {
  const startsWith = (prefix: readonly number[]) =>
    prefix.every((part, index) => (version[index] ?? 0) === part);
  const isEqual = isPrefix ? startsWith(other) : order(version, other) === 0;
  switch (operator) {
    case '==':
    case '===':
      return isEqual;
    case '!=':
      return !isEqual;
    case '>=':
      return order(version, other) >= 0;
    case '>':
      return order(version, other) > 0;
    case '<=':
      return order(version, other) <= 0;
    case '<':
      return order(version, other) < 0;
    case '~=':
      return other.length < 2
        ? undefined
        : order(version, other) >= 0 && startsWith(other.slice(0, -1));
    default:
      return undefined;
  }
}

function order(one: readonly number[], other: readonly number[]): number {
  for (let index = 0; index < Math.max(one.length, other.length); index += 1) {
    const difference = (one[index] ?? 0) - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
