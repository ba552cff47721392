/** Checks new passwords against the rules of NIST SP 800-63B §3.1.1.2: neither common passwords nor passwords that
 *  contain the account name. Existing passwords remain valid. */
import { readFileSync } from 'node:fs';
import { isTooLong, maxPasswordBytes, minPasswordLength } from './passwords.ts';

/** The user whose password is checked. */
export interface PasswordOwner {
  readonly email: string;
  readonly name?: string | undefined;
}

/** The minimum length of the name parts that a password must not contain. Shorter parts occur in many good
 *  passwords. */
const minPartLength = 4;
/** The minimum number of distinct characters. Passwords with fewer distinct characters are easy to guess. */
const minDifferentCharacters = 4;
const ownWords = ['orchestrator', 'script orchestration', 'changeme', 'change-me', 'change me'];

/** Returns why a password is refused, as a sentence, or `undefined` if it is valid. */
export function passwordProblem(
  password: string,
  { email, name = '' }: PasswordOwner,
): string | undefined {
  if (password.length < minPasswordLength) {
    return `The password needs at least ${minPasswordLength} characters.`;
  }
  if (isTooLong(password)) return `The password may have at most ${maxPasswordBytes} bytes.`;
  const text = comparable(password);
  if (new Set(text).size < minDifferentCharacters) {
    return `The password needs at least ${minDifferentCharacters} different characters.`;
  }
  if (isCommon(text)) {
    return (
      'The password is too common, or is a common word with digits or punctuation around it. Choose ' +
      'another password, such as four random words.'
    );
  }
  const [local = ''] = email.split('@');
  const repeated = [email, local, name].find((part) => isPartOf(comparable(part), text));
  return repeated === undefined
    ? undefined
    : `The password contains "${repeated}" from your account. Choose a password that is harder to guess.`;
}

/** Normalizes a text, so that texts that look or are typed the same become equal. */
function comparable(text: string): string {
  return text.normalize('NFKC').toLowerCase().trim();
}

function isPartOf(part: string, text: string): boolean {
  return part.length >= minPartLength && text.includes(part);
}

let list: string | undefined;

function isCommon(text: string): boolean {
  // Keeps the list as one string, because lookups are rare and a Set would need ten times the memory.
  list ??= readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8');
  // Strips digits and punctuation from both ends, because they do not make a common word harder to guess.
  const stem = text.replaceAll(/^[\d\p{P}\p{S}\s]+|[\d\p{P}\p{S}\s]+$/gu, '');
  return [text, stem].some(
    (one) => ownWords.includes(one) || list?.includes(`\n${one}\n`) === true,
  );
}
