/** The phrases that the wording check reports, each with a suggested replacement. */

export interface Phrase {
  /** A regular expression that matches whole words, regardless of case. A space also matches a line break inside a
   *  comment. */
  readonly pattern: string;
  readonly suggestion: string;
  /** Whether the pattern is case-sensitive. Used for identifiers. */
  readonly isIdentifier?: true;
}

export interface Allowed {
  /** Matches the file's path. */
  readonly path: RegExp;
  /** The matched text in lower case. If absent, the whole file is exempt. */
  readonly text?: string;
  readonly reason: string;
}

export const phrases: readonly Phrase[] = [
  // Words for people in place of software.
  { pattern: 'somebody|anybody', suggestion: 'a user, a client, another process' },
  { pattern: 'nobody', suggestion: 'no user, no process, no one' },
  { pattern: 'everybody', suggestion: 'all users, every process' },
  { pattern: 'whoever', suggestion: 'the caller, the client, the user' },
  {
    pattern: 'who (?:asks|asked|begins|answers|reads|calls|looks)',
    suggestion: 'the caller, the client, the reader',
  },
  {
    pattern: '(?:is|are|was|were|be|being) told',
    suggestion: 'is notified, receives, is reported',
  },
  { pattern: 'told of|tells? of|told that', suggestion: 'notify about, report' },

  // Time expressions.
  { pattern: 'of then', suggestion: 'at that time' },
  { pattern: 'of (?:now|today|this moment)', suggestion: 'current' },
  { pattern: 'of before', suggestion: 'previous' },
  {
    pattern:
      'the (?:run|one|page|version|attempt|entry|release|password|block|update) before(?! the)',
    suggestion: 'the previous …',
  },
  { pattern: 'slept through|sleeps? through', suggestion: 'missed' },
  { pattern: 'before long', suggestion: 'soon' },
  { pattern: 'at (?:that|this|any|another) moment', suggestion: 'at that time, currently' },
  { pattern: 'moments', suggestion: 'times, points in time' },
  { pattern: 'at present', suggestion: 'currently' },
  { pattern: 'at once', suggestion: 'immediately, at the same time' },
  { pattern: 'for ever', suggestion: 'forever, permanently' },
  { pattern: 'for good', suggestion: 'permanently' },
  {
    pattern: '(?:counts?|counted|kept|used|there|named) no longer',
    suggestion: 'is no longer valid, has expired, was revoked',
  },
  { pattern: 'any more', suggestion: 'no longer' },
  {
    pattern: '(?:database|store|server|bus|backend|queue|network) (?:is|are|was|were) away',
    suggestion: 'is unavailable, does not respond',
  },

  // Clauses in place of nouns.
  {
    pattern: 'what (?:waits|goes on|goes|stays|follows|comes next|is kept|is gone)',
    suggestion: 'the noun: waiting runs, retained data, …',
  },
  {
    pattern: 'what (?:became|becomes|came|comes) of',
    suggestion: 'the outcome of, the history of',
  },
  { pattern: '(?:gave|gives?|given|giving) back', suggestion: 'returned, result, output' },
  {
    pattern: 'what is (?:known|asked|wanted|meant)',
    suggestion: 'the details of, the requested …',
  },
  { pattern: '(?:runs|those|ones) that waits?', suggestion: 'waiting runs, queued runs' },
  {
    pattern: 'there is none|that is none|where there are none',
    suggestion: 'does not exist, not found, is empty',
  },
  { pattern: '(?:is|are|was|were) not there', suggestion: 'does not exist, is missing' },
  { pattern: '(?:is|are|was|were) gone', suggestion: 'was deleted, no longer exists' },
  { pattern: '(?:is|are) to be', suggestion: 'must be, will be' },
  { pattern: 'such a one|one that is', suggestion: 'the noun' },
  { pattern: '(?:group|list|rule|run|script|state) as it is now', suggestion: 'the updated …' },
  {
    pattern: 'the page of (?:a|the) (?:run|schedule|script)',
    suggestion: 'the run page, the schedule page, the script page',
  },
  { pattern: 'steps of the platform', suggestion: 'platform steps' },
  { pattern: 'cli\\.md\\), signed in', suggestion: 'Sign in first.' },
  { pattern: 'has the reasons', suggestion: 'explains the reasons' },

  // Verbs.
  {
    pattern: 'carr(?:y|ies|ied|ying) (?:it |them |these |those )?out',
    suggestion: 'execute, run, apply',
  },
  { pattern: '(?:let|lets|letting|lets it|lets them) go', suggestion: 'release, start, finish' },
  { pattern: 'hand(?:s|ed|ing)? over', suggestion: 'pass' },
  { pattern: 'turn(?:s|ed|ing)? away', suggestion: 'reject' },
  { pattern: 'tr(?:y|ies|ied|ying) anew|(?:is|are|was|were|be) tried again', suggestion: 'retry' },
  { pattern: 'anew', suggestion: 'again, rebuild, recompute' },
  { pattern: 'take(?:s|n)? the place|took the place|in the place of', suggestion: 'replace' },
  { pattern: '(?:goes|go|going) on', suggestion: 'continue, is still running' },
  {
    pattern: '(?:come|comes|came|brings?|brought)(?: it| them)? back',
    suggestion: 'return, restore',
  },
  { pattern: 'leads? (?:nowhere|there|back)', suggestion: 'has no effect, points to' },
  { pattern: 'stays? as (?:it is|they are|it was)', suggestion: 'is unchanged, keeps its value' },
  { pattern: 'as (?:it was|they were)', suggestion: 'unchanged, original' },
  { pattern: 'gathered', suggestion: 'batched, coalesced, collected' },
  { pattern: 'hold(?:s|ing)? up|held up', suggestion: 'delay, block' },
  { pattern: '(?:is|are|was|were|be) made ready', suggestion: 'is prepared' },
  { pattern: 'costs? the same', suggestion: 'the cost does not depend on …' },
  { pattern: 'asked together|that meet', suggestion: 'concurrent requests, batched' },
  { pattern: 'tak(?:e|es|ing|en) note|took note', suggestion: 'record' },
  { pattern: 'look(?:s|ed|ing)? (?:anew|back)', suggestion: 'check again, view history' },

  // Adverbs and prepositions.
  { pattern: 'by (?:itself|themselves)', suggestion: 'automatically, on its own' },
  { pattern: 'by chance', suggestion: 'at random, randomly generated' },
  { pattern: 'at work', suggestion: 'active, running' },
  { pattern: 'in whatever \\w+', suggestion: 'in any …, regardless of …' },
  { pattern: 'in vain', suggestion: 'without effect, timed out' },
  { pattern: 'thereby', suggestion: 'so that, which' },
  { pattern: 'also (?:if|when)', suggestion: 'even if, including when' },
  { pattern: 'whatever (?:it|they) \\w+', suggestion: 'regardless of …' },
  {
    pattern: 'behind the (?:first|last|newest|latest|truncated)',
    suggestion: 'after the …',
  },
  { pattern: 'beside', suggestion: 'next to, in addition to, except' },

  // Statistics.
  {
    pattern: '\\d+ % within|half (?:of them )?took (?:less|no longer)|of \\d+ took',
    suggestion: 'p50, p95',
  },
  { pattern: 'runs in all', suggestion: 'total runs, max attempts' },

  // The field's terms.
  { pattern: 'safe to call (?:twice|again)', suggestion: 'idempotent' },
  { pattern: 'look-ups?', suggestion: 'lookup' },
  { pattern: 'back ends?|front ends?', suggestion: 'backend, frontend' },

  // Test names.
  {
    pattern: 'when [^\'"`.\\n]*, then',
    suggestion: 'the behavior in the present tense: "refuses to change an unknown user"',
  },

  // Identifiers.
  { pattern: 'known(?=\\(parse)', suggestion: 'mustParse', isIdentifier: true },
  { pattern: 'worldOf', suggestion: 'decisionReads', isIdentifier: true },
  { pattern: 'handlingOf', suggestion: 'bindCommand', isIdentifier: true },
  { pattern: 'CarryingOut|carryOut', suggestion: 'BatchOptions, executeBatch', isIdentifier: true },
  {
    pattern: 'Told|ToldRunLogs',
    suggestion: 'NotificationContent, NotifyingRunLogs',
    isIdentifier: true,
  },
  { pattern: 'createGate', suggestion: 'createSemaphore', isIdentifier: true },
  { pattern: 'Desk', suggestion: 'JobDispatcher', isIdentifier: true },
  { pattern: 'withLivingIds', suggestion: 'reassignDeletedIds', isIdentifier: true },
  { pattern: 'seesScriptOrItsRemains', suggestion: 'canSeeScript', isIdentifier: true },
  { pattern: 'scriptsThen|thingThen', suggestion: 'scriptsAt, resourceAt', isIdentifier: true },
  { pattern: 'overlapOfGoing', suggestion: 'forecastOverlap', isIdentifier: true },
  {
    pattern: '(?!KeyParts|RunParts)[A-Z]\\w+Parts',
    suggestion: '…Deps, …Options',
    isIdentifier: true,
  },
  {
    pattern: '\\w*(?:patience|Patience)(?:Ms|Seconds)?',
    suggestion: 'timeoutMs',
    isIdentifier: true,
  },
  { pattern: 'most[A-Z]\\w*', suggestion: 'max…', isIdentifier: true },
  { pattern: 'sees[A-Z]\\w*', suggestion: 'canSee…', isIdentifier: true },
  { pattern: 'tell[A-Z]\\w*', suggestion: 'notify…, report…, sendTo…', isIdentifier: true },
  {
    pattern: '(?:action|cron|interval|schedule|status|trigger|who)Words?',
    suggestion: '…Label, …Labels, describe…',
    isIdentifier: true,
  },
  { pattern: '(?:mortal|Mortal)\\w*', suggestion: 'crashing, killable', isIdentifier: true },
];

export const allowed: readonly Allowed[] = [
  { path: /^scripts\/wording(?:\/|\.test\.ts$)/u, reason: 'lists the phrases themselves' },
  { path: /^scripts\/spelling\//u, reason: 'a list of words' },
  { path: /^services\/shared\/common-passwords\.txt$/u, reason: 'a list of words' },
  { path: /^services\/minimal\/testing\/api-clients\//u, reason: 'generated by other programs' },
  {
    path: /^services\/backend\/webhooks\/signatures\.test\.ts$/u,
    text: 'everybody',
    reason: "the secret from GitHub's example",
  },
  { path: /^migrations\//u, reason: 'released files never change' },
  { path: /^CHANGELOG\.md$/u, reason: 'entries of released versions never change' },
  { path: /^docs\/openapi\.json$/u, reason: 'generated from the routes' },
  { path: /^services\/cli\/api\/operations\.json$/u, reason: 'generated from the routes' },
  { path: /^web\/src\/lib\/api\/schema\.d\.ts$/u, reason: 'generated from the routes' },
  {
    path: /^infra\/embedded\/account\.ts$/u,
    text: 'nobody',
    reason: 'an operating system account',
  },
  { path: /(?:^|\/)package-lock\.json$/u, reason: 'generated by npm' },
  { path: /^web\/static\/fonts\/.+-LICENSE\.txt$/u, reason: 'licenses of other projects' },
];
