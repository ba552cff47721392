/** The rules for new passwords (NIST SP 800-63B §3.1.1.2): no common passwords, and none that contain the account name.
 *  Existing passwords still work. */
import { readFileSync } from 'node:fs';
import { isTooLong, maxPasswordBytes, minPasswordLength } from './passwords.ts';

/** The user of the password. */
export interface PasswordOwner {
  readonly email: string;
  readonly name?: string | undefined;
}

/** Shorter parts of an account's name may occur in a password, because many good passwords contain them. */
const minPartLength = 4;
/** The minimum number of distinct characters. A password with fewer is easy to guess. */
const minDifferentCharacters = 4;
const ownWords = ['orchestrator', 'script orchestration', 'changeme', 'change-me', 'change me'];

/** The reason for refusing a password, as a sentence; `undefined` if it is valid. */
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

/** Normalizes a text, so that texts that look alike or are typed alike become equal. */
function comparable(text: string): string {
  return text.normalize('NFKC').toLowerCase().trim();
}

function isPartOf(part: string, text: string): boolean {
  return part.length >= minPartLength && text.includes(part);
}

let list: string | undefined;

function isCommon(text: string): boolean {
  // Keeps the list as one text, because lookups are rare and a set would take ten times the memory.
  list ??= readFileSync(new URL('common-passwords.txt', import.meta.url), 'utf8');
  // Removes digits and punctuation around a word, because they do not make a common word harder to guess.
  const stem = text.replaceAll(/^[\d\p{P}\p{S}\s]+|[\d\p{P}\p{S}\s]+$/gu, '');
  return [text, stem].some(
    (one) => ownWords.includes(one) || list?.includes(`\n${one}\n`) === true,
  );
}
