/** Missed expectations of a script, in streams `expectation-<script id>`. Permanent: never rename a type or change
 *  the meaning of a field. */
import type { DomainEvent } from '#domain/kernel/event.ts';
import type { RunId, ScriptId } from '#domain/kernel/ids.ts';
import type { ClearedReason, MissedExpectation, MissedKind } from './expectation.ts';

export type ExpectationMissed = DomainEvent<
  'ExpectationMissed',
  MissedExpectation & { readonly scriptId: ScriptId }
>;

export type ExpectationCleared = DomainEvent<
  'ExpectationCleared',
  {
    readonly scriptId: ScriptId;
    readonly on: MissedKind;
    readonly key: string;
    readonly runId: RunId | null;
    readonly reason: ClearedReason;
  }
>;

export type ExpectationEvent = ExpectationMissed | ExpectationCleared;
